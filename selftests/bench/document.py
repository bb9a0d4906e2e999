#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put the last figures into the documentation.

A table there is told by its first line, which holds no figure. So each paragraph of literal text of
Documentation/performance-results.rst and of the RDMA tutorial that begins as a table of results.json, switches.json
or scale.json becomes that table; a file that is not there changes nothing. What the text says of figures, and
of the run they are of, is for whoever calls this to read again.
"""

import argparse
import json
import pathlib
import re
import sys

import figures
import report
import scale
import switches

DOCUMENTATION = pathlib.Path(__file__).resolve().parents[2] / "Documentation"
PAGES = [DOCUMENTATION / "performance-results.rst", DOCUMENTATION / "driver-api/rdma-tutorial.rst"]
WHOSE = figures.QUANTITIES[0]
TEXTS = {"results.json": lambda found: "\n\n".join([figures.text(found["rows"], found["timing"]),
                                                     *whose(found["rows"])]),
         "switches.json": lambda found: switches.text(found["rows"]),
         "scale.json": lambda found: scale.text(found["rows"])}


def whose(rows):
    """By whose instructions they are: a table for each load of 4 KiB of the first network."""
    rows = [row for row in rows if row["mtu"] == rows[0]["mtu"] and row["contender"] != "disk"]
    for load in figures.in_order(row["load"] for row in rows if re.search("-4k-qd[0-9]+$", row["load"])):
        yield f"{load}:\n" + figures.columns(["contender", *report.PARTS], [
            [row["contender"], *(f"{cost / WHOSE.unit:.{WHOSE.decimals}f}" for cost in report.parts(row).values())]
            for row in rows if row["load"] == load])


def name(table):
    """What is the same of a table in every run."""
    return " ".join(table.split("\n", 1)[0].split())


def tables(text):
    """{name: lines} of paragraphs."""
    return {name(table): table.splitlines() for table in text.split("\n\n")}


def replaced(page, known):
    """(text of a page with the tables of `known`, names of those that it has)."""
    lines, found = page.splitlines(), []
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].startswith("\t"):
            end += 1
        if end > at:
            table = name(lines[at])
            if table in known:
                found.append(table)
                lines[at:end] = [f"\t{line}".rstrip() for line in known[table]]
                end = at + len(known[table])
        at = max(end, at + 1)
    return "\n".join(lines) + "\n", found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", type=pathlib.Path, default=scale.RESULTS.parent,
                        help="directory with " + ", ".join(TEXTS) + ", or some of them (default: %(default)s)")
    source = parser.parse_args().source
    known = {}
    for file, text in TEXTS.items():
        if (source / file).exists():
            known.update(tables(text(json.loads((source / file).read_text()))))
    if not known:
        print(f"document: {source}: none of {', '.join(TEXTS)}", file=sys.stderr)
        return 1
    there = set()
    for page in PAGES:
        text, found = replaced(page.read_text(encoding="utf-8"), known)
        page.write_text(text, encoding="utf-8")
        there.update(found)
        print(f"{page.name}: {len(found)} tables")
    # What a switch does with always_invalidate=Y is told apart only where it does nothing without.
    missing = [table for table in known if table not in there and re.sub("^rnbd-y", "rnbd-n", table) not in there]
    for table in missing:
        print(f"document: no page has a table {table}", file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
