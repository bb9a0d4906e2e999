// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues with a choice of context.
 *
 * Ordering: the handlers of one CQ never run concurrently, for a queue has one poller at a time, who has its
 * flag.  Whoever does not get it goes away.  What a handler keeps per connection therefore needs no lock
 * against other handlers of the same connection.
 *
 * Operation: polling is the work of several work items by turns.  A handler wakes somebody up, and the
 * worker may be preempted for him when the item has returned but still counts as running; the workqueue
 * would have the same item, queued again by what he submits, wait for that worker.  Another one does
 * not wait.  They are three, for a write has two events: it was sent, and it was answered.
 */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/printk.h>
#include <linux/sched/clock.h>

#include "cq.h"
#include "fault.h"

#define RTRS_CQ_BUDGET		256
#define RTRS_CQ_F_POLLER	0
#define RTRS_CQ_F_EVENT		1
#define RTRS_CQ_BUSY_POLL_MAX	1000
#define RTRS_CQ_MISSES_MAX	8

/*
 * Two times may_block of a queue, and one if it is bound: rtrs_cq_create().  A workqueue runs so many works at a time and no more.
 * Handlers that wait for a disk must not keep others from running: those of heartbeats, of other sides,
 * and of the very disk, which may be a client's on this host.
 */
static struct {
	const char *name;
	unsigned int flags;
	int max_active;
	struct workqueue_struct *wq;
} rtrs_cq_wqs[] = {
	{ "rtrs-cq", WQ_UNBOUND },
	{ "rtrs-cq-bound" },
	{ "rtrs-cq-ulp", WQ_UNBOUND, WQ_MAX_ACTIVE },
	{ "rtrs-cq-ulp-bound", 0, WQ_MAX_ACTIVE },
};

static int rtrs_cq_process(struct rtrs_cq *rcq)
{
	int i, nr = ib_poll_cq(rcq->cq, RTRS_CQ_BATCH, rcq->wc);

	for (i = 0; i < nr; i++) {
		struct ib_wc *wc = &rcq->wc[i];

		wc->wr_cqe->done(rcq->cq, wc);
	}
	if (nr > 0 && rcq->round_done)
		rcq->round_done(rcq->round_arg);
	return nr;
}

static int rtrs_cq_busy_poll_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 0, &value) || value > RTRS_CQ_BUSY_POLL_MAX) {
		pr_err("parameter %s=%.*s of %s is not valid, allowed is 0 to %u\n", kp->name,
		       (int)strcspn(val, "\n"), val, module_name(kp->mod), RTRS_CQ_BUSY_POLL_MAX);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, value);
	return 0;
}

/* Of a module parameter, an unsigned int, that is given to queues as their @busy_poll_us. */
const struct kernel_param_ops rtrs_cq_busy_poll_ops = {
	.set = rtrs_cq_busy_poll_set,
	.get = param_get_uint,
};
EXPORT_SYMBOL_GPL(rtrs_cq_busy_poll_ops);

/*
 * Looks for another completion: one that is found here needs neither an interrupt nor a wake-up.  Nobody waits for
 * ever, nor when somebody else wants the processor; and where nothing comes in time, looking
 * gets rarer, down to once in 256 times.
 */
static noinline int rtrs_cq_busy_poll(struct rtrs_cq *rcq)
{
	u64 end;
	int nr;

	if (rcq->skip) {
		rcq->skip--;
		return 0;
	}
	end = local_clock() + rcq->busy_poll_us * NSEC_PER_USEC;
	do {
		nr = rtrs_cq_process(rcq);
		if (nr) {
			rcq->misses = 0;
			return nr;
		}
		cpu_relax();
	} while (!need_resched() && local_clock() < end);
	rcq->misses = min(rcq->misses + 1, RTRS_CQ_MISSES_MAX);
	rcq->skip = (1 << rcq->misses) - 1;
	return 0;
}

static bool rtrs_cq_become_poller(struct rtrs_cq *rcq)
{
	return !test_and_set_bit_lock(RTRS_CQ_F_POLLER, &rcq->flags);
}

