#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The tables of states and events in Documentation/states.rst are those of the source.

exec python3 -B Documentation/tools/states.py --check
