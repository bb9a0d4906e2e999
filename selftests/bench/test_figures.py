#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of what computes, compares and shows figures."""

import html.parser
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "vm"))
import contenders
import document
import figures
import report
import scale
import switches
import symbols
import timing


def row(contender, load, instructions, mtu=1500):
    return {"contender": contender, "mtu": mtu, "load": load, "instructions": instructions, "own": 2515,
            "idle": 0, "packets": 8.04, "switches": 0.125}


def timed(contender, load, iops, mtu=1500):
    return {"contender": contender, "mtu": mtu, "load": load, "iops": iops, "rate": 4096 * iops,
            "p50": 210000, "p99": 330000, "p999": 990000, "rounds": 3, "spread": 1.1}


def results(*rows, **more):
    return {"format": 1, "date": "today", "kernel": "6.12", "errors": [], "rows": list(rows), "timing": [], **more}


class PerIo(unittest.TestCase):
    def test_start_and_end_cancel_out(self):
        self.assertEqual(figures.per_io({"a": 1000 + 10 * 7}, {"a": 1000 + 20 * 7}, 10), {"a": 7})

    def test_what_one_run_lacks(self):
        self.assertEqual(figures.per_io({"start": 20}, {"rare": 30}, 10), {"start": -2, "rare": 3})

    def test_nothing_to_take_a_difference_of(self):
        with self.assertRaises(ValueError):
            figures.per_io({"a": 1}, {"a": 2}, 0)


class Timed(unittest.TestCase):
    @staticmethod
    def round(iops, error=0):
        return figures.of_fio({"jobs": [{"error": error, "mixed": {
            "iops": iops, "bw_bytes": 4096 * iops,
            "clat_ns": {"percentile": {"50.000000": 10 * iops, "99.000000": 20, "99.900000": 30}}}}]})

    def test_medians_of_the_rounds(self):
        self.assertEqual(figures.medians([self.round(iops) for iops in (100, 400, 200)]),
                         {"iops": 200, "rate": 819200, "p50": 2000, "p99": 20, "p999": 30, "rounds": 3, "spread": 4})

    def test_what_fio_could_not_do_is_no_figure(self):
        with self.assertRaises(ValueError):
            self.round(100, error=5)


class Row(unittest.TestCase):
    COSTS = {"nanoseconds": 120.5, "packets": 8, "switches": 2}
    FUNCTIONS = {("kernel", "f"): 40, ("rtrs_core", "g"): 10, ("rtrs_client", "h"): 20, ("user", "u"): 30}

    def test_own_modules_idle_and_order(self):
        row = figures.row(self.COSTS, self.FUNCTIONS, ("rtrs_", "rnbd_"), 2)
        self.assertEqual(row, {
            "instructions": 100, "own": 30, "idle": 20.5, "packets": 8, "switches": 2,
            "modules": {"kernel": 40, "user": 30, "rtrs_client": 20, "rtrs_core": 10},
            "functions": [["kernel", "f", 40], ["user", "u", 30], ["rtrs_client", "h", 20], ["rtrs_core", "g", 10]]})

    def test_functions_of_others_that_cost_little_are_left_out(self):
        functions = figures.row(self.COSTS, self.FUNCTIONS, ("rtrs_client",), 1)["functions"]
        self.assertEqual(functions, [["kernel", "f", 40], ["rtrs_client", "h", 20]])

    def test_never_less_than_no_idleness(self):
        self.assertEqual(figures.row({**self.COSTS, "nanoseconds": 99}, self.FUNCTIONS, ("x",))["idle"], 0)


class Symbols(unittest.TestCase):
    SYMBOLS = symbols.Symbols("""\
ffffffff81000100 T second
ffffffff81000000 T first
ffffffff81000000 t same_address
ffffffff81000080 d data
ffffffffc0000000 t probe\t[rtrs_core]
""")

    def test_of(self):
        for addr, found in ((0xffffffff81000000, ("kernel", "first")),
                            (0xffffffff810000ff, ("kernel", "first")),
                            (0xffffffff81000100, ("kernel", "second")),
                            (0xffffffffc0000010, ("rtrs_core", "probe")),
                            (0xffffffff80ffffff, ("kernel", "?")),
                            (0, symbols.USER)):
            self.assertEqual(self.SYMBOLS.of(addr), found, hex(addr))

    def test_counts_add_up(self):
        counts = symbols.read_counts("ffffffff81000000 3\nffffffff81000080 4\n0 5\n")
        self.assertEqual(symbols.by_function(counts, self.SYMBOLS),
                         {("kernel", "first"): 7, symbols.USER: 5})


