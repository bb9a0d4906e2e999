# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# faults.sh - what tests do that make something fail: a session of two paths, and how
# everything looks after. Sourced after lib.sh; $back is the device to map.

map_now() {
	map_device faults "$back" nr_poll_queues=1
}

whole() {
	wait_for 40 sess_paths_are faults 2
}

nothing_left() {
	[ ! -e $CLT_CLASS/faults ] && wait_for 45 [ ! -e $SRV_CLASS/faults ]
}

works() {
	dev=$(map_now) && whole && fio_verify "$dev" --size=1M && unmap_device "$dev" && nothing_left
}
