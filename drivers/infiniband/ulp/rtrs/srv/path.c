// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path object and the one place that writes its state.
 *
 * Operation: CM events, completions, timers and people only produce events.  The step to CLOSING,
 * which happens once, queues the close work; everything a path has of its device is taken down there and
 * nowhere else.  Its end work, which the last of its requests queues, frees the memory.
 *
 * Ownership: the reference of kobject_init() belongs to the end work, which drops it last.
 * Handlers and works that use a path hold no reference: the close work waits for each kind of
 * them.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "fault.h"
#include "rtrs-srv.h"

/* From the first connection until the client's INFO_REQ is handled. */
#define RTRS_SRV_HANDSHAKE_MS	30000

/* Why a path was closed, for listeners; longer ones are cut. */
#define RTRS_SRV_REASON_BYTES	160

/* All are read for each path when it connects. */
static bool rtrs_srv_implicit_rkey = true;
module_param_named(implicit_rkey, rtrs_srv_implicit_rkey, bool, 0644);
MODULE_PARM_DESC(implicit_rkey, "Extension: answers bring a key only where it has changed (default: Y)");

static bool rtrs_srv_batch = true;
module_param_named(batch, rtrs_srv_batch, bool, 0644);
MODULE_PARM_DESC(batch, "Extension: answer several requests with one message (default: Y)");

static bool rtrs_srv_server_time = true;
module_param_named(server_time, rtrs_srv_server_time, bool, 0644);
MODULE_PARM_DESC(server_time, "Extension: tell where the time of a request went (default: Y)");

static bool rtrs_srv_credits = true;
module_param_named(credits, rtrs_srv_credits, bool, 0644);
MODULE_PARM_DESC(credits, "Extension: a path has only as many chunks as its client needs (default: Y)");

static bool rtrs_srv_probe = true;
module_param_named(probe, rtrs_srv_probe, bool, 0644);
MODULE_PARM_DESC(probe, "Extension: show the client of a new path that large packets arrive (default: Y)");

static bool rtrs_srv_one_message_reads = true;
module_param_named(one_message_reads, rtrs_srv_one_message_reads, bool, 0644);
MODULE_PARM_DESC(one_message_reads, "Send the data of a read and its answer in one message (default: Y)");

/* Extensions that new paths do without. */
static u16 rtrs_srv_features_off(void)
{
	return (READ_ONCE(rtrs_srv_implicit_rkey) ? 0 : RTRS_EXT_IMPLICIT_RKEY) |
	       (READ_ONCE(rtrs_srv_batch) ? 0 : RTRS_EXT_BATCH) |
	       (READ_ONCE(rtrs_srv_server_time) ? 0 : RTRS_EXT_SERVER_TIME) |
	       (READ_ONCE(rtrs_srv_credits) ? 0 : RTRS_EXT_CREDITS) |
	       (READ_ONCE(rtrs_srv_probe) ? 0 : RTRS_EXT_PROBE);
}

static void rtrs_srv_path_release(struct kobject *kobj)
{
	struct rtrs_srv_path *path = container_of(kobj, struct rtrs_srv_path, kobj);

	percpu_ref_exit(&path->ops_ref);
	free_percpu(path->lat.cpu);
	free_percpu(path->stats);
	kvfree(path->conns);
	kfree(path);
}

static const struct kobj_type rtrs_srv_path_ktype = {
	.release = rtrs_srv_path_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

static void rtrs_srv_path_ops_done(struct percpu_ref *ref)
{
	struct rtrs_srv_path *path = container_of(ref, struct rtrs_srv_path, ops_ref);

	queue_work(path->ctx->close_wq, &path->end_work);
}

static void rtrs_srv_path_handshake_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(to_delayed_work(work), struct rtrs_srv_path,
						  handshake_dwork);

	if (rtrs_srv_path_state(path) != RTRS_SRV_PATH_CONNECTING)
		return;
	/* PAIRS: rtrs_srv_sess_claim_name() */
	if (smp_load_acquire(&path->session))
		rtrs_srv_path_fail(path, "this server has not set it up within %u ms",
				   RTRS_SRV_HANDSHAKE_MS);
	else
		rtrs_srv_path_fail(path, "client did not finish the handshake within %u ms",
				   RTRS_SRV_HANDSHAKE_MS);
}

