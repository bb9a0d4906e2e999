#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk that hangs on the server is unmapped by force. That ends in some seconds, and another disk of the session goes
# on. What the server still has keeps its slots, and the name, until it answers.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

SLOW=${RTRS_SLOWNESS:-1}

# hangs <device>: with requests of both directions, on both paths
hangs() {
	must disk_hangs
	hung_start "$1" --iodepth=24 --rw=randrw --io_size=1M
	must wait_for 20 hung_all test 8
}

# unmap_in_time <device>: by force, in less than 5 s
unmap_in_time() {
	local from pid took end
	from=$(uptime_ms)
	end=$((from + 30000 * SLOW))
	unmap_device "$1" force &
	pid=$!
	while child_runs $pid && [ "$(uptime_ms)" -lt $end ]; do
		sleep 0.05
	done
	took=$(($(uptime_ms) - from))
	diag "unmap by force took $took ms"
	! child_runs $pid && wait $pid && [ $took -lt $((5000 * SLOW)) ]
}

hung_failed() {
	! wait "$hung_pid"
}

map_again() {
	map_device test /dev/mapper/hang >/dev/null
}

ktap_plan 14
requires dmsetup fio
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
good=$(backing_null 16) || abort "no backing device"
hanging_disk 16

a=$(map_device test /dev/mapper/hang) || abort "cannot map"
b=$(map_device test "$good") || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must load_start "$b" 120 --iodepth=4 --size=8M --rate_iops=50
hangs "$a"
kmsg_mark
check_here "a disk that hangs is unmapped by force" unmap_in_time "$a"
check "which is said" kmsg_has "${a##*/}: requests do not end, giving up the paths that they are on"
check_here "its requests have failed" hung_failed
check "the other disk goes on" load_runs
check "the paths are back" wait_for 30 sess_paths_are test 2
check_errno "its name is taken as long as the server has it open" EBUSY $CLT_CTL/map_device \
	"$(map_line test /dev/mapper/hang)" 'unmapped, but the server has not closed it yet for the mapping before'
sleep 1
must disk_answers
check "it answers: it can be mapped again" wait_for 30 map_again
a=$(mapped_node test /dev/mapper/hang) || abort "cannot map"
check "and written" fio_verify "$a" --size=256k
load_end
check "the other disk: no I/O failed, all data are right" load_succeeded
check "none took longer than a second" [ "$(load_max_ms)" -le $((1000 * SLOW)) ]
diag "the longest took $(load_max_ms) ms"
must unmap_device "$b"

# It is the only one.
hangs "$a"
check_here "the only disk of a session: unmapped by force" unmap_in_time "$a"
check_here "its requests have failed too" hung_failed
check "the session is gone" [ ! -e $CLT_CLASS/test ]
must disk_answers
check "all can be mapped again" wait_for 30 map_again
must unmap_device "$(mapped_node test /dev/mapper/hang)"

ktap_end
