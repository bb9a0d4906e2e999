# SPDX-License-Identifier: GPL-2.0-only
"""The results of the benchmark as one HTML page that needs nothing else."""

import html

import figures

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #222 }
h1, h2, h3 { font-weight: 600 } h2 { border-bottom: 1px solid #ccc; margin-top: 2em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5em 0 1.5em }
td, th { padding: .2em .7em; text-align: right; border-bottom: 1px solid #eee; font-weight: normal }
th { background: #f4f4f4 } td:first-child, th:first-child { text-align: left }
.charts { display: flex; flex-wrap: wrap; gap: 1em } figure { margin: 0 } figcaption { font-weight: 600 }
svg text { font: 12px system-ui, sans-serif } .legend span { margin-right: 1.2em; white-space: nowrap }
.legend i { display: inline-block; width: .9em; height: .9em; margin-right: .3em; vertical-align: -.1em }
summary { cursor: pointer } pre { background: #f4f4f4; padding: .7em; overflow: auto }
"""

# Whose instructions: what a bar is made of, in this order.
PARTS = {"own": ("the contender's own modules", "#c0392b"),
         "rxe": ("rdma_rxe and the checksums it asks for", "#e59866"),
         "rdma": ("the rest of the RDMA stack", "#f5cba7"),
         "modules": ("other modules", "#a9cce3"),
         "kernel": ("the kernel proper: network, scheduler, block layer", "#5d8aa8"),
         "user": ("user space: fio, nbd-server", "#95a5a6")}
RDMA = ("ib_", "rdma_", "iw_")
RXE = ("rdma_rxe", "crc32_")
WIDTH, LABEL, BAR, ROW = 560, 90, 380, 24


def parts(row):
    """{part: instructions}; the checksum's fallback in the kernel proper is the kernel's."""
    sums = dict.fromkeys(PARTS, 0)
    for name, cost in row["modules"].items():
        if name in ("kernel", "user"):
            part = name
        else:
            part = ("rxe" if name.startswith(RXE) else "rdma" if name.startswith(RDMA) else "modules")
        sums[part] += cost
    sums["own"] = row["own"]
    # Own modules are in the sum of other ones; none is named as one of RDMA.
    sums["modules"] -= row["own"]
    return sums


def bar(row, top, scale):
    """One contender: a stacked bar, its name before it and the sum behind it."""
    pieces, left = [], LABEL
    for part, cost in parts(row).items():
        width = max(0, cost) * scale
        words = f"{row['contender']}: {PARTS[part][0]}: {cost / 1000:.1f} thousand"
        pieces.append(f'<rect x="{left:.1f}" y="{top + 3}" width="{width:.1f}" height="{ROW - 6}" '
                      f'fill="{PARTS[part][1]}"><title>{html.escape(words)}</title></rect>')
        left += width
    return (f'<text x="{LABEL - 6}" y="{top + 16}" text-anchor="end">{html.escape(row["contender"])}</text>'
            + "".join(pieces)
            + f'<text x="{left + 5:.1f}" y="{top + 16}">{row["instructions"] / 1000:.1f}</text>')


def chart(rows):
    """The contenders under one load; bars of all charts of a network are not of one scale."""
    scale = BAR / max(row["instructions"] for row in rows)
    bars = "".join(bar(row, at * ROW, scale) for at, row in enumerate(rows))
    return (f'<figure><figcaption>{html.escape(rows[0]["load"])}</figcaption>'
            f'<svg width="{WIDTH}" height="{ROW * len(rows)}" role="img">{bars}</svg></figure>')


def table(head, lines):
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line(head, "th") + "".join(line(cells, "td") for cells in lines) + "</table>"


def functions(row):
    """What one contender spends on one load, folded away."""
    lines = [[name, module, f"{cost:.0f}", f"{100 * cost / row['instructions']:.1f} %"]
             for module, name, cost in row["functions"]]
    return (f"<details><summary>{html.escape(figures.key(row))}</summary>"
            + table(["function", "module", "instructions per I/O", "part"], lines) + "</details>")


def timed_bar(row, top, scale):
    """One contender by the clock: I/Os per second."""
    width = row["iops"] * scale
    return (f'<text x="{LABEL - 6}" y="{top + 16}" text-anchor="end">{html.escape(row["contender"])}</text>'
            f'<rect x="{LABEL}" y="{top + 3}" width="{width:.1f}" height="{ROW - 6}" fill="{PARTS["own"][1]}"/>'
            f'<text x="{LABEL + width + 5:.1f}" y="{top + 16}">{row["iops"]:.0f}</text>')


def percentiles(row, top, scale):
    """One contender by the clock: a line from what half of the I/Os took to what 999 of 1000 took."""
    left, dot, right = (LABEL + row[name] * scale for name in ("p50", "p99", "p999"))
    words = ", ".join(f"{name} {row[name] / 1000:.0f} us" for name in ("p50", "p99", "p999"))
    middle = top + ROW / 2
    return (f'<text x="{LABEL - 6}" y="{top + 16}" text-anchor="end">{html.escape(row["contender"])}</text>'
            f'<g stroke="{PARTS["kernel"][1]}" stroke-width="2" fill="{PARTS["own"][1]}">'
            f'<title>{html.escape(words)}</title>'
            f'<line x1="{left:.1f}" y1="{middle}" x2="{right:.1f}" y2="{middle}"/>'
            f'<line x1="{left:.1f}" y1="{middle - 6}" x2="{left:.1f}" y2="{middle + 6}"/>'
            f'<circle cx="{dot:.1f}" cy="{middle}" r="4" stroke="none"/></g>'
            f'<text x="{right + 8:.1f}" y="{top + 16}">{row["p99"] / 1000:.0f}</text>')


def timed_chart(rows, draw, most, words):
    """The contenders under one load by the clock."""
    scale = BAR / max(row[most] for row in rows)
    lines = "".join(draw(row, at * ROW, scale) for at, row in enumerate(rows))
    return (f'<figure><figcaption>{html.escape(rows[0]["load"])}: {words}</figcaption>'
            f'<svg width="{WIDTH}" height="{ROW * len(rows)}" role="img">{lines}</svg></figure>')


def timed(rows, mtu):
    """Charts and tables of what was measured by the clock."""
    rows = [row for row in rows if row["mtu"] == mtu]
    text = [f"<h2>By the clock, MTU {mtu} (RDMA {figures.rdma_mtu(mtu)})</h2>",
            "<p>Two virtual CPUs, one boot, the contenders in turns; medians of all rounds. Each chart has a scale of "
            "its own.</p>", '<div class="charts">']
    for load in figures.in_order(row["load"] for row in rows):
        of_load = [row for row in rows if row["load"] == load]
        text += [timed_chart(of_load, timed_bar, "iops", "I/Os per second"),
                 timed_chart(of_load, percentiles, "p999",
                             "microseconds of half, 99 of 100 (dot, number), 999 of 1000")]
    text.append("</div>")
    for quantity in figures.TIMED:
        text += [f"<h3>{html.escape(quantity.words)}</h3>", table(*figures.grid(rows, mtu, quantity))]
    return "\n".join(text)


def network(rows, mtu):
    """Charts and tables of one MTU."""
    rows = [row for row in rows if row["mtu"] == mtu]
    text = [f"<h2>MTU {mtu} (RDMA {figures.rdma_mtu(mtu)})</h2>",
            "<p>Thousand instructions per I/O; each chart has a scale of its own.</p>", '<div class="charts">']
    text += [chart([row for row in rows if row["load"] == load])
             for load in figures.in_order(row["load"] for row in rows)]
    text.append("</div>")
    for quantity in figures.QUANTITIES:
        text += [f"<h3>{html.escape(quantity.words)}</h3>", table(*figures.grid(rows, mtu, quantity))]
    text += ["<h3>By function</h3>"] + [functions(row) for row in rows]
    return "\n".join(text)


def page(results):
    legend = "".join(f'<span><i style="background:{color}"></i>{html.escape(words)}</span>'
                     for words, color in PARTS.values())
    facts = [[name, results[name]] for name in ("date", "source", "kernel", "qemu", "fio")]
    facts += [[name, how] for name, how in results["settings"]["contenders"].items()]
    errors = "".join(f"<pre>{html.escape(error)}</pre>" for error in results["errors"])
    mtus, timed_mtus = (figures.in_order(row["mtu"] for row in results[kind]) for kind in ("rows", "timing"))
    return "\n".join([
        '<!DOCTYPE html>', "<!-- SPDX-License-Identifier: GPL-2.0-only -->",
        f'<html lang="en"><meta charset="utf-8"><title>Instructions per I/O</title><style>{STYLE}</style>',
        "<h1>Instructions per I/O</h1>",
        "<p>Client and server on one virtual CPU, RDMA emulated by rdma_rxe. "
        "Documentation/performance.rst says how to read this.</p>",
        table(["of", ""], facts), errors, f'<p class="legend">{legend}</p>',
        *(network(results["rows"], mtu) for mtu in mtus),
        *(timed(results["timing"], mtu) for mtu in timed_mtus), "</html>", ""])
