// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connecting and tearing down a path, and the worker that does both (protocol sections 2, 4 and 9).
 *
 * Ordering: a path is torn down in steps that each make the next one safe.
 *  1. Its state is not CONNECTED; after a grace period nobody submits or polls.
 *  2. The heartbeat stops, all connections disconnect, all queues drain: no handler runs, and the server
 *     can no longer reach a page of ours.
 *  3. Requests that were answered complete.  The others are unmapped, and so is all else that is of the device.  What
 *     the path needs no more goes to be destroyed beside it (link.c), so the device can go.
 *  4. The server closes its end, if it can be told to.  Only after that requests without answer go to other paths, or
 *     fail.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../proto/backoff.h"
#include "clt.h"
#include "fault.h"
#include "probe.h"

/* Attempts without a carrier have the delay as after so many: 3 to 6 s. */
#define RTRS_CLT_NO_CARRIER_FAILURES	7U

/**
 * struct rtrs_clt_info - the info exchange while it runs
 * @path: the path
 * @req_cqe: handler of the send
 * @rsp_cqe: handler of the receive
 * @req: INFO_REQ
 * @rsp: room for INFO_RSP
 * @req_dma: mapped address of @req
 * @rsp_dma: mapped address of @rsp
 * @rsp_size: bytes of @rsp
 * @received: bytes received, valid when @answered
 * @sent: the send of INFO_REQ completed
 * @answered: INFO_RSP came
 * @probe: what follows
 */
struct rtrs_clt_info {
	struct rtrs_clt_path *path;
	struct ib_cqe req_cqe;
	struct ib_cqe rsp_cqe;
	struct rtrs_msg_info_req *req;
	struct rtrs_msg_info_rsp *rsp;
	u64 req_dma;
	u64 rsp_dma;
	size_t rsp_size;
	u32 received;
	bool sent;
	bool answered;
	struct rtrs_clt_probe probe;
};

static u16 rtrs_clt_nr_established(const struct rtrs_clt_path *path)
{
	u16 cid, nr = 0;

	for (cid = 0; cid < path->sess->nr_conns; cid++)
		if (smp_load_acquire(&path->conns[cid].established))
			nr++;
	return nr;
}

/* A request object for each slot; sized by the session's queue depth, so kept over reconnects. */
static int rtrs_clt_alloc_reqs(struct rtrs_clt_path *path)
{
	u32 slot, nr = path->sess->queue_depth;

	if (path->reqs)
		return 0;
	path->rbufs = kvcalloc(nr, sizeof(*path->rbufs), GFP_KERNEL);
	path->reqs = kvcalloc(nr, sizeof(*path->reqs), GFP_KERNEL);
	if (!path->rbufs || !path->reqs)
		goto err_free;
	for (slot = 0; slot < nr; slot++) {
		struct rtrs_clt_req *req = &path->reqs[slot];

		req->path = path;
		req->slot = slot;
		req->sent_cqe.done = rtrs_clt_req_sent;
		req->inv_cqe.done = rtrs_clt_inv_done;
	}
	return 0;

err_free:
	kvfree(path->reqs);
	kvfree(path->rbufs);
	path->reqs = NULL;
	path->rbufs = NULL;
	return -ENOMEM;
}

/* What requests need of the device, and the slots that the path begins with of this host. */
static int rtrs_clt_equip_reqs(struct rtrs_clt_path *path)
{
	int ret;

	ret = rtrs_clt_mrs_alloc_array(&path->link->slot_mrs, path->sess->queue_depth);
	if (!ret)
		ret = rtrs_clt_credits_equip(path, path->credits.first);
	if (!ret)
		ret = rtrs_clt_bounce_create(path, path->credits.first);
	return ret ?: rtrs_clt_credits_create_table(path);
}

static void rtrs_clt_info_req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_info *info = container_of(wc->wr_cqe, struct rtrs_clt_info, req_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_clt_path_error(info->path, -ECONNRESET);
		return;
	}
	rtrs_conn_send_completed(rtrs_conn_from_wc(wc));
	smp_store_release(&info->sent, true);
	wake_up_all(&info->path->state_wq);
}

