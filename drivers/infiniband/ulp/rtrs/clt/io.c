// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: submit, complete, fail over (protocol sections 5 and 6).
 *
 * Operation: a request uses its permit's slot on one path at a time.  A WRITE gathers the local pages by
 * SGEs and needs no registration unless it has too many elements; such a region is local only, so it is
 * invalidated lazily, in front of its next registration.  A small READ goes through a bounce buffer.  A
 * large one registers its pages for the server, which invalidates them with its answer; where it did not,
 * we do and wait.
 *
 * Ownership: state 0 means idle.  The submitter sets BUSY, builds and posts, then sets POSTED.  The
 * handler of the response sets RESPONDED.  SENT means that the adapter does not read the data pages any
 * more: an answer does not say so, for the acknowledgement may be lost, and then the pages are sent
 * once more.  Where they are read, the handler of the send sets it, else the submitter.  Whoever of them
 * comes last goes on to complete, so that no request is completed whose pages are still being posted or
 * sent, however early a server answers.  Where a LOCAL_INV has to be awaited, its handler completes.
 * After the queues of a path are drained the path's worker owns all that is left.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <rdma/rtrs-nl.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

/**
 * struct rtrs_clt_io - what a request is made from, on whichever path
 * @dir: READ or WRITE
 * @slot: the permit's slot
 * @con: the permit's connection
 * @conf_fn: completion callback
 * @priv: its argument
 * @vec: user message
 * @nr_vec: entries of @vec
 * @usr_len: bytes of the user message
 * @data_len: bytes of data
 * @sg: data pages
 * @sg_cnt: entries of @sg
 * @failover: taken over from another path
 * @start_ns: when the ULP submitted it, rtrs_lat_now()
 */
struct rtrs_clt_io {
	u8 dir;
	u16 slot;
	u16 con;
	void (*conf_fn)(void *priv, int errno);
	void *priv;
	const struct kvec *vec;
	size_t nr_vec;
	size_t usr_len;
	size_t data_len;
	struct scatterlist *sg;
	unsigned int sg_cnt;
	bool failover;
	u64 start_ns;
};

/**
 * struct rtrs_clt_chain - the sends of one request while they are built; on the stack, and nothing is set
 * that is not used
 * @wr: the WRITE with immediate that carries it
 * @sge: its elements: data, then user message and header
 * @first: start of the chain
 * @nr: WRs in the chain
 */
struct rtrs_clt_chain {
	struct ib_rdma_wr wr;
	struct ib_sge sge[RTRS_CLT_DATA_SGES_MAX + 1];
	struct ib_send_wr *first;
	u32 nr;
};

