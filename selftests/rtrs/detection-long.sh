#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# detection.sh with 20 rounds of each, held to what is promised.
#
# vm: smp=2 timeout=1800 tier=all

DETECTION_ROUNDS=20
DETECTION_ROOM=1
. "$(dirname "$0")/detection.sh"
