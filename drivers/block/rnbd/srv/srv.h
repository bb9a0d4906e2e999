/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of the server.  A session (one RTRS session) has open devices; an open device is one
 * OPEN of one client and belongs to an export, which stands for one local block device.
 *
 * Letters of the members:
 *   I  set before the object is published, constant until it is freed
 *   S  lock of the session
 *   E  lock of all exports
 *   Q  queue lock of the session
 *   A  atomic or once-accessors, no lock
 *   R  written under the session's lock, read under RCU
 *
 * Order of locks: session lock, then export lock.  The queue lock and that of struct rnbd_srv_slow are leaves.
 */
#ifndef _RNBD_SRV_H
#define _RNBD_SRV_H

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/ratelimit.h>
#include <linux/refcount.h>
#include <linux/sbitmap.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/rtrs.h>

#include "../proto/identity.h"
#include "../proto/srvcheck.h"

struct rnbd_srv_sess;
struct rnbd_srv_export;
struct rnbd_srv_dispatch;

/**
 * struct rnbd_srv_backend - a block device, opened
 * @file: I: owns the open
 * @bdev: I: the device behind @file
 */
struct rnbd_srv_backend {
	struct file *file;
	struct block_device *bdev;
};

/**
 * enum rnbd_srv_dev_state - life of an open device
 * @RNBD_SRV_DEV_OPENING: not yet known to its session
 * @RNBD_SRV_DEV_LIVE: takes I/O
 * @RNBD_SRV_DEV_CLOSING: takes no new I/O; its close work runs when the last I/O is done
 */
enum rnbd_srv_dev_state {
	RNBD_SRV_DEV_OPENING,
	RNBD_SRV_DEV_LIVE,
	RNBD_SRV_DEV_CLOSING,
};

/**
 * struct rnbd_srv_slow - does the disk of a device answer in time (slow.c)
 * @since: jiffies when the disk got a request that its client waits for, 0: none; changed under @lock
 * @lock: guards the others; innermost
 * @quiet_until: jiffies from which it may be told again
 * @told: it was told that the disk does not answer
 * @count: how often that began
 */
struct rnbd_srv_slow {
	unsigned long since;
	spinlock_t lock;
	unsigned long quiet_until;
	bool told;
	u32 count;
};

/**
 * struct rnbd_srv_dev - a device as one client opened it
 * @kobj: directory <export>/sessions/<session>; its count is the count of this object
 * @sess: I: the session, on which an open device holds a reference
 * @export: E: the export, while attached to it
 * @nr_orphans: its counter; I: while there is I/O
 * @backend: I: the block device; valid while @io_ref has users
 * @dispatch: I: submits I/O that has to wait; the export's, valid while @io_ref has users
 * @io_ref: one count per I/O in flight, and one while not CLOSING
 * @slow: does its disk answer in time; looked at for each I/O
 * @rules: I: what I/O is checked against; what can change is read from the device each time
 * @identity: I: which disk it is
 * @close_work: releases everything once @io_ref has come to nothing
 * @closed: I: completed when the block device is released and the directory gone
 * @close_ops: S: CLOSE messages that wait for this
 * @sess_entry: S: in the session's list
 * @export_entry: E: in the export's list
 * @state: S: enum rnbd_srv_dev_state
 * @keep_id: S: closed by force: @id stays taken until the client closes it
 * @id: I: handle the client uses
 * @access_mode: I: enum rnbd_access_mode
 * @name: I: name as sent by the client
 */
struct rnbd_srv_dev {
	struct kobject kobj;
	struct rnbd_srv_sess *sess;
	struct rnbd_srv_export *export;
	unsigned int *nr_orphans;
	struct rnbd_srv_backend backend;
	struct rnbd_srv_dispatch *dispatch;
	struct percpu_ref io_ref;
	struct rnbd_srv_slow slow;
	struct rnbd_srv_io_rules rules;
	struct rnbd_identity identity;
	struct work_struct close_work;
	struct completion closed;
	struct list_head close_ops;
	struct list_head sess_entry;
	struct list_head export_entry;
	enum rnbd_srv_dev_state state;
	bool keep_id;
	u32 id;
	u8 access_mode;
	char name[RNBD_NAME_LEN];
};

/**
 * enum rnbd_srv_io_state - where a block request is
 * @RNBD_SRV_IO_ENDED: it has ended, or there is none
 * @RNBD_SRV_IO_SUBMITTED: the block layer has it, or gets it in its turn
 * @RNBD_SRV_IO_WAITING: it waits for orphaned ones (orphan.c)
 * @RNBD_SRV_IO_ORPHANED: as SUBMITTED, but the path that it came on is gone
 */
