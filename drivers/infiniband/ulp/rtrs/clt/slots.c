// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slots of a session, and how many of them are open (extension CREDITS).
 *
 * Operation: a slot can be used when each connected path has what it needs (credits.c).  A session begins with few.  When
 * a ULP finds no free slot the work here wants twice as many, and the workers of all paths follow; when all paths have more,
 * more slots are open.  When for some time only a few of the open ones were in use, half of them are closed, and each path
 * gives chunks back.
 *
 * Ownership: a slot that is not open is held here, as if it were in use: its bit is set in the bitmap from which the ULP's are
 * taken, and in that of the closed ones.  So nothing is looked at when a slot is taken that is not looked at anyway.
 *
 * Ordering: no connected path has fewer slots than are open.  A path steps to CONNECTED, and slots are opened, under the lock.
 * To close slots all of them are held first, then fewer are wanted, then a path gives back.
 *
 * Errors: without memory, here or at the server, as many slots stay open as there were.  It is tried again when they are short,
 * but not at once.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/bitmap.h>
#include <linux/slab.h>

#include "clt.h"

/* The work looks so often whether fewer slots would do, and after so many quiet looks half of them are closed. */
#define RTRS_CLT_SLOTS_TICK		HZ
#define RTRS_CLT_SLOTS_QUIET_TICKS	30
/* Quiet: not more than so small a part of the open slots was in use. */
#define RTRS_CLT_SLOTS_QUIET_PART	4
/* When a server, or this host, had no memory for more. */
#define RTRS_CLT_SLOTS_AGAIN		(5 * HZ)

/* Hold a free slot.  A bit that is set in both words of the bitmap is free, and only not cleared yet. */
static bool rtrs_clt_slot_hold(struct rtrs_clt_sess *sess, u32 slot)
{
	struct sbitmap_word *word = &sess->slots.map.map[SB_NR_TO_INDEX(&sess->slots.map, slot)];
	unsigned int bit = SB_NR_TO_BIT(&sess->slots.map, slot);

	if (test_and_set_bit_lock(bit, &word->word) && !test_and_clear_bit(bit, &word->cleared))
		return false;
	set_bit(slot, sess->slots.closed);
	return true;
}

/* Open what is held below @nr.  Return: how many they were. */
static u32 rtrs_clt_slots_release(struct rtrs_clt_sess *sess, u32 nr)
{
	u32 slot, released = 0;

	lockdep_assert_held(&sess->slots.lock);
	if (!sess->slots.closed)
		return 0;
	for_each_set_bit(slot, sess->slots.closed, nr) {
		clear_bit(slot, sess->slots.closed);
		clear_bit_unlock(SB_NR_TO_BIT(&sess->slots.map, slot), __sbitmap_word(&sess->slots.map, slot));
		released++;
	}
	if (released && wq_has_sleeper(&sess->slots.wait))
		wake_up_all(&sess->slots.wait);
	return released;
}

/**
 * rtrs_clt_slots_in_use() - how many slots the ULP has
 * @sess: session with slots
 *
 * Context: any.
 * Return: their number, at some moment.
 */
u32 rtrs_clt_slots_in_use(struct rtrs_clt_sess *sess)
{
	unsigned long flags;
	u32 nr;

	spin_lock_irqsave(&sess->slots.lock, flags);
	nr = sbitmap_weight(&sess->slots.map) - bitmap_weight(sess->slots.closed, sess->queue_depth);
	spin_unlock_irqrestore(&sess->slots.lock, flags);
	return nr;
}

/* While there are more than the least have the work look at how many are needed. */
static void rtrs_clt_slots_watch(struct rtrs_clt_sess *sess)
{
	lockdep_assert_held(&sess->slots.lock);
	if (sess->slots.closed && max(sess->slots.open, sess->slots.want) > RTRS_CLT_SLOTS_LEAST &&
	    !READ_ONCE(sess->closing))
		queue_delayed_work(rtrs_clt_tick_wq, &sess->slots.dwork, RTRS_CLT_SLOTS_TICK);
}