static int rtrs_srv_path_send_hb(struct rtrs_hb *hb)
{
	struct rtrs_srv_path *path = container_of(hb, struct rtrs_srv_path, hb);

	return rtrs_hb_post(&path->conns[0]->conn, false);
}

static int rtrs_srv_path_hb_watch(struct rtrs_hb *hb)
{
	struct rtrs_srv_path *path = container_of(hb, struct rtrs_srv_path, hb);
	int ret = 0;
	u32 cid;

	for (cid = 0; cid < path->cid_num && !ret; cid++) {
		ret = rtrs_conn_watch(&path->conns[cid]->conn);
		if (ret == -ETIMEDOUT)
			rtrs_srv_path_fail(path, "send queue of connection %u does not move", cid);
	}
	return ret == -EAGAIN ? 0 : ret;
}

static void rtrs_srv_path_hb_silent(struct rtrs_hb *hb)
{
	struct rtrs_srv_path *path = container_of(hb, struct rtrs_srv_path, hb);

	rtrs_srv_path_fail(path, "no sign of life from the client, %u heartbeats missed",
			   READ_ONCE(hb->missed));
}

static void rtrs_srv_path_hb_failed(struct rtrs_hb *hb, int error)
{
	struct rtrs_srv_path *path = container_of(hb, struct rtrs_srv_path, hb);

	rtrs_srv_path_fail(path, "heartbeat cannot be sent, error %d", error);
}

static const struct rtrs_hb_ops rtrs_srv_path_hb_ops = {
	.send = rtrs_srv_path_send_hb,
	.watch = rtrs_srv_path_hb_watch,
	.silent = rtrs_srv_path_hb_silent,
	.failed = rtrs_srv_path_hb_failed,
};

static void rtrs_srv_path_set_addrs(struct rtrs_srv_path *path, struct rdma_cm_id *cm_id)
{
	struct rtrs_addr addr = { .src = &path->clt_addr, .dst = &path->srv_addr };

	path->clt_addr = cm_id->route.addr.dst_addr;
	path->srv_addr = cm_id->route.addr.src_addr;
	rtrs_addr_to_str(&addr, path->name, sizeof(path->name));
	path->dev = cm_id->device;
	path->port_num = cm_id->port_num;
}

/* Memory of chunks, each of which has a page for the user's message. */
static u64 rtrs_srv_path_bytes(const struct rtrs_srv_path *path, u32 chunks)
{
	return (u64)chunks * (path->geo->chunk_size + PAGE_SIZE);
}

/**
 * rtrs_srv_path_chunks() - how many chunks a path gets
 * @path: the path
 * @nr: how many its client wants
 *
 * Context: any.
 * Return: all that share a region with one that is wanted, at least one region of them.
 */
u32 rtrs_srv_path_chunks(const struct rtrs_srv_path *path, u32 nr)
{
	return roundup(clamp(nr, 1U, path->geo->queue_depth), path->chunks.per_mr);
}

/**
 * rtrs_srv_path_charge() - a path is about to have more chunks
 * @path: the path
 * @nr: how many it is to have, not fewer than before
 *
 * Context: process, may sleep.
 * Return: 0, -ENOBUFS if a limit forbids it, or -ENOMEM.
 */
int rtrs_srv_path_charge(struct rtrs_srv_path *path, u32 nr)
{
	struct rtrs_srv_peer *peer;

	peer = rtrs_srv_limits_charge(&path->clt_addr, RTRS_SRV_LIMIT_MEMORY,
				      rtrs_srv_path_bytes(path, nr - path->chunks.charged));
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	/* The same for as long as it is charged with something. */
	path->peer = peer;
	path->chunks.charged = nr;
	return 0;
}

/**
 * rtrs_srv_path_uncharge() - a path has fewer chunks now
 * @path: the path
 * @nr: how many it has
 *
 * Context: process, may sleep.
 */
void rtrs_srv_path_uncharge(struct rtrs_srv_path *path, u32 nr)
{
	rtrs_srv_limits_uncharge(path->peer, RTRS_SRV_LIMIT_MEMORY,
				 rtrs_srv_path_bytes(path, path->chunks.charged - nr));
	path->chunks.charged = nr;
}

