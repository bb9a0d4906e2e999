# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# wire-srv.sh - a server of our client, played by the scripted peer; sourced after wire.sh.
#
# For one device of one session. Connections of a path, called by a word, are
# <word>0, <word>1 ...; slot <n> is buffer mem<n>.

PSRV_QD=4 PSRV_CHUNK=12288 PSRV_MEM_BITS=26
PSRV_MAX_SECTORS=256		# in one request

# write_start <outcome> <file> <text>: sysfs_write in the background; then the first file has 0, or 1
# and the error
write_start() {
	rm -f "$1"
	(
		if sysfs_write "$2" "$3"; then
			echo 0
		else
			echo "1 $sysfs_error"
		fi >"$1.new"
		mv "$1.new" "$1"
	) &
}

# For all sessions of a test. One in which paths come back sets PATIENT: the peer is a script, and slow.
psrv_options=''
PATIENT=connect_timeout_ms=60000
# How often the client says that it lives, for tests in which its next message must be another one.
psrv_beats='hb_interval_ms=5000 hb_missed_max=5'

# map_start <session> [<option>...]: map from the peer, in the background. What becomes of a request is to
# be seen at once, so none waits for a path. The peer answers heartbeats only where a test has it do so.
map_start() {
	local line
	line="sessname=$1 device_path=/dev/wire dest_port=$PEER_PORT path=ip:$CLT_ADDR@ip:$SRV_ADDR"
	line="$line no_path_timeout=0 $psrv_beats $psrv_options"
	shift
	write_start /tmp/wire.map $CLT_CTL/map_device "$line $*"
}

# map_fails <errno name>[/<another>...]: in the end
map_fails() {
	local result
	wait_for 40 [ -e /tmp/wire.map ] || {
		echo "map_device has not returned"
		return 1
	}
	result=$(cat /tmp/wire.map)
	is "${result%% *}" 1 || return 1
	is_error "$1" "${result#* }" || {
		echo "map_device: ${result#* }, wanted $1"
		return 1
	}
}

# map_times_out <start>: nobody answers, so it fails, after the 10 s that the client waits
map_times_out() {
	local took
	map_fails ETIMEDOUT || return 1
	took=$(($(uptime_ms) - $1))
	echo "after $took ms"
	[ $took -ge 9000 ] && [ $took -le 13000 ]
}

# io_run <command>...: I/O in the background; its outcome is io_ends' to tell
io_run() {
	rm -f /tmp/wire.io
	(
		LC_ALL=C "$@" 2>/tmp/wire.err
		echo $? >/tmp/wire.io.new
		mv /tmp/wire.io.new /tmp/wire.io
	) &
}

# io <dd arguments>
io() {
	io_run dd "$@" status=none
}

# io_ends <status> [<errno name>]: with an errno, that is why
io_ends() {
	wait_for 15 [ -e /tmp/wire.io ] || {
		echo "the I/O has not ended"
		return 1
	}
	is "$(cat /tmp/wire.io)" "$1" || {
		cat /tmp/wire.err
		return 1
	}
	[ -z "${2:-}" ] || is "$(cat /tmp/wire.err)" "*: $(strerror "$2")"
}

# psrv_setup: a network, our client, and the peer that listens for it
psrv_setup() {
	topo_up 1
	topo_is_ours
	peer_load
	defer rtrs_unload
	defer "peer destroy all"
	must client_load
	must peer listen $PEER_PORT
}

# psrv_request <con>: the next connection request, into $conn_req
psrv_request() {
	conn_req=$(peer request "$1" 20000)
	is "$conn_req" "$CLT_ADDR:* ????????*" || return 1
	conn_req=${conn_req#* }
}

# psrv_try_accept <con> [<field of the response>=<number>...]: the outcome into $psrv_outcome. With PSRV_RNR
# a send is tried again so many times when the client has no receive, else for ever.
psrv_try_accept() {
	local con="$1"
	shift
	# shellcheck disable=SC2086 # a word, or none
	psrv_outcome=$(peer accept "$con" "$(conn_rsp "$@")" ${PSRV_RNR:+rnr=$PSRV_RNR})
}

# psrv_accept <con> [<field of the response>=<number>...]
psrv_accept() {
	psrv_try_accept "$@"
	is "$psrv_outcome" 'established*'
}

# psrv_accept_first <path> [<field>=<number>...]: connection 0. The client waits for it for a time that
# this script may miss, gives it up ("rejected 4") and asks again, for longer.
psrv_accept_first() {
	local path="$1" tries=0
	shift
	while :; do
		psrv_request "${path}0" || return 1
		is "$(le_at "$conn_req" 6 2)" 0 || return 1
		peer recv "${path}0" 1 512 || return 1
		psrv_try_accept "${path}0" "$@"
		case $psrv_outcome in rejected\ 4*) ;; *) break ;; esac
		tries=$((tries + 1))
		[ $tries -lt 10 ] || break
		peer destroy "${path}0"
	done
	is "$psrv_outcome" 'established*'
}

