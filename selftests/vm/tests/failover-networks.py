#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two hosts, two networks: one is cut silently, then unplugged at either end.

All the while the client reads and writes; no I/O fails, all data are right, and
each path comes back by itself.
"""
# vm: timeout=300

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

NOTICE_S = 20
RETURN_S = 60


class Test:
    def __init__(self, ktap, rig):
        self.ktap, self.bed = ktap, hosts.Bed(rig, mem="640M")
        self.server, self.client = self.bed.server, self.bed.client
        self.dev = self.client.map(self.server, "test", "vda")
        self.client.sh("echo round-robin >$CLT_CLASS/test/mpath_policy")

    def connected(self, network):
        return self.client.path_connected("test", self.server, network)

    def moves(self, network):
        """The path carries I/O."""
        have = self.client.path_bytes("test", self.server, network)
        return hosts.wait(lambda: self.client.path_bytes("test", self.server, network) > have + 100000,
                          NOTICE_S)

    def returned(self, network):
        return self.bed.path_returned(self.ktap, "test", network)

    def break_and_mend(self, what, network, break_it, mend_it):
        check, other = self.ktap.check, 3 - network
        if not check(f"{what}: both paths carry I/O", self.moves(1) and self.moves(2)):
            return
        break_it()
        self.ktap.within(f"{what}: noticed", NOTICE_S, lambda: not self.connected(network))
        check(f"{what}: the other path goes on", self.moves(other))
        mend_it()
        self.ktap.within(f"{what}: the path returns", RETURN_S, lambda: self.returned(network))


def body(ktap, rig):
    test = Test(ktap, rig)
    one, two = test.bed.nets
    load = test.client.load(test.dev, 75)
    start = vmlib.clock()
    test.break_and_mend("cut", 1, one.cut, one.heal)
    test.break_and_mend("client unplugged", 2, lambda: two.carrier(False, test.client.vm),
                        lambda: two.carrier(True, test.client.vm))
    test.break_and_mend("server unplugged", 1, lambda: one.carrier(False, test.server.vm),
                        lambda: one.carrier(True, test.server.vm))
    ktap.note(f"all that took {vmlib.clock() - start:.0f} s")
    result = load.wait(120)
    ktap.equal("no I/O failed, all data are right", result.code, 0)
    if result.code:
        ktap.note(result.out[-2000:])
    else:
        ktap.note(f"the longest request took {hosts.max_latency_ms(result.out):.0f} ms")
    ktap.equal("both paths are there", test.client.paths_up("test"), 2)
    test.client.unmap(test.dev)
    ktap.check("the modules unload", all(host.works("rtrs_unload", 60)
                                         for host in (test.client, test.server)))


sys.exit(hosts.test(15, body))
