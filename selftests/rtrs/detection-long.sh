#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# detection.sh with 20 rounds of each.
#
# vm: smp=1 timeout=1800

DETECTION_ROUNDS=20
. "$(dirname "$0")/detection.sh"
