#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Information exchange as our server does it (protocol 4), the close of a path
# (9), and what is sent out of turn. The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

ids=100

# What handling INFO_REQ allocates and posts, and which time of it fails. The second send is INFO_RSP.
FAULTS_INFO='rtrs-server/alloc_bufs:1 rtrs-server/alloc_bufs:3 rtrs-core/mr_alloc:1 rtrs-core/mr_alloc:5
	rtrs-server/alloc_reqs:1 rtrs-server/alloc_rsps:1 rtrs-core/post_recv:1 rtrs-core/mr_map:2 rtrs-server/alloc_info:1
	rtrs-core/post_send:1 rtrs-core/post_send:2 rnbd-server/alloc_sess:1 rtrs-server/sysfs_sess:1
	rtrs-server/sysfs_path:1'

# refuses <hex of the first message>: no answer, all connections are closed
refuses() {
	ids=$((ids + 1))
	clt_connect_all x 2 path=$ids sess=$ids && peer recv x0 4 512 &&
		peer post x0 send data="$1" && are_closed x0 x1 && peer destroy x0 && peer destroy x1
}

# takes <path> <hex of the first message>: it is answered
takes() {
	ids=$((ids + 1))
	clt_connect_all "$1" 2 path=$ids sess=$ids && peer recv "${1}0" 1 512 &&
		peer post "${1}0" send data="$2" || return 1
	is "$(peer wait "${1}0" 10000)" 'recv op=send len=* data=0100*' || return 1
	peer destroy "${1}0"
	peer destroy "${1}1"
}

bad() {
	check_here "$1: closed without answer" refuses "$2"
}

# raw_name <hex>: INFO_REQ with these bytes for the name, and zeros
raw_name() {
	printf '0000%s%s' "$1" "$(bytes $((270 - ${#1} / 2)))"
}

# info_is <mode>: clt_info describes the server's memory, to the byte
info_is() {
	local nr=1 at=8 each=$((SRV_QD * SRV_CHUNK)) key keys='' len
	[ "$1" = N ] || nr=$SRV_QD each=$SRV_CHUNK
	is "$(hex_len "$clt_info")" $((8 + 16 * nr)) &&
		is "$clt_info" "0100$(le16 $nr)00000000*" || return 1
	while [ $nr -gt 0 ]; do
		len=$(le_at "$clt_info" $((at + 12)) 4)
		is "$len" $each || return 1
		key=$(hex_at "$clt_info" $((at + 8)) 4)
		case $keys in
		*" $key "*)
			echo "key $key twice"
			return 1
			;;
		esac
		keys="$keys $key "
		at=$((at + 16)) nr=$((nr - 1))
	done
}

no_cid1() {
	ids=$((ids + 1))
	is "$(clt_connect x0 path=$ids sess=$ids)" 'established*' && peer recv x0 4 512 &&
		peer post x0 send data="$(info_req one)" && are_closed x0 && peer destroy x0
}

# out_of_turn <op and more>: before INFO_REQ
out_of_turn() {
	ids=$((ids + 1))
	clt_connect_all x 2 path=$ids sess=$ids && peer recv x0 4 512 && peer post x0 "$@" &&
		are_closed x0 x1 && peer destroy x0 && peer destroy x1
}

# too_early: a request that comes after INFO_REQ, which the server has handled but for telling its ULP
too_early() {
	ids=$((ids + 1))
	clt_connect_all x 2 path=$ids sess=$ids && peer recv x0 4 512 && peer recv x1 4 512 &&
		fault_arm rtrs-server/info_delayed && peer post x0 send data="$(info_req early)" &&
		wait_for 5 fault_fired rtrs-server/info_delayed && peer post x1 write-imm imm=0x00000000 &&
		are_closed x1 x0 && peer destroy x0 && peer destroy x1
}

# one_name: two sessions bring the same name, the second one while the first is not up yet. That one has it.
one_name() {
	ids=$((ids + 2))
	clt_connect_all x 2 path=$((ids - 1)) sess=$((ids - 1)) && clt_connect_all y 2 path=$ids sess=$ids &&
		peer recv x0 1 512 && peer recv y0 1 512 && fault_arm rtrs-server/info_delayed &&
		peer post x0 send data="$(info_req both)" && wait_for 5 fault_fired rtrs-server/info_delayed &&
		[ ! -e $SRV_CLASS/both ] && peer post y0 send data="$(info_req both)" && are_closed y0 y1 &&
		is "$(peer wait x0 10000)" 'recv op=send len=* data=0100*'
}

