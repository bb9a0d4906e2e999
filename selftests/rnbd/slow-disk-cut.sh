#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One disk of the server hangs, and then a network is cut: another disk's I/O goes on over the other path within a
# second, and the path that was cut comes back, while the first disk still hangs. That needs a server whose tear-down of
# a path does not wait for its disks. The command-line tool shows why the path is gone, and what the disk has of it.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

MAX_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# reads_for <ms>: of the healthy disk; $worst, $errors
reads_for() {
	local start before took
	start=$(uptime_ms) worst=0 errors=0
	while before=$(uptime_ms) && [ $((before - start)) -lt "$1" ]; do
		dd if="$good" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null || errors=$((errors + 1))
		took=$(($(uptime_ms) - before))
		[ $took -le $worst ] || worst=$took
		sleep 0.05
	done
	diag "the worst read took $worst ms, $errors failed"
}

ktap_plan 8
requires dmsetup rnbd
topo_up 2
topo_is_ours
rtrs_load
healthy=$(backing_null 32) || abort "no backing device"
hanging_disk 32
bad=$(map_device test /dev/mapper/hang) || abort "cannot map"
good=$(map_device test "$healthy") || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must sysfs_write "$(queue_attr "$bad" io_timeout)" 2000

load_start "$bad" 600
must wait_for 10 ios_grow test 1 1
must disk_hangs
must path_cut 1
check_here "a disk hangs, a network is cut: another disk is read" reads_for 8000
check "without error" [ "$errors" -eq 0 ]
check "nor delay" [ "$worst" -lt $MAX_MS ]
# The last column is the reason, and "-" if there is none.
check "rnbd path list says why the path is gone" \
	prints '^test +ip:10.1.0.1@ip:10.1.0.2 +disconnected .* [^ -][^ ]*$' rnbd path list
check "rnbd exports has its requests that the disk has not ended" \
	prints "/dev/mapper/hang +[0-9]+s +[1-9][0-9]*$" rnbd exports
must path_heal 1
check "the path comes back while the disk hangs" wait_for 20 sess_paths_are test 2
must disk_answers
must ios_grow test 2 10
load_end
check_here "all data of the disk are right" load_succeeded
check "both paths are there" wait_for 10 sess_paths_are test 2

ktap_end
