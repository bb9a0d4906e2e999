#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A server that sends mutations of what is valid: accepts and rejects, INFO_RSP, the
# answers to SESS_INFO and OPEN, data, invalidations and completions of requests, and
# messages nobody asked for. Our client breaks the path or takes them, says so within
# limits, and another session does not notice. The server is the scripted peer; every second of its paths has the
# extensions BATCH, IMPLICIT_RKEY and CREDITS.
#
# RTRS_SEED=<seed> repeats a run; in a VM:
#	selftests/vm/run --kver 6.12 --append rtrs.seed=<seed> selftests/rtrs/hostile-server.sh
# RTRS_SEED=<seed>:<first>:<count> takes this many mutations from this number on.
#
# vm: smp=1 timeout=300

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"
. "$(dirname "$0")/../hostile.sh"

HOSTILE_COUNT=${HOSTILE_COUNT:-1000}		# messages that arrive, in each mode
HOSTILE_CONNS=${HOSTILE_CONNS:-2}		# messages of each kind while connecting

# slot_templates <slot>: completions of the request in it, in the set "done<slot>", or "done<slot>x" for paths
# with the extensions
slot_templates() {
	local slot="$1" imm data='' op=write-imm
	if [ $psrv_mode = Y ]; then
		eval "data=data=0400$(le16 "$slot")\$(le32 \$chunk_key_$slot)"
		op=send-imm
	fi
	# An errno is tame; the one with 2 says that the key was invalidated, true or not.
	imm=$(printf '0x%08x' $((1 << 28 | slot)))
	template done$slot $op imm="$imm" $data tameimm=0x0ff80000 weight=6
	imm=$(printf '0x%08x' $((2 << 28 | slot)))
	template done$slot $op imm="$imm" $data tameimm=0x0ff80000 weight=2

	imm=$(printf '0x%08x' $((1 << 28 | slot)))
	template done${slot}x write-imm imm="$imm" tameimm=0x0ff80000 weight=3
	[ $psrv_mode = N ] || template done${slot}x $op imm="$imm" $data tameimm=0x0ff80000 weight=2
	# A bit of a slot above it is tame too: maybe there is a request.
	imm=$(printf '0x%08x' $((12 << 28 | slot << PSRV_MEM_BITS)))
	template done${slot}x write-imm imm="$imm" tameimm=0x00000007 weight=3
}

templates() {
	local slot=0
	template accept send data="$rsp" tame=0-56
	template reject send data="$(conn_reject -104)" tame=0-56
	template info send data="$info_rsp" tame=0-$((${#info_rsp} / 2))
	template sessinfo write key=8 data="0100000002$(bytes 31)" tame=0-36
	template open write key=8 data="$(psrv_open_rsp "$PSRV_SECTORS")" tame=0-56
	template data write key=8 data="$(bytes 512 a5)" tame=0-512 weight=3
	template data send-inv invkey=8
	while [ $slot -lt $PSRV_QD ]; do
		slot_templates $slot
		slot=$((slot + 1))
	done
	# Nobody waits for these, and nobody minds: unknown types, heartbeats, and with data.
	template noise write-imm imm=0x40000000 tameimm=0x3fffffff weight=2
	template noise write-imm imm=0xc0000000 tameimm=0x3fffffff weight=2
	template noise write-imm imm=0x80000000 tameimm=0x1fffffff weight=2
	# Over the service connection: so many chunks, which were not asked for, or of an unknown type.
	template service write-imm imm=0x40000000 tameimm=0x30000007
	[ $psrv_mode = N ] || template noise send-imm imm=0x40000000 data="$(bytes 8 5a)" tame=0-8
}

# reconnect: have the client connect now, without waiting for it, nor for what it would wait by itself
reconnect() {
	attack_asked=$((attack_asked + 1))
	{ echo 1 >"$path_file/reconnect"; } 2>/dev/null &
}

forget_path() {
	ask destroy w1 >/dev/null
	ask destroy w0 >/dev/null
}

# next_request <con>: the client's next connection request; it is told to connect until it does
next_request() {
	local tries=0
	while [ $tries -lt 10 ]; do
		ask request "$1" 2000 || return 1
		[ "$answer" = timeout ] || return 0
		tries=$((tries + 1))
		reconnect
	done
	echo "the client does not connect"
	return 1
}

# accept_path <command>: that has the client connect; both connections, up to INFO_REQ. A request may be
# the second one of an attempt that is over: then there is no INFO_REQ.
accept_path() {
	forget_path
	case $extended in
	'') extended=x rsp=$rsp_extended ;;
	*) extended='' rsp=$rsp_plain ;;
	esac
	"$1"
	next_request w0 && ask recv w0 1 512 && ask accept w0 "$rsp" && ask request w1 2000 || return 1
	[ "$answer" != timeout ] && ask recv w0 64 0 && ask recv w1 64 0 && ask accept w1 "$rsp" &&
		ask wait w0 5000 || return 1
	case $answer in 'recv op=send len=272 '*) ;; *) return 1 ;; esac
}

