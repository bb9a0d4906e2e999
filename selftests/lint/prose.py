# SPDX-License-Identifier: GPL-2.0-only
"""Prose of README.md, of the pages in Documentation and of the man pages: unwanted phrases and long lines.

A finding is a phrase of PATTERNS, or a line of prose of more than WIDTH columns. Literal blocks, inline literals,
quoted text, directives and what a script has generated are not searched; tables may be wider.

The check is a ratchet. prose.allowed has the number of findings that each file still contains. The check fails if a
file contains more of them, and also if it contains fewer, so that the number is lowered.

Usage: prose.py               compare with prose.allowed
       prose.py FILE...       print all findings of these files
       prose.py --update      rewrite prose.allowed
       prose.py --self-test   check the readers and the patterns
"""

import collections
import pathlib
import re
import sys

ALLOWED = pathlib.Path("selftests/lint/prose.allowed")
HEAD = """# SPDX-License-Identifier: GPL-2.0-only
# Findings that each file still contains: phrases, long lines, file. Written by selftests/lint/prose.py --update.
"""
WIDTH = 100
ROW = "{:4} {:4} {}\n"

# Name and expression of each pattern. A blank of an expression is any white space, line ends included.
PATTERNS = {name: re.compile(text.replace(" ", r"\s+")) for name, text in {
    # At the start of a sentence that is no question.
    '"Who ..." as a subject': r"\b(?:Who|Whom|Whose)\b(?!(?:[^.?!]|[.?!]\S)*\?)",
    '"What ..." as a subject': r"\bWhat\b(?!(?:[^.?!]|[.?!]\S)*\?)",
    '"who" without a noun': r"(?:\b(?:by|of|from|for|with|than|is|are|that|wakes?)|;|; and) who\b",
    '"whoever"': r"(?i:\bwho(?:m|so)?ever\b)",
    '"that which"': r"(?i:\bthat which\b)",
    '"so many" as a quantity': r"(?i:\bso (?:many|much|long|often)\b(?! (?:as|that|for)\b))",
    '"anew"': r"(?i:\banew\b)",
    '"in vain"': r"(?i:\bin vain\b)",
    '"meanwhile"': r"(?i:\bmeanwhile\b)",
    '"for want of"': r"(?i:\bfor want of\b)",
    "a person for a program": r"(?i:\b(?:(?:no|some|any|every)body|he|him|his|himself)\b)",
    '"beside"': r"(?i:\bbeside\b(?! (?:it|this)\b))",
    '"tell of" for report': r"(?i:\b(?:tells?|told|telling|hears?|heard) of\b|\bnews\b)",
}.items()}

# Not prose within a paragraph: literals of both markups, targets of links, quoted text.
LITERAL = re.compile(r"``.+?``|`[^`]+`_{0,2}|(?<=\])\([^)]*\)|\"[^\"]*\"", re.S)

# A line of prose without its indentation and marker; does it begin a paragraph; is its length checked?
Line = collections.namedtuple("Line", "number text first checked")


def indentation(line):
    return len(line) - len(line.lstrip())


def cells(number, line, separator):
    """Cells of a row of a table: each a paragraph of its own."""
    return [Line(number, cell, True, False) for cell in re.split(separator, line.strip()) if cell]


def read_rst(lines):
    """Lines of prose of reStructuredText."""
    lines = [line.expandtabs() for line in lines] + [""]
    # @skip: column that the lines of a block are further in than. @end: comment that ends generated text.
    skip = end = None
    table, column, blank = False, 0, True
    for number, (line, after) in enumerate(zip(lines, lines[1:]), 1):
        text, indent = line.strip(), indentation(line)
        if end or not text:
            blank = True
            end = None if text == end else end
            continue
        if skip is not None and indent > skip:
            continue
        skip = None
        if re.fullmatch(r"=+( +=+)+", text):
            table = not table or bool(after.strip())
        elif table:
            yield from cells(number, line, "  +")
        elif comment := re.match(r"\.\. (\w+): ", text):
            end = f".. {comment[1]}: end"
        elif text.startswith(".. "):
            # The cells of a list-table are prose, its options and other directives are not.
            skip = None if text.startswith(".. list-table::") else indent
        elif not re.fullmatch(r"([=~^*+#\"'-])\1{2,}", text):
            marker = re.match(r"\s*(?:[*-] |\d+\. |:[A-Za-z -]+:\s*)*", line)
            field = line.lstrip().startswith(":")
            first = blank or marker.end() > indent or column not in (None, indent)
            # The lines of a field after its first one have any indentation.
            column = None if field else marker.end() if marker.end() > indent or first else column
            if text.endswith("::"):
                skip = indent if field else marker.end()
            heading = re.fullmatch(r"([=~^*+#\"'-])\1{2,}", after.strip())
            yield Line(number, line[marker.end():], first, not heading)
        blank = False


