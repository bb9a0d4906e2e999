# SPDX-License-Identifier: GPL-2.0-only
"""Messages of the modules against Documentation/admin-guide/troubleshooting.rst.

The sources: each call of a printk function, or of a macro that puts its format into one, is a message: pr_fmt and
format. What a conversion prints is a gap, and so is what is in angle brackets.

The page: a paragraph "::" is followed by entries, lines that begin with one tab; a line that begins with two goes on
with the one before. Text follows that says what is next, or that there is nothing to do. Reasons, which the sources
give to a conversion, are there as literals; a literal that is a term is such a reason.

What one side has and the other has not is printed, and is a failure.
"""

import pathlib
import re
import sys

PAGE = pathlib.Path("Documentation/admin-guide/troubleshooting.rst")
SOURCES = ("drivers/infiniband/ulp/rtrs", "drivers/infiniband/ulp/rtrs-perf", "drivers/block/rnbd")

STRING = r'"(?:[^"\\\n]|\\.)*"'

# What reaches the log; pr_debug() does not. Of these only pr_*() can be read, any other one is complained of.
PRINTERS = (r"(?:pr|dev|netdev|ibdev)_(?:emerg|alert|crit|err|warn|warning|notice|info|cont)(?:_once|_ratelimited)?"
            r"|_?printk\w*")

# Reasons that messages take from elsewhere than their own arguments.
REASONS = {
    "drivers/infiniband/ulp/rtrs/clt/path.c": rf"^\t\treturn ({STRING})",
    "drivers/infiniband/ulp/rtrs/srv/info.c": rf"\bwhat = ({STRING})",
    "drivers/block/rnbd/proto/identity.c": rf"\breturn ({STRING})",
    "drivers/block/rnbd/proto/negotiate.c": rf"(?:\*why =|\breturn) ({STRING})",
    "drivers/block/rnbd/proto/srvcheck.c": rf'\{{ -E\w+, "\w+",\s*({STRING})',
}
REASON_CALLS = "rtrs_srv_path_wc_failed"

CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|z|j|t|L)?(?:p\w*|[a-zA-Z]))")
GAP = "\0"

complaints = []


def complain(where, what):
    """Note something that is wrong."""
    complaints.append(f"{where}: {what}")


def with_gaps(text):
    """Text as it is compared: what differs from time to time is a gap, and so are several in a row."""
    text = re.sub(r"<[^<>]*>", GAP, text)
    return re.sub(GAP + "+", GAP, " ".join(text.split()))


def shown(text):
    """Such a text for people."""
    return text.replace(GAP, "<...>")


def unquote(literal):
    """What a C string literal contains."""
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), literal[1:-1])


