#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An hour with no processor time to spare, and no path is taken for lost: neither those that
# carry all the load, nor those of a session without I/O, which live on heartbeats alone.
#
# vm: smp=2 timeout=5400

. "$(dirname "$0")/../lib.sh"

SECONDS_OF_LOAD=${FULL_LOAD_SECONDS:-3600}
JOBS=4

# cpu_time <idle|all>: ticks of all processors so far
cpu_time() {
	awk -v what="$1" '/^cpu / { print what == "idle" ? $5 + $6 : $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat
}

# path_losses <session>: of all its paths, for whatever cause, and the attempts to connect that came of them
path_losses() {
	awk '{ for (i = FILENAME ~ /losses$/ ? 2 : 1; i <= NF; i++) sum += $i } END { print sum + 0 }' \
		$CLT_CLASS/"$1"/paths/*/stats/losses $CLT_CLASS/"$1"/paths/*/stats/reconnects
}

# busy: less than one part in ten of the processors' time was left over
busy() {
	local all idle
	all=$(($(cpu_time all) - all_before))
	idle=$(($(cpu_time idle) - idle_before))
	echo "$((100 - idle * 100 / all)) % busy"
	[ $((idle * 10)) -lt "$all" ]
}

both_carried() {
	[ "$(path_ios busy 1)" -gt 1000 ] && [ "$(path_ios busy 2)" -gt 1000 ]
}

requires fio
ktap_plan 8
topo_up 2
rtrs_load
dev=$(map_device busy "$(backing_null 64)") || abort "cannot map"
quiet=$(map_device idle "$(backing_null 16)") || abort "cannot map"
must wait_for 10 sess_paths_are busy 2
must wait_for 10 sess_paths_are idle 2
must sysfs_write $CLT_CLASS/busy/mpath_policy round-robin
check_eq "no path was lost before" "$(path_losses busy) $(path_losses idle)" "0 0"

all_before=$(cpu_time all) idle_before=$(cpu_time idle)
load_start "$dev" "$SECONDS_OF_LOAD" --numjobs=$JOBS --size=$((64 / JOBS))M --offset_increment=$((64 / JOBS))M
load_wait
check "$SECONDS_OF_LOAD s of load, and no wrong byte" load_succeeded
check "it took all processors" busy
diag "longest request: $(load_max_ms | sort -n | tail -n 1) ms; $(path_ios busy 1) and $(path_ios busy 2) requests"
check "both paths carried it" both_carried
check_eq "no path under load was lost" "$(path_losses busy)" 0
check_eq "no path without I/O was lost" "$(path_losses idle)" 0
check "all are there" sess_paths_are busy 2
check "and those without I/O" sess_paths_are idle 2
rm -f /tmp/load.*
must unmap_device "$quiet"
must unmap_device "$dev"
ktap_end
