#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables and pictures of states and events in Documentation/states.rst, from the C source.

Usage: states.py            write them again
       states.py --check    print what would change, and fail if anything does

A table or a picture stands between the lines ".. states: <name>" and ".. states: end". What the source has no table
of is looked for: who raises an event, who sets a state, and which one is the first.
"""

import difflib
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "Documentation/states.rst"
RTRS = "drivers/infiniband/ulp/rtrs"
RNBD = "drivers/block/rnbd"
FSM = [RTRS + "/proto/path_fsm.h", RTRS + "/proto/path_fsm.c"]

# In the order of their bits.
ACTIONS = {"WAKE": "wake", "WORK": "work", "UP": "up", "DOWN": "down"}


def fail(message):
    sys.exit("states.py: " + message)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def sources(directory):
    for name in sorted(os.listdir(os.path.join(ROOT, directory))):
        if name.endswith((".c", ".h")):
            yield directory + "/" + name


def enum_values(texts, enum):
    """Constants of an enum in order, with what kernel-doc says of each."""
    for text in texts:
        found = re.search(r"/\*\*\n \* enum %s - ((?:(?!\*/).)*?)\*/\s*enum %s \{(.*?)\};"
                          % (enum, enum), text, re.S)
        if found:
            break
    else:
        fail("no enum %s with kernel-doc" % enum)
    about, name = {}, None
    for line in found.group(1).split("\n"):
        line = line.strip().removeprefix("*").strip()
        start = re.match(r"@(\w+): (.*)", line)
        if start:
            name = start.group(1)
            about[name] = start.group(2)
        elif name and line:
            about[name] += " " + line
        else:
            name = None
    values = [v for v in re.findall(r"^\s*(\w+)", found.group(2), re.M) if not v.endswith("__NR")]
    for value in values:
        if value not in about:
            fail("enum %s: nothing is said of %s" % (enum, value))
    return [(value, about[value]) for value in values]


def initialiser(texts, array):
    """Text between the braces of an array."""
    for text in texts:
        found = re.search(r"\b%s\[.*?\] = \{\n(.*?)\n\};" % array, text, re.S)
        if found:
            return found.group(1)
    fail("no array %s" % array)


def names(texts, array):
    """Constant to its name, from an array of strings."""
    return dict(re.findall(r"\[(\w+)\]\s*=\s*\"([^\"]+)\"", initialiser(texts, array)))


def steps(texts, array, prefix, states, events):
    """(state, event) to (next state, actions)."""
    table, state = {}, None
    for line in initialiser(texts, array).split("\n"):
        row = re.fullmatch(r"\t\[(\w+)\] = \{", line)
        cell = re.fullmatch(r"\t\t\[(\w+)\]\s*= \w+\((\w+),\s*([\w |]+)\),", line)
        if row:
            state = row.group(1)
        elif cell:
            actions = [] if cell.group(3) == "0" else re.split(r"\s*\|\s*", cell.group(3))
            table[state, cell.group(1)] = prefix + cell.group(2), actions
        elif line != "\t},":
            fail("%s: cannot read '%s'" % (array, line.strip()))
    for (state, event), (after, actions) in table.items():
        if not {state, after} <= set(states) or event not in events or not set(actions) <= set(ACTIONS):
            fail("%s: what is %s, %s -> %s, %s?" % (array, state, event, after, actions))
        actions.sort(key=list(ACTIONS).index)
    return table


def occurrences(directory, pattern):
    """What the group of a pattern matches, to [(function or macro it is in, file)]."""
    found = {}
    for name in sources(directory):
        inside = last = None
        macro = False
        for line in read(name).split("\n"):
            head = re.match(r"#define (\w+)\(", line) or re.match(r"\w[^;]*?\b(\w+)\([^;]*$", line)
            last = head.group(1) if head else last
            macro = macro or line.startswith("#define")
            if macro or line == "{":
                inside = last
            for what in re.findall(pattern, line) if line.startswith("\t") else []:
                if not inside:
                    fail("%s: whose is '%s'?" % (name, line.strip()))
                place = inside, os.path.basename(name)
                if place not in found.setdefault(what, []):
                    found[what].append(place)
            if line == "}" or macro and not line.endswith("\\"):
                inside, macro = None, False
    return found


def literal(text):
    return "``%s``" % text


def plain(text):
    """Text of a comment as reStructuredText."""
    text = re.sub(r"\b(\w+\(\))", r"``\1``", text)
    return re.sub(r"([*|])|(_)(?!\w|`)", r"\\\g<0>", text)


def grid(rows):
    """Grid table; a cell is a list of lines, the first row is the head."""
    widths = [max(len(line) for row in rows for line in row[i]) for i in range(len(rows[0]))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    out = [rule]
    for row in rows:
        for i in range(max(map(len, row))):
            cells = [cell[i] if i < len(cell) else "" for cell in row]
            out.append("|" + "|".join(" %-*s " % pair for pair in zip(widths, cells)) + "|")
        out.append(rule.replace("-", "=") if row is rows[0] else rule)
    return out


def simple(head, rows, total=118):
    """Simple table of two or three columns, of which the last are broken into lines."""
    first = max(len(row[0]) for row in [head] + rows)
    rest = len(head) - 1
    width = (total - first - 2 * rest) // rest
    columns = [first] + [width] * rest
    rule = "  ".join("=" * width for width in columns)
    out = [rule, "  ".join("%-*s" % pair for pair in zip(columns, head)).rstrip(), rule]
    for row in rows:
        cells = [[row[0]]] + [textwrap.wrap(cell, width, break_on_hyphens=False) for cell in row[1:]]
        for i in range(max(map(len, cells))):
            line = [cell[i] if i < len(cell) else "" for cell in cells]
            out.append("  ".join("%-*s" % pair for pair in zip(columns, line)).rstrip())
    return out + [rule]


class Path:
    """Table of a path, the client's or the server's."""

    def __init__(self, side, wrapper):
        self.side, self.wrapper = side, wrapper
        texts = [read(name) for name in FSM]
        prefix = "rtrs_%s_path" % side
        self.states = enum_values(texts, prefix + "_state")
        self.events = enum_values(texts, prefix + "_event")
        self.state_names = names(texts, prefix + "_state_names")
        self.event_names = names(texts, prefix + "_event_names")
        self.steps = steps(texts, prefix + "_steps", prefix.upper() + "_", [s for s, _ in self.states],
                           [e for e, _ in self.events])

    def matrix(self):
        rows = [[["event"]] + [[self.state_names[state]] for state, _ in self.states]]
        for event, _ in self.events:
            row = [[self.event_names[event]]]
            for state, _ in self.states:
                after, actions = self.steps.get((state, event), (None, []))
                row.append([self.state_names[after], "+".join(ACTIONS[a] for a in actions)] if after else [""])
            rows.append(row)
        return grid(rows)

    def picture(self, alt):
        """Graph for dot, one edge for all events that lead from one state to another."""
        edges = {}
        first = occurrences("%s/%s" % (RTRS, self.side), r"path->_state = (RTRS_\w+);")
        if len(first) != 1:
            fail("%s: a path begins in %s" % (self.side, " and ".join(first) or "no state"))
        for (state, event), (after, _) in self.steps.items():
            if state != after:
                edges.setdefault((state, after), []).append(event)
        lines = ["digraph %s {" % self.side, 'graph [nodesep=0.6, ranksep=0.7];',
                 'node [shape=box, style="rounded,filled", fillcolor="#eef3fb", fontname="Helvetica", fontsize=11];',
                 'edge [fontname="Helvetica", fontsize=9, arrowsize=0.7];', "begin [shape=point, width=0.1];",
                 'begin -> "%s";' % self.state_names[next(iter(first))]]
        for state, _ in self.states:
            for after, _ in self.states:
                events = [self.event_names[e] for e, _ in self.events if e in edges.get((state, after), [])]
                if events:
                    lines.append('"%s" -> "%s" [label=" %s"];' % (self.state_names[state], self.state_names[after],
                                                                 "\\n ".join(events)))
        return [".. graphviz::", "   :alt: " + alt, "", *("   " + line for line in lines + ["}"])]

    def about_states(self):
        return simple(["state", "meaning"], [[self.state_names[s], plain(about)] for s, about in self.states])

    def about_events(self):
        directory = "%s/%s" % (RTRS, self.side)
        raised = occurrences(directory, r"rtrs_%s_path_event(?:_why)?\([^;]*?, (RTRS_\w+_EV_\w+)[,)]" % self.side)
        users = occurrences(directory, r"\b(%s)\(" % self.wrapper)[self.wrapper]
        files = sorted({file for function, file in users if file.endswith(".c") and function != self.wrapper})
        rows = []
        for event, about in self.events:
            by = []
            for function, _ in raised.get(event, []):
                by.append(literal(function + "()"))
                if function == self.wrapper:
                    by[-1] += " (in %s)" % ", ".join(files)
            rows.append([self.event_names[event], plain(about), ", ".join(by) or "nobody"])
        return simple(["event", "meaning", "raised by"], rows)


def setters(enum, directory, header):
    """Table of states that are set one by one, with who sets them."""
    values = enum_values([read(header)], enum)
    prefix = enum.removesuffix("state").upper()
    found = {}
    # One value, and each of two.
    for pattern in (r"(?:state = |_set_state\(\w+, |state, |state, \w+, )(%s\w+)\b(?!,)",
                    r"state = [^;?]*\? (%s\w+)\b", r"state = [^;?]*\? \w+ : (%s\w+)\b"):
        for value, places in occurrences(directory, pattern % prefix).items():
            found[value] = found.get(value, []) + places
    rows = []
    for i, (value, about) in enumerate(values):
        by = ", ".join(literal(function + "()") for function, _ in found.get(value, []))
        rows.append([value.removeprefix(prefix), plain(about), by or ("as allocated" if not i else "nobody")])
    return simple(["state", "meaning", "set by"], rows)


def tables():
    client = Path("clt", "rtrs_clt_path_error")
    server = Path("srv", "rtrs_srv_path_fail")
    return {
        "client path picture": client.picture("Steps between the states of a client's path; the table has them all."),
        "client path": client.matrix(),
        "client path states": client.about_states(),
        "client path events": client.about_events(),
        "server path picture": server.picture("Steps between the states of a server's path; the table has them all."),
        "server path": server.matrix(),
        "server path states": server.about_states(),
        "server path events": server.about_events(),
        "server request": setters("rtrs_srv_req_state", RTRS + "/srv", RTRS + "/srv/rtrs-srv.h"),
        "rnbd client device": setters("rnbd_clt_dev_state", RNBD + "/clt", RNBD + "/clt/types.h"),
        "rnbd client session": setters("rnbd_clt_sess_state", RNBD + "/clt", RNBD + "/clt/types.h"),
        "rnbd server device": setters("rnbd_srv_dev_state", RNBD + "/srv", RNBD + "/srv/srv.h"),
    }


def fill(page):
    """The page with its tables as they should be."""
    left = tables()

    def table(found):
        lines = left.pop(found.group(2), None)
        if not lines:
            fail("%s: no table '%s', or one more of it" % (PAGE, found.group(2)))
        return found.group(1) + "\n\n" + "\n".join(lines) + "\n\n.. states: end\n"

    page = re.sub(r"^(\.\. states: (?!end$)(.+))\n(?:(?!\.\. states:).*\n)*\.\. states: end\n", table, page,
                  flags=re.M)
    if left:
        fail("%s: no place for '%s'" % (PAGE, "', '".join(left)))
    return page


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    old = read(PAGE)
    new = fill(old)
    if sys.argv[1:]:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True),
                                                   PAGE, "the source"))
        if new != old:
            fail("%s is not what the source says; Documentation/tools/states.py mends it" % PAGE)
    elif new != old:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(new)


if __name__ == "__main__":
    main()
