#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Paths are added to and removed from a session that is working: no I/O fails, a
# new path takes its part at once, and nothing is left of an old one.
#
# vm: smp=2 timeout=180

. "$(dirname "$0")/../lib.sh"

SESS=$CLT_CLASS/test

add() {
	sysfs_write $SESS/add_path "$(path_pair "$1")" && path_is test "$1" connected
}

remove() {
	sysfs_write "$(path_dir test "$1")/remove_path" 1 && [ ! -e "$(path_dir test "$1")" ]
}

# gone <n>: on the server too, with all that the path had
gone() {
	[ ! -e "$SRV_CLASS/test/paths/$(path_pair "$1")" ] &&
		! rdma resource show qp | grep "link rxe_[cs]$1/" | grep -q 'type RC'
}

# All but the first network, again and again; each path is used before it goes.
rounds() {
	local round=1
	while [ $round -le 4 ]; do
		add 2 || { echo "round $round: add: $sysfs_error"; return 1; }
		ios_grow test 2 30 || { echo "round $round: no I/O over the new path"; return 1; }
		remove 2 || { echo "round $round: remove: $sysfs_error"; return 1; }
		wait_for 10 gone 2 || { echo "round $round: not gone"; return 1; }
		round=$((round + 1))
	done
}

ktap_plan 28
topo_up 3
must debugfs_up
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
must sysfs_write $CLT_CTL/map_device "$(map_line test "$back" 1 1)"
dev=$(mapped_node test "$back") || abort "not mapped"
must sysfs_write $SESS/mpath_policy round-robin
load_start "$dev" 120

check "one path is added and removed 4 times" rounds
check "a second path" add 2
fault_arm rtrs-client/sysfs_path
check_errno "a third, which cannot be shown in sysfs" ENOMEM $SESS/add_path "$(path_pair 3)" \
	'cannot be shown in sysfs: error -12'
check "leaves nothing" wait_for 10 gone 3
check_eq "and no directory" "$(ls -d "$(path_dir test 3)" 2>/dev/null)" ''
check "a third" add 3
check "all three carry I/O" ios_grow test 1 30
check "the second" ios_grow test 2 30
check "the third" ios_grow test 3 30
check_errno "a path that is there cannot be added" EEXIST $SESS/add_path "$(path_pair 2)" \
	'the session has this path already'
check_errno "nor with a comma" EEXIST $SESS/add_path "$(path_pair 2 | tr @ ,)" 'has this path already'
check "the first path is removed" remove 1
check "the server has closed it" wait_for 10 gone 1
check "the others go on" ios_grow test 2 30
check "the third too" ios_grow test 3 30
check "a path that is disconnected" sysfs_write "$(path_dir test 3)/disconnect" 1
check "can be removed" remove 3
check "and added" add 3
check "and carries I/O" ios_grow test 3 30
check_errno "remove_path takes only 1" EINVAL "$(path_dir test 3)/remove_path" 2 \
	"remove_path of $(path_pair 3): '2' is not valid, write 1"
load_end
check "no I/O failed, all data are right" load_succeeded
diag "the longest request took $(load_max_ms) ms"

# The last paths go, and come back.
check "the last but one" remove 2
check "the last" remove 3
check_eq "the session has no path" "$(ls $SESS/paths)" ''
check "the disk is closed" wait_for 10 dev_is "$dev" closed
check "a path for a session without" add 1
check "opens the disk" wait_for 20 dev_is "$dev" open
check "which works" fio_verify "$dev" --size=1M
must unmap_device "$dev"

ktap_end
