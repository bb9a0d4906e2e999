#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A file system on a mapped device: a tree copied onto it is the same after the
# device was unmapped and mapped again, and so the server's e2fsck says.
#
# vm: smp=2 timeout=180

. "$(dirname "$0")/../lib.sh"

MNT=/tmp/ext4-mnt

# source_files: names of a few hundred files of any kind
source_files() {
	find "$(dirname "$0")/.." "/lib/modules/$(uname -r)/" /usr/bin -type f -size -2048k |
		head -n 300 | xargs -n 1 readlink -f
}

copy_tree() {
	(cd / && xargs cp --parents -t "$1" </tmp/ext4.files)
}

same_files() {
	(cd "$1" && sha256sum -c /tmp/ext4.manifest >/tmp/ext4.out 2>&1) || {
		grep -v ': OK$' /tmp/ext4.out | head -n 20
		return 1
	}
}

is_unmounted() {
	! grep -q " $MNT " /proc/mounts || umount $MNT
}

ktap_plan 8
requires mkfs.ext4 e2fsck
modprobe -q ext4
grep -q ext4 /proc/filesystems || skip_all "needs ext4"
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 128) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
mkdir -p $MNT
defer "rm -rf $MNT /tmp/ext4.*"
defer is_unmounted
source_files | sed 's,^/,,' >/tmp/ext4.files
(cd / && xargs sha256sum </tmp/ext4.files) >/tmp/ext4.manifest
diag "$(wc -l </tmp/ext4.manifest) files"
must [ "$(wc -l </tmp/ext4.manifest)" -ge 50 ]

check "mkfs" mkfs.ext4 -q -F "$dev"
must mount -t ext4 "$dev" $MNT
mkdir $MNT/tree
check "copy" copy_tree $MNT/tree
must umount $MNT
check "client's e2fsck finds nothing" e2fsck -fn "$dev"
must unmap_device "$dev"
check "server's e2fsck finds nothing" e2fsck -fn "$back"

dev=$(map_device test "$back" access_mode=ro) || abort "cannot map read-only"
must mount -t ext4 -o ro,noload "$dev" $MNT
check "all files are right after a new mapping" same_files $MNT/tree
check_fails "it cannot be unmapped while mounted" unmap_device "$dev"
must umount $MNT
check "it can then" unmap_device "$dev"

dev=$(map_device test "$back") || abort "cannot map"
must mount -t ext4 "$dev" $MNT
must rm -rf $MNT/tree/usr/bin
must umount $MNT
check "e2fsck finds nothing after deleting" e2fsck -fn "$dev"
must unmap_device "$dev"

ktap_end
