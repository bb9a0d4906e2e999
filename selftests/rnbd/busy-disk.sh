#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk that takes one request at a time, and has large ones split: nearly each request of a client finds no room
# and is submitted again by the disk's thread. Every byte written comes back, flushes and forced writes
# arrive, discards and write zeroes hit what they are for.
#
# vm: smp=1 timeout=240
# vm: smp=4 timeout=240

. "$(dirname "$0")/../lib.sh"

FILE=/tmp/busy.img

# count_on, count: how many requests went to a disk's thread since
count_on() {
	probe_on busy_disk rnbd_srv_dispatch_add "" "common_pid == 0 && common_pid == 1"
}

count() {
	awk '$1 == "busy_disk" { print $2 }' $TRACE/kprobe_profile
}

# busy <device> [<fio option>...]: four jobs, each in an area of its own
busy() {
	local dev="$1"
	shift
	fio --filename="$dev" --direct=1 --ioengine=libaio --iodepth=16 --size=4M \
		--verify=crc32c --verify_fatal=1 --do_verify=1 $FIO_APART --output=/tmp/busy.out "$@" \
		--name=large --rw=randwrite --bsrange=512-128k --blockalign=512 --offset=0 \
		--name=small --rw=randrw --bs=4k --offset=4M --fsync=8 \
		--name=backlog --rw=randwrite --bsrange=512-64k --blockalign=512 --verify_backlog=32 --offset=8M --fsync=32 \
		--name=forced --rw=randwrite --bsrange=512-64k --blockalign=512 --sync=1 --offset=12M || {
		cat /tmp/busy.out
		return 1
	}
}

# holes: in the upper half, again and again, a discard and write zeroes between data that stay
holes() {
	local nr=0 mb
	while [ $nr -lt 8 ]; do
		mb=$((16 + 2 * nr))
		dd if=/tmp/busy.data of="$dev" bs=128k seek=$((8 * mb)) count=16 oflag=direct status=none &&
		blkdiscard -o $(((mb << 20) + 262144)) -l 262144 "$dev" &&
		blkdiscard -z -o $(((mb << 20) + 1048576)) -l 262144 "$dev" || return 1
		nr=$((nr + 1))
	done
}

# holes_are_right <device>
holes_are_right() {
	local nr=0
	cp /tmp/busy.data /tmp/busy.want
	dd if=/dev/zero of=/tmp/busy.want bs=128k seek=2 count=2 conv=notrunc status=none
	dd if=/dev/zero of=/tmp/busy.want bs=128k seek=8 count=2 conv=notrunc status=none
	while [ $nr -lt 8 ]; do
		dd if="$1" bs=128k skip=$((8 * (16 + 2 * nr))) count=16 iflag=direct status=none |
			cmp - /tmp/busy.want || return 1
		nr=$((nr + 1))
	done
}

ktap_plan 13
requires blkdiscard
probe_needed vfs_read
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
must debugfs_up
defer "rm -f /tmp/busy.*"
must count_on
defer "probe_off busy_disk"

back=$(backing_null 32 irqmode=2 completion_nsec=20000 hw_queue_depth=1 submit_queues=1 cache_size=8) ||
	abort "no disk"
dev=$(map_device test "$back") || abort "cannot map"
echo 4 >"$(queue_attr "$back" max_sectors_kb)"
before=$(count)
check "one request of 4 KiB at a time: what was written is read" busy "$dev"
check "and is on the server's disk" same_as_backing "$dev" "$back" $((16 << 20))
waited=$(($(count) - before))
diag "$waited requests were submitted by the disk's thread"
check "many had to wait" [ $waited -gt 1000 ]
must unmap_device "$dev"

# A loop device: discard and write zeroes too, and a flush for each synchronous write
modprobe -r loop
modprobe loop hw_queue_depth=1 || abort "no loop devices"
back=$(backing_file $FILE 32) || abort "no backing file"
defer "unmap_all && backing_file_gone $back $FILE && modprobe -r loop"
dev=$(map_device test "$back") || abort "cannot map"
dd if=/dev/urandom of=/tmp/busy.data bs=128k count=16 status=none
before=$(count)
busy "$dev" >/tmp/busy.said 2>&1 &
pid=$!
check "holes are made beside" holes
check_here "one request at a time: what was written is read" wait $pid
check "it is on the server's disk" same_as_backing "$dev" "$back"
check "the holes are where they belong" holes_are_right "$back"
waited=$(($(count) - before))
diag "$waited requests were submitted by the disk's thread"
check "many had to wait" [ $waited -gt 200 ]
must unmap_device "$dev"

# A disk with room for all: nobody waits
back=$(backing_null 32) || abort "no disk"
dev=$(map_device test "$back") || abort "cannot map"
before=$(count)
check "a disk with room: what was written is read" busy "$dev"
check_eq "no request had to wait" $(($(count) - before)) 0
check "unmaps" unmap_device "$dev"

# No bit of this reaches the client
check_eq "no errors were counted" "$(dmesg | grep -c 'I/O error, dev rnbd')" 0
check "no disk's thread is left" sh -c "! grep -l '^rnbd/' /proc/[0-9]*/comm 2>/dev/null"

ktap_end
