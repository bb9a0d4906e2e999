// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delay before the next connection attempt of a path.
 *
 * The delay doubles with each failure up to what the user allows.  Half of it is random, so that the
 * paths of many clients do not come back to a restarted server at the same moment.
 */
#include "backoff.h"

/**
 * rtrs_backoff_ms() - delay before the next attempt
 * @failures: failed attempts in a row so far; 0 when the path was just lost
 * @max_ms: longest delay; 0 means no delay at all
 * @random: a random word, all bits of it
 *
 * Protocol section 9 leaves the delay to the client.
 *
 * Context: any.
 * Return: milliseconds, evenly spread from half of to the full RTRS_BACKOFF_FIRST_MS * 2^@failures or
 * @max_ms, whichever is less.  Not 0 unless @max_ms is.
 */
u32 rtrs_backoff_ms(u32 failures, u32 max_ms, u32 random)
{
	u64 wanted = (u64)RTRS_BACKOFF_FIRST_MS << min_t(u32, failures, 32);
	u32 full = min_t(u64, wanted, max_ms);
	u32 half = full / 2;

	return full - half + (u32)(((u64)random * (half + 1)) >> 32);
}
EXPORT_SYMBOL_GPL(rtrs_backoff_ms);
