// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that take longer than the ULP expects.
 *
 * A disk that hangs is not a path that is dead.  Whether a path lives its heartbeats tell; they end it when the
 * peer is silent.  So a request that is overdue costs no path by itself.
 *
 * Operation: with extension REQ_STATE the server is asked, over the service connection of the path that carries
 * the request.  "With the ULP" and the like is noted for the ULP to read, and the request waits on.  "No such
 * request" proves nothing yet: on its own connection the request may be on its way to the server's handler, or its
 * response on the way here.  So it is asked again over that connection.  A server without the extension cannot be
 * asked; the request waits.
 *
 * Ordering: a queue pair delivers in order, and the server's handlers of a connection do not overlap.  The second
 * question is posted after the request was, on the same queue pair: when the server reads it, it has read the
 * request before.  A slot becomes idle there only after its response was posted, so the answer, posted on that
 * queue pair too, follows the response.  Hence: if "no such request" comes while the request still waits, its
 * response was never sent, and nothing of it can arrive on either side any more.  It is safe to send it again, over
 * any path, without closing this one.
 *
 * RTRS_REQ_ASKED is set, by cmpxchg, in the state of a request that is POSTED, before that question is posted; it goes
 * with the state.  So an answer counts only for a request that was posted before the question; the tag, the
 * request's number, tells it from the answer to a question about an earlier request of the slot.
 *
 * Ownership: as for a response.  Who finds that an answer is lost claims the request, and the last of its steps hands
 * it to the path's resend work rather than to the ULP (done.c).
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"

/* A server that owes an answer to a question for so long, and for what heartbeats allow, is not alive. */
#define RTRS_CLT_STATE_TIMEOUT_MS	5000

/* What struct rtrs_clt_req.told has of the state; above it is the number of the request. */
#define RTRS_CLT_TOLD_STATE		3U
static_assert(RTRS_REQ_STATE__NR <= RTRS_CLT_TOLD_STATE + 1);

static u32 rtrs_clt_told(u32 seq, enum rtrs_req_state state)
{
	return seq * (RTRS_CLT_TOLD_STATE + 1) | state;
}

/*
 * Has it been on its path for so long?  The ULP's clock began earlier, and not by more than an eighth, if this is
 * the first one.
 */
static bool rtrs_clt_req_overdue(const struct rtrs_clt_req *req, unsigned long timeout)
{
	return time_after_eq(jiffies, READ_ONCE(req->sent_at) + timeout - timeout / 8);
}

/* Is it posted, and nobody has claimed it? */
static bool rtrs_clt_state_waits(int state)
{
	return (state & RTRS_REQ_POSTED) && !(state & (RTRS_REQ_CLAIMED | RTRS_REQ_RESPONDED));
}

/* Set a bit in the state of a request that waits.  Return: the new state, or 0 if it does not wait. */
static int rtrs_clt_req_mark(struct rtrs_clt_req *req, int bit)
{
	int state = atomic_read(&req->state);

	do {
		if (!rtrs_clt_state_waits(state))
			return 0;
	} while (!atomic_try_cmpxchg(&req->state, &state, state | bit));
	return state | bit;
}

/* The request in a slot of a path if it is the one that the ULP means. */
static struct rtrs_clt_req *rtrs_clt_find_waiting(struct rtrs_clt_path *path, u32 slot, const void *priv)
{
	struct rtrs_clt_req *req;

	if (rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTED)
		return NULL;
	req = &path->reqs[slot];
	return rtrs_clt_state_waits(atomic_read_acquire(&req->state)) && READ_ONCE(req->priv) == priv ? req : NULL;
}

/* Without room in the send queue it is asked when the request is overdue again. */
static int rtrs_clt_state_ask(struct rtrs_clt_conn *cc, u32 slot, u32 seq)
{
	int ret = rtrs_conn_post_empty_imm(&cc->conn, rtrs_imm_req_state(slot, seq));

	if (ret && ret != -EAGAIN)
		rtrs_clt_path_error(cc->path, ret);
	return ret;
}

