#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Connection requests as our server takes them, and its answers, to the byte
# (protocol 2.3 to 2.6, 11). The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

ids=100

# What a connection request allocates.
FAULTS_CON1='rtrs-server/alloc_conn rtrs-core/cq_create rtrs-core/qp_create rtrs-server/cm_accept'
FAULTS_CON0="rtrs-server/alloc_sess rtrs-server/alloc_path rtrs-core/post_recv $FAULTS_CON1"

# accepted <answer>: with the server's sizes; the rest of the private data is 0
accepted() {
	local wanted
	wanted="established $(conn_rsp qd=$SRV_QD io=$SRV_IO hdr=$SRV_HDR flags=2)"
	is "$1" "$wanted*" && only_zeros "${1#"$wanted"}"
}

# good <name> [<field>=<number>...]: accepted. Each has a path and session of its own.
good() {
	local name="$1"
	shift
	ids=$((ids + 1))
	check_here "$name: accepted" accepted "$(clt_connect a path=$ids sess=$ids "$@")"
	peer destroy a >/dev/null
}

# bad <name> <errno> [<field>=<number>...]: refused
bad() {
	local name="$1" errno="$2"
	shift 2
	ids=$((ids + 1))
	check_here "$name: refused with $errno" refused "$errno" \
		"$(clt_connect a path=$ids sess=$ids "$@")"
	peer destroy a >/dev/null
}

# accepted_again <con> [<field>=<number>...]: once the server has forgotten the path of before
accepted_again() {
	accepted "$(clt_connect "$@")"
}

# starved_refused <fault point> <con> [<field>=<number>...]
starved_refused() {
	local point="$1"
	shift
	fault_arm "$point" && refused -12 "$(clt_connect "$@")" && fault_fired "$point"
}

idle() {
	[ "$(rdma resource show qp | grep -c 'type RC')" -eq 0 ]
}

raw() {
	check_here "$1: refused with $2" refused "$2" \
		"$(peer connect a $CLT_ADDR $SRV_ADDR $SRV_PORT "$3")"
}

ktap_plan 85
topo_up 2
topo_is_ours
peer_load
defer rtrs_unload
wire_server Y

# What is sent, and who answers.
check_here "con 0: accepted" accepted "$(clt_connect a0 cid=0)"
check_here "con 1: accepted, with the same answer" accepted "$(clt_connect a1 cid=1)"
# What else an accept says (2.2).
check_here "sends are tried again for ever, no READ is taken or made, no SRQ" \
	is "$(peer params a0)" 'retry=? rnr=7 rd=0/0 flow=0 srq=0'
check_here "on con 1 too" is "$(peer params a1)" 'retry=? rnr=7 rd=0/0 flow=0 srq=0'
must peer destroy all

# Fields at their limits (2.3).
good "minor version 255" version=0x02ff
bad "major version 1" -104 version=0x0100
bad "major version 3" -104 version=0x0300
bad "major version 0" -104 version=0x0002
bad "wrong magic" -104 magic=0x1bbc
bad "magic of the other byte order" -104 magic=0xbd1b
bad "ip_version 4" -104 ip=0x40
raw "no private data" -104 -
raw "the first 8 bytes only" -104 "$(conn_req | cut -c 1-16)"
good "one connection" cid_num=1 cid=0
good "4096 connections, the last one first" cid_num=4096 cid=4095
bad "4097 connections" -104 cid_num=4097
bad "65535 connections" -104 cid_num=65535
bad "no connections" -104 cid_num=0
bad "cid = cid_num" -104 cid_num=2 cid=2
bad "cid 65535" -104 cid_num=2 cid=65535
good "recon_cnt 0" recon=0
good "recon_cnt 65535" recon=65535
good "flags with unknown bits" flags=0xff
good "reserved bytes set" chunks=0xffffffff reserved=0xffffffff
good "cma_version set" cma=0x11

# The session: first_conn (2.5).
bad "unknown session without first_conn" -6 flags=0
bad "unknown session, unknown flags only" -6 flags=0xfe
check_here "a session" accepted "$(clt_connect a0 path=1 sess=1 cid=0)"
check_here "first_conn is not needed once the session is known" \
	accepted "$(clt_connect a1 path=1 sess=1 cid=1 flags=0)"

# The path (2.6).
check_here "cid that is connected: refused" refused -104 "$(clt_connect b path=1 sess=1 cid=1)"
check_here "other cid_num: refused" refused -104 "$(clt_connect b path=1 sess=1 cid=1 cid_num=3)"
check_here "another path with the same addresses: refused" \
	refused -17 "$(clt_connect b path=2 sess=1 flags=0)"
