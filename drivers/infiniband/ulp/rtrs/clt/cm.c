// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection manager events of the client (protocol section 2).
 *
 * Each handler only moves its own connection on, or reports an error to the path.  It runs with the
 * id's handler mutex held; nothing here destroys an id, that is the path worker's.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../proto/geometry.h"
#include "clt.h"
#include "fault.h"

/* All are read when a path connects. */
static bool rtrs_clt_gather_writes = true;
module_param_named(gather_writes, rtrs_clt_gather_writes, bool, 0644);
MODULE_PARM_DESC(gather_writes, "Gather the pages of writes, do not register them (default: Y)");

static bool rtrs_clt_remote_invalidate = true;
module_param_named(remote_invalidate, rtrs_clt_remote_invalidate, bool, 0644);
MODULE_PARM_DESC(remote_invalidate, "Have the server invalidate what a read registered (default: Y)");

static bool rtrs_clt_cq_unbound = true;
module_param_named(cq_unbound, rtrs_clt_cq_unbound, bool, 0644);
MODULE_PARM_DESC(cq_unbound, "Handle completions in unbound workers, not in the CPU's own (default: Y)");

static unsigned int rtrs_clt_busy_poll_us;
module_param_cb(busy_poll_us, &rtrs_cq_busy_poll_ops, &rtrs_clt_busy_poll_us, 0644);
__MODULE_PARM_TYPE(busy_poll_us, "uint");
MODULE_PARM_DESC(busy_poll_us, "Look so long for another completion before waiting for one (default: 0)");

/* The device's ack timeout is 4.096 us * 2^n: the least n for at least @ms. */
static u8 rtrs_clt_ack_timeout(u32 ms)
{
	u8 n = 0;

	while (4096ULL << n < (u64)ms * NSEC_PER_MSEC)
		n++;
	return n;
}

/* The first connection binds the path to a device. */
static int rtrs_clt_path_bind(struct rtrs_clt_path *path, struct rdma_cm_id *id)
{
	const struct ib_device_attr *attr = &id->device->attrs;
	struct ib_pd *pd;
	int ret;

	ret = rtrs_device_check(id->device, id->port_num);
	if (ret)
		return ret;
	pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	path->dev = path->link->dev = id->device;
	path->pd = path->link->pd = pd;
	WRITE_ONCE(path->port, id->port_num);
	WRITE_ONCE(path->dev_index, id->device->index);
	WRITE_ONCE(path->ifindex, id->route.addr.dev_addr.bound_dev_if);
	/*
	 * One SGE is the header's.  rdma_rxe, which is such a device, breaks a queue pair when it
	 * retransmits and finds a registration that it has done already.
	 */
	path->data_sges = ib_uses_virt_dma(id->device) ? RTRS_CLT_DATA_SGES_MAX : RTRS_CLT_DATA_SGES;
	path->data_sges = min_t(u32, path->data_sges, attr->max_send_sge - 1);
	if (!READ_ONCE(rtrs_clt_gather_writes))
		path->data_sges = 0;
	path->ask_inval = READ_ONCE(rtrs_clt_remote_invalidate);
	return 0;
}

static int rtrs_clt_conn_alloc_rsps(struct rtrs_clt_conn *cc, u32 nr)
{
	u32 i;

	cc->rsps = kvcalloc(nr, sizeof(*cc->rsps), GFP_KERNEL);
	cc->rsp_buf = fault_here(alloc_rsps) ? NULL : kcalloc(nr, sizeof(*cc->rsp_buf), GFP_KERNEL);
	if (!cc->rsps || !cc->rsp_buf)
		goto err_free;
	if (rtrs_dma_map(cc->path->dev, cc->rsp_buf, nr * sizeof(*cc->rsp_buf), DMA_FROM_DEVICE, &cc->rsp_dma))
		goto err_free;
	for (i = 0; i < nr; i++)
		cc->rsps[i].cqe.done = rtrs_clt_rsp_done;
	cc->nr_rsps = nr;
	return 0;

err_free:
	kvfree(cc->rsps);
	kfree(cc->rsp_buf);
	cc->rsps = NULL;
	cc->rsp_buf = NULL;
	return -ENOMEM;
}

