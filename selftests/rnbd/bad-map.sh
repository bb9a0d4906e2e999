#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Whatever is wrong with a line for map_device: it gives the right errno and one
# message that names key and value, leaves nothing half-made, and does not touch
# what was mapped before.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

MAP=$CLT_CTL/map_device

# state: all that a failed attempt could leave behind
state() {
	ls $CLT_CTL/devices $CLT_CLASS $SRV_CLASS $SRV_CTL/devices
	ls -d /sys/block/rnbd* $CLT_CLASS/*/paths/* $SRV_CLASS/*/paths/* $SRV_CTL/devices/*/sessions/*
	resource_snapshot
}

is_as_before() {
	[ "$(state)" = "$good" ]
}

# refused <errno> <line> <pattern of the message>: the whole of it. One message
# of the client, and not two, comes from an attempt that fails before connecting.
refused() {
	write_gives "$1" $MAP "$2" "rnbd_client: map_device: $3" || return 1
	[ "$(kmsg_since | grep -c 'rnbd_client: ')" -eq 1 ] || {
		echo "more than one message:"
		kmsg_since
		return 1
	}
	left_nothing
}

left_nothing() {
	wait_for 10 is_as_before || {
		echo "left behind:"
		state | grep -vxF "$good"
		return 1
	}
}

still_works() {
	fio_verify "$dev" --size=1M --randseed="$(date +%s)"
}

# bad <name> <errno> <line> <pattern>
bad() {
	check "$1" refused "$2" "$3" "$4"
}

# long <characters>: a word of that length
long() {
	head -c "$1" /dev/zero | tr '\0' x
}

ktap_plan 52
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
free=$(backing_null 16) || abort "no backing device"
dev=$(map_device good "$back") || abort "cannot map"
must sess_paths_are good 2
must still_works
good=$(state)
path=path=$(path_pair 1)
usage='expected sessname=, device_path=, path=, dest_port=, access_mode=, nr_poll_queues=, no_path_timeout=, request_timeout=, hb_interval_ms=, hb_missed_max=, ack_timeout_ms=, retry_count= or connect_timeout_ms='

# Keys.
bad "unknown key" EINVAL "sessname=new device_path=$free $path color=blue" "color=\"blue\": $usage"
bad "key in capitals" EINVAL "SESSNAME=new device_path=$free $path" "SESSNAME=\"new\": $usage"
bad "word without a value" EINVAL "sessname=new device_path=$free $path readonly" "readonly: $usage"
bad "empty key" EINVAL "=new device_path=$free $path" "=\"new\": $usage"
bad "no sessname" EINVAL "device_path=$free $path" 'sessname: expected sessname=<name of the session>'
bad "no device_path" EINVAL "sessname=new $path" 'device_path: expected device_path=<name of the device'
bad "nothing at all" EINVAL "" 'sessname: expected'
bad "blanks" EINVAL "   " 'sessname: expected'
bad "no path for a new session" ENXIO "sessname=new device_path=$free" \
	'path is missing: expected path=\[<src>,\]<dst>, as session new does not exist'
bad "a key twice" EINVAL "sessname=new sessname=old device_path=$free $path" \
	'sessname="old": expected it once'

# Names.
bad "empty sessname" EINVAL "sessname= device_path=$free $path" 'sessname="": expected 1 to 255 characters'
bad "sessname with a slash" EINVAL "sessname=a/b device_path=$free $path" \
	"sessname=\"a/b\": expected 1 to 255 characters without '/' and '.'"
bad "sessname with a dot" EINVAL "sessname=a.b device_path=$free $path" \
	"sessname=\"a.b\": expected 1 to 255 characters without '/' and '.'"
bad "sessname too long" EINVAL "sessname=$(long 256) device_path=$free $path" \
	'sessname="xxxx[x]*": expected 1 to 255 characters'
bad "empty device_path" EINVAL "sessname=new device_path= $path" 'device_path="": expected 1 to 255 characters'
bad "device_path too long" EINVAL "sessname=new device_path=/$(long 256) $path" \
	'device_path="/xxxx[x]*": expected 1 to 255 characters'
bad "both together too long" ENAMETOOLONG "sessname=$(long 100) device_path=/$(long 200) $path" \
	'device_path="/xxx[x]*": expected at most 254 characters together with sessname'

# As long as they may be together, with the @ between them.
longest=$(long $((254 - ${#free})))
check "the longest name" sysfs_write $MAP "sessname=$longest device_path=$free $path"
check "works" fio_verify "$(mapped_node "$longest" "$free")" --size=1M
check "is unmapped" unmap_device "$(mapped_node "$longest" "$free")"
check "and leaves nothing" left_nothing

# Addresses.
for addr in 10.1.0.2 ipx:10.1.0.2 '' 'ip:10.1.0.1,10.1.0.2' IP:10.1.0.2; do
	bad "destination '$addr'" EPROTONOSUPPORT "sessname=new device_path=$free path=$addr" \
		"path=\"$addr\": expected \[<src>,\]<dst>, each ip:<IPv4 or IPv6 address> or gid:<GID>"
done
for addr in ip: ip:10.1.0 ip:10.1.0.256 ip:10.1.0.2/24 ip:fd00:::1 ip:host gid:fd00 \
		10.1.0.1,ip:10.1.0.2 ip:10.1.0.1, ,ip:10.1.0.2 ip:10.1.0.1@; do
	bad "address '$addr'" EINVAL "sessname=new device_path=$free path=$addr" \
		"path=\"$addr\": expected \[<src>,\]<dst>"
done
seven=$(for n in 1 2 3 4 5 6 7; do printf ' path=ip:10.%s.0.2' $n; done)
bad "seven paths" ENOMEM "sessname=new device_path=$free$seven" 'path="ip:10.7.0.2": expected at most 6 paths'

# Numbers.
for port in -1 65536 99999999999 12a 1.5 ''; do
	bad "dest_port '$port'" EINVAL "sessname=new device_path=$free dest_port=$port $path" \
		"dest_port=\"$port\": expected a number from 0 to 65535"
done
cpus=$(nproc)
for nr in -2 $((cpus + 1)) many; do
	bad "nr_poll_queues '$nr'" EINVAL "sessname=new device_path=$free $path nr_poll_queues=$nr" \
		"nr_poll_queues=\"$nr\": expected a number from -1 to $cpus"
done
bad "poll queues of a session that exists" EINVAL "sessname=good device_path=$free nr_poll_queues=1" \
	'nr_poll_queues=1: expected 0, session good exists with 0'
bad "timing that a session has not" EINVAL "sessname=good device_path=$free hb_interval_ms=200 retry_count=5" \
	'retry_count=5: expected 2, which session good has; /sys/class/rtrs-client/good/retry_count changes it'
bad "access_mode" EINVAL "sessname=new device_path=$free $path access_mode=readonly" \
	'access_mode="readonly": expected ro, rw or migration'

check "timing that it has" [ -n "$(map_device good "$free" hb_interval_ms=200 retry_count=2)" ]
check "what was mapped before works" still_works
ktap_end
