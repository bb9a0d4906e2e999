#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A client loses power under load: its device becomes free for another one.

The server must notice by itself that nobody is there any more, and must not
have let go of what the client wrote.
"""
# vm: timeout=300

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

FREE_S = 45         # heartbeats need up to 35 s


def body(ktap, rig):
    bed = hosts.Bed(rig, clients=2, mem="640M")
    server, (first, second) = bed.server, bed.clients
    dev = first.map(server, "first", "vda")
    written = first.fio(dev, "--rw=randwrite --size=16M --do_verify=1").wait(120)
    ktap.equal("the first client writes", written.code, 0)
    digest = first.sha256(dev, 16)
    load = first.load(dev, 200, "--size=16M --offset=32M")
    ktap.check("and has load", hosts.wait(lambda: first.path_bytes("first", server, 1) > 17 << 20, 60))
    _, error = second.try_map(server, "second", "vda")
    ktap.equal("the second client is refused", error, "Operation not permitted")
    ktap.equal("it has left nothing on the server",
               hosts.wait(lambda: server.sessions() == ["first"], 20), True)

    first.vm.kill()
    start = vmlib.clock()
    got = []

    def mapped():
        got[:] = second.try_map(server, "second", "vda")
        return bool(got[0])

    ktap.within("the device is free", FREE_S, mapped)
    ktap.note(f"{vmlib.clock() - start:.1f} s after the first client was killed")
    if not got[0]:
        return
    ktap.equal("what the first had written is there", second.sha256(got[0], 16), digest)
    again = second.fio(got[0], "--rw=randwrite --size=8M --offset=32M --do_verify=1").wait(120)
    ktap.equal("the second client writes", again.code, 0)
    ktap.within("nothing of the first is left on the server", FREE_S,
                lambda: server.sessions() == ["second"])

    first.up()
    _, error = first.try_map(server, "first", "vda")
    ktap.equal("the first client is back and refused", error, "Operation not permitted")
    second.unmap(got[0])
    dev, error = first.try_map(server, "first", "vda")
    ktap.check("until the second lets go", dev, error)
    if dev:
        ktap.equal("and reads the same", first.sha256(dev, 16), digest)
        first.unmap(dev)
    ktap.check("the modules unload", all(host.works("rtrs_unload", 60)
                                         for host in (first, second, server)))


sys.exit(hosts.test(12, body))
