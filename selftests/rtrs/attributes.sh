#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every attribute of the transport, client and server: what it shows, what it
# takes, and that it refuses all else with the right errno and a message that
# names it and the value.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

SESS=$CLT_CLASS/test
TIMINGS='hb_interval_ms hb_missed_max ack_timeout_ms retry_count connect_timeout_ms'

shows() {
	local text
	text=$(cat "$1")
	[ "$text" = "$2" ] || {
		echo "$1 shows '$text', not '$2'"
		return 1
	}
}

# matches <file> <extended regular expression>: its only line does
matches() {
	[ "$(wc -l <"$1")" -eq 1 ] && grep -Eqx -- "$2" "$1" || {
		cat "$1"
		return 1
	}
}

mode_is() {
	[ "$(stat -c %a "$1")" = "$2" ]
}

# modes <directory> <mode> <file>...
modes() {
	local dir="$1" mode="$2" file
	shift 2
	for file; do
		mode_is "$dir/$file" "$mode" || {
			echo "$file: $(stat -c %a "$dir/$file"), wanted $mode"
			return 1
		}
	done
}

# only <directory> <name>...: has these entries, besides those of any object
only() {
	local dir="$1" want have
	shift
	want=$(printf '%s\n' "$@" | sort)
	have=$(ls "$dir" | grep -vxE 'power|subsystem|uevent' | sort)
	[ "$have" = "$want" ] || {
		echo "$dir has:" $have
		return 1
	}
}

# takes <file> <text> <shown>
takes() {
	sysfs_write "$1" "$2" && shows "$1" "$3"
}

# policies <shown> <text>...: each spelling is taken as this policy
policies() {
	local shown="$1" text other
	shift
	for text; do
		other=0
		[ "$shown" != "round-robin (RR: 0)" ] || other=1
		must sysfs_write $SESS/mpath_policy $other
		takes $SESS/mpath_policy "$text" "$shown" || return 1
	done
}

# all_refused <file> <pattern with %s> <text>...: each with EINVAL
all_refused() {
	local file="$1" pattern="$2" text
	shift 2
	for text; do
		# shellcheck disable=SC2059 # it is a format
		write_gives EINVAL "$file" "$text" "$(printf "$pattern" "$text")" || return 1
	done
}

usage() {
	[ "$(head -c 6 "$1")" = "Usage:" ] || {
		cat "$1"
		return 1
	}
}

# timings <value>...: the session's, in the order of $TIMINGS
timings() {
	local name
	for name in $TIMINGS; do
		shows "$SESS/$name" "$1" || return 1
		shift
	done
}

set_timings() {
	local name values="$*"
	for name in $TIMINGS; do
		sysfs_write "$SESS/$name" "$1" || return 1
		shift
	done
	# shellcheck disable=SC2086 # several words
	timings $values
}

# timing <name> <least> <most>
timing() {
	check "$1: takes its limits" eval "takes $SESS/$1 $2 $2 && takes $SESS/$1 $3 $3"
	check "$1: refuses" all_refused "$SESS/$1" "session test: $1 '%s' is not valid, allowed are $2 to $3" \
		$(($2 - 1)) $(($3 + 1)) -1 0x20 1.5 '' often
}

ktap_plan 95
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
clt=$(path_dir test 1)
srv=$SRV_CLASS/test/paths/$(path_pair 1)
must fio_verify "$dev" --size=1M

# The session of the client.
check "session: entries" only $SESS add_path max_reconnect_attempts mpath_policy open_slots paths stats \
	$TIMINGS
check "session: modes" modes $SESS 644 add_path max_reconnect_attempts mpath_policy $TIMINGS
check "session: open_slots: mode" modes $SESS 444 open_slots
check "open_slots: few, of a new session" shows $SESS/open_slots 16
check "mpath_policy: default" shows $SESS/mpath_policy "min-inflight (MI: 1)"
check "mpath_policy: round-robin" policies "round-robin (RR: 0)" 0 rr RR Rr round-robin ROUND-ROBIN
check "mpath_policy: min-inflight" policies "min-inflight (MI: 1)" 1 mi MI min-inflight Min-Inflight
check "mpath_policy: min-latency" policies "min-latency (ML: 2)" 2 ml ML min-latency MIN-latency
check "mpath_policy: service-time" policies "service-time (ST: 3)" 3 st ST service-time SERVICE-time
check "mpath_policy: takes what it shows" policies "min-latency (ML: 2)" "min-latency (ML: 2)"
check "mpath_policy: refuses" all_refused $SESS/mpath_policy "session test: mpath_policy '%s' is not valid, allowed are round-robin" \
	4 -1 00 x rrr minlatency '' ' rr'
check "mpath_policy: is as it was" shows $SESS/mpath_policy "min-latency (ML: 2)"
check "max_reconnect_attempts: default" shows $SESS/max_reconnect_attempts -1
check "max_reconnect_attempts: 0" takes $SESS/max_reconnect_attempts 0 0
check "max_reconnect_attempts: 9999" takes $SESS/max_reconnect_attempts 9999 9999
check "max_reconnect_attempts: refuses" all_refused $SESS/max_reconnect_attempts \
	"session test: max_reconnect_attempts '%s' is not valid, allowed are -1 .* to 9999" -2 10000 0x10 1.5 '' forever
