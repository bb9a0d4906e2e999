# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# hostile.sh - mutations by the scripted peer, and a session of our own that must not
# notice; sourced after wire.sh.
#
# RTRS_SEED=<seed>[:<first>[:<count>]] in the environment, rtrs.seed= on the kernel's
# command line in a VM, repeats a run, or a piece of each part of it from this number on.

BAD_SESSIONS=4			# so that nobody waits for the end of the one before
LINES_PER_SECOND=40		# that the kernel's log may get, ...
LINES_BURST=400			# ... and at first
LINES_ASKED=3			# a path that was told to connect: connected, open again, disconnected

defer "rm -rf /dev/hostile"

# seed_choose <count>: into $seed, $first and $count
seed_choose() {
	local want="${RTRS_SEED:-}"
	[ -n "$want" ] || want=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
	seed=${want%%:*} first=0 count=$1
	case $want in *:*)
		want=${want#*:}
		first=${want%%:*}
		[ "$first" = "$want" ] || count=${want#*:}
		;;
	esac
	diag "seed $seed: to repeat, RTRS_SEED=$seed or rtrs.seed=$seed on the kernel's command line"
}

# ask <command>...: as peer, but the answer is in $answer and no process is needed for it:
# there are many
ask() {
	printf '%s\n' "$*" >&8 && IFS= read -r answer <&8 || return 1
	# The end of a child is a signal, and ends a wait.
	while [ "${answer#error -EINTR: }" != "$answer" ]; do
		printf '%s\n' "$*" >&8 && IFS= read -r answer <&8 || return 1
	done
	case $answer in error*)
		echo "$*: $answer" | cut -c 1-300
		return 1
		;;
	esac
}

# ask_open: before the first of them. What runs in the background by then does not hold the file.
ask_open() {
	exec 8<>$PEER_CTL
	defer "exec 8<&-"
}

# template <set> <op> [<key>=<value>...]
template() {
	must peer template "$@"
}

# mutate <con> <set> <number> [<key>=<value>...]: how it ended in $mutate_end, open or over; $next is the
# next number, and $arrived grows
mutate() {
	local con="$1" set="$2" number="$3"
	shift 3
	ask mutate "$con" "$set" seed="$seed" first="$number" "$@" || return 1
	mutate_end=${answer%% *}
	next=${answer#*next=}
	next=${next%% *}
	answer=${answer#*ok=}
	arrived=$((arrived + ${answer%% *}))
}

# mutant <set> <number> [<key>=<value>...]: one, in $mutant, not sent
mutant() {
	local set="$1" number="$2"
	shift 2
	ask mutant "$set" seed="$seed" first="$number" "$@" || return 1
	mutant=${answer##*data=}
}

# kmsg_number: of the last message in the kernel's log; it counts those that the log has lost too
kmsg_number() {
	echo "selftest: number" >/dev/kmsg
	dd if=/dev/kmsg bs=8k iflag=nonblock 2>/dev/null | sed -n 's/^[0-9]*,\([0-9]*\),.*/\1/p' | tail -n 1
}

# attack_begins, attack_ends: what the honest session did meanwhile, and what was said
attack_begins() {
	attack_ms=$(uptime_ms)
	attack_ios=$(path_ios good 2)
	attack_lines=$(kmsg_number)
	attack_asked=0
}

attack_ends() {
	attack_ms=$(($(uptime_ms) - attack_ms))
	attack_ios=$(($(path_ios good 2) - attack_ios))
	attack_lines=$(($(kmsg_number) - attack_lines - 1))
	diag "${mutated:-}"
	diag "$((attack_ms / 1000)) s; honest session: $attack_ios requests; kernel's log: $attack_lines lines; told to connect $attack_asked times"
}

# honest_unharmed: no error, no wrong data, and it was served all the time
honest_unharmed() {
	load_runs || {
		tail -n 20 /tmp/load.out /tmp/load.err
		return 1
	}
	[ $attack_ios -ge $((attack_ms / 1000)) ] && ios_grow good 2 10
}

# said <extended regular expression>: the kernel said this, and not too much in all
said() {
	local most=$((LINES_BURST + attack_ms / 1000 * LINES_PER_SECOND + attack_asked * LINES_ASKED))
	dmesg | grep -Eq -- "$1" || {
		echo "nothing like '$1'"
		return 1
	}
	[ $attack_lines -gt 0 ] && [ $attack_lines -le $most ]
}

# honest_up: its device, under load, over network 2; nothing of it is the attacker's to reach
honest_up() {
	must sysfs_write $CLT_CTL/map_device "$(map_line good disk 2 2)"
	honest_dev=$(mapped_node good disk)
	load_start "$honest_dev" 3600 --bsrange=512-4k --iodepth=4 --size=4M --rate_iops=30,30
	must wait_for 20 path_has_ios good 2 20
}

honest_down() {
	load_stop
	unmap_device "$honest_dev"
}

# disks_up: for each session one, in a directory that only it can see
disks_up() {
	local name nr=0
	while [ $nr -lt $BAD_SESSIONS ]; do
		mkdir -p /dev/hostile/bad$nr
		ln -s "$(backing_null 8)" /dev/hostile/bad$nr/disk || abort "no backing device"
		nr=$((nr + 1))
	done
	for name in good test; do
		mkdir -p /dev/hostile/$name
		ln -s "$(backing_null 16)" /dev/hostile/$name/disk || abort "no backing device"
	done
}

# works: a session of our own, over the network of the attack
works() {
	local dev
	sysfs_write $CLT_CTL/map_device "$(map_line test disk 1 1)" && dev=$(mapped_node test disk) &&
		fio_verify "$dev" --size=1M && unmap_device "$dev"
}

# resources_are <snapshot>
resources_are() {
	[ "$(resource_snapshot)" = "$1" ] || {
		resource_snapshot
		return 1
	}
}

# nothing_remains <mode> <snapshot>: four cases, after the attack
nothing_remains() {
	check_here "$1: everything works" works
	check "$1: no verbs object is left" wait_for 15 resources_are "$2"
	check "$1: nobody is stuck" wait_for 15 nobody_stuck
	check "$1: modules unload" rtrs_unload
}
