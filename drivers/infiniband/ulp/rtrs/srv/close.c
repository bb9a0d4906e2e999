// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tear-down of a path, the mirror of all that sets it up.
 *
 * Ordering: first stop what starts things (timer, queue pairs, info work, heartbeat), then wait
 * for the requests, whose owners may still need completions, then drain: after that no handler
 * runs and the client reaches no memory.  Only then is the path taken from the ULP and from sysfs,
 * and the client may come back with it.  What it had of the device is destroyed after that, for it may
 * take its time: rdma_rxe of 6.1 was seen to wait 50 s for a queue pair.  The device is given back last:
 * it waits for that.
 *
 * What can still hold the path: the connect handler of one of its connections, excluded by the
 * context's mutex; handlers of its CM ids, until rdma_destroy_id() returns; the writer of the
 * sysfs file "disconnect", with a reference.
 */
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "rtrs-srv.h"

/* Move all queue pairs to error and tell the client. */
static void rtrs_srv_close_disconnect(struct rtrs_srv_path *path)
{
	u32 cid;

	/* The connect handler adds connections to paths that are CONNECTING only, under this mutex. */
	mutex_lock(&path->ctx->mutex);
	for (cid = 0; cid < path->cid_num; cid++)
		if (path->conns[cid])
			rdma_disconnect(path->conns[cid]->conn.cm_id);
	mutex_unlock(&path->ctx->mutex);
}

/* The service connection last: handlers of the others answer heartbeats on it. */
static void rtrs_srv_close_drain(struct rtrs_srv_path *path)
{
	u32 cid = path->cid_num;

	while (cid--)
		if (path->conns[cid])
			rtrs_conn_drain(&path->conns[cid]->conn);
}

static void rtrs_srv_close_free(struct rtrs_srv_path *path)
{
	u32 cid;

	for (cid = 0; cid < path->cid_num; cid++)
		if (path->conns[cid])
			rtrs_conn_destroy_qp(&path->conns[cid]->conn);
	rtrs_srv_io_destroy_reqs(path);
	rtrs_srv_chunks_exit(path);
	rtrs_srv_info_exit(path);
	ib_dealloc_pd(path->pd);

	for (cid = 0; cid < path->cid_num; cid++) {
		if (!path->conns[cid])
			continue;
		/* Waits for handlers, which look at the connection. */
		rdma_destroy_id(path->conns[cid]->conn.cm_id);
		kfree(path->conns[cid]);
		path->conns[cid] = NULL;
		rtrs_srv_limits_uncharge(path->peer, RTRS_SRV_LIMIT_CONNECTIONS, 1);
	}
	ib_device_put(path->dev);
	rtrs_srv_path_uncharge(path, 0);
}

/**
 * rtrs_srv_close_work() - take a path down
 * @work: close_work of the path, queued by the step to CLOSING
 *
 * The path, and its session if this was the last one, are gone after.
 *
 * Context: the context's workqueue for this.  Waits for the ULP to answer the path's requests.
 */
void rtrs_srv_close_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path, close_work);
	struct rtrs_srv_sess *sess = path->sess;
	struct rtrs_srv_ctx *ctx = path->ctx;

	cancel_delayed_work_sync(&path->handshake_dwork);
	rtrs_srv_close_disconnect(path);
	cancel_work_sync(&path->info.work);
	rtrs_srv_chunks_stop(path);
	rtrs_hb_stop(&path->hb);
	rtrs_srv_fence_stop(path);
	rtrs_srv_io_stop(path);
	rtrs_srv_close_drain(path);
	rtrs_srv_fence_up(path);

	rtrs_srv_sysfs_del_path(path);
	rtrs_srv_sess_path_down(path);
	rtrs_srv_sess_release_name(path);
	/* Only now may the client come back with the same path, or the same addresses. */
	mutex_lock(&ctx->mutex);
	list_del(&path->entry);
	mutex_unlock(&ctx->mutex);
	rtrs_nl_changed();
	rtrs_srv_close_free(path);

	mutex_lock(&ctx->mutex);
	rtrs_srv_path_event(path, RTRS_SRV_EV_CLOSE_DONE);
	sess->nr_paths--;
	rtrs_srv_sess_free_if_empty(sess);
	mutex_unlock(&ctx->mutex);
	kobject_put(&path->kobj);
	rtrs_srv_ctx_put(ctx);
}
