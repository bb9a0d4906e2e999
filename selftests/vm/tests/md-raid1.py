#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A mirror over two servers, of which one loses power while a file system on it is written.

The file system does not notice; the server comes back, the mirror is made whole
again, and both servers' disk images hold the same.
"""
# vm: timeout=400

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts

MD = "/dev/md0"
NOTICE_S = 60
SYNC_S = 120
# The mirror has another place to go to: no waiting. But a host that starves the client for a second must not cost
# both copies, nor may the comparison count blocks that could not be read as different.
OPTIONS = f"no_path_timeout=0 {hosts.PATIENT}"
FILES = "find /usr/bin -type f"
DATA_OFFSET = 1 << 20       # what is before it belongs to one disk alone


def members(client):
    """As /proc/mdstat puts it: [UU], [U_]"""
    return client.sh("sed -n 's/.*\\(\\[[U_]*\\]\\)$/\\1/p' /proc/mdstat")


def idle(client):
    return client.sh("cat /sys/block/md0/md/sync_action") == "idle"


def bring_back(ktap, what, server, client, dev):
    """A server comes back, and its device into the mirror."""
    server.up().serve()
    ktap.within(f"{what}: its device opens", NOTICE_S, lambda: client.state(dev) == "open")
    client.sh(f"mdadm {MD} --remove failed 2>&1; mdadm {MD} --re-add {dev} 2>&1 || "
              f"mdadm {MD} --add {dev} 2>&1")
    ktap.within(f"{what}: the mirror is whole", SYNC_S,
                lambda: members(client) == "[UU]" and idle(client))


def same_images(rig):
    """The mirrored part of both images, on the host."""
    images = [(rig.dir / f"disk{n}.img").read_bytes()[DATA_OFFSET:] for n in (1, 2)]
    return images[0] == images[1]


def body(ktap, rig):
    bed = hosts.Bed(rig, servers=2, mem="640M", disk_mb=48)
    client, (left, right) = bed.client, bed.servers
    client.sh("modprobe raid1; modprobe ext4")
    devs = [client.map(server, server.name, "vda", options=OPTIONS) for server in bed.servers]
    client.sh(f"mdadm --create {MD} --run --level=1 --raid-devices=2 --metadata=1.2 "
              f"--data-offset={DATA_OFFSET >> 10}K --bitmap=internal --assume-clean {' '.join(devs)} 2>&1", 120)
    ktap.equal("a mirror of two", members(client), "[UU]")
    client.sh(f"mkfs.ext4 -q {MD} && mount -t ext4 {MD} /mnt", 120)
    client.sh(f"mkdir /mnt/a && cp $({FILES}) /mnt/a/ && sync", 120)
    client.sh("cd /mnt/a && sha256sum * >/tmp/manifest")

    copy = client.vm.spawn("i=0; while [ ! -e /tmp/stop ]; do i=$((i + 1)); rm -rf /mnt/b; "
                           f"mkdir /mnt/b && cp $({FILES}) /mnt/b/ && sync && "
                           "(cd /mnt/b && sha256sum -c /tmp/manifest >/dev/null) || exit 1; done; echo $i")
    right.vm.kill()
    ktap.within("one server killed: the mirror goes on alone", NOTICE_S,
                lambda: members(client) == "[U_]")
    client.sh("sleep 3; touch /tmp/stop")
    result = copy.wait(120)
    ktap.check("one server killed: the copy never failed", result.code == 0, result.out)
    ktap.note(f"{result.out.strip()} rounds of copying")
    ktap.check("one server killed: all files are right",
               client.works("drop_caches; cd /mnt/a && sha256sum -c /tmp/manifest", 120))

    bring_back(ktap, "server back", right, client, devs[1])
    ktap.check("server back: all files are right",
               client.works("drop_caches; cd /mnt/b && sha256sum -c /tmp/manifest", 120))
    client.sh("echo check >/sys/block/md0/md/sync_action")
    ktap.check("server back: the two are compared", hosts.wait(lambda: idle(client), SYNC_S))
    ktap.equal("server back: and do not differ", client.sh("cat /sys/block/md0/md/mismatch_cnt"), "0")

    # The same with the other server, as its disk is no less a copy.
    client.sh("rm -f /tmp/stop")
    left.vm.kill()
    ktap.within("other server killed: the mirror goes on", NOTICE_S,
                lambda: client.works("echo x >/mnt/x && sync") and members(client) == "[_U]")
    ktap.check("other server killed: all files are right",
               client.works("drop_caches; cd /mnt/b && sha256sum -c /tmp/manifest", 120))
    bring_back(ktap, "other server back", left, client, devs[0])
    client.sh(f"umount /mnt && e2fsck -fn {MD} && mdadm --stop {MD} 2>&1", 120)
    for dev in devs:
        client.unmap(dev)
    for server in bed.servers:
        server.sh("sync")
    ktap.check("both images hold the same", same_images(rig))


sys.exit(hosts.test(14, body))
