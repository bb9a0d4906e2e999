// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests and responses (protocol sections 5 to 7).
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
 * ULP, then who posts the response, and holds a reference of the path's ops_ref.  The release
 * happens under the slot's lock together with posting the response: the client's next request for
 * the slot may come before the post returns, and must find the slot idle.  Work requests are built
 * on the stack and sent data are not touched, so a client that does not wait for its answer only
 * hurts itself.
 *
 * Locks: wait_lock of a connection, then the slot's, then those of the verbs layer.  All are taken
 * with interrupts off: the ULP answers in any context.
 *
 * Errors: what breaks the protocol closes the path; what is a wrong request is answered with an
 * errno.  When a path is no longer CONNECTED requests finish without answer.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/export.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "../proto/imm.h"
#include "fault.h"
#include "rtrs-srv.h"

/* How late an answer is when a test wants it late. */
#define RTRS_SRV_RSP_DELAY_MS	1000

/**
 * struct rtrs_srv_late_rsp - an answer that a test wants late
 * @dwork: gives it
 * @req: the request
 * @err: the answer
 */
struct rtrs_srv_late_rsp {
	struct delayed_work dwork;
	struct rtrs_srv_req *req;
	int err;
};

/**
 * struct rtrs_srv_chain - work requests of a response
 * @data: RDMA WRITE of the result
 * @data_sge: the result
 * @inv: SEND with invalidate of the client's key
 * @done: completion message
 * @done_sge: its content
 * @first: first WR
 * @last: last WR
 * @link: where the next one is appended
 * @nr: number of WRs
 */
struct rtrs_srv_chain {
	struct ib_rdma_wr data;
	struct ib_sge data_sge;
	struct ib_send_wr inv;
	struct ib_rdma_wr done;
	struct ib_sge done_sge;
	struct ib_send_wr *first;
	struct ib_send_wr *last;
	struct ib_send_wr **link;
	u32 nr;
};

static void rtrs_srv_chain_add(struct rtrs_srv_chain *chain, struct ib_send_wr *wr)
{
	*chain->link = wr;
	chain->link = &wr->next;
	chain->last = wr;
	chain->nr++;
}

static void rtrs_srv_chain_add_data(struct rtrs_srv_chain *chain, struct ib_rdma_wr *rwr,
				    const struct rtrs_srv_req *req)
{
	chain->data_sge = (struct ib_sge){
		.addr = req->chunk_dma,
		.length = req->hdr.len,
		.lkey = req->path->pd->local_dma_lkey,
	};
	rwr->wr.sg_list = &chain->data_sge;
	rwr->wr.num_sge = 1;
	rwr->remote_addr = req->hdr.addr;
	rwr->rkey = req->hdr.rkey;
	rtrs_srv_chain_add(chain, &rwr->wr);
}

/* The completion message with its key, after the chunk is registered again if it was invalidated. */
static void rtrs_srv_chain_add_key(struct rtrs_srv_chain *chain, struct rtrs_srv_req *req)
{
	if (req->rereg) {
		req->mr->reg_wr.wr.next = NULL;
		rtrs_srv_chain_add(chain, &req->mr->reg_wr.wr);
	}
	chain->done_sge = (struct ib_sge){
		.addr = req->rsp_dma,
		.length = sizeof(*req->rsp),
		.lkey = req->path->pd->local_dma_lkey,
	};
	chain->done.wr.opcode = IB_WR_SEND_WITH_IMM;
	chain->done.wr.sg_list = &chain->done_sge;
	chain->done.wr.num_sge = 1;
	rtrs_srv_chain_add(chain, &chain->done.wr);
}

