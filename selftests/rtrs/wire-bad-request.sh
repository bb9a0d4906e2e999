#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Requests that break the rules, to our server (protocol 3, 5, 10). What is no
# request closes the path; what is a wrong one is answered with an errno, and its
# slot and key can be used again: better than the silence the protocol allows. In
# no case does another session notice, or the log fill. The client is the scripted
# peer.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

CASES_PER_MODE=40
ids=100

close99=$(rnbd_close 99)

# Opens path x, as often as it was closed.
reopen() {
	peer destroy x0 >/dev/null
	peer destroy x1 >/dev/null
	# A sign of life, for the one that does nothing else.
	peer post good0 write-imm imm=0x90000000
	ids=$((ids + 1))
	wait_for 10 [ ! -d $SRV_CLASS/bad ] && clt_open x 2 bad path=$ids sess=$ids
}

# closes <name> <command>...: after it, path x is closed; another one is opened for what comes
closes() {
	local name="$1"
	shift
	check_here "$srv_mode: $name: closed" closed_by "$@"
	must reopen
}

closed_by() {
	"$@" && are_closed x1 x0
}

# answered <name> <errno> <con> <slot> <inv> <command>...: after it, the slot works
answered() {
	local name="$1"
	shift
	check_here "$srv_mode: $name: answered with $1" answered_with "$@"
}

# bad_read <name> <errno> <flags> <sg_cnt> <bytes of room> <bytes of descriptor>: on con 1, slot 2
bad_read() {
	local inv='' usr
	usr=$(rnbd_io 77 0 0x100 512)
	[ $(($3 & 1)) -eq 0 ] || [ "$4" -ne 1 ] || inv=$buf_key
	answered "$1" "$2" x1 2 "$inv" clt_put x1 2 "$5" \
		"${usr}03002000$(le16 "$3")$(le16 "$4")$(desc "$buf_addr" "$buf_key" "$6")" $(($5 + 32))
	[ -z "$inv" ] || must clt_rebuf x
}

# ignored <imm>...: each is taken more often than there are receives, and the path works
ignored() {
	local imm
	for imm; do
		peer post x0 write-imm imm="$imm" nr=100 && peer post x1 write-imm imm="$imm" nr=20 || return 1
	done
	all_sent x0 && all_sent x1 && clt_works x
}

# many_ignored: more than the 512 receives of con 0
many_ignored() {
	local nr=0
	while [ $nr -lt 3 ]; do
		peer post x0 write-imm imm=0xf0000000 nr=300 && all_sent x0 || return 1
		nr=$((nr + 1))
	done
	clt_works x
}

# few_lines <command>...: it breaks a rule hundreds of times, and the kernel says so no more often than ten
# times in 5 s, and once how often it did not
few_lines() {
	local start most lines
	kmsg_mark
	start=$(date +%s)
	"$@" || return 1
	lines=$(kmsg_since | grep -cE 'rtrs-server: |rnbd_server: |callbacks suppressed')
	most=$((11 * (($(date +%s) - start) / 5 + 2)))
	echo "$lines lines, wanted at most $most"
	[ "$lines" -le $most ]
}

# wrong_again <user message> <offset>: the request that is in slot 1's chunk then, 200 times
wrong_again() {
	local nr=0
	clt_put x1 1 0 "$1" "$2" && next_is x1 'recv op=write len=0 imm=0x1*' || return 1
	while [ $nr -lt 200 ]; do
		peer post x1 write-imm imm="$(imm_req 1 "$2")" && next_is x1 'recv op=write len=0 imm=0x1*' ||
			return 1
		nr=$((nr + 1))
	done
}

refused_again() {
	local nr=0 req
	req=$(conn_req magic=0)
	while [ $nr -lt 200 ]; do
		is "$(peer connect c $CLT_ADDR $SRV_ADDR $SRV_PORT "$req")" 'rejected 28 *' || return 1
		nr=$((nr + 1))
	done
}

# writes_with <rkey>: the adapter refuses it, and both queue pairs are gone
writes_with() {
	eval "x_key_0=$1"
	refuses x1 clt_write x1 0 "$close99"
}

