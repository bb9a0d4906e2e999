#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The keys of a server's chunks, for writes that are too large to be copied
# (protocol 7): with always_invalidate=Y the client's key is gone while its data are
# used, and another one comes with the answer; without it stays, and opens as many
# chunks as a region takes (4). The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# big_write <slot> <sector>
big_write() {
	clt_write_big a "$1" "$clt_dev" "$2"
}

key_of() {
	eval "echo \$a_key_$1"
}

# write_again: many times on one slot, each time with the key of the answer before
write_again() {
	local nr=0
	while [ $nr -lt 10 ]; do
		big_write 1 0 && rsp_is a1 1 0 || return 1
		nr=$((nr + 1))
	done
}

# written: what the backing device has
written() {
	is "$(dd if="$back" bs=$((CLT_BIG + 4096)) count=1 iflag=direct status=none | md5sum)" \
		"$( (head -c $CLT_BIG /dev/zero | tr '\000' '\132'; head -c 4096 /dev/zero) | md5sum)"
}

# refused_key <key>: what opens slot 1 no more
refused_key() {
	eval "a_key_1=$1"
	refuses a1 clt_write a1 1 "$(rnbd_close 99)"
}

start() {
	must clt_open a 2 keys
	must clt_map a "$back"
	must clt_big_buf a
	must peer fill big 0 $CLT_BIG 0x5a
}

stop() {
	must peer destroy all
	must srv_forgets keys
}

# busy: a request is on the disk
busy() {
	[ "$(awk '{ print $1 + $2 }' "/sys/block/${back##*/}/inflight")" -gt 0 ]
}

# shut: what the key of before would have written is refused
shut() {
	refuses a1 peer post a1 write data="$(bytes 512 77)" raddr=0x"$a_addr_1" rkey="$a_key_1"
}

# not_invalidated <fault point>: a WRITE whose chunk's key cannot be shut: not run, and the path is gone
not_invalidated() {
	fault_arm "$1" && big_write 1 0 && are_closed a1 a0 && fault_fired "$1"
}

untouched() {
	is "$(dd if="$back" bs=$CLT_BIG count=1 iflag=direct status=none | md5sum)" "$(head -c $CLT_BIG /dev/zero | md5sum)"
}

# regions <number>: descriptors of as many chunks each, no key twice
regions() {
	local nr="$1" at=8 keys='' key
	is "$(hex_len "$clt_info")" $((8 + 16 * nr)) && is "$(le_at "$clt_info" 2 2)" "$nr" || return 1
	while [ $at -lt $((8 + 16 * nr)) ]; do
		is "$(le_at "$clt_info" $((at + 12)) 4)" $((SRV_QD / nr * SRV_CHUNK)) || return 1
		key=$(hex_at "$clt_info" $((at + 8)) 4)
		case $keys in *"$key"*) return 1 ;; esac
		keys="$keys $key" at=$((at + 16))
	done
}

# each_slot: a sector is written in each, and read back in another one
each_slot() {
	local slot=0
	while [ $slot -lt $SRV_QD ]; do
		clt_write a1 $slot "$(rnbd_io "$clt_dev" $((64 + slot)) 0x101 512)" "$(bytes 512 c$slot)" &&
			rsp_is a1 $slot 0 || return 1
		slot=$((slot + 1))
	done
	while [ $slot -gt 0 ]; do
		slot=$((slot - 1))
		clt_read a1 $((SRV_QD - 1 - slot)) "$(rnbd_io "$clt_dev" $((64 + slot)) 0x100 512)" 512 1 \
			"$(desc "$buf_addr" "$buf_key" 512)" &&
			rsp_is a1 $((SRV_QD - 1 - slot)) 0 "$buf_key" &&
			is "$(peer get a_buf 0 512)" "$(bytes 512 c$slot)" && clt_rebuf a || return 1
	done
}

ktap_plan 26
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
back=$(backing_null 16) || abort "no backing device"
SRV_CHUNK=262144 SRV_IO=258048

wire_server Y
start
old=$(key_of 1)
check_here "Y: a WRITE of 136 KiB" big_write 1 0
check_here "Y: is answered with RKEY_RSP" rsp_is a1 1 0
check_here "Y: was written" written
new=$(key_of 1)
check_here "Y: the key is another one" [ "$new" != "$old" ]
check_eq "Y: in its low byte only" $((new >> 8)) $((old >> 8))
check_here "Y: again and again, on one slot" write_again
check_here "Y: a small one after it" clt_write a1 1 "$(rnbd_close 99)"
check_here "Y: is answered" rsp_is a1 1 0
check_here "Y: the key of before opens nothing" refused_key "$old"
check_here "Y: and the path is closed" are_closed a1 a0
stop
start
check_here "Y: the new path has keys of its own" big_write 1 0
check_here "Y: that open its chunks" rsp_is a1 1 0
stop
back=$(backing_null 16) || abort "no backing device"
for point in rtrs-core/post_send rtrs-server/inv_failed; do
	start
	check_here "Y: $point, for the invalidation: closed without answer" not_invalidated $point
	stop
	check_here "Y: $point: nothing was written" untouched
done

must module_gone rnbd-server rtrs-server
wire_server N
start
old=$(key_of 1)
check_here "N: a WRITE of 136 KiB" big_write 1 0
check_here "N: is answered" rsp_is a1 1 0
check_here "N: was written" written
check_eq "N: the key stays" "$(key_of 1)" "$old"
check_here "N: again and again, on one slot" write_again
stop

# A region of SoftRoCE has 512 pages.
must module_gone rnbd-server rtrs-server
SRV_QD=6 SRV_CHUNK=1048576 SRV_IO=1044480
wire_server N
must clt_open a 2 keys
check_here "N: six slots of 1 MiB: three descriptors" regions 3
must clt_map a "$back"
check_here "N: all open their chunks" each_slot
stop

# While its data are in use (7).
must module_gone rnbd-server rtrs-server
SRV_QD=5 SRV_CHUNK=262144 SRV_IO=258048
back=$(backing_null 16 irqmode=2 completion_nsec=2000000000) || abort "no backing device"
wire_server Y
start
must big_write 1 0
must wait_for 5 busy
check_here "Y: while the data of a WRITE are in use, the key they came with is shut" shut
check_here "Y: and they were not answered before" are_closed a1 a0
stop
check_here "Y: they are on the disk" written

ktap_end
