#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of figures.py."""

import unittest

import figures


def row(contender, load, instructions, mtu=1500):
    return {"contender": contender, "mtu": mtu, "load": load, "instructions": instructions,
            "packets": 8.04, "switches": 0.125}


def results(*rows, **more):
    return {"format": 1, "date": "today", "kernel": "6.12", "errors": [], "rows": list(rows), **more}


class PerIo(unittest.TestCase):
    def test_start_and_end_cancel_out(self):
        self.assertEqual(figures.per_io([1000 + 10 * 7, 3], [1000 + 20 * 7, 23], 10), [7, 2])

    def test_nothing_to_take_a_difference_of(self):
        for short, long, ios in ([1], [2], 0), ([1], [2, 3], 10):
            with self.assertRaises(ValueError):
                figures.per_io(short, long, ios)


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
        text = figures.text(self.ROWS)
        for words in ("MTU 1500 (RDMA 1024), thousand instructions per I/O:",
                      "MTU 9000 (RDMA 4096), packets per I/O:", "0.12"):
            self.assertIn(words, text)
        self.assertEqual(text.count("MTU "), 6)


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
        new = results(row("a", "read", 100900), row("a", "write", 99100), row("a", "gone", 1))
        self.assertEqual(figures.compare(self.OLD, new), "0 differ, 3 within 1 %")


if __name__ == "__main__":
    unittest.main()
