#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# rtrs-perf by its files in debugfs: what it counts is what both sides of the transport have counted, with
# each policy; what it is told wrongly it refuses, with the reason; a path that is lost costs time and no
# request; without any path a run ends with the errno; and it can be closed and unloaded in the middle of a run.
#
# vm: smp=2 timeout=360

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

PERF=$DEBUGFS/rtrs-perf-client
PERF_PORT=1236
# What goes with each request.
MESSAGE=12
DEPTH=32
LONG=1000000000

# open_session [<name>]: over all paths
open_session() {
	local n=1 line="sessname=${1:-perf}"
	while [ "$n" -le "$lib_topo_nr" ]; do
		line="$line path=$(path_pair "$n")"
		n=$((n + 1))
	done
	sysfs_write $PERF/session "$line" || {
		echo "$line: $sysfs_error"
		return 1
	}
}

# start <op> <size> <iterations> <depth> <cpus>
start() {
	sysfs_write $PERF/run "op=$1 size=$2 iterations=$3 depth=$4 cpus=$5" || {
		echo "run: $sysfs_error"
		return 1
	}
}

# field <name>: of the result
field() {
	sed -n "s/^$1=//p" $PERF/result
}

# counted <client or server class>: reads, bytes, writes, bytes, of all paths
counted() {
	awk '{ for (i = 1; i <= 4; i++) sum[i] += $i }
	     END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0 }' "$1"/perf/paths/*/stats/rdma
}

reset_counters() {
	local file
	for file in $CLT_CLASS/perf/paths/*/stats/rdma $SRV_CLASS/perf/paths/*/stats/rdma; do
		echo 1 >"$file" || return 1
	done
}

# figures_fit <iterations>: the result with itself and with the histogram
figures_fit() {
	{
		cat $PERF/result
		cat $PERF/histogram
	} | awk -v nr="$1" '
		/=/ { split($0, word, "="); value[word[1]] = word[2]; next }
		!buckets++ { first_from = $1; first_to = $2 }
		{ last_from = $1; last_to = $2; sum += $3; least += $1 * $3; most += $2 * $3 }
		$1 < before || $2 <= $1 { bad = bad " order" }
		{ before = $2 }
		END {
			if (value["done"] != nr || sum != nr) bad = bad " number"
			if (value["min_ns"] < first_from || value["min_ns"] >= first_to) bad = bad " min"
			if (value["max_ns"] < last_from || value["max_ns"] >= last_to) bad = bad " max"
			if (value["sum_ns"] < least || value["sum_ns"] > most) bad = bad " sum"
			if (value["elapsed_ns"] < value["max_ns"]) bad = bad " elapsed"
			if (bad) print "do not fit:" bad
			exit bad != ""
		}' || {
		cat $PERF/result $PERF/histogram
		return 1
	}
}

# measured <op> <size> <iterations> <depth> <cpus>: and both sides have counted as much
measured() {
	local wanted="0 0 $3 $(($3 * ($2 + MESSAGE)))"
	[ "$1" = write ] || wanted="$3 $(($3 * ($2 + MESSAGE))) 0 0"
	reset_counters && start "$@" && is "$(field state) $(field error) $(field failed)" "done 0 0" &&
		is "$(field op) $(field size) $(field depth) $(field cpus)" "$1 $2 $4 $5" &&
		figures_fit "$3" && is "$(cat $PERF/run)" "ended $3 of $3" &&
		is "$(counted $CLT_CLASS)" "$wanted" && is "$(counted $SRV_CLASS)" "$wanted"
}

# with_policy <policy>: both paths take part, alternating with round-robin
with_policy() {
	local first second
	sysfs_write $CLT_CLASS/perf/mpath_policy "$1" && measured write 4096 400 8 0-1 || return 1
	first=$(path_ios perf 1) second=$(path_ios perf 2)
	echo "$first and $second"
	case $1 in
	round-robin) [ "$first" -ge 180 ] && [ "$second" -ge 180 ] ;;
	min-inflight) [ "$first" -gt 0 ] && [ "$second" -gt 0 ] ;;
	*) [ $((first + second)) -eq 400 ] ;;
	esac
}

# goes_on <requests>: so many more are done within 20 s
goes_on() {
	local have
	have=$(progress) && wait_for 20 has_done $((have + $1))
}