/* Protocol section 6: data, then SEND with invalidate, then the completion message. */
static void rtrs_srv_chain_build(struct rtrs_srv_chain *chain, struct rtrs_srv_req *req)
{
	struct ib_cqe *cqe = &req->conn->conn.send_cqe;
	bool data = !req->hdr.write && req->hdr.has_desc && !req->err;
	bool inv = req->hdr.need_inval;

	*chain = (struct rtrs_srv_chain){
		.data.wr = { .wr_cqe = cqe, .opcode = IB_WR_RDMA_WRITE },
		.inv = {
			.wr_cqe = cqe,
			.opcode = IB_WR_SEND_WITH_INV,
			.ex.invalidate_rkey = req->hdr.rkey,
		},
		.done.wr = {
			.wr_cqe = cqe,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(rtrs_imm_io_rsp(req->slot, req->err, inv)),
		},
	};
	chain->link = &chain->first;

	if (data && !inv && !req->mr) {
		/* Nothing in between: data and completion are one message. */
		rtrs_srv_chain_add_data(chain, &chain->done, req);
		return;
	}
	if (data)
		rtrs_srv_chain_add_data(chain, &chain->data, req);
	if (inv)
		rtrs_srv_chain_add(chain, &chain->inv);
	if (req->mr)
		rtrs_srv_chain_add_key(chain, req);
	else
		rtrs_srv_chain_add(chain, &chain->done.wr);
}

/*
 * Post the response and release the request, which is not to be touched after.
 * Return: 0; -EAGAIN if there is no room in the send queue: the request is still the caller's.
 */
static int rtrs_srv_req_post_rsp(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	struct rtrs_conn *conn = &req->conn->conn;
	struct rtrs_srv_path *path = req->path;
	struct rtrs_srv_chain chain;
	struct rtrs_srv_req *next;
	unsigned long flags;
	int ret = 0;

	rtrs_srv_chain_build(&chain, req);
	spin_lock_irqsave(&slot->lock, flags);
	if (rtrs_srv_path_serves(path))
		ret = rtrs_conn_post(conn, chain.first, chain.last, chain.nr, false);
	if (unlikely(ret == -EAGAIN)) {
		spin_unlock_irqrestore(&slot->lock, flags);
		return ret;
	}
	next = rtrs_srv_req_release(req, slot);
	spin_unlock_irqrestore(&slot->lock, flags);

	if (unlikely(ret))
		rtrs_srv_path_fail(path, "posting a response on connection %u: error %d",
				   conn->cid, ret);
	rtrs_srv_req_finish(path, next);
	return 0;
}

/*
 * Post the invalidation of a chunk; the request goes on in its completion.
 * Return: as rtrs_srv_req_post_rsp().
 */
static int rtrs_srv_req_post_inv(struct rtrs_srv_req *req)
{
	struct rtrs_conn *conn = &req->conn->conn;
	struct ib_send_wr *wr;
	int ret;

	if (!rtrs_srv_path_serves(req->path)) {
		rtrs_srv_req_drop(req);
		return 0;
	}
	wr = rtrs_mr_inv_wr(req->mr, &req->inv_cqe);
	ret = rtrs_conn_post(conn, wr, wr, 1, true);
	if (unlikely(ret && ret != -EAGAIN)) {
		rtrs_srv_path_fail(req->path, "posting an invalidation on connection %u: error %d",
				   conn->cid, ret);
		rtrs_srv_req_drop(req);
		return 0;
	}
	return ret;
}

/**
 * rtrs_srv_io_kick() - post what waits for room in a connection's send queue
 * @conn: the connection
 *
 * The look at the list without lock is safe: who adds to it looks at the send queue after, who
 * frees room looks at the list after, and both times the lock of the send queue orders the two.
 *
 * Context: any.  The caller keeps the connection: a handler, or a reference of ops_ref.
 */
void rtrs_srv_io_kick(struct rtrs_srv_conn *conn)
{
	struct rtrs_srv_req *req;
	unsigned long flags;
	int ret;

	if (likely(list_empty(&conn->wait_list)))
		return;
	spin_lock_irqsave(&conn->wait_lock, flags);
	while (!list_empty(&conn->wait_list)) {
		req = list_first_entry(&conn->wait_list, struct rtrs_srv_req, wait_entry);
		/* Off the list first: once posted the request may be in use again. */
		list_del(&req->wait_entry);
		if (req->state == RTRS_SRV_REQ_ANSWERED)
			ret = rtrs_srv_req_post_rsp(req);
		else
			ret = rtrs_srv_req_post_inv(req);
		if (ret) {
			list_add(&req->wait_entry, &conn->wait_list);
			break;
		}
	}
	spin_unlock_irqrestore(&conn->wait_lock, flags);
}

