// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks of a path that come and go (extension CREDITS).
 *
 * Operation: a path begins with as many chunks as its client says it needs.  Later the client asks for another number
 * over the service connection, and the work here makes chunks, or takes them back, and tells how many there are now:
 * keys of new ones are written to a table of the client, with the answer as immediate.  It may be fewer than
 * were asked for, if there is no memory or a limit forbids it, or more, as the chunks of a region go together.
 *
 * Ordering: a chunk that is taken back is closed first, under the lock of its slot, which no request of this path
 * uses then: what comes later finds it closed and breaks the path.  Then all send queues are flushed, for the
 * adapter may have to send the data of an answered READ again.  Only then region and memory go.
 *
 * Waiting: none of it waits for what the client can withhold, an acknowledgement above all.  The work posts and returns;
 * the completion, or a timer where a send queue has no room, queues it for its next step.  So any number of clients
 * that acknowledge nothing keeps no worker from the other paths.
 *
 * Ownership: buffers belong to the info work until the path serves, then to the chunks work, and to the close work when that
 * has been waited for.  The chunks work is never queued after the step to CLOSING.
 *
 * Errors: no memory is an answer, with the number that there was; what a queue pair refuses closes the path.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "fault.h"
#include "limits.h"
#include "rtrs-srv.h"

/* Registrations posted at a time, if the send queue has room for them. */
#define RTRS_SRV_REG_BATCH	64

/* Before a send queue without room is tried again. */
#define RTRS_SRV_CHUNKS_RETRY_MS	1

/* Of the info work, which waits, or of the chunks work, which is queued for its next step. */
static void rtrs_srv_chunks_posted(struct rtrs_srv_path *path, const struct ib_wc *wc, const char *what)
{
	struct rtrs_conn *conn = rtrs_conn_from_wc(wc);
	struct rtrs_srv_chunks *chunks = &path->chunks;
	bool waits = READ_ONCE(chunks->stage) == RTRS_SRV_CHUNKS_STEADY;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/* Each WR of a batch brings one of these; nothing is posted after. */
		rtrs_srv_path_wc_failed(path, what, wc);
		WRITE_ONCE(chunks->failed, true);
		complete_all(&chunks->posted);
		return;
	}
	rtrs_conn_send_completed(conn);
	rtrs_srv_io_kick(container_of(conn, struct rtrs_srv_conn, conn));
	if (waits) {
		complete(&chunks->posted);
		return;
	}
	/* PAIRS: rtrs_srv_chunks_step(): first the count.  A work that runs just now runs once more. */
	atomic_dec(&chunks->pending);
	rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTED, path->ctx->close_wq, &chunks->dwork, 0);
}

static void rtrs_srv_chunks_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	rtrs_srv_chunks_posted(container_of(wc->wr_cqe, struct rtrs_srv_path, chunks.reg_cqe), wc,
			       "registration of chunks");
}

static void rtrs_srv_chunks_flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	rtrs_srv_chunks_posted(container_of(wc->wr_cqe, struct rtrs_srv_path, chunks.flush_cqe), wc, "send");
}

/*
 * Post REG_MR for regions from @first on.  Return: how many; -EAGAIN without room in the send queue; or another errno.
 * The completion of the last one tells of all.
 */
static int rtrs_srv_chunks_reg_some(struct rtrs_srv_path *path, u32 first)
{
	struct ib_send_wr *head = NULL, **link = &head, *last = NULL;
	struct rtrs_srv_bufs *bufs = &path->bufs;
	struct rtrs_conn *conn = &path->conns[0]->conn;
	u32 max = min_t(u32, RTRS_SRV_REG_BATCH, conn->sq_size);
	u32 nr = min(max, bufs->nr_mrs - first);
	u32 i;
	int ret;

	for (i = first; i < first + nr; i++) {
		ret = rtrs_srv_bufs_map_mr(bufs, i, &path->chunks.reg_cqe);
		if (ret)
			return ret;
		last = &bufs->mrs[i].reg_wr.wr;
		*link = last;
		link = &last->next;
	}
	ret = rtrs_conn_post(conn, head, last, nr, true);
	return ret ?: nr;
}

/**
 * rtrs_srv_chunks_register() - register the regions that a path begins with
 * @path: the path; it does not serve yet, so nothing else is in its send queues
 *
 * Context: process, sleeps; info work of the path.  Ends in any case: a disconnect flushes the queue.
 * Return: 0 or negative errno.
 */
int rtrs_srv_chunks_register(struct rtrs_srv_path *path)
{
	u32 first = 0;
	int ret;

	while (first < path->bufs.nr_mrs) {
		ret = rtrs_srv_chunks_reg_some(path, first);
		if (ret < 0)
			return ret;
		first += ret;
		wait_for_completion(&path->chunks.posted);
		if (READ_ONCE(path->chunks.failed))
			return -EIO;
	}
	return 0;
}

