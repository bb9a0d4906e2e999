# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# lib.sh - sourced by every test that runs on the machine with the modules.
#
#	. "$(dirname "$0")/../lib.sh"
#	ktap_plan 2
#	topo_up 2
#	rtrs_load
#	dev=$(map_device test "$(backing_null 64)") || abort "cannot map"
#	check "reads" dd if="$dev" of=/dev/null bs=1M count=8 iflag=direct
#	check "unmaps" unmap_device "$dev"
#	ktap_end
#
# Plain POSIX sh plus `local`. A test says what it found through ok, not_ok,
# check or ktap_skip, and ends in ktap_end, skip_all or abort. One that ends in
# any other way, or with another number of cases than planned, fails. What a
# test set up is taken down on exit, and a take-down that fails is a failure.
#
# Exit status, as in kselftest: 0 pass, 1 fail, 4 skip.

set -u

KSFT_FAIL=1
KSFT_SKIP=4

CLT_CTL=/sys/class/rnbd-client/ctl
SRV_CTL=/sys/class/rnbd-server/ctl
CLT_CLASS=/sys/class/rtrs-client
SRV_CLASS=/sys/class/rtrs-server

ktap_planned='' ktap_nr=0 ktap_failed=0 ktap_skipped=0 ktap_verdict=''
lib_deferred='' lib_topo_nr=0 lib_topo_made='' lib_mark=''

# ---------------------------------------------------------------- verdicts

diag() {
	case $* in
	*"
"*)	printf '%s\n' "$*" | sed 's/^/# /' ;;
	*)	printf '# %s\n' "$*" ;;
	esac
}

# ktap_plan <number of cases>
ktap_plan() {
	ktap_planned=$1
	echo "KTAP version 1"
	echo "1..$1"
}

# ok <name>
ok() {
	ktap_nr=$((ktap_nr + 1))
	echo "ok $ktap_nr $1"
}

# not_ok <name> [<why>]
not_ok() {
	ktap_nr=$((ktap_nr + 1))
	ktap_failed=$((ktap_failed + 1))
	[ -z "${2:-}" ] || diag "$2"
	echo "not ok $ktap_nr $1"
}

# ktap_skip <name> <reason>: one case cannot be had here
ktap_skip() {
	ktap_nr=$((ktap_nr + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_nr $1 # SKIP $2"
}

# check <name> <command> [<argument>...]: ok if the command succeeds
check() {
	local name out
	name=$1
	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed ($?): $*
$out"
	fi
}

# check_here <name> <command> [<argument>...]: as check, but in this shell, so that the
# command can set variables. What it says is cut short: there are long messages.
check_here() {
	local name="$1"
	shift
	if "$@" >/tmp/lib.said 2>&1; then
		ok "$name"
	else
		not_ok "$name" "failed ($?): $1
$(cut -c 1-400 /tmp/lib.said)"
	fi
	rm -f /tmp/lib.said
}

# check_fails <name> <command> [<argument>...]: ok if the command fails
check_fails() {
	local name out
	name=$1
	shift
	if out=$("$@" 2>&1); then
		not_ok "$name" "should have failed: $*
$out"
	else
		ok "$name"
	fi
}

# check_eq <name> <found> <wanted>
check_eq() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "found '$2', wanted '$3'"
	fi
}

# is <found> <wanted pattern>: a test that says what it found
is() {
	# shellcheck disable=SC2254 # a pattern
	case $1 in
	$2) ;;
	*)
		echo "found  '$1'"
		echo "wanted '$2'"
		return 1
		;;
	esac
}

# prints <pattern> <command>...: a line of its output has it
prints() {
	local pattern="$1" out
	shift
	out=$("$@" 2>&1) && echo "$out" | grep -Eq -e "$pattern" && return
	echo "not there: $pattern"
	echo "$out"
	return 1
}

# must <command> [<argument>...]: the test makes no sense if this fails
must() {
	"$@" || abort "failed ($?): $*"
}

# abort <why>: give up, as a failure
abort() {
	diag "$1"
	echo "Bail out! $1"
	ktap_verdict=aborted
	exit $KSFT_FAIL
}

# skip_all <reason>: this machine cannot run the test
skip_all() {
	[ "$ktap_nr" -eq 0 ] || abort "skip after results: $1"
	[ -n "$ktap_planned" ] || echo "KTAP version 1"
	echo "1..0 # SKIP $1"
	ktap_verdict=skipped
	exit $KSFT_SKIP
}

# ktap_end: the verdict, from the cases so far
ktap_end() {
	ktap_verdict=ended
	if [ "$ktap_nr" -ne "${ktap_planned:--1}" ]; then
		diag "planned ${ktap_planned:-nothing}, ran $ktap_nr"
		exit $KSFT_FAIL
	fi
	[ "$ktap_failed" -eq 0 ] || exit $KSFT_FAIL
	if [ "$ktap_nr" -eq "$ktap_skipped" ]; then
		exit $KSFT_SKIP
	fi
	exit 0
}

# defer <command>: run on exit, last one first
defer() {
	lib_deferred="$1
$lib_deferred"
}

lib_exit() {
	local status=$? line
	trap - EXIT
	if [ -z "$ktap_verdict" ]; then
		diag "ended without a verdict"
		status=$KSFT_FAIL
	fi
	while [ -n "$lib_deferred" ]; do
		line=${lib_deferred%%
*}
		lib_deferred=${lib_deferred#*
}
		if ! eval "$line"; then
			diag "clean-up failed: $line"
			status=$KSFT_FAIL
		fi
	done
	exit "$status"
}
# With LIB_ONLY set this is no test: somebody wants the helpers, and what they
# make stays.
if [ -z "${LIB_ONLY:-}" ]; then
	trap lib_exit EXIT
	trap 'exit 1' INT TERM HUP
fi

# requires <program>...: skip the test where one is missing
requires() {
	local prog
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	for prog; do
		command -v "$prog" >/dev/null || skip_all "needs $prog"
	done
}

