// SPDX-License-Identifier: GPL-2.0-only
/*
 * The administrator's side: class rnbd-server with its device ctl, the files of an open device
 * below ctl/devices/<bdev>/sessions/<session>, those that change the export list, and
 * rnbd-server/sessions in debugfs.
 *
 * Ordering: what the files show is constant while they exist, or a number, so reading takes no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../proto/opmap.h"
#include "ctl.h"
#include "dev.h"
#include "export.h"
#include "fault.h"
#include "offer.h"
#include "sess.h"
#include "slow.h"

/* How late a write to force_close is when a test wants it late. */
#define RNBD_SRV_FORCE_CLOSE_DELAY_MS	1000

/**
 * struct rnbd_srv_ctl - roots of what administrators see
 * @dev: /sys/class/rnbd-server/ctl
 * @devices: directory below it
 * @exports: the other one, of the export list
 * @debugfs: /sys/kernel/debug/rnbd-server
 */
struct rnbd_srv_ctl {
	struct device *dev;
	struct kobject *devices;
	struct kobject *exports;
	struct dentry *debugfs;
};

static struct rnbd_srv_ctl rnbd_srv_ctl;

static struct class rnbd_srv_class = {
	.name = "rnbd-server",
};

static struct rnbd_srv_dev *rnbd_srv_ctl_to_dev(struct kobject *kobj)
{
	return container_of(kobj, struct rnbd_srv_dev, kobj);
}

static ssize_t read_only_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", rnbd_srv_ctl_to_dev(kobj)->access_mode == RNBD_ACCESS_RO);
}
static struct kobj_attribute rnbd_srv_ctl_read_only = __ATTR_RO(read_only);

static ssize_t access_mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	u8 access_mode = rnbd_srv_ctl_to_dev(kobj)->access_mode;

	return sysfs_emit(page, "%s\n", rnbd_access_mode_name(access_mode));
}
static struct kobj_attribute rnbd_srv_ctl_access_mode = __ATTR_RO(access_mode);

static ssize_t mapping_path_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", rnbd_srv_ctl_to_dev(kobj)->name);
}
static struct kobj_attribute rnbd_srv_ctl_mapping_path = __ATTR_RO(mapping_path);

static ssize_t slow_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	struct rnbd_srv_dev *dev = rnbd_srv_ctl_to_dev(kobj);

	return sysfs_emit(page, "%u %u\n", rnbd_srv_slow_secs(dev), READ_ONCE(dev->slow.count));
}
static struct kobj_attribute rnbd_srv_ctl_slow = __ATTR_RO(slow);

static ssize_t force_close_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "Usage: echo 1 > %s\n", attr->attr.name);
}

/*
 * The directory goes away while this runs, be it by this or because the client closes the device just now, and that
 * waits for everybody who executes one of its files; this waits for that.  Hence it does not count as such meanwhile, and
 * only what is held keeps the device, its session and this module.
 */
static ssize_t force_close_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
				 size_t count)
{
	struct rnbd_srv_dev *dev = rnbd_srv_ctl_to_dev(kobj);
	struct kernfs_node *self;
	int ret = -ENODEV;

	if (!sysfs_streq(buf, "1")) {
		pr_err("session %*pE: \"%*pE\": force_close: '%*pE' is not valid, write 1\n",
		       RNBD_SRV_STR(dev->sess->name), RNBD_SRV_STR(dev->name),
		       (int)min_t(size_t, count, 64), buf);
		return -EINVAL;
	}
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	if (fault_here(force_close_delayed))
		msleep(RNBD_SRV_FORCE_CLOSE_DELAY_MS);
	rnbd_srv_dev_hold(dev);
	self = sysfs_break_active_protection(kobj, &attr->attr);
	if (self) {
		ret = rnbd_srv_dev_force_close(dev);
		sysfs_unbreak_active_protection(self);
	}
	rnbd_srv_dev_unhold(dev);
	module_put(THIS_MODULE);
	return ret ?: count;
}
static struct kobj_attribute rnbd_srv_ctl_force_close =
	__ATTR(force_close, 0644, force_close_show, force_close_store);

static struct attribute *rnbd_srv_ctl_dev_attrs[] = {
	&rnbd_srv_ctl_read_only.attr,
	&rnbd_srv_ctl_access_mode.attr,
	&rnbd_srv_ctl_mapping_path.attr,
	&rnbd_srv_ctl_slow.attr,
	&rnbd_srv_ctl_force_close.attr,
	NULL
};
ATTRIBUTE_GROUPS(rnbd_srv_ctl_dev);

