/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of the client: session, device, request, control message.
 *
 * Letters say what guards a member:
 *	I	set before the object is published, constant afterwards
 *	L	the mutex of the list of sessions (sess.c)
 *	S	rnbd_clt_sess.lock
 *	s	written under rnbd_clt_sess.lock, read without (READ_ONCE, or by an accessor)
 *	R	RCU; replaced by whoever tears the session down
 *	M	whoever has claimed the message, from rnbd_clt_msg_claim() to rnbd_clt_msg_release()
 *	U	the one thread that maps or unmaps the device
 *	A	atomic
 *
 * Locks nest in this order: list of sessions, rnbd_clt_sess.lock, rnbd_clt_hold.lock.  The transport calls
 * link_ev with a mutex of its own held, and that takes rnbd_clt_sess.lock: so no function of the transport
 * that might sleep is called with rnbd_clt_sess.lock held.
 */
#ifndef _RNBD_CLT_TYPES_H
#define _RNBD_CLT_TYPES_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/ratelimit.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/rtrs.h>
#include <rnbd/rnbd_format.h>

#include "../proto/identity.h"
#include "../proto/negotiate.h"
#include "retry.h"

/* The transport moves single pages of this size. */
#define RNBD_CLT_PAGE_BYTES	4096U

/* Two identities, and what is said of them. */
#define RNBD_CLT_OTHER_DISK_LEN	(2 * RNBD_IDENTITY_TEXT_LEN + 64)

struct rnbd_clt_msg;

/**
 * enum rnbd_clt_sess_state - life of a session
 * @RNBD_CLT_SESS_OPENING: being connected by the thread that made it; others wait
 * @RNBD_CLT_SESS_LIVE: devices can be mapped
 * @RNBD_CLT_SESS_CLOSING: being torn down; its name is still taken, others wait
 * @RNBD_CLT_SESS_GONE: off the list, memory goes with the last reference
 */
enum rnbd_clt_sess_state {
	RNBD_CLT_SESS_OPENING,
	RNBD_CLT_SESS_LIVE,
	RNBD_CLT_SESS_CLOSING,
	RNBD_CLT_SESS_GONE,
};

/**
 * enum rnbd_clt_dev_state - life of a device; names in sysfs are the same in lower case
 * @RNBD_CLT_DEV_INIT: not yet opened on the server
 * @RNBD_CLT_DEV_OPEN: the only state that lets I/O pass
 * @RNBD_CLT_DEV_CLOSED: session lost, or the server refuses to open the device again
 * @RNBD_CLT_DEV_UNMAPPED: on its way out, for good
 * @RNBD_CLT_DEV__NR: number of states
 *
 * INIT -> OPEN <-> CLOSED, and from each of them -> UNMAPPED.
 */
enum rnbd_clt_dev_state {
	RNBD_CLT_DEV_INIT,
	RNBD_CLT_DEV_OPEN,
	RNBD_CLT_DEV_CLOSED,
	RNBD_CLT_DEV_UNMAPPED,
	RNBD_CLT_DEV__NR
};

/**
 * union rnbd_clt_msg_req - any control message that goes to the server
 * @sess_info: open the dialogue
 * @open: open a device
 * @close: close it
 */
union rnbd_clt_msg_req {
	struct rnbd_msg_sess_info sess_info;
	struct rnbd_msg_open open;
	struct rnbd_msg_close close;
};

/**
 * union rnbd_clt_msg_rsp - any answer
 * @sess_info: to SESS_INFO
 * @open: to OPEN
 * @open_id: the same from a server that tells which disk it is
 */
union rnbd_clt_msg_rsp {
	struct rnbd_msg_sess_info sess_info;
	struct rnbd_msg_open_rsp open;
	struct rnbd_msg_open_rsp_id open_id;
};

/**
 * struct rnbd_clt_msg - control messages of one owner, one at a time
 * @sess: session it travels on (I)
 * @done: called from a workqueue, may sleep but not wait for another message; has to release (I)
 * @busy: claimed by somebody (S)
 * @rtrs: transport session the permit belongs to (M)
 * @permit: slot of the transport; held until release, so that the transport stays (M)
 * @gen: rnbd_clt_sess.link_gen it belongs to; not sent any more after a loss of the link (M)
 * @error: 0 or what became of the message (M)
 * @work: runs @done (M)
 * @req: what is sent (M)
 * @rsp: where the answer lands; memory of its own as the device writes it (M)
 * @sg: describes @rsp to the transport (M)
 */
