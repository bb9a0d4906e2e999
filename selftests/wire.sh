# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# wire.sh - messages of RTRS and RNBD as hexadecimal digits, and what the scripted
# peer sees of them; sourced after peer.sh, and then wire-clt.sh or wire-srv.sh for
# the side that the peer plays. Offsets, sizes and values are those of the
# protocol, none is taken from the modules' headers.

CLT_ADDR=10.1.0.1 SRV_ADDR=10.1.0.2
SRV_PORT=1234			# where rnbd-server listens
PEER_PORT=4321			# where the peer does

# ---------------------------------------------------------------- verdicts

defer "rm -f /tmp/wire.*"

# refuses <con> <command> [<argument>...]: the other side's adapter refuses what the
# command writes. It breaks a queue pair by that; the module there disconnects, and that
# may be here before the refusal is: then what was sent is flushed. It never succeeds.
refuses() {
	local con="$1" how
	shift
	"$@" || return 1
	how=$(peer sent "$con" 10000)
	case $how in
	'failed 10 '* | 'failed 5 '*) ;;
	*) is "$how" 'failed 10 *' ;;
	esac
}

# ---------------------------------------------------------------- bytes
#
# Messages are made for each step of a test, and a process is what costs most in a VM without KVM: so
# these print where they are called, instead of one giving to another what it has printed in a subshell.

le16() {
	printf '%02x%02x' $(($1 & 255)) $(($1 >> 8 & 255))
}