class Tables(unittest.TestCase):
    ROWS = [row("a", "read", 123456), row("a", "write", 2000000), row("bcd", "write", 99949),
            row("a", "read", 50, 9000)]

    def test_rdma_mtu(self):
        self.assertEqual([figures.rdma_mtu(mtu) for mtu in (1107, 1108, 1500, 4179, 4180, 9000)],
                         [512, 1024, 1024, 2048, 4096, 4096])

    def test_units_gaps_and_other_mtus(self):
        self.assertEqual(figures.grid(self.ROWS, 1500, figures.QUANTITIES[0]),
                         (["contender", "read", "write"],
                          [["a", "123.5", "2000.0"], ["bcd", "-", "99.9"]]))

    def test_columns(self):
        self.assertEqual(figures.columns(["name", "x"], [["a", "10.0"], ["bcdef", "-"]]),
                         "name      x\na      10.0\nbcdef     -")

    def test_text_has_every_mtu_and_quantity(self):
        text = figures.text(self.ROWS, [timed("a", "read", 1234)])
        for words in ("MTU 1500 (RDMA 1024), thousand instructions per I/O:",
                      "MTU 9000 (RDMA 4096), packets per I/O:", "2.5", "0.12",
                      "MTU 1500 (RDMA 1024), I/Os per second:", "1234", "330"):
            self.assertIn(words, text)
        self.assertEqual(text.count("MTU "), 2 * len(figures.QUANTITIES) + len(figures.TIMED))


class Compare(unittest.TestCase):
    OLD = results(row("a", "read", 100000), row("a", "write", 100000), row("a", "gone", 1))

    def test_the_same(self):
        self.assertEqual(figures.compare(self.OLD, self.OLD), "0 differ, 3 within 1 %")

    def test_changes_best_first(self):
        new = results(row("a", "read", 101100), row("a", "write", 80000), row("a", "come", 1),
                      kernel="6.13", date="later")
        self.assertEqual(figures.compare(self.OLD, new).splitlines(), [
            "kernel: 6.12 -> 6.13",
            "only before: a mtu=1500 gone",
            "only after: a mtu=1500 come",
            "thousand instructions per I/O  before  after   change",
            "a mtu=1500 write                100.0   80.0  -20.0 %",
            "a mtu=1500 read                 100.0  101.1   +1.1 %",
            "2 differ, 0 within 1 %"])

    def test_noise_is_no_difference(self):
        new = results(row("a", "read", 100900), row("a", "write", 99100), row("a", "gone", 1),
                      timing=[timed("a", "read", 50)])
        self.assertEqual(figures.compare(self.OLD, new), "0 differ, 3 within 1 %")


