// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open devices of a session.
 *
 * Operation: OPEN makes a device, publishes it in sysfs and, last of all, under its id.  Three can
 * close it: CLOSE of the client, a write to force_close, the end of the session.  All of them only
 * begin: the device becomes CLOSING, its id leads nowhere from then on, and io_ref is killed.  The
 * last I/O, or the kill itself, queues the close work, which takes everything down in one place
 * and then answers the CLOSE messages that came meanwhile.  So closing is never done twice, no
 * thread is blocked by I/O that hangs, and closing many devices costs one grace period.
 *
 * Ordering: an id is redirected before io_ref is killed.  The kill ends with an RCU grace period
 * before the release can be called, so no lookup that still found the device is under way when it
 * is freed.
 *
 * An id that was closed by force stays taken until the client closes it, and ids are given out in
 * a cycle: a client that did not notice cannot reach another device with it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/limits.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "../proto/opmap.h"
#include "backend.h"
#include "dev.h"
#include "export.h"
#include "fault.h"
#include "log.h"
#include "offer.h"
#include "slow.h"
#include "trace.h"

/* Open devices per session; a client cannot have more disks. */
#define RNBD_SRV_MAX_DEVS	16384

/* How long who closes a device by force waits for requests that its disk has. */
#define RNBD_SRV_FORCE_CLOSE_MS	5000

/* Entry of an id that is taken but leads nowhere. */
#define RNBD_SRV_ID_TAKEN	xa_mk_value(0)

/**
 * struct rnbd_srv_devs - what all open devices share
 * @wq: I: runs the close works
 * @search_path: I: value of dev_search_path
 * @type: I: type of the devices' kobject, with the files of their directory
 */
struct rnbd_srv_devs {
	struct workqueue_struct *wq;
	const char *search_path;
	const struct kobj_type *type;
};

static struct rnbd_srv_devs rnbd_srv_devs;

/**
 * rnbd_srv_devs_init() - prepare for open devices
 * @search_path: where the names of clients begin; stays
 * @type: type of the kobject of each open device; its release calls rnbd_srv_dev_free()
 *
 * Context: process, before the first client.
 * Return: 0 or -ENOMEM.
 */
int rnbd_srv_devs_init(const char *search_path, const struct kobj_type *type)
{
	rnbd_srv_devs.search_path = search_path;
	rnbd_srv_devs.type = type;
	/* Not for memory reclaim: drivers may flush any workqueue when their device is released. */
	rnbd_srv_devs.wq = alloc_workqueue("rnbd_server_close", WQ_UNBOUND, 0);
	return rnbd_srv_devs.wq ? 0 : -ENOMEM;
}

/**
 * rnbd_srv_devs_exit() - the reverse of rnbd_srv_devs_init()
 *
 * Context: process, after the last client.  Waits for close works.
 */
void rnbd_srv_devs_exit(void)
{
	destroy_workqueue(rnbd_srv_devs.wq);
}

/* Its block device is open, and nobody closes it now. */
static void rnbd_srv_dev_tell(const struct rnbd_srv_dev *dev, enum rtrs_nl_event event,
			      const char *reason)
{
	char device[RTRS_NL_DEV_LEN];
	struct rtrs_nl_news news = {
		.event = event,
		.side = RTRS_NL_SIDE_SERVER,
		.session = dev->sess->name,
		.reason = reason,
		.device = device,
		.device_path = dev->name,
		.access_mode = rnbd_access_mode_name(dev->access_mode),
		.nsectors = bdev_nr_sectors(dev->backend.bdev),
	};

	snprintf(device, sizeof(device), "%pg", dev->backend.bdev);
	rtrs_nl_tell(&news);
}

/* The last I/O of a closing device is done, or there was none.  Any context. */
static void rnbd_srv_dev_io_gone(struct percpu_ref *ref)
{
	struct rnbd_srv_dev *dev = container_of(ref, struct rnbd_srv_dev, io_ref);

	queue_work(rnbd_srv_devs.wq, &dev->close_work);
}

