#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Requests of our client, to the byte, and the answers that it takes (protocol 3, 5,
# 6, 7), from a server that gives new keys and from one that does not. The server
# is the scripted peer.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

CASES_PER_MODE=26

io_waits() {
	sleep 1
	[ ! -e /tmp/wire.io ]
}

# is_read <bytes> <usr>: the request that was taken, with a descriptor
is_read() {
	is "$req_type $req_sg $req_room" "3 1 $1" && is "$req_usr" "$2" && is "$req_data" "$1" &&
		is "$req_len" $((${#2} / 2 + 24))
}

# is_write <data> <usr>: with data and user message at the start of the chunk
is_write() {
	local len=$((${#1} / 2))
	is "$req_type $req_data" "2 $len" && is "$req_usr" "$2" &&
		is "$req_len" $((len + ${#2} / 2 + 4)) && is "$(chunk_get "$req_slot" 0 $len)" "$1"
}

# takes_read <con> <bytes> <usr>
takes_read() {
	psrv_take "$1" && is_read "$2" "$3"
}

takes_write() {
	psrv_take "$1" && is_write "$2" "$3"
}

# takes_open: "/dev/wire", read and write
takes_open() {
	psrv_take w0 && is_read 56 "$(rnbd_open /dev/wire)"
}

# read_512 <errno> [<its name here>]: a sector is asked for, answered with it, and dd ends so
read_512() {
	io if="$psrv_dev" of=/tmp/wire.out bs=512 count=1 skip=1 iflag=direct
	takes_read w1 512 "$(rnbd_io 3 1 0x100 512 '????')" || return 1
	[ "$1" -ne 0 ] || psrv_data w1 "$(bytes 512 5a)" || return 1
	psrv_done w1 "$1" || return 1
	[ "$1" -eq 0 ] || {
		io_ends 1 "$2"
		return
	}
	io_ends 0 && is "$(od -An -v -tx1 /tmp/wire.out | tr -d ' \n')" "$(bytes 512 5a)"
}

# write_512 <errno> [<its name here>]
write_512() {
	io if=/tmp/wire.in of="$psrv_dev" bs=512 count=1 seek=2 oflag=direct
	# A synchronous write, as O_DIRECT is.
	takes_write w1 "$(bytes 512 a5)" "$(rnbd_io 3 2 0x101 512 '????')" && psrv_done w1 "$1" || return 1
	if [ "$1" -eq 0 ]; then
		io_ends 0
	else
		io_ends 1 "$2"
	fi
}

# Each slot more than once, perhaps: which one is next is the client's choice. Where there are new
# keys, it has to use the new one, as nothing else opens the chunk.
each_key() {
	local nr=0
	while [ $nr -lt 6 ]; do
		write_512 0 || return 1
		nr=$((nr + 1))
	done
}

# unknown_imms <con> <imm>: more than the client has receives; each has to be posted again
unknown_imms() {
	local nr=0
	while [ $nr -lt 3 ]; do
		peer post "$1" write-imm imm="$2" nr=400 && all_sent "$1" || return 1
		nr=$((nr + 1))
	done
}

# heartbeat: HB_MSG is answered, on con 0
heartbeat() {
	local ev
	peer post "$1" write-imm imm=0x80000000
	while ev=$(peer wait w0 3000); do
		peer recv w0 1 0
		case $ev in
		*imm=0x90000000*)
			is "$ev" 'recv op=write len=0 imm=0x90000000'
			return
			;;
		timeout) break ;;
		esac
	done
	echo "no HB_ACK: $ev"
	return 1
}

# breaks <name> <command>...: a request waits; after this, the path is lost, and with it the request
breaks() {
	local name="$1"
	shift
	check_here "$psrv_mode: $name: the path is lost" broken_by "$@"
	must unmap_device "$psrv_dev" force
	psrv_gone w
	must psrv_map w wire
}

broken_by() {
	io if="$psrv_dev" of=/tmp/wire.out bs=512 count=1 skip=1 iflag=direct
	psrv_take w1 && io_waits && "$@" && are_closed w0 w1 && io_ends 1
}

# rsp <con> <imm> [<hex>]: a completion message as it is written here
rsp() {
	if [ -n "${3:-}" ]; then
		peer post "$1" send-imm imm="$2" data="$3"
	else
		peer post "$1" write-imm imm="$2"
	fi
}

suite() {
	local m="$psrv_mode" flags=''
	[ "$m" = N ] || flags=flags=2

	# Set-up of a session: SESS_INFO, then OPEN, both on con 0.
	map_start wire
	must psrv_connect w $flags
	check_here "$m: SESS_INFO: READ of 36 bytes on con 0" takes_read w0 36 "$(rnbd_sess_info)"
	must psrv_data w0 "0100000002$(bytes 31)"
	must psrv_done w0 0
	check_here "$m: OPEN: READ of 56 bytes" takes_open
	must psrv_data w0 "$(psrv_open_rsp 8)"
	must psrv_done w0 0
	until [ -e /tmp/wire.map ]; do
		psrv_serve w1 300 >/dev/null
	done
	check_eq "$m: mapped" "$(cat /tmp/wire.map)" 0
	psrv_dev=$(mapped_node wire /dev/wire)

	# I/O.
	check_here "$m: READ of a sector" read_512 0
	check_here "$m: WRITE of a sector" write_512 0
	check_here "$m: slot after slot, with the keys that were given" each_key
	check_here "$m: READ fails with EIO" read_512 -5 EIO
	check_here "$m: WRITE fails with ENOSPC" write_512 -28 ENOSPC
	check_here "$m: READ fails with 511, which is no errno here: EIO" read_512 -511 EIO
	check_here "$m: READ fails with 103, which only the client can say: EIO" read_512 -103 EIO
	check_here "$m: READ fails with 78, which device mapper would take for its own: EIO" read_512 -78 EIO
	check_here "$m: the path lives on" read_512 0

	# What is no answer (3).
	check_here "$m: immediates of unknown types are ignored" unknown_imms w1 0x30000000
	check_here "$m: on con 0 too" unknown_imms w0 0xf0000007
	check_here "$m: what only clients send too" peer post w1 write-imm imm=0x04000000
	check_here "$m: the path lives on" read_512 0
	check_here "$m: HB_MSG is answered on con 0" heartbeat w0
	check_here "$m: HB_MSG on con 1 is answered on con 0" heartbeat w1

	# Answers that break the rules (6, 10).
	breaks "answer for slot $PSRV_QD of $PSRV_QD" rsp w1 0x10000004 $([ "$m" = N ] || echo 0400040000000000)
	breaks "answer for a slot without request" psrv_idle_slot
	breaks "answer on another connection" psrv_other_con
	if [ "$m" = N ]; then
		breaks "SEND with immediate, no new keys were announced" rsp_with_key
		breaks "plain SEND" peer post w1 send
		breaks "plain SEND with data" peer post w1 send data=0400000000000000
		breaks "answer twice" answer_twice
	else
		breaks "WRITE with immediate, new keys were announced" rsp_without_key
		breaks "RKEY_RSP of 7 bytes" rsp_msg 7
		breaks "RKEY_RSP of 9 bytes" rsp_msg 9
		breaks "RKEY_RSP of another type" rsp_msg type
		breaks "RKEY_RSP of another slot" rsp_msg slot
		breaks "RKEY_RSP of another slot, in the high byte" rsp_msg high
	fi
	must unmap_done
	check_here "$m: all is gone" [ ! -d $CLT_CLASS/wire ]
}

# The imm of a good answer to the request that waits.
good_imm() {
	printf '0x%08x' $((0x10000000 | req_slot))
}

psrv_idle_slot() {
	psrv_complete w1 $(((req_slot + 1) % PSRV_QD)) 0 1
}

psrv_other_con() {
	psrv_complete w0 "$req_slot" 0 1
}

rsp_with_key() {
	rsp w1 "$(good_imm)" "0400$(le16 "$req_slot")00000000"
}

rsp_without_key() {
	rsp w1 "$(good_imm)"
}

# The second answer comes when nobody waits any more; the first one ends the request well.
answer_twice() {
	rsp w1 "$(good_imm)" && wait_for 5 [ -e /tmp/wire.io ] && is "$(cat /tmp/wire.io)" 0 &&
		echo 1 >/tmp/wire.io && rsp w1 "$(good_imm)"
}

# rsp_msg <what is wrong>
rsp_msg() {
	local msg="0400$(le16 "$req_slot")00000000"
	case $1 in
	7) msg=${msg%??} ;;
	9) msg=${msg}00 ;;
	type) msg=0500${msg#????} ;;
	slot) msg="0400$(le16 $((req_slot + 1)))00000000" ;;
	high) msg="0400$(le16 $((req_slot + 256)))00000000" ;;
	esac
	rsp w1 "$(good_imm)" "$msg"
}

unmap_done() {
	psrv_unmap w && psrv_gone w
}

# Two more where there are new keys.
ktap_plan $((2 * CASES_PER_MODE + 2))
psrv_setup
must dd if=/dev/zero bs=512 count=1 status=none | tr '\000' '\245' >/tmp/wire.in

psrv_mode=N
suite
psrv_mode=Y
suite

ktap_end
