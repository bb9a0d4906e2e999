#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# More registrations than our client's send queue has room for: reads of 192 KiB, which no bounce buffer takes, in each
# slot and on one connection. What finds no room is sent later, and an invalidation always has room: none fails, no
# path is lost, and no entry of the queue. The other side of rtrs/wire-full-queue.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

DEPTH=128
NR=384
SLOW="hb_interval_ms=5000 hb_missed_max=10 ack_timeout_ms=2000"

full() {
	grep -c selftest_full $TRACE/trace
}

# reads: NR of them, more than the queue has entries, as many at a time as there are slots. They are acknowledged so late
# that all of them are in the queue together, however slow the processor. (fio waits for all of them at the end of the disk.)
reads() {
	: >$TRACE/trace
	path_netem 1 delay 200ms || return 1
	fio --name=reads --filename="$dev" --direct=1 --ioengine=libaio --iodepth=$DEPTH --rw=randread --norandommap \
		--bs=192k --size=30M --io_size=$((NR * 192))k --output=/tmp/fio.out || {
		cat /tmp/fio.out
		return 1
	}
	path_heal 1
	echo "$(full) times no room"
}

found_no_room() {
	[ "$(full)" -gt 0 ]
}

# suite <N: we invalidate, Y: the server does>
suite() {
	must sysfs_write /sys/module/rtrs_client/parameters/remote_invalidate "$1"
	# shellcheck disable=SC2086 # several words
	dev=$(map_device "inv$1" "$back" $SLOW) || abort "not mapped"
	check_here "remote_invalidate=$1: what was written is read" \
		fio_verify "$dev" --size=6M --bs=192k --iodepth=$DEPTH
	check_here "remote_invalidate=$1: $NR reads, $DEPTH at a time" reads
	check_here "remote_invalidate=$1: some of them found no room at first" found_no_room
	check_here "remote_invalidate=$1: and so do as many again" reads
	check_eq "remote_invalidate=$1: the path was never lost" "$(reconnects "inv$1" 1 1)" 0
	check_here "remote_invalidate=$1: small ones pass" fio_verify "$dev" --size=1M --bs=4k --iodepth=$DEPTH
	must unmap_device "$dev"
}

requires fio
ktap_plan 12
topo_up 1
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=$DEPTH max_chunk_size=262144"
rtrs_load
defer "rm -f /tmp/fio.out"
back=$(backing_null 32) || abort "no backing device"
probe_needed rtrs_conn_post_and_reserve
must probe_on selftest_full rtrs_conn_post_and_reserve 'ret=$retval:s32' 'ret == -11'
defer "probe_off selftest_full"
suite Y
suite N

ktap_end
