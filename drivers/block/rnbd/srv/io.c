// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests of clients, as bios.
 *
 * Operation: each request of the transport has room for an I/O with its bio, so nothing is allocated.  The worker that
 * brings a request is shared with other connections and devices, so it does not wait for the device either: reads, writes
 * and flushes are submitted with REQ_NOWAIT.  Whatever may wait in spite of that, and what ended because it would
 * have to wait, is submitted by the thread of the device (dispatch.c).
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
#include "dispatch.h"
#include "fault.h"
#include "io.h"
#include "orphan.h"
#include "slow.h"
#include "trace.h"

/* How late a bio is when a test wants it late. */
#define RNBD_SRV_IO_DELAY_MS	1000

/*
 * Operation and fixed flags of a bio, by enum rnbd_io_op.  REQ_SYNC with REQ_IDLE is how the
 * block layer marks direct I/O: the throttling of writeback lets it pass, which would wait for
 * other writes in spite of REQ_NOWAIT. The writeback of a client is throttled there.
 */
static const blk_opf_t rnbd_srv_io_opf[RNBD_OP__NR] = {
	[RNBD_OP_READ]         = REQ_OP_READ,
	[RNBD_OP_WRITE]        = REQ_OP_WRITE | REQ_SYNC | REQ_IDLE,
	[RNBD_OP_FLUSH]        = REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC | REQ_IDLE,
	[RNBD_OP_DISCARD]      = REQ_OP_DISCARD,
	[RNBD_OP_SECURE_ERASE] = REQ_OP_SECURE_ERASE,
	[RNBD_OP_WRITE_ZEROES] = REQ_OP_WRITE_ZEROES,
};

static void rnbd_srv_io_end(struct bio *bio);

/* May sleep, but with REQ_NOWAIT as @nowait not until the device has room. */
static void rnbd_srv_io_submit_bio(struct rnbd_srv_io *io, blk_opf_t nowait)
{
	struct bio *bio = &io->bio;

	io->nowait = !!nowait;
	/* Initialise all of it: a bio that has ended keeps neither its range nor its device. */
	bio_init(bio, io->dev->backend.bdev, &io->vec, 1, io->opf | nowait);
	bio->bi_iter.bi_sector = io->sector;
	bio->bi_iter.bi_size = io->bytes;
	bio->bi_vcnt = io->vec.bv_len ? 1 : 0;
	bio->bi_ioprio = io->prio;
	bio->bi_end_io = rnbd_srv_io_end;
	submit_bio(bio);
}

/**
 * rnbd_srv_io_submit_waiting() - submit an I/O that was on a list of its device's dispatcher
 * @bio: its bio
 *
 * Context: the dispatcher's thread.
 */
void rnbd_srv_io_submit_waiting(struct bio *bio)
{
	rnbd_srv_io_submit_bio(container_of(bio, struct rnbd_srv_io, bio), 0);
}

/**
 * rnbd_srv_io_start_later() - have the dispatcher of its device start an I/O
 * @io: the I/O, filled in
 *
 * Context: any, interrupts too.
 */
void rnbd_srv_io_start_later(struct rnbd_srv_io *io)
{
	rnbd_srv_dispatch_add(io->dev->dispatch, io->wait, &io->bio);
}

/* Start an I/O, now or as soon as the device has room.  May sleep, but not until then. */
static void rnbd_srv_io_start(struct rnbd_srv_io *io)
{
	if (io->direct && !rnbd_srv_dispatch_busy(io->dev->dispatch) &&
	    bdev_nowait(io->dev->backend.bdev))
		rnbd_srv_io_submit_bio(io, REQ_NOWAIT);
	else
		rnbd_srv_io_start_later(io);
}

/*
 * Requeue a bio that failed only because of REQ_NOWAIT.  BLK_STS_NOTSUPP: the device, or one
 * below it, has lost its NOWAIT feature since rnbd_srv_io_start() looked.  Returns true if the bio
 * belongs to the dispatcher now.
 */
