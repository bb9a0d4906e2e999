// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs of the client: /sys/class/rtrs-client/<session>/ (sysfs specification section 1).
 *
 * Lifetime: a path's kobject and a session's device carry the reference counts of their objects.  A
 * path holds its session.  Removing an attribute waits for who is inside it, so nothing here may be
 * called with a lock held that an attribute takes.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/rtrs-job.h>

#include "clt.h"
#include "fault.h"

/* Not with name_mutex: it is held while the directory is added, and taken away again if that fails half-way. */
#define RTRS_CLT_PATH_RO(_name, _fmt, ...)						\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) \
{											\
	struct rtrs_clt_path *path = to_clt_path(kobj);					\
	ssize_t len;									\
											\
	spin_lock_irq(&path->state_lock);						\
	len = sysfs_emit(buf, _fmt, __VA_ARGS__);					\
	spin_unlock_irq(&path->state_lock);						\
	return len;									\
}											\
static struct kobj_attribute rtrs_clt_##_name##_attr = __ATTR_RO(_name)

RTRS_CLT_PATH_RO(hca_name, "%s\n", path->hca_name);
RTRS_CLT_PATH_RO(hca_port, "%u\n", path->hca_port);

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	bool up = rtrs_clt_path_state(to_clt_path(kobj)) == RTRS_CLT_PATH_CONNECTED;

	return sysfs_emit(buf, "%s\n", up ? "connected" : "disconnected");
}

static struct kobj_attribute rtrs_clt_state_attr = __ATTR_RO(state);

static ssize_t cur_latency_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld ns\n", READ_ONCE(to_clt_path(kobj)->hb.latency_ns));
}

static struct kobj_attribute rtrs_clt_cur_latency_attr = __ATTR_RO(cur_latency);

/* The path's name is "src@dst"; each half has its own file. */
static ssize_t src_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_clt_path *path = to_clt_path(kobj);
	ssize_t len;

	spin_lock_irq(&path->state_lock);
	len = sysfs_emit(buf, "%.*s\n", (int)strcspn(path->name, "@"), path->name);
	spin_unlock_irq(&path->state_lock);
	return len;
}

static struct kobj_attribute rtrs_clt_src_addr_attr = __ATTR_RO(src_addr);

static ssize_t dst_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	char text[RTRS_ADDR_STR_LEN];

	sockaddr_to_str((struct sockaddr *)&to_clt_path(kobj)->dst, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static struct kobj_attribute rtrs_clt_dst_addr_attr = __ATTR_RO(dst_addr);

static ssize_t last_failure_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	char text[RTRS_CLT_FAILURE_BYTES];

	rtrs_clt_failure_get(to_clt_path(kobj), text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static struct kobj_attribute rtrs_clt_last_failure_attr = __ATTR_RO(last_failure);

static ssize_t rtrs_clt_usage_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rtrs_clt_show_usage(attr->attr.name, buf);
}

static ssize_t reconnect_store(struct kobject *kobj, struct kobj_attribute *attr,
			       const char *buf, size_t count)
{
	struct rtrs_clt_path *path = to_clt_path(kobj);
	int ret = rtrs_clt_want_one("reconnect", kobj, buf);

	if (ret)
		return ret;
	ret = rtrs_clt_path_reconnect(path);
	if (ret == -EBUSY)
		rtrs_clt_path_err(path, "reconnect: not possible in state %s\n",
				  rtrs_clt_path_state_name(rtrs_clt_path_state(path)));
	return ret ?: count;
}

static struct kobj_attribute rtrs_clt_reconnect_attr =
	__ATTR(reconnect, 0644, rtrs_clt_usage_show, reconnect_store);

static ssize_t disconnect_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	int ret = rtrs_clt_want_one("disconnect", kobj, buf);

	if (ret)
		return ret;
	return rtrs_clt_path_disconnect(to_clt_path(kobj)) ?: count;
}

