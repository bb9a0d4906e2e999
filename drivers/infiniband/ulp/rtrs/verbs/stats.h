/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU counters of a path, as sysfs shows them (stats/rdma). */
#ifndef _RTRS_STATS_H
#define _RTRS_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct rtrs_io_stats - requests of one path on one CPU
 * @cnt: requests, index READ 0, WRITE 1
 * @bytes: their data and user message
 * @failover: requests taken over from another path
 * @from: requests completed on another CPU than the one they were sent from, counted where they started
 * @to: the same, counted where they completed
 */
struct rtrs_io_stats {
	u64 cnt[2];
	u64 bytes[2];
	u64 failover;
	u64 from;
	u64 to;
};

void rtrs_io_stats_sum(const struct rtrs_io_stats __percpu *pcpu, struct rtrs_io_stats *sum);

#endif /* _RTRS_STATS_H */