static enum dma_data_direction rtrs_clt_dma_dir(const struct rtrs_clt_req *req)
{
	return req->dir == WRITE ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static void rtrs_clt_req_unmap(struct rtrs_clt_req *req)
{
	if (req->bounced)
		rtrs_clt_bounce_give_back(req);
	if (!req->nents)
		return;
	ib_dma_unmap_sg(req->path->dev, req->sg, req->sg_cnt, rtrs_clt_dma_dir(req));
	req->nents = 0;
}

static void rtrs_clt_count_done(struct rtrs_clt_req *req, bool answered)
{
	struct rtrs_clt_path *path = req->path;

	atomic_dec(&path->inflight);
	rtrs_clt_mp_answered(req, answered);
	if (req->cpu != raw_smp_processor_id()) {
		this_cpu_inc(path->stats->to);
		per_cpu_ptr(path->stats, req->cpu)->from++;
	}
}

/* Last step for a request that ends with its ULP: the slot may be used again inside conf_fn. */
static void rtrs_clt_req_finish(struct rtrs_clt_req *req, int error)
{
	void (*conf_fn)(void *priv, int errno) = req->conf_fn;
	void *priv = req->priv;

	if (req->bounced && !error)
		rtrs_clt_bounce_copy(req);
	rtrs_clt_req_unmap(req);
	rtrs_clt_count_done(req, !error);
	rtrs_clt_lat_done(req, true);
	if (unlikely(error))
		rtrs_clt_count_io_error(req->path, RTRS_CLT_IO_ERROR_SERVER);
	trace_rtrs_clt_req_done(RTRS_CLT_REQ_IDS(req), error);
	/* Nobody submits to this slot before conf_fn gave the permit back. */
	atomic_set_release(&req->state, 0);
	conf_fn(priv, error);
}

/* Does the send read the data pages themselves? */
static bool rtrs_clt_req_sends_pages(const struct rtrs_clt_req *req)
{
	return req->dir == WRITE && req->nents;
}

/* The request was posted, sent and answered: finish it, or take the server's key away first. */
static void rtrs_clt_req_done(struct rtrs_clt_req *req)
{
	struct rtrs_clt_conn *cc = req->conn;
	struct ib_send_wr *inv;
	int ret;

	if (req->dir == READ && !req->bounced && req->mr->valid) {
		if (req->invalidated) {
			req->mr->valid = false;
		} else {
			trace_rtrs_clt_mr_invalidate(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
			inv = rtrs_mr_inv_wr(req->mr, &req->inv_cqe);
			ret = rtrs_conn_post(&cc->conn, inv, inv, 1, true);
			if (ret)
				/* The region dies with the path; its worker completes the request. */
				rtrs_clt_path_error(req->path, ret);
			return;
		}
	}
	rtrs_clt_req_finish(req, req->error);
}

/**
 * rtrs_clt_req_step() - note a step of a request; the last one completes it
 * @req: the request, BUSY
 * @step: RTRS_REQ_* bits that are not set yet; whoever sets one may not touch the request after
 *
 * Context: any.
 */
void rtrs_clt_req_step(struct rtrs_clt_req *req, int step)
{
	int state = atomic_fetch_or(step, &req->state) | step;

	if ((state & RTRS_REQ_ALL_DONE) == RTRS_REQ_ALL_DONE)
		rtrs_clt_req_done(req);
}

/**
 * rtrs_clt_inv_done() - handler of an awaited LOCAL_INV
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion handler.
 */
void rtrs_clt_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_req *req = container_of(wc->wr_cqe, struct rtrs_clt_req, inv_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS) || fault_here(inv_failed)) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			rtrs_clt_path_err_rl(req->path, "LOCAL_INV of slot %u failed: %s\n",
					     req->slot, ib_wc_status_msg(wc->status));
		rtrs_clt_path_error(req->path, -ECONNABORTED);
		return;
	}
	rtrs_conn_send_completed(&req->conn->conn);
	req->mr->valid = false;
	rtrs_clt_req_finish(req, req->error);
}

static bool rtrs_clt_send_failed(struct rtrs_clt_conn *cc, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return false;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		rtrs_clt_path_err_rl(cc->path, "send on connection %u failed: %s\n",
				     cc->conn.cid, ib_wc_status_msg(wc->status));
	rtrs_clt_path_error(cc->path, wc->status == IB_WC_RETRY_EXC_ERR ?
			    -ETIMEDOUT : -ECONNABORTED);
	return true;
}

/**
 * rtrs_clt_req_sent() - handler of a send that reads the data pages
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion handler.
 */
void rtrs_clt_req_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_req *req = container_of(wc->wr_cqe, struct rtrs_clt_req, sent_cqe);
	struct rtrs_clt_conn *cc = to_clt_conn(rtrs_conn_from_wc(wc));

	if (unlikely(rtrs_clt_send_failed(cc, wc)))
		return;
	rtrs_conn_send_completed(&cc->conn);
	rtrs_clt_req_step(req, RTRS_REQ_SENT);
}

/**
 * rtrs_clt_send_done() - handler of all other sends
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion handler.
 */
void rtrs_clt_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_conn *cc = to_clt_conn(rtrs_conn_from_wc(wc));

	if (likely(!rtrs_clt_send_failed(cc, wc)))
		rtrs_conn_send_completed(&cc->conn);
}

