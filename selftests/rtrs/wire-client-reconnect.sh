#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Our client comes back to a server that went, was slow to forget, or changed its
# mind (protocol 2.3, 2.5, 9), and the device with it. The server is the scripted
# peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# asks <con> <cid> <recon_cnt>: the path again, as the client that it was
asks() {
	psrv_request "$1" && is "$(hex_at "$conn_req" 0 8)" "0000bd1b0002$(le16 "$2")" &&
		is "$(le_at "$conn_req" 10 2)" "$3" && is "$(hex_at "$conn_req" 12 32)" "$uuids" &&
		is "$(hex_at "$conn_req" 44 12)" "0101ff0310000000$(bytes 4)"
}

refuse() {
	asks w0 0 "$1" && peer reject w0 "$(conn_reject "$2")"
}

path_state() {
	cat $CLT_CLASS/wire/paths/*/state
}

path_gives_up() {
	wait_for 5 path_state_is disconnected
}

path_state_is() {
	[ "$(path_state)" = "$1" ]
}

# A session that is back introduces itself and opens its devices again.
device_back() {
	psrv_serve w0 && is "$req_usr" "$(rnbd_sess_info)" && psrv_serve w0 &&
		is "$req_usr" "$(rnbd_open /dev/wire)" && wait_for 10 dev_is "$psrv_dev" open
}

reads() {
	rm -f /tmp/wire.read
	(
		dd if="$psrv_dev" of=/dev/null bs=512 count=1 iflag=direct status=none
		echo $? >/tmp/wire.read
	) &
	psrv_serve w1 && wait_for 5 [ -s /tmp/wire.read ] && is "$(cat /tmp/wire.read)" 0
}

# comes_back <recon_cnt> [<field>=<number>...]: all connections, and the info exchange
comes_back() {
	local recon="$1"
	shift
	asks w0 0 "$recon" && peer recv w0 1 512 && psrv_accept w0 "$@" && asks w1 1 "$recon" &&
		psrv_accept w1 "$@" && psrv_info w && is "$info_req" "$(info_req wire)" &&
		psrv_chunks w && psrv_receives w && psrv_info_rsp w
}

# given_time: refusals with the errors of a server that does not answer, which this one does; the attempts become
# rarer, as with any other error
given_time() {
	local recon=14 errno start took
	for errno in 110 113 100 110 113; do
		refuse $recon -$errno || return 1
		start=$(uptime_ms)
		recon=$((recon + 1))
	done
	asks w0 0 $recon || return 1
	took=$(($(uptime_ms) - start))
	echo "attempt $recon came after $took ms"
	[ "$took" -ge 600 ]
}

# gains_patience: a server that accepts too late, and refuses the attempt after that; the client gives it ever more time
gains_patience() {
	local recon=19 start took
	peer reject w0 "$(conn_reject -104)" || return 1
	while [ $recon -lt 31 ]; do
		recon=$((recon + 1))
		asks late0 0 $recon && recon=$((recon + 1)) && refuse $recon -104 && peer destroy late0 || return 1
	done
	recon=$((recon + 1))
	asks late0 0 $recon || return 1
	start=$(uptime_ms)
	asks w0 0 $((recon + 1)) && peer destroy late0 || return 1
	took=$(($(uptime_ms) - start))
	echo "it waited for $took ms, and for $((60000 / 32)) at first"
	[ "$took" -ge 3000 ]
}

# half_way: con 1 gets no answer; the client waits for one of a path that was up as long as for con 0's
half_way() {
	local start took
	asks w1 1 "$1" || return 1
	start=$(uptime_ms)
	are_closed w0 || return 1
	took=$(($(uptime_ms) - start))
	echo "it waited for $took ms"
	[ "$took" -ge 1000 ] && [ "$took" -le 6000 ]
}

ktap_plan 30
psrv_options=$PATIENT
psrv_setup
psrv_mode=N
must psrv_map w wire
uuids=$(hex_at "$conn_req" 12 32)
check_here "mapped" reads

# Close by the server (9).
must peer disconnect w1
check_here "server disconnects a connection: the client does so with the other" are_closed w0
check_here "the disk is closed" wait_for 5 dev_is "$psrv_dev" closed
psrv_gone w
start=$(uptime_ms)
check_here "the client asks again: recon_cnt 2, same path, same session, first_conn" refuse 2 -104
diag "first request after $(($(uptime_ms) - start)) ms"
check_here "refused with ECONNRESET: asks again" refuse 3 -104
check_here "refused with EBUSY: asks again" refuse 4 -16
check_here "refused with ENOMEM: asks again" refuse 5 -12
check_here "accepted: all connections are of the same attempt" comes_back 6
check_here "the device is opened again" device_back
check_here "and works" reads

# A connect that goes wrong half-way.
must peer disconnect w0
must are_closed w1
psrv_gone w
must asks w0 0 7
must psrv_accept w0
check_here "con 1 of attempt 7" asks w1 1 7
must peer reject w1 "$(conn_reject -104)"
check_here "refused: con 0 is disconnected too" are_closed w0
psrv_gone w
must asks w0 0 8
must peer recv w0 1 512
must psrv_accept w0
must asks w1 1 8
must psrv_accept w1
must psrv_info w
check_here "malformed INFO_RSP: both are disconnected" peer post w0 send data=0100
check_here "then" are_closed w0 w1
psrv_gone w

# Another queue depth (9): never for this session.
must asks w0 0 9
must psrv_accept w0 qd=8
check_here "another queue depth: the client disconnects" are_closed w0
psrv_gone w
check_here "and gives the path up" path_gives_up
check_here "for good" is "$(peer request w0 4000)" timeout

# Until told otherwise.
(sysfs_write $CLT_CLASS/wire/paths/*/reconnect 1 || :) &
check_here "reconnect by hand" comes_back 10
check_here "is connected" wait_for 5 path_state_is connected
check_here "the device is opened again" device_back
check_here "and works" reads

# Smaller requests (9): the session takes them, the disk has promised more.
must peer disconnect w0
must are_closed w1
psrv_gone w
kmsg_mark
check_here "smaller requests than before are taken" comes_back 11 io=4096 hdr=8192
must psrv_serve w0
must psrv_serve w0
check_here "the disk stays closed, which says why" wait_for 10 kmsg_has 'carries less in one request than before'
check_eq "its state" "$(dev_state "$psrv_dev")" closed

# Nor does a larger size raise it again.
must peer disconnect w0
must are_closed w1
psrv_gone w
kmsg_mark
check_here "the size of before is taken" comes_back 12
must psrv_serve w0
must psrv_serve w0
check_here "the session stays with the smaller one, the disk closed" wait_for 10 kmsg_has 'carries less in one request than before'
check_eq "its state" "$(dev_state "$psrv_dev")" closed

# Half of an answer.
must peer disconnect w0
must are_closed w1
psrv_gone w
must asks w0 0 13
must psrv_accept w0
check_here "no answer to con 1: all begins again soon" half_way 13
psrv_gone w

# Whoever refuses has answered.
check_here "refused with ETIMEDOUT and the like: asks again, ever later" given_time
check_here "accepted too late, refused, and so on: it waits ever longer" gains_patience

must unmap_device "$psrv_dev" force
psrv_gone w
ktap_end
