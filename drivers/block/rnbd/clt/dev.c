// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: their states, and the dialogue about them with the server.
 *
 * Operation
 *	OPEN is sent by whoever maps, by whoever writes to remap_device, and by link_work after the link came
 *	back, and once more, later, as long as the server refuses it.  The answer is always dealt with in
 *	rnbd_clt_dev_opened(), whether or not somebody still waits for it: it makes the device open, or
 *	closes on the server what is not wanted any more.
 *
 * Ownership
 *	Memory: see rnbd_clt_dev.ref.  The device is on the list of its session, and so keeps its name, until
 *	it is taken apart and no message about it is under way: the server answers a second OPEN of
 *	a name with the same handle, and a late CLOSE would hit the wrong mapping.  If the server may have it open
 *	even then, its name goes to left.c.
 *
 * Ordering
 *	A handle is worth nothing after the link was lost, and may then mean another device.  link_gen is
 *	taken before OPEN is sent and compared when the answer is taken up, under the lock that link_lost
 *	counts with.  Between the loss and the next OPEN there is a grace period (queue.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/ratelimit.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dev.h"
#include "fault.h"
#include "hold.h"
#include "left.h"
#include "msg.h"
#include "sess.h"
#include "slow.h"
#include "tell.h"

/* A path that connects and breaks at once opens the device again each time: so many messages about that in a minute. */
#define RNBD_CLT_REOPEN_INTERVAL	(60 * HZ)
#define RNBD_CLT_REOPEN_BURST		3

/* Longest answer to OPEN and CLOSE; opening may have to wake up a disk. */
#define RNBD_CLT_OPEN_TIMEOUT	(60 * HZ)
#define RNBD_CLT_CLOSE_TIMEOUT	(10 * HZ)
/* The same, if the server waits for its disk and we do not. */
#define RNBD_CLT_CUT_TIMEOUT	(HZ / 2)

/**
 * rnbd_clt_dev_state_name() - text of a state, as in sysfs
 * @state: the state
 *
 * Context: any.
 * Return: a word in lower case.
 */
const char *rnbd_clt_dev_state_name(enum rnbd_clt_dev_state state)
{
	static const char *const names[RNBD_CLT_DEV__NR] = {
		[RNBD_CLT_DEV_INIT]	= "init",
		[RNBD_CLT_DEV_OPEN]	= "open",
		[RNBD_CLT_DEV_CLOSED]	= "closed",
		[RNBD_CLT_DEV_UNMAPPED]	= "unmapped",
	};

	return names[state];
}

/**
 * rnbd_clt_dev_link_name() - name of the link in sysfs that leads to a device
 * @dev: the device
 * @buf: where to put it
 * @len: its size, NAME_MAX + 1 is enough
 *
 * Context: any.
 */
void rnbd_clt_dev_link_name(const struct rnbd_clt_dev *dev, char *buf, size_t len)
{
	scnprintf(buf, len, "%s@%s", dev->path, dev->sess->name);
	strreplace(buf, '/', '!');
}

/**
 * rnbd_clt_dev_get() - hold the memory of a device
 * @dev: a device that is held by somebody already
 *
 * Context: any.
 */
void rnbd_clt_dev_get(struct rnbd_clt_dev *dev)
{
	refcount_inc(&dev->ref);
}

/**
 * rnbd_clt_dev_put() - let go of the memory of a device
 * @dev: the device
 *
 * Context: may sleep.
 */
void rnbd_clt_dev_put(struct rnbd_clt_dev *dev)
{
	if (!refcount_dec_and_test(&dev->ref))
		return;
	if (dev->disk)
		put_disk(dev->disk);
	rnbd_clt_left_free(dev->left);
	rnbd_clt_msg_exit(&dev->msg);
	rnbd_clt_sess_drop(dev->sess);
	kfree(dev);
}

/* For partitions too: udev names them after the disk's directory in sysfs, which came later than they did. */
static void rnbd_clt_dev_uevent(struct rnbd_clt_dev *dev, enum kobject_action action)
{
	unsigned int noio = memalloc_noio_save();

	disk_uevent(dev->disk, action);
	memalloc_noio_restore(noio);
}

static void rnbd_clt_dev_set_sectors(struct rnbd_clt_dev *dev, u64 nsectors)
{
	unsigned int noio = memalloc_noio_save();

	set_capacity_and_notify(dev->disk, nsectors);
	memalloc_noio_restore(noio);
}

static void rnbd_clt_dev_tell_change(const struct rnbd_clt_dev *dev,
				     const struct rnbd_dev_limits *now)
{
	const struct rnbd_dev_limits *was = &dev->limits;

	pr_err("%s: device_path=\"%s\" came back with %llu sectors, blocks of %u bytes, %s write cache%s, requests of %u sectors; it had %llu, %u, %s%s, %u\n",
	       dev->disk->disk_name, dev->path, now->nsectors, now->logical_block_bytes,
	       now->write_cache ? "a" : "no", now->fua ? " with FUA" : "", now->max_hw_sectors,
	       (u64)get_capacity(dev->disk), was->logical_block_bytes,
	       was->write_cache ? "a" : "no", was->fua ? " with FUA" : "", was->max_hw_sectors);
}

/* Is it the disk that was mapped?  What nobody can tell has to be accepted. */
static int rnbd_clt_dev_check_identity(struct rnbd_clt_dev *dev, const struct rnbd_identity *now)
{
	char was_text[RNBD_IDENTITY_TEXT_LEN], now_text[RNBD_IDENTITY_TEXT_LEN];
	enum rnbd_identity_verdict verdict = rnbd_identity_compare(&dev->identity, now);

	if (verdict == RNBD_IDENTITY_SAME)
		return 0;
	rnbd_identity_text(&dev->identity, was_text, sizeof(was_text));
	rnbd_identity_text(now, now_text, sizeof(now_text));
	if (verdict == RNBD_IDENTITY_UNKNOWN) {
		pr_info("%s: device_path=\"%s\": whether it is the disk that was mapped cannot be told, only that size, blocks and cache agree: it was %s, the server has %s\n",
			dev->disk->disk_name, dev->path, was_text, now_text);
		return 0;
	}
	if (dev->accept_other) {
		pr_warn("%s: device_path=\"%s\": another disk is accepted: it was %s, the server has %s\n",
			dev->disk->disk_name, dev->path, was_text, now_text);
		return 0;
	}
	scnprintf(dev->other_disk, sizeof(dev->other_disk), "it is another disk: it was %s, the server has %s",
		  was_text, now_text);
	dev->open_why = dev->other_disk;
	return -ESTALE;
}

/* The device is open: what is known of its disk from now on. */
static void rnbd_clt_dev_set_identity(struct rnbd_clt_dev *dev, const struct rnbd_identity *now)
{
	lockdep_assert_held(&dev->sess->lock);
	if (rnbd_identity_compare(&dev->identity, now) == RNBD_IDENTITY_OTHER)
		dev->identity = *now;
	else
		rnbd_identity_learn(&dev->identity, now);
}

/* Limits of what was opened, and which disk it is.  -EPROTO: nothing was opened, else the device id is valid. */
static int rnbd_clt_dev_check_rsp(struct rnbd_clt_dev *dev, struct rnbd_dev_limits *limits,
				  struct rnbd_identity *identity)
{
	struct rnbd_transport_limits transport = { .page_bytes = PAGE_SIZE };
	struct rtrs_attrs attrs;
	int ret;

	/* The permit is still held, so the transport is there.  Without a path all is void anyway. */
	if (rtrs_clt_query(dev->msg.rtrs, &attrs))
		attrs = dev->sess->attrs;
	transport.max_io_bytes = attrs.max_io_size;
	transport.max_segments = min(attrs.max_segments, dev->sess->attrs.max_segments);
	ret = rnbd_get_open_rsp(&dev->msg.rsp->open, &transport, limits, &dev->open_why);
	if (ret)
		return ret;
	dev->open_why = rnbd_get_identity(&dev->msg.rsp->open_id, identity);
	if (dev->open_why)
		return -EINVAL;
	if (!dev->disk) {
		dev->limits = *limits;
		return 0;
	}
	/* A loop device, an array or a drive that is not set up yet: none, rather than another one. */
	if (!limits->nsectors && get_capacity(dev->disk))
		return -ENOMEDIUM;
	ret = rnbd_clt_dev_check_identity(dev, identity);
	if (ret)
		return ret;
	dev->open_why = rnbd_limits_changed(&dev->limits, get_capacity(dev->disk), limits);
	if (!dev->open_why)
		return 0;
	rnbd_clt_dev_tell_change(dev, limits);
	return -EINVAL;
}

/* Make the device open, unless it was unmapped or the link was lost meanwhile. */
static int rnbd_clt_dev_take_up(struct rnbd_clt_dev *dev, const struct rnbd_identity *identity)
{
	int ret = 0;

	spin_lock(&dev->sess->lock);
	if (dev->sess->link_gen != dev->msg.gen)
		ret = -ECONNABORTED;
	else if (rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_UNMAPPED)
		ret = -ENODEV;
	if (!ret) {
		rnbd_clt_dev_set_identity(dev, identity);
		rnbd_clt_dev_set_state(dev, RNBD_CLT_DEV_OPEN);
	}
	if (!ret && dev->disk)
		dev->telling++;
	spin_unlock(&dev->sess->lock);
	if (!ret)
		rnbd_clt_hold_open(dev);
	return ret;
}

static void rnbd_clt_dev_tell_failure(const struct rnbd_clt_dev *dev, int error, const char *why)
{
	if (error == -ESTALE && why)
		pr_err("%s: device_path=\"%s\" cannot be opened again: %s; asking again until it is the old one\n",
		       dev->disk->disk_name, dev->path, why);
	else if (why)
		pr_err("%s: device_path=\"%s\" cannot be opened again: %pe, %s; stays closed until remap_device\n",
		       dev->disk->disk_name, dev->path, ERR_PTR(error), why);
	else
		pr_err("%s: device_path=\"%s\" cannot be opened again: %pe; asking again until it can\n",
		       dev->disk->disk_name, dev->path, ERR_PTR(error));
	rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_FAILED, why, error);
}

