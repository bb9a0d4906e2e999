// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests to the transport and back.
 *
 * Operation
 *	Each disk has a tag set of its own, and all hardware queues share its tags.  Tags are no scarce thing: a request
 *	needs a permit, and those are the session's.  One that finds none is handed back to blk-mq, which tries again
 *	when one of the disk's requests ends, and some milliseconds later at the latest.
 *
 *	A tag set shared by the disks would couple them: blk-mq freezes all queues of a set when the second one comes
 *	and when the last but one goes, which waits for their requests; and requests without an answer keep their tags.
 *
 *	There is one hardware queue for each CPU that was online when the session was opened, and behind them those
 *	for polled I/O; other CPUs share them.  The transport has its connections in the same order: what comes from a polling queue is sent on the
 *	connection of the same number, and polling looks there for the completion.
 *
 * Fairness
 *	Disks compete for slots.  A disk alone in its session has no more tags than seven eighths of the slots, so that
 *	the session can always send control messages, and more disks can be mapped.  When there are several, each takes
 *	no more than its share, which follows from what is free (rtrs_clt_get_permit_share()): the requests of a disk
 *	that hangs on the server hold their slots until it answers.
 *
 * CPU hotplug
 *	When the last CPU of a hardware queue goes offline blk-mq waits, with the lock of CPU hotplug held, until the
 *	queue's requests have ended: for drivers whose interrupt is shut down with its CPUs.  The transport has no such
 *	interrupts, its completions come on whichever CPU is left; and a request may have to wait for a path as
 *	long as the user wants.  BLK_MQ_F_STACKING keeps our queues out of that, and does nothing else.  Requests that are
 *	queued on that CPU are moved and sent when it is dead, as without the flag.
 *
 * Together
 *	The block layer tells of each request whether it has another one for the same queue.  Reads wait
 *	for the last one, set aside, and are sent together: the transport puts into one message what it can.
 *	One that is set aside is started, but has no permit, and has not looked at the device's id.
 *	queue_rqs() would cost the same, and is for queues without an I/O scheduler only; in 6.1 also for
 *	sessions with one disk only, as it does without tags that are shared.
 *
 * Ownership
 *	From a successful rtrs_clt_request() the transport owns request, permit and pages until it calls
 *	rnbd_clt_io_conf(), which may be before rtrs_clt_request() returns.  If it fails, they are ours.
 *
 * Ordering
 *	State and device id are read, and the request is submitted, in one RCU read section.  Whoever opens
 *	a device anew waits for a grace period after it was closed and before it sends OPEN (dev.c), so
 *	no request can carry an id of the past to a server that has given it to another device.  Whoever
 *	takes the transport away does the same (sess.c).
 */
#include <linux/blk-mq.h>
#include <linux/uio.h>

#include "fault.h"
#include "hold.h"
#include "left.h"
#include "queue.h"
#include "slow.h"
#include "../proto/opmap.h"

#define RNBD_CLT_QUEUE_RETRY_MS	3

/*
 * One in this many slots, if there are as many, is for control messages, and for disks that are mapped while another one
 * hangs.
 */
#define RNBD_CLT_QUEUE_RESERVE_PART	8U

/*
 * What carries no data is as long as the disk behind it makes it: discards and zeroes of many megabytes, a flush of a
 * cache that is full.
 */
#define RNBD_CLT_NO_DATA_TIMEOUTS	4U

/**
 * struct rnbd_clt_hctx - what a hardware queue of a disk carries for us
 * @sess: its session
 * @lock: guards the members below; innermost
 * @nr: how many are set aside; read without @lock by those who set none aside
 * @rqs: these
 */
struct rnbd_clt_hctx {
	struct rnbd_clt_sess *sess;
	spinlock_t lock;
	unsigned int nr;
	struct request *rqs[RTRS_CLT_BATCH_MAX];
};

static int rnbd_clt_queue_op(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return RNBD_OP_READ;
	case REQ_OP_WRITE:
		return RNBD_OP_WRITE;
	case REQ_OP_FLUSH:
		return RNBD_OP_FLUSH;
	case REQ_OP_DISCARD:
		return RNBD_OP_DISCARD;
	case REQ_OP_SECURE_ERASE:
		return RNBD_OP_SECURE_ERASE;
	case REQ_OP_WRITE_ZEROES:
		return RNBD_OP_WRITE_ZEROES;
	default:
		return -EOPNOTSUPP;
	}
}