/* No room in the send queue: post when a send completes.  A request behind it need not wait too. */
static void rtrs_srv_req_wait(struct rtrs_srv_req *req)
{
	struct rtrs_srv_conn *conn = req->conn;
	struct rtrs_srv_path *path = req->path;
	unsigned long flags;
	bool wait;

	rtrs_srv_slot_start_next(rtrs_srv_req_slot(req));

	/* Once on the list somebody else may finish the request, and the path with it. */
	percpu_ref_get(&path->ops_ref);
	spin_lock_irqsave(&conn->wait_lock, flags);
	wait = rtrs_srv_path_serves(path);
	if (wait)
		list_add_tail(&req->wait_entry, &conn->wait_list);
	spin_unlock_irqrestore(&conn->wait_lock, flags);

	if (wait)
		rtrs_srv_io_kick(conn);
	else
		rtrs_srv_req_drop(req);
	percpu_ref_put(&path->ops_ref);
}

/* The request is decided: answer it.  Return: false if the response has to wait. */
static bool rtrs_srv_req_answer(struct rtrs_srv_req *req, int err)
{
	struct ib_device *dev = req->path->dev;

	req->err = err;
	if (req->mr) {
		req->rereg = !req->mr->valid;
		if (req->rereg)
			rtrs_mr_renew(req->mr, &req->conn->conn.send_cqe);
		rtrs_wire_put_rkey_rsp(req->rsp, req->slot, req->mr->mr->rkey);
		ib_dma_sync_single_for_device(dev, req->rsp_dma, sizeof(*req->rsp), DMA_TO_DEVICE);
	}
	if (!req->hdr.write && req->hdr.data_len)
		ib_dma_sync_single_for_device(dev, req->chunk_dma, req->hdr.data_len,
					      DMA_BIDIRECTIONAL);
	if (likely(!rtrs_srv_req_post_rsp(req)))
		return true;
	rtrs_srv_req_wait(req);
	return false;
}

static void rtrs_srv_late_rsp_work(struct work_struct *work)
{
	struct rtrs_srv_late_rsp *late = container_of(to_delayed_work(work),
						      struct rtrs_srv_late_rsp, dwork);
	struct rtrs_srv_req *req = late->req;
	int err = late->err;

	kfree(late);
	rtrs_srv_req_answer(req, err);
}

/* Return: false if there is no memory to answer late. */
static bool rtrs_srv_req_answer_late(struct rtrs_srv_req *req, int err)
{
	struct rtrs_srv_late_rsp *late = kmalloc(sizeof(*late), GFP_ATOMIC);

	if (!late)
		return false;
	INIT_DELAYED_WORK(&late->dwork, rtrs_srv_late_rsp_work);
	late->req = req;
	late->err = err;
	/* The context, and its queue, wait for the request. */
	queue_delayed_work(req->path->ctx->wq, &late->dwork,
			   msecs_to_jiffies(RTRS_SRV_RSP_DELAY_MS));
	return true;
}

/**
 * rtrs_srv_resp_rdma() - answer a request
 * @id: the request, from rdma_ev; not the caller's any more
 * @errno: 0 or negative errno
 *
 * API specification section 3.
 *
 * Context: any.
 * Return: true if it was handled, also if the path is gone and nothing is sent; false if the
 * response waits for room in the send queue.
 */
bool rtrs_srv_resp_rdma(struct rtrs_srv_op *id, int errno)
{
	struct rtrs_srv_req *req = container_of(id, struct rtrs_srv_req, op);

	if (WARN_ON_ONCE(cmpxchg(&req->state, RTRS_SRV_REQ_RUNNING, RTRS_SRV_REQ_ANSWERED) !=
			 RTRS_SRV_REQ_RUNNING))
		return true;
	if (fault_here(rsp_lost)) {
		rtrs_srv_req_drop(req);
		return true;
	}
	if (fault_here(rsp_delayed) && rtrs_srv_req_answer_late(req, errno))
		return true;
	return rtrs_srv_req_answer(req, errno);
}
EXPORT_SYMBOL(rtrs_srv_resp_rdma);

