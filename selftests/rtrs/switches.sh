#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The switches of the techniques (Documentation/admin-guide/switches.rst): each, changed alone, changes what is
# done for I/Os that come after it, as counted where it is done, and data stay right.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

IOS=128

param() {
	echo "/sys/module/$1/parameters/$2"
}

# do_ios <device> read|write: one after the other; or together: writes, many at a time; or at_once: reads, 16 by
# one system call; or of_two: likewise, while the session has another disk; or sorted: likewise, behind an I/O scheduler
do_ios() {
	local other
	case $2 in
	read) dd if="$1" of=/dev/null bs=4k count=$IOS iflag=direct status=none ;;
	write) dd if=/dev/zero of="$1" bs=4k count=$IOS oflag=direct status=none ;;
	together) fio --name=together --filename="$1" --direct=1 --ioengine=libaio --iodepth=32 --rw=write \
		--bs=4k --size=$((IOS * 4))k --output-format=terse >/dev/null ;;
	at_once) fio --name=at_once --filename="$1" --direct=1 --ioengine=libaio --iodepth=32 --rw=randread \
		--iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --bs=4k --size=$((IOS * 4))k \
		--output-format=terse >/dev/null ;;
	of_two) other=$(map_device test "$other_back") && do_ios "$1" at_once && unmap_device "$other" ;;
	sorted) sysfs_write "$(queue_attr "$1" scheduler)" mq-deadline && do_ios "$1" at_once &&
		sysfs_write "$(queue_attr "$1" scheduler)" none ;;
	esac
}

# What there was of it in $IOS I/Os: how often a function of ours returned; how often in a worker of a CPU; how
# many packets travelled; how many requests the server has told its time of.
seen_calls() {
	probe_count "$2" . do_ios "$1" "$3"
}

seen_bound() {
	probe_count rtrs_cq_work "^ *kworker/[0-9]" do_ios "$1" "$3"
}

seen_packets() {
	local before
	before=$(path_packets 1)
	do_ios "$1" "$3" && echo $(($(path_packets 1) - before))
}

seen_times() {
	do_ios "$1" "$3" && awk '$1 == "server" { print $2 }' "$(path_dir test 1)/stats/latency_$3"
}

# seen <how> <what> <load>: of a new connection
seen() {
	local dev nr
	dev=$(map_device test "$back" "$PATIENT_PATHS") || return 1
	nr=$("seen_$1" "$dev" "$2" "$3")
	fio_verify "$dev" --size=1M --bsrange=512-128k --blockalign=512 && unmap_device "$dev" && echo "$nr"
}

# switched <module> <parameter> <value> <less|more by at least> <how> <what> <load>
switched() {
	local file on off default
	file=$(param "$1" "$2")
	default=$(cat "$file")
	on=$(seen "$5" "$6" "$7") && sysfs_write "$file" "$3" && off=$(seen "$5" "$6" "$7") || {
		echo "switched on $on, off ${off:-nothing}"
		return 1
	}
	sysfs_write "$file" "$default"
	echo "of $IOS I/Os there were $on, with $2=$3 $off"
	case $4 in
	less) [ "$on" -gt 0 ] && [ "$off" -eq 0 ] ;;
	*) [ $((off - on)) -ge "$4" ] ;;
	esac
}

ktap_plan 27
requires fio
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 1
back=$(backing_null 16) && other_back=$(backing_null 16) || abort "no backing device"
defer rtrs_unload
RTRS_SERVER_OPTS="sess_queue_depth=64"
must server_load
must client_load
probe_needed rtrs_cq_work

for name in selective_signal batch_receives; do
	check_eq "rtrs-core: $name: default" "$(cat "$(param rtrs_core $name)")" Y
done
for module in rtrs_client rtrs_server; do
	check_errno "$module: no more than it may be" EINVAL "$(echo /sys/module/$module/parameters/max_*_bytes)" 131073 \
		"parameter max_.*_bytes=131073 is not valid, allowed is 0 to 131072"
	check_errno "$module: a word" EINVAL "$(echo /sys/module/$module/parameters/max_*_bytes)" many \
		"parameter max_.*_bytes=many is not valid, allowed is 0 to 131072"
	check_errno "$module: no longer than it may be" EINVAL "$(param $module busy_poll_us)" 1001 \
		"parameter busy_poll_us=1001 of $module is not valid, allowed is 0 to 1000"
done

check "selective_signal" switched rtrs_core selective_signal N $IOS calls rtrs_conn_send_completed read
check "batch_receives" switched rtrs_core batch_receives N $((IOS / 2)) calls rtrs_conn_post_recv_empty read
check "gather_writes" switched rtrs_client gather_writes N $IOS calls rtrs_mr_map write
check "max_bounce_bytes" switched rtrs_client max_bounce_bytes 0 $IOS calls rtrs_mr_map read
check "max_bounce_bytes: half a page is none" switched rtrs_client max_bounce_bytes 2048 $IOS calls rtrs_mr_map read
must sysfs_write "$(param rtrs_client max_bounce_bytes)" 0
check "remote_invalidate" switched rtrs_client remote_invalidate N $IOS calls rtrs_mr_inv_wr read
must sysfs_write "$(param rtrs_client max_bounce_bytes)" 131072
check "cq_unbound of the client" switched rtrs_client cq_unbound N $IOS bound "" read
check "cq_unbound of the server" switched rtrs_server cq_unbound N $IOS bound "" read
for module in rtrs_client rtrs_server; do
	check "busy_poll_us of $module" switched $module busy_poll_us 100 1 calls rtrs_cq_busy_poll read
done
check "max_copy_bytes" switched rtrs_server max_copy_bytes 0 $IOS calls rtrs_mr_inv_wr write
check "implicit_rkey" switched rtrs_server implicit_rkey N $IOS calls rtrs_wire_put_rkey_rsp read
check "batch" switched rtrs_server batch N less calls rtrs_conn_post_reserved_imm together
check "list_requests" switched rtrs_client list_requests N $IOS packets "" at_once
check "list_requests: two disks of a session" switched rtrs_client list_requests N $IOS packets "" of_two
check "list_requests: an I/O scheduler" switched rtrs_client list_requests N $IOS packets "" sorted
check "server_time" switched rtrs_server server_time N less times "" read
check "one_message_reads" switched rtrs_server one_message_reads N $IOS packets "" read
check_eq "all are as they were" "$(cat /sys/module/rtrs_core/parameters/* "$(param rtrs_client gather_writes)" \
	"$(param rtrs_server batch)" | sort -u)" Y

ktap_end
