// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a server sends: responses, heartbeats, answers to fences and other questions (protocol sections 6 and 8).
 *
 * Ownership: a request that is answered belongs to whoever makes its last step (done.c), from the step
 * RESPONDED on no longer to the handler here.
 *
 * Errors: whatever a server can send wrong breaks the path, with one message; it never completes a
 * request it should not.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include "../proto/geometry.h"
#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

/* INFO_RSP and the probe have receives of their own on the service connection. */
#define RTRS_CLT_INFO_RECVS	2

/*
 * Claim the request a response is for: one that waits on this connection.  Its state is told in @claimed.
 *
 * A server may answer what it was not asked, or answer twice, on several connections at once.
 */
static struct rtrs_clt_req *rtrs_clt_claim(struct rtrs_clt_conn *cc, u32 slot, int *claimed)
{
	struct rtrs_clt_path *path = cc->path;
	struct rtrs_clt_req *req;
	int state;

	if (unlikely(slot >= path->sess->queue_depth)) {
		rtrs_clt_path_err_rl(path, "server answers slot %u, valid are 0..%u\n", slot,
				     path->sess->queue_depth - 1);
		return NULL;
	}
	req = &path->reqs[slot];
	state = atomic_read(&req->state);
	do {
		if (unlikely((state & ~RTRS_REQ_MAY_WAIT) != RTRS_REQ_WAITS_ON(cc->conn.cid))) {
			rtrs_clt_path_err_rl(path, "server answers slot %u on connection %u, where no request waits\n",
					     slot, cc->conn.cid);
			return NULL;
		}
		*claimed = state | RTRS_REQ_CLAIMED;
	} while (!atomic_try_cmpxchg_acquire(&req->state, &state, *claimed));
	return req;
}

static void rtrs_clt_req_answered(struct rtrs_clt_req *req, int error, int claimed)
{
	struct rtrs_clt_conn *cc = req->conn;

	/* This one says that no path is left, and only this side can. */
	req->error = error == -ECONNABORTED ? -EIO : error;
	/* A claim to have invalidated is believed only if the invalidation was seen, since the request was there. */
	req->invalidated = cc->inv_rkey && cc->inv_rkey == req->mr->mr->rkey && cc->nr_invs != req->invs_before;
	cc->inv_rkey = 0;
	req->srv_time = cc->srv_time;
	cc->srv_time = 0;
	trace_rtrs_clt_req_answered(RTRS_CLT_REQ_IDS(req), error);

	rtrs_clt_req_responded(req, claimed);
}

static int rtrs_clt_response(struct rtrs_clt_conn *cc, u32 imm, const struct ib_wc *wc,
			     const struct rtrs_msg_rkey_rsp *msg)
{
	struct rtrs_clt_path *path = cc->path;
	struct rtrs_clt_req *req;
	int error, claimed;
	u32 slot, rkey;

	rtrs_imm_io_rsp_decode(imm, &slot, &error);
	req = rtrs_clt_claim(cc, slot, &claimed);
	if (unlikely(!req))
		return -EPROTO;
	if (msg) {
		if (rtrs_wire_get_rkey_rsp(msg, wc->byte_len, slot, &rkey)) {
			rtrs_clt_path_err_rl(path, "malformed RKEY_RSP for slot %u, %u bytes\n",
					     slot, wc->byte_len);
			return -EPROTO;
		}
		path->rbufs[slot].rkey = rkey;
	}
	rtrs_clt_req_answered(req, error, claimed);
	return 0;
}

/* Extension BATCH: requests without error, and their keys are what they were. */
static int rtrs_clt_responses(struct rtrs_clt_conn *cc, u32 imm)
{
	struct rtrs_clt_req *req;
	u32 slot, others;
	int claimed;

	rtrs_imm_io_rsp_many_decode(imm, cc->path->sess->mem_bits, &slot, &others);
	for (;;) {
		req = rtrs_clt_claim(cc, slot, &claimed);
		if (unlikely(!req))
			return -EPROTO;
		rtrs_clt_req_answered(req, 0, claimed);
		if (!others)
			return 0;
		slot += __ffs(others) + 1;
		others = others >> __ffs(others) >> 1;
	}
}

