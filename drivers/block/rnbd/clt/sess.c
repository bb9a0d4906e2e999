// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: one for each server, shared by the devices mapped from it.
 *
 * Operation
 *	A session is on the list from before it is connected until after it is torn down.  Whoever wants
 *	it in between waits, so two that map from a new server at the same time share one session, and
 *	nobody meets the name of a session that is still going.  The last user tears down.
 *
 * Ordering
 *	When the link is lost, all devices are closed on the spot, and what the server said before is
 *	void: link_gen tells the answers apart.  When it is back, a work item introduces us again and then
 *	has each device send its OPEN.  What the server refuses is sent once more, later (retry.h).
 *
 * Ownership
 *	rtrs is taken away under RCU, for requests and pollers, before the transport's session is closed.
 *	Everybody else who uses it is a user of the session, or a work item that is cancelled first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "fault.h"
#include "left.h"
#include "msg.h"
#include "queue.h"
#include "sess.h"
#include "tell.h"

/* Not configurable (sysfs specification section 5). */
#define RNBD_CLT_RECONNECT_DELAY_S	30
#define RNBD_CLT_RECONNECT_ATTEMPTS	-1

/* Longest answer to SESS_INFO. */
#define RNBD_CLT_HELLO_TIMEOUT		(60 * HZ)

/* Each slot has a scatter/gather list, so this bounds memory: 32 bytes for each entry and slot. */
#define RNBD_CLT_MAX_SEGMENTS		256U

/**
 * struct rnbd_clt_sessions - all sessions of this host
 * @lock: guards the list, and the members marked L
 * @list: sessions by rnbd_clt_sess.entry
 * @wq: runs what waits for messages after the link came back (I, set by module init)
 */
struct rnbd_clt_sessions {
	struct mutex lock;
	struct list_head list;
	struct workqueue_struct *wq;
};

static struct rnbd_clt_sessions rnbd_clt_sessions = {
	.lock = __MUTEX_INITIALIZER(rnbd_clt_sessions.lock),
	.list = LIST_HEAD_INIT(rnbd_clt_sessions.list),
};

/**
 * rnbd_clt_sess_init_wq() - set up the workqueue for links that come back
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rnbd_clt_sess_init_wq(void)
{
	rnbd_clt_sessions.wq = alloc_workqueue("rnbd_client_link", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rnbd_clt_sessions.wq ? 0 : -ENOMEM;
}

/**
 * rnbd_clt_sess_exit_wq() - remove it
 *
 * Context: module exit, without sessions.
 */
void rnbd_clt_sess_exit_wq(void)
{
	destroy_workqueue(rnbd_clt_sessions.wq);
}

/**
 * rnbd_clt_sess_queue_tell_work() - have a device announce what became of it
 * @dev: device with tell_offline or tell_back set
 *
 * User space is told under a mutex of the kernel that others hold while they wait for memory, which writeback frees,
 * which may wait for the device: so not by a work that opens the device, nor on a workqueue of ours.
 *
 * Context: rnbd_clt_sess.lock held.
 */
void rnbd_clt_sess_queue_tell_work(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->sess->lock);
	if (!dev->stop)
		queue_work(system_dfl_wq, &dev->tell_work);
}

/**
 * rnbd_clt_sess_queue_link_work() - have a device send OPEN
 * @dev: device with want_open set
 *
 * Context: rnbd_clt_sess.lock held.
 */
void rnbd_clt_sess_queue_link_work(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->sess->lock);
	if (!dev->stop)
		mod_delayed_work(rnbd_clt_sessions.wq, &dev->link_work, 0);
}

/**
 * rnbd_clt_sess_queue_open() - have a device ask the server once more, later
 * @dev: device with want_open set, and open_retry.delay
 *
 * Context: rnbd_clt_sess.lock held.
 */
void rnbd_clt_sess_queue_open(struct rnbd_clt_dev *dev)
{
	lockdep_assert_held(&dev->sess->lock);
	if (!dev->stop)
		queue_delayed_work(rnbd_clt_sessions.wq, &dev->link_work, dev->open_retry.delay);
}

