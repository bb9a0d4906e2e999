// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control messages to the server: SESS_INFO, OPEN and CLOSE.
 *
 * Operation
 *	A message object lives in its owner, a session or a device, and carries one message at a time.
 *	Whoever wants to send claims it, fills the request, and sends.  What the transport reports is
 *	handed to a workqueue, where the owner's done function looks at the answer and releases the object,
 *	or sends a follow-up in the same slot.  A thread that waits may go away at any time: nothing of it
 *	is referenced, and the done function does all that is needed.
 *
 * Ownership
 *	From send to release the object holds a permit.  The transport does not close before all permits
 *	are back, so its session stays for whoever runs the done function.  The claim holds the memory of
 *	the session; the owner's own memory is the business of the owner.
 *
 * Ordering
 *	Permits come from the slots that I/O uses too, and are never queued for in the transport: a
 *	thread that wants one makes itself known in permit_waiters, upon which I/O steps back until the
 *	thread has its turn (queue.c).  So it can be killed, stopped, and has a deadline.
 *
 *	A message carries names that only one incarnation of the server's session knows.  The
 *	generation of the link is compared, and the message submitted, in one RCU read section, for the
 *	same reason as in queue.c.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "fault.h"
#include "msg.h"

/* How long to wait for a permit, or between attempts when the transport is short of something. */
#define RNBD_CLT_PERMIT_TIMEOUT	(60 * HZ)
/* Also without one that is given back there may be one: the transport makes more when they are short. */
#define RNBD_CLT_PERMIT_LOOK		(HZ / 10)
#define RNBD_CLT_RETRY_DELAY	max_t(unsigned long, 1, HZ / 100)

/* Runs the done functions; they do not wait for each other (I, set by module init). */
static struct workqueue_struct *rnbd_clt_msg_wq;

/**
 * struct rnbd_clt_msg_kind - how a type of message travels (protocol section 1)
 * @dir: READ or WRITE
 * @req_len: bytes of the user message
 * @rsp_len: bytes of data that come back
 */
struct rnbd_clt_msg_kind {
	int dir;
	size_t req_len;
	size_t rsp_len;
};

static const struct rnbd_clt_msg_kind rnbd_clt_msg_kinds[] = {
	[RNBD_MSG_SESS_INFO] = { READ, sizeof(struct rnbd_msg_sess_info),
				 sizeof(struct rnbd_msg_sess_info) },
	[RNBD_MSG_OPEN]	     = { READ, sizeof(struct rnbd_msg_open),
				 sizeof(struct rnbd_msg_open_rsp) },
	[RNBD_MSG_CLOSE]     = { WRITE, sizeof(struct rnbd_msg_close), 0 },
};

/**
 * rnbd_clt_msg_init_wq() - set up the workqueue of the done functions
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rnbd_clt_msg_init_wq(void)
{
	rnbd_clt_msg_wq = alloc_workqueue("rnbd_client_msg", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rnbd_clt_msg_wq ? 0 : -ENOMEM;
}

/**
 * rnbd_clt_msg_exit_wq() - wait for the last done function
 *
 * Context: module exit, after all sessions of the transport are closed.
 */
void rnbd_clt_msg_exit_wq(void)
{
	destroy_workqueue(rnbd_clt_msg_wq);
}

static void rnbd_clt_msg_work(struct work_struct *work)
{
	struct rnbd_clt_msg *msg = container_of(work, struct rnbd_clt_msg, work);

	msg->done(msg);
}

/**
 * rnbd_clt_msg_init() - set up a message object
 * @msg: the object
 * @sess: session it will travel on
 * @done: called when a message has ended
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rnbd_clt_msg_init(struct rnbd_clt_msg *msg, struct rnbd_clt_sess *sess,
		      void (*done)(struct rnbd_clt_msg *msg))
{
	msg->rsp = fault_here(alloc_msg) ? NULL : kzalloc(sizeof(*msg->rsp), GFP_KERNEL);
	if (!msg->rsp)
		return -ENOMEM;
	msg->sess = sess;
	msg->done = done;
	INIT_WORK(&msg->work, rnbd_clt_msg_work);
	return 0;
}

/**
 * rnbd_clt_msg_exit() - free what rnbd_clt_msg_init() allocated
 * @msg: the object, not claimed
 *
 * Context: any.
 */
void rnbd_clt_msg_exit(struct rnbd_clt_msg *msg)
{
	kfree(msg->rsp);
}

