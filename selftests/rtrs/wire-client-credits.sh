#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension CREDITS of our client, to the byte: it begins with few slots, asks for chunks when they are short and gives them
# back when they are not, on each path of a session. The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

RSP='ext=1 features=0x40 qd=128 io=4096 hdr=4096 id=7'
PSRV_QD=128 PSRV_CHUNK=8192 PSRV_MEM_BITS=21 PSRV_ONE=y PSRV_HAS=asked
V6_PATH="$CLT_CLASS/wire/paths/ip:fd00:1::1@ip:fd00:1::2"

open_slots_are() {
	attr_is $CLT_CLASS/wire/open_slots "$1"
}

# table_of_path <path>: from its INFO_REQ
table_of_path() {
	eval "${1}_table=$(swab "$(hex_at "$info_req" 264 8)") ${1}_table_key=$(le_at "$info_req" 260 4)"
}

# map: path w, whose client begins with 16
map() {
	# shellcheck disable=SC2086 # several fields
	psrv_map w wire $RSP && table_of_path w && held=''
}

# begun: what the client has asked for
begun() {
	is "$(hex_at "$conn_req" 46 10)" "ff0310000000$(bytes 4)" && [ $((0x$w_table)) -ne 0 ] && [ "$w_table_key" -ne 0 ] &&
		is "$(hex_at "$info_req" 0 260)" "$(info_req wire | cut -c 1-520)" && open_slots_are 16
}

# reads <number> <in flight>: of a sector each, in the background
reads() {
	io_run fio --name=credits --filename="$psrv_dev" --ioengine=libaio --direct=1 --rw=randread --bs=512 \
		--size=$((PSRV_SECTORS * 512)) --number_ios="$1" --iodepth="$2" --output=/tmp/wire.fio
}

# take <number> <first slot> <last slot>: so many requests come, in these slots, and are held
take() {
	local nr=0
	while [ $nr -lt "$1" ]; do
		psrv_take w1 || return 1
		echo "slot $req_slot"
		[ "$req_slot" -ge "$2" ] && [ "$req_slot" -le "$3" ] || return 1
		case "$held " in *" $req_slot "*) return 1 ;; esac
		held="$held $req_slot"
		eval "held_$req_slot='req_flags=$req_flags req_addr=$req_addr req_key=$req_key'"
		nr=$((nr + 1))
	done
}

# give <slot>: the answer to its request, which is held
give() {
	case "$held " in *" $1 "*) ;; *) return 1 ;; esac
	held="${held%%" $1"*}${held#*" $1"}"
	eval "eval \$held_$1"
	req_slot=$1 req_sg=1 req_room=512 req_usr=''
	psrv_answer w1
}

# give_all: the reads have ended then
give_all() {
	local slot
	for slot in $held; do
		give "$slot" || return 1
	done
	io_ends 0
}

# asks <path> <chunks>; heartbeats, which begin each wait anew, are rarer than it is long
asks() {
	is "$(peer_next "${1}0" 4000)" "$(printf 'recv op=write len=0 imm=0x3%07x' "$2")"
}

# tell <path> <chunks> [<descriptors>]: there are so many
tell() {
	local imm addr key
	imm=$(printf 'imm=0x4%07x' "$2")
	eval "addr=\$${1}_table key=\$${1}_table_key"
	if [ -n "${3:-}" ]; then
		peer post "${1}0" write-imm "$imm" data="$3" raddr=0x"$addr" rkey="$key"
	else
		peer post "${1}0" write-imm "$imm"
	fi
}

# descs <first> <number>: with keys that stay one for 16 chunks, else one for each
descs() {
	local slot="$1" step=16
	[ $psrv_mode = N ] || step=1
	while [ "$slot" -lt $(($1 + $2)) ]; do
		chunk_desc "$slot" $step
		slot=$((slot + step))
	done
}

# have <path> <chunks> <before>
have() {
	tell "$1" "$2" "$(descs "$3" $(($2 - $3)))"
}

