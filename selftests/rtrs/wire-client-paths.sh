#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two paths of our client: who may create the session, what it sends again over the
# other one, and a path whose server announces other sizes than the session has
# (protocol 2.3, 2.5, 5, 9). The server is the scripted peer, without extensions.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# Paths are w, over IPv4, and v, over IPv6.
W=ip:10.1.0.1@ip:10.1.0.2 V=ip:fd00:1::1@ip:fd00:1::2

# For a request that fills a chunk.
PSRV_SECTORS=16

# asks <con> <cid> <recon_cnt> <first_conn>: path w or v of the session
asks() {
	local CLT_ADDR="$CLT_ADDR"
	case $1 in v*) CLT_ADDR='?fd00:1::1?' ;; esac
	psrv_request "$1" && is "$(hex_at "$conn_req" 0 8)" "0000bd1b0002$(le16 "$2")" &&
		is "$(le_at "$conn_req" 10 2)" "$3" && is "$(hex_at "$conn_req" 28 16)" "$sess" &&
		is "$(hex_at "$conn_req" 44 1)" "0$4"
}

# comes <path> <recon_cnt> <first_conn> [<field of the response>=<number>...]: it connects, up to
# INFO_RSP
comes() {
	local path="$1" recon="$2" first="$3"
	shift 3
	asks "${path}0" 0 "$recon" "$first" && peer recv "${path}0" 1 512 && psrv_accept "${path}0" "$@" &&
		asks "${path}1" 1 "$recon" 1 && psrv_accept "${path}1" "$@" && psrv_info "$path" &&
		is "$info_req" "$(info_req wire)" && psrv_receives "$path" && psrv_info_rsp "$path"
}

drop() {
	peer destroy "${1}0" >/dev/null
	peer destroy "${1}1" >/dev/null
}

# add_start <path, as in sysfs>: in the background
add_start() {
	write_start /tmp/wire.add $CLT_CLASS/wire/add_path "$1"
}

