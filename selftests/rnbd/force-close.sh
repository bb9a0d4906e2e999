#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The server's administrator closes a device that a client has mapped: I/O fails,
# other devices of the session do not notice, and no request for what was closed
# ever reaches another device.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

export_dir() {
	echo "$SRV_CTL/devices/${1#/dev/}/sessions/test"
}

put() {
	dd if=/tmp/force.data of="$1" bs=64k oflag=direct status=none
}

holds_data() {
	drop_caches
	cmp -n 65536 "$1" /tmp/force.data
}

holds_zeroes() {
	drop_caches
	cmp -n 65536 "$1" /dev/zero
}

# at_once: the client unmaps the device while the administrator closes it, whichever comes first
at_once() {
	local nr=0 dev pid
	while [ $nr -lt 30 ]; do
		dev=$(map_device test "$back1") || return 1
		unmap_device "$dev" &
		pid=$!
		sleep "0.0$((nr % 10))"
		sysfs_write "$dir/force_close" 1 || [ ! -e "$dir" ] || {
			echo "round $nr: force_close: $sysfs_error"
			return 1
		}
		wait $pid && [ ! -e "$SRV_CTL/devices/${back1#/dev/}" ] || {
			echo "round $nr: not closed"
			return 1
		}
		nr=$((nr + 1))
	done
}

# overtaken: the client unmaps the device while the administrator has only begun to write. Closing it
# waits for him, so he must not wait for that in turn.
overtaken() {
	local pid late=rnbd-server/force_close_delayed
	fault_arm $late
	sysfs_write "$dir/force_close" 1 &
	pid=$!
	wait_for 10 fault_fired $late || return 1
	unmap_device "$dev1" && wait $pid && [ ! -e "$SRV_CTL/devices/${back1#/dev/}" ]
}

ktap_plan 29
must debugfs_up
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/force.*"
dd if=/dev/urandom of=/tmp/force.data bs=64k count=1 status=none
back1=$(backing_null 16) && back2=$(backing_null 16) && back3=$(backing_null 16) ||
	abort "no backing devices"
dev1=$(map_device test "$back1") || abort "cannot map"
dev2=$(map_device test "$back2") || abort "cannot map"
dir=$(export_dir "$back1")

# What the server shows.
check_eq "mapping_path" "$(cat "$dir/mapping_path")" "$back1"
check_eq "access_mode" "$(cat "$dir/access_mode")" rw
check_eq "read_only" "$(cat "$dir/read_only")" 0
check_eq "block_dev is the disk" "$(readlink -f "$dir/../../block_dev")" \
	"$(readlink -f "/sys/block/${back1#/dev/}")"
check "reading force_close tells how" grep -q '^Usage:' "$dir/force_close"
for bad in 0 2 yes ''; do
	check_errno "force_close refuses '$bad'" EINVAL "$dir/force_close" "$bad" \
		"rnbd_server: session test: \"$back1\": force_close: '$bad.*' is not valid, write 1"
done
check "and the device still works" put "$dev1"

check "force_close" sysfs_write "$dir/force_close" 1
check "the server has closed it" wait_for 10 [ ! -e "$SRV_CTL/devices/${back1#/dev/}" ]
check "the client keeps its disk" [ -b "$dev1" ]
check_fails "but cannot write" put "$dev1"
check_fails "nor read" dd if="$dev1" of=/dev/null bs=4k count=1 iflag=direct
check "the session's other device works" put "$dev2"

# The next device must not inherit what was the first one's name on the wire.
dev3=$(map_device test "$back3") || abort "cannot map"
check_fails "still no write after another was mapped" put "$dev1"
check "which was not written to" holds_zeroes "$back3"
check "and works" put "$dev3"
check "what was written before is there" holds_data "$back1"

check "the closed one can be unmapped" unmap_device "$dev1"
dev1=$(map_device test "$back1") || abort "cannot map again"
check "and mapped again" holds_data "$dev1"

# Under load.
fio --name=load --filename="$dev1" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
	--time_based --runtime=100 --size=8M >/tmp/force.fio 2>&1 &
load=$!
ios=$(path_ios test 1)
busy() {
	[ "$(path_ios test 1)" -gt $((ios + 100)) ]
}
must wait_for 20 busy
must sysfs_write "$(export_dir "$back1")/force_close" 1
if wait $load; then
	not_ok "under load: it ends with errors" "fio succeeded"
else
	ok "under load: it ends with errors"
fi
check "the session lives" sess_paths_are test 2
must unmap_device "$dev1"

check "unmapped and closed by force at once, 30 times" at_once
dev1=$(map_device test "$back1") || abort "cannot map again"
check "it can be mapped again" put "$dev1"
check "unmapped while a write to force_close has only begun" overtaken
dev1=$(map_device test "$back1") || abort "cannot map again"
check "it can be mapped again" put "$dev1"
check "the session's other device works" put "$dev2"
must unmap_device "$dev1"
must unmap_device "$dev2"
must unmap_device "$dev3"

ktap_end
