// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the server may have open although nobody has it mapped any more.
 *
 * Operation
 *	A device that is unmapped while no path is up cannot be closed.  Mostly that is not needed: the server has lost
 *	the session too.  But one that has not noticed yet, as all paths were back soon enough, keeps the session with
 *	all that was open in it.  So the name stays here, and when the link is back, and we have introduced ourselves,
 *	the device is opened once more, which gives the handle that it has, and closed.  It is asked for read-only: a
 *	server that had closed it opens it for that moment, and must not take it from anybody.
 *
 * Ownership
 *	A record is made with its device, which gives it away when it goes itself.  From then on it is on
 *	rnbd_clt_sess.left.  Its message claims it while that is under way, and takes it off the list if it has ended
 *	well; else it is tried again, when the link is back or, if it was not lost, soon, or goes with the session.
 *
 *	Requests of a disk that was unmapped by force may be at the server although they have failed here.  The server
 *	runs one request of a slot at a time, so one that is sent in such a slot would wait for the disk.  Their permits
 *	are kept here until the device is closed: the server does that when none of its requests is left.
 *
 * Ordering
 *	As long as a name is here it cannot be mapped: the server would give both the same handle (dev.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "left.h"
#include "msg.h"
#include "sess.h"

/* Between two attempts, if the link was not lost. */
#define RNBD_CLT_LEFT_DELAY	HZ

/* Is nothing left to do?  If the link was lost, how the message ended on the server is unknown. */
static bool rnbd_clt_left_ended(const struct rnbd_clt_msg *msg)
{
	return msg->error != -ECONNABORTED && msg->error != -ENOMEM;
}

static bool rnbd_clt_left_is_open(const struct rnbd_clt_msg *msg)
{
	return msg->req.open.hdr.type == cpu_to_le16(RNBD_MSG_OPEN) && !msg->error &&
	       msg->rsp->open.hdr.type == cpu_to_le16(RNBD_MSG_OPEN_RSP);
}

/**
 * rnbd_clt_left_queue() - have the server close what nobody has mapped
 * @sess: the session
 * @delay: jiffies
 *
 * If there is no link, or SESS_INFO was not answered yet, that is done when it is.
 *
 * Context: rnbd_clt_sess.lock held.
 */
void rnbd_clt_left_queue(struct rnbd_clt_sess *sess, unsigned long delay)
{
	lockdep_assert_held(&sess->lock);
	if (!sess->stop && sess->hello_gen == sess->link_gen && !list_empty(&sess->left))
		queue_delayed_work(sess->wq, &sess->left_work, delay);
}

/* The message has ended, or could not be sent. */
static void rnbd_clt_left_end(struct rnbd_clt_left *left, bool ended)
{
	struct rnbd_clt_sess *sess = left->msg.sess;

	if (ended) {
		spin_lock(&sess->lock);
		list_del(&left->entry);
		spin_unlock(&sess->lock);
		rnbd_clt_msg_release(&left->msg);
		rnbd_clt_left_put_slots(left);
		rnbd_clt_left_free(left);
		return;
	}
	rnbd_clt_sess_hold(sess);
	rnbd_clt_msg_release(&left->msg);
	/* It is not ours any more.  Without a loss of the link nothing else has it tried again. */
	spin_lock(&sess->lock);
	rnbd_clt_left_queue(sess, RNBD_CLT_LEFT_DELAY);
	spin_unlock(&sess->lock);
	rnbd_clt_sess_drop(sess);
}

static void rnbd_clt_left_msg_done(struct rnbd_clt_msg *msg)
{
	bool ended = rnbd_clt_left_ended(msg);

	if (rnbd_clt_left_is_open(msg)) {
		rnbd_put_close(&msg->req.close, le32_to_cpu(msg->rsp->open.device_id));
		if (!rnbd_clt_msg_send(msg, NULL))
			return;
		ended = false;
	}
	rnbd_clt_left_end(container_of(msg, struct rnbd_clt_left, msg), ended);
}

/**
 * rnbd_clt_left_alloc() - make a record for later
 * @sess: session of the device
 * @path: its name on the server
 *
 * Context: may sleep.
 * Return: the record, for rnbd_clt_left_keep() or rnbd_clt_left_free(); NULL: no memory.
 */
struct rnbd_clt_left *rnbd_clt_left_alloc(struct rnbd_clt_sess *sess, const char *path)
{
	struct rnbd_clt_left *left = kzalloc(sizeof(*left), GFP_KERNEL);

	if (!left)
		return NULL;
	if (rnbd_clt_msg_init(&left->msg, sess, rnbd_clt_left_msg_done)) {
		kfree(left);
		return NULL;
	}
	strscpy(left->path, path, sizeof(left->path));
	spin_lock_init(&left->lock);
	INIT_LIST_HEAD(&left->slots);
	return left;
}

/**
 * rnbd_clt_left_keep_slot() - the server may still have a request that was aborted
 * @left: record of its device
 * @slot: what belongs to the request's slot
 * @rtrs: transport session of @permit
 * @permit: permit of the request; the record's from now on
 *
 * If the session is being torn down the permit is given back at once: the transport waits for it.
 *
 * Context: any.
 */
void rnbd_clt_left_keep_slot(struct rnbd_clt_left *left, struct rnbd_clt_slot *slot,
			     struct rtrs_clt_sess *rtrs, struct rtrs_permit *permit)
{
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&left->lock, flags);
	/* PAIRS: with rnbd_clt_left_put_all_slots(), which takes the lock after @stop was set. */
	keep = !READ_ONCE(left->msg.sess->stop);
	if (keep) {
		slot->rtrs = rtrs;
		slot->permit = permit;
		list_add_tail(&slot->entry, &left->slots);
	}
	spin_unlock_irqrestore(&left->lock, flags);
	if (!keep)
		rtrs_clt_put_permit(rtrs, permit);
}

