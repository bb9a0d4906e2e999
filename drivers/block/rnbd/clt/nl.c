// SPDX-License-Identifier: GPL-2.0-only
/* What the client shows by netlink: mapped devices. */
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "dev.h"
#include "nl.h"
#include "sess.h"
#include "../proto/opmap.h"

static void rnbd_clt_nl_device(const struct rnbd_clt_dev *dev, struct rtrs_nl_info *info)
{
	strscpy(info->session, dev->sess->name, sizeof(info->session));
	strscpy(info->device, dev->disk->disk_name, sizeof(info->device));
	strscpy(info->device_path, dev->path, sizeof(info->device_path));
	info->access_mode = rnbd_access_mode_name(dev->access_mode);
	info->state = rnbd_clt_dev_state_name(rnbd_clt_dev_state(dev));
	info->nsectors = get_capacity(dev->disk);
}

/* A device is shown once it is complete, that is, has its disk. */
static int rnbd_clt_nl_get_device(unsigned int sess_nr, unsigned int nr, struct rtrs_nl_info *info)
{
	struct rnbd_clt_sess *sess = rnbd_clt_sess_get_nth(sess_nr);
	struct rnbd_clt_dev *dev;
	int ret = -ENOENT;

	if (!sess)
		return -ESRCH;
	spin_lock(&sess->lock);
	list_for_each_entry(dev, &sess->devs, entry) {
		if (!dev->is_online || nr--)
			continue;
		rnbd_clt_nl_device(dev, info);
		ret = 0;
		break;
	}
	spin_unlock(&sess->lock);
	rnbd_clt_sess_drop(sess);
	return ret;
}

static const struct rtrs_nl_part rnbd_clt_nl_part = {
	.owner = THIS_MODULE,
	.get_device = rnbd_clt_nl_get_device,
};

/**
 * rnbd_clt_nl_init() - show devices by netlink
 *
 * Context: module init.
 */
void rnbd_clt_nl_init(void)
{
	rtrs_nl_register(RTRS_NL_RNBD_CLIENT, &rnbd_clt_nl_part);
}

/**
 * rnbd_clt_nl_exit() - undo rnbd_clt_nl_init()
 *
 * Context: module exit.
 */
void rnbd_clt_nl_exit(void)
{
	rtrs_nl_unregister(RTRS_NL_RNBD_CLIENT);
}
