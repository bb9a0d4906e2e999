#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What each technique of the transport is worth: its switch changed, and nothing else.

On the machine of bench.py a device is mapped, measured, unmapped, and mapped again with one switch changed, with
always_invalidate=N and, in another VM, with Y. In a third one the floor does without what has no switch, or with
what the transport does not use. See Documentation/performance.rst.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

import bench
import figures
import vmlib
from contenders import CONTENDERS, Load, names_of

# Switches that two modules have.
OF_BOTH = ("cq_unbound", "busy_poll_us")
# What is changed, as (module, parameter, value), or given to the floor as words, and what it is compared with.
Setting = collections.namedtuple("Setting", "name changes base")
DEFAULT = "all defaults"
BOUNCE = "max_bounce_bytes=0"


def one(module, parameter, value="N"):
    """A setting with one switch changed; a name that several modules have is told with the module's."""
    name = f"{parameter}={value}" if parameter not in OF_BOTH else f"{module}.{parameter}={value}"
    return Setting(name, [(module, parameter, value)], DEFAULT)


EACH = [
    Setting(DEFAULT, [], None),
    one("rtrs_core", "selective_signal"),
    one("rtrs_core", "batch_receives"),
    one("rtrs_client", "gather_writes"),
    one("rtrs_client", "list_requests"),
    one("rtrs_client", "max_bounce_bytes", "0"),
    Setting(f"{BOUNCE} remote_invalidate=N", [("rtrs_client", "max_bounce_bytes", "0"),
                                              ("rtrs_client", "remote_invalidate", "N")], BOUNCE),
    one("rtrs_client", "cq_unbound"),
    one("rtrs_server", "cq_unbound"),
    one("rtrs_client", "busy_poll_us", "100"),
    one("rtrs_server", "busy_poll_us", "100"),
    one("rtrs_server", "one_message_reads"),
    one("rtrs_server", "batch"),
    one("rtrs_server", "server_time"),
]
ONLY_Y = [one("rtrs_server", "implicit_rkey"), one("rtrs_server", "max_copy_bytes", "0")]
FLOOR = [Setting(DEFAULT, [], None)] + [Setting(word, [word], DEFAULT) for word in (
    "signal", "send", "srq", "inline", "apart", "list", "core-bound", "core-unbound", "core-softirq")]
FLOOR_READ_ONLY = {"inline", "apart", "list"}
SETTINGS = {"rnbd-n": EACH, "rnbd-y": EACH + ONLY_Y, "floor": FLOOR}
# What all others are compared with is measured so often, and the median of it is told.
REPEATS = 3
LOADS = [Load("read-4k-qd1", "randread", 4096, 1, 300),
         Load("write-4k-qd1", "randwrite", 4096, 1, 300),
         Load("read-4k-qd32", "randread", 4096, 32, 640),
         Load("write-4k-qd32", "randwrite", 4096, 32, 640),
         Load("read-4k-qd32-by16", "randread", 4096, 32, 640, batch=16)]
MTU = 1500
RESULTS = vmlib.build_dir() / "bench/switches.json"


# What is told of a row.
SHOWN = [quantity for quantity in figures.QUANTITIES if quantity.name != "idle"]


