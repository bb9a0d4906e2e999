#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every byte written comes back, and is on the server's disk: blocks of 512 bytes
# to 1 MiB, in random and in sequential order, reads and writes mixed, over 1, 2
# and 4 paths, with and without invalidation for each request.
#
# FIO_VERIFY_RUNS lists pairs of always_invalidate and number of paths;
# FIO_VERIFY_MB is the size of each of the four areas, FIO_VERIFY_CHUNK the largest
# request with its header.
#
# vm: smp=1 timeout=240
# vm: smp=2 timeout=240
# vm: smp=8 timeout=240

. "$(dirname "$0")/../lib.sh"

runs=${FIO_VERIFY_RUNS:-Y1 Y4 N2}
mb=${FIO_VERIFY_MB:-8}
chunk=${FIO_VERIFY_CHUNK:-131072}

# Four jobs at once, each in an area of its own.
fio_all() {
	fio --filename="$1" --direct=1 --ioengine=libaio --iodepth=16 --size="${mb}M" \
		--verify=crc32c --verify_fatal=1 --do_verify=1 $FIO_APART --randseed="$2" --output=/tmp/fio.out \
		--name=random --rw=randwrite --bsrange=512-1M --blockalign=512 --offset=0 \
		--name=sequential --rw=write --bsrange=512-1M --blockalign=512 --offset="${mb}M" \
		--name=mixed --rw=randrw --bs=4k --offset=$((2 * mb))M \
		--name=backlog --rw=randwrite --bssplit=512/20:4k/60:64k/20 --blockalign=512 \
			--verify_backlog=32 --offset=$((3 * mb))M || {
		cat /tmp/fio.out
		return 1
	}
}

# every_path <paths>: all took requests, and none broke
every_path() {
	local n=1
	while [ "$n" -le "$1" ]; do
		if [ "$(path_ios test "$n")" -eq 0 ] || [ "$(path_stat test "$n" 6)" -ne 0 ]; then
			grep . "$CLT_CLASS"/test/paths/*/stats/rdma
			kmsg_since | grep rtrs
			return 1
		fi
		n=$((n + 1))
	done
}

# one_run <always_invalidate> <paths>
one_run() {
	local inval="$1" paths="$2" what back dev
	what="$2 paths, always_invalidate=$1"
	RTRS_SERVER_OPTS="sess_queue_depth=64 max_chunk_size=$chunk always_invalidate=$inval"
	must server_load
	must client_load
	must [ "$(cat /sys/module/rtrs_server/parameters/always_invalidate)" = "$inval" ]
	back=$(backing_null $((4 * mb))) || abort "no backing device"
	must sysfs_write "$CLT_CTL/map_device" "$(map_line test "$back" 1 "$paths") $PATIENT_PATHS"
	dev=$(mapped_node test "$back") || abort "not mapped"
	must sess_paths_are test "$paths"
	kmsg_mark
	echo round-robin >"$CLT_CLASS/test/mpath_policy"
	check "$what: what was written is read" fio_all "$dev" "$paths"
	check "$what: and is on the server's disk" same_as_backing "$dev" "$back" $((4 * mb << 20))
	check "$what: every path took part" every_path "$paths"
	must unmap_device "$dev"
	must rtrs_unload
	must backing_null_gone
}

# shellcheck disable=SC2086 # one word for each run
set -- $runs
ktap_plan $((3 * $#))
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 4
defer rtrs_unload
defer "rm -f /tmp/fio.out"
for run; do
	one_run "${run%?}" "${run#?}"
done

ktap_end
