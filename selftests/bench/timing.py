# SPDX-License-Identifier: GPL-2.0-only
"""I/Os per second and latencies, by the clock on the wall.

One VM with two virtual CPUs boots once, and the contenders take turns in it: the host is never
the same for long, so only what was measured within a round can be compared, and the median of the
rounds is told. Client and server live in that VM, as in the counted part. A slow host has fewer rounds.
"""

import json
import pathlib
import subprocess
import time

import figures
import vmlib
from contenders import BOOT_TIMEOUT, DISK_MB, LARGE_BYTES, add_stock, loads_of, timed

PROCESSORS, MEMORY = 2, "1536M"
# Per load and round; fio's start takes as long. Of large requests there are only some dozens in a second.
SECONDS, SECONDS_LARGE = 1, 2
TIMEOUT = 120
# A median of fewer rounds is none.
MIN_ROUNDS = 3


def another(number, most, took, left):
    """Whether a round is to follow the first `number` of them, of which the last one took so many seconds: as long as
    that the next one takes, of what is left."""
    return number < min(most, MIN_ROUNDS) or (number < most and took <= left)


class Timing:
    """One run of all rounds: `options.rounds` of them, but no more than are over at `end`, of time.monotonic()."""

    def __init__(self, rig, options, end):
        self.rig, self.options, self.end = rig, options, end
        self.contenders = [item for item in timed(options.contenders) if loads_of(item, options.loads)]
        self.found, self.errors = {}, []

    def system(self):
        """Modules of ours where modprobe finds them, and what the stock contenders need."""
        system = vmlib.System(self.rig.dir, self.rig.release)
        add_stock(system, self.rig)
        return system

    def prepare(self, vm, mtu):
        vm.run("mkdir /mainline", check=True)
        for module in pathlib.Path(vmlib.mainline(self.rig.release)).glob("*.ko"):
            vm.push(module, f"/mainline/{module.name}")
        self.sh(vm, f"bench_net {mtu} && bench_disk {DISK_MB}")

    @staticmethod
    def sh(vm, command):
        return vm.lib(f". /selftests/bench/guest.sh; {command}", TIMEOUT, check=True).out.strip()

    def turn(self, vm, contender, mtu):
        """One contender, once, under all loads."""
        how, _, arguments = contender.how.partition(" ")
        if contender.modules == "mainline":
            how = "mainline"
        device = self.sh(vm, f"bench_{how} {arguments}").splitlines()[-1]
        for load in loads_of(contender, self.options.loads):
            seconds = SECONDS if load.bs < LARGE_BYTES else SECONDS_LARGE
            said = self.sh(vm, f"bench_time {device} {load.rw} {load.bs} {load.depth} {load.jobs} {load.batch} "
                               f"{seconds}")
            self.found.setdefault((mtu, contender.name, load.name), []).append(figures.of_fio(json.loads(said)))
        self.sh(vm, f"bench_down {how}")

    def rounds(self, mtu):
        vm = self.rig.vm(f"timing-{mtu}", smp=PROCESSORS, mem=MEMORY, start=False, system=self.system())
        with vm.booted(BOOT_TIMEOUT):
            self.prepare(vm, mtu)
            number, took = 0, 0
            while another(number, self.options.rounds, took, self.end - time.monotonic()):
                begin = time.monotonic()
                # Nobody always comes after the same one.
                for contender in self.contenders if number % 2 else self.contenders[::-1]:
                    self.turn(vm, contender, mtu)
                number, took = number + 1, time.monotonic() - begin
                print(f"round {number} of at most {self.options.rounds} by the clock, MTU {mtu}", flush=True)

    def run(self):
        # What a large packet saves is a matter of work, which the counted part shows.
        mtu = self.options.mtus[0]
        try:
            self.rounds(mtu)
        except (vmlib.Error, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            self.errors.append(f"by the clock, MTU {mtu}: {error}")

    def rows(self):
        """In the order of the tables, not that of the turns."""
        names = [item.name for item in self.contenders]
        return [{"contender": contender, "mtu": mtu, "load": load, **figures.medians(rounds)}
                for (mtu, contender, load), rounds in sorted(self.found.items(),
                                                             key=lambda item: names.index(item[0][1]))]
