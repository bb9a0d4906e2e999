#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The test bed itself: what the other tests break and mend does break and mend,
# and packets between the two ends really travel. A failure here is none of
# the modules under test.
#
# vm: smp=1 timeout=60

. "$(dirname "$0")/../lib.sh"

# reaches <network>: the client's end gets an answer from the server's
reaches() {
	ping -c 1 -W 2 -I "c$1" "10.$1.0.2"
}

reaches6() {
	ping -c 1 -W 2 -I "c$1" "fd00:$1::2"
}

# travels <network>: an echo and its answer are seen at both ends
travels() {
	local before
	before=$(path_packets "$1")
	reaches "$1" && [ "$(path_packets "$1")" -ge $((before + 2)) ]
}

carrier_is() {
	[ "$(cat "/sys/class/net/$1/carrier")" = "$2" ]
}

rdma_mtu_is() {
	[ "$(cat "/sys/class/infiniband/$1/ports/1/state")" = "4: ACTIVE" ] &&
		[ "$(cat "/sys/class/net/${1#rxe_}/mtu")" = "$2" ]
}

ktap_plan 13
[ -z "${RTRS_PATHS:-}" ] || skip_all "is about networks made by the tests"
topo_up 2

check "network 1 carries packets" travels 1
check "network 2 carries packets" travels 2
check "IPv6 too" reaches6 1
check "RDMA devices are active, MTU 9000" rdma_mtu_is rxe_s2 9000

must path_cut 1
check_fails "a cut network carries nothing" reaches 1
check "its links stay up" carrier_is c1 1
check "the other network is not cut" travels 2
must path_heal 1
check "it carries packets again" wait_for 5 reaches 1

must link_down 2
check "the client's end lost its carrier" wait_for 5 carrier_is c2 0
check "the server's end did not" carrier_is s2 1
check_fails "nothing gets through" reaches 2
must link_up 2
check "packets travel again, over IPv4" wait_for 5 reaches 2
check "and IPv6" wait_for 5 reaches6 2

ktap_end
