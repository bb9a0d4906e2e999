// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order of the requests of a slot.
 *
 * Ordering: per slot of the session, over all its paths, requests run one after the other in the
 * order in which they became ready; but with three paths one that becomes ready while another is being
 * answered may go before one that is queued.  After a failover the client sends what it had in flight
 * again, and the second copy must not run beside the first.  It does not wait for one that is not ready: an
 * invalidation may be stuck for as long as a dead path takes to notice.
 *
 * Nothing here tells which copy is the old one.  A network can hold back what was sent on a lost path
 * until the slot has long been used again on another, so each is run and answered, and a request of a
 * path that serves is never left without answer.  It is extension FENCE (fence.c) that keeps old ones
 * away, with a client that has it.
 *
 * Ownership: from the claim to the release a request has one owner and holds a reference of its
 * path's ops_ref.  A queued one belongs to the slot: who finishes the request before it starts it,
 * who closes its path finishes it.
 *
 * Locks: the slot's, with interrupts off, innermost but for those of the verbs layer.
 */
#include "rtrs-srv.h"

/* Hands requests to the ULP that cannot be handed over where they became ready. */
static struct workqueue_struct *rtrs_srv_io_wq;

/**
 * rtrs_srv_slot_running() - the request of a slot that the ULP has, or is about to have
 * @slot: the slot, with the lock held
 *
 * Context: any.
 * Return: the request, which is not released before the lock is; NULL if none runs.  One that is answered and only
 * waits to say so does not run.
 */
struct rtrs_srv_req *rtrs_srv_slot_running(const struct rtrs_srv_slot *slot)
{
	struct rtrs_srv_req *req;

	lockdep_assert_held(&slot->lock);
	list_for_each_entry(req, &slot->reqs, slot_entry)
		if (READ_ONCE(req->state) == RTRS_SRV_REQ_RUNNING || req->state == RTRS_SRV_REQ_STARTING)
			return req;
	return NULL;
}

/* Let the slot's first queued request run if none runs.  Return: the request to be started, or NULL. */
static struct rtrs_srv_req *rtrs_srv_slot_next(struct rtrs_srv_slot *slot)
{
	struct rtrs_srv_req *req;

	lockdep_assert_held(&slot->lock);
	if (likely(list_empty(&slot->reqs)) || rtrs_srv_slot_running(slot))
		return NULL;
	list_for_each_entry(req, &slot->reqs, slot_entry) {
		if (req->state == RTRS_SRV_REQ_QUEUED) {
			req->state = RTRS_SRV_REQ_STARTING;
			req->submitted = jiffies;
			return req;
		}
	}
	return NULL;
}

/**
 * rtrs_srv_req_claim() - take a slot for a new request
 * @req: the path's request of the slot; the caller has a reference of the path's ops_ref for it
 *
 * Context: any. Return: 0: the request is the caller's; -EBUSY if the slot's last request on
 * this path is not answered yet; -ENOBUFS if it has no chunk there; -ESHUTDOWN if the path is being closed.
 */
int rtrs_srv_req_claim(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&slot->lock, flags);
	if (!rtrs_srv_path_serves(req->path)) {
		ret = -ESHUTDOWN;
	} else if (req->state != RTRS_SRV_REQ_IDLE) {
		ret = -EBUSY;
	} else if (unlikely(!req->chunk)) {
		ret = -ENOBUFS;
	} else {
		req->state = RTRS_SRV_REQ_CLAIMED;
		list_add_tail(&req->slot_entry, &slot->reqs);
	}
	spin_unlock_irqrestore(&slot->lock, flags);
	return ret;
}

/**
 * rtrs_srv_req_open() - give a slot of a path a chunk: requests may come
 * @req: the path's request of the slot, which has none
 * @chunk: the chunk
 * @dma: its DMA address
 * @mr: its region if it has one of its own, else NULL
 *
 * Context: any.
 */