static int rtrs_clt_conn_create_qp(struct rtrs_clt_conn *cc)
{
	struct rtrs_clt_path *path = cc->path;
	u16 cid = cc->conn.cid;
	u32 max_wrs = path->dev->attrs.max_qp_wr;
	bool polled = cid > path->sess->nr_io_conns;
	u32 sges = cid ? path->data_sges : min_t(u32, path->data_sges, RTRS_CLT_SERVICE_SGES);
	enum rtrs_cq_ctx ctx = READ_ONCE(rtrs_clt_cq_unbound) ? RTRS_CQ_UNBOUND : RTRS_CQ_BOUND;
	bool registers = !sges || !rtrs_clt_bounce_bytes(path);
	struct rtrs_conn_attr attr = {
		.pd = path->pd,
		.send_wrs = rtrs_geometry_clt_send_wrs(!cid, path->sess->queue_depth, max_wrs, registers),
		.recv_wrs = rtrs_clt_recv_wrs(path, !cid),
		/* A region takes one too. */
		.send_sges = max(sges, 1U) + 1,
		.vector = cid,
		.ctx = polled ? RTRS_CQ_DIRECT : ctx,
		.busy_poll_us = READ_ONCE(rtrs_clt_busy_poll_us),
		.recv_done = rtrs_clt_recv_done,
		.send_done = rtrs_clt_send_done,
	};

	cc->data_sges = sges;
	return rtrs_conn_create_qp(&cc->conn, &attr);
}

static int rtrs_clt_addr_resolved(struct rtrs_clt_conn *cc)
{
	struct rtrs_clt_path *path = cc->path;
	struct rdma_cm_id *id = cc->conn.cm_id;
	int ret = 0;

	if (!cc->conn.cid)
		ret = rtrs_clt_path_bind(path, id);
	else if (id->device != path->dev)
		ret = -EXDEV;
	if (ret)
		return ret;
	ret = rtrs_clt_conn_create_qp(cc);
	if (ret)
		return ret;
	rdma_set_min_rnr_timer(id, IB_RNR_TIMER_000_64);
	return rdma_resolve_route(id, RTRS_CLT_RESOLVE_TIMEOUT_MS);
}

/*
 * May this path create the session (protocol section 2.5)?  One that was never up must not, lest it makes one of its
 * own beside that of the others.  If all of those are lost there may be none any more: whichever comes first makes it.
 */
static bool rtrs_clt_first_conn(const struct rtrs_clt_path *path)
{
	const struct rtrs_clt_sess *sess = path->sess;
	const struct rtrs_clt_paths *paths;
	bool first = true;
	unsigned int i;

	if (path->was_up || (READ_ONCE(sess->opened) && !READ_ONCE(sess->paths_up)))
		return true;
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		if (READ_ONCE(paths->path[i]->was_up))
			first = false;
	rcu_read_unlock();
	return first;
}

static int rtrs_clt_route_resolved(struct rtrs_clt_conn *cc)
{
	struct rtrs_clt_path *path = cc->path;
	struct rtrs_conn_req req = {
		.cid = cc->conn.cid,
		.cid_num = path->sess->nr_conns,
		.recon_cnt = path->recon_cnt,
		.first_conn = rtrs_clt_first_conn(path),
	};
	struct rtrs_msg_conn_req msg;
	struct rdma_conn_param param = {
		.private_data = &msg,
		.private_data_len = sizeof(msg),
		/*
		 * The server's queue pairs take it from here.  Never 7: rdma_rxe takes that for "for ever", as
		 * the specification does for RNR retries only.
		 */
		.retry_count = READ_ONCE(path->sess->timing.retry_count),
		.rnr_retry_count = 7,
	};

	if (!req.cid) {
		path->offered = RTRS_EXT_ALL & ~(rtrs_clt_batch_features_off() | rtrs_clt_credits_features_off());
		path->credits.offered = rtrs_clt_slots_wanted(path->sess);
	}
	req.features = path->offered;
	req.chunks = path->credits.offered;
	export_uuid(req.path_uuid, &path->uuid);
	export_uuid(req.sess_uuid, &path->sess->uuid);
	rtrs_wire_put_conn_req(&msg, &req);
	if (fault_here(cm_timeout))
		return 0;	/* Never sent: nobody answers. */
	return fault_here(cm_connect) ? -ENOMEM : rdma_connect_locked(cc->conn.cm_id, &param);
}