static struct kobj_attribute rtrs_clt_disconnect_attr =
	__ATTR(disconnect, 0644, rtrs_clt_usage_show, disconnect_store);

static int rtrs_clt_remove_path_run(void *data)
{
	/* Does nothing if somebody else removes it. */
	rtrs_clt_path_destroy(data);
	return 0;
}

static void rtrs_clt_remove_path_free(void *data)
{
	struct rtrs_clt_path *path = data;

	kobject_put(&path->kobj);
}

static ssize_t remove_path_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	struct rtrs_clt_path *path = to_clt_path(kobj);
	struct rtrs_job_work work = {
		.owner = THIS_MODULE,
		.run = rtrs_clt_remove_path_run,
		.free = rtrs_clt_remove_path_free,
		.data = path,
	};
	int ret = rtrs_clt_want_one("remove_path", kobj, buf);
	struct rtrs_job *job;

	if (ret)
		return ret;
	/* Removing the file itself ends the protection that keeps the path alive, and the module. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	job = rtrs_job_create(&work, "remove path %s of session %s", kobject_name(kobj),
			      path->sess->name);
	if (IS_ERR(job) && PTR_ERR(job) != -ENOMEM) {
		ret = PTR_ERR(job);
		goto out_put_module;
	}
	kobject_get(kobj);
	sysfs_remove_file_self(kobj, &attr->attr);
	if (IS_ERR(job)) {
		/* For want of memory it is not killable. */
		rtrs_clt_path_destroy(path);
		kobject_put(kobj);
	} else {
		ret = rtrs_job_run(job);
	}
out_put_module:
	module_put(THIS_MODULE);
	return ret ?: count;
}

static struct kobj_attribute rtrs_clt_remove_path_attr =
	__ATTR(remove_path, 0644, rtrs_clt_usage_show, remove_path_store);

static struct attribute *rtrs_clt_path_attrs[] = {
	&rtrs_clt_hca_name_attr.attr,
	&rtrs_clt_hca_port_attr.attr,
	&rtrs_clt_src_addr_attr.attr,
	&rtrs_clt_dst_addr_attr.attr,
	&rtrs_clt_state_attr.attr,
	&rtrs_clt_cur_latency_attr.attr,
	&rtrs_clt_last_failure_attr.attr,
	&rtrs_clt_reconnect_attr.attr,
	&rtrs_clt_disconnect_attr.attr,
	&rtrs_clt_remove_path_attr.attr,
	NULL
};

static const struct attribute_group rtrs_clt_path_group = {
	.attrs = rtrs_clt_path_attrs,
};

static const struct attribute_group *rtrs_clt_path_groups[] = {
	&rtrs_clt_path_group,
	&rtrs_clt_path_stats_group,
	NULL
};

static void rtrs_clt_path_kobj_release(struct kobject *kobj)
{
	rtrs_clt_path_release(to_clt_path(kobj));
}

static const struct kobj_type rtrs_clt_path_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = rtrs_clt_path_groups,
	.release = rtrs_clt_path_kobj_release,
};

/**
 * rtrs_clt_path_create() - create a path and make it part of its session
 * @sess: the session
 * @addr: addresses, copied
 * @report: for words if it fails, NULL: nobody wants them
 *
 * Context: process, may sleep.
 * Return: the path, not started and not in sysfs, for rtrs_clt_path_destroy(); or ERR_PTR, see
 * rtrs_clt_sess_add_path().
 */
struct rtrs_clt_path *rtrs_clt_path_create(struct rtrs_clt_sess *sess, const struct rtrs_addr *addr,
					   struct rtrs_report *report)
{
	struct rtrs_clt_path *path = rtrs_clt_path_alloc(sess, addr, rtrs_clt_path_work);
	int ret;

	if (!path)
		return ERR_PTR(-ENOMEM);
	kobject_init(&path->kobj, &rtrs_clt_path_ktype);
	ret = rtrs_clt_sess_add_path(sess, path);
	if (ret) {
		rtrs_clt_failure_report(path, report);
		kobject_put(&path->kobj);
		return ERR_PTR(ret);
	}
	return path;
}

