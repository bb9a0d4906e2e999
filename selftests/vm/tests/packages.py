#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The packages from zero: installed on Debian with its kernel, over a move to the next one, and purged.

    packages.py bookworm        Debian 12: 6.1, and 6.12 of its updates
    packages.py trixie          Debian 13: 6.12, and the kernel of its backports

debootstrap makes a root file system, which gets Debian's kernel and, with apt, what
`make deb` built. It boots from a disk, with that kernel and the initrd made for it, and maps
a device of its own over SoftRoCE, at boot, by files and units, and then by hand. Then the next kernel is
installed; that boots and maps too. An upgrade of the tools, their removal and the purge are quick, and run in the VM.
"""
# vm: args=bookworm,trixie timeout=3600

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import debian
import hosts
import initrd
import vmlib

SUITE = sys.argv[1] if len(sys.argv) > 1 else debian.OLDER

MODULES = "rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server rtrs-perf-client rtrs-perf-server".split()
SIGNER = "DKMS module signing key"
ULP = "/usr/local/src/ulp"

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
BY_ID = "/dev/disk/by-id/rnbd-boot.disk"
UNITS = "rnbd-server rnbd-map@boot"

# The export is on the same machine, with the same things on it: links are to lead to the mapped disk.
LOOP_RULES = """KERNEL=="loop*", ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1"
"""
FS_UUID = "6b1c4d5e-0a52-4c1f-9d7e-2f6a3b8c9d01"
PART_UUID = "0d9f7a33-5e0b-4b7c-8a64-91c2d3e4f506"
LINKS = " ".join(f"/dev/disk/by-{name}" for name in (
    f"uuid/{FS_UUID}", "label/files", f"partuuid/{PART_UUID}", "partlabel/data"))
MAKE_LINKS = f"""
leads() {{ [ "$1" -ef "$(readlink -f {BY_ID})p1" ]; }}
printf 'label: gpt\\nuuid={PART_UUID}, name=data\\n' | sfdisk -q {BY_ID} && wait_for 30 leads {BY_ID}-part1 &&
	mke2fs -q -t ext4 -U {FS_UUID} -L files {BY_ID}-part1 || exit
for link in {LINKS}; do wait_for 30 leads "$link" || {{ echo "$link"; exit 1; }}; done
"""

# udev has the disk open for as long as this takes, and says when it has. The disk alone: a trigger is for its
# partitions too, one after the other, and each would be another six seconds.
SLOW_RULES = """KERNEL=="rnbd?", ACTION=="change", PROGRAM="/bin/sh -c 'exec 3<$devnode; : >/run/slow; sleep 6'"
"""
SLOW_STOP = f"""
disk=$(basename "$(readlink {BY_ID})")
mkdir -p /run/udev/rules.d && cat >/run/udev/rules.d/99-slow.rules && udevadm control --reload &&
	udevadm trigger --action=change "/sys/block/$disk" && wait_for 30 test -e /run/slow || exit
! (echo normal >"/sys/block/$disk/rnbd/unmap_device") 2>/dev/null || {{ echo "udev does not have it open"; exit 1; }}
systemctl stop rnbd-map@boot
[ ! -e "/sys/block/$disk" ] || {{ journalctl -b --no-pager -u rnbd-map@boot; exit 1; }}
rm /run/udev/rules.d/99-slow.rules && udevadm control --reload
"""

# What begins a command in a script for the shell.
COMMAND = re.compile(r"(?:^|[|&;(!{]|\b(?:if|then|else|do|while|until|exec)\b)[ \t]*([a-z][\w.-]*)(?![\w.-]|[ \t]*[=()])",
                     re.M)
# Of those that are programs of packages, the packages.
OWNERS = """
for name in {names}; do
	path=$(command -v "$name") || continue
	[ "${{path#/}}" != "$path" ] || continue
	dpkg -S "$path" 2>/dev/null || dpkg -S "${{path#/usr}}"