static void rnbd_clt_sess_hello_done(struct rnbd_clt_msg *msg)
{
	struct rnbd_clt_sess *sess = msg->sess;

	if (!msg->error)
		msg->error = rnbd_get_sess_info_rsp(&msg->rsp->sess_info, &sess->ver);
	if (!msg->error) {
		spin_lock(&sess->lock);
		sess->hello_gen = msg->gen;
		spin_unlock(&sess->lock);
	}
	rnbd_clt_msg_release(msg);
}

/* Introduce us and learn the version of the server. */
static int rnbd_clt_sess_hello(struct rnbd_clt_sess *sess)
{
	int ret;

	ret = rnbd_clt_msg_claim(&sess->hello, NULL, RNBD_CLT_HELLO_TIMEOUT);
	if (ret)
		return ret;
	rnbd_put_sess_info(&sess->hello.req.sess_info);
	ret = rnbd_clt_msg_send(&sess->hello, NULL);
	if (ret) {
		rnbd_clt_msg_release(&sess->hello);
		return ret;
	}
	ret = rnbd_clt_msg_wait(&sess->hello, NULL, RNBD_CLT_HELLO_TIMEOUT);
	return ret ? ret : sess->hello.error;
}

static void rnbd_clt_sess_tell_failure(struct rnbd_clt_sess *sess, int error)
{
	struct rnbd_clt_dev *dev;

	spin_lock(&sess->lock);
	list_for_each_entry(dev, &sess->devs, entry)
		if (dev->is_online && rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_CLOSED)
			rnbd_clt_tell(dev, RTRS_NL_EVENT_DEVICE_FAILED, NULL, error);
	spin_unlock(&sess->lock);
}

/* Ask once more, unless the link was lost again, which queues the work when it is back; or torn down. */
static void rnbd_clt_sess_hello_failed(struct rnbd_clt_sess *sess, unsigned int gen, int error)
{
	bool is_news;

	spin_lock(&sess->lock);
	if (sess->stop || sess->link_gen != gen) {
		spin_unlock(&sess->lock);
		return;
	}
	is_news = rnbd_clt_retry_refused(&sess->hello_retry, error);
	queue_delayed_work(rnbd_clt_sessions.wq, &sess->hello_work, sess->hello_retry.delay);
	spin_unlock(&sess->lock);
	if (!is_news)
		return;
	pr_err("session %s: link is back, but the server does not answer: %pe; devices stay closed, asking again until it does\n",
	       sess->name, ERR_PTR(error));
	rnbd_clt_sess_tell_failure(sess, error);
}

static void rnbd_clt_sess_hello_work(struct work_struct *work)
{
	struct rnbd_clt_sess *sess = container_of(to_delayed_work(work), struct rnbd_clt_sess,
						  hello_work);
	unsigned int gen = READ_ONCE(sess->link_gen);
	struct rnbd_clt_dev *dev;
	int ret;

	ret = rnbd_clt_sess_hello(sess);
	if (ret) {
		rnbd_clt_sess_hello_failed(sess, gen, ret);
		return;
	}
	spin_lock(&sess->lock);
	if (sess->hello_gen != sess->link_gen) {
		/* Lost again, and the server wants SESS_INFO first. */
		spin_unlock(&sess->lock);
		return;
	}
	list_for_each_entry(dev, &sess->devs, entry) {
		dev->want_open = true;
		rnbd_clt_retry_reset(&dev->open_retry);
		rnbd_clt_sess_queue_link_work(dev);
	}
	rnbd_clt_left_queue(sess, 0);
	spin_unlock(&sess->lock);
}

static void rnbd_clt_sess_link_lost(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_dev *dev;

	spin_lock(&sess->lock);
	WRITE_ONCE(sess->link_gen, sess->link_gen + 1);
	cancel_delayed_work(&sess->hello_work);
	list_for_each_entry(dev, &sess->devs, entry) {
		/* The server wants SESS_INFO first. */
		dev->want_open = false;
		if (rnbd_clt_dev_state(dev) != RNBD_CLT_DEV_OPEN)
			continue;
		rnbd_clt_dev_set_state(dev, RNBD_CLT_DEV_CLOSED);
		/* If nobody has heard that it was back, nobody need hear that it is gone again. */
		if (!dev->tell_back)
			dev->tell_offline = true;
		dev->tell_back = false;
		rnbd_clt_sess_queue_tell_work(dev);
	}
	spin_unlock(&sess->lock);
}