static void rtrs_clt_info_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_info *info = container_of(wc->wr_cqe, struct rtrs_clt_info, rsp_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_clt_path_error(info->path, -ECONNRESET);
		return;
	}
	info->received = wc->byte_len;
	smp_store_release(&info->answered, true);
	wake_up_all(&info->path->state_wq);
}

static void rtrs_clt_info_free(struct rtrs_clt_info *info)
{
	struct ib_device *dev = info->path->dev;

	if (info->rsp_dma)
		ib_dma_unmap_single(dev, info->rsp_dma, info->rsp_size, DMA_FROM_DEVICE);
	if (info->req_dma)
		ib_dma_unmap_single(dev, info->req_dma, sizeof(*info->req), DMA_TO_DEVICE);
	kfree(info->rsp);
	kfree(info->req);
	rtrs_clt_probe_free(&info->probe);
}

static int rtrs_clt_info_alloc(struct rtrs_clt_info *info)
{
	struct rtrs_clt_path *path = info->path;
	int ret;

	info->req_cqe.done = rtrs_clt_info_req_done;
	info->rsp_cqe.done = rtrs_clt_info_rsp_done;
	info->rsp_size = rtrs_wire_info_rsp_size(path->sess->queue_depth);
	info->req = kzalloc(sizeof(*info->req), GFP_KERNEL);
	info->rsp = fault_here(alloc_info) ? NULL : kzalloc(info->rsp_size, GFP_KERNEL);
	if (!info->req || !info->rsp)
		return -ENOMEM;
	rtrs_wire_put_info_req(info->req, path->sess->name);
	ret = rtrs_dma_map(path->dev, info->req, sizeof(*info->req), DMA_TO_DEVICE, &info->req_dma);
	if (!ret)
		ret = rtrs_dma_map(path->dev, info->rsp, info->rsp_size, DMA_FROM_DEVICE, &info->rsp_dma);
	return ret ?: rtrs_clt_probe_alloc(&info->probe);
}

static u32 rtrs_clt_recv_count(const struct rtrs_clt_conn *cc)
{
	/* Two messages per request, or three, and, on the service connection, heartbeats. */
	u32 per_req = cc->path->features & RTRS_EXT_SERVER_TIME ? 3 : 2;

	return per_req * (cc->conn.cid ? cc->path->sess->queue_depth : RTRS_SERVICE_QUEUE_DEPTH);
}

static int rtrs_clt_post_all_receives(struct rtrs_clt_path *path)
{
	struct rtrs_clt_conn *cc;
	u16 cid;
	int ret;

	for (cid = 0; cid < path->sess->nr_conns; cid++) {
		cc = &path->conns[cid];
		ret = rtrs_clt_post_receives(cc, min(rtrs_clt_recv_count(cc), rtrs_clt_msg_recvs(path, !cid)));
		if (ret)
			return ret;
	}
	return 0;
}

/* Is the send queue full for the moment, and is it worth while to try again? */
static bool rtrs_clt_info_again(struct rtrs_clt_path *path, int ret)
{
	if (rtrs_retry_of(ret) != RTRS_RETRY_LATER || !rtrs_clt_connecting(path))
		return false;
	usleep_range(500, 1000);
	return true;
}

/* The queue works in order: registrations first, then what tells the server of them. */
static int rtrs_clt_info_post(struct rtrs_clt_info *info)
{
	struct rtrs_clt_path *path = info->path;
	struct rtrs_conn *conn = &path->conns[0].conn;
	int ret;

	do {
		ret = rtrs_clt_bounce_register(path);
	} while (rtrs_clt_info_again(path, ret));
	if (ret)
		return ret;
	do {
		ib_dma_sync_single_for_cpu(path->dev, info->req_dma, sizeof(*info->req), DMA_TO_DEVICE);
		ret = rtrs_clt_credits_put_table(path, info->req);
	} while (rtrs_clt_info_again(path, ret));
	if (ret)
		return ret;
	ib_dma_sync_single_for_device(path->dev, info->req_dma, sizeof(*info->req), DMA_TO_DEVICE);
	do {
		ret = rtrs_conn_post_send_buf(conn, &info->req_cqe, info->req_dma, sizeof(*info->req));
	} while (rtrs_clt_info_again(path, ret));
	return ret;
}

