#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Documentation/admin-guide/getting-started.rst, command by command, on two machines that begin with nothing.

The page's lines with a prompt are run in their order: `build$` here, what installs packages in a chroot, as
debian.py says, all else in VMs of a fresh Debian 12. Each has to succeed, and to print what the page has below it.
What only shows something is asked again for a while, as the page does not say how long things take. README.md is held
to the page.

Then what configuration.rst has of file systems: its line for /etc/fstab, on a client that boots before its server has
the disk, and that nothing is lost of what was written to one that was mounted by hand before the client reboots.
"""
# vm: timeout=3600

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import debian
import hosts
import page
import vmlib

PAGE = vmlib.TOP / "Documentation/admin-guide/getting-started.rst"
CONFIGURATION = vmlib.TOP / "Documentation/admin-guide/configuration.rst"
README = vmlib.TOP / "README.md"
SHOWS = re.compile(r"rnbd (list|path list|check|stats)|rdma link$|ls ")
SHOWN_S = 60
BOOT_S = debian.BOOT_S
DISK_MB = 256
ADDRESSES = {"server": 1, "client": 2}
HOSTNAMES = {"server": "storage", "client": "client"}

NETWORK = """[Match]
Name=eth{index}

[Network]
Address=10.{network}.0.{address}/24
"""
# As ifupdown, Debian's own, does it: it is stopped before what counts as local is unmounted.
INTERFACES = """[Unit]
DefaultDependencies=no
Conflicts=shutdown.target
Before=network.target shutdown.target
After=local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/ip link set eth0 down
ExecStop=/bin/ip link set eth1 down

[Install]
WantedBy=multi-user.target
"""
# Nothing is written back because of its age, so most of it is in memory still at the end; all need not be, as ext4 may begin
# by itself. The file is a new one, as it writes at once what replaces another.
WRITE_MB = 16
WRITE = f"""
sysctl -qw vm.dirty_writeback_centisecs=0 vm.dirty_expire_centisecs=360000 &&
	dd if=/dev/urandom of=/var/tmp/want bs=1M count={WRITE_MB} conv=fsync status=none &&
	mount /dev/rnbd0 /mnt && rm -f /mnt/want && sync -f /mnt && cp /var/tmp/want /mnt/want || exit
