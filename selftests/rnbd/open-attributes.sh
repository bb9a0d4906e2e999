#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Attributes of a disk and of its session are open, and are read, while the disk is unmapped. What is open then reads as
# an error; nothing is read that is freed. Mainline's client read freed memory there up to 6.12.
#
# vm: smp=2 timeout=240

. "$(dirname "$0")/../lib.sh"

CYCLES=20

# files <block device>: the attributes of a disk and of its session that can be read
files() {
	find "/sys/block/${1#/dev/}/" "$CLT_CLASS/test/" -maxdepth 3 -type f -perm /444
}

# holder <block device>: open all of it; when told, read all of it, and say what could still be read
holder() {
	# shellcheck disable=SC2046 # many names, without spaces
	exec bash -c '
		declare -A files
		for name; do
			exec {fd}<"$name" && files[$name]=$fd
		done
		echo ${#files[@]}
		read -r
		for name in "${!files[@]}"; do
			! cat <&${files[$name]} >/dev/null 2>&1 || printf "%s " "$name"
		done' holder $(files "$1")
}

# reader: whatever disks there are, until it is stopped
reader() {
	while :; do
		# shellcheck disable=SC2046 # many names, without spaces
		cat $(files /dev/rnbd0) >/dev/null
	done 2>/dev/null
}

open_then_unmap() {
	local dev opened
	dev=$(map_device test "$back") || return 1
	rm -f /tmp/holder.in && mkfifo /tmp/holder.in || return 1
	holder "$dev" </tmp/holder.in >/tmp/holder.out &
	exec 7>/tmp/holder.in
	wait_for 20 [ -s /tmp/holder.out ] || return 1
	opened=$(head -n 1 /tmp/holder.out)
	unmap_device "$dev" && [ ! -e "/sys/block/${dev#/dev/}" ] || return 1
	echo read >&7
	exec 7>&-
	wait $! || return 1
	[ "$opened" -gt 40 ] || {
		echo "only $opened files were open"
		return 1
	}
	[ -z "$(sed -n 2p /tmp/holder.out)" ] || {
		echo "still read: $(sed -n 2p /tmp/holder.out)"
		return 1
	}
}

cycles() {
	local nr=0 dev
	while [ "$nr" -lt "$CYCLES" ]; do
		dev=$(map_device test "$back") && unmap_device "$dev" || return 1
		nr=$((nr + 1))
	done
}

ktap_plan 4
requires bash
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
defer "rm -f /tmp/holder.*"

check "open while it is unmapped: reads fail" open_then_unmap
reader &
pid=$!
defer "kill $pid"
check "read while it is mapped and unmapped, $CYCLES times" cycles
check "the reader is still there" kill -0 $pid
check "nothing is left of it" [ ! -e "$CLT_CLASS/test" ]

ktap_end
