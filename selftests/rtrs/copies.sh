#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory for copies of what is written, with always_invalidate=Y: a client has no more of it than a quarter of what it
# may have for chunks. Writes for which there is none are right nevertheless; their chunks are taken out of the
# client's reach by their keys.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# As long as a request can be, in all slots at a time.
SLOTS=64 BYTES=124k WRITES=256
# A quarter of 17 MiB, in copies of 128 KiB.
COPIES=34

# invalidations: of chunks, for $WRITES writes
invalidations() {
	probe_count rtrs_srv_req_inv_done . fio_verify "$dev" --bs=$BYTES --iodepth=$SLOTS --size=$((WRITES * 124))k
}

# map_limited [<option of rtrs-server>...]
map_limited() {
	RTRS_SERVER_OPTS="sess_queue_depth=$SLOTS $*"
	rtrs_load
	dev=$(map_device test "$back") || abort "cannot map"
}

ktap_plan 5
requires fio
topo_up 1
back=$(backing_null 64) || abort "no backing device"
map_limited max_memory_mb_per_client=17
probe_needed rtrs_srv_req_inv_done

nr=$(invalidations)
check_eq "a client with little memory: all it writes is right" $? 0
diag "$nr of $WRITES writes were without a copy"
check "no more are copied than it has room for" [ "$nr" -ge $((SLOTS - COPIES)) ]
check "as many as it has room for are" [ "$nr" -le $((WRITES - COPIES)) ]
must unmap_device "$dev"
must rtrs_unload

map_limited
nr=$(invalidations)
check_eq "one with more: all it writes is right" $? 0
check_eq "and each is copied" "$nr" 0
must unmap_device "$dev"

ktap_end
