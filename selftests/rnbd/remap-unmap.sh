#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unmapping a device that is in use, by asking and by force, and mapping again
# what was lost.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

gone() {
	[ ! -e "/sys/block/${dev#/dev/}" ] && [ -z "$(ls $CLT_CTL/devices)" ]
}

# through_fd <bytes>: so many can be read from who has it open
through_fd() {
	[ "$(dd bs=4k count=1 iflag=direct status=none <&9 2>/dev/null | wc -c)" -eq "$1" ]
}

# fails_with_eio <command>: fails, and because of EIO
fails_with_eio() {
	local out
	out=$(LC_ALL=C "$@" 2>&1) && return 1
	echo "$out"
	case $out in
	*"$(strerror EIO)"*) return 0 ;;
	esac
	return 1
}

read_dev() {
	dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct status=none
}

is_data() {
	drop_caches
	cmp -n 65536 "$1" /tmp/remap.data
}

# unmap_twice: at the same time; exactly one of them succeeds
unmap_twice() {
	local file first second
	file=$(dev_attr "$dev" unmap_device)
	(sysfs_write "$file" normal 2>/dev/null) &
	first=$!
	(sysfs_write "$file" normal 2>/dev/null) &
	second=$!
	wait $first && first=1 || first=0
	wait $second && second=1 || second=0
	[ $((first + second)) -eq 1 ] || {
		echo "$((first + second)) of two succeeded"
		return 1
	}
}

ktap_plan 36
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_file /tmp/remap.img 16) || abort "no backing file"
defer "rm -f /tmp/remap.*"
defer "unmap_all && backing_file_gone $back /tmp/remap.img"
dd if=/dev/urandom of=/tmp/remap.data bs=64k count=1 status=none

dev=$(map_device test "$back") || abort "cannot map"
must dd if=/tmp/remap.data of="$dev" bs=64k oflag=direct status=none

# In use.
exec 9<"$dev"
check_errno "an open device cannot be unmapped" EBUSY "$(dev_attr "$dev" unmap_device)" normal \
	"${dev#/dev/}: unmap_device=normal: the device is opened"
check "it is still listed" mapped_node test "$back"
check "and still works" through_fd 4096
check_errno "an unknown word" EINVAL "$(dev_attr "$dev" unmap_device)" gently \
	"${dev#/dev/}: unmap_device=\"gently\": expected normal or force"
check_errno "no word" EINVAL "$(dev_attr "$dev" unmap_device)" '' \
	"${dev#/dev/}: unmap_device=\"\": expected normal or force"
check_errno "remap of an open device" EALREADY "$(dev_attr "$dev" remap_device)" 1 \
	"${dev#/dev/}: remap_device=1: -EALREADY, state is open"
check_errno "remap with another word" EINVAL "$(dev_attr "$dev" remap_device)" 2 \
	"${dev#/dev/}: remap_device=\"2\": expected 1 or accept"

check "it can be unmapped by force" unmap_device "$dev" force
check "and is gone" gone
check "its session too" [ ! -e $CLT_CLASS/test ]
check "who has it open gets no more data" through_fd 0
dev2=$(map_device test "$back") || abort "cannot map while the old one is open"
check "it can be mapped again at once" is_data "$dev2"
exec 9<&-
check "and works when the old one is closed" is_data "$dev2"
dev=$dev2

check "two unmap at once, one succeeds" unmap_twice
check "and the device is gone" gone

# Under load.
dev=$(map_device test "$back") || abort "cannot map"
fio --name=load --filename="$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
	--time_based --runtime=100 --offset=1M --size=8M >/tmp/remap.fio 2>&1 &
load=$!
ios=$(path_ios test 1)
busy() {
	[ "$(path_ios test 1)" -gt $((ios + 100)) ]
}
must wait_for 20 busy
check "by force, under load" unmap_device "$dev" force
check "the device is gone" gone
if wait $load; then
	not_ok "the load ends with errors" "fio succeeded"
else
	ok "the load ends with errors"
fi
check "errors are what it got" grep -q 'error=Input/output error\|err= *5' /tmp/remap.fio

# The session is lost: closed, and open again when it is back.
dev=$(map_device test "$back") || abort "cannot map"
check_eq "open" "$(dev_state "$dev")" open
must disconnect_all test
check "closed without a path" wait_for 10 dev_is "$dev" closed
must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 0
check "I/O fails" fails_with_eio read_dev
check_errno "no resize while closed" ENOENT "$(dev_attr "$dev" resize)" 1024 \
	"${dev#/dev/}: resize=1024: expected state open, it is closed"
kmsg_mark
check_fails "no remap without a path" sysfs_write "$(dev_attr "$dev" remap_device)" 1
check "with a message" kmsg_has "${dev#/dev/}: remap_device=1: -E[A-Z]*, state is closed"
must reconnect_all test
check "open again with its paths" wait_for 20 dev_is "$dev" open
check "the data are there" is_data "$dev"

# The server comes back without the device, and gets it later.
must disconnect_all test
must wait_for 10 dev_is "$dev" closed
must mv /tmp/remap.img /tmp/remap.img2
must backing_detach "$back"
kmsg_mark
must reconnect_all test
refused="${dev#/dev/}: device_path=\"$back\" cannot be opened again: -E[A-Z]*; asking again until it can"
check "told when the server has lost the device" wait_for 20 kmsg_has "$refused"
check_eq "stays closed" "$(dev_state "$dev")" closed
check_fails "remap fails while it has not" sysfs_write "$(dev_attr "$dev" remap_device)" 1
kmsg_mark
must losetup "$back" /tmp/remap.img2
check "set up again it may be another one" wait_for 20 kmsg_has \
	"${dev#/dev/}: .* it is another disk: .*; asking again until it is the old one"
check "open again when that is accepted" sysfs_write "$(dev_attr "$dev" remap_device)" accept
check "the data are there" is_data "$dev"

# One of two devices of a session by force: the other does not notice.
other=$(backing_null 16) || abort "no backing device"
dev2=$(map_device test "$other") || abort "cannot map a second device"
must dd if=/tmp/remap.data of="$dev2" bs=64k oflag=direct status=none
exec 9<"$dev"
check "one of two by force" unmap_device "$dev" force
check "the other works" is_data "$dev2"
exec 9<&-
must unmap_device "$dev2"
must backing_detach "$back"
must mv /tmp/remap.img2 /tmp/remap.img
must losetup "$back" /tmp/remap.img

check "nothing is left" [ -z "$(ls $CLT_CTL/devices $CLT_CLASS | grep -v :)" ]

ktap_end
