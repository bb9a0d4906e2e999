#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Requests to our server, and its answers to the byte: layout, order of data,
# invalidation and completion, the key of a slot (protocol 3, 5, 6, 7), with
# always_invalidate=Y and N, and with few slots. The client is the scripted peer.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

CASES_PER_MODE=37

# What a READ is to bring, in the buffer; what stands behind is untouched.
buf_has() {
	is "$(peer get a_buf 0 "$(hex_len "$1")")" "$1" &&
		is "$(peer get a_buf "$(hex_len "$1")" 16)" "$(bytes 16 ee)"
}

buf_clear() {
	peer fill a_buf 0 8192 0xee
}

buf_untouched() {
	is "$(peer get a_buf 0 4096)" "$(bytes 4096 ee)"
}

# io_read <con> <slot> <sector> <bytes> <flags>: RNBD READ into the buffer
io_read() {
	buf_clear
	clt_read "$1" "$2" "$(rnbd_io "$clt_dev" "$3" 0x100 "$4")" "$4" "$5" \
		"$(desc "$buf_addr" "$buf_key" "$4")"
}

# reads <con> <slot> <sector> <hex>: with invalidation; the buffer gets a new key
reads() {
	io_read "$1" "$2" "$3" "$(hex_len "$4")" 1 && rsp_is "$1" "$2" 0 "$buf_key" &&
		buf_has "$4" && clt_rebuf a
}

# reads_kept <con> <slot> <sector> <hex>: without. In mode N data and completion are one message.
reads_kept() {
	io_read "$1" "$2" "$3" "$(hex_len "$4")" 0 && RSP_LEN=$(hex_len "$4") rsp_is "$1" "$2" 0 &&
		buf_has "$4"
}

# writes <con> <slot> <sector> <hex>
writes() {
	clt_write "$1" "$2" "$(rnbd_io "$clt_dev" "$3" 0x101 "$(hex_len "$4")")" "$4" &&
		rsp_is "$1" "$2" 0
}

# fails <errno> <con> <slot> <usr> <data bytes> <flags> [<inv>]: a READ; its buffer stays as it is
fails() {
	local errno="$1" inv="$buf_key"
	shift
	[ "$5" -eq 1 ] || inv=''
	buf_clear
	clt_read "$1" "$2" "$3" "$4" "$5" "$(desc "$buf_addr" "$buf_key" "$4")" &&
		rsp_is "$1" "$2" "$errno" "$inv" && buf_untouched || return 1
	[ -z "$inv" ] || clt_rebuf a
}

# read_empty <flags> <usr> <errno>: a READ without descriptor
read_empty() {
	clt_read a1 2 "$2" 0 "$1" && rsp_is a1 2 "$3"
}

# flushes: that the server's disk has had
flushes() {
	awk '{ print $16 }' "/sys/block/${back#/dev/}/stat"
}

all_slots() {
	local slot
	for slot in 0 1 2 3 4; do
		writes a1 $slot $slot "$(bytes 512 a$slot)" || return 1
	done
	for slot in 4 3 2 1 0; do
		reads a1 $slot $slot "$(bytes 512 a$slot)" || return 1
	done
}

