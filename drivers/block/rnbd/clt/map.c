// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map and unmap.
 *
 * Operation
 *	A device is built from the bottom: session, device, OPEN, disk, directory in sysfs.  There is one
 *	way to take it apart, for each stage it may be in.
 *
 * Ordering
 *	unmap_device is a file below the disk that it removes, so a write there has a job (<rdma/rtrs-job.h>) unmap the
 *	device, and does not count as inside the file while it waits.  When the write returns, the disk and the
 *	server's handle are gone, unless the writer was killed: the job goes on.  The disk's number is free when its
 *	last opener is gone too.
 *
 * Errors
 *	Each reason to refuse a mapping is told where it is found, in the kernel log and to who asked.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/rtrs-job.h>

#include "dev.h"
#include "disk.h"
#include "map.h"
#include "sysfs.h"
#include "tell.h"
#include "../proto/opmap.h"

/* Take a device apart.  Nobody else does, see rnbd_clt_dev_start_unmap(). */
static void rnbd_clt_map_teardown(struct rnbd_clt_dev *dev, bool force)
{
	struct rnbd_clt_sess *sess = dev->sess;

	rnbd_clt_sysfs_del(dev);
	if (force)
		rnbd_clt_disk_drain(dev);
	rnbd_clt_disk_del(dev);
	rnbd_clt_dev_close(dev);
	rnbd_clt_dev_end_unmap(dev);
	/* Nobody has heard of one that was not mapped completely. */
	if (dev->is_online)
		rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_UNMAPPED, force ? "by force" : "on request", 0);
	/* Frees the device, or leaves that to who still has it open. */
	rnbd_clt_dev_put(dev);
	rnbd_clt_sess_put(sess);
}

/**
 * rnbd_clt_unmap() - unmap a device
 * @dev: device that is or was online, referenced by the caller
 * @force: even if it is opened
 * @report: for words if it fails, NULL: nobody wants them
 *
 * Context: may sleep, as long as requests of the disk do not end; not from a file of the device.
 * Return: 0; -EALREADY: somebody else does; -EBUSY: opened, or not yet mapped completely.
 */
int rnbd_clt_unmap(struct rnbd_clt_dev *dev, bool force, struct rtrs_report *report)
{
	int ret;

	ret = rnbd_clt_dev_start_unmap(dev, force);
	if (ret) {
		rnbd_clt_err(report, "%s: unmap_device=%s: %s\n", dev->disk->disk_name,
			     force ? "force" : "normal",
			     ret == -EBUSY ? "the device is opened, or not yet mapped completely" :
					     "the device is being unmapped already");
		return ret;
	}
	pr_info("%s: unmapping device_path=\"%s\" of session %s\n", dev->disk->disk_name,
		dev->path, dev->sess->name);
	rnbd_clt_map_teardown(dev, force);
	return 0;
}

/**
 * struct rnbd_clt_unmap_job - a device that is being unmapped
 * @dev: the device, with a reference
 * @force: even if it is opened
 */
struct rnbd_clt_unmap_job {
	struct rnbd_clt_dev *dev;
	bool force;
};

static int rnbd_clt_unmap_run(void *data)
{
	struct rnbd_clt_unmap_job *unmap = data;

	return rnbd_clt_unmap(unmap->dev, unmap->force, NULL);
}

static void rnbd_clt_unmap_free(void *data)
{
	struct rnbd_clt_unmap_job *unmap = data;

	rnbd_clt_dev_put(unmap->dev);
	kfree(unmap);
}

/* For rtrs_job_run(), or ERR_PTR. */
static struct rtrs_job *rnbd_clt_unmap_job(struct rnbd_clt_dev *dev, bool force)
{
	struct rnbd_clt_unmap_job *unmap = kmalloc(sizeof(*unmap), GFP_KERNEL);
	struct rtrs_job_work work = {
		.owner = THIS_MODULE,
		.run = rnbd_clt_unmap_run,
		.free = rnbd_clt_unmap_free,
		.data = unmap,
	};
	struct rtrs_job *job;

	if (!unmap)
		return ERR_PTR(-ENOMEM);
	*unmap = (struct rnbd_clt_unmap_job){ .dev = dev, .force = force };
	rnbd_clt_dev_get(dev);
	job = rtrs_job_create(&work, "unmap %s (%s) of session %s", dev->disk->disk_name, dev->path,
			      dev->sess->name);
	if (IS_ERR(job))
		rnbd_clt_unmap_free(unmap);
	return job;
}

/* For the file unmap_device.  For want of memory it is not killable. */
static int rnbd_clt_unmap_killable(struct rnbd_clt_dev *dev, bool force)
{
	struct rtrs_job *job = rnbd_clt_unmap_job(dev, force);

	if (PTR_ERR_OR_ZERO(job) == -ENOMEM)
		return rnbd_clt_unmap(dev, force, NULL);
	return IS_ERR(job) ? PTR_ERR(job) : rtrs_job_run(job);
}

