#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The server loses both paths of a session, and what it had of it, but the client notices only the loss of one:
# the other's network swallows everything. The first one is back soon, and leads to another session of the server.
# Requests wait until the client has noticed the rest; none fails, and none goes where it is not meant to.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

# A silent path is lost after 6 to 7 s.
OPTIONS="hb_interval_ms=1000 hb_missed_max=6"

srv_dir() {
	echo "$SRV_CLASS/test/paths/$(path_pair "$1")"
}

# forget_both: at once, for what is sent over network 1 and not acknowledged tells the client in half a second
forget_both() {
	local first second
	first=$(srv_dir 1) second=$(srv_dir 2)
	path_cut 1 && echo 1 >"$first/disconnect" && echo 1 >"$second/disconnect"
}

# forget <when>: the server closes both paths, with network 1 swallowing what it says about that
forget() {
	kmsg_mark
	must forget_both
	check "$1: the client has not noticed the loss of path 1" path_is test 1 connected
	check "$1: the server ends the session" wait_for 10 kmsg_has 'rtrs-server: session test disconnected'
}

# healed <when>
healed() {
	must path_heal 1
	check "$1: path 1 is back" path_returns 40 test 1
}

ktap_plan 14
requires fio
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
# shellcheck disable=SC2086 # several words
dev=$(map_device test "$back" $OPTIONS) || abort "cannot map"
must sess_paths_are test 2
must fio_verify "$dev" --size=1M

forget idle
check "idle: path 2 is with the server's next session" wait_for 20 kmsg_has 'rtrs-server: session test connected'
check "idle: I/O works" fio_verify "$dev" --size=1M
check "idle: the loss of path 1 was noticed" path_is test 1 disconnected
check "idle: the disk was opened again" kmsg_has "${dev##*/}: open again"
healed idle

load_start "$dev" 6
must ios_grow test 1 50
must ios_grow test 2 50
forget busy
check "busy: path 2 is with the server's next session" wait_for 20 kmsg_has 'rtrs-server: session test connected'
check "busy: I/O goes on" ios_grow test 2 50
check "busy: the disk was opened again" kmsg_has "${dev##*/}: open again"
healed busy
load_wait
check "no I/O failed, all data are right" load_succeeded
must unmap_device "$dev"

ktap_end
