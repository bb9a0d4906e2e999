# SPDX-License-Identifier: GPL-2.0-only
"""Switches of techniques: the tutorial, the page that lists them, the bench, and the sources.

A switch is a parameter in the tables of Documentation/admin-guide/switches.rst. It exists, as Documentation/ABI/testing
says, which attributes.py compares with the sources; the tutorial has it in a field "Switch"; selftests/bench/switches.py
measures it. The tutorial names no other, and no option of the floor that this does not have. Its figures are
those of Documentation/performance-results.rst. Functions and files that it names exist.

What is wrong is printed, and is a failure.
"""

import pathlib
import re
import sys

sys.path[:0] = ["selftests/bench", "selftests/vm", "Documentation/tools"]

import abi  # noqa: E402
import figures  # noqa: E402
import switches as bench  # noqa: E402

TUTORIAL = pathlib.Path("Documentation/driver-api/rdma-tutorial.rst")
LIST = pathlib.Path("Documentation/admin-guide/switches.rst")
TABLES = pathlib.Path("Documentation/performance-results.rst")
FLOOR = pathlib.Path("selftests/modules/rtrs-floor.c")
SOURCES = pathlib.Path("drivers/infiniband/ulp/rtrs")
PARAMETER = re.compile(r"/sys/module/(rtrs_\w+)/parameters/(\w+)")

complaints = []


def complain(where, what):
    """Note something that is wrong."""
    complaints.append(f"{where}: {what}")


def existing():
    """{(module, parameter)} of ABI/testing."""
    names = (item.name for entries in abi.read("Documentation/ABI/testing").values()
             for entry in entries for item in entry.items if item.head == "What")
    return {found.groups() for found in map(PARAMETER.fullmatch, names) if found}


def listed():
    """{(module, parameter)} of the tables of the page of switches."""
    found, module = set(), None
    for line in LIST.read_text(encoding="utf-8").splitlines():
        head = re.match(r"parameter of (rtrs-\w+) ", line)
        if head:
            module = head[1].replace("-", "_")
        elif not line:
            module = None
        row = re.match(r"``(\w+)`` ", line)
        if module and row:
            found.add((module, row[1]))
    return found


def fields(name):
    """Texts of the tutorial's fields of this name, each with its line."""
    lines = TUTORIAL.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line.startswith(f":{name}:"):
            text = [line[len(name) + 2:]]
            for more in lines[number + 1:]:
                if not more.startswith("  "):
                    break
                text.append(more)
            yield number + 1, " ".join(text)


def explained(known):
    """{(module, parameter)} of the tutorial's fields; complains about those that do not exist."""
    found = set()
    for number, text in fields("Switch"):
        named = re.search(r"``(\w+)`` of ((?:rtrs-\w+)(?: and of rtrs-\w+)*)", text)
        if not named:
            if not text.strip().startswith("none"):
                complain(f"{TUTORIAL}:{number}", "neither a switch nor none")
            continue
        for module in re.findall(r"rtrs-\w+", named[2]):
            found.add((module.replace("-", "_"), named[1]))
    names = {parameter for _, parameter in known}
    for number, line in enumerate(TUTORIAL.read_text(encoding="utf-8").splitlines(), 1):
        for name in re.findall(r"``(\w+)=\w+``", line):
            if name not in names:
                complain(f"{TUTORIAL}:{number}", f"there is no parameter {name}")
    return found


def measured():
    """{(module, parameter)} that the bench changes."""
    return {change[:2] for settings in (bench.SETTINGS["rnbd-n"], bench.SETTINGS["rnbd-y"])
            for setting in settings for change in setting.changes}


def check_switches():
    """The four lists of them."""
    known, there = existing(), listed()
    if not there:
        complain(LIST, "no switch found")
    for where, found in ((TUTORIAL, explained(known)), ("selftests/bench/switches.py", measured())):
        for module, name in sorted(found - there):
            complain(where, f"{name} of {module} is not in {LIST}")
        for module, name in sorted(there - found):
            complain(where, f"{name} of {module} is missing, {LIST} has it")
    for module, name in sorted(there - known):
        complain(LIST, f"{module} has no parameter {name}")


def check_floor():
    """Options of the floor: what the bench and the tutorial want is there."""
    there = re.search(r"floor_options\[\] = \{(.*?)\};", FLOOR.read_text(encoding="utf-8"), re.S)
    words = set(re.findall(r'"([^"]+)"', there[1])) if there else set()
    wanted = {word for setting in bench.FLOOR for word in setting.changes}
    for word in sorted(wanted ^ words):
        complain(FLOOR, f"option {word}: only here, or only in selftests/bench/switches.py")
    text = TUTORIAL.read_text(encoding="utf-8")
    for word in sorted(words):
        if f"``{word}``" not in text:
            complain(TUTORIAL, f"option {word} of the floor is not explained")


def measured_rows():
    """{(contender, quantity, setting): cells} of the tables of performance-results.rst."""
    found, head = {}, None
    for line in TABLES.read_text(encoding="utf-8").splitlines():
        begin = re.match(r"\t([\w-]+), (.*), and the change:$", line)
        if begin:
            head = begin.groups()
        elif not line.strip():
            head = None
        elif head:
            setting, *cells = re.split(r"  +", line.strip())
            found[(*head, setting)] = " ".join(cells).split()
    return found


def check_figures():
    """Blocks of the tutorial."""
    found, head = measured_rows(), None
    words = {quantity.words for quantity in figures.QUANTITIES}
    blocks = set()
    for number, line in enumerate(TUTORIAL.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{TUTORIAL}:{number}"
        name, *cells = re.split(r"  +", line.strip())
        if line.startswith("\t") and name in words:
            if not head:
                complain(where, "figures of nothing")
            elif found.get((head[0], name, head[1])) != " ".join(cells).split():
                complain(where, f"{name} of {', '.join(head)}: {TABLES} has other figures, or none")
            continue
        begin = re.match(r"\t([\w-]+), (\S.*?)  +[a-z]+-4k-", line)
        head = begin and begin.groups()
        blocks.add(head and head[1])
    for setting in {setting.name for each in bench.SETTINGS.values() for setting in each} - blocks:
        complain(TUTORIAL, f"no figures of {setting}")


def check_code():
    """Functions and files that the tutorial names."""
    text = TUTORIAL.read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.[ch]"))
    for name in sorted(set(re.findall(r"``(rtrs_\w+)\(\)``", text))):
        if not re.search(rf"^(?!\s)[^;]*\b{name}\(", code, re.M):
            complain(TUTORIAL, f"there is no function {name}()")
    for name in sorted(set(re.findall(r"``([\w./-]+\.[ch])``", text))):
        if not (SOURCES / name).exists() and not pathlib.Path(name).exists():
            complain(TUTORIAL, f"there is no file {name}")


def main():
    """Compare, print, fail."""
    check_switches()
    check_floor()
    check_figures()
    check_code()
    print("\n".join(complaints), end="\n" if complaints else "")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
