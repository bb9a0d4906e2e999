# SPDX-License-Identifier: GPL-2.0-only
"""A picture of packaging/grafana/rnbd.json: its panels, drawn with figures that were captured in a VM.

This is no Grafana: panels are where the file has them, and show what its expressions make of the figures, as far as
these expressions go (sum by, rate, increase, histogram_quantile, division).  A rate is from one sample to the next.

pictures/dashboard.metrics has a line "# <seconds of each sample>", then one for each sample's name and labels with
all its values.  It is made of the output of tools/capture.sh, where lines are "@ <seconds> <line of OpenMetrics>":

    python3 Documentation/tools/dashboard.py <captured >Documentation/pictures/dashboard.metrics
"""

import json
import pathlib
import re
import sys
from xml.sax.saxutils import escape

DASHBOARD = pathlib.Path(__file__).parents[2] / "packaging/grafana/rnbd.json"

WIDTH, COLUMNS, UNIT = 1200, 24, 24
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 28, 54
NAMES = 6
COLORS = ["#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#37872d", "#1f60c4"]
STEPS = [1, 2, 2.5, 5, 10]


class Bad(Exception):
    """What cannot be read."""


# Figures.

def labels_of(text):
    """{name: value} of what is in braces."""
    return dict(re.findall(r'(\w+)=~?"((?:[^"\\]|\\.)*)"', text or ""))


class Figures:
    """Samples: {name: [(labels, values)]}, and the seconds at which they were taken."""

    def __init__(self, text):
        head, *lines = text.splitlines()
        while not re.match(r"# [\d ]+$", head):
            head, *lines = lines
        self.times = [float(t) for t in head[2:].split()]
        self.samples = {}
        for line in lines:
            found = re.fullmatch(r"(\w+)(?:\{(.*)\})?((?: \S+)+)", line)
            values = [None if v == "-" else float(v) for v in found[3].split()] if found else []
            if len(values) != len(self.times):
                raise Bad(line)
            self.samples.setdefault(found[1], []).append((labels_of(found[2]), values))


def capture(lines):
    """Text of dashboard.metrics: of what was printed, what the dashboard needs."""
    wanted = set(re.findall(r"\brnbd_\w+", DASHBOARD.read_text(encoding="utf-8")))
    times, found = [], {}
    for line in lines:
        sample = re.fullmatch(r"@ (\d+) ((\w+)(?:\{.*\})?) (\S+)", line.strip())
        if not sample or sample[3] not in wanted:
            continue
        if not times or times[-1] != sample[1]:
            times.append(sample[1])
        found.setdefault(sample[2], {})[sample[1]] = sample[4]
    rows = {name: [values.get(t, "-") for t in times] for name, values in found.items()}
    names, out = list(rows), ["# SPDX-License-Identifier: GPL-2.0-only", "# " + " ".join(times)]
    for at, name in enumerate(names):
        # Of several empty buckets the last is enough, of several full ones the first, and the one without an end.
        if "_bucket{" in name and 'le="+Inf"' not in name:
            below = rows[names[at - 1]] if at and names[at - 1].split("le=")[0] == name.split("le=")[0] else None
            if not any(float(v) for v in rows[name] + rows[names[at + 1]] if v != "-"):
                continue
            full = next(rows[n] for n in names[at:] if 'le="+Inf"' in n)
            if rows[name] == full == below:
                continue
        out.append(" ".join([name, *rows[name]]))
    return "\n".join(out) + "\n"


# Expressions: each gives {labels, as a sorted tuple: values}.

def key(labels):
    """Labels as a key."""
    return tuple(sorted(labels.items()))


