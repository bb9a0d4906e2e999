/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory a path lends to its client: chunks and the memory regions that open them. */
#ifndef _RTRS_SRV_BUFFERS_H
#define _RTRS_SRV_BUFFERS_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "../verbs/mr.h"

/* With extension CREDITS: chunks of a region, unless each has one of its own. */
#define RTRS_SRV_CHUNKS_STEP	16U

/**
 * struct rtrs_srv_geo - sizes the server announces, the same for all its sessions
 * @queue_depth: slots of a session, and chunks of a path; with extension CREDITS it may have fewer
 * @chunk_size: bytes of a chunk, whole pages
 * @max_io_size: bytes of data in a chunk
 * @max_hdr_size: bytes of user message and header in a chunk
 * @mem_bits: width of the offset in the immediate of a request
 * @new_rkey: a chunk is invalidated for the time a WRITE is processed; each answer brings its key
 */
struct rtrs_srv_geo {
	u32 queue_depth;
	u32 chunk_size;
	u32 max_io_size;
	u32 max_hdr_size;
	u32 mem_bits;
	bool new_rkey;
};

/**
 * struct rtrs_srv_bufs - chunks and memory regions of one path
 *
 * Written by the info work, then by the chunks work, then by the close work, last by the end work; the state of a region
 * belongs to who owns its slot.
 *
 * @pd: protection domain of the regions
 * @dev: device the chunks are mapped for
 * @chunk_size: bytes of a chunk
 * @nr_chunks: chunks that are allocated
 * @nr_mrs: memory regions that are allocated
 * @chunks_per_mr: consecutive chunks in a region
 * @sgl: one mapped entry per chunk
 * @mrs: the regions
 */
struct rtrs_srv_bufs {
	struct ib_pd *pd;
	struct ib_device *dev;
	u32 chunk_size;
	u32 nr_chunks;
	u32 nr_mrs;
	u32 chunks_per_mr;
	struct scatterlist *sgl;
	struct rtrs_mr *mrs;
};

u32 rtrs_srv_bufs_chunks_per_mr(const struct ib_device *dev, const struct rtrs_srv_geo *geo, bool credits);
int rtrs_srv_bufs_create(struct rtrs_srv_bufs *bufs, struct ib_pd *pd, const struct rtrs_srv_geo *geo,
			 u32 chunks_per_mr);
int rtrs_srv_bufs_grow(struct rtrs_srv_bufs *bufs, u32 nr);
void rtrs_srv_bufs_shrink(struct rtrs_srv_bufs *bufs, u32 nr);
void rtrs_srv_bufs_detach(struct rtrs_srv_bufs *bufs);
void rtrs_srv_bufs_free_chunk(struct rtrs_srv_bufs *bufs, u32 slot);
void rtrs_srv_bufs_destroy(struct rtrs_srv_bufs *bufs);
int rtrs_srv_bufs_map_mr(struct rtrs_srv_bufs *bufs, u32 index, struct ib_cqe *cqe);

/**
 * rtrs_srv_bufs_addr() - kernel address of a chunk
 * @bufs: the buffers
 * @slot: number of the chunk
 *
 * Return: the address of its first byte.
 */
static inline void *rtrs_srv_bufs_addr(const struct rtrs_srv_bufs *bufs, u32 slot)
{
	return sg_virt(&bufs->sgl[slot]);
}

/**
 * rtrs_srv_bufs_dma() - DMA address of a chunk
 * @bufs: the buffers
 * @slot: number of the chunk
 *
 * Return: the address of its first byte.
 */
static inline u64 rtrs_srv_bufs_dma(const struct rtrs_srv_bufs *bufs, u32 slot)
{
	return sg_dma_address(&bufs->sgl[slot]);
}

#endif /* _RTRS_SRV_BUFFERS_H */
