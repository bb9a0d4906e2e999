#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Requests as large as max_io_size of the server says go in one piece, and their data are right: 128 KiB, which
# chunks of 128 KiB with their header inside do not hold, and 1 MiB, the most there is.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

MB=16

# pieces <device> <KiB> read|write: as many requests as there are blocks of that size
pieces() {
	local before count=$((MB * 1024 / $2))
	before=$(path_ios test 1)
	if [ "$3" = read ]; then
		dd if="$1" of=/dev/null bs="$2k" count=$count iflag=direct status=none
	else
		dd if=/dev/zero of="$1" bs="$2k" count=$count oflag=direct status=none
	fi || return 1
	echo "$count blocks, $(($(path_ios test 1) - before)) requests"
	[ $(($(path_ios test 1) - before)) -eq $count ]
}

# with <KiB> <parameter of rtrs-server>...
with() {
	local dev kb="$1" what
	shift
	what="$*"
	RTRS_SERVER_OPTS="$*"
	must server_load
	dev=$(map_device test "$back" "$PATIENT_PATHS") || abort "not mapped"
	check_eq "$what: largest request" "$(queue "$dev" max_hw_sectors_kb)" "$kb"
	must sysfs_write "$(queue_attr "$dev" max_sectors_kb)" "$kb"
	check "$what: what was written is read" fio_verify "$dev" --size=${MB}M --bsrange=512-2M --blockalign=512
	check "$what: and is on the server's disk" same_as_backing "$dev" "$back"
	check "$what: writes in one piece" pieces "$dev" "$kb" write
	check "$what: reads in one piece" pieces "$dev" "$kb" read
	must unmap_device "$dev"
	must module_gone rnbd-server rtrs-server
}

ktap_plan 20
requires fio
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 1
back=$(backing_null $MB) || abort "no backing device"
defer rtrs_unload
must client_load
for inval in Y N; do
	with 128 max_io_size=131072 always_invalidate=$inval
	with 1024 max_io_size=1048576 sess_queue_depth=64 always_invalidate=$inval
done

ktap_end
