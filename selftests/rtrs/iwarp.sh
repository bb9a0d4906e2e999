#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Devices without RDMA WRITE with immediate, as iWARP's: the client refuses them at once and
# says why, and a session with another path works. The device is siw, which the stock
# kernels lack. The server has the same check, but here no client gets as far: over siw a
# connection between two addresses of one host is reset before the server hears of it.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

WHY='iWARP has no RDMA WRITE with immediate, RTRS needs InfiniBand or RoCE'

# iwarp <side>: c or s; on network 1
iwarp() {
	rdma link del "rxe_${1}1" && rdma link add "siw_${1}1" type siw netdev "${1}1" &&
	defer "rdma link del siw_${1}1"
}

# at_once <command>...: within what a refusal may take, and no time-out does
at_once() {
	local start
	start=$(uptime_ms)
	"$@" || return 1
	[ $(($(uptime_ms) - start)) -lt $((3000 * ${RTRS_SLOWNESS:-1})) ] || {
		echo "took $(($(uptime_ms) - start)) ms"
		return 1
	}
}

ktap_plan 7
modprobe -n -q siw || skip_all "this kernel has no siw"
topo_up 2
topo_is_ours
must modprobe siw
defer "modprobe -r siw"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
must iwarp c
must iwarp s

check "only path: refused at once" \
	at_once write_gives EOPNOTSUPP $CLT_CTL/map_device "$(map_line iwarp "$back" 1 1)" \
	"rtrs: device siw_c1 port 1: $WHY"
check "nothing is left" [ ! -e $CLT_CLASS/iwarp ]

kmsg_mark
dev=$(map_device iwarp "$back") && ok "with another path: maps" || abort "cannot map"
check "which says why it has not the other" kmsg_has "device siw_c1 port 1: $WHY"
check_eq "one of two paths" "$(sess_paths_up iwarp)" 1
check "I/O" fio_verify "$dev" --size=1M
check "unmaps" unmap_device "$dev"

ktap_end
