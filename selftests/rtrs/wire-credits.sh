#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension CREDITS of our server, to the byte: how many chunks a path begins with, more and fewer of them, what becomes
# of those that are in use, and of a path for which there is no memory. The client is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

PARAMS=/sys/module/rtrs_server/parameters
SLOW_MS=2000
ENOBUFS=-105
ids=0

# joins <path> <chunks asked for> <chunks there are> [<field of the request>=<number>...]: a session of that name, with a
# table, $CREDITS taken up
CREDITS=0x40
joins() {
	local path="$1" asked="$2"
	CLT_CHUNKS=$3
	shift 3
	ids=$((ids + 1))
	clt_connect_all "$path" 2 ext=1 features=$CREDITS chunks="$asked" path=$ids sess=$ids "$@" &&
		is "$(hex_at "$clt_rsp" 20 4)" "0100$(le16 $CREDITS)" &&
		buf_set "$(peer buf "${path}_table" "${path}0" 4112)" || return 1
	info_table=${TABLE:-$(table_of "$buf_addr" "$buf_key")}
	clt_exchange "$path" 2 "$path" && is "$(chunks "$path")" "$CLT_CHUNKS"
}

# leaves <path>
leaves() {
	local buf
	peer destroy "${1}0" && peer destroy "${1}1" && srv_forgets "$1" || return 1
	for buf in table buf; do
		peer free "${1}_$buf" >/dev/null || :
	done
}

