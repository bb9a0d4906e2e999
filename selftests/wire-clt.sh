# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# wire-clt.sh - a client of our server, played by the scripted peer; sourced after wire.sh.
#
# A client's path is called by a word; its connections are <word>0, <word>1 ...

# wire_server Y|N: load, with this always_invalidate and a small geometry. Five slots, so that
# the immediate can name some that are not there.
SRV_QD=5 SRV_IO=4096 SRV_HDR=4096 SRV_CHUNK=8192 SRV_MEM_BITS=25
wire_server() {
	srv_mode=$1
	must modprobe rtrs-server sess_queue_depth=$SRV_QD max_chunk_size=$SRV_CHUNK \
		always_invalidate="$srv_mode"
	must modprobe rnbd-server
	must wait_for 5 [ -d $SRV_CTL ]
}

# clt_connect <con> [<field of the request>=<number>...]: the answer to it. With CLT_RNR a send is tried
# again so many times when the server has no receive, else for ever.
clt_connect() {
	local con="$1"
	shift
	# shellcheck disable=SC2086 # a word, or none
	peer connect "$con" "$CLT_ADDR" "$SRV_ADDR" "$SRV_PORT" "$(conn_req "$@")" ${CLT_RNR:+rnr=$CLT_RNR}
}

# only_zeros <hex>
only_zeros() {
	is "$(printf %s "$1" | tr -d 0)" ''
}

# refused <errno> <answer>: consumer defined, with errno and nothing else
refused() {
	local wanted
	wanted="rejected 28 $(conn_reject "$1")"
	is "$2" "$wanted*" && only_zeros "${2#"$wanted"}"
}