# The time that is <seconds> away, in $lib_end. RTRS_SLOWNESS in the environment
# says how many times slower than usual this machine's kernel is.
lib_deadline() {
	lib_clock
	lib_end=$((lib_now + $1 * ${RTRS_SLOWNESS:-1}))
}

# past <deadline>
past() {
	lib_clock
	[ "$lib_now" -ge "$1" ]
}

# Seconds since boot, in $lib_now. What is asked in a loop starts no program: under emulation that takes
# ten times as long as all else here.
lib_clock() {
	read -r lib_now _ </proc/uptime
	lib_now=${lib_now%.*}
}

# wait_for <seconds> <command> [<argument>...]: poll until it succeeds
wait_for() {
	local end
	lib_deadline "$1"
	end=$lib_end
	shift
	until "$@" >/dev/null 2>&1; do
		! past "$end" || return 1
		sleep 0.1
	done
}

# ---------------------------------------------------------------- kernel log

# kmsg_mark: forget what the kernel said so far. A random word, not a counter:
# check runs its command in a subshell, where a counter starts over each time.
kmsg_mark() {
	lib_mark=$(cat /proc/sys/kernel/random/uuid)
	echo "selftest: mark $lib_mark" >/dev/kmsg
}

# kmsg_since: what it said since the mark
kmsg_since() {
	dmesg | sed "1,/selftest: mark $lib_mark\$/d"
}

# kmsg_has <extended regular expression>: the kernel said this since the mark
kmsg_has() {
	kmsg_since | grep -Eq -- "$1"
}

# ---------------------------------------------------------------- sysfs

# sysfs_write <file> <text>: like echo, but on failure $sysfs_error tells why
# in strerror's words and the function fails.
sysfs_write() {
	sysfs_error=''
	sysfs_error=$(
		LC_ALL=C dd of="$1" bs=64k conv=notrunc 2>&1 <<-END
		$2
		END
	) && return 0
	sysfs_error=$(printf '%s\n' "$sysfs_error" | grep '^dd:' | head -n 1)
	sysfs_error=${sysfs_error##*: }
	return 1
}

# strerror <errno name>: the words for it
strerror() {
	case $1 in
	EPERM) echo "Operation not permitted" ;;
	ENOENT) echo "No such file or directory" ;;
	EIO) echo "Input/output error" ;;
	ENXIO) echo "No such device or address" ;;
	EAGAIN) echo "Resource temporarily unavailable" ;;
	ENOMEM) echo "Cannot allocate memory" ;;
	EACCES) echo "Permission denied" ;;
	ENOTBLK) echo "Block device required" ;;
	EBUSY) echo "Device or resource busy" ;;
	EEXIST) echo "File exists" ;;
	ENODEV) echo "No such device" ;;
	EINVAL) echo "Invalid argument" ;;
	EROFS) echo "Read-only file system" ;;
	ENODATA) echo "No data available" ;;
	ENOSPC) echo "No space left on device" ;;
	ERANGE) echo "Numerical result out of range" ;;
	ENAMETOOLONG) echo "File name too long" ;;
	EMSGSIZE) echo "Message too long" ;;
	EPROTO) echo "Protocol error" ;;
	EPROTONOSUPPORT) echo "Protocol not supported" ;;
	EAFNOSUPPORT) echo "Address family not supported by protocol" ;;
	EADDRNOTAVAIL) echo "Cannot assign requested address" ;;
	ENETUNREACH) echo "Network is unreachable" ;;
	ECONNABORTED) echo "Software caused connection abort" ;;
	ECONNRESET) echo "Connection reset by peer" ;;
	EINPROGRESS) echo "Operation now in progress" ;;
	EADDRINUSE) echo "Address already in use" ;;
	ENOTCONN) echo "Transport endpoint is not connected" ;;
	ETIMEDOUT) echo "Connection timed out" ;;
	ENOLINK) echo "Link has been severed" ;;
	ENOBUFS) echo "No buffer space available" ;;
	EUSERS) echo "Too many users" ;;
	ECONNREFUSED) echo "Connection refused" ;;
	EHOSTUNREACH) echo "No route to host" ;;
	ESTALE) echo "Stale file handle" ;;
	EALREADY) echo "Operation already in progress" ;;
	EOPNOTSUPP) echo "Operation not supported" ;;
	*) echo "unknown errno $1" ;;
	esac
}

# is_error <errno name>[/<another>...] <words>
is_error() {
	local name
	for name in $(echo "$1" | tr / ' '); do
		[ "$2" != "$(strerror "$name")" ] || return 0
	done
	return 1
}

# write_gives <errno name>[/<another>...] <file> <text> [<pattern>]: the write
# fails with this error and, with a pattern, the kernel says so in a message that
# matches.
write_gives() {
	kmsg_mark
	if sysfs_write "$2" "$3"; then
		echo "wrote '$3' to $2, wanted $1"
		return 1
	fi
	if ! is_error "$1" "$sysfs_error"; then
		echo "'$3' to $2 gave '$sysfs_error', wanted $1"
		return 1
	fi
	if [ -n "${4:-}" ] && ! kmsg_has "$4"; then
		echo "no kernel message matches '$4':"
		kmsg_since
		return 1
	fi
}

# check_errno <name> <errno name> <file> <text> [<pattern>]
check_errno() {
	local name="$1"
	shift
	check "$name" write_gives "$@"
}

# ---------------------------------------------------------------- topology
#
# Client and server live in one kernel. Network n is two veth pairs and a bridge:
#
#	c<n> --- cp<n> [ br<n> ] sp<n> --- s<n>
#	10.<n>.0.1 fd00:<n>::1             10.<n>.0.2 fd00:<n>::2
#	rxe_c<n>                           rxe_s<n>
#
# Both addresses are local, and the kernel would short-cut between them. Rules
# looked at before the table of local addresses send packets made here out of
# the right interface instead; what comes in still finds the local table. One
# rule is for look-ups without an interface (rdma_cm resolving an address), one
# for those with it (rdma_cm checking where a request came from). The bridge ports are where a network is cut or a carrier taken
# away, as a switch would: the ends' own settings stay as they are.
#
# With RTRS_PATHS="<client>@<server> ..." in the environment nothing is built
# and these addresses (as in sysfs, ip:... or gid:...) are used; tests that
# break the network are skipped.

