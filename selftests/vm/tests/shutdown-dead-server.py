#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A client goes down in time although a server of its is dead, and loses nothing of the other one's.

A Debian 12 with the packages has a disk of each of two servers, an ext4 on each, and data that are not written. One
server is killed; processes wait for its disk. Then the client is told to reboot: once with the no_path_timeout that
maps have by default, once with -1. By its own clock it is down within 30 s, and the file system of the server that lives
was unmounted, with all data.
"""
# vm: timeout=3600

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import debian
import hosts
import vmlib

CLIENT = 3
DISK_MB = 128
DOWN_S = 30
GONE_S = 900            # of the host, when it hangs after all
BOOT_S = debian.BOOT_S
DISKS = ("dead", "alive")

NETWORK = """[Match]
Name=eth{index}

[Network]
Address=10.{network}.0.{address}/24
"""
MAP = """[{name}]
server = 10.1.0.{number}
export = vda
path = 10.1.0.{number}
path = 10.2.0.{number}
{patient}
{more}
"""
# A file of its own has most of it in memory, as nothing is written back because of its age. It does not wait.
WRITE = """
sysctl -qw vm.dirty_writeback_centisecs=0 vm.dirty_expire_centisecs=360000 &&
	dd if=/dev/urandom of=/srv/{0}/file bs=1M count=16 status=none && sha256sum </srv/{0}/file
"""
# A service that has a file open, and waits for it; and one that waits for everything.
WAITERS = """
systemd-run -q --unit=waiter sh -c 'cd /srv/dead && dd if=/dev/zero of=more bs=1M count=1 conv=fsync'
systemd-run -q --unit=syncer sync
"""
END = re.compile(r"^\[ *(\d+\.\d+)\] reboot: ", re.M)


class Machines:
    def __init__(self, ktap, rig):
        self.ktap, self.rig = ktap, rig
        self.nets = [rig.network(len(DISKS) + 1) for _ in range(2)]
        self.servers = {}
        for number, name in enumerate(DISKS, 1):
            image = rig.dir / f"{name}.img"
            with open(image, "wb") as file:
                file.truncate(DISK_MB << 20)
            self.servers[name] = hosts.Server(rig, name, number, self.nets, drives=[image], mem="512M")
        self.client = self.boot()

    def boot(self):
        tree = debian.unpack_base(self.rig.dir / "root")
        debian.install(tree, debian.packages())
        debian.add_agent(tree)
        tree.write("etc/hostname", "client\n")
        for index in range(len(self.nets)):
            tree.write(f"etc/systemd/network/{index}.network",
                       NETWORK.format(index=index, network=index + 1, address=CLIENT))
        for name in DISKS:
            (tree.path / "srv" / name).mkdir()
        tree.sh("systemctl enable systemd-networkd systemd-networkd-wait-online rnbd-softroce@eth0 rnbd-softroce@eth1")
        release, = tree.releases()
        return debian.boot(self.rig, tree, "client", release, nets=self.nets, append="net.ifnames=0")

    def sh(self, command, timeout=120):
        return self.client.run(command, timeout, check=True).out.strip()

    def map(self, name, more):
        """Mounted on /srv/<name>; its disk."""
        text = MAP.format(name=name, number=self.servers[name].number, patient=hosts.PATIENT.replace(" ", "\n"), more=more)
        self.client.run(f"cat >/etc/rnbd/maps.d/{name}.conf && systemctl start rnbd-map@{name}", 300, stdin=text.encode(),
                        check=True)
        disk = self.sh(f"for dir in /sys/block/rnbd*; do grep -q '^client@10-1-0-{self.servers[name].number}$' "
                       "$dir/rnbd/session && echo ${dir##*/}; done; true")
        self.sh(f"mke2fs -q -F -t ext4 /dev/{disk} && mount /dev/{disk} /srv/{name}")
        return disk

    def goes_down(self):
        """Told to reboot: seconds of its own clock, None if it does not."""
        vm = self.client
        start = float(self.sh("cut -d ' ' -f 1 /proc/uptime"))
        vm.ended = True
        vm.spawn("systemctl reboot")
        hosts.wait(lambda: not vm.alive(), GONE_S)
        vm.kill()
        end = END.findall(vm.console.read_text(errors="replace"))
        return float(end[-1]) - start if end else None


def all_there(server, digest):
    """What the client has written is on the server's disk, and the file system is clean."""
    return server.result(f"e2fsck -fn /dev/vda && modprobe ext4 && mount -t ext4 -o ro /dev/vda /mnt && "
                         f"[ \"$(sha256sum </mnt/file)\" = '{digest}' ]; code=$?; umount /mnt; exit $code", 120)


def round_of(ktap, machines, name, more, timeout):
    """7 cases."""
    for server in machines.servers.values():
        server.up().serve()
    dead, alive = (machines.map(disk, more) for disk in DISKS)
    file = f"/sys/block/{dead}/rnbd/no_path_timeout"
    ktap.equal(f"{name}: no_path_timeout", machines.sh(f"cat {file}"), timeout)
    machines.sh(WRITE.format("dead"))
    digest = machines.sh(WRITE.format("alive"))
    machines.servers["dead"].vm.kill()
    machines.client.run(WAITERS)
    ktap.within(f"{name}: the client notices", 90, lambda: machines.sh(f"cat /sys/block/{dead}/rnbd/state") == "closed")
    ktap.equal(f"{name}: the other disk is open", machines.sh(f"cat /sys/block/{alive}/rnbd/state"), "open")
    ktap.check(f"{name}: I/O waits", not hosts.wait(
        lambda: machines.client.run("systemctl is-active waiter").code, 15))
    took = machines.goes_down()
    ktap.note(f"{name}: down after {took} s")
    ktap.check(f"{name}: goes down in {DOWN_S} s", took is not None and took < DOWN_S * hosts.slowness, str(took))
    result = all_there(machines.servers["alive"], digest)
    ktap.equal(f"{name}: all data are on the disk of the other server, which is clean", (result.code, result.out[-500:])
               if result.code else 0, 0)
    machines.servers["alive"].vm.kill()
    ktap.equal(f"{name}: the client's kernel did not complain", [line for line in machines.client.splats()
                                                                 if "blocked for more" not in line], [])


def body(ktap, rig):
    machines = Machines(ktap, rig)
    round_of(ktap, machines, "by default", "", "600")
    machines.client.start(timeout=BOOT_S)
    round_of(ktap, machines, "for ever", "no_path_timeout = -1", "-1")


if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages"], check=True)
sys.exit(hosts.test(14, body))