/* With extension CREDITS the client says how many chunks it needs, else it gets all. */
static u32 rtrs_srv_path_first_chunks(struct rtrs_srv_path *path, const struct rtrs_conn_req *req)
{
	bool credits = path->features & RTRS_EXT_CREDITS;

	path->chunks.per_mr = rtrs_srv_bufs_chunks_per_mr(path->dev, path->geo, credits);
	return rtrs_srv_path_chunks(path, credits ? req->chunks : path->geo->queue_depth);
}

/**
 * rtrs_srv_path_create() - create a path that waits for its connections
 * @sess: its session
 * @cm_id: connection request of the first connection: addresses and device
 * @req: its private data
 *
 * The path is in the session's list on return, has a use of the context and the handshake timer
 * running: from now on only the close work ends it.  The caller still has to set up its works.
 *
 * Context: process, may sleep; mutex of the context held.
 * Return: the path or an ERR_PTR.
 */
struct rtrs_srv_path *rtrs_srv_path_create(struct rtrs_srv_sess *sess, struct rdma_cm_id *cm_id,
					   const struct rtrs_conn_req *req)
{
	struct rtrs_srv_ctx *ctx = sess->ctx;
	struct rtrs_srv_path *path;
	int ret = -ENOMEM;

	lockdep_assert_held(&ctx->mutex);
	path = kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return ERR_PTR(-ENOMEM);
	kobject_init(&path->kobj, &rtrs_srv_path_ktype);
	path->sess = sess;
	path->ctx = ctx;
	path->geo = &ctx->geo;
	memcpy(path->uuid, req->path_uuid, sizeof(path->uuid));
	path->recon_cnt = req->recon_cnt;
	path->created_ms = ktime_to_ms(ktime_get());
	path->cid_num = req->cid_num;
	path->features = req->features & ~rtrs_srv_features_off();
	path->one_message = READ_ONCE(rtrs_srv_one_message_reads);
	rtrs_srv_path_set_addrs(path, cm_id);
	spin_lock_init(&path->lock);
	path->_state = RTRS_SRV_PATH_CONNECTING;
	rtrs_hb_init(&path->hb, &rtrs_srv_path_hb_ops, ctx->wq);
	INIT_DELAYED_WORK(&path->handshake_dwork, rtrs_srv_path_handshake_work);

	mutex_init(&path->lat.mutex);
	path->lat.cpu = alloc_percpu(struct rtrs_srv_lat_cpu);
	path->stats = alloc_percpu(struct rtrs_io_stats);
	path->conns = fault_here(alloc_path) ? NULL :
		      kvcalloc(path->cid_num, sizeof(*path->conns), GFP_KERNEL);
	if (!path->lat.cpu || !path->stats || !path->conns)
		goto err_put;
	ret = percpu_ref_init(&path->ops_ref, rtrs_srv_path_ops_done, 0, GFP_KERNEL);
	if (ret)
		goto err_put;
	ret = rtrs_srv_path_charge(path, rtrs_srv_path_first_chunks(path, req));
	if (ret)
		goto err_put;
	/* Before it has a connection, and after the last one is gone, nothing else keeps the device. */
	if (!ib_device_try_get(path->dev)) {
		ret = -ENODEV;
		goto err_uncharge;
	}
	path->pd = ib_alloc_pd(path->dev, 0);
	if (IS_ERR(path->pd)) {
		ret = PTR_ERR(path->pd);
		goto err_put_device;
	}

	refcount_inc(&ctx->users);
	list_add_tail(&path->entry, &sess->paths);
	sess->nr_paths++;
	sess->nr_refs++;
	rtrs_nl_changed();
	ctx->last_path_id = rtrs_imm_payload(ctx->last_path_id + 1);
	path->id = ctx->last_path_id;
	queue_delayed_work(ctx->wq, &path->handshake_dwork,
			   msecs_to_jiffies(RTRS_SRV_HANDSHAKE_MS));
	return path;

err_put_device:
	ib_device_put(path->dev);
err_uncharge:
	rtrs_srv_path_uncharge(path, 0);
err_put:
	kobject_put(&path->kobj);
	return ERR_PTR(ret);
}

