#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A path with connections that nobody's completions wake up, for they are polled, goes as quickly as any other:
# what its ordinary connections owe is not kept waiting, nor is what is polled for.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# What failover.rst promises when a link loses its carrier, and what is enough without any I/O.
LOST_MS=$((200 * ${RTRS_SLOWNESS:-1}))
REMOVED_MS=$((150 * ${RTRS_SLOWNESS:-1}))

# loses_carrier <n>: and comes back
loses_carrier() {
	link_down "$1" c && wait_for 10 path_is test "$1" disconnected && link_up "$1" c && path_returns 20 test "$1"
}

# removed_within <ms> <n>
removed_within() {
	local start took
	start=$(uptime_ms)
	sysfs_write "$(path_dir test "$2")/remove_path" 1 || return 1
	took=$(($(uptime_ms) - start))
	echo "it took $took ms"
	[ "$took" -lt "$1" ]
}

polled_load() {
	fio --name=polled --filename="$dev" --direct=1 --ioengine=io_uring --hipri=1 --rw=randwrite --bs=4k \
		--size=4M --iodepth=8 --loops=4 --verify=crc32c --do_verify=1 --verify_fatal=1 \
		--output-format=terse >/tmp/polled.out 2>&1
}

ktap_plan 6
requires fio
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back" nr_poll_queues=1) || abort "cannot map with a poll queue"
defer "rm -f /tmp/polled.out"
must wait_for 10 sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin

load_start "$dev" 60
must ios_grow test 1 50
check_here "a path under load loses its carrier, and comes back" loses_carrier 1
load_end
check "no I/O failed, all data are right" load_succeeded
check "no request took longer than it may" [ "$(load_max_ms)" -lt $LOST_MS ]
diag "the longest took $(load_max_ms) ms"

polled_load &
polled=$!
must ios_grow test 1 50
must loses_carrier 2
polled_status=0
wait $polled || polled_status=$?
check_eq "what is polled for is right" "$polled_status" 0

check_here "a path is removed at once" removed_within $REMOVED_MS 1
must sysfs_write $CLT_CLASS/test/add_path "$(path_pair 1)"
must wait_for 10 sess_paths_are test 2
check "unmaps" unmap_device "$dev"

ktap_end
