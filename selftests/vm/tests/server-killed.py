#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The server loses power under load, and comes back.

The client notices and its device closes. I/O waits for no_path_timeout, and then fails instead
of hanging; when the server is back the device opens by itself and holds what was written
before. If it is back in time I/O goes on.
"""
# vm: timeout=400

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts

NOTICE_S = 45       # transport retries take seconds, heartbeats up to 35 s
RETURN_S = 60       # the longest delay between two attempts is 30 s


def body(ktap, rig):
    bed = hosts.Bed(rig, mem="640M")
    server, client = bed.server, bed.client
    dev = client.map(server, "test", "vda", options="no_path_timeout=5")
    ktap.equal("mapped over both networks", client.paths_up("test"), 2)
    written = client.fio(dev, "--rw=randwrite --size=16M --do_verify=1").wait(120)
    ktap.equal("data are written and verified", written.code, 0)
    digest = client.sha256(dev, 16)

    load = client.load(dev, 200, "--size=16M --offset=32M")
    ktap.check("load runs", hosts.wait(lambda: client.path_bytes("test", server, 1) > 17 << 20, 60))
    server.vm.kill()
    ktap.within("the device closes", NOTICE_S, lambda: client.state(dev) == "closed")
    # All I/O of the load has failed or fails now: nothing hangs.
    ktap.check("the load ends, with errors", load.wait(60).code != 0)
    ktap.check("reading fails", not client.works(f"dd if={dev} of=/dev/null bs=4k count=1 iflag=direct"))
    ktap.equal("no path is left", client.paths_up("test"), 0)

    server.up().serve()
    ktap.within("the device opens by itself", RETURN_S, lambda: client.state(dev) == "open")
    ktap.within("over both networks", RETURN_S, lambda: client.paths_up("test") == 2)
    ktap.equal("the data are there", client.sha256(dev, 16), digest)
    again = client.fio(dev, "--rw=randwrite --size=8M --offset=32M --do_verify=1").wait(120)
    ktap.equal("writing works", again.code, 0)

    client.sh(f"echo 200 >/sys/block/{pathlib.Path(dev).name}/rnbd/no_path_timeout")
    load = client.load(dev, 60, "--size=16M --offset=32M")
    have = client.path_bytes("test", server, 1)
    ktap.check("a load runs again", hosts.wait(lambda: client.path_bytes("test", server, 1) > have + (4 << 20), 60))
    server.vm.kill()
    ktap.within("killed again: the device closes", NOTICE_S, lambda: client.state(dev) == "closed")
    server.up().serve()
    ktap.within("back in time: the device opens", RETURN_S, lambda: client.state(dev) == "open")
    result = load.wait(120)
    ktap.check("back in time: no I/O failed, all data are right", result.code == 0, result.out[-2000:])

    # Unmapping needs no server.
    server.vm.kill()
    ktap.within("the device closes again", NOTICE_S, lambda: client.state(dev) == "closed")
    ktap.check("it can be unmapped without a server", client.works(f"unmap_device {dev}", 60))
    ktap.check("and the modules unloaded", client.works("rtrs_unload", 60))


sys.exit(hosts.test(18, body))
