#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Discard and write-zeroes of a client make holes in the server's backing file,
# and nowhere else. A backing device that can do neither is not asked to.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

FILE=/tmp/discard.img

# as_written <device> <MB> <MB>
as_written() {
	drop_caches
	dd if="$1" bs=1M skip="$2" count="$3" iflag=direct status=none |
		cmp -n "$(($3 << 20))" - /tmp/discard.part || return 1
}

# kept <device> <MB> <MB>: as written before, on the device and in the file
kept() {
	dd if=/tmp/discard.data bs=1M skip="$2" count="$3" status=none >/tmp/discard.part
	as_written "$1" "$2" "$3"
}

# stat_field <device> <n>: of its I/O statistics
stat_field() {
	awk -v n="$2" '{ print $n }' "/sys/block/${1#/dev/}/stat"
}

# at_most <bytes> <bytes>: the smaller one
at_most() {
	echo $(($1 < $2 ? $1 : $2))
}

ktap_plan 22
requires blkdiscard fallocate stat
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_file $FILE 32) || abort "no backing file"
defer "rm -f /tmp/discard.*"
defer "unmap_all && backing_file_gone $back $FILE"
dev=$(map_device test "$back") || abort "cannot map"
dd if=/dev/urandom of=/tmp/discard.data bs=1M count=16 status=none
must dd if=/tmp/discard.data of="$dev" bs=1M oflag=direct status=none
full=$(file_blocks $FILE)
check "the backing file is full where it was written" [ "$full" -ge $((16 << 11)) ]

# Both know the same limits, but for what one request of a client asks of the server's disk.
check_eq "discard granularity" "$(queue "$dev" discard_granularity)" \
	"$(queue "$back" discard_granularity)"
check_eq "discard limit" "$(queue "$dev" discard_max_bytes)" \
	"$(at_most "$(queue "$back" discard_max_bytes)" $((256 << 20)))"
check_eq "limit of write zeroes" "$(queue "$dev" write_zeroes_max_bytes)" \
	"$(at_most "$(queue "$back" write_zeroes_max_bytes)" $((64 << 20)))"

before=$(stat_field "$dev" 12)
check "discard" blkdiscard -o 4M -l 4M "$dev"
check_eq "makes a hole of that size" $((full - $(file_blocks $FILE))) $((4 << 11))
check_eq "with a single request" $(($(stat_field "$dev" 12) - before)) 1
check "that reads as zeroes" reads_zero "$dev" 4 4
check "what is before it is kept" kept "$dev" 0 4
check "what is behind it is kept" kept "$dev" 8 8

if [ "$(queue "$dev" write_zeroes_max_bytes)" -gt 0 ]; then
	full=$(file_blocks $FILE)
	written=$(stat_field "$dev" 7)
	check "write zeroes" fallocate -p -o 8M -l 4M "$dev"
	check_eq "makes a hole of that size" $((full - $(file_blocks $FILE))) $((4 << 11))
	check "without sending data" [ $(($(stat_field "$dev" 7) - written)) -le $((4 << 11)) ]
else
	why="no write-zeroes on this kernel"
	ktap_skip "write zeroes" "$why"
	ktap_skip "makes a hole of that size" "$why"
	ktap_skip "without sending data" "$why"
	dd if=/dev/zero of="$dev" bs=1M seek=8 count=4 oflag=direct status=none
fi
check "which reads as zeroes" reads_zero "$dev" 8 4
check "blkdiscard --zeroout" blkdiscard -z -o 12M -l 1M "$dev"
check "reads as zeroes too" reads_zero "$dev" 12 1
check "what is behind it is kept" kept "$dev" 13 3
check_fails "secure erase is refused: the backing file has none" blkdiscard -s -o 0 -l 1M "$dev"
check "and has changed nothing" kept "$dev" 0 4
must unmap_device "$dev"

none=$(backing_null 32 discard=0) || abort "no backing device"
dev=$(map_device test "$none") || abort "cannot map"
must dd if=/tmp/discard.data of="$dev" bs=1M oflag=direct status=none
check_fails "no discard where the backing device has none" blkdiscard -o 4M -l 4M "$dev"
check "zeroes are written to it instead" blkdiscard -z -o 4M -l 4M "$dev"
check "and read" reads_zero "$none" 4 4
must unmap_device "$dev"

ktap_end
