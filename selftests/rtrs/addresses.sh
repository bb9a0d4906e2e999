#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every way to name a path: IPv4 and IPv6, with and without source, with comma
# and @, both families in one session; GIDs where the device has them. Several
# sessions with one server, and a server on another port.
#
# vm: smp=1 timeout=180

. "$(dirname "$0")/../lib.sh"

MAP=$CLT_CTL/map_device

# path_as <path text> <name in sysfs>: maps, is called so on both sides, works
path_as() {
	local dev
	sysfs_write $MAP "sessname=test device_path=$back path=$1" || {
		echo "map: $sysfs_error"
		return 1
	}
	dev=$(mapped_node test "$back") || return 1
	[ -d "$CLT_CLASS/test/paths/$2" ] && [ -d "$SRV_CLASS/test/paths/$2" ] || {
		ls $CLT_CLASS/test/paths $SRV_CLASS/test/paths
		return 1
	}
	fio_verify "$dev" --size=512k && unmap_device "$dev"
}

has_ios() {
	[ "$(awk '{ print $1 + $3 }' "$CLT_CLASS/test/paths/$1/stats/rdma")" -gt 0 ]
}

gid() {
	cat "/sys/class/infiniband/$1/ports/1/gids/0"
}

ktap_plan 25
topo_up 2
[ -z "${RTRS_PATHS:-}" ] || skip_all "is about networks made by the tests"
RTRS_SERVER_OPTS="sess_queue_depth=32"
rtrs_load
back=$(backing_null 16) || abort "no backing device"

check "IPv4, @" path_as ip:10.1.0.1@ip:10.1.0.2 ip:10.1.0.1@ip:10.1.0.2
check "IPv4, comma" path_as ip:10.1.0.1,ip:10.1.0.2 ip:10.1.0.1@ip:10.1.0.2
check "IPv4, no source" path_as ip:10.2.0.2 ip:10.2.0.1@ip:10.2.0.2
check "IPv6, @" path_as ip:fd00:1::1@ip:fd00:1::2 ip:fd00:1::1@ip:fd00:1::2
check "IPv6, comma" path_as ip:fd00:1::1,ip:fd00:1::2 ip:fd00:1::1@ip:fd00:1::2
check "IPv6, no source" path_as ip:fd00:2::2 ip:fd00:2::1@ip:fd00:2::2
check "IPv6, not shortened" path_as ip:fd00:0001:0000:0000:0000:0000:0000:0002 ip:fd00:1::1@ip:fd00:1::2

# Both families in one session, over one network and over two.
must sysfs_write $MAP "sessname=test device_path=$back path=ip:10.1.0.2 path=ip:fd00:2::2"
dev=$(mapped_node test "$back") || abort "not mapped"
check "both families: two paths" sess_paths_are test 2
check "both families: a third, beside the first" sysfs_write $CLT_CLASS/test/add_path ip:fd00:1::1,ip:fd00:1::2
check "both families: three paths" sess_paths_are test 3
must sysfs_write $CLT_CLASS/test/mpath_policy rr
check "both families: work" fio_verify "$dev" --size=1M
check "IPv4 has carried I/O" has_ios ip:10.1.0.1@ip:10.1.0.2
check "IPv6 too" has_ios ip:fd00:1::1@ip:fd00:1::2
check "and over the other network" has_ios ip:fd00:2::1@ip:fd00:2::2
must unmap_device "$dev"

# A GID names a port of InfiniBand. rdma_cm does not take one for RoCE.
kmsg_mark
if sysfs_write $MAP "sessname=test device_path=$back path=gid:$(gid rxe_s1)"; then
	check "GID" sess_paths_are test 1
	must unmap_device "$(mapped_node test "$back")"
else
	diag "$sysfs_error: $(kmsg_since)"
	check "GID: refused by rdma_cm, and told" kmsg_has 'map_device: sessname="test": cannot connect: -E'
fi
check "GID: nothing is left" [ -z "$(ls $CLT_CLASS)" ]

# Several sessions with one server, over the same networks.
for sess in one two three; do
	must map_device $sess "$back" access_mode=ro >/dev/null
done
check_eq "three sessions" "$(echo $(ls $CLT_CLASS))" "one three two"
check_eq "three on the server" "$(echo $(ls $SRV_CLASS))" "one three two"
check_eq "of two paths each" "$(ls -d $SRV_CLASS/*/paths/* | wc -l)" 6
must sysfs_write "$CLT_CLASS/two/paths/$(path_pair 1)/disconnect" 1
check "losing a path of one" sess_paths_are two 1
check "is nothing to another" sess_paths_are one 2
must unmap_all
check "all are gone" wait_for 10 [ -z "$(ls $CLT_CLASS)" ]

# Another port.
must wait_for 20 [ ! -e $SRV_CLASS/one ]
must module_gone rnbd-server
must modprobe rnbd-server port_nr=65535
check "port 65535" path_as 'ip:10.1.0.2 dest_port=65535' ip:10.1.0.1@ip:10.1.0.2
must sysfs_write $MAP "sessname=test device_path=$back dest_port=65535 path=$(path_pair 1)"
check "a path added later goes to the same port" sysfs_write $CLT_CLASS/test/add_path "$(path_pair 2)"
check "and is connected" sess_paths_are test 2
must unmap_device "$(mapped_node test "$back")"

ktap_end
