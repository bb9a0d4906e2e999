// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks and memory regions of a path.
 *
 * Ownership: each path has memory of its own, zeroed, in a protection domain of its own: what one
 * client can write no other path, not even of the same session, works on.
 *
 * Each chunk is one physically contiguous piece, as the ULP gets a plain pointer to it, and is
 * mapped by itself, so that a part of it can be synchronised without looking up lists.  Each of its
 * pages is counted for itself, so lower layers of the ULP may take references on them.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../proto/geometry.h"
#include "buffers.h"
#include "fault.h"

/* Physically contiguous pages near the device; what the next power of two has beyond them is given back. */
static struct page *rtrs_srv_chunk_alloc(struct rtrs_srv_bufs *bufs)
{
	unsigned int order = get_order(bufs->chunk_size);
	unsigned int i;
	struct page *page;

	/* High orders fail in silence: the caller has the message. */
	page = fault_here(alloc_bufs) ? NULL :
	       alloc_pages_node(ibdev_to_node(bufs->dev),
				GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL, order);
	if (!page)
		return NULL;
	split_page(page, order);
	for (i = bufs->chunk_size >> PAGE_SHIFT; i < 1U << order; i++)
		__free_page(page + i);
	return page;
}

static int rtrs_srv_chunk_create(struct rtrs_srv_bufs *bufs, struct scatterlist *sg)
{
	struct page *page = rtrs_srv_chunk_alloc(bufs);
	u64 dma;

	if (!page)
		return -ENOMEM;
	dma = ib_dma_map_page(bufs->dev, page, 0, bufs->chunk_size, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(bufs->dev, dma)) {
		free_pages_exact(page_address(page), bufs->chunk_size);
		return -ENOMEM;
	}
	sg_set_page(sg, page, bufs->chunk_size, 0);
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = bufs->chunk_size;
	return 0;
}

static void rtrs_srv_chunk_destroy(struct rtrs_srv_bufs *bufs, struct scatterlist *sg)
{
	ib_dma_unmap_page(bufs->dev, sg_dma_address(sg), bufs->chunk_size, DMA_BIDIRECTIONAL);
	free_pages_exact(sg_virt(sg), bufs->chunk_size);
}

