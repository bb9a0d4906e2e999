#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension REQ_LIST of our client: reads that are submitted together travel in one message, to the byte, and only
# they. The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# together <fio job options>: sectors of 512 bytes from the first one on, submitted at once, in the background
together() {
	io_run fio --name=list --filename="$psrv_dev" --ioengine=libaio --direct=1 --bs=512 --size=2048 \
		--output=/tmp/wire.fio "$@"
}

four_reads() {
	together --rw=read --number_ios=4 --iodepth=4 --iodepth_batch_submit=4 --iodepth_batch_complete_min=4
}

# take_list: the next message is a list, into $list, of $list_nr requests, in the chunk of $list_slot
take_list() {
	local ev imm len
	ev=$(peer_next w1)
	is "$ev" "recv op=write len=* imm=0xf*" || return 1
	len=${ev#*len=}
	len=${len%% *}
	imm=$((${ev##*imm=} & 0xfffffff))
	list_slot=$((imm >> PSRV_MEM_BITS)) list_off=$((imm & (1 << PSRV_MEM_BITS) - 1))
	list=$(chunk_get $list_slot $list_off "$len")
	list_nr=$(le_at "$list" 2 2)
	is "$list" "0500$(le16 "$list_nr")$(le32 "$len")*"
}

# each_of_list <command>: for each request of it, with what psrv_take would have found
each_of_list() {
	local i=0 at=$((8 + 8 * list_nr))
	while [ $i -lt "$list_nr" ]; do
		req_slot=$(le_at "$list" $((8 + 8 * i)) 2)
		req_usr_len=$(le_at "$list" $((10 + 8 * i)) 2)
		req_off=$(le_at "$list" $((12 + 8 * i)) 4)
		req_usr=$(hex_at "$list" $at "$req_usr_len")
		req_hdr=$(hex_at "$list" $((at + req_usr_len)) 24)
		req_flags=$(le_at "$req_hdr" 4 2) req_addr=$(swab "$(hex_at "$req_hdr" 8 8)")
		req_key=$(le_at "$req_hdr" 16 4) req_room=$(le_at "$req_hdr" 20 4)
		"$@" || return 1
		at=$((at + req_usr_len + 24))
		i=$((i + 1))
	done
	is "$at" "$(hex_len "$list")"
}

# to_the_byte: a read of 512 bytes, whose sector is told
to_the_byte() {
	local sector
	sector=$(le_at "$req_usr" 8 4)
	sectors="$sectors$sector
"
	is "$req_usr" "$(rnbd_io 3 "$sector" 0x100 512 '????')" &&
		is "$req_hdr" "030020000000$(le16 1)????????????????????????$(le32 512)" && is "$req_off" 544
}

answer_it() {
	psrv_data w1 "$(bytes 512 "a$req_slot")" && psrv_done w1 0
}

# list_of_four: one message, in the chunk of the first of them, behind its room; the block layer chooses their order
list_of_four() {
	four_reads
	take_list && is "$list_nr" 4 && is "$list_off" 512 && sectors='' && each_of_list to_the_byte &&
		is "$(echo "$sectors" | sort | tr -d '\n')" 0123 && is "$list_slot" "$(le_at "$list" 8 2)" && each_of_list answer_it && io_ends 0
}

# one_by_one: so many messages, each a request
one_by_one() {
	local nr=0
	while [ $nr -lt "$1" ]; do
		psrv_serve w1 || return 1
		nr=$((nr + 1))
	done
	io_ends 0
}

single() {
	io if="$psrv_dev" of=/tmp/wire.out bs=512 count=1 iflag=direct
	one_by_one 1
}

writes() {
	together --rw=write --number_ios=4 --iodepth=4 --iodepth_batch_submit=4 --iodepth_batch_complete_min=4
	one_by_one 4
}

apart() {
	four_reads
	one_by_one 4
}

# lost: with four reads in a list, and no other path
lost() {
	four_reads
	take_list && is "$list_nr" 4 && peer disconnect w1 && peer disconnect w0 && psrv_gone w && io_ends 1 || return 1
	psrv_connect w ext=1 features=16 id=8 && psrv_serve w0 && psrv_serve w0 && wait_for 5 dev_is "$psrv_dev" open
}

# not_offered: what the client asks for; the server says all the same that it has taken it up
not_offered() {
	is $(($(le_at "$conn_req" 46 2) & 16)) 0 && apart
}

map_with() {
	psrv_map w wire ext=1 features="$1" id=7
}

unmap() {
	psrv_unmap w && psrv_gone w
}

requires fio
ktap_plan 9
psrv_setup
psrv_mode=N
must map_with 16
check_here "four reads at once: one message" list_of_four
check_here "again, in slots that were used" list_of_four
check_here "a read by itself is a request" single
check_here "writes are requests" writes
check_here "its path is lost: all of them end" lost
check_here "back again: four reads at once: one message" list_of_four
must unmap
must map_with 4
check_here "not taken up: four requests" apart
must unmap
must sysfs_write /sys/module/rtrs_client/parameters/list_requests N
must map_with 16
check_here "switched off: four requests, though the server has it" not_offered
must unmap
check_here "all is gone" [ ! -d $CLT_CLASS/wire ]

ktap_end
