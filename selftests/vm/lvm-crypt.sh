#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# LVM on a mapped device, dm-crypt on LVM, and LVM on dm-crypt on a mapped device, as
# Documentation/admin-guide/recipes.rst has them: file systems, a snapshot, a path that is cut under load, and more room
# on the server that arrives at the top. Run by tests/lvm-crypt.py, in a VM that has the tools.

. "$(dirname "$0")/../lib.sh"

KEY=/tmp/lvm.key
TEXT=this-is-not-for-the-server-to-read

# No udev here: dm's own library makes the nodes.
export DM_DISABLE_UDEV=1

# lvm_conf <line>: what LVM is told. The disks are those of a server, whose LVM would be told to leave them
# alone; here it is the same one.
lvm_conf() {
	mkdir -p /etc/lvm
	cat >/etc/lvm/lvm.conf <<-END
		devices {
			$1
			filter = [ "r|/dev/loop|" ]
		}
		activation {
			udev_sync = 0
			udev_rules = 0
		}
	END
}

# says <pattern> <command>...: it succeeds, and says so
says() {
	local pattern="$1" out
	shift
	out=$("$@" 2>&1) || { echo "$out"; return 1; }
	is "$out" "$pattern"
}

# refuses <pattern> <command>...
refuses() {
	local pattern="$1" out
	shift
	out=$("$@" 2>&1) && return 1
	is "$out" "$pattern"
}

# show <command>...: with what it says, for the page that has it
show() {
	diag "# $*"
	diag "$("$@" 2>&1)"
}

luks_format() {
	# As few iterations as there may be: this is no secret, and the machine is slow.
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file $KEY "$1"
}

# make_fs <device> <directory>: with files in it
make_fs() {
	mkfs.ext4 -q "$1" && mkdir -p "$2" && mount -t ext4 "$1" "$2" && fill "$2"
}

