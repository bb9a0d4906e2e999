/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One connection: CM id, queue pair, completion queue, and the accounting of its send queue.
 * Knows nothing of sessions and paths.
 */
#ifndef _RTRS_CONN_H
#define _RTRS_CONN_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cq.h"

#define RTRS_RECV_BATCH		16

/* A send queue that has something to do and has not moved for this long beyond its retries is stuck. */
#define RTRS_CONN_STALL_MS	6000

/**
 * struct rtrs_conn_attr - what a queue pair is created with
 * @pd: protection domain
 * @send_wrs: send queue entries the user will have outstanding
 * @recv_wrs: receive queue entries the user will post, a batch for late re-posting not counted
 * @send_sges: SGEs per send
 * @vector: completion vector
 * @ctx: where completion handlers run
 * @may_block: they may wait for a user of the transport (struct rtrs_cq)
 * @busy_poll_us: for how long they are run before somebody has to ask for them (struct rtrs_cq)
 * @recv_done: handler of receives
 * @send_done: handler of failed or signalled sends that bring no handler of their own
 * @round_done: called with the connection after the handlers of what one poll found, may be NULL;
 *	not with RTRS_CQ_DIRECT
 */
struct rtrs_conn_attr {
	struct ib_pd *pd;
	u32 send_wrs;
	u32 recv_wrs;
	u32 send_sges;
	u32 vector;
	enum rtrs_cq_ctx ctx;
	bool may_block;
	unsigned int busy_poll_us;
	void (*recv_done)(struct ib_cq *cq, struct ib_wc *wc);
	void (*send_done)(struct ib_cq *cq, struct ib_wc *wc);
	void (*round_done)(void *conn);
};

/**
 * struct rtrs_conn - a connection
 *
 * I: fixed while the queue pair exists.  Q: @sq_lock.  H: only the handlers of this connection's CQ,
 * which never run concurrently (see cq.c), and set-up before the first receive is posted.
 *
 * @cm_id: I. CM id; the queue pair belongs to it
 * @qp: I. queue pair, NULL if there is none
 * @cq: completion queue for sends and receives
 * @cid: I. number within the path; 0 is the service connection
 * @sq_lock: guards the send queue accounting and keeps it in posting order
 * @sq_size: I. entries of the send queue
 * @sq_free: Q. entries neither in use nor reserved
 * @sq_reserved: Q. entries that are reserved, for sends that are not posted yet
 * @sq_unsignaled: Q. entries posted since the last signalled one, that one excluded
 * @sq_signal_every: I. entries after which a signal is asked for
 * @sq_ring: Q. entries covered by each signalled post, oldest at @sq_tail
 * @sq_head: Q. where the next signalled post is noted
 * @sq_tail: Q. the oldest signalled post without completion
 * @watch_tail: Q. @sq_tail when the queue was last seen to move
 * @watch_since: Q. jiffies of that
 * @send_cqe: handler of sends that bring none of their own
 * @recv_cqe: handler of receives without buffer
 * @recv_batch: I. so many receives without buffer are posted again at a time
 * @recv_owed: H. consumed receives without buffer not re-posted yet
 * @recv_wr: I. preset chain for posting receives without buffer in batches
 */
struct rtrs_conn {
	struct rdma_cm_id *cm_id;
	struct ib_qp *qp;
	struct rtrs_cq cq;
	u16 cid;

	spinlock_t sq_lock;
	u32 sq_size;
	u32 sq_free;
	u32 sq_reserved;
	u32 sq_unsignaled;
	u32 sq_signal_every;
	u16 *sq_ring;
	u32 sq_head;
	u32 sq_tail;
	u32 watch_tail;
	unsigned long watch_since;
	struct ib_cqe send_cqe;

	struct ib_cqe recv_cqe;
	u32 recv_batch;
	u32 recv_owed;
	struct ib_recv_wr recv_wr[RTRS_RECV_BATCH];
};

int rtrs_conn_create_qp(struct rtrs_conn *conn, const struct rtrs_conn_attr *attr);
void rtrs_conn_drain(struct rtrs_conn *conn);
void rtrs_conn_destroy_qp(struct rtrs_conn *conn);

int rtrs_conn_post(struct rtrs_conn *conn, struct ib_send_wr *first, struct ib_send_wr *last,
		   u32 nr, bool signal);
int rtrs_conn_post_and_reserve(struct rtrs_conn *conn, struct ib_send_wr *first, struct ib_send_wr *last,
			       u32 nr, bool signal);
int rtrs_conn_reserve(struct rtrs_conn *conn);
void rtrs_conn_unreserve(struct rtrs_conn *conn);
int rtrs_conn_post_reserved(struct rtrs_conn *conn, struct ib_send_wr *wr, bool signal);
int rtrs_conn_post_reserved_imm(struct rtrs_conn *conn, u32 imm);
void rtrs_conn_send_completed(struct rtrs_conn *conn);
int rtrs_conn_watch(struct rtrs_conn *conn);
int rtrs_conn_post_empty_imm(struct rtrs_conn *conn, u32 imm);
int rtrs_conn_post_recv_empty(struct rtrs_conn *conn, u32 nr);
int rtrs_conn_post_recv_buf(struct rtrs_conn *conn, struct ib_cqe *cqe, u64 dma, u32 len);
int rtrs_conn_post_send_buf(struct rtrs_conn *conn, struct ib_cqe *cqe, u64 dma, u32 len);

/**
 * rtrs_conn_from_wc() - the connection of a completion
 * @wc: a completion
 *
 * Return: the connection whose queue pair it happened on.
 */
static inline struct rtrs_conn *rtrs_conn_from_wc(const struct ib_wc *wc)
{
	return wc->qp->qp_context;
}

/**
 * rtrs_conn_recv_consumed() - a receive without buffer completed, post a new one
 * @conn: the connection
 *
 * Posts in batches; the queue was created with room for one batch more than the peer can use up.
 *
 * Context: handler of a receive of this connection.
 * Return: 0 or an error of ib_post_recv().
 */
static inline int rtrs_conn_recv_consumed(struct rtrs_conn *conn)
{
	u32 nr;

	if (++conn->recv_owed < conn->recv_batch)
		return 0;
	nr = conn->recv_owed;
	conn->recv_owed = 0;
	return rtrs_conn_post_recv_empty(conn, nr);
}

#endif /* _RTRS_CONN_H */