# add_ends [<errno name>]
add_ends() {
	wait_for 15 [ -e /tmp/wire.add ] || {
		echo "add_path has not returned"
		return 1
	}
	if [ $# -eq 0 ]; then
		is "$(cat /tmp/wire.add)" 0
	else
		is "$(cat /tmp/wire.add)" "1 $(strerror "$1")"
	fi
}

# is_up <path, as in sysfs>
is_up() {
	[ "$(cat "$CLT_CLASS/wire/paths/$1/state")" = connected ]
}

# remove <path, as in sysfs>
remove() {
	sysfs_write "$CLT_CLASS/wire/paths/$1/remove_path" 1
}

read_512() {
	io if="$psrv_dev" of=/dev/null bs=512 count=1 skip=1 iflag=direct
}

write_512() {
	io if=/tmp/wire.in of="$psrv_dev" bs=512 count=1 seek=2 oflag=direct
}

# held <path> <I/O>: until its request comes over this path; what comes over the other one is served
held() {
	local other=v
	[ "$1" = w ] || other=w
	until "$2" && psrv_take "${1}1" 500 >/dev/null; do
		psrv_serve "${other}1" && io_ends 0 || return 1
	done
	held="$req_type $req_slot $req_off $req_flags $req_sg $req_room $req_usr"
	# What comes again shall be seen to come.
	held_data=$(chunk_get "$req_slot" 0 $req_data)
	peer fill mem"$req_slot" 0 $PSRV_CHUNK 0xee
}

# again <con>: the request that was held, in the same slot
again() {
	psrv_take "$1" && is "$req_type $req_slot $req_off $req_flags $req_sg $req_room $req_usr" "$held" || return 1
	[ "$req_type" -eq 3 ] || is "$(chunk_get "$req_slot" 0 $req_data)" "$held_data"
}

# fits_one: 8 KiB are more than path v takes with its message, so they come over path w
fits_one() {
	local nr=0
	while [ $nr -lt 4 ]; do
		io if=/tmp/wire.in of="$psrv_dev" bs=8k count=1 oflag=direct
		psrv_take w1 && psrv_done w1 0 && io_ends 0 || return 1
		nr=$((nr + 1))
	done
	says_nothing v1 500 && is_up $V
}

# small_chunks: for path v, so that a byte behind one of them breaks it
small_chunks() {
	local slot=0
	chunk_descs=''
	while [ $slot -lt $PSRV_QD ]; do
		buf_set "$(peer buf small$slot v0 8192)" || return 1
		chunk_descs=$chunk_descs$(desc "$buf_addr" "$buf_key" 8192)
		slot=$((slot + 1))
	done
}

ktap_plan 28
psrv_options=$PATIENT
psrv_setup
psrv_mode=N
must dd if=/dev/urandom of=/tmp/wire.in bs=8k count=1 status=none

# Two paths at once (2.5).
map_start wire "path=$V"
must psrv_connect w
sess=$(hex_at "$conn_req" 28 16) path=$(hex_at "$conn_req" 12 16)
check_here "the second path: con 0 may not create the session" asks v0 0 1 0
check_here "it has an identity of its own" [ "$(hex_at "$conn_req" 12 16)" != "$path" ]
must peer reject v0 "$(conn_reject -104)"
must psrv_serve w0
must psrv_serve w0
until [ -e /tmp/wire.map ]; do
	psrv_serve w1 300 >/dev/null
done
check_eq "refused: mapped over the first one" "$(cat /tmp/wire.map)" 0
psrv_dev=$(mapped_node wire /dev/wire)
check_here "the second one asks again in the same way" asks v0 0 2 0
must psrv_accept v0
check_here "its con 1 may create the session" asks v1 1 2 1
must peer reject v1 "$(conn_reject -104)"
must are_closed v0
drop v
check_here "once con 0 was up, it may too" comes v 3 1
check_here "connected" wait_for 5 is_up $V

# A lost path (9): the same slot, over the other one.
must sysfs_write $CLT_CLASS/wire/mpath_policy round-robin
must held w read_512
must peer disconnect w0
check_here "a path is lost with a READ: it comes over the other one, in the same slot" again v1
must psrv_answer v1
check_here "and is done" io_ends 0
drop w
check_here "the path comes back" comes w 2 1
must wait_for 5 is_up $W
must held v write_512
must peer disconnect v1
check_here "a path is lost with a WRITE: the same" again w1
must psrv_answer w1
check_here "and is done" io_ends 0
drop v
check_here "the path comes back" comes v 4 1

# Added later (2.5).
must remove $V
must are_closed v0 v1
drop v
add_start $V
check_here "a path that is added: con 0 may not create the session" asks v0 0 1 0
must psrv_accept v0 io=4096
must asks v1 1 1 1
must peer reject v1 "$(conn_reject -104)"
check_here "con 1 refused: con 0 is disconnected" are_closed v0
check_here "and add_path fails" add_ends ECONNRESET
drop v
must remove $W
must are_closed w1
drop w
add_start $W
must comes w 1 1
must add_ends
must psrv_serve w0
must psrv_serve w0
check "its smaller sizes were never the session's: the disk is opened again" wait_for 5 dev_is "$psrv_dev" open

# Other sizes than the session has (9).
for qd in 8 2; do
	add_start $V
	must asks v0 0 1 0
	must psrv_accept v0 qd=$qd
	check_here "queue depth $qd: the client disconnects" are_closed v0
	check_here "and add_path fails" add_ends ECONNRESET
	drop v
done
read_512
check_here "the first path works" psrv_serve w1
check_here "as before" io_ends 0
descs=$chunk_descs
add_start $V
must asks v0 0 1 0
must peer recv v0 1 512
must psrv_accept v0 io=4096
must asks v1 1 1 1
must psrv_accept v1 io=4096
must small_chunks
must psrv_info v
must psrv_receives v
check_here "smaller chunks: taken" psrv_info_rsp v
check_here "connected" add_ends
check_here "requests that fit a chunk of the first path only come over that one" fits_one
must remove $V
must are_closed v1
drop v

# None left (2.5).
must remove $W
must are_closed w1
drop w
chunk_descs=$descs
add_start $V
check_here "added when no path is left: con 0 may create the session" comes v 1 1
check_here "connected" add_ends
# SESS_INFO, OPEN, and CLOSE as the device has promised larger requests.
must psrv_serve v0
must psrv_serve v0
must psrv_serve v0
must unmap_device "$psrv_dev" force

ktap_end
