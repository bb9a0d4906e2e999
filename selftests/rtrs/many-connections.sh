#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A client has 538 I/O connections, more than a workqueue of the server runs works at a time, and on each a READ of a disk
# that has no tag left. No handler of a completion waits for the disk: another client's disk goes on, is mapped and
# unmapped. Later the disk answers, and so each READ is answered. The client is the scripted peer.
#
# vm: smp=1 timeout=600 mem=2048M

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# Of each of two sessions, the service connection included.
CONNS=270
PARAMS=/sys/module/rtrs_server/parameters
# What another client waits for at the most, and its I/O.
LIMIT_MS=5000 STALL_MS=$((1000 * ${RTRS_SLOWNESS:-1}))
READ_BYTES=512

# connects <path> <id>: the commands
connects() {
	local cid=0
	while [ $cid -lt $CONNS ]; do
		printf 'connect %s%d %s %s %d ' "$1" $cid $CLT_ADDR $SRV_ADDR $SRV_PORT
		conn_req cid=$cid cid_num=$CONNS path="$2" sess="$2"
		echo ' depth=16'
		cid=$((cid + 1))
	done
}

connect_all() {
	connects "$@" >/tmp/wire.connects && peer_all /tmp/wire.connects 'established*'
}

# opens <path>: the disk, by the service connection; then a receive on each of the others
opens() {
	local path="$1" cid=1
	peer recv "${path}0" 1 $((8 + 16 * SRV_QD)) && peer post "${path}0" send data="$(info_req "evil$path")" ||
		return 1
	clt_info=$(peer wait "${path}0" 10000)
	is "$clt_info" 'recv op=send*' || return 1
	clt_info=${clt_info#*data=}
	clt_chunks "$path" && peer recv "${path}0" 8 8 && clt_map "$path" "$slow" ro || return 1
	while [ $cid -lt $CONNS ]; do
		peer_ask recv "$path$cid" 1 8 || return 1
		cid=$((cid + 1))
	done
}

# requests <path> <device id>: a READ on each connection but the first, in the slot of its number
requests() {
	local path="$1" cid=1 data addr key
	data=$(rnbd_io "$2" 0 0x100 $READ_BYTES)$(hdr_read 32 0)
	while [ $cid -lt $CONNS ]; do
		eval "addr=\$${path}_addr_$cid key=\$${path}_key_$cid"
		printf 'post %s%d write-imm data=%s rkey=%d raddr=0x' "$path" $cid "$data" "$key"
		addr_add "$addr" $READ_BYTES
		printf ' imm='
		imm_req $cid $((READ_BYTES + 32))
		echo
		cid=$((cid + 1))
	done
}

reads() {
	requests "$@" >/tmp/wire.requests && peer_all /tmp/wire.requests ''
}

# answered <path>: each READ, without an error; the immediate has the slot
answered() {
	local cid=1 imm
	while [ $cid -lt $CONNS ]; do
		peer_ask wait "$1$cid" 20000 && is "$answer" 'recv op=send len=8 imm=0x1* data=*' || return 1
		imm=${answer#*imm=}
		is $((${imm%% *})) $((1 << 28 | cid)) || return 1
		cid=$((cid + 1))
	done
}

ktap_plan 14
requires fio dmsetup losetup
topo_up 2
topo_is_ours
debugfs_up
hanging_disk 16
slow=$(hanging_disk_tagless) || abort "no loop device"
defer "losetup --detach $slow"
peer_load
defer rtrs_unload
defer "peer destroy all"
disk=$(backing_null 32) || abort "no backing device"
spare=$(backing_null 16) || abort "no backing device"
SRV_QD=272 SRV_MEM_BITS=19
wire_server Y
echo 4096 >$PARAMS/max_connections_per_client
must client_load
# shellcheck disable=SC2086 # several options
must sysfs_write $CLT_CTL/map_device "$(map_line good "$disk" 2 2) no_path_timeout=300 $PATIENT_PATHS"
good=$(mapped_node good "$disk") || abort "not mapped"
must peer_hold
start=$(uptime_ms)
check_here "a session of $CONNS connections" connect_all w 1
check_here "another one" connect_all x 2
diag "in $(($(uptime_ms) - start)) ms"
check_here "the first one opens a disk" opens w
w_dev=$clt_dev
check_here "the other one too" opens x
must load_start "$good" 600 --rate_iops=50
must ios_grow good 2 10
must disk_hangs
check_here "it reads on each connection" reads x "$clt_dev"
check_here "so does the first" reads w "$w_dev"
check "the disk has no tag left" wait_for 20 waits_in blk_mq_get_tag "rnbd/*"
check_here "a session of another client comes and goes" takes_under $LIMIT_MS comes_and_goes "$spare"
diag "it took $took ms"
check_fails "no worker waits for a tag" waits_in blk_mq_get_tag 'kworker*'
load_end
check_here "no I/O of another client failed, all data are right" load_succeeded
diag "the longest took $(load_max_ms) ms"
check "none took longer than a second" [ "$(load_max_ms)" -le $STALL_MS ]
must disk_answers
check_here "the disk answers, and so each READ is answered" answered w
check_here "those of the other session too" answered x
must peer destroy all
check "unmaps" unmap_device "$good"

ktap_end
