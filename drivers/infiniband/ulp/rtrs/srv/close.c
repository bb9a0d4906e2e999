// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tear-down of a path, the mirror of all that sets it up, in two halves.
 *
 * Close work: first stop what starts things (timer, queue pairs, info work, heartbeat), then drain: after that no
 * handler runs and the client reaches no memory.  What the ULP still has is orphaned.  Only then the path is taken
 * from the ULP and from sysfs, and the client may come back with it.  What it had of the device is destroyed after that,
 * for it may take its time: rdma_rxe of 6.1 was seen to wait 50 s for a queue pair.  The device is given back last: it
 * waits for that.  Nothing of this waits for a disk.
 *
 * End work: queued when the close work is done and the ULP has answered the last request.  Until then pages of chunks
 * and copies that orphaned requests use, and the requests themselves, stay and are charged to the client.
 *
 * What can still hold the path: the connect handler of one of its connections, excluded by the
 * context's mutex; handlers of its CM ids, until rdma_destroy_id() returns; the writer of the
 * sysfs file "disconnect", with a reference.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "rtrs-srv.h"

/*
 * Move all queue pairs to error and tell the client.  A connect handler that has found the path CONNECTING has added
 * its connection when the mutex is ours, later ones add none.  Without the mutex: to tell takes as long as the device
 * likes, for each connection, and all who connect would wait.
 */
static void rtrs_srv_close_disconnect(struct rtrs_srv_path *path)
{
	u32 cid, left;

	mutex_lock(&path->ctx->mutex);
	left = path->nr_conns;
	mutex_unlock(&path->ctx->mutex);
	for (cid = 0; left && cid < path->cid_num; cid++) {
		if (!path->conns[cid])
			continue;
		rdma_disconnect(path->conns[cid]->conn.cm_id);
		left--;
	}
}

/* The service connection last: handlers of the others answer heartbeats on it. */
static void rtrs_srv_close_drain(struct rtrs_srv_path *path)
{
	u32 cid = path->cid_num;

	while (cid--)
		if (path->conns[cid])
			rtrs_conn_drain(&path->conns[cid]->conn);
}

/* Return: chunks that orphaned requests keep. */
static u32 rtrs_srv_close_detach(struct rtrs_srv_path *path)
{
	u32 cid, kept;

	for (cid = 0; cid < path->cid_num; cid++)
		if (path->conns[cid])
			rtrs_conn_destroy_qp(&path->conns[cid]->conn);
	rtrs_srv_io_detach(path);
	kept = rtrs_srv_chunks_detach(path);
	rtrs_srv_info_exit(path);
	ib_dealloc_pd(path->pd);

	for (cid = 0; cid < path->cid_num; cid++) {
		if (!path->conns[cid])
			continue;
		/* Waits for handlers, which look at the connection. */
		rdma_destroy_id(path->conns[cid]->conn.cm_id);
		rtrs_srv_limits_uncharge(path->peer, RTRS_SRV_LIMIT_CONNECTIONS, 1);
	}
	ib_device_put(path->dev);
	/* Last: without a charge there is no peer. */
	rtrs_srv_path_uncharge(path, kept);
	return kept;
}

/* No path of the session, or one less, can bring the ULP a request. */
static void rtrs_srv_close_leave(struct rtrs_srv_path *path)
{
	rtrs_srv_sess_path_down(path);
	rtrs_srv_sess_release_name(path);
}

/**
 * rtrs_srv_close_work() - take a path down
 * @work: close_work of the path, queued by the step to CLOSING
 *
 * Context: the context's workqueue for this.  Waits for what the device does, and for calls of the ULP's rdma_ev
 * to return, but not for its answers.
 */
void rtrs_srv_close_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path, close_work);
	struct rtrs_srv_sess *sess = path->sess;
	struct rtrs_srv_ctx *ctx = path->ctx;
	u32 orphans, kept;

	/* The end work is not to come before this one has ended. */
	percpu_ref_get(&path->ops_ref);
	cancel_delayed_work_sync(&path->handshake_dwork);
	rtrs_srv_close_disconnect(path);
	cancel_delayed_work_sync(&path->info.dwork);
	rtrs_srv_chunks_stop(path);
	rtrs_hb_stop(&path->hb);
	rtrs_srv_fence_stop(path);
	rtrs_srv_io_stop(path);
	rtrs_srv_close_drain(path);
	orphans = rtrs_srv_io_orphan(path);
	rtrs_srv_fence_up(path);

	rtrs_srv_sysfs_del_path(path);
	if (ctx->ops.orphaned)
		rtrs_srv_close_leave(path);
	/* Only now may the client come back with the same path, or the same addresses. */
	mutex_lock(&ctx->mutex);
	path->orphans = orphans;
	path->orphaned_at = jiffies;
	list_move_tail(&path->entry, &sess->orphaned);
	mutex_unlock(&ctx->mutex);
	rtrs_nl_changed();
	kept = rtrs_srv_close_detach(path);
	if (orphans)
		pr_warn_ratelimited("path %s: %u requests are still in progress after it was closed, they keep %u KiB until they end\n",
				    path->name, orphans, kept * (path->geo->chunk_size / SZ_1K));

	mutex_lock(&ctx->mutex);
	sess->nr_paths--;
	mutex_unlock(&ctx->mutex);
	percpu_ref_put(&path->ops_ref);
}

/**
 * rtrs_srv_close_end_work() - free a path that is torn down
 * @work: end_work of the path, queued when the ULP has none of its requests any more
 *
 * The path, and its session if this was the last one, are gone after.
 *
 * Context: the context's workqueue for tear-down.
 */
void rtrs_srv_close_end_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path, end_work);
	struct rtrs_srv_sess *sess = path->sess;
	struct rtrs_srv_ctx *ctx = path->ctx;
	u32 cid;

	if (!ctx->ops.orphaned)
		rtrs_srv_close_leave(path);
	rtrs_srv_io_destroy_reqs(path);
	rtrs_srv_chunks_exit(path);
	for (cid = 0; cid < path->cid_num; cid++)
		kfree(path->conns[cid]);
	if (path->orphans)
		pr_info_ratelimited("path %s: its last requests have ended, %u s after it was closed\n", path->name,
				    jiffies_to_msecs(jiffies - path->orphaned_at) / 1000);

	mutex_lock(&ctx->mutex);
	list_del(&path->entry);
	rtrs_srv_path_event(path, RTRS_SRV_EV_CLOSE_DONE);
	sess->nr_refs--;
	rtrs_srv_sess_free_if_empty(sess);
	mutex_unlock(&ctx->mutex);
	kobject_put(&path->kobj);
	rtrs_srv_ctx_put(ctx);
}
