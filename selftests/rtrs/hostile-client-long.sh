#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hostile-client.sh with 100000 mutated requests, half of them in each mode.
#
# vm: smp=1 timeout=2400

HOSTILE_COUNT=50000
HOSTILE_CONNS=1000
. "$(dirname "$0")/hostile-client.sh"
