#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Close of a path that somebody on our side asks for (protocol 9): each of its
# connections is disconnected, and nothing is said before. Our server, then our
# client; the other side is the scripted peer.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"
. "$(dirname "$0")/../wire-srv.sh"

# all_closed <path> <connections>
all_closed() {
	local cid=0
	while [ $cid -lt "$2" ]; do
		are_closed "$1$cid" || return 1
		cid=$((cid + 1))
	done
}

# unmaps: RNBD CLOSE is answered as any request, and nothing comes after it
unmaps() {
	rm -f /tmp/wire.unmap
	(
		unmap_device "$psrv_dev"
		echo $? >/tmp/wire.unmap
	) &
	psrv_serve w0 && is "$req_usr" "$(rnbd_close 3)" && all_closed w "$psrv_conns" &&
		wait_for 10 [ -s /tmp/wire.unmap ] && is "$(cat /tmp/wire.unmap)" 0
}

# clt_path <attribute>: of the only path there is, is written
clt_path() {
	sysfs_write "$(echo $CLT_CLASS/wire/paths/*)/$1" 1
}

ktap_plan 12
psrv_setup
wire_server Y

# Our server.
must clt_open a 3 first path=1 sess=1
must clt_open b 2 second path=2 sess=2
check_here "server: disconnect in sysfs" sysfs_write "$(echo $SRV_CLASS/first/paths/*)/disconnect" 1
check_here "server: all connections of the path are closed" all_closed a 3
check_here "server: the other session lives on" clt_works b
must wait_for 10 clt_open c 3 first path=1 sess=1 recon=2
check_here "server: unloaded" module_gone rnbd-server rtrs-server
check_here "server: all connections are closed" all_closed c 3
check_here "server: of the other session too" all_closed b 2
must peer destroy all
must peer listen $PEER_PORT

# Our client.
for psrv_mode in N Y; do
	must psrv_map w wire
	check_here "client, $psrv_mode: unmap: CLOSE, then all connections are closed" unmaps
	psrv_gone w
	must psrv_map w wire
	must clt_path disconnect
	check_here "client, $psrv_mode: disconnect in sysfs: all are closed" all_closed w "$psrv_conns"
	psrv_gone w
	must clt_path remove_path
	must unmap_device "$psrv_dev" force
	must psrv_map w wire
	must clt_path remove_path
	check_here "client, $psrv_mode: remove_path: all are closed" all_closed w "$psrv_conns"
	psrv_gone w
	must unmap_device "$psrv_dev" force
done

ktap_end
