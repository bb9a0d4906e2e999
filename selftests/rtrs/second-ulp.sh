#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Another ULP than RNBD on the same transport: it has its port and its sessions, names
# are unique among those of all, and a user message arrives whole, in however many
# pieces it was given. The ULP is selftests/modules/rtrs-ulp.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

SEND=$DEBUGFS/rtrs-ulp/send
WRITES=/sys/module/rtrs_ulp/parameters/writes
ULP_PORT=1235

# sends <session> <bytes>...: in pieces of so many bytes, and they come back
sends() {
	local sess="$1"
	shift
	sysfs_write $SEND "$sess $(path_pair 1) $*" || {
		echo "$sysfs_error"
		return 1
	}
}

# sends_without <bytes>: while there is no memory for a long one
sends_without() {
	fault_arm rtrs-client/alloc_msg
	sends short "$1" && ! fault_fired rtrs-client/alloc_msg
}

# writes <bytes>: a thousand with a message of so many, which leave nothing behind
writes() {
	local ret=0
	slab_snapshot >/tmp/second-ulp.slabs
	sysfs_write $WRITES 1000
	sends "writes$1" "$1" || ret=1
	sysfs_write $WRITES 0
	slab_settles 10 /tmp/second-ulp.slabs 100 || ret=1
	rm -f /tmp/second-ulp.slabs
	return $ret
}

# refused_name <session>: that the other ULP has
refused_name() {
	SRV_PORT=$ULP_PORT clt_connect_all x 2 path=7 sess=7 && peer recv x0 1 512 &&
		peer post x0 send data="$(info_req "$1")" && are_closed x0 x1 && peer destroy x0 && peer destroy x1
}

# taken <port>: as the kernel's connection manager says it
taken() {
	local out
	out=$(modprobe rtrs-ulp port="$1" 2>&1) && return 1
	echo "$out"
	is_error EADDRINUSE/EADDRNOTAVAIL "${out##*: }"
}

ktap_plan 28
modprobe -n -q rtrs-ulp || skip_all "needs rtrs-ulp (make test-modules)"
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
defer "module_gone rtrs-ulp"
must modprobe rtrs-server sess_queue_depth=5 max_chunk_size=8192
must modprobe rnbd-server
must modprobe rtrs-client

check "the port of RNBD is taken" taken $SRV_PORT
check "another one is not" modprobe rtrs-ulp port=$ULP_PORT
check "a message in one piece" sends one 100
check "in three" sends three 1 7 100
check "with pieces of no bytes" sends none 0 50 0 50 0
check "in eight" sends eight 1 2 3 5 8 13 21 34
check "as long as it may be" sends long 4000 70 2
check_errno "longer in all, though no piece is" EMSGSIZE $SEND "longer $(path_pair 1) 2000 2000 96"

# For up to 488 bytes each slot has room, with the header of a read.
check "no memory is needed for a message" sends_without 488
check_errno "none for a long one" EAGAIN $SEND "memory $(path_pair 1) 489"
check "there is some again" sends memory 489
# A slot's message gets a larger buffer once, and no other one after that, however long the messages are.
for bytes in 489 4072 4073 4092; do
	check "nothing is left of writes with $bytes bytes" writes $bytes
done
sysfs_write $WRITES 1
check_errno "a write with one byte more" EMSGSIZE $SEND "longest $(path_pair 1) 4000 93"
sysfs_write $WRITES 0
fault_arm rtrs-server/alloc_usr_page
check_errno "none where it arrives" ENOMEM $SEND "memory $(path_pair 1) 489"
check "and there is some again" sends memory 489

# Both at the same time, and their names. Slots are as many for each.
SRV_IO=4096 srv_mode=Y
must clt_open a 2 taken path=1 sess=1
check "a session of RNBD, and one of the other" sends other 10 20 30
check_here "a name that RNBD's session has" refused_name taken
check_here "RNBD's works" clt_works a
SRV_PORT=$ULP_PORT
check_here "the same path and session, another name, at the other's port" clt_open b 2 free path=1 sess=1
check_here "its messages reach the other" clt_write b1 0 "$(rnbd_close 99)"
check_here "which does not know them" rsp_is b1 0 -22
check_here "nor does it take those of RNBD's" clt_works a
check "the other goes" module_gone rtrs-ulp
check_here "with its sessions" are_closed b0 b1
check_here "RNBD's stay" clt_works a
must peer destroy all

ktap_end
