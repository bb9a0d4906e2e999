#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# More answers than our server's send queue has entries, on the service connection,
# whose queue has not one for each slot (protocol 2.7): those that find no room wait,
# and each leaves once. The client is the scripted peer; it has no receives for most
# of them, so that the queue does not move.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

close99=$(rnbd_close 99)

# clt_chunks: 1200 of them would take the shell longer than a server waits; two are used one by one
clt_chunks() {
	a_addr_0=$(swab "$(hex_at "$clt_info" 8 8)")
	a_key_0=$(le_at "$clt_info" 16 4)
	a_addr_1=$(addr_add "$a_addr_0" $SRV_CHUNK) a_key_1=$a_key_0
}

# prepare: a request in each chunk, without telling; in ten pieces, two for each of the five descriptors
prepare() {
	local nr=0 at=8 len=$((SRV_QD / 10 * SRV_CHUNK)) req addr key
	is "$(le_at "$clt_info" 2 2) $(le_at "$clt_info" 20 4)" "5 $((2 * len))" || return 1
	req=$close99$(hdr_write 8)
	peer buf reqs a0 $len >/dev/null || return 1
	while [ $nr -lt $((SRV_QD / 10)) ]; do
		peer put reqs $((nr * SRV_CHUNK)) "$req" || return 1
		nr=$((nr + 1))
	done
	while [ $at -lt 88 ]; do
		addr=$(swab "$(hex_at "$clt_info" $at 8)")
		key=$(le_at "$clt_info" $((at + 8)) 4)
		peer post a0 write buf=reqs len=$len raddr=0x"$addr" rkey="$key" &&
			peer post a0 write buf=reqs len=$len raddr=0x"$(addr_add "$addr" $len)" rkey="$key" ||
			return 1
		at=$((at + 16))
	done
	all_sent a0
}

# tell: of all of them, one after the other
tell() {
	local slot=0
	while [ $slot -lt $SRV_QD ]; do
		peer post a0 write-imm imm="$(imm_req $slot 8)" step=$((1 << SRV_MEM_BITS)) nr=300 &&
			all_sent a0 || return 1
		slot=$((slot + 300))
	done
}

# take: the answers, for which there is room now
take() {
	local nr=0 ev
	: >/tmp/wire.answers
	while [ $nr -lt $SRV_QD ]; do
		[ $((nr % 200)) -ne 0 ] || peer recv a0 200 8 || return 1
		peer wait a0 10000 >/tmp/wire.ev && read -r ev </tmp/wire.ev || return 1
		case $ev in
		*imm=0x80000000*) peer post a0 write-imm imm=0x90000000 || return 1 ;;
		'recv op=write len=0 imm=0x1'*)
			echo "${ev##*imm=}" >>/tmp/wire.answers
			nr=$((nr + 1))
			;;
		*)
			echo "after $nr answers: $ev"
			return 1
			;;
		esac
	done
	says_nothing a0
}

# one_each: no slot was left out, none was answered twice
one_each() {
	is "$(sort -u /tmp/wire.answers | wc -l) $(sort /tmp/wire.answers | sed -n '1p;$p' | xargs)" \
		"$SRV_QD 0x10000000 $(printf '0x1000%04x' $((SRV_QD - 1)))"
}

ktap_plan 8
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
SRV_QD=1200 SRV_MEM_BITS=17
wire_server N
must clt_open a 2 full
must prepare
full=''
# Each post that finds the queue full.
if probe_on selftest_full rtrs_conn_post 'ret=$retval:s32' 'ret == -11' 2>/dev/null; then
	full=y
	defer "probe_off selftest_full"
	: >$TRACE/trace
fi
check_here "1200 requests on con 0" tell
if [ -n "$full" ]; then
	check "some answers find no room" wait_for 5 grep -q selftest_full $TRACE/trace
else
	ktap_skip "some answers find no room" "needs CONFIG_KPROBE_EVENTS"
fi
check_here "1200 answers, and no more" take
check_here "one for each" one_each
check_here "the path works" clt_works a
check_here "again, with answers that still wait: 1200 requests" tell
must peer disconnect a0
check_here "the path closes" are_closed a1
must peer destroy all
check_here "and nothing waits for ever" srv_forgets full

ktap_end