static void rnbd_srv_dev_close_work(struct work_struct *work)
{
	struct rnbd_srv_dev *dev = container_of(work, struct rnbd_srv_dev, close_work);
	unsigned int noio = memalloc_noio_save();
	struct rnbd_srv_sess *sess = dev->sess;
	struct rnbd_srv_msg *msg, *next;
	LIST_HEAD(waiters);
	bool by_force;

	trace_rnbd_srv_dev_close(dev);
	scoped_guard(mutex, &sess->lock)
		rnbd_srv_dev_tell(dev, RTRS_NL_EVENT_DEVICE_CLOSED,
				  dev->keep_id ? "by force" : NULL);
	rnbd_srv_export_detach(dev);
	rnbd_srv_backend_close(&dev->backend);
	memalloc_noio_restore(noio);

	scoped_guard(mutex, &sess->lock) {
		list_del(&dev->sess_entry);
		sess->nr_devs--;
		by_force = dev->keep_id;
		if (!by_force)
			xa_erase(&sess->devs, dev->id);
		list_splice_init(&dev->close_ops, &waiters);
	}
	if (rnbd_srv_sess_may_log(sess))
		pr_info("session %*pE: closed \"%*pE\", id %u%s\n", RNBD_SRV_STR(sess->name),
			RNBD_SRV_STR(dev->name), dev->id, by_force ? ", by force" : "");
	complete_all(&dev->closed);
	list_for_each_entry_safe(msg, next, &waiters, entry) {
		rtrs_srv_resp_rdma(msg->id, 0);
		kfree(msg);
	}
	kobject_put(&dev->kobj);
	rnbd_srv_sess_put(sess);
}

static struct rnbd_srv_dev *rnbd_srv_dev_alloc(struct rnbd_srv_sess *sess,
					       const struct rnbd_srv_open_req *req)
{
	struct rnbd_srv_dev *dev;
	int ret;

	dev = fault_here(alloc_dev) ? NULL : kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	ret = percpu_ref_init(&dev->io_ref, rnbd_srv_dev_io_gone, 0, GFP_KERNEL);
	if (ret) {
		kfree(dev);
		return ERR_PTR(ret);
	}
	rnbd_srv_object_get();
	kobject_init(&dev->kobj, rnbd_srv_devs.type);
	INIT_WORK(&dev->close_work, rnbd_srv_dev_close_work);
	init_completion(&dev->closed);
	rnbd_srv_slow_init(&dev->slow);
	INIT_LIST_HEAD(&dev->close_ops);
	dev->sess = sess;
	dev->state = RNBD_SRV_DEV_OPENING;
	dev->access_mode = req->access_mode;
	dev->rules.writable = req->access_mode != RNBD_ACCESS_RO;
	strscpy(dev->name, req->name, sizeof(dev->name));
	return dev;
}

/**
 * rnbd_srv_dev_free() - free an open device; release of its kobject
 * @dev: the device, never opened or closed completely
 *
 * Context: process; takes no lock.
 */
void rnbd_srv_dev_free(struct rnbd_srv_dev *dev)
{
	percpu_ref_exit(&dev->io_ref);
	kfree(dev);
	rnbd_srv_object_put();
}

/* Open the block device that the client's name leads to. */
static int rnbd_srv_dev_open_backend(struct rnbd_srv_dev *dev, struct rnbd_srv_opened *opened,
				     enum rnbd_srv_verdict *verdict)
{
	struct rnbd_srv_limits *lim = &opened->lim;
	bool exported;
	char *path;
	int ret;

	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	exported = rnbd_srv_offer_decides(dev, path, verdict);
	if (!exported)
		*verdict = rnbd_srv_export_path(path, PATH_MAX, rnbd_srv_devs.search_path,
						dev->sess->name, dev->name);
	if (*verdict == RNBD_SRV_OK) {
		*verdict = exported ? RNBD_SRV_NO_BACKEND : RNBD_SRV_CANNOT_OPEN;
		ret = fault_here(open) ? -EIO :
		      rnbd_srv_backend_open(&dev->backend, path, dev->rules.writable);
	} else {
		ret = rnbd_srv_verdict_errno(*verdict);
	}
	kfree(path);
	if (ret)
		return ret;

	rnbd_srv_backend_limits(&dev->backend, lim);
	rnbd_srv_backend_identity(&dev->backend, &dev->identity);
	if (exported)
		rnbd_srv_offer_identity(dev, &dev->identity);
	opened->identity = dev->identity;
	*verdict = rnbd_srv_check_limits(lim);
	if (*verdict != RNBD_SRV_OK) {
		rnbd_srv_backend_close(&dev->backend);
		return rnbd_srv_verdict_errno(*verdict);
	}
	dev->rules.ops = rnbd_srv_limits_ops(lim);
	*verdict = RNBD_SRV_SYSTEM;
	return 0;
}

/* Give the device its id and its directory, then let I/O in. */
static int rnbd_srv_dev_publish(struct rnbd_srv_dev *dev, struct rnbd_srv_opened *opened,
				enum rnbd_srv_verdict *verdict)
{
	struct rnbd_srv_sess *sess = dev->sess;
	int ret;

