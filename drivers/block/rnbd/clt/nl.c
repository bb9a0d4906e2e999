// SPDX-License-Identifier: GPL-2.0-only
/* The client by netlink: mapped devices, and devices that are mapped and unmapped. */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "ctl.h"
#include "dev.h"
#include "map.h"
#include "nl.h"
#include "sess.h"
#include "slow.h"
#include "../proto/opmap.h"

static void rnbd_clt_nl_device(const struct rnbd_clt_dev *dev, struct rtrs_nl_info *info)
{
	strscpy(info->session, dev->sess->name, sizeof(info->session));
	strscpy(info->device, dev->disk->disk_name, sizeof(info->device));
	strscpy(info->device_path, dev->path, sizeof(info->device_path));
	info->access_mode = rnbd_access_mode_name(dev->access_mode);
	info->state = rnbd_clt_dev_state_name(rnbd_clt_dev_state(dev));
	info->nsectors = get_capacity(dev->disk);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_OVERDUE, rnbd_clt_slow_count(dev));
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_SLOW_S, rnbd_clt_slow_secs(dev));
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

/**
 * struct rnbd_clt_nl_map - a request to map
 * @opts: what it says
 * @error: what is wrong with it
 */
struct rnbd_clt_nl_map {
	struct rnbd_options opts;
	struct rnbd_options_error error;
};

/* Which of its kind a word is. */
static unsigned int rnbd_clt_nl_index(const struct rtrs_nl_request *req, unsigned int word)
{
	unsigned int i, nr = 0;

	for (i = 0; i < word; i++)
		nr += !strcmp(req->words[i].key, req->words[word].key);
	return nr;
}

static int rnbd_clt_nl_parse(const struct rtrs_nl_request *req, struct rnbd_clt_nl_map *map)
{
	struct rnbd_options_run run;
	unsigned int i;
	int ret = 0;

	rnbd_options_begin(&run, nr_cpu_ids, &map->opts, &map->error);
	for (i = 0; i < req->nr; i++) {
		ret = rnbd_options_set(&run, req->words[i].key, req->words[i].value);
		if (ret)
			break;
	}
	if (!ret)
		ret = rnbd_options_end(&run);
	if (!ret)
		return 0;
	rnbd_clt_ctl_refuse(&map->error, req->report);
	rtrs_report_blame(req->report, map->error.key, i < req->nr ? rnbd_clt_nl_index(req, i) : 0);
	return ret;
}

static int rnbd_clt_nl_map(const struct rtrs_nl_request *req, struct rtrs_nl_info *info)
{
	struct rnbd_clt_nl_map *map;
	struct rnbd_clt_dev *dev;
	int ret;

	map = kmalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	ret = rnbd_clt_nl_parse(req, map);
	if (!ret) {
		dev = rnbd_clt_ctl_map(&map->opts, req->report);
		ret = PTR_ERR_OR_ZERO(dev);
	}
	if (!ret) {
		rnbd_clt_nl_device(dev, info);
		rnbd_clt_dev_put(dev);
	}
	kfree(map);
	return ret;
}

static int rnbd_clt_nl_unmap(const struct rtrs_nl_request *req, struct rtrs_nl_info *info)
{
	const char *disk = rtrs_nl_want(req, "device");
	struct rnbd_clt_dev *dev;
	int ret;

	if (!disk)
		return -EINVAL;
	dev = rnbd_clt_sess_find_dev(disk);
	if (!dev) {
		rtrs_report_set(req->report, "%s is not mapped", disk);
		rtrs_report_blame(req->report, "device", 0);
		return -ENOENT;
	}
	ret = rnbd_clt_unmap(dev, rtrs_nl_value(req, "force"), req->report);
	if (ret)
		rtrs_report_blame(req->report, "device", 0);
	rnbd_clt_dev_put(dev);
	return ret;
}

static const struct rtrs_nl_part rnbd_clt_nl_part = {
	.owner = THIS_MODULE,
	.get_device = rnbd_clt_nl_get_device,
	.map = rnbd_clt_nl_map,
	.unmap = rnbd_clt_nl_unmap,
};

/**
 * rnbd_clt_nl_init() - show devices by netlink, and take requests
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
