// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: queue pair set-up and tear-down, send queue accounting, batched receives.
 *
 * Ordering: a send queue entry is free again only when a signalled entry behind it or itself has
 * completed.  Each signalled post notes how many entries it covers; send completions of one queue come
 * in order, so the oldest note belongs to the completion at hand.  Counting and posting happen under one
 * lock, or the notes would not be in queue order.
 *
 * Ownership: a posted WR's memory may be reused as soon as the post returns; what its SGEs point to
 * belongs to the queue until the completion that covers it, or until the drain.
 */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "../proto/retry.h"
#include "conn.h"
#include "fault.h"

#define RTRS_SIGNAL_EVERY_MAX	64

/* Both are read when a queue pair is created. */
static bool rtrs_conn_selective_signal = true;
module_param_named(selective_signal, rtrs_conn_selective_signal, bool, 0644);
MODULE_PARM_DESC(selective_signal, "Ask for the completion of few sends, not of each (default: Y)");

static bool rtrs_conn_batch_receives = true;
module_param_named(batch_receives, rtrs_conn_batch_receives, bool, 0644);
MODULE_PARM_DESC(batch_receives, "Post receives again 16 at a time, not one by one (default: Y)");

static void rtrs_conn_qp_event(struct ib_event *event, void *ctx)
{
	struct rtrs_conn *conn = ctx;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		rdma_notify(conn->cm_id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		break;
	default:
		/* The completions tell the rest: a fatal event moves the queue pair to error. */
		pr_err_ratelimited("device %s: queue pair event %s on connection %u\n",
				   dev_name(&event->device->dev), ib_event_msg(event->event),
				   conn->cid);
		break;
	}
}

static void rtrs_conn_preset_recv(struct rtrs_conn *conn)
{
	int i;

	for (i = 0; i < RTRS_RECV_BATCH; i++) {
		conn->recv_wr[i] = (struct ib_recv_wr) {
			.wr_cqe = &conn->recv_cqe,
			.next = i + 1 < RTRS_RECV_BATCH ? &conn->recv_wr[i + 1] : NULL,
		};
	}
	conn->recv_batch = READ_ONCE(rtrs_conn_batch_receives) ? RTRS_RECV_BATCH : 1;
	conn->recv_owed = 0;
}

/**
 * rtrs_conn_create_qp() - give a connection its completion queue and queue pair
 * @conn: connection with @cm_id bound to a device
 * @attr: sizes and handlers
 *
 * The device's own limit on queue entries must have been applied by the caller (geometry.h).
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; nothing is left behind on failure.
 */
int rtrs_conn_create_qp(struct rtrs_conn *conn, const struct rtrs_conn_attr *attr)
{
	/* One entry more on each queue for the drain, and late re-posted receives. */
	u32 send_wrs = attr->send_wrs + 1;
	u32 recv_wrs = attr->recv_wrs + RTRS_RECV_BATCH + 1;
	struct ib_device *dev = conn->cm_id->device;
	struct ib_qp_init_attr init = {
		.event_handler = rtrs_conn_qp_event,
		.qp_context = conn,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int ret;

	send_wrs = min_t(u32, send_wrs, dev->attrs.max_qp_wr);
	recv_wrs = min_t(u32, recv_wrs, dev->attrs.max_qp_wr);

	spin_lock_init(&conn->sq_lock);
	conn->sq_size = send_wrs - 1;
	conn->sq_free = conn->sq_size;
	conn->sq_reserved = 0;
	conn->sq_unsignaled = 0;
	conn->sq_signal_every = READ_ONCE(rtrs_conn_selective_signal) ?
				clamp_t(u32, conn->sq_size / 4, 1, RTRS_SIGNAL_EVERY_MAX) : 1;
	conn->sq_head = 0;
	conn->sq_tail = 0;
	conn->watch_tail = 0;
	conn->watch_since = jiffies;
	conn->sq_ring = kcalloc(conn->sq_size, sizeof(*conn->sq_ring), GFP_KERNEL);
	if (!conn->sq_ring)
		return -ENOMEM;

	conn->send_cqe.done = attr->send_done;
	conn->recv_cqe.done = attr->recv_done;
	conn->cq.may_block = attr->may_block;
	conn->cq.busy_poll_us = attr->busy_poll_us;
	conn->cq.round_done = attr->round_done;
	conn->cq.round_arg = conn;
	rtrs_conn_preset_recv(conn);

	/* In error each entry, signalled or not, gives a completion. */
	ret = rtrs_cq_create(&conn->cq, dev, send_wrs + recv_wrs, attr->vector, attr->ctx);
	if (ret)
		goto err_free_ring;

	init.send_cq = conn->cq.cq;
	init.recv_cq = conn->cq.cq;
	init.cap.max_send_wr = send_wrs;
	init.cap.max_recv_wr = recv_wrs;
	init.cap.max_send_sge = attr->send_sges;
	init.cap.max_recv_sge = 1;
	ret = fault_here(qp_create) ? -ENOMEM : rdma_create_qp(conn->cm_id, attr->pd, &init);
	if (ret)
		goto err_destroy_cq;
	conn->qp = conn->cm_id->qp;
	return 0;

err_destroy_cq:
	rtrs_cq_destroy(&conn->cq);
err_free_ring:
	kfree(conn->sq_ring);
	conn->sq_ring = NULL;
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_create_qp);

/* Posted behind all else by who drains a queue, on whose stack it is. */
struct rtrs_conn_marker {
	struct ib_cqe cqe;
	bool done;
};

/* Not to be touched any more once it is done. */
static void rtrs_conn_marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	smp_store_release(&container_of(wc->wr_cqe, struct rtrs_conn_marker, cqe)->done, true);
}

