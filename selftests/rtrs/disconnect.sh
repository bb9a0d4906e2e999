#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Administrators of either side disconnect a path under load. On the client it
# stays so until told otherwise; the server's only breaks the connection.
#
# vm: smp=2 timeout=240

. "$(dirname "$0")/../lib.sh"

srv_dir() {
	echo "$SRV_CLASS/test/paths/$(path_pair "$1")"
}

stays_disconnected() {
	local nr=0
	while [ $nr -lt 40 ]; do
		path_is test "$1" disconnected || return 1
		sleep 0.1
		nr=$((nr + 1))
	done
}

came_back() {
	[ "$(reconnects test "$1" 1)" -gt "$2" ]
}

# The server takes one path and the other in turn, each time with both there and
# under load: whatever was in flight has to end well, and only once. A path is back
# sooner than a slow host may look at its state, so what counts is that it came back.
alternate() {
	local n=1 nr=0
	while [ $nr -lt 20 ]; do
		take $n || {
			echo "stuck in round $nr, path $n"
			return 1
		}
		n=$((3 - n)) nr=$((nr + 1))
	done
}

# take <n>: the path, and it comes back
take() {
	local had
	wait_for 20 sess_paths_are test 2 && ios_grow test "$1" 20 || return 1
	had=$(reconnects test "$1" 1)
	sysfs_write "$(srv_dir "$1")/disconnect" 1 && wait_for 20 came_back "$1" "$had"
}

# written <pid>: whoever writes to an attribute has come to the end
written() {
	! child_runs "$1"
}

# Somebody connects the path again before who disconnects it has seen the last of its queue pairs.
while_closing() {
	local pid nr=0
	while [ $nr -lt 10 ]; do
		path_returns 20 test 1 || return 1
		sysfs_write "$one/disconnect" 1 &
		pid=$!
		until path_is test 1 disconnected; do :; done
		until sysfs_write "$one/reconnect" 1; do :; done
		wait_for 20 written $pid || {
			echo "waits for ever in round $nr"
			return 1
		}
		nr=$((nr + 1))
	done
}

ktap_plan 28
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin
load_start "$dev" 120
one=$(path_dir test 1)
must ios_grow test 1 50

# By the client.
check "client: disconnect" sysfs_write "$one/disconnect" 1
check_eq "client: done when the write returns" "$(cat "$one/state")" disconnected
check "client: the server has closed the path" wait_for 10 [ ! -e "$(srv_dir 1)" ]
check "client: the other path goes on" ios_grow test 2 100
# Longer than any delay before the first attempts to reconnect.
check "client: stays disconnected" stays_disconnected 1
check "client: disconnect once more" sysfs_write "$one/disconnect" 1
check "client: reconnect" sysfs_write "$one/reconnect" 1
check_eq "client: done when the write returns" "$(cat "$one/state")" connected
check "client: the path carries I/O" ios_grow test 1 50
check_eq "client: a reconnect is counted" "$(reconnects test 1 1)" 1

# By the server.
check "server: src_addr is the client's" grep -qx "$(path_pair 2 | cut -d @ -f 1)" "$(srv_dir 2)/src_addr"
check_errno "server: disconnect takes only 1" EINVAL "$(srv_dir 2)/disconnect" 0 \
	"path $(path_pair 2): disconnect: '0' is not valid, write 1"
kmsg_mark
check "server: disconnect" sysfs_write "$(srv_dir 2)/disconnect" 1
check "server: the client notices" wait_for 15 kmsg_has "path $(path_pair 2): disconnected"
check "server: the client comes back by itself" path_returns 30 test 2
check "server: the path carries I/O" ios_grow test 2 50
check "server: it is listed again" wait_for 5 [ -e "$(srv_dir 2)/disconnect" ]

load_end
check "no I/O failed, all data are right" load_succeeded
load_start "$dev" 240
check "server: one path and the other in turn, 20 times" alternate
check "server: both paths return" wait_for 30 sess_paths_are test 2
load_end
check "server: no I/O failed, all data are right" load_succeeded
diag "the longest request took $(load_max_ms) ms"

check_here "connected again while somebody disconnects it" while_closing

# The last path: the disk closes, and opens again.
must sysfs_write "$one/disconnect" 1
check "both paths: the second closes the disk" sysfs_write "$(path_dir test 2)/disconnect" 1
check "both paths: closed" wait_for 10 dev_is "$dev" closed
must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 0
check_fails "both paths: I/O fails" dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct
check "both paths: the server's session is gone" wait_for 10 [ ! -e $SRV_CLASS/test ]
check "both paths: one is enough" sysfs_write "$one/reconnect" 1
check "both paths: open again" wait_for 20 dev_is "$dev" open
must fio_verify "$dev" --size=1M
must unmap_device "$dev"

ktap_end
