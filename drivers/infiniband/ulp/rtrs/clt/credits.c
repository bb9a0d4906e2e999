// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a path needs for its slots: chunks at the server, regions and buffers here (extension CREDITS).
 *
 * Operation: a path begins with what few slots need.  When more slots are wanted (slots.c) its worker makes what is needed here and
 * asks the server for chunks.  The server writes their keys to a table of ours, and tells how many there are.  When fewer are
 * wanted, the worker has the server take chunks back.  What is made here stays until the path connects anew: a region can go
 * only when the adapter will not send its registration again, and nobody else needs it as chunks of a server are.
 *
 * A path without the extension has all from the start.
 *
 * Ownership: all belongs to the path's worker, which asks one question at a time, but for what the requests of open slots use.
 *
 * Errors: what a server must not say breaks the path.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

static bool rtrs_clt_credits = true;
module_param_named(credits, rtrs_clt_credits, bool, 0644);
MODULE_PARM_DESC(credits, "Extension: a path has only as many of the server's chunks as are needed (default: Y)");

/**
 * rtrs_clt_credits_features_off() - extensions that new connections do without
 *
 * Context: any.
 * Return: RTRS_EXT_* bits.
 */
u16 rtrs_clt_credits_features_off(void)
{
	return READ_ONCE(rtrs_clt_credits) ? 0 : RTRS_EXT_CREDITS;
}

static int rtrs_clt_credits_equip_slot(struct rtrs_clt_path *path, u32 slot)
{
	struct rtrs_clt_mrs *mrs = &path->link->slot_mrs;
	struct rtrs_clt_req *req = &path->reqs[slot];
	int ret;

	if (!req->buf) {
		req->buf_len = RTRS_CLT_MSG_BYTES;
		req->buf = fault_here(alloc_reqs) ? NULL : kmalloc(req->buf_len, GFP_KERNEL);
	}
	if (!req->buf)
		return -ENOMEM;
	if (slot == path->nr_mapped) {
		ret = rtrs_dma_map(path->dev, req->buf, req->buf_len, DMA_TO_DEVICE, &req->dma);
		if (ret)
			return ret;
		req->seq = 0;
		req->told = 0;
		path->nr_mapped++;
	}
	ret = rtrs_clt_mrs_add(mrs, path->pd, 1, path->mr_pages);
	if (!ret)
		req->mr = &mrs->mr[slot];
	return ret;
}

/**
 * rtrs_clt_credits_equip() - make what slots of a path need on this host
 * @path: path with requests and a device
 * @nr: the first @nr slots are to have it
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno: some of them may have it.
 */
int rtrs_clt_credits_equip(struct rtrs_clt_path *path, u32 nr)
{
	int ret = 0;

	lockdep_assert_held(&path->mutex);
	while (!ret && path->link->slot_mrs.nr < nr)
		ret = rtrs_clt_credits_equip_slot(path, path->link->slot_mrs.nr);
	return ret;
}

/**
 * rtrs_clt_credits_unmap() - unmap the messages of a path's slots
 * @path: torn down path; its regions are the link's
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_credits_unmap(struct rtrs_clt_path *path)
{
	struct rtrs_clt_req *req;

	while (path->nr_mapped) {
		req = &path->reqs[--path->nr_mapped];
		req->mr = NULL;
		ib_dma_unmap_single(path->dev, req->dma, req->buf_len, DMA_TO_DEVICE);
		if (!req->old_buf)
			continue;
		ib_dma_unmap_single(path->dev, req->old_dma, RTRS_CLT_MSG_BYTES, DMA_TO_DEVICE);
		kfree(req->old_buf);
		req->old_buf = NULL;
	}
}

/**
 * rtrs_clt_credits_create_table() - make the table that takes descriptors of chunks
 * @path: path that connects; nothing happens without extension CREDITS
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno; rtrs_clt_credits_destroy_table() cleans up.
 */
