#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read what `rnbd stats --openmetrics` and `--prometheus` print as strictly as the formats are.

Usage: metrics.py <check> <program>...

Exit status 0 if all is as it should be; else the reasons are on standard output. <check> is one of
those at the end. RNBD_ROOT is the tree that the program works on.
"""

import json
import math
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|\+Inf")
SUFFIXES = {"gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}


class Wrong(Exception):
    """The text is not in the format."""


def need(true, why):
    if not true:
        raise Wrong(why)


class Family:
    def __init__(self, name):
        self.name = name
        self.type = self.help = self.unit = None
        self.samples = {}       # (name, ((label, value), ...)) -> number

    def check(self, prometheus):
        need(self.type, f"{self.name}: no type")
        need(self.help, f"{self.name}: no help")
        need(self.samples, f"{self.name}: no sample")
        if self.unit:
            need(self.name.endswith("_" + self.unit), f"{self.name}: does not end with its unit {self.unit}")
        if self.type == "counter":
            need(self.name.endswith("_total") == prometheus, f"{self.name}: _total is the suffix of a sample")
        need(all(number >= 0 for number in self.samples.values()), f"{self.name}: a negative number")
        if self.type == "histogram":
            self.check_histogram()

    def check_histogram(self):
        series = {}
        for (name, labels), number in self.samples.items():
            rest = tuple(pair for pair in labels if pair[0] != "le")
            one = series.setdefault(rest, {"le": []})
            if name.endswith("_bucket"):
                need(labels[-1][0] == "le" and labels[-1] not in rest, f"{name}: a bucket without le")
                one["le"].append((float(labels[-1][1]), number))
            else:
                one[name[len(self.name):]] = number
        for labels, one in series.items():
            bounds = [bound for bound, _ in one["le"]]
            counts = [count for _, count in one["le"]]
            need(bounds == sorted(set(bounds)) and bounds[-1:] == [math.inf], f"{self.name}: bounds {bounds}")
            need(counts == sorted(counts), f"{self.name}{labels}: buckets are not cumulative")
            need(one.get("_count") == counts[-1], f"{self.name}{labels}: count is not that of +Inf")
            need("_sum" in one, f"{self.name}{labels}: no sum")


def unescape(value):
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), value)


def parse_labels(text):
    labels, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        need(match, f"labels {text!r}")
        labels.append((match[1], unescape(match[2])))
        at = match.end()
        need(at == len(text) or text[at] == ",", f"labels {text!r}")
        at += 1
        need(at != len(text), f"labels {text!r} end with a comma")
    need(len({name for name, _ in labels}) == len(labels), f"a label twice in {text!r}")
    return tuple(labels)


def parse_sample(family, line):
    match = NAME.match(line)
    need(match and family, f"{line!r}: no name, or no family has begun")
    name, rest, labels = match[0], line[match.end():], ()
    if rest.startswith("{"):
        end = rest.rindex("}")
        labels, rest = parse_labels(rest[1:end]), rest[end + 1:]
    need(rest.startswith(" ") and NUMBER.fullmatch(rest[1:]), f"{line!r}: no number")
    suffix = name[len(family.name):]
    need(name.startswith(family.name) and family.type, f"{line!r} in family {family.name}")
    need(suffix in SUFFIXES[family.type] or (family.type == "counter" and family.name.endswith("_total") and not suffix),
         f"{line!r}: not a name of a {family.type} {family.name}")
    key = (name, labels)
    need(key not in family.samples, f"{line!r}: twice")
    family.samples[key] = float(rest[1:])


def parse(text, prometheus=False):
    """{name: Family}"""
    families, family = {}, None
    need(text.endswith("\n") or (prometheus and not text), "no newline at the end")
    lines = text.split("\n")[:-1]
    if not prometheus:
        need(lines[-1:] == ["# EOF"], "no # EOF at the end")
        lines.pop()
    for line in lines:
        if not line.startswith("#"):
            parse_sample(family, line)
            continue
        words = line.split(" ", 3)
        need(len(words) == 4 and words[0] == "#" and words[1] in ("HELP", "TYPE", "UNIT"), f"{line!r}")
        kind, name, value = words[1:]
        need(NAME.fullmatch(name), f"{line!r}: no name")
        if not family or family.name != name:
            need(name not in families, f"{name}: its lines are not together")
            family = families[name] = Family(name)
        need(not family.samples, f"{line!r} after samples")
        need(getattr(family, kind.lower()) is None, f"{line!r}: again")
        need(kind != "TYPE" or value in SUFFIXES, f"{line!r}: unknown type")
        need(kind != "UNIT" or not prometheus, f"{line!r}: Prometheus has no units")
        setattr(family, kind.lower(), value)
    for one in families.values():
        one.check(prometheus)
    return families


BAD = {
    "no EOF": "# HELP a x\n# TYPE a gauge\na 1\n",
    "something after EOF": "# HELP a x\n# TYPE a gauge\na 1\n# EOF\na 2\n",
    "no newline": "# EOF",
    "empty line": "\n# EOF\n",
    "sample without a family": "a 1\n# EOF\n",
    "no type": "# HELP a x\na 1\n# EOF\n",
    "no help": "# TYPE a gauge\na 1\n# EOF\n",
    "no sample": "# HELP a x\n# TYPE a gauge\n# EOF\n",
    "unknown type": "# HELP a x\n# TYPE a number\na 1\n# EOF\n",
    "counter without _total": "# HELP a x\n# TYPE a counter\na 1\n# EOF\n",
    "counter's family with _total": "# HELP a_total x\n# TYPE a_total counter\na_total 1\n# EOF\n",
    "negative counter": "# HELP a x\n# TYPE a counter\na_total -1\n# EOF\n",
    "no number": "# HELP a x\n# TYPE a gauge\na one\n# EOF\n",
    "twice": '# HELP a x\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n# EOF\n',
    "label twice": '# HELP a x\n# TYPE a gauge\na{b="1",b="2"} 1\n# EOF\n',
    "label not escaped": '# HELP a x\n# TYPE a gauge\na{b="\\x"} 1\n# EOF\n',
    "quote not escaped": '# HELP a x\n# TYPE a gauge\na{b="""} 1\n# EOF\n',
    "unit is no suffix": "# HELP a x\n# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n",
    "family in two places": "# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\nb 1\n# TYPE a gauge\na 2\n# EOF\n",
    "buckets not cumulative": '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n# EOF\n',
    "no +Inf": '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_sum 1\na_count 2\n# EOF\n',
    "bounds not in order": '# HELP a x\n# TYPE a histogram\na_bucket{le="2"} 1\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n# EOF\n',
    "count of another number": '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_sum 1\na_count 1\n# EOF\n',
    "no sum": '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 2\na_count 2\n# EOF\n',
}