/* Open the slots that all connected paths have. */
static void rtrs_clt_slots_raise_locked(struct rtrs_clt_sess *sess)
{
	const struct rtrs_clt_paths *paths;
	const struct rtrs_clt_path *path;
	bool credits = false;
	unsigned int i;
	u32 nr = U32_MAX;

	lockdep_assert_held(&sess->slots.lock);
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		path = paths->path[i];
		if (rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTED)
			continue;
		nr = min(nr, path->credits.slots);
		/* It may have more still, which it is about to give back. */
		if (rtrs_clt_path_has_credits(path)) {
			nr = min(nr, sess->slots.want);
			credits = true;
		}
	}
	rcu_read_unlock();
	if (credits)
		rtrs_clt_slots_watch(sess);
	if (nr == U32_MAX || nr <= sess->slots.open)
		return;
	WRITE_ONCE(sess->slots.open, nr);
	WRITE_ONCE(sess->slots.want, max(sess->slots.want, nr));
	WRITE_ONCE(sess->slots.target, 0);
	rtrs_clt_slots_release(sess, nr);
}

/**
 * rtrs_clt_slots_raise() - open the slots that all connected paths have
 * @sess: the session, one of whose paths has more than it had, or is not connected any more
 *
 * Context: any.
 */
void rtrs_clt_slots_raise(struct rtrs_clt_sess *sess)
{
	unsigned long flags;

	spin_lock_irqsave(&sess->slots.lock, flags);
	rtrs_clt_slots_raise_locked(sess);
	spin_unlock_irqrestore(&sess->slots.lock, flags);
}

/* Have the paths' workers look at how many slots are wanted. */
static void rtrs_clt_slots_kick(struct rtrs_clt_sess *sess)
{
	const struct rtrs_clt_paths *paths;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		if (rtrs_clt_path_state(paths->path[i]) == RTRS_CLT_PATH_CONNECTED)
			mod_delayed_work(rtrs_clt_wq, &paths->path[i]->dwork, 0);
	rcu_read_unlock();
}

/* Would a path give anything back, or, if none is connected, need less when it is? */
static bool rtrs_clt_slots_worth_closing(struct rtrs_clt_sess *sess)
{
	const struct rtrs_clt_paths *paths;
	bool worth = false, some = false;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		if (rtrs_clt_path_state(paths->path[i]) != RTRS_CLT_PATH_CONNECTED)
			continue;
		some = true;
		worth |= rtrs_clt_path_has_credits(paths->path[i]);
	}
	rcu_read_unlock();
	return worth || !some;
}

/* Slots were short: first those that were about to be closed, else twice as many. */
static void rtrs_clt_slots_want_more(struct rtrs_clt_sess *sess)
{
	u32 nr = min(2 * sess->slots.open, sess->queue_depth);

	lockdep_assert_held(&sess->slots.lock);
	sess->slots.quiet = 0;
	WRITE_ONCE(sess->slots.target, 0);
	if (!rtrs_clt_slots_release(sess, sess->slots.open))
		WRITE_ONCE(sess->slots.want, max(sess->slots.want, nr));
}

/* Hold the slots from the target on; when all are held they are closed.  Return: are they? */
static bool rtrs_clt_slots_close_some(struct rtrs_clt_sess *sess)
{
	bool all = true;
	u32 slot;

	lockdep_assert_held(&sess->slots.lock);
	for (slot = sess->slots.target; slot < sess->slots.open; slot++)
		if (!test_bit(slot, sess->slots.closed) && !rtrs_clt_slot_hold(sess, slot))
			all = false;
	if (!all)
		return false;
	WRITE_ONCE(sess->slots.open, sess->slots.target);
	WRITE_ONCE(sess->slots.want, sess->slots.target);
	WRITE_ONCE(sess->slots.target, 0);
	sess->slots.quiet = 0;
	return true;
}

