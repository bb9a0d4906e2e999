# SPDX-License-Identifier: GPL-2.0-only
"""Whose I/O is measured, under which loads, and what they share."""

import argparse
import collections

import initrd

# Whose modules the VM has, which function of guest.sh sets it up and with what, and how the names
# of its own modules begin.
Contender = collections.namedtuple("Contender", "name modules how own")
RTRS = ("rtrs_", "rnbd_")
CONTENDERS = [
    Contender("rnbd-n", "ours", "rnbd always_invalidate=N", RTRS),
    Contender("rnbd-y", "ours", "rnbd always_invalidate=Y", RTRS),
    Contender("mainline-n", "mainline", "rnbd always_invalidate=N", RTRS),
    Contender("mainline-y", "mainline", "rnbd always_invalidate=Y", RTRS),
    Contender("rnbd-n-1m", "ours", "rnbd always_invalidate=N sess_queue_depth=64 max_io_size=1048576", RTRS),
    Contender("nvme-rdma", "stock", "nvme rdma", ("nvme",)),
    Contender("nvme-tcp", "stock", "nvme tcp", ("nvme",)),
    Contender("nbd", "stock", "nbd", ("nbd",)),
    Contender("rtrs-n", "ours", "perf always_invalidate=N", RTRS),
    Contender("floor", "ours", "floor", ("rtrs_floor",)),
    Contender("disk", "stock", "nothing", ("brd",)),
]
# No block device, or not elsewhere.
ALONE = ("rtrs-n", "floor", "disk")
# The longest request that rtrs-perf can have with a server's defaults is not far above.
PERF_MAX_BYTES = 65536
# The shortest that is not the same as with a server's defaults.
LARGE_BYTES = 131072
# More where time counts, named after what they are besides: where several processors, and looking instead of sleeping,
# make a difference.
TIMED = [
    Contender("rnbd-n-busy", "ours", "rnbd_both busy_poll_us=100 always_invalidate=N", RTRS),
    Contender("rnbd-n-bound", "ours", "rnbd_both cq_unbound=N always_invalidate=N", RTRS),
    Contender("rnbd-n-bound-busy", "ours", "rnbd_both cq_unbound=N,busy_poll_us=100 always_invalidate=N", RTRS),
]
# batch: so many are submitted by one system call
Load = collections.namedtuple("Load", "name rw bs depth ios jobs batch", defaults=[1, 1])
LOADS = [
    Load("read-4k-qd1", "randread", 4096, 1, 1500),
    Load("write-4k-qd1", "randwrite", 4096, 1, 1500),
    Load("read-4k-qd32", "randread", 4096, 32, 3000),
    Load("write-4k-qd32", "randwrite", 4096, 32, 3000),
    Load("read-4k-qd32-by16", "randread", 4096, 32, 3000, batch=16),
    Load("mixed-16k-4jobs", "randrw", 16384, 8, 1600, 4),
    Load("seqread-128k-qd4", "read", 131072, 4, 100),
    Load("seqwrite-128k-qd4", "write", 131072, 4, 100),
    Load("seqread-1m-qd4", "read", 1048576, 4, 20),
    Load("seqwrite-1m-qd4", "write", 1048576, 4, 20),
]
DISK_MB, BOOT_TIMEOUT = 64, 600
# What the contenders named stock are, of the kernel and of the host.
STOCK_MODULES = ["nvme_rdma", "nvmet_rdma", "nvme_tcp", "nvmet_tcp", "nbd"]
STOCK_TOOLS = ["nbd-server", "nbd-client"]


def loads_of(contender, loads):
    """Without a block device a run is of reads or of writes, in one stream, and nobody cuts what is too long. What
    is for large requests has these only; who looks, and where, makes no difference to them, as they are the network's."""
    if contender.name == "rnbd-n-1m":
        return [load for load in loads if load.bs >= LARGE_BYTES]
    if contender in TIMED:
        return [load for load in loads if load.bs < LARGE_BYTES]
    most = {"floor": max(load.bs for load in LOADS), "rtrs-n": PERF_MAX_BYTES}.get(contender.name)
    return [load for load in loads if not most or (load.jobs == load.batch == 1 and load.bs <= most)]


def timed(contenders):
    """Those of them that are a block device elsewhere, and what is for the clock alone if its like is among them."""
    names = tuple(item.name + "-" for item in contenders)
    return ([item for item in contenders if item.name not in ALONE]
            + [item for item in TIMED if item.name.startswith(names)])


def names_of(known):
    """A parser of comma-separated ones for argparse."""
    def read(words):
        names = words.split(",")
        unknown = set(names) - set(known)
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are " + ", ".join(known))
        return names
    return read


def chosen(table):
    """The same; it gives the items of a table that have these names."""
    read = names_of([item.name for item in table])

    def items(words):
        names = read(words)
        return [item for item in table if item.name in names]
    return items


def add_stock(system, rig):
    """A system that has the stock contenders."""
    system.modules += initrd.stock_modules(system.image, rig.release, STOCK_MODULES, rig.dir)
    system.tools += STOCK_TOOLS