/*
 * OPEN has failed, which nobody waits for.  If the server does not have the device, or has no use for us, that
 * may change, when it is up, or somebody repairs it; he should not have to repair the clients too.  If there is
 * a reason why, what came back is of another shape, or the answer none that makes sense: somebody has to look.  Another
 * disk (-ESTALE) is what somebody may repair on the server too.
 */
static void rnbd_clt_dev_open_failed(struct rnbd_clt_dev *dev, unsigned int gen, int error,
				     const char *why)
{
	bool is_news;

	spin_lock(&dev->sess->lock);
	/* Else it is unmapped, or was opened by somebody, or the next return of the link takes care of it. */
	is_news = !dev->stop && dev->sess->link_gen == gen &&
		  rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_CLOSED;
	if (is_news && (!why || error == -ESTALE)) {
		is_news = rnbd_clt_retry_refused(&dev->open_retry, error);
		dev->want_open = true;
		rnbd_clt_sess_queue_open(dev);
	}
	spin_unlock(&dev->sess->lock);
	if (is_news)
		rnbd_clt_dev_tell_failure(dev, error, why);
}

/* All that it was told for is done: the disk may go. */
static void rnbd_clt_dev_told(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->sess->lock);
	dev->telling--;
	wake_up_all(&dev->sess->msg_wait);
}

