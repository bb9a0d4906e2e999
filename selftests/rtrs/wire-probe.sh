#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What our server sends behind INFO_RSP to a client with extension PROBE: 4096 bytes, all 0; and nothing to others. The
# client is the scripted peer.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

ids=200

# exchange <path> [<field>=<number>...]: up to INFO_RSP, with receives for what comes after
exchange() {
	local path="$1"
	shift
	ids=$((ids + 1))
	clt_connect_all "$path" 2 path=$ids sess=$ids "$@" && peer recv "${path}0" 4 4200 &&
		peer post "${path}0" send data="$(info_req "probe-$path")" &&
		is "$(peer wait "${path}0" 10000)" 'recv op=send len=* data=0100*'
}

probed() {
	exchange "$@" || return 1
	is "$(peer wait "${1}0" 5000)" "recv op=send len=4096 data=$(bytes 4096)"
}

# not_probed <path> [<field>=<number>...]: nothing but heartbeats
not_probed() {
	exchange "$@" || return 1
	is "$(peer wait "${1}0" 1500)" timeout
}

# taken_up <bytes of the features>
taken_up() {
	is "$(hex_at "$clt_rsp" 20 4)" "0100$1"
}

ktap_plan 7
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
wire_server Y

check_here "offered: the message comes" probed a ext=1 features=0x100
check_here "and the bit was taken up" taken_up 0001
check_here "not offered: nothing comes" not_probed b ext=1 features=0x1
check_here "without extensions: nothing comes" not_probed c
must sysfs_write /sys/module/rtrs_server/parameters/probe N
check_here "probe=N: nothing comes" not_probed d ext=1 features=0x101
check_here "and the bit was not taken up" taken_up 0100
must sysfs_write /sys/module/rtrs_server/parameters/probe Y
check_here "probe=Y again" probed e ext=1 features=0x100
must peer destroy all

ktap_end
