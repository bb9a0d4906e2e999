#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Our modules against mainline's, as client and as server, and on two kernels.

The argument says whose modules the client has and whose the server, as
ours-mainline. The server has the same kernel, with .cross 6.1 instead of 6.12 and 6.12 instead of any other, and
with .newest the newest one. Mainline's are built from the distribution's source package; "ulp" stands for its rnbd
on top of our transport.

Mainline's client tries again 31 s after a path was lost, whoever its server is; it is
told to at once, but with .patient, where it is left to itself.

With .quick there are two cases instead of four: one path with always_invalidate and two without, or, with .cross
and a client on 6.1, the other way round. So each pair that has ours has all four in `make test`.

Where one side is mainline's, a path is lost with the first retransmission: rdma_rxe executes the registrations
that mainline has in its send queues again. A host that starves a VM causes one. So a setting in which something failed,
and in which rdma_rxe counted retransmissions on a network that the test had left alone, is begun anew with other VMs.
"""
# vm: args=ours-mainline.quick,mainline-ours.quick,ours-ours.quick,ulp-ulp.quick timeout=600
# vm: args=mainline-mainline.quick,mainline-mainline.cross.quick timeout=600
# vm: args=ours-mainline.cross.quick,mainline-ours.cross.quick,ours-ours.cross.quick timeout=900
# vm: args=ours-mainline,mainline-ours,ours-ours,mainline-mainline,ulp-ulp timeout=900
# vm: args=ours-mainline.cross,mainline-ours.cross,ours-ours.cross,mainline-mainline.cross timeout=900
# vm: args=ours-mainline.newest,mainline-ours.newest,ours-ours.newest timeout=900
# vm: args=mainline-ours.patient timeout=900

import contextlib
import itertools
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

PAIR, *MORE = (sys.argv[1:] or ["ours-mainline"])[0].split(".")
# always_invalidate and number of paths
SETTINGS = list(itertools.product("YN", (1, 2)))
KERNELS = ["6.12", "6.1"]
if "quick" in MORE:
    other_way = "cross" in MORE and os.environ.get("KVER", KERNELS[0]).startswith("6.1.")
    SETTINGS = SETTINGS[1:3] if other_way else [SETTINGS[0], SETTINGS[3]]
ATTEMPTS = 4                # at a setting, if the host disturbs it
NOTICE_S = 40
RETURN_S = 75
CASES, CASES_FAILOVER, CASES_RESTART = 16, 14, 3
FRAGILE = "rdma_rxe of 6.1 breaks mainline's server: it registers chunks again when it retransmits"
SECTORS = 64 << 11          # of the server's disk


def server_kernel(client):
    """The kernel of the server, if it is another than the client's."""
    if "newest" in MORE:
        return "newest"
    if "cross" in MORE:
        return KERNELS[1] if client.startswith(KERNELS[0]) else KERNELS[0]
    return None


def system(rig, kind, other_kernel=None):
    """What a host with these modules boots."""
    kver = other_kernel or rig.release
    if other_kernel:
        subprocess.run(["make", "-s", "-C", vmlib.TOP, "modules", f"KVER={kver}",
                        f"BUILD={vmlib.build_dir()}"], check=True, stdout=sys.stderr)
    if kind == "ours":
        return vmlib.System(rig.dir, kver)
    if kind == "mainline":
        return vmlib.System(rig.dir, kver, [vmlib.mainline(kver)])
    release = vmlib.System(rig.dir, kver).release
    return vmlib.System(rig.dir, kver, [vmlib.build_dir() / release / "modules",
                                        vmlib.mainline(kver, "ulp")])