class Figures:
    """Rows, by setting and load, of one contender."""

    def __init__(self, rows, contender):
        self.contender = contender
        rows = [row for row in rows if row["contender"] == contender]
        self.found = {}
        for row in sorted(rows, key=lambda row: row["instructions"]):
            self.found.setdefault((row["setting"], row["load"]), []).append(row)
        self.found = {name: same[len(same) // 2] for name, same in self.found.items()}
        self.bases = {row["setting"]: row["base"] for row in rows}
        self.loads = figures.in_order(row["load"] for row in rows)
        self.head = [word for load in self.loads for word in (load, "")]

    def cells(self, setting, quantity):
        """For each load the figure, and how far it is from that of what it is compared with."""
        return [cell for load in self.loads for cell in self.pair(setting, load, quantity)]

    def pair(self, setting, load, quantity):
        row, base = self.found.get((setting, load)), self.found.get((self.bases[setting], load))
        if row is None:
            return ["-", ""]
        change = (row[quantity.name] - base[quantity.name]) / quantity.unit if base else None
        return [f"{row[quantity.name] / quantity.unit:.{quantity.decimals}f}",
                "" if change is None else f"{change:+.{quantity.decimals}f}"]

    def table(self, quantity):
        """A setting in each line, for Documentation/performance.rst."""
        return (f"{self.contender}, {quantity.words}, and the change:\n"
                + figures.columns(["", *self.head],
                                  [[setting, *self.cells(setting, quantity)] for setting in self.bases]))

    def block(self, setting):
        """All of one setting, for the tutorial."""
        return figures.columns([f"{self.contender}, {setting}", *self.head],
                               [[quantity.words, *self.cells(setting, quantity)] for quantity in SHOWN])


def text(rows):
    """All tables, and then all blocks."""
    tables = [Figures(rows, contender) for contender in figures.in_order(row["contender"] for row in rows)]
    return "\n\n".join([item.table(quantity) for item in tables for quantity in SHOWN]
                       + [item.block(setting) for item in tables for setting in item.bases])


def in_order(settings):
    """Settings as they are measured: that without changes at the begin, at the end, and evenly between."""
    plain, *others = settings
    cuts = [at * len(others) // (REPEATS - 1) for at in range(REPEATS)]
    found = [plain]
    for begin, end in zip(cuts, cuts[1:]):
        found += others[begin:end] + [plain]
    return found


class Switches:
    """One run of all."""

    def __init__(self, rig, options):
        self.options = options
        self.bench = bench.Bench(rig, bench.parse_args(["--contenders", ",".join(options.contenders), "--no-build"]))
        self.rows = {name: [] for name in options.contenders}
        self.errors = []

    def job(self, contender):
        """All settings of one contender, in a VM of its own."""
        with self.bench.booted(f"switches-{contender.name}", contender.modules, mem=bench.MEMORY) as vm:
            guest = bench.Guest(vm, contender)
            guest.use(MTU)
            for setting in in_order(SETTINGS[contender.name]):
                self.measure(guest, contender.name, setting)
                self.write()

    def measure(self, guest, contender, setting):
        """All loads with one setting."""
        if contender == "floor":
            guest.options = setting.changes
        else:
            words = " ".join(" ".join(change) for change in setting.changes)
            guest.device = guest.sh(f"bench_switch {guest.device} {words}").splitlines()[-1]
        for load in LOADS:
            if FLOOR_READ_ONLY & set(guest.options) and "read" not in load.rw:
                continue
            # Nothing is submitted to the floor.
            if contender == "floor" and load.batch > 1:
                continue
            row = {"contender": contender, "setting": setting.name, "base": setting.base, **guest.measure(load)}
            self.rows[contender].append(row)
            self.bench.say(f"{contender}: {setting.name}: {load.name}: "
                           f"{row['instructions'] / 1000:.1f} thousand instructions per I/O")

    def run(self):
        """One VM after the other."""
        for contender in CONTENDERS:
            if contender.name not in self.options.contenders:
                continue
            try:
                self.job(contender)
            except (vmlib.Error, OSError, ValueError, subprocess.SubprocessError) as error:
                self.errors.append(f"{contender.name}: {error}")
                self.bench.say(self.errors[-1])

    def results(self):
        about = self.bench.results()
        return {**{name: about[name] for name in ("format", "date", "source", "kernel", "qemu", "fio")},
                "errors": self.errors, "rows": [row for rows in self.rows.values() for row in rows]}

    def write(self):
        """What there is so far: a run takes long."""
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(self.results(), indent=1) + "\n")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kver", default="6.12", help="kernel release or series (default: 6.12)")
    parser.add_argument("--contenders", type=names_of(SETTINGS), default=list(SETTINGS),
                        help="only these: " + ",".join(SETTINGS))
    parser.add_argument("--no-build", action="store_true", help="take the modules as they are")
    parser.add_argument("--show", type=pathlib.Path, metavar="FILE",
                        help="measure nothing, print the results in build/bench/switches.json or the like")
    return parser.parse_args()


def show(results):
    print(f"kernel {results['kernel']}, {results['qemu']}, {results['date']}\n\n{text(results['rows'])}")


def main():
    options = parse_args()
    if options.show:
        show(json.loads(options.show.read_text()))
        return 0
    vmlib.die_on_signals()
    if not options.no_build:
        bench.build(options.kver)
    with vmlib.Rig(options.kver, "icount") as rig:
        run = Switches(rig, options)
        run.run()
        run.write()
    show(run.results())
    print(f"\n{RESULTS}")
    for error in run.errors:
        print(f"switches: {error}", file=sys.stderr)
    return 1 if run.errors else 0


if __name__ == "__main__":
    sys.exit(main())
