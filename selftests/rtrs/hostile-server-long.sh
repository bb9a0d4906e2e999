#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hostile-server.sh with 100000 mutated messages, half of them in each mode.
#
# vm: smp=1 timeout=2400

HOSTILE_COUNT=50000
HOSTILE_CONNS=20
. "$(dirname "$0")/hostile-server.sh"
