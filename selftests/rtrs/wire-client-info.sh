#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# INFO_REQ of our client, to the byte, and how it judges INFO_RSP (protocol 4). The
# server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# descs <length>...: descriptors of so many bytes each
descs() {
	local len addr=0000000100000000
	for len; do
		desc $addr 0x1234 "$len"
		addr=$(addr_add $addr 0x100000)
	done
}

# rsp <type> <sg_cnt> <descriptors>
rsp() {
	printf '%s%s00000000%s' "$(le16 "$1")" "$(le16 "$2")" "$3"
}

# answers <hex of INFO_RSP>: a client asks, and is told this
answers() {
	map_start judge
	psrv_accept_all j && psrv_info j && psrv_receives j && peer post j0 send data="$1"
}

gone() {
	peer destroy j0 >/dev/null
	peer destroy j1 >/dev/null
}

# is_silent <con> <ms>: no heartbeat either, it is too early for them
is_silent() {
	is "$(peer wait "$1" "$2")" timeout
}

# bad <name> <hex>: the client disconnects
bad() {
	check_here "$1: refused" refuses "$2"
	gone
}

refuses() {
	answers "$1" && are_closed j0 j1 && map_fails ECONNRESET
}

# good <name> <change, by sed> <length>...: told of memory that is there, in descriptors of so many bytes
# each, the client sends its first request
good() {
	local name="$1"
	shift
	check_here "$name: taken" takes "$@"
	gone
	must peer free mem0
	must map_fails ECONNRESET/ECONNABORTED
}

takes() {
	local change="$1" len descs=''
	shift
	map_start judge
	psrv_accept_all j && psrv_info j && psrv_receives j &&
		buf_set "$(peer buf mem0 j0 $((4 * C)))" || return 1
	for len; do
		descs=$descs$(desc "$buf_addr" "$buf_key" "$len")
		buf_addr=$(addr_add "$buf_addr" "$len")
	done
	peer post j0 send data="$(rsp 1 $# "$descs" | sed "$change")" && psrv_take j0 &&
		is "$req_usr" "$(rnbd_sess_info)"
}

# burst <con> <number>: so many messages find a receive each
burst() {
	peer post "$1" write-imm imm=0x30000000 nr="$2" && all_sent "$1"
}

C=$PSRV_CHUNK PSRV_ONE=y

ktap_plan 46
psrv_setup
psrv_mode=N

# INFO_REQ.
map_start judge
must psrv_request j0
# More receives than INFO_REQ takes, on both: whatever else was said would be seen.
must peer recv j0 4 512
must psrv_accept j0
must psrv_request j1
must peer recv j1 4 512
check_here "INFO_REQ does not come before all connections do" is_silent j0 1500
must psrv_accept j1
check_here "then it does, 272 bytes" psrv_info j
check_eq "with the name, and zeros" "$info_req" "$(info_req judge)"
check_here "nothing else is said before INFO_RSP" is_silent j0 500
check_here "nor on con 1" is_silent j1 100
gone
check_here "the server goes instead of answering: map_device fails" map_fails ECONNRESET
map_start judge
must psrv_accept_all j
must psrv_info j
start=$(uptime_ms)
check_here "the server never answers: map_device fails after 10 s" map_times_out "$start"
check_here "and the connections are closed" are_closed j0 j1
gone
name=$(printf '%0128d' 7)
map_start "$name"
must psrv_accept_all j
must psrv_info j
check_eq "a long name" "$info_req" "$(info_req "$name")"
gone
must map_fails ECONNRESET

# INFO_RSP that is wrong.
bad "no bytes" -
bad "8 bytes and no descriptor" "$(rsp 1 0 '')"
bad "type 0" "$(rsp 0 1 "$(descs $((4 * C)))")"
bad "type 0x0100" "$(rsp 256 1 "$(descs $((4 * C)))")"
bad "no descriptors, but one is there" "$(rsp 1 0 "$(descs $((4 * C)))")"
bad "more descriptors than came" "$(rsp 1 2 "$(descs $((4 * C)))")"
bad "a descriptor cut by a byte" "$(rsp 1 1 "$(descs $((4 * C)))" | sed 's/..$//')"
bad "three descriptors for four slots" "$(rsp 1 3 "$(descs $C $C $((2 * C)))")"
bad "eight descriptors for four slots" "$(rsp 1 8 "$(descs $C $C $C $C)")"
bad "65535 descriptors" "$(rsp 1 65535 "$(descs $((4 * C)))")"
bad "a descriptor of no bytes" "$(rsp 1 2 "$(descs $((4 * C)) 0)")"
bad "a descriptor of half a chunk" "$(rsp 1 1 "$(descs $((3 * C + C / 2)))")"
bad "a descriptor that is a byte too long" "$(rsp 1 1 "$(descs $((4 * C + 1)))")"
bad "too few chunks" "$(rsp 1 1 "$(descs $((3 * C)))")"
bad "too many chunks" "$(rsp 1 1 "$(descs $((5 * C)))")"
bad "too many chunks, the last descriptor" "$(rsp 1 4 "$(descs $C $C $C $((2 * C)))")"
bad "a sum that overflows 32 bits" "$(rsp 1 2 "$(descs $((0xfffff000 / C * C)) $((4 * C)))")"
bad "an address that wraps" "$(rsp 1 1 "$(desc ffffffffffffff00 1 $((4 * C)))")"
bad "a byte more than descriptors for all slots take" "$(rsp 1 4 "$(descs $C $C $C $C)")00"
bad "SEND with immediate instead" "$(rsp 4 1 "$(descs $((4 * C)))")"

# INFO_RSP that is right.
good "one descriptor for all chunks" '' $((4 * C))
good "two descriptors" '' $((2 * C)) $((2 * C))
good "a descriptor for each chunk" '' $C $C $C $C
good "descriptors of different sizes" '' $C $((3 * C))
good "bytes behind the descriptors" "s/\$/$(bytes 32 ff)/" $((2 * C)) $((2 * C))
good "reserved bytes set" 's/^\(........\)......../\1ffffffff/' $((4 * C))

# Not INFO_RSP at all.
other_first() {
	map_start judge
	psrv_accept_all j && psrv_info j && peer post j0 "$@" && are_closed j0 j1 && map_fails ECONNRESET
}
check_here "a completion before INFO_RSP: refused" other_first write-imm imm=0x10000000
gone
check_here "a heartbeat before INFO_RSP: refused" other_first write-imm imm=0x80000000
gone

# Receives there are (2.7): the server's sends are not tried again. 512 is what the peer can send at a time.
PSRV_RNR=0
for psrv_mode in N Y; do
	must psrv_map r judge
	check_here "$psrv_mode: two receives for each slot on con 1" burst r1 $((2 * PSRV_QD))
	check_here "$psrv_mode: and again" burst r1 $((2 * PSRV_QD))
	check_here "$psrv_mode: 512 on con 0" burst r0 512
	check_here "$psrv_mode: and again" burst r0 512
	must unmap_device "$psrv_dev" force
	psrv_gone r
done
check_here "nothing is left" [ ! -d $CLT_CLASS/judge ]

ktap_end