def read_markdown(lines):
    """Lines of prose of Markdown."""
    fence, blank = False, True
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("```"):
            fence = not fence
        elif text.startswith("|"):
            yield from cells(number, line, r"\|")
        elif text and not fence and not line.startswith(("    ", "\t", "<!--")):
            marker = re.match(r"\s*(?:[*-] |\d+\. |#+ )*", line)
            yield Line(number, line[marker.end():], blank or marker.end() > indentation(line), True)
        blank = not text


def read_man(lines):
    """Lines of prose of a man page. What a macro sets in another font is a literal."""
    first, tag, literal = True, False, False
    for number, line in enumerate(lines, 1):
        macro = re.match(r"[.'](\S*)", line)
        name = macro and macro[1]
        if name in ("nf", "EX", "fi", "EE"):
            literal, first = name in ("nf", "EX"), True
        elif name in ("SH", "SS", "P", "PP", "LP", "IP", "HP", "RS", "RE", "TP", "TQ", "TH", "br", "sp"):
            first, tag = True, name in ("TP", "TQ")
        elif not literal and name != '\\"':
            text = "``_``" if macro else re.sub(r"\\f[BI](.*?)\\f[PR]", r"``\1``", line).replace(r"\-", "-")
            yield Line(number, text, first, not macro)
            first, tag = tag, False


READERS = {".rst": read_rst, ".md": read_markdown, ".8": read_man}


def search(lines, read):
    """Findings of a text: phrases as (line number, pattern, words), and long lines as (line number, width)."""
    phrases, wide, paragraphs = [], [], []
    for line in read(lines):
        if line.first or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].append(line)
        width = len(lines[line.number - 1].expandtabs())
        if line.checked and width > WIDTH and " " in line.text.strip():
            wide.append((line.number, width))
    for paragraph in paragraphs:
        text = "\n".join(line.text for line in paragraph)
        text = LITERAL.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
        # Headings, also those of tables, are names: "What it does".
        name_only = not paragraph[0].checked and len(paragraph) == 1
        for name, pattern in PATTERNS.items():
            for found in pattern.finditer(text):
                if not (name_only and name.endswith("subject")):
                    at = paragraph[text.count("\n", 0, found.start())].number
                    phrases.append((at, name, " ".join(found[0].split())))
    return sorted(phrases), wide


def files():
    """All files that are checked."""
    return [pathlib.Path("README.md"), *sorted(pathlib.Path("Documentation").rglob("*.rst")),
            *sorted(pathlib.Path("tools/rnbd/man").glob("*.8"))]


def findings(path):
    return search(path.read_text(encoding="utf-8").split("\n"), READERS[path.suffix])


def show(path, phrases, wide):
    lines = [(number, f"{words}: {name}") for number, name, words in phrases]
    lines += [(number, f"{width} columns, {WIDTH} are allowed") for number, width in wide]
    for number, what in sorted(lines):
        print(f"{path}:{number}: {what}")


def update(found):
    """Write prose.allowed."""
    rows = [ROW.format(len(phrases), len(wide), path) for path, (phrases, wide) in found.items() if phrases or wide]
    ALLOWED.write_text(HEAD + "".join(rows), encoding="utf-8")