static bool rnbd_clt_msg_stopped(const struct rnbd_clt_msg *msg, const bool *stop)
{
	return READ_ONCE(msg->sess->stop) || (stop && READ_ONCE(*stop));
}

static bool rnbd_clt_msg_is_busy(struct rnbd_clt_msg *msg)
{
	bool busy;

	spin_lock(&msg->sess->lock);
	busy = msg->busy;
	spin_unlock(&msg->sess->lock);
	return busy;
}

static bool rnbd_clt_msg_try_claim(struct rnbd_clt_msg *msg)
{
	bool was_busy;

	spin_lock(&msg->sess->lock);
	was_busy = msg->busy;
	msg->busy = true;
	spin_unlock(&msg->sess->lock);
	return !was_busy;
}

/* What the result of a wait means if what was waited for did not happen. */
static int rnbd_clt_msg_wait_error(long left)
{
	if (left < 0)
		return -EINTR;
	return left ? -ENODEV : -ETIMEDOUT;
}

/**
 * rnbd_clt_msg_claim() - become the one who may send
 * @msg: the object
 * @stop: give up when this gets true, or NULL
 * @timeout: jiffies to wait for whoever has it
 *
 * Context: may sleep.
 * Return: 0, and the claim has to be released by somebody, and the message belongs to the link as it is;
 * -EINTR: killed; -ETIMEDOUT; -ENODEV: stopped.
 */
int rnbd_clt_msg_claim(struct rnbd_clt_msg *msg, const bool *stop, unsigned long timeout)
{
	bool claimed = false;
	long left;

	left = wait_event_killable_timeout(msg->sess->msg_wait,
					   rnbd_clt_msg_stopped(msg, stop) ||
					   (claimed = rnbd_clt_msg_try_claim(msg)), timeout);
	if (!claimed)
		return rnbd_clt_msg_wait_error(left);
	rnbd_clt_sess_hold(msg->sess);
	msg->gen = READ_ONCE(msg->sess->link_gen);
	msg->error = 0;
	return 0;
}

static bool rnbd_clt_msg_try_permit(struct rnbd_clt_msg *msg)
{
	msg->permit = rtrs_clt_get_permit(msg->rtrs, RTRS_ADMIN_CON, RTRS_PERMIT_NOWAIT);
	return msg->permit;
}

static int rnbd_clt_msg_get_permit(struct rnbd_clt_msg *msg, const bool *stop)
{
	struct rnbd_clt_sess *sess = msg->sess;
	unsigned long end = jiffies + RNBD_CLT_PERMIT_TIMEOUT;
	long left;

	/*
	 * The sender is a user of the session or has its work cancelled before the transport's
	 * session goes, so this is not a race.
	 */
	msg->rtrs = rcu_dereference_protected(sess->rtrs, true);
	if (!msg->rtrs)
		return -ENODEV;
	if (rnbd_clt_msg_try_permit(msg))
		return 0;

	/* PAIRS: the wait has a barrier before it tries, rnbd_clt_io_put_permit() one after it puts. */
	atomic_inc(&sess->permit_waiters);
	do {
		left = wait_event_killable_timeout(sess->msg_wait,
						   rnbd_clt_msg_stopped(msg, stop) ||
						   rnbd_clt_msg_try_permit(msg), RNBD_CLT_PERMIT_LOOK);
	} while (!left && time_before(jiffies, end));
	atomic_dec(&sess->permit_waiters);
	return msg->permit ? 0 : rnbd_clt_msg_wait_error(left);
}

static void rnbd_clt_msg_conf(void *priv, int errno)
{
	struct rnbd_clt_msg *msg = priv;

	msg->error = errno;
	queue_work(rnbd_clt_msg_wq, &msg->work);
}

/* A server that can tell which disk it opens does so where it finds the room. */
static size_t rnbd_clt_msg_rsp_len(const struct rnbd_clt_msg *msg, const struct rnbd_clt_msg_kind *kind)
{
	struct rtrs_attrs attrs;

	if (kind != &rnbd_clt_msg_kinds[RNBD_MSG_OPEN] || rtrs_clt_query(msg->rtrs, &attrs) || !attrs.identity)
		return kind->rsp_len;
	return sizeof(struct rnbd_msg_open_rsp_id);
}

