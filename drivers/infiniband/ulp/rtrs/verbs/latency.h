/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of times, one for each CPU, and their sum as sysfs shows it. */
#ifndef _RTRS_VERBS_LATENCY_H
#define _RTRS_VERBS_LATENCY_H

#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include "../proto/latency.h"

/**
 * struct rtrs_lat_hist - times, sorted by length
 * @sum_ns: their sum in nanoseconds
 * @nr: how many there are in each bucket, see rtrs_lat_bucket()
 */
struct rtrs_lat_hist {
	u64 sum_ns;
	u64 nr[RTRS_LAT_BUCKETS];
};

/**
 * rtrs_lat_now() - a moment, to be compared with others
 *
 * The cheapest clock there is with this resolution.  CPUs whose counters are not in step may differ by what
 * the scheduler puts up with.
 *
 * Context: any.
 * Return: nanoseconds since some time, never 0.
 */
static inline u64 rtrs_lat_now(void)
{
	return local_clock() | 1;
}

/**
 * rtrs_lat_between() - the time between two moments
 * @from: the earlier one
 * @to: the later one
 *
 * Context: any.
 * Return: nanoseconds; 0 if the clocks of two CPUs say that it was the other way round.
 */
static inline u64 rtrs_lat_between(u64 from, u64 to)
{
	return likely(to > from) ? to - from : 0;
}

/**
 * rtrs_lat_add() - count a time
 * @hist: histograms of all CPUs
 * @ns: the time in nanoseconds
 *
 * Context: any.
 */
static inline void rtrs_lat_add(struct rtrs_lat_hist __percpu *hist, u64 ns)
{
	this_cpu_add(hist->sum_ns, ns);
	this_cpu_inc(hist->nr[rtrs_lat_bucket(ns)]);
}

void rtrs_lat_sum(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist __percpu *hist);
void rtrs_lat_plus(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist *hist);
void rtrs_lat_minus(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist *hist);
ssize_t rtrs_lat_emit(char *buf, ssize_t len, enum rtrs_lat_part part,
		      const struct rtrs_lat_hist *hist);
void rtrs_lat_show_head(struct seq_file *seq);
void rtrs_lat_show(struct seq_file *seq, int dir, enum rtrs_lat_part part,
		   const struct rtrs_lat_hist *hist);

#endif /* _RTRS_VERBS_LATENCY_H */