class Case:
    """One setting of always_invalidate and number of paths."""

    def __init__(self, ktap, bed, ours, options, patient, invalidate, paths):
        release = bed.server.vm.system.release
        self.fragile = invalidate == "Y" and bed.server not in ours and release.startswith("6.1.")
        # To reconnect, rather than left to itself.
        self.told = bed.client not in ours and not patient
        self.ktap, self.bed, self.ours = ktap, bed, ours
        self.server, self.client = bed.server, bed.client
        self.options, self.invalidate, self.paths = options, invalidate, paths
        self.name = f"{invalidate}{paths}"
        self.sent_again = 0         # by itself, not for what the test did to a network

    def check(self, what, held, why=""):
        return self.ktap.check(f"{self.name}: {what}", held, why)

    def shell(self, what, command, timeout=60):
        result = self.client.result(command, timeout)
        return self.check(what, result.code == 0, result.out)

    def run(self):
        self.bed.rig.check()            # and forget what the kernels said of the case before
        self.server.serve(f"sess_queue_depth=64 always_invalidate={self.invalidate}")
        self.greet()
        self.dev, error = self.client.try_map(self.server, "interop", "vda", paths=self.paths,
                                              options=self.options)
        if not self.check("maps", self.dev, error):
            raise vmlib.Error("not mapped")
        with self.left_alone(*range(1, self.paths + 1)):
            self.data()
            self.ranges()
            self.resize()
            self.quiet()
        if self.paths > 1:
            if self.fragile:
                self.ktap.skip(CASES_FAILOVER, f"{self.name}: paths lost under load", FRAGILE)
            else:
                self.failover()
            self.restart()
        self.check("unmaps", self.client.works(f"unmap_device {self.dev}"))
        self.check("both sides unload", all(host.works("rtrs_unload", 60)
                                            for host in (self.client, self.server)))

    @contextlib.contextmanager
    def left_alone(self, *networks):
        """Count what is sent again on networks to which the test does nothing meanwhile."""
        def count():
            return sum(host.retransmissions(network) for network in networks for host in (self.client, self.server))
        before = count()
        try:
            yield
        finally:
            self.sent_again += count() - before

    def greet(self):
        """rdma_cm can miss a neighbour's first answer; mainline's client asks once and gives up after 31 s."""
        if self.client not in self.ours:
            for network in (1, 2):
                # A packet that waits for a neighbour who was asked in vain just before is thrown away.
                self.client.sh(f"wait_for 10 ping -c 1 -W 1 10.{network}.0.{self.server.number}")

    def data(self):
        for rw in ("randwrite", "write"):
            job = self.client.fio(self.dev, f"--rw={rw} --size=8M --do_verify=1 --bsrange=512-120k")
            result = job.wait(120)
            self.check(f"{rw}: what is written is read", result.code == 0, result.out)
        job = self.client.fio(self.dev, "--rw=randwrite --size=1M --bs=4k --blockalign=4k --fsync=8 --do_verify=1")
        self.check("flush: written and read", job.wait(120).code == 0)
        self.shell("FUA: written", f"dd if=/dev/urandom of=/tmp/data bs=64k count=4 status=none && "
                   f"dd if=/tmp/data of={self.dev} bs=4k oflag=direct,dsync status=none")
        self.shell("FUA: read", f"drop_caches; cmp -n 262144 /tmp/data {self.dev}")
        self.check("the server has it",
                   self.server.sha256("/dev/vda", 8) == self.client.sha256(self.dev, 8))

    def ranges(self):
        zero = f"drop_caches; dd if={self.dev} bs=64k skip=1 count=1 iflag=direct status=none | cmp -n 65536 - /dev/zero"
        self.shell("write zeroes", f"blkdiscard -z -o 65536 -l 65536 {self.dev}")
        self.shell("write zeroes: they are there", zero)
        self.shell("discard", f"blkdiscard -o 131072 -l 1048576 {self.dev}")
        self.shell("what is beside both is there", f"drop_caches; cmp -n 65536 /tmp/data {self.dev}")

    def resize(self):
        node = f"/sys/block/{pathlib.Path(self.dev).name}"
        self.client.sh(f"echo {SECTORS // 2} >{node}/rnbd/resize")
        self.check("resize: smaller", self.client.sh(f"cat {node}/size") == str(SECTORS // 2))
        self.client.sh(f"echo {SECTORS} >{node}/rnbd/resize")
        self.check("resize: as before", self.client.sh(f"cat {node}/size") == str(SECTORS))

    def quiet(self):
        """So far nothing went wrong, so our modules have no error to tell."""
        errors = [line for host in self.ours
                  for line in host.result("dmesg -r | grep -E '^<[0-3]>.*(rtrs|rnbd)'").out.splitlines()]
        self.check("no errors are told", not errors, "\n".join(errors))

    def connected(self, network):
        return self.client.path_connected("interop", self.server, network)

    def moves(self, network):
        have = self.client.path_bytes("interop", self.server, network)
        return hosts.wait(lambda: self.client.path_bytes("interop", self.server, network) > have + 50000, 20)

    def reconnects(self, network):
        return self.client.path_file("interop", self.server, network, "stats/reconnects").split()[0]

    def reconnect(self, network):
        """It may fail, as right after a cut; then the client tries again in its own time."""
        self.client.result(f"sysfs_write $CLT_CLASS/interop/paths/{self.client.path(self.server, network)}/reconnect 1")

    def returned(self, network):
        if self.told and not self.connected(network):
            self.reconnect(network)
        return self.bed.path_returned(self.ktap, "interop", network)

    def lose(self, what, network, break_it, mend_it=lambda: None):
        """A path is lost under load, the other goes on, it returns."""
        before = self.reconnects(network)
        with self.left_alone(3 - network):
            break_it()
            # One of ours may be back before anybody looks.
            self.ktap.within(f"{self.name}: {what}: noticed", NOTICE_S,
                             lambda: not self.connected(network) or self.reconnects(network) != before)
            self.check(f"{what}: the other path goes on", self.moves(3 - network))
        mend_it()
        self.greet()
        self.ktap.within(f"{self.name}: {what}: the path returns", RETURN_S, lambda: self.returned(network))
        self.check(f"{what}: it carries I/O", self.moves(network))

    def failover(self):
        client, server = self.client, self.server
        client.sh("echo round-robin >$CLT_CLASS/interop/mpath_policy")
        load = client.fio(self.dev, "--rw=randrw --bs=4k --blockalign=4k --size=8M --verify_backlog=64 --io_size=100G "
                                    "--time_based --runtime=300")
        self.check("load on both paths", self.moves(1) and self.moves(2))
        one = f"$CLT_CLASS/interop/paths/{client.path(server, 1)}"
        self.lose("client disconnects", 1, lambda: client.sh(f"sysfs_write {one}/disconnect 1"),
                  lambda: self.told or self.reconnect(1))
        two = f"$SRV_CLASS/interop/paths/{client.path(server, 2)}"
        self.lose("server disconnects", 2, lambda: server.sh(f"sysfs_write {two}/disconnect 1"))
        net = self.bed.nets[0]
        self.lose("network cut", 1, net.cut, net.heal)
        self.check("the load never failed", load.running(), load.running() or load.wait(1).out)
        # Told to end, fio was seen to wait for an event with no request left in the block layer.
        client.sh("killall -9 fio; while pidof fio >/dev/null; do sleep 0.1; done")
        load.wait(60)

    def digest(self):
        with self.left_alone(1, 2):
            return self.client.sha256(self.dev, 8)

    def restart(self):
        """The server's modules go and come; the device opens again by itself."""
        digest = self.digest()
        self.server.sh("module_gone rnbd-server rtrs-server rtrs-core", 60)
        self.ktap.within(f"{self.name}: server gone: the device closes", NOTICE_S,
                         lambda: self.client.state(self.dev) == "closed")
        self.server.serve(f"sess_queue_depth=64 always_invalidate={self.invalidate}")
        for network in (1, 2) if self.told else ():
            self.reconnect(network)
        self.ktap.within(f"{self.name}: server back: the device opens", RETURN_S,
                         lambda: self.client.state(self.dev) == "open")
        self.check("server back: the data are there", self.digest() == digest)


def attempt(ktap, rig, case, again):
    """Whether the case is settled: it is not if it failed, the host is to blame, and it may be run again."""
    error = None
    ktap.begin()
    try:
        case.run()
        rig.check()
    except vmlib.Error as err:
        error = err
    if again and case.sent_again and (error or not ktap.all_held()):
        ktap.note(error or "")
        return False
    ktap.count()
    if error:
        raise error
    return True


def body(ktap, rig):
    client, server = PAIR.split("-")
    systems = {"client_system": system(rig, client),
               "server_system": system(rig, server, server_kernel(rig.release))}
    # How soon a loss is noticed is for other tests. What one sends late, the other must not take for one.
    options = hosts.PATIENT if client == "ours" else ""
    bed = None
    for invalidate, paths in SETTINGS:
        for again in reversed(range(ATTEMPTS if "mainline" in PAIR else 1)):
            bed = bed or hosts.Bed(rig, mem="640M", serve=False, **systems)
            ours = [host for host, kind in ((bed.client, client), (bed.server, server)) if kind != "mainline"]
            ktap.note(f"client: {client} on {bed.client.vm.system.release}, "
                      f"server: {server} on {bed.server.vm.system.release}")
            case = Case(ktap, bed, ours, options, "patient" in MORE, invalidate, paths)
            if attempt(ktap, rig, case, again):
                break
            ktap.discard()
            ktap.note(f"{case.name}: begun anew, rdma_rxe sent {case.sent_again} packets of the above again by itself")
            rig.clear()
            bed = None


sys.exit(hosts.test(sum(CASES + (paths > 1) * (CASES_FAILOVER + CASES_RESTART) for _, paths in SETTINGS), body))