static void rtrs_conn_poll_for(struct rtrs_conn *conn, const struct rtrs_conn_marker *marker)
{
	while (!smp_load_acquire(&marker->done))
		if (!rtrs_cq_poll(&conn->cq))
			usleep_range(50, 200);
}

/*
 * ib_core looks every 100 ms at a queue that nobody polls, for receives and then for sends: so long would the
 * requests of a lost path wait, for each such connection.  What takes no marker is left to it.
 */
static void rtrs_conn_drain_polled(struct rtrs_conn *conn)
{
	struct rtrs_conn_marker sent = { .cqe.done = rtrs_conn_marker_done };
	struct rtrs_conn_marker received = sent;
	struct ib_rdma_wr send = { .wr.wr_cqe = &sent.cqe, .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_recv_wr recv = { .wr_cqe = &received.cqe };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	bool in_error = !ib_modify_qp(conn->qp, &attr, IB_QP_STATE);

	if (in_error && !ib_post_recv(conn->qp, &recv, NULL))
		rtrs_conn_poll_for(conn, &received);
	else
		ib_drain_rq(conn->qp);
	if (in_error && !ib_post_send(conn->qp, &send.wr, NULL))
		rtrs_conn_poll_for(conn, &sent);
	else
		ib_drain_sq(conn->qp);
}

/**
 * rtrs_conn_drain() - move the queue pair to error and wait for all its completions
 * @conn: the connection; nothing happens if it has no queue pair
 *
 * After return no handler of this connection runs and the peer can no longer reach memory through it.  The work of
 * its completion queue may still be returning, until rtrs_conn_destroy_qp().
 *
 * Receives come first, for their handlers send: what they sent is in front of the sends' marker then.  Handlers of
 * sends post no receive.
 *
 * Context: process, may sleep; not from a handler of this connection.
 */
void rtrs_conn_drain(struct rtrs_conn *conn)
{
	if (!conn->qp)
		return;
	if (conn->cq.ctx == RTRS_CQ_DIRECT) {
		rtrs_conn_drain_polled(conn);
		return;
	}
	ib_drain_rq(conn->qp);
	ib_drain_sq(conn->qp);
}
EXPORT_SYMBOL_GPL(rtrs_conn_drain);

/**
 * rtrs_conn_destroy_qp() - undo rtrs_conn_create_qp()
 * @conn: the connection, drained; nothing happens if it has no queue pair
 *
 * The CM id stays: as long as it exists the device stays too.
 *
 * Context: process, may sleep.
 */
void rtrs_conn_destroy_qp(struct rtrs_conn *conn)
{
	if (!conn->qp)
		return;
	rdma_destroy_qp(conn->cm_id);
	conn->qp = NULL;
	rtrs_cq_destroy(&conn->cq);
	kfree(conn->sq_ring);
	conn->sq_ring = NULL;
}
EXPORT_SYMBOL_GPL(rtrs_conn_destroy_qp);

static struct ib_rdma_wr rtrs_conn_empty_imm(struct rtrs_conn *conn, u32 imm)
{
	return (struct ib_rdma_wr){
		.wr.wr_cqe = &conn->send_cqe,
		.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.ex.imm_data = cpu_to_be32(imm),
	};
}

static bool rtrs_conn_has_room(struct rtrs_conn *conn, u32 nr)
{
	lockdep_assert_held(&conn->sq_lock);
	return likely(conn->sq_free >= nr) && !fault_here(sq_full);
}

static void rtrs_conn_reserve_locked(struct rtrs_conn *conn)
{
	lockdep_assert_held(&conn->sq_lock);
	conn->sq_free--;
	conn->sq_reserved++;
}

static void rtrs_conn_unreserve_locked(struct rtrs_conn *conn)
{
	lockdep_assert_held(&conn->sq_lock);
	conn->sq_free++;
	conn->sq_reserved--;
}

/* The caller has seen to it that there is room. */
static __always_inline int rtrs_conn_post_in_room(struct rtrs_conn *conn, struct ib_send_wr *first,
				  struct ib_send_wr *last, u32 nr, bool signal)
{
	int ret;

	lockdep_assert_held(&conn->sq_lock);
	/* Short of entries each post asks for its completion, so that the queue keeps moving. */
	if (conn->sq_unsignaled + nr >= conn->sq_signal_every ||
	    conn->sq_free - nr <= conn->sq_signal_every)
		signal = true;
	if (signal)
		last->send_flags |= IB_SEND_SIGNALED;
	ret = fault_here(post_send) ? -EIO : ib_post_send(conn->qp, first, NULL);
	if (unlikely(ret))
		return rtrs_retry_error(RTRS_FAILURE_POST, ret);
	conn->sq_free -= nr;
	conn->sq_unsignaled += nr;
	if (signal) {
		/* From now on one is awaited. */
		if (conn->sq_head == conn->sq_tail)
			conn->watch_since = jiffies;
		conn->sq_ring[conn->sq_head] = conn->sq_unsignaled;
		if (++conn->sq_head == conn->sq_size)
			conn->sq_head = 0;
		conn->sq_unsignaled = 0;
	}
	return 0;
}

static __always_inline int rtrs_conn_post_locked(struct rtrs_conn *conn, struct ib_send_wr *first,
						 struct ib_send_wr *last, u32 nr, bool signal)
{
	if (!rtrs_conn_has_room(conn, nr))
		return rtrs_retry_error(RTRS_FAILURE_SEND_QUEUE, 0);
	return rtrs_conn_post_in_room(conn, first, last, nr, signal);
}

/**
 * rtrs_conn_post() - post a chain of sends
 * @conn: the connection
 * @first: first WR
 * @last: last WR of the same chain; the one that gets the signal when one is due
 * @nr: WRs in the chain
 * @signal: ask for a completion of @last in any case
 *
 * None of the WRs may be signalled by the caller itself.  The handler of @last must call
 * rtrs_conn_send_completed() when it completes with success.
 *
 * Context: any.
 * Return: 0; -EAGAIN if the send queue is full, nothing was posted; else an error of ib_post_send() as
 * rtrs_retry_error() gives it, after which the connection can only be closed.
 */
int rtrs_conn_post(struct rtrs_conn *conn, struct ib_send_wr *first, struct ib_send_wr *last,
		   u32 nr, bool signal)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&conn->sq_lock, flags);
	ret = rtrs_conn_post_locked(conn, first, last, nr, signal);
	spin_unlock_irqrestore(&conn->sq_lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_post);

