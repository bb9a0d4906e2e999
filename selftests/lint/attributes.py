# SPDX-License-Identifier: GPL-2.0-only
"""Files in sysfs and debugfs, module parameters and words of control files: the sources against the documentation.

Documentation/ABI/testing (Documentation/tools/abi.py reads it) has each of them, and nothing else, with access, unit,
range and default. What the sources tell of these (facts.py) has to be what is written there; where they tell nothing
the field has to be there all the same.

Tables of Documentation/admin-guide that have columns "default", "range" or "unit" have the values of ABI/testing.
Each file, parameter and word is mentioned there, except what only tests need. Paths in sysfs and debugfs that any
page names exist.

What is wrong is printed, and is a failure.
"""

import pathlib
import re
import sys

sys.path.insert(0, "Documentation/tools")

import abi  # noqa: E402
import csource  # noqa: E402
import facts  # noqa: E402
from messages import GAP  # noqa: E402

ABI = pathlib.Path("Documentation/ABI/testing")
GUIDE = pathlib.Path("Documentation/admin-guide")
GUIDE_TOO = [pathlib.Path("Documentation/failover.rst")]
PAGES = [pathlib.Path("README.md"), *sorted(pathlib.Path("Documentation").rglob("*.rst")),
         *sorted(pathlib.Path("tools").glob("*/man/*.[1-8]"))]

# Components of paths that are not ours.
FOREIGN = {"sys", "class", "block", "module", "kernel", "debug", "parameters"}

OURS = re.compile(r"/sys/(?:class/(?:rtrs|rnbd)-|block/(?:rnbd|<[^>/]*>)[^/\s`]*/rnbd"
                  r"|module/(?:rtrs|rnbd)_\w+/parameters|kernel/debug/(?:rtrs|rnbd|<module>))[^\s`'\"(),;\\]*")

complaints = []


def complain(where, what):
    """Note something that is wrong."""
    complaints.append(f"{where}: {what}")


def fits(pattern, text):
    """Whether a text is one with gaps, which stand for some words."""
    return re.fullmatch(".+".join(re.escape(p) for p in pattern.split(GAP)), text)


class Documented:
    """What ABI/testing has."""

    def __init__(self):
        self.items = {}
        self.dirs = set()
        for entries in abi.read(ABI).values():
            for entry in entries:
                if not " ".join(entry.description).strip():
                    complain(entry.items[0].where, "no description")
                for item in entry.items:
                    self.add(item)

    def add(self, item):
        """Note an item."""
        path = item.name if item.head == "What" else f"{item.parent.name} {item.word}="
        if path in self.items:
            complain(item.where, f"{path} is described above")
        self.items[path] = item
        if item.head == "What":
            self.dirs.add(item.name.rstrip("/"))


def compare_range(item, fact):
    """Range of an item with what the source allows."""
    written = item.fields.get("Range", "").split("; read: ")[0]
    if fact.range and not item.keys and not fits(fact.range, written):
        complain(item.where, f"range of {item.name}: the source says {facts.shown(fact.range)!r}, "
                             f"the page {written!r} ({fact.where})")


def compare_read(item, fact):
    """What a file reads with what the source prints."""
    told = item.fields.get("Range", "").split("; read: ")[-1]
    number = re.match(r"(a|\d+) numbers? from 0$", told)
    if fact.numbers and number and number[1].replace("a", "1") != str(fact.numbers):
        complain(item.where, f"{item.name}: the source prints {fact.numbers} numbers, the page has {told!r} "
                             f"({fact.where})")
    if fact.words and sorted(told.split(", ")) != sorted(fact.words):
        complain(item.where, f"{item.name}: the source prints {', '.join(fact.words)}, the page has {told!r} "
                             f"({fact.where})")


def compare_default(item, fact):
    """Default of an item with what the source begins with."""
    told = item.fields.get("Default", "")
    if fact.default is not None and not re.match(rf"{re.escape(fact.default)}(?:$|[, ])", told):
        complain(item.where, f"default of {item.name}: the source says {fact.default!r}, the page {told!r} "
                             f"({fact.where})")


def compare_item(path, item, fact):
    """One item with its fact."""
    if item.head == "What" and item.fields.get("Access") != fact.access:
        complain(item.where, f"access of {path}: the source says {fact.access}, the page {item.fields.get('Access')} "
                             f"({fact.where})")
    wanted = set() if fact.access == "link" or item.keys else {"Unit", "Range", "Default"}
    missing = wanted - set(item.fields)
    if missing:
        complain(item.where, f"{path}: {', '.join(sorted(missing))} is missing")
    if not wanted:
        return
    compare_range(item, fact)
    if "Unit" in wanted and fact.unit and not item.fields.get("Unit", "").startswith(fact.unit):
        complain(item.where, f"unit of {path}: the source says {fact.unit!r}, the page {item.fields.get('Unit')!r} "
                             f"({fact.where})")
    compare_default(item, fact)
    compare_read(item, fact)


def compare(documented, source):
    """Both ways."""
    found = dict(source.found)
    for path, fact in source.found.items():
        found.update({f"{path} {key}=": below for key, below in fact.keys.items()})
    for path, fact in found.items():
        item = documented.items.get(path)
        if item:
            compare_item(path, item, fact)
        else:
            complain(fact.where, f"{path} is not described in {ABI}")
    for path, item in documented.items.items():
        if path not in found and not item.is_dir:
            complain(item.where, f"{path} is not in the sources")
    return found