static void rnbd_clt_sess_link_back(struct rnbd_clt_sess *sess)
{
	spin_lock(&sess->lock);
	rnbd_clt_retry_reset(&sess->hello_retry);
	if (!sess->stop)
		mod_delayed_work(rnbd_clt_sessions.wq, &sess->hello_work, 0);
	spin_unlock(&sess->lock);
}

/* The transport holds a mutex of its own: nothing here waits. */
static void rnbd_clt_sess_link_ev(void *priv, enum rtrs_clt_link_ev ev)
{
	struct rnbd_clt_sess *sess = priv;

	switch (ev) {
	case RTRS_CLT_LINK_EV_DISCONNECTED:
		rnbd_clt_sess_link_lost(sess);
		break;
	case RTRS_CLT_LINK_EV_RECONNECTED:
		rnbd_clt_sess_link_back(sess);
		break;
	}
}

static struct rnbd_clt_sess *rnbd_clt_sess_find(const char *name)
{
	struct rnbd_clt_sess *sess;

	lockdep_assert_held(&rnbd_clt_sessions.lock);
	list_for_each_entry(sess, &rnbd_clt_sessions.list, entry)
		if (!strcmp(sess->name, name))
			return sess;
	return NULL;
}

static void rnbd_clt_sess_set_state(struct rnbd_clt_sess *sess, enum rnbd_clt_sess_state state)
{
	lockdep_assert_held(&rnbd_clt_sessions.lock);
	WRITE_ONCE(sess->state, state);
	wake_up_all(&sess->state_wait);
}

static struct rnbd_clt_sess *rnbd_clt_sess_alloc(const struct rnbd_clt_sess_params *params)
{
	struct rnbd_clt_sess *sess;

	sess = fault_here(alloc_sess) ? NULL : kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return NULL;
	if (rnbd_clt_msg_init(&sess->hello, sess, rnbd_clt_sess_hello_done)) {
		kfree(sess);
		return NULL;
	}
	refcount_set(&sess->ref, 1);
	strscpy(sess->name, params->name, sizeof(sess->name));
	sess->state = RNBD_CLT_SESS_OPENING;
	sess->users = 1;
	init_waitqueue_head(&sess->state_wait);
	sess->nr_poll_queues = params->nr_poll_queues;
	spin_lock_init(&sess->lock);
	INIT_LIST_HEAD(&sess->devs);
	INIT_DELAYED_WORK(&sess->hello_work, rnbd_clt_sess_hello_work);
	sess->wq = rnbd_clt_sessions.wq;
	INIT_LIST_HEAD(&sess->left);
	INIT_DELAYED_WORK(&sess->left_work, rnbd_clt_left_work);
	/* Not answered yet. */
	sess->hello_gen = sess->link_gen - 1;
	init_waitqueue_head(&sess->msg_wait);
	return sess;
}

static int rnbd_clt_sess_connect(struct rnbd_clt_sess *sess,
				 const struct rnbd_clt_sess_params *params)
{
	struct rtrs_clt_ops ops = {
		.priv = sess,
		.link_ev = rnbd_clt_sess_link_ev,
	};
	struct rtrs_clt_sess *rtrs;

	rtrs = rtrs_clt_open_timed(&ops, sess->name, params->paths, params->nr_paths, params->port, 0,
				   RNBD_CLT_RECONNECT_DELAY_S, RNBD_CLT_RECONNECT_ATTEMPTS,
				   sess->nr_poll_queues, params->timing, params->report);
	if (IS_ERR(rtrs)) {
		rnbd_clt_err(params->report, "map_device: sessname=\"%s\": cannot connect: %pe\n",
			     sess->name, rtrs);
		return PTR_ERR(rtrs);
	}
	rcu_assign_pointer(sess->rtrs, rtrs);
	return 0;
}

