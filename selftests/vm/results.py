# SPDX-License-Identifier: GPL-2.0-only
"""How the cases in the KTAP output of a test are counted."""

import re

RESULT = re.compile(r"^(\s*)(not ok|ok)\b(.*)")
VERDICTS = ["pass", "fail", "skip"]


def count_cases(output):
    """[passed, failed, skipped] among the innermost KTAP results of a test."""
    counts, depth = [0, 0, 0], -1
    for line in output.splitlines():
        match = RESULT.match(line)
        if not match:
            continue
        indent = len(match[1])
        if indent < depth:      # sums up the deeper ones above it
            depth = indent
            continue
        depth = indent
        counts[1 if match[2] == "not ok" else 2 if "# SKIP" in match[3] else 0] += 1
    return counts


def count(verdict, output):
    """The same with the test itself, if it has no case, or failed outside of them."""
    counts = count_cases(output)
    if not any(counts) or (verdict == "fail" and not counts[1]):
        counts[VERDICTS.index(verdict)] += 1
    return counts
