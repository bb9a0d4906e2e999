#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How the cost of an I/O, and of a session, grows with processors, sessions and paths.

Ours and mainline's modules, RDMA MTU 1024, 4 KiB. Sessions and paths are counted on the machine of bench.py.
Its one processor would not show what several do to each other: those parts run on as many as are told,
by the clock of the host, and count only what does not depend on it. See Documentation/performance.rst.

    scale.py [--kver <kernel release or series>] [--contenders ours,mainline] [--parts <part>,...]
"""

import argparse
import contextlib
import datetime
import json
import re
import subprocess
import sys

import bench
import counted
import figures
import vmlib
from contenders import RTRS, names_of

CONTENDERS = ["ours", "mainline"]
PROCESSORS, SESSIONS, PATHS = [1, 2, 4, 8], [1, 4, 16, 64], [1, 2, 4, 8]
MAPPED_PATHS = 6            # at most; more are added
IOS = 2000                  # of one run, another has twice as many
SMALL = "sess_queue_depth=64"       # 64 sessions are to fit into the VM
# A host with fewer processors than the VM lets these wait.
PATIENT = {"ours": "hb_interval_ms=2000 hb_missed_max=10 ack_timeout_ms=1000 retry_count=6", "mainline": ""}
# Memory is told for default settings and so many processors.
MEMORY_PROCESSORS, MEMORY_SESSIONS, MEMORY_PATHS = 4, 4, 4
USED = ["memory", "slab", "pd", "cq", "qp", "mr"]
RESULTS = vmlib.build_dir() / "bench/scale.json"

LOCKING = re.compile(r"contention|spin_lock|read_lock|write_lock|mutex|rwsem|down_|lock_slowpath")
FRAME = re.compile(r"^\s+([\w.]+)\+0x\S+/0x\S+(?:\s+\[(\w+)\])?")


def waits(hist):
    """{module: how often it had to wait for a lock}, from a histogram by stack: who called the lock's function."""
    found, owner = {}, None
    for line in hist.splitlines():
        if re.match(r"\{ (common_)?stacktrace:", line):
            owner = None
        elif match := FRAME.match(line):
            if not owner and not LOCKING.search(match[1]):
                owner = match[2] or "kernel"
        elif match := re.search(r"hitcount:\s+(\d+)", line):
            found[owner or "kernel"] = found.get(owner or "kernel", 0) + int(match[1])
    return found


def own(by_module):
    return sum(number for name, number in by_module.items() if name.startswith(RTRS))


def slope(at, have, key):
    """What one more costs, between the first and the last of several."""
    return (have[at[-1]][key] - have[at[0]][key]) / (at[-1] - at[0])


class Guest(counted.Guest):
    """A VM with modules loaded and nothing mapped."""

    LIBRARIES = ["guest.sh", "scale.sh"]
    TIMEOUT = 1800

    def __init__(self, vm, contender, networks, parameters):
        super().__init__(vm)
        self.contender = contender
        self.sh(f"scale_up {networks} {parameters} always_invalidate=N")

    def map(self, first, last, paths):
        """Milliseconds until all sessions have their device."""
        return int(self.sh(f"scale_map {first} {last} {paths} {PATIENT[self.contender]}"))

    def used(self):
        return dict(zip(USED, map(int, self.sh("scale_used").split()), strict=True))

    def cost(self, sessions, options, jobs=1):
        """{"instructions", "own"} of an I/O, in all."""
        short, long = (self.count(f"scale_load {ios // jobs} {sessions} --numjobs={jobs} {options}")[1]
                       for ios in (IOS, 2 * IOS))
        by_module = {}
        for (module, _), number in figures.per_io(short, long, IOS).items():
            by_module[module] = by_module.get(module, 0) + number
        return {"instructions": round(sum(by_module.values()), 1), "own": round(own(by_module), 1)}


