#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Excerpts of sources in Documentation: the file is there, and the lines that begin and end it.

exec python3 -B "$(dirname "$0")/excerpts.py"