static int rtrs_clt_info_run(struct rtrs_clt_info *info)
{
	struct rtrs_clt_path *path = info->path;
	struct rtrs_conn *conn = &path->conns[0].conn;
	int ret;

	ret = rtrs_conn_post_recv_buf(conn, &info->rsp_cqe, info->rsp_dma, info->rsp_size);
	if (!ret)
		ret = rtrs_clt_probe_post_recv(&info->probe);
	if (ret)
		return ret;
	/* The server may send as soon as it has answered, so everything is posted before it is asked. */
	ret = rtrs_clt_post_all_receives(path);
	if (ret)
		return ret;
	ret = rtrs_clt_info_post(info);
	if (ret)
		return ret;
	/* For both: the completion of the send may come after the answer, and needs this frame. */
	ret = rtrs_clt_wait_connecting(path, smp_load_acquire(&info->answered) &&
					     smp_load_acquire(&info->sent),
				       READ_ONCE(path->sess->timing.connect_timeout_ms));
	if (ret)
		return ret;
	ib_dma_sync_single_for_cpu(path->dev, info->rsp_dma, info->rsp_size, DMA_FROM_DEVICE);
	ret = rtrs_wire_get_info_rsp(info->rsp, info->received, path->credits.first, path->sess->queue_depth,
				     path->chunk_size, path->rbufs);
	if (ret < 0) {
		rtrs_clt_path_fail(path, "malformed INFO_RSP, %u bytes\n", info->received);
		return -ECONNRESET;
	}
	rtrs_clt_credits_begin(path, ret);
	path->srv_sess = path->features & RTRS_EXT_SESSION ? le32_to_cpu(info->rsp->session) : 0;
	return rtrs_clt_probe_run(&info->probe);
}

static int rtrs_clt_info_exchange(struct rtrs_clt_path *path)
{
	struct rtrs_clt_info info = { .path = path, .probe.path = path };
	int ret;

	ret = rtrs_clt_info_alloc(&info);
	if (!ret)
		ret = rtrs_clt_info_run(&info);
	if (ret)
		/* Its WRs point into this frame: the queue has to give them back first. */
		rtrs_conn_drain(&path->conns[0].conn);
	rtrs_clt_info_free(&info);
	return ret;
}

static int rtrs_clt_hb_send(struct rtrs_hb *hb)
{
	struct rtrs_clt_path *path = container_of(hb, struct rtrs_clt_path, hb);

	rtrs_clt_mp_beat_sent(path);
	return rtrs_hb_post(&path->conns[0].conn, false);
}

static int rtrs_clt_hb_watch(struct rtrs_hb *hb)
{
	struct rtrs_clt_path *path = container_of(hb, struct rtrs_clt_path, hb);
	int ret = rtrs_clt_state_watch(path);
	u16 cid;

	for (cid = 0; cid < path->sess->nr_conns && !ret; cid++) {
		ret = rtrs_conn_watch(&path->conns[cid].conn);
		if (ret == -ETIMEDOUT)
			rtrs_clt_path_fail(path, "send queue of connection %u does not move\n", cid);
	}
	return ret == -EAGAIN ? 0 : ret;
}

/* Does the server owe an answer on the service connection? */
static bool rtrs_clt_service_waits(const struct rtrs_clt_path *path)
{
	const struct rtrs_clt_req *req;
	u32 slot;

	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		if (atomic_read_acquire(&req->state) && READ_ONCE(req->conn) == &path->conns[0])
			return true;
	}
	return false;
}

/*
 * Mainline's server answers nothing on the service connection while its user opens or closes a device there, and a
 * disk may take seconds to open.  As long as it owes such an answer it gets the time that the protocol has for it.
 */
static bool rtrs_clt_hb_excused(struct rtrs_hb *hb)
{
	struct rtrs_clt_path *path = container_of(hb, struct rtrs_clt_path, hb);
	u64 silent_ms = (u64)READ_ONCE(hb->missed) * READ_ONCE(hb->interval_ms);

	return !path->features && silent_ms < RTRS_HB_INTERVAL_MS * (RTRS_HB_MISSED_MAX + 1) &&
	       rtrs_clt_service_waits(path);
}

