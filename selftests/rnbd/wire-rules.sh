#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a client may not do with a device, to the byte: the server answers with an
# errno, does nothing, and goes on, whatever the client believes. The client is the
# scripted peer.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# rule <name> <errno> <con> <command>...: in slot 1
rule() {
	local name="$1" errno="$2" con="$3"
	shift 3
	check_here "$name: $errno" answered_with "$errno" "$con" 1 '' "$@"
}

# put <con> <op> <sector> <bytes> [<bytes of payload>]: as a WRITE
put() {
	clt_write "$1" 1 "$(rnbd_io "$dev" "$3" "$2" "$4")" "$([ "${5:-0}" -eq 0 ] || bytes "$5" 5a)"
}

# get <con> <op> <sector> <bytes> [<bytes of room>]: as a READ
get() {
	clt_read "$1" 1 "$(rnbd_io "$dev" "$3" "$2" "$4")" "${5:-0}" 0 \
		"$([ "${5:-0}" -eq 0 ] || desc "$buf_addr" "$buf_key" "$5")"
}

# opens <con> <user message> [<bytes of room>]
opens() {
	clt_read "$1" 1 "$2" "${3:-56}" 0 "$(desc "$buf_addr" "$buf_key" "${3:-56}")"
}

# tells_disk: which one the last answer is about
tells_disk() {
	local data
	data=$(peer get r_buf 56 24) && ! is "$(hex_at "$data" 0 8)" "$(bytes 8)" >/dev/null &&
		is "$(le_at "$data" 8 8)" "$(cat "/sys/block/${back#/dev/}/diskseq")" && is "$(hex_at "$data" 16 8)" "$(bytes 8)"
}

on_disk() {
	dd if="$back" bs=1M iflag=direct status=none | md5sum
}

READ=0 WRITE=1 FLUSH=2 DISCARD=3 ERASE=4 ZEROES=5

ktap_plan 44
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16) || abort "no backing device"
end=$(blockdev --getsz "$back")
wire_server Y
must clt_open a 2 writer path=1 sess=1
must clt_open b 2 other path=2 sess=2
must clt_open r 2 reader path=3 sess=3
must clt_map r "$back" 0
ro=$clt_dev ro_addr=$buf_addr ro_key=$buf_key
must clt_map a "$back"
dev=$clt_dev

rule "a WRITE of the last sector" 0 a1 put a1 $WRITE $((end - 1)) 512 512
was=$(on_disk)

# The range.
rule "the sector behind it" -5 a1 put a1 $WRITE "$end" 512 512
rule "READ of it" -5 a1 get a1 $READ "$end" 512 512
rule "a range that ends behind it" -5 a1 put a1 $WRITE $((end - 1)) 1024 1024
rule "the largest sector" -5 a1 put a1 $WRITE 0x7fffffffffffffff 512 512
rule "a byte less than a sector" -22 a1 put a1 $WRITE 0 511 511
rule "no bytes" -22 a1 put a1 $WRITE 0 0

# Data and operation.
rule "WRITE of more than came" -22 a1 put a1 $WRITE 0 1024 512
rule "WRITE of less than came" -22 a1 put a1 $WRITE 0 512 1024
rule "WRITE without data" -22 a1 put a1 $WRITE 0 512
rule "WRITE as a READ" -22 a1 get a1 $WRITE 0 512 512
rule "READ as a WRITE" -22 a1 put a1 $READ 0 512 512
rule "READ of more than there is room" -22 a1 get a1 $READ 0 1024 512
rule "FLUSH of bytes" -22 a1 get a1 $FLUSH 0 512
rule "DISCARD with data" -22 a1 put a1 $DISCARD 0 512 512
rule "a message of 23 bytes" -22 a1 clt_write a1 1 "$(rnbd_io "$dev" 0 $FLUSH 0 | cut -c 1-46)"
rule "an answer, which only servers send" -22 a1 clt_write a1 1 01000000
check_eq "nothing of that was done" "$(on_disk)" "$was"

# Devices of others.
rule "a device of another session" -107 b1 put b1 $WRITE 0 512 512
rule "closed by another session" 0 b1 clt_write b1 1 "$(rnbd_close "$dev")"
rule "it is open still" 0 a1 get a1 $READ 0 512 512

# A device that is open for reading.
dev=$ro buf_addr=$ro_addr buf_key=$ro_key
rule "read-only: READ" 0 r1 get r1 $READ 0 512 512
rule "read-only: WRITE" -30 r1 put r1 $WRITE 0 512 512
rule "read-only: DISCARD" -30 r1 get r1 $DISCARD 0 512
rule "read-only: secure erase" -30 r1 get r1 $ERASE 0 512
rule "read-only: write zeroes" -30 r1 get r1 $ZEROES 0 512
rule "read-only: opened again for writing" -1 r0 opens r0 "$(rnbd_open "$back" 1)"

# OPEN.
rule "a second writer" -1 b0 opens b0 "$(rnbd_open "$back" 1)"
rule "access mode 3" -22 b0 opens b0 "$(rnbd_open "$back" 3)"
rule "no name" -22 b0 opens b0 "$(rnbd_open '')"
rule ".. in the name" -22 b0 opens b0 "$(rnbd_open /dev/../dev/selftest0)"
rule "a byte too little room for the answer" -22 b0 opens b0 "$(rnbd_open "$back" 0)" 55
rule "opened again, with room for the identity of the disk" 0 r0 opens r0 "$(rnbd_open "$back" 0)" 336
check_here "the run of the server, and the number of the disk" tells_disk
rule "opened again, with a byte less" 0 r0 opens r0 "$(rnbd_open "$back" 0)" 335
check_here "nothing is told" is "$(peer get r_buf 56 64)" "$(bytes 64)"

# Memory.
check_here "the key of another session's chunk opens nothing" refuses b1 \
	peer post b1 write data=00 raddr=0x"$a_addr_2" rkey="$a_key_2"
check_here "and that session has not noticed" clt_works a
must peer destroy all

# A client that comes while the server is still being loaded.
must module_gone rnbd-server
fault_arm rtrs-server/listen_delayed
modprobe rnbd-server &
loading=$!
must wait_for 5 fault_fired rtrs-server/listen_delayed
check_here "an early client: a session" clt_open e 2 early path=4 sess=4
check_here "an early client: a device" clt_map e "$back"
check_eq "while the server is being loaded" "$(cat /sys/module/rnbd_server/initstate)" coming
dev=$clt_dev
rule "an early client: a WRITE" 0 e1 put e1 $WRITE 0 512 512
check "the server's directory of it" [ -e "$SRV_CTL/devices/${back#/dev/}/sessions/early/mapping_path" ]
check_here "the server is loaded" wait $loading
must peer destroy all
ktap_end
