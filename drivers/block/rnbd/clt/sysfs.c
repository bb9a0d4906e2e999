// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directory rnbd/ of a disk in sysfs (sysfs specification section 3).
 *
 * Ownership
 *	The directory is removed before the disk, and removal waits for all methods but unmap_device, which does not
 *	count as one while it waits.  So a method finds the device through the disk, and needs no reference;
 *	unmap_device takes one, as it outlives the directory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "dev.h"
#include "hold.h"
#include "slow.h"
#include "sysfs.h"
#include "tell.h"
#include "../proto/opmap.h"
#include "../proto/options.h"

/* The byte offset of every sector fits a signed 64-bit number. */
#define RNBD_CLT_MAX_SECTORS	((u64)S64_MAX >> SECTOR_SHIFT)

static struct rnbd_clt_dev *rnbd_clt_sysfs_dev(const struct kobject *kobj)
{
	return dev_to_disk(kobj_to_dev(kobj->parent))->private_data;
}

/* Length of what was written without blanks at its end, for messages and comparison. */
static int rnbd_clt_sysfs_len(const char *buf)
{
	size_t len = strlen(buf);

	while (len && isspace(buf[len - 1]))
		len--;
	return len;
}

static ssize_t rnbd_clt_sysfs_unmap_device_show(struct kobject *kobj,
						struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <normal|force> > %s\n", attr->attr.name);
}

static int rnbd_clt_sysfs_parse_unmap(const struct rnbd_clt_dev *dev, const char *buf, bool *force)
{
	const char *word = skip_spaces(buf);
	int len = rnbd_clt_sysfs_len(word);

	*force = len == strlen("force") && !strncmp(word, "force", len);
	if (*force || (len == strlen("normal") && !strncmp(word, "normal", len)))
		return 0;
	pr_err("%s: unmap_device=\"%.*s\": expected normal or force\n",
	       dev->disk->disk_name, len, word);
	return -EINVAL;
}

