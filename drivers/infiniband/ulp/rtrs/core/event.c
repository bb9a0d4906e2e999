// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events, to whoever listens to group "events".
 *
 * Operation: whoever has news writes the message, and queues it; a work sends what is queued.  So news may come
 * from any context and with locks held, and nobody waits for listeners.  The order is that of queueing.
 *
 * Errors: where there is no memory, or the queue is full, the event is lost.  Its number is used up, and
 * listeners are told ENOBUFS, as they are when their own buffer is full.
 */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "../verbs/fault.h"
#include "nl.h"

/* Four names, a reason and numbers. */
#define RTRS_NL_EVENT_BYTES	2048
/* So many may wait for the work; a path that is lost makes about five. */
#define RTRS_NL_MAX_QUEUED	1024

/**
 * struct rtrs_nl_events - events on their way
 * @family: I. the family, set by module init
 * @queue: messages to be sent, with a lock that guards @seq too
 * @seq: number of the last event
 * @lost: A. bit 0, an event was lost that listeners have not heard of
 * @work: sends them
 */
struct rtrs_nl_events {
	const struct genl_family *family;
	struct sk_buff_head queue;
	u32 seq;
	unsigned long lost;
	struct work_struct work;
};

static struct rtrs_nl_events rtrs_nl_events;

/**
 * rtrs_nl_listened() - does anybody listen
 *
 * For those who would have to prepare what they tell; rtrs_nl_tell() asks for itself.
 *
 * Context: any.
 * Return: true if somebody does.
 */
bool rtrs_nl_listened(void)
{
	return genl_has_listeners(rtrs_nl_events.family, &init_net, 0);
}
EXPORT_SYMBOL(rtrs_nl_listened);

static int rtrs_nl_put_numbers(struct sk_buff *skb, const struct rtrs_nl_news *news)
{
	if (news->error && nla_put_u32(skb, RTRS_NL_A_ERROR, abs(news->error)))
		return -EMSGSIZE;
	if (news->device && nla_put_u64_64bit(skb, RTRS_NL_A_SECTORS, news->nsectors, RTRS_NL_A_PAD))
		return -EMSGSIZE;
	if (news->event == RTRS_NL_EVENT_DEVICE_SLOW || news->event == RTRS_NL_EVENT_DEVICE_ANSWERS)
		return nla_put_u32(skb, RTRS_NL_A_GAP_MS, news->gap_ms);
	if (news->event != RTRS_NL_EVENT_FAILOVER)
		return 0;
	return nla_put_u32(skb, RTRS_NL_A_MOVED, news->moved) ?:
	       nla_put_u32(skb, RTRS_NL_A_FAILED, news->failed) ?:
	       nla_put_u32(skb, RTRS_NL_A_GAP_MS, news->gap_ms);
}

static int rtrs_nl_put_news(struct sk_buff *skb, const struct rtrs_nl_news *news)
{
	if (nla_put_u32(skb, RTRS_NL_A_EVENT, news->event) ||
	    nla_put_u64_64bit(skb, RTRS_NL_A_TIME, ktime_get_real_ns(), RTRS_NL_A_PAD) ||
	    nla_put_u32(skb, RTRS_NL_A_SIDE, news->side) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_SESSION, news->session) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_PATH, news->path) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_FROM, news->from) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_TO, news->to) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_CAUSE, news->cause) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_REASON, news->reason) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_DEVICE, news->device) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_DEVICE_PATH, news->device_path) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_ACCESS_MODE, news->access_mode))
		return -EMSGSIZE;
	return rtrs_nl_put_numbers(skb, news);
}

/* The message, with @seq its number's place in it; NULL if that cannot be. */
static struct sk_buff *rtrs_nl_event_alloc(const struct rtrs_nl_news *news, u32 **seq)
{
	struct nlattr *attr;
	struct sk_buff *skb;
	void *msg;

	skb = fault_here(nl_event) ? NULL : genlmsg_new(RTRS_NL_EVENT_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	msg = genlmsg_put(skb, 0, 0, rtrs_nl_events.family, 0, RTRS_NL_CMD_EVENT);
	attr = msg ? nla_reserve(skb, RTRS_NL_A_SEQ, sizeof(**seq)) : NULL;
	if (!attr || rtrs_nl_put_news(skb, news)) {
		nlmsg_free(skb);
		return NULL;
	}
	*seq = nla_data(attr);
	genlmsg_end(skb, msg);
	return skb;
}

/**
 * rtrs_nl_tell() - tell listeners what happened
 * @news: what; copied
 *
 * Nothing happens if nobody listens.
 *
 * Context: any.
 */
void rtrs_nl_tell(const struct rtrs_nl_news *news)
{
	struct rtrs_nl_events *events = &rtrs_nl_events;
	struct sk_buff *skb;
	unsigned long flags;
	u32 *seq;

	if (!rtrs_nl_listened())
		return;
	skb = rtrs_nl_event_alloc(news, &seq);
	spin_lock_irqsave(&events->queue.lock, flags);
	events->seq++;
	if (skb && skb_queue_len(&events->queue) < RTRS_NL_MAX_QUEUED) {
		*seq = events->seq;
		__skb_queue_tail(&events->queue, skb);
		skb = NULL;
	} else {
		set_bit(0, &events->lost);
	}
	spin_unlock_irqrestore(&events->queue.lock, flags);
	if (skb)
		dev_kfree_skb_any(skb);
	queue_work(system_dfl_wq, &events->work);
}
EXPORT_SYMBOL(rtrs_nl_tell);

static void rtrs_nl_event_work(struct work_struct *work)
{
	struct rtrs_nl_events *events = &rtrs_nl_events;
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&events->queue)))
		/* -ESRCH: whoever listened does so no more. */
		genlmsg_multicast(events->family, skb, 0, 0, GFP_KERNEL);
	if (test_and_clear_bit(0, &events->lost))
		genl_set_err(events->family, &init_net, 0, 0, -ENOBUFS);
}

/**
 * rtrs_nl_event_init() - prepare for events
 * @family: the family, about to be registered
 *
 * Context: module init.
 */
void rtrs_nl_event_init(const struct genl_family *family)
{
	rtrs_nl_events.family = family;
	skb_queue_head_init(&rtrs_nl_events.queue);
	INIT_WORK(&rtrs_nl_events.work, rtrs_nl_event_work);
}

/**
 * rtrs_nl_event_exit() - send what is left
 *
 * Context: module exit, nobody has news any more; the family is still registered.  May sleep.
 */
void rtrs_nl_event_exit(void)
{
	flush_work(&rtrs_nl_events.work);
}
