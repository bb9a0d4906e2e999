/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_DISPATCH_H
#define _RNBD_SRV_DISPATCH_H

#include <linux/bio.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "../proto/opmap.h"

struct task_struct;

/**
 * enum rnbd_srv_wait - list of a dispatcher that a bio waits in
 * @RNBD_SRV_WAIT_RW: reads and writes
 * @RNBD_SRV_WAIT_OTHER: flushes, discards, secure erase, write zeroes
 * @RNBD_SRV_WAIT__NR: number of lists
 */
enum rnbd_srv_wait {
	RNBD_SRV_WAIT_RW,
	RNBD_SRV_WAIT_OTHER,
	RNBD_SRV_WAIT__NR
};

/**
 * typedef rnbd_srv_dispatch_fn - submit a bio that waited; may sleep
 * @bio: the bio, which waited on the dispatcher's list
 */
typedef void rnbd_srv_dispatch_fn(struct bio *bio);

/**
 * struct rnbd_srv_dispatch - thread that submits bios to one block device and may wait for it
 * @submit: I: submits one bio
 * @thread: I: the thread
 * @direct: I: by enum rnbd_io_op, whether REQ_NOWAIT keeps the submission of such a bio from
 *	 waiting
 * @nr_rw: reads and writes on their list, and the one that the thread submits; changed under @lock
 * @lock: guards @nr_rw, @lists and @turn; taken with interrupts off
 * @lists: waiting bios, by enum rnbd_srv_wait
 * @turn: list that the thread looks at first
 * @wait: the thread, while all lists are empty
 */
struct rnbd_srv_dispatch {
	rnbd_srv_dispatch_fn *submit;
	struct task_struct *thread;
	bool direct[RNBD_OP__NR];
	unsigned int nr_rw;
	spinlock_t lock;
	struct bio_list lists[RNBD_SRV_WAIT__NR];
	unsigned int turn;
	wait_queue_head_t wait;
};

struct rnbd_srv_dispatch *rnbd_srv_dispatch_create(struct block_device *bdev,
						   rnbd_srv_dispatch_fn *submit);
void rnbd_srv_dispatch_destroy(struct rnbd_srv_dispatch *dispatch);
void rnbd_srv_dispatch_add(struct rnbd_srv_dispatch *dispatch, enum rnbd_srv_wait list,
			   struct bio *bio);

/**
 * rnbd_srv_dispatch_busy() - check whether reads or writes wait for the thread
 * @dispatch: the dispatcher
 *
 * A new read or write then has to wait behind them, or it could take each tag that becomes free.
 *
 * Context: any.
 * Return: true if there are any.
 */
static inline bool rnbd_srv_dispatch_busy(const struct rnbd_srv_dispatch *dispatch)
{
	return READ_ONCE(dispatch->nr_rw);
}

#endif /* _RNBD_SRV_DISPATCH_H */
