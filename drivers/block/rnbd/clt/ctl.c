// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/rnbd-client/ctl: map_device and the directory of what is mapped (sysfs specification
 * section 3).
 *
 * Errors
 *	What is wrong with a request is told once in the kernel log, with key, value and what is allowed; netlink
 *	(nl.c) tells the same words to who asked.
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
#include <rdma/rtrs-job.h>

#include "ctl.h"
#include "dev.h"
#include "map.h"

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
 * struct rnbd_clt_text - one write to map_device
 * @opts: what it says
 * @error: what is wrong with it
 * @text: a copy of it, which @opts and @error point into
 */
struct rnbd_clt_text {
	struct rnbd_options opts;
	struct rnbd_options_error error;
	char text[];
};

/**
 * struct rnbd_clt_addrs - addresses of one request
 * @paths: the addresses
 * @addrs: what @paths point to, source and destination of each
 */
struct rnbd_clt_addrs {
	struct rtrs_addr paths[RNBD_OPT_MAX_PATHS];
	struct sockaddr_storage addrs[RNBD_OPT_MAX_PATHS][2];
};

/**
 * rnbd_clt_ctl_refuse() - tell what is wrong with a request
 * @error: what
 * @report: where to, besides the kernel log, or NULL
 *
 * Context: any.
 */
void rnbd_clt_ctl_refuse(const struct rnbd_options_error *error, struct rtrs_report *report)
{
	if (error->value)
		rnbd_clt_err(report, "map_device: %s=\"%s\": expected %s\n", error->key, error->value,
			     error->expected);
	else
		rnbd_clt_err(report, "map_device: %s: expected %s\n", error->key, error->expected);
}

static int rnbd_clt_ctl_parse_path(struct rnbd_clt_addrs *addrs, const struct rnbd_options *opts,
				   unsigned int i, struct rtrs_report *report)
{
	const char *text = opts->paths[i];
	int ret;

	addrs->paths[i].src = &addrs->addrs[i][0];
	addrs->paths[i].dst = &addrs->addrs[i][1];
	ret = rtrs_addr_to_sockaddr(text, strlen(text), opts->dest_port, &addrs->paths[i]);
	if (ret) {
		rnbd_clt_err(report, "map_device: path=\"%s\": expected [<src>,]<dst>, each ip:<IPv4 or IPv6 address> or gid:<GID>\n",
			     text);
		rtrs_report_blame(report, "path", i);
	}
	return ret;
}

/**
 * rnbd_clt_ctl_map() - map a device
 * @opts: which one, and how
 * @report: for words if it fails, besides the kernel log, or NULL
 *
 * Context: may sleep, for as long as connecting and opening take; the caller keeps the module from being unloaded.
 * Return: the device for rnbd_clt_dev_put(), or ERR_PTR: -EINVAL, -EPROTONOSUPPORT: no such addresses; -ENOMEM; see
 * rnbd_clt_map() for more.
 */
struct rnbd_clt_dev *rnbd_clt_ctl_map(const struct rnbd_options *opts, struct rtrs_report *report)
{
	struct rnbd_clt_sess_params params;
	struct rnbd_clt_addrs *addrs;
	struct rnbd_clt_dev *dev;
	unsigned int i;
	int ret = 0;

	addrs = kzalloc(sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; !ret && i < opts->nr_paths; i++)
		ret = rnbd_clt_ctl_parse_path(addrs, opts, i, report);
	params = (struct rnbd_clt_sess_params) {
		.name = opts->sessname,
		.paths = addrs->paths,
		.nr_paths = opts->nr_paths,
		.port = opts->dest_port,
		.nr_poll_queues = opts->nr_poll_queues,
		.timing = &opts->timing,
		.timing_given = opts->timing_given,
		.report = report,
	};
	dev = ret ? ERR_PTR(ret) : rnbd_clt_map(&params, opts, rnbd_clt_ctl.links);
	kfree(addrs);
	return dev;
}

static int rnbd_clt_ctl_map_run(void *data)
{
	struct rnbd_clt_text *text = data;
	struct rnbd_clt_dev *dev = rnbd_clt_ctl_map(&text->opts, NULL);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	rnbd_clt_dev_put(dev);
	return 0;
}

static void rnbd_clt_ctl_map_free(void *data)
{
	kfree(data);
}

/* A job maps the device: if the writer is killed he need not wait until it is undone. */
static int rnbd_clt_ctl_map_text(const char *buf)
{
	struct rnbd_clt_text *text = kzalloc(struct_size(text, text, strlen(buf) + 1), GFP_KERNEL);
	struct rtrs_job_work work = {
		.owner = THIS_MODULE,
		.run = rnbd_clt_ctl_map_run,
		.free = rnbd_clt_ctl_map_free,
		.data = text,
		.can_cancel = true,
	};
	struct rtrs_job *job;
	int ret;

	if (!text)
		return -ENOMEM;
	strcpy(text->text, buf);
	ret = rnbd_options_parse(text->text, nr_cpu_ids, &text->opts, &text->error);
	if (ret) {
		rnbd_clt_ctl_refuse(&text->error, NULL);
		goto err_free;
	}
	job = rtrs_job_create(&work, "map %s of session %s", text->opts.device_path,
			      text->opts.sessname);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		goto err_free;
	}
	return rtrs_job_run(job);

err_free:
	kfree(text);
	return ret;
}

#define RNBD_CLT_CTL_TIMING(_name, _min, _max, _default) #_name " (" #_min ".." #_max ") "

static ssize_t rnbd_clt_ctl_map_device_show(struct device *dev, struct device_attribute *attr,
					    char *buf)
{
	return sysfs_emit(buf,
			  "Usage: echo \"sessname=<name> device_path=<path> [path=[<src>,]<dst>]... "
			  "[dest_port=<0..65535>] [access_mode=<ro|rw|migration>] "
			  "[nr_poll_queues=<-1..%u>] [no_path_timeout=<-1..%d>] [request_timeout=<0..%d>] [<timing>=<number>]...\" > %s\n"
			  "timing: " RTRS_CLT_TIMINGS(RNBD_CLT_CTL_TIMING) "\n"
			  "addresses: ip:<IPv4>, ip:<IPv6>, gid:<GID>\n",
			  nr_cpu_ids, RNBD_OPT_MAX_NO_PATH_TIMEOUT, RNBD_OPT_MAX_REQUEST_TIMEOUT, attr->attr.name);
}

static ssize_t rnbd_clt_ctl_map_device_store(struct device *dev, struct device_attribute *attr,
					     const char *buf, size_t count)
{
	int ret;

	/* Connecting may take long; meanwhile the module is in use. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = rnbd_clt_ctl_map_text(buf);
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
