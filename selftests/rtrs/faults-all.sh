#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# faults.sh with the points of all modules.
#
# vm: smp=1 timeout=1500

FAULT_MODULES="rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server"
FAULT_POINTS=61
. "$(dirname "$0")/faults.sh"
