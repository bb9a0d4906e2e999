#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands of README and `make help` on a Debian that has nothing but git and make, with an empty cache.

    fresh-host.py bookworm|trixie [COMMAND...]

debootstrap makes a root file system of Debian 12 or 13, and the commands run in a clone of this repository there, as
root: what is committed counts. Whatever they need they have to install and to build. Without COMMAND those of COMMANDS
run; `fresh-host.py trixie "make demo" "make test"` is what a new user does, and takes an hour and a half.
"""
# vm: args=bookworm,trixie timeout=7200

import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import debian
import hosts
import vmlib

SUITE = sys.argv[1] if len(sys.argv) > 1 else debian.OLDER
COMMANDS = sys.argv[2:] or [
    "make",
    "make check",
    "make test TESTS=rnbd/map-unmap,vm/tests/client-killed,vm/tests/budget KVER=6.12",
    "make test TESTS=rtrs/topology KVER=newest",
    "make deb",
    "make docs",
    "make demo",
]

# The host's devices, but no file systems of it; what is mounted goes with the namespace, and processes with their first.
# Its root is a mount, as on any machine: without one nobody there could have a mount namespace.
ENTER = """
mount --make-rprivate /
mount --bind "$1" "$1"
for dir in dev sys; do mount --rbind /$dir "$1/$dir"; done
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/dev/shm"
cp -L /etc/resolv.conf "$1/etc"
exec chroot "$1" sh -euc "cd /root/rtrs; $2"
"""


class Failed(Exception):
    """A command, and what it printed last."""


def run(tree, command):
    """Run a command in the clone; what it prints goes to stderr, and its last lines are kept."""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
           "TERM": "dumb", "LANG": "C.UTF-8"} | debian.proxies()
    with subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, "sh",
                           tree.path, command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as proc:
        last = []
        for line in proc.stdout:
            print(f"# {line}", end="", file=sys.stderr, flush=True)
            last = [*last[-39:], line]
    if proc.returncode:
        raise Failed(f"exit {proc.returncode}: {command}\n{''.join(last)}")


def main():
    vmlib.die_on_signals()
    ktap = hosts.Ktap(len(COMMANDS))
    with tempfile.TemporaryDirectory(prefix="rtrs-host.") as tmp:
        tree = debian.unpack_base(pathlib.Path(tmp) / "root", SUITE)
        tree.sh(f"apt-get -q update; apt-get -qy autoremove --purge {debian.BASE_KERNEL}; "
                "apt-get -qy --no-install-recommends install git make ca-certificates")
        subprocess.run(["git", "clone", "-q", vmlib.TOP, tree.path / "root/rtrs"], check=True)
        for command in COMMANDS:
            start = time.monotonic()
            why = ""
            try:
                run(tree, command)
            except Failed as error:
                why = str(error)
            ktap.check(command, not why, why)
            ktap.note(f"{time.monotonic() - start:.0f} s")
    return ktap.verdict()


sys.exit(main())