static void rtrs_clt_hb_silent(struct rtrs_hb *hb)
{
	struct rtrs_clt_path *path = container_of(hb, struct rtrs_clt_path, hb);

	rtrs_clt_path_fail(path, "no sign of life, %u heartbeats missed\n", READ_ONCE(hb->missed));
	rtrs_clt_path_error(path, -ETIMEDOUT);
}

static void rtrs_clt_hb_failed(struct rtrs_hb *hb, int error)
{
	rtrs_clt_path_error(container_of(hb, struct rtrs_clt_path, hb), error);
}

static const struct rtrs_hb_ops rtrs_clt_hb_ops = {
	.send = rtrs_clt_hb_send,
	.watch = rtrs_clt_hb_watch,
	.excused = rtrs_clt_hb_excused,
	.silent = rtrs_clt_hb_silent,
	.failed = rtrs_clt_hb_failed,
};

/**
 * rtrs_clt_path_set_hb() - have a path's heartbeat beat as its session wants
 * @path: the path
 *
 * Context: any.
 */
void rtrs_clt_path_set_hb(struct rtrs_clt_path *path)
{
	const struct rtrs_clt_timing *timing = &path->sess->timing;

	rtrs_hb_set_timing(&path->hb, READ_ONCE(timing->hb_interval_ms),
			   READ_ONCE(timing->hb_missed_max));
}

/* A path that was up comes back soon, or is asked again soon; a new one takes the time it needs. */
static u32 rtrs_clt_patience_ms(const struct rtrs_clt_path *path)
{
	u32 timeout_ms = READ_ONCE(path->sess->timing.connect_timeout_ms);

	return path->was_up ? rtrs_patience_ms(path->patience, timeout_ms) : timeout_ms;
}

/* As long as they come one after the other, and not longer than a connection may take in all. */
static int rtrs_clt_wait_established(struct rtrs_clt_path *path, u32 patience_ms)
{
	unsigned long start = jiffies;
	u32 timeout_ms = READ_ONCE(path->sess->timing.connect_timeout_ms);
	u32 past_ms;
	u16 nr;
	int ret = 0;

	while (!ret && (nr = rtrs_clt_nr_established(path)) < path->sess->nr_conns) {
		past_ms = min(jiffies_to_msecs(jiffies - start), timeout_ms);
		ret = rtrs_clt_wait_connecting(path, rtrs_clt_nr_established(path) > nr,
					       min(patience_ms, timeout_ms - past_ms));
	}
	return ret;
}

static int rtrs_clt_path_setup(struct rtrs_clt_path *path)
{
	/* Now: with the first answer any path was up. */
	u32 patience_ms = rtrs_clt_patience_ms(path);
	u16 cid;
	int ret;

	rtrs_hb_init(&path->hb, &rtrs_clt_hb_ops, rtrs_clt_tick_wq);
	rtrs_clt_resend_init(path);
	rtrs_clt_bounce_init(path);
	rtrs_clt_mp_beats_forget(path);
	rtrs_clt_path_set_hb(path);
	ret = rtrs_clt_link_create(path);
	/* The answer on the service connection brings the sizes that the others need. */
	if (!ret)
		ret = rtrs_clt_conn_start(path, 0);
	if (!ret)
		ret = rtrs_clt_wait_connecting(path, smp_load_acquire(&path->conns[0].established), patience_ms);
	if (!ret)
		ret = rtrs_clt_fence_create(path);
	if (!ret)
		ret = rtrs_clt_alloc_reqs(path);
	if (!ret)
		ret = rtrs_clt_equip_reqs(path);
	if (ret)
		return ret;
	for (cid = 1; cid < path->sess->nr_conns; cid++) {
		ret = rtrs_clt_conn_start(path, cid);
		if (ret)
			return ret;
	}
	ret = rtrs_clt_wait_established(path, patience_ms);
	if (ret)
		return ret;
	return rtrs_clt_info_exchange(path);
}

