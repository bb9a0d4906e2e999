#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The server's modules go and come while I/O waits. A device that came back as it was, or
# larger, or late, goes on; a different one stays closed, is told of, and gets none of the
# old one's I/O, until remap_device after it was put right. A server that is short of memory
# is asked again.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

EXPORTS=/tmp/came-back

server_gone() {
	module_gone rnbd-server rtrs-server
}

# server_back <device>: which is the disk now
server_back() {
	ln -sfn "$1" $EXPORTS/disk && server_load
}

# write_start: 4 KiB behind the first MiB, in the background
write_start() {
	dd if=/tmp/data of="$dev" bs=4k count=1 seek=256 oflag=direct 2>/tmp/write.err &
	write_pid=$!
}

# write_ends: into $write_status
write_ends() {
	write_status=0
	wait $write_pid || write_status=$?
	diag "the write ended with $write_status $(grep -v records /tmp/write.err | head -n 1)"
}

# goes_on <name> <device> <sectors>: with the write that waited, and what was written before
goes_on() {
	check "$1: it opens by itself" wait_for 20 dev_is "$dev" open
	write_ends
	check_eq "$1: the write that waited succeeds" "$write_status" 0
	check "$1: its size is seen" wait_for 5 sectors_are "$3"
	check "$1: the write is there" cmp -n 4096 /tmp/data "$2" 0 1048576
	check "$1: so is what was there" cmp -n 1048576 /tmp/data "$dev"
}

sectors_are() {
	[ "$(cat "/sys/block/${dev##*/}/size")" -eq "$1" ]
}

# different <name> <device> <reason> <what it had and has>: with a write that waits
different() {
	local name="$1" with="$2" before
	before=$(sha256sum <"$with")
	must server_gone
	must wait_for 20 dev_is "$dev" closed
	kmsg_mark
	write_start
	must server_back "$with"
	check "$name: it is told" wait_for 20 kmsg_has "$3; stays closed until remap_device"
	check "$name: so is what has changed" kmsg_has "$4"
	check "$name: it stays closed" dev_is "$dev" closed
	write_ends
	check "$name: what waited fails" [ "$write_status" -ne 0 ]
	check_errno "$name: remap_device is refused" EINVAL "$(dev_attr "$dev" remap_device)" 1
	check "$name: nothing was written to it" [ "$(sha256sum <"$with")" = "$before" ]
}

refused_more_than() {
	[ "$(kmsg_since | grep -c 'OPEN of "disk" .* refused')" -gt "$1" ]
}

# short_of_memory <fault point> <what is told>: once, when the session comes back, with a write that waits
short_of_memory() {
	must disconnect_all test
	must wait_for 20 dev_is "$dev" closed
	kmsg_mark
	write_start
	fault_arm "$1"
	must reconnect_all test
	check "$1: it is told" wait_for 20 kmsg_has "$2"
	goes_on "$1" "$larger" 98304
	check "$1: it has fired" fault_fired "$1"
}

ktap_plan 51
must debugfs_up
topo_up 1
mkdir -p $EXPORTS
defer "rm -rf $EXPORTS /tmp/data /tmp/write.err"
must dd if=/dev/urandom of=/tmp/data bs=1M count=1 status=none
as_it_was=$(backing_null 32) || abort "no backing device"
larger=$(backing_null 48) || abort "no backing device"
other_blocks=$(backing_null 48 blocksize=4096) || abort "no backing device"
ln -s "$as_it_was" $EXPORTS/disk
RTRS_SERVER_OPTS="sess_queue_depth=16"
RNBD_SERVER_OPTS="dev_search_path=$EXPORTS"
rtrs_load
dev=$(map_device test disk no_path_timeout=20) || abort "cannot map"
must dd if=/tmp/data of="$dev" bs=64k oflag=direct status=none

must server_gone
must wait_for 20 dev_is "$dev" closed
write_start
must server_back "$as_it_was"
goes_on "as it was" "$as_it_was" 65536

must dd if="$as_it_was" of="$larger" bs=1M count=2 oflag=direct status=none
must server_gone
must wait_for 20 dev_is "$dev" closed
write_start
must server_back "$larger"
goes_on "larger" "$larger" 98304

must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 3
different "smaller" "$as_it_was" "the device has become smaller" \
	'came back with 65536 sectors, blocks of 512 bytes, .* it had 98304, 512, '
different "other block size" "$other_blocks" "the logical block size has changed" \
	'came back with 98304 sectors, blocks of 4096 bytes, .* it had 98304, 512, '

must ln -sfn "$larger" $EXPORTS/disk
check "the right one: remap_device" sysfs_write "$(dev_attr "$dev" remap_device)" 1
check_eq "the right one: it is open" "$(dev_state "$dev")" open
check "the right one: its data are there" cmp -n 1048576 /tmp/data "$dev"

must sysfs_write "$(dev_attr "$dev" no_path_timeout)" 30
must server_gone
must wait_for 20 dev_is "$dev" closed
write_start
kmsg_mark
must server_back /nowhere
check "late: it is told" wait_for 20 kmsg_has \
	'cannot be opened again: -E[A-Z]*; asking again until it can'
check_fails "late: remap_device is refused" sysfs_write "$(dev_attr "$dev" remap_device)" 1
check_eq "late: it stays closed" "$(dev_state "$dev")" closed
check "late: the server is asked again" wait_for 20 refused_more_than 2
check_eq "late: it is told once" "$(kmsg_since | grep -c 'asking again until it can')" 1
must ln -sfn "$larger" $EXPORTS/disk
goes_on "late" "$larger" 98304

short_of_memory rnbd-server/alloc_dev 'cannot be opened again: -ENOMEM; asking again until it can'
short_of_memory rnbd-server/alloc_msg 'the server does not answer: -ENOMEM; .* asking again until it does'

must disconnect_all test
must wait_for 20 dev_is "$dev" closed
must rm $EXPORTS/disk
kmsg_mark
must reconnect_all test
must wait_for 20 kmsg_has 'cannot be opened again: -ENO[A-Z]*; asking'
check "it can be unmapped while the server is asked" unmap_device "$dev"
check "nothing is left on the server" wait_for 10 [ ! -e $SRV_CLASS/test ]

ktap_end
