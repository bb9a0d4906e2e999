#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a client wants durable is made durable by the server: flush requests and
# forced unit access arrive at the backing device, as many as are due, and none
# where the device has no volatile cache or nobody asked.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

EVENT=$TRACE/events/block/block_rq_issue
NR=16

flushes() {
	awk '{ print $16 }' "/sys/block/${1#/dev/}/stat"
}

# trace_device <device>: record what is issued to it
trace_device() {
	local number
	number=$(cat "/sys/block/${1#/dev/}/dev")
	echo "dev == $(((${number%:*} << 20) + ${number#*:}))" >$EVENT/filter &&
		echo 1 >$EVENT/enable && : >$TRACE/trace
}

trace_off() {
	echo 0 >$EVENT/enable
	echo 0 >$EVENT/filter
}

# fua_writes: of those recorded; then forgets them
fua_writes() {
	grep -Ec 'block_rq_issue: [0-9,]+ F?WF' $TRACE/trace
	: >$TRACE/trace
}

# writes <oflag>...: NR of 4 KiB each
write_some() {
	dd if=/dev/urandom of="$dev" bs=4k count=$NR oflag="direct${1:+,$1}" status=none
}

# cost <command>...: sets $flushed and $forced to what the backing device saw
cost() {
	local before
	before=$(flushes "$back")
	: >$TRACE/trace
	must "$@"
	flushed=$(($(flushes "$back") - before))
	forced=$(fua_writes)
}

write_and_fsync() {
	dd if=/dev/urandom of="$dev" bs=4k count=$NR conv=fsync status=none
}

next_device() {
	back=$1
	dev=$(map_device test "$back") || abort "cannot map"
	must trace_device "$back"
}

ktap_plan 16
topo_up 1
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
[ -d $EVENT ] || skip_all "needs block tracepoints"
defer trace_off

# A device with a volatile cache, and with FUA.
next_device "$(backing_null 32 cache_size=8)"
check_eq "cache and FUA: the client knows of the cache" "$(queue "$dev" write_cache)" "write back"
check_eq "cache and FUA: and of FUA" "$(queue "$dev" fua)" 1
cost write_some ''
check_eq "cache and FUA: plain writes force nothing" "$flushed $forced" "0 0"
cost write_some dsync
diag "$NR synchronous writes: $flushed flushes, $forced forced writes"
check_eq "cache and FUA: synchronous writes are forced" "$forced" $NR
cost write_and_fsync
diag "fsync: $flushed flushes"
check "cache and FUA: fsync flushes" [ "$flushed" -ge 1 ]
check_eq "cache and FUA: and forces no write" "$forced" 0
check "cache and FUA: the data are there" cmp -n $((NR << 12)) "$dev" "$back"
must unmap_device "$dev"

# A volatile cache alone: FUA becomes a flush after the write.
loop=$(backing_file /tmp/flush.img 32) || abort "no backing file"
defer "unmap_all && backing_file_gone $loop /tmp/flush.img"
next_device "$loop"
check_eq "cache only: the client knows of the cache" "$(queue "$dev" write_cache)" "write back"
check_eq "cache only: and of no FUA" "$(queue "$dev" fua)" 0
cost write_some ''
check_eq "cache only: plain writes force nothing" "$flushed $forced" "0 0"
cost write_some dsync
diag "$NR synchronous writes: $flushed flushes, $forced forced writes"
check "cache only: each synchronous write is flushed" [ "$flushed" -ge $NR ]
check_eq "cache only: no write is forced" "$forced" 0
must unmap_device "$dev"

# No volatile cache: nothing to do.
next_device "$(backing_null 32)"
check_eq "no cache: the client knows" "$(queue "$dev" write_cache)" "write through"
cost write_some dsync
check_eq "no cache: synchronous writes force nothing" "$flushed $forced" "0 0"
cost write_and_fsync
check_eq "no cache: fsync does not flush" "$flushed" 0
check "no cache: the data are there" cmp -n $((NR << 12)) "$dev" "$back"
must unmap_device "$dev"

ktap_end
