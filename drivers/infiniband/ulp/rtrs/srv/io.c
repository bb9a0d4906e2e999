// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests, from their arrival to the ULP (protocol sections 5 and 7).
 *
 * Operation: a request arrives as RDMA WRITE with immediate in the completion handler of its
 * connection.  Header and user message are copied, then checked, then used.  With new keys a
 * WRITE's data are out of the client's reach before they are used: small ones are copied too, for
 * large ones the chunk's key is invalidated.  A READ needs neither, nor does a WRITE without data:
 * nothing of theirs is looked at in the chunk again.  The copy of a small one is cheaper than the two
 * work requests.  On rdma_rxe large ones are copied as well: a registration that is in the send queue
 * while a packet is lost breaks the queue pair there, at once (6.12) or in silence (6.1).
 *
 * Ownership: from the claim to the release a request has one owner, first the handler, then the
 * ULP, then who posts the response (rsp.c), and holds a reference of the path's ops_ref.
 *
 * Locks: wait_lock of a connection, then the slot's, then those of the verbs layer.  All are taken
 * with interrupts off: the ULP answers in any context.
 *
 * Errors: what breaks the protocol closes the path; what is a wrong request is answered with an
 * errno.  When a path is no longer CONNECTED requests finish without answer.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "../proto/imm.h"
#include "../verbs/copy.h"
#include "../verbs/trace.h"
#include "fault.h"
#include "rtrs-srv.h"

static int rtrs_srv_max_copy_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 0, &value) || value > RTRS_SRV_COPY_SOFT_BYTES) {
		pr_err("parameter max_copy_bytes=%.*s is not valid, allowed is 0 to %u\n",
		       (int)strcspn(val, "\n"), val, RTRS_SRV_COPY_SOFT_BYTES);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, value);
	return 0;
}

static const struct kernel_param_ops rtrs_srv_max_copy_ops = {
	.set = rtrs_srv_max_copy_set,
	.get = param_get_uint,
};

/* Read when a path connects. */
static unsigned int rtrs_srv_max_copy_bytes = RTRS_SRV_COPY_SOFT_BYTES;
module_param_cb(max_copy_bytes, &rtrs_srv_max_copy_ops, &rtrs_srv_max_copy_bytes, 0644);
__MODULE_PARM_TYPE(max_copy_bytes, "uint");
MODULE_PARM_DESC(max_copy_bytes,
		 "Bytes of the longest write that is copied rather than invalidated (default: 131072)");

/* Hand a request to the ULP; process context.  @batch: as for rtrs_srv_req_answer(). */
static void rtrs_srv_req_submit(struct rtrs_srv_req *req, bool batch)
{
	struct rtrs_srv_path *path = req->path;
	int ret;

	/* The ULP may answer before it returns: the memory of the path waits for the return too. */
	percpu_ref_get(&path->ops_ref);
	if (unlikely(req->arrived_ns))
		req->submitted_ns = rtrs_lat_now();
	trace_rtrs_srv_req_submit(RTRS_SRV_REQ_IDS(req), req->hdr.write, req->hdr.data_len);
	req->call = RTRS_SRV_CALL_ON;
	ret = path->ctx->ops.rdma_ev(READ_ONCE(path->sess->priv), &req->op, req->data,
				     req->hdr.data_len, req->usr, req->hdr.usr_len);
	if (ret)
		rtrs_srv_resp_rdma(&req->op, ret);
	/* The ULP's, unless it has answered already: then it is ours again. */
	if (cmpxchg(&req->call, RTRS_SRV_CALL_ON, RTRS_SRV_CALL_OVER) == RTRS_SRV_CALL_ANSWERED) {
		req->call = RTRS_SRV_CALL_OVER;
		rtrs_srv_req_respond(req, batch);
	}
	percpu_ref_put(&path->ops_ref);
}

static void rtrs_srv_req_start_work(struct work_struct *work)
{
	struct rtrs_srv_req *req = container_of(work, struct rtrs_srv_req, start_work);

	if (rtrs_srv_req_may_run(req))
		rtrs_srv_req_submit(req, false);
	else
		rtrs_srv_req_drop(req);
}