TOPO_TABLE=7000

# Networks that an earlier user of the helpers has left.
if [ -n "${LIB_ONLY:-}" ] && [ -d /sys/class/net/cp1 ]; then
	lib_topo_made=y
	lib_topo_nr=$(ls -d /sys/class/net/cp[0-9]* | wc -l)
fi

# topo_up <number of networks>
topo_up() {
	local n
	requires ip
	if [ -n "${RTRS_PATHS:-}" ]; then
		lib_topo_nr=$(echo "$RTRS_PATHS" | wc -w)
		[ "$lib_topo_nr" -ge "$1" ] || skip_all "needs $1 paths in RTRS_PATHS"
		lib_topo_nr=$1
		return 0
	fi
	requires tc rdma
	topo_modules || skip_all "needs rdma_rxe, veth, bridge, sch_netem"
	defer topo_down
	lib_topo_made=y
	lib_topo_nr=$1
	topo_local_table_last
	n=1
	while [ "$n" -le "$1" ]; do
		must topo_net_up "$n"
		n=$((n + 1))
	done
	n=1
	while [ "$n" -le "$1" ]; do
		must wait_for 20 topo_gid_there "rxe_c$n" "$n"
		must wait_for 20 topo_gid_there "rxe_s$n" "$n"
		n=$((n + 1))
	done
}

topo_modules() {
	modprobe -q crc32_generic	# rdma_rxe wants a crc32 hash, unasked
	modprobe -q -a rdma_rxe veth bridge sch_netem
}

# The table of local addresses is consulted first; put it after our rules. The
# new rule comes before the old one goes: never a moment without.
topo_local_table_last() {
	local fam
	for fam in -4 -6; do
		ip $fam rule show | grep -q '^0:' || continue
		ip $fam rule add pref 10000 lookup local
		ip $fam rule del pref 0
	done
}

topo_local_table_first() {
	local fam
	for fam in -4 -6; do
		ip $fam rule show | grep -q '^0:' && continue
		ip $fam rule add pref 0 lookup local
		ip $fam rule del pref 10000
	done
}

# What follows prints lines for `ip -batch`: starting a program is what takes long under emulation.
#
# topo_addresses <device> <network> <own host number>
topo_addresses() {
	echo "addr add 10.$2.0.$3/24 dev $1"
	echo "addr add fd00:$2::$3/64 dev $1 nodad"
	echo "link set $1 up"
}

# topo_routing <4|6> <device> <network> <own host number> <the other's> <the other's device>
#
# The other end's MAC address is told, not asked for. In one kernel the answer comes before the question
# has returned: rdma_cm, that looks, asks and then waits for news, misses it and looks again only after
# many seconds.
topo_routing() {
	local table=$((TOPO_TABLE + 10 * $3 + $4)) net="10.$3.0." mac
	[ "$1" = 4 ] || net="fd00:$3::"
	read -r mac <"/sys/class/net/$6/address"
	echo "route replace $net$5 dev $2 src $net$4 table $table"
	echo "rule add pref $table iif lo to $net$5 lookup $table"
	echo "rule add pref $table oif $2 to $net$5 lookup $table"
	echo "neigh replace $net$5 lladdr $mac dev $2 nud permanent"
}

# A veth hands a packet to the CPU that sent it, and rxe sends the packets of one
# queue pair from any CPU: they would overtake each other, as on no real wire, and
# rxe breaks a queue pair that has to retransmit at the wrong moment. Steering
# by flow keeps those of a queue pair on one CPU.
topo_keep_order() {
	local dev cpus
	cpus=$(printf '%x\n' $(((1 << $(nproc)) - 1)))
	for dev; do
		echo "$cpus" >"/sys/class/net/$dev/queues/rx-0/rps_cpus" || return 1
	done
}

topo_net_up() {
	local n="$1" dev

	ip -batch - <<-END || return 1
	link add br$n mtu 9000 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
	link add c$n mtu 9000 type veth peer name cp$n mtu 9000
	link add s$n mtu 9000 type veth peer name sp$n mtu 9000
	END
	for dev in "br$n" "cp$n" "sp$n"; do
		sysctl -qw "net.ipv6.conf.$dev.disable_ipv6=1" || return 1
	done
	# The bridge is of this host too and would answer for the ends.
	ip -batch - <<-END || return 1
	link set cp$n master br$n up
	link set sp$n master br$n up
	link set br$n arp off up
	END
	topo_keep_order "c$n" "cp$n" "sp$n" "s$n" && topo_ends_up "$n"
}

# topo_ends_up <n>: addresses, routes and RDMA devices of c<n> and s<n>, which are connected somehow
topo_ends_up() {
	local n="$1" dev fam

	sysctl -qw net.ipv4.conf.all.rp_filter=0 || return 1
	for dev in "c$n" "s$n"; do
		sysctl -qw "net.ipv4.conf.$dev.accept_local=1" \
			"net.ipv4.conf.$dev.rp_filter=0" \
			"net.ipv4.conf.$dev.arp_ignore=1" \
			"net.ipv4.conf.$dev.arp_announce=2" \
			"net.ipv6.conf.$dev.accept_dad=0" \
			"net.ipv6.conf.$dev.accept_ra=0" || return 1
	done
	{
		topo_addresses "c$n" "$n" 1
		topo_addresses "s$n" "$n" 2
	} | ip -batch - || return 1
	for fam in 4 6; do
		{
			topo_routing $fam "c$n" "$n" 1 2 "s$n"
			topo_routing $fam "s$n" "$n" 2 1 "c$n"
		} | ip -$fam -batch - || return 1
	done
	rdma link add "rxe_c$n" type rxe netdev "c$n" &&
	rdma link add "rxe_s$n" type rxe netdev "s$n"
}