static void rnbd_clt_dev_reopened(struct rnbd_clt_dev *dev, u64 nsectors, int ret)
{
	if (!ret) {
		rnbd_clt_dev_set_sectors(dev, nsectors);
		if (__ratelimit(&dev->reopen_limit))
			pr_info("%s: open again, %llu sectors\n", dev->disk->disk_name, nsectors);
		scoped_guard(spinlock, &dev->sess->lock) {
			/* It may have been lost again. */
			if (rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_OPEN) {
				dev->tell_back = true;
				rnbd_clt_sess_queue_tell_work(dev);
			}
			rnbd_clt_dev_told(dev);
		}
	} else if (dev->open_unheard) {
		rnbd_clt_dev_open_failed(dev, dev->msg.gen, ret, dev->open_why);
	}
}

/* OPEN has ended.  Returns true if the server has opened what we do not want. */
static bool rnbd_clt_dev_opened(struct rnbd_clt_dev *dev)
{
	struct rnbd_dev_limits limits = {};
	struct rnbd_identity identity;
	bool is_there = false;
	int ret;

	ret = dev->msg.error;
	if (!ret) {
		ret = rnbd_clt_dev_check_rsp(dev, &limits, &identity);
		is_there = ret != -EPROTO;
	}
	if (is_there) {
		dev->device_id = limits.device_id;
		dev->open_gen = dev->msg.gen;
	} else if (ret != -ECONNABORTED) {
		/* It may be open from before the loss of the link even so: the server may lack memory. */
		dev->on_server = dev->was_on_server;
	}
	if (!ret)
		ret = rnbd_clt_dev_take_up(dev, &identity);
	dev->open_error = ret;
	if (dev->disk)
		rnbd_clt_dev_reopened(dev, limits.nsectors, ret);
	return ret && is_there;
}

