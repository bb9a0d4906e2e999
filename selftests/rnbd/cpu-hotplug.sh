#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# CPUs go offline and come back: nobody waits for requests that were submitted there, these end well, disks that are
# mapped with fewer CPUs than there may be use those that come, and under load all data stay right.
#
# vm: smp=2 timeout=300

. "$(dirname "$0")/../lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online

# cpu <0|1>: takes it offline, or back, and says how long that took, in $took
cpu() {
	local from pid end
	from=$(uptime_ms)
	end=$((from + 10000 * ${RTRS_SLOWNESS:-1}))
	sysfs_write $CPU "$1" &
	pid=$!
	while child_runs $pid && [ "$(uptime_ms)" -lt $end ]; do
		sleep 0.02
	done
	took=$(($(uptime_ms) - from))
	! child_runs $pid && wait $pid && attr_is $CPU "$1"
}

# offline_in_time: a request of that CPU waits. The machine is emulated, and its time is the host's.
offline_in_time() {
	cpu 0 && [ $took -le $((3000 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "$took ms"
		return 1
	}
}

# read_on <cpu>: 4 KiB
read_on() {
	taskset $((1 << $1)) dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct status=none
}

paths_back() {
	all_paths test reconnect && wait_for 30 sess_paths_are test 2 && wait_for 20 dev_is "$dev" open
}

ktap_plan 15
requires fio taskset
[ -e $CPU ] || skip_all "needs a CPU that can be taken offline"
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=32"
rtrs_load
defer "attr_is $CPU 1 || echo 1 >$CPU"
back=$(backing_null 16) || abort "no backing device"
other=$(backing_null 16) || abort "no backing device"

# shellcheck disable=SC2086 # several words
dev=$(map_device test "$back" no_path_timeout=-1 $PATIENT_PATHS) || abort "cannot map"
# shellcheck disable=SC2086
healthy=$(map_device other "$other" $PATIENT_PATHS) || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must all_paths test disconnect
must wait_for 10 dev_is "$dev" closed
read_on 1 &
read_pid=$!
sleep 1
check "a read of CPU 1 waits for a path" child_runs $read_pid
check_here "CPU 1 goes offline" offline_in_time
diag "offline after $took ms"
check "the read waits on" child_runs $read_pid
check "another session's disk can be read" dd if="$healthy" of=/dev/null bs=4k count=1 iflag=direct status=none
check "the paths come back" paths_back
check_here "the read ends well" wait $read_pid
must unmap_device "$dev"

# Mapped with fewer CPUs.
# shellcheck disable=SC2086
dev=$(map_device test "$back" no_path_timeout=-1 $PATIENT_PATHS) || abort "cannot map"
check "mapped without CPU 1: I/O" fio_verify "$dev" --size=256k
check_here "CPU 1 is back" cpu 1
check "I/O of CPU 1" fio_verify "$dev" --size=256k --cpus_allowed=1
must read_on 0
must all_paths test disconnect
must wait_for 10 dev_is "$dev" closed
read_on 1 &
read_pid=$!
sleep 1
check_here "CPU 1 goes offline again" offline_in_time
check_here "comes back" cpu 1
check "the paths too" paths_back
check_here "and the read ends well" wait $read_pid

# Under load.
must load_start "$dev" 240 --iodepth=8 --size=8M --rate_iops=200
toggle() {
	local n=0
	while [ $n -lt 6 ]; do
		sleep 0.5
		cpu 0 || return 1
		sleep 0.5
		cpu 1 || return 1
		n=$((n + 1))
	done
}
check_here "under load: CPU 1 goes and comes, six times" toggle
load_end
check "no I/O failed, all data are right" load_succeeded
must unmap_device "$dev"
must unmap_device "$healthy"

ktap_end