# not_up <fault point>: the first of two paths does not come up by it. The session is not up then, and the
# second one brings it up: its device can be opened.
not_up() {
	ids=$((ids + 2))
	clt_connect_all x 2 path=$((ids - 1)) sess=$ids && peer recv x0 4 512 &&
		CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2 clt_connect_all y 2 path=$ids sess=$ids &&
		peer recv y0 1 512 && fault_arm "$1" && peer post x0 send data="$(info_req up)" &&
		are_closed x0 x1 && fault_fired "$1" && srv_forgets up &&
		peer post y0 send data="$(info_req up)" || return 1
	clt_info=$(peer wait y0 10000)
	is "$clt_info" 'recv op=send len=* data=0100*' || return 1
	clt_info=${clt_info#*data=}
	clt_chunks y
	peer recv y0 64 8
	peer recv y1 64 8
	[ -d $SRV_CLASS/up ] && clt_map y "$back" && clt_works y
}

# starved <fault point> <number>: it fails at its passage of this number after INFO_REQ
starved() {
	ids=$((ids + 1))
	clt_connect_all x 2 path=$ids sess=$ids && peer recv x0 4 512 && fault_arm "$1" "$2" &&
		peer post x0 send data="$(info_req starved)" && are_closed x0 x1 && fault_fired "$1" &&
		peer destroy x0 && peer destroy x1
}

# number_is_new: extension SESSION, clt_info has another number of the session than ever before
numbers=' 00000000 '
number_is_new() {
	local number
	number=$(hex_at "$clt_info" 4 4)
	case $numbers in
	*" $number "*)
		echo "number $number"
		return 1
		;;
	esac
	numbers="$numbers$number "
}

# no_receive <con>: what is sent on it fails
no_receive() {
	peer post "$1" write-imm imm=0x30000000 && is "$(peer sent "$1" 10000)" 'failed 13 *'
}

# burst <con> <number>: so many messages find a receive each
burst() {
	peer post "$1" write-imm imm=0x30000000 nr="$2" && all_sent "$1"
}

ktap_plan 80
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16) || abort "no backing device"
wire_server Y

# INFO_RSP (4).
check_here "always_invalidate=Y: INFO_RSP" clt_open a 2 info-y
check_here "always_invalidate=Y: a descriptor for each chunk" info_is Y
check_here "the session has the name" [ -d $SRV_CLASS/info-y ]
must peer destroy all
check_here "the name goes with the last path" srv_forgets info-y

# INFO_REQ that is wrong (4).
bad "type 1" "$(info_req name 1)"
bad "type 0x0100" "$(info_req name 256)"
bad "271 bytes" "$(info_req name | cut -c 1-542)"
bad "2 bytes" 0000
bad "no bytes" -
bad "name with /" "$(info_req a/b)"
bad "name with ." "$(info_req a.b)"
bad "name .." "$(info_req ..)"
bad "empty name" "$(info_req '')"
bad "name without end" "$(raw_name "$(bytes 270 61)")"
check_here "a connection is missing: closed without answer" no_cid1
bad "273 bytes" "$(info_req name)00"

# INFO_REQ that is right.
check_here "name of one character" takes n "$(info_req x)"
check_here "name of 254 characters" takes n "$(raw_name "$(bytes 254 61)")"
check_here "name with spaces, a line end and the like" takes n "$(raw_name 20250a7fff2d)"
check_here "bytes after the name's end are ignored" takes n "$(raw_name "610062$(bytes 100 7a)")"
check_here "reserved bytes are ignored" takes n "$(printf '0000%s%s' "$(text r)00$(bytes 253)" "$(bytes 15 ff)")"

