#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What each policy makes of two paths of which one is four times slower: its wire is narrower, or its end is
# further away. Only service-time comes close to the best in both. And of two that are equal: all of them use both.
#
# vm: smp=1 timeout=500

. "$(dirname "$0")/../lib.sh"

POLICIES="round-robin min-inflight min-latency service-time"
DEPTH=32
SECONDS_EACH=2

# measure: into $iops, reads a second of 4 KiB
measure() {
	must fio --name=rate --filename="$dev" --direct=1 --ioengine=libaio --iodepth=$DEPTH --rw=randread --bs=4k \
		--size=8M --io_size=100G --time_based --ramp_time=1 --runtime=$SECONDS_EACH --output-format=terse \
		--output=/tmp/rate.out
	iops=$(awk -F ';' '/^3;/ { print int($8) }' /tmp/rate.out)
}

# alone <n>: the same of one path without the other
alone() {
	local other=$((3 - $1))
	must sysfs_write "$(path_dir test $other)/disconnect" 1
	measure
	must sysfs_write "$(path_dir test $other)/reconnect" 1
	must wait_for 20 sess_paths_are test 2
}

# network <name> <netem parameters of path 1> <of path 2>: iops of each policy in $iops_<policy>, with - as _
network() {
	local policy
	# What netem is not told anew stays.
	path_heal 1 2>/dev/null
	path_heal 2 2>/dev/null
	# shellcheck disable=SC2086 # several words
	must path_netem 1 $2
	# shellcheck disable=SC2086
	must path_netem 2 $3
	alone 1
	first=$iops
	alone 2
	second=$iops
	diag "$1: $first and $second IOPS alone"
	for policy in $POLICIES; do
		must sysfs_write $CLT_CLASS/test/mpath_policy $policy
		measure
		eval "iops_$(echo $policy | tr - _)=$iops"
		diag "$1: $policy: $iops IOPS"
	done
}

# percent <policy> <of>
percent() {
	local got
	eval "got=\$iops_$(echo "$1" | tr - _)"
	echo $((100 * got / $2))
}

at_least() {
	[ "$(percent "$1" "$3")" -ge "$2" ]
}

below() {
	! at_least "$@"
}

ktap_plan 10
topo_up 2
topo_is_ours
defer "rm -f /tmp/rate.out"
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
# Acknowledgements wait behind data where the wire is narrow.
dev=$(map_device test "$back" ack_timeout_ms=1000) || abort "cannot map"
must sess_paths_are test 2

network "narrow" "rate 40mbit" "rate 10mbit"
best=$((first + second))
check "a narrow path: service-time" at_least service-time 95 $best
check "round-robin waits for it" below round-robin 60 $best
check "min-latency leaves it out" below min-latency 90 $best

# Far enough that the processor is idle for most of the time: where it is not, what else the host does decides.
network "far" "delay 20ms" "delay 80ms"
best=$first
check "a far path: service-time" at_least service-time 95 $best
check "round-robin uses it" below round-robin 80 $best
check "min-inflight does, too" below min-inflight 80 $best

network "equal" "rate 20mbit" "rate 20mbit"
for policy in $POLICIES; do
	check "equal paths: $policy: at least 1.9 times one" at_least "$policy" 190 "$first"
done
must path_heal 1
must path_heal 2
must unmap_device "$dev"

ktap_end
