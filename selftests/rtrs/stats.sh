#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The counters of a path say what happened on it, to the request and byte, on
# both sides, and can be reset, one by one or all.
#
# vm: smp=2 timeout=120

. "$(dirname "$0")/../lib.sh"

NR=50
BLOCK=4096
# What goes with each request: the message of the block device.
MESSAGE=32

clt_rdma() {
	cut -d ' ' -f "$1" "$clt/stats/rdma"
}

srv_rdma() {
	cut -d ' ' -f "$1" "$srv/stats/rdma"
}

# grown <file> <"a b c d" before>: first four numbers, as differences
grown() {
	cut -d ' ' -f 1-4 "$1" | BEFORE="$2" awk '{
		split(ENVIRON["BEFORE"], was)
		print $1 - was[1], $2 - was[2], $3 - was[3], $4 - was[4] }'
}

words_are() {
	[ "$(wc -w <"$1")" -eq "$2" ] || {
		cat "$1"
		return 1
	}
}

sum() {
	awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum + 0 }' "$1"
}

rest_is_zero() {
	[ "$(sum "$clt/stats/$1")" -eq 0 ] || {
		cat "$clt/stats/$1"
		return 1
	}
}

# Submitted here, completed there: any completion on another CPU is one.
migrate() {
	local cpu
	for cpu in 0 1; do
		taskset -c $cpu dd if="$dev" of=/dev/null bs=4k count=200 iflag=direct status=none
	done
}

# table_has <client|server> <text of the session's line> <fields of the path's line, from its name on>...
table_has() {
	local file=$DEBUGFS/rtrs-$1/sessions line="$2"
	shift 2
	awk -v line="$line" -v fields="$*" '
		$0 == line { in_sess = 1; next }
		!/^  / { in_sess = 0 }
		in_sess { $1 = $1; found = $0 == fields }
		END { exit !found }' "$file" || {
		cat "$file"
		echo "wanted: $line; $*"
		return 1
	}
}

# kib <bytes>
kib() {
	echo $(($1 / 1024))
}

ktap_plan 26
topo_up 1
debugfs_up
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
# shellcheck disable=SC2086 # several options, on purpose
dev=$(map_device test "$back" $PATIENT_PATHS) || abort "cannot map"
clt=$(path_dir test 1)
srv=$SRV_CLASS/test/paths/$(path_pair 1)

check "client: rdma has 6 numbers" words_are "$clt/stats/rdma" 6
check "server: rdma has 4 numbers" words_are "$srv/stats/rdma" 4
check "client: reconnects has 2 numbers" words_are "$clt/stats/reconnects" 2
cpus=$(cat /sys/devices/system/cpu/possible)
cpus=$((${cpus#*-} + 1))
check "client: cpu_migration_from has one for each CPU" words_are "$clt/stats/cpu_migration_from" $cpus
check "client: cpu_migration_to too" words_are "$clt/stats/cpu_migration_to" $cpus

clt_was=$(cut -d ' ' -f 1-4 "$clt/stats/rdma")
srv_was=$(cut -d ' ' -f 1-4 "$srv/stats/rdma")
must dd if="$dev" of=/dev/null bs=$BLOCK count=$NR iflag=direct status=none
check_eq "client: reads" "$(grown "$clt/stats/rdma" "$clt_was")" "$NR $((NR * (BLOCK + MESSAGE))) 0 0"
check_eq "server: reads" "$(grown "$srv/stats/rdma" "$srv_was")" "$NR $((NR * (BLOCK + MESSAGE))) 0 0"
clt_was=$(cut -d ' ' -f 1-4 "$clt/stats/rdma")
srv_was=$(cut -d ' ' -f 1-4 "$srv/stats/rdma")
must dd if=/dev/zero of="$dev" bs=$BLOCK count=$NR oflag=direct status=none
check_eq "client: writes" "$(grown "$clt/stats/rdma" "$clt_was" | cut -d ' ' -f 3-4)" "$NR $((NR * (BLOCK + MESSAGE)))"
check_eq "server: writes" "$(grown "$srv/stats/rdma" "$srv_was" | cut -d ' ' -f 3-4)" "$NR $((NR * (BLOCK + MESSAGE)))"
check_eq "nothing is in flight" "$(clt_rdma 5)" 0
check_eq "nothing was taken over" "$(clt_rdma 6)" 0
check_eq "nobody had to reconnect" "$(cat "$clt/stats/reconnects")" "0 0"

# Migrations come in pairs.
must migrate
from=$(sum "$clt/stats/cpu_migration_from") to=$(sum "$clt/stats/cpu_migration_to")
diag "migrated: $from from, $to to"
check_eq "as many migrate from CPUs as to CPUs" "$from" "$to"

# Resetting.
writes=$(srv_rdma 3)
check "client: rdma is reset" sysfs_write "$clt/stats/rdma" 1
check "to zero" rest_is_zero rdma
check_eq "the server's is not" "$(srv_rdma 3)" "$writes"
check "server: rdma is reset" sysfs_write "$srv/stats/rdma" 1
check_eq "to zero" "$(cat "$srv/stats/rdma")" "0 0 0 0"
must sysfs_write "$clt/stats/cpu_migration_from" 1
check "one migration counter resets both" rest_is_zero cpu_migration_to
must dd if="$dev" of=/dev/null bs=4k count=4 iflag=direct status=none
must sysfs_write "$clt/stats/reset_all" 1
check "reset_all: rdma" rest_is_zero rdma
check "reset_all: reconnects" rest_is_zero reconnects
check "reset_all: migrations" rest_is_zero cpu_migration_from

# Tables for humans.
must dd if="$dev" of=/dev/null bs=$BLOCK count=$NR iflag=direct status=none
must sysfs_write "$srv/stats/rdma" 1
must dd if="$dev" of=/dev/null bs=$BLOCK count=8 iflag=direct status=none
check_eq "in debugfs they are for root, to read" "$(stat -c %a $DEBUGFS/rtrs-client/sessions $DEBUGFS/rtrs-server/sessions |
	tr '\n' ' ')" "400 400 "
check "client: a line for the session and one for its path" table_has client \
	"session test: 1 of 1 paths up, min-inflight (MI: 1), 0 failovers" \
	"$(path_pair 1)" rxe_c1/1 connected 0 "$(clt_rdma 1)" "$(kib "$(clt_rdma 2)")" "$(clt_rdma 3)" \
	"$(kib "$(clt_rdma 4)")" 0 0
check "server: likewise" table_has server "port 1234, session test: 1 of 1 paths up" \
	"$(path_pair 1)" rxe_s1/1 connected 8 "$(kib $((8 * (BLOCK + MESSAGE))))" 0 0
must unmap_device "$dev"
check_fails "none of it when the session is gone" grep -h session $DEBUGFS/rtrs-client/sessions \
	$DEBUGFS/rtrs-server/sessions

ktap_end
