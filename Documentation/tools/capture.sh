#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What pages of Documentation/admin-guide show of rnbd and of debugfs under load, and the figures of the picture of the
# dashboard: two paths, of which the second is cut and comes back.
#
#	selftests/vm/run --kver 6.12 --timeout 900 Documentation/tools/capture.sh >captured
#
# Documentation/tools/dashboard.py makes pictures/dashboard.metrics of lines that begin with "@"; screens of rnbd top
# are the terminal's sequences, in base64.

. /selftests/lib.sh

SAMPLES=26
EVERY_S=5

# show <command>...
show() {
	echo "# $*"
	"$@"
}

# screen <seconds> <keys>: of rnbd top, at the end of that time
screen() {
	echo "screen $*"
	{ sleep "$1"; printf '%b' "$2"; sleep "$1"; printf q; } |
		TERM=vt100 script -q -c "stty rows 24 cols 80; rnbd top" /dev/null | base64
}

# another_load <seconds>
another_load() {
	fio --name=more --filename="$dev" --direct=1 --ioengine=libaio --iodepth=16 --rw=randwrite --bs=16k --size=32M \
		--time_based --runtime="$1" --thinktime=3ms >/tmp/more.out 2>&1 &
}

topo_up 2
topo_is_ours
debugfs_up
rtrs_load
back=$(backing_null 64 irqmode=2 completion_nsec=150000) || abort "no backing device"
dev=$(map_device alpha@storage "$back") || abort "cannot map"
must sysfs_write $CLT_CLASS/alpha@storage/mpath_policy round-robin
fio --name=load --filename="$dev" --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --rwmixread=70 --bssplit=4k/80:64k/20 \
	--size=32M --time_based --runtime=100000 --thinktime=4ms >/tmp/load.out 2>&1 &
load_pid=$!
defer "kill $load_pid"
sample=0
while [ $sample -lt $SAMPLES ]; do
	case $sample in
	7) another_load 60 ;;
	12) must path_cut 2 ;;
	15) must path_heal 2 ;;
	esac
	rnbd stats --openmetrics | sed "s/^/@ $((sample * EVERY_S)) /"
	sleep $EVERY_S
	sample=$((sample + 1))
done
show rnbd list
show rnbd sessions
show rnbd path list
show rnbd stats rnbd0
show rnbd stats -w 1 -c 2 rnbd0
show rnbd stats -j rnbd0
show cat $DEBUGFS/rtrs-client/sessions
show cat $DEBUGFS/rtrs-client/latency
show cat $DEBUGFS/rtrs-server/sessions
show cat $DEBUGFS/rtrs-server/latency
screen 3 ''
screen 3 '\033[B\r'
ktap_plan 1
ok "captured"
ktap_end
