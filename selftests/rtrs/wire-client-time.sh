#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension SERVER_TIME of our client, to the byte: which requests it wants timed, what it makes of the times that it is
# told, and that none does more harm than a wrong number. The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

PSRV_TYPES=0e
# 2^20 ns and 2^24 ns
TIME=0xd6402100
LONGEST=0xdfffffff

stats() {
	echo $CLT_CLASS/wire/stats/latency_read
}

# lat <part> <field>: 2 requests, 3 microseconds in all
lat() {
	awk -v part="$1" -v field="$2" '$1 == part { print $field }' "$(stats)"
}

# counts_are <total> <client> <wire> <server> <device>
counts_are() {
	is "$(cut -d ' ' -f 2 "$(stats)" | tr '\n' ' ')" "$* "
}

tell() {
	peer post w1 write-imm imm="$1"
}

# reset: of the path and session; the next request is one of which the parts are taken
reset() {
	sysfs_write "$CLT_CLASS/wire/paths/$(path_pair 1)/stats/reset_all" 1 &&
		sysfs_write $CLT_CLASS/wire/stats/reset_all 1
}

# a_read <type> [<command>...]: a read comes as this type; after the command it is answered
a_read() {
	local type="$1"
	shift
	io if="$psrv_dev" of=/dev/null bs=512 count=1 iflag=direct
	psrv_take w1 && is "$req_imm_type" "$type" || return 1
	[ $# -eq 0 ] || "$@" || return 1
	psrv_answer w1 && io_ends 0
}

# first_read <type> [<command>...]: after a reset
first_read() {
	reset && a_read "$@"
}

parts_add_up() {
	local sum=$(($(lat client 3) + $(lat wire 3) + $(lat server 3) + $(lat device 3))) total
	total=$(lat total 3)
	# Each is rounded by itself.
	[ $sum -le "$total" ] && [ $sum -ge $((total - 4)) ] || {
		cat "$(stats)"
		return 1
	}
}

parts_are() {
	is "$(lat server 3) $(lat device 3)" "$*" && parts_add_up
}

late_with() {
	sleep 0.1 && tell "$1"
}

twice() {
	tell $LONGEST && late_with $TIME
}

# ignored <command>...: no time
ignored() {
	kmsg_mark
	"$@" && wait_for 5 kmsg_has 'unknown immediate type 13 ignored'
}

with_key() {
	peer post w1 send-imm imm=$TIME data=0400000000000000
}

# map_with [<field>=<number>...]
map_with() {
	psrv_map w wire "$@" id=7
}

unmap() {
	psrv_unmap w && psrv_gone w
}

ktap_plan 22
psrv_setup

for psrv_mode in N Y; do
	must map_with ext=1 features=8
	check_here "$psrv_mode: a read is to be timed, and its times are told" first_read 14 late_with $TIME
	check_here "$psrv_mode: they are counted" counts_are 1 1 1 1 1
	check_here "$psrv_mode: as they were told, and the rest is the wire's" parts_are 1048 16777
	check_here "$psrv_mode: the next one is not to be timed" a_read 0
	check_here "$psrv_mode: of times that nobody asked for nothing is counted" a_read 0 tell $TIME
	check_here "$psrv_mode: but the requests are" counts_are 3 1 1 1 1
	check_here "$psrv_mode: the last one of two counts" first_read 14 twice
	check_here "$psrv_mode: as it was told" parts_are 1048 16777
	must unmap
done

psrv_mode=N
must map_with ext=1 features=8
check_here "no time is told: no parts are counted" eval "first_read 14 && counts_are 1 0 0 0 0"
check_here "one longer than the request: no more than there was" eval "first_read 14 tell $LONGEST && parts_add_up"
must unmap
must map_with ext=1 features=7
check_here "not taken up: not asked for, and not known" eval "reset && ignored a_read 0 tell $TIME"
check_here "client and wire are counted" counts_are 1 1 1 0 0
must unmap
must psrv_map w wire
check_here "no extensions: the same" eval "first_read 0 && counts_are 1 1 1 0 0"
must unmap
psrv_mode=Y
must map_with ext=1 features=8
check_here "with a key it is none" eval "reset && ignored a_read 14 with_key"
must unmap

ktap_end
