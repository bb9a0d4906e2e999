// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounce buffers for READs that are small, or on a device in software.
 *
 * Each slot of a path has a piece of memory that the server may write for as long as the path is up.  The
 * data of a small READ arrive there and are copied: that costs far less than registering the caller's
 * pages and having them invalidated for each request.
 *
 * Ownership: the memory is the path's alone and holds nothing but what this server sent.  What a server
 * writes there out of turn is only data of its own that nobody looks at, or that it could have sent anyway.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>

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

static int rtrs_clt_bounce_alloc_slot(struct rtrs_clt_path *path, u32 slot)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	struct scatterlist *sg = &bounce->sgl[slot];
	void *buf;
	u64 dma;

	buf = fault_here(alloc_bounce) ? NULL :
	      alloc_pages_exact(bounce->bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!buf)
		return -ENOMEM;
	dma = ib_dma_map_single(path->dev, buf, bounce->bytes, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma)) {
		free_pages_exact(buf, bounce->bytes);
		return -ENOMEM;
	}
	sg_set_buf(sg, buf, bounce->bytes);
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = bounce->bytes;
	return 0;
}

static int rtrs_clt_bounce_alloc_mrs(struct rtrs_clt_path *path, u32 max_pages)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	u32 nr;
	int ret;

	bounce->slots_per_mr = max_pages / (bounce->bytes / SZ_4K);
	if (!bounce->slots_per_mr)
		return -EINVAL;
	nr = DIV_ROUND_UP(path->sess->queue_depth, bounce->slots_per_mr);
	ret = rtrs_clt_mrs_alloc(&path->link->bounce_mrs, path->pd, nr, max_pages);
	bounce->mrs = path->link->bounce_mrs.mr;
	return ret;
}

/**
 * rtrs_clt_bounce_destroy() - undo rtrs_clt_bounce_create(), but for the regions, which are the link's
 * @path: drained path; nothing happens if it has no buffers
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_destroy(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;

	while (bounce->nr_slots) {
		struct scatterlist *sg = &bounce->sgl[--bounce->nr_slots];

		ib_dma_unmap_single(path->dev, sg_dma_address(sg), bounce->bytes, DMA_FROM_DEVICE);
		free_pages_exact(sg_virt(sg), bounce->bytes);
	}
	kvfree(bounce->sgl);
	memset(bounce, 0, sizeof(*bounce));
}

static int rtrs_clt_bounce_alloc(struct rtrs_clt_path *path, u32 bytes)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	u32 depth = path->sess->queue_depth;
	int ret;

	bounce->bytes = bytes;
	bounce->sgl = kvcalloc(depth, sizeof(*bounce->sgl), GFP_KERNEL);
	if (!bounce->sgl)
		return -ENOMEM;
	sg_init_table(bounce->sgl, depth);
	for (; bounce->nr_slots < depth; bounce->nr_slots++) {
		ret = rtrs_clt_bounce_alloc_slot(path, bounce->nr_slots);
		if (ret)
			return ret;
	}
	return rtrs_clt_bounce_alloc_mrs(path, path->dev->attrs.max_fast_reg_page_list_len);
}

/**
 * rtrs_clt_bounce_create() - allocate the buffers of a path
 * @path: path in state CONNECTING, queue depth known
 *
 * All of a path together have RTRS_CLT_BOUNCE_TOTAL_BYTES, so a deep queue makes them smaller, and with one so
 * deep that a slot would get less than a page there are none.  A device in software gets
 * larger ones: a copy costs it no more than a registration, and rdma_rxe breaks a queue pair when it
 * retransmits and finds a registration that it has done already.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno; rtrs_clt_bounce_destroy() cleans up.
 */
int rtrs_clt_bounce_create(struct rtrs_clt_path *path)
{
	u32 most = ib_uses_virt_dma(path->dev) ? RTRS_CLT_BOUNCE_SOFT_BYTES : RTRS_CLT_BOUNCE_BYTES;
	u32 bytes = min_t(u32, most, RTRS_CLT_BOUNCE_TOTAL_BYTES / path->sess->queue_depth);
	int ret;

	bytes = rounddown(min(bytes, READ_ONCE(rtrs_clt_max_bounce_bytes)), PAGE_SIZE);
	if (!bytes)
		return 0;
	ret = rtrs_clt_bounce_alloc(path, bytes);
	/* So much in one piece may be more than there is. */
	if (ret == -ENOMEM && bytes > RTRS_CLT_BOUNCE_BYTES) {
		rtrs_clt_bounce_destroy(path);
		rtrs_clt_mrs_free(&path->link->bounce_mrs);
		ret = rtrs_clt_bounce_alloc(path, RTRS_CLT_BOUNCE_BYTES);
	}
	return ret;
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
	struct rtrs_clt_bounce *bounce = &path->bounce;
	struct rtrs_clt_mrs *mrs = &path->link->bounce_mrs;
	struct rtrs_conn *conn = &path->conns[0].conn;
	u32 i, first, nr;
	int ret;

	for (i = 0; i < mrs->nr; i++) {
		struct rtrs_mr *rmr = &mrs->mr[i];

		first = i * bounce->slots_per_mr;
		nr = min(bounce->slots_per_mr, bounce->nr_slots - first);
		ret = rtrs_mr_map(rmr, &bounce->sgl[first], nr,
				  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, &conn->send_cqe);
		if (!ret)
			ret = rtrs_conn_post(conn, &rmr->reg_wr.wr, &rmr->reg_wr.wr, 1, false);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rtrs_clt_bounce_desc() - describe a slot's buffer to the server
 * @path: connected path
 * @slot: the slot
 * @len: bytes wanted, at most @path->bounce.bytes
 * @desc: result
 *
 * Context: any.
 */
void rtrs_clt_bounce_desc(const struct rtrs_clt_path *path, u32 slot, u32 len,
			  struct rtrs_sg_desc *desc)
{
	const struct rtrs_clt_bounce *bounce = &path->bounce;
	const struct ib_mr *mr = bounce->mrs[slot / bounce->slots_per_mr].mr;
	u64 off = (u64)(slot % bounce->slots_per_mr) * bounce->bytes;

	rtrs_wire_put_desc(desc, mr->iova + off, mr->rkey, len);
}

static void rtrs_clt_bounce_copy_to(struct scatterlist *sg, unsigned int nr, const void *buf, size_t len)
{
	/* The helper's way through a list costs as much as the copy itself. */
	if (likely(len <= sg->length && sg->offset + len <= PAGE_SIZE))
		memcpy_to_page(sg_page(sg), sg->offset, buf, len);
	else
		sg_copy_from_buffer(sg, nr, buf, len);
}

/**
 * rtrs_clt_bounce_copy() - copy a READ's data to where the caller wants them
 * @req: answered request that used the slot's buffer
 *
 * Context: completion handler.
 */
void rtrs_clt_bounce_copy(const struct rtrs_clt_req *req)
{
	struct scatterlist *sg = &req->path->bounce.sgl[req->slot];

	ib_dma_sync_single_for_cpu(req->path->dev, sg_dma_address(sg), req->data_len,
				   DMA_FROM_DEVICE);
	rtrs_clt_bounce_copy_to(req->sg, req->sg_cnt, sg_virt(sg), req->data_len);
	ib_dma_sync_single_for_device(req->path->dev, sg_dma_address(sg), req->data_len,
				      DMA_FROM_DEVICE);
}