suite() {
	must clt_open good 2 good path=1 sess=1
	must reopen
	must clt_buf x

	# What the immediate says (3).
	closes "slot $SRV_QD of $SRV_QD" peer post x1 write-imm imm="$(imm_req $SRV_QD 0)"
	closes "slot 7" peer post x1 write-imm imm="$(imm_req 7 64)"
	closes "offset at the end of the chunk" peer post x1 write-imm imm="$(imm_req 0 $SRV_CHUNK)"
	closes "largest offset" peer post x1 write-imm imm="$(imm_req 0 $(((1 << SRV_MEM_BITS) - 1)))"
	closes "header with one byte in the chunk" peer post x1 write-imm imm="$(imm_req 0 $((SRV_CHUNK - 1)))"
	closes "header with three bytes in the chunk" clt_put x1 0 $((SRV_CHUNK - 3)) 020000 $((SRV_CHUNK - 3))
	closes "READ header that reaches beyond the chunk" \
		clt_put x1 0 $((SRV_CHUNK - 7)) 03000000000000 $((SRV_CHUNK - 7))
	closes "descriptor that reaches beyond the chunk" \
		clt_put x1 0 $((SRV_CHUNK - 23)) "0300000000000100$(bytes 15 11)" $((SRV_CHUNK - 23))
	check_here "$srv_mode: unknown types of immediates are ignored" ignored 0x30000000 0x70000005 0xa0000000 0xf0000001
	check_here "$srv_mode: responses, which only servers send, too" ignored 0x10000000 0x20000001
	check_here "$srv_mode: and each gets its receive back" many_ignored

	# What the header says (5).
	closes "unknown type 9" clt_put x1 0 0 "${close99}09000800" 8
	closes "type RKEY_RSP" clt_put x1 0 0 "${close99}04000800" 8
	closes "type INFO_REQ" clt_put x1 0 0 "${close99}00000800" 8
	closes "type 0x0200, the other byte order" clt_put x1 0 0 "${close99}00020008" 8
	answered "usr_len beyond the start of the chunk, WRITE" -22 x1 1 '' clt_put x1 1 0 "${close99}02000900" 8
	answered "usr_len 65535, WRITE" -22 x1 1 '' clt_put x1 1 0 "${close99}0200ffff" 8
	answered "usr_len beyond, READ" -22 x1 1 '' clt_put x1 1 0 "${close99}0300090000000000" 8
	answered "user message of no bytes" -22 x1 0 '' clt_put x1 0 0 02000000 0
	answered "user message larger than a header may be" -90 x1 3 '' \
		clt_put x1 3 0 "$(bytes $((SRV_HDR - 3)))0200$(le16 $((SRV_HDR - 3)))" $((SRV_HDR - 3))
	bad_read "READ with two descriptors" -22 0 2 512 512
	bad_read "READ with two descriptors, NEED_INVAL: no key to invalidate" -22 1 2 512 512
	bad_read "READ with 65535 descriptors" -22 0 65535 512 512
	bad_read "descriptor of no bytes" -22 0 1 512 0
	bad_read "descriptor of no bytes, NEED_INVAL" -22 1 1 512 0
	bad_read "descriptor longer than the room for data" -22 0 1 512 513
	bad_read "descriptor longer than the room for data, NEED_INVAL" -22 1 1 512 513
	bad_read "descriptor of 4 GiB" -22 0 1 512 0xffffffff
	bad_read "unknown flags" -107 0xfffe 1 512 512
	bad_read "nothing wrong but the device" -107 1 1 512 512

	# What the user message says: the ULP's to refuse, with an errno.
	answered "unknown user message" -22 x0 0 '' clt_write x0 0 ffff0000
	answered "user message of three bytes" -22 x0 0 '' clt_write x0 0 050000
	answered "operation that does not exist" -22 x1 0 '' clt_write x1 0 "$(rnbd_io 0 0 0x1ff 512)" "$(bytes 512)"

	# Keys (7) and other messages.
	closes "key of nothing" writes_with 0x12345678
	closes "plain SEND on con 0" peer post x0 send data="$close99"
	closes "plain SEND on con 1" peer post x1 send data="$close99"
	closes "SEND with immediate" peer post x1 send-imm imm="$(imm_req 0 0)"
	closes "SEND with invalidate of nothing" peer post x1 send-inv inv=0x12345678
	closes "RDMA WRITE to where no memory is" peer post x1 write raddr=0x1000 rkey="$x_key_0" data=00

	check_here "$srv_mode: another session has not noticed" clt_works good
	must peer destroy all
	must srv_forgets good
	must srv_forgets bad
}

ktap_plan $((2 * CASES_PER_MODE + 5))
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload

wire_server Y
suite
must module_gone rnbd-server rtrs-server
wire_server N
suite

must clt_open x 2 flood path=2 sess=2
check_here "900 messages of unknown type: few lines in the log" few_lines many_ignored
check_here "200 wrong requests: few lines" few_lines wrong_again "${close99}02000900" 8
check_here "200 messages that the ULP refuses: few lines" few_lines wrong_again 05000002000300 3
check_here "200 connections that are refused: few lines" few_lines refused_again
check_here "and the path works" clt_works x
must peer destroy all

ktap_end