class Expression:
    """One of the dashboard's, with the figures that it is of."""

    TOKEN = re.compile(r'\s*(?:(\d+(?:\.\d+)?)|(\w+)|(\{(?:[^"}]|"[^"]*")*\})|(\[[^\]]*\])|([(),/]))')

    def __init__(self, text, figures):
        self.text, self.figures, self.at = text, figures, 0
        self.tokens = []
        end = 0
        while end < len(text):
            found = self.TOKEN.match(text, end)
            if not found:
                raise Bad(f"{text[end:]!r} in {text!r}")
            self.tokens.append(found[found.lastindex])
            end = found.end()

    def value(self):
        """All of it."""
        result = self.quotient()
        if self.at != len(self.tokens):
            raise Bad(f"{self.tokens[self.at]!r} in {self.text!r}")
        return result

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted and token != wanted:
            raise Bad(f"{token!r} for {wanted!r} in {self.text!r}")
        self.at += 1
        return token

    def quotient(self):
        result = self.term()
        while self.peek() == "/":
            self.take()
            by = self.term()
            result = {labels: [None if a is None or not b else a / b for a, b in zip(values, by[labels])]
                      for labels, values in result.items() if labels in by}
        return result

    def term(self):
        name = self.take()
        if name == "sum":
            self.take("by")
            names = self.names()
            return self.summed(names, self.argument())
        if name == "histogram_quantile":
            self.take("(")
            rank = float(self.take())
            self.take(",")
            result = self.quotient()
            self.take(")")
            return self.quantile(rank, result)
        if name in ("rate", "increase"):
            return self.change(self.argument(), name == "rate")
        return self.selected(name)

    def argument(self):
        self.take("(")
        result = self.quotient()
        self.take(")")
        return result

    def names(self):
        self.take("(")
        names = [self.take()]
        while self.peek() == ",":
            self.take()
            names.append(self.take())
        self.take(")")
        return names

    def selected(self, name):
        """Samples of that name; what a variable of the dashboard chooses is all there is."""
        wanted = {}
        if self.peek().startswith("{"):
            wanted = {k: v for k, v in labels_of(self.take()).items() if not v.startswith("$")}
        if self.peek().startswith("["):
            self.take()
        return {key(labels): values for labels, values in self.figures.samples.get(name, [])
                if all(labels.get(k) == v for k, v in wanted.items())}

    def change(self, samples, per_second):
        times, result = self.figures.times, {}
        for labels, values in samples.items():
            result[labels] = [None] + [
                None if a is None or b is None else max(b - a, 0) / ((times[i + 1] - times[i]) if per_second else 1)
                for i, (a, b) in enumerate(zip(values, values[1:]))]
        return result

    @staticmethod
    def summed(names, samples):
        result = {}
        for labels, values in samples.items():
            group = key({k: v for k, v in labels if k in names})
            old = result.get(group, [None] * len(values))
            result[group] = [b if a is None else a if b is None else a + b for a, b in zip(old, values)]
        return result

    @staticmethod
    def quantile(rank, samples):
        groups = {}
        for labels, values in samples.items():
            rest = dict(labels)
            groups.setdefault((float(rest.pop("le")), key(rest))[1], []).append((float(dict(labels)["le"]), values))
        result = {}
        for group, buckets in groups.items():
            buckets.sort()
            result[group] = [Expression.quantile_of(rank, [(le, values[i]) for le, values in buckets])
                             for i in range(len(buckets[0][1]))]
        return result

    @staticmethod
    def quantile_of(rank, buckets):
        """As Prometheus: spread evenly within a bucket."""
        if buckets[-1][1] in (None, 0):
            return None
        wanted, low, below = rank * buckets[-1][1], 0.0, 0.0
        for le, count in buckets:
            if count >= wanted:
                return low if le == float("inf") else low + (le - low) * (wanted - below) / ((count - below) or 1)
            low, below = le, count
        return low


# The picture.

def shown(value, unit):
    """A number as the axis has it."""
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
            if value * factor >= 1 or factor == 1e6:
                return f"{value * factor:g} {name}" if value else "0"
    for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g}{name}" + {"Bps": "B/s", "reqps": "/s"}.get(unit, "")
    return f"{value:g}" + ({"Bps": " B/s", "reqps": "/s"}.get(unit, "") if value else "")


def top_of(most):
    """The end of an axis, and the distance between its lines."""
    step = 1e-6
    while most > 4 * step * STEPS[-1]:
        step *= 10
    step *= next(s for s in STEPS if most <= 4 * step * s)
    return 4 * step, step


