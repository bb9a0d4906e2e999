#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each tracepoint of rtrs and rnbd fires, under load and while paths and devices come
# and go, and says what it is about: names are whole, however short, and end where
# they end.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

# events: all there are, as <system>/<event>
events() {
	(cd $TRACE/events && ls -d rtrs/*/ rnbd_srv/*/) | sed 's,/$,,'
}

# lines <event>: what it said
lines() {
	sed -n "s/.*: ${1##*/}: //p" /tmp/events.trace
}

# says <event> <extended regular expression of a whole line>: it has said this
says() {
	lines "$1" | grep -qxE "$2" || {
		lines "$1" | head -n 5
		return 1
	}
}

# says_only <event> <extended regular expression>: and nothing of another form
says_only() {
	says "$1" "$2" && ! lines "$1" | grep -vxE "$2"
}

trace_off() {
	echo 0 >$TRACE/events/rtrs/enable
	echo 0 >$TRACE/events/rnbd_srv/enable
}

fired() {
	lines "$1" | grep -q .
}

# What a request is called in each tracepoint, on both sides.
ids='session (x|n{31}), path ip:[0-9a-f.:]+@ip:[0-9a-f.:]+, con [0-9]+, slot [0-9]+, seq [0-9]+'

# each_lived: every request that went over the path that stays has gone through all, in the one order there is;
# tracepoints of memory are not of it
each_lived() {
	awk -v "begin=session x, path $(path_pair 2), " -v "life=$LIFE" '
		match($0, /: rtrs_[a-z_]+: session .*, seq [0-9]+/) {
			id = substr($0, RSTART + 2, RLENGTH - 2)
			event = substr(id, 1, index(id, ": ") - 1)
			id = substr(id, length(event) + 3)
			if (event !~ /_mr_/)
				had[id] = had[id] event " "
			if (event == "rtrs_clt_req_send" && index(id, begin) == 1)
				sent[id]
		}
		END {
			for (id in sent) {
				nr++
				if (had[id] != life) {
					print id ": " had[id]
					bad = 1
				}
			}
			print nr + 0 " requests"
			exit bad || nr < 80
		}' /tmp/events.trace
}
LIFE='rtrs_clt_req_send rtrs_srv_req_recv rtrs_srv_req_submit rtrs_srv_req_done rtrs_srv_req_answer rtrs_clt_req_answered rtrs_clt_req_done '

GATHER=/sys/module/rtrs_client/parameters/gather_writes

requires fio
ktap_plan 42
topo_up 2
RTRS_SERVER_OPTS="sess_queue_depth=32 max_chunk_size=262144"
rtrs_load
back=$(backing_null 16) || abort "no backing device"
[ -d $TRACE/events/rtrs ] && [ -d $TRACE/events/rnbd_srv ] || skip_all "needs CONFIG_EVENT_TRACING"
defer "rm -f /tmp/events.*"
check_eq "there are 22 tracepoints" "$(events | wc -l)" 22

# A name of one character, and the longest one that fits beside the device's.
long=$(head -c $((254 - ${#back})) /dev/zero | tr '\0' n)
echo 16384 >$TRACE/buffer_size_kb
: >$TRACE/trace
echo 1 >$TRACE/events/rtrs/enable
echo 1 >$TRACE/events/rnbd_srv/enable
defer trace_off
# What the client sends is registered, however few pieces it is in, and of the same slots again and again.
must sysfs_write $GATHER N
dev=$(map_device x "$back") || abort "cannot map"
must sysfs_write $GATHER Y
# More at a time than there are slots from the start.
must fio_verify "$dev" --size=1M --iodepth=64
# Too much to be copied: the server registers chunks again.
must dd if=/dev/zero of="$dev" bs=252k count=60 oflag=direct status=none
must dd if="$dev" of=/dev/null bs=252k count=60 iflag=direct status=none
must sysfs_write "$(path_dir x 1)/disconnect" 1
must sysfs_write "$(path_dir x 1)/reconnect" 1
must sysfs_write $CLT_CLASS/x/mpath_policy round-robin
load_start "$dev" 60
must ios_grow x 1 20
must path_cut 1
must wait_for 15 path_is x 1 disconnected
must ios_grow x 2 20
load_stop
must path_heal 1
sysfs_write $CLT_CTL/map_device "$(map_line x /dev/none)" && abort "mapped what is not there"
must unmap_device "$dev"
dev=$(map_device "$long" "$back") || abort "cannot map"
must dd if=/dev/zero of="$dev" bs=4k count=1 oflag=direct status=none
must unmap_device "$dev"
trace_off
cat $TRACE/trace >/tmp/events.trace

for event in $(events); do
	check "$event fires" fired "$event"
done
id='dev=[0-9]+'
check "a path's steps: names of side, path, states" says_only rtrs_path_step \
	'(client|server) path ip:[0-9a-f.:]+@ip:[0-9a-f.:]+: [a-z-]+, [a-z-]+ -> [a-z-]+'
check "those of a path to the end" says rtrs_path_step "client path $(path_pair 1): .*"
check "its chunks, at the server" says_only rtrs_srv_chunks \
	'path ip:[0-9a-f.:]+@ip:[0-9a-f.:]+: 32 chunks, before 16, wanted 32'
check "and as the client hears of them" says_only rtrs_clt_chunks \
	'path ip:[0-9a-f.:]+@ip:[0-9a-f.:]+: 32 chunks, before 16, wanted 32'
check "its fence: asked over one path, answered for another" says_only rtrs_clt_fence \
	'path ip:[0-9a-f.:]+@ip:[0-9a-f.:]+: fence of number [0-9]+ (asked|answered)'
check "its failover" says_only rtrs_clt_failover \
	"path $(path_pair 1): [1-9][0-9]* requests moved, 0 failed, gap [0-9]+ ms"
check "its requests, on the other path" says_only rtrs_clt_resend \
	"path $(path_pair 2): slot [0-9]+, seq [0-9]+, (read|write) of [0-9]+ bytes, submitted [0-9]+ ms ago"
check "a request, from the client to the server's ULP" says_only rtrs_clt_req_send "$ids: (read|write) of [0-9]+ bytes"
check "its arrival: the same" says_only rtrs_srv_req_recv "$ids: (read|write) of [0-9]+ bytes"
check "and back" says_only rtrs_srv_req_answer "$ids: error (0|-2)"
check "a region's key" says_only rtrs_clt_mr_register "$ids: rkey 0x[0-9a-f]+"
check "every request of a path that was not lost: all it went through, once, in order" each_lived
check "I/O: session, device, operation" says_only rnbd_srv_io_start \
	"sess=(x|n{31}) $id slot=[0-9]+ op=[0-5](\\|sync)?(\\|fua)?(\\|preflush)?(\\|nounmap)? sector=[0-9]+ bytes=[0-9]+ prio=0(x[0-9a-f]+)?"
check "its end, without error" says_only rnbd_srv_io_done "sess=(x|n{31}) $id slot=[0-9]+ error=0"
check "as many ends as begins" [ "$(lines rnbd_srv_io_start | wc -l)" -eq "$(lines rnbd_srv_io_done | wc -l)" ]
check "an OPEN: name and mode" says_only rnbd_srv_dev_open "sess=(x|n{31}) $id name=$back access_mode=1"
check "a CLOSE: the same" says_only rnbd_srv_dev_close "sess=(x|n{31}) $id name=$back access_mode=1"
check "a refusal" says_only rnbd_srv_refuse "sess=x type=2 verdict=[0-9]+ error=-2"
check "a session name of one character" says rnbd_srv_dev_open "sess=x .*"

ktap_end
