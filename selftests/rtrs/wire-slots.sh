#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Slots of our server while their requests run: a slot that is used twice closes
# the path; sent again over another path of the session, as after a failover, a
# request waits for the older one, and its data are what stays. What was checked is
# what runs, whatever the client writes into the chunk meanwhile, and a device that
# two close at once is closed once. The client is the scripted peer, the disk takes
# its time.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

SLOW_MS=2000

# write_to <con> <slot> <byte>: a sector full of it
write_to() {
	clt_write "$1" "$2" "$(rnbd_io "$clt_dev" "$2" 0x101 512)" "$(bytes 512 "$3")"
}

# sector_is <slot> <byte>: on the disk
sector_is() {
	is "$(dd if="$back" bs=512 count=1 skip="$1" iflag=direct status=none | od -An -v -tx1 |
		tr -d ' \n')" "$(bytes 512 "$2")"
}

# answered_after <start> <least ms> <con> <slot>
answered_after() {
	local took
	rsp_is "$3" "$4" 0 || return 1
	took=$(($(uptime_ms) - $1))
	[ $took -ge "$2" ] || {
		echo "answered after $took ms"
		return 1
	}
}

twice() {
	write_to a1 1 11 && clt_write a1 1 "$(rnbd_close 99)" && are_closed a1 a0
}

twice_on_other_con() {
	write_to a1 1 22 && clt_write a0 1 "$(rnbd_close 99)" && are_closed a0 a1
}

# change <con> <slot> <offset> <bytes>: of the chunk, behind the server's back
change() {
	local path="${1%?}" addr key
	eval "addr=\$${path}_addr_$2 key=\$${path}_key_$2"
	peer post "$1" write data="$(bytes "$4" 77)" raddr=0x"$(addr_add "$addr" "$3")" rkey="$key" &&
		all_sent "$1"
}

# change_waiting: what waits behind another request is changed, when the server has seen it, as the answer to
# a later one tells. With always_invalidate=N the data are the client's to spoil, with Y they are copied, as
# the message behind them always is.
change_waiting() {
	clt_write b1 4 "$(rnbd_close 99)" && rsp_is b1 4 0 || return 1
	if [ "$srv_mode" = Y ]; then
		change b1 3 0 548
	else
		change b1 3 512 36
	fi
}

force_close() {
	sysfs_write "$SRV_CTL/devices/${back#/dev/}/sessions/slots/force_close" 1
}

# close_thrice: CLOSE, once more, and by force, while a request runs
close_thrice() {
	write_to a1 0 12 && clt_write a1 1 "$(rnbd_close "$clt_dev")" &&
		clt_write a1 2 "$(rnbd_close "$clt_dev")" || return 1
	force_close &
	force_pid=$!
}

# full_queue: the next answer, the disk's interrupt's, finds no room in the send queue
full_queue() {
	write_to a1 0 34 && fault_arm rtrs-core/sq_full && rsp_is a1 0 0 && fault_fired rtrs-core/sq_full
}

second_path() {
	CLT_ADDR=fd00:1::1 SRV_ADDR=fd00:1::2 clt_open b 2 slots path=2 sess=1
}

suite() {
	local start
	must clt_open a 2 slots path=1 sess=1
	must clt_map a "$back"
	start=$(uptime_ms)
	must write_to a1 0 aa
	check_here "$srv_mode: the disk is slow" answered_after "$start" $((SLOW_MS - 200)) a1 0

	# Others need not wait.
	start=$(uptime_ms)
	must write_to a1 1 bb
	must clt_write a1 2 "$(rnbd_close 99)"
	check_here "$srv_mode: another slot is answered meanwhile" rsp_is a1 2 0
	check_here "$srv_mode: at once" [ $(($(uptime_ms) - start)) -lt $((SLOW_MS - 500)) ]
	check_here "$srv_mode: and the first one in its time" rsp_is a1 1 0
	check_here "$srv_mode: no room in the send queue: the answer waits" full_queue
	check_here "$srv_mode: and leaves once" says_nothing a1

	# Two paths of a session.
	check_here "$srv_mode: another path of the session" second_path
	start=$(uptime_ms)
	must write_to a1 3 cc
	must write_to b1 3 dd
	check_here "$srv_mode: what waits is changed by the client" change_waiting
	check_here "$srv_mode: a slot that runs on one path: the other waits" \
		answered_after "$start" $((2 * SLOW_MS - 400)) b1 3
	check_here "$srv_mode: the first one was answered" rsp_is a1 3 0
	check_here "$srv_mode: the younger data are on the disk" sector_is 3 dd
	must write_to a1 4 ee
	must peer disconnect a0
	must write_to b1 4 ff
	check_here "$srv_mode: the path of the older one closes: the younger one is answered" rsp_is b1 4 0
	check_here "$srv_mode: and its data are on the disk" sector_is 4 ff
	must peer destroy all
	must srv_forgets slots

	# A path is gone although the disk has its requests: the client may come back at once.
	must clt_open a 2 slots path=5 sess=1
	must clt_map a "$back"
	start=$(uptime_ms)
	must write_to a1 0 aa
	must peer disconnect a0
	check_here "$srv_mode: closed while a request runs" are_closed a1
	check_here "$srv_mode: the same path: accepted" wait_for 10 clt_open c 2 slots path=5 sess=1 recon=2
	check_here "$srv_mode: before the request has ended" [ $(($(uptime_ms) - start)) -lt $((SLOW_MS - 300)) ]
	check_here "$srv_mode: another path with its addresses: refused" refused -17 \
		"$(clt_connect d0 path=6 sess=1 recon=2)"
	must peer destroy all
	must srv_forgets slots

	# Three at once close a device. Whoever comes first, each is told when the request has ended.
	must clt_open a 2 slots path=7 sess=1
	must clt_map a "$back"
	start=$(uptime_ms)
	check_here "$srv_mode: CLOSE twice and force_close, while a request runs" close_thrice
	check_here "$srv_mode: the request ends well" rsp_is a1 0 0
	check_here "$srv_mode: CLOSE is answered after it" answered_after "$start" $((SLOW_MS - 200)) a1 1
	check_here "$srv_mode: so is the other one" rsp_is a1 2 0
	check_here "$srv_mode: force_close has ended" wait "$force_pid"
	check_here "$srv_mode: the device is closed" [ ! -e "$SRV_CTL/devices/${back#/dev/}" ]
	check_here "$srv_mode: and the path works" clt_works a
	must peer destroy all
	must srv_forgets slots

	# Misuse.
	must clt_open a 2 slots path=3 sess=1
	must clt_map a "$back"
	check_here "$srv_mode: slot in use once more: closed" twice
	must peer destroy all
	check_here "$srv_mode: the session goes when its request has ended" srv_forgets slots
	must clt_open a 2 slots path=4 sess=1
	must clt_map a "$back"
	check_here "$srv_mode: slot in use, on another connection: closed" twice_on_other_con
	must peer destroy all
	must srv_forgets slots
}

ktap_plan 54
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16 irqmode=2 completion_nsec=$((SLOW_MS * 1000000))) || abort "no backing device"

wire_server Y
suite
must module_gone rnbd-server rtrs-server
wire_server N
suite

ktap_end
