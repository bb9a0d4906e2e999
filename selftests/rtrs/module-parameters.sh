#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Parameters of the server's modules: defaults, limits, and what is outside of
# them, which keeps the module from loading and says why.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

param() {
	cat "/sys/module/$1/parameters/$2"
}

# refused <module> <message> <parameter>...: does not load, with EINVAL, or ERANGE
# for what is no number of the parameter's type
refused() {
	local module="$1" message="$2" out
	shift 2
	kmsg_mark
	out=$(LC_ALL=C modprobe "$module" "$@" 2>&1) && {
		echo "$module loaded with $*"
		return 1
	}
	echo "$out"
	echo "$out" | grep -Eq "$(strerror EINVAL)|$(strerror ERANGE)" || return 1
	kmsg_has "$message" || {
		kmsg_since
		return 1
	}
	[ ! -d "/sys/module/$(echo "$module" | tr - _)" ]
}

# works <paths>: with the parameters that are set
works() {
	local dev
	dev=$(map_device test "$back") && fio_verify "$dev" --size=1M --bsrange=512-1M --blockalign=512 &&
		unmap_device "$dev"
}

# loads <module> <parameter>...: and a device can be used
loads() {
	modprobe "$@" && { [ "$1" = rnbd-server ] || modprobe rnbd-server; } &&
		wait_for 5 [ -d $SRV_CTL ] && works || return 1
	module_gone rnbd-server
	[ "$1" = rnbd-server ] || module_gone rtrs-server
}

ktap_plan 43
modprobe -n -q rnbd-client || skip_all "needs the modules"
topo_up 1
defer rtrs_unload
back=$(backing_null 16) || abort "no backing device"
must client_load

# rtrs-server
must modprobe rtrs-server
check_eq "always_invalidate: default" "$(param rtrs_server always_invalidate)" Y
check_eq "max_chunk_size: default" "$(param rtrs_server max_chunk_size)" 131072
check_eq "max_io_size: default" "$(param rtrs_server max_io_size)" 0
check_eq "sess_queue_depth: default" "$(param rtrs_server sess_queue_depth)" 512
check_eq "what clients are told of is read-only" "$(cd /sys/module/rtrs_server/parameters &&
	stat -c %a always_invalidate max_chunk_size max_io_size sess_queue_depth | sort -u)" 444
check_eq "limits are not" \
	"$(stat -c %a /sys/module/rtrs_server/parameters/max_[!ci]* | sort -u)" 644
must module_gone rtrs-server
for value in 0 -1 65536 100000; do
	check "sess_queue_depth=$value" refused rtrs-server \
		"rtrs-server: parameter sess_queue_depth=$value is not valid, allowed is 1 to 65535" \
		"sess_queue_depth=$value"
done
for value in 4096 0 -8192 12288 8191 131071; do
	check "max_chunk_size=$value" refused rtrs-server \
		"rtrs-server: parameter max_chunk_size=$value is not valid, allowed is a power of two from 8192" \
		"max_chunk_size=$value"
done
for value in 2048 -4096 12288 4194304; do
	check "max_io_size=$value" refused rtrs-server \
		"rtrs-server: parameter max_io_size=$value is not valid, allowed is 0 or a power of two from 4096" \
		"max_io_size=$value"
done
check "queue depth and data of a request together too large" refused rtrs-server \
	"rtrs-server: parameters sess_queue_depth=256 and max_io_size=1048576 are not valid together" \
	sess_queue_depth=256 max_io_size=1048576
check "queue depth and chunk size together too large" refused rtrs-server \
	"rtrs-server: parameters sess_queue_depth=4096 and max_chunk_size=131072 are not valid together" \
	sess_queue_depth=4096
check "always_invalidate=maybe" refused rtrs-server "\`maybe' invalid for parameter \`always_invalidate'" \
	always_invalidate=maybe
check "sess_queue_depth=many" refused rtrs-server "\`many' invalid for parameter \`sess_queue_depth'" \
	sess_queue_depth=many
check "smallest queue depth" loads rtrs-server sess_queue_depth=1
check "an odd queue depth" loads rtrs-server sess_queue_depth=33
check "smallest chunk" loads rtrs-server sess_queue_depth=64 max_chunk_size=8192
check "chunks of 256 KiB" loads rtrs-server sess_queue_depth=64 max_chunk_size=262144
check "requests of 1 MiB" loads rtrs-server sess_queue_depth=32 max_io_size=1048576
check "requests of a page" loads rtrs-server sess_queue_depth=64 max_io_size=4096
check "smallest chunk and many of them" loads rtrs-server sess_queue_depth=2048 max_chunk_size=8192 \
	always_invalidate=N
check "all defaults" loads rtrs-server

# rnbd-server
must modprobe rtrs-server sess_queue_depth=64
must modprobe rnbd-server
check_eq "port_nr: default" "$(param rnbd_server port_nr)" 1234
check_eq "dev_search_path: default" "$(param rnbd_server dev_search_path)" /
check_eq "parameters are read-only" \
	"$(stat -c %a /sys/module/rnbd_server/parameters/* | sort -u)" 444
must module_gone rnbd-server
for value in 0 65536 -1 ssh; do
	check "port_nr=$value" refused rnbd-server \
		"rnbd_server: parameter port_nr=$value is not valid, allowed is 1 to 65535" "port_nr=$value"
done
check "dev_search_path too long" refused rnbd-server \
	"rnbd_server: parameter dev_search_path=/xxxx[x]*\.\.\. is not valid: 4097 bytes, allowed are at most 4095" \
	"dev_search_path=/$(head -c 4096 /dev/zero | tr '\0' x)"

# A search path: names are looked up below it, also one for each session.
name=${back##*/}
must modprobe rnbd-server dev_search_path=/dev
dev=$(map_device test "$name") && ok "dev_search_path=/dev" || not_ok "dev_search_path=/dev"
must unmap_device "$dev"
must module_gone rnbd-server
mkdir -p /tmp/exports/test
defer "rm -rf /tmp/exports"
ln -s "$back" /tmp/exports/test/disk
must modprobe rnbd-server dev_search_path=/tmp/exports/%SESSNAME%
dev=$(map_device test disk) && ok "dev_search_path with %SESSNAME%" || not_ok "dev_search_path with %SESSNAME%"
must unmap_device "$dev"
check_errno "where another session finds nothing" ENOENT $CLT_CTL/map_device "$(map_line other disk)" \
	'device_path="disk" access_mode=rw: not opened by the server of session other: -ENOENT'
must module_gone rnbd-server

ktap_end