/*
 * A region takes a chunk's data, of which all elements but the first and the last are whole pages; with one page more, as
 * data that start inside a page end in a page of their own.  It has no more pages than that: drivers allocate a list of
 * them for each slot.
 */
static void rtrs_clt_set_segments(struct rtrs_clt_path *path, const struct rtrs_conn_rsp *rsp)
{
	u32 most = path->dev->attrs.max_fast_reg_page_list_len;

	path->max_segments = min(clamp_t(u32, rsp->max_io_size / SZ_4K, RTRS_CLT_SEGMENTS, RTRS_CLT_SEGMENTS_MAX),
				 most - 1);
	path->mr_pages = min3(path->chunk_size / SZ_4K + 1, RTRS_CLT_SEGMENTS_MAX + 1U, most);
}

/* All paths of a session have to offer the same slots.  Sizes count when the path is up (fence.c). */
static int rtrs_clt_adopt_geometry(struct rtrs_clt_path *path, const struct rtrs_conn_rsp *rsp)
{
	struct rtrs_clt_sess *sess = path->sess;
	int ret = 0;

	if (rtrs_geometry_check_rsp(rsp)) {
		rtrs_clt_path_fail(path, "server announces impossible sizes: queue depth %u, data %u, header %u bytes\n",
				  rsp->queue_depth, rsp->max_io_size, rsp->max_hdr_size);
		return -EINVAL;
	}
	mutex_lock(&sess->geo_mutex);
	if (!sess->queue_depth) {
		sess->mem_bits = rtrs_geometry_mem_bits(rsp->queue_depth);
		/* Last: paths that see it see the rest. */
		WRITE_ONCE(sess->queue_depth, rsp->queue_depth);
	} else if (sess->queue_depth != rsp->queue_depth) {
		rtrs_clt_path_fail(path, "server announces queue depth %u, the session has %u: path given up\n",
				  rsp->queue_depth, sess->queue_depth);
		path->max_failures_hit = true;
		ret = -ECONNRESET;
	}
	mutex_unlock(&sess->geo_mutex);
	if (ret)
		return ret;
	path->max_io_size = rsp->max_io_size;
	path->chunk_size = rsp->max_io_size + rsp->max_hdr_size;
	rtrs_clt_set_segments(path, rsp);
	path->max_hdr_size = min_t(u32, rsp->max_hdr_size, RTRS_CLT_MAX_HDR_BYTES);
	path->new_rkey = rsp->new_rkey;
	/* Not more than was asked for. */
	path->features = rsp->features & path->offered;
	path->credits.first = rsp->queue_depth;
	if (rtrs_clt_path_has_credits(path))
		path->credits.first = min(path->credits.offered, rsp->queue_depth);
	path->srv_id = rsp->path_id;
	return 0;
}

static int rtrs_clt_established(struct rtrs_clt_conn *cc, const struct rdma_cm_event *ev)
{
	struct rtrs_clt_path *path = cc->path;
	struct rtrs_conn_rsp rsp;
	int ret;

	ret = rtrs_wire_get_conn_rsp(ev->param.conn.private_data, ev->param.conn.private_data_len,
				     &rsp);
	if (ret) {
		rtrs_clt_path_fail(path, "server accepts connection %u with a malformed response\n",
				  cc->conn.cid);
		return ret;
	}
	if (!cc->conn.cid) {
		ret = rtrs_clt_adopt_geometry(path, &rsp);
		if (ret)
			return ret;
		WRITE_ONCE(path->was_up, true);
	}
	if (path->new_rkey) {
		ret = rtrs_clt_conn_alloc_rsps(cc, rtrs_clt_msg_recvs(path, !cc->conn.cid));
		if (ret)
			return ret;
	}
	smp_store_release(&cc->established, true);
	wake_up_all(&path->state_wq);
	return 0;
}