fill() {
	cp /selftests/*.sh "$1" && (cd "$1" && sha256sum -- *.sh >/tmp/lvm.sums) && sync
}

same_files() {
	drop_caches
	(cd "$1" && sha256sum -c /tmp/lvm.sums) | grep -v OK$ && return 1
	return 0
}

# under_cut <device> <session>: a path is silent while there is load, not so much that an emulated processor is busy
# with nothing else. All requests are of one size: fio makes a rate of bytes of that, with the smallest there are.
under_cut() {
	load_start "$1" 20 --size=8M --bsrange=4k-4k --rate_iops=60,60
	ios_grow "$2" 1 50 || { echo "path 1 carries nothing"; return 1; }
	path_cut 1
	wait_for 30 path_lost "$2" && ios_grow "$2" 2 50 || { echo "path 2 carries nothing"; return 1; }
	path_heal 1 && path_returns 60 "$2" 1 || { echo "path 1 does not come back"; return 1; }
	load_wait
	load_succeeded
}

path_lost() {
	! path_is "$1" 1 connected
}

# grow <backing device> <its file> <MB> <disk>
grow() {
	truncate -s "$3M" "$2" && losetup -c "$1" && rnbd resize "$4" "$3m"
}

# grow_fs <volume> <MB> <directory>: and the files in it stay
grow_fs() {
	lvm lvextend -L "$2M" "$1" && resize2fs "/dev/$1" && same_files "$3" && room "$3" $(($2 * 9 / 10))
}

# room <directory> <MB>: the file system has
room() {
	[ "$(df -P -m "$1" | awk 'NR == 2 { print $2 }')" -ge "$2" ] || { df -m "$1"; return 1; }
}

# crypt_cycle <name> <device>: closed and opened again
crypt_cycle() {
	cryptsetup close "$1" && cryptsetup open --key-file $KEY "$2" "$1"
}

all_gone() {
	is "$(dmsetup ls)" 'No devices found' && unmap_device "$a" && unmap_device "$b"
}

ktap_plan 35
requires lvm dmsetup cryptsetup resize2fs rnbd
modprobe -a ext4 dm_crypt dm_snapshot || skip_all "needs ext4, dm_crypt, dm_snapshot"
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
RNBD_SERVER_OPTS="dev_search_path=/"
rtrs_load
defer "rm -rf /tmp/lvm.* /etc/lvm"
one=$(backing_file /tmp/lvm.one 96) || abort "no backing device"
two=$(backing_file /tmp/lvm.two 64) || abort "no backing device"
defer "unmap_all; backing_file_gone $one /tmp/lvm.one; backing_file_gone $two /tmp/lvm.two"
defer "dmsetup remove_all --force >/dev/null 2>&1"
defer "umount /tmp/lvm.a /tmp/lvm.b /tmp/lvm.c /tmp/lvm.s 2>/dev/null || :"
head -c 32 /dev/urandom >$KEY
a=$(map_device lvm "$one") || abort "cannot map"
b=$(map_device lvm "$two") || abort "cannot map"
# So little load would need one path only.
must sysfs_write $CLT_CLASS/lvm/mpath_policy round-robin

# LVM.
lvm_conf ''
check "LVM does not know the type" refuses '*device type is unknown*' lvm pvcreate "$a"
lvm_conf 'types = [ "rnbd", 16 ]'
check "told, it does" says '*successfully created*' lvm pvcreate "$a"
check "a volume group" says '*successfully created*' lvm vgcreate vg0 "$a"
check "a volume" lvm lvcreate -y -L 24M -n data vg0
check "a file system on it" make_fs /dev/vg0/data /tmp/lvm.a
show lvm lvs vg0
check "a snapshot" lvm lvcreate -y -s -L 8M -n before vg0/data
check "files change" eval 'rm /tmp/lvm.a/*.sh && echo $TEXT >/tmp/lvm.a/new && sync'
check "the snapshot has them as they were" eval 'mkdir /tmp/lvm.s && mount -t ext4 -o ro /dev/vg0/before /tmp/lvm.s &&
	same_files /tmp/lvm.s && [ ! -e /tmp/lvm.s/new ]'
check "what changed is there" grep -q $TEXT /tmp/lvm.a/new
check "the server could read it" eval 'drop_caches; grep -q $TEXT /tmp/lvm.one'
must umount /tmp/lvm.s
show lvm lvs vg0
check "the snapshot goes" lvm lvremove -y vg0/before
must fill /tmp/lvm.a
check "a volume for load" lvm lvcreate -y -L 12M -n load vg0
check_here "a path is cut: nothing fails" under_cut /dev/vg0/load lvm
check "the disk grows" grow "$one" /tmp/lvm.one 160 "$a"
check "and the physical volume" says '*1 physical volume(s) resized*' lvm pvresize "$a"
check "and the file system" grow_fs vg0/data 72 /tmp/lvm.a

show lvm pvs "$a"
show df -m /tmp/lvm.a

# dm-crypt on a volume.
must lvm lvcreate -y -L 40M -n secret vg0
check "a volume is encrypted" luks_format /dev/vg0/secret
head -c 32 /dev/urandom >/tmp/lvm.wrong
check "another key does not open it" refuses 'No key available*' \
	cryptsetup open --key-file /tmp/lvm.wrong /dev/vg0/secret secret
check "its key does" cryptsetup open --key-file $KEY /dev/vg0/secret secret
check "a file system in it" make_fs /dev/mapper/secret /tmp/lvm.b
check "what is written" eval 'echo not-$TEXT >/tmp/lvm.b/new && sync && drop_caches && grep -q not-$TEXT /tmp/lvm.b/new'
check "the server cannot read" eval '! grep -q not-$TEXT /tmp/lvm.one'
must umount /tmp/lvm.b
check "closed and opened" crypt_cycle secret /dev/vg0/secret
check_here "a path is cut: nothing fails" under_cut /dev/mapper/secret lvm
check "closed" cryptsetup close secret

# LVM on dm-crypt: one key for all volumes of a disk.
must luks_format "$b"
must cryptsetup open --key-file $KEY "$b" pv
check "LVM on what is encrypted" eval 'lvm pvcreate /dev/mapper/pv && lvm vgcreate vg1 /dev/mapper/pv'
must lvm lvcreate -y -L 24M -n data vg1
check "a file system on it" make_fs /dev/vg1/data /tmp/lvm.c
must lvm lvcreate -y -L 12M -n load vg1
check_here "a path is cut: nothing fails" under_cut /dev/vg1/load lvm
check "the server can read no file" eval '! grep -q "ktap_plan" /tmp/lvm.two'
check "the disk grows" grow "$two" /tmp/lvm.two 128 "$b"
check "what is encrypted does" cryptsetup resize --key-file $KEY pv
check "and the file system" eval 'lvm pvresize /dev/mapper/pv && grow_fs vg1/data 72 /tmp/lvm.c'

show lsblk -o NAME,TYPE,SIZE "$a" "$b"

# All the way down.
check "unmounted, all is right" eval 'umount /tmp/lvm.a /tmp/lvm.c &&
	e2fsck -fn /dev/vg0/data && e2fsck -fn /dev/vg1/data'
check "volumes go" eval 'lvm vgchange -an vg0 && lvm vgchange -an vg1 && cryptsetup close pv'
check "nothing is left, and the disks go" all_gone

ktap_end
