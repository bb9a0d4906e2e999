#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# INFO_REQ of our client, to the byte, and how it judges INFO_RSP (protocol 4). The
# server is the scripted peer.
#
# vm: smp=1 timeout=240 tier=test

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

# bad <name> <hex>: the client disconnects
bad() {
	check_here "$1: refused" refuses "$2"
	gone
}

refuses() {
	answers "$1" && are_closed j0 j1 && map_fails ECONNRESET
}

# good <name> <hex>: the client sends its first request, to the address that it was told
good() {
	check_here "$1: taken" takes "$2"
	gone
	must map_fails ECONNRESET/ECONNABORTED/ETIMEDOUT/EIO
}

# The keys are of nothing, so the write of the request is refused by the adapter, which the client finds
# out: that it went on is what counts.
takes() {
	answers "$1" && wait_for 10 [ -d $CLT_CLASS/judge ]
}

C=$PSRV_CHUNK

ktap_plan 37
psrv_setup
psrv_mode=N

# INFO_REQ.
map_start judge
check_here "all connections come before INFO_REQ" psrv_accept_all j
check_here "then INFO_REQ, of 272 bytes" psrv_info j
check_eq "with the name, and zeros" "$info_req" "$(info_req judge)"
check_here "nothing else is said before INFO_RSP" says_nothing j0 500
check_here "nor on con 1" says_nothing j1 100
gone
check_here "the server goes instead of answering: map_device fails" map_fails ECONNRESET
map_start judge
must psrv_accept_all j
must psrv_info j
start=$(uptime_ms)
check_here "the server never answers: map_device fails" map_fails ETIMEDOUT
diag "after $(($(uptime_ms) - start)) ms"
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
bad "SEND with immediate instead" "$(rsp 4 1 "$(descs $((4 * C)))")"

# INFO_RSP that is right.
good "one descriptor for all chunks" "$(rsp 1 1 "$(descs $((4 * C)))")"
good "two descriptors" "$(rsp 1 2 "$(descs $((2 * C)) $((2 * C)))")"
good "a descriptor for each chunk" "$(rsp 1 4 "$(descs $C $C $C $C)")"
good "descriptors of different sizes" "$(rsp 1 2 "$(descs $C $((3 * C)))")"
good "bytes behind the descriptors" "$(rsp 1 2 "$(descs $((2 * C)) $((2 * C)))")$(bytes 32 ff)"
good "reserved bytes set" "$(rsp 1 1 "$(descs $((4 * C)))" | sed 's/^\(........\)......../\1ffffffff/')"

# Not INFO_RSP at all.
other_first() {
	map_start judge
	psrv_accept_all j && psrv_info j && peer post j0 "$@" && are_closed j0 j1 && map_fails ECONNRESET
}
check_here "a completion before INFO_RSP: refused" other_first write-imm imm=0x10000000
gone
check_here "a heartbeat before INFO_RSP: refused" other_first write-imm imm=0x80000000
gone
check_here "nothing is left" [ ! -d $CLT_CLASS/judge ]

ktap_end
