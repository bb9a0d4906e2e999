// SPDX-License-Identifier: GPL-2.0-only
/* Heartbeats of one path (protocol section 8), and the watch over its connections. */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/sched/mm.h>
#include <rtrs/rtrs_format.h>

#include "../proto/imm.h"
#include "conn.h"
#include "heartbeat.h"

/* The watch is for what takes seconds. */
#define RTRS_HB_WATCH_MS	1000

/* Return: 0 or an error of the owner. */
static int rtrs_hb_beat(struct rtrs_hb *hb, unsigned int missed)
{
	WRITE_ONCE(hb->missed, missed + 1);
	/* One message is out and unanswered already: only count on. */
	if (missed)
		return 0;
	WRITE_ONCE(hb->sent, ktime_get());
	return hb->ops->send(hb);
}

static unsigned long rtrs_hb_next(const struct rtrs_hb *hb)
{
	return hb->last + msecs_to_jiffies(READ_ONCE(hb->interval_ms));
}

/* Until the next beat or watch, whichever is first. */
static void rtrs_hb_queue(struct rtrs_hb *hb)
{
	unsigned long next = rtrs_hb_next(hb), now = jiffies;

	if (time_after(next, hb->next_watch))
		next = hb->next_watch;
	queue_delayed_work(hb->wq, &hb->dwork, time_after(next, now) ? next - now : 0);
}

static bool rtrs_hb_excused(struct rtrs_hb *hb)
{
	return hb->ops->excused && hb->ops->excused(hb);
}

static void rtrs_hb_tick(struct rtrs_hb *hb)
{
	unsigned int missed;
	int ret = 0;

	if (time_after_eq(jiffies, hb->next_watch)) {
		hb->next_watch = jiffies + msecs_to_jiffies(RTRS_HB_WATCH_MS);
		ret = hb->ops->watch(hb);
		/* No answer is expected, but that it is not acknowledged tells of a network that is gone. */
		if (!ret && READ_ONCE(hb->missed) > READ_ONCE(hb->missed_max) && rtrs_hb_excused(hb))
			ret = hb->ops->send(hb);
	}
	if (!ret && time_after_eq(jiffies, rtrs_hb_next(hb))) {
		missed = READ_ONCE(hb->missed);
		if (missed > READ_ONCE(hb->missed_max) && !rtrs_hb_excused(hb)) {
			hb->ops->silent(hb);
			return;
		}
		hb->last = jiffies;
		ret = rtrs_hb_beat(hb, missed);
	}
	if (ret < 0)
		hb->ops->failed(hb, ret);
	else
		rtrs_hb_queue(hb);
}

/*
 * Who tears the path down waits for the tick, and writeback may wait for that: what the adapter's driver
 * allocates when it is asked about a queue pair must not recurse into writeback.
 */
static void rtrs_hb_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	rtrs_hb_tick(container_of(work, struct rtrs_hb, dwork.work));
	memalloc_noio_restore(noio);
}

/**
 * rtrs_hb_init() - prepare a heartbeat with the protocol's timing
 * @hb: the heartbeat
 * @ops: callbacks
 * @wq: workqueue for the tick
 *
 * Context: any.
 */
void rtrs_hb_init(struct rtrs_hb *hb, const struct rtrs_hb_ops *ops, struct workqueue_struct *wq)
{
	hb->ops = ops;
	hb->wq = wq;
	hb->interval_ms = RTRS_HB_INTERVAL_MS;
	hb->missed_max = RTRS_HB_MISSED_MAX;
	hb->latency_ns = 0;
	INIT_DELAYED_WORK(&hb->dwork, rtrs_hb_work);
}
EXPORT_SYMBOL_GPL(rtrs_hb_init);

/**
 * rtrs_hb_set_timing() - beat at another rate than the protocol's
 * @hb: the heartbeat; if it ticks, the rate is the new one after a second at most
 * @interval_ms: milliseconds between heartbeats
 * @missed_max: heartbeats without a sign of life before the path is dead
 *
 * Context: any.
 */
void rtrs_hb_set_timing(struct rtrs_hb *hb, unsigned int interval_ms, unsigned int missed_max)
{
	WRITE_ONCE(hb->interval_ms, interval_ms);
	WRITE_ONCE(hb->missed_max, missed_max);
}
EXPORT_SYMBOL_GPL(rtrs_hb_set_timing);

/**
 * rtrs_hb_start() - start to tick; the first message goes out at once
 * @hb: the heartbeat, stopped
 *
 * Context: any.
 */
void rtrs_hb_start(struct rtrs_hb *hb)
{
	WRITE_ONCE(hb->missed, 0);
	hb->next_watch = jiffies;
	hb->last = jiffies - msecs_to_jiffies(READ_ONCE(hb->interval_ms));
	queue_delayed_work(hb->wq, &hb->dwork, 0);
}
EXPORT_SYMBOL_GPL(rtrs_hb_start);

/**
 * rtrs_hb_start_later() - start to tick; the first message goes out after one interval
 * @hb: the heartbeat, stopped
 *
 * For the side whose peer may not be able to receive at once.
 *
 * Context: any.
 */
void rtrs_hb_start_later(struct rtrs_hb *hb)
{
	WRITE_ONCE(hb->missed, 0);
	hb->last = jiffies;
	hb->next_watch = jiffies + msecs_to_jiffies(RTRS_HB_WATCH_MS);
	rtrs_hb_queue(hb);
}
EXPORT_SYMBOL_GPL(rtrs_hb_start_later);

/**
 * rtrs_hb_stop() - stop ticking; no callback runs after return
 * @hb: the heartbeat, started or not
 *
 * Context: process, may sleep; not from the callbacks.
 */
void rtrs_hb_stop(struct rtrs_hb *hb)
{
	cancel_delayed_work_sync(&hb->dwork);
}
EXPORT_SYMBOL_GPL(rtrs_hb_stop);

/**
 * rtrs_hb_post() - send a heartbeat
 * @conn: service connection of the path
 * @ack: HB_ACK, the answer to one, rather than HB_MSG
 *
 * With a full send queue nothing is sent, which is no error: the peer gets other signs of life, and
 * the completions tell whether the connection is alive.
 *
 * Context: any.
 * Return: 0 or an error of rtrs_conn_post().
 */
int rtrs_hb_post(struct rtrs_conn *conn, bool ack)
{
	int ret = rtrs_conn_post_empty_imm(conn, rtrs_imm_hb(ack));

	return ret == -EAGAIN ? 0 : ret;
}
EXPORT_SYMBOL_GPL(rtrs_hb_post);

/**
 * rtrs_hb_acked() - HB_ACK came
 * @hb: the heartbeat
 *
 * Context: any.
 */
void rtrs_hb_acked(struct rtrs_hb *hb)
{
	WRITE_ONCE(hb->latency_ns, ktime_to_ns(ktime_sub(ktime_get(), READ_ONCE(hb->sent))));
}
EXPORT_SYMBOL_GPL(rtrs_hb_acked);
