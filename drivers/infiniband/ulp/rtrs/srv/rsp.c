// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the server posts for requests: responses, invalidations (protocol sections 6 and 7).
 *
 * Ownership: a request belongs to who posts for it.  It is released under the slot's lock together with
 * posting the response: the client's next request for the slot may come before the post returns, and must
 * find the slot idle.  Work requests are built on the stack and sent data are not touched, so a client that
 * does not wait for its answer only hurts itself.
 *
 * Locks: wait_lock of a connection, then the slot's, then those of the verbs layer.  All are taken
 * with interrupts off: the ULP answers in any context.
 *
 * Errors: a response that cannot be posted closes the path.  When a path is no longer CONNECTED requests
 * finish without answer, and without a look at what the path has of its device.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/export.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "fault.h"
#include "rtrs-srv.h"

/* How late an answer is when a test wants it late. */
#define RTRS_SRV_RSP_DELAY_MS	1000

/*
 * Only completions show that a send queue moves, see rtrs_conn_watch().  Answers from this size on ask for theirs:
 * the smaller ones between two completions, 64 at most, are sent within seconds on a narrow or crowded network too.
 */
#define RTRS_SRV_SIGNAL_BYTES	SZ_32K

/**
 * struct rtrs_srv_late_rsp - an answer that a test wants late
 * @dwork: gives it
 * @req: the request
 */
struct rtrs_srv_late_rsp {
	struct delayed_work dwork;
	struct rtrs_srv_req *req;
};

/**
 * struct rtrs_srv_chain - work requests of a response; those that are not in the chain are not set
 * @time: message that tells where the time went
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
	struct ib_rdma_wr time;
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

/* Does the completion have to bring a key? */
static bool rtrs_srv_rsp_has_key(const struct rtrs_srv_req *req)
{
	return req->mr && (req->rereg || !(req->path->features & RTRS_EXT_IMPLICIT_RKEY));
}

/* Let an RDMA WRITE carry the result. */
static void rtrs_srv_chain_set_data(struct rtrs_srv_chain *chain, struct ib_rdma_wr *rwr,
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
}

/* Let the completion message carry the key of the chunk. */
static void rtrs_srv_chain_set_key(struct rtrs_srv_chain *chain, const struct rtrs_srv_req *req)
{
	chain->done_sge = (struct ib_sge){
		.addr = req->rsp_dma,
		.length = sizeof(*req->rsp),
		.lkey = req->path->pd->local_dma_lkey,
	};
	chain->done.wr.opcode = IB_WR_SEND_WITH_IMM;
	chain->done.wr.sg_list = &chain->done_sge;
	chain->done.wr.num_sge = 1;
}

/* Extension SERVER_TIME: right before what belongs to the answer. */
static void rtrs_srv_chain_add_time(struct rtrs_srv_chain *chain, const struct rtrs_srv_req *req)
{
	chain->time = (struct ib_rdma_wr){
		.wr = {
			.wr_cqe = &req->conn->conn.send_cqe,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(req->time_imm),
		},
	};
	rtrs_srv_chain_add(chain, &chain->time.wr);
}

