#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two clients of one server at the same time.

Each writes to a device of its own, and both at once to different parts of a
device in migration; every byte is where it belongs, on the client and in the
server's disk image.
"""
# vm: timeout=300

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts

MB = hosts.MB


def body(ktap, rig):
    bed = hosts.Bed(rig, clients=2, mem="768M")
    server, clients = bed.server, bed.clients
    server.sh("modprobe null_blk nr_devices=0")
    null = [server.sh("backing_null 32").removeprefix("/dev/") for _ in clients]
    own = [client.map(server, f"client{n}", null[n]) for n, client in enumerate(clients)]
    shared = [client.map(server, f"client{n}", "vda", "migration") for n, client in enumerate(clients)]
    ktap.equal("both have a session", sorted(server.sessions()), ["client0", "client1"])
    ktap.equal("over both networks", [client.paths_up(f"client{n}") for n, client in enumerate(clients)],
               [2, 2])

    jobs = []
    for n, client in enumerate(clients):
        jobs.append(client.fio(own[n], f"--rw=randwrite --size=16M --do_verify=1 --randseed={n + 1}"))
        jobs.append(client.fio(shared[n], f"--rw=randwrite --size=16M --offset={16 * n}M "
                                          f"--do_verify=1 --randseed={n + 11}"))
    codes = [job.wait(200).code for job in jobs]
    ktap.equal("all four jobs verify what they wrote", codes, [0] * 4)

    for n, client in enumerate(clients):
        ktap.equal(f"client {n + 1}: the server has what the client reads",
                   server.sha256(f"/dev/{null[n]}", 16), client.sha256(own[n], 16))
    both = [client.sha256(shared[n], 32) for n, client in enumerate(clients)]
    ktap.equal("both read the same from the shared device", both[0], both[1])
    for n, client in enumerate(clients):
        client.unmap(shared[n])
        client.unmap(own[n])
    server.sh("sync; drop_caches")
    with open(rig.dir / "disk1.img", "rb") as file:
        ktap.equal("and so it is in the disk image", hashlib.sha256(file.read(32 * MB)).hexdigest(),
                   both[0])
    ktap.check("no session is left", hosts.wait(lambda: not server.sessions(), 20))
    ktap.check("the modules unload", all(host.works("rtrs_unload && backing_null_gone", 60)
                                         for host in (*clients, server)))


sys.exit(hosts.test(9, body))
