#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Changes by netlink: map, unmap, paths added and removed. They do what sysfs does, and what is refused is refused in
# the words of the kernel log, with the attribute that is to blame. Nothing else waits for one that hangs, and that
# one can be killed.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

FAR=ip:10.1.0.1,ip:10.1.0.2

# answered <pattern of a line> <argument of netlink>...
answered() {
	local pattern="$1"
	shift
	netlink "$@" >/tmp/netlink.out 2>&1 </dev/null && grep -Eq -e "$pattern" /tmp/netlink.out || {
		echo "wanted '$pattern', got:"
		cat /tmp/netlink.out
		return 1
	}
}

# refused <errno> <blame> <pattern of the words> <argument of netlink>...: blame is [<place>], [no <attribute>] or nothing
refused() {
	local errno="$1" blame="$2" pattern="$3" status=0
	shift 3
	kmsg_mark
	netlink "$@" >/tmp/netlink.out 2>&1 </dev/null || status=$?
	is "$status" 1 &&
	[ "$(sed -n 's/.* \(\[[no 0-9]*\]\)$/\1/p' /tmp/netlink.out)" = "$blame" ] &&
	grep -Eq -e "^($errno): $pattern( \[|\$)" /tmp/netlink.out || {
		echo "wanted '$errno: $pattern $blame', got:"
		cat /tmp/netlink.out
		return 1
	}
}

# no_such <name> <errno> <blame> <pattern> <argument of netlink>...: netlink's own words, which no log has
no_such() {
	check "$1" refused_and "kmsg_is_silent" "$@"
}

# bad <name> <errno> <blame> <pattern> <argument of netlink>...: the words are in the log too
bad() {
	check "$1" refused_and "kmsg_has_words" "$@"
}

refused_and() {
	local and="$1"
	shift 2
	refused "$@" && $and && nothing_left
}

kmsg_is_silent() {
	kmsg_has 'r(nbd|trs)[_-]client: ' || return 0
	kmsg_since
	return 1
}

kmsg_has_words() {
	local words
	words=$(sed 's/^[A-Z]*: //; s/ \[[no 0-9]*\]$//' /tmp/netlink.out)
	kmsg_since | grep -Fq -e "client: $words" || {
		echo "not in the log: $words"
		kmsg_since
		return 1
	}
}

# All that there is, but for numbers that grow.
state() {
	ls $CLT_CTL/devices $CLT_CLASS $SRV_CLASS
	ls -d /sys/block/rnbd* $CLT_CLASS/*/paths/* $SRV_CLASS/*/paths/*
} 2>/dev/null

nothing_left() {
	wait_for 20 is_as_before || {
		state | diff /tmp/netlink.state - && return 1
	}
}

is_as_before() {
	state | cmp -s - /tmp/netlink.state
}

# What a device and its session are like.
seen() {
	local file
	for file in /sys/block/rnbd0/rnbd/* /sys/block/rnbd0/ro /sys/block/rnbd0/size $CLT_CLASS/same/*; do
		[ -f "$file" ] && echo "$file $(cat "$file")"
	done
	ls $CLT_CTL/devices $CLT_CLASS/same/paths
}

same_as_sysfs() {
	must sysfs_write $CLT_CTL/map_device "$(map_line same "$back") access_mode=ro dest_port=1234 nr_poll_queues=1 \
		no_path_timeout=7 hb_interval_ms=300 hb_missed_max=3 ack_timeout_ms=200 retry_count=3 connect_timeout_ms=4000"
	seen >/tmp/netlink.sysfs
	must unmap_device /dev/rnbd0
	netlink map session=str:same "device-path=str:$back" "address=str:$(path_pair 1)" "address=str:$(path_pair 2)" \
		access=str:ro port=u32:1234 poll-queues=s32:1 no-path-timeout=s32:7 hb-interval-ms=u32:300 \
		hb-missed-max=u32:3 ack-timeout-ms=u32:200 retry-count=u32:3 connect-timeout-ms=u32:4000 &&
	seen | diff /tmp/netlink.sysfs -
}

# The answer to OPEN gets lost, and the request waits for it.
hang() {
	must fault_arm rtrs-server/rsp_lost
	netlink map session=str:test "device-path=str:$more" >/tmp/netlink.hung 2>&1 &
	hung=$!
	must wait_for 10 fault_fired rtrs-server/rsp_lost
}

# It sleeps in recv(); a thread of the kernel waits for the server.
is_waiting() {
	grep -q '^State:.S' "/proc/$hung/status" && cat /proc/[0-9]*/comm | grep -q '^rtrs-map'
}