static bool rnbd_srv_io_again(struct rnbd_srv_io *io, blk_status_t status)
{
	if (!io->nowait || (status != BLK_STS_AGAIN && status != BLK_STS_NOTSUPP))
		return false;
	bio_uninit(&io->bio);
	rnbd_srv_io_start_later(io);
	return true;
}

/* BLK_STS_AGAIN without REQ_NOWAIT is an error of the driver.  A client must not see EAGAIN. */
static int rnbd_srv_io_errno(blk_status_t status)
{
	return status == BLK_STS_AGAIN ? -EIO : blk_status_to_errno(status);
}

static void rnbd_srv_io_end(struct bio *bio)
{
	struct rnbd_srv_io *io = container_of(bio, struct rnbd_srv_io, bio);
	struct rnbd_srv_dev *dev = io->dev;
	struct rtrs_srv_op *id = io->id;
	int ret = 0;

	if (unlikely(bio->bi_status)) {
		if (rnbd_srv_io_again(io, bio->bi_status))
			return;
		ret = rnbd_srv_io_errno(bio->bi_status);
	}
	if (fault_here(bio_error))
		ret = -EIO;
	trace_rnbd_srv_io_done(dev, id->slot, ret);
	bio_uninit(bio);
	/* PAIRS: rnbd_srv_orphaned() */
	if (unlikely(xchg(&io->state, RNBD_SRV_IO_ENDED) == RNBD_SRV_IO_ORPHANED))
		rnbd_srv_orphan_end(io);
	/* PAIRS: with rnbd_srv_sess_overdue(), which is kept from the slot's next request by the transport. */
	WRITE_ONCE(io->id, NULL);
	if (unlikely(READ_ONCE(dev->slow.since)))
		rnbd_srv_slow_end(dev);
	percpu_ref_put(&dev->io_ref);
	rtrs_srv_resp_rdma(id, ret);
}

/**
 * rnbd_srv_io_submit() - start a block request
 * @dev: the device; the caller's count of io_ref is taken over
 * @req: the request, found to be allowed
 * @data: payload or result area of @req->bytes bytes, physically contiguous; not used by operations
 *	  without data
 * @id: the transport's request, answered by the end of the bio
 *
 * Context: process; may sleep, but does not wait for the device.
 */
void rnbd_srv_io_submit(struct rnbd_srv_dev *dev, const struct rnbd_srv_io_req *req, void *data,
			struct rtrs_srv_op *id)
{
	struct rnbd_srv_io *io = id->pdu;

	io->device_id = req->device_id;
	io->dev = dev;
	io->opf = rnbd_srv_io_opf[req->op];
	if (req->sync)
		io->opf |= REQ_SYNC;
	if (req->fua)
		io->opf |= REQ_FUA;
	if (req->preflush)
		io->opf |= REQ_PREFLUSH;
	if (req->nounmap)
		io->opf |= REQ_NOUNMAP;
	io->sector = req->sector;
	io->bytes = req->bytes;
	io->prio = req->prio;
	/* PAIRS: with rnbd_srv_sess_overdue() */
	smp_store_release(&io->id, id);
	if (rnbd_op_desc(req->op)->has_data)
		io->vec = (struct bio_vec){
			.bv_page = virt_to_page(data),
			.bv_len = req->bytes,
			.bv_offset = offset_in_page(data),
		};
	else
		io->vec.bv_len = 0;
	io->wait = req->op == RNBD_OP_READ || req->op == RNBD_OP_WRITE ? RNBD_SRV_WAIT_RW :
									 RNBD_SRV_WAIT_OTHER;
	io->direct = dev->dispatch->direct[req->op] &&
		     (!req->preflush || dev->dispatch->direct[RNBD_OP_FLUSH]);
	trace_rnbd_srv_io_start(dev, id->slot, req);
	if (fault_here(bio_delayed))
		msleep(RNBD_SRV_IO_DELAY_MS);
	if (unlikely(READ_ONCE(*dev->nr_orphans)) && rnbd_srv_orphan_wait(io))
		return;
	io->state = RNBD_SRV_IO_SUBMITTED;
	rnbd_srv_io_start(io);
}
