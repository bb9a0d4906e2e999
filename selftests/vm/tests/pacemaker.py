#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pacemaker with the agent ocf:rtrs:rnbd: what Documentation/admin-guide/recipes.rst says of it, command by command.

Three machines, of a fresh Debian 12 with its corosync, Pacemaker, crmsh and sbd, are a cluster with one disk that all
of them see. The page's commands make a group of an export and its addresses, and another one of a map and the file
system on it. While a program writes and verifies there, the export moves, is taken away behind Pacemaker's back, and
loses its node; and the node with the map is cut off, which ends it: fencing is by the nodes' watchdogs.
"""
# vm: timeout=3600

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import debian
import hosts
import page
import vmlib

PAGE = vmlib.TOP / "Documentation/admin-guide/recipes.rst"
PACKAGES = "corosync pacemaker resource-agents crmsh sbd psmisc fio"
NODES = ("alpha", "beta", "gamma")
NETWORKS = 2
DISK_MB = 64

NETWORK = """[Match]
Host={name}
Name=eth{index}

[Network]
Address=10.{network}.0.{number}/24
"""
COROSYNC = """totem {{
	version: 2
	cluster_name: storage
	token: 5000
}}
quorum {{
	provider: corosync_votequorum
	wait_for_all: 1
}}
logging {{
	to_syslog: yes
}}
nodelist {{
{nodes}}}
"""
COROSYNC_NODE = """	node {{
		name: {name}
		nodeid: {number}
		ring0_addr: 10.1.0.{number}
		ring1_addr: 10.2.0.{number}
	}}
"""
WATCHDOG = ("-device", "i6300esb")

# Rounds of writing a file and verifying it, one after the other; how many.
LOAD = """
rm -f /run/stop
n=0
while [ ! -e /run/stop ]; do
	fio --name=job --filename=/srv/data/load --size=4M --rw=randwrite --bsrange=4k-64k --direct=1 \
		--ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1 --rate=4m >/run/fio 2>&1 ||
		{ cat /run/fio; exit 1; }
	n=$((n + 1))
done
echo "$n"
"""


class Cluster:
    """Its machines, and what Pacemaker says of its resources."""

    def __init__(self, ktap, rig):
        self.ktap = ktap
        self.script = page.commands(page.section(PAGE.read_text(), "Pacemaker"))
        tree = self.tree(rig.dir / "root")
        shared = rig.dir / "shared.img"
        with open(shared, "wb") as file:
            file.truncate(DISK_MB << 20)
        nets = [rig.network(len(NODES)) for _ in range(NETWORKS)]
        release, = tree.releases()
        booting = {name: hosts.booters.submit(
            debian.boot, rig, tree, name, release, qemu=WATCHDOG, nets=nets, drives=[f"{shared},file.locking=off"],
            append=f"net.ifnames=0 systemd.hostname={name}") for name in NODES}
        self.vms = {name: vm.result() for name, vm in booting.items()}

    def tree(self, path):
        """One for all of them: which it is each learns from the kernel's command line."""
        tree = debian.unpack_base(path)
        debian.add_agent(tree)
        for number, name in enumerate(NODES, 1):
            for index in range(NETWORKS):
                tree.write(f"etc/systemd/network/{name}{index}.network",
                           NETWORK.format(name=name, index=index, network=index + 1, number=number))
        tree.write("etc/hosts", "127.0.0.1 localhost\n" + "".join(
            f"10.1.0.{number} {name}\n" for number, name in enumerate(NODES, 1)))
        tree.write("etc/modprobe.d/small.conf", "options rtrs-server sess_queue_depth=64\n")
        tree.sh(f"apt-get -q update; apt-get -qy --no-install-recommends install {PACKAGES}")
        tree.write("etc/corosync/corosync.conf", COROSYNC.format(nodes="".join(
            COROSYNC_NODE.format(name=name, number=number) for number, name in enumerate(NODES, 1))))
        tree.sh("sed -i 's/^SBD_WATCHDOG_TIMEOUT=.*/SBD_WATCHDOG_TIMEOUT=20/' /etc/default/sbd")
        debian.install(tree, debian.packages())
        tree.sh("systemctl enable corosync pacemaker sbd rnbd-softroce@eth0 rnbd-softroce@eth1 "
                "systemd-networkd systemd-networkd-wait-online")
        return tree

    def speaker(self):
        """Who is told and asked: a node that is not meant to be gone."""
        return next(vm for vm in self.vms.values() if not vm.ended)

    def monitor(self):
        """Of Pacemaker, as a tree; empty while it does not answer."""
        result = self.speaker().run("crm_mon -1 --output-as=xml 2>/dev/null", 60)
        return ElementTree.fromstring(result.out) if result.code == 0 else ElementTree.Element("none")

    def online(self):
        """Names of nodes."""
        return {node.get("name") for node in self.monitor().iterfind("nodes/node") if node.get("online") == "true"}

    def home(self, group):
        """The node where all of the group runs, or None."""
        resources = self.monitor().findall(f".//group[@id='{group}']/resource")
        homes = {node.get("name") if resource.get("role") == "Started" else None
                 for resource in resources for node in resource.findall("node")}
        return homes.pop() if len(homes) == 1 and all(len(resource) for resource in resources) else None

    def at(self, group):
        """The machine where it runs."""
        home = self.home(group)
        if not home:
            raise vmlib.Error(f"{group} runs nowhere\n{self.speaker().run('crm_mon -1 -rf 2>&1').out}")
        return self.vms[home]

    def commands(self, stop=None):
        """Those of the page that come next, until one that begins like that: one case each.

        A client is a node that does not export.
        """
        while self.script and not (stop and self.script[0][1].startswith(stop)):
            where, command, printed = self.script.pop(0)
            vm = self.speaker()
            if where == "client#":
                server = self.at("storage")
                vm = next(vm for vm in self.vms.values() if vm != server)
            result = vm.run(command, 300)
            as_told = result.code == 0 and (not printed or result.out.splitlines() == printed)
            self.ktap.check(f"{vm.name}: {command.splitlines()[0]}", as_told, f"exit {result.code}\n{result.out}")