# topo_neighbours <n> c|s add|del: what one end knows of the other's MAC address
topo_neighbours() {
	local n="$1" dev="$2$1" peer host mac
	if [ "$2" = c ]; then
		peer=s$n host=2
	else
		peer=c$n host=1
	fi
	if [ "$3" = del ]; then
		ip neigh flush dev "$dev" nud permanent
		return
	fi
	mac=$(cat "/sys/class/net/$peer/address") &&
	ip neigh replace "10.$n.0.$host" lladdr "$mac" dev "$dev" nud permanent &&
	ip neigh replace "fd00:$n::$host" lladdr "$mac" dev "$dev" nud permanent
}

# The address of network $2 is among the GIDs of device $1.
topo_gid_there() {
	grep -qi "$(printf '0000:ffff:0a%02x' "$2")" "/sys/class/infiniband/$1"/ports/1/gids/* &&
	grep -qi "^fd00:$(printf '%04x' "$2")" "/sys/class/infiniband/$1"/ports/1/gids/*
}

topo_down() {
	local n=1 table fam
	while [ "$n" -le "$lib_topo_nr" ]; do
		rdma link del "rxe_c$n"
		rdma link del "rxe_s$n"
		printf 'link del %s\n' "c$n" "s$n" "br$n" | ip -force -batch -
		table=$((TOPO_TABLE + 10 * n))
		for fam in 4 6; do
			printf 'rule del pref %s\n' $((table + 1)) $((table + 1)) $((table + 2)) $((table + 2)) |
				ip -force -$fam -batch -
		done
		n=$((n + 1))
	done 2>/dev/null
	topo_local_table_first
	lib_topo_nr=0
	lib_topo_made=''
}

topo_is_ours() {
	[ -n "$lib_topo_made" ] || skip_all "cannot break a network that is not ours"
}

# path_pair <n> [6]: "<client>@<server>" of network n, as in sysfs
path_pair() {
	if [ -n "${RTRS_PATHS:-}" ]; then
		echo "$RTRS_PATHS" | awk -v n="$1" '{ print $n }'
	elif [ "${2:-4}" = 6 ]; then
		echo "ip:fd00:$1::1@ip:fd00:$1::2"
	else
		echo "ip:10.$1.0.1@ip:10.$1.0.2"
	fi
}

# path_cut <n>: silent black hole, both ways; all links stay up
path_cut() {
	path_netem "$1" loss 100%
}

# path_netem <n> <netem parameter>...: each way, as "delay 10ms" or "rate 10mbit"
path_netem() {
	local net="$1"
	shift
	topo_is_ours
	# Both ways at once, however slowly this shell is served.
	tc -batch - <<-END
	qdisc replace dev cp$net root netem $* limit 100000
	qdisc replace dev sp$net root netem $* limit 100000
	END
}

# path_heal <n>: undo path_cut and path_netem
path_heal() {
	topo_is_ours
	tc qdisc del dev "cp$1" root
	tc qdisc del dev "sp$1" root
}

# link_down <n> [c|s]: the client's (or server's) end loses its carrier. What
# was learnt about neighbours goes with it, as always; while it is known, rxe
# takes a connect message to a dead link for an error of the device. With I/O
# in flight it would be learnt again at once: the bridge's port is closed first,
# until the carrier is back, so that nobody is heard.
link_down() {
	topo_is_ours
	ip link set "${2:-c}p$1" type bridge_slave state 0 &&
	topo_neighbours "$1" "${2:-c}" del &&
	ip link set "${2:-c}p$1" down
}

# link_up <n> [c|s]
link_up() {
	topo_is_ours
	ip link set "${2:-c}p$1" up &&
	topo_neighbours "$1" "${2:-c}" add
}

# path_packets <n>: packets that entered the network at either end
path_packets() {
	topo_is_ours
	echo $(($(cat "/sys/class/net/c$1/statistics/tx_packets") +
		$(cat "/sys/class/net/s$1/statistics/tx_packets")))
}

# rxe_gsi_broken <n>: rdma_rxe itself is stuck on network n. After a carrier
# loss the QP that all connects go through was seen in state ERR; no path of
# that device connects again then, whatever runs on top.
rxe_gsi_broken() {
	gsi_broken "rxe_[cs]$1"
}

# gsi_broken <pattern of RDMA devices>: says which
gsi_broken() {
	rdma resource show qp | grep -E "link $1/" | grep 'type GSI' | grep -E 'state (ERR|SQE|RESET)'
}

# rxe_renew <n>: make the devices of network n anew
rxe_renew() {
	topo_is_ours
	rdma link del "rxe_c$1"
	rdma link del "rxe_s$1"
	rdma link add "rxe_c$1" type rxe netdev "c$1" &&
	rdma link add "rxe_s$1" type rxe netdev "s$1" &&
	wait_for 20 topo_gid_there "rxe_c$1" "$1" &&
	wait_for 20 topo_gid_there "rxe_s$1" "$1"
}

# host_up <own host number> <number of networks>: for VMs joined by networks,
# where every VM is one host. Adapter eth<n-1> becomes 10.<n>.0.<host>.
host_up() {
	local n=1
	topo_modules || return 1
	while [ "$n" -le "$2" ]; do
		host_net_up "$1" "$n" || return 1
		n=$((n + 1))
	done
}

# host_net_up <own host number> <n>: one of them
host_net_up() {
	local n="$2" dev=eth$(($2 - 1))
	sysctl -qw "net.ipv6.conf.$dev.accept_dad=0" &&
	ip link set "$dev" mtu 9000 up &&
	ip addr add "10.$n.0.$1/24" dev "$dev" &&
	ip addr add "fd00:$n::$1/64" dev "$dev" nodad &&
	rdma link add "rxe$n" type rxe netdev "$dev" &&
	wait_for 20 topo_gid_there "rxe$n" "$n"
}

# host_gsi_broken <n>, host_rxe_renew <n>: as rxe_gsi_broken and rxe_renew, on such a host
host_gsi_broken() {
	gsi_broken "rxe$1"
}

host_rxe_renew() {
	rdma link del "rxe$1"
	rdma link add "rxe$1" type rxe netdev "eth$(($1 - 1))" &&
	wait_for 20 topo_gid_there "rxe$1" "$1"
}

# host_netem <n> [<netem parameters>]: for what comes in over a network; none: as it was. What is lost on
# its way out rdma_rxe would be told of.
host_netem() {
	local net="$1"
	shift
	host_ingress_del "$net"
	[ $# -gt 0 ] || return 0
	host_ingress_add "$net" && tc qdisc add dev "in$net" root netem limit 10000 "$@"
}

# host_large_lost <n>: packets of 4 KiB and more that come in over a network are lost; host_netem <n> mends it. Byte 2 of
# an IPv4 packet begins its length, byte 22 is the UDP port.
host_large_lost() {
	host_ingress_del "$1"
	host_ingress_add "$1" && large_lost "in$1"
}

# large_lost <interface>: what leaves through it
large_lost() {
	tc qdisc add dev "$1" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc qdisc add dev "$1" parent 1:2 handle 20: netem loss 100% limit 100000 &&
	tc filter add dev "$1" parent 1: protocol ip u32 match u16 4791 0xffff at 22 \
		match u16 0x1000 0xf000 at 2 flowid 1:2
}

# host_ingress_add <n>: all that comes in over a network leaves through interface in<n> before
host_ingress_add() {
	local dev=eth$(($1 - 1))
	ip link add "in$1" type ifb && ip link set "in$1" up &&
	tc qdisc add dev "$dev" ingress &&
	tc filter add dev "$dev" parent ffff: protocol all u32 match u32 0 0 \
		action mirred egress redirect dev "in$1"
}

host_ingress_del() {
	tc qdisc del dev "eth$(($1 - 1))" ingress 2>/dev/null
	ip link del "in$1" 2>/dev/null
}

# ---------------------------------------------------------------- modules

# rtrs_load: all modules. RTRS_SERVER_OPTS and RNBD_SERVER_OPTS hold parameters.
rtrs_load() {
	modprobe -n -q rnbd-client || skip_all "needs the modules"
	defer rtrs_unload
	must server_load
	must client_load
}

server_load() {
	# shellcheck disable=SC2086 # several parameters, on purpose
	modprobe rtrs-server ${RTRS_SERVER_OPTS:-} &&
	modprobe rnbd-server ${RNBD_SERVER_OPTS:-}
}

client_load() {
	modprobe rnbd-client
}

# module_gone <module>...: unload those that are loaded
module_gone() {
	local mod
	for mod; do
		[ ! -d "/sys/module/$(echo "$mod" | tr - _)" ] || rmmod "$mod" || return 1
	done
}

# rtrs_unload: unmap everything, then all modules, users first
rtrs_unload() {
	unmap_all
	module_gone rnbd-client rnbd-server rtrs-client rtrs-server rtrs-core
}

# resource_snapshot: verbs objects per device, as one comparable text
resource_snapshot() {
	rdma resource show | sed 's/^[0-9]*: //' | sort
}

# drop_caches: clean pages, dentries and inodes; 4 has the kernel do it silently
drop_caches() {
	sync
	echo 4 >/proc/sys/vm/drop_caches
	echo 3 >/proc/sys/vm/drop_caches
}

# mem_used: kB in use once caches are dropped. Pages on the free lists of CPUs,
# megabytes at times, do not count as free in meminfo; zoneinfo has them.
mem_used() {
	drop_caches
	awk '/^MemTotal/ { used += $2 } /^MemFree/ { used -= $2 }
	     $1 == "count:" { used -= 4 * $2 }
	     END { print used }' /proc/meminfo /proc/zoneinfo
}

# file_blocks <file>: 512-byte blocks that it occupies
file_blocks() {
	sync
	stat -c %b "$1"
}

# reads_zero <device> <MB> <MB>: reads as zeroes from, for so long
reads_zero() {
	drop_caches
	dd if="$1" bs=1M skip="$2" count="$3" iflag=direct status=none |
		cmp -n "$(($3 << 20))" - /dev/zero
}

# slab_snapshot: live objects of the slab caches that drivers use, a line for
# each. Shrinking a cache hands back what CPUs had set aside. It also costs an object of 96
# bytes, as opening any file of sysfs does, which the kernel frees 5 s later: hence no cache is
# shrunk that is not counted. Caches that any process draws from are left out.
slab_snapshot() {
	local name
	drop_caches
	for name in $(slab_counted | cut -d ' ' -f 1); do
		echo 1 >"/sys/kernel/slab/$name/shrink"
	done
	slab_counted
}

slab_counted() {
	awk '/^(kmalloc-[0-9]|kernfs_node|bdev_cache|request_queue|pool_workqueue|radix_tree)/ {
		print $1, $2, $5 }' /proc/slabinfo
}

# slab_grown <file with snapshot> <objects> [<more>]: caches that have more than so many
# objects more than then, kmalloc-96 than both together. Of the slab a CPU works on all
# objects count as live, hence one slab for each CPU on top.
slab_grown() {
	slab_snapshot | awk -v most="$2" -v more="${3:-0}" -v cpus="$(nproc)" '
		NR == FNR { had[$1] = $2; next }
		$2 > had[$1] + most + ($1 == "kmalloc-96") * more + $3 * cpus {
			print $1 ": " had[$1] + 0 " -> " $2 }' "$1" -
}

# slab_settles <seconds> <file with snapshot> <objects> [<more>]: until none has; objects may be
# freed later, after a grace period or by a worker
slab_settles() {
	local end grown
	lib_deadline "$1"
	end=$lib_end
	while grown=$(slab_grown "$2" "$3" "${4:-0}") && [ -n "$grown" ]; do
		! past "$end" || {
			echo "$grown"
			return 1
		}
		sleep 1
	done
}

# ---------------------------------------------------------------- debugfs

DEBUGFS=/sys/kernel/debug

debugfs_up() {
	grep -q " $DEBUGFS debugfs " /proc/mounts || mount -t debugfs debugfs $DEBUGFS
}

# fault_file <point>: of a fault point, <module>/<name> or, as its file is called, <module>/fault/<name>
fault_file() {
	echo "$DEBUGFS/${1%%/*}/fault/${1##*/}"
}

