#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The session is lost, and when it is back the name leads to another disk of the same size. The client does not use it, and
# says which disk it was and which it is; nothing is read from it or written to it. It goes on with the old one when that is
# back, and with the other one when told so. A disk of the same session that is what it was goes on at once.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

EXPORTS=/tmp/identity
EXPORT=$SRV_CTL/export_device

identity() {
	cat "$(dev_attr "$dev" identity)"
}

# number <device of the server>: of the disk, since this machine was booted
number() {
	cat "/sys/block/${1##*/}/diskseq"
}

# ios <device of the server>: reads and writes that it has had
ios() {
	awk '{ print $1, $5 }' "/sys/block/${1##*/}/stat"
}

# lose: on the server too, where nothing is open any more
lose() {
	must disconnect_all test
	must wait_for 20 [ ! -e $SRV_CLASS/test ]
	must wait_for 20 dev_is "$dev" closed
	must wait_for 20 dev_is "$neighbour" closed
}

# write_start: 4 KiB behind the first MiB, in the background
write_start() {
	dd if=/tmp/identity.data of="$dev" bs=4k count=1 seek=256 oflag=direct 2>/tmp/identity.err &
	write_pid=$!
}

write_waits() {
	child_runs $write_pid
}

# write_ends: into $write_status
write_ends() {
	write_status=0
	wait $write_pid || write_status=$?
}

# reads <letter>: what the disk begins with
reads() {
	[ "$(dd if="$dev" bs=4096 count=1 iflag=direct status=none | tr -d "$1" | wc -c)" -eq 0 ]
}

# is_refused <name> <it was> <it is>
is_refused() {
	check "$1: it is told, with both" wait_for 20 kmsg_has \
		"${dev##*/}: .* cannot be opened again: it is another disk: it was $2, the server has $3; asking again until it is the old one"
	check_eq "$1: the device is closed" "$(dev_state "$dev")" closed
	check "$1: the other disk of the session is open" wait_for 20 dev_is "$neighbour" open
	check "$1: and goes on" fio_verify "$neighbour" --size=1M
}

# server_again: another run of it
server_again() {
	must module_gone rnbd-server rtrs-server
	must wait_for 20 dev_is "$dev" closed
	must server_load
}

export_it() {
	must sysfs_write $EXPORT "$1"
}

# scsi_disk: the first one
scsi_disk() {
	ls /sys/block | grep -m 1 '^sd'
}

ktap_plan 32
requires fio
topo_up 2
mkdir -p $EXPORTS
defer "rm -rf $EXPORTS /tmp/identity.*"
first=$(backing_null 32) || abort "no backing device"
second=$(backing_null 32) || abort "no backing device"
third=$(backing_null 32) || abort "no backing device"
head -c 1048576 /dev/zero | tr '\0' A >"$first" && head -c 1048576 /dev/zero | tr '\0' B >"$second" ||
	abort "cannot write"
must dd if=/dev/urandom of=/tmp/identity.data bs=4k count=1 status=none
ln -s "$first" $EXPORTS/disk
ln -s "$third" $EXPORTS/neighbour
RTRS_SERVER_OPTS="sess_queue_depth=16"
RNBD_SERVER_OPTS="dev_search_path=$EXPORTS"
rtrs_load
dev=$(map_device test disk no_path_timeout=60) || abort "cannot map"
neighbour=$(map_device test neighbour no_path_timeout=60) || abort "cannot map"
check "it reads A" reads A

# A disk without a name has its number in this run of the server.
was=$(identity)
run=${was#*@}
check_eq "it has the number of its disk" "${was%@*}" "disk$(number "$first")"
check "and of the server's run" expr "$run" : '[0-9a-f]\{16\}$' \!= 0
lose
sum=$(sha256sum <"$second")
ios_before=$(ios "$second")
write_start
kmsg_mark
ln -sfn "$second" $EXPORTS/disk
must reconnect_all test
is_refused "another disk" "$was" "disk$(number "$second")@$run"
check "another disk: a write waits" write_waits
check_eq "another disk: it was not read, nor written to" "$(ios "$second")" "$ios_before"
check_errno "another disk: remap_device" ESTALE "$(dev_attr "$dev" remap_device)" 1 \
	"${dev##*/}: remap_device=1: -ESTALE, it is another disk: it was $was, the server has disk$(number "$second")@$run, state is closed"
check_eq "another disk: nor then" "$(ios "$second")" "$ios_before"
check_eq "another disk: it is told once" "$(kmsg_since | grep -c 'asking again until it is the old one')" 1
ln -sfn "$first" $EXPORTS/disk
check "the old one again: it opens by itself" wait_for 45 dev_is "$dev" open
write_ends
check_eq "the old one again: the write that waited succeeds" "$write_status" 0
check "the old one again: it is there" cmp -n 4096 /tmp/identity.data "$first" 0 1048576
check_eq "the old one again: not on the other disk" "$(sha256sum <"$second")" "$sum"

# A person knows better.
lose
ln -sfn "$second" $EXPORTS/disk
must reconnect_all test
must wait_for 20 dev_is "$neighbour" open
check_errno "accept, with another word" EINVAL "$(dev_attr "$dev" remap_device)" 2 \
	"${dev##*/}: remap_device=\"2\": expected 1 or accept"
check "accept" sysfs_write "$(dev_attr "$dev" remap_device)" accept
check "accept: it reads B" reads B
check_eq "accept: it is that one from now on" "$(identity)" "disk$(number "$second")@$run"
must unmap_device "$neighbour"
must unmap_device "$dev"

# Names that the administrator gives hold over a run of the server.
ln -sfn "$first" $EXPORTS/disk
RNBD_SERVER_OPTS="exports_only=Y"
must module_gone rnbd-server rtrs-server
must server_load
export_it "name=disk device=$EXPORTS/disk identity=serial-one"
export_it "name=neighbour device=$third"
dev=$(map_device test disk no_path_timeout=60) || abort "cannot map"
neighbour=$(map_device test neighbour no_path_timeout=60) || abort "cannot map"
check_eq "a name that was given" "$(identity)" serial-one
kmsg_mark
server_again
export_it "name=neighbour device=$third"
export_it "name=disk device=$second identity=serial-two"
is_refused "another name" serial-one serial-two
export_it "name=disk device=$EXPORTS/disk identity=serial-one"
check "the old name again: it opens by itself" wait_for 45 dev_is "$dev" open

# What was given for one disk is not told of another one that comes under the same path.
lose
kmsg_mark
ln -sfn "$second" $EXPORTS/disk
must reconnect_all test
is_refused "a name that is not of this disk" serial-one "disk$(number "$second")@[0-9a-f]*"
check "the server says so" kmsg_has \
	'rnbd_server: export "disk": identity=serial-one was that of another disk, or of this one before it was set up again'

# And those that disks have themselves.
must unmap_device "$dev" force
defer "module_gone scsi_debug"
modprobe -q sd_mod && modprobe -q scsi_debug dev_size_mb=8 && wait_for 20 scsi_disk || {
	ktap_skip "the name of a SCSI disk" "no scsi_debug"
	ktap_end
}
scsi=/dev/$(scsi_disk)
export_it "name=scsi device=$scsi"
dev=$(map_device test scsi) || abort "cannot map"
check "the name of a SCSI disk" expr "$(identity)" : 'naa\.[0-9a-f]*$' \!= 0
must unmap_device "$dev"

ktap_end
