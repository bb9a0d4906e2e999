#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Secure Boot: modules of DKMS before and after their key is enrolled, and what a kernel that is locked down allows.

    secure-boot.py bookworm|trixie

A Debian 12 or 13 with our packages boots by UEFI firmware, shim and GRUB, see firmware.py. It refuses the modules, and the
tool says what to do. That is done, as Documentation/admin-guide/install.rst has it: mokutil asks for the key to be
enrolled, and MokManager is told so at the console. Then the modules load, and map a device over SoftRoCE; those for
the next kernel too, with nothing more to be done. The page is held to the commands.
"""
# vm: args=bookworm,trixie timeout=3600

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import debian
import firmware
import hosts
import vmlib

SUITE = sys.argv[1] if len(sys.argv) > 1 else debian.OLDER
PAGE = vmlib.TOP / "Documentation/admin-guide/install.rst"
CERTIFICATE = "/var/lib/dkms/mok.pub"
PASSWORD = "secret"
MODULES = "rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server rtrs-perf-client rtrs-perf-server".split()

STATE = "mokutil --sb-state"
LOCKDOWN = "cat /sys/kernel/security/lockdown"
SIGNER = "modinfo -F signer rnbd-client"
IMPORT = f"mokutil --import {CERTIFICATE}"
TEST = f"mokutil --test-key {CERTIFICATE}"
LOADED = "dmesg | grep -i 'loaded x.509.*dkms'"
TAINT = "cat /sys/module/rnbd_client/taint"
DOCUMENTED = [STATE, LOCKDOWN, SIGNER, IMPORT, TEST, LOADED, TAINT]

REFUSED = "Key was rejected by service"
ADVICE = f'next: {IMPORT}; boot, choose "Enroll MOK" at the console; then modprobe '

UNSIGNED = """file=$(modinfo -n rtrs-core); cd /root
case $file in *.xz) xz -dc "$file" >unsigned.ko ;; *) cp "$file" unsigned.ko ;; esac
strip --strip-debug unsigned.ko && [ -z "$(modinfo -F signer unsigned.ko)" ] && insmod unsigned.ko"""

MAP = """
RNBD_SERVER_OPTS=dev_search_path=/
topo_up 1 && server_load && client_load && modprobe -a rtrs-perf-client rtrs-perf-server &&
	backing_file /var/tmp/back 64 && rnbd map 10.1.0.2:/dev/loop0 || exit
dd if=/dev/urandom of=/var/tmp/want bs=1M count=8 status=none &&
	dd if=/var/tmp/want of=/dev/rnbd0 bs=1M oflag=direct status=none && drop_caches &&
	cmp -n 8388608 /var/tmp/want /dev/rnbd0 && cmp -n 8388608 /var/tmp/want /dev/loop0
