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
 * @RTRS_CLT_TIMED_OUT: given up for a request: the server did not tell what became of it, or it took longer than it may
 * @RTRS_CLT_OVERDUE: times that a request was overdue
 * @RTRS_CLT_ANSWER_LOST: requests sent again because the server had none and no answer came
 * @RTRS_CLT_FENCED: lost with requests, and the server has closed its end
 * @RTRS_CLT_FENCE_LEFT: lost with requests, and no path was left to ask the server over
 * @RTRS_CLT_FAILED_OVER: lost with requests that went to other paths
 * @RTRS_CLT_COUNTS: number of these
 */
enum rtrs_clt_count {
	RTRS_CLT_RECONNECTED,
	RTRS_CLT_RECONNECT_FAILED,
	RTRS_CLT_TIMED_OUT,
	RTRS_CLT_OVERDUE,
	RTRS_CLT_ANSWER_LOST,
	RTRS_CLT_FENCED,
	RTRS_CLT_FENCE_LEFT,
	RTRS_CLT_FAILED_OVER,
	RTRS_CLT_COUNTS
};

/**
 * enum rtrs_clt_loss - why a path that was up was lost
 * @RTRS_CLT_LOSS_ON_REQUEST: somebody wanted it
 * @RTRS_CLT_LOSS_BY_SERVER: closed by the server, or by the device without a reason
 * @RTRS_CLT_LOSS_QUEUE_PAIR: the device broke a queue pair
 * @RTRS_CLT_LOSS_NO_ANSWER: the server, or its adapter, did not answer
 * @RTRS_CLT_LOSS_UNREACHABLE: no way to the server
 * @RTRS_CLT_LOSS_NO_CARRIER: the client's link went down
 * @RTRS_CLT_LOSS_DEVICE_REMOVED: the client's device went away
 * @RTRS_CLT_LOSS_PROTOCOL: the server broke the protocol
 * @RTRS_CLT_LOSS_DEVICE: another error of the device
 * @RTRS_CLT_LOSSES: number of these
 */
enum rtrs_clt_loss {
	RTRS_CLT_LOSS_ON_REQUEST,
	RTRS_CLT_LOSS_BY_SERVER,
	RTRS_CLT_LOSS_QUEUE_PAIR,
	RTRS_CLT_LOSS_NO_ANSWER,
	RTRS_CLT_LOSS_UNREACHABLE,
	RTRS_CLT_LOSS_NO_CARRIER,
	RTRS_CLT_LOSS_DEVICE_REMOVED,
	RTRS_CLT_LOSS_PROTOCOL,
	RTRS_CLT_LOSS_DEVICE,
	RTRS_CLT_LOSSES
};

/**
 * enum rtrs_clt_io_error - why a request failed
 * @RTRS_CLT_IO_ERROR_SERVER: the server answered with an error
 * @RTRS_CLT_IO_ERROR_NO_PATH: no path was connected; or its path was lost, and no other took it
 * @RTRS_CLT_IO_ERROR_TIMEOUT: its path was lost for want of an answer, and no other took it; or it took longer
 *	than it may
 * @RTRS_CLT_IO_ERROR_ABORTED: its path, or the session, was closed on request, and no other took it
 * @RTRS_CLT_IO_ERRORS: number of these
 */
enum rtrs_clt_io_error {
	RTRS_CLT_IO_ERROR_SERVER,
	RTRS_CLT_IO_ERROR_NO_PATH,
	RTRS_CLT_IO_ERROR_TIMEOUT,
	RTRS_CLT_IO_ERROR_ABORTED,
	RTRS_CLT_IO_ERRORS
};

/* Gaps of less than 1, 2, 4 ... 32768 ms, and longer ones. */
#define RTRS_CLT_GAP_BUCKETS	17

/**
 * struct rtrs_clt_recovery - counters of a path or session
 * @cnt: index enum rtrs_clt_count
 * @losses: index enum rtrs_clt_loss
 * @io_errors: index enum rtrs_clt_io_error
 * @lock: guards the gaps
 * @gap_last_ms: gap of the last failover
 * @gap_max_ms: the longest
 * @gap_hist: how many of each length
 */
struct rtrs_clt_recovery {
	atomic_t cnt[RTRS_CLT_COUNTS];
	atomic_t losses[RTRS_CLT_LOSSES];
	atomic_t io_errors[RTRS_CLT_IO_ERRORS];
	spinlock_t lock;
	unsigned int gap_last_ms;
	unsigned int gap_max_ms;
	unsigned int gap_hist[RTRS_CLT_GAP_BUCKETS];
};

void rtrs_clt_recovery_init(struct rtrs_clt_recovery *rec);
void rtrs_clt_count(struct rtrs_clt_path *path, enum rtrs_clt_count what);
enum rtrs_clt_loss rtrs_clt_loss_of(int error);
void rtrs_clt_count_loss(struct rtrs_clt_path *path, enum rtrs_clt_loss loss);
void rtrs_clt_count_io_error(struct rtrs_clt_path *path, enum rtrs_clt_io_error cause);
void rtrs_clt_count_failover(struct rtrs_clt_path *path, unsigned int gap_ms);

#endif /* _RTRS_CLT_RECOVERY_H */