accept_path_again() {
	local tries=0
	until accept_path reconnect; do
		tries=$((tries + 1))
		[ $tries -lt 20 ] || return 1
	done
}

# take <con> <ms>: the next request, in $slot and $len, its descriptor as key 8; heartbeats are answered
take() {
	local imm
	while :; do
		ask wait "$1" "$2" || return 1
		case $answer in
		'recv op=write '*imm=0x80000000) ask post "$1" write-imm imm=0x90000000 ;;
		'recv op=write '*imm=0x0*) break ;;
		*) return 1 ;;
		esac
	done
	len=${answer#*len=}
	len=${len%% *}
	imm=$((${answer##*imm=}))
	slot=$((imm >> PSRV_MEM_BITS))
	ask recv "$1" 1 0 && ask key 8 at=mem$slot:$(((imm & (1 << PSRV_MEM_BITS) - 1) + 8))
}

# serve_until <file>: whatever comes, until the file is there
serve_until() {
	local tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			echo "there is no $1 yet"
			return 1
		}
		if take w0 100; then
			ask mutate w0 done$slot$extended || return 1
		elif take w1 100; then
			ask mutate w1 done$slot$extended || return 1
		else
			sleep 0.1
		fi
	done
}

# map_it <session> [<key>=<value>...]: map, with what SESS_INFO and OPEN are answered mutated so
map_it() {
	local name="$1"
	shift
	map_start "$name"
	accept_path : || return 1
	[ -n "$info_rsp" ] || chunks_up || return 1
	ask post w0 send data="$info_rsp" && take w0 5000 && mutate w0 sessinfo "$number" "$@" || return 1
	ask mutate w0 done$slot$extended && take w0 500 && mutate w0 open "$number" "$@" && ask mutate w0 done$slot$extended
	serve_until /tmp/wire.map
}

# opened_again: SESS_INFO and OPEN of a path that is back are answered
opened_again() {
	ask post w0 send data="$info_rsp" &&
		take w0 5000 && ask mutate w0 sessinfo && ask mutate w0 done$slot$extended &&
		take w0 5000 && ask mutate w0 open && ask mutate w0 done$slot$extended
}

# answers: to one request, and what it did not ask for
answers() {
	mutate w1 noise $next count=6 wild=10 tame=900 || return 1
	# 56: a READ of 32 bytes of RNBD and a descriptor
	[ $mutate_end = over ] || [ "$len" -ne 56 ] || mutate w1 data $next wild=30 tame=500 || return 1
	[ $mutate_end = over ] || mutate w1 done$slot$extended $next wild=40 tame=300 || return 1
	# At times, for it may be the end of the path.
	[ $mutate_end = over ] || [ $((next / 4 % 4)) -ne 0 ] || mutate w0 service $next tame=900
}

# mutate_answers: until enough have arrived
mutate_answers() {
	local conns=0 idle=0
	next=$first arrived=0
	while [ $arrived -lt "$count" ]; do
		accept_path_again || {
			echo "no path after number $next"
			return 1
		}
		opened_again || {
			idle=$((idle + 1))
			[ $idle -lt 20 ] && continue
			echo "SESS_INFO or OPEN does not come after number $next: $answer"
			return 1
		}
		conns=$((conns + 1)) answer=''
		while [ $arrived -lt "$count" ] && take w1 400; do
			idle=0
			answers || return 1
			[ $mutate_end = open ] || break
		done
		[ "$answer" != timeout ] || idle=$((idle + 1))
		io_again
		[ $idle -lt 5 ] || {
			io_state
			return 1
		}
		load_runs || {
			echo "the honest session has failed by number $next"
			return 1
		}
	done
	mutated="$arrived mutations arrived, $((next - first)) tried, over $conns connections"
}

# each_number <command>...: with $number
each_number() {
	number=$first
	while [ "$number" -lt $((first + HOSTILE_CONNS)) ]; do
		"$@" || {
			echo "number $number"
			return 1
		}
		number=$((number + 1))
	done
}

# The client goes on to the next connection or gives up the attempt, but does something.
mutated_accept() {
	forget_path
	mutant accept "$number" tame=950 || return 1
	reconnect
	next_request w0 && ask recv w0 1 512 && ask accept w0 "$mutant" || return 1
	ask request w1 200
}

mutated_reject() {
	forget_path
	mutant reject "$number" tame=950 || return 1
	reconnect
	next_request w0 && ask reject w0 "$mutant"
}

mutated_info() {
	accept_path_again && mutate w0 info "$number" wild=100 tame=850 || return 1
	ask wait w0 300
}

mutated_open() {
	accept_path_again && ask post w0 send data="$info_rsp" && take w0 5000 &&
		mutate w0 sessinfo "$number" wild=20 tame=900 || return 1
	# What comes after that, if anything: I/O with whatever geometry that was.
	ask mutate w0 done$slot$extended && take w0 500 && mutate w0 open "$number" wild=20 tame=900 &&
		ask mutate w0 done$slot$extended && take w1 200 && ask mutate w1 done$slot$extended
	:
}

# unmap_it <session>
unmap_it() {
	local dev
	dev=$(mapped_node "$1" /dev/wire) || return 1
	write_start /tmp/wire.unmap "$(dev_attr "$dev" unmap_device)" force
	serve_until /tmp/wire.unmap && is "$(cat /tmp/wire.unmap)" 0
}

# What is mapped then is unmapped again.
mutated_map() {
	map_it map tame=900 || return 1
	case $(cat /tmp/wire.map) in 0*) unmap_it map ;; esac
}

# io_load: requests all the time, whatever becomes of them
io_load() {
	# All that an errno of the protocol becomes in the block layer; fio ends with any other one.
	local errors=5:11:12:16:19:22:28:52:61:62:67:75:84:95:109:110:121
	fio --name=io --thread --filename="$psrv_dev" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw \
		--bs=512 --size=4k --io_size=100G --time_based --runtime=3600 --rate_iops=200,100 \
		--continue_on_error=all --ignore_error=$errors,$errors,$errors >/tmp/hostile.io 2>&1 8<&- &
	io_pid=$!
	defer "io_stop"
}

# io_again: if fio has found an error that it cannot ignore, whatever that was
io_again() {
	[ ! -e /proc/$io_pid ] || return 0
	io_ended=$(grep '^fio: ' /tmp/hostile.io | tail -n 1)
	wait $io_pid
	io_load
}

# io_state: why there are no requests
io_state() {
	echo "no requests come; device $(dev_state "$psrv_dev"), in flight: $(cat "/sys/block/${psrv_dev#/dev/}/inflight")"
	cat /proc/$io_pid/stat "/sys/kernel/debug/block/${psrv_dev#/dev/}/hctx0/busy" | cut -c 1-200
	tail -n 5 /tmp/hostile.io
}

io_stop() {
	[ ! -e /proc/$io_pid ] || kill $io_pid
	wait $io_pid
	rm -f /tmp/hostile.io
}

# chunks_up: their keys stay for all connections of a mode
chunks_up() {
	psrv_chunks w || return 1
	info_rsp="0100$(le16 $PSRV_QD)00000000$chunk_descs"
	templates
}

# mapped: the device that stays, before anything is wrong with it
mapped() {
	number=0
	map_it bad && is "$(cat /tmp/wire.map)" 0 || return 1
	psrv_dev=$(mapped_node bad /dev/wire)
	path_file=$(path_dir bad 1)
}

suite() {
	local before
	rtrs_load
	before=$(resource_snapshot)
	honest_up
	ask_open
	must peer listen $PEER_PORT
	io_ended='' info_rsp='' path_file='' extended=x
	rsp_plain=$(conn_rsp flags=$rsp_flags) rsp_extended=$(conn_rsp flags=$rsp_flags ext=1 features=70)
	attack_begins
	check_here "$psrv_mode: a device is mapped" mapped
	must unmap_it bad
	check_here "$psrv_mode: mapping, with mutated answers to SESS_INFO and OPEN" each_number mutated_map
	check_here "$psrv_mode: a device is mapped as before" mapped
	io_load
	check_here "$psrv_mode: the same on a path that is back" each_number mutated_open
	check_here "$psrv_mode: accepts" each_number mutated_accept
	check_here "$psrv_mode: rejects" each_number mutated_reject
	check_here "$psrv_mode: INFO_RSP" each_number mutated_info
	# It may have learnt that it is larger than it is, or that a request carries less than it
	# needs, and it would stay closed.
	io_stop
	must unmap_it bad
	must mapped
	io_load
	check_here "$psrv_mode: answers to requests: as many as wanted have arrived" mutate_answers
	attack_ends
	[ -z "$io_ended" ] || diag "started again: $io_ended"
	check_here "$psrv_mode: the other session's data are right, and it goes on" honest_unharmed
	check_here "$psrv_mode: the kernel's log says it, and says it rarely" said 'rtrs-client: session bad, .*(server answers slot|unknown immediate)'
	exec 8<&-
	must peer destroy all
	io_stop
	must unmap_device "$psrv_dev" force
	honest_down
	nothing_remains "$psrv_mode" "$before"
}

requires fio
CASES_PER_MODE=14
ktap_plan $((2 * CASES_PER_MODE))
topo_up 2
topo_is_ours
peer_load
seed_choose "$HOSTILE_COUNT"
disks_up
RNBD_SERVER_OPTS="dev_search_path=/dev/hostile/%SESSNAME%"
for psrv_mode in Y N; do
	seed=$((seed + 1)) rsp_flags=0
	[ $psrv_mode = N ] || rsp_flags=2
	suite
done

ktap_end
