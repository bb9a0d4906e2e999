// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of many failures in a row are written to the kernel log.
 *
 * A network that is half broken can make a path fail several times a second, for days.  The first failure of a series is
 * logged at once, and so is one whose reason is new.  The others are counted; once in RTRS_QUIET_MS there is a line with
 * their number.
 */
#include "quiet.h"

/**
 * rtrs_quiet_is_new() - note a reason that is about to be logged
 * @quiet: the series
 * @reason: identifies the reason
 *
 * Context: any; one at a time.
 * Return: true if it may be logged: it is new in this series, and there were fewer than RTRS_QUIET_REASONS.
 */
bool rtrs_quiet_is_new(struct rtrs_quiet *quiet, u32 reason)
{
	u32 i;

	for (i = 0; i < quiet->nr_reasons; i++)
		if (quiet->reason[i] == reason)
			return false;
	if (quiet->nr_reasons == RTRS_QUIET_REASONS)
		return false;
	quiet->reason[quiet->nr_reasons++] = reason;
	return true;
}
EXPORT_SYMBOL_GPL(rtrs_quiet_is_new);

/**
 * rtrs_quiet_failed() - count a failure
 * @quiet: the series
 * @reason: identifies the reason of the failure
 * @now_ms: the time, in milliseconds since any moment
 *
 * Context: any; one at a time.
 * Return: what to log.
 */
enum rtrs_quiet_verdict rtrs_quiet_failed(struct rtrs_quiet *quiet, u32 reason, u64 now_ms)
{
	if (!quiet->failures)
		quiet->began_ms = now_ms;
	if (quiet->failures < U32_MAX)
		quiet->failures++;
	if (rtrs_quiet_is_new(quiet, reason)) {
		quiet->logged_ms = now_ms;
		return RTRS_QUIET_DETAIL;
	}
	if (quiet->failures > 1 && now_ms - quiet->logged_ms < RTRS_QUIET_MS)
		return RTRS_QUIET_SILENT;
	quiet->logged_ms = now_ms;
	return RTRS_QUIET_SUMMARY;
}
EXPORT_SYMBOL_GPL(rtrs_quiet_failed);
