#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network holds writes back for longer than the client waits for them: they are
# sent again over the other path and answered, the blocks are written once more, and
# only then the old packets arrive. The blocks have to keep what was written last,
# also when the session was lost in between, and the writes had failed, or waited until it
# was back. Extension FENCE is what sees to it (Documentation/protocol/extensions.rst).
#
# vm: smp=1 timeout=300 tier=test quick=6.12

. "$(dirname "$0")/../lib.sh"

# Rounds, and how many writes each has. One of two goes over the path that holds it back.
GHOST_ROUNDS=${GHOST_ROUNDS:-3}
GHOST_LOST_ROUNDS=${GHOST_LOST_ROUNDS:-1}
GHOST_WAIT_ROUNDS=${GHOST_WAIT_ROUNDS:-1}
WRITES=32

# Longer than the loss of a path takes to notice, and to write the blocks again; not so long that the
# server misses the client by itself.
HOLD_S=5

# hold <n>: RDMA WRITEs of the client and its connect messages take so much longer over network n. Acknowledges pass, else the server notices as well and closes the path. At byte 28, behind
# the headers of IPv4 and UDP, is the opcode: 0x06 to 0x0b is a WRITE, 0x64 a datagram.
hold() {
	local dev="sp$1" held="flowid 1:2"
	tc qdisc add dev "$dev" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc qdisc add dev "$dev" parent 1:2 handle 20: netem delay ${HOLD_S}s limit 100000 &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x06 0xfe at 28 $held &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x08 0xfc at 28 $held &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x64 0xff at 28 $held
}

# let_go <n>: undo hold, and drop what is left
let_go() {
	tc qdisc del dev "sp$1" root
}

# arrived <n>: packets that have left the network's delay
arrived() {
	tc -s qdisc show dev "sp$1" | sed -n '/netem/,$s/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'
}

# block_write <byte>: each of the blocks, one request each
block_write() {
	fio --name=ghost --filename="$dev" --direct=1 --ioengine=libaio --iodepth=$WRITES \
		--rw=randwrite --bs=4k --size=$((4 * WRITES))k \
		--buffer_pattern=0x"$1" --output-format=terse >/dev/null 2>&1
}

# ghosts: blocks on the server's disk that are not all 0x22
ghosts() {
	dd if="$back" bs=4k count=$WRITES iflag=direct status=none | od -An -v -tx1 -w4096 |
		grep -vc '^\( 22\)*$'
}

# still_held: none of the first writes has arrived
still_held() {
	[ "$(arrived 1)" -eq 0 ] || {
		echo "the first write was slower than the network"
		return 1
	}
}

# late_writes: 11 is written, held back on path 1, and sent again; then 22
late_writes() {
	local before
	hold 1 || return 1
	before=$(failovers ghosts)
	block_write 11 || {
		echo "the first write failed"
		return 1
	}
	taken=$(($(failovers ghosts) - before))
	last_ms=$(uptime_ms)
	block_write 22 && still_held
}

# lost_writes: 11 is held back on path 1, there is no other, and it fails; path 2 is back, and 22 goes
# over that
lost_writes() {
	sysfs_write "$(path_dir ghosts 2)/disconnect" 1 && hold 1 || return 1
	! block_write 11 || {
		echo "the first write did not fail"
		return 1
	}
	last_ms=$(uptime_ms)
	sysfs_write "$(path_dir ghosts 2)/reconnect" 1 && wait_for 10 dev_is "$dev" open || {
		echo "the disk did not come back"
		return 1
	}
	block_write 22 && still_held
}

# wait_writes: 11 is held back on path 1, there is no other, and it waits; path 2 is back, and 11 and then
# 22 go over that
wait_writes() {
	local pid
	sysfs_write "$(path_dir ghosts 2)/disconnect" 1 && hold 1 || return 1
	block_write 11 &
	pid=$!
	wait_for 10 dev_is "$dev" closed || {
		echo "the session is not lost"
		return 1
	}
	last_ms=$(uptime_ms)
	sysfs_write "$(path_dir ghosts 2)/reconnect" 1
	wait $pid || {
		echo "the first write failed"
		return 1
	}
	block_write 22 && still_held
}

# no_path_timeout <seconds>
no_path_timeout() {
	sysfs_write "/sys/block/$(basename "$dev")/rnbd/no_path_timeout" "$1"
}

# old_ones_arrive: all that was held back, and what it causes on the disk
old_ones_arrive() {
	until [ "$(uptime_ms)" -gt $((last_ms + HOLD_S * 1000 + 500)) ]; do
		sleep 0.1
	done
	[ "$(arrived 1)" -ge $((WRITES / 3)) ] || {
		echo "only $(arrived 1) packets have arrived"
		return 1
	}
}

# round <function> <name>
round() {
	check_here "$2: written again while the old ones are held back" "$1"
	check "$2: they arrive" old_ones_arrive
	check_eq "$2: blocks that an old write has changed" "$(ghosts)" 0
	must let_go 1
	must wait_for 40 path_is ghosts 1 connected
	must wait_for 40 path_is ghosts 2 connected
}

ktap_plan $((3 * (GHOST_ROUNDS + GHOST_LOST_ROUNDS + GHOST_WAIT_ROUNDS) + 2))
requires fio
topo_up 2
topo_is_ours
modprobe -a sch_prio cls_u32 || skip_all "needs sch_prio, cls_u32"
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
# A path is to be found dead late, while it has writes.
dev=$(map_device ghosts "$back" hb_interval_ms=5000 ack_timeout_ms=536 retry_count=3) || abort "cannot map"
must sess_paths_are ghosts 2
must sysfs_write $CLT_CLASS/ghosts/mpath_policy round-robin
echo 2 >"/sys/block/$(basename "$dev")/queue/nomerges"

taken=0 sum=0 n=1
while [ $n -le "$GHOST_ROUNDS" ]; do
	round late_writes "round $n"
	sum=$((sum + taken))
	n=$((n + 1))
done
diag "$sum writes were sent again"
check "half of the writes were sent again" [ $sum -ge $((GHOST_ROUNDS * WRITES / 3)) ]
n=1
while [ $n -le "$GHOST_WAIT_ROUNDS" ]; do
	round wait_writes "session lost, writes wait, round $n"
	n=$((n + 1))
done
must no_path_timeout 0
n=1
while [ $n -le "$GHOST_LOST_ROUNDS" ]; do
	round lost_writes "session lost, round $n"
	n=$((n + 1))
done
check "unmap" unmap_device "$dev"
ktap_end
