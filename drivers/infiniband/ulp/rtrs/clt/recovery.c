// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting what happens when paths are lost.  It is rare: each thing is counted for the path and for its
 * session, which outlives it.
 */
#include <linux/bitops.h>

#include "clt.h"

/**
 * rtrs_clt_recovery_init() - begin to count
 * @rec: the counters, zero
 *
 * Context: any.
 */
void rtrs_clt_recovery_init(struct rtrs_clt_recovery *rec)
{
	spin_lock_init(&rec->lock);
}

/**
 * rtrs_clt_count() - count something for a path and its session
 * @path: the path
 * @what: the thing
 *
 * Context: any.
 */
void rtrs_clt_count(struct rtrs_clt_path *path, enum rtrs_clt_count what)
{
	atomic_inc(&path->recovery.cnt[what]);
	atomic_inc(&path->sess->recovery.cnt[what]);
}

/**
 * rtrs_clt_loss_of() - why a path was lost
 * @error: its error, 0 if it had none
 *
 * Context: any.
 * Return: the cause.
 */
enum rtrs_clt_loss rtrs_clt_loss_of(int error)
{
	switch (error) {
	case 0:
	case -ECANCELED:
		return RTRS_CLT_LOSS_ON_REQUEST;
	case -ECONNRESET:
		return RTRS_CLT_LOSS_BY_SERVER;
	case -ECONNABORTED:
		return RTRS_CLT_LOSS_QUEUE_PAIR;
	case -ETIMEDOUT:
		return RTRS_CLT_LOSS_NO_ANSWER;
	case -EHOSTUNREACH:
		return RTRS_CLT_LOSS_UNREACHABLE;
	case -ENETDOWN:
		return RTRS_CLT_LOSS_NO_CARRIER;
	case -ENODEV:
		return RTRS_CLT_LOSS_DEVICE_REMOVED;
	case -EPROTO:
		return RTRS_CLT_LOSS_PROTOCOL;
	default:
		return RTRS_CLT_LOSS_DEVICE;
	}
}

/**
 * rtrs_clt_count_loss() - count the loss of a path, for it and its session
 * @path: the path
 * @loss: why
 *
 * Context: any.
 */
void rtrs_clt_count_loss(struct rtrs_clt_path *path, enum rtrs_clt_loss loss)
{
	atomic_inc(&path->recovery.losses[loss]);
	atomic_inc(&path->sess->recovery.losses[loss]);
}

/**
 * rtrs_clt_count_io_error() - count a request that failed, for its path and session
 * @path: the path it was on
 * @cause: why
 *
 * Context: any.
 */
void rtrs_clt_count_io_error(struct rtrs_clt_path *path, enum rtrs_clt_io_error cause)
{
	atomic_inc(&path->recovery.io_errors[cause]);
	atomic_inc(&path->sess->recovery.io_errors[cause]);
}

static void rtrs_clt_add_gap(struct rtrs_clt_recovery *rec, unsigned int gap_ms)
{
	spin_lock_irq(&rec->lock);
	rec->gap_last_ms = gap_ms;
	rec->gap_max_ms = max(rec->gap_max_ms, gap_ms);
	rec->gap_hist[min(fls(gap_ms), RTRS_CLT_GAP_BUCKETS - 1)]++;
	spin_unlock_irq(&rec->lock);
}

/**
 * rtrs_clt_count_failover() - count a failover for a path and its session
 * @path: the path that was lost
 * @gap_ms: for how long the oldest of its requests had been waiting when it was sent again
 *
 * Context: process.
 */
void rtrs_clt_count_failover(struct rtrs_clt_path *path, unsigned int gap_ms)
{
	rtrs_clt_count(path, RTRS_CLT_FAILED_OVER);
	rtrs_clt_add_gap(&path->recovery, gap_ms);
	rtrs_clt_add_gap(&path->sess->recovery, gap_ms);
}
