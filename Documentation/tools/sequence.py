# SPDX-License-Identifier: GPL-2.0-only
"""Sequences of messages as text, made into a graph for dot.

The first line names who takes part, with "|" between them. Each line after it is a message, "from -> to: text", or
what somebody does, "who: text". "\\n" in a text begins a new line, and so does a line that begins with a blank.
"""

import re


class Bad(Exception):
    """A line that cannot be read."""


def quoted(text):
    """Text as a string of dot."""
    return '"%s"' % text.replace('"', '\\"')


def lines_of(text):
    """Lines, with those that go on with the one before joined to it."""
    joined = []
    for line in text.split("\n"):
        if line.startswith(" ") and joined:
            joined[-1] += "\\n" + line.strip()
        elif line.strip():
            joined.append(line.strip())
    return joined


def to_dot(text):
    """The graph."""
    head, *rows = lines_of(text)
    names = [name.strip() for name in head.split("|")]
    out = ["digraph sequence {",
           "graph [nodesep=0.7, ranksep=0.36, splines=line];",
           'node [shape=point, width=0.01, fontname="Helvetica", fontsize=10];',
           'edge [fontname="Helvetica", fontsize=10, arrowsize=0.7];']
    for at, name in enumerate(names):
        out.append(f'n{at}_0 [shape=box, style="rounded,filled", fillcolor="#eef3fb", group=g{at}, '
                   f'label={quoted(name)}];')
    for row, line in enumerate(rows, 1):
        found = re.fullmatch(r"(?:([^:]+?) -> )?([^:]+?): (.+)", line)
        if not found or not {found[1] or found[2], found[2]} <= set(names):
            raise Bad(line)
        to = names.index(found[2])
        for at in range(len(names)):
            does = ""
            if not found[1] and at == to:
                does = f', shape=box, style=filled, fillcolor="#fff7d6", label={quoted(found[3])}'
            out.append(f"n{at}_{row} [group=g{at}{does}];")
        if found[1]:
            # An edge within a rank has its tail on the left.
            ends = sorted((names.index(found[1]), to))
            back = ", dir=back" if ends[0] == to else ""
            out.append(f"n{ends[0]}_{row} -> n{ends[1]}_{row} [label={quoted(found[3])}{back}];")
    rows = len(rows) + 1
    for at in range(len(names)):
        out.append(f"n{at}_{rows} [group=g{at}, style=invis];")
    for row in range(rows + 1):
        # The chain keeps the columns in their order.
        chain = " -> ".join(f"n{at}_{row}" for at in range(len(names)))
        out.append(f"{{ rank=same; {chain} [style=invis]; }}")
    for at in range(len(names)):
        out.append(" -> ".join(f"n{at}_{row}" for row in range(rows + 1)) +
                   " [arrowhead=none, style=dashed, color=gray60, weight=100];")
    return "\n".join([*out, "}"])
