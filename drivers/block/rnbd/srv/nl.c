// SPDX-License-Identifier: GPL-2.0-only
/* What the server shows by netlink: devices that clients have open. */
#include <linux/blkdev.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "../proto/opmap.h"
#include "nl.h"
#include "sess.h"
#include "slow.h"

static void rnbd_srv_nl_device(const struct rnbd_srv_dev *dev, struct rtrs_nl_info *info)
{
	scnprintf(info->device, sizeof(info->device), "%pg", dev->backend.bdev);
	strscpy(info->device_path, dev->name, sizeof(info->device_path));
	info->access_mode = rnbd_access_mode_name(dev->access_mode);
	info->state = "open";
	info->nsectors = bdev_nr_sectors(dev->backend.bdev);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_OVERDUE, READ_ONCE(dev->slow.count));
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_SLOW_S, rnbd_srv_slow_secs(dev));
}

static int rnbd_srv_nl_get_device(unsigned int sess_nr, unsigned int nr, struct rtrs_nl_info *info)
{
	struct rnbd_srv_sess *sess = rnbd_srv_sess_get_nth(sess_nr);
	struct rnbd_srv_dev *dev;
	int ret = -ENOENT;

	if (!sess)
		return -ESRCH;
	strscpy(info->session, sess->name, sizeof(info->session));
	scoped_guard(mutex, &sess->lock) {
		list_for_each_entry(dev, &sess->dev_list, sess_entry) {
			/* Of one that is closing the block device may be gone. */
			if (dev->state != RNBD_SRV_DEV_LIVE || nr--)
				continue;
			rnbd_srv_nl_device(dev, info);
			ret = 0;
			break;
		}
	}
	rnbd_srv_sess_put(sess);
	return ret;
}

static const struct rtrs_nl_part rnbd_srv_nl_part = {
	.owner = THIS_MODULE,
	.get_device = rnbd_srv_nl_get_device,
};

/**
 * rnbd_srv_nl_init() - show devices by netlink
 *
 * Context: module init.
 */
void rnbd_srv_nl_init(void)
{
	rtrs_nl_register(RTRS_NL_RNBD_SERVER, &rnbd_srv_nl_part);
}

/**
 * rnbd_srv_nl_exit() - undo rnbd_srv_nl_init()
 *
 * Context: module exit.
 */
void rnbd_srv_nl_exit(void)
{
	rtrs_nl_unregister(RTRS_NL_RNBD_SERVER);
}
