# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# peer.sh - the scripted peer (selftests/modules/README); sourced after lib.sh.

PEER_CTL=/sys/kernel/debug/rtrs-peer/ctl

# peer_load: the module, unloaded at exit
peer_load() {
	modprobe -n -q rtrs-peer || skip_all "needs rtrs-peer (make test-modules)"
	must modprobe rtrs-peer
	defer "module_gone rtrs-peer"
	must debugfs_up
	must [ -e $PEER_CTL ]
}

# peer <command>...: prints the answer if there is one; fails if the command did
peer() {
	local answer=''
	exec 9<>$PEER_CTL || return 1
	printf '%s\n' "$*" >&9 && IFS= read -r answer <&9
	exec 9<&-
	[ -z "$answer" ] || printf '%s\n' "$answer"
	case $answer in error*) return 1 ;; esac
}

# peer_hold: keeps the control file open, for peer_ask
peer_hold() {
	exec 8<>$PEER_CTL || return 1
	defer "exec 8<&-"
}

# peer_ask <command>...: as peer, but $answer is the answer and no process is started: for thousands of commands
peer_ask() {
	answer=''
	printf '%s\n' "$*" >&8 && IFS= read -r answer <&8 || return 1
	case $answer in
	error*)
		echo "$*: $answer"
		return 1
		;;
	esac
}

# peer_all <file> [<pattern>]: the commands in the file, one a line; each succeeds, and its answer matches
peer_all() {
	local line
	while IFS= read -r line; do
		peer_ask "$line" && is "$answer" "${2-*}" || return 1
	done <"$1"
}
