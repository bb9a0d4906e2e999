// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orphaned requests: their path is gone, the disk still has them.
 *
 * Rule
 *	While a request is orphaned, no other request that touches the same blocks of the same block device is
 *	submitted, whichever session and open device it came from; a flush waits for orphaned flushes.
 *
 *	The client has got no answer.  It sends the request again, or it fails it and may write the same blocks anew.
 *	Without the rule the disk could carry out the orphaned write after the later one: old data over new.
 *	The rule covers reads too, so that a client that loses its paths again and again while a disk hangs leaves one
 *	request for each block there and not one for each attempt.
 *
 * Ownership
 *	An orphaned request is the block layer's, as before; its end takes it off the list.  A waiting one belongs to
 *	the list here; it is started when nothing conflicts any more, or forgotten when its own path is gone too.
 *
 * Locks
 *	One for all, with interrupts off, inside the lock of a slot of the transport.  A request takes it only while
 *	its block device has orphaned ones.
 */
#include <linux/list.h>
#include <linux/percpu-refcount.h>
#include <linux/spinlock.h>

#include "orphan.h"

/**
 * struct rnbd_srv_orphans - all orphaned requests and those that wait for them
 * @lock: guards the lists and the steps to and from the states ORPHANED and WAITING
 * @list: orphaned requests
 * @waiting: requests that conflict with one of them, in the order they came
 * @start: I: submits a request that waited; any context, only queues it
 */
struct rnbd_srv_orphans {
	spinlock_t lock;
	struct list_head list;
	struct list_head waiting;
	void (*start)(struct rnbd_srv_io *io);
};

static struct rnbd_srv_orphans rnbd_srv_orphans = {
	.lock	 = __SPIN_LOCK_UNLOCKED(rnbd_srv_orphans.lock),
	.list	 = LIST_HEAD_INIT(rnbd_srv_orphans.list),
	.waiting = LIST_HEAD_INIT(rnbd_srv_orphans.waiting),
};

/**
 * rnbd_srv_orphans_init() - say how requests that waited are submitted
 * @start: submits one; called in any context with a spinlock held
 *
 * Context: process, before the first client.
 */
void rnbd_srv_orphans_init(void (*start)(struct rnbd_srv_io *io))
{
	rnbd_srv_orphans.start = start;
}

/* Does a request conflict with an orphaned one? */
static bool rnbd_srv_orphan_conflicts(const struct rnbd_srv_io *io)
{
	const struct rnbd_srv_io *orphan;

	lockdep_assert_held(&rnbd_srv_orphans.lock);
	list_for_each_entry(orphan, &rnbd_srv_orphans.list, entry)
		if (orphan->dev->backend.bdev == io->dev->backend.bdev &&
		    rnbd_srv_ranges_conflict(orphan->sector, orphan->bytes, io->sector, io->bytes))
			return true;
	return false;
}

/**
 * rnbd_srv_orphaned() - the path of a request is gone; callback of the transport
 * @id: the transport's request
 *
 * What is no block request, or has ended, is left alone: it is answered as always.
 *
 * Context: any; a lock of the transport is held.
 * Return: true if the request only waited here; it is forgotten.
 */
bool rnbd_srv_orphaned(struct rtrs_srv_op *id)
{
	struct rnbd_srv_io *io = id->pdu;
	unsigned long flags;
	bool waited;

	spin_lock_irqsave(&rnbd_srv_orphans.lock, flags);
	waited = io->state == RNBD_SRV_IO_WAITING;
	if (waited) {
		list_del(&io->entry);
		io->state = RNBD_SRV_IO_ENDED;
		percpu_ref_put(&io->dev->io_ref);
	} else if (cmpxchg(&io->state, RNBD_SRV_IO_SUBMITTED, RNBD_SRV_IO_ORPHANED) == RNBD_SRV_IO_SUBMITTED) {
		/* PAIRS: rnbd_srv_io_end(), which finds the state and needs the lock before it lets go of the device. */
		list_add_tail(&io->entry, &rnbd_srv_orphans.list);
		WRITE_ONCE(*io->dev->nr_orphans, *io->dev->nr_orphans + 1);
	}
	spin_unlock_irqrestore(&rnbd_srv_orphans.lock, flags);
	return waited;
}

/**
 * rnbd_srv_orphan_wait() - does a request have to wait for orphaned ones
 * @io: the request, filled in, with a count of the device's io_ref
 *
 * Context: any.
 * Return: true if it has to; it is not the caller's any more.
 */
bool rnbd_srv_orphan_wait(struct rnbd_srv_io *io)
{
	unsigned long flags;
	bool wait;

	spin_lock_irqsave(&rnbd_srv_orphans.lock, flags);
	wait = rnbd_srv_orphan_conflicts(io);
	if (wait) {
		io->state = RNBD_SRV_IO_WAITING;
		list_add_tail(&io->entry, &rnbd_srv_orphans.waiting);
	}
	spin_unlock_irqrestore(&rnbd_srv_orphans.lock, flags);
	return wait;
}

/**
 * rnbd_srv_orphan_end() - an orphaned request has ended
 * @io: the request; its device is still held
 *
 * Context: any.
 */
void rnbd_srv_orphan_end(struct rnbd_srv_io *io)
{
	struct rnbd_srv_io *next, *tmp;
	unsigned long flags;

	spin_lock_irqsave(&rnbd_srv_orphans.lock, flags);
	list_del(&io->entry);
	WRITE_ONCE(*io->dev->nr_orphans, *io->dev->nr_orphans - 1);
	list_for_each_entry_safe(next, tmp, &rnbd_srv_orphans.waiting, entry) {
		if (rnbd_srv_orphan_conflicts(next))
			continue;
		list_del(&next->entry);
		next->state = RNBD_SRV_IO_SUBMITTED;
		/* From here on its end, and the loss of its path, are as of any other. */
		rnbd_srv_orphans.start(next);
	}
	spin_unlock_irqrestore(&rnbd_srv_orphans.lock, flags);
}