# Names and sessions.
must clt_open a 2 taken path=1 sess=1
bad "name of another session" "$(info_req taken)"
check_here "the other session works on" clt_works a
# other_name <name> <path>
other_name() {
	CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2 clt_connect_all b 2 path="$2" sess=1 &&
		peer recv b0 1 512 && peer post b0 send data="$(info_req "$1")"
}
check_here "second path with another name than the first" other_name different 2
check_here "is closed without answer" are_closed b0 b1
must peer destroy b0
must peer destroy b1
# The same addresses in the same session: not before the server has closed that one.
check_here "second path with the name of the first" wait_for 10 other_name taken 6
check_here "is answered" is "$(peer wait b0 10000)" 'recv op=send len=* data=0100*'
check_here "the first one works on" clt_works a
check_here "two sessions with one name at the same moment: the first one has it" one_name
must peer destroy x0
must peer destroy x1
must srv_forgets both

# Close (9): one connection is enough, all go, and the session with the last path.
must peer disconnect a1
check_here "client disconnects a connection: the server closes all of the path" are_closed a1 a0
check_here "the session is still there, by its other path" [ -d $SRV_CLASS/taken ]
must peer destroy all
check_here "and goes with that" srv_forgets taken

# Number of the session (extension SESSION).
must clt_open a 2 number path=40 sess=40 ext=1 features=0x20
check_here "SESSION: a number" number_is_new
number=$(hex_at "$clt_info" 4 4)
CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2 must clt_open b 2 number path=41 sess=40 ext=1 features=0x20
check_here "another path of the session: the same" is "$(hex_at "$clt_info" 4 4)" "$number"
must peer destroy a0
must peer destroy a1
must wait_for 10 clt_open a 2 number path=42 sess=40 ext=1 features=0x20
check_here "the session outlives its first path: the same" is "$(hex_at "$clt_info" 4 4)" "$number"
must peer destroy all
must srv_forgets number
must clt_open a 2 number path=43 sess=40 ext=1 features=0x20
check_here "the session anew: another" number_is_new
must clt_open c 2 second path=44 sess=44 ext=1 features=0x20
check_here "another session: another" number_is_new
must peer destroy all
must srv_forgets number
must srv_forgets second

# Out of turn (2.7, 4).
check_here "request before INFO_REQ: closed" out_of_turn write-imm imm=0x00000000
check_here "heartbeat before INFO_REQ: closed" out_of_turn write-imm imm=0x80000000
check_here "request between INFO_REQ and its answer: closed without one" too_early
must clt_open a 2 twice path=3 sess=3
must peer post a0 send data="$(info_req twice)"
check_here "INFO_REQ twice: closed" are_closed a0 a1
must peer destroy all
must srv_forgets twice

# No memory: no answer, and the path is closed, all of it (2.6, 4).
for point in $FAULTS_INFO; do
	nr=${point#*:}
	point=${point%:*}
	check_here "$point fails, the $nr. time: closed without answer" starved "$point" "$nr"
	check_here "$point: the same path again" wait_for 10 clt_open s 2 starved path=$ids sess=$ids recon=2
	must peer destroy all
	must srv_forgets starved
done

# A session that does not come up by one path.
for point in rnbd-server/alloc_sess rtrs-server/sysfs_sess rtrs-server/sysfs_path; do
	check_here "$point fails for the first path: the second one brings the session up" not_up $point
	must peer destroy all
	must srv_forgets up
done

# Receives there are (2.7): the client's sends are not tried again.
CLT_RNR=0
must clt_connect_all r 2 path=4 sess=4
check_here "no receive on con 1 before INFO_REQ" no_receive r1
must peer destroy all
must clt_open r 3 receives path=5 sess=5
check_here "512 receives on con 0, the client is told so by INFO_RSP" burst r0 512
check_here "one for each slot on con 1" burst r1 $SRV_QD
check_here "and on con 2" burst r2 $SRV_QD
check_here "and again" burst r0 512
check_here "the path works" clt_works r
CLT_RNR=''
must peer destroy all
must srv_forgets receives

# The other mode.
must module_gone rnbd-server rtrs-server
wire_server N
check_here "always_invalidate=N: INFO_RSP" clt_open a 2 info-n
check_here "always_invalidate=N: one descriptor for all chunks" info_is N
must peer destroy all

ktap_end