static void rtrs_clt_path_overdue(struct rtrs_clt_path *path, u32 slot, const void *priv, unsigned long timeout)
{
	struct rtrs_clt_req *req = rtrs_clt_find_waiting(path, slot, priv);
	unsigned long now = jiffies | 1;
	bool first;

	if (!req || !rtrs_clt_req_overdue(req, timeout))
		return;
	rtrs_clt_count(path, RTRS_CLT_OVERDUE);
	if (!(path->features & RTRS_EXT_REQ_STATE))
		return;
	/* Before the answer, which resets it. */
	first = !cmpxchg(&path->asked_at, 0, now);
	if (rtrs_clt_state_ask(&path->conns[0], slot, READ_ONCE(req->seq)) && first)
		cmpxchg(&path->asked_at, now, 0);
}

/**
 * rtrs_clt_request_overdue() - a request should have been answered by now
 * @sess: open session
 * @permit: permit of the request
 * @priv: @priv of its struct rtrs_clt_req_ops
 * @timeout: how long it may take, jiffies
 *
 * Asks the server what became of it, if the server can be asked.  A request of which it knows nothing is sent again, and
 * a path over which it does not answer the question is given up.  Nothing happens to a request that is on no path, or
 * has come to its path less than @timeout ago: call again after another @timeout.  Not part of mainline's interface.
 *
 * Context: any.
 */
void rtrs_clt_request_overdue(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv,
			      unsigned long timeout)
{
	const struct rtrs_clt_paths *paths;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		rtrs_clt_path_overdue(paths->path[i], permit->slot, priv, timeout);
	rcu_read_unlock();
}
EXPORT_SYMBOL(rtrs_clt_request_overdue);

static enum rtrs_clt_where rtrs_clt_req_where(const struct rtrs_clt_req *req)
{
	u32 told = READ_ONCE(req->told), state = told & RTRS_CLT_TOLD_STATE;

	if (!(req->path->features & RTRS_EXT_REQ_STATE))
		return RTRS_CLT_WHERE_NOT_TOLD;
	if (!state || told != rtrs_clt_told(READ_ONCE(req->seq), state))
		return RTRS_CLT_WHERE_ASKED;
	return state == RTRS_REQ_STATE_ULP ? RTRS_CLT_WHERE_ULP : RTRS_CLT_WHERE_SERVER;
}

/**
 * rtrs_clt_request_where() - where is a request that is overdue
 * @sess: open session
 * @permit: permit of the request
 * @priv: @priv of its struct rtrs_clt_req_ops
 *
 * What the server has answered to rtrs_clt_request_overdue().  Not part of mainline's interface.
 *
 * Context: any.
 * Return: where it was when the server was asked last.
 */
enum rtrs_clt_where rtrs_clt_request_where(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv)
{
	enum rtrs_clt_where where = RTRS_CLT_WHERE_NO_PATH;
	const struct rtrs_clt_paths *paths;
	const struct rtrs_clt_req *req;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		req = rtrs_clt_find_waiting(paths->path[i], permit->slot, priv);
		if (req)
			where = rtrs_clt_req_where(req);
	}
	rcu_read_unlock();
	return where;
}
EXPORT_SYMBOL(rtrs_clt_request_where);

static void rtrs_clt_path_expire(struct rtrs_clt_path *path, u32 slot, const void *priv)
{
	struct rtrs_clt_req *req = rtrs_clt_find_waiting(path, slot, priv);

	if (!req || !rtrs_clt_req_mark(req, RTRS_REQ_EXPIRED))
		return;
	rtrs_clt_path_err_rl(path, "the request in slot %u has taken all the time it may, path given up for it\n", slot);
	rtrs_clt_count(path, RTRS_CLT_TIMED_OUT);
	rtrs_clt_path_error(path, -ETIMEDOUT);
}

/**
 * rtrs_clt_request_expire() - fail a request
 * @sess: open session
 * @permit: permit of the request
 * @priv: @priv of its struct rtrs_clt_req_ops
 *
 * The server may write to its pages as long as the path is there, and the ULP may not write to the same place again
 * before the server knows that it will.  So its path is given up; then, as for a path that was lost, the server is asked to
 * close it, the request completes with -ETIMEDOUT, and the others of that path are sent again over other paths.  One
 * that is answered just now completes with its answer.  Not part of mainline's interface.
 *
 * Context: any.
 */