struct rnbd_clt_msg {
	struct rnbd_clt_sess *sess;
	void (*done)(struct rnbd_clt_msg *msg);
	bool busy;
	struct rtrs_clt_sess *rtrs;
	struct rtrs_permit *permit;
	unsigned int gen;
	int error;
	struct work_struct work;
	union rnbd_clt_msg_req req;
	union rnbd_clt_msg_rsp *rsp;
	struct scatterlist sg;
};

/**
 * struct rnbd_clt_sess - all traffic with one server
 * @ref: memory: one for the list, one for each device and each claimed message (A)
 * @name: name of the session (I)
 * @entry: in the list of sessions (L)
 * @state: where it is in its life (L)
 * @users: devices mapped or being mapped; the last one tears the session down (L)
 * @state_wait: woken when @state changes
 * @rtrs: transport session, NULL before it is open and after it was taken away (R)
 * @attrs: limits of the transport when it was opened (I)
 * @nr_poll_queues: hardware queues for polled I/O (I)
 * @slots: struct rnbd_clt_slot of each slot of the transport, @slot_bytes each (I)
 * @slot_bytes: bytes of one (I)
 * @nr_disks: disks that share the slots (s)
 * @lock: guards the members marked S and s here and in the devices
 * @devs: devices by rnbd_clt_dev.entry (S)
 * @link_gen: counts losses of the link; what was opened before a loss is void (s)
 * @rcu_gen: a grace period has passed since link_gen was this (only written by WRITE_ONCE)
 * @stop: being torn down: no more work, no more waiting (s)
 * @ver: protocol major both sides know (M of @hello)
 * @hello_gen: @link_gen for which SESS_INFO was answered (S)
 * @hello: SESS_INFO
 * @hello_retry: SESS_INFO that got no good answer since the link came back (S)
 * @hello_work: introduces us again after the link came back, then opens the devices; with a delay only to
 *	ask once more
 * @wq: for @hello_work, @left_work and rnbd_clt_dev.link_work; one for all sessions (I)
 * @left: struct rnbd_clt_left, what the server may have open for nobody (S)
 * @left_work: has it closed, after SESS_INFO was answered; with a delay only to try once more
 * @left_round: how often @left_work has run (@left_work only)
 * @msg_wait: woken when a message is done or released, a permit may be free, or something stops
 * @permit_waiters: control messages that wait for a permit; I/O gives way to them (A)
 */
struct rnbd_clt_sess {
	refcount_t ref;
	char name[RNBD_NAME_LEN + 1];
	struct list_head entry;
	enum rnbd_clt_sess_state state;
	unsigned int users;
	wait_queue_head_t state_wait;

	struct rtrs_clt_sess __rcu *rtrs;
	struct rtrs_attrs attrs;
	u32 nr_poll_queues;
	void *slots;
	size_t slot_bytes;
	unsigned int nr_disks;

	spinlock_t lock;
	struct list_head devs;
	unsigned int link_gen;
	unsigned int rcu_gen;
	bool stop;

	u8 ver;
	unsigned int hello_gen;
	struct rnbd_clt_msg hello;
	struct rnbd_clt_retry hello_retry;
	struct delayed_work hello_work;
	struct workqueue_struct *wq;
	struct list_head left;
	struct delayed_work left_work;
	unsigned int left_round;
	wait_queue_head_t msg_wait;
	atomic_t permit_waiters;
};

/**
 * struct rnbd_clt_left - a name that the server may have open, although nobody has it mapped (left.c)
 * @entry: in rnbd_clt_sess.left (S)
 * @path: the name (I)
 * @round: rnbd_clt_sess.left_round in which it was last tried (rnbd_clt_sess.left_work only)
 * @lock: guards @slots; innermost, interrupts off
 * @slots: struct rnbd_clt_slot, of requests that the server may still have: nothing else can be sent in these slots
 * @msg: OPEN and CLOSE
 */
struct rnbd_clt_left {
	struct list_head entry;
	char path[RNBD_NAME_LEN + 1];
	unsigned int round;
	spinlock_t lock;
	struct list_head slots;
	struct rnbd_clt_msg msg;
};