killed() {
	local status=0
	is_waiting || return 1
	kill -KILL "$hung"
	wait "$hung" || status=$?
	is "$status" 137 && wait_for 30 is_as_before
}

mapped_again() {
	local n
	for n in 1 2; do
		must sysfs_write "$(path_dir test $n)/disconnect" 1
		must sysfs_write "$(path_dir test $n)/reconnect" 1
		must wait_for 20 sess_paths_are test 2
	done
	wait_for 30 netlink map session=str:test "device-path=str:$more"
}

# Of two that map the same device one succeeds.
map_twice() {
	local first=0 second=0
	netlink map session=str:two "device-path=str:$more" address=str:$FAR >/tmp/netlink.first 2>&1 &
	netlink map session=str:two "device-path=str:$more" address=str:$FAR >/tmp/netlink.out 2>&1 || second=1
	wait $! || first=1
	is "$((first + second))" 1 && grep -q 'EEXIST: .*mapped already in session two \[2\]' /tmp/netlink.first /tmp/netlink.out
}

# unmap_twice <device>: of two exactly one succeeds
unmap_twice() {
	local first=0 second=0
	netlink unmap "device=str:$1" >/tmp/netlink.first 2>&1 &
	netlink unmap "device=str:$1" >/tmp/netlink.out 2>&1 || second=1
	wait $! || first=1
	is "$((first + second))" 1
}

is_no_dump() {
	is "$(netlink map=dump)" EOPNOTSUPP
}

too_many() {
	local i=0 args=''
	while [ $i -lt 65 ]; do
		args="$args address=str:$FAR"
		i=$((i + 1))
	done
	# shellcheck disable=SC2086 # words
	refused E2BIG '' 'more than 64 attributes' map $args
}

ktap_plan 68
requires netlink
must debugfs_up
topo_up 2
topo_is_ours
defer "rm -f /tmp/netlink.*"
back=$(backing_null 16) || abort "no backing device"
more=$(backing_null 16) || abort "no backing device"
RTRS_SERVER_OPTS="sess_queue_depth=16"

modprobe -n -q rnbd-client || skip_all "needs the modules"
defer rtrs_unload
must modprobe rtrs-core
: >/tmp/netlink.state
no_such "map without the module" EOPNOTSUPP '' 'module rnbd-client is not loaded' map session=str:test
no_such "unmap" EOPNOTSUPP '' 'module rnbd-client is not loaded' unmap device=str:rnbd0
no_such "add a path" EOPNOTSUPP '' 'module rtrs-client is not loaded' add session=str:test
no_such "remove one" EOPNOTSUPP '' 'module rtrs-client is not loaded' del session=str:test
rtrs_load
state >/tmp/netlink.state
for cmd in map unmap add del; do
	no_such "$cmd: only for administrators" EPERM '' 'needs CAP_SYS_ADMIN' $cmd nobody
done
check "everybody may ask" netlink sessions nobody
check "a change is no dump" is_no_dump

# All is well.
check_here "all options, as by sysfs" same_as_sysfs
check "unmap" netlink unmap device=str:rnbd0
check "is gone" nothing_left
check "map" answered "^5: 2=0 3=test 5=open 14=rnbd0 15=$back 16=rw 17=32768 13=16:0,18:0,\$" map session=str:test \
	"device-path=str:$back" "address=str:$FAR"
