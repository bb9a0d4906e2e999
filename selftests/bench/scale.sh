# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # read by lib.sh
#
# scale.sh - what a VM of scale.py does, on top of lib.sh and guest.sh

SCALE_SESSIONS=64

# scale_up <networks> [<parameter of rtrs-server>...]: so many networks as of bench_net, a RAM disk for each
# session, the modules; nothing is mapped
scale_up() {
	local n
	bench_net 1500 "$1" || return 1
	shift
	modprobe brd rd_nr=$SCALE_SESSIONS rd_size=1024 || return 1
	for n in $(seq 0 $((SCALE_SESSIONS - 1))); do
		dd if=/dev/urandom of=/dev/ram"$n" bs=1M count=1 oflag=direct status=none || return 1
	done
	RTRS_SERVER_OPTS="$*"
	server_load && client_load
}

# scale_map <first session> <last> <paths> [<option>...]: map a disk over a session of its own each, all at
# the same time; prints the milliseconds it took
scale_map() {
	local n="$1" last="$2" paths="$3" begun pids='' failed=''
	shift 3
	begun=$(uptime_ms)
	while [ "$n" -le "$last" ]; do
		echo "$(map_line "s$n" "/dev/ram$((n - 1))" 1 "$paths") $*" >$CLT_CTL/map_device 2>/tmp/"map.$n" &
		pids="$pids $!"
		n=$((n + 1))
	done
	for n in $pids; do
		wait "$n" || failed=y
	done
	echo $(($(uptime_ms) - begun))
	[ -z "$failed" ] || {
		cat /tmp/map.* >&2
		dmesg | grep -E 'rtrs|rnbd' | tail -n 20 >&2
		return 1
	}
}

# scale_unmap <first session> <last>
scale_unmap() {
	local n
	for n in $(seq "$1" "$2"); do
		unmap_device "$(mapped_node "s$n" "/dev/ram$((n - 1))")" || return 1
	done
}

# scale_load <I/Os> <sessions> <fio option>...: so many over all of them in turn, counted
scale_load() {
	local ios="$1" n=2 nr="$2" files
	shift 2
	files=$(mapped_node s1 /dev/ram0) || return 1
	while [ $n -le "$nr" ]; do
		files="$files:$(mapped_node s$n "/dev/ram$((n - 1))")" || return 1
		n=$((n + 1))
	done
	bench_fio --filename="$files" --bs=4k --number_ios="$ios" "$@"
}

# scale_is_full <session>: all its slots are open; mainline's always are
scale_is_full() {
	[ ! -e "$CLT_CLASS/$1/open_slots" ] || attr_is "$CLT_CLASS/$1/open_slots" 512
}

# scale_fill <sessions>: each of them has had all its slots in use
scale_fill() {
	local n dev tries
	for n in $(seq 1 "$1"); do
		dev=$(mapped_node "s$n" "/dev/ram$((n - 1))") || return 1
		tries=0
		while fio --name=fill --filename="$dev" --direct=1 --ioengine=libaio --numjobs=4 --iodepth=256 --rw=randread \
			--bs=4k --number_ios=1024 --size=1M --io_size=1G --output-format=terse >/dev/null &&
			! scale_is_full "s$n"; do
			tries=$((tries + 1))
			[ $tries -lt 20 ] || return 1
		done
	done
	for n in $(seq 1 "$1"); do
		scale_is_full "s$n" || return 1
	done
}

# scale_used: kB of memory in use, kB of these in slabs, then how many there are of each kind of verbs object
scale_used() {
	mem_used
	awk '/^Slab/ { print $2 }' /proc/meminfo
	rdma resource show | awk '{ for (i = 2; i < NF; i++) if ($i ~ /^(pd|cq|qp|mr)$/) sum[$i] += $(i + 1) }
				  END { print sum["pd"] + 0, sum["cq"] + 0, sum["qp"] + 0, sum["mr"] + 0 }'
}

# scale_contention on|off: count each wait for a lock, by who waited; "off" prints the counts
scale_contention() {
	local event=$TRACE/events/lock/contention_begin
	if [ "$1" = on ]; then
		echo 'hist:keys=stacktrace:size=8192' >$event/trigger
	else
		cat $event/hist && echo '!hist:keys=stacktrace:size=8192' >$event/trigger
	fi
}