/* Under the lock that orders steps, so that listeners hear of them in this order. */
static void rtrs_srv_path_tell(const struct rtrs_srv_path *path, enum rtrs_srv_path_state from,
			       enum rtrs_srv_path_event event, enum rtrs_srv_path_state to,
			       const char *reason)
{
	struct rtrs_nl_news news = {
		.event = RTRS_NL_EVENT_PATH,
		.side = RTRS_NL_SIDE_SERVER,
		/* PAIRS: rtrs_srv_sess_claim_name() */
		.session = smp_load_acquire(&path->session),
		.path = path->name,
		.from = rtrs_srv_path_state_name(from),
		.to = rtrs_srv_path_state_name(to),
		.cause = rtrs_srv_path_event_name(event),
		.reason = reason,
	};

	lockdep_assert_held(&path->lock);
	rtrs_nl_tell(&news);
}

static bool rtrs_srv_path_make_step(struct rtrs_srv_path *path, enum rtrs_srv_path_event event,
				    const char *reason)
{
	enum rtrs_srv_path_state old;
	struct rtrs_fsm_step step;
	unsigned long flags;

	spin_lock_irqsave(&path->lock, flags);
	old = path->_state;
	step = rtrs_srv_path_step(old, event);
	/* PAIRS: rtrs_srv_path_state() */
	if (step.valid)
		smp_store_release(&path->_state, step.next);
	if (step.valid && step.next != old)
		rtrs_srv_path_tell(path, old, event, step.next, reason);
	spin_unlock_irqrestore(&path->lock, flags);
	if (!step.valid)
		return false;
	trace_rtrs_path_step("server", path->name, rtrs_srv_path_state_name(old),
			     rtrs_srv_path_event_name(event),
			     rtrs_srv_path_state_name(step.next));

	if (step.actions & RTRS_FSM_ACT_WORK)
		queue_work(path->ctx->close_wq, &path->close_work);
	return step.next != old;
}

/**
 * rtrs_srv_path_event() - something happened to a path
 * @path: the path
 * @event: what
 *
 * The only writer of the state.
 *
 * Context: any.  The caller is one of those the close work waits for, or holds a reference.
 * Return: true if the state changed; false if it did not or the event does not apply.
 */
bool rtrs_srv_path_event(struct rtrs_srv_path *path, enum rtrs_srv_path_event event)
{
	return rtrs_srv_path_make_step(path, event, NULL);
}

/**
 * rtrs_srv_path_event_why() - the same, and listeners are told why
 * @path: the path
 * @event: what happened
 * @fmt: why, format and arguments
 *
 * Context: as rtrs_srv_path_event().
 * Return: as rtrs_srv_path_event().
 */
bool rtrs_srv_path_event_why(struct rtrs_srv_path *path, enum rtrs_srv_path_event event,
			     const char *fmt, ...)
{
	char reason[RTRS_SRV_REASON_BYTES] = "";
	va_list args;

	if (rtrs_nl_listened()) {
		va_start(args, fmt);
		vsnprintf(reason, sizeof(reason), fmt, args);
		va_end(args);
	}
	return rtrs_srv_path_make_step(path, event, reason);
}

/**
 * rtrs_srv_path_queue() - have a work of a path done, while it is in a state
 * @path: the path
 * @state: the state; nothing happens in another one
 * @wq: where to
 * @dwork: the work
 * @delay: jiffies from now on
 *
 * After the step to CLOSING the work is never queued again, so the close work has to wait for it only once.
 *
 * Context: any.
 */
void rtrs_srv_path_queue(struct rtrs_srv_path *path, enum rtrs_srv_path_state state, struct workqueue_struct *wq,
			 struct delayed_work *dwork, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&path->lock, flags);
	if (path->_state == state)
		queue_delayed_work(wq, dwork, delay);
	spin_unlock_irqrestore(&path->lock, flags);
}

/**
 * rtrs_srv_path_wc_failed() - a completion brought an error
 * @path: the path
 * @what: what was tried
 * @wc: the completion
 *
 * A flushed one is mostly the echo of an error or a disconnect that is known by other means, and has
 * closed the path.  If not, the device has stopped the queue pair by itself, as it does when the client
 * writes where it must not: no other completion would tell, and heartbeats of another connection would
 * keep the path up.
 *
 * Context: any.
 */
void rtrs_srv_path_wc_failed(struct rtrs_srv_path *path, const char *what,
			     const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		rtrs_srv_path_fail(path, "%s: the device stopped the queue pair and gave no reason",
				   what);
	else
		rtrs_srv_path_fail(path, "%s failed: %s (%d, vendor 0x%x)", what,
				   ib_wc_status_msg(wc->status), wc->status, wc->vendor_err);
}