class Switches(unittest.TestCase):
    ROWS = [{**row("rnbd-n", load, instructions), "setting": setting, "base": base}
            for load, setting, base, instructions in (
                ("read", "defaults", None, 100000), ("write", "defaults", None, 120000),
                ("read", "a=0", "defaults", 112340), ("read", "a=0 b=N", "a=0", 112000))]

    def test_changes_are_against_what_a_setting_is_compared_with(self):
        self.assertEqual(switches.Figures(self.ROWS, "rnbd-n").table(figures.QUANTITIES[0]).splitlines(), [
            "rnbd-n, thousand instructions per I/O, and the change:",
            "           read         write",
            "defaults  100.0         120.0",
            "a=0       112.3  +12.3      -",
            "a=0 b=N   112.0   -0.3      -"])

    def test_block_has_every_quantity_that_is_shown(self):
        lines = switches.Figures(self.ROWS, "rnbd-n").block("a=0").splitlines()
        self.assertTrue(lines[0].startswith("rnbd-n, a=0 "))
        self.assertEqual([line.split("  ")[0] for line in lines[1:]], [
            "thousand instructions per I/O", "thousand of these in the contender's own modules",
            "packets per I/O", "context switches per I/O"])

    def test_of_what_was_measured_several_times_the_median_is_told(self):
        rows = [{**row("floor", "read", instructions), "setting": "defaults", "base": None}
                for instructions in (3000, 1000, 2000)]
        self.assertEqual(switches.Figures(rows, "floor").cells("defaults", figures.QUANTITIES[0]), ["2.0", ""])

    def test_no_changes_at_both_ends_and_between(self):
        self.assertEqual(switches.in_order(list("dabcef")), list("dabdcefd"))

    def test_each_setting_is_compared_with_one_that_is_measured_before(self):
        for settings in switches.SETTINGS.values():
            names = [setting.name for setting in settings]
            self.assertEqual(len(set(names)), len(names))
            for at, setting in enumerate(settings):
                self.assertTrue(setting.base in names[:at] if setting.changes else setting.base is None)


class Scale(unittest.TestCase):
    HIST = """\
# event histogram
#
# trigger info: hist:keys=common_stacktrace:vals=hitcount:sort=hitcount:size=8192 [active]
#

{ common_stacktrace:
         __traceiter_contention_begin+0x4e/0x90
         native_queued_spin_lock_slowpath+0x1c3/0x2e0
         _raw_spin_lock_irqsave+0x49/0x50
         rtrs_conn_post+0x2f/0x110 [rtrs_core]
         rtrs_clt_send_on+0x5/0x10 [rtrs_client]
} hitcount:          3
{ common_stacktrace:
         native_queued_spin_lock_slowpath+0x1c3/0x2e0
         _raw_spin_lock+0x49/0x50
         try_to_wake_up+0x90/0x600
         rtrs_conn_post+0x2f/0x110 [rtrs_core]
} hitcount:         40

Totals:
    Hits: 43
    Entries: 2
    Dropped: 0
"""

    def test_a_wait_is_whose_lock_function_was_called_by(self):
        self.assertEqual(scale.waits(self.HIST), {"rtrs_core": 3, "kernel": 40})
        self.assertEqual(scale.own(scale.waits(self.HIST)), 3)

    def test_what_one_more_costs(self):
        self.assertEqual(scale.slope([1, 4], {1: {"qp": 4}, 4: {"qp": 34}}, "qp"), 10)

    def test_tables_only_of_what_was_measured(self):
        rows = [{"part": "paths", "contender": "ours", "at": 8, "load": "randread", "instructions": 98765, "own": 2345},
                {"part": "memory", "contender": "ours", "at": "another path", "memory": 2048, "slab": 512,
                 "pd": 1, "cq": 2, "qp": 3, "mr": 4}]
        first, second = scale.text(rows).split("\n\n")
        self.assertEqual(first.splitlines()[1].split(), ["ours", "randread", "8", "98.8", "2.35"])
        self.assertEqual(second.splitlines()[1].split(),
                         ["ours", "another", "path", "2.00", "0.50", "1.0", "2.0", "3.0", "4.0"])


class Document(unittest.TestCase):
    def test_a_table_takes_the_place_of_the_one_that_begins_as_it(self):
        known = document.tables("head a  b\none     1\ntwo     2\n\nother:\nx")
        text, found = document.replaced("A text\n::\n\n\thead   a b\n\told    7\n\n\tkept:\n\ty\n\nhead a b\n", known)
        self.assertEqual(text, "A text\n::\n\n\thead a  b\n\tone     1\n\ttwo     2\n\n\tkept:\n\ty\n\nhead a b\n")
        self.assertEqual(found, ["head a b"])

    def test_by_whose_instructions_they_are(self):
        rows = [{**row("floor", load, 3000, mtu), "own": 1000, "modules": {"kernel": 1500, "rtrs_floor": 1000, "ib_core": 500}}
                for load in ("read-4k-qd1", "read-4k-qd32-by16", "mixed-16k-4jobs") for mtu in (1500, 9000)]
        table, = document.whose(rows)
        self.assertEqual([line.split() for line in table.splitlines()],
                         [["read-4k-qd1:"], ["contender", *report.PARTS],
                          ["floor", "1.0", "0.0", "0.5", "0.0", "1.5", "0.0"]])

    def test_pages_have_the_tables_of_contenders_that_are_measured(self):
        page = document.PAGES[0].read_text(encoding="utf-8")
        rows = [row("floor", "read-4k-qd1", 1000)]
        self.assertEqual(len(document.replaced(page, document.tables(figures.text(rows, [])))[1]), len(figures.QUANTITIES))


