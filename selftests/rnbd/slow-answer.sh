#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk that honestly takes long costs no path: what carries no data has four times the disk's io_timeout, and is
# not for the whole disk at once; what fails over has its time on the new path too. A request whose answer is lost is
# sent again.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

LOST=rtrs-server/fault/rsp_lost
SLOW=${RTRS_SLOWNESS:-1}
ANSWER_MS=3000		# null_blk itself has a time-out of 5 s
SOON_MS=$((3000 * SLOW))

# timed <command>...: its time in $ms
timed() {
	local start
	start=$(uptime_ms)
	"$@" || return 1
	ms=$(($(uptime_ms) - start))
	diag "it took $ms ms"
}

discards() {
	awk '{ print $12 }' "/sys/block/${1#/dev/}/stat"
}

# nobody_gave_up <requests without an answer so far> <paths that are up>
nobody_gave_up() {
	is "$(paths_sum test timeouts)" "$1" && sess_paths_are test "$2"
}

# busy_path: the network of the one that has a request in flight
busy_path() {
	[ "$(path_stat test 1 5)" -eq 1 ] && echo 1 || echo 2
}

# read_that_moves: a READ whose answer is lost, and whose path then is; in the background
read_that_moves() {
	fault_arm $LOST || return 1
	dd if="$dev" of=/tmp/moved bs=4k count=1 iflag=direct 2>/dev/null &
	read_pid=$!
	wait_for 20 fault_fired $LOST || return 1
	sysfs_write "$(path_dir test "$(busy_path)")/disconnect" 1
}

ktap_plan 15
must debugfs_up
requires blkdiscard
topo_up 2
rtrs_load
slow=$(backing_null 1024 irqmode=2 completion_nsec=$((ANSWER_MS * 1000000))) || abort "no backing device"
fast=$(backing_null 1024) || abort "no backing device"
dev=$(map_device test "$fast") || abort "cannot map"
had=$(discards "$dev")
check "a disk as a whole is discarded" blkdiscard -f "$dev"
check_eq "in requests of 256 MiB" $(($(discards "$dev") - had)) 4
must dd if=/dev/urandom of=/tmp/data bs=4k count=1 status=none
defer "rm -f /tmp/data /tmp/moved"
must dd if=/tmp/data of="$slow" bs=4k oflag=direct status=none
dev=$(map_device test "$slow") || abort "cannot map"
must wait_for 20 sess_paths_are test 2

must sysfs_write "$(queue_attr "$dev" io_timeout)" 1000
check_here "a discard that takes three times the time-out ends" timed blkdiscard -f -o 1M -l 1M "$dev"
check "when the disk has done it once" [ "$ms" -lt $((ANSWER_MS + SOON_MS)) ]
check "no path was given up for it" nobody_gave_up 0 2
must fault_arm $LOST
kmsg_mark
check_here "one whose answer is lost ends too" timed blkdiscard -f -o 1M -l 1M "$dev"
check "not before four times the time-out" [ "$ms" -ge 4000 ]
check "it is sent again" kmsg_has "the server has no request in slot [0-9]* and no answer came, it is sent again"
check "once" [ "$(paths_sum test overdue 2)" -eq 1 ]
must wait_for 20 sess_paths_are test 2

must sysfs_write "$(queue_attr "$dev" io_timeout)" $((ANSWER_MS + 1000 * SLOW))
check_here "a READ moves to the other path" read_that_moves
start=$(uptime_ms)
check_here "it ends" wait "$read_pid"
ms=$(($(uptime_ms) - start))
diag "it took $ms ms there"
check "after all the disk needs" [ "$ms" -ge $((ANSWER_MS / 2)) ]
check "and no more" [ "$ms" -lt $((ANSWER_MS + SOON_MS)) ]
check "the other path was not given up for it" nobody_gave_up 0 1
check "the data are right" cmp -n 4096 /tmp/moved /tmp/data

ktap_end