/* Protocol section 6: data, then SEND with invalidate, then the completion message. */
static void rtrs_srv_chain_build(struct rtrs_srv_chain *chain, struct rtrs_srv_req *req)
{
	struct ib_cqe *cqe = &req->conn->conn.send_cqe;
	bool data = !req->hdr.write && req->hdr.has_desc && !req->err;
	bool inv = req->hdr.need_inval;
	bool key = rtrs_srv_rsp_has_key(req);

	chain->link = &chain->first;
	chain->nr = 0;
	chain->done = (struct ib_rdma_wr){
		.wr = {
			.wr_cqe = cqe,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(rtrs_imm_io_rsp(req->op.slot, req->err, inv)),
		},
	};

	if (unlikely(req->time_imm))
		rtrs_srv_chain_add_time(chain, req);
	if (data && !inv && !key && likely(req->path->one_message)) {
		/* Nothing in between: data and completion are one message. */
		rtrs_srv_chain_set_data(chain, &chain->done, req);
	} else if (data) {
		chain->data = (struct ib_rdma_wr){ .wr = { .wr_cqe = cqe, .opcode = IB_WR_RDMA_WRITE } };
		rtrs_srv_chain_set_data(chain, &chain->data, req);
		rtrs_srv_chain_add(chain, &chain->data.wr);
	}
	if (inv) {
		chain->inv = (struct ib_send_wr){
			.wr_cqe = cqe,
			.opcode = IB_WR_SEND_WITH_INV,
			.ex.invalidate_rkey = req->hdr.rkey,
		};
		rtrs_srv_chain_add(chain, &chain->inv);
	}
	if (key) {
		rtrs_srv_chain_set_key(chain, req);
		if (req->rereg) {
			/* It was invalidated: the key is good when the message arrives. */
			req->mr->reg_wr.wr.next = NULL;
			rtrs_srv_chain_add(chain, &req->mr->reg_wr.wr);
		}
	}
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
	struct rtrs_srv_chain chain __uninitialized;
	struct rtrs_srv_req *next;
	unsigned long flags;
	bool large = !req->hdr.write && req->hdr.len >= RTRS_SRV_SIGNAL_BYTES;
	int ret = 0;

	rtrs_srv_chain_build(&chain, req);
	spin_lock_irqsave(&slot->lock, flags);
	if (rtrs_srv_path_serves(path))
		ret = rtrs_conn_post(conn, chain.first, chain.last, chain.nr, large);
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

/**
 * rtrs_srv_req_post_inv() - post the invalidation of a chunk
 * @req: the request, which goes on in its completion, or is dropped on errors
 *
 * Context: any.
 * Return: 0; -EAGAIN if there is no room in the send queue: the request is still the caller's.
 */
int rtrs_srv_req_post_inv(struct rtrs_srv_req *req)
{
	struct rtrs_conn *conn = &req->conn->conn;
	struct ib_send_wr *wr;
	int ret;

	if (!rtrs_srv_path_serves(req->path)) {
		rtrs_srv_req_drop(req);
		return 0;
	}
	trace_rtrs_srv_mr_invalidate(RTRS_SRV_REQ_IDS(req), req->mr->mr->rkey);
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
 * The look at @waiting without lock is safe: it is set before who waits looks at the send queue, for the first time
 * and each time after; who frees room looks at it after, and the lock of the send queue orders the two.
 *
 * Context: any.  The caller keeps the connection: a handler, or a reference of ops_ref.
 */
void rtrs_srv_io_kick(struct rtrs_srv_conn *conn)
{
	struct rtrs_srv_req *req;
	unsigned long flags;
	int ret;

	if (likely(!READ_ONCE(conn->waiting)))
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
	/* Not for the moment in which the only one that waits is off the list: room that comes then is for it. */
	WRITE_ONCE(conn->waiting, !list_empty(&conn->wait_list));
	spin_unlock_irqrestore(&conn->wait_lock, flags);
}

/**
 * rtrs_srv_req_wait() - no room in the send queue: post when a send completes
 * @req: the request, not the caller's any more
 *
 * One behind it in the slot need not wait too.
 *
 * Context: any.
 */
void rtrs_srv_req_wait(struct rtrs_srv_req *req)
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
	if (wait) {
		list_add_tail(&req->wait_entry, &conn->wait_list);
		WRITE_ONCE(conn->waiting, true);
	}
	spin_unlock_irqrestore(&conn->wait_lock, flags);

	if (wait)
		rtrs_srv_io_kick(conn);
	else
		rtrs_srv_req_drop(req);
	percpu_ref_put(&path->ops_ref);
}

/**
 * rtrs_srv_req_send_rsp() - post the response of a request, or have it wait for room
 * @req: the request, answered and not the caller's any more
 *
 * Context: any.
 * Return: false if the response has to wait.
 */
bool rtrs_srv_req_send_rsp(struct rtrs_srv_req *req)
{
	if (likely(!rtrs_srv_req_post_rsp(req)))
		return true;
	rtrs_srv_req_wait(req);
	return false;
}

/* Has the response nothing but the slot to tell? */
static bool rtrs_srv_rsp_is_plain(const struct rtrs_srv_req *req)
{
	return req->hdr.write && !req->err && !req->time_imm && !rtrs_srv_rsp_has_key(req);
}

/**
 * rtrs_srv_req_answer() - the request is decided: answer it
 * @req: the request, ANSWERED, with the answer; not the caller's any more
 * @batch: in a handler of its connection: the response may be posted when its round is over
 *
 * Context: any.
 * Return: false if the response has to wait for room.
 */
bool rtrs_srv_req_answer(struct rtrs_srv_req *req, bool batch)
{
	struct ib_device *dev = req->path->dev;

	trace_rtrs_srv_req_answer(RTRS_SRV_REQ_IDS(req), req->err);
	if (req->mr) {
		req->rereg = !req->mr->valid;
		if (req->rereg) {
			rtrs_mr_renew(req->mr, &req->conn->conn.send_cqe);
			trace_rtrs_srv_mr_register(RTRS_SRV_REQ_IDS(req), req->mr->mr->rkey);
		}
	}
	if (rtrs_srv_rsp_has_key(req)) {
		rtrs_wire_put_rkey_rsp(req->rsp, req->op.slot, req->mr->mr->rkey);
		ib_dma_sync_single_for_device(dev, req->rsp_dma, sizeof(*req->rsp), DMA_TO_DEVICE);
	}
	if (!req->hdr.write && req->hdr.data_len)
		ib_dma_sync_single_for_device(dev, req->chunk_dma, req->hdr.data_len,
					      DMA_BIDIRECTIONAL);
	if (batch && (req->path->features & RTRS_EXT_BATCH) && rtrs_srv_rsp_is_plain(req)) {
		/* Posted by rtrs_srv_batch_end(). */
		list_add_tail(&req->wait_entry, &req->conn->batch);
		return true;
	}
	return rtrs_srv_req_send_rsp(req);
}

/*
 * The ULP may answer when the path is gone, and with it its queue pairs, regions and mappings.
 * PAIRS: synchronize_rcu() of rtrs_srv_io_stop(): an answer that has found the path CONNECTED is posted, or waits for
 * room, before any of these goes.
 */
static bool rtrs_srv_req_answer_or_drop(struct rtrs_srv_req *req, bool batch)
{
	bool ret = true;

	rcu_read_lock();
	if (likely(rtrs_srv_path_serves(req->path)))
		ret = rtrs_srv_req_answer(req, batch);
	else
		rtrs_srv_req_drop(req);
	rcu_read_unlock();
	return ret;
}

static void rtrs_srv_late_rsp_work(struct work_struct *work)
{
	struct rtrs_srv_late_rsp *late = container_of(to_delayed_work(work),
						      struct rtrs_srv_late_rsp, dwork);
	struct rtrs_srv_req *req = late->req;

	kfree(late);
	rtrs_srv_req_answer_or_drop(req, false);
}

/* Return: false if there is no memory to answer late. */
static bool rtrs_srv_req_answer_late(struct rtrs_srv_req *req)
{
	struct rtrs_srv_late_rsp *late = kmalloc(sizeof(*late), GFP_ATOMIC);

	if (!late)
		return false;
	INIT_DELAYED_WORK(&late->dwork, rtrs_srv_late_rsp_work);
	late->req = req;
	/* The context, and its queue, wait for the request. */
	queue_delayed_work(req->path->ctx->wq, &late->dwork,
			   msecs_to_jiffies(RTRS_SRV_RSP_DELAY_MS));
	return true;
}

/**
 * rtrs_srv_req_respond() - the ULP has answered, and nobody else posts the response
 * @req: the request, with the answer, not the caller's any more
 * @batch: as for rtrs_srv_req_answer()
 *
 * Context: any.
 * Return: false if the response has to wait for room.
 */
bool rtrs_srv_req_respond(struct rtrs_srv_req *req, bool batch)
{
	if (fault_here(rsp_lost)) {
		rtrs_srv_req_drop(req);
		return true;
	}
	if (fault_here(rsp_delayed) && rtrs_srv_req_answer_late(req))
		return true;
	return rtrs_srv_req_answer_or_drop(req, batch);
}

/**
 * rtrs_srv_resp_rdma() - answer a request
 * @id: the request, from rdma_ev; not the caller's any more
 * @errno: 0 or negative errno
 *
 * API specification section 3.
 *
 * Context: any.
 * Return: true if it was handled, also if the path is gone and nothing is sent, or if rdma_ev has not
 * returned and its caller posts the response; false if the response waits for room in the send queue.
 */
bool rtrs_srv_resp_rdma(struct rtrs_srv_op *id, int errno)
{
	struct rtrs_srv_req *req = container_of(id, struct rtrs_srv_req, op);

	if (WARN_ON_ONCE(cmpxchg(&req->state, RTRS_SRV_REQ_RUNNING, RTRS_SRV_REQ_ANSWERED) !=
			 RTRS_SRV_REQ_RUNNING))
		return true;
	req->err = errno;
	trace_rtrs_srv_req_done(RTRS_SRV_REQ_IDS(req), errno);
	if (unlikely(req->arrived_ns))
		rtrs_srv_lat_answered(req);
	if (cmpxchg(&req->call, RTRS_SRV_CALL_ON, RTRS_SRV_CALL_ANSWERED) == RTRS_SRV_CALL_ON)
		return true;
	return rtrs_srv_req_respond(req, false);
}
EXPORT_SYMBOL(rtrs_srv_resp_rdma);