void rtrs_srv_req_open(struct rtrs_srv_req *req, void *chunk, u64 dma, struct rtrs_mr *mr)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	req->chunk_dma = dma;
	req->mr = mr;
	/* PAIRS: rtrs_srv_io_copy_list() */
	smp_store_release(&req->chunk, chunk);
	spin_unlock_irqrestore(&slot->lock, flags);
}

/**
 * rtrs_srv_req_close() - take the chunk of an idle slot away: no request may come
 * @req: the path's request of the slot
 *
 * Where the chunk is, and its region, is known until the next rtrs_srv_req_open().
 *
 * Context: any.
 * Return: false if the slot has a request of this path.
 */
bool rtrs_srv_req_close(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&slot->lock, flags);
	idle = req->state == RTRS_SRV_REQ_IDLE;
	if (idle)
		WRITE_ONCE(req->chunk, NULL);
	spin_unlock_irqrestore(&slot->lock, flags);
	return idle;
}

/**
 * rtrs_srv_req_queue() - header and data of a request are stable, it may run in its turn
 * @req: the request, claimed
 * @start: in its turn it is handed to the ULP by its start_work
 *
 * Context: any. Return: 0: it is its turn, the caller hands it to the ULP; -EINPROGRESS: another
 * request of the slot still runs, this one belongs to the slot; -ESHUTDOWN: its path is being
 * closed, the caller drops it.
 */
int rtrs_srv_req_queue(struct rtrs_srv_req *req, bool start)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&slot->lock, flags);
	if (unlikely(!rtrs_srv_path_serves(req->path))) {
		ret = -ESHUTDOWN;
	} else if (unlikely(!list_is_singular(&slot->reqs) && rtrs_srv_slot_running(slot))) {
		list_move_tail(&req->slot_entry, &slot->reqs);
		req->state = RTRS_SRV_REQ_QUEUED;
		ret = -EINPROGRESS;
	} else {
		req->state = start ? RTRS_SRV_REQ_STARTING : RTRS_SRV_REQ_RUNNING;
		req->submitted = jiffies;
		ret = 0;
	}
	spin_unlock_irqrestore(&slot->lock, flags);
	return ret;
}

/**
 * rtrs_srv_req_start() - have a request handed to the ULP by its start_work
 * @req: the request, STARTING
 *
 * Context: any.
 */
void rtrs_srv_req_start(struct rtrs_srv_req *req)
{
	queue_work(rtrs_srv_io_wq, &req->start_work);
}

/**
 * rtrs_srv_req_may_run() - is a request still to be handed to the ULP
 * @req: the request, STARTING; RUNNING if it is
 *
 * Context: start_work of the request.
 * Return: false if its path is being closed: run now it could overtake what the client has sent again elsewhere.
 */
bool rtrs_srv_req_may_run(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;
	bool serves;

	spin_lock_irqsave(&slot->lock, flags);
	serves = rtrs_srv_path_serves(req->path);
	if (serves)
		req->state = RTRS_SRV_REQ_RUNNING;
	spin_unlock_irqrestore(&slot->lock, flags);
	return serves;
}

/**
 * rtrs_srv_req_release() - give the slot back
 * @req: the request, not the caller's any more
 * @slot: its slot, with the lock held
 *
 * The client's next request for the slot may come as soon as the lock is dropped.
 *
 * Context: any.
 * Return: what rtrs_srv_req_finish() is to be called with after the lock is dropped.
 */
struct rtrs_srv_req *rtrs_srv_req_release(struct rtrs_srv_req *req, struct rtrs_srv_slot *slot)
{
	lockdep_assert_held(&slot->lock);
	list_del(&req->slot_entry);
	req->state = RTRS_SRV_REQ_IDLE;
	return rtrs_srv_slot_next(slot);
}

/**
 * rtrs_srv_req_finish() - start the slot's next request, drop the reference of the released one
 * @path: path of the released request; may be gone after return
 * @next: from rtrs_srv_req_release()
 *
 * Context: any.
 */
void rtrs_srv_req_finish(struct rtrs_srv_path *path, struct rtrs_srv_req *next)
{
	if (unlikely(next))
		rtrs_srv_req_start(next);
	percpu_ref_put(&path->ops_ref);
}

