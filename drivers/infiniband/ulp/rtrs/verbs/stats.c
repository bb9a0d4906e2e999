// SPDX-License-Identifier: GPL-2.0-only
/* Sum of per-CPU counters. */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/string.h>

#include "stats.h"

/**
 * rtrs_io_stats_sum() - add up the counters of all CPUs
 * @pcpu: the counters
 * @sum: result
 *
 * Context: any.  Counting goes on meanwhile; the sum is not a snapshot of one moment.
 */
void rtrs_io_stats_sum(const struct rtrs_io_stats __percpu *pcpu, struct rtrs_io_stats *sum)
{
	int cpu, dir;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct rtrs_io_stats *s = per_cpu_ptr(pcpu, cpu);

		for (dir = 0; dir < 2; dir++) {
			sum->cnt[dir] += s->cnt[dir];
			sum->bytes[dir] += s->bytes[dir];
		}
		sum->failover += s->failover;
		sum->from += s->from;
		sum->to += s->to;
	}
}
EXPORT_SYMBOL_GPL(rtrs_io_stats_sum);