/* Stop whatever runs on behalf of the session, and close the transport; may be called again. */
static void rnbd_clt_sess_shutdown(struct rnbd_clt_sess *sess)
{
	struct rtrs_clt_sess *rtrs = rcu_dereference_protected(sess->rtrs, true);

	spin_lock(&sess->lock);
	WRITE_ONCE(sess->stop, true);
	spin_unlock(&sess->lock);
	wake_up_all(&sess->msg_wait);
	cancel_delayed_work_sync(&sess->hello_work);
	cancel_delayed_work_sync(&sess->left_work);
	if (!rtrs)
		return;
	RCU_INIT_POINTER(sess->rtrs, NULL);
	synchronize_rcu();
	rnbd_clt_left_put_all_slots(sess);
	rtrs_clt_close(rtrs);
	rnbd_clt_left_drop_all(sess);
}

static void rnbd_clt_sess_unlist(struct rnbd_clt_sess *sess)
{
	scoped_guard(mutex, &rnbd_clt_sessions.lock) {
		list_del(&sess->entry);
		rnbd_clt_sess_set_state(sess, RNBD_CLT_SESS_GONE);
	}
	rtrs_nl_changed();
	rnbd_clt_msg_exit(&sess->hello);
	rnbd_clt_sess_drop(sess);
}

/* Bring up a new session that is on the list already; on failure it is off again, and freed. */
static int rnbd_clt_sess_open(struct rnbd_clt_sess *sess,
			      const struct rnbd_clt_sess_params *params)
{
	int ret;

	ret = rnbd_clt_sess_connect(sess, params);
	if (ret)
		goto err_unlist;
	ret = rtrs_clt_query(rcu_dereference_protected(sess->rtrs, true), &sess->attrs);
	if (!ret)
		ret = rnbd_clt_sess_hello(sess);
	if (ret) {
		rnbd_clt_err(params->report, "map_device: sessname=\"%s\": connected, but the server does not answer: %pe\n",
			     sess->name, ERR_PTR(ret));
		goto err_shutdown;
	}
	/* A request has no gaps between pages, so its data are in so many at most; each slot has a list of them. */
	sess->attrs.max_segments = min3(sess->attrs.max_segments, sess->attrs.max_io_size / RNBD_CLT_PAGE_BYTES + 1,
					RNBD_CLT_MAX_SEGMENTS);
	ret = rnbd_clt_queue_alloc_slots(sess);
	if (ret) {
		rnbd_clt_err(params->report, "map_device: sessname=\"%s\": no memory for %u slots: %pe\n",
			     sess->name, sess->attrs.queue_depth, ERR_PTR(ret));
		goto err_shutdown;
	}
	scoped_guard(mutex, &rnbd_clt_sessions.lock)
		rnbd_clt_sess_set_state(sess, RNBD_CLT_SESS_LIVE);
	return 0;

err_shutdown:
	rnbd_clt_sess_shutdown(sess);
err_unlist:
	rnbd_clt_sess_unlist(sess);
	return ret;
}

static int rnbd_clt_sess_wait_settled(struct rnbd_clt_sess *sess)
{
	enum rnbd_clt_sess_state state;

	return wait_event_killable(sess->state_wait,
				   (state = READ_ONCE(sess->state),
				    state == RNBD_CLT_SESS_LIVE || state == RNBD_CLT_SESS_GONE));
}