/**
 * rtrs_srv_req_drop() - finish a request without answer
 * @req: the request, not the caller's any more
 *
 * Context: any.
 */
void rtrs_srv_req_drop(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	struct rtrs_srv_path *path = req->path;
	struct rtrs_srv_req *next;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	next = rtrs_srv_req_release(req, slot);
	spin_unlock_irqrestore(&slot->lock, flags);
	rtrs_srv_req_finish(path, next);
}

/**
 * rtrs_srv_req_drop_queued() - drop a request of a closing path if it has not started
 * @req: the request, in any state
 *
 * Context: any.
 */
void rtrs_srv_req_drop_queued(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	struct rtrs_srv_path *path = req->path;
	struct rtrs_srv_req *next = NULL;
	unsigned long flags;
	bool queued;

	spin_lock_irqsave(&slot->lock, flags);
	queued = req->state == RTRS_SRV_REQ_QUEUED;
	if (queued)
		next = rtrs_srv_req_release(req, slot);
	spin_unlock_irqrestore(&slot->lock, flags);
	if (queued)
		rtrs_srv_req_finish(path, next);
}

/**
 * rtrs_srv_req_orphan() - the path of a request is gone, the ULP may still have it
 * @req: the request, in any state; its start_work does not run
 *
 * A ULP that keeps conflicting requests apart by itself is told, and the request leaves the order of its slot: what
 * a disk does not end must not hold up the slot's next request, which may be for another disk.  With any other ULP
 * it stays in that order until it is answered.
 *
 * Context: process; close work of the path.
 * Return: true if the ULP has it.
 */
bool rtrs_srv_req_orphan(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	bool (*orphaned)(struct rtrs_srv_op *id) = req->path->ctx->ops.orphaned;
	struct rtrs_srv_req *next = NULL;
	bool running, back = false;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	/* The ULP may answer at this moment; the request is not released before the lock is. */
	running = READ_ONCE(req->state) == RTRS_SRV_REQ_RUNNING;
	if (running && orphaned) {
		back = orphaned(&req->op);
		if (back)
			req->state = RTRS_SRV_REQ_ANSWERED;
		list_del_init(&req->slot_entry);
		next = rtrs_srv_slot_next(slot);
	}
	spin_unlock_irqrestore(&slot->lock, flags);
	if (next)
		rtrs_srv_req_start(next);
	if (back)
		rtrs_srv_req_drop(req);
	return running && !back;
}

/**
 * rtrs_srv_req_is_idle() - has a slot no request of a path
 * @req: the path's request of the slot
 *
 * Context: any.
 * Return: true if it has none; it stays so if the path is closing.
 */
bool rtrs_srv_req_is_idle(struct rtrs_srv_req *req)
{
	struct rtrs_srv_slot *slot = rtrs_srv_req_slot(req);
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&slot->lock, flags);
	idle = req->state == RTRS_SRV_REQ_IDLE;
	spin_unlock_irqrestore(&slot->lock, flags);
	return idle;
}

/**
 * rtrs_srv_slot_start_next() - a request is answered but waits to say so: let the next one run
 * @slot: the slot; not gone as long as the caller owns a request of it
 *
 * Context: any.
 */
void rtrs_srv_slot_start_next(struct rtrs_srv_slot *slot)
{
	struct rtrs_srv_req *next;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	next = rtrs_srv_slot_next(slot);
	spin_unlock_irqrestore(&slot->lock, flags);
	if (next)
		rtrs_srv_req_start(next);
}

/**
 * rtrs_srv_slots_init() - create what all slots share
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rtrs_srv_slots_init(void)
{
	/* Not shared with tear-down, which waits for what runs here. */
	rtrs_srv_io_wq = alloc_workqueue("rtrs-server-io", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return rtrs_srv_io_wq ? 0 : -ENOMEM;
}

/**
 * rtrs_srv_slots_exit() - undo rtrs_srv_slots_init()
 *
 * Context: module exit; no path is left.
 */
void rtrs_srv_slots_exit(void)
{
	destroy_workqueue(rtrs_srv_io_wq);
}