/**
 * rtrs_srv_chunks_open() - let requests use chunks
 * @path: the path, with its requests
 * @first: the first chunk; all from this one on are opened
 *
 * Context: process; info work or chunks work of the path.
 */
void rtrs_srv_chunks_open(struct rtrs_srv_path *path, u32 first)
{
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 slot;

	for (slot = first; slot < bufs->nr_chunks; slot++)
		rtrs_srv_req_open(&path->reqs[slot], rtrs_srv_bufs_addr(bufs, slot),
				  rtrs_srv_bufs_dma(bufs, slot),
				  path->geo->new_rkey ? &bufs->mrs[slot] : NULL);
	WRITE_ONCE(path->chunks.open, bufs->nr_chunks);
}

/* Make chunks up to @nr, which are then to be registered.  Return: 0, or negative errno: the path has as many as before. */
static int rtrs_srv_chunks_grow(struct rtrs_srv_path *path, u32 nr)
{
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 was = bufs->nr_chunks;
	int ret;

	ret = rtrs_srv_path_charge(path, nr);
	if (ret)
		return ret;
	ret = rtrs_srv_bufs_grow(bufs, nr);
	if (ret)
		rtrs_srv_path_uncharge(path, was);
	return ret;
}

/* Return: 0 when all new regions are registered; -EAGAIN or -EINPROGRESS: not yet; or another errno. */
static int rtrs_srv_chunks_register_next(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	int ret;

	if (chunks->next == path->bufs.nr_mrs)
		return 0;
	atomic_inc(&chunks->pending);
	ret = rtrs_srv_chunks_reg_some(path, chunks->next);
	if (ret < 0) {
		atomic_dec(&chunks->pending);
		return ret;
	}
	chunks->next += ret;
	return -EINPROGRESS;
}

/*
 * Have a message acknowledged on each connection: then all that was posted before is, and no adapter reads chunks of it
 * again.  Return: as above.
 */
static int rtrs_srv_chunks_flush_next(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	struct ib_rdma_wr wr;
	int ret;

	while (chunks->next < path->cid_num) {
		wr = (struct ib_rdma_wr) {
			.wr.wr_cqe = &chunks->flush_cqe,
			.wr.opcode = IB_WR_RDMA_WRITE,
		};
		atomic_inc(&chunks->pending);
		ret = rtrs_conn_post(&path->conns[chunks->next]->conn, &wr.wr, &wr.wr, 1, true);
		if (ret) {
			atomic_dec(&chunks->pending);
			return ret;
		}
		chunks->next++;
	}
	return atomic_read(&chunks->pending) ? -EINPROGRESS : 0;
}

/* Close the chunks of the last region.  False, and none is closed, if a request uses one of them. */
static bool rtrs_srv_chunks_close_last(struct rtrs_srv_path *path, u32 nr)
{
	u32 slot, first = nr - path->bufs.chunks_per_mr;

	for (slot = first; slot < nr; slot++) {
		if (rtrs_srv_req_close(&path->reqs[slot]))
			continue;
		while (slot-- > first)
			rtrs_srv_req_open(&path->reqs[slot], rtrs_srv_bufs_addr(&path->bufs, slot),
					  path->reqs[slot].chunk_dma, path->reqs[slot].mr);
		return false;
	}
	return true;
}

/* Close what is not in use, down to @nr chunks.  Return: how many are left. */
static u32 rtrs_srv_chunks_close_down(struct rtrs_srv_path *path, u32 nr)
{
	u32 left = path->bufs.nr_chunks;

	while (left > nr && rtrs_srv_chunks_close_last(path, left))
		left -= path->bufs.chunks_per_mr;
	WRITE_ONCE(path->chunks.open, left);
	return left;
}

/* Free chunks that are closed, and that no adapter reads. */
static void rtrs_srv_chunks_free(struct rtrs_srv_path *path, u32 left)
{
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 slot;

	/* PAIRS: rtrs_srv_io_get_list() */
	synchronize_rcu();
	for (slot = left; slot < bufs->nr_chunks; slot++)
		rtrs_srv_req_free_private(&path->reqs[slot]);
	rtrs_srv_bufs_shrink(bufs, left);
	rtrs_srv_path_uncharge(path, left);
}

/*
 * Descriptors of regions from @first on, and how many chunks there are.  The client has an answer before it asks again, so
 * nothing that is still to be sent is overwritten.  Return: 0, -EAGAIN without room in the send queue, or another errno.
 */