/* Header and data are stable: run the request unless an older one of its slot still runs. */
static void rtrs_srv_req_ready(struct rtrs_srv_req *req)
{
	bool service = !req->conn->conn.cid;
	int ret;

	ret = rtrs_srv_req_queue(req, service);
	if (unlikely(ret == -EINPROGRESS))
		return;
	if (unlikely(ret))
		rtrs_srv_req_drop(req);
	else if (unlikely(service))
		/* The ULP may sleep; heartbeats of this connection must not wait for it. */
		rtrs_srv_req_start(req);
	else
		rtrs_srv_req_submit(req, true);
}

static void rtrs_srv_req_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_req *req = container_of(wc->wr_cqe, struct rtrs_srv_req, inv_cqe);
	struct rtrs_srv_conn *conn = req->conn;

	if (unlikely(wc->status != IB_WC_SUCCESS) || fault_here(inv_failed)) {
		rtrs_srv_path_wc_failed(req->path, "invalidation of a chunk", wc);
		rtrs_srv_req_drop(req);
		return;
	}
	rtrs_conn_send_completed(&conn->conn);
	rtrs_srv_io_kick(conn);
	req->mr->valid = false;
	rtrs_srv_req_ready(req);
}

/* Where a user message is copied to.  A slot that had a long one keeps the page for its later ones. */
static __always_inline void *rtrs_srv_req_usr_room(struct rtrs_srv_req *req, u32 len)
{
	return likely(len <= sizeof(req->usr_small)) ? req->usr_small : rtrs_srv_req_get_usr_page(req);
}

/*
 * Copy the user message, from a list at @usr, or NULL: it ends at @off of the chunk, whose data are made readable
 * too.
 */
static __always_inline int rtrs_srv_req_get_usr(struct rtrs_srv_req *req, u32 off, const void *usr)
{
	struct ib_device *dev = req->path->dev;
	struct rtrs_io_hdr *hdr = &req->hdr;
	u32 start;

	if (rtrs_wire_io_len(hdr->write, hdr->has_desc, hdr->usr_len) > req->path->geo->max_hdr_size)
		return -EMSGSIZE;
	req->usr = rtrs_srv_req_usr_room(req, hdr->usr_len);
	if (unlikely(!req->usr))
		return -ENOMEM;
	if (unlikely(usr)) {
		memcpy(req->usr, usr, hdr->usr_len);
		return 0;
	}
	start = hdr->write ? 0 : hdr->data_len;
	ib_dma_sync_single_for_cpu(dev, req->chunk_dma + start, off - start, DMA_BIDIRECTIONAL);
	memcpy(req->usr, req->chunk + hdr->data_len, hdr->usr_len);
	return 0;
}

/* Copy and check the header at @off.  Return: as rtrs_wire_get_io_hdr(), or -EMSGSIZE to answer. */
static int rtrs_srv_req_get_hdr(struct rtrs_srv_req *req, u32 off)
{
	u8 raw[RTRS_MAX_IO_HDR_BYTES];
	size_t len = min_t(size_t, sizeof(raw), req->path->geo->chunk_size - off);

	ib_dma_sync_single_for_cpu(req->path->dev, req->chunk_dma + off, len, DMA_BIDIRECTIONAL);
	memcpy(raw, req->chunk + off, len);
	return rtrs_wire_get_io_hdr(raw, len, off, &req->hdr);
}

/*
 * Copy a WRITE's data, unless there are too many.  Return: true if they are private now, false if the
 * chunk is to be invalidated instead, also for want of memory.
 */
static bool rtrs_srv_req_copy_data(struct rtrs_srv_req *req)
{
	u32 len = req->hdr.data_len;

	if (len > req->path->copy_bytes || (unlikely(req->copy_size < len) && !rtrs_srv_req_grow_copy(req, len)))
		return false;
	rtrs_copy(req->copy, req->chunk, len);
	req->data = req->copy;
	return true;
}

static void rtrs_srv_io_count(struct rtrs_srv_path *path, u8 dir, u32 bytes)
{
	this_cpu_inc(path->stats->cnt[dir]);
	this_cpu_add(path->stats->bytes[dir], bytes);
}

