# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# world.sh - sourced by commands of scenarios: what the kernel would do to the tree.

. ../../rnbd/tests/world.sh

files=$RNBD_ROOT/sys/kernel/debug/rtrs-perf-client

# opened <session>: over one path
opened() {
	echo "sessname=$1 max_io_size=5000 queue_depth=32 max_segments=32" >"$files/session"
	dir=$RNBD_ROOT/sys/class/rtrs-client/$1
	mkdir -p "$dir/paths/one/stats"
	echo "min-inflight (MI: 1)" >"$dir/mpath_policy"
	echo "0 0 0 0 0 0" >"$dir/paths/one/stats/rdma"
}

# ran <size> <state> <errno> <done> <min> <max> <sum> "<from> <to> <number>"...
ran() {
	echo "ended $4 of 1000" >"$files/run"
	cat >"$files/result" <<-END
	op=write
	size=$1
	iterations=1000
	depth=16
	cpus=0
	state=$2
	error=$3
	done=$4
	failed=0
	lost=0
	elapsed_ns=$(($4 * 2000))
	min_ns=$5
	max_ns=$6
	sum_ns=$7
	END
	shift 7
	printf '%s\n' "$@" >"$files/histogram"
}

# took_over <session> <requests>
took_over() {
	echo "0 0 0 0 0 $2" >"$RNBD_ROOT/sys/class/rtrs-client/$1/paths/one/stats/rdma"
}