done | cut -d : -f 1 | sort -u"""

# The package again, of a later version and with a timer that is described in other words.
NEWER_WORDS = "Figures, by a newer package"
NEWER = f"""cd /root && dpkg-deb -R {{deb}} newer &&
	sed -i 's/^Version: .*/&+newer/' newer/DEBIAN/control &&
	sed -i 's/^Description=.*/Description={NEWER_WORDS}/' $(find newer -name rnbd-metrics.timer) &&
	dpkg-deb --root-owner-group -b newer /var/tmp/newer.deb && rm -r newer {{deb}}"""

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
	rnbd unmap "$dev"
"""

# All but what carries these names in any Debian kernel's headers, and what the test put there.
RESIDUE = """find / -xdev \\
	\\( -path '/usr/src/linux-headers-*' -o -path /selftests -o -name decoys \\) -prune -o \\
	\\( -name '*rtrs*' -o -name '*rnbd*' \\) -print
find /lib/modules/*/updates -type f 2>/dev/null
grep -l ^updates/ /lib/modules/*/modules.dep
grep -lE 'rtrs|rnbd' /var/lib/dpkg/status"""


def configure(tree):
    """What is exported and mapped at boot."""
    tree.write("etc/udev/rules.d/10-loop.rules", LOOP_RULES)
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


def make_newer(tree, debs):
    """/var/tmp/newer.deb, of rtrs-tools."""
    deb, = (deb for deb in debs if deb.name.startswith("rtrs-tools_"))
    shutil.copy(deb, tree.path / "root")
    tree.sh(NEWER.format(deb=deb.name))


def called(tree, package):
    """Names, or paths, of what its units and scripts run."""
    names = set()
    for name in tree.sh(f"dpkg -L {package}").split():
        path = tree.path / name.lstrip("/")
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        if name.endswith(".service"):
            names |= set(re.findall(r"^Exec\w+=[-@:+!]*(\S+)", text, re.M))
            names |= {"modprobe"} if "modprobe@" in text else set()
        elif text.startswith("#!/bin/sh"):
            names |= set(COMMAND.findall(text))
    return names


def try_depends(ktap, tree):
    """What the tools run is there wherever they are: 1 case."""
    owners = set(tree.sh(OWNERS.format(names=" ".join(sorted(called(tree, "rtrs-tools"))))).split())
    depends = set(re.findall(r"[a-z0-9][a-z0-9.+-]+", tree.sh(
        "dpkg-query -W -f '${Depends}, rtrs-tools, ' rtrs-tools; dpkg-query -W -f '${Package}:${Essential} ' | "
        "tr ' ' '\\n' | sed -n 's/:yes$//p'")))
    seen = {"iproute2", "kmod", "mount", "rtrs-tools"} <= owners
    ktap.check("rtrs-tools depends on what it runs", seen and owners <= depends,
               f"owners {sorted(owners)}, not depended on {sorted(owners - depends)}")


def boot(rig, tree, release):
    start = time.monotonic()
    vm = debian.boot(rig, tree, f"debian-{release}", release)
    return vm, time.monotonic() - start


def modinfo(vm, option):
    """{module: what modinfo says of it}"""
    return {name: vm.run(f"modinfo {option} {name}").out.strip() for name in MODULES}


def in_directory(files, path):
    """Whether modprobe takes each module from this directory of its kernel's."""
    return all(re.fullmatch(f"(/usr)?/lib/modules/[^/]*/{path}/{name}.ko(.xz)?", file)
               for name, file in files.items())


