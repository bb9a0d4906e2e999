#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The scripted peer itself: what it refuses and how it says so, that its waits end,
# and that nothing of it is left, whatever goes first.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../peer.sh"
. "$(dirname "$0")/../wire.sh"
. "$(dirname "$0")/../wire-clt.sh"

# wrong <words of the answer> <command>...
wrong() {
	local wanted="$1" name
	shift
	name=$(printf %.40s "$*")
	check_here "'$name' is refused" refuses "$wanted" "$@"
}

refuses() {
	local wanted="$1" answer
	shift
	answer=$(peer "$@") && {
		echo "not refused: '$answer'"
		return 1
	}
	is "$answer" "error $wanted"
}

timed_out() {
	local start took
	start=$(uptime_ms)
	is "$(peer "$@")" timeout || return 1
	took=$(($(uptime_ms) - start))
	[ $took -ge 450 ] && [ $took -lt 3000 ]
}

no_qp() {
	[ "$(rdma resource show qp | grep -c 'type RC')" -eq 0 ]
}

# mutants [<key>=<value>...]: a hundred, a line each
mutants() {
	local nr=0
	while [ $nr -lt 100 ]; do
		peer mutant t seed=5 first=$nr "$@" || return 1
		nr=$((nr + 1))
	done
}

same_again() {
	mutants wild=500 tame=500 >/tmp/wire.1 && mutants wild=500 tame=500 >/tmp/wire.2 &&
		cmp /tmp/wire.1 /tmp/wire.2
}

# Some may be changed to what others are, or to what they were.
others_differ() {
	[ "$(sort -u /tmp/wire.1 | wc -l)" -ge 80 ]
}

# all_are <extended regular expression> [<key>=<value>...]
all_are() {
	local wanted="$1"
	shift
	[ "$(mutants "$@" | grep -Ec "$wanted")" -eq 100 ]
}

ktap_plan 54
topo_up 1
topo_is_ours
peer_load
defer rtrs_unload
wire_server Y

wrong "-EINVAL: nonsense: there is no such command" nonsense
wrong "-EINVAL: listen: wants <port>" listen
wrong "-EINVAL: listen: port=http: wants a number up to 65535" listen http
wrong "-EINVAL: listen: port=65536: *" listen 65536
wrong "-EINVAL: listen: port=-1: *" listen -1
wrong "-ENOENT: unlisten: port=$PEER_PORT: *" unlisten $PEER_PORT
wrong "-ENOENT: wait: con=a: *" wait a 10
wrong "-ENOENT: post: con=a: *" post a send
wrong "-EINVAL: connect: con=a/b: *" connect a/b - $SRV_ADDR 1 -
wrong "-EINVAL: connect: con=all: *" connect all - $SRV_ADDR 1 -
wrong "-EINVAL: connect: hex: 3 hexadecimal digits*" connect a - $SRV_ADDR 1 123
wrong "-EINVAL: connect: hex: not all*" connect a - $SRV_ADDR 1 12zz
wrong "-EINVAL: connect: dst=1.2.3 port=1: *" connect a - 1.2.3 1 -
wrong "-EINVAL: connect: dst=10.1.0.2 port=99999: *" connect a - 10.1.0.2 99999 -
wrong "-EINVAL: connect: con=a: cannot connect" connect a $CLT_ADDR $SRV_ADDR $SRV_PORT "$(bytes 57)"
wrong "-EINVAL: connect: rnr=8: *" connect a - $SRV_ADDR 1 - rnr=8
wrong "-EINVAL: connect: retries=1: wants rnr=<retries>, rnr_timer=<code> or depth=<requests>" \
	connect a - $SRV_ADDR 1 - retries=1
wrong "-EINVAL: connect: rnr_timer=32: *" connect a - $SRV_ADDR 1 - rnr=1 rnr_timer=32
wrong "-EINVAL: connect: depth=513: *" connect a - $SRV_ADDR 1 - depth=513
wrong "-EINVAL: request: ms=130000: *" request a 130000
check_here "a port where nobody listens" is "$(peer connect a $CLT_ADDR $SRV_ADDR 9 -)" 'rejected 8 *'
check_here "a request that does not come" timed_out request a 500

must clt_connect_all a 2
check_here "an event that does not come" timed_out wait a0 500
wrong "-EEXIST: connect: con=a0: *" connect a0 - $SRV_ADDR 1 -
wrong "-EINVAL: post: op=read: *" post a0 read
wrong "-EINVAL: post: len: wants key=value" post a0 send len
wrong "-EINVAL: post: color: *" post a0 send color=red
wrong "-EINVAL: post: imm=0x100000000: *" post a0 write-imm imm=0x100000000
wrong "-ENOENT: post: buf=none: *" post a0 send buf=none
wrong "-EINVAL: buf: bytes=0: *" buf b a0 0
wrong "-EINVAL: buf: bytes=2000000: *" buf b a0 2000000
check_here "what the other side asked for" is "$(peer params a0)" 'retry=* rnr=* rd=*/* flow=* srq=*'
CLT_RNR=0 clt_connect r sess=3 path=3 cid=1 >/dev/null
must peer post r write-imm imm=0x30000000
check_here "sends that are not tried again" is "$(peer sent r 10000)" 'failed 13 *'
check_here "a buffer" is "$(peer buf b a0 4096)" 'addr=0x* rkey=0x*'
wrong "-EEXIST: buf: buf=b: *" buf b a0 4096
wrong "-ERANGE: get: off=4000 len=97: *" get b 4000 97
wrong "-ERANGE: put: off=4095 len=2: *" put b 4095 1234
wrong "-ERANGE: post: off=1 len=4096: *" post a0 send buf=b off=1 len=4096
wrong "-EINVAL: post: data and buf: *" post a0 send buf=b data=00
check_here "what was put is there" peer put b 4094 a55a
check_eq "and zeros elsewhere" "$(peer get b 4090 6)" 00000000a55a

wrong "-ENOENT: mutate: set=none: *" mutate a0 none
wrong "-EINVAL: template: tame=0-3: *" template t send data=0102 tame=0-3
wrong "-EINVAL: template: desc=0: *" template t send data=0102 desc=0:1
wrong "-EINVAL: key: key=64: *" key 64 buf=b
must peer template t write-imm imm=0x40000000 data="$(bytes 32 5a)" tame=8-16
check_here "a mutation is what its seed and number say" same_again
check_here "and the others are others" others_differ
check_here "not mutated it is the template" all_are "^op=write-imm times=1 imm=0x40000000 .* data=(5a){32}\$"
check_here "tame ones are changed where the template says" \
	all_are "^op=write-imm times=1 imm=0x40000000 .* data=(5a){8}.{16}(5a){16}\$" tame=1000
wrong "-EINVAL: mutant: tame=1001: *" mutant t tame=1001

# Nothing is left.
check_here "destroy all" peer destroy all
check_here "no queue pair is left, on either side" wait_for 10 no_qp
must clt_connect_all a 2
must peer buf b a0 4096 >/dev/null
must peer listen $PEER_PORT
check_here "a device that goes takes its connections along" rxe_renew 1
must clt_connect_all c 2
check_here "the module goes with all that is there" module_gone rtrs-peer
must wait_for 10 no_qp
ktap_end
