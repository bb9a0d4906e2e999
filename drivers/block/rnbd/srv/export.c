// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exports: the local block devices that clients have open, and who may write to them.
 *
 * Operation: an export exists from the first open of its block device to the last close.  It is
 * found by the block device, never by a name: two spellings of one device are two opens of one
 * export, and the access rules hold among them.  In sysfs it is the directory <bdev> below
 * ctl/devices, with the link block_dev and a directory sessions/<session> for each open device.
 *
 * Ordering: one lock covers the list, the access rules and every addition and removal of these
 * directories, so a name is free again as soon as the object that had it is off the list.
 * Removing a directory waits for whoever executes one of its files, hence nobody may take this lock, or
 * one that is held around it, while he counts as such.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/rtrs-job.h>

#include "dispatch.h"
#include "export.h"
#include "fault.h"
#include "io.h"

/**
 * struct rnbd_srv_export - a block device that clients have open
 * @kobj: directory devices/<bdev>; its count is the count of this object
 * @sessions: I: directory below it
 * @bdev: I: the device; the open devices in @devs keep it open
 * @dispatch: I: submits what has to wait for the device; gone with the last of @devs
 * @entry: E: in the list of exports
 * @devs: E: open devices, at least one while on the list
 * @nr_writers: E: how many of them are not read-only
 * @next_suffix: E: makes names of session directories unique
 * @nr_orphans: orphaned requests of the device; written under the lock of orphan.c
 */
struct rnbd_srv_export {
	struct kobject kobj;
	struct kobject *sessions;
	struct block_device *bdev;
	struct rnbd_srv_dispatch *dispatch;
	struct list_head entry;
	struct list_head devs;
	unsigned int nr_writers;
	unsigned int next_suffix;
	unsigned int nr_orphans;
};

/**
 * struct rnbd_srv_exports - all exports of this server
 * @lock: the export lock
 * @list: E: exports
 * @next_suffix: E: makes names of export directories unique
 * @dir: I: directory ctl/devices
 * @objects: one for the module, one per object with a kobject of ours that is not freed yet
 * @no_objects: completed when @objects has come to nothing
 */
struct rnbd_srv_exports {
	struct mutex lock;
	struct list_head list;
	unsigned int next_suffix;
	struct kobject *dir;
	refcount_t objects;
	struct completion no_objects;
};

static struct rnbd_srv_exports rnbd_srv_exports = {
	.lock	    = __MUTEX_INITIALIZER(rnbd_srv_exports.lock),
	.list	    = LIST_HEAD_INIT(rnbd_srv_exports.list),
	.objects    = REFCOUNT_INIT(1),
	.no_objects = COMPLETION_INITIALIZER(rnbd_srv_exports.no_objects),
};

/**
 * rnbd_srv_exports_init() - prepare for exports
 * @dir: directory they appear in; stays until rnbd_srv_exports_exit()
 *
 * Context: process, before the first client.
 */
void rnbd_srv_exports_init(struct kobject *dir)
{
	rnbd_srv_exports.dir = dir;
}

static void rnbd_srv_exports_tell(unsigned int seconds)
{
	pr_warn("unloading waits for %u objects in sysfs to be released, %u s so far\n",
		refcount_read(&rnbd_srv_exports.objects), seconds);
}

/**
 * rnbd_srv_exports_exit() - wait until the last object is freed
 *
 * A kobject may live on after its directory is gone, and its release is code of this module.
 *
 * Context: process, after the last client.  Sleeps.
 */
void rnbd_srv_exports_exit(void)
{
	rnbd_srv_object_put();
	rtrs_complete_slowly(&rnbd_srv_exports.no_objects, rnbd_srv_exports_tell);
}

/**
 * rnbd_srv_object_get() - count an object that has a kobject of ours
 *
 * Context: any.
 */
void rnbd_srv_object_get(void)
{
	refcount_inc(&rnbd_srv_exports.objects);
}

/**
 * rnbd_srv_object_put() - forget an object counted by rnbd_srv_object_get()
 *
 * Context: any.
 */
void rnbd_srv_object_put(void)
{
	if (refcount_dec_and_test(&rnbd_srv_exports.objects))
		complete(&rnbd_srv_exports.no_objects);
}

static void rnbd_srv_export_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct rnbd_srv_export, kobj));
	rnbd_srv_object_put();
}

