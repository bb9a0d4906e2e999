#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A client with 300 MB of memory swaps to a mapped device, and writes back to a file system on
another, while its paths are lost one after the other and both at once.

What must write to free memory must not need memory that only its own writing frees: nothing may
deadlock, no task may be stuck, none be killed, and every byte is right in the end.
"""
# vm: timeout=600

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts

MEMORY_MB = 300
BOOT_MB = 512       # its initramfs has to be unpacked; what is too much is locked away after that
SWAP_MB, FILES_MB = 192, 128
ANON_MB = 160       # more than is left beside the kernel and what it has booted
FLAPS = 2           # rounds of one network, the other, both
RETURN_S = 40

# tmpfs is what has no other place to go but swap.
SWAPPING = f"--directory=/mnt/tmpfs --size={ANON_MB}M --bs=4k --ioengine=psync"
# Past the page cache it would not be written back; what is read is read from the device.
WRITING = f"--directory=/mnt/ext4 --size={FILES_MB // 2}M --bs=16k --ioengine=psync --invalidate=1"


LOCK_AWAY = f"""
total=$(awk '/^MemTotal/ {{ print int($2 / 1024) }}' /proc/meminfo)
drop_caches
echo $(((total - {MEMORY_MB}) / 2)) >/proc/sys/vm/nr_hugepages
locked=$(awk '/^HugePages_Total/ {{ print $2 * 2 }}' /proc/meminfo)
echo $((total - locked))
"""


def counter(client, name):
    return int(client.sh(f"sed -n 's/^{name} //p' /proc/vmstat"))


def start(client, options):
    return client.vm.spawn(f"fio --name=job --rw=randwrite --do_verify=1 --verify=crc32c "
                           f"--verify_fatal=1 --output-format=terse {options}")


def flap(bed, jobs):
    """Networks go and come while there is load; how many rounds there were."""
    rounds = 0
    while rounds < FLAPS and all(job.running() for job in jobs):
        for nets in ([bed.nets[0]], [bed.nets[1]], bed.nets):
            for net in nets:
                net.cut()
            time.sleep(2)
            for net in nets:
                net.heal()
            hosts.wait(lambda: bed.client.paths_up("test") == 2, RETURN_S)
        rounds += 1
    return rounds


def body(ktap, rig):
    bed = hosts.Bed(rig, mem="1024M", client_mem=f"{BOOT_MB}M")
    server, client = bed.server, bed.client
    server.sh("modprobe null_blk nr_devices=0")
    backing = [server.sh(f"backing_null {size}").removeprefix("/dev/") for size in (SWAP_MB, FILES_MB)]
    swap, files = [client.map(server, "test", name, options="no_path_timeout=200") for name in backing]
    client.sh(f"mkswap {swap} && swapon {swap} && modprobe ext4 && mkdir -p /mnt/tmpfs /mnt/ext4 &&"
              f"mkfs.ext4 -q {files} && mount {files} /mnt/ext4 &&"
              f"mount -t tmpfs -o size={ANON_MB + 16}M tmpfs /mnt/tmpfs", 120)
    left = int(client.sh(LOCK_AWAY))
    ktap.note(client.sh("free -m"))
    ktap.check("it has little memory", left <= MEMORY_MB + 10, f"{left} MB")

    jobs = [start(client, SWAPPING), start(client, WRITING)]
    ktap.check("memory is short: pages are swapped out",
               hosts.wait(lambda: counter(client, "pswpout") > 4096, 120))
    ktap.equal("paths come and go meanwhile", flap(bed, jobs), FLAPS)
    results = [job.wait(400) for job in jobs]
    ktap.equal("what was swapped is right", results[0].code, 0)
    ktap.equal("what was written back is right", results[1].code, 0)
    for name in "pswpout", "pswpin", "allocstall_normal", "allocstall_movable":
        ktap.note(f"{name} {counter(client, name)}")
    ktap.check("requests moved to another path", int(client.sh("failovers test")) > 0)
    ktap.check("nobody was killed for memory",
               not any("Out of memory" in line for line in client.vm.log))
    ktap.check("nobody is stuck", client.works("wait_for 20 nobody_stuck"))

    ktap.check("swapping ends", client.works(f"rm -f /mnt/tmpfs/* && swapoff {swap}", 120))
    ktap.check("the file system is whole", client.works(f"umount /mnt/ext4 && e2fsck -fn {files}", 120))
    client.sh("umount /mnt/tmpfs")
    client.unmap(swap)
    client.unmap(files)
    ktap.check("the modules unload", all(host.works("rtrs_unload", 60) for host in (client, server)))


sys.exit(hosts.test(11, body))
