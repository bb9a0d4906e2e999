#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A path that was down when its session was opened is as good as the others: when those are gone, and with them the
# session on the server, it carries the session by itself.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

put_and_get() {
	dd if=/tmp/late.data of="$dev" bs=64k oflag=direct status=none && drop_caches &&
		cmp -n 65536 "$dev" /tmp/late.data
}

ktap_plan 7
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
defer "rm -f /tmp/late.data"
must dd if=/dev/urandom of=/tmp/late.data bs=64k count=1 status=none

must path_cut 2
dev=$(map_device late "$back" no_path_timeout=300) || abort "cannot map over one path"
check "mapped over one path" path_is late 1 connected
check "the other one is not there" path_is late 2 disconnected
must path_cut 1
check "the first one is lost" wait_for 30 dev_is "$dev" closed
check "and the session, on the server" wait_for 60 [ ! -d $SRV_CLASS/late ]
must path_heal 2
check "the other one comes" path_returns 60 late 2
check "the disk opens over it" wait_for 10 dev_is "$dev" open
check "and works" put_and_get
must path_heal 1
must path_returns 60 late 1
must unmap_device "$dev"

ktap_end
