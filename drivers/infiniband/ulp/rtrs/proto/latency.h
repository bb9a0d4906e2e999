/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of a request goes: its parts, and how they are sorted by length. */
#ifndef _RTRS_LATENCY_H
#define _RTRS_LATENCY_H

#include "proto_env.h"

/* Less than 1, 2, 4 ... 2^26 us, and longer. */
#define RTRS_LAT_BUCKETS	28

/**
 * enum rtrs_lat_part - parts of a request's time
 * @RTRS_LAT_TOTAL: from its submission by the ULP to its completion
 * @RTRS_LAT_CLIENT: of these, until it was posted to a queue pair
 * @RTRS_LAT_WIRE: neither in the client nor in the server
 * @RTRS_LAT_SERVER: from its arrival at the server until the server's ULP was given it
 * @RTRS_LAT_DEVICE: until that ULP answered
 * @RTRS_LAT_PARTS: number of these
 */
enum rtrs_lat_part {
	RTRS_LAT_TOTAL,
	RTRS_LAT_CLIENT,
	RTRS_LAT_WIRE,
	RTRS_LAT_SERVER,
	RTRS_LAT_DEVICE,
	RTRS_LAT_PARTS
};

/**
 * rtrs_lat_bucket() - where a time belongs in a histogram
 * @ns: the time in nanoseconds
 *
 * Context: any.
 * Return: bucket 0 for less than 1 us; n for less than 2^n us, and not in the one before; the last for all
 * that is longer.
 */
static inline unsigned int rtrs_lat_bucket(u64 ns)
{
	return min(fls64(div_u64(ns, 1000)), RTRS_LAT_BUCKETS - 1);
}

void rtrs_lat_split(u64 part_ns[RTRS_LAT_PARTS]);
u64 rtrs_lat_below_us(const u64 nr[RTRS_LAT_BUCKETS], unsigned int per_mille);

#endif /* _RTRS_LATENCY_H */