class Panel:
    """One panel: what it shows, and where."""

    def __init__(self, panel, figures):
        grid = panel["gridPos"]
        self.x, self.y = grid["x"] * WIDTH / COLUMNS + 3, grid["y"] * UNIT + 3
        self.w, self.h = grid["w"] * WIDTH / COLUMNS - 6, grid["h"] * UNIT - 6
        self.title, self.times = panel["title"], figures.times
        defaults = panel["fieldConfig"]["defaults"]
        self.unit, custom = defaults["unit"], defaults["custom"]
        self.bars, self.stacked = custom["drawStyle"] == "bars", custom["stacking"]["mode"] == "normal"
        self.series = []
        for target in panel["targets"]:
            for labels, values in sorted(Expression(target["expr"], figures).value().items()):
                name = re.sub(r"\{\{(\w+)\}\}", lambda m, of=dict(labels): of.get(m[1], ""), target["legendFormat"])
                self.series.append((name, values))

    def draw(self):
        """Its lines of SVG."""
        yield (f'<rect x="{self.x:g}" y="{self.y:g}" width="{self.w:g}" height="{self.h:g}" rx="3" fill="#fff" '
               'stroke="#d5d8dc"/>')
        yield f'<text x="{self.x + 8:g}" y="{self.y + 18:g}" font-weight="bold">{escape(self.title)}</text>'
        heights = self.heights()
        most = max((v for _, values in heights for _, v in values if v is not None), default=0)
        top, step = top_of(most or 1)
        yield from self.axes(top, step)
        for nr, (name, values) in reversed(list(enumerate(heights))):
            yield from self.curve(COLORS[nr % len(COLORS)], values, top)
        yield from self.legend()

    def heights(self):
        """[(name, [(from, to)])]: where each curve begins and ends."""
        base, result = [0] * len(self.times), []
        for name, values in self.series:
            ends = [None if v is None else b + v for b, v in zip(base, values)]
            result.append((name, list(zip(base, ends))))
            if self.stacked:
                base = [b if e is None else e for b, e in zip(base, ends)]
        return result

    def at(self, time, value, top):
        """Where a point is."""
        wide, high = self.w - LEFT - RIGHT, self.h - TOP - BOTTOM
        return (self.x + LEFT + wide * (time - self.times[0]) / (self.times[-1] - self.times[0]),
                self.y + TOP + high * (1 - value / top))

    def axes(self, top, step):
        for nr in range(5):
            x, y = self.at(self.times[0], nr * step, top)
            yield f'<path d="M{x:g} {y:.1f}h{self.w - LEFT - RIGHT:g}" stroke="#eceef0"/>'
            yield (f'<text x="{x - 5:g}" y="{y + 3:.1f}" text-anchor="end" fill="#666">'
                   f'{shown(float(f"{nr * step:g}"), self.unit)}</text>')
        for time in range(int(self.times[0]), int(self.times[-1]) + 1, 30):
            x, y = self.at(time, 0, top)
            yield f'<text x="{x:.1f}" y="{y + 13:.1f}" text-anchor="middle" fill="#666">{time} s</text>'

    def curve(self, color, values, top):
        points = [(t, low, high) for t, (low, high) in zip(self.times, values) if high is not None]
        if self.bars:
            for time, low, high in points:
                x, y = self.at(time, high, top)
                if high > low:
                    yield (f'<rect x="{x - 4:.1f}" y="{y:.1f}" width="8" height="{self.at(time, low, top)[1] - y:.1f}" '
                           f'fill="{color}"/>')
            return
        if not points:
            return
        line = ["%.1f %.1f" % self.at(time, high, top) for time, _, high in points]
        back = ["%.1f %.1f" % self.at(time, low, top) for time, low, _ in reversed(points)]
        yield (f'<path d="M{"L".join(line + back)}z" fill="{color}" '
               f'fill-opacity="{0.6 if self.stacked else 0.08}"/>')
        yield f'<path d="M{"L".join(line)}" fill="none" stroke="{color}" stroke-width="1.3"/>'

    def legend(self):
        """Names below the axis: of more than have room there, those that are not always zero."""
        x, y = self.x + 10, self.y + self.h - 21
        for nr, (name, values) in enumerate(self.series):
            if len(self.series) > NAMES and not any(values):
                continue
            room = 6 * len(name) + 24
            if x + room > self.x + self.w and x > self.x + 10:
                x, y = self.x + 10, y + 13
            yield f'<rect x="{x:g}" y="{y - 5:g}" width="10" height="3" fill="{COLORS[nr % len(COLORS)]}"/>'
            yield f'<text x="{x + 14:g}" y="{y:g}">{escape(name)}</text>'
            x += room


def draw(dashboard, metrics, alt):
    """The SVG."""
    panels = json.loads(dashboard)["panels"]
    figures = Figures(metrics)
    height = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels) * UNIT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" '
           f'aria-label="{escape(alt)}" font-family="Helvetica,Arial,sans-serif" font-size="10.5">',
           f'<rect width="{WIDTH}" height="{height}" fill="#f4f5f5"/>']
    for panel in panels:
        if panel["type"] == "row":
            y = panel["gridPos"]["y"] * UNIT + 17
            out.append(f'<text x="6" y="{y}" font-size="13" font-weight="bold">{escape(panel["title"])}</text>')
        else:
            out += Panel(panel, figures).draw()
    return "\n".join(out + ["</svg>"])


if __name__ == "__main__":
    sys.stdout.write(capture(sys.stdin))
