#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The sample that Documentation/driver-api/writing-an-ulp.rst explains, samples/rpages: bytes written to the
# client's file are in the server's memory, over two paths, with one of them cut and after both were; what
# does not fit is refused, also what only a bad client sends; both ends can go, and nothing is left.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

FILE=/dev/rpages
MEMORY=$DEBUGFS/rpages-server		# the server's, as it is
PAGES=64
BYTES=$((PAGES * 4096))
SRV_PORT=1237
ROUNDS=10

load_server() {
	modprobe rpages-server pages=$PAGES
}

load_client() {
	modprobe rpages-client "path=$(path_pair 1),$(path_pair 2)"
}

# refused_load <words> <module> [<parameter>...]: with this error
refused_load() {
	local words="$1" out
	shift
	out=$(modprobe "$@" 2>&1) && return 1
	is "$out" "*$words*"
}

# put <file> <offset>, get <offset> <bytes>: with the client's file, in pieces that are no pages
put() {
	dd if="$1" of=$FILE bs=20001 seek="$2" oflag=seek_bytes conv=notrunc status=none
}

get() {
	dd if=$FILE bs=30011 skip="$1" count="$2" iflag=skip_bytes,count_bytes status=none
}

# memory_has <file> <offset>: the server does; client_has: the client finds so
memory_has() {
	tail -c +$(($2 + 1)) $MEMORY | head -c "$(stat -c %s "$1")" | cmp - "$1"
}

client_has() {
	get "$2" "$(stat -c %s "$1")" | cmp - "$1"
}

memory_is_zero() {
	head -c $BYTES /dev/zero | cmp - $MEMORY
}

ios() {
	echo "$(path_ios rpages 1) $(path_ios rpages 2)"
}

both_carry() {
	local before="$1"
	# shellcheck disable=SC2046 # two words each
	set -- $before $(ios)
	diag "requests over the two paths: $1 $2, then $3 $4"
	[ "$3" -gt "$1" ] && [ "$4" -gt "$2" ]
}

# fails_with <errno name> <command>...
fails_with() {
	local errno="$1" out
	shift
	out=$(LC_ALL=C "$@" 2>&1) && return 1
	is "$out" "*$(strerror "$errno")*"
}

# writer: until /tmp/rpages.stop is there, other bytes each time, which have to be there
writer() {
	local nr=0
	while [ ! -e /tmp/rpages.stop ]; do
		nr=$((nr + 1))
		head -c 50000 /dev/urandom >/tmp/rpages.round &&
			put /tmp/rpages.round $((nr % 7)) && memory_has /tmp/rpages.round $((nr % 7)) &&
			client_has /tmp/rpages.round $((nr % 7)) || return 1
	done
	diag "$nr rounds"
}

paths_are() {
	sess_paths_are rpages "$1"
}

in_use() {
	local out
	out=$(rmmod "$1" 2>&1) && return 1
	is "$out" '*is in use*'
}

old_file_is_stale() {
	fails_with ESTALE dd bs=1 count=1 of=/dev/null <&8
}

# rpages_msg <instance, 16 digits> <offset, 16 digits>
rpages_msg() {
	printf %s%s "$1" "$2"
}

# info_of <path>: what the server tells, in $instance and $bytes
info_of() {
	local info
	clt_read "${1}1" 1 "$(rpages_msg "$(bytes 8)" "$(bytes 8)")" 16 1 "$(desc "$buf_addr" "$buf_key" 16)" &&
		rsp_is "${1}1" 1 0 "$buf_key" || return 1
	info=$(peer get "$buf_name" 0 16)
	instance=$(hex_at "$info" 0 8) bytes=$(le_at "$info" 8 4)
	clt_rebuf "$1"
}

# refuses_read <errno> <bytes> <instance> <offset>: as the wire has them
refuses_read() {
	clt_read a1 1 "$(rpages_msg "$3" "$4")" "$2" 1 "$(desc "$buf_addr" "$buf_key" "$2")" &&
		rsp_is a1 1 "-$1" "$buf_key" && clt_rebuf a
}

# refuses_write <errno> <user message> <data>
refuses_write() {
	clt_write a1 1 "$2" "$3" && rsp_is a1 1 "-$1"
}

same_resources() {
	[ "$(resource_snapshot)" = "$1" ]
}

# reload <times>
reload() {
	local nr=0
	while [ $nr -lt "$1" ]; do
		load_server && load_client && put /tmp/rpages.a 0 && client_has /tmp/rpages.a 0 || return 1
		# In either order.
		if [ $((nr % 2)) -eq 0 ]; then
			rmmod rpages-client rpages-server
		else
			rmmod rpages-server rpages-client
		fi || return 1
		nr=$((nr + 1))
	done
}

ktap_plan 40
modprobe -n -q rpages-client || skip_all "needs the samples (make test-modules)"
topo_up 2
topo_is_ours
must debugfs_up
defer rtrs_unload
defer "module_gone rpages-client rpages-server"
defer "rm -f /tmp/rpages.*"
SRV_CHUNK=65536 SRV_IO=61440 srv_mode=Y
must modprobe rtrs-server sess_queue_depth=$SRV_QD max_chunk_size=$SRV_CHUNK
must modprobe rtrs-client
before=$(resource_snapshot)