int rtrs_clt_credits_create_table(struct rtrs_clt_path *path)
{
	struct rtrs_clt_table *table = &path->credits.table;
	u64 dma;
	int ret;

	if (!rtrs_clt_path_has_credits(path))
		return 0;
	ret = rtrs_clt_mrs_alloc(&path->link->table_mr, path->pd, 1, RTRS_CLT_TABLE_BYTES / SZ_4K);
	if (ret)
		return ret;
	table->desc = fault_here(alloc_table) ? NULL : alloc_pages_exact(RTRS_CLT_TABLE_BYTES, GFP_KERNEL | __GFP_ZERO);
	if (!table->desc)
		return -ENOMEM;
	table->copy = kmalloc(RTRS_CLT_TABLE_BYTES, GFP_KERNEL);
	ret = table->copy ? rtrs_dma_map(path->dev, table->desc, RTRS_CLT_TABLE_BYTES, DMA_FROM_DEVICE, &dma) : -ENOMEM;
	if (ret) {
		kfree(table->copy);
		free_pages_exact(table->desc, RTRS_CLT_TABLE_BYTES);
		table->desc = NULL;
		return ret;
	}
	sg_init_one(&table->sg, table->desc, RTRS_CLT_TABLE_BYTES);
	sg_dma_address(&table->sg) = dma;
	sg_dma_len(&table->sg) = RTRS_CLT_TABLE_BYTES;
	return 0;
}

/**
 * rtrs_clt_credits_destroy_table() - undo rtrs_clt_credits_create_table(), but for the region, which is the link's
 * @path: drained path; nothing happens if it has no table
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_credits_destroy_table(struct rtrs_clt_path *path)
{
	struct rtrs_clt_table *table = &path->credits.table;

	if (!table->desc)
		return;
	ib_dma_unmap_single(path->dev, sg_dma_address(&table->sg), RTRS_CLT_TABLE_BYTES, DMA_FROM_DEVICE);
	kfree(table->copy);
	free_pages_exact(table->desc, RTRS_CLT_TABLE_BYTES);
	table->desc = NULL;
}

/**
 * rtrs_clt_credits_put_table() - register the table, and tell the server of it
 * @path: path that connects, its service connection established; nothing happens without a table
 * @msg: INFO_REQ, to be posted on that connection next
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno.
 */
int rtrs_clt_credits_put_table(struct rtrs_clt_path *path, struct rtrs_msg_info_req *msg)
{
	struct rtrs_conn *conn = &path->conns[0].conn;
	struct rtrs_mr *mr = path->link->table_mr.mr;
	int ret;

	if (!path->credits.table.desc)
		return 0;
	ret = rtrs_mr_map(mr, &path->credits.table.sg, 1, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, &conn->send_cqe);
	if (ret)
		return ret;
	rtrs_wire_put_info_table(msg, mr->mr->iova, mr->mr->rkey);
	return rtrs_conn_post(conn, &mr->reg_wr.wr, &mr->reg_wr.wr, 1, false);
}

/* How many slots, from the first on, have all that they need of this host; what was asked for may not have been made. */
static u32 rtrs_clt_credits_equipped(const struct rtrs_clt_path *path)
{
	const struct rtrs_clt_bounce_bufs *own = &path->bounce.own;

	return own->bytes ? min(path->link->slot_mrs.nr, own->nr) : path->link->slot_mrs.nr;
}

/**
 * rtrs_clt_credits_begin() - a path has its first chunks
 * @path: path that connects, its info exchange done
 * @nr: how many they are
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_credits_begin(struct rtrs_clt_path *path, u32 nr)
{
	path->credits.chunks = nr;
	path->credits.asked = 0;
	path->credits.last = path->credits.first;
	WRITE_ONCE(path->credits.told, 0);
	path->credits.slots = min(nr, rtrs_clt_credits_equipped(path));
}

/**
 * rtrs_clt_credits_told() - the server says how many chunks a path has
 * @path: the path
 * @nr: how many
 *
 * Context: completion handler.
 * Return: 0 or -EPROTO.
 */
int rtrs_clt_credits_told(struct rtrs_clt_path *path, u32 nr)
{
	if (!nr || nr > path->sess->queue_depth) {
		rtrs_clt_path_err_rl(path, "server tells of %u chunks, allowed are 1 to %u\n", nr,
				     path->sess->queue_depth);
		return -EPROTO;
	}
	/* PAIRS: rtrs_clt_credits_answered() */
	smp_store_release(&path->credits.told, nr);
	mod_delayed_work(rtrs_clt_wq, &path->dwork, 0);
	wake_up_all(&path->sess->fence_wq);
	return 0;
}

static int rtrs_clt_credits_read_table(struct rtrs_clt_path *path, u32 nr)
{
	struct rtrs_clt_table *table = &path->credits.table;
	u32 was = path->credits.chunks;
	int ret;

	ib_dma_sync_single_for_cpu(path->dev, sg_dma_address(&table->sg), RTRS_CLT_TABLE_BYTES, DMA_FROM_DEVICE);
	/* A copy: the server may write it at any time. */
	memcpy(table->copy, table->desc, RTRS_CLT_TABLE_BYTES);
	ib_dma_sync_single_for_device(path->dev, sg_dma_address(&table->sg), RTRS_CLT_TABLE_BYTES, DMA_FROM_DEVICE);
	ret = rtrs_wire_get_chunks(table->copy, RTRS_CHUNK_TABLE_DESCS, nr - was, path->chunk_size, path->rbufs + was);
	if (!ret)
		path->credits.chunks = nr;
	return ret;
}

