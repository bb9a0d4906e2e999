#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The command-line tool with the real modules: all that it does, and what it says when it cannot. Its
# unit tests (tools/rnbd/tests) have the whole table of mistakes.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

EXPORTS=/run/rnbd-tool

# gives <exit status> <pattern of the output> <command>...
gives() {
	local status="$1" pattern="$2" out got=0
	shift 2
	out=$("$@" 2>&1) || got=$?
	if [ "$got" -ne "$status" ] || ! echo "$out" | grep -Eq -e "$pattern"; then
		echo "status $got, wanted $status; wanted output '$pattern', got:"
		echo "$out"
		return 1
	fi
}

# tool <name> <exit status> <pattern of the output> <argument of rnbd>...
tool() {
	local name="$1" status="$2" pattern="$3"
	shift 3
	check "$name" gives "$status" "$pattern" rnbd "$@"
}

# printed_command <pattern> <argument of rnbd>...: what it says is to be done next, which begins so
printed_command() {
	local pattern="$1"
	shift
	rnbd "$@" 2>&1 | sed -n "s/^  next: .*\($pattern .*\)/\1/p" | head -n 1
}

# What both paths of the client have written, in metrics.
written_bytes() {
	rnbd stats --openmetrics | awk '
		/^rnbd_path_transferred_bytes_total[{]role="client".*operation="write"/ { sum += $NF }
		END { printf "%d\n", sum }'
}

# One mebibyte more was written, with a header for each request.
counted_since() {
	local before after
	before=$(written_bytes)
	dd if=/dev/zero of=/dev/rnbd0 bs=64k count=16 oflag=direct status=none || return
	after=$(written_bytes)
	echo "before $before, after $after"
	[ $((after - before)) -ge 1048576 ] && [ $((after - before)) -lt 1100000 ]
}

metrics_in_file() {
	local file=/tmp/rnbd.prom
	rnbd stats --prometheus --output=$file && [ "$(stat -c %a $file)" = 644 ] &&
		grep -q '^# TYPE rnbd_path_requests_total counter$' $file && [ ! -e $file.tmp ]
}

# In a terminal of 80x24, with keys that wait there: a look at the split of the first path, the help, and out.
top_shows() {
	local screen=/tmp/top.screen what
	printf 'j\rhxq' | TERM=vt100 timeout 30 script -qec "stty rows 24 cols 80; rnbd top" $screen >/dev/null || return
	for what in "client: 1 session, 2 of 2 paths up" "10.2.0.1@10.2.0.2" "$sess, client, 10.1.0.1@10.1.0.2" \
		"keys and columns"; do
		grep -aFq "$what" $screen || {
			echo "not on the screen: $what"
			cat -v $screen
			return 1
		}
	done
}

nr_listed() {
	rnbd list -H | wc -l
}

nr_listed_is() {
	[ "$(nr_listed)" -eq "$1" ]
}

is_closed() {
	dev_is /dev/rnbd0 closed
}

# A client that lost its device to the server: the session came back, the device did not.
lose_device() {
	rm $EXPORTS/disk &&
	rnbd disconnect "$sess" --all --force && wait_for 10 is_closed &&
	rnbd reconnect "$sess" && sess_paths_are "$sess" 2 && is_closed
}

server_sees_paths() {
	[ "$(rnbd path list --server -H | wc -l)" -eq "$1" ]
}

ktap_plan 59
requires rnbd
topo_up 2
topo_is_ours
hostname alpha
printf 'multi on\n' >/etc/host.conf
printf '10.1.0.2 storage\n10.2.0.2 storage\n' >/etc/hosts
defer "rm -rf /etc/hosts /etc/host.conf $EXPORTS"
RTRS_SERVER_OPTS="sess_queue_depth=64"
RNBD_SERVER_OPTS="dev_search_path=$EXPORTS"
back=$(backing_null 16) || abort "no backing device"
more=$(backing_null 16) || abort "no backing device"
mkdir $EXPORTS
must ln -s "$back" $EXPORTS/disk
must ln -s "$more" $EXPORTS/more
must ln -s /dev/null $EXPORTS/null
rtrs_load
sess=alpha@storage

tool "check client" 0 'MTU to 10.2.0.2: packets of 4200 bytes arrive' check client storage
tool "check server" 0 "dev_search_path: $EXPORTS, names in it: 3" check server
tool "map --dry-run" 0 "echo 'sessname=$sess device_path=disk path=ip:10.1.0.1@ip:10.1.0.2 path=ip:10.2.0.1@ip:10.2.0.2 no_path_timeout=600' > $CLT_CTL/map_device" \
	map -n storage:disk
check "has mapped nothing" nr_listed_is 0
tool "map" 0 '^/dev/rnbd0$' map storage:disk
check "the node is there" [ -b /dev/rnbd0 ]
check "both paths are connected" sess_paths_are $sess 2
check "data" fio_verify /dev/rnbd0 --size=1M
tool "list" 0 "^/dev/rnbd0 +open +16M +rw +2 +2 +$sess +disk +-$" list
tool "list -j" 0 "\"device\": \"/dev/rnbd0\", \"state\": \"open\", \"size\": 16777216" list -j
tool "show, by the name on the server" 0 '^mpath_policy +min-inflight' show disk
tool "show session" 0 '^max_reconnect_attempts +-1' show $sess
tool "sessions" 0 "^$sess +client +2 +2 +1 " sessions
tool "sessions server" 0 "^$sess +server +2 +2 +1 " sessions server
tool "exports" 0 "^${back##*/} +$sess +rw +disk +- +0$" exports
tool "stats" 0 "^$sess +client +- +- +2 +2 +[0-9]+ +" stats
tool "stats of a device's path, per interval" 0 "^$sess +client +ip:10.1.0.1@ip:10.1.0.2 +connected " stats -w 1 -c 2 rnbd0
tool "stats of a session of the server" 0 "^$sess +server +- +- +2 +2 +" stats $sess
tool "metrics" 0 "^rnbd_path_transferred_bytes_total\{role=\"client\",session=\"$sess\",path=\"ip:10.1.0.1@ip:10.1.0.2\",operation=\"write\"\} [1-9]" \
	stats --openmetrics
check "metrics in a file" metrics_in_file
check "they count what was written" counted_since
check "top shows paths, the split of one, and help" top_shows
tool "top without a terminal" 3 'next: rnbd stats -w 1' top
tool "completion" 0 '^ip:10.2.0.1@ip:10.2.0.2$' complete path del $sess ''

tool "mapped already" 5 'mapped already, as /dev/rnbd0' map storage:disk
tool "the second of two is not there: rolled back" 1 'undone: /dev/rnbd1 is unmapped again' \
	map storage:more storage:nosuch
check "one is mapped as before" nr_listed_is 1
tool "the server's reason" 1 'kernel: map_device: device_path="nosuch".*-ENOENT$' map storage:nosuch
tool "no block device" 1 'not a block device \(ENOTBLK\)' map storage:null
tool "another writer" 5 'another client has the device open for writing' map -s other storage:disk
tool "nobody listens on the port" 6 'kernel: session other, path .*is rnbd-server loaded and the port right\?$' \
	map -s other -P 4321 storage:more
must blockdev --setro "$more"
tool "read-only device for writing" 1 'next: map it with --access=ro' map storage:more
tool "and for reading" 0 '^/dev/rnbd1$' map --access=ro storage:more
tool "timings of a new session" 0 '^/dev/rnbd2$' map -s timed -a ro --hb-interval-ms=100 --retry-count=3 --request-timeout=60 storage:more
tool "show them" 0 '^hb_interval_ms +100$' show timed
tool "show the time that a request may take" 0 '^request_timeout +60$' show rnbd2
must rnbd unmap rnbd2
tool "unmap by the name on the server" 0 '' unmap more@$sess
must blockdev --setrw "$more"

exec 9</dev/rnbd0
tool "unmap: in use, by whom" 5 "user: process $$ " unmap rnbd0
exec 9<&-

tool "path del" 0 '' path del $sess 10.2.0.2
tool "path del: the last one" 5 'would have no connected path' path del $sess 10.1.0.2
tool "path add, the source by routing" 0 '' path add $sess 10.2.0.2
tool "path add: there already" 5 'has this path already' path add $sess 10.2.0.1@10.2.0.2
tool "path list" 0 "ip:10.2.0.1@ip:10.2.0.2 +connected +rxe_c2 +1 " path list
tool "disconnect on the server" 0 '' disconnect --server $sess 10.2.0.2
check "the client connects it again" wait_for 20 server_sees_paths 2
tool "disconnect" 0 '' disconnect $sess 10.2.0.2
check "is disconnected" path_is $sess 2 disconnected
tool "reconnect" 0 '' reconnect $sess

tool "resize" 0 '' resize rnbd0 32M
check_eq "has grown" "$(cat /sys/block/rnbd0/size)" 65536
tool "resize: smaller" 2 '16m would cut off data' resize rnbd0 16m
tool "resize --force" 0 '' resize --force rnbd0 16m
tool "close" 0 '' close --force "${back##*/}" $sess
must lose_device
tool "remap: still not there" 1 'exports no such device, by name or below its dev_search_path' remap rnbd0
must ln -s "$back" $EXPORTS/disk
tool "remap" 0 '' remap --all
check "is open" dev_is /dev/rnbd0 open
tool "unmap --all" 0 '' unmap --all

# What it says is to be done helps.
must rdma link del rxe_c1
must rdma link del rxe_c2
attach=$(printed_command 'rdma link add' map 10.1.0.2:disk)
# shellcheck disable=SC2086 # a command
check "the command that attaches SoftRoCE" $attach
must module_gone rnbd-client
load=$(printed_command modprobe map 10.1.0.2:disk)
# shellcheck disable=SC2086
check "the command that loads the module" $load
ktap_end
