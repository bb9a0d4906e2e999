#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fio-verify.sh with requests of up to 508 KiB. On a device in software these alone
# are registered by the client and their chunks' keys renewed by the server.
#
# vm: smp=1 timeout=240

FIO_VERIFY_RUNS="Y2 N1"
FIO_VERIFY_CHUNK=524288
. "$(dirname "$0")/fio-verify.sh"
