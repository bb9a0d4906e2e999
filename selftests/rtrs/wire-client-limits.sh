#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a server announces is what our client keeps to: sizes of data and headers,
# chunks of any size in any number of descriptors, keys that stay (protocol 2.4, 4, 5),
# and what its device can do without data (protocol of RNBD 4). The server is the
# scripted peer.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# All of the device; its sectors differ.
BYTES=65536
PSRV_SECTORS=$((BYTES / 512))

# opens <bytes for headers>: an OPEN of 264 and 24 bytes is due
opens() {
	PSRV_CHUNK=$((16384 + $1))
	map_start judge
	psrv_connect w io=16384 hdr="$1" && psrv_serve w0 && is "$req_usr" "$(rnbd_sess_info)"
}

open_fits() {
	opens 288 && psrv_take w0 && is "$req_usr" "$(rnbd_open /dev/wire)"
}

# What is too long is not sent at all.
open_fails() {
	opens 287 && are_closed w0 w1 && map_fails EMSGSIZE
}

# data_is: those of the WRITE that was taken are where its sector is in the input
data_is() {
	is "$(chunk_get "$req_slot" 0 $req_data)" \
		"$(od -An -v -tx1 -j $((512 * $(le_at "$req_usr" 8 4))) -N $req_data /tmp/wire.in | tr -d ' \n')"
}

# in_pieces <dd arguments>: all of the device, of which no request takes more than 8192 bytes, and
# each slot has some
in_pieces() {
	local left=$BYTES slots='' slot=0
	io "$@" bs=$BYTES count=1
	while [ $left -gt 0 ]; do
		psrv_take w1 || return 1
		[ $req_data -gt 0 ] && [ $req_data -le 8192 ] || {
			echo "$req_data bytes in one request"
			return 1
		}
		[ "$req_type" -eq 3 ] || data_is || return 1
		left=$((left - req_data)) slots=$slots$req_slot
		psrv_answer w1 || return 1
	done
	io_ends 0 || return 1
	while [ $slot -lt $PSRV_QD ]; do
		is "$slots" "*$slot*" || return 1
		slot=$((slot + 1))
	done
}

reads_in_pieces() {
	in_pieces if="$psrv_dev" of=/dev/null iflag=direct
}

writes_in_pieces() {
	in_pieces if=/tmp/wire.in of="$psrv_dev" oflag=direct
}

# flushes <errno>: it is asked for, and answered so
flushes() {
	io if=/dev/null of="$psrv_dev" count=0 conv=notrunc,fsync
	psrv_take w1 && is "$req_usr" "$(rnbd_io 3 0 0x302 0 '????')" &&
		is "$req_off $req_len $(hex_at "$req_hdr" 0 8)" "32 40 $(hdr_read 32 0)" || return 1
	psrv_done w1 "$1"
}

# More bytes than a chunk has, and none of them is sent. Whether it is synchronous is the kernel's choice.
discards() {
	io_run blkdiscard -f -o 4096 -l 32768 "$psrv_dev"
	psrv_take w1 && is "$req_type $req_off $req_len" "2 32 36" &&
		is "$req_usr" "$(rnbd_io 3 8 0x003 32768 '????' | sed 's/^\(.\{32\}03\)00/\10?/')"
}

gone() {
	must psrv_unmap w
	psrv_gone w
}

suite() {
	local m="$psrv_mode" other=2
	[ "$m" = N ] || other=0

	PSRV_CHUNK=12288 PSRV_OTHERS="qd=9 io=1 hdr=1 flags=$other" PSRV_DISCARD=$PSRV_SECTORS PSRV_CACHE=3
	check_here "$m: con 1 announces other sizes and flags, those of con 0 count" psrv_map w wire
	check_here "$m: a large WRITE is cut" writes_in_pieces
	check_here "$m: a large READ is cut" reads_in_pieces
	check_here "$m: FLUSH: READ without data, its memory or flags" flushes 0
	check_here "$m: is done" io_ends 0
	check_here "$m: FLUSH that fails" flushes -5
	check_here "$m: fsync fails" io_ends 1 EIO
	check_here "$m: DISCARD: WRITE without data" discards
	must psrv_done w1 0
	check_here "$m: is done" io_ends 0
	gone

	PSRV_CHUNK=12289 PSRV_OTHERS='' PSRV_DISCARD=0 PSRV_CACHE=0 PSRV_ONE=y
	check_here "$m: chunks of 12289 bytes, one descriptor for all" psrv_map w wire io=8193 hdr=4096
	check_here "$m: WRITE into all of them" writes_in_pieces
	check_here "$m: READ into all of them" reads_in_pieces
	gone
	PSRV_ONE=''
}

ktap_plan 26
psrv_setup
must dd if=/dev/urandom of=/tmp/wire.in bs=$BYTES count=1 status=none

psrv_mode=N
check_here "a user message and its header that fit to the byte are sent" open_fits
must peer destroy w0
must peer destroy w1
must map_fails ECONNABORTED/ECONNRESET/ETIMEDOUT
psrv_gone w
check_here "with a byte less room: not sent, map_device fails" open_fails
psrv_gone w

suite
psrv_mode=Y
suite

ktap_end
