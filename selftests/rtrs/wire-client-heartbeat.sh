#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Heartbeats of our client (protocol 8): one every 5 s as long as they are answered,
# one and no more while they are not, and 30 to 35 s after the last sign of life the
# path is given up. One that beats faster does not give up a server without extensions
# while that owes an answer on the service connection. The server is the scripted peer.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

HB_MSG=0x80000000 HB_ACK=0x90000000

# beats: three HB_MSG, 5 s from each other; the first is answered
beats() {
	local nr=0 start now
	while [ $nr -lt 3 ]; do
		is "$(peer wait w0 9000)" "recv op=write len=0 imm=$HB_MSG" || return 1
		peer recv w0 1 0
		peer post w0 write-imm imm=$HB_ACK
		now=$(uptime_ms)
		[ $nr -eq 0 ] || {
			diag "after $((now - start)) ms"
			[ $((now - start)) -ge 4000 ] && [ $((now - start)) -le 7500 ] || return 1
		}
		start=$now nr=$((nr + 1))
	done
}

# dies_after <start> <least> <most> ms [<messages>]: so many HB_MSG came; without a number one in each of two silences,
# and no more, as it was not answered
dies_after() {
	local ev msgs=0 took
	while ev=$(peer wait w0 60000); do
		case $ev in
		*imm=$HB_MSG*)
			peer recv w0 1 0
			msgs=$((msgs + 1))
			;;
		disconnected) break ;;
		*)
			echo "unexpected '$ev'"
			return 1
			;;
		esac
	done
	took=$(($(uptime_ms) - $1))
	diag "disconnected after $took ms, $msgs HB_MSG"
	[ "$took" -ge "$2" ] && [ "$took" -le "$3" ] && is "$msgs" "${4:-2}"
}

# opens: up to OPEN, which is not answered yet
opens() {
	map_start wire
	psrv_connect w && psrv_serve w0 && psrv_take w0 && is "$req_usr" "$(rnbd_open /dev/wire)"
}

# stays <ms>: nothing is said meanwhile, on either side but for one heartbeat
stays() {
	is "$(peer wait w1 "$1")" timeout && is "$(cat $CLT_CLASS/wire/paths/*/state)" connected
}

ktap_plan 18
psrv_options=$PATIENT
psrv_setup

for psrv_mode in N Y; do
	must psrv_map w wire
	check_here "$psrv_mode: HB_MSG every 5 s" beats
	must sleep 20
	# Of no meaning, but a sign of life.
	must peer post w1 write-imm imm=0x30000000
	start=$(uptime_ms)
	check_here "$psrv_mode: silence is found out 30 to 35 s after the last message" dies_after "$start" 29000 37000
	check_here "$psrv_mode: the other connection is closed too" are_closed w1
	check_here "$psrv_mode: the disk is closed" wait_for 5 dev_is "$psrv_dev" closed
	psrv_gone w
	check_here "$psrv_mode: the client asks again" psrv_request w0
	check_eq "$psrv_mode: as a new attempt" "$(le_at "$conn_req" 10 2)" 2
	must peer destroy w0
	must unmap_device "$psrv_dev" force
done

# Beats of 0.2 s, and a server that reads one message of con 0 after the other.
psrv_mode=N
psrv_beats='hb_interval_ms=200 hb_missed_max=2'
must opens
check_here "it opens a disk for 3 s: the path stays" stays 3000
must psrv_done w0 -6
check_here "its answer is heard" map_fails ENXIO
psrv_gone w
must opens
start=$(uptime_ms)
check_here "it never answers: asked each second, 30 s later the path is given up" dies_after "$start" 28000 37000 '[23]?'
check_here "and the mapping" map_fails ECONNABORTED/ETIMEDOUT/ECONNRESET
psrv_gone w
must opens
start=$(uptime_ms)
must path_cut 1
check_here "its network is gone: the mapping fails" map_fails ECONNABORTED/ETIMEDOUT/ECONNRESET
check "soon" [ $(($(uptime_ms) - start)) -le 6000 ]
must path_heal 1

ktap_end