progress() {
	sed -n 's/^running \([0-9]*\) of .*/\1/p' $PERF/run
}

has_done() {
	[ "$(progress)" -ge "$1" ]
}

# survives: a path is lost in the middle of a run, and comes back
survives() {
	sysfs_write $CLT_CLASS/perf/mpath_policy round-robin &&
		start write 4096 $LONG 8 0-1 && goes_on 100 && path_cut 1 && wait_for 20 path_is perf 1 disconnected &&
		goes_on 100 && path_heal 1 && path_returns 40 perf 1 && goes_on 100 &&
		sysfs_write $PERF/stop 1 &&
		is "$(field state) $(field error) $(field failed) $(field lost)" "stopped 0 0 0" &&
		[ "$(field done)" -ge 300 ] && is "$(failovers perf)" '[1-9]*'
}

# lost: all paths are, and it says so
lost() {
	start read 4096 $LONG 8 0 && goes_on 100 && path_cut 1 && path_cut 2 &&
		is "$(field state) $(field error)" "failed -103" && wait_for 10 lost_once &&
		is "$(sed 's/ .*//' $PERF/run)" ended
}

# The transport ends the requests, and so the run, before it tells that the session is lost.
lost_once() {
	[ "$(field lost)" = 1 ]
}

back_again() {
	path_heal 1 && path_heal 2 && path_returns 40 perf 1 && path_returns 40 perf 2
}

# closed_cut: with requests in flight that nobody answers
closed_cut() {
	start write 4096 $LONG 8 0-1 && goes_on 100 && path_cut 1 && path_cut 2 &&
		sysfs_write $PERF/close 1 && is "$(cat $PERF/session)" "" &&
		[ ! -e $CLT_CLASS/perf ] && path_heal 1 && path_heal 2
}

# not_while_read: who waits for the result has the module in use
not_while_read() {
	local pid out
	start read 512 $LONG 4 0,1 && goes_on 50 || return 1
	cat $PERF/result >/dev/null 2>&1 &
	pid=$!
	wait_for 10 in_use || return 1
	out=$(rmmod rtrs-perf-client 2>&1) && return 1
	echo "$out"
	kill $pid
	wait $pid
	wait_for 10 not_in_use
}

in_use() {
	attr_is /sys/module/rtrs_perf_client/refcnt 1
}

not_in_use() {
	attr_is /sys/module/rtrs_perf_client/refcnt 0
}

no_threads() {
	! grep -l '^rtrs_perf/' /proc/[0-9]*/comm
}

# server_gone: the server goes in the middle of a run
server_gone() {
	start write 512 $LONG 4 0 && goes_on 50 && module_gone rtrs-perf-server &&
		is "$(field state)" failed && wait_for 10 lost_once
}

# run_refused <errno> <pattern of the reason> <text for run>
run_refused() {
	write_gives "$1" $PERF/run "$3" "rtrs_perf_client: run: $2"
}

# stranger: a client of RNBD, at this port
stranger() {
	kmsg_mark
	SRV_PORT=$PERF_PORT clt_open b 2 stranger path=1 sess=1 && clt_write b1 0 "$(rnbd_close 99)" &&
		rsp_is b1 0 -90 && is "$(cat $DEBUGFS/rtrs-perf-server/refused)" 1 &&
		kmsg_has 'rtrs_perf_server: refused a request with a message of [0-9]+ bytes' && peer destroy all
}

ktap_plan 42
modprobe -n -q rtrs-perf-client || skip_all "needs the modules"
topo_up 2
topo_is_ours
must debugfs_up
defer rtrs_unload
defer "module_gone rtrs-perf-client rtrs-perf-server rtrs-peer"
must modprobe rtrs-server sess_queue_depth=$DEPTH
must modprobe rtrs-perf-server
must modprobe rtrs-perf-client

check_errno "no run without a session" ENOTCONN $PERF/run "op=read size=1 iterations=1 cpus=0" 'no session is open'
check_errno "nothing to close" ENOTCONN $PERF/close 1
check_eq "no session" "$(cat $PERF/session)" ""
check_errno "a session without a name" EINVAL $PERF/session "path=$(path_pair 1)" \
	'session: sessname: expected sessname=<name of the session>'
