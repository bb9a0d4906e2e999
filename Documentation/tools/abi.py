# SPDX-License-Identifier: GPL-2.0-only
"""Reader of Documentation/ABI/testing, for the page that shows it and for the check that compares it with the source.

A file is a list of entries. An entry begins with "What:", a path, or with "Key:", a word that can be written to the
path above it, and ends with "Description:". Between them are fields:

  Access    mode of the file as in the source; "link" for a symbolic link; none for a directory and for a key
  Unit      what a number counts, or "none"
  Range     what can be written; for a file that is only read, what it can read. "<written>; read: <read>" has both
  Default   value that is there when nobody has written one, or "none"

They count for the "What:" lines right above them, of which an entry may have several groups. Those of a directory,
whose path ends with a slash, count for what is in it and has none of its own. A line that begins with a tab goes on
with the one before.
"""

import pathlib
import re

FIELDS = ("Access", "Unit", "Range", "Default")
HEADS = ("What", "Key")


class Item:
    """One path, or one key of it."""

    def __init__(self, head, name, where, parent=None):
        self.head, self.name, self.where, self.parent = head, name, where, parent
        self.fields = {}
        self.keys = []

    @property
    def is_dir(self):
        """Whether it is a directory."""
        return self.head == "What" and self.name.endswith("/")

    @property
    def word(self):
        """Name of a key, without what stands for its value."""
        return self.name.split("=", 1)[0]


class Entry:
    """Items that share a description."""

    def __init__(self):
        self.items = []
        self.description = []


class Bad(Exception):
    """A line that cannot be read."""


class Reader:
    """One file, read line by line."""

    def __init__(self, path):
        self.path = path
        self.entries = []
        self.group = []
        self.field = None
        self.what = None
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            self.where = f"{path}:{number}"
            self.line(line)
        for entry in self.entries:
            while entry.description and not entry.description[-1]:
                entry.description.pop()

    def line(self, line):
        """Take up a line."""
        found = re.fullmatch(r"(\w+):\s+(\S.*)", line)
        if found and found[1] in HEADS + FIELDS + ("Description",):
            self.begin(found[1], found[2])
        elif line.startswith("\t") and self.field:
            self.go_on(line)
        elif not line and self.field == "Description":
            self.entries[-1].description.append("")
        elif line and not line.startswith("#"):
            raise Bad(f"{self.where}: cannot be read: {line}")

    def begin(self, name, text):
        """Take up a line that begins something."""
        if name in HEADS:
            if self.field in (None, "Description"):
                self.entries.append(Entry())
            if self.field not in HEADS:
                self.group = []
            item = Item(name, text, self.where, self.what if name == "Key" else None)
            if name == "What":
                self.what = item
            elif not self.what:
                raise Bad(f"{self.where}: key of no file")
            else:
                self.what.keys.append(item)
            self.entries[-1].items.append(item)
            self.group.append(item)
        elif not self.group:
            raise Bad(f"{self.where}: {name} of nothing")
        elif name == "Description":
            self.entries[-1].description.append(text)
        else:
            for item in self.group:
                if name in item.fields:
                    raise Bad(f"{self.where}: a second {name}")
                item.fields[name] = text
        self.field = name

    def go_on(self, line):
        """Take up a line that belongs to the one before."""
        if self.field == "Description":
            self.entries[-1].description.append(re.sub(r"^\t\t?", "", line).expandtabs())
        elif self.field in FIELDS:
            for item in self.group:
                item.fields[self.field] += " " + line.strip()
        else:
            raise Bad(f"{self.where}: a path is one line")


def read(directory):
    """Path of each file to its entries, with the fields of directories handed down."""
    files = {path: Reader(path).entries for path in sorted(pathlib.Path(directory).iterdir())}
    items = [item for entries in files.values() for entry in entries for item in entry.items]
    dirs = [item for item in items if item.is_dir and item.fields]
    for item in items:
        for above in dirs:
            if item.head == "What" and item is not above and item.name.startswith(above.name):
                item.fields = {**above.fields, **item.fields}
    return files