/**
 * rtrs_conn_post_and_reserve() - post a chain of sends, and make sure that there is room for one more
 * @conn: the connection
 * @first: as for rtrs_conn_post(), as are the other arguments
 * @last: last WR of the chain
 * @nr: WRs in the chain
 * @signal: ask for a completion
 *
 * For a chain that another send has to follow later, by rtrs_conn_post_reserved(), or rtrs_conn_unreserve() says that
 * it need not.
 *
 * Context: any.
 * Return: as rtrs_conn_post(); nothing is reserved on failure.
 */
int rtrs_conn_post_and_reserve(struct rtrs_conn *conn, struct ib_send_wr *first, struct ib_send_wr *last,
			       u32 nr, bool signal)
{
	int ret = rtrs_retry_error(RTRS_FAILURE_SEND_QUEUE, 0);
	unsigned long flags;

	spin_lock_irqsave(&conn->sq_lock, flags);
	if (rtrs_conn_has_room(conn, nr + 1)) {
		rtrs_conn_reserve_locked(conn);
		ret = rtrs_conn_post_in_room(conn, first, last, nr, signal);
		if (unlikely(ret))
			rtrs_conn_unreserve_locked(conn);
	}
	spin_unlock_irqrestore(&conn->sq_lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_and_reserve);

/**
 * rtrs_conn_reserve() - make sure that there is room for a message
 * @conn: the connection
 *
 * For who has to do something that cannot be undone before the message is posted, by
 * rtrs_conn_post_reserved().
 *
 * Context: any.
 * Return: 0, or -EAGAIN if the send queue is full.
 */
int rtrs_conn_reserve(struct rtrs_conn *conn)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->sq_lock, flags);
	if (rtrs_conn_has_room(conn, 1))
		rtrs_conn_reserve_locked(conn);
	else
		ret = rtrs_retry_error(RTRS_FAILURE_SEND_QUEUE, 0);
	spin_unlock_irqrestore(&conn->sq_lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_reserve);

