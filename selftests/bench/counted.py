# SPDX-License-Identifier: GPL-2.0-only
"""A VM whose instructions a plugin of QEMU counts (plugin.c), and which functions they belong to."""

import functools
import pathlib
import subprocess

import symbols

HERE = pathlib.Path(__file__).resolve().parent


def compile_c(source, out, *flags):
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", *flags, "-o", out, HERE / source], check=True)


def counts_of(vm):
    """The file in which the plugin leaves what it has counted."""
    return vm.rig.dir / f"{vm.name}.counts"


class Counter:
    """What counts: the plugin, and the program of the guest that tells it when."""

    def __init__(self, directory):
        self.plugin, self.program = directory / "plugin.so", directory / "count"
        compile_c("plugin.c", self.plugin, "-shared", "-fPIC", "-fvisibility=hidden")
        compile_c("count.c", self.program, "-static")

    def watch(self, vm):
        """A VM that is not booted yet."""
        vm.qemu = ["-plugin", f"file={self.plugin},out={counts_of(vm)}"]


class Guest:
    """A booted VM that is watched. Its modules are loaded before something is counted."""

    LIBRARIES = ["guest.sh"]
    TIMEOUT = 1200      # counting is not timing: a busy host may take its time

    def __init__(self, vm):
        self.vm = vm

    def sh(self, command):
        libraries = "".join(f". /selftests/bench/{name}; " for name in self.LIBRARIES)
        return self.vm.lib(libraries + command, self.TIMEOUT, check=True).out.strip()

    @functools.cached_property
    def symbols(self):
        return symbols.Symbols(self.vm.run("cat /proc/kallsyms", self.TIMEOUT, check=True).out)

    def forget_symbols(self):
        """Modules come and go."""
        self.__dict__.pop("symbols", None)

    def count(self, command):
        """What a command said, and the instructions of what it had counted, by function."""
        counts = counts_of(self.vm)
        counts.unlink(missing_ok=True)
        said = self.sh(command)
        return said, symbols.by_function(symbols.read_counts(counts.read_text()), self.symbols)
