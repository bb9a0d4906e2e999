#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What Documentation/admin-guide/monitoring.rst has for perf, trace-cmd and bpftrace, as it stands there.

Each command of that section is run while a disk is read and written over two paths. It has to succeed, and to say each
line that the page shows of it, apart from numbers and from the length of bars. What it said is in the output, for
whoever brings the page up to date.
"""
# vm: timeout=900

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

PAGE = vmlib.TOP / "Documentation/admin-guide/monitoring.rst"
SECTION = "With perf, trace-cmd and bpftrace"
TOOLS = ["perf", "trace-cmd", "bpftrace"]
LEFT_OUT = "..."
BOOT_S = 400
SETUP = """
topo_up 2 && rtrs_load && debugfs_up &&
dev=$(map_device alpha "$(backing_null 64)") && sysfs_write $CLT_CLASS/alpha/mpath_policy round-robin && echo "$dev"
"""
# Few enough that an emulated processor has time for the tools.
LOAD = ("fio --name=load --filename={dev} --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --size=32M --time_based "
        "--runtime=100000 --bssplit=4k/50:64k/50 --thinktime=20ms >/tmp/load.out 2>&1")


def commands(text):
    """[(command, lines it says)] of the section."""
    section = re.search(rf"^{SECTION}\n-+\n(.*?)(?=^\S[^\n]*\n[-=]+\n|\Z)", text, re.M | re.S)[1]
    found = []
    for line in re.findall(r"^\t(.*)$", section, re.M):
        if line.startswith("# "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line)
    return [("\n".join(command), said) for command, said in found]


def shape(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\|@*\s*\|", "|@|", line)
    return " ".join(re.sub(r"\d[\d,.]*[KMG]?", "N", line).split())


def missing(wanted, said):
    """Lines of the page that have no like in what was said."""
    shapes = {shape(line) for line in said.splitlines()}
    return [line for line in wanted if line.strip() not in ("", LEFT_OUT) and shape(line) not in shapes]


def body(ktap, rig):
    rig.system.tools += TOOLS
    # With bpftrace comes a compiler: three times as much to unpack as in other VMs.
    vm = rig.vm("trace-tools", mem="1536M", counted=True, start=False).start(BOOT_S)
    dev = vm.lib(SETUP, 120, check=True).out.split()[-1]
    load = vm.spawn(LOAD.format(dev=dev))
    for command, wanted in todo:
        result = vm.run(command, 240)
        ktap.note(f"# {command}\n{result.out}")
        lacking = missing(wanted, result.out)
        ktap.check(command.splitlines()[0], not result.code and not lacking,
                   f"exit status {result.code}; not said, of what the page has: {lacking}")
    ktap.check("there was load all the time", load.running())
    # As an orderly end, after which none of its processes has the disk open.
    vm.run("killall -INT fio", check=True)
    load.wait(60)
    vm.lib(f"unmap_device {dev} && rtrs_unload && topo_down", check=True)


subprocess.run([vmlib.TOP / "tools/deps", "trace-tools"], check=True)
todo = commands(PAGE.read_text(encoding="utf-8"))
sys.exit(hosts.test(len(todo) + 1, body))