static int rtrs_srv_chunks_answer(struct rtrs_srv_path *path, u32 first)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	struct rtrs_srv_bufs *bufs = &path->bufs;
	struct rtrs_conn *conn = &path->conns[0]->conn;
	struct ib_sge sge = {
		.addr = chunks->table_dma,
		.lkey = path->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &conn->send_cqe,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.sg_list = &sge,
			.ex.imm_data = cpu_to_be32(rtrs_imm_chunks(bufs->nr_chunks, true)),
		},
		.remote_addr = chunks->table_addr,
		.rkey = chunks->table_rkey,
	};
	u32 i;

	for (i = first; i < bufs->nr_mrs; i++)
		rtrs_wire_put_desc(&chunks->table[i - first], bufs->mrs[i].mr->iova, bufs->mrs[i].mr->rkey,
				   bufs->chunks_per_mr * bufs->chunk_size);
	if (first < bufs->nr_mrs) {
		sge.length = (bufs->nr_mrs - first) * sizeof(*chunks->table);
		wr.wr.num_sge = 1;
		ib_dma_sync_single_for_device(path->dev, chunks->table_dma, sge.length, DMA_TO_DEVICE);
	}
	return rtrs_conn_post(conn, &wr.wr, &wr.wr, 1, false);
}

/* What the client wants is more or less than there is: begin.  Return: as rtrs_srv_chunks_step(). */
static int rtrs_srv_chunks_begin(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 most = (bufs->nr_mrs + RTRS_CHUNK_TABLE_DESCS) * bufs->chunks_per_mr;
	int ret;

	/* PAIRS: rtrs_srv_chunks_want() */
	if (!xchg(&chunks->asked, 0))
		return -EINPROGRESS;
	chunks->goal = min(rtrs_srv_path_chunks(path, READ_ONCE(chunks->wanted)), most);
	chunks->was = bufs->nr_chunks;
	chunks->first = bufs->nr_mrs;
	chunks->next = 0;
	if (chunks->goal > chunks->was) {
		ret = rtrs_srv_chunks_grow(path, chunks->goal);
		if (ret)
			pr_warn_ratelimited("path %s: stays at %u chunks, its client wants %u: error %d\n", path->name,
					    chunks->was, chunks->goal, ret);
		chunks->next = chunks->first;
		chunks->left = bufs->nr_chunks;
		WRITE_ONCE(chunks->stage, RTRS_SRV_CHUNKS_REGISTERING);
	} else {
		chunks->left = rtrs_srv_chunks_close_down(path, chunks->goal);
		WRITE_ONCE(chunks->stage, chunks->left < chunks->was ? RTRS_SRV_CHUNKS_FLUSHING :
									RTRS_SRV_CHUNKS_ANSWERING);
	}
	return 0;
}

/*
 * Do what can be done now.  Return: 0: there may be more; -EINPROGRESS: a completion, or the client's next wish, queues
 * the work; -EAGAIN: to be tried again; or another errno.
 */
static int rtrs_srv_chunks_step(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	int ret;

	/* PAIRS: rtrs_srv_chunks_posted() */
	if (atomic_read(&chunks->pending) && chunks->stage != RTRS_SRV_CHUNKS_FLUSHING)
		return -EINPROGRESS;
	switch (chunks->stage) {
	case RTRS_SRV_CHUNKS_STEADY:
		return rtrs_srv_chunks_begin(path);
	case RTRS_SRV_CHUNKS_REGISTERING:
		ret = rtrs_srv_chunks_register_next(path);
		if (ret)
			return ret;
		rtrs_srv_chunks_open(path, chunks->was);
		break;
	case RTRS_SRV_CHUNKS_FLUSHING:
		ret = rtrs_srv_chunks_flush_next(path);
		if (ret)
			return ret;
		rtrs_srv_chunks_free(path, chunks->left);
		break;
	case RTRS_SRV_CHUNKS_ANSWERING:
		ret = rtrs_srv_chunks_answer(path, min(chunks->first, path->bufs.nr_mrs));
		if (ret)
			return ret;
		trace_rtrs_srv_chunks(path->name, chunks->was, path->bufs.nr_chunks, chunks->goal);
		WRITE_ONCE(chunks->stage, RTRS_SRV_CHUNKS_STEADY);
		return 0;
	}
	WRITE_ONCE(chunks->stage, RTRS_SRV_CHUNKS_ANSWERING);
	return 0;
}

/* Tear-down, and with it fences, waits for this, and writeback may wait for these: no allocation recurses into it. */
static void rtrs_srv_chunks_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(to_delayed_work(work), struct rtrs_srv_path, chunks.dwork);
	unsigned int noio = memalloc_noio_save();
	int ret;

	do {
		ret = rtrs_srv_path_serves(path) ? rtrs_srv_chunks_step(path) : -EINPROGRESS;
	} while (!ret);
	memalloc_noio_restore(noio);
	if (ret == -EAGAIN)
		rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTED, path->ctx->close_wq, &path->chunks.dwork,
				    msecs_to_jiffies(RTRS_SRV_CHUNKS_RETRY_MS));
	else if (ret != -EINPROGRESS)
		rtrs_srv_path_fail(path, "changing the number of its chunks from %u to %u: error %d",
				   path->chunks.was, path->chunks.goal, ret);
}

