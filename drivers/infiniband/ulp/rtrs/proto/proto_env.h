/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything the pure layer may use of the kernel.  The user-space unit tests put a directory with
 * small stand-ins for these few headers on the include path, so nothing may be added here that has
 * no simple counterpart there.
 */
#ifndef _RTRS_PROTO_ENV_H
#define _RTRS_PROTO_ENV_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <rdma/ib.h>

#endif /* _RTRS_PROTO_ENV_H */