static int rtrs_clt_heartbeat(struct rtrs_clt_conn *cc, u32 type)
{
	struct rtrs_clt_path *path = cc->path;

	if (type == RTRS_IMM_HB_ACK) {
		rtrs_hb_acked(&path->hb);
		rtrs_clt_mp_beat_acked(path);
		return 0;
	}
	return fault_here(hb_lost) ? 0 : rtrs_hb_post(&path->conns[0].conn, true);
}

static int rtrs_clt_imm(struct rtrs_clt_conn *cc, const struct ib_wc *wc,
			const struct rtrs_msg_rkey_rsp *msg)
{
	u32 imm = be32_to_cpu(wc->ex.imm_data);
	u32 type = rtrs_imm_type(imm);
	u32 features = cc->path->features;
	bool may_lack_key = !cc->path->new_rkey || (features & RTRS_EXT_IMPLICIT_RKEY);

	switch (type) {
	case RTRS_IMM_IO_RSP:
	case RTRS_IMM_IO_RSP_W_INV:
		/*
		 * Hard interop rules 1 and 2: the kind of message follows from NEW_RKEY.  With IMPLICIT_RKEY
		 * there may be none: the slot's key is what it was.
		 */
		if (msg ? !cc->path->new_rkey : !may_lack_key) {
			rtrs_clt_path_err_rl(cc->path, "completion %s an rkey, the server announced the opposite\n",
					     msg ? "with" : "without");
			return -EPROTO;
		}
		return rtrs_clt_response(cc, imm, wc, msg);
	case RTRS_IMM_IO_RSP_MANY:
		if ((features & RTRS_EXT_BATCH) && !msg && may_lack_key)
			return rtrs_clt_responses(cc, imm);
		break;
	case RTRS_IMM_SERVER_TIME:
		/* Of the request that is answered next on this connection.  Numbers to be shown, no more. */
		if ((features & RTRS_EXT_SERVER_TIME) && !msg) {
			cc->srv_time = imm;
			return 0;
		}
		break;
	case RTRS_IMM_HB_MSG:
	case RTRS_IMM_HB_ACK:
		return rtrs_clt_heartbeat(cc, type);
	case RTRS_IMM_FENCE_DONE:
		if ((features & RTRS_EXT_FENCE) && !cc->conn.cid) {
			rtrs_clt_fence_up(cc->path->sess, rtrs_imm_payload(imm));
			return 0;
		}
		break;
	case RTRS_IMM_CHUNKS:
		if ((features & RTRS_EXT_CREDITS) && !cc->conn.cid)
			return rtrs_clt_credits_told(cc->path, rtrs_imm_payload(imm));
		break;
	case RTRS_IMM_REQ_STATE_RSP:
		if ((features & RTRS_EXT_REQ_STATE) && !msg)
			return rtrs_clt_state_told(cc, imm);
		break;
	default:
		break;
	}
	rtrs_clt_path_err_rl(cc->path, "unknown immediate type %u ignored\n", type);
	return 0;
}

static bool rtrs_clt_recv_failed(struct rtrs_clt_conn *cc, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return false;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		rtrs_clt_path_fail(cc->path, "receive on connection %u failed: %s\n",
				     cc->conn.cid, ib_wc_status_msg(wc->status));
	rtrs_clt_path_error(cc->path, -ECONNRESET);
	return true;
}

/* What a receive means, its buffer still ours. */
static int rtrs_clt_received(struct rtrs_clt_conn *cc, const struct ib_wc *wc,
			     const struct rtrs_msg_rkey_rsp *msg)
{
	rtrs_hb_alive(&cc->path->hb);
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		return rtrs_clt_imm(cc, wc, NULL);
	if (wc->wc_flags & IB_WC_WITH_IMM)
		return rtrs_clt_imm(cc, wc, msg);
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		cc->inv_rkey = wc->ex.invalidate_rkey;
		WRITE_ONCE(cc->nr_invs, cc->nr_invs + 1);
		return 0;
	}
	rtrs_clt_path_err_rl(cc->path, "unexpected message of %u bytes on connection %u\n",
			     wc->byte_len, cc->conn.cid);
	return -EPROTO;
}