/**
 * rtrs_conn_unreserve() - the room that was reserved is not needed
 * @conn: the connection, on which rtrs_conn_reserve() or rtrs_conn_post_and_reserve() was successful
 *
 * Context: any.
 */
void rtrs_conn_unreserve(struct rtrs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->sq_lock, flags);
	rtrs_conn_unreserve_locked(conn);
	spin_unlock_irqrestore(&conn->sq_lock, flags);
}
EXPORT_SYMBOL_GPL(rtrs_conn_unreserve);

/**
 * rtrs_conn_post_reserved() - post a message for which there is room
 * @conn: the connection, on which rtrs_conn_reserve() or rtrs_conn_post_and_reserve() was successful
 * @wr: the message, as for rtrs_conn_post()
 * @signal: ask for its completion in any case
 *
 * Context: any.
 * Return: 0, or an error of ib_post_send(), after which the connection can only be closed.
 */
int rtrs_conn_post_reserved(struct rtrs_conn *conn, struct ib_send_wr *wr, bool signal)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&conn->sq_lock, flags);
	rtrs_conn_unreserve_locked(conn);
	ret = rtrs_conn_post_in_room(conn, wr, wr, 1, signal);
	spin_unlock_irqrestore(&conn->sq_lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_reserved);

/**
 * rtrs_conn_post_reserved_imm() - send an empty RDMA WRITE with immediate for which there is room
 * @conn: the connection, on which rtrs_conn_reserve() was successful
 * @imm: immediate in CPU order
 *
 * Context: any.
 * Return: as rtrs_conn_post_reserved().
 */
int rtrs_conn_post_reserved_imm(struct rtrs_conn *conn, u32 imm)
{
	struct ib_rdma_wr wr = rtrs_conn_empty_imm(conn, imm);

	return rtrs_conn_post_reserved(conn, &wr.wr, false);
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_reserved_imm);

/**
 * rtrs_conn_send_completed() - account for a successful signalled send
 * @conn: the connection
 *
 * Context: handler of the completion.
 */
void rtrs_conn_send_completed(struct rtrs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->sq_lock, flags);
	conn->sq_free += conn->sq_ring[conn->sq_tail];
	if (++conn->sq_tail == conn->sq_size)
		conn->sq_tail = 0;
	spin_unlock_irqrestore(&conn->sq_lock, flags);
}
EXPORT_SYMBOL_GPL(rtrs_conn_send_completed);

/* In jiffies, for how long the adapter may try to get one send across. */
static unsigned long rtrs_conn_retries(struct rtrs_conn *conn)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	/* A queue without a time-out never gives up by itself. */
	if (ib_query_qp(conn->qp, &attr, IB_QP_TIMEOUT | IB_QP_RETRY_CNT, &init) || !attr.timeout)
		return 0;
	/* The first attempt, and as many again. */
	return nsecs_to_jiffies((4096ULL << attr.timeout) * (attr.retry_cnt + 1));
}

/**
 * rtrs_conn_watch() - does the send queue move
 * @conn: the connection
 *
 * A reliable connection acknowledges or fails a send within its retries, whatever the peer's ULP does.
 * rdma_rxe of 6.1 does neither for a queue that had to retransmit while a registration was in it: the
 * queue stops without a completion.  To be called about once a second.  Where entries are in use and none
 * will bring a completion, an empty write is posted that does.
 *
 * Context: process.  Handlers of a RTRS_CQ_DIRECT queue may run in it.
 * Return: 0; -ETIMEDOUT if the queue has not moved for as long as its retries take and RTRS_CONN_STALL_MS
 * more; or an error of rtrs_conn_post().
 */
