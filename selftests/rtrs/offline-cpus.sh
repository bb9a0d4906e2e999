#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine of whose two CPUs one is online has one I/O connection for each path, and polled ones behind it. The other CPU, when
# it is online too, shares them.
#
# vm: smp=2 timeout=180

. "$(dirname "$0")/../lib.sh"

CPU1=/sys/devices/system/cpu/cpu1/online

# connections <session> <number>: of the path over the first network
connections() {
	kmsg_has "session $1, .*connected, $2 connections"
}

queues() {
	is "$(find "/sys/block/${dev#/dev/}/mq" -mindepth 1 -maxdepth 1 -type d | wc -l)" "$1"
}

# polled <requests> [<fio option>...]: nothing but the poll completes them in time
polled() {
	local start ms nr="$1"
	shift
	start=$(uptime_ms)
	fio --name=polled --filename="$dev" --direct=1 --ioengine=io_uring --hipri=1 --rw=randrw --bs=4k --size=4M \
		--number_ios="$nr" --verify=crc32c --output-format=terse "$@" >/tmp/polled.out 2>&1 || {
		cat /tmp/polled.out
		return 1
	}
	ms=$(($(uptime_ms) - start))
	diag "$nr polled requests took $ms ms"
	[ $ms -lt $((10000 * ${RTRS_SLOWNESS:-1})) ]
}

requires fio
[ -w $CPU1 ] || skip_all "needs a CPU that can be taken offline"
ktap_plan 8
topo_up 1
topo_is_ours
rtrs_load
defer "rm -f /tmp/polled.out"
back=$(backing_null 64) || abort "no backing device"
must sysfs_write $CPU1 0
defer "sysfs_write $CPU1 1"
kmsg_mark
dev=$(map_device few "$back") || abort "cannot map"
check "two connections" connections few 2
check "data are right" fio_verify "$dev" --size=2M
must unmap_device "$dev"
kmsg_mark
dev=$(map_device polls "$back" nr_poll_queues=2) || abort "cannot map"
check "with two polled ones, four" connections polls 4
check "three hardware queues" queues 3
check "polled I/O is polled" polled 100
check "data are right there too" fio_verify "$dev" --size=2M
must sysfs_write $CPU1 1
check "the other CPU polls too" polled 100 --cpus_allowed=1
check "and writes" fio_verify "$dev" --size=2M --cpus_allowed=1

ktap_end
