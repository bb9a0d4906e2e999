#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory of large READs of our client (protocol 6, 7): the server is asked to
# invalidate its key, and whether it does, says so, or lies, the key opens nothing
# once the READ has ended. The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# More than the client copies, in one request.
BIG=139264
# So many of them one after the other take more receives than the client has.
MANY=32
HOLD_S=11
PSRV_CHUNK=200704 PSRV_SECTORS=$((MANY * BIG / 512)) PSRV_MAX_SECTORS=384

# reads <bytes> <number>: in the background
reads() {
	rm -f /tmp/wire.out
	io if="$psrv_dev" of=/tmp/wire.out bs="$1" count="$2" iflag=direct
}

# asks <bytes> <flags>: the request is taken
asks() {
	reads "$1" 1
	psrv_take w1 && is "$req_type $req_flags $req_sg $req_room" "3 $2 1 $1" &&
		is "$req_usr" "$(rnbd_io 3 0 0x100 "$1" '????')"
}

# answer <type> <errno>: completion alone, of the kind the server announced
answer() {
	psrv_complete w1 "$req_slot" "-$2" "$1"
}

data_arrived() {
	is "$(wc -c </tmp/wire.out), $(tr -d '\074' </tmp/wire.out | wc -c) of them others" \
		"$BIG, 0 of them others"
}

put_data() {
	peer fill mem"$req_slot" 0 $BIG 0x3c && psrv_data_of w1 $BIG
}

# good <name> <command>...: answered by it, the READ ends well, with its data
good() {
	local name="$1"
	shift
	check_here "$psrv_mode: $name" ends_well "$@"
}

ends_well() {
	asks $BIG 1 && put_data && "$@" && io_ends 0 && data_arrived
}

inv_and_answer() {
	peer post w1 send-inv inv="$req_key" && answer 2 "${1:-0}"
}

# Each completion takes two receives, and each of them is posted again.
many() {
	local nr=0
	reads $BIG $MANY
	while [ $nr -lt $MANY ]; do
		psrv_take w1 && is "$req_flags $req_room" "1 $BIG" && inv_and_answer || return 1
		nr=$((nr + 1))
	done
	io_ends 0 && all_sent w1
}

# key_is_dead: that of the last READ; trying it costs the path
key_is_dead() {
	refuses w1 peer post w1 write data=ff raddr=0x"$req_addr" rkey="$req_key" && are_closed w1 w0
}

again() {
	must unmap_device "$psrv_dev" force
	psrv_gone w
	must psrv_map w wire io=196608 hdr=4096
}

# Whatever the client makes of the lie: when the READ has ended, its memory is shut. If it gave up the
# path, nothing can be written at all. Trying it costs the path here too.
no_longer_writable() {
	asks $BIG 1 && put_data && "$@" && wait_for 15 [ -e /tmp/wire.io ] || return 1
	peer post w1 write data=ff raddr=0x"$req_addr" rkey="$req_key"
	is "$(peer sent w1 10000)" 'failed *' && are_closed w1 w0
}

# no_inv <fault point>: the server does not invalidate, and the client's attempt fails: the READ has been
# answered and ends as it was, but the path goes before its memory is used again
no_inv() {
	asks $BIG 1 && put_data && all_sent w1 && fault_arm "$1" && answer 1 0 && io_ends 0 && data_arrived &&
		fault_fired "$1" && are_closed w1 w0
}

other_key() {
	# The adapter may have stopped the queue pair by then.
	peer post w1 send-inv inv=$((req_key ^ 0x5500)) && { answer 2 0 || :; }
}

suite() {
	must psrv_map w wire io=196608 hdr=4096

	check_here "$psrv_mode: a small READ does not ask for it" asks 512 0
	must psrv_data_of w1 512
	must psrv_done w1 0
	check_here "$psrv_mode: and ends" io_ends 0
	good "SEND_WITH_INV, type 2" inv_and_answer
	good "the same again" inv_and_answer
	check_here "$psrv_mode: and $MANY times more" many
	check_here "$psrv_mode: the key opens nothing after that" key_is_dead
	again
	good "no SEND_WITH_INV, type 1: the client invalidates it" answer 1 0
	good "the same again" answer 1 0
	check_here "$psrv_mode: the key opens nothing after that" key_is_dead
	again
	check_here "$psrv_mode: READ that fails" asks $BIG 1
	check_here "$psrv_mode: with SEND_WITH_INV, type 2" inv_and_answer 5
	check_here "$psrv_mode: dd fails" io_ends 1 EIO
	check_here "$psrv_mode: the key opens nothing after that" key_is_dead
	again
	check_here "$psrv_mode: type 2 without SEND_WITH_INV: not believed" no_longer_writable answer 2 0
	again
	check_here "$psrv_mode: SEND_WITH_INV of another key: not taken for it" no_longer_writable other_key
	again
	check_here "$psrv_mode: it works on" asks $BIG 1
	must put_data
	must inv_and_answer
	check_here "$psrv_mode: to the end" io_ends 0
	must psrv_unmap w
	psrv_gone w
}

# no_room: a READ is not asked unless its invalidation has room too; so it is asked a little later
no_room() {
	fault_arm rtrs-core/sq_full && asks $BIG 1 && fault_fired rtrs-core/sq_full && put_data && answer 1 0 &&
		io_ends 0 && data_arrived && key_is_dead
}

# late: room is reserved for longer than a queue may stand still that has something to do
late() {
	asks $BIG 1 && sleep $HOLD_S && put_data && answer 1 0 && io_ends 0 && data_arrived && key_is_dead
}

ktap_plan 38
psrv_setup

psrv_mode=N
suite
psrv_mode=Y
suite

# An invalidation of the client's own that cannot be had. A heartbeat must not run into the fault first, nor what the
# watch over send queues posts to have the completion of sends that have asked for none.
psrv_beats='hb_interval_ms=60000 hb_missed_max=5'
must sysfs_write /sys/module/rtrs_core/parameters/selective_signal N
must psrv_map w wire io=196608 hdr=4096
for point in rtrs-core/post_send rtrs-client/inv_failed; do
	check_here "$point, for the client's invalidation: the READ ends, and the path" no_inv $point
	again
done
check_here "no room in the send queue: it waits, and is not lost" no_room
again
check_here "answered after $HOLD_S s: its queue is not taken for a stuck one" late
must unmap_device "$psrv_dev" force
psrv_gone w
must sysfs_write /sys/module/rtrs_core/parameters/selective_signal Y

ktap_end