def check_parser(_program):
    """The parser refuses what is wrong."""
    good = ('# HELP a x y\n# TYPE a histogram\na_bucket{b="\\"\\\\\\n",le="1e-06"} 1\n'
            'a_bucket{b="\\"\\\\\\n",le="+Inf"} 2\na_sum{b="\\"\\\\\\n"} 0.5\na_count{b="\\"\\\\\\n"} 2\n# EOF\n')
    need(parse(good)["a"].samples[("a_sum", (("b", '"\\\n'),))] == 0.5, "escapes")
    for name, text in BAD.items():
        try:
            parse(text)
        except Wrong:
            continue
        raise Wrong(f"accepted: {name}")


def output(program, *args):
    return subprocess.run([program, "stats", *args], capture_output=True, check=True).stdout.decode()


def number(families, family, name, **labels):
    """The sum of all samples that have these labels."""
    found = [value for (its, its_labels), value in families[family].samples.items()
             if its == name and labels.items() <= dict(its_labels).items()]
    need(found, f"no {name} with {labels}")
    return sum(found)


def check_values(families, rows, total=""):
    """What `rnbd stats -j` says, too."""
    for row in rows:
        labels = {key: row[key] for key in ("role", "session", "path") if row[key] is not None}
        if row["path"] is None:
            need(number(families, "rnbd_session_paths", "rnbd_session_paths", **labels) == row["paths"], "paths")
            continue
        for operation in ("read", "write"):
            for family, key in (("requests", "s"), ("transferred_bytes", "_bytes")):
                name = f"rnbd_path_{family}"
                need(number(families, name + total, name + "_total", operation=operation, **labels)
                     == row[operation + key], f"{name} of {labels}")
            for part, hist in (row["latency"] or {}).get(operation, {}).items():
                name = "rnbd_path_latency_" + ("seconds" if part == "total" else "part_seconds")
                more = {} if part == "total" else {"part": part}
                need(number(families, name, name + "_count", operation=operation, **labels, **more)
                     == sum(hist["buckets"]), f"{name} of {labels} {part}")
                need(abs(number(families, name, name + "_sum", operation=operation, **labels, **more)
                         - hist["sum_us"] / 1e6) < 1e-9, f"{name}_sum of {labels} {part}")
                below = number(families, name, name + "_bucket", operation=operation, le="0.000512", **labels, **more)
                need(below == sum(hist["buckets"][:10]), f"{name} of {labels} {part}: less than 512 us")
        for kind in ("losses", "io_errors"):
            for cause, times in (row[kind + "_by_cause"] or {}).items():
                name = f"rnbd_path_{kind}"
                need(number(families, name + total, name + "_total", cause=cause, **labels) == times,
                     f"{name} of {labels} {cause}")


