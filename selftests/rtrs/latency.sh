#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the time of requests goes: histograms count each request, and what makes them slow shows in the part that
# it is in, and in no other. And why paths were lost, and requests failed.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"

SESS=$CLT_CLASS/test
# Of so many requests the parts of one are taken.
EVERY=61
SAMPLES=2
DELAY_US=20000

# lat <file> <part> <field>: 2 requests, 3 microseconds in all, 4 ... buckets
lat() {
	awk -v part="$2" -v field="$3" '$1 == part { print $field }' "$1"
}

# mean <file> <part>: microseconds
mean() {
	awk -v part="$2" '$1 == part { print $2 ? int($3 / $2) : 0 }' "$1"
}

# lines_are <file> <name>...: each with 28 buckets that have as many as it says
lines_are() {
	local file="$1"
	shift
	[ "$(cut -d ' ' -f 1 "$file" | tr '\n' ' ')" = "$* " ] &&
		awk '{ for (i = 4; i <= NF; i++) sum += $i
		       if (NF != 31 || sum != $2) exit 1
		       sum = 0 }' "$file" || {
		cat "$file"
		return 1
	}
}

# counts_are <file> <total> <client> <wire> <server> <device>, of the server the last two
counts_are() {
	local file="$1"
	shift
	[ "$(cut -d ' ' -f 2 "$file" | tr '\n' ' ')" = "$* " ] || {
		cat "$file"
		return 1
	}
}

