#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What clients may take of the server: sessions, connections and memory, by address and in
# all. Who floods it with connections that lead nowhere is refused, with few words, while
# others go on; and has all of it again when it is gone. The flood comes from the scripted
# peer on network 1, an honest client uses network 2.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

PARAMS=/sys/module/rtrs_server/parameters
NAMES='max_sessions max_sessions_per_client max_connections max_connections_per_client
max_memory_mb max_memory_mb_per_client'
EUSERS=-87 ENOBUFS=-105

# param <name> [<value>]
param() {
	[ $# -eq 1 ] || echo "$2" >$PARAMS/"$1"
	cat $PARAMS/"$1"
}

# mem_share <divisor>: of the machine's memory in MiB
mem_share() {
	awk -v by="$1" '/^MemTotal:/ { printf "%d\n", $2 / 1024 / by }' /proc/meminfo
}

# connections_are <entries>: by default, with queues of so many; of all clients and of one
connections_are() {
	local room
	room=$(($(mem_share 1) * 1024 * 1024 / ($1 * 384)))
	room=$((room < 131072 ? room : 131072))
	is "$(param max_connections) $(param max_connections_per_client)" "$((room / 4)) $((room / 8))"
}

# not_loaded <parameter>=<value>: with EINVAL, and why
not_loaded() {
	local out
	kmsg_mark
	out=$(LC_ALL=C modprobe rtrs-server "$1" 2>&1) && {
		module_gone rtrs-server
		echo "loaded"
		return 1
	}
	is "$out" "*$(strerror EINVAL)*" || return 1
	kmsg_has "rtrs-server: parameter $1 is not valid, allowed is 1 to 4294967295"
}

# asks <con> <session> <path> [<field>=<number>...]: for a path's first connection
asks() {
	local con="$1" sess="$2" path="$3"
	shift 3
	clt_connect "$con" sess="$sess" path="$path" "$@"
}

# comes <con> <session> <path> [<field>=<number>...]
comes() {
	is "$(asks "$@")" 'established*'
}

# over <message> <errno> <con> <session> <path> [<field>=<number>...]: refused, for this reason
over() {
	local message="$1" errno="$2"
	shift 2
	kmsg_mark
	refused "$errno" "$(asks "$@")" || return 1
	kmsg_has "rtrs-server: $message" || {
		kmsg_since
		return 1
	}
}

# again <con> <session> <path> [<field>=<number>...]: what something has given back is free
again() {
	wait_for 10 comes "$@"
}

# cleared: the peer has nothing, and the server nothing of it
cleared() {
	peer destroy all && wait_for 10 server_forgot
}

server_forgot() {
	[ "$(rdma resource show cm_id dev rxe_s1 | grep -c LISTEN -v)" -eq 0 ]
}

honest_maps() {
	dev=$(map_now)
}

map_now() {
	sysfs_write $CLT_CTL/map_device "$(map_line honest "$back" 2 2)" && mapped_node honest "$back"
}

# flood <attempts>: each a new session's first connection, to which nothing follows; counts in $taken
# and $refusals, and $other for what is neither
flood() {
	local n=0
	taken=0 refusals=0 other=''
	while [ $n -lt "$1" ]; do
		n=$((n + 1))
		case $(asks "f$n" $((10000 + n)) $((20000 + n))) in
		established*) taken=$((taken + 1)) ;;
		"rejected 28 $(conn_reject $EUSERS)"*) refusals=$((refusals + 1)) ;;
		*) other="$other $n" ;;
		esac
	done
}

# said: lines of rtrs-server in the kernel's log
said() {
	kmsg_since | grep -c 'rtrs-server: '
}

ktap_plan 46
modprobe -n -q rnbd-client || skip_all "needs the modules"
requires fio
topo_up 2
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 32) || abort "no backing device"

for name in $NAMES; do
	for value in 0 -1 4294967296; do
		check "$name=$value at load" not_loaded "$name=$value"
	done
done

must modprobe rtrs-server
check_here "connections with a queue depth of 512" connections_are $((254 + 513))
check "are as many as have room" [ "$(param max_connections_per_client)" -lt 1024 ]
must module_gone rtrs-server
wire_server Y
check_eq "sessions by default" "$(param max_sessions) $(param max_sessions_per_client)" "4096 64"
# Sends, three for each slot and one more, and receives.
check_here "connections by default" connections_are $((3 * SRV_QD + 1 + SRV_QD + 1))
check_eq "memory by default" "$(param max_memory_mb) $(param max_memory_mb_per_client)" \
	"$(mem_share 2) $(mem_share 4)"
