#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension REQ_LIST of our server: several reads in one message, each answered as if it had come alone, and
# what is no list. The client is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

LEN=512		# of each read
ids=0

# start <features>: path x, a disk, and what a list is made of
start() {
	ids=$((ids + 1))
	must clt_open x 2 list ext=1 features="$1" path=$ids sess=$ids
	must clt_map x "$disk"
	entries='' messages='' nr=0
}

stop() {
	must peer destroy all
	must srv_forgets list
}

# entry <slot> <offset of the header> <user message> <header>
entry() {
	entries=$entries$(le16 "$1")$(le16 $((${#3} / 2)))$(le32 "$2")
	messages=$messages$3$4
	nr=$((nr + 1))
}

# read_of <slot> <sector> [<bytes of room>]: 512 bytes, to where this slot's go in the buffer
read_of() {
	local usr room="${3:-$LEN}"
	usr=$(rnbd_io "$clt_dev" "$2" 0x100 $LEN)
	entry "$1" $((room + 32)) "$usr" "$(hdr_read 32 0 "$(desc "$(addr_add "$buf_addr" $(($1 * LEN)))" "$buf_key" $LEN)")"
}

flush_of() {
	entry "$1" 32 "$(rnbd_io "$clt_dev" 0 0x2 0)" "$(hdr_read 32 0)"
}

# list [<type>] [<number>] [<length>]: as hexadecimal digits
list() {
	local len=$((8 + (${#entries} + ${#messages}) / 2))
	printf '%s%s%s%s%s' "$(le16 "${1:-5}")" "$(le16 "${2:-$nr}")" "$(le32 "${3:-$len}")" "$entries" "$messages"
}

# send_list <con> <slot> [<hex>] [<offset>]: in the chunk of this slot
send_list() {
	REQ_TYPE=15
	clt_put "$1" "$2" "${4:-$LEN}" "${3:-$(list)}" "${4:-$LEN}"
	REQ_TYPE=0
}

# answers <con> <immediate>...: these, in whatever order, and no more; data are not told
answers() {
	local con="$1" left ev imm
	shift
	left=$#
	said=$(
		while [ "$left" -gt 0 ]; do
			ev=$(peer_next "$con")
			imm=${ev##*imm=0x}
			echo "${imm%% *}"
			left=$((left - 1))
		done | sort | tr '\n' ' '
	)
	is "${said% }" "$*" && says_nothing "$con" 300
}

# sector_is <slot> <sector>: the slot's read has brought it
sector_is() {
	is "$(peer get x_buf $(($1 * LEN)) $LEN)" "$(dd if="$disk" bs=$LEN skip="$2" count=1 iflag=direct status=none |
		od -An -v -tx1 | tr -d ' \n')"
}

several() {
	read_of 1 8 && read_of 4 3 && read_of 0 5 && send_list x1 1 && answers x1 10000000 10000001 10000004 &&
		sector_is 1 8 && sector_is 4 3 && sector_is 0 5
}

one() {
	read_of 2 7 && send_list x1 2 && answers x1 10000002 && sector_is 2 7
}

with_flush() {
	read_of 1 9 && flush_of 2 && send_list x1 1 && answers x1 10000001 10000002 && sector_is 1 9
}

# Its list is in a chunk whose slot is none of the list's.
elsewhere() {
	read_of 1 2 && read_of 2 4 && send_list x1 3 && answers x1 10000001 10000002 && sector_is 1 2 && sector_is 2 4
}

# At the end of the chunk, with no byte behind it.
at_the_end() {
	local hex
	read_of 1 6 && read_of 2 1 && hex=$(list) && send_list x1 1 "$hex" $((SRV_CHUNK - ${#hex} / 2)) &&
		answers x1 10000001 10000002 && sector_is 1 6 && sector_is 2 1
}

# One of them cannot be: 513 bytes for 512 bytes of room; -22.
one_wrong() {
	read_of 1 1 && read_of 2 2 511 && read_of 3 3 && send_list x1 1 &&
		answers x1 10000001 10000003 "$(printf '1%07x' $((22 << 19 | 2)))" && sector_is 1 1 && sector_is 3 3
}

# The service connection's answers come from a worker of their own.
on_service() {
	read_of 1 4 && read_of 2 5 && send_list x0 1 && answers x0 10000001 10000002 && sector_is 1 4 && sector_is 2 5
}

# all_again: each slot works
all_again() {
	local slot=0
	while [ $slot -lt $SRV_QD ]; do
		clt_write x1 $slot "$(rnbd_close 99)" && next_is x1 "$(printf 'recv op=write len=0 imm=0x1%07x' $slot)" ||
			return 1
		slot=$((slot + 1))
	done
}

works() {
	local name="$1"
	shift
	entries='' messages='' nr=0
	check_here "$mode: $name" "$@"
}

# breaks <name> <command>...: on a path of its own, which is closed
breaks() {
	local name="$1"
	shift
	start "$features"
	check_here "$mode: $name: closed" closed_by "$@"
	stop
}

closed_by() {
	"$@" && wait_closed
}

# Answers to those before it may come first.
wait_closed() {
	local ev tries=0
	while [ $tries -lt 4 ]; do
		ev=$(peer_next x1)
		[ "$ev" != disconnected ] || return 0
		is "$ev" 'recv op=write len=* imm=0x1*' || return 1
		tries=$((tries + 1))
	done
	return 1
}

two() {
	read_of 1 8
	read_of 2 3
}

# broken <type> <number> <length>: two good reads, and another head
broken() {
	two
	send_list x1 1 "$(list "$@")"
}

# cut_list <bytes>: so many are missing, which the head knows of
cut_list() {
	local hex
	two
	hex=$(list '' '' $((8 + (${#entries} + ${#messages}) / 2 - $1)))
	send_list x1 1 "${hex%"$(printf "%0$((2 * $1))d" 0 | tr 0 '?')"}"
}

behind_the_end() {
	local hex
	two
	hex=$(list)
	send_list x1 1 "$(hex_at "$hex" 0 64)" $((SRV_CHUNK - 64))
}

with_write() {
	read_of 1 8
	entry 2 544 "$(rnbd_io "$clt_dev" 0 0x101 $LEN)" "$(hdr_write 32)"
	send_list x1 1
}

other_usr_len() {
	entry 1 544 "$(rnbd_io "$clt_dev" 0 0x100 $LEN)" "$(hdr_read 31 0 "$(desc "$buf_addr" "$buf_key" $LEN)")"
	send_list x1 1
}

slot_twice() {
	clt_dev=$slow_id
	read_of 1 8
	clt_dev=$clt_dev_fast
	read_of 1 9
	send_list x1 1
}

slot_beyond() {
	read_of 1 8
	read_of $SRV_QD 9
	send_list x1 1
}

offset_beyond() {
	read_of 1 8 $((SRV_CHUNK - 32))
	send_list x1 2
}

list_beyond() {
	two
	clt_put x1 1 0 "$(list)" 0 && peer post x1 write-imm imm="$(printf 0xf%07x $((SRV_QD << SRV_MEM_BITS)))"
}

busy_slot() {
	clt_write x1 3 "$(rnbd_io "$slow_id" 0 0x101 512)" "$(bytes 512 a3)" || return 1
	read_of 1 8
	read_of 3 9
	send_list x1 1
}

# with_slow <command>: with another disk, which takes a second
with_slow() {
	clt_dev_fast=$clt_dev
	peer free x_buf >/dev/null
	clt_map x "$slow" || return 1
	slow_id=$clt_dev clt_dev=$clt_dev_fast
	"$@"
}

ignored() {
	kmsg_mark
	two
	send_list x1 1 && all_sent x1 && wait_for 5 kmsg_has 'message of unknown type 15 ignored' && all_again
}

suite() {
	start "$features"
	check_here "$mode: taken up" is "$(hex_at "$clt_rsp" 22 2)" "$(le16 "$features")"
	works "three reads in one message" several
	works "a single one" one
	works "a read and a flush" with_flush
	works "in the chunk of a slot that has none of them" elsewhere
	works "at the very end of a chunk" at_the_end
	works "one of three is wrong, and is told so" one_wrong
	works "on the service connection" on_service
	works "each slot is free again" all_again
	stop
}

ktap_plan 36
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
disk=$(backing_null 16) || abort "no backing device"
must dd if=/dev/urandom of="$disk" bs=4k count=16 oflag=direct status=none
slow=$(backing_null 16 irqmode=2 completion_nsec=1000000000 hw_queue_depth=1 submit_queues=1) || abort "no slow disk"
must sysfs_write "$(queue_attr "$slow" scheduler)" none

mode=N
wire_server N
features=16
suite
breaks "another type" broken 4 2
breaks "no request" broken 5 0
breaks "17 requests" broken 5 17
breaks "three that are two" broken 5 3
breaks "one that is two" broken 5 1
breaks "longer than a list may be" broken 5 2 2049
breaks "shorter than its table" broken 5 2 23
breaks "a byte is missing" cut_list 1
breaks "a header is missing" cut_list 24
breaks "it ends behind the chunk" behind_the_end
breaks "a WRITE" with_write
breaks "a user message of another length" other_usr_len
breaks "a slot twice" with_slow slot_twice
breaks "a slot that is not there" slot_beyond
breaks "an offset behind the chunk" offset_beyond
breaks "in the chunk of a slot that is not there" list_beyond
breaks "a slot that waits for its answer" with_slow busy_slot
start 4
check_here "N: not taken up: no request" ignored
stop
must module_gone rnbd-server rtrs-server

mode=Y
wire_server Y
srv_mode=N	# answers have no keys
features=18
suite

ktap_end