class Contenders(unittest.TestCase):
    def test_by_the_clock_only_what_is_elsewhere(self):
        names = [item.name for item in contenders.timed(contenders.CONTENDERS)]
        self.assertEqual(names, ["rnbd-n", "rnbd-y", "mainline-n", "mainline-y", "rnbd-n-1m", "nvme-rdma", "nvme-tcp",
                                 "nbd", "rnbd-n-busy", "rnbd-n-bound", "rnbd-n-bound-busy"])
        self.assertEqual([item.name for item in contenders.timed(contenders.CONTENDERS[2:3])], ["mainline-n"])

    def test_large_requests_for_whom_they_are(self):
        by_name = {item.name: item for item in contenders.CONTENDERS}
        names = {name: [load.name for load in contenders.loads_of(by_name[name], contenders.LOADS)] for name in by_name}
        self.assertEqual(names["rnbd-n-1m"], [load.name for load in contenders.LOADS if load.bs >= 131072])
        self.assertEqual(names["rnbd-n"], [load.name for load in contenders.LOADS])
        self.assertEqual(contenders.loads_of(by_name["rnbd-n-1m"], contenders.LOADS[:4]), [])
        self.assertEqual([load.name for load in contenders.loads_of(contenders.TIMED[0], contenders.LOADS)],
                         [load.name for load in contenders.LOADS if load.bs < 131072])


class Rounds(unittest.TestCase):
    @staticmethod
    def number(most, took, end):
        """How many rounds there are that take so long."""
        number = 0
        while timing.another(number, most, took, end - 1000 - number * took):
            number += 1
        return number

    def test_as_many_as_are_wanted_where_there_is_time(self):
        self.assertEqual(self.number(5, 100, 1500), 5)

    def test_only_what_ends_in_time(self):
        self.assertEqual(self.number(5, 100, 1499), 4)

    def test_enough_for_a_median_however_long_they_take(self):
        self.assertEqual(self.number(5, 100, 1001), 3)
        self.assertEqual(self.number(2, 100, 1001), 2)


class Tags(html.parser.HTMLParser):
    """That every element which is opened is closed, in order; and the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.wrong, self.text, self.links = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)


class Report(unittest.TestCase):
    MODULES = {"kernel": 50000, "user": 3000, "rdma_rxe": 20000, "crc32_pclmul": 4000, "ib_core": 2000,
               "rtrs_client": 900, "rnbd_client": 100, "veth": 500}

    def row(self, contender, load):
        return {**row(contender, load, 80500), "own": 1000, "modules": self.MODULES,
                "functions": [["kernel", "a<b", 50000]]}

    def test_parts(self):
        self.assertEqual(report.parts(self.row("a", "read")), {
            "own": 1000, "rxe": 24000, "rdma": 2000, "modules": 500, "kernel": 50000, "user": 3000})

    def test_page(self):
        page = report.page(results(self.row("a", "read"), self.row("b&c", "read"), self.row("a", "write"),
                                   timing=[timed("a", "read", 777), timed("b&c", "read", 888)],
                                   source="v1", qemu="7.2", fio="3.33", errors=["<lost>"],
                                   settings={"contenders": {"a": "ours: a"}}))
        tags = Tags(page)
        self.assertEqual((tags.open, tags.wrong, tags.links), ([], [], []))
        text = "".join(tags.text)
        for words in ("a<b", "b&c mtu=1500 read", "<lost>", "MTU 1500 (RDMA 1024)", "80.5", "888", "330"):
            self.assertIn(words, text)
        self.assertEqual(page.count("<svg"), 4)


if __name__ == "__main__":
    unittest.main()
