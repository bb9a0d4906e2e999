// SPDX-License-Identifier: GPL-2.0-only
/*
 * One message for several responses (extension BATCH).
 *
 * A handler that takes many requests from its completion queue in one round, and has the ULP answer them
 * before it returns, does not post the responses one by one.  Those that tell nothing but their slot are
 * collected (rsp.c), and when the round is over a message is posted for as many of them as fit in an
 * immediate.  Nothing waits for more to come.
 *
 * Ownership: a request in a batch is answered but not released, and has its reference of the path's
 * ops_ref.  The batch is its connection's handlers' alone, which never run concurrently (cq.c).
 *
 * Ordering: slots are released before the message is posted, since the client's next requests for them may
 * come before the post returns, and over other connections.  So room in the send queue is reserved first.
 *
 * Locks: the slots', one after the other.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include "../proto/imm.h"
#include "rtrs-srv.h"

/* Move to @taken what one message can tell.  Return: its immediate. */
static u32 rtrs_srv_batch_take(struct rtrs_srv_conn *conn, struct list_head *taken)
{
	u32 mem_bits = conn->path->geo->mem_bits, lowest = U32_MAX, others = 0;
	struct rtrs_srv_req *req, *tmp;

	list_for_each_entry(req, &conn->batch, wait_entry)
		lowest = min(lowest, req->op.slot);
	list_for_each_entry_safe(req, tmp, &conn->batch, wait_entry) {
		if (req->op.slot - lowest > mem_bits)
			continue;
		if (req->op.slot != lowest)
			others |= BIT(req->op.slot - lowest - 1);
		list_move_tail(&req->wait_entry, taken);
	}
	return rtrs_imm_io_rsp_many(lowest, others, mem_bits);
}

static struct rtrs_srv_req *rtrs_srv_batch_pop(struct list_head *reqs)
{
	struct rtrs_srv_req *req = list_first_entry_or_null(reqs, struct rtrs_srv_req, wait_entry);

	if (req)
		list_del(&req->wait_entry);
	return req;
}

static void rtrs_srv_batch_release(struct rtrs_srv_path *path, struct list_head *reqs)
{
	struct rtrs_srv_req *req, *next;
	struct rtrs_srv_slot *slot;
	unsigned long flags;

	while ((req = rtrs_srv_batch_pop(reqs))) {
		slot = rtrs_srv_req_slot(req);
		spin_lock_irqsave(&slot->lock, flags);
		next = rtrs_srv_req_release(req, slot);
		spin_unlock_irqrestore(&slot->lock, flags);
		rtrs_srv_req_finish(path, next);
	}
}

static void rtrs_srv_batch_post(struct rtrs_srv_conn *conn, struct list_head *reqs, u32 imm)
{
	struct rtrs_srv_path *path = conn->path;
	struct rtrs_srv_req *req;
	int ret;

	/* Also on a path that is being closed: there responses are dropped. */
	if (list_is_singular(reqs) || unlikely(!rtrs_srv_path_serves(path)) ||
	    unlikely(rtrs_conn_reserve(&conn->conn))) {
		while ((req = rtrs_srv_batch_pop(reqs)))
			rtrs_srv_req_send_rsp(req);
		return;
	}
	/* The queue pair must not go with the last of the requests. */
	percpu_ref_get(&path->ops_ref);
	rtrs_srv_batch_release(path, reqs);
	ret = rtrs_conn_post_reserved_imm(&conn->conn, imm);
	if (unlikely(ret))
		rtrs_srv_path_fail(path, "posting responses on connection %u: error %d",
				   conn->conn.cid, ret);
	percpu_ref_put(&path->ops_ref);
}

/**
 * rtrs_srv_batch_end() - post what the round has collected
 * @arg: the connection, struct rtrs_conn
 *
 * Context: end of a round of the connection's completion handler.
 */
void rtrs_srv_batch_end(void *arg)
{
	struct rtrs_srv_conn *conn = container_of(arg, struct rtrs_srv_conn, conn);
	LIST_HEAD(taken);
	u32 imm;

	/* With one request at a time there is nothing to be put together. */
	if (list_is_singular(&conn->batch)) {
		rtrs_srv_req_send_rsp(rtrs_srv_batch_pop(&conn->batch));
		return;
	}
	while (!list_empty(&conn->batch)) {
		imm = rtrs_srv_batch_take(conn, &taken);
		rtrs_srv_batch_post(conn, &taken, imm);
	}
}
