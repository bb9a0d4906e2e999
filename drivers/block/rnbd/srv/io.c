// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests of clients, as bios.
 *
 * Operation: an I/O with its bio comes from the session's pool, which has one for each slot of
 * the transport, so as a rule nothing is allocated and nothing waits.  The exception: with nearly
 * all in use, a search through the pool can miss the one that becomes free behind it.
 *
 * Ownership: once submitted, the bio belongs to the block layer, and its end frees the I/O, drops
 * the count of the device and answers the request, in this order: as soon as the answer is out,
 * the client may use the slot again, and the transport may tell that the session is gone.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../proto/opmap.h"
#include "fault.h"
#include "io.h"
#include "trace.h"

/* Number, for tracepoints, of an I/O that is not from a pool. */
#define RNBD_SRV_IO_NO_POOL	UINT_MAX

/* How late a bio is when a test wants it late. */
#define RNBD_SRV_IO_DELAY_MS	1000

/* Operation and fixed flags of a bio, by enum rnbd_io_op. */
static const blk_opf_t rnbd_srv_io_opf[RNBD_OP__NR] = {
	[RNBD_OP_READ]         = REQ_OP_READ,
	[RNBD_OP_WRITE]        = REQ_OP_WRITE,
	[RNBD_OP_FLUSH]        = REQ_OP_WRITE | REQ_PREFLUSH,
	[RNBD_OP_DISCARD]      = REQ_OP_DISCARD,
	[RNBD_OP_SECURE_ERASE] = REQ_OP_SECURE_ERASE,
	[RNBD_OP_WRITE_ZEROES] = REQ_OP_WRITE_ZEROES,
};

/**
 * rnbd_srv_io_pool_init() - allocate the I/Os of a session
 * @pool: the pool
 * @depth: how many, at least 1
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int rnbd_srv_io_pool_init(struct rnbd_srv_io_pool *pool, unsigned int depth)
{
	unsigned int nr;
	int ret;

	pool->ios = kvcalloc(depth, sizeof(*pool->ios), GFP_KERNEL);
	if (!pool->ios)
		return -ENOMEM;
	ret = sbitmap_init_node(&pool->map, depth, -1, GFP_KERNEL, NUMA_NO_NODE, false, true);
	if (ret) {
		kvfree(pool->ios);
		return ret;
	}
	for (nr = 0; nr < depth; nr++) {
		pool->ios[nr].pool = pool;
		pool->ios[nr].nr = nr;
	}
	return 0;
}

/**
 * rnbd_srv_io_pool_exit() - free the I/Os of a session
 * @pool: the pool, none of it in use
 *
 * Context: process.
 */
void rnbd_srv_io_pool_exit(struct rnbd_srv_io_pool *pool)
{
	sbitmap_free(&pool->map);
	kvfree(pool->ios);
}

static struct rnbd_srv_io *rnbd_srv_io_get(struct rnbd_srv_io_pool *pool)
{
	struct rnbd_srv_io *io;
	int nr;

	if (fault_here(alloc_io))
		return NULL;
	nr = sbitmap_get(&pool->map);
	if (likely(nr >= 0))
		return &pool->ios[nr];
	io = kzalloc(sizeof(*io), GFP_NOIO);
	if (io)
		io->nr = RNBD_SRV_IO_NO_POOL;
	return io;
}

static void rnbd_srv_io_put(struct rnbd_srv_io *io)
{
	if (likely(io->pool))
		sbitmap_put(&io->pool->map, io->nr);
	else
		kfree(io);
}

static void rnbd_srv_io_end(struct bio *bio)
{
	struct rnbd_srv_io *io = container_of(bio, struct rnbd_srv_io, bio);
	int ret = fault_here(bio_error) ? -EIO : blk_status_to_errno(bio->bi_status);
	struct rnbd_srv_dev *dev = io->dev;
	struct rtrs_srv_op *id = io->id;

	trace_rnbd_srv_io_done(dev, io->nr, ret);
	bio_uninit(bio);
	rnbd_srv_io_put(io);
	percpu_ref_put(&dev->io_ref);
	rtrs_srv_resp_rdma(id, ret);
}

/**
 * rnbd_srv_io_submit() - start a block request
 * @pool: I/Os of the session
 * @dev: the device; the caller's count of io_ref is taken over with RNBD_SRV_OK
 * @req: the request, found to be allowed
 * @data: payload or result area of @req->bytes bytes, physically contiguous; not used by operations
 *	  without data
 * @id: the transport's request, answered by the end of the bio with RNBD_SRV_OK
 *
 * Context: process; the block layer may sleep.
 * Return: RNBD_SRV_OK, or RNBD_SRV_NO_MEMORY and nothing is started.
 */
enum rnbd_srv_verdict rnbd_srv_io_submit(struct rnbd_srv_io_pool *pool, struct rnbd_srv_dev *dev,
					 const struct rnbd_srv_io_req *req, void *data,
					 struct rtrs_srv_op *id)
{
	blk_opf_t opf = rnbd_srv_io_opf[req->op];
	struct rnbd_srv_io *io;

	io = rnbd_srv_io_get(pool);
	if (!io)
		return RNBD_SRV_NO_MEMORY;

	if (req->sync)
		opf |= REQ_SYNC;
	if (req->fua)
		opf |= REQ_FUA;
	io->id = id;
	io->dev = dev;
	bio_init(&io->bio, dev->backend.bdev, &io->vec, 1, opf);
	io->bio.bi_iter.bi_sector = req->sector;
	io->bio.bi_ioprio = req->prio;
	io->bio.bi_end_io = rnbd_srv_io_end;
	if (rnbd_op_desc(req->op)->has_data)
		__bio_add_page(&io->bio, virt_to_page(data), req->bytes, offset_in_page(data));
	else
		io->bio.bi_iter.bi_size = req->bytes;
	trace_rnbd_srv_io_start(dev, io->nr, req);
	if (fault_here(bio_delayed))
		msleep(RNBD_SRV_IO_DELAY_MS);
	submit_bio(&io->bio);
	return RNBD_SRV_OK;
}
