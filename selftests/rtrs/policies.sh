#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How each policy spreads requests over two paths, measured, also when one of
# them is slow.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

NR=400

# spread <queue depth>: read NR blocks; sets $first and $second to what each path took
spread() {
	local a b
	a=$(path_ios test 1) b=$(path_ios test 2)
	must fio --name=spread --filename="$dev" --direct=1 --ioengine=libaio --iodepth="$1" \
		--rw=randread --bs=4k --size=8M --io_size=$((NR * 4))k --output=/tmp/spread.out
	first=$(($(path_ios test 1) - a)) second=$(($(path_ios test 2) - b))
	diag "$(cat $CLT_CLASS/test/mpath_policy), depth $1: $first and $second of $NR"
}

policy() {
	sysfs_write $CLT_CLASS/test/mpath_policy "$1"
}

latency_ns() {
	sed -n 's/ ns$//p' "$(path_dir test "$1")/cur_latency"
}

# measured <fast path> <slow path>: heartbeats have seen the difference
measured() {
	[ "$(latency_ns "$1")" -gt 0 ] && [ "$(latency_ns "$2")" -gt 20000000 ] &&
		[ "$(latency_ns "$1")" -lt "$(latency_ns "$2")" ]
}

none_in_flight() {
	[ "$(path_stat test 1 5) $(path_stat test 2 5)" = "0 0" ]
}

ktap_plan 15
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/spread.out"
back=$(backing_null 16) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2

check_eq "the default" "$(cat $CLT_CLASS/test/mpath_policy)" "min-inflight (MI: 1)"

must policy round-robin
spread 1
check_eq "round-robin: all requests are counted" $((first + second)) $NR
check "round-robin: both take the same at depth 1" [ $((first - second)) -ge -2 ]
check "round-robin: within two requests" [ $((first - second)) -le 2 ]
spread 16
check "round-robin: and at depth 16" [ $((first * 10)) -ge $((second * 9)) ]
check "round-robin: in both directions" [ $((second * 10)) -ge $((first * 9)) ]

must policy min-inflight
spread 16
check "min-inflight: both paths are used" [ "$first" -ge $((NR / 5)) ]
check "min-inflight: and balanced" [ "$second" -ge $((NR / 5)) ]
check "min-inflight: nothing is in flight in the end" wait_for 5 none_in_flight

topo_is_ours
must path_netem 1 delay 20ms
must policy min-inflight
# Not deeper: on the slowest kernel the processor would be what requests wait for, on either path.
spread 4
check "min-inflight: the slow path gets the lesser part" [ $((first * 3)) -lt "$second" ]
must policy round-robin
spread 16
check "round-robin: does not mind" [ $((first * 10)) -ge $((second * 9)) ]
check "latency is measured" wait_for 30 measured 2 1
diag "latency: $(latency_ns 1) and $(latency_ns 2) ns"
must policy min-latency
spread 16
check_eq "min-latency: the fast path takes all" "$first $second" "0 $NR"

must path_heal 1
must path_netem 2 delay 20ms
check "latency is measured anew" wait_for 30 measured 1 2
diag "latency: $(latency_ns 1) and $(latency_ns 2) ns"
spread 16
check_eq "min-latency: and now the other one" "$first $second" "$NR 0"
must path_heal 2
must unmap_device "$dev"

ktap_end