static ssize_t rnbd_clt_sysfs_unmap_device_store(struct kobject *kobj,
						 struct kobj_attribute *attr, const char *buf,
						 size_t count)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	struct kernfs_node *self;
	bool force;
	int ret;

	ret = rnbd_clt_sysfs_parse_unmap(dev, buf, &force);
	if (ret)
		return ret;
	/* Not counted as inside the file nothing keeps the module from being unloaded, nor the device. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	rnbd_clt_dev_get(dev);
	self = sysfs_break_active_protection(kobj, &attr->attr);
	ret = self ? dev->unmap(dev, force) : -ENODEV;
	if (self)
		sysfs_unbreak_active_protection(self);
	rnbd_clt_dev_put(dev);
	module_put(THIS_MODULE);
	return ret ? ret : count;
}

static struct kobj_attribute rnbd_clt_sysfs_unmap_device =
	__ATTR(unmap_device, 0644, rnbd_clt_sysfs_unmap_device_show, rnbd_clt_sysfs_unmap_device_store);

static ssize_t rnbd_clt_sysfs_resize_show(struct kobject *kobj,
					  struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <new size in 512 byte sectors> > %s\n",
			  attr->attr.name);
}

static ssize_t rnbd_clt_sysfs_resize_store(struct kobject *kobj,
					   struct kobj_attribute *attr, const char *buf,
					   size_t count)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	unsigned int block_sectors = dev->limits.logical_block_bytes >> SECTOR_SHIFT;
	unsigned long nsectors;
	int ret;

	ret = kstrtoul(buf, 0, &nsectors);
	if (!ret && nsectors > RNBD_CLT_MAX_SECTORS)
		ret = -ERANGE;
	if (!ret && nsectors % block_sectors)
		ret = -EINVAL;
	if (ret) {
		pr_err("%s: resize=\"%.*s\": expected a number of sectors up to %llu, in multiples of %u\n",
		       dev->disk->disk_name, rnbd_clt_sysfs_len(buf), buf,
		       RNBD_CLT_MAX_SECTORS, block_sectors);
		return ret;
	}
	if (rnbd_clt_dev_state(dev) != RNBD_CLT_DEV_OPEN) {
		pr_err("%s: resize=%lu: expected state open, it is %s\n", dev->disk->disk_name,
		       nsectors, rnbd_clt_dev_state_name(rnbd_clt_dev_state(dev)));
		return -ENOENT;
	}
	set_capacity_and_notify(dev->disk, nsectors);
	rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_RESIZED, NULL, 0);
	return count;
}

static struct kobj_attribute rnbd_clt_sysfs_resize =
	__ATTR(resize, 0644, rnbd_clt_sysfs_resize_show, rnbd_clt_sysfs_resize_store);

static ssize_t rnbd_clt_sysfs_remap_device_show(struct kobject *kobj,
						struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo <1|accept> > %s\n", attr->attr.name);
}

static ssize_t rnbd_clt_sysfs_remap_device_store(struct kobject *kobj,
						 struct kobj_attribute *attr, const char *buf,
						 size_t count)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	bool accept = sysfs_streq(buf, "accept");
	int ret;

	if (!accept && !sysfs_streq(buf, "1")) {
		pr_err("%s: remap_device=\"%.*s\": expected 1 or accept\n",
		       dev->disk->disk_name, rnbd_clt_sysfs_len(buf), buf);
		return -EINVAL;
	}
	ret = rnbd_clt_dev_open(dev, RNBD_CLT_DEV_CLOSED, accept);
	if (ret)
		pr_err("%s: remap_device=%s: %pe%s%s, state is %s\n", dev->disk->disk_name,
		       accept ? "accept" : "1", ERR_PTR(ret), dev->open_why ? ", " : "",
		       dev->open_why ? dev->open_why : "",
		       rnbd_clt_dev_state_name(rnbd_clt_dev_state(dev)));
	return ret ? ret : count;
}

static struct kobj_attribute rnbd_clt_sysfs_remap_device =
	__ATTR(remap_device, 0644, rnbd_clt_sysfs_remap_device_show, rnbd_clt_sysfs_remap_device_store);

static ssize_t rnbd_clt_sysfs_mapping_path_show(struct kobject *kobj,
						struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rnbd_clt_sysfs_dev(kobj)->path);
}

static struct kobj_attribute rnbd_clt_sysfs_mapping_path =
	__ATTR(mapping_path, 0444, rnbd_clt_sysfs_mapping_path_show, NULL);

static ssize_t rnbd_clt_sysfs_state_show(struct kobject *kobj,
					 struct kobj_attribute *attr, char *buf)
{
	enum rnbd_clt_dev_state state = rnbd_clt_dev_state(rnbd_clt_sysfs_dev(kobj));

	return sysfs_emit(buf, "%s\n", rnbd_clt_dev_state_name(state));
}

static struct kobj_attribute rnbd_clt_sysfs_state =
	__ATTR(state, 0444, rnbd_clt_sysfs_state_show, NULL);

static ssize_t rnbd_clt_sysfs_identity_show(struct kobject *kobj,
					    struct kobj_attribute *attr, char *buf)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	char text[RNBD_IDENTITY_TEXT_LEN];

	spin_lock(&dev->sess->lock);
	rnbd_identity_text(&dev->identity, text, sizeof(text));
	spin_unlock(&dev->sess->lock);
	return sysfs_emit(buf, "%s\n", text);
}

static struct kobj_attribute rnbd_clt_sysfs_identity =
	__ATTR(identity, 0444, rnbd_clt_sysfs_identity_show, NULL);

static ssize_t rnbd_clt_sysfs_session_show(struct kobject *kobj,
					   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rnbd_clt_sysfs_dev(kobj)->sess->name);
}

static struct kobj_attribute rnbd_clt_sysfs_session =
	__ATTR(session, 0444, rnbd_clt_sysfs_session_show, NULL);

static ssize_t rnbd_clt_sysfs_access_mode_show(struct kobject *kobj,
					       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  rnbd_access_mode_name(rnbd_clt_sysfs_dev(kobj)->access_mode));
}

static struct kobj_attribute rnbd_clt_sysfs_access_mode =
	__ATTR(access_mode, 0444, rnbd_clt_sysfs_access_mode_show, NULL);

static ssize_t rnbd_clt_sysfs_nr_poll_queues_show(struct kobject *kobj,
						  struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rnbd_clt_sysfs_dev(kobj)->sess->nr_poll_queues);
}

static struct kobj_attribute rnbd_clt_sysfs_nr_poll_queues =
	__ATTR(nr_poll_queues, 0444, rnbd_clt_sysfs_nr_poll_queues_show, NULL);

/* A number of seconds from @least on, which itself means for ever.  Return: 0, or -EINVAL with a message. */
static int rnbd_clt_sysfs_get_secs(const struct rnbd_clt_dev *dev, const struct kobj_attribute *attr, const char *buf,
				   int least, int most, int *secs)
{
	if (!kstrtoint(buf, 0, secs) && *secs >= least && *secs <= most)
		return 0;
	pr_err("%s: %s=\"%.*s\": expected a number of seconds from %d to %d, %d for ever\n", dev->disk->disk_name,
	       attr->attr.name, rnbd_clt_sysfs_len(buf), buf, least, most, least);
	return -EINVAL;
}

static ssize_t rnbd_clt_sysfs_no_path_timeout_show(struct kobject *kobj,
						   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(rnbd_clt_sysfs_dev(kobj)->hold.timeout));
}

