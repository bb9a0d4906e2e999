#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink family: its specification, its header, its policy, and the tool's names of events.

exec python3 "$(dirname "$0")/netlink.py"