/* Reads and flushes are RTRS READs, the latter without data; all else is WRITE (protocol section 4). */
static int rnbd_clt_queue_dir(enum rnbd_io_op op)
{
	return op == RNBD_OP_READ || op == RNBD_OP_FLUSH ? READ : WRITE;
}

/* The server's errno for the block layer, but for the one that asks device mapper to send the request again. */
static blk_status_t rnbd_clt_queue_status(int errno)
{
	blk_status_t status = errno_to_blk_status(errno);

	return status == BLK_STS_DM_REQUEUE ? BLK_STS_IOERR : status;
}

/* Requests that were started wait for a slot, and one is free: the block layer looks at them only when told. */
static noinline void rnbd_clt_queue_feed(struct rnbd_clt_dev *dev, struct request_queue *q)
{
	if (xchg(&dev->is_starved, false))
		blk_mq_kick_requeue_list(q);
}

static __always_inline void rnbd_clt_io_put_permit(struct rnbd_clt_dev *dev, struct rnbd_clt_io *io)
{
	struct rnbd_clt_sess *sess = dev->sess;

	if (unlikely(io->is_counted))
		atomic_dec(&dev->nr_slots);
	rtrs_clt_put_permit(io->rtrs, io->permit);
	/* PAIRS: with the wait in rnbd_clt_msg_get_permit(): either it finds the permit or we see it. */
	smp_mb();
	if (unlikely(atomic_read(&sess->permit_waiters)))
		wake_up_all(&sess->msg_wait);
	if (unlikely(READ_ONCE(dev->is_starved)))
		rnbd_clt_queue_feed(dev, blk_mq_rq_from_pdu(io)->q);
}

static __always_inline struct rnbd_clt_slot *rnbd_clt_queue_slot(const struct rnbd_clt_sess *sess, u32 slot)
{
	return sess->slots + slot * sess->slot_bytes;
}

/* It was aborted: its pages are safe, but the server may still have it. */
static void rnbd_clt_io_aborted(struct rnbd_clt_dev *dev, struct request *rq)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);

	rnbd_clt_left_keep_slot(dev->left, rnbd_clt_queue_slot(dev->sess, io->permit->slot), io->rtrs, io->permit);
	io->status = BLK_STS_IOERR;
	blk_mq_complete_request(rq);
}

static void rnbd_clt_io_conf(void *priv, int errno)
{
	struct request *rq = priv;
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct rnbd_clt_dev *dev = rq->q->queuedata;

	if (unlikely(errno == -ECONNABORTED && READ_ONCE(io->permit->aborted) == rq)) {
		rnbd_clt_io_aborted(dev, rq);
		return;
	}
	rnbd_clt_io_put_permit(dev, io);
	if (unlikely(errno == -ECONNABORTED)) {
		if (rnbd_clt_hold(dev)) {
			blk_mq_requeue_request(rq, true);
			return;
		}
		io->status = rnbd_clt_hold_status(dev);
	} else {
		io->status = rnbd_clt_queue_status(errno);
	}
	/* Last: the device may go as soon as the request is done. */
	blk_mq_complete_request(rq);
}

static void rnbd_clt_queue_complete(struct request *rq)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, io->status);
}

/* @batch: what it may travel with, or NULL. */
static __always_inline int rnbd_clt_io_submit(struct rnbd_clt_dev *dev, struct request *rq,
					      enum rnbd_io_op op, struct rtrs_clt_batch *batch)
{
	const struct rnbd_op_desc *desc = rnbd_op_desc(op);
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct rtrs_clt_req_ops ops = {
		.priv = rq,
		.conf_fn = rnbd_clt_io_conf,
	};
	struct rnbd_io_desc io_desc = {
		.sector = desc->has_range ? blk_rq_pos(rq) : 0,
		.device_id = dev->device_id,
		.bytes = desc->has_range ? blk_rq_bytes(rq) : 0,
		.op = op,
		.sync = rq->cmd_flags & REQ_SYNC,
		.durable = rq->cmd_flags & (REQ_FUA | REQ_PREFLUSH),
		.nounmap = rq->cmd_flags & REQ_NOUNMAP,
		.prio = req_get_ioprio(rq),
	};
	struct rnbd_msg_io msg;
	struct kvec vec = {
		.iov_base = &msg,
		.iov_len = sizeof(msg),
	};
	size_t data_len = desc->has_data ? io_desc.bytes : 0;
	struct scatterlist *sgl = NULL;
	int dir = rnbd_clt_queue_dir(op);
	unsigned int nr_sg = 0;

