#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Print what the tool looks at on this machine, in the form that tests/run unpacks:
#
#	d <directory>
#	l <link> <target>
#	f <mode> <file> <text, newlines as \n>
#
# with "@ " before each line.
#
# In a VM of the test rig, with one kernel being client and server:
#
#	selftests/vm/run --kver 6.12 tools/rnbd/tests/capture.sh

. /selftests/lib.sh

# entry <path>
entry() {
	local text
	if [ -L "$1" ]; then
		echo "@ l $1 $(readlink "$1")"
	elif [ -d "$1" ]; then
		echo "@ d $1"
	elif [ -f "$1" ]; then
		text=$(cat "$1" 2>/dev/null) || return 0
		printf "%s\n" "@ f $(stat -c %a "$1") $1 $(echo "$text" | awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }')"
	fi
}

# tree <find's arguments>: but not what the driver core puts everywhere
tree() {
	find "$@" ! -path '*/power*' ! -name uevent ! -name subsystem ! -path '*/hw_counters*' |
		LC_ALL=C sort | while read -r path; do
		entry "$path"
	done
}

# Only the entries of the GID table that are in use: it has a thousand.
ports() {
	local port nr
	for port in /sys/class/infiniband/*/ports/*; do
		for nr in state phys_state link_layer; do
			entry "$port/$nr"
		done
		for nr in "$port"/gids/*; do
			nr=${nr##*/}
			cat "$port/gid_attrs/ndevs/$nr" >/dev/null 2>&1 || continue
			entry "$port/gids/$nr"
			entry "$port/gid_attrs/ndevs/$nr"
			entry "$port/gid_attrs/types/$nr"
		done
	done
}

capture() {
	local dir
	for dir in rtrs-client rtrs-server rnbd-client rnbd-server; do
		tree /sys/class/$dir
		tree /sys/devices/virtual/$dir
	done
	tree /sys/block ! -name 'loop*' ! -name 'ram*'
	for dir in /sys/devices/virtual/block/rnbd*; do
		tree "$dir/rnbd" "$dir/holders" "$dir/size" "$dir/ro"
	done
	for dir in /sys/class/infiniband/*; do
		entry "$dir"
		entry "$dir/node_type"
		entry "$dir/parent"
	done
	ports
	for dir in /sys/class/net/*; do
		entry "$dir"
		entry "$dir/mtu"
		entry "$dir/operstate"
	done
	for dir in rtrs_core rtrs_client rtrs_server rnbd_client rnbd_server rdma_rxe; do
		entry /sys/module/$dir
		[ ! -d /sys/module/$dir/parameters ] || tree /sys/module/$dir/parameters
	done
	entry /proc/sys/kernel/osrelease
	entry /proc/sys/kernel/hostname
}

# shellcheck disable=SC2034 # read by rtrs_load
RTRS_SERVER_OPTS="sess_queue_depth=64"
hostname alpha
topo_up 2
rtrs_load
back=$(backing_null 64)
dev=$(map_device alpha@storage "$back")
dd if="$dev" of=/dev/null bs=4k count=16 iflag=direct status=none
dd if=/dev/zero of="$dev" bs=4k count=16 oflag=direct status=none

capture
unmap_device "$dev"
ktap_verdict=ended
