// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listening, and what the connection manager reports.
 *
 * Operation: a connection request is checked, gets a path (the first one creates it, and the
 * session), a queue pair and an answer, all within the handler and under the context's mutex.
 * Later events of the connection close its path.
 *
 * Ownership: a handler that returns non-zero gives its CM id back to the CM, which destroys it.
 * So a connection goes into its path only when nothing can fail any more; from then on the close
 * work owns the id.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>

#include "../proto/geometry.h"
#include "fault.h"
#include "rtrs-srv.h"

#define RTRS_SRV_BACKLOG	64

/* Local ACK timeout 4.096 us * 2^17, 0.54 s, instead of one derived from the fabric's. */
#define RTRS_SRV_ACK_TIMEOUT	17

/* Read for each connection. */
static bool rtrs_srv_cq_unbound = true;
module_param_named(cq_unbound, rtrs_srv_cq_unbound, bool, 0644);
MODULE_PARM_DESC(cq_unbound, "Handle completions in unbound workers, not in the CPU's own (default: Y)");

static unsigned int rtrs_srv_busy_poll_us;
module_param_cb(busy_poll_us, &rtrs_cq_busy_poll_ops, &rtrs_srv_busy_poll_us, 0644);
__MODULE_PARM_TYPE(busy_poll_us, "uint");
MODULE_PARM_DESC(busy_poll_us, "Look so long for another completion before waiting for one (default: 0)");

static void rtrs_srv_cm_reject(struct rdma_cm_id *cm_id, int err)
{
	const struct rtrs_conn_rsp rsp = { .error = err };
	struct rtrs_msg_conn_rsp msg;

	rtrs_wire_put_conn_rsp(&msg, &rsp);
	/* If it cannot be sent the client runs into its timeout. */
	rdma_reject(cm_id, &msg, sizeof(msg), IB_CM_REJ_CONSUMER_DEFINED);
}