def try_boot(ktap, what, vm):
    """What the units have done at boot, and undo: 7 cases."""
    vm.run("systemctl is-system-running --wait", 300)
    active = vm.run(f"[ \"$(systemctl is-active {UNITS} | sort -u)\" = active ] || "
                    "{ journalctl -b --no-pager -u 'rnbd*' -u topology; false; }")
    ktap.check(f"{what}: exports and maps at boot", active.code == 0, active.out)
    same = vm.lib(f"dd if=/dev/urandom of={BY_ID} bs=1M count=1 oflag=direct status=none && "
                  f"drop_caches && cmp -n 1048576 {BY_ID} /dev/loop0")
    ktap.check(f"{what}: under the name that udev gives", same.code == 0, same.out)
    other = vm.lib("map_device other /dev/loop0 access_mode=ro")
    ktap.check(f"{what}: nothing else is exported", other.code != 0, other.out)
    linked = vm.lib(MAKE_LINKS, 120)
    ktap.check(f"{what}: links to what is on it", linked.code == 0, linked.out)
    slow = vm.lib(SLOW_STOP, 120, stdin=SLOW_RULES.encode())
    ktap.check(f"{what}: unmapped when udev has looked at it", slow.code == 0, slow.out)
    left = vm.run(f"udevadm settle; ls -d {LINKS} 2>/dev/null").out
    ktap.equal(f"{what}: no such link is left", left, "")
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
    """Boot it and try; the VM, still up: 16 cases."""
    ktap.equal(f"{what}: dkms has built and installed", tree.status().get(release), "installed")
    build_ulp(tree, release)
    vm, seconds = boot(rig, tree, release)
    ktap.note(f"{what}: {release} up after {seconds:.0f} s")
    try_boot(ktap, what, vm)
    try_modules(ktap, what, vm, release)
    complaints = vm.splats()
    ktap.check(f"{what}: its kernel does not complain", not complaints, "\n".join(complaints))
    return vm


def unconfigure(vm):
    """As if the test had never been there, but for what a package has to undo."""
    vm.run(f"rm -r {ULP}; systemctl disable topology {UNITS}; "
           "rm /etc/rnbd/*/boot.conf /etc/systemd/system/topology.service", check=True)


def try_upgrade(ktap, vm):
    """A timer that somebody has enabled, over an upgrade and a removal: 4 cases."""
    timer = {name: f"systemctl show -P {name} rnbd-metrics.timer" for name in ("ActiveState", "Description")}
    vm.run("systemctl enable --now rnbd-metrics.timer", check=True)
    upgraded = vm.run("DEBIAN_FRONTEND=noninteractive dpkg -i /var/tmp/newer.deb", 600)
    ktap.check("upgrade: succeeds", upgraded.code == 0, upgraded.out)
    ktap.equal("upgrade: the timer runs", vm.run(timer["ActiveState"]).out.strip(), "active")
    ktap.equal("upgrade: as the new package has it", vm.run(timer["Description"]).out.strip(), NEWER_WORDS)
    vm.run("dpkg --remove rtrs-tools", 600, check=True)
    ktap.equal("removal: the timer does not run", vm.run(timer["ActiveState"]).out.strip(), "inactive")


def purge(ktap, vm, names):
    """Nothing is left: 4 cases."""
    there = vm.run(RESIDUE, 300).out.splitlines()
    wanted = {"/usr/src/rtrs-dev", "/var/lib/dkms/rtrs", "/var/lib/dpkg/status"}
    ktap.check("purge: what is looked for is there before", wanted <= set(there), "\n".join(there))
    gone = vm.run(f"DEBIAN_FRONTEND=noninteractive dpkg --purge {' '.join(names)}", 900)
    ktap.check("purge: succeeds", gone.code == 0, gone.out)
    ktap.equal("purge: leaves nothing", vm.run(RESIDUE, 300).out, "")
    files = modinfo(vm, "-n")
    ktap.check("purge: the kernel's own are back", in_directory(files, "kernel/drivers/block/decoys"), files)


def body(ktap, rig):
    debs = debian.packages()
    tree = debian.unpack_base(rig.dir / "root", SUITE)
    (old,) = tree.releases()
    debian.add_agent(tree)
    add_decoys(tree, old)
    debian.install(tree, debs)
    try_depends(ktap, tree)
    make_newer(tree, debs)
    tree.sh("apt-get -qy install fdisk")
    configure(tree)
    try_kernel(ktap, rig, "the suite's kernel", tree, old).poweroff()

    tree.sh(f"apt-get -qy install {debian.NEXT_KERNEL[SUITE]}")
    (new,) = set(tree.releases()) - {old}
    vm = try_kernel(ktap, rig, "the next kernel", tree, new)
    unconfigure(vm)
    try_upgrade(ktap, vm)
    purge(ktap, vm, [deb.name.partition("_")[0] for deb in debs])


if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages"], check=True)
sys.exit(hosts.test(41, body))
