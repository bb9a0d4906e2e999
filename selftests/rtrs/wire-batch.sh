#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extensions BATCH and IMPLICIT_RKEY of our server: answers that one round of its completion
# handler finds travel in one message, and keys that stay need none. A server answers so only to a client
# that offers it. The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

slow_ms=1000

# slow_disk: into $slow; it takes one request at a time, for so long
slow_disk() {
	slow=$(backing_null 16 irqmode=2 completion_nsec=$((slow_ms * 1000000)) hw_queue_depth=1 \
		submit_queues=1) || return 1
	echo none >"$(queue_attr "$slow" scheduler)"
}

# start <features>: a session with two disks, $slow_id and $fast_id
start() {
	# How requests are answered follows from it.
	[ $(($1 & 2)) -eq 0 ] || srv_mode=N
	must clt_open a 2 batch ext=1 features="$1"
	must clt_map a "$slow"
	slow_id=$clt_dev
	must peer free a_buf >/dev/null
	must clt_map a "$fast"
	fast_id=$clt_dev
}

stop() {
	must peer destroy all
	must srv_forgets batch
	srv_mode=$mode
}

# write_to <disk> <slot>
write_to() {
	clt_write a1 "$2" "$(rnbd_io "$1" "$2" 0x101 512)" "$(bytes 512 "a$2")"
}

# while_busy <features> <command>...: a session whose server's handler sleeps (a fault point), before the first of two
# writes is on the slow disk; what the command sends has all arrived by then. A host may be too slow for that: then the
# disk has to be slower.
while_busy() {
	local features="$1"
	shift
	start "$features"
	until fault_arm rnbd-server/fault/bio_delayed && write_to "$slow_id" 1 && write_to "$slow_id" 2 && "$@" && all_sent a1 &&
		is "$(peer wait a1 1)" timeout; do
		slow_ms=$((slow_ms * 2))
		[ $slow_ms -le 32000 ] || return 1
		stop
		slow_disk && start "$features" || return 1
	done
}

# messages <number>: so many come, whatever they are, in whatever order; without keys, which nobody knows
messages() {
	local nr=0 ev imm
	said=$(
		while [ $nr -lt "$1" ]; do
			ev=$(peer_next a1)
			imm=${ev##*imm=0x}
			case $ev in
			*' data=0400'*) echo "key:${imm%% *}" ;;
			'recv op=write len=0 imm=0x'*) echo "$imm" ;;
			'recv op=write len='*) echo "data:$imm" ;;
			*) echo "$ev" ;;
			esac
			nr=$((nr + 1))
		done | sort | tr '\n' ' '
	)
	said=${said% }
}

three_writes() {
	write_to "$fast_id" 0 && write_to "$fast_id" 3 && write_to "$fast_id" 4
}

# answers <features> <messages>...: to two writes on the slow disk and three on the other one
answers() {
	local features="$1"
	shift
	while_busy "$features" three_writes && messages $# && is "$said" "$*" && says_nothing a1 300
}

read_and_failure() {
	write_to "$fast_id" 0 &&
		clt_read a1 3 "$(rnbd_io "$fast_id" 64 0x100 512)" 512 0 "$(desc "$buf_addr" "$buf_key" 512)" &&
		clt_write a1 4 "$(rnbd_io "$fast_id" 99999999 0x101 512)" "$(bytes 512 5a)"
}

# mixed: a read, and a write that fails, between writes; both are answered by themselves
mixed() {
	while_busy 4 read_and_failure && messages 5 &&
		is "$said" '10000000 10000001 10000002 1???0004 data:10000003'
}

# on_disk: what the writes have left
on_disk() {
	local slot
	for slot in 0 3 4; do
		is "$(dd if="$fast" bs=512 skip="$slot" count=1 iflag=direct status=none | od -An -v -tx1 |
			tr -d ' \n')" "$(bytes 512 "a$slot")" || return 1
	done
}

# again <con>: all slots once more, one by one, with the keys that are known
again() {
	local slot=0
	while [ $slot -lt $SRV_QD ]; do
		clt_write "$1" $slot "$(rnbd_close 99)" && next_is "$1" "$(printf 'recv op=write len=0 imm=0x1%07x' $slot)" ||
			return 1
		slot=$((slot + 1))
	done
}

# read_in_one: data and answer are one message, though keys could change
read_in_one() {
	start 2
	clt_read a1 3 "$(rnbd_io "$fast_id" 0 0x100 512)" 512 0 "$(desc "$buf_addr" "$buf_key" 512)" &&
		next_is a1 'recv op=write len=512 imm=0x10000003' &&
		is "$(peer get a_buf 0 512)" "$(bytes 512 a0)"
}

# big_write: its key is invalidated, and a new one comes
big_write() {
	local key="$a_key_1"
	srv_mode=Y
	clt_big_buf a && clt_write_big a 1 "$fast_id" 64 && rsp_is a1 1 0 && srv_mode=N && [ "$a_key_1" != "$key" ]
}

ktap_plan 14
must debugfs_up
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
slow_disk || abort "no slow disk"
fast=$(backing_null 16) || abort "no backing device"

mode=N
wire_server N
check_here "N: nothing offered: five messages" answers 0 10000000 10000001 10000002 10000003 10000004
check_here "N: written" on_disk
stop
check_here "N: BATCH: three of five in one" answers 4 10000001 10000002 c000000c
check_here "N: BATCH: each slot is free again" again a1
stop
check_here "N: BATCH: only what tells nothing else" mixed
stop
must module_gone rnbd-server rtrs-server

SRV_CHUNK=262144 SRV_IO=258048
mode=Y
wire_server Y
check_here "Y: nothing offered: five keys" answers 0 \
	key:10000000 key:10000001 key:10000002 key:10000003 key:10000004
stop
check_here "Y: BATCH: five keys" answers 4 key:10000000 key:10000001 key:10000002 key:10000003 key:10000004
stop
check_here "Y: IMPLICIT_RKEY: five messages, no key" answers 2 10000000 10000001 10000002 10000003 10000004
check_here "Y: IMPLICIT_RKEY: the old keys open the chunks" again a1
stop
check_here "Y: IMPLICIT_RKEY: a READ's data and answer are one message" read_in_one
check_here "Y: IMPLICIT_RKEY: a key that was invalidated is replaced" big_write
check_here "Y: IMPLICIT_RKEY: and the new one stays" again a1
stop
check_here "Y: both: three of five in one, no key" answers 6 10000001 10000002 c000000c
check_here "Y: both: the old keys open the chunks" again a1
stop

ktap_end
