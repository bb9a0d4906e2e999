#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the client is short of for a moment, DMA mappings, memory for registrations, room in send queues, slots, fails no
# request and costs no path: under a load whose data are verified, below a file system, with one path and nothing that
# waits for another one, and for a request that has to move.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

# Those that cost nothing but time.
POINTS='rtrs-client/dma_map rtrs-core/mr_map rtrs-core/sq_full rnbd-client/no_permit'
TIMES=20
LOST=rtrs-server/rsp_lost

# short_of <point>: again and again, each time for one request
short_of() {
	local i=0
	while [ $i -lt $TIMES ]; do
		fault_arm "$1" || return 1
		wait_for 10 fault_fired "$1" || {
			echo "nobody passed it after $i times"
			return 1
		}
		i=$((i + 1))
	done
}

# writer_start: files on the file system, each in its journal before the next
writer_start() {
	: >/tmp/transient.writes
	while [ -e /tmp/transient.writes ]; do
		dd if=/dev/zero of=/tmp/mnt/file bs=4k count=4 conv=fsync status=none || exit 1
		sleep 0.05
	done &
	writer_pid=$!
	defer writer_stop
}

# writer_stop: it has seen no error
writer_stop() {
	local pid=$writer_pid
	rm -f /tmp/transient.writes
	writer_pid=''
	[ -z "$pid" ] || wait "$pid"
}

unmounted() {
	! mountpoint -q /tmp/mnt || umount /tmp/mnt
}

writable() {
	child_runs $writer_pid && touch /tmp/mnt/touched && sync
}

losses() {
	cat "$CLT_CLASS"/test/paths/*/stats/losses
}

none_in_flight() {
	[ "$(paths_sum test rdma 5)" = 0 ]
}

busy_path() {
	local n
	for n in 1 2; do
		[ "$(path_stat test $n 5)" = 0 ] || echo $n
	done
}

write_one() {
	dd if=/tmp/data of="$dev" bs=4k count=1 oflag=direct status=none
}

written() {
	dd if="$dev" of=/tmp/back bs=4k count=1 iflag=direct status=none && cmp /tmp/data /tmp/back
}

# write_that_moves: its answer is lost, then its path; no mapping for it on the other one
write_that_moves() {
	fault_arm $LOST || return 1
	write_one &
	write_pid=$!
	wait_for 20 fault_fired $LOST || return 1
	fault_arm rtrs-client/dma_map
	sysfs_write "$(path_dir test "$(busy_path)")/disconnect" 1 || return 1
	wait $write_pid && fault_fired rtrs-client/dma_map
}

ktap_plan 15
requires fio mkfs.ext4
modprobe -q ext4
must debugfs_up
topo_up 2
topo_is_ours
rtrs_load
# Reads of all sizes register their pages.
must sysfs_write /sys/module/rtrs_client/parameters/max_bounce_bytes 0
dev=$(map_device test "$(backing_null 64)" $PATIENT_PATHS) || abort "cannot map"
near=$(map_device test "$(backing_null 64)") || abort "cannot map the file system's"
must wait_for 20 sess_paths_are test 2
must mkfs.ext4 -q "$near"
mkdir -p /tmp/mnt
must mount -t ext4 "$near" /tmp/mnt
defer unmounted
defer "rm -f /tmp/data /tmp/back"
before=$(losses)
writer_start
load_start "$dev" 600

for point in $POINTS; do
	check "$point, $TIMES times" short_of "$point"
	check "$point: the file system is well" writable
done
load_end
check "no request has failed" load_succeeded
check "none took a second" [ "$(load_max_ms)" -lt $((1000 * ${RTRS_SLOWNESS:-1})) ]
check_eq "no path was lost" "$(losses)" "$before"
must writer_stop
must umount /tmp/mnt
must unmap_device "$near"

# Whatever fails now is seen.
must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 0
must dd if=/dev/urandom of=/tmp/data bs=4k count=1 status=none
check "a write that has to move, and finds no mapping" write_that_moves
check "its data are there" written
fault_arm rtrs-client/dma_map
check "one path, and no mapping for a moment" write_one
check "nothing is in flight" wait_for 10 none_in_flight

ktap_end
