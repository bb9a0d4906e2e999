// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that wait because no path is left, for at most no_path_timeout.
 *
 * Operation
 *	The first request that meets no path holds the device: its queue is quiesced, and what has failed is
 *	put back into it.  The hold ends when the device is open again, when the time is over, and when the
 *	device is unmapped; requests go on in the first case and fail in the others.  What comes after
 *	the time was over fails at once, until the device is open again.
 *
 *	A path may be lost and another one be there, and a request yet have found none: then nobody will tell that
 *	the device is open again, as it always was.  So the hold also looks by itself, ten times a second.
 *
 *	A path that comes back only to be lost again answers little or nothing.  So a hold that begins soon after
 *	the one before, because a path was lost that was not useful meanwhile, is the same one: its time goes on.
 *
 * Ordering
 *	What was in flight when the last path was lost may be sent again: the transport lets no request onto
 *	a path before the server has closed those that were lost, if it can be asked to (extension FENCE).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/jiffies.h>

#include "hold.h"

#define RNBD_CLT_HOLD_LOOK	(HZ / 10)
/* Longer than it takes until a path is lost on which nothing gets through. */
#define RNBD_CLT_HOLD_GAP	(15 * HZ)

/* Ends holds, and looks at overdue requests (slow.c). */
struct workqueue_struct *rnbd_clt_hold_wq;

/* Let requests go, in whichever way they then go. */
static void rnbd_clt_hold_end(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->hold.lock);
	if (!dev->hold.held)
		return;
	dev->hold.held = false;
	dev->hold.ended = jiffies;
	blk_mq_unquiesce_queue(dev->disk->queue);
}

static bool rnbd_clt_hold_is_over(const struct rnbd_clt_dev *dev)
{
	int timeout = dev->hold.timeout;

	return timeout >= 0 && time_after_eq(jiffies, dev->hold.since + timeout * HZ);
}

static bool rnbd_clt_hold_has_path(const struct rnbd_clt_dev *dev)
{
	struct rtrs_clt_sess *rtrs;
	struct rtrs_attrs attrs;
	bool found;

	rcu_read_lock();
	rtrs = rcu_dereference(dev->sess->rtrs);
	found = rtrs && !rtrs_clt_query(rtrs, &attrs);
	rcu_read_unlock();
	return found && rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_OPEN;
}

/* Is a hold that begins the same one as the hold before? Needs rnbd_clt_hold.lock. */
static bool rnbd_clt_hold_goes_on(const struct rnbd_clt_dev *dev)
{
	struct rtrs_clt_sess *rtrs;
	bool ret;

	if (!dev->hold.was_held || time_after(jiffies, dev->hold.ended + RNBD_CLT_HOLD_GAP))
		return false;
	rcu_read_lock();
	rtrs = rcu_dereference(dev->sess->rtrs);
	ret = rtrs && rtrs_clt_is_unsteady(rtrs);
	rcu_read_unlock();
	return ret;
}

/* The first request meets no path. Needs rnbd_clt_hold.lock. Return: true if it waits. */
static bool rnbd_clt_hold_begin(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->hold.lock);
	if (!rnbd_clt_hold_goes_on(dev)) {
		dev->hold.since = jiffies;
		dev->hold.logged = false;
	} else if (dev->hold.logged && rnbd_clt_hold_is_over(dev)) {
		WRITE_ONCE(dev->hold.expired, true);
		dev->hold.ended = jiffies;
		return false;
	}
	dev->hold.held = true;
	dev->hold.was_held = true;
	blk_mq_quiesce_queue_nowait(dev->disk->queue);
	mod_delayed_work(rnbd_clt_hold_wq, &dev->hold.dwork, RNBD_CLT_HOLD_LOOK);
	return true;
}

static void rnbd_clt_hold_work(struct work_struct *work)
{
	struct rnbd_clt_dev *dev = container_of(to_delayed_work(work), struct rnbd_clt_dev,
						hold.dwork);
	bool has_path = rnbd_clt_hold_has_path(dev);
	bool log = false;

	spin_lock_irq(&dev->hold.lock);
	if (dev->hold.held && has_path) {
		rnbd_clt_hold_end(dev);
	} else if (dev->hold.held && rnbd_clt_hold_is_over(dev)) {
		WRITE_ONCE(dev->hold.expired, true);
		log = !dev->hold.logged;
		dev->hold.logged = true;
		rnbd_clt_hold_end(dev);
	} else if (dev->hold.held) {
		queue_delayed_work(rnbd_clt_hold_wq, &dev->hold.dwork, RNBD_CLT_HOLD_LOOK);
	}
	spin_unlock_irq(&dev->hold.lock);
	if (log)
		pr_err("%s: no path for no_path_timeout=%d seconds, requests fail until one is back\n",
		       dev->disk->disk_name, READ_ONCE(dev->hold.timeout));
}

