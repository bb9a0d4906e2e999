/* SPDX-License-Identifier: GPL-2.0-only */
/* What losing paths has cost: counted for each path, and for its session. */
#ifndef _RTRS_CLT_RECOVERY_H
#define _RTRS_CLT_RECOVERY_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct rtrs_clt_path;

/**
 * enum rtrs_clt_count - things that are counted
 * @RTRS_CLT_RECONNECTED: connected again after the path was lost
 * @RTRS_CLT_RECONNECT_FAILED: attempts to, that failed
 * @RTRS_CLT_TIMED_OUT: given up because a request got no answer
 * @RTRS_CLT_FENCED: lost with requests, and the server has closed its end
 * @RTRS_CLT_FENCE_LEFT: lost with requests, and no path was left to ask the server over
 * @RTRS_CLT_FAILED_OVER: lost with requests that went to other paths
 * @RTRS_CLT_COUNTS: number of these
 */
enum rtrs_clt_count {
	RTRS_CLT_RECONNECTED,
	RTRS_CLT_RECONNECT_FAILED,
	RTRS_CLT_TIMED_OUT,
	RTRS_CLT_FENCED,
	RTRS_CLT_FENCE_LEFT,
	RTRS_CLT_FAILED_OVER,
	RTRS_CLT_COUNTS
};

/* Gaps of less than 1, 2, 4 ... 32768 ms, and longer ones. */
#define RTRS_CLT_GAP_BUCKETS	17

/**
 * struct rtrs_clt_recovery - counters of a path or session
 * @cnt: index enum rtrs_clt_count
 * @lock: guards the gaps
 * @gap_last_ms: gap of the last failover
 * @gap_max_ms: the longest
 * @gap_hist: how many of each length
 */
struct rtrs_clt_recovery {
	atomic_t cnt[RTRS_CLT_COUNTS];
	spinlock_t lock;
	unsigned int gap_last_ms;
	unsigned int gap_max_ms;
	unsigned int gap_hist[RTRS_CLT_GAP_BUCKETS];
};

void rtrs_clt_recovery_init(struct rtrs_clt_recovery *rec);
void rtrs_clt_count(struct rtrs_clt_path *path, enum rtrs_clt_count what);
void rtrs_clt_count_failover(struct rtrs_clt_path *path, unsigned int gap_ms);

#endif /* _RTRS_CLT_RECOVERY_H */
