#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A client that sends mutations of what is valid: connection requests, INFO_REQ, and
# requests of all kinds with RNBD messages in them. Our server refuses or answers
# them, says so within limits, and another session does not notice. The client is the scripted peer; every
# second of its paths has the extensions of the wire, and asks for more and fewer chunks.
#
# RTRS_SEED=<seed> repeats a run; in a VM:
#	selftests/vm/run --kver 6.12 --append rtrs.seed=<seed> selftests/rtrs/hostile-client.sh
# RTRS_SEED=<seed>:<first>:<count> takes this many mutations from this number on.
#
# vm: smp=1 timeout=300

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
req_tail_1=$(hex_at "$(conn_req ext=1 features=87 chunks=$SRV_QD)" 44 12)
req_0=$(hex_at "$req_0" 0 12)
req_1=$(hex_at "$req_1" 0 12)
req_alone=$(hex_at "$req_alone" 0 12)
ids=10000000

# request <offset of its header> <bytes> [<key>=<value>...]: a template of the set "req" for each slot, or of
# another set for so many of them
request() {
	local off="$1" data="$2" slot=0
	shift 2
	while [ $slot -lt ${slots:-$SRV_QD} ]; do
		template ${set:-req} write-imm key=$slot imm=$((slot << SRV_MEM_BITS | off)) data="$data" "$@"
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

# chunk_templates: other numbers of chunks, good ones but for the last, between requests in a slot that is never closed,
# and a few in one that is: extension CREDITS
chunk_templates() {
	local set=chunks slots=1 req
	template chunks write-imm imm=0x30000001 tameimm=0x00000004 weight=8
	template chunks write-imm imm=0x30000002 tameimm=0x00000001 weight=8
	template chunks write-imm imm=0x30000006 tameimm=0x00000007
	req=$(rnbd_io 0 8 0x100 512)$(hdr_read 32 0 "$(desc 0000000000000000 0 512)")
	request 544 "$req" raddr=512 desc=40:8 tame=0-32 weight=8
	request 544 "$(bytes 512 5a)$(rnbd_io 0 8 0x101 512)$(hdr_write 32)" tame=512-544 weight=8
	slots=2
	request 544 "$req" raddr=512 desc=40:8
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
	template req write-imm imm=0x30000000 tameimm=0x0fffffff
	template req write-imm imm=0xa0000000 tameimm=0x0fffffff weight=2
	chunk_templates
}

# forget_path: of the one before
forget_path() {
	ask destroy x1 >/dev/null
	ask destroy x0 >/dev/null
	ask free b >/dev/null
	ask free t >/dev/null
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
	ask buf t x0 4112 && buf_set "$answer" &&
		eval "ask post x0 send data=\${info_$nr}$(table_of "$buf_addr" "$buf_key")" && ask wait x0 10000 || return 1
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
		# Both connections: con 0 hands requests to a worker, the others do not. Of each, paths with extensions
		# and paths without: they take turns.
		mutate x$((conns / 2 % 3 ? 1 : 0)) req "$next" count=$((count - arrived)) wild=30 tame=700 || return 1
		load_runs || {
			echo "the honest session has failed by number $next"
			return 1
		}
	done
	mutated="$arrived mutations arrived, $((next - first)) tried, over $conns connections"
}

# chunks_came_and_went: paths were given chunks, and lost some; in N mode all of them are one region
chunks_came_and_went() {
	grep -o '[0-9]* chunks, before .*' $TRACE/trace >/tmp/chunks || return 1
	awk -v "mode=$srv_mode" -v most=$SRV_QD '
		$1 < 1 || $1 > most { print "not possible: " $0; exit bad = 1 }
		$1 < $4 + 0 { fewer++ }
		$1 > $4 + 0 { more++ }
		END {
			if (!bad)
				print NR " answers, " fewer + 0 " times fewer, " more + 0 " times more"
			exit bad || (mode == "Y" ? !fewer || !more : fewer || more)
		}' /tmp/chunks
}

# mutate_chunks: a path asks for another number of chunks all the time, and does not hear the answers
mutate_chunks() {
	local conns=0 bursts
	next=$first arrived=0
	while [ $conns -lt $((HOSTILE_CONNS / 4)) ]; do
		# Of a path with the extensions.
		ids=$((ids + ids % 2))
		open_path_again || {
			echo "no path after number $next"
			return 1
		}
		conns=$((conns + 1)) bursts=0 mutate_end=open
		# In bursts: of what it asks for in one, the server may see the last only.
		while [ $mutate_end = open ] && [ $bursts -lt 30 ]; do
			mutate x0 chunks "$next" count=5 wild=2 tame=700 && load_runs || return 1
			bursts=$((bursts + 1))
		done
	done
	chunks_came_and_went
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
	: >$TRACE/trace
	echo 1 >$TRACE/events/rtrs/rtrs_srv_chunks/enable
	before=$(resource_snapshot)
	honest_up
	ask_open
	templates
	attack_begins
	check_here "$srv_mode: connection requests: accepted or rejected" mutate_conn_reqs
	check_here "$srv_mode: INFO_REQ: answered or closed" mutate_infos
	check_here "$srv_mode: requests: as many as wanted have arrived" mutate_requests
	check_here "$srv_mode: chunks come and go" mutate_chunks
	echo 0 >$TRACE/events/rtrs/rtrs_srv_chunks/enable
	attack_ends
	check_here "$srv_mode: the other session's data are right, and it goes on" honest_unharmed
	check_here "$srv_mode: the kernel's log says it, and says it rarely" said 'rtrs-server: path .* closed: '
	honest_down
	exec 8<&-
	must peer destroy all
	nothing_remains "$srv_mode" "$before"
}

requires fio
CASES_PER_MODE=10
ktap_plan $((2 * CASES_PER_MODE))
topo_up 2
topo_is_ours
peer_load
seed_choose "$HOSTILE_COUNT"
disks_up
nr=0
while [ $nr -lt $BAD_SESSIONS ]; do
	# Without its last 12 bytes, the table.
	info=$(info_req bad$nr)
	eval "info_$nr=\${info%????????????????????????}"
	nr=$((nr + 1))
done
RNBD_SERVER_OPTS="dev_search_path=/dev/hostile/%SESSNAME%"
for srv_mode in Y N; do
	seed=$((seed + 1))
	RTRS_SERVER_OPTS="sess_queue_depth=$SRV_QD max_chunk_size=$SRV_CHUNK always_invalidate=$srv_mode"
	suite
done

ktap_end