int rtrs_conn_watch(struct rtrs_conn *conn)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &conn->send_cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
	};
	unsigned long flags, limit = 0;
	bool stalled = false, unawaited, idle;
	int ret = 0;

	/* Nobody may be waiting on a polled queue just now. */
	if (conn->cq.ctx == RTRS_CQ_DIRECT)
		rtrs_cq_poll(&conn->cq);

	spin_lock_irqsave(&conn->sq_lock, flags);
	/* A ring whose ends meet is full if each entry is signalled. */
	unawaited = conn->sq_unsignaled && conn->sq_head == conn->sq_tail;
	idle = conn->sq_free + conn->sq_reserved == conn->sq_size;
	if (unawaited || idle || conn->watch_tail != conn->sq_tail) {
		conn->watch_tail = conn->sq_tail;
		conn->watch_since = jiffies;
	} else {
		limit = conn->watch_since + msecs_to_jiffies(RTRS_CONN_STALL_MS);
		stalled = time_after(jiffies, limit);
	}
	if (unawaited)
		ret = rtrs_conn_post_locked(conn, &wr.wr, &wr.wr, 1, true);
	spin_unlock_irqrestore(&conn->sq_lock, flags);
	/* Only then is the adapter asked, which may sleep and take its time. */
	if (stalled && time_after(jiffies, limit + rtrs_conn_retries(conn)))
		return -ETIMEDOUT;
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_conn_watch);

/**
 * rtrs_conn_post_empty_imm() - send an empty RDMA WRITE with immediate
 * @conn: the connection
 * @imm: immediate in CPU order
 *
 * Context: any.
 * Return: as rtrs_conn_post().
 */
int rtrs_conn_post_empty_imm(struct rtrs_conn *conn, u32 imm)
{
	struct ib_rdma_wr wr = rtrs_conn_empty_imm(conn, imm);

	return rtrs_conn_post(conn, &wr.wr, &wr.wr, 1, false);
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_empty_imm);

/**
 * rtrs_conn_post_recv_empty() - post receives without buffer
 * @conn: the connection
 * @nr: how many
 *
 * Context: any; not concurrently with the handlers of this connection.
 * Return: 0 or an error of ib_post_recv().
 */
int rtrs_conn_post_recv_empty(struct rtrs_conn *conn, u32 nr)
{
	struct ib_recv_wr *first;
	u32 batch;
	int ret;

	while (nr) {
		/* The chain ends at the last element, so a shorter batch starts further in. */
		batch = min_t(u32, nr, RTRS_RECV_BATCH);
		first = &conn->recv_wr[RTRS_RECV_BATCH - batch];
		ret = fault_here(post_recv) ? -ENOMEM : ib_post_recv(conn->qp, first, NULL);
		if (ret)
			return rtrs_retry_error(RTRS_FAILURE_POST, ret);
		nr -= batch;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_recv_empty);

/**
 * rtrs_conn_post_recv_buf() - post one receive with a buffer
 * @conn: the connection
 * @cqe: handler
 * @dma: mapped address of the buffer, owned by the queue until the completion
 * @len: its bytes
 *
 * Context: any.
 * Return: 0 or an error of ib_post_recv().
 */
int rtrs_conn_post_recv_buf(struct rtrs_conn *conn, struct ib_cqe *cqe, u64 dma, u32 len)
{
	struct ib_sge sge = {
		.addr = dma,
		.length = len,
		.lkey = conn->qp->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret;

	ret = fault_here(post_recv) ? -ENOMEM : ib_post_recv(conn->qp, &wr, NULL);
	return unlikely(ret) ? rtrs_retry_error(RTRS_FAILURE_POST, ret) : 0;
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_recv_buf);

/**
 * rtrs_conn_post_send_buf() - post one plain send, signalled
 * @conn: the connection
 * @cqe: handler; it must call rtrs_conn_send_completed()
 * @dma: mapped address of the message, owned by the queue until the completion
 * @len: its bytes
 *
 * Context: any.
 * Return: as rtrs_conn_post().
 */
int rtrs_conn_post_send_buf(struct rtrs_conn *conn, struct ib_cqe *cqe, u64 dma, u32 len)
{
	struct ib_sge sge = {
		.addr = dma,
		.length = len,
		.lkey = conn->qp->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
	};

	return rtrs_conn_post(conn, &wr, &wr, 1, true);
}
EXPORT_SYMBOL_GPL(rtrs_conn_post_send_buf);
