# SPDX-License-Identifier: GPL-2.0-only
"""Which test runs on which kernel: what selftests/matrix says.

A kernel is what KVER= takes (tools/kernel): 6.12, 6.12-rt, newest, a release, or one of BUG_HUNTERS.
"""

import fnmatch
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parent.parent / "matrix"
BUG_HUNTERS = ["6.12-debug", "6.12-kcsan", "6.12-rtdebug"]      # no cell means them by "all"
COMMANDS = ["test", "all"]                      # make test, make test-all: the columns


class Error(Exception):
    """The table says something wrong."""


def means(entry, kver):
    """Whether a cell's entry is this kernel: the release 6.1.0-56-amd64 is 6.1, but neither 6.12 nor 6.1-rt is."""
    return kver == entry or re.match(re.escape(entry) + r"[.][0-9]", kver) is not None


class Row:
    """The kernels of one test, or of several, for each command."""

    def __init__(self, pattern, cells):
        self.pattern = pattern
        self.cells = {command: cell.split(",") for command, cell in zip(COMMANDS, cells)}

    def has(self, command):
        """Whether the command knows the test at all."""
        return self.cells[command] != ["-"]

    def takes(self, command, kver):
        """A run of the command over all kernels."""
        cell = self.cells[command]
        return ("all" in cell and kver not in BUG_HUNTERS) or any(means(entry, kver) for entry in cell)

    def takes_if_asked(self, kver, named):
        """A run for which somebody chose the kernel, the tests by their names, or both."""
        return (named and "named" in self.cells["test"]) or any(self.takes(command, kver) for command in COMMANDS)


class Matrix:
    """The table."""

    def __init__(self, text):
        self.kernels, self.rows = {}, []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 1 + len(COMMANDS):
                raise Error(f"{PATH.name}:{number}: {len(words)} columns, wanted {1 + len(COMMANDS)}")
            if words[0] == "kernels":
                self.kernels = dict(zip(COMMANDS, (cell.split(",") for cell in words[1:])))
            else:
                self.rows.append(Row(words[0], words[1:]))
        if not self.kernels:
            raise Error(f"{PATH.name}: no line \"kernels\"")

    def row(self, name):
        """Of a test; it must be the only one."""
        rows = [row for row in self.rows if fnmatch.fnmatchcase(name, row.pattern)]
        if len(rows) != 1:
            raise Error(f"{PATH.name}: {len(rows)} rows are for {name}, wanted one")
        return rows[0]

    def unused(self, names):
        """Patterns that match no test."""
        return [row.pattern for row in self.rows
                if not any(fnmatch.fnmatchcase(name, row.pattern) for name in names)]

    def all_kernels(self, command):
        """Those of a run of the command, and those that some of its rows name."""
        kernels = list(self.kernels[command])
        for row in self.rows:
            kernels += [entry for entry in row.cells[command] if entry in BUG_HUNTERS and entry not in kernels]
        return sorted(kernels, key=lambda kver: kver in BUG_HUNTERS)


def read():
    """The repository's."""
    return Matrix(PATH.read_text())