check "a server of no memory" refused_load "$(strerror EINVAL)" rpages-server pages=0
check "the server loads" load_server
check_eq "its memory is as large as it was told" "$(wc -c <$MEMORY)" $BYTES
check "a client without a path" refused_load "$(strerror EINVAL)" rpages-client
check "a client with what is no address" refused_load "$(strerror EPROTONOSUPPORT)" rpages-client path=nowhere
check "the client loads" load_client
check "both paths are up" wait_for 20 paths_are 2
must sysfs_write $CLT_CLASS/rpages/mpath_policy round-robin

# Bytes.
head -c $BYTES /dev/urandom >/tmp/rpages.a
head -c 100000 /dev/urandom >/tmp/rpages.b
carried=$(ios)
check "all of it is written" put /tmp/rpages.a 0
check "and is what the server has" memory_has /tmp/rpages.a 0
check "and what the client reads" client_has /tmp/rpages.a 0
check "both paths have carried it" both_carry "$carried"
check "bytes in the middle are written" put /tmp/rpages.b 54321
check "and nothing else" eval 'memory_has /tmp/rpages.b 54321 &&
	head -c 54321 $MEMORY | cmp -n 54321 - /tmp/rpages.a &&
	cmp $MEMORY /tmp/rpages.a 154321 154321'
check_eq "a read ends at the end" "$(get $((BYTES - 1000)) 5000 | wc -c)" 1000
check "beyond the end there is nothing" is "$(get $((BYTES + 5)) 100 | wc -c)" 0
check "nor room" fails_with ENOSPC put /tmp/rpages.b $BYTES
check "the last bytes go, what is more does not" fails_with ENOSPC put /tmp/rpages.b $((BYTES - 30000))
check "they are there" eval 'tail -c 30000 $MEMORY | cmp -n 30000 - /tmp/rpages.b'

# A path.
writer >/tmp/rpages.said 2>&1 &
pid=$!
must ios_grow rpages 1 5
must path_cut 1
check "a path is cut: it is noticed" wait_for 30 paths_are 1
check "the other one carries" ios_grow rpages 2 5
must path_heal 1
check "it is back" path_returns 60 rpages 1
check "and carries" ios_grow rpages 1 5
: >/tmp/rpages.stop
wait $pid && status=0 || status=$?
check_eq "nothing was lost" "$status $(grep -v '^# .* rounds' /tmp/rpages.said)" "0 "

# Both.
kmsg_mark
must path_cut 1
must path_cut 2
check "both are cut: it is told" wait_for 30 kmsg_has "session rpages has lost its last path"
put /tmp/rpages.b 0 &
pid=$!
sleep 2
check "a writer waits" child_runs $pid
must path_heal 1
must path_heal 2
check "one is back: it is told" wait_for 60 kmsg_has "session rpages is back"
wait $pid && status=0 || status=$?
check_eq "the writer has waited for that" $status 0
check "and has written" memory_has /tmp/rpages.b 0

# A client that does not play by the rules.
peer_load
must clt_open a 2 stranger path=1 sess=1
must clt_buf a
check_here "another client asks what there is" info_of a
check_eq "and is told" "$bytes" $BYTES
at() { le64 "$1"; }
check_here "it reads" eval 'clt_read a1 1 "$(rpages_msg $instance $(at 100))" 16 1 "$(desc "$buf_addr" "$buf_key" 16)" &&
	rsp_is a1 1 0 "$buf_key" && is "$(peer get "$buf_name" 0 16)" "$(tail -c +101 $MEMORY | head -c 16 | xxd -p)" && clt_rebuf a'
check_here "what it may not is refused" eval '
	refuses_read 34 16 $instance $(at $((BYTES - 15))) &&
	refuses_read 34 16 $instance $(at $((BYTES + 1))) &&
	refuses_read 34 16 $instance f0ffffffffffffff &&
	refuses_read 116 16 0102030405060708 $(at 0) &&
	refuses_read 116 8 $(bytes 8) $(bytes 8) &&
	refuses_write 34 "$(rpages_msg $instance $(at $((BYTES - 15))))" $(bytes 16 aa) &&
	refuses_write 116 "$(rpages_msg $(bytes 8) $(at 0))" $(bytes 16 aa) &&
	refuses_write 22 $instance $(bytes 16 aa) &&
	refuses_write 22 "$(rpages_msg $instance $(at 0))00" $(bytes 16 aa)'
check "nothing of it was written" memory_has /tmp/rpages.b 0
must peer destroy all

# Either end goes.
exec 8<>$FILE
check "the client cannot go while its file is open" in_use rpages-client
check "the server can, and comes back" eval 'rmmod rpages-server && wait_for 30 paths_are 0 && load_server'
check "so do the paths" wait_for 90 paths_are 2
check "the file from before is stale" old_file_is_stale
exec 8<&-
check "a new one is not, and all zeros" eval 'memory_is_zero && get 0 $BYTES | cmp - $MEMORY'
must rmmod rpages-client rpages-server
must reload 2
slab_snapshot >/tmp/rpages.slab
check "gone, and again some times" reload $ROUNDS
check "nothing is left" eval '[ ! -e $FILE ] && [ ! -e $MEMORY ] && wait_for 20 same_resources "$before" &&
	slab_settles 20 /tmp/rpages.slab $((ROUNDS * 5))'

ktap_end