/* A claimed request with its header: to the ULP, or to an answer, with @ret as error.  @usr: as above. */
static __always_inline void rtrs_srv_io_process(struct rtrs_srv_req *req, u32 off, int ret, const void *usr)
{
	req->op.dir = req->hdr.write ? WRITE : READ;
	trace_rtrs_srv_req_recv(RTRS_SRV_REQ_IDS(req), req->hdr.write, req->hdr.data_len);
	if (likely(!ret))
		ret = rtrs_srv_req_get_usr(req, off, usr);
	rtrs_srv_io_count(req->path, req->op.dir, off);
	if (unlikely(ret)) {
		pr_warn_ratelimited("path %s: slot %u: wrong request at offset %u, answered with %d\n",
				    req->path->name, req->op.slot, off, ret);
		WRITE_ONCE(req->state, RTRS_SRV_REQ_ANSWERED);
		req->err = ret;
		rtrs_srv_req_answer(req, false);
		return;
	}
	req->data = req->chunk;
	if (!req->mr || !req->hdr.write || !req->hdr.data_len || rtrs_srv_req_copy_data(req))
		rtrs_srv_req_ready(req);
	else if (unlikely(rtrs_srv_req_post_inv(req)))
		rtrs_srv_req_wait(req);
}

/* Is this request to be timed?  The client says so, or it does not know how to. */
static bool rtrs_srv_io_timed(struct rtrs_srv_conn *conn, u32 imm)
{
	if (conn->path->features & RTRS_EXT_SERVER_TIME)
		return rtrs_imm_type(imm) == RTRS_IMM_IO_REQ_TIMED;
	if (likely(conn->until_timed)) {
		conn->until_timed--;
		return false;
	}
	conn->until_timed = RTRS_SRV_LAT_EVERY - 1;
	return true;
}

/* Return: the slot's request, with a reference of ops_ref, or NULL. */
static __always_inline struct rtrs_srv_req *rtrs_srv_io_claim(struct rtrs_srv_conn *conn, u32 imm, u32 slot, u32 off)
{
	struct rtrs_srv_path *path = conn->path;
	const struct rtrs_srv_geo *geo = path->geo;
	struct rtrs_srv_req *req;
	int ret;

	if (unlikely(slot >= geo->queue_depth || off >= geo->chunk_size)) {
		rtrs_srv_path_fail(path, "request for slot %u, offset %u: beyond %u slots of %u bytes",
				   slot, off, geo->queue_depth, geo->chunk_size);
		return NULL;
	}
	if (unlikely(!percpu_ref_tryget_live(&path->ops_ref)))
		return NULL;
	req = &path->reqs[slot];
	ret = rtrs_srv_req_claim(req);
	if (unlikely(ret)) {
		if (ret == -EBUSY)
			rtrs_srv_path_fail(path, "request for slot %u, which is not answered yet",
					   slot);
		else if (ret == -ENOBUFS)
			rtrs_srv_path_fail(path, "request for slot %u, which has no chunk", slot);
		percpu_ref_put(&path->ops_ref);
		return NULL;
	}
	req->conn = conn;
	req->seq++;
	req->time_imm = 0;
	req->arrived_ns = unlikely(rtrs_srv_io_timed(conn, imm)) ? rtrs_lat_now() : 0;
	return req;
}

static void rtrs_srv_io_req(struct rtrs_srv_conn *conn, u32 imm)
{
	struct rtrs_srv_req *req;
	u32 slot, off;
	int ret;

	rtrs_imm_io_req_decode(imm, conn->path->geo->mem_bits, &slot, &off);
	req = rtrs_srv_io_claim(conn, imm, slot, off);
	if (unlikely(!req))
		return;
	ret = rtrs_srv_req_get_hdr(req, off);
	if (unlikely(ret == -EPROTO)) {
		rtrs_srv_path_fail(req->path, "slot %u: no request at offset %u", slot, off);
		rtrs_srv_req_drop(req);
		return;
	}
	rtrs_srv_io_process(req, off, ret, NULL);
}

