#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk of the server hangs while paths are lost. The server tears the paths down without it, the client
# connects again at once, and its other disk goes on. What the disk still has of lost paths is counted, and
# neither grows with each loss nor changes a block after a later write: such a write waits until it has
# ended, also where the first one has failed on the client.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

WRITES=32
ROUNDS=10

# hung_writes <byte>: to each of the blocks, one request each, in the background
hung_writes() {
	fio --name=hung --filename="$dev" --direct=1 --ioengine=libaio --iodepth=$WRITES --rw=write --bs=4k \
		--size=$((4 * WRITES))k --buffer_pattern=0x"$1" --output-format=terse >/tmp/hung.out 2>&1 &
	hung_pid=$!
}

# orphans: requests of lost paths that the disk has
orphans() {
	cat $SRV_CTL/devices/dm-*/orphans
}

orphans_are() {
	is "$(orphans)" "$1"
}

# server_loses <n>: path n is closed by the server
server_loses() {
	local dir
	for dir in "$SRV_CLASS"/test/paths/*@ip:10."$1".*; do
		sysfs_write "$dir/disconnect" 1 || return 1
	done
}

path_count() {
	cut -d ' ' -f 1 "$(path_dir test "$1")/stats/reconnects"
}

path_was_back() {
	[ "$(path_count "$1")" -gt "$2" ] && path_is test "$1" connected
}

# flaps: both paths are lost at once, again and again; $worst is the longest time in ms until both are back
flaps() {
	local round=0 start took one two
	worst=0
	while [ $round -lt $ROUNDS ]; do
		one=$(path_count 1) two=$(path_count 2)
		start=$(uptime_ms)
		server_loses 1 && server_loses 2 || return 1
		wait_for 20 path_was_back 1 "$one" && wait_for 20 path_was_back 2 "$two" || return 1
		took=$(($(uptime_ms) - start))
		[ $took -le $worst ] || worst=$took
		round=$((round + 1))
	done
	diag "$ROUNDS losses of all paths while the disk hangs: back after $worst ms at the most"
}

# under <ms> <limit>
under() {
	[ "$1" -lt $(($2 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "$1 ms"
		return 1
	}
}

# nothing_kept: the server has no memory of a lost path
nothing_kept() {
	! grep -q orphaned /sys/kernel/debug/rtrs-server/sessions
}

hung_ends() {
	! child_runs $hung_pid
}

# blocks_without <byte>: how many of the blocks on the server's disk are not full of it
blocks_without() {
	dd if="$hang_raw" bs=4k count=$WRITES iflag=direct status=none | od -An -v -tx1 -w4096 |
		grep -vc "^\( $1\)*$"
}

ktap_plan 25
requires fio dmsetup
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
good=$(backing_null 64) || abort "no backing device"
hanging_disk 64
defer "rm -f /tmp/hung.out"
dev=$(map_device test /dev/mapper/hang no_path_timeout=60) || abort "cannot map"
other=$(map_device test "$good" no_path_timeout=60) || abort "cannot map"
must sess_paths_are test 2
echo 2 >"$(queue_attr "$dev" nomerges)"

# Requests wait for the paths and are sent again, each time.
must disk_hangs
load_start "$other" 3600
hung_writes 11
check "the disk hangs" wait_for 5 child_runs $hung_pid
sleep 1
check_here "all paths are lost and come back" flaps
check "within a second" under "$worst" 1000
check "the disk has no more than the first losses left it" [ "$(orphans)" -le $((2 * WRITES)) ]
check "but those" [ "$(orphans)" -ge 1 ]
check "the other disk goes on" load_runs
check "the server lists what they keep" grep -q 'orphaned' /sys/kernel/debug/rtrs-server/sessions
must disk_answers
check "all requests end" wait_for 10 hung_ends
hung_status=0
wait $hung_pid || hung_status=$?
check_eq "without an error" "$hung_status" 0
check "nothing is left" wait_for 5 orphans_are 0
load_end
check_here "the other disk had no error" load_succeeded
check "and no request of a second" under "$(load_max_ms)" 1000
check_eq "blocks that are not what was written" "$(blocks_without 11)" 0
check "the server's memory of lost paths is free" \
	wait_for 5 nothing_kept

# Requests fail, since all paths are lost, and the blocks are written again.
must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 0
must disk_hangs
hung_writes 22
sleep 1
must disconnect_all test
check "the writes fail" wait_for 10 hung_ends
wait $hung_pid
check "with an error" [ $? -ne 0 ]
check "the disk has them" [ "$(orphans)" -eq $WRITES ]
must reconnect_all test
check "the disk is open again" wait_for 10 dev_is "$dev" open
hung_writes 33
sleep 2
check "writes of the same blocks wait" child_runs $hung_pid
check "the disk has those that failed" [ "$(orphans)" -eq $WRITES ]
must disk_answers
check "all requests end" wait_for 10 hung_ends
hung_status=0
wait $hung_pid || hung_status=$?
check_eq "without an error" "$hung_status" 0
check "nothing is left" wait_for 5 orphans_are 0
check_eq "blocks that an old write has changed" "$(blocks_without 33)" 0
check "unmap" unmap_device "$dev"
ktap_end
