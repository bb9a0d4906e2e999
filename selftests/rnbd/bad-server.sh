#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Mappings that the server, or the way to it, does not let happen: errno,
# message, nothing left behind, and what was mapped before works. Of several
# paths the one that fails does not take the others with it.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

MAP=$CLT_CTL/map_device

# state: all that a failed attempt could leave behind
state() {
	ls $CLT_CTL/devices $CLT_CLASS $SRV_CLASS $SRV_CTL/devices
	ls -d /sys/block/rnbd* $CLT_CLASS/*/paths/* $SRV_CLASS/*/paths/* $SRV_CTL/devices/*/sessions/*
	resource_snapshot
} 2>/dev/null

is_as_before() {
	[ "$(state)" = "$good" ]
}

left_nothing() {
	wait_for 10 is_as_before || {
		echo "left behind, or missing:"
		state >/tmp/bad-server.now
		echo "$good" | diff - /tmp/bad-server.now
		return 1
	}
}

# failed <errno> <line> <pattern>
failed() {
	write_gives "$@" && left_nothing
}

# bad <name> <errno> <line> <pattern>
bad() {
	check "$1" failed "$2" $MAP "$3" "$4"
}

still_works() {
	fio_verify "$dev" --size=1M
}

ktap_plan 26
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
free=$(backing_null 16) || abort "no backing device"
defer "rm -f /tmp/bad-server.*"
dev=$(map_device good "$back") || abort "cannot map"
must sess_paths_are good 2
must still_works
good=$(state)
path=path=$(path_pair 1)
opened='map_device: device_path="%s" access_mode=rw: not opened by the server of session new: -%s'

# refusal <device> <errno>: the client's message
refusal() {
	# shellcheck disable=SC2059 # it is a format
	printf "$opened" "$1" "$2"
}

# The device.
bad "a device that does not exist" ENOENT "sessname=new device_path=/dev/none $path" \
	"$(refusal /dev/none ENOENT)"
bad "a file that is no block device" ENOTBLK "sessname=new device_path=/dev/zero $path" \
	"$(refusal /dev/zero ENOTBLK)"
bad "a directory" ENOTBLK "sessname=new device_path=/dev $path" "$(refusal /dev ENOTBLK)"
bad "a name with .." EINVAL "sessname=new device_path=/dev/../$free $path" \
	"$(refusal "/dev/\.\./$free" EINVAL)"
bad "mapped already" EEXIST "sessname=good device_path=$back $path" \
	"map_device: device_path=\"$back\": mapped already in session good"
bad "a second writer" EPERM "sessname=new device_path=$back $path" "$(refusal "$back" EPERM)"
check "what was mapped before works" still_works

# The way to the server.
bad "a wrong port" ECONNRESET "sessname=new device_path=$free dest_port=4321 $path" \
	'server refuses the connection: .*; is rnbd-server loaded and the port right\?'
bad "port 0" ECONNRESET "sessname=new device_path=$free dest_port=0 $path" \
	'map_device: sessname="new": cannot connect: '
# Either the address is not resolved, or all of connecting takes too long.
bad "a host that is not there" EHOSTUNREACH/ETIMEDOUT "sessname=new device_path=$free path=ip:10.1.0.1,ip:10.1.0.99" \
	'map_device: sessname="new": cannot connect: -E'
bad "a network that is not there" ENETUNREACH "sessname=new device_path=$free path=ip:10.99.0.99" \
	'map_device: sessname="new": cannot connect: -E'
bad "a source address that is not ours" EADDRNOTAVAIL \
	"sessname=new device_path=$free path=ip:10.77.0.1,ip:10.1.0.2" 'map_device: sessname="new": cannot connect: -E'
bad "the same path twice" EEXIST "sessname=new device_path=$free $path $path" \
	'the session has this path already'
check "what was mapped before works" still_works

# One of several paths fails.
check "one of two paths has nobody at its end" sysfs_write $MAP \
	"sessname=new device_path=$free path=ip:10.1.0.1,ip:10.1.0.99 path=$(path_pair 2)"
check "the device works over the other" fio_verify "$(mapped_node new "$free")" --size=1M
check_eq "both are listed, one is connected" \
	"$(cat $CLT_CLASS/new/paths/*/state | sort | tr '\n' ' ')" "connected disconnected "
must unmap_device "$(mapped_node new "$free")"
check "nothing is left" left_nothing

# A black hole is found out in reasonable time.
must path_cut 1
start=$(date +%s)
check_errno "a black hole" EHOSTUNREACH/ETIMEDOUT $MAP "sessname=new device_path=$free $path" \
	'map_device: sessname="new": cannot connect: -E'
took=$(($(date +%s) - start))
diag "gave up after $took s"
check "is given up in reasonable time" [ $took -lt 40 ]
start=$(date +%s)
check "a black hole beside a good path" sysfs_write $MAP \
	"sessname=new device_path=$free $path path=$(path_pair 2)"
diag "mapped after $(($(date +%s) - start)) s"
must unmap_device "$(mapped_node new "$free")"
must path_heal 1
must wait_for 60 sess_paths_are good 2
check "nothing is left" left_nothing
check "what was mapped before works" still_works

# No server.
must unmap_device "$dev"
must module_gone rnbd-server
good=$(state)
check "unloaded server" failed ECONNRESET $MAP "sessname=new device_path=$free $path" \
	'is rnbd-server loaded and the port right\?'
must server_load
good=$(state)
dev=$(map_device good "$back") || abort "cannot map with the server back"
check "it is back" still_works
must unmap_device "$dev"
check "nothing is left" left_nothing

ktap_end
