// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long to wait for the answer to a connection attempt, and how long before the next one.
 *
 * A connection request that the network swallows is repeated by the CM after 4 s only, so a path whose
 * link is back would be long in coming if each attempt were given all the time it may take.  The first
 * ones after a loss are short and follow each other closely; they grow by an eighth each, and so does the
 * time until the path is back, to no more than about a sixth of what it was gone.  A server that is slow,
 * or a thousand clients that want it at once, get the time they need after a few of them.
 *
 * The delay doubles with each failure up to what the user allows.  Half of it is random, so that the
 * paths of many clients do not come back to a restarted server at the same moment.
 *
 * A path that connects and is lost again at once, because the network carries small messages and drops large ones for
 * example, would never have a failed attempt.  So a loss counts like a failed attempt, unless the path was useful
 * before: for RTRS_USEFUL_MS it answered what it was asked.  The first RTRS_FLAPS_FREE in a row do not count.
 */
#include "backoff.h"

/**
 * rtrs_patience_ms() - how long to wait for the server's first answer
 * @unanswered: attempts that nobody answered since the path was up
 * @max_ms: longest time
 *
 * Context: any.
 * Return: milliseconds: a part of @max_ms, one in RTRS_PATIENCE_PART but RTRS_PATIENCE_LEAST_MS at least, and an
 * eighth more for each of @unanswered, at most @max_ms.
 */
u32 rtrs_patience_ms(u32 unanswered, u32 max_ms)
{
	u64 ms = max_t(u32, max_ms / RTRS_PATIENCE_PART, RTRS_PATIENCE_LEAST_MS);

	while (unanswered-- && ms < max_ms)
		ms += ms / 8;
	return min_t(u64, ms, max_ms);
}
EXPORT_SYMBOL_GPL(rtrs_patience_ms);

/**
 * rtrs_backoff_flaps() - count the losses of a path that was not useful
 * @flaps: how many there were in a row, before this one
 * @useful_ms: milliseconds from connecting until the path was lost, or until the oldest request was sent that it had
 *	not answered by then
 *
 * Context: any.
 * Return: how many there are in a row with this one, 0 if the path was useful.
 */
u32 rtrs_backoff_flaps(u32 flaps, u32 useful_ms)
{
	if (useful_ms >= RTRS_USEFUL_MS)
		return 0;
	return flaps < U32_MAX ? flaps + 1 : flaps;
}
EXPORT_SYMBOL_GPL(rtrs_backoff_flaps);

/**
 * rtrs_backoff_flap_failures() - failed attempts that losses of a path that was not useful count for
 * @flaps: how many losses there are in a row
 *
 * Context: any.
 * Return: the number.
 */
u32 rtrs_backoff_flap_failures(u32 flaps)
{
	return flaps > RTRS_FLAPS_FREE ? flaps - RTRS_FLAPS_FREE : 0;
}
EXPORT_SYMBOL_GPL(rtrs_backoff_flap_failures);

/**
 * rtrs_backoff_ms() - delay before the next attempt
 * @failures: failed attempts in a row so far, or rtrs_backoff_flap_failures(), whichever are more; 0 when a useful
 *	path was just lost
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