	rnbd_put_io(&msg, &io_desc);
	if (desc->has_data) {
		sgl = rnbd_clt_queue_slot(dev->sess, io->permit->slot)->sgl;
		nr_sg = blk_rq_map_sg(rq, sgl);
	}
	if (batch)
		return rtrs_clt_batch_request(dir, &ops, batch, io->permit, &vec, 1, data_len, sgl, nr_sg);
	return rtrs_clt_request(dir, &ops, io->rtrs, io->permit, &vec, 1, data_len, sgl, nr_sg);
}

/* RESOURCE: the request goes back to the queue, which is quiesced. */
static blk_status_t rnbd_clt_queue_no_path(struct rnbd_clt_dev *dev)
{
	return rnbd_clt_hold(dev) ? BLK_STS_RESOURCE : rnbd_clt_hold_status(dev);
}

/* A permit within the share of one of several disks. */
static noinline struct rtrs_permit *rnbd_clt_queue_get_share(struct rnbd_clt_dev *dev, struct rnbd_clt_io *io)
{
	unsigned int held = atomic_fetch_inc(&dev->nr_slots);
	struct rtrs_permit *permit;

	permit = rtrs_clt_get_permit_share(io->rtrs, held, READ_ONCE(dev->sess->nr_disks));
	io->is_counted = permit;
	if (!permit)
		atomic_dec(&dev->nr_slots);
	return permit;
}

/* What a request needs before it is started.  Caller is in an RCU read section. */
static __always_inline blk_status_t rnbd_clt_queue_prepare(struct rnbd_clt_dev *dev, struct request *rq)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	struct rnbd_clt_sess *sess = dev->sess;
	struct rtrs_permit *permit;

	if (unlikely(rnbd_clt_dev_state(dev) != RNBD_CLT_DEV_OPEN))
		return rnbd_clt_queue_no_path(dev);
	io->rtrs = rcu_dereference(sess->rtrs);
	if (unlikely(!io->rtrs))
		return BLK_STS_IOERR;

	/* A control message is first; blk-mq comes back by itself, after a while or a completion. */
	if (unlikely(atomic_read(&sess->permit_waiters)))
		return BLK_STS_RESOURCE;
	if (fault_here(no_permit))
		return BLK_STS_RESOURCE;
	if (READ_ONCE(sess->nr_disks) > 1) {
		permit = rnbd_clt_queue_get_share(dev, io);
	} else {
		permit = rtrs_clt_get_permit(io->rtrs, RTRS_IO_CON, RTRS_PERMIT_NOWAIT);
		io->is_counted = false;
	}
	if (unlikely(!permit))
		return BLK_STS_RESOURCE;
	WRITE_ONCE(io->overdue, 0);
	/* PAIRS: with rnbd_clt_queue_timeout(), which may look at a request that was set aside. */
	smp_store_release(&io->permit, permit);
	if (hctx->type == HCTX_TYPE_POLL)
		rtrs_clt_permit_set_queue(io->rtrs, permit, hctx->queue_num);
	return BLK_STS_OK;
}

/* It is prepared and started.  Caller is in an RCU read section. */
static __always_inline blk_status_t rnbd_clt_queue_send(struct rnbd_clt_dev *dev, struct request *rq,
							enum rnbd_io_op op, struct rtrs_clt_batch *batch)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	int ret;

	ret = rnbd_clt_io_submit(dev, rq, op, batch);
	if (likely(!ret))
		return BLK_STS_OK;
	rnbd_clt_io_put_permit(dev, io);
	if (ret == -ECONNABORTED)
		return rnbd_clt_queue_no_path(dev);
	return ret == -EAGAIN || ret == -ENOMEM ? BLK_STS_RESOURCE : BLK_STS_IOERR;
}

/*
 * A started request that cannot be sent: to the queue again, or it has failed.  As with one that rnbd_clt_queue_rq() has
 * refused, the next completion has it tried again, or the time; at once would be a busy loop if permits are short.
 */
static void rnbd_clt_queue_give_back(struct request *rq, blk_status_t status)
{
	struct request_queue *q = rq->q;
	struct rnbd_clt_dev *dev = q->queuedata;

	if (status == BLK_STS_RESOURCE) {
		WRITE_ONCE(dev->is_starved, true);
		blk_mq_requeue_request(rq, false);
		blk_mq_delay_kick_requeue_list(q, RNBD_CLT_QUEUE_RETRY_MS);
	} else {
		blk_mq_end_request(rq, status);
	}
}