/**
 * struct rnbd_clt_hold - requests of a device that wait for a path
 * @lock: guards the others; innermost
 * @timeout: seconds they wait; 0: not at all; -1: for ever
 * @held: they do, the queue is quiesced
 * @expired: they did in vain; they fail until the device is open again
 * @was_held: it was true before
 * @logged: that @expired became true was logged since @since
 * @since: jiffies from which @timeout counts
 * @ended: jiffies when @held became false last
 * @dwork: ends it
 */
struct rnbd_clt_hold {
	spinlock_t lock;
	int timeout;
	bool held;
	bool expired;
	bool was_held;
	bool logged;
	unsigned long since;
	unsigned long ended;
	struct delayed_work dwork;
};

/**
 * struct rnbd_clt_slow - requests of a device that take longer than its io_timeout (slow.c)
 * @request_timeout: seconds that one may take in all, 0: any time (A)
 * @count: how many there were (A)
 * @since: jiffies when the oldest one that there is was sent, 0: there is none (written by @dwork)
 * @told: it was told that there are some (@dwork only)
 * @dwork: looks at them, each second as long as there are any
 */
struct rnbd_clt_slow {
	unsigned int request_timeout;
	atomic_t count;
	unsigned long since;
	bool told;
	struct delayed_work dwork;
};

/**
 * struct rnbd_clt_dev - one mapped device
 * @ref: memory: the mapping, each opener and a claimed message hold one each (A)
 * @sess: its session, referenced (I)
 * @entry: in rnbd_clt_sess.devs; the name is taken as long as it is there (S)
 * @path: name on the server (I)
 * @access_mode: how it was asked for (I)
 * @_state: use rnbd_clt_dev_state() and rnbd_clt_dev_set_state() (s)
 * @stop: unmapped: waiting for messages ends (s)
 * @is_gone: taken apart, but a message may still be under way (S)
 * @nr_openers: open block devices, partitions too (S)
 * @device_id: handle on the server; constant while the state is open (M)
 * @is_starved: a request that was started waits for a slot (A)
 * @open_gen: rnbd_clt_sess.link_gen for which @device_id is good (M)
 * @is_cut: requests were aborted that the server may still have (U)
 * @on_server: the server may have it open: an OPEN was answered, or may have been, and no CLOSE has ended since (M)
 * @was_on_server: the same, before OPEN was sent last (M)
 * @left: keeps the name if that is still so when the device goes (S)
 * @limits: what the server said first; when it opens the device again, that has to match (M)
 * @identity: which disk of the server it is (M, and S to be written)
 * @accept_other: whoever has sent OPEN takes another disk for this one (M)
 * @open_error: how the last OPEN ended (M)
 * @open_why: more about that, or NULL (M)
 * @other_disk: text for @open_why, of another disk (M); always terminated
 * @open_unheard: nobody waits for the result, so the kernel log gets it (M)
 * @msg: OPEN and CLOSE
 * @is_online: disk and directory in sysfs are complete; from then on it can be unmapped (s)
 * @tell_offline: the loss has to be announced (S)
 * @tell_back: the end of it has to be announced, after @tell_offline (S)
 * @tell_work: announces both; nothing waits for it but the one who unmaps
 * @telling: so many tell user space of the disk, which must not go meanwhile (S); the end of it wakes
 *	@sess->msg_wait
 * @want_open: OPEN has to be sent (S)
 * @open_retry: OPEN that the server has refused since the link came back (S)
 * @link_work: sends OPEN; with a delay only to ask once more
 * @reopen_limit: for messages that it is open again
 * @hold: requests that wait for a path
 * @slow: requests that take long
 * @tag_set: its requests (U)
 * @nr_slots: slots of the transport that they hold, of those taken while the session had several disks (A)
 * @disk: the disk, from when it was added until the memory goes (U)
 * @is_added: the disk is (U)
 * @kobj: directory rnbd/ of the disk in sysfs, or NULL (U)
 * @links: directory of the link that names the device, or NULL if there is no link (U)
 * @unmap: for the file in sysfs that removes the device; comes from above (I)
 */
struct rnbd_clt_dev {
	refcount_t ref;
	struct rnbd_clt_sess *sess;
	struct list_head entry;
	char path[RNBD_NAME_LEN + 1];
	enum rnbd_access_mode access_mode;

