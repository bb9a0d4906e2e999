#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation that our modules make, by themselves or through others, fails once:
# the first one, the second one and so on, until a round passes without one left to
# fail. A round maps a device over two paths, uses it, has a path go and come back, and
# unmaps it. Each step works, or fails with an error and leaves nothing.
#
# vm: smp=1 timeout=3600 tier=all kver=6.12-debug append=rtrs.own_vm=slab

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faults.sh"

FAILSLAB=$DEBUGFS/failslab
MODULES='rtrs_core rtrs_client rtrs_server rnbd_client rnbd_server'

failslab() {
	echo "$2" >$FAILSLAB/"$1"
}

# failslab_set_up: calls with a function of our modules on the stack; what else lies between
# the lowest and the highest address of them fails too, which does no harm. Modules lie in the
# last 4 GiB; an address as a whole is no number for the shell.
failslab_set_up() {
	local mod low=0xffffffff high=0 start end
	while read -r mod end _ _ _ start _; do
		case " $MODULES " in *" $mod "*) ;; *) continue ;; esac
		start=$((0x${start#0xffffffff}))
		end=$((start + end))
		[ $start -gt $((low)) ] || low=$start
		[ $end -lt $((high)) ] || high=$end
	done </proc/modules
	low=$(printf '0xffffffff%08x' $((low))) high=$(printf '0xffffffff%08x' $((high)))
	diag "modules at $low to $high"
	failslab require-start "$low"
	failslab require-end "$high"
	failslab stacktrace-depth 32
	failslab probability 100
	failslab ignore-gfp-wait N
	failslab verbose 1
	failslab times 0
}

# failslab_arm <number>: the allocation of this number from now on. The kernel fails each whose
# number since boot is a multiple of the interval, and counts only with an interval above 1.
slab_count=0
failslab_arm() {
	failslab interval $((slab_count + $1))
	failslab times 1
}

failslab_fired() {
	[ "$(cat $FAILSLAB/times)" -eq 0 ]
}

# round: a step that fails is fine if it says so
round() {
	local path
	dev=$(map_now) || return 0
	whole || {
		echo "mapped, but not all paths come"
		return 1
	}
	fio_verify "$dev" --size=256k || failslab_fired || return 1
	path=$(path_dir faults 1)
	sysfs_write "$path/disconnect" 1 || failslab_fired || return 1
	sysfs_write "$path/reconnect" 1 || failslab_fired || return 1
	whole || {
		echo "the path does not come back"
		return 1
	}
	unmap_device "$dev"
}

requires fio
must debugfs_up
[ -d $FAILSLAB ] || skip_all "needs a kernel with failslab, as the debug kernel"
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=4"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
must works
failslab_set_up

ktap_plan 4
n=1 failed='' started=$(uptime_ms)
while :; do
	failslab_arm $n
	round >/tmp/faults.round 2>&1 && nothing_left || {
		failed="$failed $n"
		diag "allocation $n: $(cat /tmp/faults.round)"
		unmap_all
		wait_for 45 nothing_left || break
	}
	failslab_fired || break
	[ $n -eq 1 ] || slab_count=$((slab_count + n))
	[ $((n % 50)) -ne 0 ] || diag "$n allocations failed in $((($(uptime_ms) - started) / 1000)) s"
	n=$((n + 1))
done
failslab times 0
defer "rm -f /tmp/faults.round"
diag "$((n - 1)) allocations failed in $((($(uptime_ms) - started) / 1000)) s"
check "allocations fail" [ $n -gt 100 ]
check_eq "each step works or fails cleanly" "$failed" ''
check "the last round needed none" works
check "modules can go and come" eval 'rtrs_unload && server_load && client_load && works'

ktap_end
