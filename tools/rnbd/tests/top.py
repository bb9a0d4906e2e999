#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Drive `rnbd top` through a terminal of our own, and look at its screen.

Usage: top.py <case> <program>

<case> is the name of a function below without "case_". RNBD_ROOT is the tree that the program works on, which a
case changes. Exit status 0 if all is as it should be; else the reason is on standard output.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(os.environ["RNBD_ROOT"])
CLIENT = ROOT / "sys/class/rtrs-client"
SESSION = CLIENT / "alpha@storage"
PATHS = [SESSION / f"paths/ip:10.{nr}.0.1@ip:10.{nr}.0.2" for nr in (1, 2)]

# However busy the machine is.
PATIENCE_S = 60


class Wrong(Exception):
    """Not what was expected."""


class Screen:
    """What a terminal shows, of the sequences that ncurses sends to vt100, xterm and linux."""

    SEQUENCE = re.compile(rb"\x1b\[([?>]?)([0-9;]*)([@-~])|\x1b([()][A-Z0-9]|[78=>DEMc])|[\x00-\x1f]|[ -~\x80-\xff]")

    def __init__(self, lines, columns):
        self.size(lines, columns)
        self.pending = b""

    def size(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.cells = [[" "] * columns for _ in range(lines)]
        self.y = self.x = 0
        self.region, self.wraps = (0, lines), True

    def scroll(self, lines, top=None):
        """Within the region, down from the line at its top or another one; up if negative."""
        top, bottom = self.region[0] if top is None else top, self.region[1]
        part, empty = self.cells[top:bottom], [[" "] * self.columns for _ in range(abs(lines))]
        part = (empty + part)[:bottom - top] if lines > 0 else (part + empty)[-lines:]
        self.cells[top:bottom] = part

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def feed(self, data):
        data = self.pending + data
        at = 0
        while at < len(data):
            match = self.SEQUENCE.match(data, at)
            if not match:
                if data[at] == 0x1b and len(data) - at < 16:
                    break
                raise Wrong(f"unknown sequence {data[at:at + 16]!r}")
            if match[3]:
                self.control(match[3], match[1], [int(nr or 0) for nr in match[2].split(b";")])
            elif match[4] == b"M":
                self.scroll(1) if self.y == self.region[0] else self.control(b"A", b"", [1])
            elif not match[4] or match[4] == b"D":
                self.char(b"\n" if match[4] else match[0])
            at = match.end()
        self.pending = data[at:]

    def char(self, char):
        if char == b"\r":
            self.x = 0
        elif char == b"\n":
            if self.y == self.region[1] - 1:
                self.scroll(-1)
            else:
                self.y = min(self.y + 1, self.lines - 1)
        elif char == b"\b":
            self.x = max(0, self.x - 1)
        elif char >= b" ":
            if self.x >= self.columns:
                self.x, self.y = (0, min(self.y + 1, self.lines - 1)) if self.wraps else (self.columns - 1, self.y)
            if self.y < self.lines:
                self.cells[self.y][self.x] = char.decode("latin-1")
            self.last = char
            self.x += 1

    def control(self, final, private, numbers):
        first = numbers[0] or 1
        if final == b"H":
            second = numbers[1] if len(numbers) > 1 else 1
            self.y, self.x = min(first, self.lines) - 1, min(second or 1, self.columns) - 1
        elif final == b"d":
            self.y = min(first, self.lines) - 1
        elif final == b"G":
            self.x = min(first, self.columns) - 1
        elif final in b"ABCD":
            down, right = {b"A": (-1, 0), b"B": (1, 0), b"C": (0, 1), b"D": (0, -1)}[final]
            self.y = min(max(self.y + down * first, 0), self.lines - 1)
            self.x = min(max(self.x + right * first, 0), self.columns - 1)
        elif final == b"K":
            begin, end = {0: (self.x, self.columns), 1: (0, self.x + 1), 2: (0, self.columns)}[numbers[0]]
            for x in range(begin, min(end, self.columns)):
                self.cells[self.y][x] = " "
        elif final == b"J":
            if numbers[0] == 0:
                self.control(b"K", b"", [0])
            for y in range(self.y + 1 if numbers[0] == 0 else 0, self.lines if numbers[0] != 1 else self.y):
                self.cells[y] = [" "] * self.columns
        elif final == b"X":
            for x in range(self.x, min(self.x + first, self.columns)):
                self.cells[self.y][x] = " "
        elif final == b"b":
            for _ in range(first):
                self.char(self.last)
        elif final == b"P":
            line = self.cells[self.y]
            self.cells[self.y] = line[:self.x] + line[self.x + first:] + [" "] * min(first, self.columns - self.x)
        elif final == b"@":
            line = self.cells[self.y]
            self.cells[self.y] = (line[:self.x] + [" "] * first + line[self.x:])[:self.columns]
        elif final == b"r":
            self.region = first - 1, min(numbers[1] if len(numbers) > 1 else self.lines, self.lines)
            self.y = self.x = 0
        elif final in b"LM":
            self.scroll(first if final == b"L" else -first, self.y)
        elif final in b"ST":
            self.scroll(first if final == b"T" else -first)
        elif final in b"hl" and private == b"?" and numbers == [7]:
            self.wraps = final == b"h"
        elif final not in b"mhltc":
            raise Wrong(f"unknown control {private!r} {numbers} {final!r}")


class Top:
    """The program in a terminal."""

    def __init__(self, lines=24, columns=80, term="vt100", args=("-w", "3600"), **env):
        self.clock = pathlib.Path(tempfile.mkdtemp(), "clock")
        self.clock.write_text("1000")
        self.master, slave = pty.openpty()
        self.screen = Screen(lines, columns)
        self.resize(lines, columns, tell=False)
        self.before = termios.tcgetattr(slave)
        env = {"TERM": term, "LC_ALL": "C", "RNBD_CLOCK": str(self.clock)} | env
        self.proc = subprocess.Popen([PROGRAM, "top", *args], stdin=slave, stdout=slave, stderr=slave,
                                     env=os.environ | env, start_new_session=True)
        self.slave = slave

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)
        shutil.rmtree(self.clock.parent)

    def resize(self, lines, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if tell:
            self.screen.size(lines, columns)
            self.proc.send_signal(signal.SIGWINCH)

    def read(self, seconds):
        """Something from the program; False if there was nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.screen.feed(data)
        return True

    def until(self, what):
        """Wait for a text, or for what a function finds, on the screen."""
        if isinstance(what, str):
            there = lambda: what in self.screen.text()
        else:
            there = what
        end = time.monotonic() + PATIENCE_S
        while not there():
            if self.proc.poll() is not None and not self.read(0):
                raise Wrong(f"ended with {self.proc.returncode}; last screen:\n{self.screen.text()}")
            if time.monotonic() > end:
                raise Wrong(f"not on the screen: {what!r}\n{self.screen.text()}")
            self.read(0.2)
        return self.screen.text()

    def keys(self, keys, what):
        os.write(self.master, keys.encode())
        return self.until(what)

    def later(self, seconds, what):
        """Look again, when that much of its time has passed."""
        # Replaced in one step: the program may be looking at it.
        new = self.clock.with_name("new")
        new.write_text(str(int(self.clock.read_text()) + seconds))
        new.rename(self.clock)
        return self.keys(" ", what)

    def end(self):
        """How it ends, with all that it still says."""
        end = time.monotonic() + PATIENCE_S
        while self.proc.poll() is None:
            self.read(0.1)
            if time.monotonic() > end:
                raise Wrong("does not end")
        return self.proc.returncode

    def restored(self):
        """Whether the terminal is as it was."""
        return termios.tcgetattr(self.slave) == self.before

    def shows(self, what, found, wanted):
        """Wait until a function finds what is wanted: the screen may be drawn by halves."""
        try:
            self.until(lambda: found() == wanted)
        except Wrong as why:
            raise Wrong(f"{what}: wanted\n{wanted}\nfound\n{found()}\n{why}") from None

    def screen_is(self, name):
        self.shows(name, self.screen.text, WANTED[name])

    def line_is(self, start, wanted):
        """The words behind those that a line begins with."""
        def found():
            lines = [line.strip() for line in self.screen.text().splitlines()]
            return next((line[len(start):].split() for line in lines if line.startswith(start)), None)
        self.shows(start, found, wanted.split())

    def names_are(self, wanted):
        """Sessions and paths in their order, from the list."""
        self.shows("names", lambda: [line.split()[0] for line in self.screen.text().splitlines()[4:-1]
                                     if line.strip()], wanted)


def equal(what, got, wanted):
    if got != wanted:
        raise Wrong(f"{what}: wanted\n{wanted}\ngot\n{got}")


def count(path, file, bucket, requests):
    """So many more requests, in the total of a histogram of a path and of its session."""
    for name in (path / "stats" / file, SESSION / "stats" / file):
        lines = name.read_text().splitlines()
        words = lines[0].split()
        words[1] = str(int(words[1]) + requests)
        words[2] = str(int(words[2]) + requests * 2 ** bucket * 3 // 4)
        words[3 + bucket] = str(int(words[3 + bucket]) + requests)
        name.write_text("\n".join([" ".join(words)] + lines[1:]) + "\n")


A, B = "10.1.0.1@10.1.0.2", "10.2.0.1@10.2.0.2"
READY = "q quit"


def hide(hidden):
    """Take all sessions away, or bring them back."""
    for side in ("client", "server"):
        names = ROOT / f"sys/class/rtrs-{side}", ROOT / f"sys/{side}"
        names[not hidden].rename(names[hidden])


def case_list():
    """The list on 80x24, before the second sample."""
    with Top() as top:
        top.screen_is("list")
        os.write(top.master, b"q")
        equal("status", top.end(), 0)
        equal("restored", top.restored(), True)


def case_rates():
    """What one path does in two seconds."""
    with Top() as top:
        top.until(READY)
        (PATHS[0] / "stats/rdma").write_text("21500 88064000 17000 139264000 9 17\n")
        count(PATHS[0], "latency_read", 5, 500)
        count(PATHS[0], "latency_write", 12, 1000)
        top.later(2, "client: 1 session, 2 of 2 paths up, 750 IOPS, read/s 1000K, write/s 3.9M")
        top.line_is("alpha@storage ", "2/2 750 4.9M 2.56ms 4.07ms 4.09ms 11 17 8")
        top.line_is(A, "up 750 4.9M 2.56ms 4.07ms 4.09ms 9 17 3")
        top.line_is(B, "up 0 0B - - - 2 0 0")
        top.line_is("alpha@sto~e (server)", "2/2 0 0B - - - - - -")


def case_come_and_go():
    """A path that goes, one that comes, and all sessions."""
    with Top() as top:
        top.until(READY)
        new = SESSION / "paths/ip:10.9.0.1@ip:10.9.0.2"
        shutil.copytree(PATHS[1], new)
        (new / "state").write_text("reconnecting\n")
        shutil.rmtree(PATHS[1])
        top.later(1, "10.9.0.1@10.9.0.2")
        top.line_is("10.9.0.1@10.9.0.2", "recon 22.0k 101.6M 409us 2.02ms 7.74ms 2 0 0")
        top.line_is("alpha@storage ", "1/2 22.0k 101.6M - - - 7 7 8")
        top.names_are(["alpha@storage", A, "10.9.0.1@10.9.0.2", "alpha@sto~e", A, B])
        hide(True)
        top.later(1, "no session")
        hide(False)
        top.later(1, "10.9.0.1@10.9.0.2")


def case_sort():
    """By name, by each figure, backwards."""
    with Top() as top:
        top.until(READY)
        (PATHS[1] / "stats/rdma").write_text("18100 74137600 4000 32768000 2 0\n")
        top.later(1, "100 IOPS")
        ours, theirs = ["alpha@storage", A, B], ["alpha@sto~e", A, B]
        busy = ["alpha@storage", B, A]
        top.names_are(ours + theirs)
        for key, name, names in (("s", "IOPS", busy), ("s", "bytes/s", busy), ("s", "p99", ours),
                                 ("s", "in flight", ours), ("s", "failovers", ours), ("s", "errors", ours),
                                 ("s", "name", ours), ("S", "errors", ours), ("S", "failovers", ours),
                                 ("S", "in flight", ours), ("S", "p99", ours), ("S", "bytes/s", busy)):
            top.keys(key, f"by {name}\n")
            top.names_are(names + theirs)
        top.keys("r", "by bytes/s reversed\n")
        top.names_are(["alpha@sto~e", B, A, "alpha@storage", A, B])


def case_levels():
    """Sessions only, paths only; what is selected stays selected."""
    with Top() as top:
        top.until(READY)
        top.keys("v", "by name, sessions only\n")
        top.names_are(["alpha@storage", "alpha@sto~e"])
        top.keys("v", "by name, paths only\n")
        top.names_are([A, B, A, B])
        top.keys("jjj\r", f"alpha@storage, server, {B}")
        top.keys("\x1bv", "by name\n")
        top.keys("\r", f"alpha@storage, server, {B}")


def case_filter():
    """Part of a name, of a state; taken back letter by letter, and dropped."""
    with Top() as top:
        top.until(READY)
        top.keys("/10.2.0.X", "filter: 10.2.0.X_")
        top.until("nothing has this in its name")
        top.keys("\x7f", "filter: 10.2.0._")
        top.names_are(["alpha@storage", B, "alpha@sto~e", B])
        top.keys("\r", "filter: 10.2.0.\n")
        # Keys are commands again.
        top.keys("s", "by IOPS, filter: 10.2.0.\n")
        top.keys("\x1b", "by IOPS\n")
        (PATHS[0] / "state").write_text("reconnecting\n")
        top.later(1, "1 of 2 paths up")
        top.keys("/RECONN", "filter: RECONN_")
        top.names_are(["alpha@storage", A])
        top.keys("\x1b", "by IOPS\n")


def case_split():
    """Where the time of a path goes: in the last interval, in all."""
    with Top() as top:
        top.until(READY)
        count(PATHS[0], "latency_read", 9, 1000)
        (PATHS[0] / "stats/losses").write_text("on_request 0\nby_server 0\nqueue_pair 0\nno_answer 2\n")
        top.later(2, "client: 1 session, 2 of 2 paths up, 0 IOPS")
        top.keys("j\r", f"alpha@storage, client, {A}\n")
        top.line_is("total", "500 384us 384us 509us 512us")
        top.line_is("wire", "0 - - - -")
        top.line_is("LOSSES", "no_answer 2 (+2)")
        top.line_is("ERRORS", "server 3 (+0)")
        os.write(top.master, b"t")
        top.screen_is("split")
        # The next one, and one of the server, which times two parts.
        top.keys("j", f"client, {B}\n")
        top.keys("G", f"server, {B}\n")
        top.line_is("total", "- - - - -")
        top.line_is("device", "1125 251us 205us 1.01ms 3.87ms 97%")
        top.keys("t", "every 3600s")
        # More causes than fit in a line.
        words = "on_request by_server queue_pair no_answer unreachable no_carrier device_removed protocol".split()
        (PATHS[1] / "stats/losses").write_text("".join(f"{word} {nr}000\n" for nr, word in enumerate(words)))
        top.keys("kkk", f"client, {B}\n")
        top.later(1, "protocol 7000 (+7000)\nERRORS    none")
        top.line_is("LOSSES", "by_server 1000 (+999) queue_pair 2000 (+2000) no_answer 3000 (+2998)")
        top.line_is("unreachable", "4000 (+4000) no_carrier 5000 (+5000)")
        top.line_is("device_removed", "6000 (+6000) protocol 7000 (+7000)")
        top.keys("\x1bOD", "Enter split")


def case_slow():
    """Disks that do not answer: how many there are, whose, and which; and that they answer again."""
    device = ROOT / "sys/block/rnbd0/rnbd"
    export = ROOT / "sys/class/rnbd-server/ctl/devices/selftest0/sessions/alpha@storage"
    with Top(columns=90) as top:
        top.until(READY)
        top.line_is("SESSION, PATH", "STATE IOPS BYTES/S P50 P99 P999 INFL FOVER ERR SLOW")
        top.line_is("alpha@storage ", "2/2 - - 409us 2.02ms 7.73ms 7 7 8 -")
        (device / "slow").write_text("31 7\n")
        (export / "slow").write_text("33 2\n")
        top.later(1, "client: 1 session, 2 of 2 paths up, 1 disk slow for 31s, 0 IOPS")
        top.until("server: 1 session, 2 of 2 paths up, 1 disk slow for 33s, 0 IOPS")
        top.line_is("alpha@storage ", "2/2 0 0B - - - 7 7 8 31s")
        top.line_is(A, "up 0 0B - - - 5 7 3 -")
        top.keys("j\r", f"alpha@storage, client, {A}\n")
        top.line_is("SLOW", "rnbd0 31s")
        top.keys("G", f"alpha@storage, server, {B}\n")
        top.line_is("SLOW", "selftest0 33s")
        top.keys("\x1b", "Enter split")
        shutil.copytree(device.parent, ROOT / "sys/block/rnbd1")
        (ROOT / "sys/block/rnbd1/rnbd/slow").write_text("600060 1\n")
        top.later(1, "2 disks slow for 166h,")
        top.line_is("alpha@storage ", "2/2 0 0B - - - 7 7 8 166h")
        shutil.rmtree(ROOT / "sys/block/rnbd1")
        (device / "slow").write_text("0 7\n")
        (export / "slow").write_text("0 2\n")
        top.later(1, "client: 1 session, 2 of 2 paths up, 0 IOPS")
        top.line_is("alpha@storage ", "2/2 0 0B - - - 7 7 8 -")


def case_split_gone():
    """What is looked at goes away."""
    with Top() as top:
        top.until(READY)
        top.keys("/10.2\r", "filter: 10.2\n")
        top.keys("j\r", f"alpha@storage, client, {B}\n")
        shutil.rmtree(PATHS[1])
        top.later(1, "alpha@storage, server")
        hide(True)
        top.later(1, "nothing has this in its name")


def case_sizes():
    """From the smallest terminal to a wide one, while it runs and from the start."""
    with Top() as top:
        top.until(READY)
        for lines, columns, there in ((50, 200, "RECON  LOST   ERR  SLOW"), (10, 40, "STATE   IOPS BYTES/S\n"),
                                      (6, 20, "SESSION, PATH"), (3, 12, "rnbd top"), (1, 1, "q"), (2, 5, "q qui"),
                                      (24, 80, "Enter split")):
            top.resize(lines, columns)
            top.until(there)
            for key in ("j", "k", "G", "g", "s", "r", "v", "v", "v", "h", "x", " ", "\r", "t", "\x7f"):
                os.write(top.master, key.encode())
        top.until("Enter split")
        os.write(top.master, b"q")
        equal("status", top.end(), 0)
    for lines, columns in ((1, 1), (2, 300), (5, 13)):
        with Top(lines, columns) as top:
            os.write(top.master, b"jjshx \rttq")
            equal(f"{lines}x{columns}", top.end(), 0)


def case_scroll():
    """More paths than lines: the selected one is on the screen."""
    for nr in range(3, 40):
        shutil.copytree(PATHS[1], SESSION / f"paths/ip:10.{nr}.0.1@ip:10.{nr}.0.2")
    with Top(term="xterm") as top:
        top.until("10.18.0.1@10.18.0.2")
        top.keys("\x1b[6~\x1b[6~", "10.38.0.1@10.38.0.2")
        top.keys("\x1b[6~\x1b[6~", "alpha@sto~e (server)")
        top.keys("g", "10.1.0.1@10.1.0.2")
        top.keys("\x1bOB\x1bOB\x1bOA\r", f"alpha@storage, client, {A}\n")


def case_signals():
    """Each puts the terminal in order, and ends the program as it should."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with Top() as top:
            top.until(READY)
            top.proc.send_signal(number)
            equal(f"{number.name}: status", top.end(), -number)
            equal(f"{number.name}: terminal", top.restored(), True)


def case_closed():
    """Nobody is at the other end any more."""
    with Top() as top:
        top.until(READY)
        os.close(top.slave)
        os.close(top.master)
        top.master = top.slave = -1
        try:
            top.proc.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Wrong("goes on") from None


def case_interval():
    """It looks again by itself, and how often can be changed."""
    with Top(args=(), RNBD_CLOCK="") as top:
        top.until("every 1s")
        (PATHS[0] / "stats/rdma").write_text("900000 3686400000 17000 139264000 9 7\n")
        top.until(lambda: re.search(r"paths up, [1-9][0-9.]*[kM]? IOPS", top.screen.text()))
        for key, seconds in zip("++++++------", (2, 5, 10, 30, 60, 60, 30, 10, 5, 2, 1, 1)):
            top.keys(key, f"every {seconds}s")


def case_help():
    with Top() as top:
        top.until(READY)
        top.keys("h", "is not counted here.")
        top.until("any key goes back")
        top.keys("x", "Enter split")
        top.keys("h", "any key goes back")
        top.keys("q", "Enter split")


def case_locale():
    """Names that are not ASCII, in any locale."""
    name = "a\udcfcb\u00fc"
    SESSION.resolve().rename(SESSION.resolve().parent / name)
    SESSION.unlink()
    (CLIENT / name).symlink_to(pathlib.Path("../../devices/virtual/rtrs-client") / name)
    for locale in ("C", "C.UTF-8", "de_DE.ISO-8859-1"):
        with Top(LC_ALL=locale) as top:
            top.until(READY)
            top.line_is("a?b??", "2/2 - - 409us 2.02ms 7.73ms 7 7 8")


def case_terms():
    """Other terminals show the same."""
    for term in ("linux", "xterm", "vt220", "screen"):
        with Top(term=term) as top:
            top.screen_is("list")


def case_unknown_term():
    with Top(term="nosuch") as top:
        equal("status", top.end(), 3)
        while top.read(0):
            pass
        equal("said", top.screen.text().strip(),
              "rnbd top: no description of the terminal nosuch\n  next: TERM=vt100 rnbd top; or rnbd stats -w 1")


def case_mainline():
    """What mainline's modules do not count."""
    with Top() as top:
        top.until(READY)
        top.line_is(A, "up - - - - - 0 0 -")
        top.keys("j\r", "LOSSES    not counted")
        top.line_is("wire", "- - - - -")


def wanted():
    """The screens that are compared as a whole, each below its name."""
    screens = re.split(r"^== (\w+)\n", pathlib.Path("top.screens").read_text(), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(screens[1::2], screens[2::2])}


PROGRAM = sys.argv[2]
WANTED = wanted()
try:
    globals()["case_" + sys.argv[1]]()
except Wrong as why:
    sys.exit(f"{why}")
