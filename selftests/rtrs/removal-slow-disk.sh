#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The client's device of one path is taken away while a disk of the server does not answer: that waits for nothing of the
# server's, another disk goes on over the other path, and the slow one's requests end well.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

# How long the slow disk takes for a request, below the 5 s that null_blk waits for itself, and how long anything else may.
SLOW_MS=4000
SOON_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# reads_start <number>: of the slow disk, at the same time
reads_start() {
	local i=0
	reads=""
	while [ $i -lt "$1" ]; do
		dd if="$slow" of=/dev/null bs=4k count=1 skip=$((1000 + i)) iflag=direct status=none &
		reads="$reads $!"
		i=$((i + 1))
	done
}

both_carry() {
	[ "$(path_stat test 1 5)" -gt 0 ] && [ "$(path_stat test 2 5)" -gt 0 ]
}

# soon <command>...: it works, in less than a second
soon() {
	local start ms
	start=$(uptime_ms)
	"$@" || return 1
	ms=$(($(uptime_ms) - start))
	[ $ms -lt $SOON_MS ] || {
		echo "took $ms ms"
		return 1
	}
}

read_good() {
	dd if="$good" of=/dev/null bs=4k count=1 iflag=direct status=none
}

good_goes_on() {
	local i=0
	while [ $i -lt 20 ]; do
		soon read_good || return 1
		i=$((i + 1))
	done
}


reads_end() {
	local pid
	for pid in $reads; do
		wait "$pid" || return 1
	done
}

ktap_plan 7
topo_up 2
topo_is_ours
rtrs_load
slow=$(backing_null 64 irqmode=2 completion_nsec=$((SLOW_MS * 1000000))) || abort "no slow device"
slow=$(map_device test "$slow") || abort "cannot map the slow disk"
good=$(map_device test "$(backing_null 64)") || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin

reads_start 8
check "both paths owe answers" wait_for 5 both_carry
check "the device of one goes at once" soon rdma link del rxe_c1
check "its path is lost" wait_for 2 path_is test 1 disconnected
check "another disk goes on" good_goes_on
# Its children are this shell's.
check_here "the requests that it owed are answered" reads_end
must rdma link add rxe_c1 type rxe netdev c1
must wait_for 20 topo_gid_there rxe_c1 1
check "the path comes back" path_returns 40 test 1
check "and the other disk is well" good_goes_on

ktap_end