/* Copy a list of requests from @off of a chunk.  Return: its length, or -EPROTO. */
static int rtrs_srv_io_copy_list(struct rtrs_srv_conn *conn, const struct rtrs_srv_req *lead, u32 off)
{
	u32 avail = conn->path->geo->chunk_size - off;
	u32 len = min_t(u32, avail, RTRS_REQ_LIST_MAX_BYTES);
	/* PAIRS: rtrs_srv_req_open() */
	const void *chunk = smp_load_acquire(&lead->chunk);
	int ret;

	if (unlikely(!chunk))
		return -EPROTO;
	ib_dma_sync_single_for_cpu(conn->path->dev, lead->chunk_dma + off, len, DMA_BIDIRECTIONAL);
	memcpy(conn->list, chunk + off, min_t(u32, len, sizeof(struct rtrs_msg_req_list)));
	ret = rtrs_list_get_len(conn->list, avail, &len);
	if (ret)
		return ret;
	memcpy(conn->list, chunk + off, len);
	return len;
}

/* Return: 0 or -EPROTO. */
static int rtrs_srv_io_get_list(struct rtrs_srv_conn *conn, u32 slot, u32 off, struct rtrs_req_list *list)
{
	struct rtrs_srv_path *path = conn->path;
	int len;

	if (slot >= path->geo->queue_depth || off >= path->geo->chunk_size)
		return -EPROTO;
	/* PAIRS: rtrs_srv_chunks_free(): no request of this path need use the slot. */
	rcu_read_lock();
	len = rtrs_srv_io_copy_list(conn, &path->reqs[slot], off);
	rcu_read_unlock();
	/* Checked again: the client may have changed it in between. */
	return len < 0 ? len : rtrs_list_get(conn->list, len, list);
}

/* Extension REQ_LIST: each of them as if it had come alone, but that it is not in its slot's chunk. */
static void rtrs_srv_io_req_list(struct rtrs_srv_conn *conn, u32 imm)
{
	struct rtrs_list_req one;
	struct rtrs_req_list list;
	struct rtrs_srv_req *req;
	u32 slot, off;
	int ret;

	rtrs_imm_io_req_decode(imm, conn->path->geo->mem_bits, &slot, &off);
	ret = rtrs_srv_io_get_list(conn, slot, off, &list);
	if (!ret)
		ret = rtrs_list_next(&list, &one);
	while (ret > 0) {
		req = rtrs_srv_io_claim(conn, imm, one.slot, one.off);
		if (!req)
			return;
		req->hdr = one.hdr;
		rtrs_srv_io_process(req, one.off, one.error, one.usr);
		ret = rtrs_list_next(&list, &one);
	}
	if (ret)
		rtrs_srv_path_fail(conn->path, "slot %u: no list of requests at offset %u", slot, off);
}

static void rtrs_srv_io_hb_msg(struct rtrs_srv_path *path)
{
	int ret = fault_here(hb_lost) ? 0 : rtrs_hb_post(&path->conns[0]->conn, true);

	if (ret)
		rtrs_srv_path_fail(path, "answering a heartbeat: error %d", ret);
}

/* Return: false if the message is not known, or belongs to an extension that was not taken up. */
static bool rtrs_srv_io_imm(struct rtrs_srv_conn *conn, u32 imm)
{
	struct rtrs_srv_path *path = conn->path;

	switch (rtrs_imm_type(imm)) {
	case RTRS_IMM_IO_REQ_TIMED:
		if (!(path->features & RTRS_EXT_SERVER_TIME))
			return false;
		fallthrough;
	case RTRS_IMM_IO_REQ:
		rtrs_srv_io_req(conn, imm);
		return true;
	case RTRS_IMM_IO_REQ_LIST:
		if (!(path->features & RTRS_EXT_REQ_LIST))
			return false;
		rtrs_srv_io_req_list(conn, imm);
		return true;
	case RTRS_IMM_HB_MSG:
		rtrs_srv_io_hb_msg(path);
		return true;
	case RTRS_IMM_HB_ACK:
		rtrs_hb_acked(&path->hb);
		return true;
	case RTRS_IMM_FENCE:
		if (!(path->features & RTRS_EXT_FENCE) || conn->conn.cid)
			return false;
		rtrs_srv_fence_request(path, rtrs_imm_payload(imm));
		return true;
	case RTRS_IMM_CHUNKS_WANT:
		if (!(path->features & RTRS_EXT_CREDITS) || conn->conn.cid)
			return false;
		rtrs_srv_chunks_want(path, rtrs_imm_payload(imm));
		return true;
	case RTRS_IMM_REQ_STATE:
		if (!(path->features & RTRS_EXT_REQ_STATE))
			return false;
		rtrs_srv_state_request(conn, imm);
		return true;
	default:
		return false;
	}
}

