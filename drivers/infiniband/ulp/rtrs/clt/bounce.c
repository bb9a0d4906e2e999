// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounce buffers for READs that are small, or on a device in software.
 *
 * Each slot of a path has a piece of memory that the server may write for as long as the path is up.  The
 * data of a small READ arrive there and are copied: that costs far less than registering the caller's
 * pages and having them invalidated for each request.  On a device in software a path has some larger pieces
 * besides, for READs that do not fit; when all are taken pages are registered.
 *
 * Ownership: a slot's request owns the slot's buffer, and the spare one that it has taken until it is
 * unmapped.  The memory is the path's alone and holds nothing but what this server sent.  What a server
 * writes there out of turn is only data of its own that nobody looks at, or that it could have sent anyway.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "../verbs/copy.h"
#include "clt.h"
#include "fault.h"

/* For all slots of a path together; a slot gets whole pages. */
#define RTRS_CLT_BOUNCE_TOTAL_BYTES	SZ_16M

static int rtrs_clt_max_bounce_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 0, &value) || value > RTRS_CLT_BOUNCE_SOFT_BYTES) {
		pr_err("parameter max_bounce_bytes=%.*s is not valid, allowed is 0 to %u\n",
		       (int)strcspn(val, "\n"), val, RTRS_CLT_BOUNCE_SOFT_BYTES);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, value);
	return 0;
}

static const struct kernel_param_ops rtrs_clt_max_bounce_ops = {
	.set = rtrs_clt_max_bounce_set,
	.get = param_get_uint,
};

/* Read when a path connects. */
static unsigned int rtrs_clt_max_bounce_bytes = RTRS_CLT_BOUNCE_SOFT_BYTES;
module_param_cb(max_bounce_bytes, &rtrs_clt_max_bounce_ops, &rtrs_clt_max_bounce_bytes, 0644);
__MODULE_PARM_TYPE(max_bounce_bytes, "uint");
MODULE_PARM_DESC(max_bounce_bytes,
		 "Bytes of the longest read that is copied from a bounce buffer (default: 131072)");

static int rtrs_clt_bounce_alloc_buf(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs)
{
	struct scatterlist *sg = &bufs->sgl[bufs->nr];
	void *buf;
	u64 dma;

	buf = fault_here(alloc_bounce) ? NULL :
	      alloc_pages_exact(bufs->bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!buf)
		return -ENOMEM;
	dma = ib_dma_map_single(path->dev, buf, bufs->bytes, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma)) {
		free_pages_exact(buf, bufs->bytes);
		return -ENOMEM;
	}
	sg_set_buf(sg, buf, bufs->bytes);
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = bufs->bytes;
	bufs->nr++;
	return 0;
}

static int rtrs_clt_bounce_alloc_mrs(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs,
				     struct rtrs_clt_mrs *mrs)
{
	u32 max_pages = path->dev->attrs.max_fast_reg_page_list_len;
	int ret;

	bufs->per_mr = max_pages / (bufs->bytes / SZ_4K);
	if (!bufs->per_mr)
		return -EINVAL;
	ret = rtrs_clt_mrs_alloc(mrs, path->pd, DIV_ROUND_UP(bufs->nr, bufs->per_mr), max_pages);
	bufs->mrs = mrs->mr;
	return ret;
}

/* The regions are the link's, which frees them. */
static void rtrs_clt_bounce_free(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs)
{
	while (bufs->nr) {
		struct scatterlist *sg = &bufs->sgl[--bufs->nr];

		ib_dma_unmap_single(path->dev, sg_dma_address(sg), bufs->bytes, DMA_FROM_DEVICE);
		free_pages_exact(sg_virt(sg), bufs->bytes);
	}
	kvfree(bufs->sgl);
	memset(bufs, 0, sizeof(*bufs));
}

/**
 * rtrs_clt_bounce_destroy() - undo rtrs_clt_bounce_create(), but for the regions, which are the link's
 * @path: drained path that owes no request any more; nothing happens if it has no buffers
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_destroy(struct rtrs_clt_path *path)
{
	rtrs_clt_bounce_free(path, &path->bounce.own);
	rtrs_clt_bounce_free(path, &path->bounce.spare);
	bitmap_zero(path->bounce.taken, RTRS_CLT_BOUNCE_SPARES);
}

/* On failure nothing is left but regions, which the link frees. */
static int rtrs_clt_bounce_alloc(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs,
				 struct rtrs_clt_mrs *mrs, u32 nr, u32 bytes)
{
	int ret = 0;

