#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The server's export list: devices that are exported by name, how, and to whom; and that a server
# without one does as before.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

EXPORT=$SRV_CTL/export_device
UNEXPORT=$SRV_CTL/unexport_device
ONLY=/sys/module/rnbd_server/parameters/exports_only

export_it() {
	sysfs_write $EXPORT "$1" || {
		echo "export_device: $1: $sysfs_error"
		return 1
	}
}

# shows <name> <device> <access mode> <clients>
shows() {
	local dir=$SRV_CTL/exports/$1
	[ "$(cat "$dir/device")" = "$2" ] && [ "$(cat "$dir/access_mode")" = "$3" ] &&
		[ "$(cat "$dir/clients")" = "$4" ] || {
		grep . "$dir"/*
		return 1
	}
}

# maps <session> <name> [<option>...]: and the data are those of the device
maps() {
	local dev
	dev=$(map_device "$@") || return 1
	drop_caches
	cmp -n 65536 "$dev" /tmp/exports.data && unmap_device "$dev"
}

# refused <errno> <reason in the server's log> <session> <name> [<option>...]: and nothing is opened
refused() {
	local error="$1" why="$2" sess="$3" name="$4"
	shift 4
	write_gives "$error" $CLT_CTL/map_device "$(map_line "$sess" "$name") $*" \
		"rnbd_server: session $sess: OPEN of \"$name\" .* refused: $why" &&
		[ ! -e "$SRV_CTL/devices/${back#/dev/}" ]
}

# refused_from <address> <session> <name>: because a path comes from there
refused_from() {
	refused EACCES 'it is not exported to this client' "$2" "$3" &&
		kmsg_has "rnbd_server: session $2: a path comes from $1, and neither that nor the name"
}

# bad_export <what is wrong> <text> <what the kernel says>
bad_export() {
	check_errno "export_device: $1" EINVAL $EXPORT "$2" "rnbd_server: export_device: $3"
}

nothing_is_exported() {
	[ -z "$(ls $SRV_CTL/exports)" ]
}

# While others read the files, and open the device.
exported_and_not() {
	local nr=0 reader opener
	while [ ! -e /tmp/exports.stop ]; do cat $SRV_CTL/exports/*/* >/dev/null 2>&1; done &
	reader=$!
	while [ ! -e /tmp/exports.stop ]; do
		sysfs_write $CLT_CTL/map_device "$(map_line busy busy) access_mode=ro" || continue
		unmap_device "$(mapped_node busy busy)"
	done >/dev/null 2>&1 &
	opener=$!
	while [ $nr -lt 30 ]; do
		export_it "name=busy device=$back clients=ip:10.1.0.1,busy" &&
			export_it "name=busy device=$back access_mode=ro" &&
			sysfs_write $UNEXPORT name=busy || break
		nr=$((nr + 1))
	done
	: >/tmp/exports.stop
	wait $reader $opener
	[ $nr -eq 30 ]
}

ktap_plan 47
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
defer "rm -f /tmp/exports.*"
dd if=/dev/urandom of=/tmp/exports.data bs=64k count=1 status=none
must dd if=/tmp/exports.data of="$back" bs=64k oflag=direct status=none

# As long as nothing was exported: as mainline.
check_eq "exports_only" "$(cat $ONLY)" N
check "a path below dev_search_path" maps one "$back"
check_errno "nothing to unexport" ENOENT $UNEXPORT name=disk \
	'rnbd_server: unexport_device: name="disk": expected the name of an export'
check "which is no export" maps one "$back"

check "export" export_it "name=disk device=$back"
check_eq "exports_only, from the first export on" "$(cat $ONLY)" Y
check "it shows" shows disk "$back" rw ''
check "maps under its name" maps one disk
check "a path is refused then" refused ENOENT 'no device is exported by that name' one "$back"
check "and an unknown name" refused ENOENT 'no device is exported by that name' one disc
check "and one that is almost it" refused ENOENT 'no device is exported by that name' one /disk

# Modes.
check "read-only, at once" export_it "name=disk device=$back access_mode=ro"
check "it shows" shows disk "$back" ro ''
check "rw is refused" refused EROFS 'it is exported for reading only' one disk
check "migration is refused" refused EROFS 'it is exported for reading only' one disk access_mode=migration
check "ro is not" maps one disk access_mode=ro
must export_it "name=disk device=$back access_mode=rw"
check "exported rw: migration is refused" refused EACCES 'it is exported for one writer, no migration' \
	one disk access_mode=migration
must export_it "name=disk device=$back access_mode=migration"
check "exported for migration: that" maps one disk access_mode=migration
check "and rw" maps one disk

# Clients.
check "to one session" export_it "name=disk device=$back clients=two"
check "it shows" shows disk "$back" rw two
check "which maps it" maps two disk
check "another does not, and the server says where it comes from" refused_from 'ip:10.[12].0.1' one disk
check "to addresses, all that there are" export_it "name=disk device=$back clients=ip:10.1.0.1,ip:10.2.0.1"
check "it shows" shows disk "$back" rw ip:10.1.0.1,ip:10.2.0.1
check "whoever comes from there maps it" maps one disk
check "to one of two addresses" export_it "name=disk device=$back clients=ip:10.1.0.1,nobody,ip:fd00:1::0001"
check "it shows" shows disk "$back" rw ip:10.1.0.1,ip:fd00:1::1,nobody
check "is refused, and the server says which it is" refused_from ip:10.2.0.1 one disk

# A device that is not there, and one that is not there any more.
must export_it "name=gone device=/dev/no-such-device"
check "a device that is not there" refused ENOENT 'the device of this export cannot be opened' one gone
must export_it "name=disk device=$back"
dev=$(map_device one disk) || abort "cannot map"
check "unexported while mapped" sysfs_write $UNEXPORT name=disk
check "its client keeps it" cmp -n 65536 "$dev" /tmp/exports.data
check "it is not listed" [ ! -e $SRV_CTL/exports/disk ]
check_errno "no other client gets it" ENOENT $CLT_CTL/map_device "$(map_line two disk) access_mode=ro"
must unmap_device "$dev"
check "nor the same, once it was unmapped" refused ENOENT 'no device is exported by that name' one disk
must sysfs_write $UNEXPORT name=gone
check "the empty list exports nothing" nothing_is_exported
check "no path either" refused ENOENT 'no device is exported by that name' one "$back"

# Bad input.
bad_export "an unknown key" "name=a device=/dev/x colour=red" \
	'colour="red": expected name=, device=, access_mode=, clients= or identity='
bad_export "no name" "device=/dev/x" 'name: expected name=<'
bad_export "a name with a slash" "name=a/b device=/dev/x" 'name="a/b": expected 1 to 254 characters without'
bad_export "a relative path" "name=a device=x" 'device="x": expected an absolute path of at most 4095'
bad_export "an unknown mode" "name=a device=/dev/x access_mode=RW" \
	'access_mode="RW": expected ro, rw or migration'
bad_export "an address that is none" "name=a device=/dev/x clients=ip:10.1.0.1,ip:10.1.0" \
	'clients="ip:10.1.0": expected ip:<IPv4'
bad_export "a name that is no session's" "name=a device=/dev/x clients=a.b" \
	'clients="a.b": expected .*the name of a session'
check_errno "unexport_device: another key" EINVAL $UNEXPORT "name=a device=/dev/x" \
	'rnbd_server: unexport_device: device="/dev/x": expected name='
check "nothing came of it" nothing_is_exported
check "exported and not, 30 times, under readers and clients" exported_and_not
ktap_end