/**
 * rnbd_clt_hold_init() - prepare a device
 * @dev: the device
 * @timeout: seconds that requests wait for a path; 0: not at all; -1: for ever
 *
 * Context: any.
 */
void rnbd_clt_hold_init(struct rnbd_clt_dev *dev, int timeout)
{
	spin_lock_init(&dev->hold.lock);
	dev->hold.timeout = timeout;
	INIT_DELAYED_WORK(&dev->hold.dwork, rnbd_clt_hold_work);
}

/**
 * rnbd_clt_hold() - a request has met no path
 * @dev: the device
 *
 * A device that is still being mapped holds nothing: who maps it wants to know.
 *
 * Context: any.
 * Return: true if the request has to go back to the queue, and wait there; false if it fails.
 */
bool rnbd_clt_hold(struct rnbd_clt_dev *dev)
{
	unsigned long flags;
	bool hold;

	/* PAIRS: with rnbd_clt_dev_set_online(). */
	if (!smp_load_acquire(&dev->is_online))
		return false;
	spin_lock_irqsave(&dev->hold.lock, flags);
	/* PAIRS: with rnbd_clt_hold_stop(), which comes after the state was set. */
	hold = dev->hold.timeout && !dev->hold.expired &&
	       rnbd_clt_dev_state(dev) != RNBD_CLT_DEV_UNMAPPED;
	if (hold && !dev->hold.held)
		hold = rnbd_clt_hold_begin(dev);
	spin_unlock_irqrestore(&dev->hold.lock, flags);
	return hold;
}

/**
 * rnbd_clt_hold_status() - how a request fails that has met no path
 * @dev: the device
 *
 * Context: any.
 * Return: a status of the block layer: ENOLINK for who has waited, else EIO.
 */
blk_status_t rnbd_clt_hold_status(const struct rnbd_clt_dev *dev)
{
	return READ_ONCE(dev->hold.expired) ? BLK_STS_TRANSPORT : BLK_STS_IOERR;
}

/**
 * rnbd_clt_hold_open() - the device is open
 * @dev: the device, its state is set
 *
 * Context: any.
 */
void rnbd_clt_hold_open(struct rnbd_clt_dev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->hold.lock, flags);
	/* What was in vain so far may go on to be. */
	if (dev->hold.expired)
		dev->hold.ended = jiffies;
	WRITE_ONCE(dev->hold.expired, false);
	rnbd_clt_hold_end(dev);
	spin_unlock_irqrestore(&dev->hold.lock, flags);
}

/**
 * rnbd_clt_hold_stop() - the device is unmapped: nothing waits any more
 * @dev: the device, its state is set
 *
 * Context: any; the owner of the device still has to cancel hold.dwork.
 */
void rnbd_clt_hold_stop(struct rnbd_clt_dev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->hold.lock, flags);
	rnbd_clt_hold_end(dev);
	spin_unlock_irqrestore(&dev->hold.lock, flags);
}

/**
 * rnbd_clt_hold_set_timeout() - how long requests wait, those that do already too
 * @dev: device that is online
 * @timeout: as of rnbd_clt_hold_init()
 *
 * Context: process.
 */
void rnbd_clt_hold_set_timeout(struct rnbd_clt_dev *dev, int timeout)
{
	spin_lock_irq(&dev->hold.lock);
	WRITE_ONCE(dev->hold.timeout, timeout);
	spin_unlock_irq(&dev->hold.lock);
}

/**
 * rnbd_clt_hold_init_wq() - set up the workqueue
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rnbd_clt_hold_init_wq(void)
{
	rnbd_clt_hold_wq = alloc_workqueue("rnbd_client_hold", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rnbd_clt_hold_wq ? 0 : -ENOMEM;
}

/**
 * rnbd_clt_hold_exit_wq() - remove it
 *
 * Context: module exit, without devices.
 */
void rnbd_clt_hold_exit_wq(void)
{
	destroy_workqueue(rnbd_clt_hold_wq);
}
