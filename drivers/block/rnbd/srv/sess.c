// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: one per client, from the transport's CONNECTED to its DISCONNECTED.
 *
 * Operation: block requests are decoded, checked and submitted where the transport delivers them.
 * SESS_INFO, OPEN and CLOSE wait in a queue of the session and are handled one after the other by
 * a work; that order makes a message that the client sent twice, over two paths, harmless.  What
 * may take long does not happen there: the last part of a CLOSE, see dev.c, and OPEN, for a
 * driver opens as slowly as it likes.  Each OPEN is a work of its own, on another workqueue;
 * those of one name are done one after the other, in the order in which they came.
 *
 * Ownership: the user message is the transport's until the request is answered, but it is copied
 * all the same.  The result area is ours until then, and written once, right before the answer.
 *
 * Ordering: the transport calls CONNECTED before the first request, and DISCONNECTED when none can come any
 * more.  What is orphaned then keeps its device, and so the session's memory, until it ends.  Memory of all works is
 * allocated without I/O, since the pages that the client wants to write may be of this host.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "../proto/opmap.h"
#include "backend.h"
#include "dev.h"
#include "fault.h"
#include "io.h"
#include "log.h"
#include "sess.h"
#include "slow.h"
#include "trace.h"

/* Messages about opened and closed devices, per session and interval. */
#define RNBD_SRV_ADMIN_BURST	100
/* A session that others have come before that did not last has lasted after so long, and is like any other. */
#define RNBD_SRV_QUIET_MS	5000

/*
 * Limit of concurrent OPENs per session.  A session can have this many disks that hang in open
 * before its other OPENs wait, and never occupies more workers than this.
 */
#define RNBD_SRV_MAX_OPENING	8

/**
 * struct rnbd_srv_sessions - all sessions of this server
 * @wq: I: runs the queue works, which wait for no disk
 * @open_wq: I: runs the OPENs
 * @lock: guards @list
 * @list: sessions that the transport has
 * @nr: one for the module, one for each session that is not freed
 * @none: completed when @nr has come to nothing
 */
struct rnbd_srv_sessions {
	struct workqueue_struct *wq;
	struct workqueue_struct *open_wq;
	struct mutex lock;
	struct list_head list;
	refcount_t nr;
	struct completion none;
};

static struct rnbd_srv_sessions rnbd_srv_sessions = {
	.lock = __MUTEX_INITIALIZER(rnbd_srv_sessions.lock),
	.list = LIST_HEAD_INIT(rnbd_srv_sessions.list),
	.nr = REFCOUNT_INIT(1),
	.none = COMPLETION_INITIALIZER(rnbd_srv_sessions.none),
};

/**
 * rnbd_srv_sessions_init() - prepare for sessions
 *
 * Context: process, before the first client.
 * Return: 0 or -ENOMEM.
 */
