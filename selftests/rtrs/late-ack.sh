#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A write is not complete before the server's adapter has acknowledged it, even if its
# answer is there: until then our adapter may read the data pages again, to send them
# once more. A read does not wait for that. The network holds acknowledgements, and
# nothing else, back.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# Less than the time after which the client's adapter would send again.
HOLD_MS=300

# hold_acks <n>: on the way to the client. At byte 28, behind the headers of IPv4 and
# UDP, is the opcode, 0x11 for an acknowledgement.
hold_acks() {
	local dev="cp$1"
	tc qdisc add dev "$dev" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc qdisc add dev "$dev" parent 1:2 handle 20: netem delay ${HOLD_MS}ms limit 100000 &&
	tc filter add dev "$dev" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u8 0x11 0xff at 28 flowid 1:2
}

# latency_us <rw> <bs> <min|max>: of five requests, one after the other
latency_us() {
	local field=14
	[ "$1" = randread ] || field=55
	[ "$3" = min ] || field=$((field + 1))
	fio --name=ack --filename="$dev" --direct=1 --ioengine=libaio --iodepth=1 --rw="$1" \
		--bs="$2" --size=8M --number_ios=5 --output-format=terse >/tmp/ack.out 2>&1 || {
		cat /tmp/ack.out >&2
		return 1
	}
	cut -d';' -f$field /tmp/ack.out
}

# slow <rw> <bs>: the fastest of them took as long as the acknowledgements, but for what netem rounds
slow() {
	local us
	us=$(latency_us "$1" "$2" min) && diag "fastest $1 of $2: $us us" &&
		[ "$us" -ge $((HOLD_MS * 950)) ]
}

# quick <rw> <bs>: the slowest of them did not
quick() {
	local us
	us=$(latency_us "$1" "$2" max) && diag "slowest $1 of $2: $us us" &&
		[ "$us" -lt $((HOLD_MS * 500)) ]
}

ktap_plan 6
topo_up 1
topo_is_ours
modprobe -a sch_prio cls_u32 || skip_all "needs sch_prio, cls_u32"
requires fio
defer rtrs_unload
defer "rm -f /tmp/ack.out"
RTRS_SERVER_OPTS="sess_queue_depth=16 max_chunk_size=524288"
must server_load
must client_load
back=$(backing_null 16) || abort "no backing device"
must sysfs_write "$CLT_CTL/map_device" "$(map_line acks "$back" 1 1)"
dev=$(mapped_node acks "$back") || abort "not mapped"

check_here "a write that nothing holds back" quick randwrite 4k
must hold_acks 1
defer "tc qdisc del dev cp1 root"
check_here "a read does not wait for an acknowledgement" quick randread 4k
check_here "a write does" slow randwrite 4k
check_here "in many pieces" slow randwrite 64k
check_here "and registered" slow randwrite 256k
check_here "no path was lost" [ "$(path_stat acks 1 6)" -eq 0 ]

ktap_end
