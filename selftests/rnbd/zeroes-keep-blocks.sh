#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Zeroes that are to keep their space (blkdiscard -z, fallocate -z) keep it on the server's disk, as
# on a local one; those that need not (fallocate -p) free it. The server's disk is a file on ext4,
# which can do both and tells which it did.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

MNT=/tmp/zeroes-mnt
FILE=$MNT/disk.img
DATA=/tmp/zeroes.data

# about <found> <wanted>: ext4 may need some more blocks to note where unwritten ones are
about() {
	echo "found $1, wanted $2"
	[ $(($1 - $2)) -le 64 ] && [ $(($2 - $1)) -le 64 ]
}

# kept <device> <MB> <MB>: as written before
kept() {
	drop_caches
	dd if=$DATA bs=1M skip="$2" count="$3" status=none >$DATA.part
	dd if="$1" bs=1M skip="$2" count="$3" iflag=direct status=none |
		cmp -n "$(($3 << 20))" - $DATA.part
}

# writes <device>: how many requests
writes() {
	awk '{ print $5 }' "/sys/block/${1#/dev/}/stat"
}

is_unmounted() {
	! grep -q " $MNT " /proc/mounts || umount $MNT
}

ktap_plan 14
requires blkdiscard fallocate stat mkfs.ext4
modprobe -q ext4
grep -q ext4 /proc/filesystems || skip_all "needs ext4"
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
mkdir -p $MNT
defer "rm -rf $MNT /tmp/zeroes.*"
disk=$(backing_file /tmp/zeroes.img 64) || abort "no disk for a file system"
defer "backing_file_gone $disk /tmp/zeroes.img"
must mkfs.ext4 -q -F "$disk"
must mount -t ext4 "$disk" $MNT
defer is_unmounted
back=$(backing_file $FILE 16) || abort "no backing file"
defer "unmap_all && backing_file_gone $back $FILE"
must dd if=/dev/urandom of=$DATA bs=1M count=16 status=none
must dd if=$DATA of="$back" bs=1M oflag=direct status=none
full=$(file_blocks $FILE)
check "the backing file is full" [ "$full" -ge $((16 << 11)) ]
must blkdiscard -z -o 0 -l 1M "$back"
check "local zeroes keep its blocks" about "$(file_blocks $FILE)" "$full"

dev=$(map_device test "$back") || abort "cannot map"
before=$(writes "$dev")
check "blkdiscard -z" blkdiscard -z -o 2M -l 2M "$dev"
check "keeps the blocks of the server's disk" about "$(file_blocks $FILE)" "$full"
check "reads as zeroes" reads_zero "$dev" 2 2
check "fallocate -z" fallocate -z -o 6M -l 2M "$dev"
check "keeps the blocks too" about "$(file_blocks $FILE)" "$full"
check "reads as zeroes" reads_zero "$dev" 6 2
# As data they are 34 requests at least, of 124 KiB each.
check "no zeroes are sent as data" [ $(($(writes "$dev") - before)) -le 8 ]
full=$(file_blocks $FILE)
check "fallocate -p" fallocate -p -o 10M -l 2M "$dev"
check "frees its blocks" about $((full - $(file_blocks $FILE))) $((2 << 11))
check "reads as zeroes" reads_zero "$dev" 10 2
check "what lies between them is kept" kept "$dev" 4 2
check "what is behind them is kept" kept "$dev" 12 4
must unmap_device "$dev"

ktap_end
