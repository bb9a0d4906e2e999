#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# 520 paths of a client that acknowledges nothing ask for fewer chunks (extension CREDITS): more than a workqueue of the
# server runs works at a time. What they had cannot be taken back, and nobody waits for that: another client's I/O goes
# on, its path closes and connects again, a session comes and goes. Then the server gives the 520 up, all at once, and
# that disturbs nobody either. The client is the scripted peer.
#
# vm: smp=1 timeout=600 mem=2048M

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

PATHS=520
PARAMS=/sys/module/rtrs_server/parameters
# What another client waits for at the most, and its I/O.
LIMIT_MS=5000 STALL_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# all <command and its words> [<pattern>]: on each of the paths; # is its number. The answers match.
all() {
	local n=1
	while [ $n -le $PATHS ]; do
		echo "${1%%#*}$n${1#*#}"
		n=$((n + 1))
	done >/tmp/wire.all
	peer_all /tmp/wire.all "${2:-}"
}

# connects: commands for sessions of one connection, which have two chunks. A server that finds no receive tries again
# three times a second: 520 of them are to leave the processor to others.
connects() {
	local n=1
	while [ $n -le $PATHS ]; do
		printf 'connect c%d %s %s %d ' $n $CLT_ADDR $SRV_ADDR $SRV_PORT
		conn_req cid_num=1 path=$n sess=$n ext=1 features=0x40 chunks=2
		echo ' depth=8 rnr_timer=30'
		n=$((n + 1))
	done
}

# infos: INFO_REQ, of sessions evil0001, evil0002 ...
infos() {
	local n=1 req
	info_table=$(table_of 0000000012345000 0x12345678)
	req=$(info_req evil0000)
	while [ $n -le $PATHS ]; do
		printf 'post c%d send data=%s3%d3%d3%d3%d%s\n' $n "${req%%30303030*}" $((n / 1000)) $((n / 100 % 10)) \
			$((n / 10 % 10)) $((n % 10)) "${req#*30303030}"
		n=$((n + 1))
	done
}

# all_join: with a receive for the answer to INFO_REQ alone
all_join() {
	connects >/tmp/wire.connects && peer_all /tmp/wire.connects 'established*' && all 'recv c# 1 128' &&
		infos >/tmp/wire.infos && peer_all /tmp/wire.infos '' && all 'wait c# 10000' 'recv op=send*'
}

# all_shrink: a heartbeat, whose answer finds no receive; then one chunk is enough
all_shrink() {
	all 'post c# write-imm imm=0x80000000' && all 'post c# write-imm imm=0x30000001'
}

# stalled: paths of the 520 that the server has, in $nr
stalled() {
	nr=$(ls -d "$SRV_CLASS"/evil*/paths/*/ 2>/dev/null | wc -l)
}

all_gone() {
	stalled
	[ "$nr" -eq 0 ]
}

# regions: of the server, one for each chunk
regions() {
	rdma resource show mr dev rxe_s1 | grep -c mrn
}

again() {
	[ "$(reconnects good 2 1)" -gt "$had" ] && path_is good 2 connected
}

# reconnects_now: the path of the honest client closes and comes back
reconnects_now() {
	had=$(reconnects good 2 1)
	sysfs_write "$(path_dir good 2)/reconnect" 1 && wait_for 60 again
}

# closes <session>: by hand, on the server
closes() {
	sysfs_write "$(echo "$SRV_CLASS/$1"/paths/*/disconnect)" 1 && wait_for 60 [ ! -d "$SRV_CLASS/$1" ]
}

ktap_plan 13
requires fio
topo_up 2
topo_is_ours
debugfs_up
peer_load
defer rtrs_unload
defer "peer destroy all"
disk=$(backing_null 32) || abort "no backing device"
spare=$(backing_null 16) || abort "no backing device"
wire_server Y
for limit in sessions connections; do
	echo 4096 >$PARAMS/max_${limit}_per_client
done
must client_load
# shellcheck disable=SC2086 # several options
must sysfs_write $CLT_CTL/map_device "$(map_line good "$disk" 2 2) no_path_timeout=300 $PATIENT_PATHS"
good=$(mapped_node good "$disk") || abort "not mapped"
must peer_hold
kmsg_mark
start=$(uptime_ms)
check_here "$PATHS sessions" all_join
diag "in $(($(uptime_ms) - start)) ms"
had_regions=$(regions)
must load_start "$good" 600 --rate_iops=50
must ios_grow good 2 10
check_here "all ask for fewer chunks" all_shrink
check_here "another client's path closes and connects again" takes_under $LIMIT_MS reconnects_now
diag "it took $took ms"
check_here "a session comes and goes" takes_under $LIMIT_MS comes_and_goes "$spare"
diag "it took $took ms"
check_here "one of the $PATHS is closed by hand" takes_under $LIMIT_MS closes evil0001
diag "it took $took ms"
stalled
check_eq "all others are there" "$nr" $((PATHS - 1))
check "and what was to be taken back" [ "$(regions)" -ge $((had_regions - 2)) ]
check "in time the server gives all of them up" wait_for 60 all_gone
check "their queues do not move, it says" kmsg_has 'send queue of connection 0 does not move'
check_here "another client's path closes and connects again" takes_under $LIMIT_MS reconnects_now
diag "it took $took ms"
load_end
check_here "no I/O of the other client failed, all data are right" load_succeeded
diag "the longest took $(load_max_ms) ms"
check "none took longer than a second" [ "$(load_max_ms)" -le $STALL_MS ]
must peer destroy all
check "unmaps" unmap_device "$good"

ktap_end