check_errno "max_reconnect_attempts: overflow" ERANGE $SESS/max_reconnect_attempts 99999999999 \
	"session test: max_reconnect_attempts '99999999999' is not valid"
check "max_reconnect_attempts: is as it was" shows $SESS/max_reconnect_attempts 9999
check "max_reconnect_attempts: -1" takes $SESS/max_reconnect_attempts -1 -1
check "timing: defaults" timings 200 2 134 2 10000
timing hb_interval_ms 20 60000
timing hb_missed_max 1 1000
timing ack_timeout_ms 1 8000
timing retry_count 1 6
timing connect_timeout_ms 500 60000
check "timing: takes the defaults" set_timings 200 2 134 2 10000
check "add_path: usage" usage $SESS/add_path
check "add_path: refuses" all_refused $SESS/add_path "session test: add_path '%s' is not valid, write" \
	10.1.0.1 ip: ip:10.1.0 ip:10.1.0.1, ,ip:10.1.0.1 gid:1 '' x@ip:10.1.0.2 ip:10.1.0.1,10.1.0.2
check_errno "add_path: not our address" EADDRNOTAVAIL $SESS/add_path ip:10.77.0.1,ip:10.1.0.2
check "add_path: nothing is left of these" only $SESS/paths "$(path_pair 1)" "$(path_pair 2)"

# A path of the client.
check "path: entries" only "$clt" cur_latency disconnect dst_addr hca_name hca_port last_failure reconnect \
	remove_path src_addr state stats
check "path: modes of what is read" modes "$clt" 444 cur_latency dst_addr hca_name hca_port src_addr state
check "path: modes of what is written" modes "$clt" 644 disconnect reconnect remove_path
check "path: src_addr" shows "$clt/src_addr" "$(path_pair 1 | cut -d @ -f 1)"
check "path: dst_addr" shows "$clt/dst_addr" "$(path_pair 1 | cut -d @ -f 2)"
check "path: state" shows "$clt/state" connected
check "path: hca_name is a device" [ -d "/sys/class/infiniband/$(cat "$clt/hca_name")" ]
check "path: hca_port is a port of it" [ -d "/sys/class/infiniband/$(cat "$clt/hca_name")/ports/$(cat "$clt/hca_port")" ]
check "path: cur_latency" matches "$clt/cur_latency" '[0-9]+ ns'
for file in disconnect reconnect remove_path; do
	check "path: $file: usage" usage "$clt/$file"
	check "path: $file: refuses" all_refused "$clt/$file" \
		"$file of $(path_pair 1): '%s' is not valid, write 1" 0 2 '' yes 11 ' 1'
done
check "path: still connected" shows "$clt/state" connected

# Its counters, and the session's.
both="reconnects timeouts overdue fences failovers losses io_errors latency_read latency_write reset_all"
per_path="cpu_migration_from cpu_migration_to rdma $both"
# stats_files <directory> <name of what it belongs to> <file>...
stats_files() {
	local dir="$1" name="$2" file
	shift 2
	check "$name stats: entries" only "$dir" "$@"
	check "$name stats: modes" modes "$dir" 644 "$@"
	check "$name stats: reset_all: usage" usage "$dir/reset_all"
	for file; do
		check "$name stats: $file: refuses" all_refused "$dir/$file" \
			"$file of $name: '%s' is not valid, write 1" 0 2 '' reset
	done
}
# shellcheck disable=SC2086
stats_files "$clt/stats" "$(path_pair 1)" $per_path
# shellcheck disable=SC2086
stats_files $SESS/stats test $both

# The server.
check "server: entries of a session" only $SRV_CLASS/test paths
check "server: entries of a path" only "$srv" chunks disconnect dst_addr hca_name hca_port src_addr stats
check "server: modes" modes "$srv" 444 chunks dst_addr hca_name hca_port src_addr
check "server: chunks: one for each of those slots" shows "$srv/chunks" 16
check "server: src_addr is the client's" shows "$srv/src_addr" "$(path_pair 1 | cut -d @ -f 1)"
check "server: dst_addr is its own" shows "$srv/dst_addr" "$(path_pair 1 | cut -d @ -f 2)"
check "server: hca" [ -d "/sys/class/infiniband/$(cat "$srv/hca_name")/ports/$(cat "$srv/hca_port")" ]
check "server: disconnect: usage" usage "$srv/disconnect"
check "server: disconnect: refuses" all_refused "$srv/disconnect" \
	"path $(path_pair 1): disconnect: '%s' is not valid, write 1" 0 2 '' yes
check "server: stats: entries" only "$srv/stats" rdma latency_read latency_write
check "server: stats: modes" modes "$srv/stats" 644 rdma latency_read latency_write
for file in rdma latency_read latency_write; do
	check "server: stats: $file: refuses" all_refused "$srv/stats/$file" \
		"path $(path_pair 1): stats/$file: '%s' is not valid, write 1" 0 2 '' reset
done
check "what was mapped works" fio_verify "$dev" --size=1M
must unmap_device "$dev"

ktap_end
