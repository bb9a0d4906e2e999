/* SPDX-License-Identifier: GPL-2.0-only */
/* Delay before the next connection attempt of a path. */
#ifndef _RTRS_BACKOFF_H
#define _RTRS_BACKOFF_H

#include "proto_env.h"

#define RTRS_BACKOFF_FIRST_MS	50

/* A path that did its work for so long was useful; what happened before does not delay its next attempt. */
#define RTRS_USEFUL_MS		5000

/* So many losses of such a path in a row cost nothing: a cable that is plugged again is no path that flaps. */
#define RTRS_FLAPS_FREE		8U

#define RTRS_PATIENCE_PART	32
#define RTRS_PATIENCE_LEAST_MS	100

u32 rtrs_patience_ms(u32 unanswered, u32 max_ms);
u32 rtrs_backoff_flaps(u32 flaps, u32 useful_ms);
u32 rtrs_backoff_flap_failures(u32 flaps);
u32 rtrs_backoff_ms(u32 failures, u32 max_ms, u32 random);

#endif /* _RTRS_BACKOFF_H */
