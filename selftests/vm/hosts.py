# SPDX-License-Identifier: GPL-2.0-only
"""Tests with several VMs: servers and clients on common networks, and KTAP.

    def body(ktap, rig):
        bed = hosts.Bed(rig, servers=1, clients=1)
        dev = bed.client.map(bed.server, "test", "vda")
        ktap.check("reads", bed.client.works(f"dd if={dev} of=/dev/null count=1"))

    sys.exit(hosts.test(1, body))

Host <n> is 10.<network>.0.<n>. A case is one call of Ktap.check(); a test ends
with as many as planned and with kernels that did not complain, or it fails.
"""

import concurrent.futures
import os
import re
import subprocess
import time

import vmlib

MB = 1 << 20
# Options of a session whose paths a host that is slow for a second or two does not lose.
PATIENT = "hb_interval_ms=1000 hb_missed_max=5 ack_timeout_ms=500 retry_count=6"
# A QEMU dies with the thread that started it: these live as long as the program.
booters = concurrent.futures.ThreadPoolExecutor(8)
slowness = 1        # of the test's kernel, see vmlib; every wait is longer by it


class Ktap:
    """Results of one test, on standard output as they come."""

    def __init__(self, planned):
        self.planned, self.number, self.failed = planned, 0, 0
        self.before, self.kept = None, []
        self.say(f"KTAP version 1\n1..{planned}")

    def say(self, line):
        if self.before:
            self.kept.append(line)
        else:
            print(line, flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            self.say(f"# {line}")

    def begin(self):
        """Keep what follows until count() or discard() says what it is worth."""
        self.before = self.number, self.failed

    def all_held(self):
        """Since begin()."""
        return self.before[1] == self.failed

    def count(self):
        self.before, lines, self.kept = None, self.kept, []
        for line in lines:
            self.say(line)

    def discard(self):
        """It remains to be read, but no case of it was run."""
        (self.number, self.failed), self.before = self.before, None
        lines, self.kept = self.kept, []
        for line in lines:
            self.note(line)

    def check(self, name, held, why=""):
        """One case; `why` is said only if it does not hold."""
        self.number += 1
        if not held:
            self.failed += 1
            self.note(why)
        self.say(f"{'ok' if held else 'not ok'} {self.number} {name}")
        return held

    def skip(self, cases, name, why):
        for _ in range(cases):
            self.number += 1
            self.say(f"ok {self.number} {name} # SKIP {why}")

    def equal(self, name, found, wanted):
        return self.check(name, found == wanted, f"found {found!r}, wanted {wanted!r}")

    def within(self, name, seconds, condition):
        """`condition` comes true in time; tells how long it took."""
        start = vmlib.clock()
        held = wait(condition, seconds)
        if held:
            self.note(f"{name}: after {vmlib.clock() - start:.1f} s")
        return self.check(name, held, f"not within {seconds * slowness} s")

    def verdict(self):
        if self.number != self.planned:
            self.note(f"planned {self.planned}, ran {self.number}")
            return 1
        return 1 if self.failed else 0


def wait(condition, seconds):
    """Until `condition`, which is polled; whether it came true in time."""
    end = vmlib.clock() + seconds * slowness
    while not condition():
        if vmlib.clock() > end:
            return False
        time.sleep(0.2)
    return True


class Host:
    """A VM with an address on every network and an rxe device on each."""

    def __init__(self, rig, name, number, nets, **options):
        self.number, self.nets = number, nets
        self.vm = rig.vm(name, nets=nets, start=False, **options)
        self.name = name

    def up(self):
        self.vm.start()
        self.sh(f"host_up {self.number} {len(self.nets)}")
        return self

    def result(self, cmd, timeout=60):
        """Run a command that may use lib.sh; a Result with code and out."""
        return self.vm.lib(cmd, timeout)

    def sh(self, cmd, timeout=60):
        """The same, and it must succeed; its output."""
        return self.vm.lib(cmd, timeout, check=True).out.strip()

    def works(self, cmd, timeout=60):
        return self.result(cmd, timeout).code == 0

    def retransmissions(self, network):
        """How often rdma_rxe sent something again."""
        return int(self.sh(f"cat /sys/class/infiniband/rxe{network}/ports/1/hw_counters/completer_retry_err"))

    def sha256(self, device, megabytes):
        return self.sh(f"drop_caches; dd if={device} bs=1M count={megabytes} iflag=direct status=none"
                       " | sha256sum").split()[0]


class Server(Host):
    def serve(self, parameters="sess_queue_depth=64"):
        self.sh(f"modprobe rtrs-server {parameters} && modprobe rnbd-server dev_search_path=/dev")
        return self

    def sessions(self):
        return self.sh("ls $SRV_CLASS 2>/dev/null || true").split()


class Client(Host):
    def path(self, server, network):
        return f"ip:10.{network}.0.{self.number}@ip:10.{network}.0.{server.number}"

    def line(self, server, session, device, mode="rw", paths=None, options=""):
        paths = " ".join(f"path={self.path(server, n + 1)}" for n in range(paths or len(self.nets)))
        return f"sessname={session} device_path={device} access_mode={mode} {paths} {options}"

    def try_map(self, *args, **kwargs):
        """The device's name, or the error's words; arguments as for line()."""
        line = self.line(*args, **kwargs)
        session, device = args[1:3]
        result = self.result(f"client_load && sysfs_write $CLT_CTL/map_device '{line}' && "
                             f"mapped_node {session} {device} || {{ echo $sysfs_error; false; }}", 120)
        return (result.out.strip(), "") if result.code == 0 else ("", result.out.strip())

    def map(self, *args, **kwargs):
        dev, error = self.try_map(*args, **kwargs)
        if not dev:
            raise vmlib.Error(f"{self.name}: cannot map: {error}")
        return dev

    def unmap(self, dev, how="normal"):
        self.sh(f"unmap_device {dev} {how}", 60)

    def state(self, dev):
        return self.sh(f"dev_state {dev}")

    def paths_up(self, session):
        return int(self.result(f"sess_paths_up {session}").out or 0)

    def path_file(self, session, server, network, name):
        return self.sh(f"cat '/sys/class/rtrs-client/{session}/paths/{self.path(server, network)}/{name}'")

    def path_bytes(self, session, server, network):
        words = self.path_file(session, server, network, "stats/rdma").split()
        return int(words[1]) + int(words[3])

    def path_connected(self, session, server, network):
        return self.path_file(session, server, network, "state") == "connected"

    def fio(self, dev, options):
        """Requests whose data are verified; a Job. None overlaps another in flight, see FIO_APART in lib.sh."""
        return self.vm.spawn(
            f"fio --name=job --filename={dev} --direct=1 --ioengine=libaio --iodepth=16 "
            f"--bsrange=512-64k --blockalign=512 --verify=crc32c --verify_fatal=1 --serialize_overlap=1 "
            f"--output-format=terse {options}")

    def load(self, dev, seconds, options="--size=16M"):
        """Mixed reads and writes whose data are verified, in the background; a Job."""
        return self.fio(dev, "--rw=randrw --verify_backlog=256 --io_size=100G --time_based "
                             f"--runtime={seconds * slowness} {options}")


class Bed:
    """Servers, numbered first, and clients on `networks` common networks; all up.

    They boot the rig's system, or one of their own.
    """

    def __init__(self, rig, servers=1, clients=1, networks=2, disk_mb=64,
                 server_system=None, client_system=None, serve=True, client_mem=None, **options):
        self.rig = rig
        self.nets = [rig.network(servers + clients) for _ in range(networks)]
        self.servers, self.clients = [], []
        for number in range(1, servers + 1):
            image = rig.dir / f"disk{number}.img"
            with open(image, "wb") as file:
                file.truncate(disk_mb * MB)
            self.servers.append(Server(rig, f"server{number}", number, self.nets,
                                       drives=[image], system=server_system, **options))
        if client_mem:
            options["mem"] = client_mem
        for number in range(servers + 1, servers + clients + 1):
            self.clients.append(Client(rig, f"client{number - servers}", number, self.nets,
                                       system=client_system, **options))
        self.server, self.client = self.servers[0], self.clients[0]
        for done in [booters.submit(host.up) for host in self.servers + self.clients]:
            done.result()
        for server in self.servers:
            if serve:
                server.serve()

    def path_returned(self, ktap, session, network):
        """The first pair's path is connected; tell, and repair, if it is rdma_rxe that is stuck."""
        if self.client.path_connected(session, self.server, network):
            return True
        self.mend_rxe(ktap, network)
        return False

    def mend_rxe(self, ktap, network):
        """Renew rdma_rxe's devices of the first pair that are stuck, and tell.

        Their queue pair that all connects go through was seen in state ERR after a network had gone:
        see lib.sh. No path of that device connects again then, whatever runs on top.
        """
        for host in (self.server, self.client):
            stuck = host.result(f"host_gsi_broken {network}")
            if stuck.code == 0:
                ktap.note(f"rdma_rxe broke on {host.name}, network {network}; renewing it: {stuck.out}")
                host.sh(f"host_rxe_renew {network}")


def max_latency_ms(terse):
    """Longest time a request took, from fio's terse output, version 3."""
    fields = next(line for line in terse.splitlines() if line.startswith("3;")).split(";")
    return max(float(fields[38]), float(fields[79])) / 1000


def show(rig, ktap):
    """What the kernels said last, or of their crash; and how their networks are."""
    for vm in rig.vms:
        lines = vm.splats()
        try:
            if not lines and vm.alive():
                lines = vm.log[-60:] + vm.run("rdma resource show qp | grep 'type GSI'; ip neigh; ip -s link",
                                              timeout=20).out.splitlines() + vm.queues()
        except vmlib.Error:
            pass
        ktap.note(f"{vm.name}'s kernel:")
        ktap.note("\n".join(lines or vm.console.read_text(errors="replace").splitlines()[-60:]))


def test(planned, body, **rig_options):
    """Run a test; its exit status."""
    global slowness
    vmlib.die_on_signals()
    ktap = Ktap(planned)
    with vmlib.Rig(os.environ.get("KVER") or "6.12", **rig_options) as rig:
        slowness = rig.system.slowness
        try:
            body(ktap, rig)
            ktap.note(vmlib.keeper.summary())
            if ktap.verdict():
                show(rig, ktap)
            rig.check()
        except (vmlib.Error, OSError, ValueError, subprocess.SubprocessError) as error:
            ktap.note(vmlib.keeper.summary())
            show(rig, ktap)
            ktap.note(error)
            ktap.say(f"Bail out! {re.sub(chr(10) + '.*', '', str(error), flags=re.S)}")
            return 1
        finally:
            if ktap.before:         # interrupted
                ktap.count()
    return ktap.verdict()