"""
# Each debugfs file of ours, and whether it can be read: a line each.
TABLES = """cd /sys/kernel/debug
for file in rtrs-*/* rnbd-*/* r*/fault/*; do
	[ ! -f "$file" ] || { cat "$file" >/dev/null 2>&1 && echo "yes $file" || echo "no $file"; }
done"""
READABLE = {"rtrs-client/sessions", "rtrs-client/latency", "rtrs-server/sessions", "rtrs-server/latency",
            "rnbd-server/sessions", "rtrs-perf-server/refused"}
TOOL = """rnbd check client 10.1.0.2 && rnbd list && rnbd stats && rnbd stats --prometheus && rnbd exports &&
	systemctl start rnbd-server && rnbd unmap /dev/rnbd0"""
TRACE = """cd /sys/kernel/tracing && echo 1 >events/rtrs/enable && echo 1 >events/rnbd_srv/enable &&
	echo 'p:ours rtrs_clt_request' >kprobe_events && echo 1 >events/kprobes/ours/enable || exit
dd if=/dev/rnbd0 of=/dev/null bs=4k count=1 iflag=direct status=none
echo 0 >events/kprobes/ours/enable; echo 0 >events/rtrs/enable; echo 0 >events/rnbd_srv/enable; cat trace"""


def try_state(ktap, what, vm):
    """The kernel is one of Secure Boot, by its own word: 3 cases."""
    ktap.equal(f"{what}: the firmware enforces", vm.run(STATE).out.strip(), "SecureBoot enabled")
    said = vm.run("dmesg").out
    ktap.check(f"{what}: the kernel says so", "secureboot: Secure boot enabled" in said and
               "Kernel is locked down from EFI Secure Boot" in said, said[:2000])
    ktap.equal(f"{what}: locked down", vm.run(LOCKDOWN).out.strip(), "none [integrity] confidentiality")


def try_loading(vm, command):
    """The command's result, and what the kernel has said since."""
    before = len(vm.run("dmesg").out.splitlines())
    result = vm.run(command)
    return result, "\n".join(vm.run("dmesg").out.splitlines()[before:])


def try_unsigned(ktap, what, vm):
    """A module that DKMS has not signed, for want of openssl: 1 case."""
    loaded, said = try_loading(vm, UNSIGNED)
    ktap.check(f"{what}: an unsigned module is refused", loaded.code and REFUSED in loaded.out and
               "Loading of unsigned module is rejected" in said, f"{loaded.out}\n{said}")


def try_refused(ktap, vm):
    """The key is not enrolled: 7 cases."""
    ktap.equal("refused: DKMS has signed them", vm.run(SIGNER).out.strip(), "DKMS module signing key")
    loaded, said = try_loading(vm, "modprobe rnbd-client")
    ktap.check("refused: modprobe", loaded.code and REFUSED in loaded.out, loaded.out)
    ktap.check("refused: why, from the kernel", "Loading of module with unavailable key is rejected" in said, said)
    for name, command in (("check", "rnbd check client"), ("map", "rnbd map 10.1.0.2:/dev/loop0")):
        told = vm.run(command)
        ktap.check(f"refused: rnbd {name} says what to do",
                   told.code == 3 and f"{ADVICE}rnbd-client" in told.out, told.out)
    told = vm.run("systemctl start rnbd-server; journalctl -b --no-pager -u rnbd-server")
    ktap.check("refused: and in the log of the unit", f"{ADVICE}rnbd-server" in told.out, told.out)
    try_unsigned(ktap, "refused", vm)


def enroll(ktap, vm):
    """What somebody does at the console: 3 cases."""
    ktap.equal("enroll: not yet", vm.run(TEST).out.strip(), f"{CERTIFICATE} is not enrolled")
    asked = vm.run(IMPORT, stdin=f"{PASSWORD}\n{PASSWORD}\n".encode())
    ktap.check("enroll: mokutil takes it", asked.code == 0, asked.out)
    firmware.reboot(vm)
    firmware.enroll(vm, PASSWORD)
    vm.start(timeout=debian.BOOT_S)
    ktap.equal("enroll: done", vm.run(TEST).out.strip(), f"{CERTIFICATE} is already enrolled")


def try_accepted(ktap, what, vm):
    """The kernel knows the key: 5 cases."""
    known = vm.run(LOADED)
    ktap.check(f"{what}: the kernel has the key", known.code == 0, known.out)
    told = vm.run("rnbd check client")
    ktap.check(f"{what}: rnbd check says what is left", "next: modprobe rnbd-client\n" in told.out, told.out)
    try_unsigned(ktap, what, vm)
    mapped = vm.lib(MAP, 300)
    ktap.check(f"{what}: maps, writes, reads", mapped.code == 0, mapped.out)
    # O: not part of the kernel. There is no E, of a module whose signature cannot be checked.
    taint = {name: vm.run(f"cat /sys/module/{name.replace('-', '_')}/taint").out.strip() for name in MODULES}
    ktap.equal(f"{what}: the kernel has checked the signatures", taint, dict.fromkeys(MODULES, "O"))


def try_locked_down(ktap, what, vm):
    """What integrity leaves of ours: 5 cases."""
    files = dict(reversed(line.split()) for line in vm.run(TABLES).out.splitlines())
    ktap.equal(f"{what}: tables of debugfs can be read",
               {file for file in READABLE if files.get(file) != "yes"}, set())
    faults = {file for file in files if "/fault/" in file}
    ktap.check(f"{what}: fault points cannot", faults and not any(files[file] == "yes" for file in faults), files)
    told = vm.run("rtrs-perf write bw 10.1.0.2")
    ktap.check(f"{what}: rtrs-perf says that it cannot measure",
               told.code == 3 and "this kernel is locked down" in told.out, told.out)
    traced = vm.run(TRACE).out
    names = ("rtrs_clt_req_done", "rtrs_srv_req_done", "rnbd_srv_io_done", "ours: (rtrs_clt_request")
    ktap.check(f"{what}: tracepoints and kprobes work", all(name in traced for name in names), traced)
    used = vm.run(TOOL)
    ktap.check(f"{what}: so do the tool and its units", used.code == 0, used.out)


def try_enrolled(ktap, what, vm):
    """13 cases."""
    try_state(ktap, what, vm)
    try_accepted(ktap, what, vm)
    try_locked_down(ktap, what, vm)


def body(ktap, rig):
    page = PAGE.read_text()
    ktap.equal("install.rst has the commands", [cmd for cmd in DOCUMENTED if f"\n\t{cmd}\n" not in page], [])
    tree = debian.unpack_base(rig.dir / "root", SUITE)
    (old,) = tree.releases()
    debian.add_agent(tree)
    debian.install(tree, debian.packages())
    tree.sh(f"apt-get -qy install {firmware.PACKAGES}; apt-get -qy install {debian.NEXT_KERNEL[SUITE]}")
    (new,) = set(tree.releases()) - {old}
    disk = tree.disk(rig.dir / "disk.img")
    esp = {release: firmware.system_partition(tree, release, rig.dir / f"esp-{release}.img") for release in (old, new)}

    vm = rig.vm("secure", drives=[disk, esp[old]], start=False,
                system=firmware.Installed(tree, old, rig.dir / "variables.fd"))
    vm.start(timeout=debian.BOOT_S)
    try_state(ktap, "refused", vm)
    try_refused(ktap, vm)
    enroll(ktap, vm)
    try_enrolled(ktap, "enrolled", vm)
    firmware.reboot(vm)
    vm.drives = [disk, esp[new]]
    vm.start(timeout=debian.BOOT_S)
    ktap.equal("next kernel: boots", vm.run("uname -r").out.strip(), new)
    try_enrolled(ktap, "next kernel", vm)


if os.geteuid():
    print("1..0 # SKIP needs root, for debootstrap and chroot")
    sys.exit(4)
subprocess.run([vmlib.TOP / "tools/deps", "packages", "secure-boot"], check=True)
sys.exit(hosts.test(41, body))