class Load:
    """On the node where the map is."""

    def __init__(self, ktap, vm):
        self.ktap, self.vm = ktap, vm
        self.job = vm.spawn(LOAD)

    def written(self):
        stat = self.vm.run("cat /sys/block/$(basename $(readlink /dev/rnbd/disk))/stat", check=True).out
        return int(stat.split()[6])

    def goes_on(self, what, seconds=60):
        """One case: I/O that has waited is done, and more."""
        before = self.written()
        self.ktap.within(what, seconds, lambda: self.job.running() and self.written() > before + 4000)

    def end(self, what):
        """One case: nothing has failed."""
        self.vm.run("touch /run/stop", check=True)
        result = self.job.wait(120)
        self.ktap.check(what, result.code == 0, result.out)
        self.ktap.note(f"{result.out.strip()} rounds of writing and verifying")


def kept_sum(vm):
    """Of a file that nobody writes any more."""
    return vm.run("sha256sum /srv/data/kept", check=True).out


def lose_export(ktap, cluster, vm):
    """Behind Pacemaker's back: 2 cases."""
    vm.run("echo name=data >/sys/class/rnbd-server/ctl/unexport_device", check=True)
    ktap.within("the export is gone: Pacemaker notices", 60, lambda: vm.run(
        f"crm_failcount -G -r disk -N {vm.name}").out.rstrip().endswith("value=1"))
    ktap.within("and has it again", 90, lambda: vm.run("ls /sys/class/rnbd-server/ctl/exports/data").code == 0 and
                cluster.home("storage") == vm.name)


def lose_server(ktap, cluster):
    """While it is written: 5 cases."""
    server, client = cluster.at("storage"), cluster.at("service")
    load = Load(ktap, client)
    load.goes_on("it is written from there")
    server.kill()
    ktap.within("a node loses power: another one has the export", 240,
                lambda: cluster.home("storage") not in (server.name, None))
    load.goes_on("it is written there")
    homes = cluster.at("storage").name, client.name
    server.start(timeout=debian.BOOT_S)
    ktap.within("the node is back, and nothing moves", 300, lambda: cluster.online() == set(NODES) and
                (cluster.home("storage"), cluster.home("service")) == homes)
    load.end("no I/O has failed, all data were right again")


def lose_client(ktap, cluster):
    """It hears nobody any more, while it writes: 4 cases."""
    client = cluster.at("service")
    wanted = kept_sum(client)
    Load(ktap, client).goes_on("it is written until the end")
    client.ended = True     # it goes by itself, and is meant to
    for net in client.nets:
        net.carrier(False, client)
    ktap.within("a node is cut off: its watchdog ends it", 120, lambda: not client.alive())
    client.kill()
    ktap.within("another one has the map", 240, lambda: cluster.home("service") not in (client.name, None))
    ktap.equal("and what is on it still", kept_sum(cluster.at("service")), wanted)


def body(ktap, rig):
    cluster = Cluster(ktap, rig)
    ktap.within("three nodes are one cluster", 300, lambda: cluster.online() == set(NODES))
    cluster.commands("crm resource move storage")
    server, client = cluster.at("storage"), cluster.at("service")
    ktap.check("both groups run, on two nodes", server != client, server.name)

    load = Load(ktap, client)
    load.goes_on("it is written")
    cluster.commands("crm resource move service")
    moved = cluster.at("storage")
    ktap.check("the export has moved, the map has not", moved != server and cluster.at("service") == client,
               f"storage on {moved.name}, service on {cluster.home('service')}")
    load.goes_on("it is written there")
    lose_export(ktap, cluster, moved)
    load.goes_on("it is written again")
    load.end("no I/O has failed, all data were right")

    client.run("cp /srv/data/load /srv/data/kept && sync", check=True)
    wanted = kept_sum(client)
    cluster.commands()
    ktap.check("the map has moved", cluster.at("service") not in (client, moved), cluster.home("service"))
    ktap.equal("and what is on it", kept_sum(cluster.at("service")), wanted)

    lose_server(ktap, cluster)
    lose_client(ktap, cluster)


if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages"], check=True)
COMMANDS = len(page.commands(page.section(PAGE.read_text(), "Pacemaker")))
sys.exit(hosts.test(COMMANDS + 20, body))
