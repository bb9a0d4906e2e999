#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Devices with logical blocks of other sizes than 512 bytes: the client's disk has
# the size and the block sizes of the server's, its data are where they belong, and
# half a block is nothing that can be written.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# put <bytes> <offset in blocks of that size>
put() {
	dd if=/tmp/blocks.data of="$dev" bs="$1" count=1 seek="$2" oflag=direct conv=notrunc status=none
}

# last_block: written and read back, and there on the server
last_block() {
	local nr=$(($(blockdev --getsize64 "$dev") / $1 - 1))
	put "$1" $nr &&
		dd if="$dev" bs="$1" skip=$nr count=1 iflag=direct status=none | cmp -n "$1" - /tmp/blocks.data &&
		dd if="$back" bs="$1" skip=$nr count=1 iflag=direct status=none | cmp -n "$1" - /tmp/blocks.data
}

suite() {
	local size="$1" name
	check_eq "$size: logical block" "$(queue "$dev" logical_block_size)" "$size"
	for name in physical_block_size minimum_io_size discard_granularity; do
		check_eq "$size: $name is the server's" "$(queue "$dev" $name)" "$(queue "$back" $name)"
	done
	check_eq "$size: bytes" "$(blockdev --getsize64 "$dev")" "$(blockdev --getsize64 "$back")"
	check "$size: data" fio_verify "$dev" --bs="$size"
	check "$size: in pieces of 1 to 16 blocks" fio_verify "$dev" --bsrange="$size-$((16 * size))" \
		--randseed=3
	check "$size: the last block" last_block "$size"
	check "$size: and all of it is on the server" same_as_backing "$dev" "$back"
}

ktap_plan 22
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/blocks.data"
dd if=/dev/urandom of=/tmp/blocks.data bs=64k count=1 status=none

for size in 4096 1024; do
	back=$(backing_null 16 blocksize=$size) || abort "no backing device"
	dev=$(map_device test "$back") || abort "cannot map"
	suite $size
	check_fails "$size: half a block is not written" put $((size / 2)) 1
	check "$size: nor a part of it" same_as_backing "$dev" "$back"
	must unmap_device "$dev"
done

ktap_end