# fault_arm <point> [<number>]: the next passage of it fails, or the one of this number; 0: none
fault_arm() {
	echo "${2:-1}" >"$(fault_file "$1")"
}

# fault_fired <point>: it failed; it stays spent until it is armed again
fault_fired() {
	[ "$(cat "$(fault_file "$1")")" -eq 0 ]
}

# ---------------------------------------------------------------- return probes

TRACE=/sys/kernel/tracing

# probe_on <name> <function> <fetch arguments> <filter>: trace those returns of it; probe_off <name>
probe_on() {
	echo "r:$1 $2 $3" >>$TRACE/kprobe_events &&
	echo "$4" >"$TRACE/events/kprobes/$1/filter" &&
	echo 1 >"$TRACE/events/kprobes/$1/enable"
}

probe_off() {
	echo 0 >"$TRACE/events/kprobes/$1/enable"
	echo "-:$1" >>$TRACE/kprobe_events
}

# probe_needed <function>: all is skipped where the kernel cannot do that
probe_needed() {
	probe_on selftest_needed "$1" "" 0 2>/dev/null || skip_all "needs CONFIG_KPROBE_EVENTS"
	probe_off selftest_needed
}

# probe_count <function> <pattern> <command>...: prints how many of its returns, while the command runs, are traced in a
# line that matches
probe_count() {
	local function="$1" pattern="$2" failed=''
	shift 2
	probe_on selftest_count "$function" "" 0 || return 1
	"$@" >&2 || failed=y
	grep selftest_count $TRACE/trace | grep -c "$pattern"
	probe_off selftest_count
	: >$TRACE/trace
	[ -z "$failed" ]
}

