#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network holds writes back for longer than the client waits for them: they are
# sent again over the other path and answered, the blocks are written once more, and
# only then it lets the old packets go. The blocks have to keep what was written last,
# also when the session was lost in between, and the writes had failed, or waited until it
# was back. Extension FENCE is what sees to it (Documentation/protocol/extensions.rst).
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

# Rounds, and how many writes each has. One of two goes over the path that holds it back.
GHOST_ROUNDS=${GHOST_ROUNDS:-3}
GHOST_LOST_ROUNDS=${GHOST_LOST_ROUNDS:-1}
GHOST_WAIT_ROUNDS=${GHOST_WAIT_ROUNDS:-1}
WRITES=32

# A path is to be found dead late, while it has writes.
GHOST_OPTIONS=${GHOST_OPTIONS-hb_interval_ms=5000 ack_timeout_ms=536 retry_count=3}

# More than can be sent meanwhile: nothing is dropped.
HOLD_BYTES=16777216

# hold <n>: RDMA WRITEs of the client do not get over network n until they are released, its connect
# messages not at all: what ends a connection must not come right behind the writes. Acknowledges pass, else
# the server notices as well and closes the path. At byte 28, behind the headers of IPv4 and UDP, is the
# opcode: 0x06 to 0x0b is a WRITE, 0x64 a datagram.
hold() {
	local dev="sp$1"
	tc qdisc add dev "$dev" root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc qdisc add dev "$dev" parent 1:2 handle 20: plug limit $HOLD_BYTES &&
	tc qdisc add dev "$dev" parent 1:3 handle 30: plug limit $HOLD_BYTES &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x06 0xfe at 28 flowid 1:2 &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x08 0xfc at 28 flowid 1:2 &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x64 0xff at 28 flowid 1:3
}

# release <n>: the writes arrive, and new ones are not held any more
release() {
	tc qdisc change dev "sp$1" parent 1:2 handle 20: plug release_indefinite
}

# let_go <n>: undo hold
let_go() {
	tc qdisc del dev "sp$1" root
}

# held <n>: packets that wait to be released
held() {
	tc -s qdisc show dev "sp$1" | sed -n '/plug 20:/,/plug 30:/s/.* backlog [^ ]* \([0-9]*\)p.*/\1/p'
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

# still_held: the first writes, or enough of them
still_held() {
	[ "$(held 1)" -ge $((WRITES / 3)) ] || {
		echo "only $(held 1) packets are held back"
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
	sysfs_write "$(path_dir ghosts 2)/reconnect" 1
	wait $pid || {
		echo "the first write failed"
		return 1
	}
	block_write 22 && still_held
}

# nothing_held <n>
nothing_held() {
	[ "$(held "$1")" -eq 0 ]
}

# old_ones_arrive: all that was held back; half a second more for what it causes on the disk
old_ones_arrive() {
	release 1 && wait_for 10 nothing_held 1 && sleep 0.5
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
modprobe -a sch_prio sch_plug cls_u32 || skip_all "needs sch_prio, sch_plug, cls_u32"
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
dev=$(map_device ghosts "$back" $GHOST_OPTIONS) || abort "cannot map"
must sess_paths_are ghosts 2
must sysfs_write $CLT_CLASS/ghosts/mpath_policy round-robin
echo 2 >"$(queue_attr "$dev" nomerges)"

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
# Mainline has no such attribute: writes fail when the session is lost.
file=$(dev_attr "$dev" no_path_timeout)
[ ! -e "$file" ] || must sysfs_write "$file" 0
n=1
while [ $n -le "$GHOST_LOST_ROUNDS" ]; do
	round lost_writes "session lost, round $n"
	n=$((n + 1))
done
check "unmap" unmap_device "$dev"
ktap_end