/* The content stays as it is: a disk may read it, or write it, just now. */
static void rtrs_srv_chunk_unmap(struct rtrs_srv_bufs *bufs, struct scatterlist *sg)
{
	if (!ib_uses_virt_dma(bufs->dev))
		dma_unmap_page_attrs(bufs->dev->dma_device, sg_dma_address(sg), bufs->chunk_size,
				     DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
}

/**
 * rtrs_srv_bufs_chunks_per_mr() - how many chunks of a path share a memory region
 * @dev: device
 * @geo: sizes
 * @credits: chunks come and go, so no region has more than RTRS_SRV_CHUNKS_STEP of them
 *
 * With new keys each chunk is invalidated by itself and needs a region of its own.
 *
 * Context: any.
 * Return: a divisor of the queue depth; 0 if a region of this device cannot hold even one chunk.
 */
u32 rtrs_srv_bufs_chunks_per_mr(const struct ib_device *dev, const struct rtrs_srv_geo *geo, bool credits)
{
	u32 pages = geo->chunk_size / SZ_4K;
	u32 max_pages = dev->attrs.max_fast_reg_page_list_len;

	if (geo->new_rkey)
		max_pages = min(max_pages, pages);
	else if (credits)
		max_pages = min(max_pages, RTRS_SRV_CHUNKS_STEP * pages);
	return rtrs_geometry_chunks_per_mr(geo->queue_depth, pages, max_pages);
}

/**
 * rtrs_srv_bufs_create() - make room for the chunks and regions that there may be
 * @bufs: the object, zeroed
 * @pd: protection domain of the path
 * @geo: sizes
 * @chunks_per_mr: from rtrs_srv_bufs_chunks_per_mr(), not 0
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; on failure nothing is left behind.
 */
int rtrs_srv_bufs_create(struct rtrs_srv_bufs *bufs, struct ib_pd *pd, const struct rtrs_srv_geo *geo,
			 u32 chunks_per_mr)
{
	bufs->pd = pd;
	bufs->dev = pd->device;
	bufs->chunk_size = geo->chunk_size;
	bufs->chunks_per_mr = chunks_per_mr;
	bufs->sgl = kvcalloc(geo->queue_depth, sizeof(*bufs->sgl), GFP_KERNEL);
	bufs->mrs = kvcalloc(geo->queue_depth / chunks_per_mr, sizeof(*bufs->mrs), GFP_KERNEL);
	if (!bufs->sgl || !bufs->mrs) {
		rtrs_srv_bufs_destroy(bufs);
		return -ENOMEM;
	}
	sg_init_table(bufs->sgl, geo->queue_depth);
	return 0;
}

/**
 * rtrs_srv_bufs_grow() - allocate and map chunks, allocate memory regions
 * @bufs: the buffers
 * @nr: how many chunks there are to be, a multiple of @chunks_per_mr, at most the queue depth
 *
 * Context: process, may sleep for long.
 * Return: 0 or negative errno; on failure there are as many as before.
 */
int rtrs_srv_bufs_grow(struct rtrs_srv_bufs *bufs, u32 nr)
{
	u32 max_pages = bufs->chunks_per_mr * (bufs->chunk_size / SZ_4K);
	u32 was = bufs->nr_chunks;
	int ret = 0;

	while (!ret && bufs->nr_chunks < nr) {
		ret = rtrs_srv_chunk_create(bufs, &bufs->sgl[bufs->nr_chunks]);
		if (!ret)
			bufs->nr_chunks++;
		cond_resched();
	}
	while (!ret && bufs->nr_mrs < nr / bufs->chunks_per_mr) {
		ret = rtrs_mr_alloc(&bufs->mrs[bufs->nr_mrs], bufs->pd, max_pages);
		if (!ret)
			bufs->nr_mrs++;
	}
	if (ret)
		rtrs_srv_bufs_shrink(bufs, was);
	return ret;
}

/**
 * rtrs_srv_bufs_shrink() - free the last chunks, and first the regions that open them
 * @bufs: the buffers
 * @nr: how many chunks are left, a multiple of @chunks_per_mr; nothing happens if there are not more
 *
 * Context: process, may sleep; nobody uses those chunks, and no adapter has to read them again.
 */
void rtrs_srv_bufs_shrink(struct rtrs_srv_bufs *bufs, u32 nr)
{
	while (bufs->nr_mrs > nr / bufs->chunks_per_mr)
		rtrs_mr_free(&bufs->mrs[--bufs->nr_mrs]);
	while (bufs->nr_chunks > nr)
		rtrs_srv_chunk_destroy(bufs, &bufs->sgl[--bufs->nr_chunks]);
}

/**
 * rtrs_srv_bufs_detach() - give back what chunks have of their device: regions and mappings
 * @bufs: the object; nothing happens if it was not created
 *
 * The ULP may go on with the memory.
 *
 * Context: process, may sleep; no queue pair can reach the memory any more.
 */
void rtrs_srv_bufs_detach(struct rtrs_srv_bufs *bufs)
{
	u32 slot;

	while (bufs->nr_mrs)
		rtrs_mr_free(&bufs->mrs[--bufs->nr_mrs]);
	for (slot = 0; slot < bufs->nr_chunks; slot++)
		rtrs_srv_chunk_unmap(bufs, &bufs->sgl[slot]);
}

/**
 * rtrs_srv_bufs_free_chunk() - free the memory of a chunk
 * @bufs: the buffers, detached
 * @slot: number of the chunk; nothing happens if it is freed
 *
 * Context: process; nobody uses the chunk.
 */
void rtrs_srv_bufs_free_chunk(struct rtrs_srv_bufs *bufs, u32 slot)
{
	struct scatterlist *sg = &bufs->sgl[slot];

	if (!sg->length)
		return;
	free_pages_exact(sg_virt(sg), bufs->chunk_size);
	sg->length = 0;
}

/**
 * rtrs_srv_bufs_destroy() - undo rtrs_srv_bufs_create() and rtrs_srv_bufs_grow()
 * @bufs: the object, detached; nothing happens if it was not created or is destroyed already
 *
 * Context: process, may sleep; nobody uses the memory.
 */
void rtrs_srv_bufs_destroy(struct rtrs_srv_bufs *bufs)
{
	while (bufs->nr_chunks)
		rtrs_srv_bufs_free_chunk(bufs, --bufs->nr_chunks);
	kvfree(bufs->mrs);
	bufs->mrs = NULL;
	kvfree(bufs->sgl);
	bufs->sgl = NULL;
}

/**
 * rtrs_srv_bufs_map_mr() - map the chunks of one region and prepare its REG_MR
 * @bufs: the buffers
 * @index: number of the region
 * @cqe: handler of the WR
 *
 * The WR is in the region's @reg_wr, not linked and not posted.
 *
 * Context: any; before a request uses the chunks.
 * Return: 0 or negative errno.
 */
int rtrs_srv_bufs_map_mr(struct rtrs_srv_bufs *bufs, u32 index, struct ib_cqe *cqe)
{
	struct scatterlist *sg = &bufs->sgl[index * bufs->chunks_per_mr];

	return rtrs_mr_map(&bufs->mrs[index], sg, bufs->chunks_per_mr,
			   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, cqe);
}