/* Nobody was short of slots for a while.  Return: are there fewer now? */
static bool rtrs_clt_slots_tick(struct rtrs_clt_sess *sess, u32 in_use)
{
	lockdep_assert_held(&sess->slots.lock);
	if (!sess->slots.target) {
		if (sess->slots.open <= RTRS_CLT_SLOTS_LEAST || in_use * RTRS_CLT_SLOTS_QUIET_PART > sess->slots.open ||
		    !rtrs_clt_slots_worth_closing(sess)) {
			sess->slots.quiet = 0;
			return false;
		}
		if (++sess->slots.quiet < RTRS_CLT_SLOTS_QUIET_TICKS)
			return false;
		WRITE_ONCE(sess->slots.target, max(sess->slots.open / 2, RTRS_CLT_SLOTS_LEAST));
	}
	return rtrs_clt_slots_close_some(sess);
}

/* Open slots, or close some.  Comes back by itself for as long as there are more than the least. */
static void rtrs_clt_slots_work(struct work_struct *work)
{
	struct rtrs_clt_sess *sess = container_of(work, struct rtrs_clt_sess, slots.dwork.work);
	u32 in_use = rtrs_clt_slots_in_use(sess);
	bool fewer = false, kick;

	spin_lock_irq(&sess->slots.lock);
	if (test_and_clear_bit(0, &sess->slots.is_short))
		rtrs_clt_slots_want_more(sess);
	else
		fewer = rtrs_clt_slots_tick(sess, in_use);
	/* A path that the others waited for may be lost. */
	rtrs_clt_slots_raise_locked(sess);
	if (rtrs_clt_slots_worth_closing(sess))
		rtrs_clt_slots_watch(sess);
	kick = fewer || sess->slots.want > sess->slots.open;
	spin_unlock_irq(&sess->slots.lock);
	if (kick)
		rtrs_clt_slots_kick(sess);
}

/**
 * rtrs_clt_slots_init() - prepare a new session
 * @sess: the session
 *
 * Context: process.
 */
void rtrs_clt_slots_init(struct rtrs_clt_sess *sess)
{
	spin_lock_init(&sess->slots.lock);
	init_waitqueue_head(&sess->slots.wait);
	INIT_DELAYED_WORK(&sess->slots.dwork, rtrs_clt_slots_work);
	sess->slots.want = RTRS_CLT_SLOTS_LEAST;
	sess->slots.again = jiffies;
}

/**
 * rtrs_clt_slots_alloc() - make a session's slots
 * @sess: session whose queue depth is known
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; rtrs_clt_slots_free() cleans up.
 */
int rtrs_clt_slots_alloc(struct rtrs_clt_sess *sess)
{
	unsigned long *closed;
	u32 slot;
	int ret;

	closed = bitmap_zalloc(sess->queue_depth, GFP_KERNEL);
	if (!closed)
		return -ENOMEM;
	ret = sbitmap_init_node(&sess->slots.map, sess->queue_depth, -1, GFP_KERNEL, NUMA_NO_NODE,
				false, true);
	if (ret) {
		bitmap_free(closed);
		return ret;
	}
	spin_lock_irq(&sess->slots.lock);
	sess->slots.closed = closed;
	for (slot = sess->slots.open; slot < sess->queue_depth; slot++)
		rtrs_clt_slot_hold(sess, slot);
	spin_unlock_irq(&sess->slots.lock);
	return 0;
}

/**
 * rtrs_clt_slots_free() - undo rtrs_clt_slots_alloc()
 * @sess: the session; nothing happens if it has no slots
 *
 * Context: process.
 */
void rtrs_clt_slots_free(struct rtrs_clt_sess *sess)
{
	if (!sess->slots.closed)
		return;
	sbitmap_free(&sess->slots.map);
	bitmap_free(sess->slots.closed);
}

/**
 * rtrs_clt_slots_are_short() - there was no free slot
 * @sess: the session
 *
 * Context: any.
 */
