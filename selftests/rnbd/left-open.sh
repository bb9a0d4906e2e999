#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk is unmapped while no path is up, and the server, which has not lost the session, has it still open: it is
# closed when a path is back. Until then its name cannot be mapped, and nothing is left if the session ends first.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

# For the server: it does not give up a silent path while this test has no other one up.
OPTIONS="ack_timeout_ms=2000 retry_count=6"

opened() {
	[ -e "$SRV_CTL/devices/${1#/dev/}/sessions/test" ]
}

closed() {
	! opened "$1"
}

# lose_all: the server keeps path 1, which the client has lost, and with it the session
lose_all() {
	sysfs_write "$(path_dir test 2)/disconnect" 1 && path_cut 1 && wait_for 10 dev_is "$keep" closed
}

# come_back: over path 2 only
come_back() {
	kmsg_mark
	sysfs_write "$(path_dir test 2)/reconnect" 1 && wait_for 20 dev_is "$keep" open
}

session_lived() {
	! kmsg_has 'rtrs-server: session test connected'
}

mend() {
	path_heal 1 && path_returns 40 test 1
}

ktap_plan 18
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
stays=$(backing_null 16) || abort "no backing device"
goes=$(backing_null 16) || abort "no backing device"
# shellcheck disable=SC2086 # several words
keep=$(map_device test "$stays" $OPTIONS) || abort "cannot map"
dev=$(map_device test "$goes" access_mode=ro) || abort "cannot map"
must sess_paths_are test 2

must lose_all
check "no path: it can be unmapped" unmap_device "$dev"
check "the server has it open" opened "$goes"
check_errno "its name is kept" EBUSY $CLT_CTL/map_device "$(map_line test "$goes")" \
	'unmapped, but the server has not closed it yet for the mapping before'
check "a path comes back" come_back
check "it is the same session of the server" session_lived
check "which closes it" wait_for 20 closed "$goes"
check "and nothing else" opened "$stays"
must mend
dev=$(map_device test "$goes") || abort "cannot map"
check_eq "it can be mapped again, for writing too" "$(cat "$(dev_attr "$dev" access_mode)")" rw
check "and written" dd if=/dev/zero of="$dev" bs=4k count=1 oflag=direct status=none

must lose_all
must unmap_device "$dev"
must module_gone rnbd-server
must server_load
check "the server has lost the session: the other disk comes back" come_back
check "it has nothing open that nobody has" wait_for 20 closed "$goes"
must mend
dev=$(map_device test "$goes") || abort "cannot map"

must lose_all
must unmap_device "$dev"
must mv "$goes" "$goes.away"
check "what is gone from the server" come_back
must mv "$goes.away" "$goes"
check "is closed there" wait_for 20 closed "$goes"
must mend
check "and can be mapped again" map_device test "$goes"
dev=$(mapped_node test "$goes")

must lose_all
check "the last one is unmapped" unmap_device "$dev"
check "and the session ends" unmap_device "$keep"
check "at once" [ ! -e $CLT_CLASS/test ]
must path_heal 1
check "nothing is left on the server" wait_for 60 [ ! -e $SRV_CLASS/test ]

ktap_end
