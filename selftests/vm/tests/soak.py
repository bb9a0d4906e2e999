#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Everything goes wrong, again and again, and nobody's data suffer.

A client has three raw disks, under fio which verifies what it reads, and one with ext4 and files whose
names are their checksums. Meanwhile networks are cut, lose their carrier, lose, double, reorder and
corrupt packets, or only large ones; a host's MTU changes; paths are disconnected, removed and added; a
disk of the server hangs, for longer than io_timeout too, or is slow; a CPU goes offline; the server's
modules are reloaded, server and client lose power. All outages are shorter than no_path_timeout, so no
I/O may fail, and a disk that hangs stops no other one.

    soak.py [<minutes> [<seed>]]

What happens, and when, follows from the seed, which is printed.
"""
# vm: timeout=1200

import itertools
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import vmlib

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 10
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
DISK_MB = 64            # of each export
EXPORTS = [f"soak{number}" for number in range(4)]
FILES = EXPORTS[-1]     # the one with ext4
NO_PATH_S = 300         # longer than any outage
BACK_S = 90             # all paths, after the last thing that went wrong
ROUND_S = 20            # of fio
SESSION = "soak"

NEIGHBOUR_S = 5         # a healthy disk completes I/O in less, whatever another one does
OFFLINE_S = 10          # a CPU goes offline in less, whatever I/O waits for
CPU = "/sys/devices/system/cpu/cpu1/online"

# Parts of the server's disk, past its page cache: what it has answered outlives it. /dev is new each boot. The
# identity of a disk, its UUID, stays.
EXPORT = """
export DM_DISABLE_UDEV=1
modprobe -a loop dm_mod dm_delay
for number in 0 1 2 3; do
	node=$(losetup --find --show --direct-io=on --offset $((number * {mb} << 20)) --sizelimit {mb}M /dev/vda) &&
	dmsetup create soak$number --uuid RTRS-soak$number --table "0 $(blockdev --getsz $node) linear $node 0" &&
	ln -sfn /dev/mapper/soak$number /dev/soak$number || exit 1
done
"""

# Replace what a disk is made of: "linear", or "delay" and milliseconds behind.
RELOAD = """
export DM_DISABLE_UDEV=1
set -- $(dmsetup table {disk})
dmsetup suspend --nolockfs {disk} && dmsetup load {disk} --table "0 $2 {target} $4 0 {more}"
dmsetup resume {disk}
"""

# A file appears under the name that its contents have, and is on the disk by then.
WRITE_FILES = """
while [ ! -e /tmp/files.stop ]; do
	dd if=/dev/urandom of=/mnt/new bs=4k count=$(shuf -i 1-64 -n 1) conv=fsync status=none &&
	mv /mnt/new /mnt/$(sha256sum </mnt/new | cut -d ' ' -f 1) && sync -f /mnt || exit 1
	echo x >>/tmp/files.written
	[ $(ls /mnt | wc -l) -lt 60 ] || rm /mnt/$(ls /mnt | grep -vx lost+found | shuf -n 1) || exit 1
done
"""

CHECK_FILES = """
drop_caches
rm -f /mnt/new
for file in /mnt/*; do
	name=${file##*/}
	[ $name != lost+found ] && [ $name != '*' ] || continue
	[ "$(sha256sum <$file | cut -d ' ' -f 1)" = $name ] || { echo "$name has changed"; exit 1; }