/* Taken apart, and nothing under way: the name is free, or kept by what is left of the device. */
static void rnbd_clt_dev_unlist(struct rnbd_clt_dev *dev)
{
	struct rnbd_clt_sess *sess = dev->sess;

	lockdep_assert_held(&sess->lock);
	if (!dev->is_gone || dev->msg.busy || list_empty(&dev->entry))
		return;
	list_del_init(&dev->entry);
	if (!dev->on_server || sess->stop) {
		rnbd_clt_left_put_slots(dev->left);
		return;
	}
	rnbd_clt_left_keep(dev->left);
	dev->left = NULL;
	rnbd_clt_left_queue(sess, 0);
}

/* Release the message, and what was only kept for it. */
static void rnbd_clt_dev_end_msg(struct rnbd_clt_dev *dev)
{
	rnbd_clt_msg_release(&dev->msg);
	spin_lock(&dev->sess->lock);
	rnbd_clt_dev_unlist(dev);
	spin_unlock(&dev->sess->lock);
	rnbd_clt_dev_put(dev);
}

static void rnbd_clt_dev_msg_done(struct rnbd_clt_msg *msg)
{
	struct rnbd_clt_dev *dev = container_of(msg, struct rnbd_clt_dev, msg);
	bool is_open = msg->req.open.hdr.type == cpu_to_le16(RNBD_MSG_OPEN);

	if (is_open && rnbd_clt_dev_opened(dev)) {
		rnbd_put_close(&msg->req.close, dev->device_id);
		if (!rnbd_clt_msg_send(msg, NULL))
			return;
	} else if (!is_open && msg->error != -ECONNABORTED) {
		dev->on_server = false;
	}
	rnbd_clt_dev_end_msg(dev);
}

static int rnbd_clt_dev_expect_state(struct rnbd_clt_dev *dev, enum rnbd_clt_dev_state expected)
{
	enum rnbd_clt_dev_state state = rnbd_clt_dev_state(dev);

	if (state == expected)
		return 0;
	switch (state) {
	case RNBD_CLT_DEV_INIT:
		return -EBUSY;
	case RNBD_CLT_DEV_OPEN:
		return -EALREADY;
	case RNBD_CLT_DEV_CLOSED:
		return -ECONNABORTED;
	case RNBD_CLT_DEV_UNMAPPED:
	case RNBD_CLT_DEV__NR:
		break;
	}
	return -ENODEV;
}

static int rnbd_clt_dev_send_open(struct rnbd_clt_dev *dev, enum rnbd_clt_dev_state state,
				  bool unheard, bool accept_other)
{
	unsigned int open_gen;
	int ret;

	ret = rnbd_clt_msg_claim(&dev->msg, &dev->stop, RNBD_CLT_OPEN_TIMEOUT);
	if (ret)
		return ret;
	rnbd_clt_dev_get(dev);
	dev->open_unheard = unheard;
	dev->accept_other = accept_other;
	dev->open_why = NULL;
	ret = rnbd_clt_dev_expect_state(dev, state);
	if (ret)
		goto err_end_msg;
	rnbd_clt_msg_forget_past(&dev->msg);
	rnbd_put_open(&dev->msg.req.open, dev->path, dev->access_mode);
	/* Before it is sent, and answered.  What handle it has is not known until then. */
	dev->was_on_server = dev->on_server;
	open_gen = dev->open_gen;
	dev->on_server = true;
	dev->open_gen = dev->msg.gen - 1;
	ret = rnbd_clt_msg_send(&dev->msg, &dev->stop);
	if (ret)
		goto err_not_sent;
	return 0;

err_not_sent:
	dev->on_server = dev->was_on_server;
	dev->open_gen = open_gen;
err_end_msg:
	rnbd_clt_dev_end_msg(dev);
	return ret;
}