/**
 * rtrs_srv_io_recv_done() - an RDMA WRITE with immediate came
 * @cq: completion queue
 * @wc: the completion
 *
 * Context: completion handler, process.
 */
void rtrs_srv_io_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_conn *conn = container_of(rtrs_conn_from_wc(wc), struct rtrs_srv_conn,
						  conn);
	struct rtrs_srv_path *path = conn->path;
	u32 imm;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_srv_path_wc_failed(path, "receive", wc);
		return;
	}
	if (unlikely(!rtrs_srv_path_serves(path) || wc->opcode != IB_WC_RECV_RDMA_WITH_IMM)) {
		/* Before INFO_RSP and after the close nothing else is to be said. */
		rtrs_srv_path_fail(path, "unexpected message on connection %u", conn->conn.cid);
		return;
	}
	rtrs_hb_alive(&path->hb);
	/* Receives first: the client may use the next slot at once. */
	if (unlikely(rtrs_conn_recv_consumed(&conn->conn))) {
		rtrs_srv_path_fail(path, "posting receives on connection %u failed",
				   conn->conn.cid);
		return;
	}

	imm = be32_to_cpu(wc->ex.imm_data);
	if (unlikely(!rtrs_srv_io_imm(conn, imm)))
		pr_warn_ratelimited("path %s: message of unknown type %u ignored\n", path->name,
				    rtrs_imm_type(imm));
}

/**
 * rtrs_srv_io_send_done() - a response or heartbeat was sent, or failed
 * @cq: completion queue
 * @wc: the completion
 *
 * Context: completion handler, process.
 */
void rtrs_srv_io_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_conn *conn = container_of(rtrs_conn_from_wc(wc), struct rtrs_srv_conn,
						  conn);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_srv_path_wc_failed(conn->path, "send", wc);
		return;
	}
	rtrs_conn_send_completed(&conn->conn);
	rtrs_srv_io_kick(conn);
}

static void rtrs_srv_req_init(struct rtrs_srv_path *path, u32 slot)
{
	struct rtrs_srv_req *req = &path->reqs[slot];

	req->op.slot = slot;
	if (path->pdus)
		req->op.pdu = path->pdus + slot * path->ctx->ops.pdu_size;
	req->path = path;
	req->inv_cqe.done = rtrs_srv_req_inv_done;
	INIT_WORK(&req->start_work, rtrs_srv_req_start_work);
}

/* With new keys. */
static void rtrs_srv_req_set_rsp(struct rtrs_srv_req *req)
{
	struct rtrs_srv_path *path = req->path;

	req->rsp = &path->rsps[req->op.slot];
	req->rsp_dma = path->rsps_dma + req->op.slot * sizeof(*req->rsp);
}

static int rtrs_srv_io_create_rsps(struct rtrs_srv_path *path)
{
	size_t len = path->geo->queue_depth * sizeof(*path->rsps);
	int ret;

	path->rsps = fault_here(alloc_rsps) ? NULL : kzalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!path->rsps)
		return -ENOMEM;
	ret = rtrs_dma_map(path->dev, path->rsps, len, DMA_TO_DEVICE, &path->rsps_dma);
	if (ret) {
		kfree(path->rsps);
		path->rsps = NULL;
	}
	return ret;
}

/**
 * rtrs_srv_io_create_reqs() - allocate the requests of a path
 * @path: the path
 *
 * None of the slots has a chunk yet.
 *
 * What failed half-way is undone by rtrs_srv_io_destroy_reqs().
 *
 * Context: process, may sleep; info work of the path.
 * Return: 0 or -ENOMEM.
 */
