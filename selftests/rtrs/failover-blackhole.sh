#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network that silently swallows everything: I/O goes on over the other path
# with right data, the dead path is noticed, and comes back when the network does.
#
# vm: smp=2 timeout=180

. "$(dirname "$0")/../lib.sh"

# What an administrator may count on, with room for a slow host.
NOTICE_S=15
RETURN_S=40

# lost <file> <field>: of the session's stats
lost() {
	cut -d ' ' -f "$2" "$CLT_CLASS/test/stats/$1"
}

# gaps_in_hist: the histogram has as many gaps as there were failovers
gaps_in_hist() {
	awk '{ for (i = 4; i <= 20; i++) sum += $i } END { exit NF != 20 || sum != $1 }' $CLT_CLASS/test/stats/failovers
}

# black_hole <n> <other>: and heal, under load
black_hole() {
	local start taken
	taken=$(failovers test)
	must ios_grow test "$1" 50
	start=$(uptime_ms)
	must path_cut "$1"
	check "path $1 cut: noticed" wait_for $NOTICE_S path_is test "$1" disconnected
	diag "path $1 was lost $(($(uptime_ms) - start)) ms after the cut"
	check "path $1 cut: the other path goes on" ios_grow test "$2" 100
	check "path $1 cut: requests were taken over" [ "$(failovers test)" -gt "$taken" ]
	check "path $1 cut: the server has closed its end" [ "$(cut -d ' ' -f 1 "$(path_dir test "$1")/stats/fences")" -ge 1 ]
	check "path $1 cut: the disk is open" dev_is "$dev" open
	start=$(uptime_ms)
	must path_heal "$1"
	check "path $1 healed: connected by itself" path_returns $RETURN_S test "$1"
	diag "path $1 was back $(($(uptime_ms) - start)) ms after the network"
	check "path $1 healed: carries I/O" ios_grow test "$1" 50
}

ktap_plan 24
topo_up 2
topo_is_ours
RTRS_SERVER_OPTS="sess_queue_depth=64"
rtrs_load
back=$(backing_null 32) || abort "no backing device"
dev=$(map_device test "$back") || abort "cannot map"
must sess_paths_are test 2
must sysfs_write $CLT_CLASS/test/mpath_policy round-robin
load_start "$dev" 60

black_hole 1 2
black_hole 2 1

check "the load still runs" load_runs
load_end
check "no I/O failed, all data are right" load_succeeded
max=$(load_max_ms)
diag "the longest request took $max ms"
check "no request took long" [ "$max" -lt $((NOTICE_S * 1000)) ]
gap=$(lost failovers 3)
diag "the longest request was $gap ms old when it was sent again"
# fio's requests are as old as their gap and the way back, and the clock has steps of 4 ms.
check "the longest gap is a request's" [ "$gap" -gt 100 -a "$gap" -le $((max + 4)) ]
check "the session has the paths' failovers and fences" eval \
	'[ $(lost failovers 1) -eq $(paths_sum test failovers 1) ] && [ $(lost fences 1) -eq $(paths_sum test fences 1) ]'
check "each failover has its length counted" gaps_in_hist
must sysfs_write $CLT_CLASS/test/stats/failovers 1
check "the session's can be reset, without the paths'" eval \
	'[ $(lost failovers 1) -eq 0 ] && [ $(lost failovers 3) -eq 0 ] && [ $(paths_sum test failovers 1) -ge 2 ]'
counts=$(cat $CLT_CLASS/test/paths/*/stats/reconnects | cut -d ' ' -f 1 | sort -n | head -n 1)
check "a reconnect is counted for each path" [ "$counts" -ge 1 ]
check_eq "no request counts as in flight" "$(($(path_stat test 1 5) + $(path_stat test 2 5)))" 0
must unmap_device "$dev"
check "nothing is left on the server" wait_for 30 [ ! -e $SRV_CLASS/test ]

ktap_end
