// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of requests (protocol section 6).
 *
 * Ownership: state 0 means idle.  The submitter sets BUSY, builds, notes which connection the answer is expected on,
 * posts, then sets POSTED.  The handler of the response sets CLAIMED, once and only in a request that is expected
 * there, so that what a server answers twice, or elsewhere, or before it was asked, completes nothing; then what came,
 * and RESPONDED.  A submitter that could not post expects no answer any more; if it was CLAIMED even so, the path is
 * broken, and its worker's is the request.  SENT means that the adapter does not read the data pages any
 * more: an answer does not say so, for the acknowledgement may be lost, and then the pages are sent
 * once more.  Where they are read, the handler of the send sets it, else the submitter.  Whoever of them
 * comes last goes on to complete, so that no request is completed whose pages are still being posted or
 * sent, however early a server answers.  Where a LOCAL_INV has to be awaited, its handler completes.
 * A request whose answer is lost (overdue.c) takes the same steps, and then is the resend work's, which sends it again.
 * After the queues of a path are drained, and that work is cancelled, the path's worker owns all that is left.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

/* Requests that wait for memory or mappings for so long are reported, and again after so long. */
#define RTRS_CLT_SHORTAGE_WARN	(5 * HZ)
#define RTRS_CLT_SHORTAGE_AGAIN	(60 * HZ)

/**
 * rtrs_clt_req_unmap() - give back what a request has of its path's memory and device
 * @req: the request, its owner's
 *
 * Context: any.
 */
void rtrs_clt_req_unmap(struct rtrs_clt_req *req)
{
	if (req->bounced)
		rtrs_clt_bounce_give_back(req);
	if (!req->nents)
		return;
	ib_dma_unmap_sg(req->path->dev, req->sg, req->sg_cnt, rtrs_clt_dma_dir(req));
	req->nents = 0;
}

/**
 * rtrs_clt_count_done() - a request is not in flight on its path any more
 * @req: the request, its owner's
 * @answered: it was answered on its path, without error
 *
 * Context: any.
 */
void rtrs_clt_count_done(struct rtrs_clt_req *req, bool answered)
{
	struct rtrs_clt_path *path = req->path;

	atomic_dec(&path->inflight);
	rtrs_clt_mp_answered(req, answered);
	if (req->cpu != raw_smp_processor_id()) {
		this_cpu_inc(path->stats->to);
		per_cpu_ptr(path->stats, req->cpu)->from++;
	}
}

/**
 * rtrs_clt_req_finish() - last step for a request that ends with its ULP
 * @req: the request, its owner's; its slot may be used again inside conf_fn
 * @error: the server's answer, or RTRS_CLT_SEND_AGAIN: from then on it is the resend work's
 *
 * Context: any.
 */
void rtrs_clt_req_finish(struct rtrs_clt_req *req, int error)
{
	void (*conf_fn)(void *priv, int errno) = req->conf_fn;
	void *priv = req->priv;

	if (unlikely(error == RTRS_CLT_SEND_AGAIN)) {
		atomic_or(RTRS_REQ_RESEND, &req->state);
		queue_work(rtrs_clt_wq, &req->path->resend_work);
		return;
	}
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

/* The request was posted, sent and answered: finish it, or take the server's key away first. */
static void rtrs_clt_req_done(struct rtrs_clt_req *req)
{
	struct rtrs_clt_conn *cc = req->conn;
	struct ib_send_wr *inv;
	int ret;

	if (req->dir == READ && req->data_len && !req->bounced) {
		/* Room for an invalidation was reserved when the registration was posted. */
		if (req->invalidated) {
			req->mr->valid = false;
			rtrs_conn_unreserve(&cc->conn);
		} else {
			trace_rtrs_clt_mr_invalidate(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
			inv = rtrs_mr_inv_wr(req->mr, &req->inv_cqe);
			ret = rtrs_conn_post_reserved(&cc->conn, inv, true);
			if (ret)
				/* The region dies with the path; its worker completes the request. */
				rtrs_clt_path_error(req->path, ret);
			return;
		}
	}
	rtrs_clt_req_finish(req, req->error);
}

static const char *rtrs_clt_shortage_words(enum rtrs_failure what)
{
	switch (what) {
	case RTRS_FAILURE_DMA_MAP:
		return "DMA mappings, the IOMMU or swiotlb is full";
	case RTRS_FAILURE_MR_MAP:
		return "memory for a registration";
	default:
		return "memory for a message";
	}
}

/**
 * rtrs_clt_req_short() - a path is short of something that a request needs
 * @req: the request, not posted
 * @what: the failure
 * @error: its cause's errno, or 0
 *
 * Failures that pass are not reported.  If they go on, without a second between two of them, that is, once a minute:
 * what waits may wait for something that never comes.  Several may note theirs at once, so a message may come twice.
 *
 * Context: any; its submitter.
 * Return: as rtrs_retry_error().
 */
int rtrs_clt_req_short(const struct rtrs_clt_req *req, enum rtrs_failure what, int error)
{
	struct rtrs_clt_shortage *shortage = &req->path->shortage;
	int ret = rtrs_retry_error(what, error);
	unsigned long now = jiffies;

	if (rtrs_retry_of(ret) != RTRS_RETRY_LATER)
		return ret;
	if (time_after(now, READ_ONCE(shortage->last) + HZ))
		WRITE_ONCE(shortage->since, now);
	WRITE_ONCE(shortage->last, now);
	if (time_before(now, READ_ONCE(shortage->since) + RTRS_CLT_SHORTAGE_WARN) ||
	    time_before(now, READ_ONCE(shortage->tell_at)))
		return ret;
	WRITE_ONCE(shortage->tell_at, now + RTRS_CLT_SHORTAGE_AGAIN);
	rtrs_clt_path_err(req->path, "requests wait for %s: for %u s now\n", rtrs_clt_shortage_words(what),
			  jiffies_to_msecs(now - READ_ONCE(shortage->since)) / 1000);
	return ret;
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
 * rtrs_clt_req_responded() - the answer to a request is stored in it
 * @req: the request
 * @state: its state after it was CLAIMED
 *
 * Context: completion handler, whose claim that was.
 */
void rtrs_clt_req_responded(struct rtrs_clt_req *req, int state)
{
	state |= RTRS_REQ_RESPONDED;
	if (unlikely((state & RTRS_REQ_ALL_DONE) != RTRS_REQ_ALL_DONE)) {
		rtrs_clt_req_step(req, RTRS_REQ_RESPONDED);
		return;
	}
	/* Nobody else takes a step any more. */
	atomic_set(&req->state, state);
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
