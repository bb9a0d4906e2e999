#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Heartbeats of our server (protocol 8): sent every 5 s, answered at once, on con 0
# and as empty WRITE with immediate in both modes; any message is a sign of life;
# silence is found out after 30 to 35 s. And how long it waits for a handshake.
# The client is the scripted peer.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

HB_MSG=0x80000000 HB_ACK=0x90000000

# raw <con> <ms>: the next event, heartbeats too
raw() {
	peer wait "$1" "$2"
}

# comes <con> <imm> <ms>: an empty WRITE with this immediate is next
comes() {
	is "$(raw "$1" "$3")" "recv op=write len=0 imm=$2" && peer recv "$1" 1 8
}

# between <number> <least> <most>
between() {
	diag "took $1 ms"
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || {
		echo "$1 ms, wanted $2 to $3"
		return 1
	}
}

# beats <path>: three HB_MSG, 5 s from each other, each answered
beats() {
	local nr=0 start now
	comes "${1}0" $HB_MSG 9000 || return 1
	start=$(uptime_ms)
	while [ $nr -lt 2 ]; do
		peer post "${1}0" write-imm imm=$HB_ACK
		comes "${1}0" $HB_MSG 9000 || return 1
		now=$(uptime_ms)
		# Ticks are of a second.
		between $((now - start)) 4000 7500 || return 1
		start=$now nr=$((nr + 1))
	done
	peer post "${1}0" write-imm imm=$HB_ACK
}

# answers <path> <con>: HB_MSG on this one is answered on con 0, at once
answers() {
	peer post "$1$2" write-imm imm=$HB_MSG && comes "${1}0" $HB_ACK 2000
}

many_answers() {
	local nr=0
	peer post "${1}0" write-imm imm=$HB_MSG nr=20
	while [ $nr -lt 20 ]; do
		comes "${1}0" $HB_ACK 2000 || return 1
		nr=$((nr + 1))
	done
}

# dies_after <con> <start> <least> <most> <HB_MSG>: nothing but so many heartbeats until it is closed
dies_after() {
	local ev msgs=0
	while ev=$(raw "$1" 60000); do
		case $ev in
		*imm=$HB_MSG*) msgs=$((msgs + 1)) ;;
		disconnected) break ;;
		*)
			echo "unexpected '$ev'"
			return 1
			;;
		esac
	done
	between $(($(uptime_ms) - $2)) "$3" "$4" && is "$msgs" "$5"
}

# opens_again <path>: refused while the server is still closing the old one (protocol 2.6)
opens_again() {
	peer destroy all
	clt_open "$1" 2 beat
}

ktap_plan 16
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload

wire_server N
must clt_open a 2 beat
check_here "N: HB_MSG every 5 s, an empty WRITE with immediate" beats a
check_here "N: HB_MSG is answered with HB_ACK" answers a 0
must peer destroy all
must srv_forgets beat
must module_gone rnbd-server rtrs-server

wire_server Y
must clt_open a 2 beat
check_here "Y: HB_MSG every 5 s, an empty WRITE with immediate" beats a
check_here "Y: HB_MSG is answered with HB_ACK" answers a 0
check_here "HB_MSG on con 1 is answered on con 0" answers a 1
check_here "one answer for each" many_answers a
check_here "HB_ACK that nobody asked for is ignored" peer post a0 write-imm imm=$HB_ACK nr=3
check_here "HB_MSG with a payload is answered" peer post a0 write-imm imm=0x8fffffff
check_here "by a plain HB_ACK" comes a0 $HB_ACK 2000

# Silence, then one message of no meaning, then silence: counted from the last. In each silence there
# is one HB_MSG and no more, as it is not answered.
must sleep 20
must peer post a1 write-imm imm=0x30000000
last=$(uptime_ms)
check_here "silence is found out 30 to 35 s after the last message" dies_after a0 "$last" 29000 37000 2
check_here "the other connection is closed too" are_closed a1
check_here "the session is gone" srv_forgets beat
must peer destroy all

# Half a handshake (design: nothing waits for ever).
must clt_connect_all h 2
must peer recv h0 8 8
start=$(uptime_ms)
check_here "no INFO_REQ: closed after 30 s, no HB_MSG before" dies_after h0 "$start" 28000 35000 0
check_here "and the path can be made again" wait_for 5 opens_again h

# The next thing that the server sends.
must fault_arm rtrs-core/post_send
check_here "HB_MSG cannot be sent: closed" are_closed h0 h1
check_here "by no other reason" fault_fired rtrs-core/post_send

ktap_end
