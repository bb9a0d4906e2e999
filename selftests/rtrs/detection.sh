#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long it takes until a path that is lost is noticed, how long I/O stalls, and how long until the path
# is back. The median of some rounds counts; detection-long.sh has DETECTION_ROUNDS of them.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

ROUNDS=${DETECTION_ROUNDS:-3}

STALL_MS=500
NOTICE_MS=1000
DOWN_MS=200
RETURN_MS=1000

# ms_until <command>...: from $start until it succeeds, with a better resolution than wait_for; in $ms
ms_until() {
	local end=$((start + 10000))
	until "$@"; do
		sleep 0.01
		[ "$(uptime_ms)" -lt $end ] || return 1
	done
	ms=$(($(uptime_ms) - start))
}

# sample <name> <ms>
sample() {
	echo "$2" >>"/tmp/detection.$1"
}

median() {
	sort -n "/tmp/detection.$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# tell <name>: all samples
tell() {
	diag "$1: median $(median "$1") ms of $(sort -n "/tmp/detection.$1" | tr '\n' ' ')"
}

# median_is <name> <ms>: at most
median_is() {
	[ "$(median "$1")" -le "$2" ]
}

# judge <text> <name> <ms>
judge() {
	tell "$2"
	check "$1" median_is "$2" "$3"
}

lost() {
	path_is test 1 disconnected
}

# back <name>: the path takes requests again, since $start; a reader asks for them if no load does
back() {
	ms_until path_is test 1 connected || return 1
	have=$(path_ios test 1)
	[ "$load_pid" -ne 0 ] || dd if="$dev" of=/dev/null bs=4k count=8 iflag=direct 2>/dev/null
	ms_until path_has_ios test 1 $((have + 1)) || return 1
	sample "$1" "$ms"
}

load_on_both() {
	load_start "$dev" 60 --iodepth=4
	ios_grow test 1 20
}

load_off() {
	load_end
	load_pid=0
}

# hole_busy: a black hole with I/O in flight. The stall is what fio's slowest request took.
hole_busy() {
	load_on_both || return 1
	start=$(uptime_ms)
	path_cut 1 && ms_until lost || return 1
	sample hole-noticed "$ms"
	sleep 2
	load_off
	sample hole-stall "$(load_max_ms)"
	start=$(uptime_ms)
	path_heal 1 && back hole-return
}

hole_idle() {
	start=$(uptime_ms)
	path_cut 1 && ms_until lost || return 1
	sample idle-noticed "$ms"
	start=$(uptime_ms)
	path_heal 1 && back idle-return
}

hung_and_lost() {
	fault_arm rtrs-server/fault/hb_lost && lost
}

# hang: the server acknowledges, but nothing answers there any more. One path alone: the fault does not know
# one from the other, and only the next answer is lost.
hang() {
	sysfs_write "$(path_dir test 2)/disconnect" 1 || return 1
	start=$(uptime_ms)
	ms_until hung_and_lost || return 1
	fault_arm rtrs-server/fault/hb_lost 0
	sample hang-noticed "$ms"
	wait_for 20 path_is test 1 connected && sysfs_write "$(path_dir test 2)/reconnect" 1
}

# rxe_broke: rdma_rxe moves the queue pair of the connection manager to ERR when a message cannot be sent. With PREEMPT_RT
# the DREQ of a path that has lost its carrier comes so late that it does each time. The round does not tell how soon
# the path returns then.
broken=0
rxe_broke() {
	rxe_gsi_broken 1 >/dev/null && path_returns 40 test 1 && broken=$((broken + 1))
}

# judge_return: unless rdma_rxe broke in more than half of the rounds
judge_return() {
	local what="no carrier: the path carries I/O again"
	if [ $broken -gt $((ROUNDS / 2)) ]; then
		ktap_skip "$what" "rdma_rxe broke its queue pair for connects in most rounds"
	else
		judge "$what" down-return $RETURN_MS
	fi
}

# down: no carrier, with I/O in flight
down() {
	load_on_both || return 1
	start=$(uptime_ms)
	link_down 1 c && ms_until lost || return 1
	sleep 1
	load_off
	sample down-stall "$(load_max_ms)"
	start=$(uptime_ms)
	link_up 1 c || return 1
	back down-return || rxe_broke
}

# reset: the server ends the path
reset() {
	load_on_both || return 1
	start=$(uptime_ms)
	sysfs_write "$SRV_CLASS/test/paths/$(path_pair 1)/disconnect" 1
	back reset-return || return 1
	load_off
	sample reset-stall "$(load_max_ms)"
}

# rounds <function>
rounds() {
	local n=0
	while [ $n -lt "$ROUNDS" ]; do
		wait_for 20 sess_paths_are test 2 || return 1
		# A path that is lost before it was useful is not connected again as soon.
		sleep 6
		"$1" || {
			echo "round $n"
			return 1
		}
		n=$((n + 1))
	done
}

load_pid=0
ktap_plan 14
must debugfs_up
topo_up 2
topo_is_ours
defer "rm -f /tmp/detection.*"
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin

check_here "black hole with I/O in flight: rounds" rounds hole_busy
tell hole-noticed
judge "black hole with I/O in flight: longest stall" hole-stall $STALL_MS
judge "black hole with I/O in flight: the path carries I/O again" hole-return $RETURN_MS
check_here "black hole on an idle path: rounds" rounds hole_idle
judge "black hole on an idle path: noticed" idle-noticed $NOTICE_MS
judge "black hole on an idle path: the path carries I/O again" idle-return $RETURN_MS
check_here "server hangs: rounds" rounds hang
judge "server hangs: noticed" hang-noticed $NOTICE_MS
check_here "no carrier: rounds" rounds down
judge "no carrier: longest stall" down-stall $DOWN_MS
judge_return
check_here "server ends the path: rounds" rounds reset
judge "server ends the path: longest stall" reset-stall $DOWN_MS
judge "server ends the path: it carries I/O again" reset-return $RETURN_MS
must unmap_device "$dev"

ktap_end