/* Ask for an event, and be the poller no longer, unless there is more already.  Return: is there, and still we? */
static bool rtrs_cq_more(struct rtrs_cq *rcq)
{
	bool more;

	clear_bit_unlock(RTRS_CQ_F_POLLER, &rcq->flags);
	/* PAIRS: with rtrs_cq_completion(): either it finds no poller or we see its event. */
	smp_mb__after_atomic();
	more = ib_req_notify_cq(rcq->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
	if (unlikely(test_bit(RTRS_CQ_F_EVENT, &rcq->flags))) {
		clear_bit(RTRS_CQ_F_EVENT, &rcq->flags);
		more = true;
	}
	return more && rtrs_cq_become_poller(rcq);
}

/* The caller is the poller, which the work is from now on. */
static void rtrs_cq_next_turn(struct rtrs_cq *rcq)
{
	if (++rcq->turn == RTRS_CQ_TURNS)
		rcq->turn = 0;
	queue_work(rcq->wq, &rcq->turns[rcq->turn].work);
}

/* Does not touch the queue once it is not the poller any more.  One that cannot be polled keeps its poller. */
static void rtrs_cq_work(struct work_struct *work)
{
	struct rtrs_cq *rcq = container_of(work, struct rtrs_cq_turn, work)->rcq;
	int nr, total = 0;

	while (total < RTRS_CQ_BUDGET) {
		nr = rtrs_cq_process(rcq);
		total += nr;
		if (nr == RTRS_CQ_BATCH)
			continue;
		/* Only who was woken up for something. */
		if (nr >= 0 && rcq->busy_poll_us && total) {
			nr = rtrs_cq_busy_poll(rcq);
			total += nr;
			if (nr > 0)
				continue;
		}
		if (nr < 0 || !rtrs_cq_more(rcq))
			return;
	}
	rtrs_cq_next_turn(rcq);
}

/*
 * An event while somebody polls is kept: he may have polled for the last time, and the driver of an adapter that has
 * failed completes in software what ib_req_notify_cq() does not tell of.
 */
static void rtrs_cq_completion(struct ib_cq *cq, void *ctx)
{
	struct rtrs_cq *rcq = ctx;

	if (!rtrs_cq_become_poller(rcq)) {
		set_bit(RTRS_CQ_F_EVENT, &rcq->flags);
		/* PAIRS: with rtrs_cq_more(). */
		smp_mb__after_atomic();
		if (!rtrs_cq_become_poller(rcq))
			return;
	}
	rtrs_cq_next_turn(rcq);
}

static void rtrs_cq_event(struct ib_event *event, void *ctx)
{
	pr_err_ratelimited("device %s: completion queue event %s\n",
			   dev_name(&event->device->dev), ib_event_msg(event->event));
}

/**
 * rtrs_cq_create() - create a completion queue
 * @rcq: the object, zeroed or destroyed; its @busy_poll_us, @may_block, @round_done and @round_arg are the
 *	caller's to set
 * @dev: device
 * @entries: completions it must be able to hold
 * @vector: completion vector, taken modulo what the device has
 * @ctx: where the handlers run
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; nothing is left behind on failure.
 */
int rtrs_cq_create(struct rtrs_cq *rcq, struct ib_device *dev, u32 entries, u32 vector,
		   enum rtrs_cq_ctx ctx)
{
	struct ib_cq_init_attr attr = {
		.cqe = entries,
		.comp_vector = vector % max_t(u32, dev->num_comp_vectors, 1),
	};
	struct ib_cq *cq;
	int i;

	if (fault_here(cq_create))
		return -ENOMEM;
	rcq->ctx = ctx;
	rcq->flags = 0;
	rcq->turn = 0;
	rcq->misses = 0;
	rcq->skip = 0;
	if (ctx == RTRS_CQ_DIRECT) {
		cq = ib_alloc_cq(dev, rcq, entries, attr.comp_vector, IB_POLL_DIRECT);
		if (IS_ERR(cq))
			return PTR_ERR(cq);
		rcq->cq = cq;
		return 0;
	}

	rcq->wq = rtrs_cq_wqs[2 * rcq->may_block + (ctx == RTRS_CQ_BOUND)].wq;
	for (i = 0; i < RTRS_CQ_TURNS; i++) {
		rcq->turns[i].rcq = rcq;
		INIT_WORK(&rcq->turns[i].work, rtrs_cq_work);
	}
	cq = ib_create_cq(dev, rtrs_cq_completion, rtrs_cq_event, rcq, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	rcq->cq = cq;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

/**
 * rtrs_cq_destroy() - destroy a completion queue
 * @rcq: the object; nothing happens if it has no queue
 *
 * The queue pair that used it must be drained and destroyed already.
 *
 * Context: process, may sleep; not from a handler of this queue.
 */
void rtrs_cq_destroy(struct rtrs_cq *rcq)
{
	int i;

	if (!rcq->cq)
		return;
	if (rcq->ctx == RTRS_CQ_DIRECT) {
		ib_free_cq(rcq->cq);
	} else {
		/*
		 * No QP is left to raise a completion.  The work that handles the last one may still queue the
		 * next, which finds nothing and queues none.
		 */
		for (i = 0; i <= RTRS_CQ_TURNS; i++)
			cancel_work_sync(&rcq->turns[i % RTRS_CQ_TURNS].work);
		ib_destroy_cq(rcq->cq);
	}
	rcq->cq = NULL;
}

/**
 * rtrs_cq_poll() - run the handlers of what has completed
 * @rcq: a RTRS_CQ_DIRECT queue
 *
 * Context: any in which the handlers may run.  A second caller at the same time gets 0.
 * Return: number of completions handled.
 */
int rtrs_cq_poll(struct rtrs_cq *rcq)
{
	int nr;

	if (!rtrs_cq_become_poller(rcq))
		return 0;
	nr = ib_process_cq_direct(rcq->cq, RTRS_CQ_BATCH);
	clear_bit_unlock(RTRS_CQ_F_POLLER, &rcq->flags);
	return nr;
}
EXPORT_SYMBOL_GPL(rtrs_cq_poll);

/**
 * rtrs_cq_init() - create what all completion queues share
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rtrs_cq_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rtrs_cq_wqs); i++) {
		/* Writeback waits for what runs here. */
		rtrs_cq_wqs[i].wq = alloc_workqueue("%s", rtrs_cq_wqs[i].flags | WQ_MEM_RECLAIM,
						    rtrs_cq_wqs[i].max_active, rtrs_cq_wqs[i].name);
		if (!rtrs_cq_wqs[i].wq) {
			rtrs_cq_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * rtrs_cq_exit() - undo rtrs_cq_init(), whole or in part
 *
 * Context: module exit; all queues are destroyed.
 */
void rtrs_cq_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rtrs_cq_wqs) && rtrs_cq_wqs[i].wq; i++)
		destroy_workqueue(rtrs_cq_wqs[i].wq);
}
