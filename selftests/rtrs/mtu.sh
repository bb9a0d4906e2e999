#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network that loses large packets in one direction: its path does not carry I/O and says why, the other path does not
# notice, and the path joins by itself when the network is repaired. Without the server's part in the proof the path
# connects and is lost again and again: the attempts become rare, and I/O that only this path could carry fails after
# no_path_timeout.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"

RETURN_S=45

# big_lost <n> c|s: large packets that go to the client (or server) of network n
big_lost() {
	large_lost "$2p$1"
}

big_healed() {
	tc qdisc del dev "$2p$1" root
}

why() {
	cat "$(path_dir "$1" 1)/last_failure"
}

# tries <session>: attempts of path 1, successful ones too
tries() {
	echo $(($(reconnects "$1" 1 1) + $(reconnects "$1" 1 2)))
}

# lines: of all modules, client and server, since the mark
lines() {
	kmsg_since | grep -Ec 'rtrs|rnbd'
}

# few <what> <number> <most>
few() {
	diag "$1: $2"
	[ "$2" -le "$3" ] || {
		echo "$1: $2, wanted at most $3"
		kmsg_since | grep -E 'rtrs|rnbd' | head -n 40
		return 1
	}
}

# one_way <name> c|s <pattern of the reason>
one_way() {
	local name="$1" nr start
	must sysfs_write "$(path_dir test 1)/disconnect" 1
	must big_lost 1 "$2"
	load_start "$dev" 200 --rate_iops=50,50
	kmsg_mark
	nr=$(tries test)
	check_errno "$name: path 1 does not connect" ENOTCONN "$(path_dir test 1)/reconnect" 1
	check "$name: the reason is in sysfs" is "$(why test)" "$3"
	check "$name: and in the log" kmsg_has 'of data do not get .*, smaller ones do: MTU'
	sleep 20
	check "$name: it stays out" path_is test 1 disconnected
	check_here "$name: attempts become rare" few "attempts in 30 s" $(($(tries test) - nr)) 14
	check_here "$name: the log stays short" few "lines in 30 s" "$(lines)" 16
	load_end
	check "$name: no I/O failed" load_succeeded
	check_here "$name: no I/O waited" few "longest I/O, ms" "$(load_max_ms)" $((1000 * ${RTRS_SLOWNESS:-1}))
	must big_healed 1 "$2"
	start=$(uptime_ms)
	check "$name: repaired, path 1 connects by itself" path_returns $RETURN_S test 1
	diag "after $(($(uptime_ms) - start)) ms"
	check "$name: and carries I/O" fio_verify "$dev" --size=2M
	check_eq "$name: over both paths" "$(sess_paths_up test)" 2
}

read_start() {
	dd if="$dev" of=/dev/null bs=64k count=1 iflag=direct 2>/tmp/mtu.err &
	read_pid=$!
	read_from=$(uptime_ms)
}

# read_fails <least ms> <most ms>
read_fails() {
	local took status=0
	wait $read_pid || status=$?
	took=$(($(uptime_ms) - read_from))
	diag "the read ended after $took ms: $status $(grep -v records /tmp/mtu.err | head -n 1)"
	[ $status -ne 0 ] && grep -q "$(strerror ENOLINK)" /tmp/mtu.err && [ $took -ge "$1" ] &&
		[ $took -le $(($2 * ${RTRS_SLOWNESS:-1})) ]
}

reads() {
	drop_caches
	dd if="$dev" of=/dev/null bs=64k count=1 iflag=direct status=none
}

ktap_plan 32
topo_up 2
topo_is_ours
modprobe -a sch_prio cls_u32 || skip_all "needs sch_prio, cls_u32"
requires fio
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
defer "rm -f /tmp/mtu.err"
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin

one_way "to the server" s 'packets with 4096 bytes of data do not get to the server, *MTU? c1 has 9000'
one_way "to the client" c 'packets with 4096 bytes of data do not get here from the server, *MTU? c1 has 9000'
must unmap_device "$dev"

# The client's adapter retransmits the large packet for longer than the client waits for it.
dev=$(map_device slow "$back" ack_timeout_ms=4000 retry_count=6) || abort "cannot map"
must sysfs_write "$(path_dir slow 1)/disconnect" 1
must big_lost 1 s
check_errno "long ack_timeout_ms: path 1 does not connect" ENOTCONN "$(path_dir slow 1)/reconnect" 1
check "long ack_timeout_ms: the reason is in sysfs" is "$(why slow)" \
	'packets with 4096 bytes of data do not get to the server, *MTU? c1 has 9000'
must big_healed 1 s
check "long ack_timeout_ms: repaired, path 1 connects by itself" path_returns $RETURN_S slow 1
must unmap_device "$dev"

# The only path, and a server that does not take part.
must sysfs_write /sys/module/rtrs_server/parameters/probe N
must sysfs_write $CLT_CTL/map_device "$(map_line one "$back" 1 1) no_path_timeout=10"
dev=$(mapped_node one "$back") || abort "not mapped"
check "no probe: reads" reads
kmsg_mark
nr=$(tries one)
must big_lost 1 c
read_start
# At the latest when the path that has it is lost for the next time.
check_here "no probe: a read fails after no_path_timeout" read_fails 10000 20000
check "no probe: which is said" kmsg_has 'no path for no_path_timeout=10 seconds'
sleep 20
check_here "no probe: attempts become rare" few "attempts in 30 s" $(($(tries one) - nr)) 24
check_here "no probe: the log stays short" few "lines in 30 s" "$(lines)" 32
must big_healed 1 c
check "no probe: repaired, it is connected" path_returns $RETURN_S one 1
check "no probe: and reads" wait_for 10 reads
must sysfs_write /sys/module/rtrs_server/parameters/probe Y
must unmap_device "$dev"

ktap_end
