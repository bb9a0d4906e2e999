#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# As many connections as a client with four processors has, and as many paths as a
# session may have (protocol 1, 2.6, 5). The client is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# address <n>
address() {
	echo "10.1.1.$1"
}

# more_addresses <number>: of the client's end; the way back is as that to its first one
more_addresses() {
	local n=1 mac table=6999 rule
	mac=$(cat /sys/class/net/c1/address)
	for rule in "iif lo" "oif s1"; do
		# shellcheck disable=SC2086 # words
		ip rule add pref $table $rule to 10.1.1.0/24 lookup $table || return 1
		defer "ip rule del pref $table"
	done
	ip route add 10.1.1.0/24 dev s1 src 10.1.0.2 table $table || return 1
	while [ $n -le "$1" ]; do
		ip addr add "$(address $n)/32" dev c1 &&
		ip neigh replace "$(address $n)" lladdr "$mac" dev s1 nud permanent || return 1
		n=$((n + 1))
	done
	wait_for 20 grep -qi "$(printf '0a01:01%02x' "$1")" /sys/class/infiniband/rxe_c1/ports/1/gids/*
}

# path_asks <n>: connect the first connection of path n
path_asks() {
	peer connect "p$1" "$(address "$1")" $SRV_ADDR $SRV_PORT \
		"$(conn_req path=$((1000 + $1)) sess=77 cid_num=2)"
}

path_comes() {
	is "$(path_asks "$1")" 'established*'
}

# The service connection and its peers answer on the connection that was asked.
answered_where_asked() {
	local con
	for con in 0 1 2 3 4; do
		clt_write w$con $con "$(rnbd_close 99)" || return 1
	done
	for con in 4 3 2 1 0; do
		rsp_is w$con $con 0 || {
			echo "on connection $con"
			return 1
		}
	done
}

# any_connection: a slot is not tied to one
any_connection() {
	local con
	for con in 3 1 4 0 2; do
		clt_write w$con 2 "$(rnbd_close 99)" && rsp_is w$con 2 0 || {
			echo "on connection $con"
			return 1
		}
	done
}

ktap_plan 7
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
wire_server Y

check_here "a path of five connections" clt_open w 5 wide path=5 sess=5
check_here "requests on all of them at once" answered_where_asked
check_here "one slot on each in turn" any_connection
must peer disconnect w3
check_here "one is disconnected: all are closed" are_closed w0 w1 w2 w4
must peer destroy all
must srv_forgets wide

must more_addresses 129
start=$(uptime_ms) n=1 refused=''
while [ $n -le 128 ]; do
	case $(path_asks $n) in established*) ;; *) refused="$refused $n" ;; esac
	n=$((n + 1))
done
diag "128 paths in $(($(uptime_ms) - start)) ms"
check_eq "128 paths of a session: accepted" "$refused" ''
check_here "the next one: refused" is "$(path_asks 129)" "rejected 28 $(conn_reject -104)*"
must peer destroy p7
check_here "when one has gone it is accepted" wait_for 10 path_comes 129
must peer destroy all

ktap_end