/* Hand a request to the ULP; process context. */
static void rtrs_srv_req_submit(struct rtrs_srv_req *req)
{
	struct rtrs_srv_path *path = req->path;
	int ret;

	/* The ULP may answer before it returns: the close of the path waits for the return too. */
	percpu_ref_get(&path->ops_ref);
	ret = path->ctx->ops.rdma_ev(READ_ONCE(path->sess->priv), &req->op, req->data,
				     req->hdr.data_len, req->usr, req->hdr.usr_len);
	/* Without error it is the ULP's, and answered maybe. */
	if (ret)
		rtrs_srv_resp_rdma(&req->op, ret);
	percpu_ref_put(&path->ops_ref);
}

static void rtrs_srv_req_start_work(struct work_struct *work)
{
	struct rtrs_srv_req *req = container_of(work, struct rtrs_srv_req, start_work);

	/* Run now it could overtake what the client has sent again elsewhere. */
	if (rtrs_srv_path_serves(req->path))
		rtrs_srv_req_submit(req);
	else
		rtrs_srv_req_drop(req);
}

/* Header and data are stable: run the request unless an older one of its slot still runs. */
static void rtrs_srv_req_ready(struct rtrs_srv_req *req)
{
	bool service = !req->conn->conn.cid;
	int ret;

	ret = rtrs_srv_req_queue(req);
	if (unlikely(ret == -EINPROGRESS))
		return;
	if (unlikely(ret))
		rtrs_srv_req_drop(req);
	else if (unlikely(service))
		/* The ULP may sleep; heartbeats of this connection must not wait for it. */
		rtrs_srv_req_start(req);
	else
		rtrs_srv_req_submit(req);
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

/* Copy the user message, which ends at @off of the chunk, and make the data readable. */
static int rtrs_srv_req_get_usr(struct rtrs_srv_req *req, u32 off)
{
	u32 hdr_len = sizeof(struct rtrs_msg_write);
	struct ib_device *dev = req->path->dev;
	struct rtrs_io_hdr *hdr = &req->hdr;
	u32 start;

	if (!hdr->write) {
		hdr_len = sizeof(struct rtrs_msg_read);
		hdr_len += hdr->has_desc ? sizeof(struct rtrs_sg_desc) : 0;
	}
	if (hdr->usr_len + hdr_len > req->path->geo->max_hdr_size)
		return -EMSGSIZE;
	start = hdr->write ? 0 : hdr->data_len;
	ib_dma_sync_single_for_cpu(dev, req->chunk_dma + start, off - start, DMA_BIDIRECTIONAL);
	req->usr = hdr->usr_len <= sizeof(req->usr_small) ? req->usr_small : req->usr_page;
	memcpy(req->usr, req->chunk + hdr->data_len, hdr->usr_len);
	return 0;
}

/* Copy and check the header at @off.  Return: as rtrs_wire_get_io_hdr(), or -EMSGSIZE to answer. */
static int rtrs_srv_req_get_hdr(struct rtrs_srv_req *req, u32 off)
{
	u8 raw[RTRS_MAX_IO_HDR_BYTES];
	size_t len = min_t(size_t, sizeof(raw), req->path->geo->chunk_size - off);
	int ret;

	ib_dma_sync_single_for_cpu(req->path->dev, req->chunk_dma + off, len, DMA_BIDIRECTIONAL);
	memcpy(raw, req->chunk + off, len);
	ret = rtrs_wire_get_io_hdr(raw, len, off, &req->hdr);
	req->op.dir = req->hdr.write ? WRITE : READ;
	return ret;
}

static void rtrs_srv_req_free_copy(struct rtrs_srv_req *req)
{
	if (!req->copy)
		return;
	free_pages_exact(req->copy, req->copy_size);
	req->copy = NULL;
	req->copy_size = 0;
}

/* Room for a copy of @len bytes, kept for the slot's later requests. */
static bool rtrs_srv_req_get_copy(struct rtrs_srv_req *req, u32 len)
{
	void *copy;
	u32 size;

	if (likely(req->copy_size >= len))
		return true;
	size = max_t(u32, RTRS_SRV_COPY_BYTES, roundup_pow_of_two(len));
	copy = alloc_pages_exact(size, GFP_NOIO | __GFP_NOWARN | __GFP_NORETRY);
	if (!copy)
		return false;
	rtrs_srv_req_free_copy(req);
	req->copy = copy;
	req->copy_size = size;
	return true;
}

/*
 * Copy a WRITE's data, unless there are too many.  Return: true if they are private now, false if the
 * chunk is to be invalidated instead, also for want of memory.
 */
static bool rtrs_srv_req_copy_data(struct rtrs_srv_req *req)
{
	u32 most = ib_uses_virt_dma(req->path->dev) ? RTRS_SRV_COPY_SOFT_BYTES :
						      RTRS_SRV_COPY_BYTES;

	if (req->hdr.data_len > most || !rtrs_srv_req_get_copy(req, req->hdr.data_len))
		return false;
	memcpy(req->copy, req->chunk, req->hdr.data_len);
	req->data = req->copy;
	return true;
}

static void rtrs_srv_io_count(struct rtrs_srv_path *path, u8 dir, u32 bytes)
{
	this_cpu_inc(path->stats->cnt[dir]);
	this_cpu_add(path->stats->bytes[dir], bytes);
}

/* A claimed request: from the chunk to the ULP, or to an answer. */
static void rtrs_srv_io_process(struct rtrs_srv_req *req, u32 off)
{
	int ret;

	ret = rtrs_srv_req_get_hdr(req, off);
	if (unlikely(ret == -EPROTO)) {
		rtrs_srv_path_fail(req->path, "slot %u: no request at offset %u", req->slot, off);
		rtrs_srv_req_drop(req);
		return;
	}
	if (likely(!ret))
		ret = rtrs_srv_req_get_usr(req, off);
	rtrs_srv_io_count(req->path, req->op.dir, off);
	if (unlikely(ret)) {
		pr_warn_ratelimited("path %s: slot %u: wrong request at offset %u, answered with %d\n",
				    req->path->name, req->slot, off, ret);
		WRITE_ONCE(req->state, RTRS_SRV_REQ_ANSWERED);
		rtrs_srv_req_answer(req, ret);
		return;
	}
	req->data = req->chunk;
	if (!req->mr || !req->hdr.write || !req->hdr.data_len || rtrs_srv_req_copy_data(req))
		rtrs_srv_req_ready(req);
	else if (unlikely(rtrs_srv_req_post_inv(req)))
		rtrs_srv_req_wait(req);
}

static void rtrs_srv_io_req(struct rtrs_srv_conn *conn, u32 imm)
{
	struct rtrs_srv_path *path = conn->path;
	const struct rtrs_srv_geo *geo = path->geo;
	struct rtrs_srv_req *req;
	u32 slot, off;
	int ret;

	rtrs_imm_io_req_decode(imm, geo->mem_bits, &slot, &off);
	if (unlikely(slot >= geo->queue_depth || off >= geo->chunk_size)) {
		rtrs_srv_path_fail(path, "request for slot %u, offset %u: beyond %u slots of %u bytes",
				   slot, off, geo->queue_depth, geo->chunk_size);
		return;
	}
	if (unlikely(!percpu_ref_tryget_live(&path->ops_ref)))
		return;
	req = &path->reqs[slot];
	ret = rtrs_srv_req_claim(req);
	if (unlikely(ret)) {
		if (ret == -EBUSY)
			rtrs_srv_path_fail(path, "request for slot %u, which is not answered yet",
					   slot);
		percpu_ref_put(&path->ops_ref);
		return;
	}
	req->conn = conn;
	rtrs_srv_io_process(req, off);
}

static void rtrs_srv_io_hb_msg(struct rtrs_srv_path *path)
{
	int ret = fault_here(hb_lost) ? 0 : rtrs_hb_post(&path->conns[0]->conn, true);

	if (ret)
		rtrs_srv_path_fail(path, "answering a heartbeat: error %d", ret);
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
	switch (rtrs_imm_type(imm)) {
	case RTRS_IMM_IO_REQ:
		rtrs_srv_io_req(conn, imm);
		break;
	case RTRS_IMM_HB_MSG:
		rtrs_srv_io_hb_msg(path);
		break;
	case RTRS_IMM_HB_ACK:
		rtrs_hb_acked(&path->hb);
		break;
	case RTRS_IMM_FENCE:
		if ((path->features & RTRS_EXT_FENCE) && !conn->conn.cid) {
			rtrs_srv_fence_request(path, rtrs_imm_payload(imm));
			break;
		}
		fallthrough;
	default:
		pr_warn_ratelimited("path %s: message of unknown type %u ignored\n", path->name,
				    rtrs_imm_type(imm));
	}
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

static int rtrs_srv_req_init(struct rtrs_srv_path *path, u32 slot)
{
	struct rtrs_srv_req *req = &path->reqs[slot];

	req->usr_page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!req->usr_page)
		return -ENOMEM;
	req->slot = slot;
	req->path = path;
	req->chunk = rtrs_srv_bufs_addr(&path->bufs, slot);
	req->chunk_dma = rtrs_srv_bufs_dma(&path->bufs, slot);
	if (path->rsps) {
		req->mr = &path->bufs.mrs[slot];
		req->rsp = &path->rsps[slot];
		req->rsp_dma = path->rsps_dma + slot * sizeof(*req->rsp);
	}
	req->inv_cqe.done = rtrs_srv_req_inv_done;
	INIT_WORK(&req->start_work, rtrs_srv_req_start_work);
	return 0;
}

static int rtrs_srv_io_create_rsps(struct rtrs_srv_path *path)
{
	size_t len = path->geo->queue_depth * sizeof(*path->rsps);
	u64 dma;

	path->rsps = kzalloc(len, GFP_KERNEL | __GFP_NOWARN);
	if (!path->rsps)
		return -ENOMEM;
	dma = ib_dma_map_single(path->dev, path->rsps, len, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma)) {
		kfree(path->rsps);
		path->rsps = NULL;
		return -ENOMEM;
	}
	path->rsps_dma = dma;
	return 0;
}