# Five requests at a time, and five answers, in whatever order.
at_once() {
	local slot ev seen=''
	for slot in 0 1 2 3 4; do
		clt_write a1 $slot "$(rnbd_io "$clt_dev" $slot 0x101 512)" "$(bytes 512 b$slot)" || return 1
	done
	for slot in 0 1 2 3 4; do
		ev=$(peer_next a1)
		is "$ev" 'recv op=* len=* imm=0x1000000?*' || return 1
		ev=${ev#*imm=0x1000000}
		seen="$seen ${ev%% *}"
	done
	is "$(echo "$seen" | tr ' ' '\n' | sort | tr -d '\n')" 01234 || return 1
	# The keys were not learnt: only the way of the answers was looked at.
	[ "$srv_mode" = N ] || return 0
	reads a1 0 3 "$(bytes 512 b3)"
}

suite() {
	local m="$srv_mode" data odd max usr flushed

	must clt_open a 2 "wire-$m"
	check_here "$m: OPEN, a READ of 56 bytes: data, SEND_WITH_INV, completion" clt_map a "$back"

	# Layout (5): data, user message and header one behind the other at any offset.
	data=$(bytes 512 11)$(bytes 512 22)
	check_here "$m: WRITE of two sectors" writes a1 0 8 "$data"
	check_here "$m: READ of them" reads a1 1 8 "$data"
	check_here "$m: READ without NEED_INVAL" reads_kept a1 1 8 "$data"
	check_here "$m: on con 0, answered there" writes a0 2 16 "$(bytes 512 33)"
	check_here "$m: READ on con 0" reads a0 2 16 "$(bytes 512 33)"
	odd="$(rnbd_io "$clt_dev" 9 0x101 512)aa"
	check_here "$m: WRITE, user message of 33 bytes, header at an odd offset" clt_write a1 3 "$odd" "$(bytes 512 44)"
	check_here "$m: is answered" rsp_is a1 3 0
	check_here "$m: and was understood" reads a1 3 9 "$(bytes 512 44)"
	buf_clear
	check_here "$m: READ of 57 bytes, header at an odd offset" clt_read a0 4 "$(rnbd_open "$back")" 57 1 \
		"$(desc "$buf_addr" "$buf_key" 57)"
	check_here "$m: is answered, device id as before" rsp_is a0 4 0 "$buf_key"
	check_here "$m: with data" is "$(peer get a_buf 0 8)" "03000000$(le32 "$clt_dev")"
	must clt_rebuf a
	check_here "$m: each slot" all_slots
	check_here "$m: all slots at once" at_once
	must peer destroy all
	must srv_forgets "wire-$m"
	must clt_open a 2 "wire-$m"
	must clt_map a "$back"

	# A flag that mainline's client of 7.3 sends.
	flushed=$(flushes)
	check_here "$m: WRITE with PREFLUSH" clt_write a1 1 "$(rnbd_io "$clt_dev" 8 0x401 512)" "$(bytes 512 33)"
	check_here "$m: is answered" rsp_is a1 1 0
	check_eq "$m: the disk has flushed its cache, once" $(($(flushes) - flushed)) 1

	# Without data (5).
	check_here "$m: flush: READ without descriptor" read_empty 0 "$(rnbd_io "$clt_dev" 0 0x302 0)" 0
	check_here "$m: NEED_INVAL without descriptor: nothing is invalidated" \
		read_empty 1 "$(rnbd_io "$clt_dev" 0 0x302 0)" 0
	check_here "$m: WRITE without data: discard" clt_write a1 0 "$(rnbd_io "$clt_dev" 8 3 4096)"
	check_here "$m: is answered" rsp_is a1 0 0

	# Errors (3, 6): the errno, no data, the key invalidated all the same.
	check_here "$m: READ of an unknown device: ENOTCONN, no data, SEND_WITH_INV" \
		fails -107 a1 0 "$(rnbd_io 77 0 0x100 512)" 512 1
	check_here "$m: the same without NEED_INVAL" \
		fails -107 a1 0 "$(rnbd_io 77 0 0x100 512)" 512 0
	check_here "$m: WRITE to an unknown device" clt_write a1 1 "$(rnbd_io 77 0 0x101 512)" "$(bytes 512)"
	check_here "$m: ENOTCONN" rsp_is a1 1 -107
	check_here "$m: OPEN of a device that is not there: ENOENT" fails -2 a0 0 "$(rnbd_open /dev/none)" 56 1

	# Limits (5, 11).
	max=$(bytes $((SRV_HDR - 4)))
	check_here "$m: the largest WRITE there is" clt_write a1 2 "0500000063000000${max#????????????????}" \
		"$(bytes $SRV_IO 55)"
	check_here "$m: is answered" rsp_is a1 2 0
	check_here "$m: the largest READ with a full buffer" reads a1 2 64 "$(bytes $SRV_IO)"
	must writes a1 2 80 "$(bytes $SRV_IO 88)"
	buf_clear
	usr=$(rnbd_io "$clt_dev" 80 0x100 $SRV_IO)$(bytes $((SRV_HDR - 24 - 32)))
	check_here "$m: the largest READ there is, its header ends with the chunk" clt_read a1 2 "$usr" $SRV_IO 1 \
		"$(desc "$buf_addr" "$buf_key" $SRV_IO)"
	check_here "$m: is answered" rsp_is a1 2 0 "$buf_key"
	check_here "$m: with data" buf_has "$(bytes $SRV_IO 88)"
	must clt_rebuf a
	must writes a1 3 72 "$data"
	buf_clear
	check_here "$m: descriptor shorter than the room for data" clt_read a1 3 \
		"$(rnbd_io "$clt_dev" 72 0x100 1024)" 1024 1 "$(desc "$buf_addr" "$buf_key" 512)"
	check_here "$m: is answered" rsp_is a1 3 0 "$buf_key"
	check_here "$m: with as much, and no more" buf_has "$(bytes 512 11)"
	must clt_rebuf a
	must peer destroy all
	must srv_forgets "wire-$m"
	must clt_open a 1 "wire-$m" path=9
	check_here "$m: a path of con 0 alone" clt_map a "$back"
	check_here "$m: carries data" writes a0 1 0 "$(bytes 512 66)"
	must peer destroy all
	must srv_forgets "wire-$m"
}

# few_slots <number>: in use, all of them
few_slots() {
	local slot nr=0
	clt_open q 2 "few-$1" || return 1
	while [ $nr -lt $((4 * $1)) ]; do
		slot=$((nr % $1)) nr=$((nr + 1))
		clt_write q1 $slot "$(rnbd_close 99)" && rsp_is q1 $slot 0 || return 1
	done
}

ktap_plan $((2 * CASES_PER_MODE + 4))
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16 cache_size=8) || abort "no backing device"

wire_server Y
suite
must module_gone rnbd-server rtrs-server
wire_server N
suite

# As many bits for a slot's number as it takes, the others are the offset's (3).
must module_gone rnbd-server rtrs-server
SRV_QD=1 SRV_MEM_BITS=28
wire_server Y
check_here "one slot: it is used" few_slots 1
must peer post q1 write-imm imm=0x08000000
check_here "one slot: the bit above the offsets there are is no slot: closed" are_closed q1 q0
must peer destroy all
must module_gone rnbd-server rtrs-server
SRV_QD=4 SRV_MEM_BITS=26
wire_server Y
check_here "four slots: all are used" few_slots 4
must peer post q1 write-imm imm="$(imm_req 3 $SRV_CHUNK)"
check_here "four slots: offset at the end of the chunk: closed" are_closed q1 q0
must peer destroy all

ktap_end