	guard(mutex)(&sess->lock);
	/* Nobody would close it. */
	if (sess->gone)
		return -ESHUTDOWN;
	if (sess->nr_devs >= RNBD_SRV_MAX_DEVS) {
		*verdict = RNBD_SRV_TOO_MANY;
		return rnbd_srv_verdict_errno(*verdict);
	}
	ret = xa_alloc_cyclic(&sess->devs, &dev->id, NULL, xa_limit_31b, &sess->next_id,
			      GFP_KERNEL);
	if (ret < 0)
		return ret;
	ret = rnbd_srv_export_attach(dev, verdict);
	if (ret) {
		xa_erase(&sess->devs, dev->id);
		return ret;
	}
	/* Nothing can fail from here on: the store replaces the entry that was reserved. */
	refcount_inc(&sess->refs);
	list_add_tail(&dev->sess_entry, &sess->dev_list);
	sess->nr_devs++;
	dev->state = RNBD_SRV_DEV_LIVE;
	rtrs_nl_changed();
	opened->id = dev->id;
	trace_rnbd_srv_dev_open(dev);
	if (rnbd_srv_sess_may_log(sess))
		pr_info("session %*pE: opened \"%*pE\" (%pg) as %s, id %u\n",
			RNBD_SRV_STR(sess->name), RNBD_SRV_STR(dev->name), dev->backend.bdev,
			rnbd_access_mode_name(dev->access_mode), dev->id);
	rnbd_srv_dev_tell(dev, RTRS_NL_EVENT_DEVICE_OPENED, NULL);
	xa_store(&sess->devs, dev->id, dev, GFP_KERNEL);
	return 0;
}

/**
 * rnbd_srv_dev_open() - open a device for a session
 * @sess: the session
 * @req: what the client asks for
 * @opened: filled in on success
 * @verdict: set to the reason on failure
 *
 * Context: kernel thread; of opens only one at a time per session and name.  Sleeps, for as long
 * as the driver likes.  Takes the session's lock, but not while the driver opens.
 * Return: 0 or the errno that answers the client.
 */
int rnbd_srv_dev_open(struct rnbd_srv_sess *sess, const struct rnbd_srv_open_req *req,
		      struct rnbd_srv_opened *opened, enum rnbd_srv_verdict *verdict)
{
	struct rnbd_srv_dev *dev;
	int ret;

	*verdict = RNBD_SRV_SYSTEM;
	dev = rnbd_srv_dev_alloc(sess, req);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	ret = rnbd_srv_dev_open_backend(dev, opened, verdict);
	if (ret)
		goto err_put_dev;
	/* Once published it may be closed and freed at any time: not touched again. */
	ret = rnbd_srv_dev_publish(dev, opened, verdict);
	if (ret)
		goto err_close_backend;
	return 0;

err_close_backend:
	rnbd_srv_backend_close(&dev->backend);
err_put_dev:
	kobject_put(&dev->kobj);
	return ret;
}

/**
 * rnbd_srv_dev_reopen() - look for a device that the session has open under a name already
 * @sess: the session
 * @req: what the client asks for
 * @opened: filled in if there is such a device
 * @verdict: set if there is such a device: RNBD_SRV_OK or why this open is not allowed
 *
 * Context: process; takes the session's lock.
 * Return: whether there is such a device.
 */
bool rnbd_srv_dev_reopen(struct rnbd_srv_sess *sess, const struct rnbd_srv_open_req *req,
			 struct rnbd_srv_opened *opened, enum rnbd_srv_verdict *verdict)
{
	struct rnbd_srv_dev *dev;

	guard(mutex)(&sess->lock);
	list_for_each_entry(dev, &sess->dev_list, sess_entry) {
		if (dev->state != RNBD_SRV_DEV_LIVE || strcmp(dev->name, req->name))
			continue;
		opened->id = dev->id;
		rnbd_srv_backend_limits(&dev->backend, &opened->lim);
		opened->identity = dev->identity;
		*verdict = rnbd_srv_check_reopen(dev->access_mode, req->access_mode);
		if (*verdict == RNBD_SRV_OK)
			*verdict = rnbd_srv_check_limits(&opened->lim);
		return true;
	}
	return false;
}

/**
 * rnbd_srv_dev_get_io() - find a device for one I/O
 * @sess: the session
 * @id: handle the client gave
 *
 * Context: any.
 * Return: the device with a count of io_ref for the caller, NULL if the id leads to none.
 */