done
"""


class Loads:
    """The client's disks and what runs on them."""

    def __init__(self, bed, ktap):
        self.client, self.server, self.ktap = bed.client, bed.server, ktap
        self.rounds, self.files, self.faults = 0, 0, []
        self.jobs, self.writer = {}, None

    def map(self):
        """Again, after a loss of power, until the server lets the old session go."""
        self.nodes = {}
        for export in EXPORTS:
            for _ in range(30):
                node, error = self.client.try_map(self.server, SESSION, export,
                                                  options=f"no_path_timeout={NO_PATH_S}")
                if node:
                    break
                time.sleep(2)
            else:
                raise vmlib.Error(f"{export} is not mapped: {error}")
            self.nodes[export] = node
        self.client.sh(f"echo round-robin >$CLT_CLASS/{SESSION}/mpath_policy")

    def start(self):
        for export in EXPORTS[:-1]:
            self.start_fio(export)
        self.client.sh(f"modprobe ext4; mkdir -p /mnt; : >/tmp/files.written; mount {self.nodes[FILES]} /mnt")
        self.start_files()

    def start_fio(self, export):
        self.jobs[export] = self.client.load(self.nodes[export], ROUND_S, "--size=24M")

    def start_files(self):
        self.check("rm -f /tmp/files.stop; " + CHECK_FILES, "files")
        self.writer = self.client.vm.spawn("LIB_ONLY=1; . /selftests/lib.sh; " + WRITE_FILES)

    def check(self, command, what):
        result = self.client.result(command, 120)
        if result.code:
            self.faults.append(f"{what}: {result.out[-500:]}")

    def tend(self):
        """See how rounds of fio ended, and begin new ones."""
        for export, job in list(self.jobs.items()):
            if not job.running():
                self.end_fio(export, job)
                self.start_fio(export)
        if not self.writer.running():
            self.faults.append(f"files are not written any more: {self.writer.wait(1).out[-500:]}")
            self.start_files()

    def end_fio(self, export, job):
        result = job.wait(NO_PATH_S)
        self.rounds += 1
        if result.code:
            self.faults.append(f"{export}: fio ended with {result.code}: {result.out[-500:]}")

    def completed(self, exports):
        """Reads and writes that ended on each of these disks."""
        stats = self.client.sh("cat " + " ".join(f"/sys/block/{self.nodes[export].removeprefix('/dev/')}/stat"
                                                 for export in exports))
        return [int(line.split()[0]) + int(line.split()[4]) for line in stats.splitlines()]

    def goes_on(self, exports, seconds, what):
        """Each of these disks completes I/O in so many seconds, or that is a fault."""
        before = self.completed(exports)

        def moved():
            self.tend()
            return all(now > then for now, then in zip(self.completed(exports), before))

        if not hosts.wait(moved, seconds):
            self.faults.append(f"{what}: {exports} had completed {before} and then {self.completed(exports)}")

    def count_files(self):
        """Those written since start(), which may be none yet."""
        self.files += int(self.client.sh("wc -l </tmp/files.written"))

    def stop_files(self):
        self.client.sh("touch /tmp/files.stop")
        result = self.writer.wait(NO_PATH_S)
        if result.code:
            self.faults.append(f"writing files: {result.out[-500:]}")
        self.count_files()

    def stop(self):
        for export, job in self.jobs.items():
            self.end_fio(export, job)
        self.stop_files()
        self.check(CHECK_FILES, "files, in the end")
        self.check(f"umount /mnt && e2fsck -fn {self.nodes[FILES]}", "ext4")

    def lose_power(self):
        """The client's. What it had not flushed is gone, what it had is not."""
        self.count_files()
        self.client.vm.kill()
        self.client.up()
        self.map()
        self.start()