/* Caller is in an RCU read section. */
static void rnbd_clt_queue_send_all(struct rnbd_clt_hctx *own, struct request **rqs, unsigned int nr)
{
	struct rtrs_clt_sess *rtrs = rcu_dereference(own->sess->rtrs);
	struct rtrs_clt_batch batch;
	struct rnbd_clt_dev *dev;
	blk_status_t status;
	unsigned int i;

	if (likely(rtrs))
		rtrs_clt_batch_begin(&batch, rtrs);
	for (i = 0; i < nr; i++) {
		dev = rqs[i]->q->queuedata;
		/* Without a transport none is found ready. */
		status = rnbd_clt_queue_prepare(dev, rqs[i]);
		if (likely(status == BLK_STS_OK))
			status = rnbd_clt_queue_send(dev, rqs[i], RNBD_OP_READ, &batch);
		if (unlikely(status != BLK_STS_OK))
			rnbd_clt_queue_give_back(rqs[i], status);
	}
	if (likely(rtrs))
		rtrs_clt_batch_end(&batch);
}

/* Return: how many they are; from now on they are the caller's.  Needs rnbd_clt_hctx.lock. */
static unsigned int rnbd_clt_queue_take(struct rnbd_clt_hctx *own, struct request **rqs)
{
	unsigned int nr = own->nr;

	lockdep_assert_held(&own->lock);
	memcpy(rqs, own->rqs, nr * sizeof(*rqs));
	WRITE_ONCE(own->nr, 0);
	return nr;
}

/* Send what was set aside.  Caller is in an RCU read section. */
static void rnbd_clt_queue_flush(struct rnbd_clt_hctx *own)
{
	struct request *rqs[RTRS_CLT_BATCH_MAX];
	unsigned int nr;

	spin_lock(&own->lock);
	nr = rnbd_clt_queue_take(own, rqs);
	spin_unlock(&own->lock);
	if (nr)
		rnbd_clt_queue_send_all(own, rqs, nr);
}

/* A read, and there are or will be others; whether the device is open is asked when it is sent.  Caller as above. */
static noinline void rnbd_clt_queue_set_aside(struct rnbd_clt_hctx *own, struct request *rq, bool last)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct request *rqs[RTRS_CLT_BATCH_MAX];
	unsigned int nr = 0;

	/* That of its last time would tell rnbd_clt_queue_timeout() that it was sent. */
	io->permit = NULL;
	blk_mq_start_request(rq);
	spin_lock(&own->lock);
	own->rqs[own->nr] = rq;
	WRITE_ONCE(own->nr, own->nr + 1);
	if (last || own->nr == ARRAY_SIZE(own->rqs))
		nr = rnbd_clt_queue_take(own, rqs);
	spin_unlock(&own->lock);
	if (nr)
		rnbd_clt_queue_send_all(own, rqs, nr);
}

/* There will be no last one. */
static void rnbd_clt_queue_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	rcu_read_lock();
	rnbd_clt_queue_flush(hctx->driver_data);
	rcu_read_unlock();
}

static noinline void rnbd_clt_queue_give_time(struct request *rq)
{
	rq->timeout = min_t(u64, (u64)READ_ONCE(rq->q->rq_timeout) * RNBD_CLT_NO_DATA_TIMEOUTS, U32_MAX);
}

static blk_status_t rnbd_clt_queue_rq(struct blk_mq_hw_ctx *hctx,
				      const struct blk_mq_queue_data *bd)
{
	struct rnbd_clt_dev *dev = bd->rq->q->queuedata;
	struct rnbd_clt_hctx *own = hctx->driver_data;
	int op = rnbd_clt_queue_op(bd->rq);
	blk_status_t status;

	if (unlikely(op < 0))
		return BLK_STS_NOTSUPP;
	rcu_read_lock();
	if (op == RNBD_OP_READ && (!bd->last || READ_ONCE(own->nr))) {
		rnbd_clt_queue_set_aside(own, bd->rq, bd->last);
		status = BLK_STS_OK;
	} else {
		status = rnbd_clt_queue_prepare(dev, bd->rq);
		if (likely(status == BLK_STS_OK)) {
			if (unlikely(op > RNBD_OP_WRITE))
				rnbd_clt_queue_give_time(bd->rq);
			blk_mq_start_request(bd->rq);
			status = rnbd_clt_queue_send(dev, bd->rq, op, NULL);
		}
		/* The last one of reads and others. */
		if (unlikely(READ_ONCE(own->nr)) && bd->last)
			rnbd_clt_queue_flush(own);
	}
	rcu_read_unlock();
	return status;
}