static ssize_t rnbd_clt_sysfs_no_path_timeout_store(struct kobject *kobj,
						    struct kobj_attribute *attr, const char *buf,
						    size_t count)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	int timeout, ret;

	ret = rnbd_clt_sysfs_get_secs(dev, attr, buf, -1, RNBD_OPT_MAX_NO_PATH_TIMEOUT, &timeout);
	if (ret)
		return ret;
	rnbd_clt_hold_set_timeout(dev, timeout);
	return count;
}

static struct kobj_attribute rnbd_clt_sysfs_no_path_timeout =
	__ATTR(no_path_timeout, 0644, rnbd_clt_sysfs_no_path_timeout_show,
	       rnbd_clt_sysfs_no_path_timeout_store);

static ssize_t rnbd_clt_sysfs_request_timeout_show(struct kobject *kobj,
						   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(rnbd_clt_sysfs_dev(kobj)->slow.request_timeout));
}

static ssize_t rnbd_clt_sysfs_request_timeout_store(struct kobject *kobj,
						    struct kobj_attribute *attr, const char *buf,
						    size_t count)
{
	struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);
	int timeout, ret;

	ret = rnbd_clt_sysfs_get_secs(dev, attr, buf, 0, RNBD_OPT_MAX_REQUEST_TIMEOUT, &timeout);
	if (ret)
		return ret;
	WRITE_ONCE(dev->slow.request_timeout, timeout);
	return count;
}

static struct kobj_attribute rnbd_clt_sysfs_request_timeout =
	__ATTR(request_timeout, 0644, rnbd_clt_sysfs_request_timeout_show,
	       rnbd_clt_sysfs_request_timeout_store);

static ssize_t rnbd_clt_sysfs_slow_show(struct kobject *kobj,
					struct kobj_attribute *attr, char *buf)
{
	const struct rnbd_clt_dev *dev = rnbd_clt_sysfs_dev(kobj);

	return sysfs_emit(buf, "%u %u\n", rnbd_clt_slow_secs(dev), rnbd_clt_slow_count(dev));
}

static struct kobj_attribute rnbd_clt_sysfs_slow =
	__ATTR(slow, 0444, rnbd_clt_sysfs_slow_show, NULL);

static const struct attribute *const rnbd_clt_sysfs_attrs[] = {
	&rnbd_clt_sysfs_unmap_device.attr,
	&rnbd_clt_sysfs_resize.attr,
	&rnbd_clt_sysfs_remap_device.attr,
	&rnbd_clt_sysfs_mapping_path.attr,
	&rnbd_clt_sysfs_state.attr,
	&rnbd_clt_sysfs_session.attr,
	&rnbd_clt_sysfs_identity.attr,
	&rnbd_clt_sysfs_access_mode.attr,
	&rnbd_clt_sysfs_nr_poll_queues.attr,
	&rnbd_clt_sysfs_no_path_timeout.attr,
	&rnbd_clt_sysfs_request_timeout.attr,
	&rnbd_clt_sysfs_slow.attr,
	NULL
};

/**
 * rnbd_clt_sysfs_add() - make the directory of a device, and the link that names it
 * @dev: device with its disk added
 * @links: directory for the link
 *
 * Context: may sleep.
 * Return: 0, to be undone by rnbd_clt_sysfs_del(), which is also good for half of it; -ENOMEM; -EEXIST.
 */
int rnbd_clt_sysfs_add(struct rnbd_clt_dev *dev, struct kobject *links)
{
	struct kobject *parent = &disk_to_dev(dev->disk)->kobj;
	char name[NAME_MAX + 1];
	int ret;

	dev->kobj = kobject_create_and_add("rnbd", parent);
	if (!dev->kobj)
		return -ENOMEM;
	ret = sysfs_create_files(dev->kobj, rnbd_clt_sysfs_attrs);
	if (ret)
		return ret;
	rnbd_clt_dev_link_name(dev, name, sizeof(name));
	ret = sysfs_create_link(links, parent, name);
	if (ret)
		return ret;
	dev->links = links;
	return 0;
}

/**
 * rnbd_clt_sysfs_del() - remove them
 * @dev: the device; they need not all exist
 *
 * Waits for all methods.
 *
 * Context: may sleep.
 */
void rnbd_clt_sysfs_del(struct rnbd_clt_dev *dev)
{
	char name[NAME_MAX + 1];

	if (dev->links) {
		rnbd_clt_dev_link_name(dev, name, sizeof(name));
		sysfs_remove_link(dev->links, name);
		dev->links = NULL;
	}
	if (!dev->kobj)
		return;
	kobject_del(dev->kobj);
	kobject_put(dev->kobj);
	dev->kobj = NULL;
}