#define RNBD_CLT_SESS_TIMING(_name, _min, _max, _default)						\
	if ((params->timing_given & BIT(RTRS_CLT_TIMING_##_name)) &&				\
	    params->timing->_name != have._name) {						\
		rnbd_clt_err(params->report, "map_device: " #_name "=%u: expected %u, which session %s has; /sys/class/rtrs-client/%s/" #_name " changes it\n", \
			     params->timing->_name, have._name, sess->name, sess->name);	\
		rtrs_report_blame(params->report, #_name, 0);					\
		return -EINVAL;									\
	}

/* What a session has is not changed for one more device; the caller holds the lock of the list. */
static int rnbd_clt_sess_check_params(const struct rnbd_clt_sess *sess,
				      const struct rnbd_clt_sess_params *params)
{
	struct rtrs_clt_timing have;

	lockdep_assert_held(&rnbd_clt_sessions.lock);
	if (params->nr_poll_queues) {
		rnbd_clt_err(params->report, "map_device: nr_poll_queues=%u: expected 0, session %s exists with %u\n",
			     params->nr_poll_queues, sess->name, sess->nr_poll_queues);
		rtrs_report_blame(params->report, "nr_poll_queues", 0);
		return -EINVAL;
	}
	/* Taken away only after the state was changed, with the lock. */
	rtrs_clt_get_timing(rcu_dereference_protected(sess->rtrs, true), &have);
	RTRS_CLT_TIMINGS(RNBD_CLT_SESS_TIMING)
	return 0;
}

/*
 * Join a session that is live.  1: joined; 0: it was in between, waited, look again.  The caller holds
 * the lock of the list; it is dropped for waiting.
 */
static int rnbd_clt_sess_join(struct rnbd_clt_sess *sess,
			      const struct rnbd_clt_sess_params *params)
{
	int ret;

	lockdep_assert_held(&rnbd_clt_sessions.lock);
	if (sess->state == RNBD_CLT_SESS_LIVE) {
		ret = rnbd_clt_sess_check_params(sess, params);
		if (ret)
			return ret;
		sess->users++;
		return 1;
	}
	rnbd_clt_sess_hold(sess);
	mutex_unlock(&rnbd_clt_sessions.lock);
	ret = rnbd_clt_sess_wait_settled(sess);
	rnbd_clt_sess_drop(sess);
	mutex_lock(&rnbd_clt_sessions.lock);
	return ret ? -EINTR : 0;
}

/* Find a session, or put a new one on the list, which is in state opening and wants to be opened. */
static struct rnbd_clt_sess *rnbd_clt_sess_find_or_add(const struct rnbd_clt_sess_params *params)
{
	struct rnbd_clt_sess *sess;
	int ret;

	guard(mutex)(&rnbd_clt_sessions.lock);
	for (;;) {
		sess = rnbd_clt_sess_find(params->name);
		if (!sess)
			break;
		ret = rnbd_clt_sess_join(sess, params);
		if (ret < 0)
			return ERR_PTR(ret);
		if (ret)
			return sess;
	}
	if (!params->nr_paths) {
		rnbd_clt_err(params->report, "map_device: path is missing: expected path=[<src>,]<dst>, as session %s does not exist\n",
			     params->name);
		rtrs_report_blame(params->report, "path", 0);
		return ERR_PTR(-ENXIO);
	}
	sess = rnbd_clt_sess_alloc(params);
	if (!sess)
		return ERR_PTR(-ENOMEM);
	list_add_tail(&sess->entry, &rnbd_clt_sessions.list);
	rtrs_nl_changed();
	return sess;
}

/**
 * rnbd_clt_sess_get() - become a user of a session, making it if there is none of the name
 * @params: name, and how to reach the server
 *
 * Says why in the kernel log if it fails, and to whom @params names.
 *
 * Context: may sleep, for as long as connecting takes.
 * Return: the session, to be given back by rnbd_clt_sess_put(); -ENXIO: new, but without paths; -EINVAL:
 * poll queues wanted of a session that exists, or timing that it does not have; -EINTR: killed; -ENOMEM;
 * errno of the transport.
 */
struct rnbd_clt_sess *rnbd_clt_sess_get(const struct rnbd_clt_sess_params *params)
{
	struct rnbd_clt_sess *sess;
	int ret;

	sess = rnbd_clt_sess_find_or_add(params);
	if (IS_ERR(sess) || READ_ONCE(sess->state) == RNBD_CLT_SESS_LIVE)
		return sess;
	ret = rnbd_clt_sess_open(sess, params);
	return ret ? ERR_PTR(ret) : sess;
}

/**
 * rnbd_clt_sess_put() - stop being a user of a session
 * @sess: the session; gone afterwards, as far as the caller is concerned
 *
 * The last user tears it down.
 *
 * Context: may sleep; not from a work item of the session.
 */
void rnbd_clt_sess_put(struct rnbd_clt_sess *sess)
{
	scoped_guard(mutex, &rnbd_clt_sessions.lock) {
		if (--sess->users)
			return;
		rnbd_clt_sess_set_state(sess, RNBD_CLT_SESS_CLOSING);
	}
	rnbd_clt_sess_shutdown(sess);
	rnbd_clt_queue_free_slots(sess);
	rnbd_clt_sess_unlist(sess);
}

/**
 * rnbd_clt_sess_cut() - take away the transport from the only user of a session
 * @sess: session the caller is a user of
 *
 * Everything in flight ends with an error.  Does nothing if there are other users.
 *
 * Context: may sleep; not from a work item of the session.
 */
void rnbd_clt_sess_cut(struct rnbd_clt_sess *sess)
{
	scoped_guard(mutex, &rnbd_clt_sessions.lock) {
		if (sess->users > 1)
			return;
		rnbd_clt_sess_set_state(sess, RNBD_CLT_SESS_CLOSING);
	}
	pr_warn("session %s: requests do not end, disconnecting\n", sess->name);
	rnbd_clt_sess_shutdown(sess);
}

/**
 * rnbd_clt_sess_get_nth() - find a session by its number
 * @nr: counted from 0; those behind one that goes get another
 *
 * Context: may sleep.
 * Return: the session for rnbd_clt_sess_drop(), NULL if there are not so many.
 */
struct rnbd_clt_sess *rnbd_clt_sess_get_nth(unsigned int nr)
{
	struct rnbd_clt_sess *sess;

	guard(mutex)(&rnbd_clt_sessions.lock);
	list_for_each_entry(sess, &rnbd_clt_sessions.list, entry) {
		if (nr--)
			continue;
		rnbd_clt_sess_hold(sess);
		return sess;
	}
	return NULL;
}

static struct rnbd_clt_dev *rnbd_clt_sess_mapped_dev(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_dev *dev, *found = NULL;

	spin_lock(&sess->lock);
	list_for_each_entry(dev, &sess->devs, entry) {
		if (rnbd_clt_dev_state(dev) == RNBD_CLT_DEV_UNMAPPED)
			continue;
		refcount_inc(&dev->ref);
		found = dev;
		break;
	}
	spin_unlock(&sess->lock);
	return found;
}

/**
 * rnbd_clt_sess_any_dev() - find a device that is mapped, whichever
 *
 * Context: may sleep.
 * Return: a device with a reference for the caller, or NULL if there is none.
 */
struct rnbd_clt_dev *rnbd_clt_sess_any_dev(void)
{
	struct rnbd_clt_sess *sess;
	struct rnbd_clt_dev *dev;

	guard(mutex)(&rnbd_clt_sessions.lock);
	list_for_each_entry(sess, &rnbd_clt_sessions.list, entry) {
		dev = rnbd_clt_sess_mapped_dev(sess);
		if (dev)
			return dev;
	}
	return NULL;
}

static struct rnbd_clt_dev *rnbd_clt_sess_named_dev(struct rnbd_clt_sess *sess, const char *disk)
{
	struct rnbd_clt_dev *dev, *found = NULL;

	spin_lock(&sess->lock);
	list_for_each_entry(dev, &sess->devs, entry) {
		/* One that is gone is here for its message, and its disk's name may be another's. */
		if (!dev->is_online || dev->is_gone || strcmp(dev->disk->disk_name, disk))
			continue;
		refcount_inc(&dev->ref);
		found = dev;
		break;
	}
	spin_unlock(&sess->lock);
	return found;
}

/**
 * rnbd_clt_sess_find_dev() - find a device by its disk
 * @disk: name of the disk
 *
 * Context: may sleep.
 * Return: a device that is complete, or being unmapped, with a reference for the caller, or NULL if there is
 * none.
 */
struct rnbd_clt_dev *rnbd_clt_sess_find_dev(const char *disk)
{
	struct rnbd_clt_sess *sess;
	struct rnbd_clt_dev *dev;

	guard(mutex)(&rnbd_clt_sessions.lock);
	list_for_each_entry(sess, &rnbd_clt_sessions.list, entry) {
		dev = rnbd_clt_sess_named_dev(sess, disk);
		if (dev)
			return dev;
	}
	return NULL;
}