static int rnbd_clt_queue_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct rnbd_clt_hctx *own = hctx->driver_data;
	struct rtrs_clt_sess *rtrs;
	int nr = 0;

	rcu_read_lock();
	rtrs = rcu_dereference(own->sess->rtrs);
	if (likely(rtrs))
		nr = rtrs_clt_rdma_cq_direct(rtrs, hctx->queue_num);
	rcu_read_unlock();
	return nr;
}

/*
 * No answer in the disk's queue/io_timeout, 30 s if it was not set, or what the request has instead.  Nothing the
 * block layer could do makes the transport return pages that the server may still write; and that the disk is slow does
 * not say that the path is dead.  So the request waits on, and the server is asked what became of it.
 */
static enum blk_eh_timer_return rnbd_clt_queue_timeout(struct request *rq)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct rnbd_clt_dev *dev = rq->q->queuedata;
	struct rtrs_permit *permit;

	/* It may be answered just now, and then nothing but this section keeps the transport open. */
	rcu_read_lock();
	/* PAIRS: with rnbd_clt_queue_prepare(); without a permit it is still set aside, or just being sent. */
	permit = smp_load_acquire(&io->permit);
	if (permit && rcu_access_pointer(dev->sess->rtrs)) {
		rtrs_clt_request_overdue(io->rtrs, permit, rq, rq->timeout);
		rnbd_clt_slow_note(dev, rq);
	}
	rcu_read_unlock();
	return BLK_EH_RESET_TIMER;
}

static bool rnbd_clt_queue_abort_rq(struct request *rq, void *priv)
{
	struct rnbd_clt_io *io = blk_mq_rq_to_pdu(rq);
	struct rnbd_clt_dev *dev = rq->q->queuedata;
	struct rtrs_permit *permit;
	bool *last_path = priv;

	/* As in rnbd_clt_queue_timeout(). */
	rcu_read_lock();
	permit = smp_load_acquire(&io->permit);
	if (permit && rcu_access_pointer(dev->sess->rtrs))
		rtrs_clt_request_abort(io->rtrs, permit, rq, *last_path);
	rcu_read_unlock();
	return true;
}

/**
 * rnbd_clt_queue_abort() - have requests of a disk fail that the server has
 * @dev: device that is unmapped
 * @last_path: also those on the only path that is connected
 *
 * They fail when the paths they are on are torn down.  To be called again, after a while, as long as there are some:
 * of several paths it gives up one after the other.
 *
 * Context: may sleep; the caller is a user of the session.
 */
void rnbd_clt_queue_abort(struct rnbd_clt_dev *dev, bool last_path)
{
	blk_mq_tagset_busy_iter(&dev->tag_set, rnbd_clt_queue_abort_rq, &last_path);
}

static int rnbd_clt_queue_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct rnbd_clt_hctx *own = kzalloc_node(sizeof(*own), GFP_KERNEL, hctx->numa_node);

	if (!own)
		return -ENOMEM;
	own->sess = ((struct rnbd_clt_dev *)data)->sess;
	spin_lock_init(&own->lock);
	hctx->driver_data = own;
	return 0;
}

/*
 * A CPU's directory in sysfs is shown below each of its hardware queues, but there is one object for it: blk-mq
 * gives it the queue for polling as parent, and so loses the reference to the parent it had, which is never freed, with
 * the request for flushes that it has (6.1 to 6.12 at least).  That happens once for each CPU of a queue that is not for
 * polling, if there are some that are; no more references than those are dropped, and never blk-mq's own.
 */
static void rnbd_clt_queue_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	struct rnbd_clt_hctx *own = hctx->driver_data;
	unsigned int lost = 0;

	if (own->sess->nr_poll_queues && hctx->type != HCTX_TYPE_POLL)
		lost = hctx->nr_ctx;
	for (; lost && kref_read(&hctx->kobj.kref) > 1; lost--)
		kobject_put(&hctx->kobj);
	kfree(own);
}

