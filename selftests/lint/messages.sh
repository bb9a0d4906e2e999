#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each message of the modules has its entry in troubleshooting.rst, which says what
# to do, and each entry there is of a message that there is.

exec python3 "$(dirname "$0")/messages.py"