/**
 * rnbd_clt_dev_open() - open a device on the server, and wait for it
 * @dev: the device
 * @state: state it has to be in: INIT for the first time, else CLOSED
 * @accept_other: also if the server has another disk under the name
 *
 * If the caller is killed, OPEN goes its way nevertheless.
 *
 * Context: may sleep; the caller is a user of the session.
 * Return: 0; -EALREADY: is open; -EBUSY: not yet open for the first time; -ENODEV: unmapped; -EINTR:
 * killed; -ETIMEDOUT: no answer; -ESTALE: another disk; errno of the server, the transport, or the check of the answer.
 */
int rnbd_clt_dev_open(struct rnbd_clt_dev *dev, enum rnbd_clt_dev_state state, bool accept_other)
{
	int ret;

	ret = rnbd_clt_dev_send_open(dev, state, false, accept_other);
	if (ret)
		return ret;
	ret = rnbd_clt_msg_wait(&dev->msg, &dev->stop, RNBD_CLT_OPEN_TIMEOUT);
	return ret ? ret : dev->open_error;
}

/* The link was lost, and the device is open again, or one of both. */
static void rnbd_clt_dev_tell_work(struct work_struct *work)
{
	struct rnbd_clt_dev *dev = container_of(work, struct rnbd_clt_dev, tell_work);
	bool tell_offline = false, tell_back = false;

	spin_lock(&dev->sess->lock);
	if (dev->is_online) {
		swap(tell_offline, dev->tell_offline);
		swap(tell_back, dev->tell_back);
	}
	spin_unlock(&dev->sess->lock);
	if (tell_offline) {
		rnbd_clt_dev_uevent(dev, KOBJ_OFFLINE);
		rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_LOST, "no path is connected", 0);
	}
	if (tell_back) {
		rnbd_clt_dev_uevent(dev, KOBJ_ONLINE);
		rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_BACK, NULL, 0);
	}
}

/* The link is back. */
static void rnbd_clt_dev_link_work(struct work_struct *work)
{
	struct rnbd_clt_dev *dev = container_of(to_delayed_work(work), struct rnbd_clt_dev,
						link_work);
	bool want_open = false;
	unsigned int gen;
	int ret;

	spin_lock(&dev->sess->lock);
	gen = dev->sess->link_gen;
	if (dev->is_online)
		swap(want_open, dev->want_open);
	want_open = want_open && rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_CLOSED;
	spin_unlock(&dev->sess->lock);
	if (!want_open)
		return;
	ret = rnbd_clt_dev_send_open(dev, RNBD_CLT_DEV_CLOSED, true, false);
	if (ret)
		rnbd_clt_dev_open_failed(dev, gen, ret, NULL);
}

/**
 * rnbd_clt_dev_set_online() - the device is complete: announce it, and what happened to the link meanwhile
 * @dev: device with its disk and directory in sysfs
 *
 * It may be unmapped at once, so the caller needs a reference.
 *
 * Context: may sleep.
 */
void rnbd_clt_dev_set_online(struct rnbd_clt_dev *dev)
{
	spin_lock(&dev->sess->lock);
	/* PAIRS: with rnbd_clt_hold(), which needs the disk. */
	smp_store_release(&dev->is_online, true);
	dev->telling++;
	spin_unlock(&dev->sess->lock);
	rtrs_nl_changed();

	rnbd_clt_dev_uevent(dev, KOBJ_ONLINE);

	spin_lock(&dev->sess->lock);
	if (dev->tell_offline || dev->tell_back)
		rnbd_clt_sess_queue_tell_work(dev);
	if (dev->want_open)
		rnbd_clt_sess_queue_link_work(dev);
	rnbd_clt_dev_told(dev);
	spin_unlock(&dev->sess->lock);
}

/* Two names that become the same link in sysfs count as the same. */
static bool rnbd_clt_dev_same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '/' ? '!' : *a) != (*b == '/' ? '!' : *b))
			return false;
	return *a == *b;
}