	enum rnbd_clt_dev_state _state;
	bool stop;
	bool is_gone;
	unsigned int nr_openers;
	u32 device_id;
	bool is_starved;
	unsigned int open_gen;
	bool is_cut;
	bool on_server;
	bool was_on_server;
	struct rnbd_clt_left *left;
	struct rnbd_dev_limits limits;
	struct rnbd_identity identity;
	bool accept_other;
	int open_error;
	const char *open_why;
	char other_disk[RNBD_CLT_OTHER_DISK_LEN];
	bool open_unheard;
	struct rnbd_clt_msg msg;

	bool is_online;
	bool tell_offline;
	bool tell_back;
	struct work_struct tell_work;
	unsigned int telling;
	bool want_open;
	struct rnbd_clt_retry open_retry;
	struct delayed_work link_work;
	struct ratelimit_state reopen_limit;
	struct rnbd_clt_hold hold;
	struct rnbd_clt_slow slow;

	struct blk_mq_tag_set tag_set;
	atomic_t nr_slots;
	struct gendisk *disk;
	bool is_added;
	struct kobject *kobj;
	struct kobject *links;
	int (*unmap)(struct rnbd_clt_dev *dev, bool force);
};

/**
 * struct rnbd_clt_io - what a block request carries for us
 * @rtrs: transport session it went to
 * @permit: slot of the transport; NULL as long as the request is set aside (queue.c)
 * @overdue: jiffies when it was sent, if it is overdue, else 0 (slow.c)
 * @status: how it ended
 * @is_counted: @permit counts in rnbd_clt_dev.nr_slots
 */
struct rnbd_clt_io {
	struct rtrs_clt_sess *rtrs;
	struct rtrs_permit *permit;
	unsigned long overdue;
	blk_status_t status;
	bool is_counted;
};

/**
 * struct rnbd_clt_slot - what belongs to a slot of the transport, and to the request that holds its permit
 * @entry: in rnbd_clt_left.slots, of a request that was aborted (rnbd_clt_left.lock)
 * @rtrs: transport session of @permit (rnbd_clt_left.lock)
 * @permit: the slot's permit (rnbd_clt_left.lock)
 * @sgl: pages of the request, rnbd_clt_sess.attrs.max_segments entries, initialised once
 */
struct rnbd_clt_slot {
	struct list_head entry;
	struct rtrs_clt_sess *rtrs;
	struct rtrs_permit *permit;
	struct scatterlist sgl[];
};

/* A message also for the one whose request fails. */
#define rnbd_clt_err(report, fmt, ...) do {			\
	pr_err(fmt, ##__VA_ARGS__);				\
	rtrs_report_set(report, fmt, ##__VA_ARGS__);		\
} while (0)

/**
 * rnbd_clt_sess_hold() - keep the memory of a session
 * @sess: a session that is held by somebody already
 *
 * Context: any.
 */
static inline void rnbd_clt_sess_hold(struct rnbd_clt_sess *sess)
{
	refcount_inc(&sess->ref);
}

/**
 * rnbd_clt_sess_drop() - let go of the memory of a session
 * @sess: the session
 *
 * Context: any.
 */
static inline void rnbd_clt_sess_drop(struct rnbd_clt_sess *sess)
{
	if (refcount_dec_and_test(&sess->ref))
		kfree(sess);
}

/**
 * rnbd_clt_dev_state() - where a device is in its life
 * @dev: the device
 *
 * Context: any.
 * Return: the state; what was written before the device became open can be read after open was returned.
 */
static inline enum rnbd_clt_dev_state rnbd_clt_dev_state(const struct rnbd_clt_dev *dev)
{
	/* PAIRS: with smp_store_release() in rnbd_clt_dev_set_state(). */
	return smp_load_acquire(&dev->_state);
}

/**
 * rnbd_clt_dev_set_state() - change the state of a device
 * @dev: the device
 * @state: new state
 *
 * Context: rnbd_clt_sess.lock held.
 */
static inline void rnbd_clt_dev_set_state(struct rnbd_clt_dev *dev, enum rnbd_clt_dev_state state)
{
	lockdep_assert_held(&dev->sess->lock);
	/* PAIRS: with smp_load_acquire() in rnbd_clt_dev_state(). */
	smp_store_release(&dev->_state, state);
}

#endif /* _RNBD_CLT_TYPES_H */