/**
 * rtrs_srv_io_create_reqs() - allocate the requests of a path
 * @path: the path, with its buffers
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

	path->reqs = fault_here(alloc_reqs) ? NULL :
		     kvcalloc(path->geo->queue_depth, sizeof(*path->reqs), GFP_KERNEL);
	if (!path->reqs)
		return -ENOMEM;
	if (path->geo->new_rkey) {
		ret = rtrs_srv_io_create_rsps(path);
		if (ret)
			return ret;
	}
	for (slot = 0; slot < path->geo->queue_depth; slot++) {
		ret = rtrs_srv_req_init(path, slot);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rtrs_srv_io_destroy_reqs() - undo rtrs_srv_io_create_reqs()
 * @path: the path, stopped and drained; nothing happens if it has no requests
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_io_destroy_reqs(struct rtrs_srv_path *path)
{
	u32 slot;

	if (!path->reqs)
		return;
	for (slot = 0; slot < path->geo->queue_depth; slot++) {
		free_page((unsigned long)path->reqs[slot].usr_page);
		rtrs_srv_req_free_copy(&path->reqs[slot]);
	}
	if (path->rsps) {
		ib_dma_unmap_single(path->dev, path->rsps_dma,
				    path->geo->queue_depth * sizeof(*path->rsps), DMA_TO_DEVICE);
		kfree(path->rsps);
		path->rsps = NULL;
	}
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
	spin_unlock_irqrestore(&conn->wait_lock, flags);
}

/**
 * rtrs_srv_io_stop() - take no more requests and wait until those there are are finished
 * @path: the path, CLOSING; its queue pairs are in error but not drained yet
 *
 * Waits for the ULP.  The locks of slots and wait lists make the new state visible: what was added
 * before is found here, what comes later sees the state and is not added.
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_io_stop(struct rtrs_srv_path *path)
{
	u32 i;

	percpu_ref_kill(&path->ops_ref);
	for (i = 0; i < path->cid_num; i++)
		if (path->conns[i])
			rtrs_srv_conn_drop_waiting(path->conns[i]);
	for (i = 0; path->reqs && i < path->geo->queue_depth; i++)
		rtrs_srv_req_drop_queued(&path->reqs[i]);
	wait_for_completion(&path->ops_done);
}
