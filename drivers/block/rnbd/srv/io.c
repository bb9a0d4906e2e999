// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests of clients, as bios.
 *
 * Operation: each request of the transport has room for an I/O with its bio, so nothing is allocated.
 *
 * Ownership: once submitted, the bio belongs to the block layer, and its end is through with the I/O, drops the
 * count of the device and answers the request, in this order: as soon as the answer is out, the client may
 * use the slot again, and the transport may tell that the session is gone.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/mm.h>

#include "../proto/opmap.h"
#include "fault.h"
#include "io.h"
#include "orphan.h"
#include "trace.h"

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

static void rnbd_srv_io_end(struct bio *bio)
{
	struct rnbd_srv_io *io = container_of(bio, struct rnbd_srv_io, bio);
	int ret = fault_here(bio_error) ? -EIO : blk_status_to_errno(bio->bi_status);
	struct rnbd_srv_dev *dev = io->dev;
	struct rtrs_srv_op *id = io->id;

	trace_rnbd_srv_io_done(dev, id->slot, ret);
	bio_uninit(bio);
	/* PAIRS: rnbd_srv_orphaned() */
	if (unlikely(xchg(&io->state, RNBD_SRV_IO_ENDED) == RNBD_SRV_IO_ORPHANED))
		rnbd_srv_orphan_end(io);
	percpu_ref_put(&dev->io_ref);
	rtrs_srv_resp_rdma(id, ret);
}

static void rnbd_srv_io_start_work(struct work_struct *work)
{
	struct rnbd_srv_io *io = container_of(work, struct rnbd_srv_io, start_work);

	submit_bio(&io->bio);
}

/**
 * rnbd_srv_io_start_later() - submit a request that has waited for orphaned ones
 * @io: the request
 *
 * Context: any.
 */
void rnbd_srv_io_start_later(struct rnbd_srv_io *io)
{
	INIT_WORK(&io->start_work, rnbd_srv_io_start_work);
	queue_work(system_unbound_wq, &io->start_work);
}

/**
 * rnbd_srv_io_submit() - start a block request
 * @dev: the device; the caller's count of io_ref is taken over
 * @req: the request, found to be allowed
 * @data: payload or result area of @req->bytes bytes, physically contiguous; not used by operations
 *	  without data
 * @id: the transport's request, answered by the end of the bio
 *
 * Context: process; the block layer may sleep.
 */
void rnbd_srv_io_submit(struct rnbd_srv_dev *dev, const struct rnbd_srv_io_req *req, void *data,
			struct rtrs_srv_op *id)
{
	blk_opf_t opf = rnbd_srv_io_opf[req->op];
	struct rnbd_srv_io *io = id->pdu;

	if (req->sync)
		opf |= REQ_SYNC;
	if (req->fua)
		opf |= REQ_FUA;
	io->id = id;
	io->dev = dev;
	io->sector = req->sector;
	io->bytes = req->bytes;
	bio_init(&io->bio, dev->backend.bdev, &io->vec, 1, opf);
	io->bio.bi_iter.bi_sector = req->sector;
	io->bio.bi_ioprio = req->prio;
	io->bio.bi_end_io = rnbd_srv_io_end;
	if (rnbd_op_desc(req->op)->has_data)
		__bio_add_page(&io->bio, virt_to_page(data), req->bytes, offset_in_page(data));
	else
		io->bio.bi_iter.bi_size = req->bytes;
	trace_rnbd_srv_io_start(dev, id->slot, req);
	if (fault_here(bio_delayed))
		msleep(RNBD_SRV_IO_DELAY_MS);
	if (unlikely(READ_ONCE(*dev->nr_orphans)) && rnbd_srv_orphan_wait(io))
		return;
	io->state = RNBD_SRV_IO_SUBMITTED;
	submit_bio(&io->bio);
}
