/* SPDX-License-Identifier: GPL-2.0-only */
/* Latencies, sorted into buckets. */
#ifndef _RTRS_PERF_HIST_H
#define _RTRS_PERF_HIST_H

#include "proto_env.h"

/* Buckets for each power of two: none is wider than a 128th of what it begins with, 0.8 %. */
#define RTRS_PERF_HIST_SUB_BITS	7
#define RTRS_PERF_HIST_SUB	(1u << RTRS_PERF_HIST_SUB_BITS)

/* 18 minutes; what takes longer counts as this. */
#define RTRS_PERF_HIST_NS_BITS	40
#define RTRS_PERF_HIST_MAX_NS	((1ULL << RTRS_PERF_HIST_NS_BITS) - 1)

#define RTRS_PERF_HIST_BUCKETS	\
	((RTRS_PERF_HIST_NS_BITS - RTRS_PERF_HIST_SUB_BITS + 1) * RTRS_PERF_HIST_SUB)

/**
 * struct rtrs_perf_hist - latencies; all zero if there are none
 * @nr: how many
 * @min_ns: the shortest, in nanoseconds
 * @max_ns: the longest
 * @sum_ns: all together
 * @count: how many are in each bucket, by rtrs_perf_hist_index()
 */
struct rtrs_perf_hist {
	u64 nr;
	u64 min_ns;
	u64 max_ns;
	u64 sum_ns;
	u64 count[RTRS_PERF_HIST_BUCKETS];
};

u32 rtrs_perf_hist_index(u64 ns);
u64 rtrs_perf_hist_from(u32 index);
void rtrs_perf_hist_add(struct rtrs_perf_hist *hist, u64 ns);
void rtrs_perf_hist_merge(struct rtrs_perf_hist *hist, const struct rtrs_perf_hist *more);

#endif /* _RTRS_PERF_HIST_H */
