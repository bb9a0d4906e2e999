#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Access modes: one writer, or two during a migration, and any number of readers,
# among all clients of a server, whatever names they call the device by. Readers
# cannot write.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# map <session> <mode>
map() {
	local dev
	dev=$(map_device "$1" "$back" "access_mode=$2") && [ -b "$dev" ]
}

unmap() {
	unmap_device "$(mapped_node "$1" "$back")"
}

# shows <session> <mode> <read_only>: client and server agree on the mode
shows() {
	local dev dir
	dev=$(mapped_node "$1" "$back") || return 1
	dir=$SRV_CTL/devices/${back#/dev/}/sessions/$1
	[ "$(cat "$(dev_attr "$dev" access_mode)")" = "$2" ] &&
		[ "$(cat "$dir/access_mode")" = "$2" ] &&
		[ "$(cat "$dir/read_only")" = "$3" ] &&
		[ "$(blockdev --getro "$dev")" = "$3" ] || {
		grep . "$(dev_attr "$dev" access_mode)" "$dir"/*
		return 1
	}
}

# refused <session> <mode> <errno>: with a message, and no trace of the session
refused() {
	write_gives "$3" $CLT_CTL/map_device "$(map_line "$1" "$back") access_mode=$2" \
		"map_device: device_path=\"$back\" access_mode=$2: not opened by the server of session $1: -$3" &&
		[ ! -e "$CLT_CLASS/$1" ] && ! mapped_node "$1" "$back" 2>/dev/null &&
		[ ! -e "$SRV_CTL/devices/${back#/dev/}/sessions/$1" ]
}

read_it() {
	dd if="$(mapped_node "$1" "$back")" bs=4k count=1 iflag=direct status=none | cmp - /tmp/modes.data
}

write_it() {
	dd if=/tmp/modes.data of="$(mapped_node "$1" "$back")" bs=4k oflag=direct status=none
}

# write_fails <session> <errno>
write_fails() {
	local out
	out=$(LC_ALL=C write_it "$1" 2>&1) && return 1
	echo "$out"
	case $out in
	*"$(strerror "$2")"*) return 0 ;;
	esac
	return 1
}

# spelled <name> <mode>: in session one, mapped by another name
spelled() {
	local dev
	dev=$(map_device one "$1" "access_mode=$2") && [ -b "$dev" ]
}

# reads_as <name>: what the writer has written
reads_as() {
	dd if="$(mapped_node one "$1")" bs=4k count=1 iflag=direct status=none | cmp - /tmp/modes.data
}

unmap_as() {
	unmap_device "$(mapped_node one "$1")"
}

# opened_as <directories>: of the server, one for each
opened_as() {
	[ "$(ls "$SRV_CTL/devices/${back#/dev/}/sessions" | xargs)" = "$1" ]
}

ktap_plan 46
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
defer "rm -f /tmp/modes.data"
dd if=/dev/urandom of=/tmp/modes.data bs=4k count=1 status=none

check "a writer" map one rw
check "it shows" shows one rw 0
check "it writes" write_it one
check "a second writer is refused" refused two rw EPERM
check "a reader is not" map two ro
check "it shows" shows two ro 1
check "it reads what the writer has written" read_it two
check "it cannot write" write_fails two EPERM
check "nor after the disk was set writable" blockdev --setrw "$(mapped_node two "$back")"
check "it cannot" write_fails two EPERM
check "a second reader" map three ro
check "the writer still writes" write_it one

check "a migration target beside the writer" map four migration
check "it shows" shows four migration 0
check "it writes" write_it four
check "no third writer" refused five migration EPERM
check "no second plain writer either" refused five rw EPERM
check "the source leaves" unmap one
check "while there is a migration target no plain writer comes" refused one rw EPERM
check "but another migration does" map one migration
check "two migrations write" write_it one
must unmap one
must unmap four
check "the place is free again" map one rw
must unmap one
must unmap two
must unmap three

# One device under several names in one session.
link=/tmp/modes.link
must ln -s "$back" $link
must debugfs_up
check "a writer" map one rw
check_errno "another one by // is refused" EPERM $CLT_CTL/map_device \
	"$(map_line one "/$back") access_mode=rw" 'not opened by the server of session one: -EPERM'
check "a reader by //" spelled "/$back" ro
fault_arm rnbd-server/sysfs_dev
check_errno "a reader by a link, that the server has no directory for" ENOMEM $CLT_CTL/map_device \
	"$(map_line one $link) access_mode=ro" 'not opened by the server of session one: -ENOMEM'
check "leaves the others as they were" opened_as "one one.1"
check "a reader by a link" spelled $link ro
check "the server has a directory for each" opened_as "one one.1 one.2"
check "the writer writes" write_it one
check "what is read by //" reads_as "/$back"
check "and by the link" reads_as $link
check "the writer leaves" unmap one
check "the others read" reads_as $link
check "the first reader leaves" unmap_as "/$back"
check "the other one reads" reads_as $link
check "a writer by // is let in then" spelled "/$back" rw
must unmap_as "/$back"
check "the last one leaves" unmap_as $link
check "the server has closed it" [ ! -e "$SRV_CTL/devices/${back#/dev/}" ]

# The mode of the server's device counts too.
must blockdev --setro "$back"
check "a read-only backing device cannot be written" refused one rw EACCES
check "but read" map one ro
check "what is there is right" read_it one
must unmap one
must blockdev --setrw "$back"

check_errno "an unknown mode" EINVAL $CLT_CTL/map_device \
	"$(map_line one "$back") access_mode=RW" 'map_device: access_mode="RW": expected ro, rw or migration'
check_errno "an empty mode" EINVAL $CLT_CTL/map_device \
	"$(map_line one "$back") access_mode=" 'map_device: access_mode="": expected ro, rw or migration'
check "nothing is left of the refused" [ -z "$(ls $CLT_CLASS $CLT_CTL/devices | grep -v :)" ]
check "the default is rw" map_device one "$back"
must unmap one

ktap_end
