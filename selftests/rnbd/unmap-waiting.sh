#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The server is dead, and I/O waits for a path, for as long as file systems want that. Unmapping by force ends the wait
# within a second, with a reader, and with a dirty ext4 that is mounted. A disk of another session sees nothing of it.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

MNT=/tmp/waiting-mnt
FILES=/tmp/waiting

# map_on <network> <session> <device> [<option>...]: over this network alone
map_on() {
	local net="$1" session="$2" back="$3" line
	shift 3
	line="$(map_line "$session" "$back" "$net") $*"
	sysfs_write $CLT_CTL/map_device "$line" || {
		echo "map_device: $line: $sysfs_error" >&2
		return 1
	}
	mapped_node "$session" "$back"
}

# map_test: the disk whose server dies
map_test() {
	dev=$(map_on 2 test "$back" no_path_timeout=600) || abort "cannot map"
}

server_dies() {
	must path_cut 2
	must wait_for 60 dev_is "$dev" closed
}

server_lives() {
	must path_heal 2
}

# start <command>...: in the background
start() {
	"$@" 2>$FILES.err &
	pid=$!
}

# waits: the command, for a time in which what fails at once would have failed
waits() {
	local end=$(($(uptime_ms) + 2000))
	while [ "$(uptime_ms)" -lt $end ]; do
		child_runs $pid || {
			echo "ended: $(cat $FILES.err)"
			return 1
		}
		sleep 0.1
	done
}

has_ended() {
	! child_runs $pid
}

# below <ms>: $ms
below() {
	[ "$ms" -lt $(($1 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "$ms ms, wanted less than $1"
		return 1
	}
}

# unmap_ends: by force, and with it what start began, in $ms; that one's status in $status
unmap_ends() {
	local from
	status=0
	from=$(uptime_ms)
	must unmap_device "$dev" force
	ms=$(($(uptime_ms) - from))
	diag "unmapped after $ms ms"
	must wait_for 30 has_ended
	ms=$(($(uptime_ms) - from))
	wait $pid || status=$?
	diag "the command ended $ms ms after that began, with $status: $(head -n 1 $FILES.err)"
}

failed_with() {
	[ "$status" -ne 0 ] && grep -q "$(strerror "$1")" $FILES.err
}

is_unmounted() {
	! grep -q " $MNT " /proc/mounts || umount $MNT
}

ktap_plan 10
requires fio mkfs.ext4
modprobe -q ext4
grep -q ext4 /proc/filesystems || skip_all "needs ext4"
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 64) || abort "no backing device"
other=$(backing_null 32) || abort "no backing device"
mkdir -p $MNT
defer "rm -rf $MNT $FILES.*"
defer is_unmounted
neighbour=$(map_on 1 neighbour "$other") || abort "cannot map"
must load_start "$neighbour" 150 --rate_iops=100

map_test
server_dies
start dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct
check "without a path a read waits" waits
unmap_ends
check "unmapped by force: the read fails" failed_with EIO
check "within a second" below 1000
server_lives

map_test
must mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$dev"
must mount -t ext4 "$dev" $MNT
must dd if=/dev/zero of=$MNT/file bs=1M count=8 status=none
server_dies
start sync -f $MNT/file
check "a dirty ext4: sync waits" waits
unmap_ends
check "unmapped by force: it fails" [ "$status" -ne 0 ]
check "within a second" below 1000
from=$(uptime_ms)
check "what was mounted is unmounted" umount $MNT
ms=$(($(uptime_ms) - from))
check "within a second" below 1000
server_lives

load_end
check "the disk of another session: no error, all data are right" load_succeeded
ms=$(load_max_ms)
check "and no request took a second" below 1000

ktap_end
