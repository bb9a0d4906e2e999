#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ghost-writes.sh with more than 200 writes held back on a path, 96 that waited, and 96 that failed.
#
# vm: smp=1 timeout=900

GHOST_ROUNDS=13
GHOST_LOST_ROUNDS=3
GHOST_WAIT_ROUNDS=3
. "$(dirname "$0")/ghost-writes.sh"
