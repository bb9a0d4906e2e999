#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each fault point of rtrs-core fires once while a device is mapped, under load,
# while a path is lost and comes back, and while the device is unmapped: what was
# asked for works, or fails with an error that says so and leaves nothing; data are
# right; and after it everything works.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../faults.sh"

FAULT_MODULES=${FAULT_MODULES:-rtrs-core}
FAULT_POINTS=${FAULT_POINTS:-11}		# at least

# Points that an application may see: the disk's own failures.
APP_SEES='rnbd-server/fault/bio_error'

# Points that this load does not reach: they want a server that starts, or large requests whose memory is
# invalidated, or an answer that never comes, or somebody who listens, or long messages, or an administrator.
# rnbd/wire-rules, rtrs/wire-keys, rtrs/wire-client-inv, rnbd/lost-answer, rnbd/netlink, rtrs/second-ulp and
# rnbd/force-close have them.
ELSEWHERE='rtrs-core/fault/nl_event|rtrs-server/fault/listen_delayed|rtrs-server/fault/rsp_lost|rtrs-server/fault/inv_failed|rtrs-client/fault/inv_failed|rtrs-client/fault/alloc_msg|rnbd-server/fault/force_close_delayed'

points() {
	local module
	for module in $FAULT_MODULES; do
		(cd $DEBUGFS && ls -d "$module"/fault/*)
	done | grep -vxE "$ELSEWHERE"
}

disarm() {
	fault_fired "$1" || fault_arm "$1" 0
}

note_fired() {
	! fault_fired "$1" || echo "$1" >>/tmp/faults.fired
}

# mapping <point>: it works, and has all its paths after a while, or fails and leaves nothing
mapping() {
	local dev
	fault_arm "$1"
	if dev=$(map_now); then
		note_fired "$1"
		whole || {
			echo "mapped, but not all paths come"
			return 1
		}
		disarm "$1"
		unmap_device "$dev" || return 1
	else
		note_fired "$1"
		fault_fired "$1" || {
			echo "failed without a fault"
			return 1
		}
	fi
	nothing_left || {
		echo "something is left"
		return 1
	}
}

# app_sees <point>
app_sees() {
	case " $APP_SEES " in *" $1 "*) ;; *) return 1 ;; esac
}

# fires_itself <point>: the load alone makes it; that may cost a path, so the test takes none until it is
# back
fires_itself() {
	wait_for 1 fault_fired "$1" && whole
}

ios_have_begun() {
	[ "$(path_ios faults 1)" -gt 20 ] && [ "$(path_ios faults 2)" -gt 20 ]
}

losses_of_the_other() {
	cat "$(path_dir faults 2)/stats/losses"
}

# costs_no_path <point>: a device or its messages find no memory; the transport has nothing to do with that
costs_no_path() {
	case $1 in rnbd-*/alloc_*) ;; *) return 1 ;; esac
}

# load <point>: a path is lost by it, or else by the test, and the point is passed while it comes back
load() {
	local pid ret=0 path losses
	path=$(path_dir faults 1)
	losses=$(losses_of_the_other)
	kmsg_mark
	fio_verify "$dev" --time_based --runtime=2 --rw=randrw --bsrange=4k-64k --size=4M \
		--verify_backlog=64 2>/tmp/faults.fio &
	pid=$!
	wait_for 5 ios_have_begun || {
		echo "not both paths carry I/O"
		ret=1
	}
	fault_arm "$1"
	fires_itself "$1" || {
		sysfs_write "$path/disconnect" 1 || ret=1
		sysfs_write "$path/reconnect" 1 || :
	}
	case $1 in *hb_lost) wait_for 15 fault_fired "$1" ;; esac
	wait $pid || app_sees "$1" || {
		echo "the application saw an error"
		cat /tmp/faults.fio
		ret=1
	}
	note_fired "$1"
	disarm "$1"
	whole || {
		echo "a path does not come back"
		ret=1
	}
	! costs_no_path "$1" || [ "$(losses_of_the_other)" = "$losses" ] || {
		echo "the other path was lost too:" $(losses_of_the_other) "was:" $losses
		ret=1
	}
	# Enough is said later for the console's end to have nothing of it.
	[ $ret -eq 0 ] || kmsg_since | tail -n 60
	return $ret
}

# unmapping <point>: always works
unmapping() {
	fault_arm "$1"
	unmap_device "$dev" || return 1
	note_fired "$1"
	disarm "$1"
	nothing_left
}

requires fio
must debugfs_up
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=32"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
defer "rm -f /tmp/faults.fired /tmp/faults.fio"
: >/tmp/faults.fired
must works
before=$(resource_snapshot)

ktap_plan $((3 * $(points | wc -l) + 5))
check "there are points" [ "$(points | wc -l)" -ge "$FAULT_POINTS" ]
for point in $(points); do
	check "$point: while mapping" mapping "$point"
	dev=$(map_now) || abort "cannot map after $point"
	must whole
	check "$point: under load, with a failover" load "$point"
	check "$point: while unmapping" unmapping "$point"
done
for point in $(points); do
	grep -qx "$point" /tmp/faults.fired || echo "$point"
done >/tmp/faults.never
check_eq "each of them has fired" "$(cat /tmp/faults.never)" ''
rm -f /tmp/faults.never
check_errno "a number that is no number" EINVAL $DEBUGFS/rtrs-core/fault/post_send x
check "everything works" works
check_eq "no verbs object is left" "$(resource_snapshot)" "$before"

ktap_end