# tracepoints: how many the loaded modules of ours have. 6.12 keeps up to an object of 96 bytes for each
# one of a module that is unloaded, rdma_cm's as well as ours.
tracepoints() {
	ls -d $TRACE/events/rtrs/*/ $TRACE/events/rnbd_srv/*/ 2>/dev/null | wc -l
}

# ---------------------------------------------------------------- backing devices

# same_as_backing <device> <backing device> [<bytes>]: what the server has is what the client reads, from the first
# byte on and later than it was written
same_as_backing() {
	drop_caches
	cmp ${3:+-n "$3"} "$1" "$2"
}

# backing_null <MB> [<attribute>=<value>...]: memory-backed null_blk; prints its
# device node. Attributes as in configfs, as blocksize=4096. All are removed at
# exit.
backing_null() {
	local dir nr=0 attr size="$1"
	shift
	modprobe null_blk nr_devices=0 || return 1
	while [ -d "/sys/kernel/config/nullb/selftest$nr" ]; do
		nr=$((nr + 1))
	done
	dir=/sys/kernel/config/nullb/selftest$nr
	mkdir "$dir" || return 1
	for attr in "size=$size" memory_backed=1 discard=1 "$@"; do
		echo "${attr#*=}" >"$dir/${attr%%=*}" || return 1
	done
	echo 1 >"$dir/power" || return 1
	backing_null_node "$dir"
}

