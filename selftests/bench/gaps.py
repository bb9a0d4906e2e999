#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long I/O stands still when something breaks, with our modules and with mainline's.

A session over two networks, from one VM to another and within one, with all settings as they are by default, and
eight threads that read and write 4 KiB all the time. Per round one thing breaks, and is mended after a while.
The medians, and in parentheses the largest, of all rounds are told as a table; the times of the
host are in them, so it should have nothing else to do.

    gaps.py [--rounds N] [--kver <kernel release or series>] [--contenders ours,mainline] [--machines one,two]
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vm"))
import bench
import figures
import hosts
import vmlib
from contenders import names_of

HERE = pathlib.Path(__file__).resolve().parent
CONTENDERS = ["ours", "mainline"]
BROKEN_S = 5        # longer than it takes to notice
SETTLED_S = 3       # all paths carry I/O for so long before something breaks
ASK_S = 5           # so often
LIMIT_S = 120       # what is not back by then never is
SESSION = "gaps"


class Probe:
    """ioprobe in the client, somebody who looks at its first path all the time, and all that both have said."""

    # P <ms> <requests of the path so far>; times as ioprobe has them
    # Of the path's counters.
    WATCH = """while sleep 0.05; do
        read -r up _ </proc/uptime; {{ read -r reads _ writes _ <'{file}'; }} 2>/dev/null || continue
        echo "P ${{up%.*}}${{up#*.}}0 $((reads + writes))"; done"""

    def __init__(self, vm, dev, counters):
        self.lines = []         # [kind, ms, numbers ...]
        self.jobs = [vm.spawn(command, sink=self._taker())
                     for command in (f"exec /tmp/ioprobe {dev}", self.WATCH.format(file=counters))]

    def _taker(self):
        left = ""

        def take(data):
            nonlocal left
            *lines, left = (left + data.decode()).split("\n")
            self.lines += [[kind, *map(int, words)] for kind, *words in map(str.split, lines)]
        return take

    def running(self):
        return all(job.running() for job in self.jobs)

    def of(self, kind, since):
        return [words for was, *words in self.lines if was == kind and words[0] >= since]

    def of_device(self):
        """[(ms, requests that ended without error so far)]"""
        return [(ms, requests - errors) for ms, requests, errors in self.of("N", 0)]

    def of_path(self):
        return self.of("P", 0)

    def stop(self):
        for job in self.jobs:
            job.kill()
            job.wait(30)


def first_more(counts, since):
    """When there was first more than at that time; None if there is not."""
    have = max((count for ms, count in counts if ms <= since), default=0)
    return next((ms for ms, count in counts if ms > since and count > have), None)


class Log:
    """What hosts.Bed wants to note."""

    @staticmethod
    def note(text):
        print(f"# {text}", file=sys.stderr, flush=True)


class TwoMachines:
    """Client and server in a VM each, on networks of the host."""

    def __init__(self, rig, system):
        self.bed = hosts.Bed(rig, mem="640M", server_system=system, client_system=system)
        self.server, self.client = self.bed.server, self.bed.client
        self.vm, self.sh = self.client.vm, self.client.sh
        self.dev = self.client.map(self.server, SESSION, "vda")

    def cut(self, network):
        self.bed.nets[network - 1].cut()

    def heal(self, network):
        self.bed.nets[network - 1].heal()

    def carrier(self, network, up):
        self.bed.nets[network - 1].carrier(up, self.vm)

    def path(self, network):
        return self.client.path(self.server, network)

    def returned(self, network):
        """Whether the path is connected; while rdma_rxe is stuck, it is renewed."""
        return self.bed.path_returned(Log, SESSION, network)

    def server_killed(self):
        self.server.vm.kill()

    def server_boots(self):
        self.server.up().serve()


class OneMachine:
    """Client and server in one VM, its networks are bridges."""

    def __init__(self, rig, system):
        self.vm = rig.vm("one", smp=2, mem="1024M", system=system)
        self.dev = self.sh(f'topo_up 2 && rtrs_load && map_device {SESSION} "$(backing_null 64)"', 120).splitlines()[-1]

    def sh(self, command, timeout=60):
        return self.vm.lib(command, timeout, check=True).out.strip()

    def cut(self, network):
        self.sh(f"path_cut {network}")

    def heal(self, network):
        self.sh(f"path_heal {network}")

    def carrier(self, network, up):
        self.sh(f"link_{'up' if up else 'down'} {network}")

    def path(self, network):
        return self.sh(f"path_pair {network}")

    def returned(self, network):
        """As that of two machines."""
        if self.vm.lib(f"path_is {SESSION} {network} connected").code == 0:
            return True
        stuck = self.vm.lib(f"rxe_gsi_broken {network}")
        if stuck.code == 0:
            Log.note(f"rdma_rxe broke, network {network}; renewing it: {stuck.out}")
            self.sh(f"rxe_renew {network}")
        return False


