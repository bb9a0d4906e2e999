#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk of the server hangs, and no path is lost for it: its requests wait, both sides name the disk, another disk
# of the session does not notice. The command-line tool shows it on both sides. An answer that is lost is found out by
# asking, and the request is sent again. A request that has taken all the time it may fails with ETIMEDOUT.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

LOST=rtrs-server/fault/rsp_lost
TIMEOUT_MS=2000
HANG_MS=12000
MAX_MS=$((1000 * ${RTRS_SLOWNESS:-1}))

# reads_for <ms>: one of the healthy disk each 100 ms; $worst, $errors
reads_for() {
	local start before took
	start=$(uptime_ms) worst=0 errors=0 reads=0
	while before=$(uptime_ms) && [ $((before - start)) -lt "$1" ]; do
		dd if="$good" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null || errors=$((errors + 1))
		took=$(($(uptime_ms) - before)) reads=$((reads + 1))
		[ $took -le $worst ] || worst=$took
		sleep 0.1
	done
	diag "$reads reads of the healthy disk, the worst took $worst ms, $errors failed"
}

slow_secs() {
	cut -d ' ' -f 1 "$(dev_attr "$bad" slow)"
}

srv_slow_secs() {
	cut -d ' ' -f 1 $SRV_CTL/devices/*/sessions/test/slow | sort -n | tail -n 1
}

# The server's name of the disk that hangs.
hang_name() {
	echo "dm-$(dmsetup info -c --noheadings -o minor hang)"
}

# In a terminal of 80x24.
top_shows() {
	printf q | TERM=vt100 timeout 30 script -qec "stty rows 24 cols 80; rnbd top" /tmp/screen >/dev/null
	grep -aEq "client: 1 session, 2 of 2 paths up, 1 disk slow for [0-9]+s" /tmp/screen || {
		cat -v /tmp/screen
		return 1
	}
}

# has_event <pattern>: of those that came so far
has_event() {
	grep -Eq -e "$1" /tmp/events
}

# lost_are <paths given up for requests> <requests that were sent again>
lost_are() {
	is "$(paths_sum test timeouts)" "$1" && is "$(paths_sum test overdue 2)" "$2"
}

no_path_was_lost() {
	is "$(paths_sum test losses 2)" 0 && sess_paths_are test 2 && is "$(paths_sum test reconnects)" 0 && lost_are 0 0
}

# read_lost: a READ whose answer is lost; its time in $ms
read_lost() {
	local start
	fault_arm $LOST || return 1
	start=$(uptime_ms)
	dd if="$bad" of=/tmp/lost bs=4k count=1 iflag=direct 2>/dev/null || return 1
	ms=$(($(uptime_ms) - start))
	diag "a request whose answer was lost took $ms ms"
	fault_fired $LOST && cmp -n 4096 /tmp/lost /tmp/data
}

# large_read_lost: one that registers its pages; write_lost: one that writes them
large_read_lost() {
	fault_arm $LOST && dd if="$bad" of=/tmp/lost bs=1M count=1 iflag=direct 2>/dev/null &&
		fault_fired $LOST && cmp -n 1048576 /tmp/lost /tmp/data
}

write_lost() {
	fault_arm $LOST && dd if=/tmp/data of="$bad" bs=64k count=1 oflag=direct 2>/dev/null && fault_fired $LOST
}

# times_out: the read of the disk that hangs; its time in $ms
times_out() {
	local start
	start=$(uptime_ms)
	! LC_ALL=C dd if="$bad" of=/dev/null bs=4k count=1 iflag=direct 2>/tmp/err || return 1
	ms=$(($(uptime_ms) - start))
	diag "it took $ms ms"
	grep -q "Connection timed out" /tmp/err || {
		cat /tmp/err
		return 1
	}
}

ktap_plan 41
requires dmsetup rnbd
must debugfs_up
topo_up 2
topo_is_ours
rtrs_load
healthy=$(backing_null 32) || abort "no backing device"
hanging_disk 32
bad=$(map_device test /dev/mapper/hang) || abort "cannot map"
good=$(map_device test "$healthy") || abort "cannot map"
must wait_for 20 sess_paths_are test 2
must dd if=/dev/urandom of=/tmp/data bs=1M count=1 status=none
defer "rm -f /tmp/lost /tmp/data /tmp/err /tmp/events /tmp/screen"
must dd if=/tmp/data of="$bad" bs=64k oflag=direct status=none
must sysfs_write "$(queue_attr "$bad" io_timeout)" $TIMEOUT_MS
check_eq "nothing is slow" "$(cat "$(dev_attr "$bad" slow)")" "0 0"

rnbd events test >/tmp/events &
events=$!
defer "kill $events"
kmsg_mark
load_start "$bad" 600 --offset=1M
must wait_for 10 ios_grow test 1 1
must disk_hangs
check_here "a disk hangs, another one is read" reads_for $HANG_MS
check "without error" [ "$errors" -eq 0 ]
check "nor delay" [ "$worst" -lt $MAX_MS ]
check "the client names the disk" kmsg_has "${bad#/dev/} \\(\"/dev/mapper/hang\"\\): request waits for [0-9]* s, the server's disk has it"
check_eq "once" "$(kmsg_since | grep -c 'request waits for')" 1
check "the server does" kmsg_has '"/dev/mapper/hang" \(dm-[0-9]*\): request of session test has been with the disk for [0-9]* s'
check_eq "once" "$(kmsg_since | grep -c 'has been with the disk for')" 1
check "sysfs of the client says for how long" [ "$(slow_secs)" -ge $((HANG_MS / 1000 - 3)) ]
check "that of the server too" [ "$(srv_slow_secs)" -ge $((HANG_MS / 1000 - 3)) ]
check_eq "of the healthy disk it does not" "$(cat "$(dev_attr "$good" slow)")" "0 0"
check "rnbd list shows it" prints "^$bad .* /dev/mapper/hang +[1-9][0-9]*s$" rnbd list
check "and that the healthy disk is not slow" prints "^$good .* $healthy +-$" rnbd list
check "rnbd show" prints '^slow_s +[1-9][0-9]*s$' rnbd show "$bad"
check "rnbd exports, on the server" prints "^dm-[0-9]+ +test +rw +/dev/mapper/hang +[1-9][0-9]*s +0$" rnbd exports
check "rnbd show, of the server's disk" prints "^test +rw +/dev/mapper/hang +[1-9][0-9]*s +1$" rnbd show "$(hang_name)"
check "rnbd stats, of both sides" prints '^test +server +- .* [1-9][0-9]*s$' rnbd stats test
check "rnbd top" top_shows
check "metrics of the client" prints "^rnbd_device_slow_seconds\{device=\"${bad#/dev/}\",.*\} [1-9]" rnbd stats --prometheus
check "metrics of the server" prints '^rnbd_export_slow_seconds\{device="dm-[0-9]+",.*\} [1-9]' rnbd stats --prometheus
check "events of both sides" has_event "client device-slow test ${bad#/dev/} .* for [1-9][0-9]* s: the server's disk has it"
check "no path was lost" no_path_was_lost
must disk_answers
check "the disk answers: the client says so" wait_for 10 kmsg_has "no request is overdue any more, after [0-9]* s"
check "the server too" wait_for 10 kmsg_has '"/dev/mapper/hang" \(dm-[0-9]*\): the disk answers session test again, after [0-9]* s'
check_eq "sysfs says so" "$(slow_secs)" 0
check "rnbd list says so" prints "^$bad .* /dev/mapper/hang +-$" rnbd list
check "so does an event of the server" wait_for 10 has_event "server device-answers test dm-[0-9]+ .* after [1-9][0-9]* s"
must ios_grow test 1 10
load_end
check_here "all its data are right" load_succeeded
check "still no path was lost" no_path_was_lost

kmsg_mark
check_here "an answer is lost: the READ is sent again" read_lost
check "not before the time-out" [ "$ms" -ge $TIMEOUT_MS ]
check "and soon after it" [ "$ms" -lt $((TIMEOUT_MS + 3000)) ]
check_here "so is one that registers its pages" large_read_lost
check_here "and a WRITE" write_lost
check "no path was given up" lost_are 0 3
check "it is said" kmsg_has 'the server has no request in slot [0-9]* and no answer came, it is sent again'
check "both paths are there" sess_paths_are test 2

# With one path: the other would have to wait until the server has closed its end of this one.
must sysfs_write "$(path_dir test 2)/disconnect" 1
must sysfs_write "$(dev_attr "$bad" request_timeout)" 5
must disk_hangs
check_here "a request that may take 5 s fails with ETIMEDOUT" times_out
check "not before" [ "$ms" -ge 5000 ]
check "and soon after" [ "$ms" -lt 9000 ]
must disk_answers
check "the path comes back" wait_for 30 path_is test 1 connected

ktap_end
