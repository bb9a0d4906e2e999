#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel freezes all tasks as for suspend, and thaws them, with disks mapped and I/O under way. Nothing of ours is
# frozen that somebody waits for: it does not fail, and I/O goes on.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

POWER=/sys/power

# cycle: tasks are frozen for a second
cycle() {
	sysfs_write $POWER/state freeze || {
		echo "$sysfs_error"
		return 1
	}
}

ktap_plan 6
requires fio
[ -e $POWER/pm_test ] || skip_all "needs CONFIG_PM_SLEEP_DEBUG"
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=32"
rtrs_load
must sysfs_write $POWER/pm_test freezer
defer "echo none >$POWER/pm_test"
must sysfs_write /sys/module/suspend/parameters/pm_test_delay 1
dev=$(map_device test "$(backing_null 16)") || abort "cannot map"
idle=$(map_device other "$(backing_null 16)") || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must load_start "$dev" 120 --iodepth=4 --size=8M --rate_iops=100
kmsg_mark
sleep 1
check "under load: all is frozen, and thawed" cycle
sleep 1
check "a second time" cycle
check "the kernel has done it" kmsg_has 'Freezing user space processes completed'
check "the load goes on" ios_grow test 1 10
check "another session's disk can be read" dd if="$idle" of=/dev/null bs=4k count=1 iflag=direct status=none
load_end
check "no I/O failed, all data are right" load_succeeded
must unmap_device "$dev"
must unmap_device "$idle"

ktap_end
