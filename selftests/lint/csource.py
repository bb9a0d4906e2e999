# SPDX-License-Identifier: GPL-2.0-only
"""C sources with the project's own macros expanded, and nothing else.

What a macro generates, as an attribute for each row of a table, is in the text then; what is the kernel's, as
DEVICE_ATTR_RW(), is still a word that can be looked for. The compiler's preprocessor does it, on copies that lack
the includes of headers that are not ours.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile

from messages import CONVERSION, GAP, STRING, arguments, unquote, without_comments

TOPS = ("drivers/infiniband/ulp/rtrs", "drivers/infiniband/ulp/rtrs-perf", "drivers/block/rnbd", "include/rdma", "include/rtrs", "include/rnbd",
        "include/selftest")

# What the kernel's headers say. PAGE_SIZE is that of x86, which the documentation tells too.
CONSTANTS = {"U8_MAX": 2 ** 8 - 1, "U16_MAX": 2 ** 16 - 1, "USHRT_MAX": 2 ** 16 - 1, "U32_MAX": 2 ** 32 - 1,
             "UINT_MAX": 2 ** 32 - 1, "INT_MAX": 2 ** 31 - 1, "S32_MAX": 2 ** 31 - 1, "S64_MAX": 2 ** 63 - 1,
             "PATH_MAX": 4096, "NAME_MAX": 255, "SECTOR_SHIFT": 9, "PAGE_SIZE": 4096, "true": 1, "false": 0}

TOKEN = re.compile(STRING + r"|'(?:[^'\\\n]|\\.)+'|[(){}\[\];]")
CALL = re.compile(r"(?<![\w.>])(\w+)[ \t]*\(")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else"}


class Function:
    """A function: names of its parameters, and its body."""

    def __init__(self, name, params, body):
        self.name, self.params, self.body = name, params, body

    def calls(self):
        """Name and arguments of the calls in it."""
        for match in CALL.finditer(self.body):
            if match[1] not in KEYWORDS:
                yield match[1], arguments(self.body, match.end())


class Unit:
    """A source file: what stands outside of functions, item by item, and its functions."""

    def __init__(self, path, text):
        self.path = path
        self.module = module_of(path)
        self.items = []
        self.functions = {}
        for item, line in top_level(text):
            if item.endswith("}"):
                self.add_function(item)
            else:
                self.items.append((item, f"{path}:{line}"))

    def add_function(self, item):
        """Note a function."""
        head, body = item.split("{", 1)
        found = re.search(r"(\w+)\s*\((.*)\)\s*$", head, re.S)
        if found and not re.match(r"\s*(?:enum|struct|union)\b[^(]*$", head):
            params = [re.sub(r".*?(\w+)\W*$", r"\1", p, flags=re.S) for p in found[2].split(",")]
            self.functions[found[1]] = Function(found[1], params, body)

    def find(self, pattern):
        """Matches of a pattern with whole items, and where they are."""
        for item, where in self.items:
            found = re.search(pattern, item, re.S)
            if found:
                yield found, where


def module_of(path):
    """Name of the module that a file belongs to, as in sysfs."""
    part = re.match(r"drivers/(?:infiniband/ulp/(rtrs(?:-perf)?)|block/(rnbd))/(\w+)/", str(path))
    if not part:
        return None
    side = {"clt": "client", "srv": "server"}.get(part[3], "core")
    return f"{part[1] or part[2]}_{side}".replace("-", "_")


def top_level(text):
    """Items outside of functions, each with the line that it begins in."""
    depth, begin, line, head = 0, 0, 1, ""
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "([{":
            if token == "{" and not depth:
                head = text[begin:match.start()]
            depth += 1
        elif token in ")]}":
            depth -= 1
        # A definition that has no "=" and no tag in front of its braces ends with them.
        body = token == "}" and not depth and re.search(r"\)\s*$", head) and "=" not in head
        if not depth and (token == ";" or body):
            item = text[begin:match.end()]
            blank = len(item) - len(item.lstrip())
            yield item.strip(), line + item[:blank].count("\n")
            line += item.count("\n")
            begin, head = match.end(), ""


def own_headers_only(text, here, top):
    """Text without the includes of headers that are not in the copy."""
    def keep(match):
        own = here / match[2] if match[1] == '"' else top / "include" / match[2]
        return match[0] if own.exists() else ""
    return re.sub(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"].*$', keep, text, flags=re.M)


def expand(top, path):
    """Text of a file of the copy after the preprocessor, lines where they were, without what it includes."""
    out = subprocess.run(["gcc", "-E", "-undef", "-nostdinc", "-D__KERNEL__", "-DMODULE", "-I", "include", str(path)],
                         cwd=top, check=True, capture_output=True, text=True).stdout
    lines, number, ours = {}, 0, False
    for line in out.split("\n"):
        marker = re.match(r'# (\d+) "([^"]*)"', line)
        if marker:
            number, ours = int(marker[1]), marker[2] == str(path)
        else:
            if ours:
                lines[number] = lines.get(number, "") + line
            number += 1
    return "\n".join(lines.get(i, "") for i in range(1, max(lines, default=0) + 1))


def read_all():
    """All source files and headers but tests and trace events."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for tree in TOPS:
            shutil.copytree(tree, top / tree)
        for path in [*top.rglob("*.[ch]")]:
            path.write_text(own_headers_only(path.read_text(encoding="utf-8"), path.parent, top), encoding="utf-8")
        paths = [p.relative_to(top) for tree in TOPS for p in sorted((top / tree).rglob("*.[ch]"))]
        units = [Unit(p, without_comments(expand(top, p))) for p in paths
                 if p.parent.name != "tests" and p.name != "trace.h"]
    return units


def evaluate(expression, values=None):
    """Number that a constant expression is; None if it cannot be told."""
    text = re.sub(r"\(\s*[us](?:8|16|32|64)\s*\)|(?<=\d)[uUlL]+\b", "", expression or "")
    text = re.sub(r"\bmax_t\s*\(\s*\w+\s*,", "@(", text)

    def number(match):
        word = match[0]
        value = CONSTANTS.get(word)
        if values and word in values:
            # A parameter that is called like what it is given has no value.
            value = evaluate(values[word], {k: v for k, v in values.items() if k != word})
        return f"({value})"
    text = re.sub(r"\b[A-Za-z_]\w*\b(?!\s*\()", number, text)
    if "None" in text or not re.fullmatch(r"[-+*/()<>,@\s0-9]+", text):
        return None
    try:
        return eval(text.replace("/", "//").replace("@", "max"), {"__builtins__": {}, "max": max})
    except (SyntaxError, TypeError, ZeroDivisionError):
        return None


def literal_of(expression, values=None):
    """Text of string literals side by side, or of a parameter that stands for them; None for anything else."""
    expression = (values or {}).get(expression.strip(), expression)
    if not re.fullmatch(rf"\s*(?:{STRING}\s*)+", expression):
        return None
    return "".join(unquote(s) for s in re.findall(STRING, expression))


def formatted(args, values=None):
    """What a format and its arguments print, with gaps for what differs from time to time."""
    text = literal_of(args[0], values) if args else None
    if text is None:
        return None
    rest = iter(args[1:])

    def printed(match):
        if match[0] == "%%":
            return "%"
        for _ in range(match[0].count("*")):
            next(rest, None)
        arg = next(rest, "")
        known = literal_of(arg, values)
        if known is None:
            known = evaluate(arg, values)
        return GAP if known is None else str(known)
    return CONVERSION.sub(printed, text)
