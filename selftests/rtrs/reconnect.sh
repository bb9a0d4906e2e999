#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Reconnecting: on command and by itself, how soon, how often, and when it gives
# up.
#
# vm: smp=2 timeout=240

. "$(dirname "$0")/../lib.sh"

# The delay between two attempts doubles up to this (fixed in rnbd-client).
LONGEST_DELAY_S=30

attempts_grow() {
	local have
	have=$(reconnects test "$1" 2)
	wait_for "$2" attempts_are "$1" $((have + $3))
}

attempts_are() {
	[ "$(reconnects test "$1" 2)" -ge "$2" ]
}

read_data() {
	drop_caches
	cmp -n 65536 "$dev" /tmp/reconnect.data
}

# together: both paths are connected at the same moment, again and again, when the server has forgotten the
# session: one of them makes it, the other one joins. No attempt fails.
together() {
	local nr=0 failed pid
	failed="$(reconnects test 1 2) $(reconnects test 2 2)"
	while [ $nr -lt 20 ]; do
		sysfs_write "$one/disconnect" 1 && sysfs_write "$(path_dir test 2)/disconnect" 1 &&
			wait_for 10 [ ! -e $SRV_CLASS/test ] || return 1
		sysfs_write "$one/reconnect" 1 &
		pid=$!
		sysfs_write "$(path_dir test 2)/reconnect" 1 && wait $pid &&
			[ "$(ls $SRV_CLASS/test/paths | wc -l)" -eq 2 ] &&
			[ "$(reconnects test 1 2) $(reconnects test 2 2)" = "$failed" ] || {
			echo "round $nr: failed attempts of each: before $failed, now $(reconnects test 1 2) $(reconnects test 2 2)"
			return 1
		}
		nr=$((nr + 1))
	done
}

ktap_plan 27
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/reconnect.data"
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
dd if=/dev/urandom of=/tmp/reconnect.data bs=64k count=1 status=none
must dd if=/tmp/reconnect.data of="$dev" bs=64k oflag=direct status=none
one=$(path_dir test 1)

# On command.
check_eq "none is counted" "$(cat "$one/stats/reconnects")" "0 0"
start=$(uptime_ms)
check "reconnect of a connected path" sysfs_write "$one/reconnect" 1
diag "took $(($(uptime_ms) - start)) ms"
check_eq "it is connected" "$(cat "$one/state")" connected
check_eq "one is counted" "$(reconnects test 1 1)" 1
check "the data are there" read_data

# Without a server: attempts go on, and succeed soon after it is back.
must module_gone rnbd-server
check "server gone: the disk is closed" wait_for 15 dev_is "$dev" closed
check "server gone: no path is left" sess_paths_are test 0
check "server gone: attempts go on" attempts_grow 1 20 3
check_errno "server gone: reconnect on command fails" ENOTCONN "$one/reconnect" 1 'is rnbd-server loaded'
must server_load
start=$(uptime_ms)
check "server back: the disk is open" wait_for $((LONGEST_DELAY_S + 15)) dev_is "$dev" open
diag "took $(($(uptime_ms) - start)) ms"
check "server back: all paths return" wait_for $((LONGEST_DELAY_S + 15)) sess_paths_are test 2
check_eq "server back: one success more is counted" "$(reconnects test 1 1)" 2
check "server back: the data are there" read_data

# Without a network.
topo_is_ours
must path_cut 1
check "black hole: noticed" wait_for 20 path_is test 1 disconnected
start=$(uptime_ms)
check_errno "black hole: reconnect on command fails" ENOTCONN/EBUSY "$one/reconnect" 1
diag "took $(($(uptime_ms) - start)) ms"
must path_heal 1
check "healed: reconnects by itself" path_returns $((LONGEST_DELAY_S + 15)) test 1

# Attempts have an end if one is set.
check "attempts are limited to 2" sysfs_write $CLT_CLASS/test/max_reconnect_attempts 2
kmsg_mark
must module_gone rnbd-server
given_up() {
	[ "$(kmsg_since | grep -c 'given up after 2 failed attempts to connect')" -eq 2 ]
}
check "limited: both paths are given up" wait_for 40 given_up
failed=$(reconnects test 1 2)
must server_load
sleep 2
check_eq "limited: no attempt is made any more" "$(reconnects test 1 2)" "$failed"
check_eq "limited: not even with the server back" "$(sess_paths_up test)" 0
check "limited: but on command" sysfs_write "$one/reconnect" 1
check "limited: the disk is open" wait_for 15 dev_is "$dev" open
check "limited: the data are there" read_data
check "attempts are not limited" sysfs_write $CLT_CLASS/test/max_reconnect_attempts -1
must sysfs_write "$(path_dir test 2)/reconnect" 1
check "both paths are there" sess_paths_are test 2

check "together: 20 times" together
check "together: the data are there" read_data
must unmap_device "$dev"

ktap_end
