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
 * Ownership: buffers belong to the info work until the path serves, then to the chunks work, and to the close work when that
 * has been waited for.  The chunks work is never queued after the step to CLOSING.
 *
 * Errors: no memory is an answer, with the number that there was; what a queue pair refuses closes the path.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/delay.h>
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

/* What rtrs_srv_chunks_post() waits for. */
static void rtrs_srv_chunks_posted(struct rtrs_srv_path *path, const struct ib_wc *wc, const char *what)
{
	struct rtrs_conn *conn = rtrs_conn_from_wc(wc);

	if (likely(wc->status == IB_WC_SUCCESS)) {
		rtrs_conn_send_completed(conn);
		rtrs_srv_io_kick(container_of(conn, struct rtrs_srv_conn, conn));
		complete(&path->chunks.posted);
		return;
	}
	/* Each WR of a batch brings one of these; nothing is posted after. */
	rtrs_srv_path_wc_failed(path, what, wc);
	WRITE_ONCE(path->chunks.failed, true);
	complete_all(&path->chunks.posted);
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
 * Post a chain on a connection and wait for the completion of @last, which the caller's handler tells by @posted.  Ends
 * in any case: a disconnect flushes the queue.
 */
static int rtrs_srv_chunks_post(struct rtrs_srv_path *path, u32 cid, struct ib_send_wr *first,
				struct ib_send_wr *last, u32 nr)
{
	int ret;

	for (;;) {
		ret = rtrs_conn_post(&path->conns[cid]->conn, first, last, nr, true);
		if (ret != -EAGAIN)
			break;
		/* Before it serves nobody else fills the queue. */
		if (!rtrs_srv_path_serves(path))
			return -ESHUTDOWN;
		usleep_range(500, 1000);
	}
	if (ret)
		return ret;
	wait_for_completion(&path->chunks.posted);
	return READ_ONCE(path->chunks.failed) ? -EIO : 0;
}

/* Post REG_MR for regions from @first on; return how many, or negative errno. */
static int rtrs_srv_chunks_reg_some(struct rtrs_srv_path *path, u32 first, u32 max)
{
	struct ib_send_wr *head = NULL, **link = &head, *last = NULL;
	struct rtrs_srv_bufs *bufs = &path->bufs;
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
	ret = rtrs_srv_chunks_post(path, 0, head, last, nr);
	return ret ?: nr;
}

/**
 * rtrs_srv_chunks_register() - register regions of a path
 * @path: the path
 * @first: the first region; all from this one on are registered
 *
 * Context: process, sleeps; info work or chunks work of the path.
 * Return: 0 or negative errno.
 */
int rtrs_srv_chunks_register(struct rtrs_srv_path *path, u32 first)
{
	u32 max = min_t(u32, RTRS_SRV_REG_BATCH, path->conns[0]->conn.sq_size);
	int ret;

	while (first < path->bufs.nr_mrs) {
		ret = rtrs_srv_chunks_reg_some(path, first, max);
		if (ret < 0)
			return ret;
		first += ret;
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

/* Return: 0, or negative errno: the path has as many as before, or is closed. */
static int rtrs_srv_chunks_grow(struct rtrs_srv_path *path, u32 nr)
{
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 was = bufs->nr_chunks, was_mrs = bufs->nr_mrs;
	int ret;

	ret = rtrs_srv_path_charge(path, nr);
	if (ret)
		return ret;
	ret = rtrs_srv_bufs_grow(bufs, nr);
	if (ret) {
		rtrs_srv_path_uncharge(path, was);
		return ret;
	}
	ret = rtrs_srv_chunks_register(path, was_mrs);
	if (ret) {
		rtrs_srv_path_fail(path, "registering chunks %u to %u: error %d", was, nr - 1, ret);
		return ret;
	}
	rtrs_srv_chunks_open(path, was);
	return 0;
}

/* Wait until all that was posted before is acknowledged: no adapter reads chunks of it again. */
static int rtrs_srv_chunks_flush(struct rtrs_srv_path *path)
{
	struct ib_rdma_wr wr;
	int ret = 0;
	u32 cid;

	for (cid = 0; cid < path->cid_num && !ret; cid++) {
		wr = (struct ib_rdma_wr) {
			.wr.wr_cqe = &path->chunks.flush_cqe,
			.wr.opcode = IB_WR_RDMA_WRITE,
		};
		ret = rtrs_srv_chunks_post(path, cid, &wr.wr, &wr.wr, 1);
	}
	return ret;
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

/* Take back what is not in use, down to @nr chunks. */
static void rtrs_srv_chunks_shrink(struct rtrs_srv_path *path, u32 nr)
{
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 left = bufs->nr_chunks, slot;
	int ret;

	while (left > nr && rtrs_srv_chunks_close_last(path, left))
		left -= bufs->chunks_per_mr;
	if (left == bufs->nr_chunks)
		return;
	WRITE_ONCE(path->chunks.open, left);
	ret = rtrs_srv_chunks_flush(path);
	if (ret) {
		rtrs_srv_path_fail(path, "flushing its send queues: error %d", ret);
		return;
	}
	/* PAIRS: rtrs_srv_io_get_list() */
	synchronize_rcu();
	for (slot = left; slot < bufs->nr_chunks; slot++)
		rtrs_srv_req_free_private(&path->reqs[slot]);
	rtrs_srv_bufs_shrink(bufs, left);
	rtrs_srv_path_uncharge(path, left);
}

/*
 * Descriptors of regions from @first on, and how many chunks there are.  The client has an answer before it asks again, so
 * nothing that is still to be sent is overwritten.
 */
static void rtrs_srv_chunks_answer(struct rtrs_srv_path *path, u32 first)
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
	int ret;

	for (i = first; i < bufs->nr_mrs; i++)
		rtrs_wire_put_desc(&chunks->table[i - first], bufs->mrs[i].mr->iova, bufs->mrs[i].mr->rkey,
				   bufs->chunks_per_mr * bufs->chunk_size);
	if (first < bufs->nr_mrs) {
		sge.length = (bufs->nr_mrs - first) * sizeof(*chunks->table);
		wr.wr.num_sge = 1;
		ib_dma_sync_single_for_device(path->dev, chunks->table_dma, sge.length, DMA_TO_DEVICE);
	}
	while ((ret = rtrs_conn_post(conn, &wr.wr, &wr.wr, 1, false)) == -EAGAIN && rtrs_srv_path_serves(path))
		usleep_range(500, 1000);
	if (ret)
		rtrs_srv_path_fail(path, "telling how many chunks it has: error %d", ret);
}

/* Tear-down, and with it fences, waits for this, and writeback may wait for these: no allocation recurses into it. */
static void rtrs_srv_chunks_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(work, struct rtrs_srv_path, chunks.work);
	struct rtrs_srv_bufs *bufs = &path->bufs;
	u32 was = bufs->nr_chunks, was_mrs = bufs->nr_mrs;
	u32 most = (was_mrs + RTRS_CHUNK_TABLE_DESCS) * bufs->chunks_per_mr;
	u32 nr = min(rtrs_srv_path_chunks(path, READ_ONCE(path->chunks.wanted)), most);
	unsigned int noio = memalloc_noio_save();
	int ret = 0;

	if (nr > was)
		ret = rtrs_srv_chunks_grow(path, nr);
	else if (nr < was)
		rtrs_srv_chunks_shrink(path, nr);
	if (ret)
		pr_warn_ratelimited("path %s: stays at %u chunks, its client wants %u: error %d\n", path->name, was,
				    nr, ret);
	trace_rtrs_srv_chunks(path->name, was, bufs->nr_chunks, nr);
	if (rtrs_srv_path_serves(path))
		rtrs_srv_chunks_answer(path, min(was_mrs, bufs->nr_mrs));
	memalloc_noio_restore(noio);
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
	/* It waits for completion handlers, and these may wait for the ULP. */
	rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTED, path->ctx->close_wq, &path->chunks.work);
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

	INIT_WORK(&chunks->work, rtrs_srv_chunks_work);
	chunks->reg_cqe.done = rtrs_srv_chunks_reg_done;
	chunks->flush_cqe.done = rtrs_srv_chunks_flushed;
	init_completion(&chunks->posted);
}

static int rtrs_srv_chunks_create_table(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;
	size_t bytes = RTRS_CHUNK_TABLE_DESCS * sizeof(*chunks->table);

	chunks->table = fault_here(alloc_table) ? NULL : kzalloc(bytes, GFP_KERNEL);
	if (!chunks->table)
		return -ENOMEM;
	chunks->table_dma = ib_dma_map_single(path->dev, chunks->table, bytes, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(path->dev, chunks->table_dma)) {
		kfree(chunks->table);
		chunks->table = NULL;
		return -ENOMEM;
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
	cancel_work_sync(&path->chunks.work);
}

/**
 * rtrs_srv_chunks_exit() - free chunks and what belongs to them
 * @path: the path, its queue pairs gone, its requests too; nothing happens to what is not there
 *
 * Context: process; close work of the path.
 */
void rtrs_srv_chunks_exit(struct rtrs_srv_path *path)
{
	struct rtrs_srv_chunks *chunks = &path->chunks;

	rtrs_srv_bufs_destroy(&path->bufs);
	if (!chunks->table)
		return;
	ib_dma_unmap_single(path->dev, chunks->table_dma, RTRS_CHUNK_TABLE_DESCS * sizeof(*chunks->table),
			    DMA_TO_DEVICE);
	kfree(chunks->table);
	chunks->table = NULL;
}