# psrv_accept_all <path> [<field>=<number>...]: all connections of a path; those behind the first one
# with fields of their own
PSRV_OTHERS=''
psrv_accept_all() {
	local path="$1" cid=1
	psrv_accept_first "$@" || return 1
	psrv_conns=$(le_at "$conn_req" 8 2)
	shift
	while [ $cid -lt "$psrv_conns" ]; do
		psrv_request "$path$cid" || return 1
		is "$(le_at "$conn_req" 6 2)" $cid || return 1
		# shellcheck disable=SC2086 # several fields
		psrv_accept "$path$cid" "$@" $PSRV_OTHERS || return 1
		cid=$((cid + 1))
	done
}

# psrv_info <path>: wait for INFO_REQ, into $info_req
psrv_info() {
	info_req=$(peer wait "${1}0" 15000)
	is "$info_req" 'recv op=send len=272 data=*' || return 1
	info_req=${info_req#*data=}
}

# psrv_chunks <path>: a buffer for each slot; $chunk_descs describes them. With PSRV_ONE=y it is one
# for all, in one descriptor, and its key stays; with PSRV_HAS=asked that describes as many of them as the
# request in $conn_req asks for (extension CREDITS), with a number so many.
PSRV_ONE='' PSRV_HAS=''
psrv_chunks() {
	local slot=0 len=$PSRV_CHUNK
	[ -z "$PSRV_ONE" ] || len=$((PSRV_QD * PSRV_CHUNK))
	chunk_descs=''
	while [ $slot -lt $PSRV_QD ]; do
		if [ $slot -eq 0 ] || [ -z "$PSRV_ONE" ]; then
			buf_set "$(peer buf mem$slot "${1}0" $len)" || return 1
			mem_addr=$buf_addr
			chunk_descs=$chunk_descs$(desc "$buf_addr" "$buf_key" $len)
		fi
		eval "chunk_key_$slot=$buf_key"
		slot=$((slot + 1))
	done
	[ -z "$PSRV_HAS" ] || chunk_descs=$(chunk_desc 0 $(psrv_has))
}

# psrv_has: so many chunks are told of at first
psrv_has() {
	local nr=$PSRV_HAS
	[ "$nr" != asked ] || nr=$(le_at "$conn_req" 48 4)
	echo $((nr < PSRV_QD ? nr : PSRV_QD))
}

# chunk_desc <first> <number>: one for all of them, which are in one buffer
chunk_desc() {
	desc "$(addr_add "$mem_addr" $(($1 * PSRV_CHUNK)))" "$chunk_key_0" $(($2 * PSRV_CHUNK))
}

# chunk_at <slot> <offset>: buffer, and offset in it
chunk_at() {
	if [ -n "$PSRV_ONE" ]; then
		echo "mem0 $(($1 * PSRV_CHUNK + $2))"
	else
		echo "mem$1 $2"
	fi
}

# chunk_get <slot> <offset> <bytes>
chunk_get() {
	# shellcheck disable=SC2046 # two words
	peer get $(chunk_at "$1" "$2") "$3"
}

# psrv_receives <path>: for requests
psrv_receives() {
	local cid=0
	while [ $cid -lt "$psrv_conns" ]; do
		peer recv "$1$cid" 32 0 || return 1
		cid=$((cid + 1))
	done
}

# psrv_connect <path> [<field of the response>=<number>...]: up to INFO_RSP
psrv_connect() {
	local path="$1"
	psrv_accept_all "$@" && psrv_info "$path" && psrv_chunks "$path" && psrv_receives "$path" &&
		psrv_info_rsp "$path"
}

# psrv_info_rsp <path>: with what $chunk_descs has, and this number of the session (extension SESSION)
psrv_session=0
psrv_info_rsp() {
	peer post "${1}0" send data="0100$(le16 $((${#chunk_descs} / 32)))$(le32 $psrv_session)$chunk_descs"
}

# psrv_take <con> [<ms>]: the next request, into $req_... ; fails if there is none. Of these types, digits.
PSRV_TYPES=0
psrv_take() {
	local ev imm
	ev=$(peer_next "$1" "${2:-15000}")
	is "$ev" "recv op=write len=* imm=0x[$PSRV_TYPES]*" || return 1
	req_len=${ev#*len=}
	req_len=${req_len%% *}
	imm=$((${ev##*imm=}))
	req_imm_type=$((imm >> 28)) imm=$((imm & 0xfffffff))
	req_slot=$((imm >> PSRV_MEM_BITS)) req_off=$((imm & (1 << PSRV_MEM_BITS) - 1))
	req_hdr=$(chunk_get $req_slot $req_off 24) || return 1
	req_type=$(le_at "$req_hdr" 0 2)
	req_usr_len=$(le_at "$req_hdr" 2 2)
	req_data=$((req_off - req_usr_len))
	req_usr=$(chunk_get $req_slot $req_data "$req_usr_len")
	req_flags=0 req_sg=0 req_addr='' req_key=0 req_room=0
	[ "$req_type" -eq 3 ] || return 0
	req_flags=$(le_at "$req_hdr" 4 2)
	req_sg=$(le_at "$req_hdr" 6 2)
	[ "$req_sg" -eq 1 ] || return 0
	req_addr=$(swab "$(hex_at "$req_hdr" 8 8)")
	req_key=$(le_at "$req_hdr" 16 4)
	req_room=$(le_at "$req_hdr" 20 4)
}

# psrv_data <con> <hex>: the result of the request that was taken
psrv_data() {
	peer post "$1" write data="$2" raddr=0x"$req_addr" rkey="$req_key"
}

# psrv_done <con> <errno>: complete it, in the way that $psrv_mode and the request want
psrv_done() {
	local type=1
	if [ $((req_flags & 1)) -eq 1 ]; then
		peer post "$1" send-inv inv="$req_key" || return 1
		type=2
	fi
	psrv_complete "$1" "$req_slot" "$2" $type
}

# psrv_complete <con> <slot> <errno> <type>: the completion message alone
psrv_complete() {
	local imm
	imm=$(printf '0x%08x' $(($4 << 28 | -($3) << 19 | $2)))
	if [ "$psrv_mode" = N ]; then
		peer post "$1" write-imm imm="$imm"
		return
	fi
	eval "buf_key=\$chunk_key_$2"
	if [ -z "$PSRV_ONE" ]; then
		peer inv "$1" "$buf_key" || return 1
		buf_set "$(peer rereg mem"$2" "$1")" || return 1
		eval "chunk_key_$2=$buf_key"
	fi
	peer post "$1" send-imm imm="$imm" data="0400$(le16 "$2")$(le32 "$buf_key")"
}

# psrv_open_rsp <sectors>: RNBD OPEN_RSP, device id 3, 512 byte blocks, of which so many can be discarded
# at once; bits of the cache: 1 FUA, 2 write-back
PSRV_DISCARD=0 PSRV_CACHE=0
psrv_open_rsp() {
	printf '0300000003000000%s%s%s%s%s%s000200028000000000%02x%s' "$(le64 "$1")" \
		"$(le32 $PSRV_MAX_SECTORS)" "$(bytes 4)" "$(le32 $PSRV_DISCARD)" \
		"$(le32 $((PSRV_DISCARD ? 512 : 0)))" "$(bytes 4)" "$PSRV_CACHE" "$(bytes 10)"
}

# psrv_data_of <con> <bytes>: whatever the slot's chunk has
psrv_data_of() {
	local at
	at=$(chunk_at "$req_slot" 0)
	peer post "$1" write buf="${at% *}" off="${at#* }" len="$2" raddr=0x"$req_addr" rkey="$req_key"
}

# psrv_serve <con> [<ms>]: answer one request as a server would, never mind the data
psrv_serve() {
	psrv_take "$1" "${2:-15000}" && psrv_answer "$1"
}

# psrv_answer <con>: to the request that was taken
psrv_answer() {
	case $req_usr in
	0000*) psrv_data "$1" "0100000002$(bytes 31)" ;;
	0200*) psrv_data "$1" "$(psrv_open_rsp $PSRV_SECTORS)" ;;
	*) [ "$req_sg" -eq 0 ] || psrv_data_of "$1" "$req_room" ;;
	esac &&
	psrv_done "$1" 0
}

# psrv_map <path> <session> [<field of the response>=<number>...]: a mapped device, $psrv_dev, of
# one page, so that nobody reads more of it than has to be
PSRV_SECTORS=8
psrv_map() {
	local path="$1" sess="$2"
	shift 2
	map_start "$sess"
	[ "$psrv_mode" = N ] || set -- "$@" flags=2
	psrv_connect "$path" "$@" && psrv_serve "${path}0" && psrv_serve "${path}0" || return 1
	until [ -e /tmp/wire.map ]; do
		psrv_serve "${path}1" 300 >/dev/null
	done
	is "$(cat /tmp/wire.map)" 0 || return 1
	psrv_dev=$(mapped_node "$sess" /dev/wire)
}

# psrv_unmap <path>: of a device that is open; CLOSE is answered, or it would be waited for
psrv_unmap() {
	unmap_device "$psrv_dev" force &
	psrv_serve "${1}0" && is "$req_usr" "$(rnbd_close 3)" && wait $!
}

# psrv_gone <path>: its connections and memory
psrv_gone() {
	local nr=0
	while [ $nr -lt "${psrv_conns:-2}" ]; do
		peer destroy "$1$nr" >/dev/null
		nr=$((nr + 1))
	done
	nr=0
	while [ $nr -lt $PSRV_QD ]; do
		peer free mem$nr >/dev/null
		nr=$((nr + 1))
	done
}

# read_start: one sector of the device, in the background; read_gives <exit status>
read_start() {
	rm -f /tmp/wire.read
	(
		dd if="$psrv_dev" of=/dev/null bs=512 count=1 iflag=direct status=none 2>/dev/null
		echo $? >/tmp/wire.read
	) &
}

read_gives() {
	wait_for 10 [ -s /tmp/wire.read ] && is "$(cat /tmp/wire.read)" "$1"
}
