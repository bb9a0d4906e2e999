#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension FENCE of our server, to the byte (Documentation/protocol/extensions.rst):
# what is taken up, a path that is closed over another one, and an answer that does not wait
# for the disk. What the disk still has of the closed path delays what touches the same blocks,
# and nothing else. The client is the scripted peer, the disk takes its time.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

SLOW_MS=2000

# taken_up <pattern> [<field of the request>=<number>...]: bytes 20 to 27 of the accept, after which
# only zeros come. Each time another path asks: the server may not have seen the end of the last one.
ids=90
taken_up() {
	local wanted="$1" answer
	shift
	ids=$((ids + 1))
	answer=$(clt_connect x path=$ids sess=$ids "$@")
	peer destroy x >/dev/null
	is "$answer" 'established *' || return 1
	answer=${answer#* }
	is "$(hex_at "$answer" 20 8)" "$wanted" && is "$(hex_at "$answer" 28 28)" "$(bytes 28)"
}

# fenced_path <path> <name of the session> [<field>=<number>...]: with two connections; sets
# <path>_id
fenced_path() {
	local path="$1" name="$2"
	shift 2
	clt_open "$path" 2 "$name" "$@" ext=1 features=1 || return 1
	eval "${path}_id=$(le_at "$clt_rsp" 24 4)"
}

# fence <con> <number of a path>
fence() {
	peer post "$1" write-imm imm="$(printf '0xa%07x' "$2")"
}

# fenced <con> <number of a path>: the answer, and nothing else before
fenced() {
	next_is "$1" "$(printf 'recv op=write len=0 imm=0xb%07x' "$2")"
}

# write_to <con> <slot> <sector> <byte>: on its way to the disk, which takes SLOW_MS
write_to() {
	clt_write "$1" "$2" "$(rnbd_io "$clt_dev" "$3" 0x101 512)" "$(bytes 512 "$4")"
}

# answered_within <start> <least ms> <most ms> <con> <slot>
answered_within() {
	local took
	rsp_is "$4" "$5" 0 || return 1
	took=$(($(uptime_ms) - $1))
	[ $took -ge "$2" ] && [ $took -lt "$3" ] || {
		echo "answered after $took ms"
		return 1
	}
}

# orphans <number>: requests of closed paths that the disk has
orphans() {
	is "$(cat "$SRV_CTL/devices/${back#/dev/}/orphans")" "$1"
}

# sector_is <sector> <byte>: on the disk
sector_is() {
	is "$(dd if="$back" bs=512 count=1 skip="$1" iflag=direct status=none | od -An -v -tx1 |
		tr -d ' \n')" "$(bytes 512 "$2")"
}

over_an_io_connection() {
	kmsg_mark
	fence b1 "$c_id" && says_nothing b1 && says_nothing b0 &&
		kmsg_has 'message of unknown type 10 ignored'
}

without_the_extension() {
	kmsg_mark
	fence e0 1 && says_nothing e0 && kmsg_has 'message of unknown type 10 ignored'
}

ktap_plan 43
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16 irqmode=2 completion_nsec=$((SLOW_MS * 1000000))) || abort "no backing device"
wire_server Y

check_here "nothing offered: nothing taken up" taken_up 0000000000000000
check_here "FENCE offered: version 1, FENCE, a number of 28 bits" taken_up '01000100??????0?' ext=1 features=1
check_here "version 0 offers nothing" taken_up 0000000000000000 features=1
check_here "what is not known is not taken up" taken_up '0100ff03??????0?' ext=1 features=0xffff
check_here "nothing is known of what is offered: nothing taken up" taken_up 0000000000000000 ext=1 features=0xfc00
check_here "a later version is as good" taken_up '01000100??????0?' ext=255 features=1

check_here "first path" fenced_path a fences path=1 sess=1
must clt_map a "$back"
CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2
check_here "second path" fenced_path b fences path=2 sess=1
check_here "another number" [ "$a_id" -ne "$b_id" ]
start=$(uptime_ms)
must write_to a1 1 1 5a
must fence b0 "$a_id"
check_here "the first one is to be closed, over the second: it is" are_closed a0 a1
check_here "done" fenced b0 "$a_id"
check_here "at once, though the disk has its request" [ $(($(uptime_ms) - start)) -lt $((SLOW_MS - 500)) ]
check_here "which the server counts" orphans 1
must clt_write b1 2 "$(rnbd_close 99)"
check_here "the other one answers meanwhile" rsp_is b1 2 0
again=$(uptime_ms)
must write_to b1 1 7 5b
must write_to b1 3 1 66
check_here "other blocks, with the same slot: no longer than the disk takes" \
	answered_within "$again" $((SLOW_MS - 100)) $((SLOW_MS + 500)) b1 1
check_here "the same blocks: after the one that is left" \
	answered_within "$start" $((2 * SLOW_MS - 200)) $((2 * SLOW_MS + 1000)) b1 3
check_here "none is left" orphans 0
check_here "the disk has what was answered last" sector_is 1 66
check_here "and the other block" sector_is 7 5b
must peer destroy a0
must peer destroy a1
check_here "the other path works" clt_works b

must fence b0 "$a_id"
check_here "a path that is gone: done" fenced b0 "$a_id"
must fence b0 0x0123456
check_here "a number that never was: done" fenced b0 0x0123456
must peer post b0 write-imm imm="$(printf '0xa%07x' "$a_id")" nr=3
check_here "asked several times: answered" fenced b0 "$a_id"
until says_nothing b0 >/dev/null; do :; done

CLT_ADDR=10.1.0.1 SRV_ADDR=10.1.0.2
check_here "the first path comes again" fenced_path a fences path=1 sess=1 recon=2
start=$(uptime_ms)
must write_to a1 2 2 77
must fence b0 "$a_id"
check_here "closed while the disk has its request" are_closed a0 a1
check_here "done" fenced b0 "$a_id"
must peer destroy a0
must peer destroy a1
check_here "it comes again" fenced_path a fences path=1 sess=1 recon=3
check_here "before the request has ended" [ $(($(uptime_ms) - start)) -lt $((SLOW_MS - 300)) ]
check_here "the request is still there" orphans 1
check_here "it ends" wait_for 5 orphans 0
must fence b0 "$a_id"
check_here "an idle path: closed" are_closed a0 a1
check_here "done" fenced b0 "$a_id"
must peer destroy a0
must peer destroy a1

# Not those of others.
check_here "another session" fenced_path c other path=5 sess=5
must fence b0 "$c_id"
check_here "its path: done, as for one that is not there" fenced b0 "$c_id"
check_here "which is not closed" clt_works c
check_here "asked over an I/O connection: ignored" over_an_io_connection
check_here "which is not closed" clt_works c
must peer destroy all
check_here "gone" srv_forgets other
check_here "gone" srv_forgets fences

check_here "a client without the extension" clt_open e 2 plain path=7 sess=7
check_here "asks nevertheless: ignored" without_the_extension
must peer destroy all
must srv_forgets plain

# Itself.
must fenced_path a self path=8 sess=8
kmsg_mark
must fence a0 "$a_id"
check_here "the path that carries the question: closed" are_closed a0 a1
check_here "which the server says" kmsg_has 'wants this path closed over itself'

ktap_end
