#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension SERVER_TIME of our server, to the byte: where a request spent its time is told right before its answer, to
# a client that asks for it, and to no other. The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

MS=1000000

# told <14 bits>: nanoseconds
told() {
	echo $((($1 & 511) << ($1 >> 9)))
}

# time_is <least> <most>: the next message tells that the device took so many ms, and that the server took none
time_is() {
	local ev imm server device
	ev=$(peer_next a1)
	is "$ev" 'recv op=write len=0 imm=0xd*' || return 1
	imm=$((${ev##*imm=} & 0xfffffff))
	server=$(told $((imm >> 14))) device=$(told $((imm & 0x3fff)))
	echo "server $server ns, device $device ns"
	[ $((device / MS)) -ge "$1" ] && [ $((device / MS)) -le $(($2 * ${RTRS_SLOWNESS:-1})) ] &&
		[ $((server / MS)) -le $((100 * ${RTRS_SLOWNESS:-1})) ]
}

# write_to <slot>
write_to() {
	clt_write a1 "$1" "$(rnbd_io "$clt_dev" 0 0x101 512)" "$(bytes 512 5a)"
}

# timed <command>...: what it sends is to be timed
timed() {
	REQ_TYPE=14
	"$@" || return 1
	REQ_TYPE=0
}

read_from() {
	clt_read a1 "$1" "$(rnbd_io "$clt_dev" 0 0x100 512)" 512 1 "$(desc "$buf_addr" "$buf_key" 512)"
}

plain() {
	write_to 1 && rsp_is a1 1 0
}

timed_write() {
	timed write_to 1 && time_is 0 100 && rsp_is a1 1 0
}

# slow <least> <most> <fault point>: this one makes it late by a second
slow() {
	fault_arm "$3" && timed write_to 2 && time_is "$1" "$2" && rsp_is a1 2 0
}

# A READ: its data, the invalidation and the answer come behind.
timed_read() {
	timed read_from 3 && time_is 0 100 && rsp_is a1 3 0 "$buf_key" && clt_rebuf a
}

timed_failure() {
	fault_arm rnbd-server/bio_error && timed write_to 4 && time_is 0 100 && rsp_is a1 4 -5
}

# What the ULP is not given has no time.
timed_refusal() {
	timed clt_write a1 1 "$(bytes 4096)" && rsp_is a1 1 -90
}

# ignored: such a request of one who has not taken it up
ignored() {
	kmsg_mark
	timed write_to 1 && wait_for 5 kmsg_has 'message of unknown type 14 ignored' && says_nothing a1 300 &&
		clt_works a
}

# counted <reads|writes>: timed requests in the server's histogram
counted() {
	awk '$1 == "device" { print $2 }' "$SRV_CLASS/time/paths/"*"/stats/latency_$1"
}

many() {
	local nr=0
	while [ $nr -lt "$1" ]; do
		plain || return 1
		nr=$((nr + 1))
	done
}

# start <features>
start() {
	must clt_open a 2 time ext=1 features="$1"
	must clt_map a "$back"
}

stop() {
	must peer destroy all
	must srv_forgets time
}

ktap_plan 20
topo_up 1
topo_is_ours
debugfs_up
peer_load
defer rtrs_unload
back=$(backing_null 16) || abort "no backing device"
defer "peer destroy all"
for mode in N Y; do
	wire_server $mode
	start 8
	check_here "$mode: taken up" is "$(hex_at "$clt_rsp" 20 4)" 01000800
	check_here "$mode: nothing is told that nobody asked for" plain
	check_here "$mode: a write" timed_write
	check_here "$mode: one that waits for the disk" slow 1000 1200 rnbd-server/bio_delayed
	check_here "$mode: one that is answered late" slow 0 100 rtrs-server/rsp_delayed
	check_here "$mode: a read" timed_read
	check_here "$mode: one that fails" timed_failure
	check_eq "$mode: all writes are counted that were timed" "$(counted write)" 4
	stop
	must rmmod rnbd-server rtrs-server
done
wire_server N
start 7
check_here "not taken up: not known" ignored
check_here "61 plain ones" many 61
check "of these one is timed, and nobody told" [ "$(counted write)" -ge 1 ]
stop
start 8
check_here "a request that is refused by the server itself has no time" timed_refusal

ktap_end
