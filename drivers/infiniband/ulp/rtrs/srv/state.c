// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extension REQ_STATE: a client asks where a request is that it waits for.
 *
 * Operation: the answer is made from the state of the path's request and of the one of its slot that runs, which may
 * have come over another path.  If that one is with the ULP, the ULP is told, which knows the disk.
 *
 * Ordering: "no request" has to be true for all that its connection has carried before the question.  Handlers of a
 * connection do not overlap, so a request that came before was claimed before.  A slot is released under its lock when
 * its response has been posted, or for a batch before that by the same handler (batch.c): so the answer, which is
 * posted later, follows the response on that queue pair.  On another connection none of this holds, and the client
 * does not rely on it there.
 *
 * Errors: without room in the send queue no answer is sent; the client asks again.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>

#include "../proto/imm.h"
#include "rtrs-srv.h"

static enum rtrs_req_state rtrs_srv_state_of(const struct rtrs_srv_req *req)
{
	switch ((enum rtrs_srv_req_state)READ_ONCE(req->state)) {
	case RTRS_SRV_REQ_IDLE:
		return RTRS_REQ_STATE_NONE;
	case RTRS_SRV_REQ_CLAIMED:
	case RTRS_SRV_REQ_QUEUED:
	case RTRS_SRV_REQ_STARTING:
		return RTRS_REQ_STATE_RECEIVED;
	case RTRS_SRV_REQ_RUNNING:
		return RTRS_REQ_STATE_ULP;
	case RTRS_SRV_REQ_ANSWERED:
		return RTRS_REQ_STATE_ANSWERED;
	}
	return RTRS_REQ_STATE_NONE;
}

/*
 * Tell the ULP that it is waited for.  The slot's lock keeps the request and, with it, the ULP's session.
 * Return: seconds for which the ULP has had the slot's request, 0 if none runs.
 */
static u32 rtrs_srv_state_tell_ulp(struct rtrs_srv_path *path, struct rtrs_srv_slot *slot)
{
	void (*overdue)(void *priv, struct rtrs_srv_op *id, unsigned int secs) = path->ctx->ops.overdue;
	struct rtrs_srv_req *req = rtrs_srv_slot_running(slot);
	u32 secs;

	if (!req || READ_ONCE(req->state) != RTRS_SRV_REQ_RUNNING)
		return 0;
	secs = (jiffies - READ_ONCE(req->submitted)) / HZ;
	if (overdue)
		overdue(READ_ONCE(path->sess->priv), &req->op, secs);
	return secs;
}

/**
 * rtrs_srv_state_request() - the client asks for a request
 * @conn: connection on which it asks, of a path with the extension
 * @imm: the immediate
 *
 * Context: completion handler.
 */
void rtrs_srv_state_request(struct rtrs_srv_conn *conn, u32 imm)
{
	struct rtrs_srv_path *path = conn->path;
	enum rtrs_req_state state;
	struct rtrs_srv_slot *slot;
	u32 nr, value;
	int ret;

	rtrs_imm_req_state_decode(imm, &nr, &value);
	if (nr >= path->geo->queue_depth) {
		rtrs_srv_path_fail(path, "client asks for the request of slot %u, there are %u", nr,
				   path->geo->queue_depth);
		return;
	}
	slot = &path->sess->slots[nr];
	spin_lock_irq(&slot->lock);
	state = rtrs_srv_state_of(&path->reqs[nr]);
	if (state != RTRS_REQ_STATE_NONE)
		value = rtrs_srv_state_tell_ulp(path, slot);
	spin_unlock_irq(&slot->lock);
	ret = rtrs_conn_post_empty_imm(&conn->conn, rtrs_imm_req_state_rsp(nr, state, value));
	if (ret && ret != -EAGAIN)
		rtrs_srv_path_fail(path, "telling the state of a request: error %d", ret);
}