# mean_is <file> <part> <least> <most>
mean_is() {
	local us
	us=$(mean "$1" "$2")
	[ "$us" -ge "$3" ] && [ "$us" -le $(($4 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "$2: $us us, wanted $3 to $4"
		cat "$1"
		return 1
	}
}

# only_slow <part>: of reads on path 1, by about $DELAY_US
only_slow() {
	local part
	for part in client wire server device; do
		if [ $part = "$1" ]; then
			mean_is "$path/latency_read" $part $((DELAY_US * 9 / 10)) $((2 * DELAY_US))
		else
			mean_is "$path/latency_read" $part 0 $((DELAY_US / 4))
		fi || return 1
	done
	mean_is "$path/latency_read" total $((DELAY_US * 9 / 10)) $((2 * DELAY_US))
}

reset() {
	local file
	for file; do
		sysfs_write "$file" 1 || return 1
	done
}

# reads <number>: of 4 KiB
reads() {
	dd if="$dev" of=/dev/null bs=4k count="$1" iflag=direct status=none
}

writes() {
	dd if=/dev/zero of="$dev" bs=4k count="$1" oflag=direct status=none
}

# read_start, read_ends <status>: one in the background
read_start() {
	dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null &
	read_pid=$!
}

read_ends() {
	local status=0
	wait $read_pid || status=$?
	is $status "$1"
}

# cause <losses|io_errors> <word>: of path 1 and of the session
cause() {
	echo "$(awk -v word="$2" '$1 == word { print $2 }' "$path/$1")" \
		"$(awk -v word="$2" '$1 == word { print $2 }' "$SESS/stats/$1")"
}

# words_are <file> <word>...: one a line, each with a number
words_are() {
	local file="$1"
	shift
	[ "$(cut -d ' ' -f 1 "$file" | tr '\n' ' ')" = "$* " ] && ! grep -vxE '[a-z_]+ [0-9]+' "$file" || {
		cat "$file"
		return 1
	}
}

# all_zero <file>...
all_zero() {
	! grep -HE ' [1-9]' "$@"
}

# in_flight <number>
in_flight() {
	[ "$(path_stat test 1 5)" -eq "$1" ]
}

# delayed <fault point> <command>...: this, while a read is at the server and stays there for a while
delayed() {
	local point="$1"
	shift
	fault_arm "$point" && read_start && wait_for 10 fault_fired "$point" && "$@"
}

# path_back: path 1
path_back() {
	path_returns 40 test 1
}

# table <client|server> <line that the lines belong to> <read|write> <part>: requests, mean and the three bounds
table() {
	awk -v line="$2" -v dir="$3" -v part="$4" '
		!/^  / { here = $0 == line }
		here && $1 == dir && $2 == part { print $3, $4, $5, $6, $7 }' "$DEBUGFS/rtrs-$1/latency"
}

# table_of <file> <part>: the same from sysfs
table_of() {
	awk -v part="$2" '
		function below(per_mille,	rank, sum, us, i) {
			rank = int(($2 * per_mille + 999) / 1000)
			for (us = 1, i = 4; i < 31; us *= 2)
				if ((sum += $(i++)) >= rank)
					return us
			return "more"
		}
		$1 == part && !$2 { print "0 - - - -" }
		$1 == part && $2 { print $2, int($3 / $2), below(500), below(990), below(999) }' "$1"
}

# tables_agree <client|server> <line that the lines belong to> <directory> <part>...: with sysfs
tables_agree() {
	local side="$1" line="$2" dir="$3" part
	shift 3
	for part; do
		is "$(table "$side" "$line" read "$part")" "$(table_of "$dir/latency_read" "$part")" &&
			is "$(table "$side" "$line" write "$part")" "$(table_of "$dir/latency_write" "$part")" || {
			cat "$DEBUGFS/rtrs-$side/latency"
			return 1
		}
	done
}

remap() {
	unmap_device "$dev" && dev=$(map_device test "$back")
}

# tables_read: all tables, again and again, until the file is gone
tables_read() {
	local nr=0
	while [ -e /tmp/latency.reads ]; do
		cat $DEBUGFS/rtrs-client/sessions $DEBUGFS/rtrs-client/latency \
			$DEBUGFS/rtrs-server/sessions $DEBUGFS/rtrs-server/latency >/dev/null || return 1
		nr=$((nr + 1))
	done
	echo $nr >/tmp/latency.nr
}

ktap_plan 58
topo_up 2
topo_is_ours
debugfs_up
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
path=$(path_dir test 1)/stats
other=$(path_dir test 2)/stats
srv=$SRV_CLASS/test/paths/$(path_pair 1)/stats

# Counting. With nothing in flight the first path takes all.
must reset "$path/reset_all" "$other/reset_all" $SESS/stats/reset_all
check "reset_all: path" all_zero "$path"/latency_* "$path/losses" "$path/io_errors"
check "reset_all: session" all_zero $SESS/stats/latency_* $SESS/stats/losses $SESS/stats/io_errors
must reads $((SAMPLES * EVERY))
for dir in "$path" $SESS/stats; do
	check "${dir##*/class/*/}: five lines, and their buckets have all requests" \
		lines_are "$dir/latency_read" total client wire server device
	check "reads are counted, one in $EVERY by its parts" \
		counts_are "$dir/latency_read" $((SAMPLES * EVERY)) $SAMPLES $SAMPLES $SAMPLES $SAMPLES
	check "writes are not" all_zero "$dir/latency_write"
done
check "nor is anything on the other path" all_zero "$other"/latency_*
must writes $EVERY
check "writes are counted by themselves" counts_are "$path/latency_write" $EVERY 1 1 1 1
check "the session has them too" counts_are $SESS/stats/latency_write $EVERY 1 1 1 1
check "client: the table has the same of the path" tables_agree client "session test, path $(path_pair 1)" "$path" \
	total client wire server device
check "client: and of the session" tables_agree client "session test" $SESS/stats total client wire server device
check "server: likewise" tables_agree server "port 1234, session test, path $(path_pair 1)" "$srv" server device
check "a reset of the path" reset "$path/latency_read"
check "is one of reads" all_zero "$path/latency_read"
check "and not of writes" counts_are "$path/latency_write" $EVERY 1 1 1 1
check "nor of the session" counts_are $SESS/stats/latency_read $((SAMPLES * EVERY)) $SAMPLES $SAMPLES $SAMPLES $SAMPLES
must reads 1
check "the parts of the next request are taken" counts_are "$path/latency_read" 1 1 1 1 1
check "a reset of the session" reset $SESS/stats/latency_read
check "is not one of the path" counts_are "$path/latency_read" 1 1 1 1 1

# One that is in flight while all is reset.
check_here "a read is answered late" delayed rtrs-server/rsp_delayed in_flight 1
must reset "$path/reset_all" $SESS/stats/reset_all
check "a reset leaves it in flight" in_flight 1
check_here "it ends well" read_ends 0
check "and is counted, for its whole time" counts_are "$path/latency_read" 1 0 0 0 0
check "with a second" mean_is "$path/latency_read" total 900000 1500000
check "none is in flight" in_flight 0

# On the wire: what comes back from the server is late.
must tc qdisc replace dev cp1 root netem delay ${DELAY_US}us limit 100000
must reset "$path/latency_read"
must reads $EVERY
check "a slow wire shows in the wire" only_slow wire
check "in the bucket of 16 to 33 ms" [ "$(lat "$path/latency_read" wire 19)" -eq 1 ]
must tc qdisc del dev cp1 root

# In the device: a disk that takes its time. The server says the same of itself.
slow=$(backing_null 16 irqmode=2 completion_nsec=$((DELAY_US * 1000))) || abort "no slow backing device"
fast_dev=$dev
dev=$(map_device test "$slow") || abort "cannot map"
must reset "$path/latency_read" "$srv/latency_read"
must reads $EVERY
check "a slow disk shows in the device" only_slow device
check "server: two lines, and their buckets have all requests" lines_are "$srv/latency_read" server device
check "server: it has timed what the client asked for" counts_are "$srv/latency_read" 1 1
check "server: the device's time is what the client was told" \
	mean_is "$srv/latency_read" device $((DELAY_US * 9 / 10)) $((DELAY_US * 2))
check "server: a reset" reset "$srv/latency_read"
check "server: is one" all_zero "$srv/latency_read"
must unmap_device "$dev"
dev=$fast_dev

# In the client: a request that has to wait until the server has closed the path that it was on.
must reset "$other/reset_all"
check_here "a path is cut while the disk has a read" delayed rnbd-server/bio_delayed path_cut 1
check_here "the read ends well" read_ends 0
check "it is counted on the path that took it over" counts_are "$other/latency_read" 1 1 1 1 1
check "waiting for the fence is the client's" mean_is "$other/latency_read" client 500000 5000000
check "and not the wire's" mean_is "$other/latency_read" wire 0 100000
check_eq "the loss is counted: no answer" "$(cause losses no_answer)" "1 1"
must path_heal 1
must path_back

# Paths that go.
must reads 1
reads=$(lat $SESS/stats/latency_read total 2)
must sysfs_write "$(path_dir test 2)/remove_path" 1
check "the session keeps what a path has had that is removed" [ "$(lat $SESS/stats/latency_read total 2)" -eq "$reads" ]
check "losses: words" words_are "$path/losses" on_request by_server queue_pair no_answer unreachable no_carrier \
	device_removed protocol device
check "io_errors: words" words_are "$path/io_errors" server no_path timeout aborted
must reset "$path/reset_all" $SESS/stats/reset_all
fault_arm rnbd-server/bio_error
reads 1 2>/dev/null && abort "a read that fails did not"
check_eq "io_errors: the server's" "$(cause io_errors server)" "1 1"
check_here "lost by the server, with a read" delayed rtrs-server/rsp_delayed sysfs_write \
	"$SRV_CLASS/test/paths/$(path_pair 1)/disconnect" 1
must path_back
check_eq "losses: by the server" "$(cause losses by_server)" "1 1"
check "io_errors: no path; at least that read" [ "$(cause io_errors no_path | cut -d ' ' -f 1)" -ge 1 ]
check_here "RNBD has sent it again" read_ends 0
check_here "lost on request, with a read" delayed rtrs-server/rsp_delayed sysfs_write "$(path_dir test 1)/disconnect" 1
must sysfs_write "$(path_dir test 1)/reconnect" 1
check_eq "losses: on request" "$(cause losses on_request)" "1 1"
check_eq "io_errors: aborted" "$(cause io_errors aborted | cut -d ' ' -f 1)" 1
must read_ends 0
check_here "cut, with a read" delayed rtrs-server/rsp_lost path_cut 1
must wait_for 20 path_is test 1 disconnected
must path_heal 1
must path_back
check_eq "io_errors: timeout" "$(cause io_errors timeout | cut -d ' ' -f 1)" 1
must read_ends 0
must reset "$path/losses" "$path/io_errors"
check "these can be reset" all_zero "$path/losses" "$path/io_errors"

# Tables are read while what they show goes and comes.
: >/tmp/latency.reads
tables_read &
reader=$!
defer "rm -f /tmp/latency.reads /tmp/latency.nr"
check "a path comes" sysfs_write $SESS/add_path "$(path_pair 2 | tr @ ,)"
must reads 8
must sysfs_write "$(path_dir test 2)/remove_path" 1
check_here "a session goes and comes, while tables are read" remap
must rm /tmp/latency.reads
wait $reader || abort "a table could not be read"
check "which they were" [ "$(cat /tmp/latency.nr)" -ge 3 ]
must unmap_device "$dev"

ktap_end
