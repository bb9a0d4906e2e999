#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No path is left: requests wait for no_path_timeout, and go on if one comes back, else fail.
# Nothing that an administrator does has to wait for them.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

# timeout_is <seconds>: set, and there
timeout_is() {
	sysfs_write "$(dev_attr "$dev" no_path_timeout)" "$1" && [ "$(cat "$(dev_attr "$dev" no_path_timeout)")" = "$1" ]
}

# all_paths <disconnect|reconnect>
all_paths() {
	local n
	for n in 1 2; do
		sysfs_write "$(path_dir test $n)/$1" 1 || return 1
	done
}

no_path() {
	all_paths disconnect && wait_for 10 dev_is "$dev" closed
}

paths_back() {
	all_paths reconnect && wait_for 20 dev_is "$dev" open && wait_for 20 sess_paths_are test 2
}

# read_start: 4 KiB, in the background
read_start() {
	dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct 2>/tmp/no-path.err &
	read_pid=$!
	read_from=$(uptime_ms)
}

# read_waits <ms>: and is not done by then
read_waits() {
	local end=$((read_from + $1))
	while [ "$(uptime_ms)" -lt $end ]; do
		child_runs $read_pid || {
			echo "ended after $(($(uptime_ms) - read_from)) ms: $(cat /tmp/no-path.err)"
			return 1
		}
		sleep 0.1
	done
}

# read_ends: into $read_status and $read_ms
read_ends() {
	read_status=0
	wait $read_pid || read_status=$?
	read_ms=$(($(uptime_ms) - read_from))
	diag "a read took $read_ms ms: ${read_status} $(grep -v records /tmp/no-path.err | head -n 1)"
}

# read_failed <errno name>
read_failed() {
	[ "$read_status" -ne 0 ] && grep -q "$(strerror "$1")" /tmp/no-path.err
}

# took <least> <most>: the read, in ms
took() {
	[ "$read_ms" -ge "$1" ] && [ "$read_ms" -le $(($2 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "$read_ms ms, wanted $1 to $2"
		return 1
	}
}

ktap_plan 40
modprobe -n -q rnbd-client || skip_all "needs the modules"
requires fio
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
defer "rm -f /tmp/no-path.err"
back=$(backing_null 32) || abort "no backing device"

dev=$(map_device test "$back") || abort "cannot map"
check_eq "30 s by default" "$(cat "$(dev_attr "$dev" no_path_timeout)")" 30
for value in -2 86401 x ''; do
	check_errno "'$value' is refused" EINVAL "$(dev_attr "$dev" no_path_timeout)" "$value" \
		"no_path_timeout=\"$value\": expected a number of seconds from -1 to 86400, -1 for ever"
done
must unmap_device "$dev"
check_errno "in map_device too" EINVAL $CLT_CTL/map_device "$(map_line test "$back") no_path_timeout=-2" \
	'map_device: no_path_timeout="-2": expected a number of seconds from -1 to 86400, -1 for ever'
dev=$(map_device test "$back" no_path_timeout=20) || abort "cannot map"
check_eq "map_device sets it" "$(cat "$(dev_attr "$dev" no_path_timeout)")" 20

# They wait.
must fio_verify "$dev" --size=1M
must no_path
read_start
check "without a path a read waits" read_waits 2000
check "paths come back" paths_back
read_ends
check_eq "and the read is served" "$read_status" 0
check "soon" took 2000 10000
must load_start "$dev" 60
check "under load: it moves" ios_grow test 1 50
check "under load: all paths go" no_path
sleep 3		# no request may end meanwhile
check "under load: it waits" load_runs
check "under load: paths come back" paths_back
check "under load: it goes on" ios_grow test 1 50
load_end
check "under load: no I/O failed, all data are right" load_succeeded
check "under load: the longest request is the time without a path" [ "$(load_max_ms)" -ge 3000 ]
must load_start "$dev" 120
must ios_grow test 1 50
must module_gone rnbd-server
check "server gone: noticed" wait_for 15 dev_is "$dev" closed
must server_load
check "server back: open again" wait_for 45 dev_is "$dev" open
load_end
check "server back: no I/O failed, all data are right" load_succeeded

# They have waited long enough.
check "2 s" timeout_is 2
must wait_for 40 sess_paths_are test 2
must no_path
kmsg_mark
read_start
read_ends
check "after 2 s a read fails" read_failed ENOLINK
check "not before" took 2000 4000
check "which is said" kmsg_has "${dev##*/}: no path for no_path_timeout=2 seconds, requests fail until one is back"
read_start
read_ends
check "the next one fails at once" took 0 900
must paths_back
check "with a path all is well again" fio_verify "$dev" --size=1M
check "0" timeout_is 0
must no_path
read_start
read_ends
check "fails at once" took 0 900
check "with the error of mainline" read_failed EIO
must paths_back

# Nothing waits for them.
check "-1" timeout_is -1
must no_path
read_start
must read_waits 1500
must timeout_is 1
read_ends
check "a shorter time counts for who waits already" read_failed ENOLINK
must paths_back
must timeout_is -1
must no_path
read_start
must read_waits 1000
start=$(uptime_ms)
check_errno "unmap: the device is opened" EBUSY "$(dev_attr "$dev" unmap_device)" normal
check "unmap by force" unmap_device "$dev" force
check "at once" [ $(($(uptime_ms) - start)) -lt $((8000 * ${RTRS_SLOWNESS:-1})) ]
read_ends
check "the read has failed" [ "$read_status" -ne 0 ]
dev=$(map_device test "$back" no_path_timeout=-1) || abort "cannot map"
must no_path
read_start
must read_waits 1000
start=$(uptime_ms)
check_fails "the module is in use" rmmod rnbd-client
check "which is said at once" [ $(($(uptime_ms) - start)) -lt $((3000 * ${RTRS_SLOWNESS:-1})) ]
must unmap_device "$dev" force
check "unmapped by force it unloads" wait_for 20 module_gone rnbd-client
read_ends
check "no process waits for a disk" nobody_stuck

ktap_end
