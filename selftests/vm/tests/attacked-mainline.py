#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The attacks of robustness.rst against mainline's server, as a black box.

They are the tests that our own server passes; each has a VM of its own here, as one may not survive. What
became of it must be what the page says. Cases that need a fault point of ours fail for want of it.
"""
# vm: timeout=2400

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

PAGE = vmlib.TOP / "Documentation/robustness.rst"
ROW = re.compile(r"^(r(?:trs|nbd)/[\w-]+)\s{2,}(\S.*?)\s{2,}(\S.*)$", re.M)
CASE = re.compile(r"^(not ok|ok) \d+ (.*)", re.M)
PLACE = re.compile(r"(?:WARNING|BUG|Oops).*?(\w+)\+0x|cannot create (duplicate filename)")
SEED = 1
PATIENCE_S = 300


def attack(rig, name):
    """(first case that fails, what the kernel says or becomes of it) of a test."""
    own_tests = vmlib.build_dir() / rig.release / "selftests"
    system = vmlib.System(rig.dir, rig.release, [own_tests, vmlib.mainline(rig.release)])
    vm = rig.vm(name.replace("/", "-"), system=system, counted=True)
    text, fate = bytearray(), ""
    try:
        vm.run(f"RTRS_SEED={SEED} sh /selftests/{name}.sh 2>&1", PATIENCE_S, sink=text.extend)
    except vmlib.VmLost:
        fate = "the machine dies"
    except vmlib.Timeout:
        fate = "the test hangs"
    out = text.decode(errors="replace")
    told = next((match[1] or match[2] for match in map(PLACE.search, vm.splats()) if match), None)
    vm.kill()
    if not CASE.search(out):
        raise vmlib.Error(f"{name}: no case was run: {out[-500:]}")
    failed = next((case for result, case in CASE.findall(out) if result != "ok"), "none")
    return failed, ", ".join(filter(None, [told and f"splat: {told}", fate])) or "silent", out


def body(ktap, rig):
    for name, first, fate in rows:
        found = attack(rig, name)
        if not ktap.equal(name, found[:2], (first, fate)):
            ktap.note(found[2][-3000:])


rows = ROW.findall(PAGE.read_text())
if not rows:
    sys.exit(f"{PAGE.name} has no table of attacks")
sys.exit(hosts.test(len(rows), body))
