#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print what differs between two results of `make bench`.

Usage: compare.py <old results.json> <new results.json>
"""

import json
import pathlib
import sys

import figures


def load(path):
    results = json.loads(pathlib.Path(path).read_text())
    if results.get("format") != figures.FORMAT:
        raise ValueError(f"format {results.get('format')}, this program reads {figures.FORMAT}")
    return results


def main():
    if len(sys.argv) != 3 or not all(sys.argv[1:]):
        print(__doc__.splitlines()[2], file=sys.stderr)
        return 2
    results = []
    for path in sys.argv[1:]:
        try:
            results.append(load(path))
        except (OSError, ValueError, AttributeError) as error:
            print(f"compare: {path}: {error}", file=sys.stderr)
            return 1
    print(figures.compare(*results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
