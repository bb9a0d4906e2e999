# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the benchmark: what they are, as text, and what changed between two runs of it.

A row is a dict: contender, mtu (of the network), load, a number for each of QUANTITIES, and what
of the instructions is whose: modules {name: number}, functions [[module, name, number]].
"""

import collections
import statistics

FORMAT = 1
# In a row, per I/O: name, what it is, decimals, and what one unit of the table is.
Quantity = collections.namedtuple("Quantity", "name words decimals unit")
QUANTITIES = [Quantity("instructions", "thousand instructions per I/O", 1, 1000),
              Quantity("own", "thousand of these in the contender's own modules", 2, 1000),
              Quantity("idle", "thousand nanoseconds per I/O without anything to do", 1, 1000),
              Quantity("packets", "packets per I/O", 1, 1),
              Quantity("switches", "context switches per I/O", 2, 1)]
# The same of what was measured by the clock on the wall: medians of all rounds.
TIMED = [Quantity("iops", "I/Os per second", 0, 1),
         Quantity("rate", "MB per second", 1, 1e6),
         Quantity("p50", "microseconds that half of the I/Os took at most", 0, 1000),
         Quantity("p99", "microseconds that 99 of 100 took at most", 0, 1000),
         Quantity("p999", "microseconds that 999 of 1000 took at most", 0, 1000),
         Quantity("spread", "I/Os per second of the best round over those of the worst one", 2, 1)]
# Less than this part of a figure is the noise of a repeated run.
NOISE = 0.01


def per_io(short, long, ios):
    """What an I/O costs, from what `ios` of them cost and twice as many: start and end cancel out.

    Both are dicts; what one of them lacks has not happened there.
    """
    if ios <= 0:
        raise ValueError(f"no difference to take between {ios} I/Os and none")
    return {name: (long.get(name, 0) - short.get(name, 0)) / ios for name in {**short, **long}}


def row(costs, functions, own, most=60):
    """What a row says of the costs of an I/O, and of its instructions by (module, function).

    `own` is how the names of the contender's modules begin; of the functions the `most` expensive
    ones are kept, and all that are its own and cost anything.
    """
    modules = collections.Counter()
    for (module, _), cost in functions.items():
        modules[module] += cost
    total = sum(modules.values())
    dearest = sorted(functions.items(), key=lambda item: -item[1])
    kept = [(name, cost) for at, (name, cost) in enumerate(dearest)
            if at < most or (name[0].startswith(own) and cost >= 1)]
    # Fio tells milliseconds: what is below the total is that.
    return {"instructions": round(total, 1),
            "own": round(sum(cost for name, cost in modules.items() if name.startswith(own)), 1),
            "idle": round(max(0, costs["nanoseconds"] - total), 1),
            "packets": round(costs["packets"], 3),
            "switches": round(costs["switches"], 3),
            "modules": {name: round(cost, 1) for name, cost in modules.most_common()},
            "functions": [[*name, round(cost, 1)] for name, cost in kept]}


def of_fio(said):
    """A round by the clock, from fio's JSON with one group of jobs and both directions in one."""
    job, = said["jobs"]
    if job["error"]:
        raise ValueError(f"fio ended with error {job['error']}")
    mixed = job["mixed"]
    share = mixed["clat_ns"]["percentile"]
    return {"iops": mixed["iops"], "rate": mixed["bw_bytes"], "p50": share["50.000000"],
            "p99": share["99.000000"], "p999": share["99.900000"]}


def medians(rounds):
    """What a row says of its rounds, and how far these are apart: the largest IOPS over the smallest."""
    iops = [found["iops"] for found in rounds]
    return {**{name: round(statistics.median(found[name] for found in rounds), 1) for name in rounds[0]},
            "rounds": len(rounds), "spread": round(max(iops) / min(iops), 3)}


def rdma_mtu(mtu):
    """The largest that fits into packets of a network, with 84 bytes of headers as rxe counts them."""
    return max(size for size in (256, 512, 1024, 2048, 4096) if size + 84 <= mtu)


def in_order(values):
    return list(dict.fromkeys(values))


def grid(rows, mtu, quantity):
    """Head and lines of the table of one quantity; "-" where nothing was measured."""
    rows = [row for row in rows if row["mtu"] == mtu]
    loads = in_order(row["load"] for row in rows)
    found = {(row["contender"], row["load"]): row.get(quantity.name) for row in rows}

    def cell(contender, load):
        value = found.get((contender, load))
        return "-" if value is None else f"{value / quantity.unit:.{quantity.decimals}f}"

    return (["contender", *loads],
            [[name, *(cell(name, load) for load in loads)]
             for name in in_order(row["contender"] for row in rows)])


def columns(head, lines):
    """Aligned text; the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    return "\n".join("  ".join(cell.rjust(width) if at else cell.ljust(width)
                               for at, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [head, *lines])


def text(counted, timed):
    """All tables."""
    parts = []
    for rows, quantities in ((counted, QUANTITIES), (timed, TIMED)):
        for mtu in in_order(row["mtu"] for row in rows):
            parts += [f"MTU {mtu} (RDMA {rdma_mtu(mtu)}), {quantity.words}:\n" + columns(*grid(rows, mtu, quantity))
                      for quantity in quantities]
    return "\n\n".join(parts)


def key(row):
    return f"{row['contender']} mtu={row['mtu']} {row['load']}"


def compare(old, new):
    """Text about two results: what they are of, and figures that differ by more than noise.

    What was measured by the clock on the wall is left out: two runs have two hosts.
    """
    lines = [f"{name}: {old.get(name)} -> {new.get(name)}"
             for name in in_order([*old, *new])
             if name not in ("rows", "timing", "date", "errors") and old.get(name) != new.get(name)]
    before, after = ({key(row): row for row in results["rows"]} for results in (old, new))
    changes = []
    for name in in_order([*before, *after]):
        if name not in before or name not in after:
            lines.append(f"only {'before' if name in before else 'after'}: {name}")
            continue
        was, now = (rows[name]["instructions"] for rows in (before, after))
        if abs(now - was) > NOISE * was:
            changes.append((name, was, now))
    table = [[name, f"{was / 1000:.1f}", f"{now / 1000:.1f}", f"{100 * (now - was) / was:+.1f} %"]
             for name, was, now in sorted(changes, key=lambda change: change[2] / change[1])]
    if table:
        lines.append(columns(["thousand instructions per I/O", "before", "after", "change"], table))
    same = len(before.keys() & after.keys()) - len(changes)
    lines.append(f"{len(changes)} differ, {same} within {100 * NOISE:g} %")
    return "\n".join(lines)