class Scale:
    """One run of all parts."""

    def __init__(self, rigs, options):
        self.rigs, self.options = rigs, options
        self.rig = rigs[0]
        names = {"ours": "rnbd-n", "mainline": "mainline-n"}
        self.bench = bench.Bench(self.rig, bench.parse_args(
            ["--contenders", ",".join(names[item] for item in options.contenders), "--no-build"]))
        self.rows, self.errors = [], []

    @contextlib.contextmanager
    def guest(self, contender, name, networks, parameters, counted_time=False, **options):
        """With counted time an instruction is a nanosecond, see vmlib.accel_args()."""
        with self.bench.booted(f"{name}-{contender}", contender, self.rigs[0 if counted_time else 1], **options) as vm:
            yield Guest(vm, contender, networks, parameters)

    def row(self, part, contender, at, **found):
        self.rows.append({"part": part, "contender": contender, "at": at, **found})
        self.bench.say(f"{part}: {contender}: {at}: {found}")
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(self.results(), indent=1) + "\n")

    def processors(self, contender):
        """Each processor has a job of its own, one request at a time."""
        for smp in PROCESSORS:
            with self.guest(contender, f"processors{smp}", 1, SMALL, smp=smp) as guest:
                guest.map(1, 1, 1)
                for rw in ("randread", "randwrite"):
                    options = f"--rw={rw} --iodepth=1 --cpus_allowed=0-{smp - 1} --cpus_allowed_policy=split"
                    guest.sh("scale_contention on")
                    cost = guest.cost(1, options, smp)
                    waited = waits(guest.sh("scale_contention off"))
                    self.row("processors", contender, smp, load=rw, **cost,
                             waits=round(1000 * sum(waited.values()) / (3 * IOS), 2),
                             own_waits=round(1000 * own(waited) / (3 * IOS), 2), by=waited)

    def sessions(self, contender):
        """32 requests at a time, over all sessions in turn; and all of them connect at once."""
        with self.guest(contender, "sessions", 1, SMALL, counted_time=True, mem="3072M") as guest:
            took = guest.map(1, SESSIONS[-1], 1)
            self.row("connect", contender, SESSIONS[-1], ms=took)
            guest.sh(f"scale_unmap 1 {SESSIONS[-1]}")
            have = 0
            for sessions in SESSIONS:
                guest.map(have + 1, sessions, 1)
                have = sessions
                for rw in ("randread", "randwrite"):
                    self.row("sessions", contender, sessions, load=rw,
                             **guest.cost(sessions, f"--rw={rw} --iodepth=32 --file_service_type=roundrobin"))

    def paths(self, contender):
        """32 requests at a time, over all paths of a session in turn."""
        with self.guest(contender, "paths", PATHS[-1], SMALL, counted_time=True, mem="2048M") as guest:
            for paths in PATHS:
                guest.map(1, 1, min(paths, MAPPED_PATHS))
                for number in range(MAPPED_PATHS + 1, paths + 1):
                    guest.sh(f'sysfs_write $CLT_CLASS/s1/add_path "$(path_pair {number})"')
                guest.sh("echo round-robin >$CLT_CLASS/s1/mpath_policy")
                for rw in ("randread", "randwrite"):
                    self.row("paths", contender, paths, load=rw, **guest.cost(1, f"--rw={rw} --iodepth=32"))
                guest.sh("scale_unmap 1 1")

    def memory(self, contender):
        """What one more session, and one more path, needs with default settings, both ends together; before it has
        carried anything, and when it has had as many requests at a time as it can have."""
        for state in ("idle", "full"):
            # Each in a VM of its own: what one leaves behind, a pool of queues for one, the other would not need.
            with self.guest(contender, f"memory-{state}", MEMORY_PATHS, "", smp=MEMORY_PROCESSORS, mem="2048M") as guest:
                sessions, paths = {}, {}
                for number in range(1, MEMORY_SESSIONS + 1):
                    guest.map(number, number, 1)
                    sessions[number] = self.used(guest, state, number)
                guest.sh(f"scale_unmap 1 {MEMORY_SESSIONS}")
                for number in range(1, MEMORY_PATHS + 1):
                    guest.map(1, 1, number)
                    paths[number] = self.used(guest, state, 1)
                    guest.sh("scale_unmap 1 1")
                for what, have in (("session", sessions), ("path", paths)):
                    self.row("memory", contender, f"another {what}", load=state,
                             **{key: round(slope(sorted(have), have, key), 1) for key in USED})

    @staticmethod
    def used(guest, state, sessions):
        if state == "full":
            guest.sh(f"scale_fill {sessions}")
        return guest.used()

    def go(self):
        for part in self.options.parts:
            for contender in self.options.contenders:
                try:
                    PARTS[part](self, contender)
                except (vmlib.Error, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                    self.errors.append(f"{part}: {contender}: {error}")
                    self.bench.say(self.errors[-1])

    def results(self):
        return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "source": self.bench.source, "kernel": self.rig.release, "rows": self.rows}


PARTS = {"processors": Scale.processors, "sessions": Scale.sessions, "paths": Scale.paths, "memory": Scale.memory}


def table(rows, part, columns):
    """Text of one part; a column is (head, key, decimals, unit)."""
    rows = [row for row in rows if row["part"] == part]
    if not rows:
        return ""
    lines = [[row["contender"], *([row["load"]] if "load" in row else []), str(row["at"]),
              *(f"{row[key] / unit:.{decimals}f}" for _, key, decimals, unit in columns)] for row in rows]
    head = ["", *(["load"] if "load" in rows[0] else []), part, *(column[0] for column in columns)]
    return figures.columns(head, lines)


COSTS = [("thousand instructions per I/O", "instructions", 1, 1000), ("own", "own", 2, 1000)]
TABLES = [("processors", COSTS + [("waits for locks per 1000 I/Os", "waits", 1, 1), ("of ours", "own_waits", 1, 1)]),
          ("sessions", COSTS), ("paths", COSTS), ("connect", [("ms for all", "ms", 0, 1)]),
          ("memory", [("MiB", "memory", 2, 1024), ("MiB of slab", "slab", 2, 1024), ("PDs", "pd", 1, 1),
                      ("CQs", "cq", 1, 1), ("QPs", "qp", 1, 1), ("MRs", "mr", 1, 1)])]


def text(rows):
    return "\n\n".join(filter(None, (table(rows, part, columns) for part, columns in TABLES)))


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kver", default="6.12", help="kernel release or series (default: 6.12)")
    parser.add_argument("--contenders", type=names_of(CONTENDERS), default=CONTENDERS,
                        help="only these: " + ",".join(CONTENDERS))
    parser.add_argument("--parts", type=names_of(PARTS), default=list(PARTS), help="only these: " + ",".join(PARTS))
    parser.add_argument("--no-build", action="store_true", help="take the modules as they are")
    return parser.parse_args()


def main():
    options = parse_args()
    vmlib.die_on_signals()
    if not options.no_build:
        bench.build(options.kver)
    with vmlib.Rig(options.kver, "icount") as one, vmlib.Rig(options.kver, "tcg") as other:
        run = Scale([one, other], options)
        run.go()
    print("\n" + text(run.rows) + f"\n\n{RESULTS}")
    for error in run.errors:
        print(f"scale: {error}", file=sys.stderr)
    return 1 if run.errors else 0


if __name__ == "__main__":
    sys.exit(main())
