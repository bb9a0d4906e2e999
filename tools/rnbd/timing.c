// SPDX-License-Identifier: GPL-2.0-only
#include "timing.h"

#define TIMING_RANGE(name, min, max, otherwise)	{ #name, min, max },

const struct timing_range timings[NR_TIMINGS] = {
	RTRS_CLT_TIMINGS(TIMING_RANGE)
};
