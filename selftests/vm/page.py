# SPDX-License-Identifier: GPL-2.0-only
"""The commands that a page of the documentation has, for tests that run them as they stand there.

A command is an indented line with a prompt, as `client# rnbd list`, and what the shell would take for more of it: after
a backslash at its end, and up to the last line of a here-document. What is indented below it is what it prints.
"""

import re

PROMPT = re.compile(r"\t(\w+[$#]) (.*)")
HERE_DOCUMENT = re.compile(r"<<'?(\w+)'?")


def ends(command):
    """Whether a shell would run it now, and not ask for another line."""
    here = HERE_DOCUMENT.search(command)
    return command.endswith(f"\n{here[1]}") if here else not command.endswith("\\")


def commands(text):
    """[where, command, lines that it prints] for each command of a page, in order."""
    found = []
    printed = None
    for line in text.splitlines():
        prompt = PROMPT.fullmatch(line)
        if prompt:
            printed = []
            found.append([prompt[1], prompt[2], printed])
        elif printed is None or not line.startswith("\t"):
            printed = None
        elif printed or ends(found[-1][1]):
            printed.append(line[1:])
        else:
            found[-1][1] += f"\n{line[1:]}"
    return found


def section(text, title):
    """What is below a heading of the page, up to the next one like it."""
    return re.search(rf"\n{title}\n=+\n(.*?)(?:\n[^\n]+\n=+\n|\Z)", text, re.S)[1]
