// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks that do not answer in the time that a client gives them.
 *
 * The client asks, through the transport, what became of a request.  If its disk has it, the device is slow until the
 * disk answers any request of it.  Both are told, but no more than one pair a minute for each device.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/jiffies.h>
#include <rdma/rtrs-nl.h>

#include "../proto/opmap.h"
#include "slow.h"

#define RNBD_SRV_SLOW_QUIET	(60 * HZ)

/**
 * rnbd_srv_slow_init() - prepare a device
 * @slow: what it has of this
 *
 * Context: any.
 */
void rnbd_srv_slow_init(struct rnbd_srv_slow *slow)
{
	spin_lock_init(&slow->lock);
	slow->quiet_until = jiffies;
}

static void rnbd_srv_slow_tell(const struct rnbd_srv_dev *dev, enum rtrs_nl_event event, unsigned int secs)
{
	char device[RTRS_NL_DEV_LEN];
	struct rtrs_nl_news news = {
		.event = event,
		.side = RTRS_NL_SIDE_SERVER,
		.session = dev->sess->name,
		.device = device,
		.device_path = dev->name,
		.access_mode = rnbd_access_mode_name(dev->access_mode),
		.nsectors = bdev_nr_sectors(dev->backend.bdev),
		.gap_ms = secs * MSEC_PER_SEC,
	};

	if (!rtrs_nl_listened())
		return;
	snprintf(device, sizeof(device), "%pg", dev->backend.bdev);
	rtrs_nl_tell(&news);
}

/**
 * rnbd_srv_slow_begin() - a client waits for a request that the disk has
 * @dev: the device; the caller has a count of io_ref
 * @secs: for how long the disk has had it
 *
 * Context: any.
 */
void rnbd_srv_slow_begin(struct rnbd_srv_dev *dev, unsigned int secs)
{
	struct rnbd_srv_slow *slow = &dev->slow;
	bool begins, tell = false;
	unsigned long flags;

	spin_lock_irqsave(&slow->lock, flags);
	begins = !slow->since;
	if (begins) {
		WRITE_ONCE(slow->since, (jiffies - secs * HZ) | 1);
		WRITE_ONCE(slow->count, slow->count + 1);
		tell = time_after_eq(jiffies, slow->quiet_until);
		slow->told = tell;
	}
	if (tell)
		slow->quiet_until = jiffies + RNBD_SRV_SLOW_QUIET;
	spin_unlock_irqrestore(&slow->lock, flags);
	if (!tell)
		return;
	pr_warn("\"%*pE\" (%pg): request of session %*pE has been with the disk for %u s\n",
		RNBD_SRV_STR(dev->name), dev->backend.bdev, RNBD_SRV_STR(dev->sess->name), secs);
	rnbd_srv_slow_tell(dev, RTRS_NL_EVENT_DEVICE_SLOW, secs);
}

/**
 * rnbd_srv_slow_end() - the disk has answered a request of a device that was slow
 * @dev: the device; the caller has a count of io_ref
 *
 * Context: any.
 */
void rnbd_srv_slow_end(struct rnbd_srv_dev *dev)
{
	struct rnbd_srv_slow *slow = &dev->slow;
	unsigned int secs = 0;
	unsigned long flags;
	bool tell;

	spin_lock_irqsave(&slow->lock, flags);
	tell = slow->since && slow->told;
	if (tell)
		secs = (jiffies - slow->since) / HZ;
	WRITE_ONCE(slow->since, 0);
	slow->told = false;
	spin_unlock_irqrestore(&slow->lock, flags);
	if (!tell)
		return;
	pr_info("\"%*pE\" (%pg): the disk answers session %*pE again, after %u s\n",
		RNBD_SRV_STR(dev->name), dev->backend.bdev, RNBD_SRV_STR(dev->sess->name), secs);
	rnbd_srv_slow_tell(dev, RTRS_NL_EVENT_DEVICE_ANSWERS, secs);
}

/**
 * rnbd_srv_slow_secs() - for how long has a disk had a request that a client waits for
 * @dev: the device
 *
 * Context: any.
 * Return: seconds, 0 if there is none.
 */
unsigned int rnbd_srv_slow_secs(const struct rnbd_srv_dev *dev)
{
	unsigned long since = READ_ONCE(dev->slow.since);

	return since ? (jiffies - since) / HZ : 0;
}
