/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion queues with a choice of context.
 *
 * ib_core's own workqueue contexts are WQ_HIGHPRI.  A plain unbound queue lets our handlers run in the
 * worker that rdma_rxe already occupies, which saves the context switches of a hand-over.
 */
#ifndef _RTRS_CQ_H
#define _RTRS_CQ_H

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#define RTRS_CQ_BATCH	16
#define RTRS_CQ_TURNS	3

/**
 * enum rtrs_cq_ctx - where completion handlers run
 * @RTRS_CQ_UNBOUND: process context, work item on an unbound workqueue; one at a time per CQ
 * @RTRS_CQ_BOUND: the same on a workqueue whose workers stay on the CPU that takes the interrupt
 * @RTRS_CQ_DIRECT: in rtrs_cq_poll(), called by whoever waits; one at a time per CQ
 */
enum rtrs_cq_ctx {
	RTRS_CQ_UNBOUND,
	RTRS_CQ_BOUND,
	RTRS_CQ_DIRECT,
};

struct rtrs_cq;

/**
 * struct rtrs_cq_turn - one of the works that poll a completion queue by turns
 * @work: poll work
 * @rcq: the queue
 */
struct rtrs_cq_turn {
	struct work_struct work;
	struct rtrs_cq *rcq;
};

/**
 * struct rtrs_cq - a completion queue
 * @cq: the verbs object, NULL before create and after destroy
 * @ctx: where handlers run; fixed at create
 * @state: enum rtrs_cq_state: has the queue a poller, that is, is somebody in rtrs_cq_poll(), or is a work queued or polls
 * @may_block: handlers may wait for a user of the transport, and that one for other completion queues
 * @wq: where the works run; not with RTRS_CQ_DIRECT, as the next two
 * @turns: poll works
 * @again: the poll work after a poll that failed
 * @turn: the one that was queued last; the poller's, or of who is about to queue one
 * @wc: completions of one poll batch; the poller's
 * @busy_poll_us: microseconds for which the work looks for another completion before it ends; not with
 *	RTRS_CQ_DIRECT
 * @misses: how often in succession it looked in vain, up to RTRS_CQ_MISSES_MAX; the work's, as the next one
 * @skip: so many times more it does not look
 * @round_done: called after the handlers of a poll batch, NULL if nobody cares; not with RTRS_CQ_DIRECT
 * @round_arg: what it is called with
 */
struct rtrs_cq {
	struct ib_cq *cq;
	enum rtrs_cq_ctx ctx;
	atomic_t state;
	bool may_block;
	struct workqueue_struct *wq;
	struct rtrs_cq_turn turns[RTRS_CQ_TURNS];
	struct delayed_work again;
	unsigned int turn;
	struct ib_wc wc[RTRS_CQ_BATCH];
	unsigned int busy_poll_us;
	unsigned int misses;
	unsigned int skip;
	void (*round_done)(void *arg);
	void *round_arg;
};

extern const struct kernel_param_ops rtrs_cq_busy_poll_ops;

int rtrs_cq_create(struct rtrs_cq *rcq, struct ib_device *dev, u32 entries, u32 vector,
		   enum rtrs_cq_ctx ctx);
void rtrs_cq_destroy(struct rtrs_cq *rcq);
int rtrs_cq_poll(struct rtrs_cq *rcq);

int rtrs_cq_init(void);
void rtrs_cq_exit(void);

#endif /* _RTRS_CQ_H */