int rnbd_srv_sessions_init(void)
{
	rnbd_srv_sessions.wq = alloc_workqueue("rnbd_server", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rnbd_srv_sessions.wq)
		return -ENOMEM;
	/*
	 * Not for memory reclaim: a driver may flush any workqueue when its device is opened.  So
	 * whoever is, as the transport's callbacks, must not flush this one.
	 */
	rnbd_srv_sessions.open_wq = alloc_workqueue("rnbd_server_open", WQ_UNBOUND,
						    WQ_UNBOUND_MAX_ACTIVE);
	if (!rnbd_srv_sessions.open_wq) {
		destroy_workqueue(rnbd_srv_sessions.wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * rnbd_srv_sessions_exit() - the reverse of rnbd_srv_sessions_init()
 *
 * Context: process, after the last client.  Waits until the last session is freed.
 */
void rnbd_srv_sessions_exit(void)
{
	if (!refcount_dec_and_test(&rnbd_srv_sessions.nr))
		wait_for_completion(&rnbd_srv_sessions.none);
	destroy_workqueue(rnbd_srv_sessions.open_wq);
	destroy_workqueue(rnbd_srv_sessions.wq);
}

/**
 * rnbd_srv_sessions_show() - print a line for each session: devices, version, refused messages
 * @seq: where to
 *
 * Context: process; takes the lock of the list.
 */
void rnbd_srv_sessions_show(struct seq_file *seq)
{
	struct rnbd_srv_sess *sess;
	unsigned int v;

	guard(mutex)(&rnbd_srv_sessions.lock);
	list_for_each_entry(sess, &rnbd_srv_sessions.list, entry) {
		seq_escape(seq, sess->name, " \t\n\\");
		seq_printf(seq, " ver=%u devices=%u", READ_ONCE(sess->ver),
			   READ_ONCE(sess->nr_devs));
		for (v = RNBD_SRV_OK + 1; v < RNBD_SRV_VERDICT__NR; v++)
			seq_printf(seq, " %s=%ld", rnbd_srv_verdict_name(v),
				   atomic_long_read(&sess->refused[v]));
		seq_putc(seq, '\n');
	}
}

/**
 * rnbd_srv_sess_get_nth() - find a session by its number
 * @nr: counted from 0; those behind one that goes get another
 *
 * Context: process; takes the lock of the list.
 * Return: the session for rnbd_srv_sess_put(), NULL if there are not so many.
 */
struct rnbd_srv_sess *rnbd_srv_sess_get_nth(unsigned int nr)
{
	struct rnbd_srv_sess *sess;

	guard(mutex)(&rnbd_srv_sessions.lock);
	list_for_each_entry(sess, &rnbd_srv_sessions.list, entry) {
		if (nr--)
			continue;
		refcount_inc(&sess->refs);
		return sess;
	}
	return NULL;
}

/* Count a refused message. */
static void rnbd_srv_sess_refuse(struct rnbd_srv_sess *sess, int type,
				 enum rnbd_srv_verdict verdict, int error)
{
	atomic_long_inc(&sess->refused[verdict]);
	trace_rnbd_srv_refuse(sess, type, verdict, error);
}

/* Refuse a message that is not what its type demands.  Returns the errno that answers it. */
static int rnbd_srv_sess_refuse_msg(struct rnbd_srv_sess *sess, int type, size_t usr_len,
				    enum rnbd_srv_verdict verdict)
{
	int ret = rnbd_srv_verdict_errno(verdict);

	rnbd_srv_sess_refuse(sess, type, verdict, ret);
	if (rnbd_srv_may_log(&sess->refuse_limit))
		pr_warn("session %*pE: message of type %d, %zu bytes, refused: %s\n",
			RNBD_SRV_STR(sess->name), type, usr_len, rnbd_srv_verdict_text(verdict));
	return ret;
}

/**
 * rnbd_srv_sess_refuse_type() - refuse a message of unknown type
 * @sess: the session
 * @type: what rnbd_srv_msg_type() said
 * @usr_len: length of the message in bytes
 *
 * Context: any.
 * Return: the errno that answers the client.
 */
int rnbd_srv_sess_refuse_type(struct rnbd_srv_sess *sess, int type, size_t usr_len)
{
	return rnbd_srv_sess_refuse_msg(sess, type, usr_len,
					type < 0 ? RNBD_SRV_BAD_LENGTH : RNBD_SRV_BAD_TYPE);
}

static int rnbd_srv_sess_refuse_io(struct rnbd_srv_sess *sess, const struct rnbd_srv_io_req *req,
				   const struct rnbd_srv_dev *dev, size_t data_len,
				   enum rnbd_srv_verdict verdict)
{
	const struct rnbd_op_desc *desc = rnbd_op_desc(req->op);
	int ret = rnbd_srv_verdict_errno(verdict);
	const char *name = dev ? dev->name : "";

	rnbd_srv_sess_refuse(sess, RNBD_MSG_IO, verdict, ret);
	if (rnbd_srv_may_log(&sess->refuse_limit))
		pr_warn("session %*pE: device \"%*pE\", id %u: op %u (%s), sector %llu, %u bytes, %zu of data, refused: %s\n",
			RNBD_SRV_STR(sess->name), RNBD_SRV_STR(name), req->device_id, req->op,
			desc ? desc->name : "unknown", req->sector, req->bytes, data_len,
			rnbd_srv_verdict_text(verdict));
	return ret;
}

/**
 * rnbd_srv_sess_io() - start a block request of the client
 * @sess: the session
 * @id: the transport's request
 * @data: payload or result area
 * @data_len: bytes at @data
 * @usr: user message, of type IO
 * @usr_len: bytes at @usr
 *
 * Context: process; may sleep in the block layer.
 * Return: 0 if the request will be answered, or the errno to answer it with.
 */
int rnbd_srv_sess_io(struct rnbd_srv_sess *sess, struct rtrs_srv_op *id, void *data,
		     size_t data_len, const void *usr, size_t usr_len)
{
	struct rnbd_srv_io_rules rules;
	struct rnbd_srv_io_req req;
	enum rnbd_srv_verdict verdict;
	struct rnbd_srv_dev *dev;
	int ret;

	verdict = rnbd_srv_get_io(usr, usr_len, data_len, id->dir == WRITE,
				  READ_ONCE(sess->ver), &req);
	if (verdict == RNBD_SRV_BAD_LENGTH)
		return rnbd_srv_sess_refuse_msg(sess, RNBD_MSG_IO, usr_len, verdict);
	/* From here on the device is known, or at least its id. */
	dev = rnbd_srv_dev_get_io(sess, req.device_id);
	if (verdict == RNBD_SRV_OK && !dev)
		verdict = RNBD_SRV_NO_DEVICE;
	if (verdict == RNBD_SRV_OK) {
		rules = dev->rules;
		rnbd_srv_backend_rules(&dev->backend, &rules);
		verdict = rnbd_srv_check_io(&req, &rules);
	}
	if (verdict == RNBD_SRV_OK) {
		rnbd_srv_io_submit(dev, &req, data, id);
		return 0;
	}

	ret = rnbd_srv_sess_refuse_io(sess, &req, dev, data_len, verdict);
	if (dev)
		percpu_ref_put(&dev->io_ref);
	return ret;
}

/**
 * rnbd_srv_sess_overdue() - the client waits for a request
 * @sess: the session
 * @id: the transport's request, which it keeps until this returns
 * @secs: for how long it has been here
 *
 * Nothing happens if it is no I/O, or its bio has ended just now.
 *
 * Context: any.
 */
void rnbd_srv_sess_overdue(struct rnbd_srv_sess *sess, const struct rtrs_srv_op *id, unsigned int secs)
{
	const struct rnbd_srv_io *io = id->pdu;
	struct rnbd_srv_dev *dev;

	/* PAIRS: with rnbd_srv_io_submit() */
	if (!secs || smp_load_acquire(&io->id) != id)
		return;
	dev = rnbd_srv_dev_get_io(sess, io->device_id);
	if (!dev)
		return;
	rnbd_srv_slow_begin(dev, secs);
	percpu_ref_put(&dev->io_ref);
}

/**
 * rnbd_srv_sess_queue() - take over a SESS_INFO, OPEN or CLOSE of the client
 * @sess: the session
 * @id: the transport's request
 * @data: result area
 * @data_len: bytes at @data
 * @usr: user message
 * @usr_len: bytes at @usr
 *
 * Context: process.
 * Return: 0 if the request will be answered, or -ENOMEM to answer it with.
 */
int rnbd_srv_sess_queue(struct rnbd_srv_sess *sess, struct rtrs_srv_op *id, void *data,
			size_t data_len, const void *usr, size_t usr_len)
{
	struct rnbd_srv_msg *msg;

	msg = fault_here(alloc_msg) ? NULL : kmalloc(sizeof(*msg), GFP_NOIO);
	if (!msg)
		return -ENOMEM;
	msg->id = id;
	msg->data = data;
	msg->data_len = data_len;
	msg->usr_len = min(usr_len, sizeof(msg->usr));
	memcpy(msg->usr, usr, msg->usr_len);
	/*
	 * ORDER: first the count.  A work that runs already can answer the message as soon as it is
	 * in the queue, and after that nothing of the transport keeps the session for us.
	 */
	refcount_inc(&sess->refs);
	spin_lock(&sess->queue_lock);
	list_add_tail(&msg->entry, &sess->queue);
	spin_unlock(&sess->queue_lock);
	if (!queue_work(rnbd_srv_sessions.wq, &sess->queue_work))
		rnbd_srv_sess_put(sess);
	return 0;
}

static struct rnbd_srv_msg *rnbd_srv_sess_dequeue(struct rnbd_srv_sess *sess)
{
	struct rnbd_srv_msg *msg;

	spin_lock(&sess->queue_lock);
	msg = list_first_entry_or_null(&sess->queue, struct rnbd_srv_msg, entry);
	if (msg)
		list_del(&msg->entry);
	spin_unlock(&sess->queue_lock);
	return msg;
}

static int rnbd_srv_sess_handle_info(struct rnbd_srv_sess *sess, struct rnbd_srv_msg *msg)
{
	enum rnbd_srv_verdict verdict;
	u8 ver;

	verdict = rnbd_srv_get_sess_info(msg->usr, msg->usr_len, msg->data_len, &ver);
	if (verdict != RNBD_SRV_OK)
		return rnbd_srv_sess_refuse_msg(sess, RNBD_MSG_SESS_INFO, msg->usr_len, verdict);
	WRITE_ONCE(sess->ver, ver);
	memset(msg->data, 0, msg->data_len);
	rnbd_srv_put_sess_info_rsp(msg->data, ver);
	return 0;
}

static int rnbd_srv_sess_handle_open(struct rnbd_srv_sess *sess, struct rnbd_srv_msg *msg,
				     enum rnbd_srv_verdict verdict)
{
	const struct rnbd_srv_open_req *req = &msg->open;
	struct rnbd_srv_opened opened;
	int ret;

	if (verdict != RNBD_SRV_OK || rnbd_srv_dev_reopen(sess, req, &opened, &verdict))
		ret = rnbd_srv_verdict_errno(verdict);
	else
		ret = rnbd_srv_dev_open(sess, req, &opened, &verdict);
	if (ret) {
		rnbd_srv_sess_refuse(sess, RNBD_MSG_OPEN, verdict, ret);
		if (rnbd_srv_sess_may_log(sess))
			pr_warn("session %*pE: OPEN of \"%*pE\" as %s (%u) refused: %s (error %pe)\n",
				RNBD_SRV_STR(sess->name), RNBD_SRV_STR(req->name),
				rnbd_access_mode_name(req->access_mode), req->access_mode,
				rnbd_srv_verdict_text(verdict), ERR_PTR(ret));
		return ret;
	}
	memset(msg->data, 0, msg->data_len);
	rnbd_srv_put_open_rsp(msg->data, opened.id, &opened.lim);
	/* Room for that has who wants to know. */
	if (msg->data_len >= sizeof(struct rnbd_msg_open_rsp_id))
		rnbd_put_identity(msg->data, &opened.identity);
	return 0;
}

/* No OPEN of the same name came before this one. */
static bool rnbd_srv_sess_open_is_next(struct rnbd_srv_sess *sess, const struct rnbd_srv_msg *msg)
{
	const struct rnbd_srv_msg *other;

	lockdep_assert_held(&sess->queue_lock);

	list_for_each_entry(other, &sess->opens, entry)
		if (other == msg || !strcmp(other->open.name, msg->open.name))
			return other == msg;
	return false;
}

static void rnbd_srv_sess_start_opens(struct rnbd_srv_sess *sess)
{
	struct rnbd_srv_msg *msg;

	spin_lock(&sess->queue_lock);
	list_for_each_entry(msg, &sess->opens, entry) {
		if (sess->nr_opening == RNBD_SRV_MAX_OPENING)
			break;
		if (msg->started || !rnbd_srv_sess_open_is_next(sess, msg))
			continue;
		msg->started = true;
		sess->nr_opening++;
		queue_work(rnbd_srv_sessions.open_wq, &msg->work);
	}
	spin_unlock(&sess->queue_lock);
}

static void rnbd_srv_sess_open_work(struct work_struct *work)
{
	struct rnbd_srv_msg *msg = container_of(work, struct rnbd_srv_msg, work);
	unsigned int noio = memalloc_noio_save();
	struct rnbd_srv_sess *sess = msg->sess;
	int ret;

	ret = rnbd_srv_sess_handle_open(sess, msg, RNBD_SRV_OK);
	scoped_guard(spinlock, &sess->queue_lock) {
		list_del(&msg->entry);
		sess->nr_opening--;
	}
	rnbd_srv_sess_start_opens(sess);
	rtrs_srv_resp_rdma(msg->id, ret);
	kfree(msg);
	memalloc_noio_restore(noio);
	rnbd_srv_sess_put(sess);
}

/* True if the message is that of a work now. */
static bool rnbd_srv_sess_begin_open(struct rnbd_srv_sess *sess, struct rnbd_srv_msg *msg, int *ret)
{
	enum rnbd_srv_verdict verdict;

	verdict = rnbd_srv_get_open(msg->usr, msg->usr_len, msg->data_len, &msg->open);
	if (verdict != RNBD_SRV_OK) {
		*ret = rnbd_srv_sess_handle_open(sess, msg, verdict);
		return false;
	}
	INIT_WORK(&msg->work, rnbd_srv_sess_open_work);
	msg->started = false;
	msg->sess = sess;
	refcount_inc(&sess->refs);
	scoped_guard(spinlock, &sess->queue_lock)
		list_add_tail(&msg->entry, &sess->opens);
	rnbd_srv_sess_start_opens(sess);
	return true;
}

/* True if the message is somebody else's to answer now. */
static bool rnbd_srv_sess_handle_close(struct rnbd_srv_sess *sess, struct rnbd_srv_msg *msg,
				       int *ret)
{
	enum rnbd_srv_verdict verdict;
	u32 id;

	verdict = rnbd_srv_get_close(msg->usr, msg->usr_len, &id);
	if (verdict != RNBD_SRV_OK) {
		*ret = rnbd_srv_sess_refuse_msg(sess, RNBD_MSG_CLOSE, msg->usr_len, verdict);
		return false;
	}
	*ret = 0;
	return rnbd_srv_dev_close(sess, id, msg);
}

static void rnbd_srv_sess_handle(struct rnbd_srv_sess *sess, struct rnbd_srv_msg *msg)
{
	int type = rnbd_srv_msg_type(msg->usr, msg->usr_len);
	int ret;

	switch (type) {
	case RNBD_MSG_SESS_INFO:
		ret = rnbd_srv_sess_handle_info(sess, msg);
		break;
	case RNBD_MSG_OPEN:
		if (rnbd_srv_sess_begin_open(sess, msg, &ret))
			return;
		break;
	case RNBD_MSG_CLOSE:
		if (rnbd_srv_sess_handle_close(sess, msg, &ret))
			return;
		break;
	default:
		ret = rnbd_srv_sess_refuse_type(sess, type, msg->usr_len);
	}
	rtrs_srv_resp_rdma(msg->id, ret);
	kfree(msg);
}

static void rnbd_srv_sess_queue_work(struct work_struct *work)
{
	struct rnbd_srv_sess *sess = container_of(work, struct rnbd_srv_sess, queue_work);
	unsigned int noio = memalloc_noio_save();
	struct rnbd_srv_msg *msg;

	while ((msg = rnbd_srv_sess_dequeue(sess)))
		rnbd_srv_sess_handle(sess, msg);
	memalloc_noio_restore(noio);
	rnbd_srv_sess_put(sess);
}

/* The last count is dropped: all devices are closed, all messages handled. */
static void rnbd_srv_sess_free(struct rnbd_srv_sess *sess)
{
	/* Ids that were closed by force and that the client never closed. */
	xa_destroy(&sess->devs);
	mutex_destroy(&sess->lock);
	kfree(sess);
	if (refcount_dec_and_test(&rnbd_srv_sessions.nr))
		complete(&rnbd_srv_sessions.none);
}

/**
 * rnbd_srv_sess_create() - make a session
 * @rtrs: the transport's session
 *
 * Context: process.
 * Return: the session or ERR_PTR().
 */
struct rnbd_srv_sess *rnbd_srv_sess_create(struct rtrs_srv_sess *rtrs)
{
	struct rnbd_srv_sess *sess;
	int ret;

	sess = fault_here(alloc_sess) ? NULL : kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return ERR_PTR(-ENOMEM);
	ret = rtrs_srv_get_path_name(rtrs, sess->name, sizeof(sess->name));
	if (ret)
		goto err_free_sess;
	sess->rtrs = rtrs;
	xa_init_flags(&sess->devs, XA_FLAGS_ALLOC);
	/* A client that has not noticed a loss still has ids of the session before: they must mean nothing here. */
	sess->next_id = get_random_u32() & INT_MAX;
	mutex_init(&sess->lock);
	INIT_LIST_HEAD(&sess->dev_list);
	spin_lock_init(&sess->queue_lock);
	INIT_LIST_HEAD(&sess->queue);
	INIT_WORK(&sess->queue_work, rnbd_srv_sess_queue_work);
	INIT_LIST_HEAD(&sess->opens);
	refcount_set(&sess->refs, 1);
	sess->release = rnbd_srv_sess_free;
	refcount_inc(&rnbd_srv_sessions.nr);
	sess->loud_ms = rtrs_srv_is_quiet(rtrs) ? ktime_to_ms(ktime_get()) + RNBD_SRV_QUIET_MS : 0;
	ratelimit_state_init(&sess->admin_limit, DEFAULT_RATELIMIT_INTERVAL,
			     RNBD_SRV_ADMIN_BURST);
	ratelimit_state_init(&sess->refuse_limit, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
	scoped_guard(mutex, &rnbd_srv_sessions.lock)
		list_add_tail(&sess->entry, &rnbd_srv_sessions.list);
	rtrs_nl_changed();
	return sess;

err_free_sess:
	pr_err_ratelimited("session %*pE refused: error %pe\n", RNBD_SRV_STR(sess->name),
			   ERR_PTR(ret));
	kfree(sess);
	return ERR_PTR(ret);
}

/**
 * rnbd_srv_sess_destroy() - close all devices of a session, and free it when they are closed
 * @sess: the session; no request of it comes any more, but orphaned ones may not be answered yet
 *
 * Does not wait: a device that hangs keeps its own block device open, and the memory of the session, but no other one.
 *
 * Context: process.
 */
void rnbd_srv_sess_destroy(struct rnbd_srv_sess *sess)
{
	scoped_guard(mutex, &rnbd_srv_sessions.lock)
		list_del(&sess->entry);
	rtrs_nl_changed();
	/* An OPEN may still be in the queue. */
	scoped_guard(mutex, &sess->lock)
		WRITE_ONCE(sess->gone, true);
	rnbd_srv_dev_close_all(sess);
	rnbd_srv_sess_put(sess);
}