/**
 * rtrs_srv_chunks_want() - the client wants another number of chunks
 * @path: the path, with extension CREDITS
 * @nr: how many
 *
 * Context: completion handler.
 */
void rtrs_srv_chunks_want(struct rtrs_srv_path *path, u32 nr)
{
	if (!nr || nr > path->geo->queue_depth) {
		rtrs_srv_path_fail(path, "client wants %u chunks, allowed are 1 to %u", nr, path->geo->queue_depth);
		return;
	}
	WRITE_ONCE(path->chunks.wanted, nr);
	/* PAIRS: rtrs_srv_chunks_begin() */
	smp_store_release(&path->chunks.asked, 1);
	rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTED, path->ctx->close_wq, &path->chunks.dwork, 0);
}

/**
 * rtrs_srv_chunks_init() - prepare a new path
 * @path: the path, just created
 *
 * Context: process.
 */
void rtrs_srv_chunks_init(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;

	INIT_DELAYED_WORK(&chunks->dwork, rtrs_srv_chunks_work);
	chunks->reg_cqe.done = rtrs_srv_chunks_reg_done;
	chunks->flush_cqe.done = rtrs_srv_chunks_flushed;
	init_completion(&chunks->posted);
}

static int rtrs_srv_chunks_create_table(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	size_t bytes = RTRS_CHUNK_TABLE_DESCS * sizeof(*chunks->table);
	int ret;

	chunks->table = fault_here(alloc_table) ? NULL : kzalloc(bytes, GFP_KERNEL);
	if (!chunks->table)
		return -ENOMEM;
	ret = rtrs_dma_map(path->dev, chunks->table, bytes, DMA_TO_DEVICE, &chunks->table_dma);
	if (ret) {
		kfree(chunks->table);
		chunks->table = NULL;
		return ret;
	}
	rtrs_wire_get_info_table(path->info.req, &chunks->table_addr, &chunks->table_rkey);
	return 0;
}

/**
 * rtrs_srv_chunks_create() - make the chunks that a path begins with
 * @path: the path, its INFO_REQ good
 *
 * What failed half-way is undone by rtrs_srv_chunks_exit().
 *
 * Context: process, may sleep for long; info work of the path.
 * Return: 0 or negative errno.
 */
int rtrs_srv_chunks_create(struct rtrs_srv_path *path)
{
	int ret;

	ret = rtrs_srv_bufs_create(&path->bufs, path->pd, path->geo, path->chunks.per_mr);
	if (!ret && (path->features & RTRS_EXT_CREDITS))
		ret = rtrs_srv_chunks_create_table(path);
	return ret ?: rtrs_srv_bufs_grow(&path->bufs, path->chunks.charged);
}

/**
 * rtrs_srv_chunks_stop() - wait for the chunks work of a closing path
 * @path: the path, CLOSING, its connections disconnected
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_chunks_stop(struct rtrs_srv_path *path)
{
	cancel_delayed_work_sync(&path->chunks.dwork);
}

/**
 * rtrs_srv_chunks_detach() - give back what a path's chunks have of its device, and all that no request uses
 * @path: the path, its queue pairs gone; nothing happens to what is not there
 *
 * Context: process; close work of the path.
 * Return: how many chunks requests use that the ULP still has.
 */
u32 rtrs_srv_chunks_detach(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 slot, kept = 0;

	rtrs_srv_bufs_detach(bufs);
	for (slot = 0; slot < bufs->nr_chunks; slot++) {
		if (path->reqs && !rtrs_srv_req_is_idle(&path->reqs[slot])) {
			kept++;
			continue;
		}
		rtrs_srv_bufs_free_chunk(bufs, slot);
		if (path->reqs)
			rtrs_srv_req_free_private(&path->reqs[slot]);
	}
	if (!chunks->table)
		return kept;
	ib_dma_unmap_single(path->dev, chunks->table_dma, RTRS_CHUNK_TABLE_DESCS * sizeof(*chunks->table),
			    DMA_TO_DEVICE);
	kfree(chunks->table);
	chunks->table = NULL;
	return kept;
}

/**
 * rtrs_srv_chunks_exit() - free the chunks that the ULP was the last to use
 * @path: the path, detached, its requests gone
 *
 * Context: process; end work of the path.
 */
void rtrs_srv_chunks_exit(struct rtrs_srv_path *path)
{
	rtrs_srv_bufs_destroy(&path->bufs);
	/* Without a charge there is no peer. */
	if (path->chunks.charged)
		rtrs_srv_path_uncharge(path, 0);
}