/**
 * rtrs_clt_path_publish() - show a path in sysfs
 * @path: the path; its session is in sysfs
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int rtrs_clt_path_publish(struct rtrs_clt_path *path)
{
	int ret;

	/* The worker renames the directory when it learns the source address. */
	mutex_lock(&path->name_mutex);
	if (test_bit(0, &path->removing))
		ret = -ESHUTDOWN;
	else
		ret = fault_here(sysfs_path) ? -ENOMEM :
		      kobject_add(&path->kobj, path->sess->paths_kobj, "%s", path->name);
	path->published = !ret;
	mutex_unlock(&path->name_mutex);
	if (ret && ret != -ESHUTDOWN)
		rtrs_clt_path_fail(path, "cannot be shown in sysfs: error %d\n", ret);
	return ret;
}

/**
 * rtrs_clt_path_destroy() - close a path, take it out of session and sysfs, put it
 * @path: the path
 *
 * Requests in flight on it go to other paths.  If somebody else destroys it already, nothing happens.
 *
 * Context: process, sleeps; may be called from the path's own remove_path attribute after that removed
 * itself, from no other attribute of the path.
 */
void rtrs_clt_path_destroy(struct rtrs_clt_path *path)
{
	bool published;

	if (test_and_set_bit(0, &path->removing))
		return;
	rtrs_clt_path_info(path, "removed\n");
	/* Somebody may ask for a reconnect between the two. */
	do {
		rtrs_clt_path_close(path);
	} while (!rtrs_clt_path_event(path, RTRS_CLT_EV_REMOVE));
	/* Connected and closed once more it may have left a link that nobody has waited for. */
	wait_event(path->state_wq, !atomic_read(&path->links));
	mutex_lock(&path->name_mutex);
	published = path->published;
	path->published = false;
	mutex_unlock(&path->name_mutex);
	if (published)
		kobject_del(&path->kobj);
	/* Who found the path there may have queued its worker. */
	rtrs_clt_sess_del_path(path);
	cancel_delayed_work_sync(&path->dwork);
	kobject_put(&path->kobj);
}

static ssize_t max_reconnect_attempts_show(struct device *dev, struct device_attribute *attr,
					   char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_clt_sess(dev)->max_reconnect_attempts));
}

static ssize_t max_reconnect_attempts_store(struct device *dev, struct device_attribute *attr,
					    const char *buf, size_t count)
{
	int value, ret = kstrtoint(buf, 10, &value);

	if (!ret && (value < -1 || value > 9999))
		ret = -EINVAL;
	if (ret) {
		pr_err("session %s: max_reconnect_attempts '%.*s' is not valid, allowed are -1 (for ever) to 9999\n",
		       to_clt_sess(dev)->name, (int)strcspn(buf, "\n"), buf);
		return ret;
	}
	WRITE_ONCE(to_clt_sess(dev)->max_reconnect_attempts, value);
	return count;
}

static DEVICE_ATTR_RW(max_reconnect_attempts);

static ssize_t mpath_policy_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rtrs_mp_policy_text(READ_ONCE(to_clt_sess(dev)->policy)));
}

static ssize_t mpath_policy_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	int policy = rtrs_mp_policy_parse(buf);

	if (policy < 0) {
		pr_err("session %s: mpath_policy '%.*s' is not valid, allowed are round-robin (rr, 0), min-inflight (mi, 1), min-latency (ml, 2), service-time (st, 3)\n",
		       to_clt_sess(dev)->name, (int)strcspn(buf, "\n"), buf);
		return policy;
	}
	WRITE_ONCE(to_clt_sess(dev)->policy, policy);
	return count;
}

static DEVICE_ATTR_RW(mpath_policy);

static ssize_t open_slots_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_clt_sess(dev)->slots.open));
}
static DEVICE_ATTR_RO(open_slots);