static ssize_t orphans_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_srv_export *export = container_of(kobj, struct rnbd_srv_export, kobj);

	return sysfs_emit(page, "%u\n", READ_ONCE(export->nr_orphans));
}
static struct kobj_attribute rnbd_srv_export_attr_orphans = __ATTR_RO(orphans);

static struct attribute *rnbd_srv_export_attrs[] = {
	&rnbd_srv_export_attr_orphans.attr,
	NULL
};
ATTRIBUTE_GROUPS(rnbd_srv_export);

static const struct kobj_type rnbd_srv_export_type = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= rnbd_srv_export_groups,
	.release	= rnbd_srv_export_release,
};

static struct rnbd_srv_export *rnbd_srv_export_find(const struct block_device *bdev)
{
	struct rnbd_srv_export *export;

	lockdep_assert_held(&rnbd_srv_exports.lock);

	list_for_each_entry(export, &rnbd_srv_exports.list, entry)
		if (export->bdev == bdev)
			return export;
	return NULL;
}

static bool rnbd_srv_export_name_taken(const char *name)
{
	const struct rnbd_srv_export *export;

	lockdep_assert_held(&rnbd_srv_exports.lock);

	list_for_each_entry(export, &rnbd_srv_exports.list, entry)
		if (!strcmp(kobject_name(&export->kobj), name))
			return true;
	return false;
}

/*
 * Add the directory of an export, named after its block device.  A device that was removed while a
 * client has it open can share its name with the one that follows; that gets a number behind a dot.
 */
static int rnbd_srv_export_add(struct rnbd_srv_export *export)
{
	char name[DISK_NAME_LEN + 8];

	/* As kobjects are named. */
	snprintf(name, sizeof(name), "%pg", export->bdev);
	strreplace(name, '/', '!');
	if (rnbd_srv_export_name_taken(name))
		return kobject_init_and_add(&export->kobj, &rnbd_srv_export_type,
					    rnbd_srv_exports.dir, "%s.%u", name,
					    ++rnbd_srv_exports.next_suffix);
	return kobject_init_and_add(&export->kobj, &rnbd_srv_export_type, rnbd_srv_exports.dir,
				    "%s", name);
}

static struct rnbd_srv_export *rnbd_srv_export_create(struct block_device *bdev)
{
	struct rnbd_srv_export *export;
	int ret;

	lockdep_assert_held(&rnbd_srv_exports.lock);

	export = kzalloc(sizeof(*export), GFP_KERNEL);
	if (!export)
		return ERR_PTR(-ENOMEM);
	rnbd_srv_object_get();
	export->bdev = bdev;
	INIT_LIST_HEAD(&export->devs);
	export->dispatch = rnbd_srv_dispatch_create(bdev, rnbd_srv_io_submit_waiting);
	if (IS_ERR(export->dispatch)) {
		ret = PTR_ERR(export->dispatch);
		kfree(export);
		rnbd_srv_object_put();
		return ERR_PTR(ret);
	}

	ret = rnbd_srv_export_add(export);
	if (ret)
		goto err_put_kobj;
	export->sessions = kobject_create_and_add("sessions", &export->kobj);
	if (!export->sessions) {
		ret = -ENOMEM;
		goto err_put_kobj;
	}
	ret = sysfs_create_link(&export->kobj, &disk_to_dev(bdev->bd_disk)->kobj, "block_dev");
	if (ret)
		goto err_put_sessions;
	list_add(&export->entry, &rnbd_srv_exports.list);
	return export;

err_put_sessions:
	kobject_put(export->sessions);
err_put_kobj:
	rnbd_srv_dispatch_destroy(export->dispatch);
	kobject_put(&export->kobj);
	return ERR_PTR(ret);
}

/*
 * Remove an export that has no open device any more.  Returns its dispatcher, which the caller
 * destroys.
 */
static struct rnbd_srv_dispatch *rnbd_srv_export_destroy(struct rnbd_srv_export *export)
{
	struct rnbd_srv_dispatch *dispatch = export->dispatch;

	lockdep_assert_held(&rnbd_srv_exports.lock);

	list_del(&export->entry);
	sysfs_remove_link(&export->kobj, "block_dev");
	kobject_put(export->sessions);
	kobject_del(&export->kobj);
	kobject_put(&export->kobj);
	return dispatch;
}

/*
 * Add the directory of an open device, named after its session.  A session can have one block
 * device open under two names, and a session that is going away can share its name with the one
 * that follows: these get a number behind a dot, which no session has in its name.
 */