static void rnbd_srv_ctl_dev_release(struct kobject *kobj)
{
	rnbd_srv_dev_free(rnbd_srv_ctl_to_dev(kobj));
}

/* Type of the kobject of an open device. */
const struct kobj_type rnbd_srv_ctl_dev_type = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= rnbd_srv_ctl_dev_groups,
	.release	= rnbd_srv_ctl_dev_release,
};

static ssize_t export_device_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page,
			  "Usage: echo \"name=<name> device=<path> [access_mode=<ro|rw|migration>] [clients=<client>[,<client>]...] [identity=<text>]\" > %s\n"
			  "client: ip:<IPv4>, ip:<IPv6>, gid:<GID> or the name of a session; without any: all\n",
			  attr->attr.name);
}

static ssize_t export_device_store(struct device *dev, struct device_attribute *attr, const char *buf,
				   size_t count)
{
	return rnbd_srv_offer_set(buf) ?: count;
}
static DEVICE_ATTR_RW(export_device);

static ssize_t unexport_device_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "Usage: echo \"name=<name>\" > %s\n", attr->attr.name);
}

static ssize_t unexport_device_store(struct device *dev, struct device_attribute *attr,
				     const char *buf, size_t count)
{
	return rnbd_srv_offer_remove(buf) ?: count;
}
static DEVICE_ATTR_RW(unexport_device);

static const struct attribute *rnbd_srv_ctl_attrs[] = {
	&dev_attr_export_device.attr,
	&dev_attr_unexport_device.attr,
	NULL
};

static int rnbd_srv_ctl_sessions_show(struct seq_file *seq, void *unused)
{
	rnbd_srv_sessions_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rnbd_srv_ctl_sessions);

/**
 * rnbd_srv_ctl_init() - create the class, its device and the directories
 *
 * Context: process, before the first client.
 * Return: 0 or a negative errno.
 */
int rnbd_srv_ctl_init(void)
{
	int ret;

	ret = class_register(&rnbd_srv_class);
	if (ret)
		return ret;
	rnbd_srv_ctl.dev = device_create(&rnbd_srv_class, NULL, MKDEV(0, 0), NULL, "ctl");
	if (IS_ERR(rnbd_srv_ctl.dev)) {
		ret = PTR_ERR(rnbd_srv_ctl.dev);
		goto err_unregister_class;
	}
	rnbd_srv_ctl.devices = kobject_create_and_add("devices", &rnbd_srv_ctl.dev->kobj);
	if (!rnbd_srv_ctl.devices) {
		ret = -ENOMEM;
		goto err_unregister_dev;
	}
	rnbd_srv_ctl.exports = kobject_create_and_add("exports", &rnbd_srv_ctl.dev->kobj);
	if (!rnbd_srv_ctl.exports) {
		ret = -ENOMEM;
		goto err_put_devices;
	}
	rnbd_srv_exports_init(rnbd_srv_ctl.devices);
	rnbd_srv_offers_init(rnbd_srv_ctl.exports);
	ret = sysfs_create_files(&rnbd_srv_ctl.dev->kobj, rnbd_srv_ctl_attrs);
	if (ret)
		goto err_put_exports;
	/* Without debugfs the rest works as well. */
	rnbd_srv_ctl.debugfs = debugfs_create_dir("rnbd-server", NULL);
	debugfs_create_file("sessions", 0400, rnbd_srv_ctl.debugfs, NULL,
			    &rnbd_srv_ctl_sessions_fops);
	rnbd_srv_fault_init(rnbd_srv_ctl.debugfs);
	return 0;

err_put_exports:
	kobject_put(rnbd_srv_ctl.exports);
err_put_devices:
	kobject_put(rnbd_srv_ctl.devices);
err_unregister_dev:
	device_unregister(rnbd_srv_ctl.dev);
err_unregister_class:
	class_unregister(&rnbd_srv_class);
	return ret;
}

/**
 * rnbd_srv_ctl_exit() - the reverse of rnbd_srv_ctl_init()
 *
 * Context: process, after the last client.
 */
void rnbd_srv_ctl_exit(void)
{
	debugfs_remove_recursive(rnbd_srv_ctl.debugfs);
	sysfs_remove_files(&rnbd_srv_ctl.dev->kobj, rnbd_srv_ctl_attrs);
	rnbd_srv_offers_exit();
	rnbd_srv_exports_exit();
	kobject_put(rnbd_srv_ctl.exports);
	kobject_put(rnbd_srv_ctl.devices);
	device_unregister(rnbd_srv_ctl.dev);
	class_unregister(&rnbd_srv_class);
}