void rtrs_clt_slots_are_short(struct rtrs_clt_sess *sess)
{
	u32 open = READ_ONCE(sess->slots.open);

	/* Nothing to be done, or it is being done, or could not be done a moment ago. */
	if (!READ_ONCE(sess->slots.target) &&
	    (open >= sess->queue_depth || READ_ONCE(sess->slots.want) > open ||
	     time_before(jiffies, READ_ONCE(sess->slots.again))))
		return;
	if (!READ_ONCE(sess->closing) && !test_and_set_bit(0, &sess->slots.is_short))
		mod_delayed_work(rtrs_clt_tick_wq, &sess->slots.dwork, 0);
}

/**
 * rtrs_clt_slots_stop() - open no more slots
 * @sess: session that is being closed, without paths
 *
 * Context: process, sleeps.
 */
void rtrs_clt_slots_stop(struct rtrs_clt_sess *sess)
{
	cancel_delayed_work_sync(&sess->slots.dwork);
}

/**
 * rtrs_clt_slots_wanted() - how many slots a path is to begin with
 * @sess: its session
 *
 * Context: any.
 * Return: not fewer than are open.
 */
u32 rtrs_clt_slots_wanted(struct rtrs_clt_sess *sess)
{
	return READ_ONCE(sess->slots.want);
}

/**
 * rtrs_clt_slots_connect() - step to CONNECTED if the path has the slots that are open
 * @path: path in state CONNECTING
 *
 * Context: any.
 * Return: false if not.
 */
bool rtrs_clt_slots_connect(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	unsigned long flags;
	bool stepped;

	spin_lock_irqsave(&sess->slots.lock, flags);
	stepped = path->credits.slots >= sess->slots.open && rtrs_clt_path_event(path, RTRS_CLT_EV_ESTABLISHED);
	if (stepped)
		rtrs_clt_slots_raise_locked(sess);
	spin_unlock_irqrestore(&sess->slots.lock, flags);
	return stepped;
}

/**
 * rtrs_clt_slots_may_connect() - is it worth while to try rtrs_clt_slots_connect()
 * @path: path in state CONNECTING
 *
 * Context: any; its worker.
 * Return: true if it has the slots that are open, or rtrs_clt_credits_run() has something to do.
 */
bool rtrs_clt_slots_may_connect(const struct rtrs_clt_path *path)
{
	return path->credits.slots >= READ_ONCE(path->sess->slots.open) || READ_ONCE(path->credits.told);
}

/**
 * rtrs_clt_slots_refused() - let no more slots be wanted than a path has
 * @path: the path, for which there is no memory for more
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_slots_refused(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	unsigned long flags;

	spin_lock_irqsave(&sess->slots.lock, flags);
	WRITE_ONCE(sess->slots.want, max(sess->slots.open, min(sess->slots.want, path->credits.slots)));
	WRITE_ONCE(sess->slots.again, jiffies + RTRS_CLT_SLOTS_AGAIN);
	spin_unlock_irqrestore(&sess->slots.lock, flags);
	/* Others may have got more, which nobody can use. */
	rtrs_clt_slots_kick(sess);
}

/**
 * rtrs_clt_slots_lower() - how many slots are wanted
 * @path: the path; if it has more, those beyond are closed: it has as many from now on
 *
 * Context: process, path mutex held.
 * Return: not fewer than are open, not more than the queue depth.
 */
u32 rtrs_clt_slots_lower(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	u32 want;

	spin_lock_irq(&sess->slots.lock);
	want = min(sess->slots.want, sess->queue_depth);
	path->credits.slots = min(path->credits.slots, want);
	spin_unlock_irq(&sess->slots.lock);
	return want;
}

/**
 * rtrs_clt_slots_have() - a path may use the slots for which it has all
 * @path: the path
 * @nr: for so many there is all on this host
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_slots_have(struct rtrs_clt_path *path, u32 nr)
{
	struct rtrs_clt_sess *sess = path->sess;

	spin_lock_irq(&sess->slots.lock);
	path->credits.slots = max(path->credits.slots, min3(path->credits.chunks, nr, sess->slots.want));
	spin_unlock_irq(&sess->slots.lock);
}