static int rnbd_srv_export_add_dir(struct rnbd_srv_export *export, struct rnbd_srv_dev *dev)
{
	const struct rnbd_srv_dev *other;

	lockdep_assert_held(&rnbd_srv_exports.lock);

	if (fault_here(sysfs_dev))
		return -ENOMEM;
	list_for_each_entry(other, &export->devs, export_entry)
		if (!strcmp(other->sess->name, dev->sess->name))
			return kobject_add(&dev->kobj, export->sessions, "%s.%u", dev->sess->name,
					   ++export->next_suffix);
	return kobject_add(&dev->kobj, export->sessions, "%s", dev->sess->name);
}

/*
 * Writers that a client has left behind: devices of a session of the same name that is gone, which only wait for
 * orphaned requests.  The client may come back before these end; orphan.c keeps apart what conflicts.
 */
static unsigned int rnbd_srv_export_nr_left(const struct rnbd_srv_export *export,
					    const struct rnbd_srv_sess *sess)
{
	const struct rnbd_srv_dev *dev;
	unsigned int nr = 0;

	lockdep_assert_held(&rnbd_srv_exports.lock);
	list_for_each_entry(dev, &export->devs, export_entry)
		/* Once true it stays, and a client that is too early by a moment tries again. */
		if (dev->rules.writable && READ_ONCE(dev->sess->gone) && !strcmp(dev->sess->name, sess->name))
			nr++;
	return nr;
}

/**
 * rnbd_srv_export_attach() - make an open device a user of its block device's export
 * @dev: the open device, with its block device open; its directory appears in sysfs
 * @verdict: set to the reason if a rule forbids it
 *
 * The access rules of spec section "session and device life cycle" are applied here.
 *
 * Context: process; takes the export lock.  The caller holds the lock of the session, so that a
 * write to force_close waits until the device is known to its session.
 * Return: 0, the errno of @verdict, or an error of sysfs.
 */
int rnbd_srv_export_attach(struct rnbd_srv_dev *dev, enum rnbd_srv_verdict *verdict)
{
	struct rnbd_srv_export *export;
	int ret;

	lockdep_assert_held(&dev->sess->lock);

	guard(mutex)(&rnbd_srv_exports.lock);
	export = rnbd_srv_export_find(dev->backend.bdev);
	if (!export) {
		export = rnbd_srv_export_create(dev->backend.bdev);
		if (IS_ERR(export))
			return PTR_ERR(export);
	}

	*verdict = rnbd_srv_check_access(dev->access_mode, export->nr_writers -
					 rnbd_srv_export_nr_left(export, dev->sess));
	if (*verdict != RNBD_SRV_OK) {
		ret = rnbd_srv_verdict_errno(*verdict);
		goto err_destroy_export;
	}
	ret = rnbd_srv_export_add_dir(export, dev);
	if (ret) {
		*verdict = RNBD_SRV_SYSTEM;
		goto err_destroy_export;
	}
	dev->export = export;
	dev->nr_orphans = &export->nr_orphans;
	dev->dispatch = export->dispatch;
	list_add_tail(&dev->export_entry, &export->devs);
	export->nr_writers += dev->rules.writable;
	return 0;

err_destroy_export:
	/* A dispatcher that never had anything to do: with the lock, as it ends at once. */
	if (list_empty(&export->devs))
		rnbd_srv_dispatch_destroy(rnbd_srv_export_destroy(export));
	return ret;
}

/**
 * rnbd_srv_export_detach() - the reverse of rnbd_srv_export_attach()
 * @dev: the open device, still with its block device open; its directory disappears
 *
 * Context: process; takes the export lock and waits for readers of the directory's files, and
 * without the lock for the dispatcher's thread.  The caller must not hold the lock of a session.
 */
void rnbd_srv_export_detach(struct rnbd_srv_dev *dev)
{
	struct rnbd_srv_export *export = dev->export;
	struct rnbd_srv_dispatch *dispatch = NULL;

	scoped_guard(mutex, &rnbd_srv_exports.lock) {
		kobject_del(&dev->kobj);
		list_del(&dev->export_entry);
		export->nr_writers -= dev->rules.writable;
		dev->export = NULL;
		if (list_empty(&export->devs))
			dispatch = rnbd_srv_export_destroy(export);
	}
	/*
	 * Without the lock, which everybody's OPEN needs: the thread may still be on its way out
	 * of the driver.
	 */
	if (dispatch)
		rnbd_srv_dispatch_destroy(dispatch);
}