/* The server has answered, with @told. */
static int rtrs_clt_credits_take_answer(struct rtrs_clt_path *path, u32 told)
{
	u32 asked = path->credits.asked, was = path->credits.was;
	bool more = asked > was;
	int ret = 0;

	if (!asked || told < min(asked, was) || (!more && told > was)) {
		rtrs_clt_path_err(path, "server tells of %u chunks, there were %u and %u were asked for\n", told, was,
				  asked);
		return -EPROTO;
	}
	path->credits.asked = 0;
	rtrs_clt_bounce_known(path);
	trace_rtrs_clt_chunks(path->name, was, told, asked);
	if (!more) {
		/* Those that it did not take back are good still. */
		path->credits.chunks = told;
	} else if (told > was) {
		ret = rtrs_clt_credits_read_table(path, told);
		if (ret)
			rtrs_clt_path_err(path, "reading the keys of chunks %u to %u: error %d\n", was, told - 1, ret);
	} else if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTING) {
		rtrs_clt_path_fail(path, "server has no memory for %u chunks, as other paths of the session have\n",
				   asked);
		ret = -ENOBUFS;
	} else {
		rtrs_clt_path_err_rl(path, "server has no memory for more than %u slots\n", was);
		rtrs_clt_slots_refused(path);
	}
	return ret;
}

static int rtrs_clt_credits_answered(struct rtrs_clt_path *path)
{
	u32 told = smp_load_acquire(&path->credits.told);

	if (!told)
		return 0;
	WRITE_ONCE(path->credits.told, 0);
	return rtrs_clt_credits_take_answer(path, told);
}

/* The send queue is full for the moment. */
static int rtrs_clt_credits_later(struct rtrs_clt_path *path)
{
	queue_delayed_work(rtrs_clt_wq, &path->dwork, 1);
	return 0;
}

static int rtrs_clt_credits_ask(struct rtrs_clt_path *path, u32 want)
{
	int ret;

	ret = rtrs_conn_post_empty_imm(&path->conns[0].conn, rtrs_imm_chunks(want, false));
	if (ret == -EAGAIN)
		return rtrs_clt_credits_later(path);
	if (ret)
		return ret;
	path->credits.was = path->credits.chunks;
	path->credits.asked = want;
	path->credits.last = want;
	/* From now on the server may take them back. */
	path->credits.chunks = min(path->credits.chunks, want);
	return 0;
}

/* Before the answer nothing that it concerns is touched. */
static int rtrs_clt_credits_follow(struct rtrs_clt_path *path)
{
	u32 want = rtrs_clt_slots_lower(path);
	int ret;

	if (path->credits.asked)
		return 0;
	ret = rtrs_clt_credits_equip(path, want);
	if (!ret)
		ret = rtrs_clt_bounce_grow_own(path, want);
	if (ret == -EAGAIN)
		return rtrs_clt_credits_later(path);
	if (ret) {
		rtrs_clt_path_err_rl(path, "no memory for more than %u slots: error %d\n", path->credits.slots, ret);
		if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTING)
			return ret;
		rtrs_clt_slots_refused(path);
		want = rtrs_clt_slots_lower(path);
	}
	/* Buffers that may not be registered yet are when the server has answered what is posted behind that. */
	if (!path->bounce.own_fresh)
		rtrs_clt_slots_have(path, min(want, rtrs_clt_credits_equipped(path)));
	/* What the server has refused to take back it is not asked for again. */
	if (path->bounce.own_fresh || want > path->credits.chunks ||
	    (want < path->credits.chunks && want != path->credits.last))
		return rtrs_clt_credits_ask(path, want);
	return 0;
}

/**
 * rtrs_clt_credits_run() - have a path follow how many slots its session wants
 * @path: path that is connected, or connects, after the info exchange; nothing happens without extension CREDITS
 *
 * A path that breaks over it is lost.
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_credits_run(struct rtrs_clt_path *path)
{
	int ret;

	lockdep_assert_held(&path->mutex);
	if (!rtrs_clt_path_has_credits(path))
		return;
	ret = rtrs_clt_credits_answered(path);
	if (!ret)
		ret = rtrs_clt_credits_follow(path);
	if (ret)
		rtrs_clt_path_error(path, ret);
	rtrs_clt_slots_raise(path->sess);
}
