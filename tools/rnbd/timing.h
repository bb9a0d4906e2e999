/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How soon a session notices that a path is lost: the values of map_device, which are files of the
 * session too. Names and ranges are the kernel's.
 */
#ifndef RNBD_TIMING_H
#define RNBD_TIMING_H

#include <stdint.h>

typedef uint32_t u32;
#include "../../include/rtrs/rtrs_timing.h"

#define TIMING_NUMBER(name, min, max, otherwise)	TIMING_##name,
enum timing {
	RTRS_CLT_TIMINGS(TIMING_NUMBER)
	NR_TIMINGS
};

struct timing_range {
	const char *name;
	long min, max;
};

extern const struct timing_range timings[NR_TIMINGS];

#endif