/* Stop the CM of each connection from creating anything more, and all traffic. */
static void rtrs_clt_path_quiesce(struct rtrs_clt_path *path)
{
	u16 cid;

	rtrs_hb_stop(&path->hb);
	for (cid = 0; cid < path->sess->nr_conns; cid++) {
		struct rtrs_clt_conn *cc = &path->conns[cid];

		if (cc->conn.cm_id && cc->conn.qp)
			rdma_disconnect(cc->conn.cm_id);
	}
	/* The service connection last: handlers of the others answer heartbeats on it. */
	for (cid = path->sess->nr_conns; cid-- > 0;)
		rtrs_conn_drain(&path->conns[cid].conn);
	rtrs_clt_bounce_stop(path);
}

/* Tear down whatever is there; nothing happens if nothing is. */
static void rtrs_clt_path_teardown(struct rtrs_clt_path *path)
{
	u16 cid, nr = path->sess->nr_conns;
	bool owed;

	lockdep_assert_held(&path->mutex);
	if (!path->link)
		return;
	synchronize_rcu();
	/* A handler that is still resolving or connecting would create a QP behind our back. */
	for (cid = 0; cid < nr; cid++) {
		struct rdma_cm_id *id = path->conns[cid].conn.cm_id;

		if (id)
			rdma_lock_handler(id);
		WRITE_ONCE(path->conns[cid].dying, true);
		if (id)
			rdma_unlock_handler(id);
	}
	rtrs_clt_path_quiesce(path);
	/* Nobody queues it any more. What it has not sent fails over with the rest. */
	cancel_work_sync(&path->resend_work);
	owed = path->reqs && rtrs_clt_detach(path);
	rtrs_clt_credits_unmap(path);
	rtrs_clt_credits_destroy_table(path);
	rtrs_clt_bounce_destroy(path);
	rtrs_clt_link_release(path);
	/* From here on the device may go.  What follows waits for the server. */
	if (path->reqs)
		rtrs_clt_fail_over(path, owed);
	rtrs_clt_fence_destroy(path);
	if (path->counted_up) {
		mutex_lock(&path->sess->ev_mutex);
		rtrs_clt_path_count_up(path, false);
		mutex_unlock(&path->sess->ev_mutex);
	}
	/* The others may have been waiting for it. */
	rtrs_clt_slots_raise(path->sess);
}

/* The connection knows which source address and device routing chose. */
static void rtrs_clt_path_update_names(struct rtrs_clt_path *path)
{
	struct rtrs_addr addr = {
		.src = (struct sockaddr_storage *)
			&path->conns[0].conn.cm_id->route.addr.src_addr,
		.dst = &path->dst,
	};
	char name[RTRS_ADDR_PAIR_STR_LEN];

	mutex_lock(&path->name_mutex);
	rtrs_addr_to_str(&addr, name, sizeof(name));
	spin_lock_irq(&path->state_lock);
	/* Messages and events read it as they go. */
	if (strcmp(name, path->name))
		strscpy(path->name, name, sizeof(path->name));
	strscpy(path->hca_name, dev_name(&path->dev->dev), sizeof(path->hca_name));
	path->hca_port = path->port;
	spin_unlock_irq(&path->state_lock);
	if (path->published && strcmp(kobject_name(&path->kobj), path->name) &&
	    kobject_rename(&path->kobj, path->name))
		rtrs_clt_path_err(path, "keeps its old name %s in sysfs\n",
				  kobject_name(&path->kobj));
	mutex_unlock(&path->name_mutex);
}

static void rtrs_clt_path_up(struct rtrs_clt_path *path)
{
	path->failures = 0;
	path->unanswered = 0;
	path->patience = 0;
	path->retry_at = 0;
	path->connected_at = jiffies;
	path->on_trial = true;
	if (rtrs_clt_failure_connected(path))
		rtrs_clt_path_info(path, "connected, %u connections on device %s port %u\n",
				   path->sess->nr_conns, dev_name(&path->dev->dev), path->port);
}

/*
 * For how long a connected path was useful: until it sent the oldest request that is not answered.  Requests come and
 * go meanwhile; that one of them is seen too old or too young does no harm.
 */