	bufs->bytes = bytes;
	bufs->sgl = kvcalloc(nr, sizeof(*bufs->sgl), GFP_KERNEL);
	if (!bufs->sgl)
		ret = -ENOMEM;
	else
		sg_init_table(bufs->sgl, nr);
	while (!ret && bufs->nr < nr)
		ret = rtrs_clt_bounce_alloc_buf(path, bufs);
	if (!ret)
		ret = rtrs_clt_bounce_alloc_mrs(path, bufs, mrs);
	if (ret)
		rtrs_clt_bounce_free(path, bufs);
	return ret;
}

/* Whole pages of at most so many bytes, if READs may be bounced at all. */
static u32 rtrs_clt_bounce_bytes(u32 most)
{
	return rounddown(min(most, READ_ONCE(rtrs_clt_max_bounce_bytes)), PAGE_SIZE);
}

/* Larger ones, where the slots' own are too small for some READs.  No path is without for want of them. */
static void rtrs_clt_bounce_create_spare(struct rtrs_clt_path *path)
{
	u32 bytes = rtrs_clt_bounce_bytes(RTRS_CLT_BOUNCE_SOFT_BYTES);

	if (!ib_uses_virt_dma(path->dev) || bytes <= path->bounce.own.bytes)
		return;
	if (rtrs_clt_bounce_alloc(path, &path->bounce.spare, &path->link->spare_mrs,
				  min_t(u32, RTRS_CLT_BOUNCE_SPARES, path->sess->queue_depth), bytes))
		rtrs_clt_mrs_free(&path->link->spare_mrs);
}

/**
 * rtrs_clt_bounce_create() - allocate the buffers of a path
 * @path: path in state CONNECTING, queue depth known
 *
 * All slots of a path together have RTRS_CLT_BOUNCE_TOTAL_BYTES, so a deep queue makes their buffers smaller, and with
 * one so deep that a slot would get less than a page they have none.  A device in software gets
 * larger ones, and spare ones for what is longer still: a copy costs it no more than a registration, and rdma_rxe
 * breaks a queue pair when it retransmits and finds a registration that it has done already.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno; rtrs_clt_bounce_destroy() cleans up.
 */
int rtrs_clt_bounce_create(struct rtrs_clt_path *path)
{
	u32 most = ib_uses_virt_dma(path->dev) ? RTRS_CLT_BOUNCE_SOFT_BYTES : RTRS_CLT_BOUNCE_BYTES;
	u32 depth = path->sess->queue_depth;
	u32 bytes = rtrs_clt_bounce_bytes(min_t(u32, most, RTRS_CLT_BOUNCE_TOTAL_BYTES / depth));
	struct rtrs_clt_bounce_bufs *own = &path->bounce.own;
	struct rtrs_clt_mrs *mrs = &path->link->bounce_mrs;
	int ret = 0;

	if (bytes)
		ret = rtrs_clt_bounce_alloc(path, own, mrs, depth, bytes);
	/* So much in one piece may be more than there is. */
	if (ret == -ENOMEM && bytes > RTRS_CLT_BOUNCE_BYTES) {
		rtrs_clt_mrs_free(mrs);
		ret = rtrs_clt_bounce_alloc(path, own, mrs, depth, RTRS_CLT_BOUNCE_BYTES);
	}
	if (!ret)
		rtrs_clt_bounce_create_spare(path);
	return ret;
}

static int rtrs_clt_bounce_register_bufs(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs,
					 struct rtrs_clt_mrs *mrs)
{
	struct rtrs_conn *conn = &path->conns[0].conn;
	u32 i, first, nr;
	int ret;