static int rtrs_clt_timing_store(struct rtrs_clt_sess *sess, const char *name, const char *buf,
				 u32 min, u32 max, u32 *result)
{
	const struct rtrs_clt_paths *paths;
	unsigned int value, i;
	int ret = kstrtouint(buf, 10, &value);

	if (!ret && (value < min || value > max))
		ret = -EINVAL;
	if (ret) {
		pr_err("session %s: %s '%.*s' is not valid, allowed are %u to %u\n", sess->name, name,
		       (int)strcspn(buf, "\n"), buf, min, max);
		return ret;
	}
	WRITE_ONCE(*result, value);
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		rtrs_clt_path_set_hb(paths->path[i]);
	rcu_read_unlock();
	return 0;
}

#define RTRS_CLT_TIMING_ATTR(_name, _min, _max, _default)					\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{												\
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_clt_sess(dev)->timing._name));			\
}												\
												\
static ssize_t _name##_store(struct device *dev, struct device_attribute *attr,		\
			     const char *buf, size_t count)					\
{												\
	return rtrs_clt_timing_store(to_clt_sess(dev), #_name, buf, _min, _max,			\
				     &to_clt_sess(dev)->timing._name) ?: count;			\
}												\
												\
static DEVICE_ATTR_RW(_name);

RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_ATTR)

static ssize_t add_path_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "Usage: echo [<source>,]<destination> > add_path; an address is ip:<ipv4>, ip:<ipv6> or gid:<gid>\n");
}

static struct rtrs_clt_path *rtrs_clt_connect_path(struct rtrs_clt_sess *sess,
						   const struct rtrs_addr *addr,
						   struct rtrs_report *report)
{
	struct rtrs_clt_path *path = rtrs_clt_path_create(sess, addr, report);
	int ret;

	if (IS_ERR(path))
		return path;
	/* The session may be closed meanwhile, and the path with it. */
	kobject_get(&path->kobj);
	rtrs_clt_path_start(path);
	ret = rtrs_clt_path_wait_first(path);
	if (!ret)
		ret = rtrs_clt_path_publish(path);
	/* Nobody waits for the path any longer. */
	if (!ret && fatal_signal_pending(current))
		ret = -EINTR;
	if (!ret)
		return path;
	rtrs_clt_failure_report(path, report);
	rtrs_clt_path_destroy(path);
	kobject_put(&path->kobj);
	return ERR_PTR(ret);
}

/* Addresses of a path, into the storage that @addr has. */
static int rtrs_clt_parse_path(const struct rtrs_clt_sess *sess, const char *text,
			       struct rtrs_addr *addr, struct rtrs_report *report)
{
	if (!rtrs_addr_to_sockaddr(text, strlen(text), sess->port, addr))
		return 0;
	rtrs_clt_err(report, "session %s: add_path '%s' is not valid, write [<source>,]<destination> with ip:<ipv4>, ip:<ipv6> or gid:<gid>\n",
		     sess->name, text);
	rtrs_report_blame(report, "path", 0);
	return -EINVAL;
}

/**
 * rtrs_clt_add_path() - add a path to an open session
 * @sess: the session, published
 * @text: its addresses, [<source>,]<destination>
 * @report: for words if it fails, NULL: nobody wants them
 *
 * Context: process, sleeps for as long as connecting takes.
 * Return: the path with a reference of its kobject, or ERR_PTR: -EINVAL no such addresses, -EBUSY the session is just
 * being opened or closed, -ECONNABORTED the path or its session was removed meanwhile, -EINTR
 * killed, why it does not connect, or
 * see rtrs_clt_sess_add_path().
 */
struct rtrs_clt_path *rtrs_clt_add_path(struct rtrs_clt_sess *sess, const char *text,
					struct rtrs_report *report)
{
	struct sockaddr_storage src, dst;
	struct rtrs_addr addr = { .src = &src, .dst = &dst };
	struct rtrs_clt_path *path;