le32() {
	printf '%02x%02x%02x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}

le64() {
	le32 "$1"
	le32 $(($1 >> 32))
}

# bytes <number> [<byte, as 5a>]: the same, many times
bytes() {
	[ "$1" -ne 0 ] || return 0
	if [ -n "${2:-}" ]; then
		bytes "$1" | sed "s/00/$2/g"
	else
		printf "%0$((2 * $1))d" 0
	fi
}

# text <string>
text() {
	printf %s "$1" | od -An -v -tx1 | tr -d ' \n'
}

# hex_at <hex> <offset> <bytes>: a piece
hex_at() {
	local rest="$1" skip="$2"
	while [ "$skip" -ge 16 ]; do
		rest=${rest#????????????????????????????????} skip=$((skip - 16))
	done
	while [ "$skip" -gt 0 ]; do
		rest=${rest#??} skip=$((skip - 1))
	done
	printf "%.$((2 * $3))s" "$rest"
}

# swap <hex>: the bytes in reverse order, into $swapped
swap() {
	local in="$1" rest
	swapped=''
	while [ -n "$in" ]; do
		rest=${in#??}
		swapped=${in%"$rest"}$swapped
		in=$rest
	done
}

# swab <hex>: the same, printed
swab() {
	swap "$1"
	printf %s "$swapped"
}

# le_at <hex> <offset> <bytes>: a number, up to four bytes
le_at() {
	swap "$(hex_at "$1" "$2" "$3")"
	echo $((0x$swapped))
}

# addr_add <16 digits> <number>: an address may be too large for the shell
addr_add() {
	local low=$((0x${1#????????} + $2))
	printf '%08x%08x' $((0x${1%????????} + (low >> 32))) $((low & 0xffffffff))
}

# hex_len <hex>
hex_len() {
	echo $((${#1} / 2))
}

# ---------------------------------------------------------------- messages

# conn_req [<field>=<number>...]: connection request
conn_req() {
	local cma=0 ip=0 magic=0x1bbd version=0x0200 cid=0 cid_num=2 recon=1 path=1 sess=1
	local flags=1 ext=0 features=0 chunks=0 reserved=0
	[ $# -eq 0 ] || local "$@"
	printf '%02x%02x' "$cma" "$ip"
	le16 "$magic"
	le16 "$version"
	le16 "$cid"
	le16 "$cid_num"
	le16 "$recon"
	printf '%032x%032x%02x%02x' "$path" "$sess" "$flags" "$ext"
	le16 "$features"
	le32 "$chunks"
	le32 "$reserved"
}

# conn_rsp [<field>=<number>...]: accept; a reject with errno= and all others 0
conn_rsp() {
	local magic=0x1bbd version=0x0200 errno=0 qd=4 io=8192 hdr=4096 flags=0
	local ext=0 features=0 id=0
	[ $# -eq 0 ] || local "$@"
	le16 "$magic"
	le16 "$version"
	le16 "$errno"
	le16 "$qd"
	le32 "$io"
	le32 "$hdr"
	le32 "$flags"
	printf '%02x00' "$ext"
	le16 "$features"
	le32 "$id"
	bytes 28
}

# conn_reject <errno>
conn_reject() {
	conn_rsp errno="$1" qd=0 io=0 hdr=0
}

# info_req <name> [<type>]; with $info_table, key and address of a table (extension CREDITS)
info_table=''
info_req() {
	local table="$info_table"
	le16 "${2:-0}"
	text "$1"
	bytes $((270 - ${#1} - ${#table} / 2))
	printf %s "$table"
}

# table_of <16 digits of the address> <rkey>: for $info_table
table_of() {
	le32 "$2"
	swab "$1"
}

# desc <16 digits of the address> <rkey> <length>
desc() {
	swab "$1"
	le32 "$2"
	le32 "$3"
}

# hdr_write <usr_len> and hdr_read <usr_len> <flags> [<descriptor>]
hdr_write() {
	printf 0200
	le16 "$1"
}

hdr_read() {
	printf 0300
	le16 "$1"
	le16 "$2"
	le16 $((${3:+1} + 0))
	printf %s "${3:-}"
}

# rnbd_sess_info, rnbd_open <name> [<mode>], rnbd_close <id>
rnbd_sess_info() {
	printf '0000000002%062d' 0
}

rnbd_open() {
	printf '02000000%02x00' "${2:-1}"
	text "$1"
	bytes $((258 - ${#1}))
}

rnbd_close() {
	printf 05000000
	le32 "$1"
}

# rnbd_io <id> <sector> <rw> <bytes> [<priority, two bytes in hex, or a pattern>]
rnbd_io() {
	printf 04000000
	le32 "$1"
	le64 "$2"
	le32 "$3"
	le32 "$4"
	printf %s000000000000 "${5:-0000}"
}

# ---------------------------------------------------------------- events

# peer_next <con> [<ms>]: the next message that is no heartbeat, or whatever else
# happens. Its receive is posted again, and heartbeats are answered, both on the
# connection itself: HB travels on con 0 alone.
peer_next() {
	local ev
	while ev=$(peer wait "$1" "${2:-10000}"); do
		case $ev in recv*) peer recv "$1" 1 8 >/dev/null ;; esac
		case $ev in
		*imm=0x80000000*) peer post "$1" write-imm imm=0x90000000 >/dev/null ;;
		*imm=0x90000000*) ;;
		*)
			echo "$ev"
			return 0
			;;
		esac
	done
	echo "$ev"
	return 1
}

# next_is <con> <pattern>: the next message of the connection
next_is() {
	is "$(peer_next "$1")" "$2"
}

# says_nothing <con> [<ms>]
says_nothing() {
	is "$(peer_next "$1" "${2:-1000}")" timeout
}

# all_sent <con>
all_sent() {
	is "$(peer sent "$1" 10000)" sent
}

# closed_by <path> <what the other side says> <command>...: it closes the path
closed_by() {
	local path="$1" text="$2"
	shift 2
	kmsg_mark
	"$@" && are_closed "${path}0" "${path}1" && wait_for 5 kmsg_has "$text"
}

# are_closed <con>...: the other side disconnects them and says nothing before
are_closed() {
	local con
	for con; do
		next_is "$con" disconnected || {
			echo "on $con"
			return 1
		}
	done
}

# buf_set <answer to "buf" or "rereg">: into $buf_addr, 16 digits, and $buf_key
buf_set() {
	is "$1" 'addr=0x* rkey=0x*' || return 1
	buf_addr=${1#addr=0x}
	buf_addr=${buf_addr%% *}
	buf_key=${1##*rkey=}
	buf_key=$(($buf_key))
	while [ ${#buf_addr} -lt 16 ]; do
		buf_addr=0$buf_addr
	done
}
