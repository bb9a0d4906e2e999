# SPDX-License-Identifier: GPL-2.0-only
"""Machines that boot by UEFI firmware with Secure Boot enforced, and a person at their console.

The firmware has Microsoft's keys and checks shim; shim has Debian's, and checks GRUB and MokManager; GRUB asks shim
about the kernel. All of these are Debian's packages as they are: nothing is signed here.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile

import debian
import hosts
import vmlib

PACKAGES = "shim-signed grub-efi-amd64-signed mokutil"
OVMF = pathlib.Path("/usr/share/OVMF")
CODE = OVMF / "OVMF_CODE_4M.secboot.fd"
VARIABLES = OVMF / "OVMF_VARS_4M.ms.fd"     # Microsoft's keys, and Secure Boot is on
ESP_MB = 64
MENU_S = 180            # the firmware's start too
MENU_ITEMS = 10
REBOOT_S = 180
# Where the firmware looks on a disk that it was told nothing of, and where Debian's GRUB does.
BOOT_FILES = {
    "BOOTX64.EFI": "usr/lib/shim/shimx64.efi.signed",
    "mmx64.efi": "usr/lib/shim/mmx64.efi.signed",
    "grubx64.efi": "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
}
GRUB_CFG = """search --set=root --file /boot/vmlinuz-{release}
linux /boot/vmlinuz-{release} {cmdline}
initrd /boot/initrd.img-{release}
boot
"""
# The line of a menu that is on black, where the others are on blue.
CHOSEN = re.compile(rb"\x1b\[40m\x1b\[[0-9;]+H\xb3 +(.+?) +\xb3")


class Installed(debian.Installed):
    """A kernel of the tree, which the firmware finds by way of system_partition()."""

    def __init__(self, tree, release, variables):
        super().__init__(tree, release)
        self.variables = shutil.copy(VARIABLES, variables)

    def boot_args(self, _append):
        # The variables are for code in system management mode only.
        return ["-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
                "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={CODE}",
                "-drive", f"if=pflash,unit=1,format=raw,file={self.variables}"]


def system_partition(tree, release, image):
    """An image of what is beside the tree's disk: shim, MokManager, GRUB and what it is to boot."""
    def mtools(*words):
        subprocess.run([words[0], "-i", image, *words[1:]], check=True)

    mtools("mformat", "-C", "-T", str(ESP_MB * 2048), "-F", "::")
    mtools("mmd", "::EFI", "::EFI/BOOT", "::EFI/debian")
    for name, file in BOOT_FILES.items():
        mtools("mcopy", tree.path / file, f"::EFI/BOOT/{name}")
    with tempfile.NamedTemporaryFile("w") as config:
        config.write(GRUB_CFG.format(release=release, cmdline=f"{vmlib.CMDLINE} {debian.Installed.cmdline}"))
        config.flush()
        mtools("mcopy", config.name, "::EFI/debian/grub.cfg")
    return image


class Console:
    """The screen and the keyboard of a VM whose shim has started MokManager."""

    def __init__(self, vm):
        self.vm = vm
        self.seen = vm.console.stat().st_size

    def shown(self):
        """What came since the last look."""
        with open(self.vm.console, "rb") as file:
            file.seek(self.seen)
            return file.read()

    def wait(self, what, pattern):
        """Until it is shown; the match."""
        if not hosts.wait(lambda: re.search(pattern, self.shown()), MENU_S):
            raise vmlib.Error(f"{self.vm.name}: no {what} on the screen after {MENU_S} s: {self.shown()[-2000:]}")
        match = re.search(pattern, self.shown())
        self.seen += match.end()
        return match

    def press(self, key):
        self.vm.qmp("send-key", keys=[{"type": "qcode", "data": key}])

    def answer(self, question, keys):
        """Type what is asked for, key by key, by QEMU's names of them."""
        self.wait(question, re.escape(question.encode()))
        for key in keys:
            self.press(key)

    def choose(self, title, item):
        """Go down to an item of the menu of this title, and take it."""
        self.wait(title, re.escape(title.encode()))
        for _ in range(MENU_ITEMS):
            if self.wait(item, CHOSEN)[1].decode() == item:
                break
            self.press("down")
        else:
            raise vmlib.Error(f"{self.vm.name}: no {item} in {title}")
        self.press("ret")


def enroll(vm, password):
    """Boot, and have MokManager take the key that mokutil was given; until it boots again."""
    console = Console(vm)
    vm.launch()
    console.answer("Press any key to perform MOK management", ["ret"])
    console.choose("Perform MOK management", "Enroll MOK")
    console.choose("[Enroll MOK]", "Continue")
    console.choose("Enroll the key(s)?", "Yes")
    console.answer("Password:", [*password, "ret"])
    console.choose("Perform MOK management", "Reboot")
    gone(vm)


def reboot(vm):
    """Orderly; it is to be started again then."""
    vm.spawn("systemctl reboot")
    gone(vm)


def gone(vm):
    vm.ended = True
    if not hosts.wait(lambda: not vm.alive(), REBOOT_S):
        raise vmlib.Error(f"{vm.name}: does not reboot: {vm.tail()}")
    vm.kill()
