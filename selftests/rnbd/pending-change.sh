#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# While a server does not answer a mapping, by netlink or sysfs: all other users of generic netlink are served, a module
# with a family of its own is loaded, other sessions work. Who waits can be killed, by which the mapping is undone; the
# module can be unloaded.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

LIMIT_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# figure <what> <milliseconds>: told at the end
figure() {
	echo "$1: $2 ms" >>/tmp/pending.figures
}

# in_time <command> [<argument>...]: succeeds within a second
in_time() {
	local start status=0
	start=$(uptime_ms)
	"$@" >/tmp/pending.out 2>&1 </dev/null || status=$?
	took=$(($(uptime_ms) - start))
	figure "$1 $2, status $status" $took
	[ "$status" -eq 0 ] && [ "$took" -lt $LIMIT_MS ] || {
		cat /tmp/pending.out
		return 1
	}
}

# Thread that carries something out: job <beginning of its name>
job() {
	cat /proc/[0-9]*/comm 2>/dev/null | grep -q "^rtrs-$1"
}

# The name of a job's thread has a blank; the rescuer of a workqueue, which 6.1 calls as the queue, has none.
no_job() {
	! job '[^ ]* '
}

state() {
	ls $CLT_CTL/devices $CLT_CLASS $CLT_CLASS/*/paths
} 2>/dev/null

is_as_before() {
	state | cmp -s - /tmp/pending.state && no_job
}

# begun <command> [<argument>...]: in the background, waiting for the server
begun() {
	state >/tmp/pending.state
	"$@" >/tmp/pending.said 2>&1 </dev/null &
	writer=$!
	sleep 1
	child_runs $writer || {
		cat /tmp/pending.said
		return 1
	}
}

# write <file> <text>: in a process of its own
write() {
	exec sh -c 'echo "$2" >"$1"' write "$1" "$2"
}

is_gone() {
	! child_runs $writer
}

# dies <what to call the time>: killed, it is gone within a second; $start is when it was killed
dies() {
	start=$(uptime_ms)
	kill -KILL $writer
	wait_for 30 is_gone
	took=$(($(uptime_ms) - start))
	wait $writer
	is "$?" 137
	figure "$1" $took
	[ "$took" -lt $LIMIT_MS ]
}

# killed: and so is what it had begun
killed() {
	dies "killed" || return 1
	wait_for 30 is_as_before
	took=$(($(uptime_ms) - start))
	figure "undone" $took
	[ "$took" -lt $((2 * LIMIT_MS)) ] || {
		state | diff /tmp/pending.state -
		return 1
	}
}

# The healthy neighbour: a read every 50 ms; the longest is in /tmp/pending.worst, errors in /tmp/pending.errors.
neighbour() {
	local start took worst=0
	: >/tmp/pending.errors
	while [ ! -e /tmp/pending.stop ]; do
		start=$(uptime_ms)
		dd if="$near" of=/dev/null bs=4k count=1 iflag=direct 2>>/tmp/pending.dd ||
			echo error >>/tmp/pending.errors
		took=$(($(uptime_ms) - start))
		[ $took -le $worst ] || worst=$took
		echo $worst >/tmp/pending.worst
		sleep 0.05
	done
}

neighbour_start() {
	rm -f /tmp/pending.stop
	neighbour &
	neighbour=$!
}

neighbour_is_well() {
	: >/tmp/pending.stop
	wait $neighbour
	figure "worst read of the neighbour" "$(cat /tmp/pending.worst)"
	[ ! -s /tmp/pending.errors ] && [ "$(cat /tmp/pending.worst)" -lt $LIMIT_MS ]
}

nothing_came() {
	path_heal 2
	sleep 3
	is_as_before
}

mapped_meanwhile() {
	in_time netlink map session=str:near "device-path=str:$more" &&
	unmap_device "$(mapped_node near "$more")"
}

# map_over_1 <session> <device>: prints the disk
map_over_1() {
	sysfs_write $CLT_CTL/map_device "$(map_line "$1" "$2" 1)" && mapped_node "$1" "$2"
}

far_map() {
	exec netlink map session=str:far "device-path=str:$more" "address=str:$(path_pair 2)"
}

# The answer to a read is lost, and the session has another device, so it is not closed to end the read.
slow_unmap() {
	must fault_arm rtrs-server/rsp_lost
	dd if="$slow" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
	must wait_for 10 fault_fired rtrs-server/rsp_lost
	begun write "$(dev_attr "$slow" unmap_device)" force
}

killed_goes_on() {
	dies "killed while it unmaps" && job unmap && wait_for 90 no_job && [ ! -e "/sys/block/${slow##*/}" ]
}

