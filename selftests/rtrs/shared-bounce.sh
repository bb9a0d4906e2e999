#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# With the default queue depth a slot's own bounce buffer has one page. A longer read takes a part of one of 64 that
# slots share, on a device in software up to the whole of it; only when there is no room are pages registered. A path
# begins with four of these, and gets more of them as reads find none. No part is lost on the way, not either with a
# path that had reads in flight, which has as many again when it is back.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

# reads <device> <depth> <shortest>-<longest> [<fio option>...]: so many at a time
reads() {
	local dev="$1" depth="$2" range="$3"
	shift 3
	fio --name=reads --filename="$dev" --direct=1 --ioengine=libaio --iodepth="$depth" --rw=randread \
		--bsrange="$range" --blockalign=4k --size=16M --output=/tmp/fio.out "$@" || {
		cat /tmp/fio.out
		return 1
	}
}

# registers <device> <depth> <shortest>-<longest> none|some: of these reads
registers() {
	local nr
	nr=$(probe_count rtrs_mr_map . reads "$1" "$2" "$3") || return 1
	echo "$nr registrations"
	if [ "$4" = none ]; then [ "$nr" -eq 0 ]; else [ "$nr" -gt 0 ]; fi
}

# alone <n> <command>...: the other path is away
alone() {
	local other=$((3 - $1))
	shift
	sysfs_write "$(path_dir test $other)/disconnect" 1 && "$@" &&
	sysfs_write "$(path_dir test $other)/reconnect" 1 && wait_for 20 path_is test $other connected
}

# grows: reads that find none, and then all of them do
grows() {
	local nr=0
	registers "$dev" 64 64k-124k some || return 1
	until registers "$dev" 64 64k-124k none; do
		nr=$((nr + 1))
		[ $nr -lt 8 ] || return 1
	done
}

# stays_small: there is no memory for more, and nothing else comes of it
stays_small() {
	fault_arm rtrs-client/alloc_bounce
	registers "$dev" 64 64k-124k some && fault_fired rtrs-client/alloc_bounce && path_is test 1 connected
}

# many_slots: what these have registered for themselves is registered. Some are closed when for half a minute few are
# in use, and a path that has connected since then has only what the others need.
many_slots() {
	until [ "$(cat $CLT_CLASS/test/open_slots)" -ge 256 ]; do
		reads "$slow" 300 4k-4k --io_size=4M || return 1
	done
}

ktap_plan 12
requires fio
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 2
back=$(backing_null 32) || abort "no backing device"
# However fast the client is, all that it wants at a time have come before the first one is answered.
slow_back=$(backing_null 32 irqmode=2 completion_nsec=2000000000 hw_queue_depth=256) || abort "no slow backing device"
defer rtrs_unload
defer "rm -f /tmp/fio.out"
must server_load
must client_load
probe_needed rtrs_mr_map
dev=$(map_device test "$back") || abort "not mapped"
slow=$(map_device test "$slow_back") || abort "slow one not mapped"
must wait_for 20 sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin
must many_slots
check "what was written is read" fio_verify "$dev" --size=16M --bsrange=512-124k --blockalign=512
check "one at a time" registers "$dev" 1 64k-124k none
check "few from the start, and no memory for more" alone 1 stays_small
check "more come as they are needed" alone 1 grows
check "on the other" alone 2 grows
must many_slots
check "several in one" registers "$dev" 256 8k-16k none
check "more than there are, on both" registers "$slow" 160 124k-124k some
load_start "$dev" 4 --bsrange=64k-124k --blockalign=4k --iodepth=64
sleep 1
path_cut 1
check "a path goes with reads in flight" wait_for 20 path_is test 1 disconnected
load_wait
path_heal 1
check "all of them have come" load_succeeded
must wait_for 40 path_is test 1 connected
check "none is missing on that path" alone 1 registers "$dev" 64 64k-124k none
check "nor on the other" alone 2 registers "$dev" 64 64k-124k none
check "and data are right" fio_verify "$dev" --size=16M --bsrange=512-124k --blockalign=512

ktap_end