/**
 * rnbd_clt_left_put_slots() - the server has no request of a device any more, or the session ends
 * @left: record of the device
 *
 * Context: any.
 */
void rnbd_clt_left_put_slots(struct rnbd_clt_left *left)
{
	struct rnbd_clt_slot *slot, *next;
	unsigned long flags;

	spin_lock_irqsave(&left->lock, flags);
	list_for_each_entry_safe(slot, next, &left->slots, entry) {
		/* With its permit the slot may be somebody else's at once. */
		list_del(&slot->entry);
		rtrs_clt_put_permit(slot->rtrs, slot->permit);
	}
	spin_unlock_irqrestore(&left->lock, flags);
}

/**
 * rnbd_clt_left_put_all_slots() - give back all permits that were kept
 * @sess: session that is being torn down: @stop is set, its transport is not closed yet
 *
 * Context: process.
 */
void rnbd_clt_left_put_all_slots(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_left *left;
	struct rnbd_clt_dev *dev;

	spin_lock(&sess->lock);
	list_for_each_entry(dev, &sess->devs, entry)
		rnbd_clt_left_put_slots(dev->left);
	list_for_each_entry(left, &sess->left, entry)
		rnbd_clt_left_put_slots(left);
	spin_unlock(&sess->lock);
}

/**
 * rnbd_clt_left_free() - free a record that is on no list
 * @left: the record, or NULL
 *
 * Context: any.
 */
void rnbd_clt_left_free(struct rnbd_clt_left *left)
{
	if (!left)
		return;
	rnbd_clt_msg_exit(&left->msg);
	kfree(left);
}

/**
 * rnbd_clt_left_keep() - remember that the server may have a device open
 * @left: record of the device, the session's from now on
 *
 * Context: rnbd_clt_sess.lock held, and the session is not being torn down.
 */
void rnbd_clt_left_keep(struct rnbd_clt_left *left)
{
	struct rnbd_clt_sess *sess = left->msg.sess;

	lockdep_assert_held(&sess->lock);
	list_add_tail(&left->entry, &sess->left);
}

/* One that was not tried in this round.  Nobody but the work takes one, so it stays. */
static struct rnbd_clt_left *rnbd_clt_left_next(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_left *left, *found = NULL;

	spin_lock(&sess->lock);
	list_for_each_entry(left, &sess->left, entry) {
		/* The server wants SESS_INFO first. */
		if (sess->hello_gen != sess->link_gen)
			break;
		if (left->msg.busy || left->round == sess->left_round)
			continue;
		left->round = sess->left_round;
		found = left;
		break;
	}
	spin_unlock(&sess->lock);
	return found;
}

/* Send the first of its messages. */
static void rnbd_clt_left_close(struct rnbd_clt_left *left)
{
	struct rnbd_clt_sess *sess = left->msg.sess;
	bool given_up;
	int ret;

	/* Nobody else has it, so this fails only if the session is being torn down. */
	if (rnbd_clt_msg_claim(&left->msg, NULL, 0))
		return;
	rnbd_clt_msg_forget_past(&left->msg);
	rnbd_put_open(&left->msg.req.open, left->path, RNBD_ACCESS_RO);
	ret = rnbd_clt_msg_send(&left->msg, NULL);
	if (!ret)
		return;
	given_up = ret != -ECONNABORTED && ret != -ENODEV;
	if (given_up)
		pr_warn("session %s: device_path=\"%s\" was not closed by the server: %pe\n",
			sess->name, left->path, ERR_PTR(ret));
	rnbd_clt_left_end(left, given_up);
}

/**
 * rnbd_clt_left_work() - have the server close what nobody has mapped
 * @work: rnbd_clt_sess.left_work
 *
 * Runs after SESS_INFO was answered, and is cancelled before the transport goes.
 *
 * Context: process; sleeps.
 */
void rnbd_clt_left_work(struct work_struct *work)
{
	struct rnbd_clt_sess *sess = container_of(to_delayed_work(work), struct rnbd_clt_sess, left_work);
	struct rnbd_clt_left *left;

	/* From 1 on: what is new has 0. */
	if (!++sess->left_round)
		sess->left_round++;
	while ((left = rnbd_clt_left_next(sess)))
		rnbd_clt_left_close(left);
}

/* Free all that carry no message; true if those were all. */
static bool rnbd_clt_left_drop_idle(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_left *left, *next;
	bool all;

	spin_lock(&sess->lock);
	list_for_each_entry_safe(left, next, &sess->left, entry) {
		if (left->msg.busy)
			continue;
		list_del(&left->entry);
		rnbd_clt_left_free(left);
	}
	all = list_empty(&sess->left);
	spin_unlock(&sess->lock);
	return all;
}

/**
 * rnbd_clt_left_drop_all() - forget everything
 * @sess: session that is being torn down: its work is cancelled, its transport closed
 *
 * Context: may sleep.
 */
void rnbd_clt_left_drop_all(struct rnbd_clt_sess *sess)
{
	/* The transport has ended the messages; who has them releases them soon, and wakes us. */
	wait_event(sess->msg_wait, rnbd_clt_left_drop_idle(sess));
}
