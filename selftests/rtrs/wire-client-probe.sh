#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How our client finds out that large packets get through, before it sends a request (extension PROBE): what it writes,
# what it waits for, and what it does if that is wrong or does not come. The server is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

EXT="ext=1 features=0x100"
C=$PSRV_CHUNK PSRV_ONE=y

# told [<field of the response>=<number>...]: up to INFO_RSP; the memory for requests is full of 5a
told() {
	map_start judge
	psrv_accept_all j "$@" && psrv_info j && psrv_receives j && psrv_chunks j &&
		peer fill mem0 0 $((4 * C)) 0x5a && psrv_info_rsp j
}

# probe <bytes>: the server's message, of zeros
probe() {
	buf_set "$(peer buf zeros j0 8192)" && peer post j0 send buf=zeros off=0 len="$1"
}

# asks: the first request, after which all is well
asks() {
	psrv_take j0 && is "$req_usr" "$(rnbd_sess_info)"
}

written() {
	is "$(peer get mem0 4094 4)" 00005a5a && is "$(peer get mem0 0 16)" "$(bytes 16)"
}

gone() {
	psrv_gone j
	peer free zeros >/dev/null
}

# fails <errno name> <command>...: the client disconnects, and so ends the mapping
fails() {
	local errno="$1"
	shift
	"$@" && are_closed j0 j1 && map_fails "$errno"
}

bad_key() {
	map_start judge
	psrv_accept_all j && psrv_info j && psrv_receives j && psrv_chunks j || return 1
	chunk_descs=$(desc "$mem_addr" 1 $((4 * C)))
	psrv_info_rsp j
}

ktap_plan 15
psrv_setup
psrv_mode=N

check_here "without PROBE: it asks" eval "told && asks"
check_here "it has written 4096 bytes of zeros to the first chunk before" written
gone
must map_fails ECONNRESET/ECONNABORTED
check_here "a key that is not good: refused" fails ECONNRESET bad_key
gone
check_here "with PROBE: nothing is said before the server's message" eval \
	"told $EXT && is \"\$(peer wait j0 1500)\" timeout"
check_here "but written" written
check_here "then it asks" eval "probe 4096 && asks"
gone
must map_fails ECONNRESET/ECONNABORTED
kmsg_mark
check_here "a byte too short: refused" fails EPROTO eval "told $EXT && probe 4095"
check_here "which is said" kmsg_has 'malformed probe, 4095 bytes'
gone
check_here "a byte too long: refused" fails EPROTO eval "told $EXT && probe 4097"
gone
check_here "an immediate instead: refused" fails EPROTO eval "told $EXT && peer post j0 write-imm imm=0x80000000"
gone
kmsg_mark
start=$(uptime_ms)
check_here "it never comes: refused" fails EMSGSIZE told $EXT
took=$(($(uptime_ms) - start))
check_here "after some seconds" [ $took -ge 2900 -a $took -le $((9000 * ${RTRS_SLOWNESS:-1})) ]
check_here "with the direction" kmsg_has 'packets with 4096 bytes of data do not get here from the server'
gone
check_here "the server goes instead: refused" eval \
	"told $EXT && peer disconnect j1 && are_closed j0 && map_fails EMSGSIZE/ECONNRESET"
gone
check_here "nothing is left" wait_for 10 [ ! -d $CLT_CLASS/judge ]

ktap_end