static void rnbd_clt_unmap_one(struct rnbd_clt_dev *dev)
{
	struct rtrs_job *job = rnbd_clt_unmap_job(dev, true);

	if (IS_ERR(job)) {
		rnbd_clt_unmap(dev, true, NULL);
		return;
	}
	rtrs_job_start(job);
	rtrs_job_put(job);
	rtrs_jobs_wait(THIS_MODULE);
}

/* Open a listed device and make it visible. */
static int rnbd_clt_map_bring_up(struct rnbd_clt_dev *dev, struct kobject *links,
				 struct rtrs_report *report)
{
	int ret;

	ret = rnbd_clt_dev_open(dev, RNBD_CLT_DEV_INIT, false);
	if (ret) {
		rnbd_clt_err(report, "map_device: device_path=\"%s\" access_mode=%s: not opened by the server of session %s: %pe%s%s\n",
			     dev->path, rnbd_access_mode_name(dev->access_mode),
			     dev->sess->name, ERR_PTR(ret), dev->open_why ? ", " : "",
			     dev->open_why ? dev->open_why : "");
		rtrs_report_blame(report, "device_path", 0);
		return ret;
	}
	ret = rnbd_clt_disk_add(dev);
	if (ret) {
		rnbd_clt_err(report, "map_device: device_path=\"%s\": cannot add a disk: %pe\n",
			     dev->path, ERR_PTR(ret));
		return ret;
	}
	ret = rnbd_clt_sysfs_add(dev, links);
	if (ret)
		rnbd_clt_err(report, "map_device: device_path=\"%s\": cannot add files in sysfs: %pe\n",
			     dev->path, ERR_PTR(ret));
	/* Nobody waits for the device any longer. */
	return !ret && fatal_signal_pending(current) ? -EINTR : ret;
}

/**
 * rnbd_clt_map() - map a device
 * @params: session, and how to reach its server
 * @opts: the device, and how to use it
 * @links: directory for the link that names the device
 *
 * On failure nothing is left of it, nor of a session that was made for it.
 *
 * Context: may sleep, for as long as connecting and opening take.
 * Return: the device, its disk visible, for rnbd_clt_dev_put(); or ERR_PTR: -EEXIST: mapped already;
 * -EBUSY: the server has not closed it yet for the mapping before; see
 * rnbd_clt_sess_get() and rnbd_clt_dev_open() for more.
 */
struct rnbd_clt_dev *rnbd_clt_map(const struct rnbd_clt_sess_params *params,
				  const struct rnbd_options *opts, struct kobject *links)
{
	struct rnbd_clt_sess *sess;
	struct rnbd_clt_dev *dev;
	int ret;

	sess = rnbd_clt_sess_get(params);
	if (IS_ERR(sess))
		return ERR_CAST(sess);
	dev = rnbd_clt_dev_create(sess, opts->device_path, opts->access_mode,
				  opts->no_path_timeout);
	if (IS_ERR(dev)) {
		rnbd_clt_err(params->report, "map_device: device_path=\"%s\": %s in session %s\n",
			     opts->device_path,
			     PTR_ERR(dev) == -EEXIST ? "mapped already" :
			     PTR_ERR(dev) == -EBUSY ?
			     "unmapped, but the server has not closed it yet for the mapping before" :
			     "out of memory", sess->name);
		rtrs_report_blame(params->report, "device_path", 0);
		rnbd_clt_sess_put(sess);
		return dev;
	}
	dev->slow.request_timeout = opts->request_timeout;
	dev->unmap = rnbd_clt_unmap_killable;
	ret = rnbd_clt_map_bring_up(dev, links, params->report);
	if (ret) {
		rnbd_clt_dev_abort_map(dev);
		rnbd_clt_map_teardown(dev, true);
		return ERR_PTR(ret);
	}
	pr_info("%s: mapped device_path=\"%s\" of session %s, access_mode=%s, %llu sectors\n",
		dev->disk->disk_name, dev->path, sess->name, rnbd_access_mode_name(dev->access_mode),
		dev->limits.nsectors);
	rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_MAPPED, NULL, 0);
	rnbd_clt_dev_get(dev);
	rnbd_clt_dev_set_online(dev);
	return dev;
}

/**
 * rnbd_clt_unmap_all() - unmap every device by force
 *
 * Logs what it waits for if that takes long.
 *
 * Context: module exit; nobody else maps or unmaps.
 */
void rnbd_clt_unmap_all(void)
{
	struct rnbd_clt_dev *dev;

	/* Who was killed while he mapped or unmapped has left a job. */
	rtrs_jobs_end(THIS_MODULE);
	while ((dev = rnbd_clt_sess_any_dev())) {
		rnbd_clt_unmap_one(dev);
		rnbd_clt_dev_put(dev);
	}
}