static int rnbd_clt_dev_list(struct rnbd_clt_dev *dev)
{
	struct rnbd_clt_dev *other;
	struct rnbd_clt_left *left;
	int ret = 0;

	spin_lock(&dev->sess->lock);
	list_for_each_entry(other, &dev->sess->devs, entry)
		if (rnbd_clt_dev_same_name(other->path, dev->path))
			ret = other->is_gone ? -EBUSY : -EEXIST;
	list_for_each_entry(left, &dev->sess->left, entry)
		if (!strcmp(left->path, dev->path))
			ret = -EBUSY;
	if (!ret)
		list_add_tail(&dev->entry, &dev->sess->devs);
	spin_unlock(&dev->sess->lock);
	return ret;
}

/**
 * rnbd_clt_dev_create() - make a device and put it on the list of its session
 * @sess: session the caller is a user of
 * @path: name on the server
 * @mode: how to open it
 * @no_path_timeout: seconds that requests wait for a path; 0: not at all; -1: for ever
 *
 * Context: may sleep.
 * Return: a device in state INIT, with a reference for the caller; -EEXIST: mapped already; -EBUSY: unmapped,
 * but a message of it is under way, or the server may still have it open; -ENOMEM.
 */
struct rnbd_clt_dev *rnbd_clt_dev_create(struct rnbd_clt_sess *sess, const char *path,
					 enum rnbd_access_mode mode, int no_path_timeout)
{
	struct rnbd_clt_dev *dev;
	int ret = -ENOMEM;

	dev = fault_here(alloc_dev) ? NULL : kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	if (rnbd_clt_msg_init(&dev->msg, sess, rnbd_clt_dev_msg_done))
		goto err_free;
	dev->left = rnbd_clt_left_alloc(sess, path);
	if (!dev->left)
		goto err_free_msg;
	refcount_set(&dev->ref, 1);
	dev->sess = sess;
	rnbd_clt_sess_hold(sess);
	INIT_LIST_HEAD(&dev->entry);
	strscpy(dev->path, path, sizeof(dev->path));
	dev->access_mode = mode;
	INIT_DELAYED_WORK(&dev->link_work, rnbd_clt_dev_link_work);
	INIT_WORK(&dev->tell_work, rnbd_clt_dev_tell_work);
	ratelimit_state_init(&dev->reopen_limit, RNBD_CLT_REOPEN_INTERVAL, RNBD_CLT_REOPEN_BURST);
	rnbd_clt_hold_init(dev, no_path_timeout);
	rnbd_clt_slow_init(dev);
	ret = rnbd_clt_dev_list(dev);
	if (ret)
		goto err_put;
	return dev;

err_put:
	rnbd_clt_dev_put(dev);
	return ERR_PTR(ret);
err_free_msg:
	rnbd_clt_msg_exit(&dev->msg);
err_free:
	kfree(dev);
	return ERR_PTR(ret);
}

/**
 * rnbd_clt_dev_get_opener() - a block device is being opened
 * @dev: the device
 *
 * Context: may sleep.
 * Return: 0, to be undone by rnbd_clt_dev_put_opener(); -ENXIO: being unmapped.
 */
int rnbd_clt_dev_get_opener(struct rnbd_clt_dev *dev)
{
	int ret = -ENXIO;

	spin_lock(&dev->sess->lock);
	if (rnbd_clt_dev_state(dev) != RNBD_CLT_DEV_UNMAPPED) {
		dev->nr_openers++;
		rnbd_clt_dev_get(dev);
		ret = 0;
	}
	spin_unlock(&dev->sess->lock);
	return ret;
}

/**
 * rnbd_clt_dev_put_opener() - a block device is being closed
 * @dev: the device
 *
 * Context: may sleep.
 */
void rnbd_clt_dev_put_opener(struct rnbd_clt_dev *dev)
{
	spin_lock(&dev->sess->lock);
	dev->nr_openers--;
	spin_unlock(&dev->sess->lock);
	rnbd_clt_dev_put(dev);
}