backing_null_node() {
	local name
	name=nullb$(cat "$1/index")
	[ -b "/dev/$name" ] || name=${1##*/}
	echo "/dev/$name"
}

backing_null_gone() {
	local dir
	for dir in /sys/kernel/config/nullb/selftest*; do
		[ ! -d "$dir" ] || rmdir "$dir" || return 1
	done
}
defer backing_null_gone

# backing_file <file> <MB>: a loop device over a sparse file; prints its node.
# Take it down with: defer "backing_file_gone <node> <file>", before mapping it.
backing_file() {
	modprobe loop || return 1
	truncate -s "${2}M" "$1" && losetup --find --show "$1"
}

backing_file_gone() {
	losetup --detach "$1" && rm -f "$2"
}

# backing_detach <node>: take its file away. losetup alone returns at once when
# the device is open, as a server has it until it has noticed that a session
# is lost; who opens it before that keeps the file.
backing_detach() {
	losetup --detach "$1" && wait_for 10 backing_is_free "$1"
}

backing_is_free() {
	! losetup "$1"
}

# hanging_disk <MB>: memory-backed /dev/mapper/hang, whose requests wait from disk_hangs to disk_answers; $hang_raw is the
# device below it, which always answers. What uses it is unmapped at exit, and it is removed.
hanging_disk() {
	export DM_DISABLE_UDEV=1
	modprobe -q dm_mod || skip_all "needs dm_mod"
	hang_raw=$(backing_null "$1") || abort "no backing device"
	echo "0 $(($1 * 2048)) linear $hang_raw 0" | dmsetup create hang || abort "no device mapper"
	defer "disk_answers; unmap_all; wait_for 20 dmsetup remove hang"
}

disk_hangs() {
	dmsetup suspend --noflush --nolockfs hang
}

disk_answers() {
	dmsetup resume hang
}

# hung_start <device> [<fio option>...]: requests for a disk that hangs, in the background, which no time-out ends
hung_start() {
	local dev="$1"
	shift
	echo 3600000 >"$(queue_attr "$dev" io_timeout)"
	fio --name=hung --filename="$dev" --direct=1 --ioengine=libaio --bs=4k --size=8M --output=/tmp/hung.out "$@" \
		>/tmp/hung.err 2>&1 &
	hung_pid=$!
	defer "rm -f /tmp/hung.out /tmp/hung.err"
}

# hung_all <session> <requests>: so many are under way at least, and no more come
hung_all() {
	local have
	have=$(paths_sum "$1" rdma 5)
	sleep 0.5
	[ "$have" -ge "$2" ] && [ "$(paths_sum "$1" rdma 5)" -eq "$have" ]
}

# hanging_disk_tagless: a loop device on it, which has four tags. Its requests hold them while the disk below hangs, and
# all others have to wait for one. Prints its node.
hanging_disk_tagless() {
	local loop
	modprobe loop && loop=$(losetup --find --show --direct-io=on /dev/mapper/hang) &&
		echo 4 >"/sys/block/${loop#/dev/}/queue/nr_requests" || return 1
	echo "$loop"
}

# ---------------------------------------------------------------- mapping

# map_line <session> <device> [<first path> [<last path>]]: text for map_device
map_line() {
	local n="${3:-1}" last="${4:-${3:-$lib_topo_nr}}"
	printf 'sessname=%s device_path=%s' "$1" "$2"
	while [ "$n" -le "$last" ]; do
		printf ' path=%s' "$(path_pair "$n")"
		n=$((n + 1))
	done
}

# For a session whose paths are not to be lost: a host that starves for a second is no news.
# shellcheck disable=SC2034 # for tests
PATIENT_PATHS="hb_interval_ms=2000 hb_missed_max=10 ack_timeout_ms=1000 retry_count=6"

# map_device <session> <device> [<option>...]: over all paths of the topology;
# prints the new block device
map_device() {
	local sess="$1" dev="$2" line
	shift 2
	line="$(map_line "$sess" "$dev") $*"
	sysfs_write $CLT_CTL/map_device "$line" || {
		echo "map_device: $line: $sysfs_error" >&2
		return 1
	}
	mapped_node "$sess" "$dev"
}

# mapped_node <session> <device>: the block device it is mapped as
mapped_node() {
	local link name="$2"
	until [ "$name" = "${name#*/}" ]; do
		name="${name%%/*}!${name#*/}"
	done
	link=$(readlink "$CLT_CTL/devices/$name@$1") || {
		echo "mapped_node: $2@$1 is not listed" >&2
		return 1
	}
	echo "/dev/${link##*/}"
}

# unmap_device <block device> [force]
unmap_device() {
	sysfs_write "$(dev_attr "$1" unmap_device)" "${2:-normal}" || {
		echo "unmap_device: $1: $sysfs_error" >&2
		return 1
	}
}

unmap_all() {
	local dir
	for dir in /sys/block/rnbd*/rnbd; do
		[ ! -d "$dir" ] || sysfs_write "$dir/unmap_device" force
	done
}

# attr_is <file> <value>: the attribute's first line
attr_is() {
	local have
	{ read -r have <"$1"; } 2>/dev/null && [ "$have" = "$2" ]
}

# sess_paths_up <session>: how many of its paths are connected
sess_paths_up() {
	lib_paths_up "$1"
	echo "$lib_up"
}

# The same, in $lib_up
lib_paths_up() {
	local file
	lib_up=0
	for file in "$CLT_CLASS/$1"/paths/*/state; do
		! attr_is "$file" connected || lib_up=$((lib_up + 1))
	done
}

sess_paths_are() {
	lib_paths_up "$1"
	[ "$lib_up" -eq "$2" ]
}

# path_dir <session> <n>: sysfs directory of the session's path over network n
path_dir() {
	echo "$CLT_CLASS/$1/paths/$(path_pair "$2")"
}

# all_paths <session> <disconnect|reconnect>
all_paths() {
	local file
	for file in "$CLT_CLASS/$1"/paths/*/"$2"; do
		sysfs_write "$file" 1 || return 1
	done
}

# disconnect_all <session>: its paths, by hand, which do not come back by themselves
disconnect_all() {
	all_paths "$1" disconnect
}

reconnect_all() {
	all_paths "$1" reconnect
}

# path_is <session> <n> <state>
path_is() {
	attr_is "$(path_dir "$1" "$2")/state" "$3"
}

# path_stat <session> <n> <field>: from the path's stats/rdma; 1 and 2 count
# reads and their bytes, 3 and 4 writes, 5 requests in flight, 6 failovers
path_stat() {
	cut -d ' ' -f "$3" "$(path_dir "$1" "$2")/stats/rdma"
}

# paths_sum <session> <file of stats> [<field>]: over all paths, the first field if none is named
paths_sum() {
	awk -v field="${3:-1}" '{ sum += $field } END { print sum + 0 }' "$CLT_CLASS/$1"/paths/*/stats/"$2"
}

# path_ios <session> <n>: requests the path has taken
path_ios() {
	local reads writes
	{ read -r reads _ writes _ <"$(path_dir "$1" "$2")/stats/rdma"; } 2>/dev/null &&
		echo $((reads + writes))
}

# dev_attr <block device> <name>: path of one of its attributes
dev_attr() {
	echo "/sys/block/${1##*/}/rnbd/$2"
}

# queue_attr <block device> <name>: path of one of its queue's attributes
queue_attr() {
	echo "/sys/block/${1##*/}/queue/$2"
}

# queue <block device> <name>: what that attribute says
queue() {
	cat "$(queue_attr "$1" "$2")"
}

# dev_state <block device>: what the client thinks of it
dev_state() {
	cat "$(dev_attr "$1" state)"
}

dev_is() {
	attr_is "$(dev_attr "$1" state)" "$2"
}

# uptime_ms: milliseconds since boot
uptime_ms() {
	read -r lib_now _ </proc/uptime
	echo "${lib_now%.*}${lib_now#*.}0"
}

# Of two overlapping writes in flight either may be the last one, and a failover does change their order, but fio takes
# that submitted last for what must be read. It keeps blocks apart only if all have one size and no blockalign; what
# verifies is to have this.
FIO_APART=--serialize_overlap=1

