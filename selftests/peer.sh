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
