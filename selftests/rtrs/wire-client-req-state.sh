#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Extension REQ_STATE of our client, to the byte (Documentation/protocol/extensions.rst): what it asks when a request
# takes long, when it sends it again, and when it gives the path up. The server is the scripted peer.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-srv.sh"

NONE=0 RECEIVED=1 ULP=2

# asked <con>: for the slot of the request that was taken; its tag into $tag
asked() {
	local ev
	ev=$(peer_next "$1" 5000)
	is "$ev" "recv op=write len=0 imm=$(printf '0x5%04x' "$req_slot")???" || return 1
	tag=$((0x${ev##*imm=0x5????}))
}

# tell <con> <state> <seconds or tag>
tell() {
	peer post "$1" write-imm imm="$(printf '0x%08x' $((6 << 28 | req_slot << 12 | $2 << 9 | $3)))"
}

# held: a read comes and is not answered
held() {
	read_start
	psrv_take w1
}

connected() {
	sess_paths_are states 1
}

# mapped [<field>=<number>...]: with an io_timeout of 1 s, seen in steps of a second
mapped() {
	psrv_map w states "$@" && sysfs_write "$(queue_attr "$psrv_dev" io_timeout)" 1000
}

unmapped() {
	psrv_gone w
	unmap_device "$psrv_dev" force
}

ktap_plan 37
psrv_setup
psrv_mode=N
must mapped ext=1 features=0x81 id=101

check_here "a request comes" held
kmsg_mark
check_here "overdue: the server is asked on the service connection" asked w0
first=$tag
check "with a tag of 9 bits" [ "$tag" -lt 512 ]
must tell w0 $ULP 31
check_here "with the disk: asked again after another time-out" asked w0
check_eq "with the same tag" "$tag" "$first"
check "it is said" kmsg_has 'request waits for [0-9]* s, the server.s disk has it'
must tell w0 $RECEIVED 0
check_here "received: and again" asked w0
must tell w0 $NONE "$first"
check_here "not known: asked on its own connection" asked w1
check_eq "with the same tag" "$tag" "$first"
must tell w1 $NONE $((first ^ 1))
check_here "an answer with another tag does not count" says_nothing w1 300
must tell w1 $NONE "$first"
check_here "not known there either: sent again" psrv_serve w1
check_here "and done" read_gives 0
check "without giving up the path" connected
check "it is said" kmsg_has 'the server has no request in slot [0-9]* and no answer came, it is sent again'
check_eq "and counted" "$(paths_sum states overdue 2)" 1
until says_nothing w0 >/dev/null; do :; done

check_here "another request" held
check_here "asked" asked w0
check "with another tag" [ "$tag" -ne "$first" ]
must tell w1 $NONE "$tag"
check_here "not known, on its connection, where nobody asked: asked there" asked w1
must psrv_answer w1
must tell w1 $NONE "$tag"
check_here "answered first: done" read_gives 0
check_here "and not sent again" says_nothing w1 3000
check "nor is the path given up" connected
until says_nothing w0 >/dev/null; do :; done

check_here "a request" held
check_here "asked" asked w0
kmsg_mark
must tell w0 7 0
check_here "a state that there is not: closed" are_closed w0
check "which is said" kmsg_has "server tells the state of a request with immediate 0x6[0-9a-f]*, which is not valid"
check_here "the read fails" read_gives 1
must unmapped

must mapped ext=1 features=0x81 id=102
check_here "a request" held
check_here "asked" asked w0
kmsg_mark
check_here "no answer: the path is given up" wait_for 60 kmsg_has "the server does not tell what became of a request, path given up"
check_eq "and counted" "$(paths_sum states timeouts)" 1
check_here "the read fails" read_gives 1
must unmapped

must mapped ext=1 features=1 id=103
kmsg_mark
check_here "a server without the extension: a request" held
check_here "nothing is asked" says_nothing w0 5000
check "it is said once" [ "$(kmsg_since | grep -c 'request waits for [0-9]* s, the server cannot tell why')" -eq 1 ]
must psrv_answer w1
check_here "it is answered late" read_gives 0
check "the path is there" connected
must unmapped

ktap_end
