/* SPDX-License-Identifier: GPL-2.0-only */
/* Wire status <-> errno: 9 bits of absolute errno travel (protocol section 3). */
#ifndef _RTRS_STATUS_H
#define _RTRS_STATUS_H

#include "proto_env.h"
#include <rtrs/rtrs_format.h>

#define RTRS_STATUS_MASK	((1U << RTRS_IMM_RSP_ERRNO_BITS) - 1)

u32 rtrs_status_error_to_wire(int err);

/**
 * rtrs_status_to_wire() - result of a request as it travels
 * @err: 0 or negative errno
 *
 * Protocol section 3, see rtrs_status_error_to_wire().
 *
 * Context: any.
 * Return: 0 .. 511.
 */
static inline u32 rtrs_status_to_wire(int err)
{
	return err ? rtrs_status_error_to_wire(err) : 0;
}

/**
 * rtrs_status_from_wire() - result of a request that came in
 * @status: the status; bits above the 9 that travel are ignored
 *
 * Protocol section 3.
 *
 * Context: any.
 * Return: 0 or negative errno, not below -511.
 */
static inline int rtrs_status_from_wire(u32 status)
{
	return -(int)(status & RTRS_STATUS_MASK);
}

#endif /* _RTRS_STATUS_H */