def check_openmetrics(program):
    check_values(parse(output(program, "--openmetrics")), json.loads(output(program, "-j")))


def check_prometheus(program):
    check_values(parse(output(program, "--prometheus"), True), json.loads(output(program, "-j")), "_total")


def check_slow(program):
    """A disk that does not answer, of the client and of the server."""
    families = parse(output(program, "--openmetrics"))
    for name, suffix, labels, value in (
            ("rnbd_device_slow_seconds", "", {"device": "rnbd0", "session": "alpha@storage"}, 31),
            ("rnbd_device_overdue_requests", "_total", {"device": "rnbd0", "session": "alpha@storage"}, 7),
            ("rnbd_export_slow_seconds", "", {"device": "selftest0", "session": "alpha@storage"}, 33),
            ("rnbd_export_slow_seconds", "", {"session": "alpha@storage", "device_path": "disk2"}, 0),
            ("rnbd_export_slow_periods", "_total", {"device": "selftest0", "session": "alpha@storage"}, 2)):
        need(number(families, name, name + suffix, **labels) == value, f"{name} is not {value}")
    # One of the device, though two have it open.
    need(families["rnbd_export_orphaned_requests"].samples
         == {("rnbd_export_orphaned_requests", (("device", "selftest0"),)): 3}, "orphans")


def check_same(program):
    """Both formats have the same samples."""
    lines = [[line for line in output(program, kind).splitlines() if not line.startswith("#")]
             for kind in ("--openmetrics", "--prometheus")]
    need(lines[0] and lines[0] == lines[1], "the samples differ")


def check_labels(program):
    """The name that the session has here."""
    names = {value for family in parse(output(program, "--openmetrics")).values()
             for _, labels in family.samples for name, value in labels if name == "session"}
    need(names == {"alpha@storage", 'a"b\\c@ü\\374'}, f"sessions {names}")


def check_file(program):
    """--output: whole, readable, in one step, nothing left behind, and not in the way of a link."""
    with tempfile.TemporaryDirectory() as tmp:
        file = pathlib.Path(tmp) / "rnbd.prom"
        other = pathlib.Path(tmp) / "other"
        other.write_text("kept")
        (pathlib.Path(tmp) / "rnbd.prom.tmp").symlink_to(other)
        file.write_text("old")
        with open(file) as before:
            umask = os.umask(0o077)
            output(program, "--prometheus", f"--output={file}")
            os.umask(umask)
            need(before.read() == "old", "the old file was written to")
        need(file.read_text() == output(program, "--prometheus"), "the file is not what is printed")
        need(stat.S_IMODE(file.stat().st_mode) == 0o644, "others cannot read it")
        need(other.read_text() == "kept", "a link was followed")
        need(sorted(path.name for path in pathlib.Path(tmp).iterdir()) == ["other", "rnbd.prom"], "left behind")