# clt_connect_all <path> <connections> [<field>=<number>...]; sets clt_rsp to the answer to the first
clt_connect_all() {
	local path="$1" nr="$2" cid=0 answer
	shift 2
	while [ "$cid" -lt "$nr" ]; do
		answer=$(clt_connect "$path$cid" "$@" cid_num="$nr" cid=$cid)
		is "$answer" 'established*' || return 1
		[ $cid -ne 0 ] || clt_rsp=${answer#established }
		cid=$((cid + 1))
	done
}

# clt_open <path> <connections> <session name> [<field>=<number>...]: connect, and exchange
# information
clt_open() {
	local path="$1" nr="$2" name="$3"
	shift 3
	clt_connect_all "$path" "$nr" "$@" && clt_exchange "$path" "$nr" "$name"
}

# clt_exchange <path> <connections> <session name>: sets clt_info to what came
clt_exchange() {
	local path="$1" nr="$2" name="$3" cid=1
	peer recv "${path}0" 1 $((8 + 16 * SRV_QD)) &&
		peer post "${path}0" send data="$(info_req "$name")" || return 1
	clt_info=$(peer wait "${path}0" 10000)
	is "$clt_info" "recv op=send len=* data=0100*" || return 1
	clt_info=${clt_info#*data=}
	clt_chunks "$path" || return 1
	peer recv "${path}0" 64 8
	while [ $cid -lt "$nr" ]; do
		peer recv "$path$cid" 64 8
		cid=$((cid + 1))
	done
}

# clt_chunks <path>: from clt_info, for all slots, or with extension CREDITS for $CLT_CHUNKS of them
CLT_CHUNKS=''
clt_chunks() {
	clt_learn "$1" 0 "${clt_info#????????????????}"
	is "$clt_slots" "${CLT_CHUNKS:-$SRV_QD}" && is $((8 + 16 * $(le_at "$clt_info" 2 2))) "$(hex_len "$clt_info")"
}

# clt_learn <path> <first slot> <descriptors>: into variables <path>_addr_<slot> and <path>_key_<slot>; $clt_slots is
# the number of the slot behind the last one
clt_learn() {
	local slot="$2" left="$3" desc rest addr key len
	while [ ${#left} -ge 32 ]; do
		rest=${left#????????????????????????????????}
		desc=${left%"$rest"} left=$rest
		rest=${desc#????????????????}
		swap "${desc%"$rest"}"
		addr=$swapped
		swap "${rest%????????}"
		key=$((0x$swapped))
		swap "${rest#????????}"
		len=$((0x$swapped))
		while [ "$len" -ge $SRV_CHUNK ]; do
			eval "$1_addr_$slot=$addr $1_key_$slot=$key"
			len=$((len - SRV_CHUNK))
			[ "$len" -lt $SRV_CHUNK ] || addr=$(addr_add "$addr" $SRV_CHUNK)
			slot=$((slot + 1))
		done
	done
	clt_slots=$slot
}

# clt_put <con> <slot> <offset> <hex> <offset for the immediate>: write into a chunk and say so
clt_put() {
	local path="${1%?}" addr key
	eval "addr=\$${path}_addr_$2 key=\$${path}_key_$2"
	peer post "$1" write-imm data="$4" raddr=0x"$(addr_add "$addr" "$3")" rkey="$key" \
		imm="$(imm_req "$2" "$5")"
}

# imm_req <slot> <offset>: of type REQ_TYPE
REQ_TYPE=0
imm_req() {
	printf '0x%08x' $((REQ_TYPE << 28 | $1 << SRV_MEM_BITS | $2))
}

# clt_write <con> <slot> <user message> [<data>]: a WRITE request
clt_write() {
	local usr="$3" data="${4:-}" off
	off=$(((${#usr} + ${#data}) / 2))
	clt_put "$1" "$2" 0 "$data$usr$(hdr_write $((${#usr} / 2)))" $off
}

# More than rtrs-server copies, on a device in software: the chunk's key is invalidated.
CLT_BIG=139264

# clt_big_buf <path>: of its own, for clt_write_big
clt_big_buf() {
	peer buf big "${1}0" $((CLT_BIG + 4096)) >/dev/null
}

# clt_write_big <path> <slot> <device id> <sector>: what the buffer has
clt_write_big() {
	local addr key
	eval "addr=\$${1}_addr_$2 key=\$${1}_key_$2"
	peer put big $CLT_BIG "$(rnbd_io "$3" "$4" 0x101 $CLT_BIG)$(hdr_write 32)" &&
		peer post "${1}1" write-imm buf=big off=0 len=$((CLT_BIG + 36)) raddr=0x"$addr" rkey="$key" \
			imm="$(imm_req "$2" $((CLT_BIG + 32)))"
}

# clt_read <con> <slot> <user message> <bytes of data> <flags> [<descriptor>]: a READ request
clt_read() {
	local usr="$3" off=$(($4 + ${#3} / 2))
	clt_put "$1" "$2" "$4" "$usr$(hdr_read $((${#usr} / 2)) "$5" "${6:-}")" $off
}

# rsp_is <con> <slot> <errno> [<invalidated rkey>]: the next messages complete the request, in the
# way of the server's mode, and the slot's key is learnt
rsp_is() {
	local con="$1" path="${1%?}" slot="$2" imm key ev type=1
	if [ -n "${4:-}" ]; then
		type=2
		next_is "$con" "$(printf 'recv op=send len=0 inv=0x%08x' "$4")" || return 1
	fi
	imm=$(printf '0x%08x' $((type << 28 | -($3) << 19 | slot)))
	ev=$(peer_next "$con")
	if [ "$srv_mode" = N ]; then
		is "$ev" "recv op=write len=${RSP_LEN:-0} imm=$imm"
		return
	fi
	is "$ev" "recv op=send len=8 imm=$imm data=0400$(le16 "$slot")????????" || return 1
	key=${ev##*data=????????}
	eval "${path}_key_$slot=$((0x$(swab "$key")))"
}

# answered_with <errno> <con> <slot> <invalidated rkey> <command>...: and after it, the slot works
answered_with() {
	local errno="$1" con="$2" slot="$3" inv="$4"
	shift 4
	"$@" && rsp_is "$con" "$slot" "$errno" "$inv" && clt_write "$con" "$slot" "$(rnbd_close 99)" &&
		rsp_is "$con" "$slot" 0
}

# clt_map <path> <device> [<mode>]: OPEN it, as device id $clt_dev, with a buffer <path>_buf of 8192 bytes at
# $buf_addr that $buf_key opens
clt_map() {
	local path="$1"
	clt_buf "$path" || return 1
	clt_read "${path}0" 0 "$(rnbd_open "$2" "${3:-1}")" 56 1 "$(desc "$buf_addr" "$buf_key" 56)" &&
		rsp_is "${path}0" 0 0 "$buf_key" || return 1
	is "$(peer get "${path}_buf" 0 4)" 03000000 || return 1
	clt_dev=$(le_at "$(peer get "${path}_buf" 4 4)" 0 4)
	clt_rebuf "$path"
}

clt_buf() {
	buf_name=${1}_buf
	buf_set "$(peer buf "$buf_name" "${1}0" 8192)"
}

# clt_rebuf <path>: the buffer's key was invalidated, it gets another one
clt_rebuf() {
	buf_set "$(peer rereg "$buf_name" "${1}0")"
}

# clt_works <path>: an empty request is answered, on both connections
clt_works() {
	clt_write "${1}0" 0 "$(rnbd_close 99)" && rsp_is "${1}0" 0 0 &&
	clt_write "${1}1" 1 "$(rnbd_close 99)" && rsp_is "${1}1" 1 0
}

# srv_forgets <session>: it is gone from the server
srv_forgets() {
	wait_for 10 [ ! -d "$SRV_CLASS/$1" ]
}