int rtrs_srv_io_create_reqs(struct rtrs_srv_path *path)
{
	u32 slot;
	int ret;

	if (path->ctx->ops.pdu_size) {
		path->pdus = fault_here(alloc_pdus) ? NULL :
			     kvcalloc(path->geo->queue_depth, path->ctx->ops.pdu_size, GFP_KERNEL);
		if (!path->pdus)
			return -ENOMEM;
	}
	/* Last, as the close of the path looks at each request of the array. */
	path->reqs = fault_here(alloc_reqs) ? NULL :
		     kvcalloc(path->geo->queue_depth, sizeof(*path->reqs), GFP_KERNEL);
	if (!path->reqs)
		return -ENOMEM;
	for (slot = 0; slot < path->geo->queue_depth; slot++)
		rtrs_srv_req_init(path, slot);
	path->copy_bytes = min_t(u32, ib_uses_virt_dma(path->dev) ? RTRS_SRV_COPY_SOFT_BYTES :
								  RTRS_SRV_COPY_BYTES,
				 READ_ONCE(rtrs_srv_max_copy_bytes));
	if (path->geo->new_rkey) {
		ret = rtrs_srv_io_create_rsps(path);
		if (ret)
			return ret;
	}
	for (slot = 0; path->rsps && slot < path->geo->queue_depth; slot++)
		rtrs_srv_req_set_rsp(&path->reqs[slot]);
	return 0;
}

/**
 * rtrs_srv_io_detach() - give back what the requests of a path have of its device
 * @path: the path, stopped and drained, its queue pairs gone
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_io_detach(struct rtrs_srv_path *path)
{
	if (!path->rsps)
		return;
	ib_dma_unmap_single(path->dev, path->rsps_dma, path->geo->queue_depth * sizeof(*path->rsps),
			    DMA_TO_DEVICE);
	kfree(path->rsps);
	path->rsps = NULL;
}

/**
 * rtrs_srv_io_destroy_reqs() - undo rtrs_srv_io_create_reqs()
 * @path: the path, detached; none of its requests is with the ULP; nothing happens if it has none
 *
 * Context: process, may sleep; end work of the path.
 */
void rtrs_srv_io_destroy_reqs(struct rtrs_srv_path *path)
{
	u32 slot;

	for (slot = 0; path->reqs && slot < path->geo->queue_depth; slot++)
		rtrs_srv_req_free_private(&path->reqs[slot]);
	kvfree(path->pdus);
	path->pdus = NULL;
	kvfree(path->reqs);
	path->reqs = NULL;
}

/* Drop what waits for room in the send queue. */
static void rtrs_srv_conn_drop_waiting(struct rtrs_srv_conn *conn)
{
	struct rtrs_srv_req *req, *tmp;
	unsigned long flags;

	spin_lock_irqsave(&conn->wait_lock, flags);
	list_for_each_entry_safe(req, tmp, &conn->wait_list, wait_entry) {
		list_del(&req->wait_entry);
		rtrs_srv_req_drop(req);
	}
	WRITE_ONCE(conn->waiting, false);
	spin_unlock_irqrestore(&conn->wait_lock, flags);
}

/**
 * rtrs_srv_io_stop() - take no more requests, drop those that the ULP does not have yet
 * @path: the path, CLOSING; its queue pairs are in error but not drained yet
 *
 * Does not wait for the ULP.  The locks of slots and wait lists make the new state visible: what was added
 * before is found here, what comes later sees the state and is not added.
 *
 * Context: process, may sleep; close work of the path, which has a reference of ops_ref.
 */
void rtrs_srv_io_stop(struct rtrs_srv_path *path)
{
	u32 i;

	percpu_ref_kill(&path->ops_ref);
	/* PAIRS: rtrs_srv_req_answer_or_drop() */
	synchronize_rcu();
	for (i = 0; i < path->cid_num; i++)
		if (path->conns[i])
			rtrs_srv_conn_drop_waiting(path->conns[i]);
	for (i = 0; path->reqs && i < path->geo->queue_depth; i++)
		rtrs_srv_req_drop_queued(&path->reqs[i]);
}

/**
 * rtrs_srv_io_orphan() - leave to the ULP what it has of a path
 * @path: the path, stopped and drained
 *
 * A start_work that runs after it was waited for here finds the path closing, and drops its request.
 *
 * Context: process, may sleep; close work of the path.
 * Return: how many requests the ULP has.
 */
u32 rtrs_srv_io_orphan(struct rtrs_srv_path *path)
{
	struct rtrs_srv_req *req;
	u32 i, nr = 0;

	for (i = 0; path->reqs && i < path->geo->queue_depth; i++) {
		req = &path->reqs[i];
		if (rtrs_srv_req_is_idle(req))
			continue;
		flush_work(&req->start_work);
		nr += rtrs_srv_req_orphan(req);
	}
	return nr;
}