check_here "the same path in another session is another path" \
	accepted "$(clt_connect b0 path=1 sess=2)"
must peer destroy b0

# Another family is another path.
ipv6_path() {
	accepted "$(peer connect c0 fd00:1::1 fd00:1::2 $SRV_PORT "$(conn_req path=3 sess=1 flags=0)")"
}
check_here "the session's path over IPv6: accepted" ipv6_path
check_here "and its second connection" accepted \
	"$(peer connect c1 fd00:1::1 fd00:1::2 $SRV_PORT "$(conn_req path=3 sess=1 flags=0 cid=1)")"
check_here "the same addresses again: refused" refused -17 \
	"$(peer connect d fd00:1::1 fd00:1::2 $SRV_PORT "$(conn_req path=4 sess=1 flags=0)")"

# All connections of a path are of one attempt and on one device.
must peer destroy all
check_here "another path" accepted "$(clt_connect c0 path=8 sess=8)"
must peer recv c0 4 512
check_here "cid 1 of another attempt: refused" refused -104 "$(clt_connect c1 path=8 sess=8 cid=1 recon=2)"
check_here "cid 1 on another device: refused" refused -104 \
	"$(peer connect c1 10.2.0.1 10.2.0.2 $SRV_PORT "$(conn_req path=8 sess=8 cid=1)")"
check_here "cid 1 of this attempt: accepted" accepted "$(clt_connect c1 path=8 sess=8 cid=1)"
check_here "the path still waits for INFO_REQ" says_nothing c0
must peer destroy c1
must peer destroy c0
must wait_for 10 idle
must wait_for 10 accepted_again c0 path=8 sess=8
check_here "cid 0 of another attempt, before INFO_REQ: refused" refused -104 \
	"$(clt_connect d0 path=8 sess=8 recon=2)"
check_here "which ends the attempt that was" are_closed c0

# A connected path (2.6): what comes for it is refused, and it lives on.
must peer destroy all
must clt_open e 2 wire path=5 sess=5
check_here "a path of three connections" clt_open f 3 wire3 path=6 sess=6
check_here "connected path, its cid 0 once more: refused" refused -104 \
	"$(clt_connect g path=5 sess=5 cid=0)"
check_here "connected path, its cid 1 once more: refused" refused -104 \
	"$(clt_connect g path=5 sess=5 cid=1)"
check_here "connected path, a cid beyond: refused" refused -104 \
	"$(clt_connect g path=5 sess=5 cid=2 cid_num=3)"
check_here "the path still works" clt_works e
check_here "so does the other session" clt_works f
must peer destroy all
check_here "both are gone when the connections are" srv_forgets wire
check_here "the other too" srv_forgets wire3

# Early reconnect (9): refused as long as the old path is there, which it ends, then accepted.
must clt_open e 2 wire path=5 sess=5
check_here "next attempt while the path is there: refused" refused -104 \
	"$(clt_connect g path=5 sess=5 cid=0 recon=2)"
check_here "the old path is closed" are_closed e0 e1
must peer destroy all
must srv_forgets wire
check_here "once it is gone: accepted" clt_open e 2 wire path=5 sess=5 recon=3
check_here "and works" clt_works e
must peer destroy all
must srv_forgets wire

# Order of connections is the client's.
check_here "cid 1 first" accepted "$(clt_connect a1 path=7 sess=7 cid=1)"
check_here "then cid 0" accepted "$(clt_connect a0 path=7 sess=7 cid=0)"
must peer destroy all

# No memory (2.6): ENOMEM, and the path is closed, all of it.
for point in $FAULTS_CON0; do
	ids=$((ids + 1))
	check_here "$point fails on con 0: refused" starved_refused "$point" a0 path=$ids sess=$ids
	check_here "$point: the same path again: accepted" wait_for 10 accepted_again a0 path=$ids sess=$ids
	must peer destroy a0
done
for point in $FAULTS_CON1; do
	ids=$((ids + 1))
	must clt_connect a0 path=$ids sess=$ids
	check_here "$point fails on con 1: refused" starved_refused "$point" a1 path=$ids sess=$ids cid=1
	check_here "$point: con 0 is closed" are_closed a0
	must peer destroy a0
	check_here "$point: the same path again: accepted" wait_for 10 clt_connect_all a 2 path=$ids sess=$ids
	must peer destroy all
done

# Nothing is left.
check_here "no queue pair is left" wait_for 10 idle
check_eq "no session is left" "$(ls $SRV_CLASS | grep -v '^ctl$')" ''

ktap_end
