// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/rnbd-client/ctl: map_device and the directory of what is mapped (sysfs specification
 * section 3).
 *
 * Errors
 *	What is wrong with a text is told once in the kernel log, with key, value and what is allowed.
 *	Addresses are looked at even if they will not be needed, as a wrong one is a mistake.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "ctl.h"
#include "map.h"
#include "../proto/options.h"

/**
 * struct rnbd_clt_ctl - our objects in sysfs
 * @class: class rnbd-client
 * @dev: device ctl with map_device
 * @links: directory devices
 *
 * All set by module init, and constant until module exit.
 */
struct rnbd_clt_ctl {
	struct class class;
	struct device *dev;
	struct kobject *links;
};

static struct rnbd_clt_ctl rnbd_clt_ctl = {
	.class = {
		.name = "rnbd-client",
	},
};

/**
 * struct rnbd_clt_request - one write to map_device
 * @opts: what it says
 * @error: what is wrong with it
 * @paths: its addresses
 * @addrs: what @paths point to, source and destination of each
 */
struct rnbd_clt_request {
	struct rnbd_options opts;
	struct rnbd_options_error error;
	struct rtrs_addr paths[RNBD_OPT_MAX_PATHS];
	struct sockaddr_storage addrs[RNBD_OPT_MAX_PATHS][2];
};

static int rnbd_clt_ctl_parse_path(struct rnbd_clt_request *req, unsigned int i)
{
	const char *text = req->opts.paths[i];
	int ret;

	req->paths[i].src = &req->addrs[i][0];
	req->paths[i].dst = &req->addrs[i][1];
	ret = rtrs_addr_to_sockaddr(text, strlen(text), req->opts.dest_port, &req->paths[i]);
	if (ret)
		pr_err("map_device: path=\"%s\": expected [<src>,]<dst>, each ip:<IPv4 or IPv6 address> or gid:<GID>\n",
		       text);
	return ret;
}

static int rnbd_clt_ctl_parse(struct rnbd_clt_request *req, char *text)
{
	unsigned int i;
	int ret;

	ret = rnbd_options_parse(text, nr_cpu_ids, &req->opts, &req->error);
	if (ret && req->error.value)
		pr_err("map_device: %s=\"%s\": expected %s\n", req->error.key, req->error.value,
		       req->error.expected);
	else if (ret)
		pr_err("map_device: %s: expected %s\n", req->error.key, req->error.expected);
	for (i = 0; !ret && i < req->opts.nr_paths; i++)
		ret = rnbd_clt_ctl_parse_path(req, i);
	return ret;
}

static int rnbd_clt_ctl_map(const char *buf)
{
	struct rnbd_clt_sess_params params;
	struct rnbd_clt_request *req;
	char *text;
	int ret;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	text = kstrdup(buf, GFP_KERNEL);
	ret = text ? rnbd_clt_ctl_parse(req, text) : -ENOMEM;
	if (!ret) {
		params = (struct rnbd_clt_sess_params) {
			.name = req->opts.sessname,
			.paths = req->paths,
			.nr_paths = req->opts.nr_paths,
			.port = req->opts.dest_port,
			.nr_poll_queues = req->opts.nr_poll_queues,
			.timing = &req->opts.timing,
			.timing_given = req->opts.timing_given,
		};
		ret = rnbd_clt_map(&params, &req->opts, rnbd_clt_ctl.links);
	}
	kfree(text);
	kfree(req);
	return ret;
}

#define RNBD_CLT_CTL_TIMING(_name, _min, _max, _default) #_name " (" #_min ".." #_max ") "

static ssize_t rnbd_clt_ctl_map_device_show(struct device *dev, struct device_attribute *attr,
					    char *buf)
{
	return sysfs_emit(buf,
			  "Usage: echo \"sessname=<name> device_path=<path> [path=[<src>,]<dst>]... "
			  "[dest_port=<0..65535>] [access_mode=<ro|rw|migration>] "
			  "[nr_poll_queues=<-1..%u>] [no_path_timeout=<-1..%d>] [<timing>=<number>]...\" > %s\n"
			  "timing: " RTRS_CLT_TIMINGS(RNBD_CLT_CTL_TIMING) "\n"
			  "addresses: ip:<IPv4>, ip:<IPv6>, gid:<GID>\n",
			  nr_cpu_ids, RNBD_OPT_MAX_NO_PATH_TIMEOUT, attr->attr.name);
}

static ssize_t rnbd_clt_ctl_map_device_store(struct device *dev, struct device_attribute *attr,
					     const char *buf, size_t count)
{
	int ret;

	/* Connecting may take long; meanwhile the module is in use. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = rnbd_clt_ctl_map(buf);
	module_put(THIS_MODULE);
	return ret ? ret : count;
}

static struct device_attribute rnbd_clt_ctl_map_device =
	__ATTR(map_device, 0644, rnbd_clt_ctl_map_device_show, rnbd_clt_ctl_map_device_store);

static struct attribute *rnbd_clt_ctl_attrs[] = {
	&rnbd_clt_ctl_map_device.attr,
	NULL
};
ATTRIBUTE_GROUPS(rnbd_clt_ctl);

/**
 * rnbd_clt_ctl_create() - make our objects in sysfs; from then on devices can be mapped
 *
 * Context: module init, with all else ready.
 * Return: 0 or a negative errno.
 */
int rnbd_clt_ctl_create(void)
{
	struct rnbd_clt_ctl *ctl = &rnbd_clt_ctl;
	int ret;

	ret = class_register(&ctl->class);
	if (ret)
		return ret;
	ctl->dev = device_create(&ctl->class, NULL, MKDEV(0, 0), NULL, "ctl");
	if (IS_ERR(ctl->dev)) {
		ret = PTR_ERR(ctl->dev);
		goto err_unregister_class;
	}
	ctl->links = kobject_create_and_add("devices", &ctl->dev->kobj);
	if (!ctl->links) {
		ret = -ENOMEM;
		goto err_unregister_dev;
	}
	/* Last: a mapping needs the directory. */
	ret = sysfs_create_groups(&ctl->dev->kobj, rnbd_clt_ctl_groups);
	if (ret)
		goto err_del_links;
	return 0;

err_del_links:
	kobject_del(ctl->links);
	kobject_put(ctl->links);
err_unregister_dev:
	device_unregister(ctl->dev);
err_unregister_class:
	class_unregister(&ctl->class);
	return ret;
}

/**
 * rnbd_clt_ctl_close() - no more devices can be mapped; waits for who is mapping
 *
 * Context: module exit.
 */
void rnbd_clt_ctl_close(void)
{
	sysfs_remove_groups(&rnbd_clt_ctl.dev->kobj, rnbd_clt_ctl_groups);
}

/**
 * rnbd_clt_ctl_destroy() - remove our objects from sysfs
 *
 * Context: module exit, after rnbd_clt_ctl_close(), without devices.
 */
void rnbd_clt_ctl_destroy(void)
{
	kobject_del(rnbd_clt_ctl.links);
	kobject_put(rnbd_clt_ctl.links);
	device_unregister(rnbd_clt_ctl.dev);
	class_unregister(&rnbd_clt_ctl.class);
}
