// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/rtrs-server/<session>/paths/<client>@<server>/ (sysfs specification section 2).
 *
 * Ordering: a session's directory is there while at least one of its paths is up, a path's
 * directory from right before it serves until the close work starts to free things.  Removing a
 * directory waits for the attributes being read or written, except for "disconnect", which removes
 * itself and holds a reference instead.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/device.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "fault.h"
#include "rtrs-srv.h"

static struct class rtrs_srv_class = {
	.name = "rtrs-server",
};

static struct rtrs_srv_path *rtrs_srv_kobj_to_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_srv_path, kobj);
}

static ssize_t hca_name_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", dev_name(&rtrs_srv_kobj_to_path(kobj)->dev->dev));
}
static struct kobj_attribute rtrs_srv_attr_hca_name = __ATTR_RO(hca_name);

static ssize_t hca_port_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rtrs_srv_kobj_to_path(kobj)->port_num);
}
static struct kobj_attribute rtrs_srv_attr_hca_port = __ATTR_RO(hca_port);

static ssize_t rtrs_srv_sysfs_emit_addr(const struct sockaddr_storage *addr, char *buf)
{
	char text[RTRS_ADDR_STR_LEN];

	sockaddr_to_str((const struct sockaddr *)addr, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static ssize_t src_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rtrs_srv_sysfs_emit_addr(&rtrs_srv_kobj_to_path(kobj)->clt_addr, buf);
}
static struct kobj_attribute rtrs_srv_attr_src_addr = __ATTR_RO(src_addr);

static ssize_t dst_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rtrs_srv_sysfs_emit_addr(&rtrs_srv_kobj_to_path(kobj)->srv_addr, buf);
}
static struct kobj_attribute rtrs_srv_attr_dst_addr = __ATTR_RO(dst_addr);

static ssize_t chunks_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(rtrs_srv_kobj_to_path(kobj)->chunks.open));
}
static struct kobj_attribute rtrs_srv_attr_chunks = __ATTR_RO(chunks);

static ssize_t disconnect_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo 1 > %s\n", attr->attr.name);
}

static ssize_t disconnect_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	struct rtrs_srv_path *path = rtrs_srv_kobj_to_path(kobj);

	if (!sysfs_streq(buf, "1")) {
		pr_err("path %s: disconnect: '%.*s' is not valid, write 1\n", path->name,
		       (int)strcspn(buf, "\n"), buf);
		return -EINVAL;
	}
	/* Once the file has removed itself nothing else keeps the path, nor the module. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	kobject_get(kobj);
	if (sysfs_remove_file_self(kobj, &attr->attr) &&
	    rtrs_srv_path_event_why(path, RTRS_SRV_EV_CLOSE, "asked for through sysfs"))
		pr_info("path %s closed: asked for through sysfs\n", path->name);
	kobject_put(kobj);
	module_put(THIS_MODULE);
	return count;
}
static struct kobj_attribute rtrs_srv_attr_disconnect = __ATTR_RW(disconnect);

static struct attribute *rtrs_srv_path_attrs[] = {
	&rtrs_srv_attr_hca_name.attr,
	&rtrs_srv_attr_hca_port.attr,
	&rtrs_srv_attr_src_addr.attr,
	&rtrs_srv_attr_dst_addr.attr,
	&rtrs_srv_attr_chunks.attr,
	&rtrs_srv_attr_disconnect.attr,
	NULL
};

static const struct attribute_group rtrs_srv_path_group = {
	.attrs = rtrs_srv_path_attrs,
};

static ssize_t rdma_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_io_stats sum;

	rtrs_io_stats_sum(rtrs_srv_kobj_to_path(kobj)->stats, &sum);
	return sysfs_emit(buf, "%llu %llu %llu %llu\n", sum.cnt[READ], sum.bytes[READ],
			  sum.cnt[WRITE], sum.bytes[WRITE]);
}

static int rtrs_srv_want_reset(const struct rtrs_srv_path *path, const char *name, const char *buf)
{
	if (sysfs_streq(buf, "1"))
		return 0;
	pr_err("path %s: stats/%s: '%.*s' is not valid, write 1 to reset\n", path->name, name,
	       (int)strcspn(buf, "\n"), buf);
	return -EINVAL;
}

static ssize_t rdma_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct rtrs_srv_path *path = rtrs_srv_kobj_to_path(kobj);
	int cpu, ret;

	ret = rtrs_srv_want_reset(path, attr->attr.name, buf);
	if (ret)
		return ret;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(path->stats, cpu), 0, sizeof(struct rtrs_io_stats));
	return count;
}
static struct kobj_attribute rtrs_srv_attr_rdma = __ATTR_RW(rdma);

#define RTRS_SRV_LAT_ATTR(_name, _dir)							\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) \
{											\
	return rtrs_srv_lat_show(rtrs_srv_kobj_to_path(kobj), _dir, buf);		\
}											\
											\
static ssize_t _name##_store(struct kobject *kobj, struct kobj_attribute *attr,		\
			     const char *buf, size_t count)				\
{											\
	struct rtrs_srv_path *path = rtrs_srv_kobj_to_path(kobj);			\
	int ret = rtrs_srv_want_reset(path, attr->attr.name, buf);			\
											\
	if (ret)									\
		return ret;								\
	rtrs_srv_lat_reset(path, _dir);							\
	return count;									\
}											\
static struct kobj_attribute rtrs_srv_attr_##_name = __ATTR_RW(_name)

RTRS_SRV_LAT_ATTR(latency_read, READ);
RTRS_SRV_LAT_ATTR(latency_write, WRITE);

static struct attribute *rtrs_srv_stats_attrs[] = {
	&rtrs_srv_attr_rdma.attr,
	&rtrs_srv_attr_latency_read.attr,
	&rtrs_srv_attr_latency_write.attr,
	NULL
};

static const struct attribute_group rtrs_srv_stats_group = {
	.name = "stats",
	.attrs = rtrs_srv_stats_attrs,
};

static const struct attribute_group *rtrs_srv_path_groups[] = {
	&rtrs_srv_path_group,
	&rtrs_srv_stats_group,
	NULL
};

/**
 * rtrs_srv_sysfs_init() - create /sys/class/rtrs-server
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int rtrs_srv_sysfs_init(void)
{
	return class_register(&rtrs_srv_class);
}

/**
 * rtrs_srv_sysfs_exit() - undo rtrs_srv_sysfs_init()
 *
 * Context: module exit; no session is left.
 */
