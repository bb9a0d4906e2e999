#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk is unmapped by force while a file system on it is mounted. Its number, name and dev_t stay taken until the
# last opener is gone, so that the next disk is not taken for it.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# label <device>: of its ext4
label() {
	dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Filesystem volume name: *//p'
}

ktap_plan 14
requires mkfs.ext4 dumpe2fs
topo_up 1
rtrs_load
modprobe -q ext4
a=$(backing_null 64) || abort "no backing device"
b=$(backing_null 64) || abort "no backing device"
must mkfs.ext4 -q -L DISKA "$a"
must mkfs.ext4 -q -L DISKB "$b"
must mkdir -p /tmp/old /tmp/new
defer "rmdir /tmp/old /tmp/new"

first=$(map_device test "$a") || abort "cannot map"
healthy=$(map_device other "$(backing_null 16)") || abort "cannot map"
number=$(stat -c %t:%T "$first")
must mount "$first" /tmp/old
defer "! mountpoint -q /tmp/old || umount /tmp/old"
must sh -c 'echo A >/tmp/old/file && sync'
must load_start "$healthy" 120 --size=8M --rate_iops=50
check "unmap by force" unmap_device "$first" force
check "its node is gone" [ ! -e "$first" ]
kmsg_mark
second=$(map_device test "$b") || abort "cannot map another one"
check "the next disk has another name" [ "$second" != "$first" ]
check "and another number" [ "$(stat -c %t:%T "$second")" != "$number" ]
check_eq "it is the other disk" "$(label "$second")" DISKB
check "mount it" mount "$second" /tmp/new
check "this is not the old file system" [ ! -e /tmp/new/file ]
check "it can be written" sh -c 'echo B >/tmp/new/file && sync'
check "nothing is named twice in sysfs" sh -c '! dmesg | grep -q "cannot create duplicate filename"'
must umount /tmp/new
must umount /tmp/old
third=$(map_device test "$a") || abort "cannot map again"
check_eq "with the last opener gone the number is free" "$third" "$first"
check_eq "it is what it was" "$(label "$third")" DISKA
must unmap_device "$third"
must unmap_device "$second"

# Somebody has it open, and closes it after the session is gone.
third=$(map_device test "$a") || abort "cannot map"
exec 5<"$third"
check "opened: unmap by force" unmap_device "$third" force
second=$(map_device test "$b") || abort "cannot map another one"
check "has another name" [ "$second" != "$third" ]
exec 5<&-
load_end
check "the healthy disk: no I/O failed, all data are right" load_succeeded
must unmap_device "$second"
must unmap_device "$healthy"

ktap_end