/* From here on every request fails, nobody can open the device, and nobody waits on its behalf. */
static void rnbd_clt_dev_stop_locked(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->sess->lock);
	rnbd_clt_dev_set_state(dev, RNBD_CLT_DEV_UNMAPPED);
	WRITE_ONCE(dev->stop, true);
	rnbd_clt_hold_stop(dev);
}

static void rnbd_clt_dev_settle(struct rnbd_clt_dev *dev)
{
	wake_up_all(&dev->sess->msg_wait);
	/* Nobody begins to tell any more, but who has begun needs the disk. */
	wait_event(dev->sess->msg_wait, !READ_ONCE(dev->telling));
	cancel_work_sync(&dev->tell_work);
	cancel_delayed_work_sync(&dev->link_work);
	cancel_delayed_work_sync(&dev->hold.dwork);
}

/**
 * rnbd_clt_dev_start_unmap() - become the one who takes a device apart
 * @dev: the device
 * @force: even if it is opened
 *
 * Context: may sleep.
 * Return: 0; -EALREADY: somebody else is; -EBUSY: opened, or not yet mapped completely.
 */
int rnbd_clt_dev_start_unmap(struct rnbd_clt_dev *dev, bool force)
{
	int ret = 0;

	spin_lock(&dev->sess->lock);
	if (rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_UNMAPPED)
		ret = -EALREADY;
	else if (!dev->is_online || (!force && dev->nr_openers))
		ret = -EBUSY;
	else
		rnbd_clt_dev_stop_locked(dev);
	spin_unlock(&dev->sess->lock);
	if (!ret)
		rnbd_clt_dev_settle(dev);
	return ret;
}

/**
 * rnbd_clt_dev_abort_map() - as rnbd_clt_dev_start_unmap(), for the one who maps and cannot go on
 * @dev: device that is not online
 *
 * Context: may sleep.
 */
void rnbd_clt_dev_abort_map(struct rnbd_clt_dev *dev)
{
	spin_lock(&dev->sess->lock);
	rnbd_clt_dev_stop_locked(dev);
	spin_unlock(&dev->sess->lock);
	rnbd_clt_dev_settle(dev);
}

static int rnbd_clt_dev_send_close(struct rnbd_clt_dev *dev)
{
	unsigned long timeout = dev->is_cut ? RNBD_CLT_CUT_TIMEOUT : RNBD_CLT_CLOSE_TIMEOUT;
	int ret;

	ret = rnbd_clt_msg_claim(&dev->msg, NULL, timeout);
	if (ret)
		return ret;
	rnbd_clt_dev_get(dev);
	/* The link was lost since: the handle is void, and mostly the server has closed by itself (left.c). */
	if (!dev->on_server || dev->open_gen != dev->msg.gen)
		goto err_end_msg;
	rnbd_put_close(&dev->msg.req.close, dev->device_id);
	ret = rnbd_clt_msg_send(&dev->msg, NULL);
	if (ret)
		goto err_end_msg;
	return rnbd_clt_msg_wait(&dev->msg, NULL, timeout);

err_end_msg:
	rnbd_clt_dev_end_msg(dev);
	return ret;
}

/**
 * rnbd_clt_dev_close() - have the server close a device
 * @dev: device without requests in flight, after rnbd_clt_dev_start_unmap()
 *
 * Waits for an OPEN that is under way, which is followed by a CLOSE; all within reason.
 *
 * Context: may sleep; the caller is a user of the session.
 */
void rnbd_clt_dev_close(struct rnbd_clt_dev *dev)
{
	int ret;

	ret = rnbd_clt_dev_send_close(dev);
	if (ret && ret != -ECONNABORTED && ret != -ENODEV)
		pr_warn("session %s: device_path=\"%s\" was not closed by the server: %pe\n",
			dev->sess->name, dev->path, ERR_PTR(ret));
}

/**
 * rnbd_clt_dev_end_unmap() - the device is taken apart
 * @dev: the device
 *
 * Its name is free now, or when the message under way has ended, and the server has it closed.
 *
 * Context: may sleep.
 */
void rnbd_clt_dev_end_unmap(struct rnbd_clt_dev *dev)
{
	spin_lock(&dev->sess->lock);
	dev->is_gone = true;
	rnbd_clt_dev_unlist(dev);
	spin_unlock(&dev->sess->lock);
	rtrs_nl_changed();
}
