#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Say all there is to say of the modules' sysfs, one fact a line:
#
#	<entry> mode <type and permissions>
#	<entry> link <target>
#	<entry> reads <text>		numbers as N; "usage" for any usage line
#	<entry> <- '<value>' gives <ok or error>
#
# Two sets of modules that can stand in for each other say the same. Not a test:
# vm/tests/sysfs-compat.py runs it on ours and on mainline's, and compares.

. /selftests/lib.sh

# Entries in which numbers are not the point but how many there are.
facts_of() {
	local entry="$1" name="$2" type
	type=$(stat -c '%A' "$entry")
	echo "$name mode $type"
	case $type in
	l*)	echo "$name link $(readlink "$entry" | sed 's/[0-9][0-9]*/N/g; s,\.\./,,g')" ;;
	-r*)	echo "$name reads $(text_of "$entry")" ;;
	esac
}

text_of() {
	local text
	text=$(cat "$1" 2>&1) || {
		echo "error ${text##*: }"
		return
	}
	case $text in
	*[Uu]sage:*) echo usage ;;
	*) printf '%s' "$text" | tr '\n' '~' | sed -E 's/-?[0-9]+/N/g; s/nullb?N|selftestN/DEV/g' ;;
	esac
}

# walk <name> <directory>: all below, but not what the driver core puts there
walk() {
	find "$2/" ! -path '*/power*' ! -name uevent ! -name subsystem ! -name dev ! -name device |
		LC_ALL=C sort | while read -r entry; do
		facts_of "$entry" "$1${entry#"$2"}"
	done
}

# try <name> <file> <value>...
try() {
	local name="$1" file="$2" value
	shift 2
	for value; do
		if sysfs_write "$file" "$value"; then
			echo "$name <- '$(short "$value")' gives ok"
		else
			echo "$name <- '$(short "$value")' gives $sysfs_error"
		fi
	done
}

short() {
	printf '%s' "$1" | sed -E "s,$back,DEV,g; s/a{50,}/a.../g"
}

long_name() {
	head -c "$1" /dev/zero | tr '\0' a
}

walk_all() {
	walk client/session $CLT_CLASS/walk
	walk client/ctl $CLT_CTL
	walk client/disk "/sys/block/${dev#/dev/}/rnbd"
	walk server/session $SRV_CLASS/walk
	walk server/ctl $SRV_CTL
	for module in rtrs_core rtrs_client rtrs_server rnbd_client rnbd_server; do
		[ ! -d "/sys/module/$module/parameters" ] || walk "$module" "/sys/module/$module/parameters"
	done
}

try_client() {
	local path one=$CLT_CLASS/walk/paths/$(path_pair 1) name
	path=$(path_pair 2)
	try client/max_reconnect_attempts $CLT_CLASS/walk/max_reconnect_attempts \
		0 9999 10000 -2 abc '' 5x 99999999999 ' 7' 0x10 -1
	try client/mpath_policy $CLT_CLASS/walk/mpath_policy \
		0 1 2 3 -1 rr RR mi MI ml round-robin ROUND-ROBIN min-inflight min-latency \
		round-robinx min foo '' 01
	try client/add_path $CLT_CLASS/walk/add_path '' foo ip:1.2.3 gid:x "$path" "${path#*@}@" \
		"ip:10.1.0.1,$path" tcp:10.1.0.2 'ip:10.1.0.x@ip:10.1.0.2'
	for name in reconnect disconnect remove_path; do
		try "client/path/$name" "$one/$name" 0 x '' 11 -1
	done
	for name in cpu_migration_from cpu_migration_to reconnects rdma reset_all; do
		try "client/path/stats/$name" "$one/stats/$name" 0 x '' 2 1
	done
	try client/path/reconnect "$one/reconnect" 1
}

try_server() {
	local one=$SRV_CLASS/walk/paths/$(path_pair 1)
	wait_for 20 [ -e "$one/disconnect" ]
	try server/path/disconnect "$one/disconnect" 0 x ''
	try server/path/stats/rdma "$one/stats/rdma" 0 x '' 2 1
	try server/force_close $SRV_CTL/devices/*/sessions/walk/force_close 0 x ''
}

try_disk() {
	local dir="/sys/block/${dev#/dev/}/rnbd"
	try disk/resize "$dir/resize" abc '' -1 99999999999999999999 0x8000 32768 131072
	try disk/remap_device "$dir/remap_device" 0 x '' 1
	try disk/unmap_device "$dir/unmap_device" foo '' 1 ' '
	exec 9<"$dev"
	try disk/unmap_device "$dir/unmap_device" normal
	exec 9<&-
}

try_map() {
	local good
	good="$(path_pair 1)"
	try map_device $CLT_CTL/map_device '' foo sessname=x device_path=x \
		"sessname=x device_path=$back" "sessname=x path=$good" "device_path=$back path=$good" \
		"sessname=x device_path=$back path=$good colour=red" \
		"sessname=x device_path=$back path=$good access_mode=" \
		"sessname=x device_path=$back path=$good access_mode=rwx" \
		"sessname=x device_path=$back path=$good access_mode=RO" \
		"sessname=x device_path=$back dest_port=70000 path=$good" \
		"sessname=x device_path=$back dest_port=-1 path=$good" \
		"sessname=x device_path=$back dest_port=x path=$good" \
		"sessname=x device_path=$back path=$good nr_poll_queues=-2" \
		"sessname=x device_path=$back path=$good nr_poll_queues=1000" \
		"sessname=x device_path=$back path=$good nr_poll_queues=x" \
		"sessname=walk device_path=$back nr_poll_queues=1" \
		"sessname=x device_path=$back path=tcp:10.1.0.2" \
		"sessname=x device_path=$back path=ip:10.1.0.300" \
		"sessname=x device_path=$back path=gid:x" \
		"sessname=x device_path=$back path=ip:10.1.0.x@ip:10.1.0.2" \
		"sessname=x device_path=$back path=$good path=$good path=$good path=$good path=$good path=$good path=$good" \
		"sessname=a/b device_path=$back path=$good" \
		"sessname=a.b device_path=$back path=$good" \
		"sessname=$(long_name 256) device_path=$back path=$good" \
		"sessname=x device_path=$(long_name 256) path=$good" \
		"sessname=walk device_path=$back" \
		"sessname=walk device_path=/dev/nosuch" \
		"sessname=walk device_path=/dev/../dev/null" \
		"sessname=y device_path=/dev/nosuch path=$good" \
		"sessname=y device_path=$back path=$good" \
		"sessname=y device_path=$back path=$good access_mode=migration" \
		"sessname=y device_path=$back path=ip:10.1.0.2 dest_port=4321" \
		"sessname=y device_path=$back dest_port=4321 path=$good"
}

topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 64)
dev=$(map_device walk "$back")
dd if="$dev" of=/dev/null bs=4k count=16 iflag=direct status=none
dd if=/dev/zero of="$dev" bs=4k count=16 oflag=direct status=none
walk_all
try_map
try_disk
try_server
try_client
# What was refused has left nothing, and what worked still does.
walk_all | sed 's/^/after: /'
dd if="$dev" of=/dev/null bs=4k count=16 iflag=direct status=none && echo "reads to the end"
unmap_device "$dev"
ktap_verdict=ended
