#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file in sysfs and debugfs, module parameter and word of a control file is in
# Documentation/ABI/testing, with its access, unit, range and default, and nothing
# else is there; tables and paths of the other pages agree with it.

exec python3 -B "$(dirname "$0")/attributes.py"