enum rnbd_srv_io_state {
	RNBD_SRV_IO_ENDED,
	RNBD_SRV_IO_SUBMITTED,
	RNBD_SRV_IO_WAITING,
	RNBD_SRV_IO_ORPHANED,
};

/**
 * struct rnbd_srv_io - a block request, memory of the transport's request
 * @id: the transport's request, answered when the bio ends; NULL when it has
 * @device_id: the client's handle of @dev
 * @dev: the device, on which this holds a count of io_ref
 * @vec: the data; a chunk is contiguous, so one element describes it; of length 0 for an
 *	 operation without data
 * @sector: first sector, as all that follows for the next time that the bio is submitted
 * @bytes: bytes affected, 0 of a flush
 * @state: enum rnbd_srv_io_state; atomic steps
 * @entry: in a list of orphan.c
 * @opf: operation and flags, without REQ_NOWAIT
 * @prio: I/O priority
 * @wait: enum rnbd_srv_wait, the list it waits in if it has to
 * @direct: may be submitted with REQ_NOWAIT by whoever starts it
 * @nowait: was submitted so
 * @bio: initialised each time that it is submitted; on a list of the dispatcher by its bi_next
 */
struct rnbd_srv_io {
	struct rtrs_srv_op *id;
	u32 device_id;
	struct rnbd_srv_dev *dev;
	struct bio_vec vec;
	sector_t sector;
	u32 bytes;
	u32 state;
	struct list_head entry;
	blk_opf_t opf;
	u16 prio;
	u8 wait;
	bool direct;
	bool nowait;
	struct bio bio;
} ____cacheline_aligned_in_smp;

/**
 * struct rnbd_srv_sess - one client
 * @rtrs: I: the transport's session
 * @devs: R: open devices by id; a value entry marks an id that is taken but not usable
 * @lock: see the letters
 * @dev_list: S: open devices until they are closed completely
 * @nr_devs: S: length of @dev_list
 * @next_id: S: where the search for a free id begins
 * @ver: A: protocol version both sides speak, 0 until SESS_INFO
 * @queue_lock: see the letters
 * @queue: Q: SESS_INFO, OPEN and CLOSE messages in the order they came
 * @queue_work: handles @queue
 * @opens: Q: OPEN messages that are not answered, in the order they came
 * @nr_opening: Q: how many of them are started
 * @refs: one for the transport, one per open device, one for @queue_work while it is queued or runs,
 *	  one per message in @opens, one per sysfs write under way
 * @release: I: frees the session
 * @gone: S: the transport's session is, nothing is opened any more
 * @refused: A: refused messages by enum rnbd_srv_verdict
 * @loud_ms: I: when messages about opened and closed devices begin
 * @admin_limit: A: for messages about opened and closed devices
 * @refuse_limit: A: for messages about anything else that is refused.  One of each for each session,
 *		  so that one client does not silence another
 * @entry: in the list of all sessions, under the lock of that list
 * @name: I: name of the session; the transport lets none with a slash or a dot pass
 */
struct rnbd_srv_sess {
	struct rtrs_srv_sess *rtrs;
	struct xarray devs;
	struct mutex lock;
	struct list_head dev_list;
	unsigned int nr_devs;
	u32 next_id;
	u8 ver;
	spinlock_t queue_lock;
	struct list_head queue;
	struct work_struct queue_work;
	struct list_head opens;
	unsigned int nr_opening;
	refcount_t refs;
	void (*release)(struct rnbd_srv_sess *sess);
	bool gone;
	atomic_long_t refused[RNBD_SRV_VERDICT__NR];
	u64 loud_ms;
	struct ratelimit_state admin_limit;
	struct ratelimit_state refuse_limit;
	struct list_head entry;
	char name[NAME_MAX];
};

/* Arguments of "%*pE", for names that a client chose. */
#define RNBD_SRV_STR(name)	((int)strlen(name)), (name)

/**
 * rnbd_srv_sess_put() - drop a count of a session
 * @sess: the session; the transport's count keeps it until rnbd_srv_sess_destroy()
 *
 * Context: process.
 */
static inline void rnbd_srv_sess_put(struct rnbd_srv_sess *sess)
{
	if (refcount_dec_and_test(&sess->refs))
		sess->release(sess);
}

#endif /* _RNBD_SRV_H */
