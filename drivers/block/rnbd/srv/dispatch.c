// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatchers: one thread per block device.  It is the only task of the server that waits until
 * this device accepts a bio.
 *
 * Operation: submit_bio() waits while the device has no free tag, is frozen, or throttles
 * writeback.  The workers that handle requests of clients are shared by all connections and all
 * devices, so they must not wait there: they submit with REQ_NOWAIT (io.c).  A bio that ends with
 * BLK_STS_AGAIN, or for which REQ_NOWAIT has no effect, is queued to the device's dispatcher, which
 * submits it without REQ_NOWAIT.  A device that hangs blocks its own thread and nothing else.
 *
 * Ordering: each list is FIFO, and the thread serves the lists in turn.  So a read waits for at
 * most one throttled discard, and reads do not starve discards.
 *
 * Ownership: a queued bio holds a count of its open device, which keeps the dispatcher.  The
 * thread does not use a bio after it has submitted it.
 */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/major.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "dispatch.h"
#include "fault.h"

/*
 * Decide which operations a shared worker may submit.  Some drivers set the queue's NOWAIT feature
 * and wait in spite of it: md waits for a stripe, or for tags of its members, to which it submits
 * without REQ_NOWAIT; nbd waits for its socket and mmc for the previous request, both in
 * queue_rq().  Bio-based drivers such as dm send a flush of their own to each device below, without
 * REQ_NOWAIT.  Writeback throttling makes discards wait, and md's raid5 warns about a discard with
 * REQ_NOWAIT; secure erase and write zeroes are rare.
 */
static void rnbd_srv_dispatch_plan(struct rnbd_srv_dispatch *dispatch, struct block_device *bdev)
{
	switch (bdev->bd_disk->major) {
	case MD_MAJOR:
	case NBD_MAJOR:
	case MMC_BLOCK_MAJOR:
		return;
	}
	dispatch->direct[RNBD_OP_READ] = true;
	dispatch->direct[RNBD_OP_WRITE] = true;
	dispatch->direct[RNBD_OP_FLUSH] = queue_is_mq(bdev_get_queue(bdev));
}

/* Take the next bio.  NULL: none waits. */
static struct bio *rnbd_srv_dispatch_pop(struct rnbd_srv_dispatch *dispatch,
					 enum rnbd_srv_wait *list)
{
	struct bio *bio = NULL;
	unsigned int i;

	spin_lock_irq(&dispatch->lock);
	for (i = 0; i < RNBD_SRV_WAIT__NR && !bio; i++) {
		*list = (dispatch->turn + i) % RNBD_SRV_WAIT__NR;
		bio = bio_list_pop(&dispatch->lists[*list]);
	}
	if (bio)
		dispatch->turn = *list + 1;
	spin_unlock_irq(&dispatch->lock);
	return bio;
}

static int rnbd_srv_dispatch_thread(void *arg)
{
	struct rnbd_srv_dispatch *dispatch = arg;
	enum rnbd_srv_wait list;
	struct bio *bio;

	/* Writeback of clients waits for this thread. */
	memalloc_noio_save();
	for (;;) {
		wait_event_idle(dispatch->wait, (bio = rnbd_srv_dispatch_pop(dispatch, &list)) ||
				kthread_should_stop());
		if (!bio)
			return 0;
		dispatch->submit(bio);
		if (list == RNBD_SRV_WAIT_RW) {
			spin_lock_irq(&dispatch->lock);
			WRITE_ONCE(dispatch->nr_rw, dispatch->nr_rw - 1);
			spin_unlock_irq(&dispatch->lock);
		}
		cond_resched();
	}
}

/**
 * rnbd_srv_dispatch_create() - start the dispatcher of a block device
 * @bdev: the device
 * @submit: submits a bio
 *
 * Context: process.  Sleeps.
 * Return: the dispatcher or ERR_PTR().
 */
struct rnbd_srv_dispatch *rnbd_srv_dispatch_create(struct block_device *bdev,
						   rnbd_srv_dispatch_fn *submit)
{
	struct rnbd_srv_dispatch *dispatch;
	struct task_struct *thread;
	unsigned int i;

	dispatch = fault_here(alloc_dispatch) ? NULL : kzalloc(sizeof(*dispatch), GFP_KERNEL);
	if (!dispatch)
		return ERR_PTR(-ENOMEM);
	dispatch->submit = submit;
	rnbd_srv_dispatch_plan(dispatch, bdev);
	spin_lock_init(&dispatch->lock);
	for (i = 0; i < RNBD_SRV_WAIT__NR; i++)
		bio_list_init(&dispatch->lists[i]);
	init_waitqueue_head(&dispatch->wait);
	thread = kthread_run(rnbd_srv_dispatch_thread, dispatch, "rnbd/%pg", bdev);
	if (IS_ERR(thread)) {
		kfree(dispatch);
		return ERR_CAST(thread);
	}
	dispatch->thread = thread;
	return dispatch;
}

/**
 * rnbd_srv_dispatch_destroy() - end a dispatcher
 * @dispatch: the dispatcher; no bio of its device is in flight, and none will be
 *
 * Context: process.  Waits until the thread has returned from its last submission, so nobody else
 * may wait for the caller: it holds no lock.
 */
void rnbd_srv_dispatch_destroy(struct rnbd_srv_dispatch *dispatch)
{
	kthread_stop(dispatch->thread);
	kfree(dispatch);
}

/**
 * rnbd_srv_dispatch_add() - have a bio submitted by the dispatcher
 * @dispatch: the dispatcher
 * @list: where it waits
 * @bio: the bio, whose bi_next is the dispatcher's from now on
 *
 * Context: any, interrupts too.
 */
void rnbd_srv_dispatch_add(struct rnbd_srv_dispatch *dispatch, enum rnbd_srv_wait list,
			   struct bio *bio)
{
	unsigned long flags;

	spin_lock_irqsave(&dispatch->lock, flags);
	bio_list_add(&dispatch->lists[list], bio);
	if (list == RNBD_SRV_WAIT_RW)
		WRITE_ONCE(dispatch->nr_rw, dispatch->nr_rw + 1);
	/* With the lock: the bio keeps the dispatcher until the thread can take it off the list. */
	wake_up(&dispatch->wait);
	spin_unlock_irqrestore(&dispatch->lock, flags);
}
