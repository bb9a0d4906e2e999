#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extensions BATCH and IMPLICIT_RKEY of our client: a message that answers several requests, answers without
# key, and which of them break the rules. The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# start_writes <number>: sectors 0 ..., each in the background; ends are told by writes_end
start_writes() {
	local nr=0
	write_pids=''
	while [ $nr -lt "$1" ]; do
		dd if=/tmp/wire.in of="$psrv_dev" bs=512 count=1 seek=$nr oflag=direct status=none &
		write_pids="$write_pids $!"
		nr=$((nr + 1))
	done
}

writes_end() {
	local pid
	for pid in $write_pids; do
		wait "$pid" || return 1
	done
}

# take_writes <number>: into $lowest and $others, as one message tells them
take_writes() {
	local slots='' slot
	while [ "$(echo "$slots" | wc -w)" -lt "$1" ]; do
		psrv_take w1 && [ "$req_type" -eq 2 ] || return 1
		slots="$slots $req_slot"
	done
	lowest=$PSRV_QD others=0
	for slot in $slots; do
		[ "$slot" -ge $lowest ] || lowest=$slot
	done
	for slot in $slots; do
		[ "$slot" -eq $lowest ] || others=$((others | 1 << slot - lowest - 1))
	done
}

# many <lowest slot> <others>: the immediate
many() {
	printf '0x%08x' $((0xc0000000 | $1 << PSRV_MEM_BITS | $2))
}

# answered_at_once <number>: so many writes with one message
answered_at_once() {
	start_writes "$1"
	take_writes "$1" && peer post w1 write-imm imm="$(many $lowest $others)" && writes_end
}

# ignored: a message that the client does not take for an answer; the request waits, and is answered then
ignored() {
	start_writes 1
	take_writes 1 && kmsg_mark && "$@" && wait_for 5 kmsg_has 'unknown immediate type 12 ignored' &&
		psrv_done w1 0 && writes_end
}

# broken_by <status of dd> <command>...: a read waits; after this, the path is lost
broken_by() {
	local status="$1"
	shift
	io if="$psrv_dev" of=/tmp/wire.out bs=512 count=1 skip=1 iflag=direct
	psrv_take w1 && "$@" && are_closed w0 w1 && io_ends "$status"
}

breaks() {
	local name="$1"
	shift
	check_here "$name: the path is lost" broken_by "$@"
	must unmap_device "$psrv_dev" force
	psrv_gone w
}

idle_slot() {
	peer post w1 write-imm imm="$(many $(((req_slot + 1) % PSRV_QD)) 0)"
}

# beyond: the request's own slot, and one that the session does not have
beyond() {
	peer post w1 write-imm imm="$(many "$req_slot" $((1 << PSRV_QD - req_slot - 1)))"
}

other_con() {
	peer post w0 write-imm imm="$(many "$req_slot" 0)"
}

# The slot of the first is answered twice.
twice() {
	peer post w1 write-imm imm="$(many "$req_slot" 0)" && wait_for 5 [ -e /tmp/wire.io ] &&
		peer post w1 write-imm imm="$(many "$req_slot" 0)"
}

with_key() {
	peer post w1 send-imm imm="$(many "$req_slot" 0)" data="0400$(le16 "$req_slot")00000000"
}

# no_key: answered without one; the key stays, so that the slot's next request comes
no_key() {
	local mode=$psrv_mode
	psrv_mode=N
	one_by_one || return 1
	psrv_mode=$mode
}

# one_by_one: in the way of the mode; with keys, the extension does not keep a server from giving new ones
one_by_one() {
	local nr=0
	while [ $nr -lt 6 ]; do
		start_writes 1
		take_writes 1 && psrv_done w1 0 && writes_end || return 1
		nr=$((nr + 1))
	done
}

rsp_without_key() {
	peer post w1 write-imm imm="$(printf '0x%08x' $((0x10000000 | req_slot)))"
}

# map_with <features>
map_with() {
	psrv_map w wire ext=1 features="$1" id=7
}

unmap() {
	psrv_unmap w && psrv_gone w
}

ktap_plan 20
psrv_setup
must dd if=/dev/zero bs=512 count=1 status=none | tr '\000' '\245' >/tmp/wire.in

psrv_mode=N
must map_with 4
check_here "N: one message answers three writes" answered_at_once 3
check_here "N: one message answers as many as there are slots" answered_at_once $PSRV_QD
check_here "N: or a single one" answered_at_once 1
must unmap
must map_with 4
breaks "N: a slot without request" 1 idle_slot
must map_with 4
breaks "N: a slot beyond the queue depth, after one that waits" 0 beyond
must map_with 4
breaks "N: on another connection" 1 other_con
must map_with 4
breaks "N: twice" 0 twice
must map_with 4
breaks "N: with a key" 1 with_key
must map_with 3
check_here "N: not taken up: no answer" ignored peer post w1 write-imm imm=0xc0000000
must unmap

psrv_mode=Y
must map_with 6
check_here "Y: one message answers three writes, the keys stay" answered_at_once 3
check_here "Y: so they do for the next ones" answered_at_once $PSRV_QD
check_here "Y: with a key it is no answer" ignored with_key
check_here "Y: an answer without key" no_key
check_here "Y: an answer with a new key" one_by_one
check_here "Y: and without again" no_key
must unmap
must map_with 4
check_here "Y: BATCH without IMPLICIT_RKEY is no answer" ignored peer post w1 write-imm imm=0xc0000000
check_here "Y: with keys all is well" one_by_one
must unmap
must map_with 5
breaks "Y: without IMPLICIT_RKEY: an answer without key" 1 rsp_without_key
must map_with 2
check_here "Y: IMPLICIT_RKEY alone: no message for many" ignored peer post w1 write-imm imm=0xc0000000
must unmap
check_here "all is gone" [ ! -d $CLT_CLASS/wire ]

ktap_end
