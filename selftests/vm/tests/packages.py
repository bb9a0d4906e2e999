#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The packages from zero: installed on Debian 12 with 6.1, over a move to 6.12, and purged.

debootstrap makes a root file system, which gets Debian's kernel and, with apt, what
`make deb` built. It boots from a disk, with that kernel and the initrd made for it, and maps
a device of its own over SoftRoCE, at boot, by files and units, and then by hand. Then the next kernel is
installed; that boots and maps too.

Whatever builds modules and initrds runs in a chroot on the host, as an emulated VM is too slow
for that. Each boot gets a new image of the tree, and what a VM changes stays in it. The purge is
quick, and runs in the VM.
"""
# vm: timeout=3600 tier=all kver=6.12

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import initrd
import vmlib

MIRROR = "http://deb.debian.org/debian"
SOURCES = f"""deb {MIRROR} bookworm main
deb {MIRROR} bookworm-updates main
deb {MIRROR}-security bookworm-security main
"""
# What a small server has, and a kernel with its headers.
BASE = "systemd-sysv udev kmod iproute2 procps linux-image-amd64 linux-headers-amd64"
NEXT = "linux-image-6.12-amd64 linux-headers-6.12-amd64"
BASE_DAYS = 7           # the archive moves on
DISK_MB = 6144

MODULES = "rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server rtrs-perf-client rtrs-perf-server".split()
SIGNER = "DKMS module signing key"
ULP = "/usr/local/src/ulp"

AGENT = """[Unit]
BindsTo=dev-virtio\\x2dports-agent.device
After=dev-virtio\\x2dports-agent.device

[Service]
Environment=HOME=/root
WorkingDirectory=/selftests
ExecStart=/usr/local/sbin/agent /dev/virtio-ports/agent
"""

# Networks and a disk, as others have them.
TOPOLOGY = """[Unit]
Before=rnbd-server.service rnbd-map@boot.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'LIB_ONLY=1; . /selftests/lib.sh; topo_up 2 && backing_file /var/tmp/boot 64'

[Install]
WantedBy=multi-user.target
"""
EXPORTS = """[disk]
device = /dev/loop0
clients = 10.1.0.1 10.2.0.1
"""
MAPS = """[boot]
server = 10.1.0.2
export = disk
session = boot
path = 10.1.0.1@10.1.0.2
path = 10.2.0.1@10.2.0.2
"""
BY_ID = "/dev/disk/by-id/rnbd-boot-disk"
UNITS = "rnbd-server rnbd-map@boot"

DECOY_HOOK = f"""#!/bin/sh -e
cd "/lib/modules/$1/kernel/drivers/block"
nbd=$(echo nbd.ko*)
mkdir -p decoys
for name in {' '.join(MODULES)}; do cp "$nbd" "decoys/$name.${{nbd#nbd.}}"; done
"""

USE = """
dev=$(map_device install "$back") || exit 1
dd if=/dev/urandom of=/var/tmp/want bs=1M count=8 status=none
dd if=/var/tmp/want of="$dev" bs=1M oflag=direct status=none &&
	drop_caches &&
	cmp -n 8388608 /var/tmp/want "$dev" && cmp -n 8388608 /var/tmp/want "$back" &&
	unmap_device "$dev"
"""

# All but what carries these names in any Debian kernel's headers, and what the test put there.
RESIDUE = """find / -xdev \\
	\\( -path '/usr/src/linux-headers-*' -o -path /selftests -o -name decoys \\) -prune -o \\
	\\( -name '*rtrs*' -o -name '*rnbd*' \\) -print
find /lib/modules/*/updates -type f 2>/dev/null
grep -l ^updates/ /lib/modules/*/modules.dep
grep -lE 'rtrs|rnbd' /var/lib/dpkg/status"""


class Installed:
    """A kernel of the tree, with its initrd, as what a vmlib.Vm boots."""

    kcsan = kmemleak = False
    slowness = memory = 1
    cmdline = "root=/dev/vda rw"

    def __init__(self, tree, release):
        self.image, self.release = tree.path, release

    def initrd(self):
        return self.image / f"boot/initrd.img-{self.release}"


class Tree:
    """A root file system in a directory of the host."""

    def __init__(self, path):
        self.path = path

    def sh(self, script):
        """Run a script in it, as root, with the archive's packages kept in the cache; its output."""
        debs = initrd.CACHE / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        enter = ('mount -t proc proc "$1/proc"; mount --bind "$2" "$1/var/cache/apt/archives"; '
                 'cp -L /etc/resolv.conf "$1/etc"; exec chroot "$1" sh -euc "$3"')
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}
        proxies = {name: value for name, value in os.environ.items() if name.endswith("_proxy")}
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-euc", enter, "sh", self.path, debs, script],
            env=env | proxies, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            raise vmlib.Error(f"exit {done.returncode} in the chroot: {script}\n{done.stdout}")
        return done.stdout

    def releases(self):
        """Its kernels."""
        return sorted(path.name for path in (self.path / "lib/modules").iterdir())

    def status(self):
        """{release: what dkms says of our modules}"""
        lines = self.sh("dkms status -m rtrs 2>/dev/null").splitlines()
        return {line.split(", ")[1]: line.split(": ")[1] for line in lines}

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def disk(self, image):
        """Write it to an image of a disk."""
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-d", self.path, image,
                        f"{DISK_MB}M"], stdout=subprocess.DEVNULL, check=True)
        return image


