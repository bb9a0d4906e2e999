#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The keys of a server's chunks, for writes that are too large to be copied
# (protocol 7): with always_invalidate=Y the client's key is gone while its data are
# used, and another one comes with the answer; without it stays. The client is the
# scripted peer.
#
# vm: smp=1 timeout=180 tier=test

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# More than rtrs-server copies, on a device in software.
BIG=139264

# big_write <slot> <sector>
big_write() {
	local addr key usr
	usr=$(rnbd_io "$clt_dev" "$2" 0x101 $BIG)
	eval "addr=\$a_addr_$1 key=\$a_key_$1"
	peer put big $BIG "$usr$(hdr_write 32)" &&
		peer post a1 write-imm buf=big off=0 len=$((BIG + 36)) raddr=0x"$addr" rkey="$key" \
			imm="$(imm_req "$1" $((BIG + 32)))"
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
	is "$(dd if="$back" bs=4096 count=35 iflag=direct status=none | md5sum)" \
		"$( (head -c $BIG /dev/zero | tr '\000' '\132'; head -c 4096 /dev/zero) | md5sum)"
}

# refused_key <key>: what opens slot 1 no more
refused_key() {
	eval "a_key_1=$1"
	refuses a1 clt_write a1 1 "$(rnbd_close 99)"
}

start() {
	must clt_open a 2 keys
	must clt_map a "$back"
	must peer buf big a0 $((BIG + 4096)) >/dev/null
	must peer fill big 0 $BIG 0x5a
}

stop() {
	must peer destroy all
	must srv_forgets keys
}

ktap_plan 17
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

ktap_end
