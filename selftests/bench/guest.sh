# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # read by lib.sh
#
# guest.sh - what a VM of the benchmark does, on top of lib.sh: a network and a disk that are
# the same for all, one contender on them, measurements.
#
#	LIB_ONLY=1; . /selftests/lib.sh; . /selftests/bench/guest.sh
#	bench_up 1500 64 rnbd always_invalidate=N		# prints the device
#	bench_measure read /dev/rnbd0 randread 4096 1 2000	# prints "<nanoseconds> <packets> <switches>"

BENCH_CLIENT=10.1.0.1
BENCH_SERVER=10.1.0.2
BENCH_NQN=nqn.2014-08.org.nvmexpress:rtrs-bench
NVMET=/sys/kernel/config/nvmet

# bench_net <mtu>: network 1 of lib.sh with nothing between its ends, which nobody cuts here: a
# bridge costs more than a transport. rxe sums up every packet, and takes the fast way that any
# PC has.
bench_net() {
	modprobe crc32_pclmul && topo_modules && topo_local_table_last &&
	ip link add c1 mtu "$1" type veth peer name s1 mtu "$1" && topo_ends_up 1 &&
	wait_for 20 topo_gid_there rxe_c1 1 && wait_for 20 topo_gid_there rxe_s1 1
}

# bench_disk <MB>: a RAM disk that holds all its pages; with those of a new one, writes would
# allocate and reads find nothing to copy
bench_disk() {
	modprobe brd rd_nr=1 rd_size=$(($1 * 1024)) &&
	dd if=/dev/urandom of=/dev/ram0 bs=1M count="$1" oflag=direct status=none
}

# bench_up <mtu> <MB> <contender> [<argument>...]: prints the block device to measure
bench_up() {
	local mtu="$1" mb="$2" how="$3"
	shift 3
	bench_net "$mtu" && bench_disk "$mb" && "bench_$how" "$@"
}

# bench_rnbd [<parameter of rtrs-server>...]: ours or mainline's, whichever this VM has
bench_rnbd() {
	RTRS_SERVER_OPTS="$*"
	server_load && client_load && lib_topo_nr=1 && map_device bench /dev/ram0
}

# bench_switch <device> [<module> <parameter> <value>]...: map it again with these switches changed, and all
# others as they were at first; prints the device
bench_switch() {
	local file value
	unmap_device "$1" || return 1
	shift
	[ -f /tmp/switches ] || grep -H . /sys/module/rtrs_*/parameters/* >/tmp/switches
	while IFS=: read -r file value; do
		[ "$(cat "$file")" = "$value" ] || echo "$value" >"$file" || return 1
	done </tmp/switches
	while [ $# -gt 0 ]; do
		echo "$3" >"/sys/module/$1/parameters/$2" || return 1
		shift 3
	done
	lib_topo_nr=1 && map_device bench /dev/ram0
}

# bench_nvme rdma|tcp
bench_nvme() {
	local port=$NVMET/ports/1 subsys=$NVMET/subsystems/$BENCH_NQN
	modprobe -a nvmet "nvmet-$1" "nvme-$1" && mkdir "$subsys" &&
	echo 1 >"$subsys/attr_allow_any_host" && mkdir "$subsys/namespaces/1" &&
	echo /dev/ram0 >"$subsys/namespaces/1/device_path" && echo 1 >"$subsys/namespaces/1/enable" &&
	mkdir "$port" && echo "$1" >"$port/addr_trtype" && echo ipv4 >"$port/addr_adrfam" &&
	echo $BENCH_SERVER >"$port/addr_traddr" && echo 4420 >"$port/addr_trsvcid" &&
	ln -s "$subsys" "$port/subsystems/" &&
	echo "transport=$1,traddr=$BENCH_SERVER,trsvcid=4420,host_traddr=$BENCH_CLIENT,nqn=$BENCH_NQN" \
		>/dev/nvme-fabrics &&
	wait_for 20 test -b /dev/nvme0n1 && echo /dev/nvme0n1
}

# bench_nbd: the server is a process
bench_nbd() {
	modprobe nbd nbds_max=1 &&
	printf '[generic]\n[bench]\nexportname = /dev/ram0\n' >/tmp/nbd.conf &&
	nbd-server -C /tmp/nbd.conf "$BENCH_SERVER@10809" >&2 &&
	wait_for 20 nbd-client -N bench $BENCH_SERVER 10809 /dev/nbd0 &&
	wait_for 20 test "$(blockdev --getsize64 /dev/nbd0)" -gt 0 && echo /dev/nbd0
}

# bench_floor: no block device at all, messages only
bench_floor() {
	modprobe rtrs-floor && echo floor
}

# bench_nothing: the RAM disk, here
bench_nothing() {
	echo /dev/ram0
}

# bench_counters: packets so far, context switches so far
bench_counters() {
	cat /sys/class/net/[cs]1/statistics/tx_packets /proc/stat |
		awk 'NF == 1 { packets += $1 } $1 == "ctxt" { print packets, $2 }'
}

# bench_measure <device> <fio's rw> <block size> <depth> <I/Os> [<option of the floor>...]: prints the nanoseconds, packets
# and context switches of all of them; the plugin counts instructions
bench_measure() {
	local before ns how=fio
	[ "$1" != floor ] || how=floor
	before=$(bench_counters)
	ns=$("bench_by_$how" "$@") &&
	echo "$ns $before $(bench_counters)" | awk '{ print $1, $4 - $2, $5 - $3 }'
}

# bench_by_fio: as bench_measure, prints fio's time, which is in milliseconds
bench_by_fio() {
	count fio --name=bench --filename="$1" --direct=1 --ioengine=libaio --rw="$2" --bs="$3" \
		--iodepth="$4" --number_ios="$5" --io_size=100G --norandommap --randrepeat=1 \
		--output-format=terse --output=/tmp/fio.out || {
		cat /tmp/fio.out >&2
		return 1
	}
	awk -F ';' -v kb=$(($3 * $5 / 1024)) '
		/^3;/ && $6 + $47 == kb { printf "%.0f", 1e6 * ($9 + $50); found = 1 }
		END { if (!found) { print "fio did not move " kb " kB" >"/dev/stderr"; exit 1 } }' /tmp/fio.out
}

# bench_by_floor: as bench_measure, prints the module's time
bench_by_floor() {
	local run="$DEBUGFS/rtrs-floor/run"
	local rw="${2#rand}"
	shift 2
	echo "$BENCH_CLIENT $BENCH_SERVER $rw $*" >/tmp/floor &&
	count dd if=/tmp/floor of="$run" bs=4k conv=notrunc status=none && cat "$run"
}
