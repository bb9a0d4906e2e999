# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # read by lib.sh
#
# guest.sh - what a VM of the benchmark does, on top of lib.sh: a network and a disk that are
# the same for all, one contender on them, measurements.
#
#	LIB_ONLY=1; . /selftests/lib.sh; . /selftests/bench/guest.sh
#	bench_disk 64 && bench_net 1500
#	bench_rnbd always_invalidate=N				# prints the device
#	bench_measure /dev/rnbd0 randread 4096 1 2000 1 1	# prints "<nanoseconds> <packets> <switches>"
#	bench_down rnbd						# as before bench_rnbd; network and disk stay
#	bench_net_down

BENCH_CLIENT=10.1.0.1
BENCH_SERVER=10.1.0.2
BENCH_NQN=nqn.2014-08.org.nvmexpress:rtrs-bench
NVMET=/sys/kernel/config/nvmet

# bench_net <mtu> [<networks>]: network 1 of lib.sh, and so on, with nothing between its ends, which nobody cuts here:
# a bridge costs more than a transport. rxe sums up every packet, and takes the fast way that any
# PC has.
bench_net() {
	local n
	modprobe crc32_pclmul && topo_modules && topo_local_table_last || return 1
	for n in $(seq 1 "${2:-1}"); do
		ip link add "c$n" mtu "$1" type veth peer name "s$n" mtu "$1" && topo_ends_up "$n" &&
		wait_for 20 topo_gid_there "rxe_c$n" "$n" && wait_for 20 topo_gid_there "rxe_s$n" "$n" || return 1
		# What is sent in order is to arrive in order, which with several processors it else does not.
		[ "$(nproc)" = 1 ] || topo_keep_order "c$n" "s$n" || return 1
	done
}

# bench_disk <MB>: a RAM disk that holds all its pages; with those of a new one, writes would
# allocate and reads find nothing to copy
bench_disk() {
	modprobe brd rd_nr=1 rd_size=$(($1 * 1024)) &&
	dd if=/dev/urandom of=/dev/ram0 bs=1M count="$1" oflag=direct status=none
}

# bench_net_down: as before bench_net, whose one network it was
bench_net_down() {
	lib_topo_nr=1
	topo_down
}

# bench_rnbd [<parameter of rtrs-server>...]: ours or mainline's, whichever this VM has
bench_rnbd() {
	RTRS_SERVER_OPTS="$*"
	server_load && client_load && lib_topo_nr=1 && map_device bench /dev/ram0
}

# bench_rnbd_both <parameter>[,<parameter>...] [<parameter of rtrs-server>...]: ours, the first ones for both sides
bench_rnbd_both() {
	local both
	both=$(echo "$1" | tr , ' ')
	shift
	# shellcheck disable=SC2086 # several parameters
	modprobe rtrs-server $both "$@" && modprobe rtrs-client $both && bench_rnbd
}

# bench_mainline [<parameter of rtrs-server>...]: mainline's modules, which the host has put there, where modprobe finds
# ours
bench_mainline() {
	local module
	modprobe -a rdma_cm ib_core &&
	for module in rtrs-core rtrs-server rnbd-server rtrs-client rnbd-client; do
		if [ $module = rtrs-server ]; then
			insmod /mainline/$module.ko "$@"
		else
			insmod /mainline/$module.ko
		fi || return 1
	done && lib_topo_nr=1 && map_device bench /dev/ram0
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

# bench_nvme rdma|tcp; there is one controller at most
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
	wait_for 20 bench_node '/dev/nvme?n1' && bench_node '/dev/nvme?n1'
}

# bench_node <pattern>: prints the block device of that name
bench_node() {
	local node
	for node in $1; do
		[ -b "$node" ] && echo "$node"
	done
}

bench_nvme_down() {
	local ctl
	for ctl in /sys/class/nvme/nvme*/delete_controller; do
		echo 1 >"$ctl" || return 1
	done
	rm "$NVMET/ports/1/subsystems/$BENCH_NQN" && rmdir $NVMET/ports/1 &&
	rmdir "$NVMET/subsystems/$BENCH_NQN/namespaces/1" "$NVMET/subsystems/$BENCH_NQN"
}

# bench_nbd: the server is a process
bench_nbd() {
	modprobe nbd nbds_max=1 &&
	printf '[generic]\n[bench]\nexportname = /dev/ram0\n' >/tmp/nbd.conf &&
	nbd-server -C /tmp/nbd.conf -p /tmp/nbd.pid "$BENCH_SERVER@10809" >&2 &&
	wait_for 20 nbd-client -N bench $BENCH_SERVER 10809 /dev/nbd0 &&
	wait_for 20 test "$(blockdev --getsize64 /dev/nbd0)" -gt 0 && echo /dev/nbd0
}

