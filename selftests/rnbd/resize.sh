#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The size of a mapped device follows what is written to resize, and the server
# never lets a request reach behind the end of its device.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

FILE=/tmp/resize.img

sectors_are() {
	[ "$(blockdev --getsz "$dev")" = "$1" ] && [ "$(cat "/sys/block/${dev##*/}/size")" = "$1" ]
}

resize() {
	sysfs_write "$(dev_attr "$dev" resize)" "$1" && sectors_are "$2"
}

# put_get <MB>: write one MiB there, read it back, and find it in the file
put_get() {
	dd if=/tmp/resize.data of="$dev" bs=1M seek="$1" oflag=direct status=none &&
		dd if="$dev" bs=1M skip="$1" count=1 iflag=direct status=none |
			cmp - /tmp/resize.data &&
		dd if=$FILE bs=1M skip="$1" count=1 status=none | cmp - /tmp/resize.data
}

put() {
	dd if=/tmp/resize.data of="$dev" bs=1M seek="$1" oflag=direct status=none
}

get() {
	dd if="$dev" of=/dev/null bs=1M skip="$1" count=1 iflag=direct status=none
}

grow_backing() {
	truncate -s "$1M" $FILE && losetup -c "$back"
}

ktap_plan 22
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_file $FILE 16) || abort "no backing file"
defer "rm -f /tmp/resize.*"
defer "unmap_all && backing_file_gone $back $FILE"
dd if=/dev/urandom of=/tmp/resize.data bs=1M count=1 status=none
dev=$(map_device test "$back") || abort "cannot map"

check "16 MB when mapped" sectors_are $((16 << 11))
check_fails "nothing can be written behind the end" put 16
must grow_backing 32
check "the client's size does not change by itself" sectors_are $((16 << 11))
kmsg_mark
check "grows to 32 MB" resize $((32 << 11)) $((32 << 11))
check "and says so" kmsg_has "${dev#/dev/}: detected capacity change from $((16 << 11)) to $((32 << 11))"
check "the new part works" put_get 31
check "the old part too" put_get 0
check "a hexadecimal number" resize 0x8000 32768
check "shrinks to 8 MB" resize $((8 << 11)) $((8 << 11))
check_fails "nothing can be written behind the new end" put 8
check "what is before it works" put_get 7

check "may be larger than the server's device" resize $((64 << 11)) $((64 << 11))
check_fails "which then refuses to write behind its end" put 40
check_fails "and to read there" get 40
check_eq "and has not grown" "$(stat -c %s $FILE)" $((32 << 20))
check "the rest works" put_get 30
check "resize to the real size" resize $((32 << 11)) $((32 << 11))

name=${dev#/dev/}
range='expected a number of sectors up to 18014398509481983, in multiples of 1$'
for bad in abc 12x -5 ''; do
	write_gives EINVAL "$(dev_attr "$dev" resize)" "$bad" "$name: resize=\"$bad\": $range" ||
		abort "resize took '$bad'"
done
ok "what is no number is refused"
check_errno "what is too large is refused" ERANGE "$(dev_attr "$dev" resize)" 99999999999999999999999 \
	"$name: resize=\"99999999999999999999999\": $range"
check "the size is as it was" sectors_are $((32 << 11))
must unmap_device "$dev"

four=$(backing_null 16 blocksize=4096) || abort "no backing device"
dev=$(map_device test "$four") || abort "cannot map"
check_errno "half a logical block is refused" EINVAL "$(dev_attr "$dev" resize)" 4 \
	"${dev#/dev/}: resize=\"4\": expected .* in multiples of 8"
check "whole ones are not" resize 8 8
must unmap_device "$dev"

ktap_end