# short <reads> [<in flight>]: all 16 slots are in use, and the client has asked for more
short() {
	reads "$1" "${2:-$1}" && take 16 0 15 && asks w 32
}

# serve_all <connection>...: until the reads have ended
serve_all() {
	local con
	until [ -e /tmp/wire.io ]; do
		for con; do
			psrv_serve "$con" 200 >/dev/null
		done
	done
	io_ends 0
}

# grown: 32 slots are open, and no request is there; more than a quarter of them were in use at $start
grown() {
	short 18 && have w 32 16 && take 2 16 31 && start=$(uptime_ms) && give_all
}

begins() {
	short 40 && says_nothing w1
}

gets_more() {
	have w 32 16 && take 16 16 31 && open_slots_are 32
}

# Twice as many again, of which the server has 48 first.
gets_some() {
	asks w 64 && have w 48 32 && asks w 64 && take 8 32 47 && open_slots_are 48
}

gets_rest() {
	have w 64 48 && wait_for 5 open_slots_are 64
}

# More than it has asked for: they are used when they are wanted, and what is asked for then is answered.
gets_too_many() {
	short 34 && have w 48 16 && take 16 16 31 && asks w 64 && open_slots_are 32
}

has_too_many() {
	have w 64 48 && wait_for 5 open_slots_are 64 && take 2 32 63 && give_all
}

refuse() {
	kmsg_mark
	tell w 16 && wait_for 5 kmsg_has 'server has no memory for more than 16 slots' && open_slots_are 16
}

