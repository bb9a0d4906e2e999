#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What happens to one disk of a session does not reach the others: a disk that hangs on the server, with more requests
# than the session has slots, or one whose requests wait to be opened again. The other disks go on, and others can be
# mapped and unmapped.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

# Longest of what must not wait for the disk that hangs.
LIMIT_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# took_ms <command> [<argument>...]: how long, into $took; gives up after 20 s. In the background, as what hangs
# cannot be killed.
took_ms() {
	local from pid end
	from=$(uptime_ms)
	end=$((from + 20000 * ${RTRS_SLOWNESS:-1}))
	"$@" &
	pid=$!
	while child_runs $pid; do
		[ "$(uptime_ms)" -lt $end ] || break
		sleep 0.02
	done
	took=$(($(uptime_ms) - from))
	! child_runs $pid && wait $pid
}

# in_time <command> [<argument>...]
in_time() {
	took_ms "$@" || {
		echo "failed, or still runs, after $took ms: $*"
		return 1
	}
	[ $took -le $LIMIT_MS ] || {
		echo "$took ms: $*"
		return 1
	}
}

# hang_full <device>: it hangs, and has twice as many requests as the session has slots
hang_full() {
	must disk_hangs
	hung_start "$1" --iodepth=128 --rw=randread --io_size=1M
}

map_another() {
	map_device test "$third" >/dev/null
}

unmap_another() {
	unmap_device "$(mapped_node test "$third")"
}

# reads <device> <seconds>: how many 4 KiB reads one after the other, and the longest, in $nr and $worst
reads() {
	local from now end=$(($(uptime_ms) + $2 * 1000))
	nr=0 worst=0
	while from=$(uptime_ms) && [ "$from" -lt "$end" ]; do
		dd if="$1" of=/dev/null bs=4k count=1 iflag=direct status=none || return 1
		now=$(uptime_ms)
		nr=$((nr + 1))
		[ $((now - from)) -le $worst ] || worst=$((now - from))
	done
	diag "$nr reads, the longest $worst ms"
}

ktap_plan 17
requires dmsetup fio
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /dev/selftest-a"
good=$(backing_null 16) || abort "no backing device"
third=$(backing_null 16) || abort "no backing device"
hanging_disk 16

a=$(map_device test /dev/mapper/hang) || abort "cannot map"
check "a disk leaves slots to others, and to messages" [ "$(queue "$a" nr_requests)" -le 56 ]

# It hangs before there is another one.
hang_full "$a"
must wait_for 20 hung_all test 16
b=''
map_good() {
	map_device test "$good" >/dev/null
}
check_here "the only disk hangs: another one can be mapped" in_time map_good
b=$(mapped_node test "$good") || abort "cannot map"
check_here "and read" reads "$b" 3
check "without a stall" [ "$worst" -le $LIMIT_MS ]
check "a third one can be mapped" map_another
must unmap_another
must disk_answers
check_here "it answers again: all its requests end well" wait "$hung_pid"

# It hangs when there are several.
must load_start "$b" 120 --iodepth=4 --size=8M --rate_iops=50
hang_full "$a"
sleep 3
check "one of two hangs: the other one goes on" load_runs
check_here "a third one can be mapped" in_time map_another
check_here "and unmapped" in_time unmap_another
sleep 2
load_end
check "no I/O of the other one failed, all data are right" load_succeeded
diag "the longest took $(load_max_ms) ms"
check "the longest took less than a second" [ "$(load_max_ms)" -le $LIMIT_MS ]
must disk_answers
check_here "all that hung ends well" wait "$hung_pid"
check_eq "no path was lost" "$(paths_sum test rdma 6)" 0
must unmap_device "$a"

# Requests of one disk wait until it can be opened again.
must ln -sfn "$hang_raw" /dev/selftest-a
a=$(map_device test /dev/selftest-a no_path_timeout=-1) || abort "cannot map"
must all_paths test disconnect
must wait_for 10 dev_is "$a" closed
# Else the server still has its disks open, and they need not be opened again.
must wait_for 10 [ ! -d "$SRV_CLASS/test" ]
must mv /dev/selftest-a /dev/selftest-away
must all_paths test reconnect
must wait_for 20 sess_paths_are test 2
must wait_for 20 dev_is "$b" open
dd if="$a" of=/dev/null bs=4k count=1 iflag=direct status=none &
waits_pid=$!
sleep 1
check "a read waits until its disk can be opened" child_runs $waits_pid
check_here "the last but one can be unmapped" in_time unmap_device "$b"
check_here "and another one mapped" in_time map_another
must mv /dev/selftest-away /dev/selftest-a
must sysfs_write "$(dev_attr "$a" remap_device)" 1
check_here "the read ends well" wait $waits_pid
must unmap_another
must unmap_device "$a"

ktap_end
