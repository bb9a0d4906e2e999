#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A request gets no answer while heartbeats are fine: after the disk's io_timeout the server is asked, does not have it, and
# the request is sent again, over another path or over the same one. No path is given up.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

LOST=rtrs-server/fault/rsp_lost

# read_lost: one 4 KiB READ whose answer is lost; its time in $ms
read_lost() {
	local start
	fault_arm $LOST || return 1
	start=$(uptime_ms)
	dd if="$dev" of=/tmp/lost bs=4k count=1 iflag=direct 2>/dev/null || return 1
	ms=$(($(uptime_ms) - start))
	diag "a request whose answer was lost took $ms ms"
	fault_fired $LOST && cmp -n 4096 /tmp/lost /tmp/data
}

write_lost() {
	fault_arm $LOST && dd if=/tmp/data of="$dev" bs=4k count=1 oflag=direct 2>/dev/null &&
		fault_fired $LOST
}

# lost_are <number>: requests that were sent again, all paths together; none of these was given up
lost_are() {
	is "$(paths_sum test overdue 2)" "$1" && is "$(paths_sum test timeouts)" 0
}

ktap_plan 13
must debugfs_up
topo_up 2
rtrs_load
back=$(backing_null 16) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
defer "rm -f /tmp/lost /tmp/data"
must dd if=/dev/urandom of=/tmp/data bs=4k count=1 status=none
must dd if=/tmp/data of="$dev" bs=4k oflag=direct status=none
check_eq "time-out by default" "$(queue "$dev" io_timeout)" 30000
must sysfs_write "$(queue_attr "$dev" io_timeout)" 2000

kmsg_mark
check_here "two paths: a READ is sent again" read_lost
check "two paths: not before the time-out" [ "$ms" -ge 2000 ]
check "two paths: and soon after it" [ "$ms" -lt 8000 ]
check "two paths: it is counted" lost_are 1
check "two paths: it is said" kmsg_has "the server has no request in slot [0-9]* and no answer came, it is sent again"
check "two paths: both are there" sess_paths_are test 2
check "two paths: a WRITE is sent again" write_lost
check "two paths: that is counted too" lost_are 2

must sysfs_write "$(path_dir test 2)/disconnect" 1
check_here "one path: a READ is sent again over the same path" read_lost
check "one path: it is counted" lost_are 3
must sysfs_write "$(path_dir test 1)/stats/overdue" 1
check "the counters can be reset" attr_is "$(path_dir test 1)/stats/overdue" "0 0"
must unmap_device "$dev"
check "nothing is left on the server" wait_for 30 [ ! -e $SRV_CLASS/test ]

ktap_end
