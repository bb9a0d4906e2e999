#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The tool rtrs-perf with the real modules: tables and JSON, all sizes, policies, what it says when it cannot, and
# that it leaves no session behind, whatever ends it. Its unit tests (tools/rtrs-perf/tests) have all mistakes.
#
# vm: smp=2 timeout=240

. "$(dirname "$0")/../lib.sh"

PERF=$DEBUGFS/rtrs-perf-client

# gives <exit status> <pattern of the output> <argument of rtrs-perf>...
gives() {
	local status="$1" pattern="$2" out got=0
	shift 2
	out=$(rtrs-perf "$@" 2>&1) || got=$?
	if [ "$got" -ne "$status" ] || ! echo "$out" | grep -Eq -e "$pattern"; then
		echo "status $got, wanted $status; wanted output '$pattern', got:"
		echo "$out"
		return 1
	fi
	diag "rtrs-perf $*
$out"
}

# table <name> <number of lines> <columns> <argument of rtrs-perf>...: numbers greater than 0, and nothing left open
table() {
	local name="$1" lines="$2" columns="$3"
	shift 3
	rtrs-perf "$@" >/tmp/perf.table || {
		not_ok "$name" "status $?"
		return
	}
	diag "$(cat /tmp/perf.table)"
	check "$name" table_is "$lines" "$columns"
	rm /tmp/perf.table
}

table_is() {
	awk -v lines="$1" -v columns="$2" '
		NR == 1 && /^ *#bytes/ { next }
		{ rows++ }
		NF != columns { bad = "line " NR " has " NF " columns" }
		{ for (i = 1; i <= NF; i++) if ($i + 0 <= 0) bad = "line " NR ": " $i }
		END {
			if (rows != lines) bad = rows " lines"
			print bad
			exit bad != ""
		}' /tmp/perf.table && is "$(cat $PERF/session)" "" && [ ! -e $CLT_CLASS/perf-test ]
}

# json_fits: shortest <= median <= longest and so on, of each of the results
json_fits() {
	rtrs-perf "$@" >/tmp/perf.json || return 1
	tr -d ' \n' </tmp/perf.json | sed 's/{"size"/\n&/g' | awk -F '[:,}]' '
		!/^[{]"size"/ { next }
		{
			for (i = 1; i < NF; i += 2) value[$i] = $(i + 1)
			rows++
			gbps = 8 * value["{\"size\""] * value["\"iterations\""] / value["\"elapsed_ns\""]
			off = gbps / value["\"bw_gbps\""]
			if (value["\"min_us\""] > value["\"p50_us\""] || value["\"p50_us\""] > value["\"p99_us\""] ||
			    value["\"p99_us\""] > value["\"p999_us\""] || value["\"p999_us\""] > value["\"max_us\""] ||
			    value["\"avg_us\""] > value["\"max_us\""] || value["\"avg_us\""] < value["\"min_us\""] ||
			    off < 0.99 || off > 1.01 || value["\"iterations\""] != 50)
				bad = 1
		}
		END { exit bad || rows < 8 }' || {
		cat /tmp/perf.json
		return 1
	}
	is "$(tr -d '\n' </tmp/perf.json)" '{*"policy": "round-robin"*"depth": 2,*]}'
}

# interrupted <signal>: in the middle, and nothing is left
interrupted() {
	local pid status=0
	rtrs-perf read bw -S perf-test -n 1000000000 10.1.0.2 >/tmp/perf.out 2>&1 &
	pid=$!
	wait_for 20 grep -q '^running [1-9]' $PERF/run || return 1
	kill -"$1" $pid
	wait $pid || status=$?
	cat /tmp/perf.out
	[ $status -eq 1 ] && grep -q 'stopped after [0-9]* of 1000000000 requests' /tmp/perf.out &&
		is "$(cat $PERF/session)" ""
}

# killed: it cannot close the session then; the next one says so, and stop does
killed() {
	local pid
	rtrs-perf read bw -S perf-test -n 1000000000 10.1.0.2 >/tmp/perf.out 2>&1 &
	pid=$!
	wait_for 20 grep -q '^running [1-9]' $PERF/run || return 1
	kill -KILL $pid
	wait $pid
	gives 5 'something is being measured: sessname=perf-test' read lat 10.1.0.2 &&
		gives 0 '^$' stop && is "$(cat $PERF/session)" ""
}

# survives: a path is lost meanwhile, and it says so
survives() {
	local pid
	rtrs-perf write bw -S perf-test -n 4000 -p 10.1.0.1@10.1.0.2 -p 10.2.0.1@10.2.0.2 >/tmp/perf.out 2>&1 &
	pid=$!
	wait_for 20 grep -q '^running [1-9]' $PERF/run && path_cut 1 && wait $pid || {
		cat /tmp/perf.out
		return 1
	}
	diag "$(cat /tmp/perf.out)"
	grep -q 'requests had to take another path' /tmp/perf.out && path_heal 1
}

ktap_plan 16
command -v rtrs-perf >/dev/null || skip_all "needs rtrs-perf (make tools)"
modprobe -n -q rtrs-perf-client || skip_all "needs the modules"
topo_up 2
topo_is_ours
must debugfs_up
defer rtrs_unload
defer "module_gone rtrs-perf-client rtrs-perf-server"
defer "rm -f /tmp/perf.json /tmp/perf.out"

check "the module is not loaded" gives 3 'module rtrs-perf-client is not loaded' write bw 10.1.0.2
must modprobe rtrs-perf-client
check "nobody listens" gives 6 'next: on the server: modprobe rtrs-perf-server' write bw 10.1.0.2
must modprobe rtrs-server sess_queue_depth=32
must modprobe rtrs-perf-server

table "write bw" 1 4 write bw -S perf-test 10.1.0.2
table "read bw, two CPUs" 1 4 read bw -S perf-test -c 0-1 -q 8 -s 64k -n 200 10.1.0.2
table "write lat" 1 9 write lat -S perf-test -n 300 10.1.0.2
table "read lat, without headings" 1 9 read lat -S perf-test -H -s 512 -n 300 10.1.0.2
table "all sizes" 9 4 write bw -S perf-test -a -n 50 -p 10.1.0.1@10.1.0.2 -p 10.2.0.1@10.2.0.2
check "JSON" json_fits read lat -S perf-test -a -j -n 50 -q 2 -y round-robin -p 10.1.0.2 -p 10.2.0.2
check "larger than a slot" gives 2 '--size=1m: expected 1 to [0-9]+ bytes' write bw -s 1m 10.1.0.2
check "deeper than the queue" gives 2 '--depth=33: expected 1 to 32' write bw -q 33 10.1.0.2
check "on all CPUs together" gives 1 'kernel: rtrs_perf_client: run: depth=17: expected at most 16' \
	write bw -q 17 -c 0-1 10.1.0.2
check "no such CPU" gives 1 'kernel: rtrs_perf_client: run: cpus="7": expected a list of CPUs' write bw -c 7 10.1.0.2
check_here "interrupted" interrupted INT
check_here "terminated" interrupted TERM
check_here "killed" killed
check_here "a path is lost" survives

ktap_end
