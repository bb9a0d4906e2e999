#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""rtrs/ghost-writes.sh with mainline's modules on both sides.

Nothing in protocol 2.0 prevents ghost writes, so the test has to find some: this
records how many, and shows that the test can fail. With 6.1's modules, whose client
gives a path up only after 17 s, all old writes arrive too, but none is seen on the disk.
"""
# vm: timeout=500

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

FOUND = re.compile(r"# found '(\d+)', wanted '0'\nnot ok \d+ (.*): blocks that an old write has changed")


def body(ktap, rig):
    vm = rig.vm(system=vmlib.System(rig.dir, rig.release, [vmlib.mainline(rig.release)]), counted=True)
    # It has no such options, and no writes that wait for a session.
    out = vm.run("GHOST_OPTIONS= GHOST_WAIT_ROUNDS=0 "
                 "sh /selftests/rtrs/ghost-writes.sh 2>&1", timeout=450).out
    for line in re.findall(r"^not ok .*$", out, re.M):
        ktap.note(line)
    for count, when in FOUND.findall(out):
        ktap.note(f"{when}: {count} blocks of 32 have old data")
    ktap.check("ghost writes are found where nothing prevents them", FOUND.search(out), out)


sys.exit(hosts.test(1, body))
