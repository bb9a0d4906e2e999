#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# More registrations than our client's send queue has room for: reads of 192 KiB, which no bounce buffer takes, in each
# slot and on one connection. What finds no room is sent later, and an invalidation always has room: none fails, no
# path is lost, and no entry of the queue. The other side of rtrs/wire-full-queue.
#
# vm: smp=1 timeout=240 tier=test quick=6.12 also=6.12-debug

. "$(dirname "$0")/../lib.sh"

DEPTH=64
NR=640

full() {
	grep -c selftest_full $TRACE/trace
}

# reads: NR of them, more than the queue has entries, as many at a time as there are slots
reads() {
	: >$TRACE/trace
	fio --name=reads --filename="$dev" --direct=1 --ioengine=libaio --iodepth=$DEPTH --iodepth_batch_submit=$DEPTH \
		--iodepth_batch_complete_min=$DEPTH --rw=randread --bs=192k --size=12M --io_size=$((NR * 192))k \
		--output=/tmp/fio.out || {
		cat /tmp/fio.out
		return 1
	}
	echo "$(full) times no room"
}

found_no_room() {
	[ "$(full)" -gt 0 ]
}

# suite <N: we invalidate, Y: the server does>
suite() {
	must sysfs_write /sys/module/rtrs_client/parameters/remote_invalidate "$1"
	dev=$(map_device "inv$1" "$back") || abort "not mapped"
	check_here "remote_invalidate=$1: what was written is read" \
		fio_verify "$dev" --size=12M --bs=192k --iodepth=$DEPTH
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
RTRS_SERVER_OPTS="sess_queue_depth=$DEPTH max_chunk_size=262144"
rtrs_load
defer "rm -f /tmp/fio.out"
back=$(backing_null 16) || abort "no backing device"
probe_needed rtrs_conn_post_and_reserve
must probe_on selftest_full rtrs_conn_post_and_reserve 'ret=$retval:s32' 'ret == -11'
defer "probe_off selftest_full"
suite Y
suite N

ktap_end
