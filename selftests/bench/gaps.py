#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long I/O stands still when something breaks, with our modules and with mainline's.

Two VMs, two networks, a session over both with all settings as they are by default, and eight
threads that read and write 4 KiB all the time. Per round one thing breaks, and is mended after a while.
The medians, and in parentheses the largest, of all rounds are told as a table; the times of the
host are in them, so it should have nothing else to do.

    gaps.py [--rounds N] [--kver <kernel release or series>] [--contenders ours,mainline]
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vm"))
import figures
import hosts
import vmlib

HERE = pathlib.Path(__file__).resolve().parent
CONTENDERS = ["ours", "mainline"]
BROKEN_S = 5        # longer than it takes to notice
SETTLED_S = 3       # all paths carry I/O for so long before something breaks
LIMIT_S = 120       # what is not back by then never is
SESSION = "gaps"


class Probe:
    """ioprobe in the client, and all that it has said."""

    def __init__(self, vm, dev):
        self.vm, self.dev, self.text = vm, dev, ""
        self.lines = []         # [kind, ms, numbers ...]
        self.job = vm.spawn(f"exec /tmp/ioprobe /dev/{dev}", sink=self._take)

    def _take(self, data):
        *lines, self.text = (self.text + data.decode()).split("\n")
        self.lines += [[kind, *map(int, words)] for kind, *words in map(str.split, lines)]

    def good(self):
        """Requests that ended without error so far."""
        return next((words[1] - words[2] for kind, *words in reversed(self.lines) if kind == "N"), 0)

    def of(self, kind, since):
        return [words for was, *words in self.lines if was == kind and words[0] >= since]

    def stop(self):
        self.job.kill()
        self.job.wait(30)


class Log:
    """What hosts.Bed wants to note."""

    @staticmethod
    def note(text):
        print(f"# {text}", file=sys.stderr, flush=True)


class Rounds:
    """One contender on two VMs of its own."""

    def __init__(self, rig, system):
        self.bed = hosts.Bed(rig, mem="640M", server_system=system, client_system=system)
        self.server, self.client = self.bed.server, self.bed.client
        binary = rig.dir / "ioprobe"
        subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-pthread", "-o", binary, HERE / "ioprobe.c"],
                       check=True)
        self.client.vm.push(binary, "/tmp/ioprobe")
        self.client.vm.run("chmod +x /tmp/ioprobe", check=True)
        self.dev = self.client.map(self.server, SESSION, "vda").removeprefix("/dev/")
        self.client.sh(f"echo round-robin >$CLT_CLASS/{SESSION}/mpath_policy")
        self.probe = None

    def now(self):
        return int(self.client.sh("uptime_ms"))

    def carries(self, network):
        """Whether the path takes I/O; while rdma_rxe is stuck, it is renewed."""
        if not self.bed.path_returned(Log, SESSION, network):
            return False
        have = self.client.path_bytes(SESSION, self.server, network)
        return hosts.wait(lambda: self.client.path_bytes(SESSION, self.server, network) > have, 1)

    def whole(self):
        """Everything works, before something breaks."""
        if not self.probe or not self.probe.job.running():
            self.probe = Probe(self.client.vm, self.dev)
        if not hosts.wait(lambda: self.carries(1) and self.carries(2), 2 * LIMIT_S):
            raise vmlib.Error("paths do not come back")
        time.sleep(SETTLED_S)

    def took(self, since, condition):
        """Milliseconds from `since` until it comes true, as the client has them; inf if it does not."""
        return self.now() - since if hosts.wait(condition, LIMIT_S) else math.inf

    def measure(self, break_it, mend_it, back):
        """(longest time without an answer, errors, time until back) in ms."""
        self.whole()
        begun = self.now()
        break_it()
        time.sleep(BROKEN_S)
        mend_it()
        mended = self.now()
        returned = self.took(mended, back)
        time.sleep(1)
        without_any = math.inf if math.isinf(returned) else 0
        return (max((length for _, length in self.probe.of("G", begun)), default=without_any),
                len(self.probe.of("E", begun)), returned)

    def black_hole(self):
        net = self.bed.nets[0]
        return self.measure(net.cut, net.heal, lambda: self.carries(1))

    def no_carrier(self):
        net, vm = self.bed.nets[0], self.client.vm
        return self.measure(lambda: net.carrier(False, vm), lambda: net.carrier(True, vm), lambda: self.carries(1))

    def no_path(self):
        def each(what):
            for net in self.bed.nets:
                what(net)

        def works():
            have = self.probe.good()
            return hosts.wait(lambda: self.probe.good() > have, 0.5)
        return self.measure(lambda: each(lambda net: net.cut()), lambda: each(lambda net: net.heal()), works)

    def server_killed(self):
        def works():
            have = self.probe.good()
            return hosts.wait(lambda: self.probe.good() > have, 0.5)
        return self.measure(self.server.vm.kill, lambda: self.server.up().serve(), works)


THINGS = [
    ("one network swallows everything", Rounds.black_hole),
    ("one network has no carrier", Rounds.no_carrier),
    ("both networks swallow everything", Rounds.no_path),
    ("the server loses power, and boots", Rounds.server_killed),
]
COLUMNS = ["no answer for, ms", "errors", "back after, ms"]


def told(values):
    """Median and maximum."""
    text = ["never" if math.isinf(value) else f"{value:.0f}" for value in (statistics.median_high(values), max(values))]
    return text[0] if text[0] == text[1] else f"{text[0]} ({text[1]})"


def contender_rows(name, options):
    with vmlib.Rig(options.kver) as rig:
        system = rig.system if name == "ours" else vmlib.System(rig.dir, rig.release, [vmlib.mainline(rig.release)])
        rounds = Rounds(rig, system)
        for thing, run in THINGS:
            found = []
            for number in range(options.rounds):
                found.append(run(rounds))
                Log.note(f"{name}, {thing}, {number + 1}: " + ", ".join(map(str, found[-1])))
            yield [thing, name, *(told(values) for values in zip(*found))]
        for vm in rig.vms:
            for line in [line for line in vm.splats() if vmlib.SPLAT.search(line)][:3]:
                Log.note(f"{name}, {vm.name}: {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kver", default="6.12")
    parser.add_argument("--contenders", type=lambda names: names.split(","), default=CONTENDERS)
    options = parser.parse_args()
    if options.rounds < 1 or set(options.contenders) - set(CONTENDERS):
        parser.error(f"at least one round; contenders are {', '.join(CONTENDERS)}")
    rows = [row for name in options.contenders for row in contender_rows(name, options)]
    order = [thing for thing, _ in THINGS]
    rows.sort(key=lambda row: order.index(row[0]))
    print(figures.columns(["what breaks", "modules", *COLUMNS], rows))
    return 0


if __name__ == "__main__":
    vmlib.die_on_signals()
    sys.exit(main())