# chunks <path>: as the server has them
chunks() {
	cat "$SRV_CLASS/$1"/paths/*/chunks
}

# regions: of the server, in all
regions() {
	rdma resource show mr dev rxe_s1 | grep -c mrn
}

# want <path> <chunks>
want() {
	had=$(chunks "$1")
	peer fill "${1}_table" 0 4112 0x5a && peer post "${1}0" write-imm imm="$(printf '0x3%07x' "$2")"
}

# told <path> <chunks>: so many there are; what is new is at the beginning of the table, and nothing behind it
told() {
	local more=$(($2 > had ? ($2 - had) / PER_REGION : 0))
	next_is "${1}0" "$(printf 'recv op=write len=%d imm=0x4%07x' $((16 * more)) "$2")" && is "$(chunks "$1")" "$2" &&
		is "$(peer get "${1}_table" $((16 * more)) 16)" "$(bytes 16 5a)" || return 1
	[ $more -eq 0 ] || clt_learn "$1" "$had" "$(peer get "${1}_table" 0 $((16 * more)))"
	[ $more -eq 0 ] || is "$clt_slots" "$2"
}

# has <path> <chunks wanted> <chunks there are then>
has() {
	want "$1" "$2" && told "$1" "$3"
}

# each_works <slot>...: an empty request in each is answered
each_works() {
	local slot
	for slot; do
		clt_write x1 "$slot" "$(rnbd_close 99)" && rsp_is x1 "$slot" 0 || return 1
	done
}

# sector <number>: of the disk
sector() {
	dd if="$disk" bs=512 skip="$1" count=1 iflag=direct status=none | od -An -v -tx1 | tr -d ' \n'
}

# stores <slot> <byte>: a sector is written from the slot's chunk, and read back into it
stores() {
	clt_write x1 "$1" "$(rnbd_io "$clt_dev" "$1" 0x101 512)" "$(bytes 512 "$2")" && rsp_is x1 "$1" 0 &&
		is "$(sector "$1")" "$(bytes 512 "$2")" && peer fill x_buf 0 512 0 &&
		clt_read x1 "$1" "$(rnbd_io "$clt_dev" "$1" 0x100 512)" 512 0 "$(desc "$buf_addr" "$buf_key" 512)" &&
		RSP_LEN=512 rsp_is x1 "$1" 0 && is "$(peer get x_buf 0 512)" "$(bytes 512 "$2")"
}

# begins <asked for> <there are>
begins() {
	check_here "$srv_mode: $1 asked for: begins with $2" joins x "$1" "$2"
	must leaves x
}

# closes <name> <what the server says> <command>...: path x, which has 32 chunks
closes() {
	local name="$1"
	shift
	must joins x 32 32
	check_here "$srv_mode: $name: closed" closed_by x "$@"
	must leaves x
}

more() {
	local first
	first=$(regions)
	has x 17 $((16 + (PER_REGION > 1 ? 16 : 1))) && is "$(($(regions) - first))" 1 && has x 33 $((32 + PER_REGION)) &&
		has x 48 48
}

as_many() {
	has x $((48 - PER_REGION + 1)) 48 && has x 48 48
}

fewer() {
	local first
	first=$(regions)
	has x 16 16 && is "$((first - $(regions)))" $((32 / PER_REGION))
}

# taken_back: what opens the chunk of a slot opens nothing any more
taken_back() {
	each_works 20 && has x 16 16 && refuses x1 clt_put x1 20 0 "$(rnbd_close 99)$(hdr_write 8)" 8
}

# without_chunk <slot>: an empty message, as nothing can be written
without_chunk() {
	each_works "$1" && has x 16 16 && peer post x1 write-imm imm="$(imm_req "$1" 8)"
}

# again_without <slot>: it was taken back, came again, and was taken back
again_without() {
	has x 16 16 && has x 32 32 && without_chunk "$1"
}

# send_list <slot> <slot of the chunk>: a list of one request (extension REQ_LIST)
send_list() {
	REQ_TYPE=15
	clt_put x1 "$2" 512 "0500$(le16 1)$(le32 32)$(le16 "$1")$(le16 8)$(le32 8)$(rnbd_close 99)$(hdr_read 8 0)" 512
	REQ_TYPE=0
}

# list_of <slot>: first while it has a chunk
list_of() {
	send_list "$1" 3 && rsp_is x1 "$1" 0 && has x 16 16 && send_list "$1" 3
}

list_in() {
	send_list 3 "$1" && rsp_is x1 3 0 && has x 16 16 && peer post x1 write-imm imm="$(REQ_TYPE=15 imm_req "$1" 512)"
}

# in_use: slot 20 waits for the disk, and the server has its request
in_use() {
	must joins x 48 48
	must clt_map x "$slow"
	slow_start=$(uptime_ms)
	clt_write x1 20 "$(rnbd_io "$clt_dev" 0 0x101 512)" "$(bytes 512 5a)" && each_works 21
}

# still_there: chunk 20, and those that go with it
still_there() {
	has x 16 $((PER_REGION > 1 ? 32 : 21)) && each_works 16 19 0 && { [ $PER_REGION -eq 1 ] || each_works 21 31; } &&
		[ $(($(uptime_ms) - slow_start)) -lt $SLOW_MS ]
}

# stays <chunks> <why> <command>...: there are no more, and these work on
stays() {
	local nr="$1" why="$2"
	shift 2
	kmsg_mark
	"$@" && told x "$nr" && kmsg_has "stays at $nr chunks, its client wants $want: error $why" && clt_works x
}

# no_memory <fault point> <number>
no_memory() {
	local first
	first=$(regions)
	want=32
	fault_arm "$1" "$2" && stays 16 -12 want x 32 && fault_fired "$1" && is "$(regions)" "$first" && has x 32 32 &&
		each_works 31 16 && has x 16 16
}

# fault <point> <command>...: that one fails, which it comes to
fault() {
	local point="$1"
	shift
	fault_arm "$point" && "$@" && wait_for 5 fault_fired "$point"
}

grows_later() {
	fault rtrs-core/sq_full has x 32 32 && each_works 31
}

shrinks_later() {
	fault rtrs-core/sq_full has x 16 16 && each_works 15
}

ignored_on_1() {
	kmsg_mark
	peer post x1 write-imm imm=0x30000010 && wait_for 5 kmsg_has 'message of unknown type 3 ignored' &&
		says_nothing x0 && is "$(chunks x)" 32 && clt_works x && each_works 31
}

# plain: a session without the extension has all
plain() {
	CLT_CHUNKS='' info_table=''
	ids=$((ids + 1))
	clt_open "$1" 2 "$1" path=$ids sess=$ids && is "$(chunks "$1")" $SRV_QD
}

ignored_without() {
	kmsg_mark
	plain x && peer post x0 write-imm imm=0x30000010 && wait_for 5 kmsg_has 'message of unknown type 3 ignored' &&
		says_nothing x0 && is "$(chunks x)" $SRV_QD && clt_works x
}

# over: another session, with all chunks, is refused for want of memory
over() {
	kmsg_mark
	ids=$((ids + 1))
	refused $ENOBUFS "$(clt_connect y0 path=$ids sess=$ids)" &&
		kmsg_has 'client ip:10.1.0.1 has 0 MiB, max_memory_mb_per_client=1 allows no more'
}

# limits: a region of 16 takes 192 KiB, all chunks take 768
limits() {
	local most
	most=$(cat $PARAMS/max_memory_mb_per_client)
	echo 1 >$PARAMS/max_memory_mb_per_client
	must joins x 64 64
	check_here "$srv_mode: with all chunks there is no room for another session" over
	check_here "$srv_mode: with 16 there is" has x 16 16
	check_here "$srv_mode: it has all" plain y
	want=32
	check_here "$srv_mode: then there is none for 16 more" stays 16 $ENOBUFS want x 32
	check_here "$srv_mode: of which the limit is told" kmsg_has 'max_memory_mb_per_client=1 allows no more'
	check_here "$srv_mode: the other one works" clt_works y
	must leaves y
	check_here "$srv_mode: it is gone: 16 more" has x 32 32
	check_here "$srv_mode: which work" each_works 31 16
	must leaves x
	echo "$most" >$PARAMS/max_memory_mb_per_client
}

# to_no_table: the peer's adapter refuses the descriptors
to_no_table() {
	want x 48 && next_is x0 'failed recv 10 *'
}

off() {
	CLT_CHUNKS=''
	ids=$((ids + 1))
	clt_open x 2 x ext=1 features=0x41 chunks=16 path=$ids sess=$ids && is "$(hex_at "$clt_rsp" 20 4)" 01000100 &&
		is "$(chunks x)" $SRV_QD
}

suite() {
	# What it begins with.
	begins 16 16
	begins 17 $((16 + (PER_REGION > 1 ? 16 : 1)))
	begins 1 $PER_REGION
	begins 0 $PER_REGION
	begins $SRV_QD $SRV_QD
	begins $((SRV_QD + 1)) $SRV_QD
	begins 0xffffffff $SRV_QD

	# More and fewer.
	must joins x 16 16
	must clt_map x "$disk"
	check_here "$srv_mode: an old chunk" stores 15 a1
	check_here "$srv_mode: more, with the descriptors of the new ones" more
	check_here "$srv_mode: the first new one" stores 16 a2
	check_here "$srv_mode: the last new one" stores 47 a3
	check_here "$srv_mode: an old one" stores 15 a4
	check_here "$srv_mode: as many" as_many
	check_here "$srv_mode: fewer, without data" fewer
	check_here "$srv_mode: those that are left" stores 15 a5
	check_here "$srv_mode: on both connections" clt_works x
	check_here "$srv_mode: more again" has x 64 64
	check_here "$srv_mode: the first of them" stores 16 a6
	check_here "$srv_mode: the last one" stores 63 a7
	check_here "$srv_mode: one" has x 1 $PER_REGION
	check_here "$srv_mode: it works" each_works 0
	check_here "$srv_mode: no room in the send queue: more, later" has x 16 16
	check_here "$srv_mode: more" grows_later
	check_here "$srv_mode: fewer" shrinks_later

	# No memory.
	check_here "$srv_mode: no memory for the first of the new chunks" no_memory rtrs-server/alloc_bufs 1
	check_here "$srv_mode: none for the last one" no_memory rtrs-server/alloc_bufs 16
	check_here "$srv_mode: none for a region" no_memory rtrs-core/mr_alloc $((16 / PER_REGION))
	must leaves x
	limits

	# In use.
	check_here "$srv_mode: a slot is in use" in_use
	check_here "$srv_mode: its chunk stays" still_there
	check_here "$srv_mode: it is answered" rsp_is x1 20 0
	check_here "$srv_mode: and can be taken back" has x 16 16
	check_here "$srv_mode: and given again" has x 32 32
	check_here "$srv_mode: and used" each_works 20
	must leaves x

	echo N >$PARAMS/credits
	check_here "$srv_mode: switched off: not taken up, it has all" off
	echo Y >$PARAMS/credits
	must leaves x

	# What a client must not do, and what fails.
	check_here "$srv_mode: asked for on an I/O connection: ignored" joins x 32 32
	check_here "$srv_mode: it is" ignored_on_1
	must leaves x
	check_here "$srv_mode: without the extension: ignored" ignored_without
	must leaves x
	closes "no chunk wanted" "client wants 0 chunks, allowed are 1 to $SRV_QD" want x 0
	closes "more wanted than there are slots" "client wants 65 chunks, allowed are 1 to $SRV_QD" want x 65
	closes "very many wanted" "client wants 268435455 chunks, allowed are 1 to $SRV_QD" want x 0xfffffff
	closes "data to a chunk that was taken back" 'receive: the device stopped the queue pair|receive failed' taken_back
	closes "request in a slot without chunk" 'request for slot 31, which has no chunk' without_chunk 31
	closes "in the first one" 'request for slot 16, which has no chunk' without_chunk 16
	closes "in one that had a chunk twice" 'request for slot 20, which has no chunk' again_without 20
	CREDITS=0x50
	closes "in a list" 'request for slot 20, which has no chunk' list_of 20
	closes "a list in such a chunk" 'slot 20: no list of requests at offset 512' list_in 20
	CREDITS=0x40
	TABLE=$(table_of 0000000012345000 0x12345678)
	closes "a table that is none" 'send failed: remote access error' to_no_table
	TABLE=''
	closes "more: nothing can be registered" "changing the number of its chunks from 32 to $((32 + PER_REGION)): error -5" \
		fault rtrs-core/post_send want x 33
	closes "nor mapped" "changing the number of its chunks from 32 to $((32 + PER_REGION)): error -12" fault rtrs-core/mr_map want x 33
	closes "fewer: nothing can be sent" 'changing the number of its chunks from 32 to 16: error -5' fault rtrs-core/post_send want x 16
}

table_full() {
	has x 512 272 && has x 512 512 && each_works 511 272 271 16 0
}

ktap_plan 117
topo_up 1
topo_is_ours
debugfs_up
peer_load
defer rtrs_unload
defer "peer destroy all"
disk=$(backing_null 16) || abort "no backing device"
slow=$(backing_null 16 irqmode=2 completion_nsec=$((SLOW_MS * 1000000))) || abort "no slow backing device"

SRV_QD=64 SRV_MEM_BITS=22 PER_REGION=16
wire_server N
suite
must module_gone rnbd-server rtrs-server
PER_REGION=1
wire_server Y
suite
must module_gone rnbd-server rtrs-server

SRV_QD=512 SRV_MEM_BITS=19
wire_server Y
must joins x 16 16
check_here "more than the table has room for: a table full, and then the rest" table_full
must leaves x

ktap_end
