#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A device is mapped, used and unmapped 100 times, over one path and over two,
# and nothing is left of it: no entry in sysfs, no verbs object, no memory.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

LOOPS=100

nothing_left() {
	[ -z "$(ls "$CLT_CTL/devices")" ] && [ -z "$(ls "$SRV_CTL/devices")" ] &&
		[ -z "$(ls "$CLT_CLASS")" ] && [ -z "$(ls "$SRV_CLASS")" ] &&
		! ls -d /sys/block/rnbd* 2>/dev/null
}

same_resources() {
	[ "$(resource_snapshot)" = "$1" ]
}

# Written by one mapping, read by the next.
cycle() {
	local nr="$1" dev line
	line=$(map_line test "$back" 1 $((1 + nr % 2)))
	sysfs_write "$CLT_CTL/map_device" "$line" || {
		echo "map $nr: $sysfs_error"
		return 1
	}
	dev=$(mapped_node test "$back") || return 1
	[ -b "$dev" ] || {
		echo "map $nr: no $dev when the write to map_device returned"
		return 1
	}
	dd if="$dev" of=/tmp/map-unmap.got bs=4k count=1 skip="$nr" iflag=direct status=none &&
		cmp -s /tmp/map-unmap.got /tmp/map-unmap.want || {
		echo "map $nr: wrong data"
		return 1
	}
	echo "written by mapping $nr" | dd of=/tmp/map-unmap.want bs=4k conv=sync status=none
	dd if=/tmp/map-unmap.want of="$dev" bs=4k seek=$((nr + 1)) oflag=direct status=none &&
		unmap_device "$dev" || return 1
	[ ! -e "/sys/block/${dev#/dev/}" ] && [ -z "$(ls "$CLT_CTL/devices")" ] || {
		echo "map $nr: still there when the write to unmap_device returned"
		return 1
	}
}

cycles() {
	local nr="$1"
	while [ "$nr" -lt "$2" ]; do
		cycle "$nr" || return 1
		nr=$((nr + 1))
	done
}

# Any process draws from most caches, so that they grow by themselves at times, by what may be more than one
# object for two mappings. What a mapping loses, the next hundred lose again.
no_slab_object_left() {
	slab_settles 20 /tmp/map-unmap.slab $((LOOPS / 2)) && return
	slab_snapshot >/tmp/map-unmap.slab
	cycles $((10 + LOOPS)) $((10 + 2 * LOOPS)) &&
		slab_settles 20 /tmp/map-unmap.slab $((LOOPS / 2))
}

ktap_plan 6
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 64) || abort "no backing device"
dd if=/dev/zero of=/tmp/map-unmap.want bs=4k count=1 status=none
defer "rm -f /tmp/map-unmap.*"

must cycles 0 10
must wait_for 20 nothing_left
resources=$(resource_snapshot)
slab_snapshot >/tmp/map-unmap.slab
used=$(mem_used)

check "$LOOPS times" cycles 10 $((10 + LOOPS))
check "sysfs is empty again" wait_for 20 nothing_left
check "no verbs object is left" wait_for 20 same_resources "$resources"
check_eq "verbs objects" "$(resource_snapshot)" "$resources"
check "no slab object is left" no_slab_object_left
grown=$(($(mem_used) - used))
diag "memory in use has grown by $grown kB"
check "no memory is left" [ "$grown" -lt $((LOOPS * 40)) ]

ktap_end