void rtrs_clt_request_expire(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv)
{
	const struct rtrs_clt_paths *paths;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		rtrs_clt_path_expire(paths->path[i], permit->slot, priv);
	rcu_read_unlock();
}
EXPORT_SYMBOL(rtrs_clt_request_expire);

/* Nobody knows of it any more: it is sent again by the path's resend work. */
static void rtrs_clt_req_lost(struct rtrs_clt_req *req)
{
	struct rtrs_clt_path *path = req->path;
	int state = rtrs_clt_req_mark(req, RTRS_REQ_CLAIMED);

	if (!state)
		return;
	rtrs_clt_count(path, RTRS_CLT_ANSWER_LOST);
	rtrs_clt_path_err_rl(path, "the server has no request in slot %u and no answer came, it is sent again\n",
			     req->slot);
	req->error = RTRS_CLT_SEND_AGAIN;
	req->invalidated = false;
	req->srv_time = 0;
	rtrs_clt_req_responded(req, state);
}

/* The server has no request in this slot.  That counts only on the request's own connection, see above. */
static void rtrs_clt_state_none(struct rtrs_clt_conn *cc, struct rtrs_clt_req *req, u32 tag)
{
	struct rtrs_clt_path *path = cc->path;
	u32 seq = READ_ONCE(req->seq), cid;
	int state;

	/* PAIRS: with the submitter, that counts before it sets POSTED; a number read too late fits no answer. */
	smp_rmb();
	state = atomic_read_acquire(&req->state);
	if (!rtrs_clt_state_waits(state) || (seq ^ tag) & GENMASK(RTRS_IMM_STATE_TAG_BITS - 1, 0))
		return;
	cid = RTRS_REQ_CID(state);
	if (cid == cc->conn.cid && (state & RTRS_REQ_ASKED))
		rtrs_clt_req_lost(req);
	else if (rtrs_clt_req_mark(req, RTRS_REQ_ASKED))
		rtrs_clt_state_ask(&path->conns[cid], req->slot, seq);
}

/**
 * rtrs_clt_state_told() - REQ_STATE_RSP came
 * @cc: connection it came on, of a path with the extension
 * @imm: the immediate
 *
 * Context: completion handler.
 * Return: 0 or -EPROTO.
 */
int rtrs_clt_state_told(struct rtrs_clt_conn *cc, u32 imm)
{
	struct rtrs_clt_path *path = cc->path;
	enum rtrs_req_state state;
	struct rtrs_clt_req *req;
	u32 slot, value;

	if (rtrs_imm_req_state_rsp_decode(imm, &slot, &state, &value) || slot >= path->sess->queue_depth) {
		rtrs_clt_path_err_rl(path, "server tells the state of a request with immediate 0x%08x, which is not valid\n",
				     imm);
		return -EPROTO;
	}
	if (!cc->conn.cid)
		WRITE_ONCE(path->asked_at, 0);
	req = &path->reqs[slot];
	if (state == RTRS_REQ_STATE_NONE)
		rtrs_clt_state_none(cc, req, value);
	else
		WRITE_ONCE(req->told, rtrs_clt_told(READ_ONCE(req->seq), state));
	return 0;
}

/**
 * rtrs_clt_state_watch() - does the server answer what it is asked
 * @path: the path, connected
 *
 * Context: process; once a second.
 * Return: 0 or -ETIMEDOUT.
 */
int rtrs_clt_state_watch(struct rtrs_clt_path *path)
{
	const struct rtrs_clt_timing *timing = &path->sess->timing;
	unsigned long asked_at = READ_ONCE(path->asked_at);
	u64 ms;

	if (likely(!asked_at))
		return 0;
	ms = (u64)READ_ONCE(timing->hb_interval_ms) * (READ_ONCE(timing->hb_missed_max) + 1);
	ms = max_t(u64, ms, RTRS_CLT_STATE_TIMEOUT_MS);
	if (jiffies_to_msecs(jiffies - asked_at) < ms)
		return 0;
	rtrs_clt_path_err(path, "the server does not tell what became of a request, path given up\n");
	rtrs_clt_count(path, RTRS_CLT_TIMED_OUT);
	return -ETIMEDOUT;
}
