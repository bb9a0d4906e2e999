#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A client that sends mutations of what is valid: connection requests, INFO_REQ, and
# requests of all kinds with RNBD messages in them. Our server refuses or answers
# them, says so within limits, and another session does not notice. The client is the scripted peer; every
# second of its paths has the extensions of the wire.
#
# RTRS_SEED=<seed> repeats a run; in a VM:
#	selftests/vm/run --kver 6.12 --append rtrs.seed=<seed> selftests/rtrs/hostile-client.sh
# RTRS_SEED=<seed>:<first>:<count> takes this many mutations from this number on.
#
# vm: smp=1 timeout=300 tier=test quick=6.12

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"
. "$(dirname "$0")/../hostile.sh"

HOSTILE_COUNT=${HOSTILE_COUNT:-5000}		# requests that arrive, in each mode
HOSTILE_CONNS=${HOSTILE_CONNS:-60}		# connection requests, and INFO_REQs

# The pieces of what a connection needs, so that no process is started for it.
req_0=$(conn_req cid=0)
req_1=$(conn_req cid=1)
req_alone=$(conn_req cid_num=1)
req_tail_0=$(hex_at "$req_0" 44 12)
req_tail_1=$(hex_at "$(conn_req ext=1 features=23)" 44 12)
req_0=$(hex_at "$req_0" 0 12)
req_1=$(hex_at "$req_1" 0 12)
req_alone=$(hex_at "$req_alone" 0 12)
ids=10000000

# request <offset of its header> <bytes> [<key>=<value>...]: a template of the set "req" for each slot
request() {
	local off="$1" data="$2" slot=0
	shift 2
	while [ $slot -lt $SRV_QD ]; do
		template req write-imm key=$slot imm=$((slot << SRV_MEM_BITS | off)) data="$data" "$@"
		slot=$((slot + 1))
	done
}

# lists: of one read, for each slot, as a template each
lists() {
	local slot=0
	while [ $slot -lt $SRV_QD ]; do
		template req write-imm key=$slot imm=$((0xf0000000 | slot << SRV_MEM_BITS | 512)) raddr=512 desc=56:8 \
			tame=16-48 weight=4 data="0500010048000000$(le16 $slot)2000$(le32 544)$(rnbd_io 0 8 0x100 512)$(
			hdr_read 32 0 "$(desc 0000000000000000 0 512)")"
		slot=$((slot + 1))
	done
}

# Requests of device 0. Where there are data, their descriptor is key 8.
request_templates() {
	local open
	open=$(rnbd_open disk)$(hdr_read 264 0 "$(desc 0000000000000000 0 56)")
	template open write-imm key=0 imm=320 raddr=56 desc=272:8 data="$open"
	request 320 "$open" raddr=56 desc=272:8 tame=4-270
	request 544 "$(bytes 512 5a)$(rnbd_io 0 8 0x101 512)$(hdr_write 32)" tame=512-544 weight=4
	request 544 "$(rnbd_io 0 8 0x100 512)$(hdr_read 32 0 "$(desc 0000000000000000 0 512)")" \
		raddr=512 desc=40:8 tame=0-32 weight=4
	request 32 "$(rnbd_io 0 0 0x302 0)$(hdr_read 32 0)" tame=0-32
	request 32 "$(rnbd_io 0 16 0x003 4096)$(hdr_write 32)" tame=0-32
	request 32 "$(rnbd_io 0 16 0x005 4096)$(hdr_write 32)" tame=0-32
	request 72 "$(rnbd_sess_info)$(hdr_read 36 0 "$(desc 0000000000000000 0 36)")" \
		raddr=36 desc=44:8 tame=0-36
	lists
	# Another id would be the device that all others use.
	request 8 "$(rnbd_close 99)$(hdr_write 8)" tame=0-4
}

templates() {
	must peer forget all
	template connreq send data="$(conn_req path=0x7777 sess=0x7777)" tame=0-56
	template info send data="$(info_req info)" tame=0-272
	request_templates
	# What is no request: types 4 to 7 and 12 to 14, heartbeats, what only servers send. And fences.
	template req write-imm imm=0x40000000 tameimm=0x3fffffff weight=3
	template req write-imm imm=0xc0000000 tameimm=0x1fffffff weight=2
	template req write-imm imm=0xe0000000 tameimm=0x0fffffff
	template req write-imm imm=0x80000000 tameimm=0x1fffffff weight=2
	template req write-imm imm=0x10000000 tameimm=0x0fffffff weight=2
	template req write-imm imm=0xa0000000 tameimm=0x0fffffff weight=2
}

# forget_path: of the one before
forget_path() {
	ask destroy x1 >/dev/null
	ask destroy x0 >/dev/null
	ask free b >/dev/null
}

# con_up <con> <start of the request>
con_up() {
	eval "req_tail=\$req_tail_$((ids % 2))"
	ask connect "$1" $CLT_ADDR $SRV_ADDR $SRV_PORT \
		"${2}000000000000000000000000${ids}000000000000000000000000$ids$req_tail" || return 1
	case $answer in established*) ;; *)
		echo "$1: $answer"
		return 1
		;;
	esac
}