def without_comments(text):
    """Source without comments and without continued lines, its lines where they were."""
    def blank(match):
        return match[0] if match[0][0] in "\"'" else "\n" * match[0].count("\n")
    text = re.sub(STRING + r"|'(?:[^'\\\n]|\\.)+'|/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    # A macro is one line, followed by as many empty ones as it had more.
    return re.sub(r"(?:[^\n]*\\\n)+[^\n]*",
                  lambda m: m[0].replace("\\\n", " ") + "\n" * m[0].count("\\\n"), text)


def arguments(text, start):
    """Arguments of the call whose parenthesis opens before @start."""
    args, depth, begin = [], 0, start
    for match in re.compile(STRING + r"|'(?:[^'\\]|\\.)+'|[()\[\]{},]").finditer(text, start):
        token = match[0]
        if token in "([{":
            depth += 1
        elif token in ")]}" and depth:
            depth -= 1
        elif token == ")" or (token == "," and not depth):
            args.append(text[begin:match.start()].strip())
            begin = match.end()
            if token == ")":
                break
    return args


class Source:
    """A file and its calls."""

    def __init__(self, path):
        self.path = path
        self.text = without_comments(path.read_text(encoding="utf-8"))
        self.defines = {}
        for match in re.finditer(r"^#define[ \t]+(\w+)\(([^)]*)\)(.*)$", self.text, re.M):
            params = [p.strip() for p in match[2].split(",")]
            self.defines[match.start(), match.end()] = match[1], params

    def where(self, pos):
        """Position for people."""
        return f"{self.path}:{self.text.count(chr(10), 0, pos) + 1}"

    def macro_at(self, pos):
        """Name and parameters of the macro whose definition @pos is in."""
        for (start, end), define in self.defines.items():
            if start <= pos < end:
                return define
        return None, []

    def calls(self, names):
        """Position, name and arguments of the calls of some functions."""
        for match in re.finditer(rf"(?<!\w)({names})[ \t]*\(", self.text):
            if not re.search(r"#define[ \t]+$", self.text[:match.start()][-80:]):
                yield match.start(), match[1], arguments(self.text, match.end())

    def prefix(self):
        """What pr_fmt() puts in front."""
        match = re.search(r'#define pr_fmt\(fmt\) (KBUILD_MODNAME )?"([^"]*)" fmt', self.text)
        if not match:
            return None
        side = {"clt": "client", "srv": "server"}.get(self.path.parent.name, "?")
        ulp = self.path.parent.parent.name.replace("-", "_")
        return (f"{ulp}_{side}" if match[1] else "") + match[2]


def parse_format(expression, params):
    """Format of a call: a list of its text, and of names of parameters that are part of it; None if unreadable."""
    pieces = []
    for token in re.findall(STRING + r"|#?\w+|\S", expression):
        if token[0] == '"':
            pieces.append(unquote(token))
        elif token[0] == "#" and token[1:] in params:
            pieces.append(GAP)
        elif re.fullmatch(r"PRI[a-z]+\d*", token):
            pieces.append("u")
        elif token in params:
            pieces.append((token,))
        else:
            return None
    return pieces


class Messages:
    """Messages of the sources, text with gaps, and reasons; each with the first place that has it."""

    def __init__(self, sources):
        self.sources = sources
        self.wrappers = {}
        self.found = {}
        self.reasons = {}
        while self.find_wrappers():
            pass
        for source in sources:
            self.read(source)

    def formats(self, source):
        """Position, arguments and format of each call that prints."""
        names = "|".join([PRINTERS, *self.wrappers])
        for pos, name, args in source.calls(names):
            before, at, after = self.wrappers.get(name, ([], 0, []))
            params = source.macro_at(pos)[1]
            pieces = parse_format(args[at], params) if at < len(args) else None
            if pieces is not None:
                pieces = [*before, *pieces, *after]
            yield pos, args[at + 1:], pieces

    def find_wrappers(self):
        """Note macros that put a parameter into a format; true if there are new ones."""
        new = {}
        for source in self.sources:
            for pos, _, pieces in self.formats(source):
                name, params = source.macro_at(pos)
                inner = [p for p in pieces or [] if isinstance(p, tuple)]
                if name and name not in self.wrappers and len(inner) == 1:
                    at = pieces.index(inner[0])
                    new[name] = pieces[:at], params.index(inner[0][0]), pieces[at + 1:]
        self.wrappers.update(new)
        return new

    def read(self, source):
        """Note the messages of a file."""
        prefix = source.prefix()
        for pos, args, pieces in self.formats(source):
            if source.macro_at(pos)[0] in self.wrappers:
                continue
            if pieces is None or any(isinstance(p, tuple) for p in pieces):
                complain(source.where(pos), "format that this check cannot read")
            elif prefix is None:
                complain(source.where(pos), "message without a pr_fmt that this check knows")
            else:
                text = CONVERSION.sub(lambda m: "%" if m[0] == "%%" else GAP, "".join(pieces))
                self.found.setdefault(with_gaps(prefix + text), source.where(pos))
                self.note_reasons(source, pos, args)
        for pos, _, args in source.calls(REASON_CALLS):
            self.note_reasons(source, pos, args)
        if str(source.path) in REASONS:
            for match in re.finditer(REASONS[str(source.path)], source.text, re.M):
                self.note_reasons(source, match.start(), [match[1]])

    def note_reasons(self, source, pos, args):
        """Note words that are given to a conversion; a comma that joins them is not part of them."""
        for literal in re.findall(STRING, " ".join(args)):
            self.reasons.setdefault(unquote(literal).strip(" ,"), source.where(pos))


class Page:
    """Entries of the page and terms, each with its line number; and all its literals."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.entries = {}
        self.terms = {}
        text = re.sub(r"^::\n\n(?:\t.*\n)+", "", "\n".join(self.lines), flags=re.M)
        self.literals = {" ".join(m.split()) for m in re.findall(r"``(.+?)``", text, re.S)}
        for i, (line, after) in enumerate(zip(self.lines, self.lines[1:])):
            if line == "::":
                self.read_block(i)
            elif after.startswith("\t"):
                self.terms.update((term, i + 1) for term in re.findall(r"^``(.+?)``$", line))

    def where(self, number):
        """Position for people."""
        return f"{self.path}:{number}"

    def read_block(self, i):
        """Note the entries of the block that line @i announces, and look at the text behind it."""
        first = i = i + 2
        entries = []
        while self.lines[i].startswith("\t"):
            if self.lines[i].startswith("\t\t") and entries:
                entries[-1][0] += " " + self.lines[i].strip()
            else:
                entries.append([self.lines[i].strip(), i + 1])
            i += 1
        for text, number in entries:
            text = with_gaps(text)
            if text in self.entries:
                complain(self.where(number), f"has an entry above: {shown(text)}")
            self.entries[text] = number
        explanation = []
        for line, after in zip(self.lines[i:], self.lines[i + 1:] + [""]):
            if line == "::" or re.fullmatch(r"=+", after):
                break
            explanation.append(line)
        if not re.search(r"\bNext[:,]|\bnothing to do\b", " ".join(explanation), re.I):
            complain(self.where(first + 1), "does not say what is next, nor that there is nothing to do")


def main():
    """Compare, print, fail."""
    paths = [p for top in SOURCES for p in sorted(pathlib.Path(top).rglob("*.[ch]")) if p.parent.name != "tests"]
    messages = Messages([Source(p) for p in paths])
    page = Page(PAGE)

    for text, where in messages.found.items():
        if text not in page.entries:
            complain(where, f"has no entry in {PAGE}: {shown(text)}")
    for text, number in page.entries.items():
        if text not in messages.found:
            complain(page.where(number), f"entry of no message: {shown(text)}")
    for reason, where in messages.reasons.items():
        if " " in reason and reason not in page.literals:
            complain(where, f"reason that {PAGE} does not explain: {reason}")
    for term, number in page.terms.items():
        if term not in messages.reasons:
            complain(page.where(number), f"explains a reason that there is not: {term}")
    if not messages.found:
        complain(SOURCES[0], "no message found")
    print("\n".join(complaints), end="\n" if complaints else "")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
