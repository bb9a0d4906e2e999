#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Instructions per I/O of this transport and of others, on one deterministic machine.

For each contender and network MTU a VM boots with one virtual CPU on which an instruction takes
a nanosecond; client and server both live in it (guest.sh). Each load runs with n I/Os and with
2n; the difference is what n cost. See Documentation/performance.rst.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "vm")]
import figures
import initrd
import vmlib

# Whose modules the VM has, which function of guest.sh sets it up, and with what.
Contender = collections.namedtuple("Contender", "name modules how")
CONTENDERS = [
    Contender("rnbd-n", "ours", "rnbd always_invalidate=N"),
    Contender("rnbd-y", "ours", "rnbd always_invalidate=Y"),
    Contender("mainline-n", "mainline", "rnbd always_invalidate=N"),
    Contender("mainline-y", "mainline", "rnbd always_invalidate=Y"),
    Contender("nvme-rdma", "stock", "nvme rdma"),
    Contender("nvme-tcp", "stock", "nvme tcp"),
    Contender("nbd", "stock", "nbd"),
    Contender("floor", "ours", "floor"),
]
Load = collections.namedtuple("Load", "name rw bs depth ios")
LOADS = [
    Load("read-4k-qd1", "randread", 4096, 1, 3000),
    Load("write-4k-qd1", "randwrite", 4096, 1, 3000),
    Load("read-4k-qd32", "randread", 4096, 32, 6000),
    Load("write-4k-qd32", "randwrite", 4096, 32, 6000),
    Load("seqread-128k-qd4", "read", 131072, 4, 400),
    Load("seqwrite-128k-qd4", "write", 131072, 4, 400),
    Load("seqread-1m-qd4", "read", 1048576, 4, 60),
    Load("seqwrite-1m-qd4", "write", 1048576, 4, 60),
]
MTUS = [1500, 9000]
MEMORY, DISK_MB = "1024M", 64
# What the contenders named stock are, of the kernel and of the host.
STOCK_MODULES = ["nvme_rdma", "nvmet_rdma", "nvme_tcp", "nvmet_tcp", "nbd"]
STOCK_TOOLS = ["nbd-server", "nbd-client"]


def measure(sh, device, load):
    """The row of one load, but for whose it is."""
    words = f"bench_measure {device} {load.rw} {load.bs} {load.depth} "
    short, long = ([float(word) for word in sh(words + str(count)).split()]
                   for count in (load.ios, 2 * load.ios))
    costs = figures.per_io(short, long, load.ios)
    return {"load": load.name, "ios": load.ios,
            **{quantity.name: round(cost, 3) for quantity, cost in zip(figures.QUANTITIES, costs)}}


class Bench:
    """One run: the rig, what was measured, what failed."""

    def __init__(self, rig, options):
        self.rig, self.options = rig, options
        self.jobs = [(contender, mtu) for mtu in options.mtus for contender in options.contenders]
        self.systems = {kind: self.system(kind) for kind in {job[0].modules for job in self.jobs}}
        self.done, self.errors = {}, []
        self.start = time.monotonic()

    def system(self, kind):
        """What a VM with these modules boots; with stock ones it has none of ours."""
        release = self.rig.release
        if kind == "ours":
            return vmlib.System(self.rig.dir, release)
        if kind == "mainline":
            return vmlib.System(self.rig.dir, release, [vmlib.mainline(release)])
        system = vmlib.System(self.rig.dir, release, [])
        system.modules += initrd.stock_modules(system.image, release, STOCK_MODULES, self.rig.dir)
        system.tools += STOCK_TOOLS
        return system

    def say(self, words):
        print(f"[{time.monotonic() - self.start:5.0f} s] {words}", flush=True)

    def job(self, contender, mtu):
        """All loads on one contender, in a VM of its own."""
        vm = self.rig.vm(f"{contender.name}-{mtu}", mem=MEMORY, start=False,
                         system=self.systems[contender.modules])
        vm.start()

        def sh(command):
            return vm.lib(f". /selftests/bench/guest.sh; {command}", 300, check=True).out.strip()

        device = sh(f"bench_up {mtu} {DISK_MB} {contender.how}").splitlines()[-1]
        for load in self.options.loads:
            row = measure(sh, device, load)
            self.done.setdefault((contender, mtu), []).append(
                {"contender": contender.name, "mtu": mtu, **row})
            self.say(f"{vm.name}: {load.name}: {row['instructions'] / 1000:.1f} thousand instructions")
        splats = vm.splats()
        vm.kill()
        if splats:
            raise vmlib.Error("the kernel complained:\n" + "\n".join(splats))

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.vms) as pool:
            waits = {pool.submit(self.job, *job): job for job in self.jobs}
            for wait in concurrent.futures.as_completed(waits):
                contender, mtu = waits[wait]
                try:
                    wait.result()
                except (vmlib.Error, OSError, ValueError, subprocess.SubprocessError) as error:
                    self.errors.append(f"{contender.name}, MTU {mtu}: {error}")
                    self.say(self.errors[-1])

    def rows(self):
        """In the order of the tables, not that of the VMs' ends."""
        return [row for job in self.jobs for row in self.done.get(job, [])]

    def results(self):
        return {"format": figures.FORMAT,
                "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "source": output("git", "-C", vmlib.TOP, "describe", "--always", "--dirty"),
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


def chosen(table, names):
    """Those of a table with these comma-separated names, or all."""
    wanted = names.split(",") if names else [item.name for item in table]
    unknown = set(wanted) - {item.name for item in table}
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are "
                                         + ", ".join(item.name for item in table))
    return [item for item in table if item.name in wanted]


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kver", default="6.12", help="kernel release or series (default: 6.12)")
    parser.add_argument("--contenders", type=lambda names: chosen(CONTENDERS, names), default=CONTENDERS,
                        help="only these: " + ",".join(item.name for item in CONTENDERS))
    parser.add_argument("--loads", type=lambda names: chosen(LOADS, names), default=LOADS,
                        help="only these: " + ",".join(load.name for load in LOADS))
    parser.add_argument("--mtus", type=lambda words: [int(word) for word in words.split(",")], default=MTUS,
                        help="of the network: " + ",".join(map(str, MTUS)))
    parser.add_argument("--vms", type=int, default=min(2, len(os.sched_getaffinity(0))),
                        help="how many at a time; they do not disturb each other")
    parser.add_argument("--no-build", action="store_true", help="take the modules as they are")
    return parser.parse_args()


def main():
    options = parse_args()
    for name in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "TESTS", "KVER"):
        os.environ.pop(name, None)
    vmlib.die_on_signals()
    if not options.no_build:
        subprocess.run(["make", "-s", "-C", vmlib.TOP, "modules", "test-modules", f"KVER={options.kver}",
                        f"BUILD={vmlib.build_dir()}"], check=True, stdout=sys.stderr)
    with vmlib.Rig(options.kver, "icount") as rig:
        bench = Bench(rig, options)
        bench.run()
        results = bench.results()
    out = vmlib.build_dir() / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print("\n" + figures.text(results["rows"]) + f"\n\n{out}/results.json")
    for error in bench.errors:
        print(f"bench: {error}", file=sys.stderr)
    return 1 if bench.errors else 0


if __name__ == "__main__":
    sys.exit(main())