/* A CPU's requests go to the connection of that CPU; queues for polling are spread over the CPUs. */
static void rnbd_clt_queue_map(struct blk_mq_tag_set *set)
{
	struct rnbd_clt_dev *dev = set->driver_data;
	struct blk_mq_queue_map *map = &set->map[HCTX_TYPE_DEFAULT];
	unsigned int cpu;

	map->nr_queues = min(set->nr_hw_queues, dev->sess->attrs.nr_io_conns);
	map->queue_offset = 0;
	for_each_possible_cpu(cpu)
		map->mq_map[cpu] = cpu % map->nr_queues;
	if (set->nr_maps <= HCTX_TYPE_POLL)
		return;

	set->map[HCTX_TYPE_READ].nr_queues = 0;
	map = &set->map[HCTX_TYPE_POLL];
	map->nr_queues = dev->sess->nr_poll_queues;
	map->queue_offset = dev->sess->attrs.nr_io_conns;
	blk_mq_map_queues(map);
}

static const struct blk_mq_ops rnbd_clt_queue_ops = {
	.queue_rq	= rnbd_clt_queue_rq,
	.commit_rqs	= rnbd_clt_queue_commit_rqs,
	.complete	= rnbd_clt_queue_complete,
	.timeout	= rnbd_clt_queue_timeout,
	.poll		= rnbd_clt_queue_poll,
	.init_hctx	= rnbd_clt_queue_init_hctx,
	.exit_hctx	= rnbd_clt_queue_exit_hctx,
	.map_queues	= rnbd_clt_queue_map,
};

/**
 * rnbd_clt_queue_alloc_slots() - allocate what requests need for each slot of the transport
 * @sess: session with its transport open
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rnbd_clt_queue_alloc_slots(struct rnbd_clt_sess *sess)
{
	struct rnbd_clt_slot *slot;
	u32 nr;

	sess->slot_bytes = struct_size(slot, sgl, sess->attrs.max_segments);
	sess->slots = kvcalloc(sess->attrs.queue_depth, sess->slot_bytes, GFP_KERNEL);
	if (!sess->slots)
		return -ENOMEM;
	/* Mapping a request only ever sets the end of the list, so that once is enough. */
	for (nr = 0; nr < sess->attrs.queue_depth; nr++)
		sg_init_table(rnbd_clt_queue_slot(sess, nr)->sgl, sess->attrs.max_segments);
	return 0;
}

/**
 * rnbd_clt_queue_free_slots() - free what rnbd_clt_queue_alloc_slots() allocated
 * @sess: session whose transport is closed
 *
 * Context: may sleep.
 */
void rnbd_clt_queue_free_slots(struct rnbd_clt_sess *sess)
{
	kvfree(sess->slots);
	sess->slots = NULL;
}

static unsigned int rnbd_clt_queue_depth(const struct rnbd_clt_sess *sess)
{
	unsigned int depth = min_t(u32, sess->attrs.queue_depth, BLK_MQ_MAX_DEPTH);

	return depth - depth / RNBD_CLT_QUEUE_RESERVE_PART;
}

/**
 * rnbd_clt_queue_init() - allocate the tags of a disk
 * @dev: device that is open
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int rnbd_clt_queue_init(struct rnbd_clt_dev *dev)
{
	struct blk_mq_tag_set *set = &dev->tag_set;
	struct rnbd_clt_sess *sess = dev->sess;

	set->ops = &rnbd_clt_queue_ops;
	set->driver_data = dev;
	set->numa_node = NUMA_NO_NODE;
	set->queue_depth = rnbd_clt_queue_depth(sess);
	set->nr_hw_queues = sess->attrs.nr_io_conns + sess->nr_poll_queues;
	set->nr_maps = sess->nr_poll_queues ? HCTX_TYPE_POLL + 1 : 1;
	set->cmd_size = sizeof(struct rnbd_clt_io);
	/* Ordering is the business of the server's queue, and one lock for all CPUs would cost more. */
	set->flags = BLK_MQ_F_TAG_HCTX_SHARED | BLK_MQ_F_NO_SCHED_BY_DEFAULT | BLK_MQ_F_STACKING;
	return blk_mq_alloc_tag_set(set);
}

/**
 * rnbd_clt_queue_exit() - free the tags of a disk
 * @dev: device whose disk is removed, or could not be added
 *
 * Context: may sleep.
 */
void rnbd_clt_queue_exit(struct rnbd_clt_dev *dev)
{
	blk_mq_free_tag_set(&dev->tag_set);
}
