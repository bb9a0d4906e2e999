#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Instructions per I/O of this transport and of others, on one deterministic machine.

For each contender a VM boots with one virtual CPU on which an instruction takes a nanosecond; client and
server both live in it (guest.sh), on a network of each MTU in turn, and a plugin of QEMU counts what runs
where (plugin.c). Each load runs with n I/Os and with 2n; the difference is what n cost. After
that timing.py has the same contenders take turns in one VM, by the clock on the wall. See
Documentation/performance.rst.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "vm")]
import counted
import figures
import report
import timing
import vmlib
from contenders import BOOT_TIMEOUT, CONTENDERS, DISK_MB, LOADS, add_stock, chosen, loads_of

MTUS = [1500, 9000]
ROUNDS = 5
# Of a run with all contenders, from its begin to its end, where its rounds are more than timing.MIN_ROUNDS.
MINUTES = 28
MIN_MTU = 1280          # of IPv6, which lib.sh configures
MEMORY = "1024M"


class Guest(counted.Guest):
    """A VM for a contender, which is up from the first use() on."""

    def __init__(self, vm, contender):
        super().__init__(vm)
        self.contender = contender
        self.device = None
        self.options = []       # words for the floor
        self.sh(f"bench_disk {DISK_MB}")

    def use(self, mtu):
        """A network of this MTU, and that of the last call no more."""
        if self.device:
            self.sh(f"bench_down {self.contender.how} && bench_net_down")
            # Modules will be elsewhere when they are loaded again.
            self.forget_symbols()
        self.device = self.sh(f"bench_net {mtu} && bench_{self.contender.how}").splitlines()[-1]

    def once(self, load, ios):
        """What so many I/Os took, and by function."""
        said, functions = self.count(f"bench_measure {self.device} {load.rw} {load.bs} {load.depth} {ios} "
                                     f"{load.jobs} {load.batch} "
                                     + " ".join(self.options))
        return dict(zip(("nanoseconds", "packets", "switches"), map(float, said.split()))), functions

    def measure(self, load):
        """The row of one load, but for whose it is."""
        short, long = self.once(load, load.ios), self.once(load, 2 * load.ios)
        costs, functions = (figures.per_io(*pair, load.ios) for pair in zip(short, long))
        return {"load": load.name, "ios": load.ios, **figures.row(costs, functions, self.contender.own)}


class Bench:
    """One run: the rig, what was measured, what failed."""

    def __init__(self, rig, options):
        self.rig, self.options = rig, options
        self.contenders = [item for item in options.contenders if loads_of(item, options.loads)]
        self.counter = counted.Counter(rig.dir)
        self.systems = {kind: self.system(kind) for kind in {item.modules for item in self.contenders}}
        self.done, self.errors = {}, []
        self.source = output("git", "-C", vmlib.TOP, "describe", "--always", "--dirty")
        self.start = time.monotonic()

    def system(self, kind):
        """What a VM with these modules boots; with stock ones it has none of ours."""
        release = self.rig.release
        modules = None if kind == "ours" else [vmlib.mainline(release)] if kind == "mainline" else []
        system = vmlib.System(self.rig.dir, release, modules)
        system.programs.append(self.counter.program)
        if kind == "stock":
            add_stock(system, self.rig)
        return system

    def say(self, words):
        print(f"[{time.monotonic() - self.start:5.0f} s] {words}", flush=True)

    @contextlib.contextmanager
    def booted(self, name, modules, rig=None, **options):
        """A VM of this kind of contenders that is watched, see vmlib.Vm.booted()."""
        vm = (rig or self.rig).vm(name, start=False, system=self.systems[modules], **options)
        self.counter.watch(vm)
        with vm.booted(BOOT_TIMEOUT):
            yield vm

    def job(self, contender):
        """All loads on one contender, in a VM of its own."""
        with self.booted(contender.name, contender.modules, mem=MEMORY) as vm:
            guest = Guest(vm, contender)
            for mtu in self.options.mtus:
                guest.use(mtu)
                for load in loads_of(contender, self.options.loads):
                    row = {"contender": contender.name, "mtu": mtu, **guest.measure(load)}
                    self.done.setdefault((mtu, contender), []).append(row)
                    self.say(f"{contender.name}, MTU {mtu}: {load.name}: "
                             f"{row['instructions'] / 1000:.1f} thousand instructions per I/O")

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.vms) as pool:
            waits = {pool.submit(self.job, item): item for item in self.contenders}
            try:
                for wait in concurrent.futures.as_completed(waits):
                    self.ended(wait, waits[wait])
            except KeyboardInterrupt:
                self.errors.append("interrupted")
                pool.shutdown(wait=False, cancel_futures=True)
                self.rig.close()

    def ended(self, wait, contender):
        try:
            wait.result()
        except (vmlib.Error, OSError, ValueError, subprocess.SubprocessError) as error:
            self.errors.append(f"{contender.name}: {error}")
            self.say(self.errors[-1])

    def rows(self):
        """In the order of the tables, not that of the VMs' ends."""
        return [row for mtu in self.options.mtus for item in self.contenders for row in self.done.get((mtu, item), [])]

    def results(self):
        return {"format": figures.FORMAT,
                "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "source": self.source,
                "kernel": self.rig.release,
                "qemu": output(vmlib.QEMU, "--version").splitlines()[0],
                "fio": output("fio", "--version"),
                "settings": {"accel": vmlib.accel_args(self.rig.accel), "memory": MEMORY,
                             "disk_mb": DISK_MB,
                             "contenders": {item.name: f"{item.modules}: {item.how}"
                                            for item in self.options.contenders},
                             "loads": {load.name: load._asdict() for load in self.options.loads}},
                "errors": self.errors,
                "rows": self.rows()}


