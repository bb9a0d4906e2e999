#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What heartbeats cost while nothing else is to be done, by their interval.

One session with one path, on the machine of bench.py; client and server live in it, so packets and
instructions are those of both. What the machine does with the longest interval is taken away from what
it does with the others.

    heartbeats.py [<kernel release or series>]
"""

import sys

import bench
import figures
import vmlib

INTERVALS_MS = [50, 100, 200, 500, 1000]
LONGEST_MS = 10000
SECONDS = 60


def compared(rig):
    """(packets, instructions) per second for each interval."""
    contender = next(item for item in bench.CONTENDERS if item.name == "rnbd-n")
    bed = bench.Bench(rig, bench.parse_args(["--contenders", contender.name, "--no-build"]))
    found = {}
    with bed.booted("heartbeats", contender.modules, mem=bench.MEMORY) as vm:
        guest = bench.Guest(vm, contender)
        guest.use(1500)
        for interval in [LONGEST_MS] + INTERVALS_MS:
            # The beats of the interval before are over by then.
            guest.sh(f"echo {interval} >$CLT_CLASS/bench/hb_interval_ms && sleep 12")
            packets, functions = guest.count(f"before=$(bench_counters); count sleep {SECONDS}; "
                                             "echo $before $(bench_counters) | awk '{ print $3 - $1 }'")
            found[interval] = int(packets) / SECONDS, sum(functions.values()) / SECONDS
    base = found.pop(LONGEST_MS)
    return {interval: [value - least for value, least in zip(values, base)] for interval, values in found.items()}


def main():
    kver = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    bench.build(kver)
    with vmlib.Rig(kver, "icount") as rig:
        rows = compared(rig)
    print(figures.columns(["hb_interval_ms", "packets/s", "thousand instructions/s"],
                          [[str(interval), f"{packets:.1f}", f"{instructions / 1000:.0f}"]
                           for interval, (packets, instructions) in rows.items()]))
    return 0


if __name__ == "__main__":
    vmlib.die_on_signals()
    sys.exit(main())