static int rnbd_clt_msg_post(struct rnbd_clt_msg *msg)
{
	const struct rnbd_clt_msg_kind *kind =
		&rnbd_clt_msg_kinds[le16_to_cpu(msg->req.sess_info.hdr.type)];
	size_t rsp_len = rnbd_clt_msg_rsp_len(msg, kind);
	struct rtrs_clt_req_ops ops = {
		.priv = msg,
		.conf_fn = rnbd_clt_msg_conf,
	};
	struct kvec vec = {
		.iov_base = &msg->req,
		.iov_len = kind->req_len,
	};

	int ret = -ECONNABORTED;

	memset(msg->rsp, 0, sizeof(*msg->rsp));
	if (rsp_len)
		sg_init_one(&msg->sg, msg->rsp, rsp_len);
	rcu_read_lock();
	if (READ_ONCE(msg->sess->link_gen) == msg->gen)
		ret = rtrs_clt_request(kind->dir, &ops, msg->rtrs, msg->permit, &vec, 1,
				       rsp_len, rsp_len ? &msg->sg : NULL, rsp_len ? 1 : 0);
	rcu_read_unlock();
	return ret;
}

/**
 * rnbd_clt_msg_send() - send what is in the request
 * @msg: claimed object with its request filled in
 * @stop: give up when this gets true, or NULL
 *
 * If the transport is short of resources for the moment, tries again for a while.
 *
 * Context: may sleep.
 * Return: 0: the done function will be called, perhaps before this returns, and releases; else the caller
 * still has the claim: errno of the transport, -EINTR: killed; -ETIMEDOUT: no permit; -ENODEV: stopped.
 */
int rnbd_clt_msg_send(struct rnbd_clt_msg *msg, const bool *stop)
{
	unsigned long deadline = jiffies + RNBD_CLT_PERMIT_TIMEOUT;
	long left;
	int ret;

	if (!msg->permit) {
		ret = rnbd_clt_msg_get_permit(msg, stop);
		if (ret)
			return ret;
	}
	for (;;) {
		ret = rnbd_clt_msg_post(msg);
		if (ret != -EAGAIN && ret != -ENOMEM)
			return ret;
		if (time_after(jiffies, deadline))
			return ret;
		left = wait_event_killable_timeout(msg->sess->msg_wait,
						   rnbd_clt_msg_stopped(msg, stop),
						   RNBD_CLT_RETRY_DELAY);
		if (left)
			return rnbd_clt_msg_wait_error(left);
	}
}

/**
 * rnbd_clt_msg_wait() - wait until a message object is free
 * @msg: the object
 * @stop: give up when this gets true, or NULL
 * @timeout: jiffies
 *
 * Context: may sleep.
 * Return: 0; -EINTR: killed; -ETIMEDOUT; -ENODEV: stopped.  The message goes its way in any case.
 */
int rnbd_clt_msg_wait(struct rnbd_clt_msg *msg, const bool *stop, unsigned long timeout)
{
	bool is_free = false;
	long left;

	left = wait_event_killable_timeout(msg->sess->msg_wait,
					   (is_free = !rnbd_clt_msg_is_busy(msg)) ||
					   rnbd_clt_msg_stopped(msg, stop), timeout);
	return is_free ? 0 : rnbd_clt_msg_wait_error(left);
}

/**
 * rnbd_clt_msg_forget_past() - before OPEN: wait until no request or message with an older handle can be sent
 * @msg: claimed object
 *
 * The server may give a handle from before the loss of the link to another device.
 *
 * Context: may sleep.
 */
void rnbd_clt_msg_forget_past(const struct rnbd_clt_msg *msg)
{
	struct rnbd_clt_sess *sess = msg->sess;

	if (READ_ONCE(sess->rcu_gen) == msg->gen)
		return;
	synchronize_rcu();
	WRITE_ONCE(sess->rcu_gen, msg->gen);
}

/**
 * rnbd_clt_msg_release() - give up a claim
 * @msg: claimed object without a message under way
 *
 * Its owner has to be kept in memory by the caller.
 *
 * Context: any but interrupts.
 */
void rnbd_clt_msg_release(struct rnbd_clt_msg *msg)
{
	struct rnbd_clt_sess *sess = msg->sess;

	if (msg->permit) {
		rtrs_clt_put_permit(msg->rtrs, msg->permit);
		msg->permit = NULL;
	}
	spin_lock(&sess->lock);
	msg->busy = false;
	spin_unlock(&sess->lock);
	wake_up_all(&sess->msg_wait);
	rnbd_clt_sess_drop(sess);
}