def output(*command):
    try:
        return subprocess.run(command, check=True, text=True, stderr=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def build(kver):
    """All that VMs need, on a machine that may have nothing of it yet."""
    subprocess.run([vmlib.TOP / "tools/deps", "build", "vm", "interop", "bench"], check=True)
    subprocess.run(["make", "-s", "-C", vmlib.TOP, "modules", "test-modules", f"KVER={kver}",
                    f"BUILD={vmlib.build_dir()}"], check=True, stdout=sys.stderr)


def numbers(words):
    """Comma-separated MTUs."""
    found = [int(word) for word in words.split(",")]
    if min(found) < MIN_MTU:
        raise argparse.ArgumentTypeError(f"{min(found)}: at least {MIN_MTU}")
    return found


def parse_args(args=None):
    """Of the command line, or these."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kver", default="6.12", help="kernel release or series (default: 6.12)")
    parser.add_argument("--contenders", type=chosen(CONTENDERS), default=CONTENDERS,
                        help="only these: " + ",".join(item.name for item in CONTENDERS))
    parser.add_argument("--loads", type=chosen(LOADS), default=LOADS,
                        help="only these: " + ",".join(load.name for load in LOADS))
    parser.add_argument("--mtus", type=numbers, default=MTUS,
                        help="of the network: " + ",".join(map(str, MTUS)))
    parser.add_argument("--vms", type=int, default=min(2, len(os.sched_getaffinity(0))),
                        help="how many at a time; they do not disturb each other")
    parser.add_argument("--no-build", action="store_true", help="take the modules as they are")
    parser.add_argument("--no-count", action="store_true", help="only by the clock")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N",
                        help=f"how often each contender has its turn by the clock, at most (default: {ROUNDS}; 0: not at "
                             f"all); more than {timing.MIN_ROUNDS} times only where that ends within --minutes")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M",
                        help=f"how long all may take (default: {MINUTES})")
    return parser.parse_args(args)


def timed(options, end):
    """(rows, errors) by the clock on the wall, over at about `end` of time.monotonic()."""
    if not options.rounds:
        return [], []
    with vmlib.Rig(options.kver) as rig:
        run = timing.Timing(rig, options, end)
        run.run()
        return run.rows(), run.errors


def write(results):
    """Where they went."""
    out = vmlib.build_dir() / "bench"
    out.mkdir(parents=True, exist_ok=True)
    paths = out / "results.json", out / "report.html"
    for path, text in zip(paths, (json.dumps(results, indent=1) + "\n", report.page(results))):
        path.write_text(text)
    return paths


def main():
    options, begin = parse_args(), time.monotonic()
    # Settings of a make that called this are not meant for those called here.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "TESTS", "KVER"):
        os.environ.pop(name, None)
    vmlib.die_on_signals()
    try:
        if not options.no_build:
            build(options.kver)
        with vmlib.Rig(options.kver, "icount") as rig:
            bench = Bench(rig, options)
            if not options.no_count:
                bench.run()
            results = bench.results()
        results["timing"], errors = timed(options, begin + 60 * options.minutes)
        results["errors"] += errors
    except subprocess.CalledProcessError as error:
        print(f"bench: failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return 130
    # Nothing new is no reason to lose the last results.
    if results["rows"] or results["timing"]:
        paths = write(results)
        print("\n" + figures.text(results["rows"], results["timing"]) + "\n")
        print(*paths, sep="\n")
    for error in results["errors"]:
        print(f"bench: {error}", file=sys.stderr)
    return 1 if results["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