static u32 rtrs_clt_path_useful_ms(const struct rtrs_clt_path *path)
{
	unsigned long sent_at, until = jiffies;
	const struct rtrs_clt_req *req;
	u32 slot;

	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		sent_at = READ_ONCE(req->sent_at);
		if (atomic_read(&req->state) && time_before(sent_at, until))
			until = sent_at;
	}
	return time_after(until, path->connected_at) ? jiffies_to_msecs(until - path->connected_at) : 0;
}

/* The path is connected: look again later, until it is useful. */
static void rtrs_clt_path_try_out(struct rtrs_clt_path *path)
{
	u32 useful_ms;

	if (!path->on_trial)
		return;
	useful_ms = rtrs_clt_path_useful_ms(path);
	if (useful_ms < RTRS_USEFUL_MS) {
		queue_delayed_work(rtrs_clt_wq, &path->dwork, msecs_to_jiffies(RTRS_USEFUL_MS - useful_ms) + 1);
		return;
	}
	path->flaps = 0;
	path->on_trial = false;
	WRITE_ONCE(path->sess->unsteady, false);
	rtrs_clt_failure_over(path);
}

/* One attempt. On failure the state is not CONNECTING any more; its link is being destroyed. */
static int rtrs_clt_path_connect(struct rtrs_clt_path *path)
{
	bool again = path->recon_cnt && path->was_up;
	int ret;

	WRITE_ONCE(path->error, 0);
	rtrs_clt_failure_begin(path);
	path->recon_cnt++;
	ret = rtrs_clt_path_setup(path);
	if (!ret) {
		/* Who hears that it is connected hears its name. */
		rtrs_clt_path_update_names(path);
		ret = rtrs_clt_fence_established(path);
	}
	if (ret) {
		rtrs_clt_path_error(path, ret);
		rtrs_clt_path_teardown(path);
		return ret;
	}
	if (again)
		rtrs_clt_count(path, RTRS_CLT_RECONNECTED);
	rtrs_hb_start(&path->hb);
	rtrs_clt_path_up(path);
	return 0;
}

static bool rtrs_clt_path_out_of_attempts(const struct rtrs_clt_path *path)
{
	int max = READ_ONCE(path->sess->max_reconnect_attempts);

	return path->max_failures_hit || (max >= 0 && path->failures >= max);
}

/**
 * rtrs_clt_path_has_carrier() - may the path's next attempt reach the network
 * @path: the path
 *
 * Context: any.
 * Return: false if the network device of its last connection is there and has no carrier.
 */
bool rtrs_clt_path_has_carrier(const struct rtrs_clt_path *path)
{
	struct net_device *ndev;
	bool ret;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(&init_net, READ_ONCE(path->ifindex));
	ret = !ndev || netif_carrier_ok(ndev);
	rcu_read_unlock();
	return ret;
}

/*
 * Who does not answer is asked again soon; who refuses is given time, and so is a path that connects and is not useful.
 * Without a carrier only routing could have found another way, and a message to a dead link can break rdma_rxe's queue
 * pair for all connections: no attempt for some seconds, unless the carrier is back.
 */
static u32 rtrs_clt_path_delay_ms(const struct rtrs_clt_path *path)
{
	u32 flaps = rtrs_backoff_flap_failures(path->flaps);
	u32 failures = max(path->unanswered ? 0 : path->failures, flaps);

	if (!rtrs_clt_path_has_carrier(path))
		failures = max3(path->failures, flaps, RTRS_CLT_NO_CARRIER_FAILURES);
	return rtrs_backoff_ms(failures, path->sess->reconnect_delay_ms, get_random_u32());
}

/* The path is RECONNECTING: plan the next attempt, or start it if it is due. */
static void rtrs_clt_path_retry(struct rtrs_clt_path *path)
{
	bool now = test_and_clear_bit(0, &path->retry_now);

	if (!now && rtrs_clt_path_out_of_attempts(path)) {
		if (rtrs_clt_path_event(path, RTRS_CLT_EV_GIVE_UP))
			rtrs_clt_path_err(path, "given up after %u failed attempts to connect\n",
					  path->failures);
		return;
	}
	if (!path->retry_at)
		path->retry_at = (jiffies + msecs_to_jiffies(rtrs_clt_path_delay_ms(path))) | 1;
	if (!now && time_before(jiffies, path->retry_at)) {
		queue_delayed_work(rtrs_clt_wq, &path->dwork, path->retry_at - jiffies);
		return;
	}
	path->retry_at = 0;
	path->max_failures_hit = false;
	rtrs_clt_path_event(path, RTRS_CLT_EV_RETRY);
}

