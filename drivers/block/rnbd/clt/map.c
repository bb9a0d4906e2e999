// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map and unmap.
 *
 * Operation
 *	A device is built from the bottom: session, device, OPEN, disk, directory in sysfs.  There is one
 *	way to take it apart, for each stage it may be in.
 *
 * Ordering
 *	unmap_device is a file below the disk that it removes.  It removes itself first, so that the removal of
 *	its directory, and of the disk, does not wait for it.  When the write returns, disk, name and the
 *	server's handle are free.
 *
 * Errors
 *	Each reason to refuse a mapping is told once in the kernel log, where it is found.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>

#include "dev.h"
#include "disk.h"
#include "map.h"
#include "sysfs.h"
#include "tell.h"
#include "../proto/opmap.h"

/* Take a device apart.  Nobody else does, see rnbd_clt_dev_start_unmap(). */
static void rnbd_clt_map_teardown(struct rnbd_clt_dev *dev, bool force, bool was_open,
				  const struct attribute *self)
{
	struct rnbd_clt_sess *sess = dev->sess;

	rnbd_clt_sysfs_del(dev, self);
	if (force)
		rnbd_clt_disk_drain(dev);
	rnbd_clt_disk_del(dev);
	rnbd_clt_dev_close(dev, was_open);
	rnbd_clt_dev_end_unmap(dev);
	/* Nobody has heard of one that was not mapped completely. */
	if (dev->is_online)
		rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_UNMAPPED, force ? "by force" : "on request", 0);
	/* Frees the device, or leaves that to who still has it open. */
	rnbd_clt_dev_put(dev);
	rnbd_clt_sess_put(sess);
}

static int rnbd_clt_unmap(struct rnbd_clt_dev *dev, bool force, const struct attribute *self)
{
	bool was_open;
	int ret;

	ret = rnbd_clt_dev_start_unmap(dev, force, &was_open);
	if (ret)
		return ret;
	pr_info("%s: unmapping device_path=\"%s\" of session %s\n", dev->disk->disk_name,
		dev->path, dev->sess->name);
	rnbd_clt_map_teardown(dev, force, was_open, self);
	return 0;
}

/* Open a listed device and make it visible. */
static int rnbd_clt_map_bring_up(struct rnbd_clt_dev *dev, struct kobject *links)
{
	int ret;

	ret = rnbd_clt_dev_open(dev, RNBD_CLT_DEV_INIT);
	if (ret) {
		pr_err("map_device: device_path=\"%s\" access_mode=%s: not opened by the server of session %s: %pe%s%s\n",
		       dev->path, rnbd_access_mode_name(dev->access_mode), dev->sess->name,
		       ERR_PTR(ret), dev->open_why ? ", " : "",
		       dev->open_why ? dev->open_why : "");
		return ret;
	}
	ret = rnbd_clt_disk_add(dev);
	if (ret) {
		pr_err("map_device: device_path=\"%s\": cannot add a disk: %pe\n", dev->path,
		       ERR_PTR(ret));
		return ret;
	}
	ret = rnbd_clt_sysfs_add(dev, links);
	if (ret)
		pr_err("map_device: device_path=\"%s\": cannot add files in sysfs: %pe\n",
		       dev->path, ERR_PTR(ret));
	return ret;
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
 * Return: 0, the disk is visible; -EEXIST: mapped already; see rnbd_clt_sess_get() and
 * rnbd_clt_dev_open() for more.
 */
int rnbd_clt_map(const struct rnbd_clt_sess_params *params, const struct rnbd_options *opts,
		 struct kobject *links)
{
	struct rnbd_clt_sess *sess;
	struct rnbd_clt_dev *dev;
	bool was_open;
	int ret;

	sess = rnbd_clt_sess_get(params);
	if (IS_ERR(sess))
		return PTR_ERR(sess);
	dev = rnbd_clt_dev_create(sess, opts->device_path, opts->access_mode,
				  opts->no_path_timeout);
	if (IS_ERR(dev)) {
		pr_err("map_device: device_path=\"%s\": %s in session %s\n", opts->device_path,
		       PTR_ERR(dev) == -EEXIST ? "mapped already" : "out of memory", sess->name);
		rnbd_clt_sess_put(sess);
		return PTR_ERR(dev);
	}
	dev->unmap = rnbd_clt_unmap;
	ret = rnbd_clt_map_bring_up(dev, links);
	if (ret) {
		was_open = rnbd_clt_dev_abort_map(dev);
		rnbd_clt_map_teardown(dev, true, was_open, NULL);
		return ret;
	}
	pr_info("%s: mapped device_path=\"%s\" of session %s, access_mode=%s, %llu sectors\n",
		dev->disk->disk_name, dev->path, sess->name, rnbd_access_mode_name(dev->access_mode),
		dev->limits.nsectors);
	rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_MAPPED, NULL, 0);
	rnbd_clt_dev_get(dev);
	rnbd_clt_dev_set_online(dev);
	rnbd_clt_dev_put(dev);
	return 0;
}

/**
 * rnbd_clt_unmap_all() - unmap every device by force
 *
 * Context: may sleep; nobody else maps or unmaps.
 */
void rnbd_clt_unmap_all(void)
{
	struct rnbd_clt_dev *dev;

	while ((dev = rnbd_clt_sess_any_dev())) {
		rnbd_clt_unmap(dev, true, NULL);
		rnbd_clt_dev_put(dev);
	}
}
