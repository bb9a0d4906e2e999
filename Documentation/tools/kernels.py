#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table of kernels and test results in Documentation/compatibility.rst, from what the tests have printed.

Usage: kernels.py LOG...    write the table again from logs of `make test`, `make test-all`, with KVER= or without

A test that is in several logs counts as in the last one of them. The table stands between the lines
".. kernels: results" and ".. kernels: end".
"""

import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "selftests/vm"))
import results  # noqa: E402
PAGE = os.path.join(ROOT, "Documentation/compatibility.rst")
PART = re.compile(r"(\.\. kernels: results\n\n).*?(\.\. kernels: end\n)", re.S)
RESULT = re.compile(r"^ *(ok|not ok) \d+ (.*?)(?: # SKIP(.*))?(?: # [0-9.]+ s)?$")
BUILT = re.compile(r"^# (\S+) is (\S+), built with (.*)$")
HEADINGS = ["Kernel", "Release", "Built with, no warning", "Tests", "Passed", "Failed", "Skipped", "Interop"]


class Kernel:
    """What is known of one kernel."""

    def __init__(self):
        self.release = self.built = "not told"
        self.tests = {}         # name -> (cases passed, failed, skipped)
        self.skips = {}         # name -> reasons, one for each case

    def row(self, name):
        counts = [sum(test[part] for test in self.tests.values()) for part in range(3)]
        interop = [test for test_name, test in self.tests.items() if "interop" in test_name]
        held, all_of_them = sum(test[0] for test in interop), sum(map(sum, interop))
        return [f"``{name}``", self.release, self.built, str(len(self.tests)), *map(str, counts),
                f"{held} of {all_of_them}" if interop else "not run"]


def read(path, kernels):
    """Add what a log says."""
    cases = []          # lines of a test, which come before its own result
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            if match := BUILT.match(line):
                kernel = kernels.setdefault(match[1], Kernel())
                kernel.release, kernel.built = match[2], match[3]
            elif line.startswith(" "):
                cases.append(line)
            elif match := RESULT.match(line):
                outcome, name, reason = match.groups()
                kver, _, test = name.partition("/")
                if test:
                    verdict = "fail" if outcome == "not ok" else "pass" if reason is None else "skip"
                    kernel = kernels.setdefault(kver, Kernel())
                    kernel.tests[test] = results.count(verdict, "\n".join(cases))
                    skips = [case[3].strip() for case in map(RESULT.match, cases) if case and case[3] is not None]
                    kernel.skips[test] = [reason.strip()] if verdict == "skip" and not skips else skips
                cases = []


def table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def skipped(kernels):
    """Each reason once, with the kernels and the number of cases."""
    found = collections.defaultdict(collections.Counter)
    for name, kernel in kernels.items():
        for test, reasons in kernel.skips.items():
            for reason in reasons:
                found[f"{test}: {reason}"][name] += 1
    return [f"- {what} ({', '.join(f'{name}: {number}' for name, number in where.items())})"
            for what, where in sorted(found.items())]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    kernels = {}
    for path in sys.argv[1:]:
        read(path, kernels)
    if not any(kernel.tests for kernel in kernels.values()):
        sys.exit("kernels.py: no result of a test on a kernel in " + ", ".join(sys.argv[1:]))
    text = table([HEADINGS] + [kernel.row(name) for name, kernel in sorted(kernels.items())]) + "\n\n"
    reasons = skipped(kernels)
    if reasons:
        text += "Cases that were skipped, and why:\n\n" + "\n".join(reasons) + "\n\n"
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    new, changed = PART.subn(lambda match: match[1] + text + match[2], page)
    if changed != 1:
        sys.exit(f"kernels.py: {PAGE} has no lines \".. kernels: results\" and \".. kernels: end\"")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)


if __name__ == "__main__":
    main()
