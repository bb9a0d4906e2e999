# SPDX-License-Identifier: GPL-2.0-only
"""Debian 12 or 13 from debootstrap, as a directory to install packages into and as VMs that boot it.

Whatever installs and builds runs in a chroot on the host, as an emulated VM is too slow for that. A VM boots an
image of the tree, which is its own: what it changes stays in it.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import initrd
import vmlib

MIRROR = "http://deb.debian.org/debian"
OLDER, STABLE = "bookworm", "trixie"      # Debian 12 and 13
SOURCES = f"""deb {MIRROR} {{suite}} main
deb {MIRROR} {{suite}}-updates main
deb {MIRROR} {{suite}}-backports main
deb {MIRROR}-security {{suite}}-security main
"""
# What a small server has, and a kernel with its headers.
BASE_KERNEL = "linux-image-amd64 linux-headers-amd64"
# The one that is installed later.
NEXT_KERNEL = {OLDER: "linux-image-6.12-amd64 linux-headers-6.12-amd64",
               STABLE: f"-t {STABLE}-backports {BASE_KERNEL}"}
BASE = f"systemd-sysv udev kmod iproute2 procps {BASE_KERNEL}"
BASE_DAYS = 7           # the archive moves on
DISK_MB = 6144
BOOT_S = 600            # all of systemd, not only a kernel

AGENT = """[Unit]
BindsTo=dev-virtio\\x2dports-agent.device
After=dev-virtio\\x2dports-agent.device

[Service]
Environment=HOME=/root
WorkingDirectory=/selftests
ExecStart=/usr/local/sbin/agent /dev/virtio-ports/agent
"""
# A busy host may take longer to boot a VM than the 90 s that systemd waits for a device; the test waits for the agent.
AGENT_DEVICE = """[Unit]
JobRunningTimeoutSec=infinity
"""


class Installed:
    """A kernel of the tree, with its initrd, as what a vmlib.Vm boots."""

    kcsan = kmemleak = False
    slowness = memory = 1
    cmdline = "root=/dev/vda rw"
    boot_args = vmlib.kernel_args

    def __init__(self, tree, release):
        self.image, self.release = tree.path, release

    def initrd(self):
        return self.image / f"boot/initrd.img-{self.release}"


def proxies():
    """Variables without which nothing in a tree reaches the archive from behind a proxy."""
    return {name: value for name, value in os.environ.items() if name.endswith("_proxy")}


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
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-euc", enter, "sh", self.path, debs, script],
            env=env | proxies(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
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


def make_base(archive, suite):
    """What debootstrap and apt make of nothing, packed."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".base.") as tmp:
        path = pathlib.Path(tmp) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", suite, path, MIRROR],
                       stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
        tree = Tree(path)
        tree.write("etc/apt/sources.list", SOURCES.format(suite=suite))
        tree.sh(f"apt-get -q update; apt-get -q autoclean; "
                f"apt-get -qy --no-install-recommends install {BASE}")
        part = pathlib.Path(tmp) / "base"
        subprocess.run(["tar", "-C", path, "--numeric-owner", "-I", "zstd -1 -T0", "-cf", part, "."],
                       check=True)
        part.rename(archive)


def unpack_base(path, suite=OLDER):
    """A tree of one of these suites, without anything of ours."""
    archive = initrd.CACHE / f"packages-base-{suite}.tar.zst"
    archive.parent.mkdir(parents=True, exist_ok=True)
    if not archive.exists() or time.time() - archive.stat().st_mtime > BASE_DAYS * 86400:
        make_base(archive, suite)
    path.mkdir()
    subprocess.run(["tar", "-C", path, "--numeric-owner", "-I", "zstd", "-xpf", archive], check=True)
    return Tree(path)


def add_agent(tree):
    """What lets a VM take commands, and lib.sh."""
    initrd.build_agent(tree.path / "usr/local/sbin/agent")
    unit = "etc/systemd/system/agent.service"
    tree.write(unit, AGENT)
    tree.write("etc/systemd/system/dev-virtio\\x2dports-agent.device.d/wait.conf", AGENT_DEVICE)
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


def install(tree, debs, command="apt-get -qy install ./*.deb"):
    """In a directory that has them, and nothing of them after that."""
    for deb in debs:
        shutil.copy(deb, tree.path / "root")
    tree.sh(f"cd /root; apt-get -q update; {command}; rm ./*.deb")


def boot(rig, tree, name, release, qemu=(), **options):
    """A VM of that name which runs what is in the tree now. `qemu`: more arguments for it."""
    image = tree.disk(rig.dir / f"{name}.img")
    vm = rig.vm(name, smp=2, drives=[image, *options.pop("drives", [])], start=False,
                system=Installed(tree, release), **options)
    vm.qemu += qemu
    vm.start(timeout=BOOT_S)
    return vm