def make_base(archive):
    """What debootstrap and apt make of nothing, packed."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".base.") as tmp:
        path = pathlib.Path(tmp) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", path, MIRROR],
                       stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
        tree = Tree(path)
        tree.write("etc/apt/sources.list", SOURCES)
        tree.sh(f"apt-get -q update; apt-get -q autoclean; "
                f"apt-get -qy --no-install-recommends install {BASE}")
        part = pathlib.Path(tmp) / "base"
        subprocess.run(["tar", "-C", path, "--numeric-owner", "-I", "zstd -1 -T0", "-cf", part, "."],
                       check=True)
        part.rename(archive)


def unpack_base(path):
    """A tree without anything of ours."""
    archive = initrd.CACHE / "packages-base.tar.zst"
    archive.parent.mkdir(parents=True, exist_ok=True)
    if not archive.exists() or time.time() - archive.stat().st_mtime > BASE_DAYS * 86400:
        make_base(archive)
    path.mkdir()
    subprocess.run(["tar", "-C", path, "--numeric-owner", "-I", "zstd", "-xpf", archive], check=True)
    return Tree(path)


def add_agent(tree):
    """What lets a VM take commands, and lib.sh."""
    initrd.build_agent(tree.path / "usr/local/sbin/agent")
    unit = "etc/systemd/system/agent.service"
    tree.write(unit, AGENT)
    wants = tree.path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "agent.service").symlink_to(f"/{unit}")
    (tree.path / "selftests").mkdir()
    for name in ("lib.sh", "config"):
        shutil.copy(initrd.SELFTESTS / name, tree.path / "selftests")


def packages():
    """The files that `make deb` leaves."""
    subprocess.run([os.environ.get("MAKE", "make"), "-s", "-C", vmlib.TOP, "deb",
                    f"BUILD={vmlib.build_dir().resolve()}"], stdout=sys.stderr, check=True)
    return sorted((vmlib.build_dir() / "deb").glob("*.deb"))


def install(tree, debs):
    target = tree.path / "root"
    for deb in debs:
        shutil.copy(deb, target)
    tree.sh("cd /root; apt-get -q update; apt-get -qy install ./*.deb; rm ./*.deb")


def configure(tree):
    """What is exported and mapped at boot."""
    tree.write("etc/systemd/system/topology.service", TOPOLOGY)
    tree.write("etc/rnbd/exports.d/boot.conf", EXPORTS)
    tree.write("etc/rnbd/maps.d/boot.conf", MAPS)
    tree.sh(f"systemctl enable topology {UNITS}")


def add_decoys(tree, release):
    """A kernel that has modules of the same names, this one and each that comes.

    They are another module: loaded instead of ours they would map nothing.
    """
    hook = "etc/kernel/postinst.d/a-decoys"     # runs before that of dkms
    tree.write(hook, DECOY_HOOK)
    (tree.path / hook).chmod(0o755)
    tree.sh(f"/{hook} {release}")


def build_ulp(tree, release):
    """A module of somebody else's, against what rtrs-dev and dkms have installed."""
    source = tree.path / ULP.lstrip("/") / release
    source.mkdir(parents=True)
    shutil.copy(initrd.SELFTESTS / "modules/rtrs-ulp.c", source)
    (source / "Kbuild").write_text("include /usr/src/rtrs-dev/Kbuild.ulp\nobj-m := rtrs-ulp.o\n")
    tree.sh(f"make -C /lib/modules/{release}/build M={ULP}/{release} modules")


def boot(rig, tree, release):
    image = tree.disk(rig.dir / f"{release}.img")
    vm = rig.vm(f"debian-{release}", smp=2, drives=[image], start=False,
                system=Installed(tree, release))
    start = time.monotonic()
    # All of systemd, not only a kernel: longer than the VMs of other tests.
    vm.start(timeout=600)
    return vm, time.monotonic() - start


def modinfo(vm, option):
    """{module: what modinfo says of it}"""
    return {name: vm.run(f"modinfo {option} {name}").out.strip() for name in MODULES}


def in_directory(files, path):
    """Whether modprobe takes each module from this directory of its kernel's."""
    return all(re.fullmatch(f"/lib/modules/[^/]*/{path}/{name}.ko(.xz)?", file)
               for name, file in files.items())