	if (rtrs_clt_parse_path(sess, text, &addr, report))
		return ERR_PTR(-EINVAL);
	/* Until it is open its paths are those that it is opened with. */
	path = rtrs_clt_sess_is_open(sess) ? rtrs_clt_connect_path(sess, &addr, report) : ERR_PTR(-EBUSY);
	if (IS_ERR(path)) {
		rtrs_clt_err(report, "session %s: add_path '%s': %pe\n", sess->name, text, path);
		rtrs_report_blame(report, "path", 0);
	}
	return path;
}

/**
 * struct rtrs_clt_add_job - a write to add_path
 * @sess: the session, with a reference of its device
 * @text: what was written
 */
struct rtrs_clt_add_job {
	struct rtrs_clt_sess *sess;
	char text[];
};

static int rtrs_clt_add_path_run(void *data)
{
	struct rtrs_clt_add_job *add = data;
	struct rtrs_clt_path *path = rtrs_clt_add_path(add->sess, strim(add->text), NULL);

	if (IS_ERR(path))
		return PTR_ERR(path);
	kobject_put(&path->kobj);
	return 0;
}

static void rtrs_clt_add_path_free(void *data)
{
	struct rtrs_clt_add_job *add = data;

	put_device(&add->sess->dev);
	kfree(add);
}

static ssize_t add_path_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	int len = strcspn(buf, "\n");
	struct rtrs_clt_add_job *add = kzalloc(struct_size(add, text, len + 1), GFP_KERNEL);
	struct rtrs_job_work work = {
		.owner = THIS_MODULE,
		.run = rtrs_clt_add_path_run,
		.free = rtrs_clt_add_path_free,
		.data = add,
		.can_cancel = true,
	};
	struct sockaddr_storage src, dst;
	struct rtrs_addr addr = { .src = &src, .dst = &dst };
	struct rtrs_job *job;
	int ret;

	if (!add)
		return -ENOMEM;
	add->sess = to_clt_sess(dev);
	get_device(dev);
	memcpy(add->text, buf, len);
	/* What is wrong needs no thread. */
	ret = rtrs_clt_parse_path(add->sess, strim(add->text), &addr, NULL);
	if (ret)
		goto err_free;
	job = rtrs_job_create(&work, "add path %s of session %s", strim(add->text),
			      add->sess->name);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		goto err_free;
	}
	return rtrs_job_run(job) ?: count;

err_free:
	rtrs_clt_add_path_free(add);
	return ret;
}

static DEVICE_ATTR_RW(add_path);

static struct attribute *rtrs_clt_sess_attrs[] = {
	&dev_attr_max_reconnect_attempts.attr,
	&dev_attr_mpath_policy.attr,
	&dev_attr_open_slots.attr,
	&dev_attr_add_path.attr,
#define RTRS_CLT_TIMING_ENTRY(_name, _min, _max, _default)	&dev_attr_##_name.attr,
	RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_ENTRY)
	NULL
};

static const struct attribute_group rtrs_clt_sess_group = {
	.attrs = rtrs_clt_sess_attrs,
};

static const struct attribute_group *rtrs_clt_sess_groups[] = {
	&rtrs_clt_sess_group,
	&rtrs_clt_sess_stats_group,
	NULL
};

static void rtrs_clt_dev_release(struct device *dev)
{
	rtrs_clt_sess_free(to_clt_sess(dev));
}

static struct class rtrs_clt_class = {
	.name = "rtrs-client",
};

/**
 * rtrs_clt_sess_init_dev() - make the session reference counted
 * @sess: the session; from now on freed by put_device()
 *
 * Context: process.
 */
void rtrs_clt_sess_init_dev(struct rtrs_clt_sess *sess)
{
	device_initialize(&sess->dev);
	sess->dev.class = &rtrs_clt_class;
	sess->dev.release = rtrs_clt_dev_release;
	sess->dev.groups = rtrs_clt_sess_groups;
}