check "data" fio_verify /dev/rnbd0 --size=1M
check "add a path" answered '^7: 2=0 3=test 10=min-inflight \(MI: 1\) 4=ip:10.2.0.1@ip:10.2.0.2 5=connected 6=ip:10.2.0.1 7=ip:10.2.0.2 8=rxe_c2 9=1 13=' \
	add session=str:test address=str:ip:10.2.0.2
check "both are connected" sess_paths_are test 2
state >/tmp/netlink.state
check "remove it" netlink del session=str:test "path=str:$(path_pair 2)"
check "it is gone" [ ! -e "$(path_dir test 2)" ]
check "add it by name" answered '5=connected' add session=str:test "address=str:$(path_pair 2)"
check "is as it was" nothing_left

# Options of map.
base="session=str:new device-path=str:$more address=str:$FAR"
bad "no session" EINVAL '[no 3]' 'map_device: sessname: expected sessname=<name of the session>' map device-path=str:x
bad "no device" EINVAL '[no 15]' 'map_device: device_path: expected device_path=<name of the device on the server>' \
	map session=str:new
bad "two sessions" EINVAL '[3]' 'map_device: sessname="b": expected it once' map session=str:a access=str:ro session=str:b
bad "a name with a slash" EINVAL '[1]' "map_device: sessname=\"a/b\": expected 1 to 255 characters without '/' and '\.'" \
	map session=str:a/b
long=$(printf '%0256d' 0)
bad "a name too long" EINVAL '[1]' 'map_device: sessname="0*": expected 1 to 255 .*' map "session=str:$long"
bad "no name" EINVAL '[1]' 'map_device: device_path="": expected 1 to 255 characters' map device-path=str:
bad "a blank" EINVAL '[2]' 'map_device: device_path="a b": expected a value without blanks' map session=str:new 'device-path=str:a b'
bad "both too long" ENAMETOOLONG '[1]' 'map_device: device_path="0*": expected at most 254 characters together with sessname' \
	map "device-path=str:${long%?}" session=str:s
# shellcheck disable=SC2086 # words
{
	bad "access mode" EINVAL '[4]' 'map_device: access_mode="all": expected ro, rw or migration' map $base access=str:all
	bad "port" EINVAL '[4]' 'map_device: dest_port="65536": expected a number from 0 to 65535' map $base port=u32:65536
	bad "poll queues" EINVAL '[4]' 'map_device: nr_poll_queues="-2": expected a number from -1 to [0-9]*, -1 for the highest' \
		map $base poll-queues=s32:-2
	bad "no_path_timeout" EINVAL '[4]' 'map_device: no_path_timeout="86401": expected a number of seconds from -1 to 86400, -1 for ever' \
		map $base no-path-timeout=s32:86401
	bad "heartbeats" EINVAL '[4]' 'map_device: hb_interval_ms="19": expected a number from 20 to 60000' map $base hb-interval-ms=u32:19
	bad "a large number" EINVAL '[4]' 'map_device: retry_count="4294967295": expected a number from 1 to 6' \
		map $base retry-count=u32:4294967295
	bad "the second address" EINVAL '[4]' 'map_device: path="ip:10.2.0": expected \[<src>,\]<dst>, each ip:<IPv4 or IPv6 address> or gid:<GID>' \
		map $base address=str:ip:10.2.0
	bad "the seventh" ENOMEM '[9]' 'map_device: path="ip:6": expected at most 6 paths' map $base address=str:ip:1 \
		address=str:ip:2 address=str:ip:3 address=str:ip:4 address=str:ip:5 address=str:ip:6
	check_here "too many attributes" too_many
	no_such "an attribute that is none of map's" 'EINVAL' '[1]' '.*' map device=str:rnbd0 $base
	no_such "a number of 3 bytes" 'E(RANGE|INVAL)' '[4]' '.*' map $base port=raw:010203
	no_such "much too long" 'E(RANGE|INVAL)' '[4]' '.*' map $base "access=str:$long$long"
	bad "the same path twice" EEXIST '[4]' 'session new, path .*: the session has this path already' map $base address=str:$FAR
	bad "nobody listens on the port" ECONNRESET '[3]' 'session new, path ip:10.1.0.1@ip:10.1.0.2: server refuses the connection: .*; is rnbd-server loaded and the port right\?' \
		map $base port=u32:4321
}
bad "no address of a new session" ENXIO '[no 29]' 'map_device: path is missing: expected path=\[<src>,\]<dst>, as session new does not exist' \
	map session=str:new "device-path=str:$more"
