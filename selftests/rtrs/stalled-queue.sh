#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A send queue that does not move: as long as the adapter may still send again, however
# long the session lets it, nobody gives the path up; one that never moves again is
# found out, and told. First our client, whose packets are lost for a while; then both sides in turn,
# with more in flight than a narrow network carries in the time a queue may stand still; then our server,
# whose peer, a script, is slow to connect, and then has no receive for what it sends: by the protocol that is tried
# again for ever.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# Attempts of 2 s, seven of them; a send queue may stand still for 6 s without.
SLOW_RETRIES="hb_interval_ms=5000 hb_missed_max=10 ack_timeout_ms=2000 retry_count=6"
HOLD_S=11
# The server's, eight of them, are of 0.54 s; it looks once a second.
LEAST_MS=8500 MOST_MS=14000
HB_MSG=0x80000000 RECEIVES=64
# What is in flight takes 19 s, much longer than a queue may stand still, and shorter than a request may take.
NARROW=10mbit IN_FLIGHT=24 REQUEST=1000k NARROW_S=30

# lose_all_but_acks <n>: on the way to the server. At byte 28, behind the headers of IPv4 and
# UDP, is the opcode, 0x11 for an acknowledgement; without these the server would find out first.
lose_all_but_acks() {
	local dev="sp$1"
	tc qdisc add dev "$dev" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		tc qdisc add dev "$dev" parent 1:2 handle 20: netem loss 100% limit 100000 &&
		tc filter add dev "$dev" parent 1: prio 1 protocol ip u32 match u16 4791 0xffff at 22 \
			match u8 0x11 0xff at 28 flowid 1:1 &&
		tc filter add dev "$dev" parent 1: prio 2 protocol ip u32 match u16 4791 0xffff at 22 flowid 1:2
}

stands_still() {
	is "$(cat "$dir/state") $(path_stat still 1 5)" "connected 1"
}

# never_moves: answers to more heartbeats than there are receives; until the server closes
never_moves() {
	local start ev answers=0 took
	start=$(uptime_ms)
	peer post a0 write-imm imm=$HB_MSG nr=$((RECEIVES + 16)) && all_sent a0 || return 1
	while ev=$(peer wait a0 60000); do
		[ "$ev" != disconnected ] || break
		answers=$((answers + 1))
	done
	took=$(($(uptime_ms) - start))
	echo "$answers answers, closed after $took ms"
	[ "$ev" = disconnected ] && [ $answers -eq $RECEIVES ] && [ $took -ge $LEAST_MS ] && [ $took -le $MOST_MS ]
}

# slow_handshake: it takes longer than a queue may stand still; what is sent right after asks for no completion
slow_handshake() {
	clt_connect_all b 2 && sleep $((MOST_MS / 1000)) && clt_exchange b 2 slow &&
		clt_write b1 1 "$(rnbd_close 99)" && rsp_is b1 1 0 && is "$(peer wait b1 $((HOLD_S * 1000)))" timeout
}

# slow_but_moves <read|write>: nothing fails, no path is lost, and none is complained about
slow_but_moves() {
	local dir status
	dir=$(path_dir narrow 1)
	kmsg_mark
	path_netem 1 rate $NARROW || return 1
	fio --name=narrow --filename="$dev" --direct=1 --ioengine=libaio --rw="$1" --bs=$REQUEST --iodepth=$IN_FLIGHT \
		--size=16M --time_based --runtime=$NARROW_S
	status=$?
	path_heal 1
	[ $status -eq 0 ] && is "$(path_stat narrow 1 6) $(cat "$dir/state") $(kmsg_since | grep rtrs)" "0 connected "
}

ktap_plan 11
topo_up 1
topo_is_ours
modprobe -a sch_prio cls_u32 || skip_all "needs sch_prio, cls_u32"
peer_load
defer rtrs_unload
rtrs_load
back=$(backing_null 16) || abort "no backing device"
# shellcheck disable=SC2086 # several options
dev=$(map_device still "$back" $SLOW_RETRIES) || abort "cannot map"
dir=$(path_dir still 1)
kmsg_mark
must lose_all_but_acks 1
defer "tc qdisc del dev sp1 root 2>/dev/null || :"
dd if=/dev/zero of="$dev" bs=4k count=1 oflag=direct status=none &
pid=$!
sleep $HOLD_S
check_here "a write is under way, its path is up after $HOLD_S s" stands_still
must tc qdisc del dev sp1 root
wait $pid
check_eq "it ends well" $? 0
check_eq "no path was lost" "$(path_stat still 1 6) $(cat "$dir/state")" "0 connected"
check_eq "nobody complained" "$(kmsg_since | grep -c 'rtrs')" 0
must unmap_device "$dev"
must rtrs_unload

# Many slots, and so few completions, and large requests.
RTRS_SERVER_OPTS="sess_queue_depth=128 max_chunk_size=1048576"
rtrs_load
dev=$(map_device narrow "$back" hb_interval_ms=5000 hb_missed_max=10 ack_timeout_ms=500 retry_count=6) || abort "cannot map"
check "answers that take long: the path stays" slow_but_moves read
check "requests that take long: the path stays" slow_but_moves write
must unmap_device "$dev"
must rtrs_unload

wire_server N
check_here "a handshake that took long is not counted" slow_handshake
must peer destroy all
must srv_forgets slow
must clt_open a 2 still
kmsg_mark
check_here "a queue that never moves: closed" never_moves
check "for that reason" eval "kmsg_since | grep -q 'closed: send queue of connection 0 does not move'"
check_here "the other connection too" are_closed a1
check_here "the session is gone" srv_forgets still

ktap_end