# comes_and_goes <device>: a session "other", mapped over network 2 and unmapped, and gone from the server
comes_and_goes() {
	local node
	sysfs_write $CLT_CTL/map_device "$(map_line other "$1" 2 2)" && node=$(mapped_node other "$1") &&
		unmap_device "$node" && wait_for 60 [ ! -d "$SRV_CLASS/other" ]
}

# takes_under <ms> <command> [<argument>...]: it succeeds in that time, on a machine that is not slow; how long is in $took
takes_under() {
	local start limit=$(($1 * ${RTRS_SLOWNESS:-1}))
	shift
	start=$(uptime_ms)
	"$@" || return 1
	took=$(($(uptime_ms) - start))
	[ "$took" -lt $limit ] || {
		echo "$took ms: $*"
		return 1
	}
}

# load_start <device> <seconds> [<fio option>...]: mixed reads and writes, whose
# data are verified, in the background; up to 8 are submitted at once
load_start() {
	local dev="$1" secs="$2"
	shift 2
	fio --name=load --filename="$dev" --direct=1 --ioengine=libaio --iodepth=16 --iodepth_batch_submit=8 --rw=randrw \
		--bsrange=512-64k --blockalign=512 --size=16M --io_size=100G --time_based \
		--runtime=$((secs * ${RTRS_SLOWNESS:-1})) --verify=crc32c --verify_fatal=1 --verify_backlog=256 $FIO_APART \
		--output-format=terse --output=/tmp/load.out "$@" >/tmp/load.err 2>&1 &
	load_pid=$!
	defer "load_stop"
}

# child_runs <pid>: it has not ended; as a child nobody has waited for it is there even then
child_runs() {
	[ -e "/proc/$1" ] && ! grep -q '^State:.*zombie' "/proc/$1/status"
}

# waits_in <function, a regular expression> <name, a pattern>: a task of this name does; prints its name
waits_in() {
	local stack comm
	for stack in /proc/[0-9]*/stack; do
		grep -Eq "$1" "$stack" 2>/dev/null || continue
		read -r comm <"${stack%stack}comm"
		# shellcheck disable=SC2254 # a pattern
		case $comm in
		$2)	echo "$comm"; return 0 ;;
		esac
	done
	return 1
}

# nobody_stuck: no process waits for what cannot be interrupted; prints those that do
nobody_stuck() {
	! grep -l '^State:.*disk sleep' /proc/[0-9]*/status
}

load_runs() {
	child_runs "$load_pid"
}

# load_stop: only for those that did not come to its end
load_stop() {
	! load_runs || kill "$load_pid"
	wait "$load_pid"
	rm -f /tmp/load.out /tmp/load.err
}

# load_wait: for its end; not from a subshell, which has no such child
load_wait() {
	load_status=0
	wait "$load_pid" || load_status=$?
}

# load_end: all that it was for has happened, so it need not come to its own end. One that has is too short,
# and $load_status says so.
load_end() {
	kill -INT "$load_pid" 2>/dev/null
	load_wait
	case $load_status in
	0)	load_status="0, before it was told to" ;;
	128)	load_status=0 ;;	# fio, interrupted, and without an error
	esac
}

# load_succeeded: no I/O failed, all data were right
load_succeeded() {
	[ "$load_status" = 0 ] || {
		echo "fio ended with $load_status"
		cat /tmp/load.out /tmp/load.err | tail -n 20
		return 1
	}
}

# load_max_ms: longest time one of its requests took
load_max_ms() {
	awk -F ';' '/^3;/ { max = $39 > $80 ? $39 : $80; printf "%d\n", max / 1000 }' /tmp/load.out
}

# failovers <session>: requests that another path had to take over
failovers() {
	paths_sum "$1" rdma 6
}

# reconnects <session> <n> <1|2>: how often path n was connected again, or an attempt of it failed
reconnects() {
	cut -d ' ' -f "$3" "$(path_dir "$1" "$2")/stats/reconnects"
}

# ios_grow <session> <n> <requests>: the path takes so many more within 20 s
ios_grow() {
	local have
	have=$(path_ios "$1" "$2") || return 1
	wait_for 20 path_has_ios "$1" "$2" $((have + $3))
}

path_has_ios() {
	[ "$(path_ios "$1" "$2")" -ge "$3" ]
}

# path_returns <seconds> <session> <n>: connected again by itself. If rdma_rxe
# broke meanwhile, which it does after a carrier loss, its devices are renewed,
# and that is told: no path could have connected through them.
path_returns() {
	local end
	lib_deadline "$1"
	end=$lib_end
	until path_is "$2" "$3" connected; do
		! past "$end" || return 1
		if rxe_gsi_broken "$3" >/dev/null; then
			diag "rdma_rxe broke on network $3: the QP for connects is dead; renewing the device"
			rxe_gsi_broken "$3" | sed 's/^/# /'
			rxe_renew "$3" || return 1
			lib_deadline "$1"
			end=$lib_end
		fi
		sleep 0.2
	done
}

# fio_verify <device> [<fio option>...]: write a pattern, read it all back
fio_verify() {
	local dev="$1"
	shift
	fio --name=verify --filename="$dev" --direct=1 --ioengine=libaio --iodepth=16 \
		--rw=randwrite --bs=4k --size=8M --verify=crc32c --verify_fatal=1 $FIO_APART \
		--do_verify=1 --verify_backlog=0 --output-format=terse "$@" >/dev/null
}

# ---------------------------------------------------------------- shell

# shell_setup: for selftests/vm/run --shell
shell_setup() {
	topo_up 2 && rtrs_load && map_device shell "$(backing_null 256)" || return 1
	echo "Session 'shell' has two paths: 10.1.0.1 to 10.1.0.2, 10.2.0.1 to 10.2.0.2."
	echo "'path_cut 1', 'path_heal 1', 'link_down 2' and the like break and mend them."
}