bad "an address that is not ours" EADDRNOTAVAIL '[3]' 'map_device: sessname="new": cannot connect: -EADDRNOTAVAIL' \
	map session=str:new "device-path=str:$more" address=str:ip:10.77.0.1,ip:10.1.0.2
bad "poll queues of a session that exists" EINVAL '[3]' 'map_device: nr_poll_queues=1: expected 0, session test exists with 0' \
	map session=str:test "device-path=str:$more" poll-queues=s32:1
bad "its timing" EINVAL '[2]' 'map_device: retry_count=5: expected 2, which session test has; .* changes it' \
	map session=str:test retry-count=u32:5 "device-path=str:$more"
bad "mapped already" EEXIST '[2]' "map_device: device_path=\"$back\": mapped already in session test" \
	map session=str:test "device-path=str:$back"
bad "the server does not open it" ENOENT '[2]' 'map_device: device_path="none" access_mode=ro: not opened by the server of session test: -ENOENT' \
	map session=str:test device-path=str:none access=str:ro

# Of the others.
no_such "unmap: no device" EINVAL '[no 14]' 'device is missing' unmap force=flag:
no_such "unmap: none of ours" ENOENT '[1]' 'loop0 is not mapped' unmap device=str:loop0
exec 9</dev/rnbd0
bad "unmap: in use" EBUSY '[1]' 'rnbd0: unmap_device=normal: the device is opened, or not yet mapped completely' unmap device=str:rnbd0
exec 9<&-
no_such "add: no address" EINVAL '[no 29]' 'path is missing' add session=str:test
no_such "add: no session" EINVAL '[no 3]' 'sessname is missing' add address=str:$FAR
no_such "add: no such session" ENOENT '[2]' 'session new does not exist' add address=str:$FAR session=str:new
no_such "add: two addresses" EINVAL '[3]' 'path: expected it once' add address=str:$FAR session=str:test address=str:$FAR
bad "add: a bad address" EINVAL '[2]' "session test: add_path '10.1.0.2' is not valid, write .*" add session=str:test address=str:10.1.0.2
bad "add: there already" EEXIST '[2]' 'session test, path .*: the session has this path already' add session=str:test address=str:$FAR
bad "add: cannot connect" EADDRNOTAVAIL '[2]' "session test: add_path 'ip:10.77.0.1,ip:10.1.0.2': -EADDRNOTAVAIL" \
	add session=str:test address=str:ip:10.77.0.1,ip:10.1.0.2
no_such "remove: no such path" ENOENT '[2]' 'session test has no path 10.1.0.2' del session=str:test path=str:10.1.0.2

# Several at once.
check_here "two map the same device" map_twice
check_here "two unmap it" unmap_twice rnbd1
check "once" nothing_left
must hang
check "while a request hangs: dumps" answered '^3:.* 14=rnbd0' devices
check "a device of another session" answered '14=rnbd[12]' map session=str:two "device-path=str:$more" address=str:$FAR access=str:ro
must unmap_device "$(mapped_node two "$more")"
check_here "it can be killed, and leaves nothing" killed
check_here "the device can be mapped when the message has ended" mapped_again

exec 9</dev/rnbd0
check "unmap by force" netlink unmap device=str:rnbd0 force=flag:
exec 9<&-
must unmap_all
ktap_end