bench_nbd_down() {
	local pid
	pid=$(cat /tmp/nbd.pid) && nbd-client -d /dev/nbd0 >&2 && kill "$pid" && wait_for 20 pid_gone "$pid" &&
	wait_for 20 module_gone nbd
}

pid_gone() {
	[ ! -d "/proc/$1" ]
}

# bench_down <contender> [<argument>...]: undo what it did
bench_down() {
	case "$1" in
	rnbd | rnbd_both | mainline) rtrs_unload ;;
	*) "bench_$1_down" ;;
	esac
}

# bench_floor: no block device at all, messages only
bench_floor() {
	modprobe rtrs-floor && echo floor
}

bench_floor_down() {
	rmmod rtrs-floor
}

# bench_perf [<parameter of rtrs-server>...]: the transport without a block device
bench_perf() {
	modprobe rtrs-server "$@" && modprobe -a rtrs-perf-server rtrs-perf-client &&
	echo "sessname=bench path=$(path_pair 1)" >"$DEBUGFS/rtrs-perf-client/session" && echo perf
}

bench_perf_down() {
	echo 1 >"$DEBUGFS/rtrs-perf-client/close" && module_gone rtrs-perf-client rtrs-perf-server && rtrs_unload
}

# bench_nothing: the RAM disk, here
bench_nothing() {
	echo /dev/ram0
}

bench_nothing_down() {
	:
}

# bench_counters: packets so far, context switches so far
bench_counters() {
	cat /sys/class/net/[cs]1/statistics/tx_packets /proc/stat |
		awk 'NF == 1 { packets += $1 } $1 == "ctxt" { print packets, $2 }'
}

# bench_measure <device> <fio's rw> <block size> <depth> <I/Os> <jobs> <submitted at once> [<option of the floor>...]:
# prints the nanoseconds, packets and context switches of all of them; the plugin counts instructions
bench_measure() {
	local before ns how=fio
	case "$1" in floor | perf) how=$1 ;; esac
	before=$(bench_counters)
	ns=$("bench_by_$how" "$@") &&
	echo "$ns $before $(bench_counters)" | awk '{ print $1, $4 - $2, $5 - $3 }'
}

# bench_fio <option>...: counted
bench_fio() {
	count fio --name=bench --direct=1 --ioengine=libaio --io_size=100G --norandommap --randrepeat=1 --group_reporting \
		--output=/tmp/fio.out "$@" || {
		cat /tmp/fio.out >&2
		return 1
	}
}

# bench_by_fio: as bench_measure, prints fio's time, which is in milliseconds
bench_by_fio() {
	bench_fio --filename="$1" --rw="$2" --bs="$3" --iodepth="$4" --number_ios=$(($5 / $6)) --numjobs="$6" \
		--iodepth_batch_submit="$7" --iodepth_batch_complete_min="$7" --output-format=terse || return 1
	awk -F ';' -v kb=$(($3 * $5 / 1024)) '
		/^3;/ && $6 + $47 == kb { printf "%.0f", 1e6 * ($9 > $50 ? $9 : $50); found = 1 }
		END { if (!found) { print "fio did not move " kb " kB" >"/dev/stderr"; exit 1 } }' /tmp/fio.out
}

# bench_by_floor: as bench_measure, prints the module's time
bench_by_floor() {
	local run="$DEBUGFS/rtrs-floor/run"
	local rw="${2#rand}" bs="$3" depth="$4" ios="$5"
	shift 7
	echo "$BENCH_CLIENT $BENCH_SERVER $rw $bs $depth $ios $*" >/tmp/floor &&
	count dd if=/tmp/floor of="$run" bs=4k conv=notrunc status=none && cat "$run"
}

# bench_by_perf: as bench_measure, prints the time that the module has measured
bench_by_perf() {
	echo "op=${2#rand} size=$3 depth=$4 iterations=$5 cpus=0" >/tmp/perf &&
	count sh -c "cat /tmp/perf >$DEBUGFS/rtrs-perf-client/run && cat $DEBUGFS/rtrs-perf-client/result >/tmp/perf.out" &&
	awk -F = -v ios="$5" '
		{ of[$1] = $2 }
		END { if (of["done"] != ios) { print "done: " of["done"] >"/dev/stderr"; exit 1 } printf "%d", of["elapsed_ns"] }
	' /tmp/perf.out
}

# bench_time <device> <fio's rw> <block size> <depth> <jobs> <submitted at once> <seconds>: prints what
# fio says of that time, as JSON
bench_time() {
	fio --name=bench --filename="$1" --direct=1 --ioengine=libaio --rw="$2" --bs="$3" --iodepth="$4" --numjobs="$5" \
		--iodepth_batch_submit="$6" --iodepth_batch_complete_min="$6" --time_based --runtime="$7" \
		--norandommap --randrepeat=1 --group_reporting --unified_rw_reporting=mixed \
		--percentile_list=50:99:99.9 --output-format=json
}
