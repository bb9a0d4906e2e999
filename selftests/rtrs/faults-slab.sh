#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation that our modules make, by themselves or through others, fails once: of
# a session of two paths that comes and goes, the first one, the second one and so on,
# until none is left to fail; then of I/O, then of a path that is closed and comes back.
# Each time it works, or fails with an error and leaves nothing.
#
# It takes long: each of two VMs has every other allocation.
#
# vm: smp=1 timeout=3600 append=slab_nomerge args=1of2,2of2

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faults.sh"

FAILSLAB=$DEBUGFS/failslab
MODULES='rtrs_core rtrs_client rtrs_server rnbd_client rnbd_server'
# More than half of all allocations are the debug kernel's own, which keeps book of ours and does
# without when it cannot: these caches do not fail.
KERNELS_OWN='debug_objects_cache kmemleak_object kmemleak_scan_area'

failslab() {
	echo "$2" >$FAILSLAB/"$1"
}

# failslab_set_up: calls with a function of our modules on the stack; what else lies between
# the lowest and the highest address of them fails too, which does no harm. Modules lie in the
# last 4 GiB; an address as a whole is no number for the shell.
failslab_set_up() {
	local mod low=0xffffffff high=0 start end cache
	while read -r mod end _ _ _ start _; do
		case " $MODULES " in *" $mod "*) ;; *) continue ;; esac
		start=$((0x${start#0xffffffff}))
		end=$((start + end))
		[ $start -gt $((low)) ] || low=$start
		[ $end -lt $((high)) ] || high=$end
	done </proc/modules
	low=$(printf '0xffffffff%08x' $((low))) high=$(printf '0xffffffff%08x' $((high)))
	diag "modules at $low to $high"
	for cache in /sys/kernel/slab/*; do
		case " $KERNELS_OWN " in
		*" ${cache##*/} "*) ;;
		*) echo 1 >"$cache/failslab" || abort "$cache cannot be made to fail" ;;
		esac
	done
	failslab cache-filter Y
	failslab require-start "$low"
	failslab require-end "$high"
	failslab stacktrace-depth 32
	failslab probability 100
	failslab ignore-gfp-wait N
	failslab verbose 1
	# Each is told: the runner knows by that what was caused by it.
	failslab verbose_ratelimit_interval_ms 0
	failslab times 0
}

# caches_spared: those that do not fail, also because they came later
caches_spared() {
	(cd /sys/kernel/slab && grep -lx 0 -- */failslab | sed 's,/.*,,' | sort | xargs)
}

# failslab_arm <number>: the allocation of this number from now on. The kernel fails each whose
# number since boot is a multiple of the interval, and counts only with an interval above 1.
slab_count=0
failslab_arm() {
	slab_next=$((slab_count + $1))
	failslab interval $slab_next
	failslab times 1
}

failslab_fired() {
	attr_is $FAILSLAB/times 0
}

failslab_count() {
	if [ $slab_next -gt 1 ]; then slab_count=$slab_next; fi
}

# The steps that are repeated. Each works, or fails while the allocation did and says so.

# step_session: from nothing to nothing
step_session() {
	dev=$(map_now) || {
		failslab_fired && nothing_left
		return
	}
	whole || {
		echo "mapped, but not all paths come"
		return 1
	}
	dd if=/dev/urandom of="$dev" bs=64k count=1 oflag=direct status=none || failslab_fired || return 1
	unmap_device "$dev" || { failslab_fired && unmap_device "$dev"; } || return 1
	nothing_left
}

# step_io: of a session that is there
step_io() {
	fio_verify "$dev" --size=128k || failslab_fired || return 1
	whole
}

# step_path: goes and comes back
step_path() {
	local path
	path=$(path_dir faults 1)
	sysfs_write "$path/disconnect" 1 || failslab_fired || return 1
	sysfs_write "$path/reconnect" 1 || failslab_fired || return 1
	whole
}

# sweep <step>: until no allocation of it is left to fail
sweep() {
	local n=$first nr=0 failed='' started
	started=$(uptime_ms)
	while :; do
		failslab_arm $n
		"step_$1" >/tmp/faults.step 2>&1 || {
			failed="$failed $n"
			diag "$1, allocation $n: $(cat /tmp/faults.step)"
			break
		}
		failslab_fired || break
		failslab_count
		n=$((n + share)) nr=$((nr + 1))
		[ $((nr % 50)) -ne 0 ] || diag "$1: $nr allocations in $((($(uptime_ms) - started) / 1000)) s"
	done
	armed=Y
	if failslab_fired; then failslab_count; armed=N; fi
	failslab times 0
	diag "$1: $nr allocations failed in $((($(uptime_ms) - started) / 1000)) s, ended at number $n"
	total=$((total + nr))
	check_eq "$1: each time it works or fails cleanly" "$failed" ''
}

# spend: the one that is still armed has to come, or nobody knew how many have been
spend() {
	[ $armed = Y ] || return 0
	failslab times 1
	while ! failslab_fired; do
		step_session
	done
	failslab_count
	failslab times 0
}

requires fio
must debugfs_up
case ${1:-} in
[1-9]of[1-9]) first=${1%of*} share=${1#*of} ;;
*) abort "arguments \"$*\": \"<n>of<m>\", for the n-th of each m allocations" ;;
esac
[ -d $FAILSLAB ] || skip_all "needs a kernel with failslab, as the debug kernel"
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=4"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
must works
failslab_set_up

ktap_plan 7
total=0
defer "rm -f /tmp/faults.step"
sweep session
for step in io path; do
	spend
	dev=$(map_now) && whole || abort "cannot map"
	sweep $step
	must unmap_device "$dev"
	must nothing_left
done
diag "$total allocations failed"
check_eq "all but the kernel's own could fail" "$(caches_spared)" "$KERNELS_OWN"
check "enough of them" [ $total -gt 100 ]
check "a session needs none to fail" works
check "modules can go and come" eval 'rtrs_unload && server_load && client_load && works'

ktap_end
