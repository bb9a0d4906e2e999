#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Netlink family rtrs: what dumps tell, and what they refuse, also while things come and go; events, with
# reasons, and none without notice; modules that go while somebody listens.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

EVENTS=/tmp/netlink.events
SESSIONS=5

# gives <exit status> <pattern of the output> <command>...
gives() {
	local status="$1" pattern="$2" out got=0
	shift 2
	out=$("$@" 2>&1 </dev/null) || got=$?
	if [ "$got" -ne "$status" ] || ! echo "$out" | grep -Eq -e "$pattern"; then
		echo "status $got, wanted $status; wanted output '$pattern', got:"
		echo "$out"
		return 1
	fi
}

# refuses <name> <pattern of errno and words> <argument of netlink>...
refuses() {
	local name="$1" pattern="$2"
	shift 2
	check "$name" gives 1 "^$pattern" netlink "$@"
}

# lists <name> <pattern of a line> <argument of netlink>...
lists() {
	local name="$1" pattern="$2"
	shift 2
	check "$name" gives 0 "$pattern" netlink "$@"
}

# nr_lines <number> <pattern> <argument of netlink>...
nr_lines() {
	local wanted="$1" pattern="$2"
	shift 2
	netlink "$@" >/tmp/netlink.out || return 1
	is "$(grep -Ec -e "$pattern" /tmp/netlink.out)" "$wanted"
}

events_start() {
	rnbd events -j >$EVENTS 2>$EVENTS.err &
	events_pid=$!
	wait_for 10 events_listened
}

# It has joined the controller's group, 16, then that of events, and sleeps: nothing but waiting for them is left.
events_listened() {
	grep -Eq "^[0-9a-f]+ +16 +$events_pid +[0-9a-f]{4}[89a-f][0-9a-f]{3} " /proc/net/netlink &&
		grep -q '^State:.S' "/proc/$events_pid/status"
}

# event <pattern of JSON>
event() {
	wait_for 20 grep -Eq -e "$1" $EVENTS || {
		cat $EVENTS $EVENTS.err
		return 1
	}
}

# Numbers of events follow each other.
events_complete() {
	sed -n 's/.*"seq": \([0-9]*\),.*/\1/p' $EVENTS |
		awk 'NR > 1 && $1 != last + 1 { print "after", last, "comes", $1; bad = 1 } { last = $1 }
		     END { exit bad || NR < 2 }'
}

# event_before <pattern> <pattern>: the first of these comes before the last of those
event_before() {
	awk -v a="$1" -v b="$2" '!first && $0 ~ a { first = NR } $0 ~ b { second = NR }
		END { exit !(first && second && first < second) }' $EVENTS
}

dumps_while_churning() {
	local i=0
	while [ -e /tmp/netlink.churn ] && [ $i -lt 200 ]; do
		netlink sessions >/tmp/netlink.out && netlink paths >/tmp/netlink.out &&
			netlink devices >/tmp/netlink.out || return 1
		i=$((i + 1))
	done
	diag "$i rounds"
	[ $i -gt 3 ]
}

churn() {
	local i
	for i in 1 2 3 4; do
		map_device churn "$back" access_mode=ro >/tmp/netlink.dev &&
		rnbd path del churn 10.2.0.2 && rnbd path add churn 10.2.0.1@10.2.0.2 &&
		unmap_device "$(cat /tmp/netlink.dev)" || break
	done >/tmp/netlink.churned 2>&1
	rm /tmp/netlink.churn
}

# A dump that takes several rounds, and a device that comes between them.
interrupted() {
	local i
	mkfifo /tmp/netlink.go
	netlink paths slowly >/tmp/netlink.out 2>&1 </tmp/netlink.go &
	exec 8>/tmp/netlink.go
	wait_for 10 grep -q waiting /tmp/netlink.out &&
	map_device between "$back" access_mode=ro >/tmp/netlink.dev &&
	echo go >&8
	exec 8>&-
	wait $! || i=bad
	rm /tmp/netlink.go
	[ "${i:-}" != bad ] && grep -q '^interrupted' /tmp/netlink.out
}

listener_ended() {
	local status=0
	wait "$events_pid" || status=$?
	is "$status" 3 && grep -q 'rtrs-core was unloaded' $EVENTS.err
}

ktap_plan 46
requires rnbd netlink
topo_up 2
topo_is_ours
debugfs_up
defer "rm -f /tmp/netlink.*"
back=$(backing_null 16) || abort "no backing device"
RTRS_SERVER_OPTS="sess_queue_depth=16"

refuses "no module" ENOENT sessions
modprobe -n -q rnbd-client || skip_all "needs the modules"
defer rtrs_unload
must modprobe rtrs-core
refuses "no module of either side" 'EOPNOTSUPP: neither module rtrs-client nor rtrs-server is loaded' sessions
refuses "none that has devices" 'EOPNOTSUPP: neither module rnbd-client nor rnbd-server is loaded' devices
refuses "not this side's" 'EOPNOTSUPP: side client: module rtrs-client is not loaded' paths side=u32:0
refuses "nor that one's" 'EOPNOTSUPP: side server: module rnbd-server is not loaded' devices side=u32:1
rtrs_load
check "nothing there: no sessions" nr_lines 0 . sessions
check "no devices" nr_lines 0 . devices

