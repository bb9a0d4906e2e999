#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an I/O may cost: instructions and packets on the bench's machine, held to selftests/bench/budget.

A figure that is more than 3 % above its budget fails. One that is as far below is told, so that the
budget follows. The instructions of all (kernel, fio, SoftRoCE) are held on the kernel the budget was made
on; those of our own modules, and the packets, on any.

    budget.py [-u]      -u: print the budget as it would be now
"""
# vm: cores=1 timeout=900

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "bench")]
import bench
import hosts
import vmlib

FILE = HERE.parent.parent / "bench/budget"
CONTENDERS = ["rnbd-n", "rnbd-y"]
LOADS = ["read-4k-qd1", "write-4k-qd1", "read-4k-qd32", "write-4k-qd32"]
QUANTITIES = ["instructions", "own", "packets"]
MTU = 1500
ROOM = 0.03
UPDATE = sys.argv[1:] == ["-u"]


def read(text):
    """(kernel release, {(contender, load): {quantity: budget}})"""
    kernel, budgets = "", {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["kernel"]:
            kernel, = words[1:]
        elif words:
            contender, load, *values = words
            budgets[contender, load] = dict(zip(QUANTITIES, map(float, values), strict=True))
    return kernel, budgets


def lines(release, rows):
    yield f"kernel {release}"
    for row in rows:
        yield " ".join([row["contender"].ljust(7), row["load"].ljust(14),
                        *(str(row[name]).rjust(10) for name in QUANTITIES)])


def measured(ktap, rig):
    run = bench.Bench(rig, bench.parse_args(["--contenders", ",".join(CONTENDERS), "--loads", ",".join(LOADS),
                                             "--mtus", str(MTU), "--no-build"]))
    run.say = ktap.note
    run.run()
    if run.errors:
        raise vmlib.Error("; ".join(run.errors))
    return run.rows()


def hold(ktap, name, found, budget):
    """One case."""
    change = 100 * (found / budget - 1)
    ktap.check(name, found <= budget * (1 + ROOM), f"{found:g} per I/O, the budget is {budget:g}: {change:+.1f} %; "
               "if it has to be, budget.py -u prints the new lines, and the file says why")
    if found < budget * (1 - ROOM):
        ktap.note(f"{name}: {found:g}, {change:+.1f} %: the budget can be lowered")


def body(ktap, rig):
    rows = measured(ktap, rig)
    if UPDATE:
        print(*lines(rig.release, rows), sep="\n")
        return
    kernel, budgets = read(FILE.read_text())
    for row in rows:
        for name in QUANTITIES:
            case = f"{row['contender']} {row['load']}: {name}"
            if name == "instructions" and kernel != rig.release:
                ktap.skip(1, case, f"the budget is of {kernel}")
            else:
                hold(ktap, case, row[name], budgets[row["contender"], row["load"]][name])


cases = len(CONTENDERS) * len(LOADS) * len(QUANTITIES)
sys.exit(hosts.test(0 if UPDATE else cases, body, accel="icount"))
