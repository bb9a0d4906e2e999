#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Direct, buffered and polled I/O. For polled I/O the completions are counted
# where polling finds them, so that an interrupt that came first does not pass. A
# path that is added later has what the others have.
#
# vm: smp=2 processors=turns timeout=180

. "$(dirname "$0")/../lib.sh"

POLLED_IOS=256

# polls_found: completions that polls have found since it was last asked
polls_found() {
	awk -F 'found=' '/selftest_poll/ { sum += $2 } END { print sum + 0 }' $TRACE/trace
	: >$TRACE/trace
}

# unmap_all_of <device> <hardware queues>: the last user of the disk may let it go later
unmap_all_of() {
	unmap_device "$1" && { wait_for 5 freed_are "$2" || :; }
}

freed_are() {
	[ "$(grep -c selftest_count $TRACE/trace)" -ge "$1" ]
}

# poll_fio <device> <hipri 0|1> <fio option>...
poll_fio() {
	local dev="$1" hipri="$2"
	shift 2
	fio --name=poll --filename="$dev" --direct=1 --ioengine=io_uring --hipri="$hipri" \
		--bs=4k --size=$((POLLED_IOS * 4))k --iodepth=8 --output-format=terse \
		--verify_fatal=1 "$@"
}

ktap_plan 18
requires fio
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"

dev=$(map_device test "$back") || abort "cannot map"
check "direct I/O" fio_verify "$dev"
check "direct I/O is on the server's disk" same_as_backing "$dev" "$back" $((8 << 20))
check "buffered I/O" fio_verify "$dev" --direct=0 --ioengine=psync --end_fsync=1 \
	--invalidate=1 --randseed=7
check "buffered I/O is on the server's disk" same_as_backing "$dev" "$back" $((8 << 20))
check "memory-mapped I/O" fio_verify "$dev" --direct=0 --ioengine=mmap --end_fsync=1 \
	--size=1M --randseed=8
check "reads that are submitted together" fio_verify "$dev" --iodepth_batch_submit=16 \
	--iodepth_batch_complete_min=16 --randseed=9
check_eq "no poll queues unless asked for" "$(queue "$dev" io_poll)" 0
must unmap_device "$dev"

dev=$(map_device test "$back" nr_poll_queues=2) || abort "cannot map with poll queues"
check_eq "nr_poll_queues" "$(cat "$(dev_attr "$dev" nr_poll_queues)")" 2
check_eq "the disk can be polled" "$(queue "$dev" io_poll)" 1

# Every poll of the transport that found something.
if probe_on selftest_poll rtrs_clt_rdma_cq_direct 'found=$retval:s32' 'found > 0' 2>/dev/null; then
	defer "probe_off selftest_poll"
	polls_found >/dev/null
	poll_fio "$dev" 0 --rw=randwrite >/dev/null || abort "fio failed"
	check_eq "I/O that is not polled completes without" "$(polls_found)" 0
	poll_fio "$dev" 1 --rw=randwrite >/dev/null || abort "polled fio failed"
	found=$(polls_found)
	diag "polls found $found completions of $POLLED_IOS requests"
	check "polled writes complete by polling" [ "$found" -ge "$POLLED_IOS" ]
	poll_fio "$dev" 1 --rw=randread >/dev/null || abort "polled fio failed"
	found=$(polls_found)
	diag "polls found $found completions of $POLLED_IOS requests"
	check "polled reads complete by polling" [ "$found" -ge "$POLLED_IOS" ]
else
	ktap_skip "I/O that is not polled completes without" "needs CONFIG_KPROBE_EVENTS"
	ktap_skip "polled writes complete by polling" "needs CONFIG_KPROBE_EVENTS"
	ktap_skip "polled reads complete by polling" "needs CONFIG_KPROBE_EVENTS"
fi
check "polled I/O" poll_fio "$dev" 1 --rw=randwrite --verify=crc32c --do_verify=1 --size=4M

# blk-mq by itself loses one that has a CPU in common with a queue for polling.
if [ -n "${found:-}" ]; then
	nr=$(ls "/sys/block/${dev#/dev/}/mq" | wc -l)
	freed=$(probe_count blk_mq_hw_sysfs_release . unmap_all_of "$dev" "$nr") || abort "cannot unmap"
	check_eq "all hardware queues are freed" "$freed" "$nr"
else
	ktap_skip "all hardware queues are freed" "needs CONFIG_KPROBE_EVENTS"
	must unmap_device "$dev"
fi

# A path that was added later, and is the only one then.
must sysfs_write $CLT_CTL/map_device "$(map_line test "$back" 1 1) nr_poll_queues=2"
dev=$(mapped_node test "$back") || abort "not mapped"
check "a path is added" sysfs_write $CLT_CLASS/test/add_path "$(path_pair 2)"
check "the first one is removed" sysfs_write "$(path_dir test 1)/remove_path" 1
if [ -n "${found:-}" ]; then
	polls_found >/dev/null
	poll_fio "$dev" 1 --rw=randwrite >/dev/null || abort "polled fio failed"
	found=$(polls_found)
	diag "polls found $found completions of $POLLED_IOS requests"
	check "added path: polled writes complete by polling" [ "$found" -ge "$POLLED_IOS" ]
else
	ktap_skip "added path: polled writes complete by polling" "needs CONFIG_KPROBE_EVENTS"
fi
check "added path: polled I/O" poll_fio "$dev" 1 --rw=randwrite --verify=crc32c --do_verify=1 --size=4M
must unmap_device "$dev"

ktap_end