refuses "a side that there is not" 'E(RANGE|INVAL): integer out of range' sessions side=u32:2
refuses "a side of 3 bytes" 'E(RANGE|INVAL): ' sessions side=raw:010203
refuses "a name too long" 'E(RANGE|INVAL): ' sessions "session=str:$(printf '%0512d' 0)"
refuses "a name without end" 'EINVAL: ' sessions session=bare:abc
refuses "an attribute that there is not" 'EINVAL: ' sessions 99=u32:1
refuses "one that is no request's" 'EINVAL: ' paths 4=str:x
refuses "one thing of a dump" 'EOPNOTSUPP' sessions=do
refuses "a command that there is not" 'EOPNOTSUPP' 77
refuses "an event" 'EOPNOTSUPP' 4

must events_start
n=1
while [ $n -le $SESSIONS ]; do
	must map_device "test$n" "$back" access_mode=ro >/tmp/netlink.dev
	n=$((n + 1))
done
name=${back##*/}
lists "a session of the client" '^1: 2=0 3=test1 10=min-inflight \(MI: 1\) 11=2 12=2 13=' sessions side=u32:0
lists "and of the server" '^1: 2=1 3=test1 11=2 12=2$' sessions side=u32:1
check "both, of all" nr_lines $((2 * SESSIONS)) '^1:' sessions
check "both, of one" nr_lines 2 '3=test2 ' sessions session=str:test2
check "none of another" nr_lines 0 . sessions session=str:test
lists "a path of the client" '^2: 2=0 3=test1 10=min-inflight \(MI: 1\) 4=ip:10.1.0.1@ip:10.1.0.2 5=connected 6=ip:10.1.0.1 7=ip:10.1.0.2 8=rxe_c1 9=1 13=2:[0-9]*,' \
	paths side=u32:0 session=str:test1
lists "and of the server" '^2: 2=1 3=test1 4=ip:10.1.0.1@ip:10.1.0.2 5=connected 6=ip:10.1.0.1 7=ip:10.1.0.2 8=rxe_s1 9=1 13=2:[0-9]*,' \
	paths side=u32:1 session=str:test1
check "all paths" nr_lines $((4 * SESSIONS)) '^2:' paths
lists "a mapped device" "^3: 2=0 3=test1 5=open 14=rnbd0 15=$back 16=ro 17=32768 13=16:0,18:0,\$" devices side=u32:0
lists "and an open one" "^3: 2=1 3=test1 5=open 14=$name 15=$back 16=ro 17=32768 13=16:0,18:0,\$" devices side=u32:1
check_here "a dump that something came into says so" interrupted
must unmap_device "$(cat /tmp/netlink.dev)"

check "event: session opened" event '"event": "session-opened", "side": "client", "session": "test1"'
check "event: the server's" event '"event": "session-opened", "side": "server", "session": "test1"'
check "event: device opened" event "\"event\": \"device-opened\", \"side\": \"server\", \"session\": \"test1\", \"device\": \"$name\""
check "event: device mapped" event '"event": "device-mapped", "side": "client", "session": "test1", "device": "rnbd0".*"size": 16777216'
check "event: path connected" event '"side": "client", "session": "test1", "path": "ip:10.1.0.1@ip:10.1.0.2", "from": "connecting", "to": "connected", "cause": "established"'
check "in order" event_before '"session": "test1".*"to": "connected"' '"event": "device-mapped".*"test1"'
check "event: device unmapped" event '"event": "device-unmapped".*"session": "between".*"reason": "on request"'

must link_down 1
check "event: path lost, why" event '"side": "client", "session": "test1", "path": "ip:10.1.0.1@ip:10.1.0.2", "from": "connected", "to": "reconnecting", "cause": "error", "reason": ".*", "error": "E[A-Z]*"'
check "event: the server's path, why" event '"side": "server".*"from": "connected", "to": "closing", "cause": "close", "reason": '
check "a dump says so later" wait_for 20 gives 0 '4=ip:10.1.0.1@ip:10.1.0.2 5=reconnecting .* 20=|4=ip:10.1.0.1@ip:10.1.0.2 5=[a-z]* .* 24=' \
	netlink paths side=u32:0 session=str:test1
must link_up 1
check "event: it is back" wait_for 60 event_before '"to": "reconnecting"' '"from": "connecting", "to": "connected", "cause": "established"'
must rnbd disconnect test1 --all --force
check "event: device lost" event '"event": "device-lost".*"session": "test1".*"reason": "no path is connected"'
must rnbd reconnect test1
check "event: and back" event '"event": "device-back".*"session": "test1"'
check "no event is missing" events_complete

: >/tmp/netlink.churn
churn &
check "dumps while things come and go" dumps_while_churning
wait $!
check "which they did" [ ! -s /tmp/netlink.churned ]

must fault_arm rtrs-core/nl_event
must rnbd resize rnbd0 32768s
check "an event that got lost is told of" event '"event": "events-lost"'

must unmap_all
must module_gone rnbd-client rnbd-server rtrs-client rtrs-server rtrs-core
check_here "modules go while somebody listens, who ends" listener_ended
must rtrs_load
check "and come again" nr_lines 0 . paths
ktap_end
