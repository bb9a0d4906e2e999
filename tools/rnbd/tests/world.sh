# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# world.sh - sourced by commands of scenarios: what the kernel would do to the tree.

# mapped <disk> <session> <device on the server> [<access mode>]
mapped() {
	dir=$RNBD_ROOT/sys/block/$1
	mkdir -p "$dir/rnbd" "$RNBD_ROOT/sys/class/rnbd-client/ctl/devices" "$RNBD_ROOT/dev"
	echo 131072 >"$dir/size"
	echo open >"$dir/rnbd/state"
	echo "$2" >"$dir/rnbd/session"
	echo "$3" >"$dir/rnbd/mapping_path"
	echo "${4:-rw}" >"$dir/rnbd/access_mode"
	: >"$dir/rnbd/unmap_device"
	ln -s "../../../block/$1" \
		"$RNBD_ROOT/sys/class/rnbd-client/ctl/devices/$(echo "$3" | tr / '!')@$2"
	: >"$RNBD_ROOT/dev/$1"
}

# session <name> <path>...: all connected
session() {
	dir=$RNBD_ROOT/sys/class/rtrs-client/$1/paths
	shift
	for path; do
		mkdir -p "$dir/$path"
		echo connected >"$dir/$path/state"
		echo "${path%@*}" >"$dir/$path/src_addr"
		echo "${path#*@}" >"$dir/$path/dst_addr"
	done
}

# opened <device> <session> [<what it calls it>]: a client has it open
opened() {
	dir=$RNBD_ROOT/sys/class/rnbd-server/ctl/devices/$1/sessions/$2
	mkdir "$dir"
	echo rw >"$dir/access_mode"
	echo "${3:-/dev/$1}" >"$dir/mapping_path"
	: >"$dir/force_close"
}

# kmsg <level> <text>
kmsg() {
	mkdir -p "$RNBD_ROOT/dev"
	echo "$1,100,2000000,-;$2" >>"$RNBD_ROOT/dev/kmsg"
}

# in_path <number>: go to a path of the client's session
in_path() {
	cd "$RNBD_ROOT/sys/class/rtrs-client/alpha@storage/paths/ip:10.$1.0.1@ip:10.$1.0.2" || exit
}

# rdma <numbers>
rdma() {
	echo "$@" >stats/rdma
}

# done_in <file> <bucket> <requests> <microseconds of each>: what they count, on the path and in its session
done_in() {
	for file in "stats/$1" "../../stats/$1"; do
		awk -v bucket="$2" -v nr="$3" -v us="$4" '
			/^total / { $2 += nr; $3 += nr * us; $(4 + bucket) += nr }
			{ print }' "$file" >"$file.new" && mv "$file.new" "$file"
	done
}

reset_latency() {
	sed -i 's/ [0-9][0-9]*/ 0/g' stats/latency_read stats/latency_write
}