/*
 * An attempt failed.  Those that nobody answers follow each other closely, so only some of them count: as
 * many as there would be if each waited its turn.  A server that is slow to accept refuses what comes after an
 * attempt that was given up too soon: that does not make the next one any shorter.
 */
static void rtrs_clt_path_failed(struct rtrs_clt_path *path, int error)
{
	if (rtrs_clt_is_silence(error)) {
		path->unanswered++;
		path->patience++;
		if (time_before(jiffies, path->count_at))
			return;
	} else if (path->unanswered) {
		path->unanswered = 0;
		path->failures = 0;
	}
	path->failures++;
	rtrs_clt_count(path, RTRS_CLT_RECONNECT_FAILED);
	path->count_at = jiffies + msecs_to_jiffies(rtrs_backoff_ms(path->failures,
						    path->sess->reconnect_delay_ms, U32_MAX));
	rtrs_clt_failure_attempt(path, error, rtrs_clt_path_reason(error));
}

static void rtrs_clt_path_attempt(struct rtrs_clt_path *path)
{
	unsigned int tries = 0;
	int ret;

	do {
		ret = rtrs_clt_path_connect(path);
	} while (ret == -EHOSTUNREACH && ++tries < RTRS_CLT_RESOLVE_TRIES &&
		 rtrs_clt_path_event(path, RTRS_CLT_EV_RETRY));
	/* One that was cut short, to begin again, says nothing. */
	if (ret && !test_bit(0, &path->retry_now))
		rtrs_clt_path_failed(path, ret);
	rtrs_clt_path_attempt_done(path, ret);
}

static void rtrs_clt_path_lost(struct rtrs_clt_path *path)
{
	int error = READ_ONCE(path->error);

	if (path->counted_up) {
		path->loss = rtrs_clt_loss_of(error);
		rtrs_clt_count_loss(path, path->loss);
		WRITE_ONCE(path->loss_error, error);
		WRITE_ONCE(path->losses, path->losses + 1);
		if (error) {
			path->flaps = rtrs_backoff_flaps(path->flaps, rtrs_clt_path_useful_ms(path));
			rtrs_clt_failure_lost(path, error, rtrs_clt_path_reason(error));
		} else {
			rtrs_clt_path_info(path, "disconnected: %s, error %d\n", rtrs_clt_path_reason(error), error);
		}
		WRITE_ONCE(path->sess->unsteady, error && path->flaps);
	}
	rtrs_clt_path_teardown(path);
}

/**
 * rtrs_clt_path_work() - do what the path's state asks for
 * @work: the path's dwork
 *
 * The one place that connects and tears down, and in between changes how many slots the path has.  All that it waits
 * for is bounded, but for a server that has not finished a lost path's requests while another path is connected
 * (fence.c).
 *
 * Context: process, workqueue rtrs-client; takes the path mutex.  No allocation here recurses into
 * writeback, which may be waiting for this very path.
 */
void rtrs_clt_path_work(struct work_struct *work)
{
	struct rtrs_clt_path *path = container_of(work, struct rtrs_clt_path, dwork.work);
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&path->mutex);
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_RECONNECTING) {
		rtrs_clt_path_lost(path);
		rtrs_clt_path_retry(path);
	}
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTING)
		rtrs_clt_path_attempt(path);
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTED) {
		rtrs_clt_credits_run(path);
		rtrs_clt_path_try_out(path);
	}
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CLOSING) {
		rtrs_clt_path_lost(path);
		rtrs_clt_path_event(path, RTRS_CLT_EV_CLOSE_DONE);
	}
	mutex_unlock(&path->mutex);
	memalloc_noio_restore(noio);
}