class Trouble:
    """What can go wrong; each method mends what it broke."""

    def __init__(self, bed, loads, dice):
        self.bed, self.loads, self.dice = bed, loads, dice
        self.client, self.server = bed.client, bed.server

    def kinds(self):
        """Name and how often."""
        return {"cut": 6, "carrier": 4, "both_cut": 2, "netem": 6, "disconnect": 4, "server_disconnect": 3,
                "replace_path": 3, "reload_server": 2, "kill_server": 1, "kill_client": 1,
                "hang_disk": 6, "slow_disk": 3, "change_mtu": 3, "lose_large": 3, "offline_cpu": 3}

    def pause(self, least, most):
        end = vmlib.clock() + self.dice.uniform(least, most)
        while vmlib.clock() < end:
            self.loads.tend()
            time.sleep(0.2)

    def network(self):
        return self.dice.randrange(1, 3)

    def path_file(self, network, name):
        return f"$CLT_CLASS/{SESSION}/paths/{self.client.path(self.server, network)}/{name}"

    def cut(self):
        net = self.bed.nets[self.network() - 1]
        net.cut()
        self.pause(0.1, 8)
        net.heal()

    def both_cut(self):
        for net in self.bed.nets:
            net.cut()
            self.pause(0, 1)
        self.pause(0.1, 6)
        for net in self.bed.nets:
            net.heal()

    def carrier(self):
        net = self.bed.nets[self.network() - 1]
        host = self.dice.choice([self.client, self.server])
        net.carrier(False, host.vm)
        self.pause(0.1, 6)
        net.carrier(True, host.vm)

    def netem(self):
        network, host = self.network(), self.dice.choice([self.client, self.server])
        what = self.dice.choice(["loss 1%", "duplicate 3%", "delay 2ms reorder 20%", "corrupt 0.5%",
                                 "delay 5ms 3ms", "loss 0.5% duplicate 1% corrupt 0.2%"])
        host.sh(f"host_netem {network} {what}")
        self.pause(3, 10)
        host.sh(f"host_netem {network}")

    def lose_large(self):
        """Packets of 4 KiB and more that come in."""
        network, host = self.network(), self.dice.choice([self.client, self.server])
        host.sh(f"host_large_lost {network}")
        self.pause(3, 20)
        host.sh(f"host_netem {network}")

    def change_mtu(self):
        network, host = self.network(), self.dice.choice([self.client, self.server])
        host.sh(f"ip link set eth{network - 1} mtu 1500")
        self.pause(3, 10)
        host.sh(f"ip link set eth{network - 1} mtu 9000")

    def hang_disk(self):
        """One disk completes nothing, and in the meantime paths break too. The others go on."""
        disk = self.dice.choice(EXPORTS)
        others = [export for export in EXPORTS[:-1] if export != disk]
        end = vmlib.clock() + self.dice.uniform(1, 45)
        self.server.sh(f"export DM_DISABLE_UDEV=1; dmsetup suspend --noflush --nolockfs {disk}")
        self.loads.goes_on(others, NEIGHBOUR_S, f"while {disk} hangs")
        if self.dice.random() < 0.6:
            getattr(self, self.dice.choice(["cut", "carrier", "netem", "disconnect", "server_disconnect",
                                            "replace_path"]))()
        self.pause(0, max(0, end - vmlib.clock()))
        self.server.sh(f"export DM_DISABLE_UDEV=1; dmsetup resume {disk}")

    def slow_disk(self):
        disk = self.dice.choice(EXPORTS)
        self.server.sh(RELOAD.format(disk=disk, target="delay", more=self.dice.randrange(100, 2000)))
        self.pause(3, 10)
        self.server.sh(RELOAD.format(disk=disk, target="linear", more=""))

    def offline_cpu(self):
        """A CPU whose I/O waits for a path, at times, and which comes back with or without one."""
        host, alone = self.dice.choice([self.client, self.server]), self.dice.random() < 0.5
        for net in [] if alone else self.bed.nets:
            net.cut()
        self.pause(0.1, 3)
        start = vmlib.clock()
        host.sh(f"sysfs_write {CPU} 0")
        took = vmlib.clock() - start
        if took > OFFLINE_S * hosts.slowness:
            self.loads.faults.append(f"a CPU of {host.name} was offline after {took:.1f} s")
        self.pause(0, 3)
        if self.dice.random() < 0.5:
            host.sh(f"sysfs_write {CPU} 1")
        for net in [] if alone else self.bed.nets:
            net.heal()
        self.pause(0, 3)
        host.sh(f"sysfs_write {CPU} 1")

    def disconnect(self):
        network = self.network()
        self.client.result(f"sysfs_write {self.path_file(network, 'disconnect')} 1")
        self.pause(0, 3)
        self.client.result(f"sysfs_write {self.path_file(network, 'reconnect')} 1")

    def server_disconnect(self):
        path = self.client.path(self.server, self.network())
        self.server.result(f"sysfs_write $SRV_CLASS/{SESSION}/paths/{path}/disconnect 1")

    def replace_path(self):
        network = self.network()
        self.client.result(f"sysfs_write {self.path_file(network, 'remove_path')} 1")
        self.pause(0, 3)
        if not hosts.wait(lambda: self.path_added(network), BACK_S):
            raise vmlib.Error(f"path {self.client.path(self.server, network)} cannot be added again")

    def path_added(self, network):
        """rdma_rxe may have been stuck already when the path went, see mend_rxe()."""
        line = self.client.path(self.server, network)
        if self.client.works(f"[ -d $CLT_CLASS/{SESSION}/paths/{line} ] || "
                             f"sysfs_write $CLT_CLASS/{SESSION}/add_path {line}"):
            return True
        self.bed.mend_rxe(self.loads.ktap, network)
        return False

    def reload_server(self):
        self.server.sh("module_gone rnbd-server rtrs-server", 60)
        self.pause(0, 3)
        self.server.serve()

    def kill_server(self):
        self.server.vm.kill()
        self.server.up()
        serve(self.server)

    def kill_client(self):
        self.loads.lose_power()

    def settle(self):
        """Every path comes back, whatever was done to it."""
        start = vmlib.clock()
        while not all(self.bed.path_returned(self.loads.ktap, SESSION, network) for network in (1, 2)):
            self.loads.tend()
            if vmlib.clock() - start > BACK_S * hosts.slowness:
                return False
            time.sleep(0.2)
        return True


