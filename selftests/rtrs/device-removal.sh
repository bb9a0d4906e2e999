#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMA devices are taken away under load, at the client's end, at the server's, all of one end and all of
# both: the device goes without waiting for us, I/O goes on over what is left or waits for what comes
# back, and a device that is back is used at once.
#
# vm: smp=2 timeout=240

. "$(dirname "$0")/../lib.sh"

# How long taking a device away may last: its queue pairs, chunks and regions go with it.
GONE_S=15
# A client asks again at once when it has the device, otherwise when the next attempt is due.
BACK_MS=$((1000 * ${RTRS_SLOWNESS:-1}))
RETURN_S=40

# remove_one <device>. Of a list from which another device is taken at the same time rdma(8) may read all but
# this one.
remove_one() {
	local said
	until said=$(timeout $((GONE_S * ${RTRS_SLOWNESS:-1})) rdma link del "rxe_$1" 2>&1); do
		case $said in
		*"Wrong device name"*) [ -e "/sys/class/infiniband/rxe_$1" ] && continue ;;
		esac
		diag "rxe_$1: ${said:-not gone in time}"
		return 1
	done
}

# remove <device>...: all at once; tells how long the slowest took
remove() {
	local dev pids="" status=0 start
	start=$(uptime_ms)
	for dev; do
		remove_one "$dev" &
		pids="$pids $!"
	done
	for dev in $pids; do
		wait "$dev" || status=$?
	done
	diag "$*: taken away in $(($(uptime_ms) - start)) ms"
	return $status
}

# attach <device>...
attach() {
	local dev
	for dev; do
		rdma link add "rxe_$dev" type rxe netdev "$dev" &&
			wait_for 20 topo_gid_there "rxe_$dev" "${dev#?}" || return 1
	done
}

# one <device>: of one path, while the other goes on
one() {
	local n="${1#?}" start
	must ios_grow test "$n" 50
	kmsg_mark
	check "$1: is taken away" remove "$1"
	check "$1: its path is lost" wait_for 15 path_is test "$n" disconnected
	check "$1: the kernel's log says why" wait_for 15 kmsg_has "$2"
	check "$1: the other path goes on" ios_grow test $((3 - n)) 100
	must attach "$1"
	start=$(uptime_ms)
	check "$1: the path is back" path_returns $RETURN_S test "$n"
	back_ms=$(($(uptime_ms) - start))
	diag "$1: back $back_ms ms after the device"
	check "$1: carries I/O again" ios_grow test "$n" 50
}

# all <device>...: no path is left until they are back
all() {
	check "$*: are taken away" remove "$@"
	check "$*: no path is left" wait_for 15 sess_paths_are test 0
	check "$*: I/O waits" load_runs
	must attach "$@"
	check "$*: one path is back" path_returns $RETURN_S test 1
	check "$*: and the other" path_returns $RETURN_S test 2
	check "$*: I/O goes on" ios_grow test 1 50
}

ktap_plan 37
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back" no_path_timeout=200) || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin
load_start "$dev" 120

one c1 'device removed'
check "c1: used at once" [ "$back_ms" -le "$BACK_MS" ]
one s2 'device removal'
all c1 c2
all s1 s2
all c1 c2 s1 s2

# The end of a device that is in use and of its devices, in any order.
check "the load runs until here" load_runs
load_end
check "no I/O failed, all data are right" load_succeeded
check "c2: is taken away" remove c2
check "c2: unmapping works without it" unmap_device "$dev"
check "s1: is taken away" remove s1
check "the modules unload without them" rtrs_unload
must attach c2 s1

ktap_end
