// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that take longer than the disk's queue/io_timeout.
 *
 * Operation
 *	A request that is overdue is not failed and costs no path by that: the transport asks the server where it is
 *	(rtrs_clt_request_overdue()), and it waits on.  As long as a device has such requests a work looks at them once a
 *	second: it tells once that the device is slow and, if the server said so, that the server's disk has the
 *	request; it tells when none is left; and it gives up those for which request_timeout is over.
 *
 * Ownership
 *	The work looks at requests through their tags, which keeps each one from being used again meanwhile, but not
 *	from being completed.  The transport compares what it has with the request that is meant.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/jiffies.h>

#include "hold.h"
#include "slow.h"
#include "tell.h"

#define RNBD_CLT_SLOW_LOOK	HZ
/* The server's answer is there by then. */
#define RNBD_CLT_SLOW_FIRST	(HZ / 10)

/**
 * struct rnbd_clt_slow_scan - a look at the requests of a device
 * @dev: the device
 * @nr: how many are overdue
 * @since: jiffies when the oldest of these was sent
 * @where: where the server has one of them: the best known of all
 */
struct rnbd_clt_slow_scan {
	struct rnbd_clt_dev *dev;
	unsigned int nr;
	unsigned long since;
	enum rtrs_clt_where where;
};

static bool rnbd_clt_slow_look(struct request *rq, void *arg)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct rnbd_clt_slow_scan *scan = arg;
	struct rnbd_clt_dev *dev = scan->dev;
	unsigned int limit = READ_ONCE(dev->slow.request_timeout);
	struct rtrs_permit *permit;
	unsigned long since;

	if (rq->q != dev->disk->queue)
		return true;
	since = READ_ONCE(io->overdue);
	/* PAIRS: with rnbd_clt_queue_prepare(). */
	permit = smp_load_acquire(&io->permit);
	if (!since || !permit)
		return true;
	if (!scan->nr++ || time_before(since, scan->since))
		scan->since = since;
	rcu_read_lock();
	if (rcu_access_pointer(dev->sess->rtrs)) {
		scan->where = max(scan->where, rtrs_clt_request_where(io->rtrs, permit, rq));
		if (limit && time_after_eq(jiffies, since + limit * HZ))
			rtrs_clt_request_expire(io->rtrs, permit, rq);
	}
	rcu_read_unlock();
	return true;
}

static void rnbd_clt_slow_tell(struct rnbd_clt_dev *dev, enum rtrs_clt_where where)
{
	static const char * const words[] = {
		[RTRS_CLT_WHERE_NOT_TOLD] = "the server cannot tell why",
		[RTRS_CLT_WHERE_SERVER] = "the server has it",
		[RTRS_CLT_WHERE_ULP] = "the server's disk has it",
	};
	unsigned int secs = rnbd_clt_slow_secs(dev);

	pr_warn("%s (\"%s\"): request waits for %u s, %s\n", dev->disk->disk_name, dev->path, secs, words[where]);
	rnbd_clt_tell_slow(dev, RTRS_NL_EVENT_DEVICE_SLOW, words[where], secs);
}

static void rnbd_clt_slow_work(struct work_struct *work)
{
	struct rnbd_clt_slow *slow = container_of(to_delayed_work(work), struct rnbd_clt_slow, dwork);
	struct rnbd_clt_dev *dev = container_of(slow, struct rnbd_clt_dev, slow);
	struct rnbd_clt_slow_scan scan = { .dev = dev };

	blk_mq_tagset_busy_iter(&dev->tag_set, rnbd_clt_slow_look, &scan);
	if (scan.nr) {
		WRITE_ONCE(slow->since, scan.since | 1);
		/* Of one that is on no path, or is being asked for, there is nothing to be told yet. */
		if (!slow->told && (scan.where >= RTRS_CLT_WHERE_SERVER || scan.where == RTRS_CLT_WHERE_NOT_TOLD)) {
			slow->told = true;
			rnbd_clt_slow_tell(dev, scan.where);
		}
		queue_delayed_work(rnbd_clt_hold_wq, &slow->dwork, RNBD_CLT_SLOW_LOOK);
		return;
	}
	if (slow->told) {
		slow->told = false;
		pr_info("%s (\"%s\"): no request is overdue any more, after %u s\n", dev->disk->disk_name, dev->path,
			rnbd_clt_slow_secs(dev));
		rnbd_clt_tell_slow(dev, RTRS_NL_EVENT_DEVICE_ANSWERS, NULL, rnbd_clt_slow_secs(dev));
	}
	WRITE_ONCE(slow->since, 0);
}

/**
 * rnbd_clt_slow_init() - prepare a device
 * @dev: the device, zero: a request may take any time
 *
 * Context: any.
 */
void rnbd_clt_slow_init(struct rnbd_clt_dev *dev)
{
	INIT_DELAYED_WORK(&dev->slow.dwork, rnbd_clt_slow_work);
}

/**
 * rnbd_clt_slow_stop() - the disk is removed
 * @dev: the device; no request can be overdue any more
 *
 * Context: may sleep.
 */
void rnbd_clt_slow_stop(struct rnbd_clt_dev *dev)
{
	cancel_delayed_work_sync(&dev->slow.dwork);
}

/**
 * rnbd_clt_slow_note() - a request is overdue
 * @dev: its device
 * @rq: the request, which has a permit
 *
 * Context: the block layer's handler of time-outs.
 */
void rnbd_clt_slow_note(struct rnbd_clt_dev *dev, struct request *rq)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);

	if (!READ_ONCE(io->overdue)) {
		WRITE_ONCE(io->overdue, (jiffies - rq->timeout) | 1);
		atomic_inc(&dev->slow.count);
	}
	queue_delayed_work(rnbd_clt_hold_wq, &dev->slow.dwork, RNBD_CLT_SLOW_FIRST);
}

/**
 * rnbd_clt_slow_secs() - for how long has the oldest overdue request been waiting
 * @dev: the device
 *
 * Context: any.
 * Return: seconds, 0 if none is overdue.
 */
unsigned int rnbd_clt_slow_secs(const struct rnbd_clt_dev *dev)
{
	unsigned long since = READ_ONCE(dev->slow.since);

	return since ? (jiffies - since) / HZ : 0;
}

/**
 * rnbd_clt_slow_count() - how many requests have been overdue
 * @dev: the device
 *
 * Context: any.
 * Return: their number since the device was mapped.
 */
unsigned int rnbd_clt_slow_count(const struct rnbd_clt_dev *dev)
{
	return atomic_read(&dev->slow.count);
}