struct rnbd_srv_dev *rnbd_srv_dev_get_io(struct rnbd_srv_sess *sess, u32 id)
{
	struct rnbd_srv_dev *dev;

	rcu_read_lock();
	dev = xa_load(&sess->devs, id);
	if (dev && (xa_is_value(dev) || !percpu_ref_tryget_live_rcu(&dev->io_ref)))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

/* ORDER: the id is redirected first, see the head of this file. */
static void rnbd_srv_dev_begin_close(struct rnbd_srv_dev *dev, bool keep_id)
{
	lockdep_assert_held(&dev->sess->lock);

	if (dev->state == RNBD_SRV_DEV_CLOSING)
		return;
	dev->state = RNBD_SRV_DEV_CLOSING;
	rtrs_nl_changed();
	dev->keep_id = keep_id;
	xa_store(&dev->sess->devs, dev->id, RNBD_SRV_ID_TAKEN, GFP_KERNEL);
	percpu_ref_kill(&dev->io_ref);
}

/**
 * rnbd_srv_dev_close() - close a device for the client
 * @sess: the session
 * @id: handle the client gave
 * @msg: the CLOSE message
 *
 * Context: process; takes the session's lock.
 * Return: true if the device's close work answers and frees @msg, false if there is no such
 * device (any more) and the caller does.
 */
bool rnbd_srv_dev_close(struct rnbd_srv_sess *sess, u32 id, struct rnbd_srv_msg *msg)
{
	struct rnbd_srv_dev *dev;

	guard(mutex)(&sess->lock);
	list_for_each_entry(dev, &sess->dev_list, sess_entry) {
		if (dev->id != id)
			continue;
		list_add_tail(&msg->entry, &dev->close_ops);
		dev->keep_id = false;
		rnbd_srv_dev_begin_close(dev, false);
		return true;
	}
	/* Closed by force before; from now on the id is free. */
	xa_erase(&sess->devs, id);
	return false;
}

/**
 * rnbd_srv_dev_close_all() - begin to close every device of a session
 * @sess: the session
 *
 * Context: process; takes the session's lock.
 */
void rnbd_srv_dev_close_all(struct rnbd_srv_sess *sess)
{
	struct rnbd_srv_dev *dev;

	guard(mutex)(&sess->lock);
	list_for_each_entry(dev, &sess->dev_list, sess_entry)
		rnbd_srv_dev_begin_close(dev, false);
}

/**
 * rnbd_srv_dev_hold() - keep a device and its session
 * @dev: the device; the caller executes a file of its directory, which keeps it until now
 *
 * Context: any.
 */
void rnbd_srv_dev_hold(struct rnbd_srv_dev *dev)
{
	refcount_inc(&dev->sess->refs);
	kobject_get(&dev->kobj);
}

/**
 * rnbd_srv_dev_unhold() - undo rnbd_srv_dev_hold()
 * @dev: the device
 *
 * Context: process.
 */
void rnbd_srv_dev_unhold(struct rnbd_srv_dev *dev)
{
	struct rnbd_srv_sess *sess = dev->sess;

	kobject_put(&dev->kobj);
	rnbd_srv_sess_put(sess);
}

/**
 * rnbd_srv_dev_force_close() - close a device against the client's will
 * @dev: the device, held by rnbd_srv_dev_hold()
 *
 * The client's I/O gets -ENOTCONN from now on.  Waits until the device is closed completely, but not longer than
 * RNBD_SRV_FORCE_CLOSE_MS for requests that the disk does not end.
 *
 * Context: process; takes the session's lock and waits until nobody executes a file of the device's directory, so
 * the caller must not count as such.
 * Return: 0, -EINPROGRESS if requests are left, or -ERESTARTSYS if the waiting was killed; the device closes all the
 * same.
 */
int rnbd_srv_dev_force_close(struct rnbd_srv_dev *dev)
{
	long left;

	scoped_guard(mutex, &dev->sess->lock)
		rnbd_srv_dev_begin_close(dev, true);
	left = wait_for_completion_killable_timeout(&dev->closed, msecs_to_jiffies(RNBD_SRV_FORCE_CLOSE_MS));
	if (left)
		return min(left, 0L);
	pr_warn("session %*pE: \"%*pE\" is closed for its client, but the disk has requests in progress and stays open until they end\n",
		RNBD_SRV_STR(dev->sess->name), RNBD_SRV_STR(dev->name));
	return -EINPROGRESS;
}
