# SPDX-License-Identifier: GPL-2.0-only
"""Each literalinclude of Documentation against its source, as Sphinx finds its first and its last line."""

import pathlib
import re
import sys

PAGES = pathlib.Path("Documentation")
# The directive, and the lines of its options.
EXCERPT = re.compile(r"^\.\. literalinclude:: (\S+)\n((?:[ \t]+:.*\n)*)", re.M)
OPTION = re.compile(r"^[ \t]+:([a-z-]+): (.*)$", re.M)


def found(lines, text, first):
    """Number of the first line from `first` on that has the text, or None."""
    return next((number for number in range(first, len(lines)) if text in lines[number]), None)


def wrong(page, target, options):
    """What is wrong with one of them."""
    source = (page.parent / target).resolve()
    if not source.is_file():
        yield "no such file"
        return
    lines = source.read_text(encoding="utf-8").splitlines()
    start = 0
    for name, text in options:
        if name in ("start-at", "start-after"):
            start = found(lines, text, 0)
            if start is None:
                yield f"{name}: no line has '{text}'"
                return
    for name, text in options:
        if name in ("end-at", "end-before") and found(lines, text, start + (name == "end-before")) is None:
            yield f"{name}: no line after the first one has '{text}'"


def main():
    complaints, seen = [], 0
    for page in sorted(PAGES.rglob("*.rst")):
        for excerpt in EXCERPT.finditer(page.read_text(encoding="utf-8")):
            seen += 1
            complaints += [f"{page}: {excerpt[1]}: {what}"
                           for what in wrong(page, excerpt[1], OPTION.findall(excerpt[2]))]
    if not seen:
        complaints = ["no excerpt found in any page"]
    print("\n".join(complaints))
    return bool(complaints)


sys.exit(main())
