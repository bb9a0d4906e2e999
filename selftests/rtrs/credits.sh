#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A session begins with few slots, and each of its paths with as many chunks at the server; there are more of them as soon as
# they are needed, on all paths, and fewer again some time after. Data stay right, nobody waits for good, and a path that is
# lost on the way, or for which there is no memory, costs no I/O.
#
# vm: smp=1 timeout=600

. "$(dirname "$0")/../lib.sh"

LEAST=16

open_slots() {
	cat $CLT_CLASS/test/open_slots
}

# chunks <n>: of path n, at the server
chunks() {
	cat "$SRV_CLASS/test/paths/ip:10.$1.0.1@ip:10.$1.0.2/chunks"
}

# chunks_are <n> <at least>
chunks_are() {
	[ "$(chunks "$1")" -ge "$2" ]
}

# has <slots>: the session, and both paths
has() {
	is "$(open_slots)" "$1" && is "$(chunks 1)" "$1" && is "$(chunks 2)" "$1"
}

# has_some <at least>: likewise
has_some() {
	local nr
	nr=$(open_slots) || return 1
	echo "$nr slots, $(chunks 1) and $(chunks 2) chunks"
	[ "$nr" -ge "$1" ] && has "$nr"
}

# verify <depth>
verify() {
	fio_verify "$dev" --iodepth="$1" --size=24M --bsrange=512-124k --blockalign=512
}

# begins: a session of its own; one of before has what it needed
begins() {
	dev=$(map_device test "$back" "${1:-}") || return 1
	wait_for 20 sess_paths_are test 2
}

# ends
ends() {
	unmap_device "$dev"
}

# again [<option of map>]: a new session
again() {
	ends && begins "${1:-}"
}

# refused <fault point>: what slots need cannot be had: I/O goes on, nothing is lost, and it is tried again
refused() {
	again && fault_arm "$1" && verify 64 && fault_fired "$1" && path_is test 1 connected &&
		path_is test 2 connected && has_some $LEAST && wait_for 20 verified_with 64
}

# verified_with <slots>: they come with the load
verified_with() {
	verify "$1" && has_some "$1"
}

# halves: when few are in use
halves() {
	local nr
	nr=$(open_slots)
	wait_for 60 has $((nr / 2))
}

ktap_plan 23
requires fio
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 2
back=$(backing_null 32) || abort "no backing device"
defer rtrs_unload
must server_load
must client_load
must begins

check "it begins with few" has $LEAST
check "few are enough for few" verify 8
check "and stay few" has $LEAST
check "more, on both paths, and data are right" verified_with 64
check "as many as are needed" verified_with 256
must sysfs_write "$(path_dir test 2)/reconnect" 1
must wait_for 20 sess_paths_are test 2
check "a path that is back has as many as the other" has_some 256

check_here "a new session has few" again
check "on both paths" has $LEAST
load_start "$dev" 60 --iodepth=256
path_cut 1
check "a path goes while more are asked for" wait_for 20 path_is test 1 disconnected
check "the other one has them" wait_for 20 chunks_are 2 256
path_heal 1
must wait_for 40 sess_paths_are test 2
check "it comes back with as many" has_some 256
load_end
check "all I/O was done" load_succeeded

for fault in rtrs-server/alloc_bufs rtrs-client/alloc_reqs rtrs-client/alloc_bounce; do
	check_here "no memory once: $fault" refused $fault
done

check "when few are needed half of them go" halves
check "and come again, and data are right" verified_with 64

for module in rtrs_client rtrs_server; do
	must sysfs_write /sys/module/$module/parameters/credits N
	check_here "without credits of $module" again
	check "all are there from the start" has 512
	check "and data are right" verify 64
	must sysfs_write /sys/module/$module/parameters/credits Y
done

ktap_end