dirty=$(sed -n 's/^Dirty: *\\([0-9]*\\) kB$/\\1/p' /proc/meminfo)
[ "$dirty" -ge {WRITE_MB << 9} ] || {{ echo "dirty: $dirty kB"; exit 1; }}
"""
HOSTS = """127.0.0.1 localhost
10.1.0.1 storage
10.2.0.1 storage
"""


def readme_commands(text):
    """Its commands for real machines."""
    section = re.search(r"\n## On real machines\n(.*?)\n## ", text, re.S).group(1)
    return [line.strip() for line in section.splitlines() if line.startswith("    ")]


def words(lines):
    """What of an output counts: all but how many blanks there are, and the order of lines. RDMA devices are made side by
    side, and listed in the order in which they came."""
    return sorted(line.split() for line in lines if line.strip())


class Machines:
    def __init__(self, ktap, rig):
        self.ktap, self.rig = ktap, rig
        self.nets = [rig.network(2) for _ in range(2)]
        self.tree = debian.unpack_base(rig.dir / "root")
        self.release, = self.tree.releases()
        self.debs = []
        self.vms = {}

    def build(self, command):
        """On the host: `make deb` as it is typed, but for where it leaves the packages."""
        self.ktap.equal(command, command, "make deb")
        self.debs = debian.packages()

    def install(self, command):
        self.tree.write("etc/apt/apt.conf.d/90yes", 'APT::Get::Assume-Yes "true";\n')
        debian.install(self.tree, self.debs, command)
        self.ktap.check(command, True)

    def boot(self):
        debian.add_agent(self.tree)
        self.tree.write("etc/hosts", HOSTS)
        self.tree.sh("systemctl enable systemd-networkd systemd-networkd-wait-online")
        for name, address in ADDRESSES.items():
            self.tree.write("etc/hostname", f"{HOSTNAMES[name]}\n")
            for index in range(len(self.nets)):
                self.tree.write(f"etc/systemd/network/{index}.network",
                                NETWORK.format(index=index, network=index + 1, address=address))
            options = {}
            if name == "server":
                disk = self.rig.dir / "disk.img"
                with open(disk, "wb") as file:
                    file.truncate(DISK_MB << 20)
                options["drives"] = [disk]
            self.vms[name] = debian.boot(self.rig, self.tree, name, self.release, nets=self.nets,
                                         append="net.ifnames=0", **options)

    def end(self, name):
        """By itself, for it to be started again; whether it did."""
        vm = self.vms[name]
        vm.ended = True         # and is meant to
        vm.spawn("systemctl reboot")
        gone = hosts.wait(lambda: not vm.alive(), 180)
        vm.kill()
        return gone

    def reboot(self, name):
        gone = self.end(name)
        self.vms[name].start(timeout=BOOT_S)
        self.vms[name].run("systemctl is-system-running --wait", 300)
        self.ktap.check(f"{name}: reboot", gone)

    def run(self, name, command, printed):
        vm = self.vms[name]
        end = time.monotonic() + (SHOWN_S if SHOWS.match(command) else 0)
        while True:
            result = vm.run(command, 300)
            as_told = result.code == 0 and (not printed or words(result.out.splitlines()) == words(printed))
            if as_told or time.monotonic() > end:
                break
            time.sleep(1)
        self.ktap.check(f"{name}: {command}", as_told, f"exit {result.code}\n{result.out}")


def fstab():
    """The line of configuration.rst, for the disk of the other page."""
    line = re.search(r"\n\t(/dev/disk/by-id/\S+ \S+ ext4 .*)\n", CONFIGURATION.read_text())[1]
    return line.replace("alpha@storage.disk", "client@storage.disk1").replace("rnbd-map@data", "rnbd-map@disk1")


def try_file_systems(ktap, machines):
    """Mounted at boot, whenever the server comes, and all written when the client goes: 11 cases."""
    server, client = machines.vms["server"], machines.vms["client"]
    line = fstab()
    where = line.split()[1]

    def mounted():
        return client.run(f"findmnt {where}").code == 0

    def same(what):
        result = client.run(f"cmp /var/tmp/want {where}/want", 120)
        ktap.check(what, result.code == 0, result.out)

    def write(what, prepare):
        result = client.run(f"{prepare} && {WRITE}", 300)
        ktap.check(what, result.code == 0, result.out)

    server.run("cat >/etc/rnbd/exports.d/disk1.conf && systemctl reload rnbd-server",
               stdin=b"[disk1]\ndevice = /dev/vdb\nclients = 10.1.0.2 10.2.0.2\n", check=True)
    client.run("printf '%s\\n' '[disk1]' 'server = storage' 'export = disk1' >/etc/rnbd/maps.d/disk1.conf && "
               f"cat >>/etc/fstab && mkdir -p {where} && systemctl daemon-reload && modprobe rnbd-client && "
               "systemctl enable --now rnbd-map@disk1", 120, stdin=f"{line}\n".encode(), check=True)

    # Without what unmounts it while all is there: what is below it stays until systemd unmounts it as a local one.
    write("mounted by hand, and written", "systemctl stop rnbd-umount")
    ktap.check("the client goes", machines.end("client"))
    server.run("systemctl stop rnbd-server && modprobe -r rnbd-server", 120, check=True)
    client.start(timeout=BOOT_S)
    ktap.within("at its next boot the server does not have the disk", 300, lambda: int(
        client.run("systemctl show -P NRestarts rnbd-map@disk1").out) > 0)
    ktap.check("all others have come up, and it waits", client.run("systemctl is-active multi-user.target").code == 0 and
               not mounted(), client.run("systemctl list-jobs").out)
    server.run("systemctl start rnbd-server", 120, check=True)
    ktap.within("the server has it again: it is mounted", 120, mounted)
    same("nothing was lost")

    # And with a network that goes early.
    client.run("cat >/etc/systemd/system/interfaces.service && systemctl daemon-reload && "
               "systemctl enable --now interfaces", stdin=INTERFACES.encode(), check=True)
    ktap.equal("what unmounts it is there", client.run("systemctl is-active rnbd-umount").out.strip(), "active")
    write("mounted by hand, and written again", f"umount {where}")
    ktap.check("the client goes again", machines.end("client"))
    client.start(timeout=BOOT_S)
    ktap.within("and mounts it at boot", 300, mounted)
    same("nothing was lost then")


def body(ktap, rig):
    machines = Machines(ktap, rig)
    for where, command, printed in SCRIPT:
        ktap.note(f"{where} {command}")
        if where == "build$":
            machines.build(command)
        elif command.startswith("apt "):
            machines.install(command)
            machines.boot()
        else:
            for name in ADDRESSES if where == "both#" else [where.removesuffix("#")]:
                if command == "reboot":
                    machines.reboot(name)
                else:
                    machines.run(name, command, printed)
    told = [command for _, command, _ in SCRIPT]
    strange = [line for line in readme_commands(README.read_text()) if line not in told]
    try_file_systems(ktap, machines)
    ktap.equal("README has no other commands", strange, [])
    for name, vm in machines.vms.items():
        ktap.equal(f"{name}: the kernel does not complain", "\n".join(vm.splats()), "")


def planned():
    return 12 + len(ADDRESSES) + sum(
        len(ADDRESSES) if where == "both#" and not command.startswith("apt ") else 1 for where, command, _ in SCRIPT)


SCRIPT = page.commands(PAGE.read_text())
if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages"], check=True)
sys.exit(hosts.test(planned(), body))