check_errno "without a path" EINVAL $PERF/session "sessname=perf" 'session: path: expected path='
check_errno "a path that is none" EINVAL $PERF/session "sessname=perf path=ip:1.2.3" \
	'session: path="ip:1.2.3": expected \[<src>,\]<dst>'
check_errno "to where nobody listens" ECONNRESET/ECONNREFUSED $PERF/session \
	"sessname=perf path=$(path_pair 1) dest_port=99" 'session: sessname="perf": cannot connect: '
check "a session over two paths" open_session
must wait_for 20 sess_paths_are perf 2
check "what it can do" is "$(cat $PERF/session)" "sessname=perf max_io_size=* queue_depth=$DEPTH max_segments=*"
max=$(sed 's/.*max_io_size=\([0-9]*\) .*/\1/' $PERF/session)
check_errno "there is one already" EBUSY $PERF/session "sessname=other path=$(path_pair 1)" \
	'session: perf is open, and has to be closed first'
check_errno "nothing to stop" ENODATA $PERF/stop 1

check "no such operation" run_refused EINVAL 'op="erase": expected read or write' \
	"op=erase size=512 iterations=1 cpus=0"
check "larger than a slot" run_refused EINVAL "size=\"$((max + 1))\": expected a number of bytes from 1 to $max" \
	"op=read size=$((max + 1)) iterations=1 cpus=0"
check "deeper than the queue" run_refused EINVAL "depth=\"33\": expected a number of requests from 1 to $DEPTH" \
	"op=read size=512 iterations=1 cpus=0 depth=33"
check "on all CPUs together" run_refused EINVAL 'depth=17: expected at most 16 in flight on 2 CPUs' \
	"op=read size=512 iterations=1 cpus=0-1 depth=17"
check "no such CPU" run_refused EINVAL 'cpus="2": expected a list of CPUs that are online, which are 0-1' \
	"op=read size=512 iterations=1 cpus=2"
check "nor this list" run_refused EINVAL 'cpus="1-0": expected a list of CPUs' "op=read size=512 iterations=1 cpus=1-0"
check_errno "stop takes a 1" EINVAL $PERF/stop 2 'stop: "2" is written: expected 1'
check_errno "close too" EINVAL $PERF/close now 'close: "now" is written: expected 1'

check_here "one byte, read" measured read 1 50 1 0
check_here "one byte, written" measured write 1 50 1 1
check_here "512 bytes, read" measured read 512 300 16 0-1
check_here "512 bytes, written" measured write 512 300 16 0-1
check_here "no multiple of a page, read" measured read 5000 100 4 0
check_here "no multiple of a page, written" measured write 5000 100 4 0
check_here "as much as a slot has, read" measured read "$max" 40 16 0-1
check_here "as much as a slot has, written" measured write "$max" 40 16 0-1
check_here "fewer requests than CPUs" measured read 4096 1 16 0-1
for policy in round-robin min-inflight min-latency; do
	check_here "policy $policy" with_policy $policy
done

check_here "a path is lost and comes back: nothing fails" survives
check_here "stop of what has ended" sysfs_write $PERF/stop 1
check_here "all paths are lost: the run fails" lost
must back_again
check_here "with the paths it works again" measured read 4096 100 8 0-1
check_here "closed while nobody answers" closed_cut
# The server has it until it notices, too.
must wait_for 20 open_session
must wait_for 20 sess_paths_are perf 2
check_here "not unloaded while somebody waits for the result" not_while_read
check "unloaded in the middle of a run" rmmod rtrs-perf-client
check "no thread is left" no_threads
must modprobe rtrs-perf-client
must wait_for 20 open_session
check_here "the server goes in the middle of a run" server_gone
must modprobe rtrs-perf-server port=$PERF_PORT
must sysfs_write $PERF/close 1
if modprobe -n -q rtrs-peer; then
	# As wire.sh knows it.
	must module_gone rtrs-perf-server rtrs-server
	must modprobe rtrs-server sess_queue_depth=5 max_chunk_size=8192
	must modprobe rtrs-perf-server
	SRV_IO=4096 srv_mode=Y
	peer_load
	check_here "another ULP's client is told so" stranger
else
	ktap_skip "another ULP's client is told so" "needs rtrs-peer (make test-modules)"
fi
must module_gone rtrs-perf-server
check_fails "port 0 is refused" modprobe rtrs-perf-server port=0

ktap_end