check_errno "no number, in sysfs" EINVAL $PARAMS/max_sessions some \
	'rtrs-server: parameter max_sessions=some is not valid, allowed is 1 to 4294967295'
check_eq "which changes nothing" "$(param max_sessions)" 4096

param max_sessions_per_client 2 >/dev/null
check_here "a client's first session" comes a 1 1
check_here "its second" comes b 2 2
check_here "its third is refused" over "client ip:10.1.0.1 has 2 sessions, max_sessions_per_client=2 allows no more" \
	$EUSERS c 3 3
check_here "another path of the first is not" is "$(peer connect d 10.1.0.1 10.1.0.2 $SRV_PORT "$(conn_req sess=1 path=9)")" \
	"rejected 28 $(conn_reject -17)*"
must peer destroy a
check_here "when one is gone, it comes" again c 3 3
must cleared
param max_sessions 1 >/dev/null
param max_sessions_per_client 64 >/dev/null
must comes a 1 1
check_here "all clients together" over "all clients have 1 sessions, max_sessions=1 allows no more" $EUSERS b 2 2
must cleared
param max_sessions 4096 >/dev/null

param max_connections_per_client 3 >/dev/null
must comes a 1 1 cid_num=2
check_here "connections of a path count" comes b 1 1 cid_num=2 cid=1
must comes c 2 2 cid_num=2
check_here "a client's connections" \
	over "client ip:10.1.0.1 has 3 connections, max_connections_per_client=3 allows no more" \
	$EUSERS d 2 2 cid_num=2 cid=1
check_here "the path that lacks one goes" are_closed c
must cleared
param max_connections 1 >/dev/null
must comes a 1 1
check_here "connections of all clients" over "all clients have 1 connections, max_connections=1 allows no more" \
	$EUSERS b 2 2
must cleared

must module_gone rnbd-server rtrs-server
must modprobe rtrs-server sess_queue_depth=64 max_memory_mb=25 max_memory_mb_per_client=17
must modprobe rnbd-server
must wait_for 5 [ -d $SRV_CTL ]
must comes a 1 1
must comes b 2 2
check_here "a client's memory: two times 8 MiB and 64 pages" \
	over "client ip:10.1.0.1 has 16 MiB, max_memory_mb_per_client=17 allows no more" $ENOBUFS c 3 3
param max_memory_mb 17 >/dev/null
must client_load
kmsg_mark
check_fails "memory of all clients" honest_maps
check "which both sides say" kmsg_has 'rtrs-server: all clients have 16 MiB, max_memory_mb=17 allows no more'
check_errno "with the error of the limit" ENOBUFS $CLT_CTL/map_device "$(map_line honest "$back" 2 2)" 'error -105'
must cleared

# Flood.
must module_gone rnbd-server rtrs-server
must modprobe rtrs-server sess_queue_depth=16
must modprobe rnbd-server
must wait_for 5 [ -d $SRV_CTL ]
before=$(resource_snapshot)
must honest_maps
param max_sessions_per_client 8 >/dev/null
must load_start "$dev" 60
must ios_grow honest 2 50
kmsg_mark
start=$(uptime_ms)
# On the slowest kernel this is over before the first ones' handshake times out.
flood 24
diag "24 connections in $(($(uptime_ms) - start)) ms, $(said) lines in the log"
check_eq "a flood of half connections: so many sessions, the rest refused" "$taken $refusals$other" "8 16"
check "the log says it, and is not flooded too" \
	[ "$(said)" -ge 2 ] && [ "$(said)" -le $((25 * (1 + ($(uptime_ms) - start) / 5000))) ]
check "an honest client's I/O goes on" ios_grow honest 2 50
load_end
check "with no error" load_succeeded
check_here "after the handshake time-out it may come again" wait_for 45 comes again 30000 30000
must cleared
check "unmaps" unmap_device "$dev"
check_eq "nothing is left" "$(wait_for 10 [ ! -d $SRV_CLASS/honest ]; resource_snapshot)" "$before"

ktap_end