def allowed():
    """{file: numbers of phrases and long lines} of prose.allowed."""
    rows = (line.split() for line in ALLOWED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {pathlib.Path(path): (int(phrases), int(wide)) for phrases, wide, path in rows}


def compare(found):
    """Return: does a file have other numbers than prose.allowed?"""
    limits, failed = allowed(), False
    for path in sorted(limits.keys() | found.keys()):
        phrases, wide = found.get(path, ([], []))
        limit = limits.get(path, (0, 0))
        if (len(phrases), len(wide)) == limit:
            continue
        failed = True
        show(path, phrases if len(phrases) > limit[0] else [], wide if len(wide) > limit[1] else [])
        for what, number, most in zip(("phrases", "long lines"), (len(phrases), len(wide)), limit):
            if number > most:
                print(f"{path}: {number} {what}, {most} are allowed")
            elif number < most:
                print(f"{path}: {number} {what}, {ALLOWED} allows {most}: run selftests/lint/prose.py --update")
    return failed


# Text, and the findings that it has: line number, and the words or "wide".
LONG = "word " * 20 + "end."
TESTS = {
    read_rst: [
        ("Who connects is checked.", [(1, "Who")]),
        ("Who may connect?", []),
        ("The client, who connects, reads version 6.12. What is that?", []),
        ("It ends.  What is left of 6.1\nis freed.", [(1, "What")]),
        ("What it does\n============\n\nIt sends.", []),
        ("The queue is polled by\nwho waits; who sleeps is woken.", [(1, "by who"), (2, "; who")]),
        ("It waits so\nlong, and so often.", [(1, "so long"), (2, "so often")]),
        ("It waits so long that the path is lost, as long as it is up.", []),
        ("- It is started anew,\n  in\n  vain.", [(1, "anew"), (2, "in vain")]),
        ("Nobody told him of it.", [(1, "Nobody"), (1, "him")]),
        ("``Whoever`` and \"nobody waits\nmeanwhile\" are quoted, `He`_ is a link.", []),
        ("Prints::\n\n\tnobody\n\n\t  anew\n\nAnew.", [(7, "Anew")]),
        ("- Prints::\n\n    nobody\n\n  Meanwhile.", [(5, "Meanwhile")]),
        ("::\n\n  nobody\n\nHe.", [(5, "He")]),
        (".. note:: nobody\n   anew\n\nHe.", [(4, "He")]),
        (".. states: path\n\nNobody.\n\n.. states: end\n\nHe.", [(7, "He")]),
        ("=====  =====\nanew   his\n=====  =====\nin     vain\n\n" + LONG + "\n=====  =====\n\nHe.",
         [(2, "anew"), (2, "his"), (9, "He")]),
        (".. list-table::\n   :widths: 1 2\n\n   * - anew\n     - in\n       vain", [(4, "anew"), (5, "in vain")]),
        (LONG + "\n\n\t" + LONG + "\n\n" + "x" * 110 + "\n\nPrints::\n\n  " + LONG, [(1, "wide"), (3, "wide")]),
        (":Switch: none. What\n  is left beside it\n  runs beside I/O.", [(1, "What"), (3, "beside")]),
    ],
    read_markdown: [
        ("# He\n\nIt is `anew`\n[his](nobody) turn.", [(1, "He"), (4, "his")]),
        ("Prints:\n\n    nobody\n\n```\nanew\n```\n" + LONG, [(8, "wide")]),
        ("| anew | " + LONG + " |\n", [(1, "anew")]),
    ],
    read_man: [
        (".SH NAME\nrnbd \\- nobody\n.\\\" he\n.nf\nhe\n.fi\nIt waits so\n.B long\n.P\n" + LONG,
         [(2, "nobody"), (10, "wide")]),
        (".TP\n.B \\-\\-all\nWhat there is,\n\\fIanew\\fR.", [(3, "What")]),
    ],
}


def self_test():
    """Return: does a text of TESTS have other findings?"""
    failed = False
    for read, cases in TESTS.items():
        for text, wanted in cases:
            phrases, wide = search(text.split("\n"), read)
            found = sorted([(number, words) for number, _, words in phrases] + [(number, "wide") for number, _ in wide])
            if found != wanted:
                failed = True
                print(f"{read.__name__}: {text!r}: {found}, expected {wanted}")
    return failed


def main():
    """Compare, print, fail."""
    words = sys.argv[1:]
    if words == ["--self-test"]:
        return self_test()
    if any(word.startswith("-") for word in words) and words != ["--update"]:
        sys.exit(__doc__.strip())
    chosen = [pathlib.Path(word) for word in words if word != "--update"]
    found = {path: findings(path) for path in chosen or files()}
    if words == ["--update"]:
        return update(found)
    if not words:
        return compare(found)
    for path, finding in found.items():
        show(path, *finding)
    return any(phrases or wide for phrases, wide in found.values())


if __name__ == "__main__":
    sys.exit(main())
