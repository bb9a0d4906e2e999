// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latencies in buckets whose width grows with what is in them.
 *
 * Below 128 ns each nanosecond has a bucket; above, each power of two has 128 of one width.  So a
 * percentile is known to less than 1 %, with as much memory as is known before the first request.
 * Least, most and sum are exact.
 */
#include "hist.h"

/**
 * rtrs_perf_hist_index() - which bucket is it
 * @ns: latency in nanoseconds; RTRS_PERF_HIST_MAX_NS if it is more
 *
 * Context: any.
 * Return: less than RTRS_PERF_HIST_BUCKETS.
 */
u32 rtrs_perf_hist_index(u64 ns)
{
	u32 shift;

	ns = min_t(u64, ns, RTRS_PERF_HIST_MAX_NS);
	if (ns < RTRS_PERF_HIST_SUB)
		return ns;
	shift = ilog2(ns) - RTRS_PERF_HIST_SUB_BITS;
	return shift * RTRS_PERF_HIST_SUB + (u32)(ns >> shift);
}

/**
 * rtrs_perf_hist_from() - where a bucket begins
 * @index: the bucket; RTRS_PERF_HIST_BUCKETS: where the last one ends
 *
 * Context: any.
 * Return: nanoseconds, the least that are in it.
 */
u64 rtrs_perf_hist_from(u32 index)
{
	u32 shift;

	if (index < RTRS_PERF_HIST_SUB)
		return index;
	shift = index / RTRS_PERF_HIST_SUB - 1;
	return (u64)(RTRS_PERF_HIST_SUB + index % RTRS_PERF_HIST_SUB) << shift;
}

/**
 * rtrs_perf_hist_add() - count a latency
 * @hist: histogram, the caller's alone
 * @ns: nanoseconds
 *
 * Context: any.
 */
void rtrs_perf_hist_add(struct rtrs_perf_hist *hist, u64 ns)
{
	if (!hist->nr || ns < hist->min_ns)
		hist->min_ns = ns;
	hist->max_ns = max(hist->max_ns, ns);
	hist->sum_ns += ns;
	hist->count[rtrs_perf_hist_index(ns)]++;
	hist->nr++;
}

/**
 * rtrs_perf_hist_merge() - count those of another histogram too
 * @hist: histogram
 * @more: the other one
 *
 * Context: any.
 */
void rtrs_perf_hist_merge(struct rtrs_perf_hist *hist, const struct rtrs_perf_hist *more)
{
	u32 i;

	if (!more->nr)
		return;
	hist->min_ns = hist->nr ? min(hist->min_ns, more->min_ns) : more->min_ns;
	hist->max_ns = max(hist->max_ns, more->max_ns);
	hist->sum_ns += more->sum_ns;
	hist->nr += more->nr;
	for (i = 0; i < RTRS_PERF_HIST_BUCKETS; i++)
		hist->count[i] += more->count[i];
}