void rtrs_srv_sysfs_exit(void)
{
	class_unregister(&rtrs_srv_class);
}

/**
 * rtrs_srv_sysfs_add_sess() - create the directory of a session
 * @sess: the session; its name is claimed, so no other has it
 *
 * Context: process, may sleep; the session's ev_mutex held.
 * Return: 0 or negative errno.
 */
int rtrs_srv_sysfs_add_sess(struct rtrs_srv_sess *sess)
{
	struct device *dev;

	lockdep_assert_held(&sess->ev_mutex);
	dev = fault_here(sysfs_sess) ? ERR_PTR(-ENOMEM) :
	      device_create(&rtrs_srv_class, NULL, MKDEV(0, 0), NULL, "%s", sess->name);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	sess->paths_kobj = kobject_create_and_add("paths", &dev->kobj);
	if (!sess->paths_kobj) {
		device_unregister(dev);
		return -ENOMEM;
	}
	sess->dev = dev;
	return 0;
}

/**
 * rtrs_srv_sysfs_del_sess() - remove the directory of a session
 * @sess: the session; its paths are removed
 *
 * Context: process, may sleep; the session's ev_mutex held.
 */
void rtrs_srv_sysfs_del_sess(struct rtrs_srv_sess *sess)
{
	lockdep_assert_held(&sess->ev_mutex);
	kobject_del(sess->paths_kobj);
	kobject_put(sess->paths_kobj);
	sess->paths_kobj = NULL;
	device_unregister(sess->dev);
	sess->dev = NULL;
}

/**
 * rtrs_srv_sysfs_add_path() - create the directory of a path
 * @path: the path; it counts as up, so its session's directory is there
 *
 * Context: process, may sleep; info work of the path.
 * Return: 0 or negative errno.
 */
int rtrs_srv_sysfs_add_path(struct rtrs_srv_path *path)
{
	int ret;

	ret = fault_here(sysfs_path) ? -ENOMEM :
	      kobject_add(&path->kobj, path->sess->paths_kobj, "%s", path->name);
	if (ret)
		return ret;
	ret = sysfs_create_groups(&path->kobj, rtrs_srv_path_groups);
	if (ret) {
		kobject_del(&path->kobj);
		return ret;
	}
	path->in_sysfs = true;
	return 0;
}

/**
 * rtrs_srv_sysfs_del_path() - remove the directory of a path
 * @path: the path; nothing happens if it has none
 *
 * No attribute is in use after return, but for a write to "disconnect", which holds a reference.
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_sysfs_del_path(struct rtrs_srv_path *path)
{
	if (!path->in_sysfs)
		return;
	path->in_sysfs = false;
	sysfs_remove_groups(&path->kobj, rtrs_srv_path_groups);
	kobject_del(&path->kobj);
}
