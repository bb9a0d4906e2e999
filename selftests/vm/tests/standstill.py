#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""VMs that stand still for a while, as under a host without processors for them, do not notice.

Their clocks stand too: under load no path is lost, nothing is sent again, no request takes longer.
"""
# vm: timeout=300

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

TIMES, STILL_S = 4, 5
LATE_S = 2              # more than that, one of the pauses was felt


def uptime(host):
    return float(host.sh("cat /proc/uptime").split()[0])


def body(ktap, rig):
    bed = hosts.Bed(rig)
    client, server, keeper = bed.client, bed.server, vmlib.keeper
    dev = client.map(server, "test", "vda")
    load = client.load(dev, 30)
    ktap.check("load on both paths", hosts.wait(lambda: min(
        client.path_bytes("test", server, network) for network in (1, 2)) > 100000, 20))
    before, start = uptime(client), vmlib.clock()
    for _ in range(TIMES):
        end = time.monotonic() + STILL_S
        ktap.check("stands still and goes on", keeper.stand_still(lambda: time.monotonic() > end))
        time.sleep(1)
    ran = uptime(client) - before
    ktap.check("the guest's clock went only in between", abs(ran - (vmlib.clock() - start)) < LATE_S,
               f"{ran:.1f} s in the guest, {vmlib.clock() - start:.1f} s outside of {keeper.stood:.1f} s of standing still")
    result = load.wait(120)
    ktap.equal("no I/O failed, all data are right", result.code, 0)
    ktap.check("no request took long", hosts.max_latency_ms(result.out) < 1000 * LATE_S,
               f"{hosts.max_latency_ms(result.out):.0f} ms")
    for network in (1, 2):
        ktap.equal(f"path {network}: never lost", client.path_file("test", server, network, "stats/reconnects"), "0 0")
    client.unmap(dev)


sys.exit(hosts.test(6 + TIMES, body))