# asks_later: not within 5 s, though slots stay short
asks_later() {
	local start ev slot tries=0
	start=$1
	while :; do
		slot=${held# }
		give "${slot%% *}" && take 1 0 15 || return 1
		ev=$(peer_next w0 1000)
		[ "$ev" = timeout ] || break
		tries=$((tries + 1))
		[ $tries -lt 20 ] || return 1
	done
	echo "after $(($(uptime_ms) - start)) ms"
	is "$ev" 'recv op=write len=0 imm=0x30000020' && [ $tries -ge 1 ] && [ $(($(uptime_ms) - start)) -ge 5000 ]
}

# has_them: and then none is in use; more than a quarter of them were at $start
has_them() {
	have w 32 16 && take 8 16 31 && open_slots_are 32 && start=$(uptime_ms) || return 1
	for slot in $held; do
		give "$slot" || return 1
	done
	serve_all w1
}

# gives_back <chunks>: after half a minute of quiet, since $start
gives_back() {
	local took tries=0
	until asks w "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 15 ] || return 1
	done
	took=$(($(uptime_ms) - start))
	echo "after $took ms"
	[ $took -ge 29000 ] && open_slots_are "$1"
}

# not_again: nor is it after the time that it might wait
not_again() {
	local tries=0
	while [ $tries -lt 3 ]; do
		says_nothing w0 4000 || return 1
		tries=$((tries + 1))
	done
	open_slots_are 16
}

# works <number> <last slot>: one read after the other, in the slots up to that one
works() {
	local nr=0
	reads "$1" 1
	while [ $nr -lt "$1" ]; do
		take 1 0 "$2" && give "$req_slot" || return 1
		nr=$((nr + 1))
	done
	io_ends 0
}

# without_asking: what the server has kept is used again
without_asking() {
	reads 20 20 && take 16 0 15 && take 4 16 31 && says_nothing w0 && give_all
}

# restart: with another session, which begins with 16 again
restart() {
	must psrv_unmap w
	psrv_gone w
	must map
}

# breaks <name> <message> <command>...: the path is lost
breaks() {
	local name="$1"
	shift
	check_here "$name: the path is lost" closed_by w "$@"
	must unmap_device "$psrv_dev" force
	psrv_gone w
	must map
}

# answers <chunks> [<descriptors>]: to the question for 32
answers() {
	short 17 && tell w "$@"
}

# shrinks <chunks>: to the question for 16 of 32
shrinks() {
	grown && gives_back 16 && tell w "$1"
}

# connects <chunks>: it comes back, asks for these, and works
connects() {
	psrv_gone w
	held=''
	# shellcheck disable=SC2086 # several fields
	psrv_connect w $RSP && is "$(le_at "$conn_req" 48 4)" "$1" && table_of_path w && psrv_serve w0 && psrv_serve w0 &&
		wait_for 5 dev_is "$psrv_dev" open && open_slots_are "$1" && works 1 31
}

# ignored <command>...: a message that is not known
ignored() {
	kmsg_mark
	"$@" && wait_for 5 kmsg_has 'unknown immediate type 4 ignored' && works 1 127
}

# comes [<chunks>]: the second path, up to INFO_REQ; it asks for so many, and INFO_RSP is to tell of them
comes() {
	local CLT_ADDR='?fd00:1::1?'
	# shellcheck disable=SC2086 # several fields
	psrv_accept_all v $RSP && psrv_info v && psrv_receives v && table_of_path v &&
		is "$(le_at "$conn_req" 48 4)" "$1" && chunk_descs=$(chunk_desc 0 "$1")
}

v_state_is() {
	attr_is "$V6_PATH/state" "$1"
}

second_path() {
	(sysfs_write $CLT_CLASS/wire/add_path "ip:fd00:1::1@ip:fd00:1::2" || :) &
	comes 16
}

# comes_late: the first path has 32 before the second one, which has asked for 16, is told of them
comes_late() {
	second_path && short 18 && have w 32 16 && take 2 16 31 && give_all && open_slots_are 32 && psrv_info_rsp v &&
		asks v 32 && says_nothing v1 && ! v_state_is connected
}

# both_asked: one has them
both_asked() {
	reads 34 34 && asks w 64 && asks v 64 && have w 64 32 && says_nothing w0 && open_slots_are 32
}

other_has() {
	have v 64 32 && wait_for 5 open_slots_are 64 && serve_all w1 v1
}

drop_v() {
	peer destroy v0 >/dev/null
	peer destroy v1 >/dev/null
}

back() {
	drop_v
	(sysfs_write "$V6_PATH/reconnect" 1 || :) &
	comes "$1"
}

too_few() {
	back 64 && chunk_descs=$(chunk_desc 0 32) && psrv_info_rsp v && are_closed v0 v1
}

as_many() {
	back 64 && psrv_info_rsp v && wait_for 5 v_state_is connected && says_nothing v0
}

# refused_late: as comes_late, but there are no more
refused_late() {
	kmsg_mark
	comes_late && tell v 16 && are_closed v0 v1 &&
		wait_for 5 kmsg_has 'server has no memory for 32 chunks, as other paths of the session have' && works 1 31
}

# off: a server that says that it has taken it up
off() {
	# shellcheck disable=SC2086 # several fields
	psrv_map w wire $RSP && is "$(hex_at "$conn_req" 46 10)" "bf03$(bytes 8)" && is "$info_req" "$(info_req wire)" &&
		open_slots_are 128
}

suite() {
	local m="$psrv_mode" start

	check_here "$m: 16 chunks are asked for, and a table is there" begun
	check_here "$m: no more requests than that are in flight; 32 are asked for" begins
	check_here "$m: they come: requests in them" gets_more
	check_here "$m: 64 are asked for, 48 come, it asks for the rest" gets_some
	check_here "$m: which comes" gets_rest
	check_here "$m: all requests can be answered" give_all
	restart
	check_here "$m: 32 are asked for, 48 come: 32 are used, then 64 are asked for" gets_too_many
	check_here "$m: those behind the 48 come: they are used" has_too_many
	restart
}

hostile() {
	breaks "told without question" 'server tells of 16 chunks, there were 0 and 0 were asked for' tell w 16
	breaks "told of 0" 'server tells of 0 chunks, allowed are 1 to 128' answers 0
	breaks "of more than there are slots" 'server tells of 129 chunks, allowed are 1 to 128' answers 129
	breaks "of fewer than before" 'server tells of 15 chunks, there were 16 and 32 were asked for' answers 15
	breaks "no descriptors" 'reading the keys of chunks 16 to 31: error -22' answers 32
	breaks "a descriptor that is a byte too short" 'reading the keys of chunks 16 to 31: error -22' \
		answers 32 "$(desc "$mem_addr" 1 $((16 * PSRV_CHUNK - 1)))"
	breaks "descriptors of too few" 'reading the keys of chunks 16 to 31: error -22' answers 32 "$(chunk_desc 16 8)"
	breaks "of too many" 'reading the keys of chunks 16 to 31: error -22' answers 32 "$(chunk_desc 16 17)"
	breaks "an address that wraps" 'reading the keys of chunks 16 to 31: error -22' \
		answers 32 "$(desc ffffffffffff0000 1 $((16 * PSRV_CHUNK)))"
	breaks "more taken back than given" 'server tells of 15 chunks, there were 32 and 16 were asked for' shrinks 15
	breaks "none taken back, more given" 'server tells of 48 chunks, there were 32 and 16 were asked for' shrinks 48
	breaks "told once more" 'server tells of 32 chunks, there were 16 and 0 were asked for' told_twice
}

# told_twice: the second time is no answer
told_twice() {
	grown && have w 32 16
}

requires fio
PSRV_SECTORS=256
ktap_plan 50
psrv_options=$PATIENT
psrv_setup
psrv_mode=Y
must map
suite
must psrv_unmap w
psrv_gone w
psrv_mode=N
must map
suite

# None.
must short 44 24
start=$(uptime_ms)
check_here "there are no more: so be it" refuse
check_here "it asks again after 5 s" asks_later "$start"
check_here "there are some: they are used" has_them

# Back again.
check_here "quiet for half a minute: half of them are given back" gives_back 16
must tell w 16
check_here "the others work" works 17 15
check_here "short again: again" grown
check_here "quiet again: given back" gives_back 16
must tell w 32
check_here "but the server has kept them: it is not asked again" not_again
check_here "they are used without question" without_asking
restart

# What is no answer.
check_here "told on an I/O connection: ignored" ignored peer post w1 write-imm imm=0x40000020
must psrv_unmap w
psrv_gone w
PSRV_HAS=''
must psrv_map w wire ext=1 features=1 qd=128 io=4096 hdr=4096 id=7
held=''
check_here "not taken up: all slots are open" open_slots_are 128
check_here "told: ignored" ignored peer post w0 write-imm imm=0x40000020
must psrv_unmap w
psrv_gone w
must sysfs_write /sys/module/rtrs_client/parameters/credits N
check_here "switched off: not offered, all slots are open, though the server has it" off
must psrv_unmap w
psrv_gone w
must sysfs_write /sys/module/rtrs_client/parameters/credits Y
PSRV_HAS=asked
must map
hostile

# Lost.
check_here "lost after it has asked" closed_by w 'reading the keys' answers 32
must io_ends 1
check_here "back: asks for what it wanted, and has it" connects 32
must psrv_unmap w
psrv_gone w

# Two paths.
must map
check_here "a second path with fewer than are open: asks for the rest, and is not used before" comes_late
must have v 32 16
check_here "it comes: connected" wait_for 5 v_state_is connected
check_here "both ask for more; when one has it no more are open" both_asked
check_here "when both have it they are, and all are served" other_has
must peer disconnect v0
must wait_for 5 v_state_is disconnected
check_here "back with fewer than are open: refused" too_few
check_here "with as many: connected" as_many
drop_v
must psrv_unmap w
psrv_gone w
must map
check_here "a second path for which there are no more: closed, the first one works" refused_late
must psrv_unmap w
psrv_gone w

ktap_end