/**
 * rtrs_clt_sess_publish() - show a session and its paths in sysfs
 * @sess: the session, its name reserved
 *
 * User space hears of it when it is open.
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; rtrs_clt_sess_destroy() cleans up.
 */
int rtrs_clt_sess_publish(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_paths *paths;
	unsigned int i;
	int ret;

	ret = dev_set_name(&sess->dev, "%s", sess->name);
	if (ret)
		return ret;
	/* Until rtrs_clt_sess_announce(). */
	dev_set_uevent_suppress(&sess->dev, true);
	ret = device_add(&sess->dev);
	if (ret)
		return ret;
	sess->published = true;
	sess->paths_kobj = kobject_create_and_add("paths", &sess->dev.kobj);
	if (!sess->paths_kobj)
		return -ENOMEM;
	mutex_lock(&sess->paths_mutex);
	paths = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	for (i = 0; i < paths->nr && !ret; i++)
		ret = rtrs_clt_path_publish(paths->path[i]);
	mutex_unlock(&sess->paths_mutex);
	return ret;
}

/**
 * rtrs_clt_sess_announce() - tell user space of a session
 * @sess: the session, published and open: who hears of it may add paths
 *
 * Context: process, may sleep.
 */
void rtrs_clt_sess_announce(struct rtrs_clt_sess *sess)
{
	dev_set_uevent_suppress(&sess->dev, false);
	kobject_uevent(&sess->dev.kobj, KOBJ_ADD);
}

static struct rtrs_clt_path *rtrs_clt_sess_some_path(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path = NULL;
	struct rtrs_clt_paths *paths;
	unsigned int i;

	mutex_lock(&sess->paths_mutex);
	paths = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	for (i = 0; paths && i < paths->nr && !path; i++)
		if (!test_bit(0, &paths->path[i]->removing))
			path = paths->path[i];
	if (path)
		kobject_get(&path->kobj);
	mutex_unlock(&sess->paths_mutex);
	return path;
}

static bool rtrs_clt_sess_has_paths(struct rtrs_clt_sess *sess)
{
	const struct rtrs_clt_paths *paths;
	bool ret;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	ret = paths && paths->nr;
	rcu_read_unlock();
	return ret;
}

/**
 * rtrs_clt_sess_destroy() - close and remove all paths, take the session out of sysfs, put it
 * @sess: the session, published or not, no request is submitted any more
 *
 * Requests in flight are completed with -ECONNABORTED; waits until all permits are back.
 *
 * Context: process, sleeps.
 */
void rtrs_clt_sess_destroy(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_path *path;

	mutex_lock(&sess->ev_mutex);
	WRITE_ONCE(sess->closing, true);
	wake_up_all(&sess->fence_wq);
	mutex_unlock(&sess->ev_mutex);
	/* No path is added any more; one that add_path is just connecting is destroyed like the others. */
	while ((path = rtrs_clt_sess_some_path(sess))) {
		rtrs_clt_path_destroy(path);
		kobject_put(&path->kobj);
	}
	/* A remove_path that is under way destroys its path itself. */
	wait_event(sess->paths_wait, !rtrs_clt_sess_has_paths(sess));
	if (sess->paths_kobj) {
		kobject_del(sess->paths_kobj);
		kobject_put(sess->paths_kobj);
	}
	/* Waits for everybody inside an attribute of the session. */
	if (sess->published)
		device_del(&sess->dev);
	rtrs_clt_sess_wait_permits(sess);
	put_device(&sess->dev);
}

/**
 * rtrs_clt_sysfs_init() - register the class
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int rtrs_clt_sysfs_init(void)
{
	return class_register(&rtrs_clt_class);
}

/**
 * rtrs_clt_sysfs_exit() - undo rtrs_clt_sysfs_init()
 *
 * Context: module exit, no session is left.
 */
void rtrs_clt_sysfs_exit(void)
{
	class_unregister(&rtrs_clt_class);
}