def try_boot(ktap, what, vm):
    """What the units have done at boot, and undo: 4 cases."""
    vm.run("systemctl is-system-running --wait", 300)
    active = vm.run(f"[ \"$(systemctl is-active {UNITS} | sort -u)\" = active ] || "
                    "{ journalctl -b --no-pager -u 'rnbd*' -u topology; false; }")
    ktap.check(f"{what}: exports and maps at boot", active.code == 0, active.out)
    same = vm.lib(f"dd if=/dev/urandom of={BY_ID} bs=1M count=1 oflag=direct status=none && "
                  f"drop_caches && cmp -n 1048576 {BY_ID} /dev/loop0")
    ktap.check(f"{what}: under the name that udev gives", same.code == 0, same.out)
    other = vm.lib("map_device other /dev/loop0 access_mode=ro")
    ktap.check(f"{what}: nothing else is exported", other.code != 0, other.out)
    stopped = vm.run(f"systemctl stop {UNITS} && [ -z \"$(ls /sys/class/rnbd-server/ctl/exports)\" ] && "
                     f"udevadm settle && [ ! -e {BY_ID} ]", 120)
    ktap.check(f"{what}: stopped, neither is left", stopped.code == 0, stopped.out)
    vm.lib("rtrs_unload && topo_down; backing_file_gone /dev/loop0 /var/tmp/boot", 120, check=True)


def try_modules(ktap, what, vm, release):
    """Where they come from, and that they work: 7 cases."""
    ktap.equal(f"{what}: boots", vm.run("uname -r").out.strip(), release)
    files = modinfo(vm, "-n")
    ktap.check(f"{what}: modules of updates/dkms win", in_directory(files, "updates/dkms"), files)
    ktap.equal(f"{what}: dkms signed them", modinfo(vm, "-F signer"), dict.fromkeys(MODULES, SIGNER))
    up = vm.lib("RNBD_SERVER_OPTS=dev_search_path=/; topo_up 2 && server_load && client_load", 300)
    ktap.check(f"{what}: load", up.code == 0, up.out)
    back = vm.lib("backing_file /var/tmp/back 64", 60, check=True).out.strip()
    used = vm.lib(f"back={back}\n{USE}", 300)
    ktap.check(f"{what}: maps, writes, reads, unmaps", used.code == 0, used.out)
    ulp = vm.run(f"insmod {ULP}/{release}/rtrs-ulp.ko && rmmod rtrs-ulp")
    ktap.check(f"{what}: a module built with rtrs-dev loads", ulp.code == 0, ulp.out)
    vm.lib(f"backing_file_gone {back} /var/tmp/back && rtrs_unload && topo_down", 120, check=True)
    # As under Secure Boot, where nobody has enrolled the key of dkms.
    refused = vm.run("echo 1 >/sys/module/module/parameters/sig_enforce && ! modprobe rtrs-core 2>&1")
    ktap.check(f"{what}: a kernel that insists on keys it knows refuses them",
               refused.code == 0 and "Key was rejected by service" in refused.out, refused.out)


def try_kernel(ktap, rig, what, tree, release):
    """Boot it and try; the VM, still up: 13 cases."""
    ktap.equal(f"{what}: dkms has built and installed", tree.status().get(release), "installed")
    build_ulp(tree, release)
    vm, seconds = boot(rig, tree, release)
    ktap.note(f"{what}: {release} up after {seconds:.0f} s")
    try_boot(ktap, what, vm)
    try_modules(ktap, what, vm, release)
    complaints = vm.splats()
    ktap.check(f"{what}: its kernel does not complain", not complaints, "\n".join(complaints))
    return vm


def purge(ktap, vm, names):
    """Nothing is left: 4 cases."""
    vm.run(f"rm -r {ULP}; systemctl disable topology {UNITS}; "
           "rm /etc/rnbd/*/boot.conf /etc/systemd/system/topology.service", check=True)
    there = vm.run(RESIDUE, 300).out.splitlines()
    wanted = {"/usr/src/rtrs-dev", "/var/lib/dkms/rtrs", "/var/lib/dpkg/status"}
    ktap.check("purge: what is looked for is there before", wanted <= set(there), "\n".join(there))
    gone = vm.run(f"DEBIAN_FRONTEND=noninteractive dpkg --purge {' '.join(names)}", 900)
    ktap.check("purge: succeeds", gone.code == 0, gone.out)
    ktap.equal("purge: leaves nothing", vm.run(RESIDUE, 300).out, "")
    files = modinfo(vm, "-n")
    ktap.check("purge: the kernel's own are back", in_directory(files, "kernel/drivers/block/decoys"), files)


def body(ktap, rig):
    debs = packages()
    tree = unpack_base(rig.dir / "root")
    (old,) = tree.releases()
    add_agent(tree)
    add_decoys(tree, old)
    install(tree, debs)
    configure(tree)
    try_kernel(ktap, rig, "6.1", tree, old).poweroff()

    tree.sh(f"apt-get -qy install {NEXT}")
    (new,) = set(tree.releases()) - {old}
    vm = try_kernel(ktap, rig, "6.12", tree, new)
    purge(ktap, vm, [deb.name.partition("_")[0] for deb in debs])


if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages"], check=True)
sys.exit(hosts.test(30, body))
