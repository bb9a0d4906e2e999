#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension REQ_STATE of our server, to the byte (Documentation/protocol/extensions.rst): where the request of a slot
# is. The client is the scripted peer, the disk takes its time.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

SLOW_MS=3000
NONE=0 RECEIVED=1 ULP=2

# ask <con> <slot> <tag>
ask() {
	peer post "$1" write-imm imm="$(printf '0x%08x' $((5 << 28 | $2 << 12 | $3)))"
}

# told <con> <slot> <state> <seconds or tag>: the answer, and nothing else before
told() {
	next_is "$1" "$(printf 'recv op=write len=0 imm=0x%08x' $((6 << 28 | $2 << 12 | $3 << 9 | $4)))"
}

# asked <con> <slot> <tag> <state> <value>
asked() {
	ask "$1" "$2" "$3" && told "$1" "$2" "$4" "$5"
}

# slow_write <con> <slot>: on its way to the disk
slow_write() {
	clt_write "$1" "$2" "$(rnbd_io "$clt_dev" "$2" 0x101 512)" "$(bytes 512 5a)"
}

# with_it <slot>: with the disk for some seconds, whichever
with_it() {
	ask a0 "$1" 0 && next_is a0 "$(printf 'recv op=write len=0 imm=0x6%04x40' "$1")[0-3]"
}

without_the_extension() {
	kmsg_mark
	ask e0 1 5 && says_nothing e0 && ask e1 1 5 && says_nothing e1 && kmsg_has 'message of unknown type 5 ignored'
}

ktap_plan 25
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16 irqmode=2 completion_nsec=$((SLOW_MS * 1000000))) || abort "no backing device"
wire_server N

must clt_open a 2 states path=1 sess=1 ext=1 features=0x81
check_eq "taken up" "$(le_at "$clt_rsp" 22 2)" $((0x81))
must clt_map a "$back"
check_here "no request in the slot: the tag comes back" asked a0 1 $((0x155)) $NONE $((0x155))
check_here "on the connection of the question" asked a1 1 $((0x1ff)) $NONE $((0x1ff))
check_here "what is reserved is not looked at" asked a0 2 $((0xe07)) $NONE 7
check_here "the last slot" asked a0 $((SRV_QD - 1)) 1 $NONE 1

must slow_write a1 1
check_here "with the disk" with_it 1
check_here "asked on its own connection" asked a1 1 3 $ULP 0
check_here "the slot beside it" asked a0 2 3 $NONE 3
kmsg_mark
sleep 2
check_here "with the disk still" with_it 1
check "which the server says" kmsg_has 'request of session states has been with the disk for [1-3] s'
check_here "then it is answered" rsp_is a1 1 0
check "which the server says" kmsg_has 'the disk answers session states again, after [1-3] s'
check_here "and gone" asked a0 1 9 $NONE 9
check_here "an empty request" clt_write a1 3 "$(rnbd_close 99)"
must ask a1 3 4
check_here "its answer comes first" rsp_is a1 3 0
check_here "then that it is gone" told a1 3 $NONE 4

# The same slot over another path: it waits for its turn.
CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2
must clt_open b 2 states path=2 sess=1 ext=1 features=0x81
must slow_write a1 1
must slow_write b1 1
check_here "behind another one of its slot" asked b0 1 3 $RECEIVED 0
check_here "the first one is with the disk" with_it 1
check_here "answered" rsp_is a1 1 0
check_here "the second one too" rsp_is b1 1 0

kmsg_mark
must ask b0 $SRV_QD 1
check_here "a slot that is not there: closed" are_closed b0 b1
check "which the server says" kmsg_has "client asks for the request of slot $SRV_QD, there are $SRV_QD"
check_here "the other path works" clt_works a
must peer destroy all
must srv_forgets states

CLT_ADDR=10.1.0.1 SRV_ADDR=10.1.0.2
check_here "a client without the extension" clt_open e 2 plain path=7 sess=7
check_here "asks nevertheless: ignored" without_the_extension
must peer destroy all

ktap_end