static int rtrs_srv_cm_accept(struct rtrs_srv_path *path, struct rdma_cm_id *cm_id)
{
	const struct rtrs_conn_rsp rsp = {
		.queue_depth = path->geo->queue_depth,
		.max_io_size = path->geo->max_io_size,
		.max_hdr_size = path->geo->max_hdr_size,
		.new_rkey = path->geo->new_rkey,
		.features = path->features,
		.path_id = path->id,
	};
	struct rtrs_msg_conn_rsp msg;
	struct rdma_conn_param param = {
		.private_data = &msg,
		.private_data_len = sizeof(msg),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	rtrs_wire_put_conn_rsp(&msg, &rsp);
	/* Both only tune: the connection works without. */
	rdma_set_min_rnr_timer(cm_id, IB_RNR_TIMER_001_28);
	rdma_set_ack_timeout(cm_id, RTRS_SRV_ACK_TIMEOUT);
	return rdma_accept(cm_id, &param);
}

static int rtrs_srv_cm_create_qp(struct rtrs_srv_path *path, struct rtrs_srv_conn *conn)
{
	const struct rtrs_srv_geo *geo = path->geo;
	u32 max_wr = path->dev->attrs.max_qp_wr;
	bool service = !conn->conn.cid;
	const struct rtrs_conn_attr attr = {
		.pd = path->pd,
		.send_wrs = rtrs_geometry_srv_send_wrs(service, geo->queue_depth, max_wr),
		.recv_wrs = rtrs_geometry_srv_recv_wrs(service, geo->queue_depth, max_wr),
		.send_sges = 1,
		.vector = conn->conn.cid,
		.ctx = READ_ONCE(rtrs_srv_cq_unbound) ? RTRS_CQ_UNBOUND : RTRS_CQ_BOUND,
		/* Requests go to the ULP from there; those of the service connection by a work of their own. */
		.may_block = !service,
		.busy_poll_us = READ_ONCE(rtrs_srv_busy_poll_us),
		.recv_done = rtrs_srv_io_recv_done,
		.send_done = rtrs_srv_io_send_done,
		.round_done = rtrs_srv_batch_end,
	};

	return rtrs_conn_create_qp(&conn->conn, &attr);
}

/* Give a connection request its place in the path and accept it; mutex of the context held. */
static int rtrs_srv_cm_add_conn(struct rtrs_srv_path *path, struct rdma_cm_id *cm_id, u16 cid)
{
	size_t list_bytes = path->features & RTRS_EXT_REQ_LIST ? RTRS_REQ_LIST_MAX_BYTES : 0;
	struct rtrs_srv_peer *peer;
	struct rtrs_srv_conn *conn;
	int ret;

	lockdep_assert_held(&path->ctx->mutex);
	peer = rtrs_srv_limits_charge(&path->clt_addr, RTRS_SRV_LIMIT_CONNECTIONS, 1);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	conn = fault_here(alloc_conn) ? NULL : kzalloc(struct_size(conn, list, list_bytes), GFP_KERNEL);
	if (!conn) {
		ret = -ENOMEM;
		goto err_uncharge;
	}
	conn->path = path;
	conn->conn.cm_id = cm_id;
	conn->conn.cid = cid;
	spin_lock_init(&conn->wait_lock);
	INIT_LIST_HEAD(&conn->wait_list);
	INIT_LIST_HEAD(&conn->batch);

	ret = rtrs_srv_cm_create_qp(path, conn);
	if (ret)
		goto err_free;
	/* The only receive until the info exchange. */
	if (!cid) {
		ret = rtrs_srv_info_post_recv(path, &conn->conn);
		if (ret)
			goto err_destroy_qp;
	}
	ret = fault_here(cm_accept) ? -ENOMEM : rtrs_srv_cm_accept(path, cm_id);
	if (ret)
		goto err_destroy_qp;

	/* The handler of this id still runs, so none of its events is under way. */
	cm_id->context = conn;
	path->conns[cid] = conn;
	path->nr_conns++;
	return 0;

err_destroy_qp:
	/*
	 * Of an I/O connection nothing is posted yet; its completions run where handlers may wait for a disk, and
	 * here all who connect, and all who close, would wait with them.
	 */
	if (!cid)
		rtrs_conn_drain(&conn->conn);
	rtrs_conn_destroy_qp(&conn->conn);
err_free:
	kfree(conn);
err_uncharge:
	rtrs_srv_limits_uncharge(peer, RTRS_SRV_LIMIT_CONNECTIONS, 1);
	return ret;
}

static struct rtrs_srv_path *rtrs_srv_cm_find_path(struct rtrs_srv_sess *sess, const u8 *uuid)
{
	struct rtrs_srv_path *path;

	list_for_each_entry(path, &sess->paths, entry)
		if (!memcmp(path->uuid, uuid, sizeof(path->uuid)))
			return path;
	return NULL;
}

/* Another connection of a path that is known: protocol section 2.6. */
static int rtrs_srv_cm_check_path(struct rtrs_srv_path *path, struct rdma_cm_id *cm_id,
				  const struct rtrs_conn_req *req)
{
	/*
	 * A new attempt: the client has given up the connections there are, before this side noticed.
	 * Refused like any other that is early, but the next one need not wait for the heartbeat.
	 */
	if (!req->cid && req->recon_cnt != path->recon_cnt)
		rtrs_srv_path_fail(path, "client connects anew");

	if (rtrs_srv_path_state(path) != RTRS_SRV_PATH_CONNECTING)
		return -ECONNRESET;
	if (req->cid_num != path->cid_num || req->recon_cnt != path->recon_cnt ||
	    path->conns[req->cid] || cm_id->device != path->dev)
		return -ECONNRESET;
	return 0;
}

static int rtrs_srv_cm_check_new_path(struct rtrs_srv_sess *sess, struct rdma_cm_id *cm_id)
{
	const struct rdma_addr *addr = &cm_id->route.addr;
	struct rtrs_srv_path *path;

	if (sess->nr_paths >= RTRS_MAX_PATHS)
		return -ECONNRESET;
	list_for_each_entry(path, &sess->paths, entry)
		if (rtrs_addr_same_host((const struct sockaddr *)&addr->dst_addr,
					(const struct sockaddr *)&path->clt_addr) &&
		    rtrs_addr_same_host((const struct sockaddr *)&addr->src_addr,
					(const struct sockaddr *)&path->srv_addr))
			return -EEXIST;
	return 0;
}

static struct rtrs_srv_path *rtrs_srv_cm_new_path(struct rtrs_srv_sess *sess,
						  struct rdma_cm_id *cm_id,
						  const struct rtrs_conn_req *req)
{
	struct rtrs_srv_path *path;
	int ret;

	ret = rtrs_srv_cm_check_new_path(sess, cm_id);
	if (ret)
		return ERR_PTR(ret);
	path = rtrs_srv_path_create(sess, cm_id, req);
	if (IS_ERR(path))
		return path;
	INIT_WORK(&path->close_work, rtrs_srv_close_work);
	INIT_WORK(&path->end_work, rtrs_srv_close_end_work);
	rtrs_srv_fence_init(path);
	rtrs_srv_chunks_init(path);
	ret = rtrs_srv_info_init(path);
	if (ret) {
		rtrs_srv_path_fail(path, "no memory");
		return ERR_PTR(ret);
	}
	return path;
}

/* Find or create what the request belongs to; mutex of the context held. */
static struct rtrs_srv_path *rtrs_srv_cm_get_path(struct rtrs_srv_ctx *ctx,
						  struct rdma_cm_id *cm_id,
						  const struct rtrs_conn_req *req)
{
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_path *path;
	int ret;

	sess = rtrs_srv_sess_find(ctx, req->sess_uuid);
	if (!sess) {
		if (!req->first_conn)
			return ERR_PTR(-ENXIO);
		sess = rtrs_srv_sess_create(ctx, req->sess_uuid, &cm_id->route.addr.dst_addr);
		if (IS_ERR(sess))
			return ERR_CAST(sess);
	}
	path = rtrs_srv_cm_find_path(sess, req->path_uuid);
	if (path) {
		ret = rtrs_srv_cm_check_path(path, cm_id, req);
		return ret ? ERR_PTR(ret) : path;
	}
	path = rtrs_srv_cm_new_path(sess, cm_id, req);
	if (IS_ERR(path))
		rtrs_srv_sess_free_if_empty(sess);
	return path;
}

static int rtrs_srv_cm_check_device(struct rtrs_srv_ctx *ctx, struct rdma_cm_id *cm_id)
{
	struct ib_device *dev = cm_id->device;
	int ret;

	ret = rtrs_device_check(dev, cm_id->port_num);
	if (ret)
		return ret;
	if (!rtrs_srv_bufs_chunks_per_mr(dev, &ctx->geo, false)) {
		pr_err_ratelimited("device %s: a chunk of %u bytes does not fit a memory region, which has at most %u pages of 4096 bytes\n",
				   dev_name(&dev->dev), ctx->geo.chunk_size,
				   dev->attrs.max_fast_reg_page_list_len);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int rtrs_srv_cm_connect(struct rtrs_srv_ctx *ctx, struct rdma_cm_id *cm_id,
			       const struct rdma_conn_param *param)
{
	char text[RTRS_ADDR_STR_LEN];
	struct rtrs_srv_path *path;
	struct rtrs_conn_req req;
	unsigned int noio;
	int ret;

	ret = fault_here(cm_reject) ? -ECONNRESET :
	      rtrs_wire_get_conn_req(param->private_data, param->private_data_len, &req);
	if (!ret)
		ret = rtrs_srv_cm_check_device(ctx, cm_id);
	if (ret)
		goto err_reject;

	/* Fences and closing wait for the mutex, and writeback may wait for these. */
	noio = memalloc_noio_save();
	mutex_lock(&ctx->mutex);
	path = rtrs_srv_cm_get_path(ctx, cm_id, &req);
	if (IS_ERR(path)) {
		ret = PTR_ERR(path);
	} else {
		ret = rtrs_srv_cm_add_conn(path, cm_id, req.cid);
		if (ret)
			rtrs_srv_path_fail(path, "setting up connection %u: error %d",
					   req.cid, ret);
	}
	mutex_unlock(&ctx->mutex);
	memalloc_noio_restore(noio);
	if (!ret)
		return 0;

err_reject:
	sockaddr_to_str((const struct sockaddr *)&cm_id->route.addr.dst_addr, text, sizeof(text));
	pr_warn_ratelimited("connection from %s on port %u refused: error %d\n", text, ctx->port, ret);
	rtrs_srv_cm_reject(cm_id, ret);
	return ret;
}

/*
 * Handler of listening ids, whose context is the context, and of connections, which inherit it
 * until they are accepted.  Must not block on the close work: that waits for it.
 */
static int rtrs_srv_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rtrs_srv_conn *conn;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return rtrs_srv_cm_connect(cm_id->context, cm_id, &event->param.conn);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* The client's INFO_REQ may well have come before. */
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		conn = cm_id->context;
		if (rtrs_srv_path_event_why(conn->path, RTRS_SRV_EV_CLOSE,
					    "%s on connection %u, status %d",
					    rdma_event_msg(event->event), conn->conn.cid,
					    event->status) && rtrs_srv_log_closed(conn->path))
			pr_info_ratelimited("path %s closed: %s on connection %u, status %d\n",
					    conn->path->name, rdma_event_msg(event->event),
					    conn->conn.cid, event->status);
		return 0;
	default:
		pr_warn_ratelimited("unexpected connection manager event %s, status %d\n",
				    rdma_event_msg(event->event), event->status);
		return 0;
	}
}

static struct rdma_cm_id *rtrs_srv_cm_listen_on(struct rtrs_srv_ctx *ctx, enum rdma_ucm_port_space ps,
						struct sockaddr *addr)
{
	struct rdma_cm_id *cm_id;
	int ret;

	cm_id = rdma_create_id(&init_net, rtrs_srv_cm_handler, ctx, ps, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return cm_id;
	/* IPv4 too, whatever net.ipv6.bindv6only says. */
	if (addr->sa_family == AF_INET6) {
		ret = rdma_set_afonly(cm_id, 0);
		if (ret)
			goto err_destroy_id;
	}
	ret = rdma_bind_addr(cm_id, addr);
	if (ret)
		goto err_destroy_id;
	ret = rdma_listen(cm_id, RTRS_SRV_BACKLOG);
	if (ret)
		goto err_destroy_id;
	return cm_id;

err_destroy_id:
	rdma_destroy_id(cm_id);
	return ERR_PTR(ret);
}

/**
 * rtrs_srv_cm_listen() - listen on all addresses of all devices, present and to come
 * @ctx: the context
 *
 * Protocol section 2.1.  Connections may come before it returns.
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; on failure nothing listens.
 */
int rtrs_srv_cm_listen(struct rtrs_srv_ctx *ctx)
{
	struct sockaddr_in6 ip = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_ANY_INIT,
		.sin6_port = cpu_to_be16(ctx->port),
	};
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_pkey = cpu_to_be16(0xffff),
		.sib_sid = cpu_to_be64(RTRS_IB_SERVICE_ID | ctx->port),
		.sib_sid_mask = cpu_to_be64(~0ULL),
	};
	struct rdma_cm_id *cm_id;

	cm_id = rtrs_srv_cm_listen_on(ctx, RDMA_PS_TCP, (struct sockaddr *)&ip);
	if (IS_ERR(cm_id)) {
		pr_err("port %u: listening on IP addresses failed: error %ld\n", ctx->port,
		       PTR_ERR(cm_id));
		return PTR_ERR(cm_id);
	}
	ctx->listen_ip = cm_id;

	cm_id = rtrs_srv_cm_listen_on(ctx, RDMA_PS_IB, (struct sockaddr *)&ib);
	if (IS_ERR(cm_id)) {
		pr_info("port %u: no listening on GIDs: error %ld\n", ctx->port, PTR_ERR(cm_id));
		return 0;
	}
	ctx->listen_ib = cm_id;
	return 0;
}

/**
 * rtrs_srv_cm_unlisten() - undo rtrs_srv_cm_listen()
 * @ctx: the context
 *
 * No connect handler runs after return.
 *
 * Context: process, may sleep; mutex of the context not held, the handlers take it.
 */
void rtrs_srv_cm_unlisten(struct rtrs_srv_ctx *ctx)
{
	if (ctx->listen_ib)
		rdma_destroy_id(ctx->listen_ib);
	rdma_destroy_id(ctx->listen_ip);
}
