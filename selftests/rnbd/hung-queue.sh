#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Eight clients; the disk of one has no free tag for seconds, and more requests than it takes. The thread of that
# disk waits for a tag and nobody else does: the other disks of that client and of the seven go on, and
# are mapped and unmapped meanwhile, also while the server cannot open a disk. The administrator closes the disk
# while requests wait for the thread.
#
# vm: smp=1 timeout=300 mem=1536M

. "$(dirname "$0")/../lib.sh"

# A tag is free again after so long; shorter than the client's io_timeout even for the last one in the queue.
HOLD_NS=5000000000
DEPTH=4

# healthy <seconds> <device>...: reads and writes; fails if one fails or takes more than a second. $iops is what
# all together had.
healthy() {
	local secs="$1" dev jobs=''
	shift
	for dev; do
		jobs="$jobs --name=${dev##*/} --filename=$dev"
	done
	# shellcheck disable=SC2086 # words
	fio --direct=1 --ioengine=libaio --iodepth=1 --rw=randrw --bs=4k --size=4M --time_based \
		--runtime=$((secs * ${RTRS_SLOWNESS:-1})) --max_latency=$((1000000 * ${RTRS_SLOWNESS:-1})) \
		--output-format=terse --output=/tmp/healthy.out $jobs || {
		cut -c 1-200 /tmp/healthy.out
		return 1
	}
	iops=$(awk -F ';' '/^3;/ { sum += $8 + $49 } END { print sum + 0 }' /tmp/healthy.out)
}

# overload: more requests than the disk takes, in the background
overload() {
	fio --name=hung --filename="$bad" --direct=1 --ioengine=libaio --iodepth=$DEPTH --rw=randread --bs=4k \
		--size=4M --time_based --runtime=3600 >/tmp/hung.out 2>&1 &
	hung_pid=$!
}

waits_for_tag() {
	waits_in blk_mq_get_tag "$1"
}

# map_and_unmap <session> <device>: in less than a second
map_and_unmap() {
	local start took dev
	start=$(uptime_ms)
	dev=$(map_device "$@") && unmap_device "$dev" || return 1
	took=$(($(uptime_ms) - start))
	echo "$took ms"
	[ "$took" -lt $((1000 * ${RTRS_SLOWNESS:-1})) ]
}

thread_gone() {
	! grep -lx "rnbd/${hung#/dev/}" /proc/[0-9]*/comm 2>/dev/null
}

# force_close: the writer waits for 5 s at most. Two requests in a row may hold the disk for longer: the one that has the
# tag, and the one that the thread waits with. Then the writer is told that the device still closes.
force_close() {
	local start
	start=$(uptime_ms)
	sysfs_write "$SRV_CTL/devices/${hung#/dev/}/sessions/s8/force_close" 1 || {
		diag "force_close: $sysfs_error"
		is_error EINPROGRESS "$sysfs_error" || return 1
	}
	[ $(($(uptime_ms) - start)) -lt $((6000 * ${RTRS_SLOWNESS:-1})) ]
}

hung_ends() {
	! child_runs $hung_pid
}

# open_hangs: somebody on the server reads the partition table of a disk that takes seconds for it, and the
# client maps that disk. The opener has to wait until the table is read.
open_hangs() {
	blockdev --rereadpt "$slow" &
	reader_pid=$!
	wait_for 10 grep -q bdev_disk_changed "/proc/$reader_pid/stack" || return 1
	map_device s8 "$slow" >/tmp/hung.node 2>&1 &
	mapper_pid=$!
	wait_for 10 opener_waits
}

# The server's worker: the one who reads the table holds the lock.
opener_waits() {
	waits_in 'bdev_open|blkdev_get_by_dev' 'kworker*'
}

ktap_plan 19
requires blockdev
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/healthy.out /tmp/hung.*"
hung=$(backing_null 16 irqmode=2 completion_nsec=$HOLD_NS hw_queue_depth=1 submit_queues=1) ||
	abort "no disk that hangs"
slow=$(backing_null 16 irqmode=2 completion_nsec=$HOLD_NS hw_queue_depth=1 submit_queues=1) ||
	abort "no disk that is slow"
spare=$(backing_null 16) || abort "no spare disk"
seven=''
for n in 1 2 3 4 5 6 7; do
	disk=$(backing_null 16 irqmode=2 completion_nsec=10000000) || abort "no healthy disk"
	dev=$(map_device s$n "$disk") || abort "cannot map"
	seven="$seven $dev"
done
disk=$(backing_null 16 irqmode=2 completion_nsec=10000000) || abort "no healthy disk"
eighth=$(map_device s8 "$disk") || abort "cannot map"
bad=$(map_device s8 "$hung") || abort "cannot map"

# shellcheck disable=SC2086 # a word for each device
check_here "seven clients, while the eighth is idle" healthy 5 $seven
before=$iops
overload
check "the disk's thread waits for a tag" wait_for 20 waits_for_tag "rnbd/*"
# shellcheck disable=SC2086 # a word for each device
check_here "the seven, while the eighth's disk hangs" healthy 5 $seven
diag "$before requests per second before, $iops with a disk that hangs"
check "lose less than 5 %" [ $((iops * 100)) -gt $((before * 95)) ]
check_here "another disk of the eighth client" healthy 5 "$eighth"
diag "$iops requests per second"
check "none of it was cut short: the disk still hangs" wait_for 20 waits_for_tag "rnbd/*"
check_fails "no worker waits for a tag" waits_for_tag "kworker*"
check "its client maps and unmaps another disk" map_and_unmap s8 "$spare"
check "another one does" map_and_unmap s1 "$spare"
check "no path was lost" sess_paths_are s8 1

check_here "the disk is closed by force while requests wait for its thread" force_close
check "all that the client had sent has ended" wait_for 60 hung_ends
check "the thread is gone" wait_for $((3 * HOLD_NS / 1000000000)) thread_gone
check "unmaps" unmap_device "$bad"
# shellcheck disable=SC2086 # a word for each device
check_here "the others go on" healthy 1 $seven "$eighth"
wait $hung_pid

check_here "the server's open of a disk hangs" open_hangs
check "its client maps and unmaps another disk" map_and_unmap s8 "$spare"
check "it hangs still" child_runs $mapper_pid
wait $reader_pid
wait $mapper_pid
check "then it is open" unmap_device "$(cat /tmp/hung.node)"

ktap_end