/* Put the data of a WRITE into SGEs; sum of the list must cover @req->data_len. */
static int rtrs_clt_gather(struct rtrs_clt_req *req, struct ib_sge *sge)
{
	u32 lkey = req->path->pd->local_dma_lkey;
	size_t left = req->data_len;
	struct scatterlist *sg;
	int i, nr = 0;

	for_each_sg(req->sg, sg, req->nents, i) {
		if (!left)
			break;
		sge[nr].addr = sg_dma_address(sg);
		sge[nr].length = min_t(size_t, left, sg_dma_len(sg));
		sge[nr].lkey = lkey;
		left -= sge[nr].length;
		nr++;
	}
	return left ? -EINVAL : nr;
}

/* Register the pages; LOCAL_INV of a previous, local-only mapping goes in front. */
static int rtrs_clt_register(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain, int access)
{
	struct ib_cqe *cqe = &req->conn->conn.send_cqe;
	struct ib_send_wr *inv = NULL;
	int ret;

	if (req->mr->valid) {
		trace_rtrs_clt_mr_invalidate(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
		inv = rtrs_mr_inv_wr(req->mr, cqe);
	}
	ret = rtrs_mr_map(req->mr, req->sg, req->nents, access, cqe);
	if (likely(!ret) && unlikely(req->mr->mr->length < req->data_len)) {
		rtrs_mr_unmap(req->mr, inv);
		ret = -EINVAL;
	}
	if (unlikely(ret))
		return ret;

	trace_rtrs_clt_mr_register(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
	req->mr->reg_wr.wr.next = chain->first;
	chain->first = &req->mr->reg_wr.wr;
	chain->nr++;
	if (inv) {
		inv->next = chain->first;
		chain->first = inv;
		chain->nr++;
	}
	return 0;
}

/* Data part of a WRITE. Returns number of SGEs or errno. */
static int rtrs_clt_build_write(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain)
{
	int ret;

	if (!req->data_len)
		return 0;
	if (req->nents <= req->path->data_sges)
		return rtrs_clt_gather(req, chain->sge);
	ret = rtrs_clt_register(req, chain, IB_ACCESS_LOCAL_WRITE);
	if (unlikely(ret))
		return ret;
	chain->sge[0] = (struct ib_sge) {
		.addr = req->mr->mr->iova,
		.length = req->data_len,
		.lkey = req->mr->mr->lkey,
	};
	return 1;
}

/* Header behind the user message, and the data part. Returns number of data SGEs or errno. */
static int rtrs_clt_build(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain, size_t *hdr_len)
{
	void *hdr = req->buf + req->usr_len;
	struct rtrs_sg_desc desc;
	int ret;

	if (req->dir == WRITE) {
		*hdr_len = rtrs_wire_put_write(hdr, req->usr_len);
		return rtrs_clt_build_write(req, chain);
	}
	if (!req->data_len) {
		*hdr_len = rtrs_wire_put_read(hdr, req->usr_len, false, NULL);
		return 0;
	}
	if (req->bounced) {
		rtrs_clt_bounce_desc(req, &desc);
		*hdr_len = rtrs_wire_put_read(hdr, req->usr_len, false, &desc);
		return 0;
	}
	ret = rtrs_clt_register(req, chain, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (unlikely(ret))
		return ret;
	rtrs_wire_put_desc(&desc, req->mr->mr->iova, req->mr->mr->rkey, req->data_len);
	*hdr_len = rtrs_wire_put_read(hdr, req->usr_len, req->path->ask_inval, &desc);
	return 0;
}

static int rtrs_clt_post_request(struct rtrs_clt_req *req)
{
	struct rtrs_clt_path *path = req->path;
	struct rtrs_rbuf *rbuf = &path->rbufs[req->slot];
	struct rtrs_clt_chain chain __uninitialized;
	bool sends_pages = rtrs_clt_req_sends_pages(req);
	size_t hdr_len, msg_len;
	u64 off = req->data_len;
	int nr_sge, ret;
	u32 imm;

	chain.first = &chain.wr.wr;
	chain.nr = 1;
	nr_sge = rtrs_clt_build(req, &chain, &hdr_len);
	if (unlikely(nr_sge < 0))
		return nr_sge;
	msg_len = req->usr_len + hdr_len;
	ib_dma_sync_single_for_device(path->dev, req->dma, msg_len, DMA_TO_DEVICE);
	chain.sge[nr_sge++] = (struct ib_sge) {
		.addr = req->dma,
		.length = msg_len,
		.lkey = path->pd->local_dma_lkey,
	};
	imm = rtrs_imm_io_req(req->slot, off + req->usr_len, path->sess->mem_bits);
	if (unlikely(req->posted_ns) && (path->features & RTRS_EXT_SERVER_TIME))
		imm = rtrs_imm_timed(imm);
	chain.wr = (struct ib_rdma_wr) {
		.wr = {
			.wr_cqe = sends_pages ? &req->sent_cqe : &req->conn->conn.send_cqe,
			.sg_list = chain.sge,
			.num_sge = nr_sge,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(imm),
		},
		.remote_addr = req->dir == WRITE ? rbuf->addr : rbuf->addr + off,
		.rkey = rbuf->rkey,
	};
	ret = rtrs_conn_post(&req->conn->conn, chain.first, &chain.wr.wr, chain.nr, sends_pages);
	if (unlikely(ret) && chain.nr > 1)
		rtrs_mr_unmap(req->mr, chain.first->opcode == IB_WR_LOCAL_INV);
	return ret;
}

static int rtrs_clt_check_len(const struct rtrs_clt_path *path, const struct rtrs_clt_io *io)
{
	size_t hdr = io->dir == WRITE ? sizeof(struct rtrs_msg_write) : RTRS_MAX_IO_HDR_BYTES;

	if (io->usr_len > path->max_hdr_size - hdr ||
	    io->data_len > path->chunk_size - hdr - io->usr_len)
		return -EMSGSIZE;
	return 0;
}

static int rtrs_clt_map_data(struct rtrs_clt_req *req)
{
	if (!req->data_len || req->bounced)
		return 0;
	if (unlikely(!req->sg_cnt))
		return -EINVAL;
	if (fault_here(dma_map))
		return -EINVAL;
	req->nents = ib_dma_map_sg(req->path->dev, req->sg, req->sg_cnt, rtrs_clt_dma_dir(req));
	return req->nents ? 0 : -EINVAL;
}

static __always_inline void rtrs_clt_req_choose_bounce(struct rtrs_clt_req *req)
{
	const struct rtrs_clt_bounce_bufs *own = &req->path->bounce.own;

	req->bounced = NULL;
	if (req->dir != READ || !req->data_len)
		return;
	if (likely(req->data_len <= own->bytes)) {
		req->bounced = own;
		req->bounce_nr = req->slot;
	} else {
		rtrs_clt_bounce_take(req);
	}
}

static __always_inline void rtrs_clt_req_init(struct rtrs_clt_req *req, const struct rtrs_clt_io *io)
{
	size_t i, off = 0;

	req->conn = &req->path->conns[io->con];
	req->dir = io->dir;
	req->invalidated = false;
	req->start_ns = io->start_ns;
	req->cpu = raw_smp_processor_id();
	req->error = 0;
	req->conf_fn = io->conf_fn;
	req->priv = io->priv;
	req->sg = io->sg;
	req->sg_cnt = io->sg_cnt;
	req->nents = 0;
	req->data_len = io->data_len;
	req->usr_len = io->usr_len;
	rtrs_clt_req_choose_bounce(req);
	for (i = 0; i < io->nr_vec; i++) {
		memcpy(req->buf + off, io->vec[i].iov_base, io->vec[i].iov_len);
		off += io->vec[i].iov_len;
	}
}

static unsigned int rtrs_clt_elapsed_ms(u64 since_ns)
{
	return div_u64(rtrs_lat_between(since_ns, rtrs_lat_now()), NSEC_PER_MSEC);
}

static void rtrs_clt_count_sent(struct rtrs_clt_path *path, const struct rtrs_clt_io *io, u32 seq)
{
	int dir = io->dir == WRITE;

	this_cpu_inc(path->stats->cnt[dir]);
	this_cpu_add(path->stats->bytes[dir], io->data_len + io->usr_len);
	if (!io->failover)
		return;
	this_cpu_inc(path->stats->failover);
	trace_rtrs_clt_resend(path->name, io->slot, seq, io->dir == WRITE, io->data_len,
			      rtrs_clt_elapsed_ms(io->start_ns));
}

/*
 * Send on one path.  RCU read section with the path seen CONNECTED in it: the path's worker waits for a
 * grace period before it takes anything away.
 */
static __always_inline int rtrs_clt_send_on(struct rtrs_clt_path *path, const struct rtrs_clt_io *io)
{
	struct rtrs_clt_req *req = &path->reqs[io->slot];
	int ret;

	ret = rtrs_clt_check_len(path, io);
	if (unlikely(ret))
		return ret;
	if (WARN_ON_ONCE(atomic_cmpxchg_acquire(&req->state, 0, RTRS_REQ_BUSY)))
		return -EBUSY;	/* the ULP used one permit for two requests */
	rtrs_clt_req_init(req, io);
	ret = rtrs_clt_map_data(req);
	if (unlikely(ret))
		goto err_idle;
	atomic_inc(&path->inflight);
	rtrs_clt_mp_sent(req);
	req->posted_ns = rtrs_clt_lat_sampled(&path->lat) ? rtrs_lat_now() : 0;
	req->seq++;
	trace_rtrs_clt_req_send(RTRS_CLT_REQ_IDS(req), req->dir == WRITE, req->data_len);
	ret = rtrs_clt_post_request(req);
	if (unlikely(ret))
		goto err_unmap;
	rtrs_clt_count_sent(path, io, req->seq);
	rtrs_clt_req_step(req, rtrs_clt_req_sends_pages(req) ? RTRS_REQ_POSTED :
							       RTRS_REQ_POSTED | RTRS_REQ_SENT);
	return 0;

err_unmap:
	/* Never seen by the server: its number is the next one's. */
	req->seq--;
	rtrs_clt_mp_answered(req, false);
	atomic_dec(&path->inflight);
	rtrs_clt_req_unmap(req);
	if (ret != -EAGAIN && ret != -EINVAL)
		rtrs_clt_path_error(path, ret);
err_idle:
	atomic_set_release(&req->state, 0);
	return ret;
}

/*
 * Send on the path the policy likes best, on the next one if that fails.  Inline for the sake of each
 * request's submitter, who has just put @io together.
 */
static __always_inline int rtrs_clt_send(struct rtrs_clt_sess *sess, const struct rtrs_clt_io *io)
{
	DECLARE_BITMAP(tried, RTRS_MAX_PATHS) = {};
	struct rtrs_clt_path *path;
	struct rtrs_clt_paths *paths;
	int ret = -ECONNABORTED;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	while (paths && (path = rtrs_clt_mp_next(sess, paths, io->con, tried))) {
		ret = rtrs_clt_send_on(path, io);
		/* Wrong on one path is wrong on all, but for its length: chunks may be of different sizes. */
		if (!ret || ret == -EINVAL || ret == -EBUSY)
			break;
	}
	rcu_read_unlock();
	return ret;
}

/* Its path is lost, and no other takes it. */
static void rtrs_clt_req_fail(struct rtrs_clt_req *req)
{
	struct rtrs_clt_path *path = req->path;
	enum rtrs_clt_io_error cause = RTRS_CLT_IO_ERROR_NO_PATH;

	if (path->loss == RTRS_CLT_LOSS_ON_REQUEST || READ_ONCE(path->sess->closing))
		cause = RTRS_CLT_IO_ERROR_ABORTED;
	else if (path->loss == RTRS_CLT_LOSS_NO_ANSWER)
		cause = RTRS_CLT_IO_ERROR_TIMEOUT;
	rtrs_clt_count_io_error(path, cause);
	rtrs_clt_lat_done(req, false);
	trace_rtrs_clt_req_done(RTRS_CLT_REQ_IDS(req), -ECONNABORTED);
}

/* Move one request that the lost path owed an answer to another path, or fail it; true if it moved. */
static bool rtrs_clt_req_fail_over(struct rtrs_clt_req *req, bool send)
{
	struct rtrs_clt_sess *sess = req->path->sess;
	struct kvec vec = { .iov_base = req->buf, .iov_len = req->usr_len };
	struct rtrs_clt_io io = {
		.dir = req->dir,
		.slot = req->slot,
		.con = req->conn->conn.cid,
		.conf_fn = req->conf_fn,
		.priv = req->priv,
		.vec = &vec,
		.nr_vec = 1,
		.usr_len = req->usr_len,
		.data_len = req->data_len,
		.sg = req->sg,
		.sg_cnt = req->sg_cnt,
		.failover = true,
		.start_ns = req->start_ns,
	};

	rtrs_clt_req_unmap(req);
	rtrs_clt_count_done(req, false);
	atomic_set_release(&req->state, 0);
	if (send && !READ_ONCE(sess->closing) && !rtrs_clt_send(sess, &io))
		return true;
	rtrs_clt_req_fail(req);
	io.conf_fn(io.priv, -ECONNABORTED);
	return false;
}

static void rtrs_clt_tell_failover(const struct rtrs_clt_path *path, unsigned int moved,
				   unsigned int failed, unsigned int gap_ms)
{
	struct rtrs_nl_news news = {
		.event = RTRS_NL_EVENT_FAILOVER,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = path->sess->name,
		.path = path->name,
		.moved = moved,
		.failed = failed,
		.gap_ms = gap_ms,
	};

	rtrs_nl_tell(&news);
}

/* Move what the lost path owes, or fail it. */
static void rtrs_clt_fail_over_owed(struct rtrs_clt_path *path, bool send)
{
	unsigned int gap_ms, moved = 0, failed = 0;
	u64 start_ns, oldest_ns = rtrs_lat_now();
	struct rtrs_clt_req *req;
	u32 slot;

	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		if (!atomic_read_acquire(&req->state))
			continue;
		start_ns = req->start_ns;
		if (!rtrs_clt_req_fail_over(req, send)) {
			failed++;
			continue;
		}
		moved++;
		oldest_ns = min(oldest_ns, start_ns);
	}
	gap_ms = rtrs_clt_elapsed_ms(oldest_ns);
	if (moved)
		rtrs_clt_count_failover(path, gap_ms);
	trace_rtrs_clt_failover(path->name, moved, failed, gap_ms);
	rtrs_clt_tell_failover(path, moved, failed, gap_ms);
}

/* Complete what was answered.  Return: is there anything else? */
static bool rtrs_clt_finish_answered(struct rtrs_clt_path *path)
{
	struct rtrs_clt_req *req;
	bool owed = false;
	u32 slot;
	int state;

	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		state = atomic_read_acquire(&req->state);
		if (state & RTRS_REQ_RESPONDED)
			rtrs_clt_req_finish(req, req->error);
		else if (state)
			owed = true;
	}
	return owed;
}

/**
 * rtrs_clt_fail_over() - send what a lost path left unanswered over other paths
 * @path: not CONNECTED for a grace period, its queues drained: nobody else owns its requests
 *
 * Requests that were answered already are completed with their result.  For the others the server
 * first closes the path, if it can be told to.  Regions stay marked valid for nobody: they are freed
 * next.
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_fail_over(struct rtrs_clt_path *path)
{
	lockdep_assert_held(&path->mutex);
	if (rtrs_clt_finish_answered(path))
		rtrs_clt_fail_over_owed(path, rtrs_clt_fence(path));
	else
		rtrs_clt_fence_tell(path);
}

/**
 * rtrs_clt_request() - send a request
 * @dir: READ or WRITE
 * @ops: completion callback and its argument, copied
 * @sess: open session
 * @permit: permit of the session; one request at a time
 * @vec: user message, copied
 * @nr: entries of @vec
 * @len: bytes of data
 * @sg: data pages, the caller's until the callback; entries cover at least @len bytes
 * @sg_cnt: entries of @sg
 *
 * API specification section 2.  The callback may run before this function returns.
 *
 * Context: any.
 * Return: 0: the callback is called exactly once.  Else it is not called: -ECONNABORTED no connected
 * path, -EMSGSIZE too large for a slot, -EINVAL list does not cover @len or cannot be mapped, -EAGAIN
 * send queue full for the moment, or an error of the device.
 */
int rtrs_clt_request(int dir, struct rtrs_clt_req_ops *ops, struct rtrs_clt_sess *sess,
		     struct rtrs_permit *permit, const struct kvec *vec, size_t nr, size_t len,
		     struct scatterlist *sg, unsigned int sg_cnt)
{
	struct rtrs_clt_io io = {
		.dir = dir == WRITE ? WRITE : READ,
		.slot = permit->slot,
		.con = permit->con,
		.conf_fn = ops->conf_fn,
		.priv = ops->priv,
		.vec = vec,
		.nr_vec = nr,
		.data_len = len,
		.sg = sg,
		.sg_cnt = sg_cnt,
		.start_ns = rtrs_lat_now(),
	};
	size_t i;
	int ret;

	for (i = 0; i < nr; i++)
		io.usr_len += vec[i].iov_len;
	ret = rtrs_clt_send(sess, &io);
	if (unlikely(ret == -ECONNABORTED))
		atomic_inc(&sess->recovery.io_errors[RTRS_CLT_IO_ERROR_NO_PATH]);
	return ret;
}
EXPORT_SYMBOL(rtrs_clt_request);

/* Give the path up if this request is on it. */
static void rtrs_clt_path_overdue(struct rtrs_clt_path *path, u32 slot, const void *priv)
{
	struct rtrs_clt_req *req = &path->reqs[slot];

	if (rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTED ||
	    !(atomic_read_acquire(&req->state) & RTRS_REQ_POSTED) || READ_ONCE(req->priv) != priv)
		return;
	rtrs_clt_path_err_rl(path, "no answer to the request in slot %u in time, path given up\n",
			     slot);
	rtrs_clt_count(path, RTRS_CLT_TIMED_OUT);
	rtrs_clt_path_error(path, -ETIMEDOUT);
}

/**
 * rtrs_clt_request_overdue() - a request should have been answered by now
 * @sess: open session
 * @permit: permit of the request
 * @priv: @priv of its struct rtrs_clt_req_ops
 *
 * Gives the path up that the request is on: the server closes it, and then it goes to another path, or
 * completes with -ECONNABORTED if there is none.  A request that is on no path waits for just that already,
 * and one that is answered at this moment is left alone.  Not part of mainline's interface.
 *
 * Context: any.
 */
void rtrs_clt_request_overdue(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv)
{
	const struct rtrs_clt_paths *paths;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		rtrs_clt_path_overdue(paths->path[i], permit->slot, priv);
	rcu_read_unlock();
}
EXPORT_SYMBOL(rtrs_clt_request_overdue);

/**
 * rtrs_clt_rdma_cq_direct() - complete polled requests
 * @sess: open session
 * @index: I/O connection, counted from 0; polled ones follow the others
 *
 * All connected paths are polled: a request may have failed over to any of them.
 *
 * Context: any in which the ULP's callbacks may run.
 * Return: number of completions, or -1 if no path is connected.
 */
int rtrs_clt_rdma_cq_direct(struct rtrs_clt_sess *sess, unsigned int index)
{
	const struct rtrs_clt_paths *paths;
	struct rtrs_clt_conn *cc;
	unsigned int i;
	int ret = -1, nr;

	if (index + 1 >= sess->nr_conns)
		return 0;
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		if (rtrs_clt_path_state(paths->path[i]) != RTRS_CLT_PATH_CONNECTED)
			continue;
		cc = &paths->path[i]->conns[index + 1];
		nr = cc->conn.cq.ctx == RTRS_CQ_DIRECT ? rtrs_cq_poll(&cc->conn.cq) : 0;
		ret = max(ret, 0) + nr;
	}
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(rtrs_clt_rdma_cq_direct);