def compare_directories(documented, source):
    """Names of directories: those that are described are made, those that are made are described."""
    files = {path.rsplit("/", 1)[1] for path in source.found}
    used = set()
    for path, item in documented.items.items():
        parts = item.name.strip("/").split("/") if item.head == "What" else []
        for part in parts if item.is_dir else parts[:-1]:
            used.add(part)
            ours = {part, part.replace("_", "-")} & (set(source.names) | files)
            if "<" not in part and part not in FOREIGN and not ours:
                complain(item.where, f"{path}: nobody makes {part}")
    for name, where in source.names.items():
        if name not in used and name.replace("-", "_") not in used:
            complain(where, f"the directory {name} is not described in {ABI}")


def same_path(written, known):
    """Whether a path of a page is one that there is, or above one."""
    for part, real in zip(written, known):
        if part != real and not re.search(r"[<*$\[{]", part) and "<" not in real:
            return False
    return len(written) <= len(known)


def check_paths(documented):
    """Paths that pages name."""
    known = [path.strip("/").split("/") for path in documented.dirs]
    for page in PAGES:
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            for found in OURS.finditer(line.replace("\\-", "-").replace("\\(rs", "\\")):
                written = found[0].rstrip("/.:").strip("/").split("/")
                if not any(same_path(written, path) for path in known):
                    complain(f"{page}:{number}", f"{found[0]} is not described in {ABI}")


class Table:
    """A simple table of a page: its head, and rows with the line that they begin in."""

    def __init__(self, head, rows):
        self.head, self.rows = head, rows


def tables(page):
    """Simple tables of a page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"=+(?: +=+)+", line)]
    for first, second, third in zip(rules, rules[1:], rules[2:]):
        if lines[first] == lines[second] == lines[third] and second == first + 2:
            starts = [m.start() for m in re.finditer(r"=+", lines[first])]
            ends = starts[1:] + [None]
            rows = []
            for number in range(first + 1, third):
                cells = [lines[number][a:b].strip() for a, b in zip(starts, ends)]
                if number == second or not any(cells):
                    continue
                # What has no key goes on with the row above; so does a list of keys that ends with a comma.
                if rows and (not cells[0] or rows[-1][1][0].endswith(",")):
                    rows[-1][1][:] = [f"{a} {b}".strip() for a, b in zip(rows[-1][1], cells)]
                else:
                    rows.append((number + 1, cells))
            yield Table(rows[0][1], rows[1:])


def check_tables(documented):
    """Values that tables of the guide have."""
    by_name = {}
    for path, item in documented.items.items():
        if item.head == "What" and not path.startswith("/sys/kernel/debug/"):
            by_name.setdefault(path.rsplit("/", 1)[1], []).append(item)
        elif item.head == "Key":
            by_name.setdefault(item.word + "=", []).append(item)
    in_tables = set()
    for page in sorted(GUIDE.glob("*.rst")):
        for table in tables(page):
            columns = [name for name in ("default", "range", "unit") if name in table.head]
            if table.head[0] == "metric":       # what the tool makes of files; its own tests look at that table
                continue
            for number, cells in table.rows if columns else []:
                for name in re.findall(r"``([^`]+)``", cells[0]):
                    in_tables.add(name)
                    check_row(f"{page}:{number}", name, by_name.get(name), dict(zip(table.head, cells)))
    for path, item in documented.items.items():
        name = item.word + "=" if item.head == "Key" else path.rsplit("/", 1)[1]
        wanted = path.startswith("/sys/module/") or "map_device " in path
        if wanted and name not in in_tables:
            complain(item.where, f"{name} is in no table of {GUIDE}")


def check_row(where, name, items, cells):
    """One row: what it says of a name has to be what one of its entries says."""
    if not items:
        complain(where, f"{name} is not described in {ABI}")
        return
    for column, field in (("default", "Default"), ("range", "Range"), ("unit", "Unit")):
        told = cells.get(column)
        if told is None:
            continue
        told = told.replace("``", "")
        values = {item.fields.get(field, "").split("; read: ")[0] for item in items}
        short = {value.split(", ")[0] for value in values} if column == "default" else set()
        if told not in values | short and not (told == "" and "none" in values):
            complain(where, f"{column} of {name}: {told!r} here, {' or '.join(sorted(map(repr, values)))} in {ABI}")


def check_mentions(documented):
    """What nobody would find in the guide."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in [*sorted(GUIDE.glob("*.rst")), *GUIDE_TOO])
    for path, item in documented.items.items():
        if item.is_dir or "/fault/" in path or item.fields.get("Access") == "link":
            continue
        name = re.escape(item.word if item.head == "Key" else path.rsplit("/", 1)[1])
        if not re.search(rf"(?<![\w-]){name}(?![\w-])", text):
            complain(item.where, f"{path} is mentioned nowhere in {GUIDE}")


def main():
    """Compare, print, fail."""
    try:
        documented = Documented()
    except abi.Bad as bad:
        print(bad)
        return 1
    source = facts.Facts(csource.read_all())
    complaints.extend(source.complaints)
    if not source.found:
        complain("drivers", "no attribute found")
    compare(documented, source)
    compare_directories(documented, source)
    check_paths(documented)
    check_tables(documented)
    check_mentions(documented)
    print("\n".join(complaints), end="\n" if complaints else "")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