# What Prometheus adds to each sample.
ADDED_LABELS = {"instance", "job"}


def dashboard_queries(dashboard):
    """(where, query, labels that its legend has)"""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], re.findall(r"{{(\w+)}}", target["legendFormat"])
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"], []


def check_query(query, legend, known):
    """Each metric of it is there, with the labels that are asked for; known: {metric: {label: values}}"""
    used = re.findall(r"\b(rnbd_\w+)(?:{([^}]*)})?", query)
    need(used, "no metric")
    grouped = [label for match in re.findall(r"\bby \(([^)]*)\)", query) for label in match.split(", ")]
    if "label_values(" in query:
        grouped = [re.search(r", (\w+)\)$", query)[1]]
    for metric, selector in used:
        need(metric in known, f"no metric {metric}")
        labels = known[metric].keys() | ADDED_LABELS
        for label, operator, value in re.findall(r'(\w+)(=~|!=|!~|=)"([^"]*)"', selector):
            need(label in labels, f"{metric} has no label {label}")
            need(operator != "=" or value in known[metric][label], f"{metric}: {label} is never {value}")
        for label in grouped:
            need(label in labels, f"{metric} has no label {label}")
    need("histogram_quantile" not in query or "le" in grouped, "a quantile without le")
    labels = grouped if " by (" in query else labels
    for label in legend:
        need(label in labels, f"the result has no label {label} for its legend")


def check_layout(panels):
    taken = set()
    need(len({panel["id"] for panel in panels}) == len(panels), "an id twice")
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        need(not cells & taken and at["x"] + at["w"] <= 24, f"{panel['title']}: over another one")
        taken |= cells


def check_dashboard(program, file="../../../packaging/grafana/rnbd.json"):
    """Whatever the dashboard asks for is among the metrics."""
    known = {}
    for family in parse(output(program, "--prometheus"), True).values():
        for name, labels in family.samples:
            for label, value in labels:
                known.setdefault(name, {}).setdefault(label, set()).add(value)
    with open(file) as text:
        dashboard = json.load(text)
    check_layout(dashboard["panels"])
    for where, query, legend in dashboard_queries(dashboard):
        try:
            check_query(query, legend, known)
        except Wrong as why:
            raise Wrong(f"{where}: {query}: {why}") from why


def check_documented(program, page="../../../Documentation/admin-guide/metrics.rst"):
    """The table has each metric, with its type and unit, and no other."""
    row = re.compile(r"^``(rnbd_\w+)`` +(gauge|counter|histogram) +(seconds|bytes)? ", re.M)
    rows = {name: (kind, unit or None) for name, kind, unit in row.findall(pathlib.Path(page).read_text())}
    families = parse(output(program, "--openmetrics"))
    names = {name + ("_total" if family.type == "counter" else ""): family for name, family in families.items()}
    need(rows.keys() == names.keys(), f"only there, or only here: {rows.keys() ^ names.keys()}")
    for name, family in names.items():
        need(rows[name] == (family.type, family.unit), f"{name} is {family.type}, {family.unit}, there {rows[name]}")


CHECKS = {"parser": check_parser, "openmetrics": check_openmetrics, "prometheus": check_prometheus,
          "same": check_same, "slow": check_slow, "labels": check_labels, "file": check_file, "dashboard": check_dashboard,
          "documented": check_documented}

try:
    CHECKS[sys.argv[1]](*sys.argv[2:])
except (Wrong, subprocess.CalledProcessError) as why:
    sys.exit(f"{why}")
