#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The tutorial and the page of switches against the sources: each switch exists, is
# explained and measured; figures are those of performance-results.rst; code that is named exists.

exec python3 -B "$(dirname "$0")/switches.py"
