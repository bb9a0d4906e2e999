# SPDX-License-Identifier: GPL-2.0-only
"""Which module and function instructions belong to: the plugin's counts and the kernel's symbols."""

import bisect
import collections

USER = ("user", "all of user space")
KERNEL = "kernel"


class Symbols:
    """Functions by address, from the text of /proc/kallsyms."""

    def __init__(self, kallsyms):
        found = []
        for line in kallsyms.splitlines():
            addr, kind, name, *module = line.split()
            if kind in "tTwW" :
                found.append((int(addr, 16), module[0].strip("[]") if module else KERNEL, name))
        # Of several names at one address the first in the kernel's order is as good as any.
        found.sort(key=lambda symbol: symbol[0])
        self.starts = [symbol[0] for symbol in found]
        self.names = [symbol[1:] for symbol in found]

    def of(self, addr):
        """(module, function) of an instruction; address 0 stands for user space."""
        if not addr:
            return USER
        at = bisect.bisect_right(self.starts, addr)
        at = bisect.bisect_left(self.starts, self.starts[at - 1]) if at else 0
        return self.names[at] if self.starts[at] <= addr else (KERNEL, "?")


def read_counts(text):
    """{address: instructions} that the plugin wrote."""
    pairs = (line.split() for line in text.splitlines())
    return {int(addr, 16): int(count) for addr, count in pairs}


def by_function(counts, symbols):
    sums = collections.Counter()
    for addr, count in counts.items():
        sums[symbols.of(addr)] += count
    return sums
