#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All modules are unloaded and loaded again, 20 times, in every order that
# their references allow, with a device mapped and used in between; nothing
# leaks. A module that is in use cannot be unloaded.
#
# vm: smp=2 timeout=300

. "$(dirname "$0")/../lib.sh"

ROUNDS=20

# The client's two and the server's two, in their order, however interleaved.
LOAD_ORDERS="CcSs CScs CSsc SCcs SCsc SsCc"

module() {
	case $1 in
	C) echo rtrs-client ;;
	c) echo rnbd-client ;;
	S) echo rtrs-server ;;
	s) echo rnbd-server ;;
	esac
}

# The n-th word of the rest.
nth() {
	shift "$1"
	echo "$1"
}

load_in_order() {
	local letter opts
	for letter in $(echo "$1" | sed 's/./& /g'); do
		opts=''
		[ "$letter" != S ] || opts="sess_queue_depth=64"
		# shellcheck disable=SC2086 # none or one
		modprobe "$(module "$letter")" $opts || return 1
	done
}

unload_in_order() {
	local letter
	for letter in $(echo "$1" | sed 's/./& /g'); do
		rmmod "$(module "$letter")" || return 1
	done
	rmmod rtrs-core
}

# Last loaded, first unloaded, for an order that fits.
reversed() {
	echo "$1" | sed 's/\(.\)\(.\)\(.\)\(.\)/\4\3\2\1/'
}

use() {
	local dev
	dev=$(map_device test "$back") &&
		dd if=/dev/zero of="$dev" bs=64k count=4 oflag=direct status=none &&
		dd if="$dev" of=/dev/null bs=64k count=4 iflag=direct status=none || return 1
	# Every other time the modules go while the device is mapped.
	[ $(($1 % 2)) -eq 0 ] || unmap_device "$dev"
}

round() {
	local load unload
	# shellcheck disable=SC2086 # a list of words
	load=$(nth $(($1 % 6 + 1)) $LOAD_ORDERS)
	# shellcheck disable=SC2086
	unload=$(reversed "$(nth $((($1 / 2 + $1) % 6 + 1)) $LOAD_ORDERS)")
	load_in_order "$load" && use "$1" && unload_in_order "$unload" || {
		echo "round $1, loaded $load, unloading $unload"
		lsmod | grep -E 'rtrs|rnbd'
		return 1
	}
}

rounds() {
	local nr="$1"
	while [ "$nr" -lt "$2" ]; do
		round "$nr" || return 1
		nr=$((nr + 1))
	done
}

all_gone() {
	[ -z "$(lsmod | grep -E '^(rtrs|rnbd)_')" ] &&
		[ -z "$(ls -d /sys/class/rtrs-* /sys/class/rnbd-* /sys/block/rnbd* /sys/kernel/debug/r[tn][rb][sd]* 2>/dev/null)" ]
}

same_resources() {
	[ "$(resource_snapshot)" = "$1" ]
}

# in_use <module>: rmmod refuses
in_use() {
	local out
	out=$(rmmod "$1" 2>&1) && return 1
	echo "$out"
	echo "$out" | grep -q 'is in use'
}

ktap_plan 14
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 2
defer rtrs_unload
defer "rm -f /tmp/reload.*"
back=$(backing_null 16) || abort "no backing device"

before=$(resource_snapshot)
must load_in_order CcSs
traced=$(tracepoints)
must unload_in_order sScC
must rounds 0 6
must wait_for 20 all_gone
slab_snapshot >/tmp/reload.slab
used=$(mem_used)
check "$ROUNDS times, in all orders" rounds 6 $((6 + ROUNDS))
check "nothing is left in sysfs" wait_for 20 all_gone
check "no verbs object is left" wait_for 20 same_resources "$before"
# Loading any module costs the kernel an object or two for good.
check "no slab object is left" slab_settles 20 /tmp/reload.slab $((ROUNDS * 5)) \
	$((ROUNDS * traced))
grown=$(($(mem_used) - used))
diag "memory in use has grown by $grown kB"
check "no memory is left" [ "$grown" -lt $((ROUNDS * 512)) ]

# What is used cannot go.
must load_in_order CcSs
dev=$(map_device test "$back") || abort "cannot map"
check "rtrs-core is in use" in_use rtrs-core
check "rtrs-client is in use" in_use rtrs-client
check "rtrs-server is in use" in_use rtrs-server
exec 9<"$dev"
check "rnbd-client is in use while a device is open" in_use rnbd-client
exec 9<&-

# The server may go while a client has a device mapped, also under load.
load_start "$dev" 100
must ios_grow test 1 50
check "the server goes under load" rmmod rnbd-server
load_wait
check "the load got errors" [ "$load_status" -ne 0 ]
check "the disk is closed" wait_for 20 dev_is "$dev" closed
check "the client can go then" rmmod rnbd-client
must rmmod rtrs-client
must rmmod rtrs-server
must rmmod rtrs-core
check "no verbs object is left" wait_for 20 same_resources "$before"

ktap_end