	for (i = 0; i < mrs->nr; i++) {
		struct rtrs_mr *rmr = &mrs->mr[i];

		first = i * bufs->per_mr;
		nr = min(bufs->per_mr, bufs->nr - first);
		ret = rtrs_mr_map(rmr, &bufs->sgl[first], nr,
				  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, &conn->send_cqe);
		if (!ret)
			ret = rtrs_conn_post(conn, &rmr->reg_wr.wr, &rmr->reg_wr.wr, 1, false);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rtrs_clt_bounce_register() - post the registrations
 * @path: the path, its service connection established
 *
 * The queue works in order: what is posted on the connection after this leaves when the buffers may be
 * written.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno.
 */
int rtrs_clt_bounce_register(struct rtrs_clt_path *path)
{
	int ret;

	ret = rtrs_clt_bounce_register_bufs(path, &path->bounce.own, &path->link->bounce_mrs);
	if (ret)
		return ret;
	return rtrs_clt_bounce_register_bufs(path, &path->bounce.spare, &path->link->spare_mrs);
}

/**
 * rtrs_clt_bounce_take() - find a buffer for a READ that does not fit into its slot's own
 * @req: the request, BUSY; its @bounced and @bounce_nr are set if there is one
 *
 * Context: any; the path is CONNECTED, as for rtrs_clt_send_on().
 */
void rtrs_clt_bounce_take(struct rtrs_clt_req *req)
{
	struct rtrs_clt_bounce *bounce = &req->path->bounce;
	unsigned int nr;

	if (req->data_len > bounce->spare.bytes)
		return;
	do {
		nr = find_first_zero_bit(bounce->taken, bounce->spare.nr);
		if (nr >= bounce->spare.nr)
			return;
	} while (test_and_set_bit_lock(nr, bounce->taken));
	req->bounced = &bounce->spare;
	req->bounce_nr = nr;
}

/**
 * rtrs_clt_bounce_give_back() - a READ does not need its buffer any more
 * @req: the request; nothing happens unless it has taken one
 *
 * Context: any; the buffers are there, as rtrs_clt_bounce_destroy() comes after all requests.
 */
void rtrs_clt_bounce_give_back(struct rtrs_clt_req *req)
{
	struct rtrs_clt_bounce *bounce = &req->path->bounce;

	if (req->bounced != &bounce->spare)
		return;
	clear_bit_unlock(req->bounce_nr, bounce->taken);
	req->bounced = NULL;
}

/**
 * rtrs_clt_bounce_desc() - describe a READ's buffer to the server
 * @req: the request, which has one
 * @desc: result
 *
 * Context: any.
 */
void rtrs_clt_bounce_desc(const struct rtrs_clt_req *req, struct rtrs_sg_desc *desc)
{
	const struct rtrs_clt_bounce_bufs *bufs = req->bounced;
	const struct ib_mr *mr = bufs->mrs[req->bounce_nr / bufs->per_mr].mr;
	u64 off = (u64)(req->bounce_nr % bufs->per_mr) * bufs->bytes;

	rtrs_wire_put_desc(desc, mr->iova + off, mr->rkey, req->data_len);
}

static void rtrs_clt_bounce_copy_to_page(struct page *page, size_t off, const void *buf, size_t len)
{
	void *to = kmap_local_page(page);

	rtrs_copy(to + off, buf, len);
	flush_dcache_page(page);
	kunmap_local(to);
}

/* Not inline: who has a single page would clear the iterator too, where kernels clear the stack. */
static noinline void rtrs_clt_bounce_copy_to_list(struct scatterlist *sg, unsigned int nr, const void *buf,
						  size_t len)
{
	struct sg_mapping_iter iter;
	size_t part;

	sg_miter_start(&iter, sg, nr, SG_MITER_ATOMIC | SG_MITER_TO_SG);
	while (len && sg_miter_next(&iter)) {
		part = min(len, iter.length);
		rtrs_copy(iter.addr, buf, part);
		buf += part;
		len -= part;
	}
	sg_miter_stop(&iter);
}

static void rtrs_clt_bounce_copy_to(struct scatterlist *sg, unsigned int nr, const void *buf, size_t len)
{
	/* The way through a list costs as much as the copy itself. */
	if (likely(len <= sg->length && sg->offset + len <= PAGE_SIZE))
		rtrs_clt_bounce_copy_to_page(sg_page(sg), sg->offset, buf, len);
	else
		rtrs_clt_bounce_copy_to_list(sg, nr, buf, len);
}

/**
 * rtrs_clt_bounce_copy() - copy a READ's data to where the caller wants them
 * @req: answered request that has a buffer
 *
 * Context: completion handler.
 */
void rtrs_clt_bounce_copy(const struct rtrs_clt_req *req)
{
	struct scatterlist *sg = &req->bounced->sgl[req->bounce_nr];

	ib_dma_sync_single_for_cpu(req->path->dev, sg_dma_address(sg), req->data_len,
				   DMA_FROM_DEVICE);
	rtrs_clt_bounce_copy_to(req->sg, req->sg_cnt, sg_virt(sg), req->data_len);
	ib_dma_sync_single_for_device(req->path->dev, sg_dma_address(sg), req->data_len,
				      DMA_FROM_DEVICE);
}