class Rounds:
    """One contender on machines of its own."""

    def __init__(self, rig, machines):
        self.on = machines
        binary = rig.dir / "ioprobe"
        subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-pthread", "-o", binary, HERE / "ioprobe.c"],
                       check=True)
        self.on.vm.push(binary, "/tmp/ioprobe")
        self.on.vm.run("chmod +x /tmp/ioprobe", check=True)
        self.on.sh(f"echo round-robin >$CLT_CLASS/{SESSION}/mpath_policy")
        self.probe = Probe(self.on.vm, self.on.dev, self.counters(1))

    def counters(self, network):
        return f"/sys/class/rtrs-client/{SESSION}/paths/{self.on.path(network)}/stats/rdma"

    def now(self):
        return int(self.on.sh("uptime_ms"))

    def carries(self, network):
        """Whether the path takes I/O."""
        def served():
            reads, _, writes, *_ = map(int, self.on.sh(f"cat '{self.counters(network)}'").split())
            return reads + writes

        if not self.on.returned(network):
            return False
        have = served()
        return hosts.wait(lambda: served() > have, 1)

    def whole(self):
        """Everything works, before something breaks."""
        if not self.probe.running():
            self.probe = Probe(self.on.vm, self.on.dev, self.counters(1))
        if not hosts.wait(lambda: self.carries(1) and self.carries(2), 2 * LIMIT_S):
            raise vmlib.Error("paths do not come back")
        time.sleep(SETTLED_S)

    def took(self, since, counts):
        """Milliseconds from `since` until there are more, as the client has them; inf if there never are."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            if hosts.wait(lambda: first_more(counts(), since), ASK_S):
                return first_more(counts(), since) - since
            # Whatever it is that does not come back, a stuck rdma_rxe is to be renewed.
            self.on.returned(1)
        return math.inf

    def measure(self, break_it, mend_it, of_device=False, mends_slowly=False):
        """(longest time without an answer, errors, time until the path, or the device, is back) in ms.

        Where mending takes its time it is no part of the last one.
        """
        self.whole()
        begun = self.now()
        break_it()
        time.sleep(BROKEN_S)
        mended = self.now()
        mend_it()
        returned = self.took(self.now() if mends_slowly else mended,
                             self.probe.of_device if of_device else self.probe.of_path)
        time.sleep(1)
        without_any = math.inf if math.isinf(returned) else 0
        return (max((length for _, length in self.probe.of("G", begun)), default=without_any),
                len(self.probe.of("E", begun)), returned)

    def black_hole(self):
        return self.measure(lambda: self.on.cut(1), lambda: self.on.heal(1))

    def no_carrier(self):
        return self.measure(lambda: self.on.carrier(1, False), lambda: self.on.carrier(1, True))

    def no_path(self):
        def each(what):
            for network in (1, 2):
                what(network)

        return self.measure(lambda: each(self.on.cut), lambda: each(self.on.heal), of_device=True)

    def server_killed(self):
        return self.measure(self.on.server_killed, self.on.server_boots, of_device=True, mends_slowly=True)


THINGS = [
    ("one network swallows everything", Rounds.black_hole),
    ("one network has no carrier", Rounds.no_carrier),
    ("both networks swallow everything", Rounds.no_path),
    ("the server loses power, and boots", Rounds.server_killed),
]
MACHINES = {"one": OneMachine, "two": TwoMachines}
COLUMNS = ["no answer for, ms", "errors", "back after, ms"]


def told(values):
    """Median and maximum."""
    text = ["never" if math.isinf(value) else f"{value:.0f}" for value in (statistics.median_high(values), max(values))]
    return text[0] if text[0] == text[1] else f"{text[0]} ({text[1]})"


def contender_rows(name, machines, options):
    with vmlib.Rig(options.kver) as rig:
        system = rig.system if name == "ours" else vmlib.System(rig.dir, rig.release, [vmlib.mainline(rig.release)])
        rounds = Rounds(rig, MACHINES[machines](rig, system))
        for thing, run in THINGS:
            if run is Rounds.server_killed and machines == "one":
                continue
            found = []
            for number in range(options.rounds):
                found.append(run(rounds))
                Log.note(f"{name}, {machines}, {thing}, {number + 1}: " + ", ".join(map(str, found[-1])))
            yield [thing, machines, name, *(told(values) for values in zip(*found))]
        for vm in rig.vms:
            for line in [line for line in vm.splats() if vmlib.SPLAT.search(line)][:3]:
                Log.note(f"{name}, {vm.name}: {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kver", default="6.12")
    parser.add_argument("--contenders", type=names_of(CONTENDERS), default=CONTENDERS)
    parser.add_argument("--machines", type=names_of(MACHINES), default=list(MACHINES))
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("at least one round")
    bench.build(options.kver)
    rows = [row for machines in options.machines for name in options.contenders
            for row in contender_rows(name, machines, options)]
    order = [thing for thing, _ in THINGS]
    rows.sort(key=lambda row: order.index(row[0]))
    print(figures.columns(["what breaks", "machines", "modules", *COLUMNS], rows))
    return 0


if __name__ == "__main__":
    vmlib.die_on_signals()
    sys.exit(main())
