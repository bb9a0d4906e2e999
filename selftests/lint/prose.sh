#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Prose of README.md, pages and man pages: no more unwanted phrases and long lines than prose.allowed
# has for each file, and no fewer.

python3 -B "$(dirname "$0")/prose.py" --self-test && exec python3 -B "$(dirname "$0")/prose.py"
