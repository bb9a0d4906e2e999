#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fio-verify.sh with every number of paths in both modes, and more data.
#
# vm: smp=1,2,8 timeout=1200

FIO_VERIFY_RUNS="Y1 Y2 Y4 N1 N2 N4"
FIO_VERIFY_MB=64
. "$(dirname "$0")/fio-verify.sh"
