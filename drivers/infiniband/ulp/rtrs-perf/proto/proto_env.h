/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything the pure layer may use of the kernel.  The user-space unit tests put a directory with
 * small stand-ins for these few headers on the include path, so nothing may be added here that has
 * no simple counterpart there.
 */
#ifndef _RTRS_PERF_PROTO_ENV_H
#define _RTRS_PERF_PROTO_ENV_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#endif /* _RTRS_PERF_PROTO_ENV_H */