static int rtrs_clt_rejected(struct rtrs_clt_conn *cc, const struct rdma_cm_event *ev)
{
	const void *data;
	u8 len = 0;
	int ret;

	data = rdma_consumer_reject_data(cc->conn.cm_id, (struct rdma_cm_event *)ev, &len);
	if (!data) {
		rtrs_clt_path_fail(cc->path, "server refuses the connection: %s; is rnbd-server loaded and the port right?\n",
				  rdma_reject_msg(cc->conn.cm_id, ev->status));
		return -ECONNRESET;
	}
	ret = rtrs_wire_get_reject(data, len);
	rtrs_clt_path_fail(cc->path, "server refuses connection %u: error %d%s\n", cc->conn.cid, ret,
			  ret == -EBUSY ? ", it still has the old path" : "");
	/* Whatever it says, it has answered. */
	return rtrs_clt_is_silence(ret) ? -ECONNRESET : ret;
}

/* No allocation here recurses into writeback or swapping, which may be waiting for this very path. */
static int rtrs_clt_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rtrs_clt_conn *cc = id->context;
	struct rtrs_clt_path *path = cc->path;
	unsigned int noio;
	int ret = 0;

	if (cc->dying)
		return 0;
	noio = memalloc_noio_save();
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = fault_here(cm_resolve) ? -EHOSTUNREACH : rtrs_clt_addr_resolved(cc);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = rtrs_clt_route_resolved(cc);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		ret = rtrs_clt_established(cc, ev);
		break;
	case RDMA_CM_EVENT_REJECTED:
		ret = rtrs_clt_rejected(cc, ev);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		ret = -EHOSTUNREACH;
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		ret = -ECONNRESET;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		ret = -ENODEV;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		rtrs_clt_path_fail(path, "unexpected connection event %s, status %d\n",
				  rdma_event_msg(ev->event), ev->status);
		ret = -ECONNRESET;
		break;
	}
	memalloc_noio_restore(noio);
	if (ret)
		rtrs_clt_path_error(path, ret);
	/* Non-zero would destroy the id, which is the worker's to do. */
	return 0;
}

/**
 * rtrs_clt_conn_start() - start to connect one connection
 * @path: path in state CONNECTING
 * @cid: number of the connection; 0 must be established before any other starts
 *
 * The rest happens in CM events; the caller waits on the path's state_wq for the connection to be
 * established or the path to leave CONNECTING.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno.
 */
int rtrs_clt_conn_start(struct rtrs_clt_path *path, u16 cid)
{
	struct rtrs_clt_conn *cc = &path->conns[cid];
	struct sockaddr *src = (struct sockaddr *)path->addr.src;
	struct sockaddr *dst = (struct sockaddr *)path->addr.dst;
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&path->mutex);
	cc->path = path;
	cc->conn.cid = cid;
	id = fault_here(conn_create) ? ERR_PTR(-ENOMEM) :
	     rdma_create_id(&init_net, rtrs_clt_cm_handler, cc,
			    dst->sa_family == AF_IB ? RDMA_PS_IB : RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cc->conn.cm_id = id;
	ret = rdma_set_reuseaddr(id, 1);
	if (!ret)
		ret = rdma_set_ack_timeout(id, rtrs_clt_ack_timeout(
					   READ_ONCE(path->sess->timing.ack_timeout_ms)));
	if (!ret)
		ret = rdma_resolve_addr(id, src, dst, RTRS_CLT_RESOLVE_TIMEOUT_MS);
	/* On failure the tear-down destroys the id with the rest. */
	return ret;
}
