#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""LVM and dm-crypt on mapped devices, as Documentation/admin-guide/recipes.rst has them.

lvm-crypt.sh beside this directory is the test; this boots a VM that has Debian's lvm2 and cryptsetup, and the kernel's
modules for them, for it.
"""
# vm: cores=1 timeout=600

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import initrd
import vmlib

# grep: that of busybox takes minutes for a disk of zeros, which is one line.
TOOLS = ["lvm", "dmsetup", "cryptsetup", "resize2fs", "grep"]
MODULES = ["dm_crypt", "dm_snapshot", "dm_mirror", "xts", "ecb", "cbc", "essiv", "aes_generic", "aesni_intel",
           "sha256_generic", "algif_skcipher", "algif_hash"]


def say(data):
    """What the script prints, as it comes."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main():
    subprocess.run([vmlib.TOP / "tools/deps", "lvm-crypt"], check=True)
    vmlib.die_on_signals()
    with vmlib.Rig(os.environ.get("KVER") or "6.12") as rig:
        system = rig.system
        system.tools += TOOLS
        system.modules += initrd.stock_modules(system.image, system.release, MODULES, rig.dir)
        try:
            result = rig.vm("lvm-crypt", counted=True).run("sh /selftests/vm/lvm-crypt.sh", 500, sink=say)
            rig.check()
        except vmlib.Error as error:
            print(f"Bail out! {error}", flush=True)
            return 1
    return result.code


sys.exit(main())
