#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extensions FENCE and SESSION of our client, to the byte (Documentation/protocol/extensions.rst):
# nothing of a lost path is sent again before the server has closed it, over whichever
# path that is asked, and no path carries requests before; nor does one that leads to
# another session of the server than those that are up. The server is the scripted peer.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# path_state <4|6>
path_state() {
	case $1 in
	4) cat "$CLT_CLASS/fences/paths/ip:10.1.0.1@ip:10.1.0.2/state" ;;
	6) cat "$CLT_CLASS/fences/paths/ip:fd00:1::1@ip:fd00:1::2/state" ;;
	esac
}

path_state_is() {
	is "$(path_state "$1")" "$2"
}

# comes <path> <4|6> [<field of the response>=<number>...]: it connects, up to INFO_RSP. Its slots are
# those of the first path.
comes() {
	local path="$1" fam="$2" CLT_ADDR="$CLT_ADDR"
	shift 2
	[ "$fam" = 4 ] || CLT_ADDR='?fd00:1::1?'
	psrv_accept_all "$path" "$@" && psrv_info "$path" && psrv_receives "$path" &&
		psrv_info_rsp "$path"
}

# fence_asked <con> <number of a path> [<ms>]
fence_asked() {
	is "$(peer_next "$1" "${3:-10000}")" "$(printf 'recv op=write len=0 imm=0xa%07x' "$2")"
}

# fence_up <con> <number of a path>
fence_up() {
	peer post "$1" write-imm imm="$(printf '0xb%07x' "$2")"
}

# second_path disconnect|reconnect
second_path() {
	sysfs_write "$CLT_CLASS/fences/paths/ip:fd00:1::1@ip:fd00:1::2/$1" 1
}

# both_lost <number>: w with a request, v after it was asked for
both_lost() {
	peer disconnect w0 && fence_asked v0 "$1" && second_path disconnect && path_state_is 6 disconnected
}

# device_back <path>: SESS_INFO and OPEN are served; a question that was repeated may come before
device_back() {
	psrv_serve "${1}0" >/dev/null || psrv_serve "${1}0" || return 1
	is "$req_usr" "$(rnbd_sess_info)" && psrv_serve "${1}0" && wait_for 5 dev_is "$psrv_dev" open
}

# drop <path>: its connections are gone on both sides
drop() {
	local con
	for con in "${1}0" "${1}1"; do
		peer destroy $con >/dev/null
	done
}

ktap_plan 52
psrv_options=$PATIENT
psrv_setup
psrv_mode=N
must psrv_map w fences ext=1 features=1 id=101
(sysfs_write $CLT_CLASS/fences/add_path "ip:fd00:1::1@ip:fd00:1::2" || :) &
check_here "second path" comes v 6 ext=1 features=1 id=0xfffffff
must wait_for 5 path_state_is 6 connected
must sysfs_write $CLT_CLASS/fences/mpath_policy round-robin

# One lost.
until read_start && psrv_take w1 500 >/dev/null; do
	must psrv_serve v1
	must read_gives 0
done
must peer disconnect w0
check_here "a path is lost with a request: the server is to close it" fence_asked v0 101
check_here "nothing is sent again before" says_nothing v1 2000
check_here "it asks again" fence_asked v0 101 100
must fence_up v0 102
check_here "another number does not count" says_nothing v1 1000
must peer post v1 write-imm imm=0xb0000065
check_here "nor does an answer over an I/O connection" says_nothing v1 1000
must fence_up v0 101
check_here "closed: the request comes over the other path" psrv_serve v1
check_here "and is done" read_gives 0
until says_nothing v0 >/dev/null; do :; done
drop w
check_here "the path comes back" comes w 4 ext=1 features=1 id=103
check_here "at once: nothing was left behind" wait_for 2 path_state_is 4 connected

# Lost without a request.
must peer disconnect w0
must are_closed w1
check_here "lost without a request: the server is told" fence_asked v0 103
check_here "once" says_nothing v0 1500
drop w
must comes w 4 ext=1 features=1 id=101
check_here "and not waited for" wait_for 2 path_state_is 4 connected

# Both lost.
until read_start && psrv_take w1 500 >/dev/null; do
	must psrv_serve v1
	must read_gives 0
done
check_here "both lost" both_lost 101
check_here "the read fails" read_gives 1
drop w
drop v
check_here "the first path connects" comes w 4 ext=1 features=1 id=104
check_here "and asks for what was left behind" fence_asked w0 101
check_here "again" fence_asked w0 101
check_here "it is not connected before" path_state_is 4 disconnected
must fence_up w0 101
check_here "closed: connected" wait_for 2 path_state_is 4 connected
check_here "the session introduces itself and opens its device" device_back w
read_start
check_here "a read comes" psrv_serve w1
check_here "and is done" read_gives 0
(second_path reconnect || :) &
check_here "the second path comes back, nothing left to ask" comes v 6 ext=1 features=1 id=105
check_here "connected" wait_for 2 path_state_is 6 connected
check_here "nothing asked" says_nothing v0 1000

# A server without the extension comes instead.
until read_start && psrv_take w1 500 >/dev/null; do
	must psrv_serve v1
	must read_gives 0
done
check_here "both lost" both_lost 104
check_here "the read fails" read_gives 1
drop w
drop v
check_here "a server without the extension" comes w 4
check_here "connected: the one that had the path is gone" wait_for 2 path_state_is 4 connected
check_here "it is not asked: the session introduces itself" device_back w
(second_path reconnect || :) &
check_here "its other path" comes v 6
must wait_for 2 path_state_is 6 connected
until read_start && psrv_take w1 500 >/dev/null; do
	must psrv_serve v1
	must read_gives 0
done
must peer disconnect w0
check_here "lost: sent again at once" psrv_serve v1
check_here "and done" read_gives 0

# The server's session.
must second_path disconnect
drop w
drop v
psrv_session=5
check_here "no path is up: one to whichever session" comes w 4 ext=1 features=0x21 id=106
check_here "connected" wait_for 2 path_state_is 4 connected
must device_back w
psrv_session=6
kmsg_mark
(second_path reconnect || :) &
check_here "one to another session" comes v 6 ext=1 features=0x21 id=107
check_here "is not asked for anything" says_nothing v0 3000
check_here "nor connected" path_state_is 6 disconnected
must peer disconnect w0
check_here "the one before is lost: connected" wait_for 5 path_state_is 6 connected
check_here "the session introduces itself and opens its device" device_back v
drop w
check_here "another one to the same session" comes w 4 ext=1 features=0x21 id=108
check_here "connected at once" wait_for 2 path_state_is 4 connected
must peer disconnect v0
drop v
psrv_session=7
must sysfs_write "$CLT_CLASS/fences/connect_timeout_ms" 2000
check_here "one to a third session" comes v 6 ext=1 features=0x21 id=109
check_here "whose time is up: closed" are_closed v0 v1
check_here "and said" kmsg_has "it leads to another session of a server than the paths that are up"
check_here "the one that is up stays so" path_state_is 4 connected
drop v
# No attempt with so little time is to be half accepted.
must second_path disconnect
must sysfs_write "$CLT_CLASS/fences/connect_timeout_ms" "${PATIENT#*=}"
(second_path reconnect || :) &
check_here "one to a server that numbers no sessions" comes v 6
check_here "is not connected" says_nothing v0 3000
check_here "nor used" path_state_is 6 disconnected
must peer disconnect w0
check_here "the numbered one is lost: connected" wait_for 5 path_state_is 6 connected
check_here "the session introduces itself once more" device_back v

must unmap_device "$psrv_dev" force
ktap_end