def serve(server):
    server.sh(EXPORT.format(mb=DISK_MB))
    server.serve()


def body(ktap, rig):
    dice = random.Random(SEED)
    ktap.note(f"{MINUTES:g} minutes, seed {SEED}")
    bed = hosts.Bed(rig, mem="768M", disk_mb=DISK_MB * len(EXPORTS), serve=False,
                    smp=2, turns=True)
    serve(bed.server)
    loads = Loads(bed, ktap)
    loads.map()
    bed.client.sh(f"mkfs.ext4 -q {loads.nodes[FILES]}")
    loads.start()
    trouble = Trouble(bed, loads, dice)
    kinds, weights = zip(*trouble.kinds().items())
    happened = dict.fromkeys(kinds, 0)
    # Each kind once, then as the dice fall.
    agenda = itertools.chain(dice.sample(kinds, len(kinds)), iter(lambda: dice.choices(kinds, weights)[0], None))
    end = vmlib.clock() + 60 * MINUTES
    lost = []
    while vmlib.clock() < end and not lost:
        kind = next(agenda)
        ktap.note(f"{end - vmlib.clock():5.0f} s left: {kind}")
        getattr(trouble, kind)()
        happened[kind] += 1
        # Not always: the next thing may go wrong while this one is being mended.
        if dice.random() < 0.7 and not trouble.settle():
            lost.append(f"after {kind}: not all paths are back")
        trouble.pause(0, 2)
        rig.check()
    ktap.check("every path came back", not lost and trouble.settle(), "\n".join(lost))
    stats = f"$CLT_CLASS/{SESSION}/stats"
    ktap.note(bed.client.sh(f"for file in reconnects fences failovers timeouts; do echo $file: $(cat {stats}/$file); done"))
    loads.stop()
    ktap.note(f"{loads.rounds} rounds of fio, {loads.files} files; " +
              ", ".join(f"{count} {kind}" for kind, count in happened.items()))
    ktap.check("no I/O failed, no byte was wrong", not loads.faults, "\n".join(loads.faults))
    ktap.check("all kinds of trouble have been", all(happened.values()) or MINUTES < 5)
    ktap.check("everything is unmapped", all([bed.client.works(f"unmap_device {node}", 60)
                                              for node in loads.nodes.values()]))
    ktap.check("both sides unload", all([host.works("rtrs_unload", 60) for host in (bed.client, bed.server)]))


sys.exit(hosts.test(5, body))
