#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A link loses its carrier, at the client's end and at the server's: I/O goes on
# over the other path with right data, and the path comes back with the carrier. A link
# that only has news while a session is opened does not keep it from that.
#
# vm: smp=2 timeout=180

. "$(dirname "$0")/../lib.sh"

NOTICE_S=15
RETURN_S=40

# down <n> <other> c|s
down() {
	local start what="path $1 down at the $3 end"
	must ios_grow test "$1" 50
	start=$(uptime_ms)
	must link_down "$1" "$3"
	check "$what: noticed" wait_for $NOTICE_S path_is test "$1" disconnected
	diag "$what: lost $(($(uptime_ms) - start)) ms after the carrier"
	check "$what: the other path goes on" ios_grow test "$2" 100
	must link_up "$1" "$3"
	start=$(uptime_ms)
	check "$what: returns with the carrier" path_returns $RETURN_S test "$1"
	diag "$what: back $(($(uptime_ms) - start)) ms after the carrier"
	check "$what: carries I/O again" ios_grow test "$1" 50
}

# news: of the client's ends, which have a carrier all the time, until it is killed
news() {
	local n
	while :; do
		for n in 1 2; do
			ip link set "c$n" dynamic on && ip link set "c$n" dynamic off
		done
		sleep 0.02
	done
}

opens() {
	dev=$(map_device test "$back")
}

ktap_plan 12
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin
load_start "$dev" 120

down 1 2 c
down 2 1 s

load_end
check "no I/O failed, all data are right" load_succeeded
max=$(load_max_ms)
diag "the longest request took $max ms"
check "no request took long" [ "$max" -lt $((NOTICE_S * 1000)) ]
check "the disk is open" dev_is "$dev" open
must unmap_device "$dev"

# Connecting takes a second and more, as each of its messages does a part of that.
must path_netem 1 delay 100ms
must path_netem 2 delay 100ms
news &
news=$!
check_here "a session opens while its network devices have news" opens
kill $news
must path_heal 1
must path_heal 2
must unmap_device "$dev"

ktap_end