/**
 * rtrs_clt_recv_done() - handler of receives without buffer
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion handler.
 */
void rtrs_clt_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_conn *cc = to_clt_conn(rtrs_conn_from_wc(wc));
	int ret;

	if (unlikely(rtrs_clt_recv_failed(cc, wc)))
		return;
	/* First, so that the server never finds the queue empty. */
	ret = rtrs_conn_recv_consumed(&cc->conn);
	if (likely(!ret))
		ret = rtrs_clt_received(cc, wc, NULL);
	if (unlikely(ret))
		rtrs_clt_path_error(cc->path, ret);
}

static int rtrs_clt_post_rsp(struct rtrs_clt_conn *cc, u32 i)
{
	return rtrs_conn_post_recv_buf(&cc->conn, &cc->rsps[i].cqe,
				       cc->rsp_dma + i * sizeof(*cc->rsp_buf),
				       sizeof(*cc->rsp_buf));
}

/**
 * rtrs_clt_rsp_done() - handler of receives with a buffer for RKEY_RSP
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion handler.
 */
void rtrs_clt_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_conn *cc = to_clt_conn(rtrs_conn_from_wc(wc));
	u32 i = container_of(wc->wr_cqe, struct rtrs_clt_rsp, cqe) - cc->rsps;
	struct rtrs_msg_rkey_rsp msg;
	int ret;

	if (unlikely(rtrs_clt_recv_failed(cc, wc)))
		return;
	ib_dma_sync_single_for_cpu(cc->path->dev, cc->rsp_dma + i * sizeof(msg), sizeof(msg),
				   DMA_FROM_DEVICE);
	msg = cc->rsp_buf[i];
	/* Posted again before the answer is acted on: the server never finds the queue empty. */
	ret = rtrs_clt_post_rsp(cc, i);
	if (likely(!ret))
		ret = rtrs_clt_received(cc, wc, &msg);
	if (unlikely(ret))
		rtrs_clt_path_error(cc->path, ret);
}

/**
 * rtrs_clt_recv_wrs() - how many receives a connection may have
 * @path: its path, with a device
 * @service: service connection, else I/O connection
 *
 * A batch that is posted late, and that of the drain, have room besides, also where the device allows few.
 *
 * Context: any.
 * Return: number of work requests.
 */
u32 rtrs_clt_recv_wrs(const struct rtrs_clt_path *path, bool service)
{
	return rtrs_geometry_clt_recv_wrs(service, path->sess->queue_depth,
					  path->dev->attrs.max_qp_wr - RTRS_RECV_BATCH - 1);
}

/**
 * rtrs_clt_msg_recvs() - how many of these are for messages
 * @path: its path, with a device
 * @service: service connection, else I/O connection
 *
 * Context: any.
 * Return: number of work requests, at least one: rtrs_device_check() refuses what has fewer.
 */
u32 rtrs_clt_msg_recvs(const struct rtrs_clt_path *path, bool service)
{
	static_assert(RTRS_MIN_QP_WR > RTRS_RECV_BATCH + 1 + RTRS_CLT_INFO_RECVS);

	return rtrs_clt_recv_wrs(path, service) - (service ? RTRS_CLT_INFO_RECVS : 0);
}

/**
 * rtrs_clt_post_receives() - post the receives of a connection
 * @cc: connection, no completion has come yet
 * @nr: how many the server may use up
 *
 * Context: process.
 * Return: 0 or an error of ib_post_recv().
 */
int rtrs_clt_post_receives(struct rtrs_clt_conn *cc, u32 nr)
{
	u32 i;
	int ret;

	if (!cc->rsps)
		return rtrs_conn_post_recv_empty(&cc->conn, nr + RTRS_RECV_BATCH);
	for (i = 0; i < cc->nr_rsps; i++) {
		ret = rtrs_clt_post_rsp(cc, i);
		if (ret)
			return ret;
	}
	return 0;
}
