// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues with a choice of context.
 *
 * Ordering: the handlers of one CQ never run concurrently, for a queue has one poller at a time (proto/cq_poller.h).
 * Whoever is not the poller goes away.  What a handler keeps per connection therefore needs no lock
 * against other handlers of the same connection.
 *
 * Operation: polling is the work of several work items by turns.  A handler wakes somebody up, and the
 * worker may be preempted for him when the item has returned but still counts as running; the workqueue
 * would have the same item, queued again by what he submits, wait for that worker.  Another one does
 * not wait.  They are three, for a write has two events: it was sent, and it was answered.
 */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/delay.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

#include "../proto/cq_poller.h"
#include "cq.h"
#include "fault.h"

#define RTRS_CQ_BUDGET		256
#define RTRS_CQ_BUSY_POLL_MAX	1000
#define RTRS_CQ_MISSES_MAX	8
/* After so many jiffies a queue is polled again whose poll has failed. */
#define RTRS_CQ_POLL_AGAIN	max(HZ / 100, 1)

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
	{ "rtrs-cq-bound", WQ_PERCPU },
	{ "rtrs-cq-ulp", WQ_UNBOUND, WQ_MAX_ACTIVE },
	{ "rtrs-cq-ulp-bound", WQ_PERCPU, WQ_MAX_ACTIVE },
};

static int rtrs_cq_process(struct rtrs_cq *rcq)
{
	int i, nr = fault_here(cq_poll) ? -EIO : ib_poll_cq(rcq->cq, RTRS_CQ_BATCH, rcq->wc);

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
	return atomic_cmpxchg_acquire(&rcq->state, RTRS_CQ_IDLE, RTRS_CQ_POLLED) == RTRS_CQ_IDLE;
}

/* The poller has found the queue empty: ask for an event, and be the poller no longer unless there is more.  Return: is there? */
static bool rtrs_cq_more(struct rtrs_cq *rcq)
{
	int state;

	if (ib_req_notify_cq(rcq->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		return true;
	/*
	 * PAIRS: with rtrs_cq_completion(), whose event came before this, and is seen, or comes after it, and makes a
	 * poller.  Both change the state at once, with a full barrier.
	 */
	state = atomic_read(&rcq->state);
	while (!atomic_try_cmpxchg(&rcq->state, &state, rtrs_cq_step_release(state)))
		;
	return state == RTRS_CQ_POLLED_EVENT;
}

/* The caller is the poller, which the work is from now on. */
static void rtrs_cq_next_turn(struct rtrs_cq *rcq)
{
	if (++rcq->turn == RTRS_CQ_TURNS)
		rcq->turn = 0;
	queue_work(rcq->wq, &rcq->turns[rcq->turn].work);
}

/*
 * The poll has failed.  The caller stays the poller, and polls again later: what has completed may bring no other event,
 * and a drain waits for it.
 */
static void rtrs_cq_poll_failed(struct rtrs_cq *rcq, int error)
{
	pr_err_ratelimited("device %s: polling a completion queue: error %d, tried again\n",
			   dev_name(&rcq->cq->device->dev), error);
	queue_delayed_work(rcq->wq, &rcq->again, RTRS_CQ_POLL_AGAIN);
}

/* The caller is the poller.  Does not touch the queue once it is not. */
static void rtrs_cq_run(struct rtrs_cq *rcq)
{
	int nr, total = 0;

	while (total < RTRS_CQ_BUDGET) {
		nr = rtrs_cq_process(rcq);
		if (nr == RTRS_CQ_BATCH) {
			total += nr;
			continue;
		}
		total += max(nr, 0);
		/* Only who was woken up for something. */
		if (nr >= 0 && rcq->busy_poll_us && total) {
			nr = rtrs_cq_busy_poll(rcq);
			total += max(nr, 0);
			if (nr > 0)
				continue;
		}
		if (unlikely(nr < 0)) {
			rtrs_cq_poll_failed(rcq, nr);
			return;
		}
		if (!rtrs_cq_more(rcq))
			return;
	}
	rtrs_cq_next_turn(rcq);
}

static void rtrs_cq_work(struct work_struct *work)
{
	rtrs_cq_run(container_of(work, struct rtrs_cq_turn, work)->rcq);
}

static void rtrs_cq_again_work(struct work_struct *work)
{
	rtrs_cq_run(container_of(to_delayed_work(work), struct rtrs_cq, again));
}

/*
 * An event while somebody polls is kept: he may have polled for the last time, and the driver of an adapter that has
 * failed completes in software what ib_req_notify_cq() does not tell of.
 */
static void rtrs_cq_completion(struct ib_cq *cq, void *ctx)
{
	struct rtrs_cq *rcq = ctx;
	int state = atomic_read(&rcq->state);

	/* PAIRS: with rtrs_cq_more().  Not left out where it changes nothing: that would be no barrier. */
	while (!atomic_try_cmpxchg(&rcq->state, &state, rtrs_cq_step_event(state)))
		;
	if (state == RTRS_CQ_IDLE)
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
	atomic_set(&rcq->state, RTRS_CQ_IDLE);
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
	INIT_DELAYED_WORK(&rcq->again, rtrs_cq_again_work);
	cq = ib_create_cq(dev, rtrs_cq_completion, rtrs_cq_event, rcq, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	rcq->cq = cq;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

/*
 * Become the poller for good: then an event, which may still come on another CPU until ib_destroy_cq() has returned, queues
 * no work.  A work that is cancelled before it has begun leaves its role to who cancels it.  Who has just become the poller
 * may not have queued its work yet.
 */
static void rtrs_cq_take_over(struct rtrs_cq *rcq)
{
	int i;

	while (!rtrs_cq_become_poller(rcq)) {
		for (i = 0; i < RTRS_CQ_TURNS; i++)
			if (cancel_work_sync(&rcq->turns[i].work))
				return;
		if (cancel_delayed_work_sync(&rcq->again))
			return;
		usleep_range(10, 50);
	}
}

/* No work runs, nor will one be queued. */
static void rtrs_cq_stop(struct rtrs_cq *rcq)
{
	int i;

	rtrs_cq_take_over(rcq);
	/* One that is the poller no longer may still be returning. */
	for (i = 0; i < RTRS_CQ_TURNS; i++)
		cancel_work_sync(&rcq->turns[i].work);
	cancel_delayed_work_sync(&rcq->again);
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
	if (!rcq->cq)
		return;
	if (rcq->ctx == RTRS_CQ_DIRECT) {
		ib_free_cq(rcq->cq);
	} else {
		rtrs_cq_stop(rcq);
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
	atomic_set_release(&rcq->state, RTRS_CQ_IDLE);
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
