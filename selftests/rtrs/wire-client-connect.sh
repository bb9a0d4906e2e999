#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Connection requests of our client, to the byte, and how it judges what a server
# answers (protocol 2.3 to 2.6, 4, 11). The server is the scripted peer.
#
# vm: smp=1 timeout=240

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

# uuids of the request in $conn_req
path_uuid() {
	hex_at "$conn_req" 12 16
}

sess_uuid() {
	hex_at "$conn_req" 28 16
}

# is_request <cid> <recon_cnt> <first_conn>: all of it but the uuids and the number of connections
is_request() {
	is "$(hex_len "$conn_req")" 56 &&
		is "$(hex_at "$conn_req" 0 8)" "0000bd1b0002$(le16 "$1")" &&
		is "$(hex_at "$conn_req" 10 2)" "$(le16 "$2")" &&
		is "$(hex_at "$conn_req" 44 12)" "0$301ff0310000000$(bytes 4)" && [ "$(le_at "$conn_req" 8 2)" -ge 2 ]
}

# Con 0 of a new map is requested.
asked() {
	map_start judge
	psrv_request j0
}

# bad <name> <field of the response>=<number>...: con 0 is accepted so; the client goes away
bad() {
	local name="$1"
	shift
	check_here "accept with $name: the client disconnects" disconnects "$@"
	check_here "and map_device fails" map_fails ECONNRESET/EINVAL
	peer destroy j0 >/dev/null
}

disconnects() {
	asked && psrv_accept j0 "$@" && are_closed j0
}

# good <name> <field>=<number>...: the client goes on to con 1, of the same attempt
good() {
	local name="$1"
	shift
	check_here "accept with $name: the client goes on" goes_on "$@"
	peer destroy j1 >/dev/null
	peer destroy j0 >/dev/null
	must map_fails ECONNRESET
}

goes_on() {
	asked && psrv_accept j0 "$@" && psrv_request j1 && is_request 1 1 1
}

# bad_other <name> <hex of the accept, or ->: con 1 is accepted so
bad_other() {
	check_here "con 1 with $1: the client disconnects both" other_disconnects "$2"
	check_here "and map_device fails" map_fails ECONNRESET
	peer destroy j1 >/dev/null
	peer destroy j0 >/dev/null
}

other_disconnects() {
	goes_on && is "$(peer accept j1 "$1")" 'established*' && are_closed j1 j0
}

# rejected <name> <errno of map_device> <hex> [<reason>]
rejected() {
	local name="$1" errno="$2"
	shift 2
	check_here "reject with $name" rejects "$errno" "$@"
}

rejects() {
	local errno="$1"
	shift
	asked && peer reject j0 "$@" && map_fails "$errno"
}

ktap_plan 71
psrv_setup
psrv_mode=N

# Requests (2.3).
must asked
check_here "request for con 0" is_request 0 1 1
check_here "few retries, for ever without receive, no READ is taken or made, no SRQ (2.2)" \
	is "$(peer params j0)" 'retry=2 rnr=7 rd=0/0 flow=0 srq=0'
path=$(path_uuid) sess=$(sess_uuid)
check_here "the path has an identity" [ "$path" != "$(bytes 16)" ]
check_here "the session has another" [ "$path" != "$sess" ]
nr=$(le_at "$conn_req" 8 2)
check_eq "one connection per CPU and one more" "$nr" $(($(nproc) + 1))
must psrv_accept j0
must psrv_request j1
check_here "request for con 1" is_request 1 1 1
check_here "the same on con 1" is "$(peer params j1)" 'retry=2 rnr=7 rd=0/0 flow=0 srq=0'
check_eq "same path and session" "$(path_uuid) $(sess_uuid)" "$path $sess"
check_eq "same number of connections" "$(le_at "$conn_req" 8 2)" "$nr"
check_here "of a new path con 1 may take its time too" is "$(peer wait j0 3000)" timeout
must psrv_accept j1
must peer destroy j1
must peer destroy j0
must map_fails ECONNRESET
must asked
check_here "another session has another identity" [ "$(sess_uuid)" != "$sess" ]
check_here "and so has its path" [ "$(path_uuid)" != "$path" ]
must peer destroy j0
must map_fails ECONNRESET

# Accepts (2.4).
bad "wrong magic" magic=0x1bbc
bad "major version 1" version=0x0100
bad "major version 3" version=0x0300
bad "an errno" errno=-12
bad "a positive errno" errno=1
bad "queue depth 0" qd=0
bad "no room for data" io=0 hdr=16384
bad "no room for headers" hdr=0 io=16384
bad "sizes that overflow 32 bits" io=0xfffff000 hdr=0x3000
bad "sizes whose sum is 0 in 32 bits" io=0xfffff000 hdr=0x1000
bad "chunks smaller than 8192" io=4096 hdr=4095
bad "more slots and bytes than an immediate can tell" qd=65535 io=4096 hdr=4097
bad "512 slots of more than 512 KiB" qd=512 io=524288 hdr=4096
good "minor version 255" version=0x02ff
good "one slot" qd=1
good "a chunk size that is no power of two" io=131072 hdr=4096
good "unknown flags" flags=0xfffffffd
good "NEW_RKEY" flags=2
check_here "no private data" asked
check_here "is a malformed accept" is "$(peer accept j0 -)" 'established*'
check_here "the client disconnects" are_closed j0
must peer destroy j0
must map_fails ECONNRESET

# The other connections' answers are looked at too.
bad_other "wrong magic" "$(conn_rsp magic=0)"
bad_other "major version 3" "$(conn_rsp version=0x0300)"
bad_other "an errno" "$(conn_rsp errno=-5)"
bad_other "no private data" -

# No answer at all.
must asked
start=$(uptime_ms)
check_here "con 0 is never answered: map_device fails after 10 s" map_times_out "$start"
must peer destroy j0
must goes_on
start=$(uptime_ms)
check_here "con 1 is never answered: map_device fails after 10 s" map_times_out "$start"
check_here "and con 0 is disconnected" are_closed j0
must peer destroy j1
must peer destroy j0

# Rejects (2.4, 2.6).
rejected "ECONNRESET" ECONNRESET "$(conn_reject -104)"
rejected "EPERM" EPERM "$(conn_reject -1)"
rejected "ENXIO" ENXIO "$(conn_reject -6)"
rejected "EEXIST" EEXIST "$(conn_reject -17)"
rejected "ENOMEM" ENOMEM "$(conn_reject -12)"
rejected "EBUSY" EBUSY "$(conn_reject -16)"
rejected "ERESTARTSYS, the kernel's own" ECONNRESET "$(conn_reject -512)"
rejected "EIOCBQUEUED, which write() takes for a bug" ECONNRESET "$(conn_reject -529)"
rejected "no errno" ECONNRESET "$(conn_reject 0)"
rejected "a positive errno" ECONNRESET "$(conn_reject 5)"
rejected "an errno that is none" ECONNRESET "$(conn_reject -32768)"
rejected "no private data" ECONNRESET -
rejected "another reason" ECONNRESET "$(conn_reject -1)" 8
check_here "nothing is left" [ ! -d $CLT_CLASS/judge ]

ktap_end