lost_path() {
	must path_heal 2
	must sysfs_write $CLT_CLASS/near/add_path "$(path_pair 2)"
	must path_cut 2
	must wait_for 60 sess_paths_are near 1
	# While an attempt runs there is nothing to reconnect.
	must sysfs_write "$(path_dir near 2)/disconnect" 1
}

too_many() {
	state >/tmp/pending.state
	is "$(netlink map session=str:far "device-path=str:$more" "address=str:$(path_pair 2)" x17)" \
		'EBUSY: 16 requests of this socket are in progress' && wait_for 5 is_as_before
}

unloaded() {
	must rmmod rnbd-client
	wait $writer
	is "$?" 1 && grep -q '^EINTR: ' /tmp/pending.said && no_job || {
		cat /tmp/pending.said
		return 1
	}
}

tells_what_it_waits_for() {
	must client_load
	must map_over_1 near "$back" >/dev/null
	must fault_arm rtrs-server/rsp_lost
	kmsg_mark
	must rmmod rnbd-client
	kmsg_has 'unloading rnbd_client waits for "unmap rnbd[0-9]* \(.*\) of session near", [0-9]* s so far' || {
		kmsg_since
		return 1
	}
}

ktap_plan 22
requires netlink
must debugfs_up
topo_up 2
topo_is_ours
defer "rm -f /tmp/pending.*"
back=$(backing_null 16) || abort "no backing device"
more=$(backing_null 16) || abort "no backing device"
RTRS_SERVER_OPTS="sess_queue_depth=16"
rtrs_load
near=$(map_over_1 near "$back") || abort "cannot map"

# A mapping by netlink.
path_cut 2
neighbour_start
check_here "a mapping waits for the server" begun far_map
check "it is a thread that waits" job "map $(printf %.4s "$more")"
check_here "a family of generic netlink is asked for" in_time netlink sessions
if modprobe -n -q nbd; then
	defer "modprobe -r -q nbd"
	check_here "a module with a family is loaded" in_time modprobe nbd
else
	ktap_skip "a module with a family is loaded" "this kernel has no nbd"
fi
check_here "asked for again" in_time netlink paths
check_here "another device is mapped" mapped_meanwhile
check_here "the tool can be killed, and leaves nothing" killed
check_here "nothing came of it when the server is back" nothing_came
path_cut 2

# Files in sysfs.
check_here "map_device waits" begun write $CLT_CTL/map_device "$(map_line far "$more" 2 2)"
check_here "a family is asked for" in_time netlink sessions
check_here "the writer can be killed, and leaves nothing" killed
check_here "add_path waits" begun write $CLT_CLASS/near/add_path "$(path_pair 2)"
check_here "its writer can be killed, and leaves nothing" killed
lost_path
check_here "reconnect waits" begun write "$(path_dir near 2)/reconnect" 1
check_here "its writer can be killed" killed
check_here "the neighbour has noticed nothing" neighbour_is_well
slow=$(map_over_1 near "$more") || abort "cannot map another device"
check_here "unmap_device by force waits for I/O" slow_unmap
check_here "its writer can be killed, and it goes on" killed_goes_on

check_here "a socket has so many requests, and all are cancelled" too_many

# Unloading.
check_here "a mapping waits" begun far_map
check_here "the module can be unloaded, and the tool is told" unloaded
check_here "unloading tells what it waits for" tells_what_it_waits_for
diag "$(cat /tmp/pending.figures)"
ktap_end