# keys <hex of descriptors>: of the slots; one for all, or one for each
keys() {
	local rest="$1" nr=0
	while [ $nr -lt $SRV_QD ]; do
		if [ ${#1} -eq 32 ]; then
			ask key $nr desc="$1" $((nr * SRV_CHUNK)) || return 1
		else
			ask key $nr desc="$rest" || return 1
			rest=${rest#????????????????????????????????}
		fi
		nr=$((nr + 1))
	done
}

# open_path: a session of two connections, and its disk as device 0
open_path() {
	local nr
	forget_path
	ids=$((ids + 1))
	nr=$((ids % BAD_SESSIONS))
	con_up x0 "$req_0" && con_up x1 "$req_1" && ask recv x0 1 $((8 + 16 * SRV_QD)) || return 1
	eval "ask post x0 send data=\$info_$nr" && ask wait x0 10000 || return 1
	case $answer in
	'recv op=send len='*data=0100*) ;;
	*)
		echo "INFO_REQ: $answer"
		return 1
		;;
	esac
	answer=${answer#*data=????????????????}
	keys "$answer" && ask recv x0 64 8 keep=0x7ffff:4 && ask recv x1 64 8 keep=0x7ffff:4 &&
		ask buf b x0 8192 && ask key 8 buf=b && ask mutate x0 open
}

# open_path_again: the session before is on its way out, and has the name still
open_path_again() {
	local tries=0
	until open_path; do
		tries=$((tries + 1))
		[ $tries -lt 20 ] || return 1
		sleep 0.1
	done
}

# mutate_requests: until enough have arrived
mutate_requests() {
	local conns=0
	next=$first arrived=0
	while [ $arrived -lt "$count" ]; do
		open_path_again || {
			echo "no path after number $next"
			return 1
		}
		conns=$((conns + 1))
		# Both connections: con 0 hands requests to a worker, the others do not.
		mutate x$((conns % 4 ? 1 : 0)) req "$next" count=$((count - arrived)) wild=30 tame=700 || return 1
		load_runs || {
			echo "the honest session has failed by number $next"
			return 1
		}
	done
	mutated="$arrived mutations arrived, $((next - first)) tried, over $conns connections"
}

# mutate_conn_reqs: each is accepted or rejected, none goes unanswered
mutate_conn_reqs() {
	local nr=$first
	while [ $nr -lt $((first + HOSTILE_CONNS)) ]; do
		mutant connreq $nr tame=950 && ask connect z $CLT_ADDR $SRV_ADDR $SRV_PORT "$mutant" || return 1
		case $answer in
		established*) ask destroy z || return 1 ;;
		'rejected 28 '*) ;;
		*)
			echo "number $nr, $mutant: $answer"
			return 1
			;;
		esac
		nr=$((nr + 1))
	done
}

# mutate_infos: each is answered, or ends the connection, which is a reject if the server does not know yet
# that it was established; a write without immediate says nothing
mutate_infos() {
	local nr=$first
	while [ $nr -lt $((first + HOSTILE_CONNS)) ]; do
		ids=$((ids + 1))
		con_up z "$req_alone" && ask recv z 1 $((8 + 16 * SRV_QD)) &&
			mutate z info $nr wild=150 tame=800 && ask wait z 1000 || return 1
		case $answer in
		'recv op=send len='*data=0100* | disconnected | 'event rejected 28' | timeout) ;;
		*)
			echo "number $nr: $answer"
			return 1
			;;
		esac
		ask destroy z || return 1
		nr=$((nr + 1))
	done
}

suite() {
	local before
	rtrs_load
	before=$(resource_snapshot)
	honest_up
	ask_open
	templates
	attack_begins
	check_here "$srv_mode: connection requests: accepted or rejected" mutate_conn_reqs
	check_here "$srv_mode: INFO_REQ: answered or closed" mutate_infos
	check_here "$srv_mode: requests: as many as wanted have arrived" mutate_requests
	attack_ends
	check_here "$srv_mode: the other session's data are right, and it goes on" honest_unharmed
	check_here "$srv_mode: the kernel's log says it, and says it rarely" said 'rtrs-server: path .* closed: '
	honest_down
	exec 8<&-
	must peer destroy all
	nothing_remains "$srv_mode" "$before"
}

requires fio
CASES_PER_MODE=9
ktap_plan $((2 * CASES_PER_MODE))
topo_up 2
topo_is_ours
peer_load
seed_choose "$HOSTILE_COUNT"
disks_up
nr=0
while [ $nr -lt $BAD_SESSIONS ]; do
	eval "info_$nr=\$(info_req bad$nr)"
	nr=$((nr + 1))
done
RNBD_SERVER_OPTS="dev_search_path=/dev/hostile/%SESSNAME%"
for srv_mode in Y N; do
	seed=$((seed + 1))
	RTRS_SERVER_OPTS="sess_queue_depth=$SRV_QD max_chunk_size=$SRV_CHUNK always_invalidate=$srv_mode"
	suite
done

ktap_end
