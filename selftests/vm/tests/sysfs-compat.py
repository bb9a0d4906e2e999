#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""sysfs of our modules and of mainline's: names, modes, formats, errors.

The same walk over both; what differs has to be in Documentation/ABI/differences.rst,
and what is there has to differ.
"""
# vm: timeout=300

import concurrent.futures
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

DIFFERENCES = vmlib.TOP / "Documentation/ABI/differences.rst"


def facts(rig, name, system):
    """{what was looked at or written: what came of it}"""
    vm = rig.vm(name, smp=2, system=system)
    out = vm.run("sh /selftests/vm/sysfs-walk.sh 2>&1", timeout=120).out
    vm.poweroff()
    found = {}
    for line in out.splitlines():
        match = re.match(r"(.* mode|.* link|.* reads|.* gives) (.*)$", line)
        key, value = match.groups() if match else (line, "")
        while key in found:         # the same value written once more
            key += "'"
        found[key] = value
    return found, out


def documented():
    """Patterns of the lines that may differ: ``literals`` in the table's first column."""
    return [line.split("``")[1] for line in DIFFERENCES.read_text().splitlines()
            if re.match(r"(   )?\* - ``", line)]


def body(ktap, rig):
    mainline = vmlib.System(rig.dir, rig.release, [vmlib.mainline(rig.release)])
    # A walk is one process after the other, and keeps one processor busy.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        (ours, our_text), (theirs, their_text) = pool.map(
            lambda name, system: facts(rig, name, system), ("ours", "mainline"), (rig.system, mainline))
    ktap.check("ours survives the walk", "reads to the end" in ours, our_text[-2000:])
    ktap.check("mainline's too", "reads to the end" in theirs, their_text[-2000:])
    differ = [key for key in sorted({**ours, **theirs}) if ours.get(key) != theirs.get(key)]
    patterns = documented()
    unknown = [key for key in differ if not any(re.fullmatch(p, key) for p in patterns)]
    ktap.check("nothing differs but what is documented", not unknown, "\n".join(
        f"{key}: ours '{ours.get(key)}', mainline '{theirs.get(key)}'" for key in unknown))
    stale = [p for p in patterns if not any(re.fullmatch(p, key) for key in differ)]
    ktap.check("what is documented does differ", not stale, "\n".join(stale))
    ktap.note(f"{len(ours)} facts compared, {len(differ)} differ")


sys.exit(hosts.test(4, body))
