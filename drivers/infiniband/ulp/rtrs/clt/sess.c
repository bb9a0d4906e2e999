// SPDX-License-Identifier: GPL-2.0-only
/* The session: permits, its set of paths, and what may be asked of a path. */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "../proto/share.h"
#include "clt.h"
#include "fault.h"

/**
 * rtrs_clt_sess_alloc() - allocate a session without paths
 * @name: its name, valid
 * @pdu_sz: bytes the ULP wants behind each permit
 * @nr_poll_queues: polled connections per path
 *
 * Context: process, may sleep.
 * Return: the session, or NULL.  Until its device is initialised it is freed with
 * rtrs_clt_sess_free().
 */
struct rtrs_clt_sess *rtrs_clt_sess_alloc(const char *name, size_t pdu_sz, u32 nr_poll_queues)
{
	struct rtrs_clt_sess *sess;

	sess = fault_here(alloc_sess) ? NULL : kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return NULL;
	sess->rr = alloc_percpu(unsigned int);
	if (!sess->rr) {
		kfree(sess);
		return NULL;
	}
	strscpy(sess->name, name, sizeof(sess->name));
	uuid_gen(&sess->uuid);
	/*
	 * One for each CPU that is online, not for those that may be some day: a VM may have a hundred of them.  Those that
	 * come later share what there is.
	 */
	sess->nr_io_conns = cpumask_last(cpu_online_mask) + 1;
	sess->nr_conns = 1 + sess->nr_io_conns + nr_poll_queues;
	sess->permit_size = ALIGN(sizeof(struct rtrs_permit) + pdu_sz, sizeof(void *));
	sess->policy = RTRS_MP_MIN_INFLIGHT;
	mutex_init(&sess->paths_mutex);
	mutex_init(&sess->geo_mutex);
	mutex_init(&sess->ev_mutex);
	mutex_init(&sess->lat.mutex);
	spin_lock_init(&sess->fence_lock);
	INIT_LIST_HEAD(&sess->fences);
	init_waitqueue_head(&sess->fence_wq);
	rtrs_clt_recovery_init(&sess->recovery);
	rtrs_clt_slots_init(sess);
	init_waitqueue_head(&sess->paths_wait);
	INIT_LIST_HEAD(&sess->entry);
	return sess;
}

/**
 * rtrs_clt_sess_free() - free a session
 * @sess: without paths, nobody uses it
 *
 * Context: process.
 */
void rtrs_clt_sess_free(struct rtrs_clt_sess *sess)
{
	rtrs_clt_slots_free(sess);
	kvfree(sess->permits);
	rtrs_clt_fence_drop_all(sess);
	kfree(rcu_dereference_protected(sess->paths, true));
	free_percpu(sess->rr);
	kfree(sess);
}

/**
 * rtrs_clt_sess_alloc_permits() - allocate a permit for each slot
 * @sess: session whose queue depth is known
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int rtrs_clt_sess_alloc_permits(struct rtrs_clt_sess *sess)
{
	void *permits;
	u32 slot;
	int ret;

	permits = fault_here(alloc_permits) ? NULL :
		  kvcalloc(sess->queue_depth, sess->permit_size, GFP_KERNEL);
	if (!permits)
		return -ENOMEM;
	ret = rtrs_clt_slots_alloc(sess);
	if (ret) {
		kvfree(permits);
		return ret;
	}
	sess->permits = permits;
	for (slot = 0; slot < sess->queue_depth; slot++)
		rtrs_clt_permit(sess, slot)->slot = slot;
	return 0;
}

/**
 * rtrs_clt_sess_wait_permits() - wait until the ULP has given all permits back
 * @sess: session that gives out no more
 *
 * Context: process, sleeps.
 */
void rtrs_clt_sess_wait_permits(struct rtrs_clt_sess *sess)
{
	if (!sess->permits)
		return;
	rtrs_clt_slots_stop(sess);
	wait_event(sess->slots.wait, !rtrs_clt_slots_in_use(sess));
	/* The last rtrs_clt_put_permit() may still be about to look for sleepers. */
	synchronize_rcu();
}

static struct rtrs_permit *rtrs_clt_try_permit(struct rtrs_clt_sess *sess,
					       enum rtrs_clt_con_type con_type)
{
	struct rtrs_permit *permit;
	int slot = sbitmap_get(&sess->slots.map);

	if (unlikely(slot < 0)) {
		rtrs_clt_slots_are_short(sess);
		return NULL;
	}
	permit = rtrs_clt_permit(sess, slot);
	permit->con = con_type == RTRS_ADMIN_CON ?
		      0 : raw_smp_processor_id() % sess->nr_io_conns + 1;
	WRITE_ONCE(permit->aborted, NULL);
	return permit;
}

/**
 * rtrs_clt_get_permit() - reserve a slot
 * @sess: open session
 * @con_type: which connection its requests use
 * @wait: sleep until one is free
 *
 * A session begins with fewer slots than its queue depth, and gets more when there is none.
 *
 * Context: any with RTRS_PERMIT_NOWAIT, else process.
 * Return: the permit, the caller's until rtrs_clt_put_permit(); NULL if none is free.
 */
struct rtrs_permit *rtrs_clt_get_permit(struct rtrs_clt_sess *sess,
					enum rtrs_clt_con_type con_type, enum wait_type wait)
{
	struct rtrs_permit *permit = rtrs_clt_try_permit(sess, con_type);

	if (!permit && wait == RTRS_PERMIT_WAIT)
		wait_event(sess->slots.wait, (permit = rtrs_clt_try_permit(sess, con_type)));
	return permit;
}
EXPORT_SYMBOL(rtrs_clt_get_permit);

/**
 * rtrs_clt_get_permit_share() - reserve a slot for one of several users of a session, within its share
 * @sess: open session
 * @held: slots that this user holds
 * @users: number of users
 *
 * For requests on the connection of the current CPU.  What a user may hold depends on what is free
 * (rtrs_share_may_take()), so that one whose requests are not answered leaves slots to the others.  The session opens
 * more slots if a share is too small, as it does if none is free.  Not part of mainline's interface.
 *
 * Context: any.
 * Return: the permit, the caller's until rtrs_clt_put_permit(); NULL if none is free, or the share is used up.
 */
struct rtrs_permit *rtrs_clt_get_permit_share(struct rtrs_clt_sess *sess, u32 held, u32 users)
{
	u32 used = sbitmap_weight(&sess->slots.map);

	/* Slots that are not open count as used. */
	if (!rtrs_share_may_take(READ_ONCE(sess->slots.open), sess->queue_depth - min(used, sess->queue_depth), held,
				 users)) {
		rtrs_clt_slots_are_short(sess);
		return NULL;
	}
	return rtrs_clt_try_permit(sess, RTRS_IO_CON);
}
EXPORT_SYMBOL(rtrs_clt_get_permit_share);

/**
 * rtrs_clt_put_permit() - give a slot back
 * @sess: the session
 * @permit: its permit, without a request in flight
 *
 * Context: any.
 */
void rtrs_clt_put_permit(struct rtrs_clt_sess *sess, struct rtrs_permit *permit)
{
	/* PAIRS: rtrs_clt_sess_wait_permits() */
	rcu_read_lock();
	sbitmap_put(&sess->slots.map, permit->slot);
	if (wq_has_sleeper(&sess->slots.wait))
		wake_up_all(&sess->slots.wait);
	rcu_read_unlock();
}
EXPORT_SYMBOL(rtrs_clt_put_permit);

/**
 * rtrs_clt_permit_set_queue() - choose the connection of a permit's requests
 * @sess: the session
 * @permit: the permit, without a request in flight
 * @index: I/O connection, counted from 0 as in rtrs_clt_rdma_cq_direct()
 *
 * Not part of mainline's interface.  With it the requests of a polled hardware queue travel on the
 * connection that the queue polls.
 *
 * Context: any.
 */
void rtrs_clt_permit_set_queue(struct rtrs_clt_sess *sess, struct rtrs_permit *permit,
			       unsigned int index)
{
	permit->con = index % (sess->nr_conns - 1) + 1;
}
EXPORT_SYMBOL(rtrs_clt_permit_set_queue);

/**
 * rtrs_clt_query() - what the session can do
 * @sess: open session
 * @attr: result
 *
 * Context: any.
 * Return: 0, or -ECOMM if no path is connected.
 */
int rtrs_clt_query(struct rtrs_clt_sess *sess, struct rtrs_attrs *attr)
{
	if (!READ_ONCE(sess->paths_up))
		return -ECOMM;
	attr->queue_depth = sess->queue_depth;
	attr->nr_io_conns = sess->nr_io_conns;
	attr->max_segments = READ_ONCE(sess->max_segments);
	attr->max_io_size = min_t(u32, READ_ONCE(sess->max_io_size), attr->max_segments * SZ_4K);
	attr->identity = READ_ONCE(sess->features) & RTRS_EXT_IDENTITY;
	return 0;
}
EXPORT_SYMBOL(rtrs_clt_query);

/**
 * rtrs_clt_is_unsteady() - do paths come only to go again
 * @sess: open session
 *
 * For who limits how long requests wait for a path: one that is lost before it has answered what it was asked for some
 * seconds does not end the wait.  Not part of mainline's interface.
 *
 * Context: any.
 * Return: true if the last path that was lost had not been useful before.
 */
bool rtrs_clt_is_unsteady(const struct rtrs_clt_sess *sess)
{
	return READ_ONCE(sess->unsteady);
}
EXPORT_SYMBOL(rtrs_clt_is_unsteady);

/**
 * rtrs_clt_sess_is_open() - is a session between rtrs_clt_open() and rtrs_clt_close()
 * @sess: the session
 *
 * Context: process, takes ev_mutex.
 * Return: true if it is; it may be closed at any time.
 */
bool rtrs_clt_sess_is_open(struct rtrs_clt_sess *sess)
{
	bool ret;

	mutex_lock(&sess->ev_mutex);
	ret = sess->opened && !sess->closing;
	mutex_unlock(&sess->ev_mutex);
	return ret;
}

static bool rtrs_clt_same_addr(const struct rtrs_clt_path *a, const struct rtrs_clt_path *b)
{
	if (!a->addr.src != !b->addr.src)
		return false;
	if (a->addr.src && !rtrs_addr_same_host((struct sockaddr *)a->addr.src,
						(struct sockaddr *)b->addr.src))
		return false;
	return rtrs_addr_same_host((struct sockaddr *)a->addr.dst, (struct sockaddr *)b->addr.dst);
}

static struct rtrs_clt_paths *rtrs_clt_paths_copy(const struct rtrs_clt_paths *old,
						  unsigned int room)
{
	unsigned int nr = old ? old->nr : 0;
	struct rtrs_clt_paths *new;

	new = kzalloc(struct_size(new, path, nr + room), GFP_KERNEL);
	if (!new)
		return NULL;
	new->nr = nr;
	if (nr)
		memcpy(new->path, old->path, nr * sizeof(old->path[0]));
	return new;
}

/**
 * rtrs_clt_sess_add_path() - add a path to its session
 * @sess: the session
 * @path: the path, not started
 *
 * Context: process, takes paths_mutex.
 * Return: 0; -ESHUTDOWN if the session is being closed; -EEXIST if it has a path with these addresses; -ENOSPC if it has
 * RTRS_MAX_PATHS; -ENOMEM.
 */
int rtrs_clt_sess_add_path(struct rtrs_clt_sess *sess, struct rtrs_clt_path *path)
{
	struct rtrs_clt_paths *old, *new;
	unsigned int i;
	int ret = 0;

	mutex_lock(&sess->paths_mutex);
	old = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	/* Set before the one who closes the session takes this mutex to look for paths. */
	if (READ_ONCE(sess->closing)) {
		ret = -ESHUTDOWN;
		goto out_unlock;
	}
	for (i = 0; old && i < old->nr; i++) {
		if (rtrs_clt_same_addr(old->path[i], path) ||
		    !strcmp(old->path[i]->name, path->name)) {
			rtrs_clt_path_fail(path, "the session has this path already\n");
			ret = -EEXIST;
			goto out_unlock;
		}
	}
	if (old && old->nr == RTRS_MAX_PATHS) {
		rtrs_clt_path_fail(path, "a session has at most %d paths\n", RTRS_MAX_PATHS);
		ret = -ENOSPC;
		goto out_unlock;
	}
	new = rtrs_clt_paths_copy(old, 1);
	if (!new) {
		ret = -ENOMEM;
		goto out_unlock;
	}
	new->path[new->nr++] = path;
	rcu_assign_pointer(sess->paths, new);
	rtrs_nl_changed();
	if (old)
		kfree_rcu(old, rcu);
out_unlock:
	mutex_unlock(&sess->paths_mutex);
	return ret;
}

/**
 * rtrs_clt_sess_del_path() - take a path out of its session
 * @path: the path, torn down
 *
 * After return nobody finds it any more.  Removal cannot fail, hence the allocation that does not either.
 *
 * Context: process, takes paths_mutex, waits for a grace period.
 */
void rtrs_clt_sess_del_path(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	struct rtrs_clt_paths *old, *new;
	unsigned int i, nr = 0;

	mutex_lock(&sess->paths_mutex);
	old = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	new = kzalloc(struct_size(new, path, old->nr), GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < old->nr; i++)
		if (old->path[i] != path)
			new->path[nr++] = old->path[i];
	new->nr = nr;
	mutex_lock(&sess->lat.mutex);
	rcu_assign_pointer(sess->paths, new);
	rtrs_clt_lat_fold(path);
	mutex_unlock(&sess->lat.mutex);
	mutex_unlock(&sess->paths_mutex);
	rtrs_nl_changed();
	synchronize_rcu();
	kfree(old);
	wake_up_all(&sess->paths_wait);
}

/**
 * rtrs_clt_path_start() - start the first attempt of a path
 * @path: path in its session, state CONNECTING
 *
 * Context: process.
 */
void rtrs_clt_path_start(struct rtrs_clt_path *path)
{
	queue_delayed_work(rtrs_clt_wq, &path->dwork, 0);
}

/**
 * rtrs_clt_path_wait_first() - wait for the end of the first attempt
 * @path: started path
 *
 * Context: process, sleeps; the attempt is bounded in time, and the wait killable.
 * Return: 0 if it connected, else its error; -EINTR: killed, the attempt goes on.
 */
int rtrs_clt_path_wait_first(struct rtrs_clt_path *path)
{
	if (wait_event_killable(path->state_wq, READ_ONCE(path->attempts) ||
				rtrs_clt_path_state(path) >= RTRS_CLT_PATH_CLOSING))
		return -EINTR;
	return smp_load_acquire(&path->attempts) ? READ_ONCE(path->attempt_result) : -ECONNABORTED;
}

/**
 * rtrs_clt_path_reconnect() - tear down and connect again now
 * @path: the path
 *
 * The server may refuse for a moment, until it has torn down its end; attempts go on meanwhile.
 *
 * Context: process, sleeps for at most connect_timeout_ms; killable.
 * Return: 0; -EBUSY if the path is connecting, closing or being removed; -ENOTCONN if it is not connected by then;
 * -EINTR: killed, attempts go on.
 */
int rtrs_clt_path_reconnect(struct rtrs_clt_path *path)
{
	long left;

	/* Somebody waits, and looks into the log. */
	rtrs_clt_failure_forget(path);
	if (test_bit(0, &path->removing) || !rtrs_clt_path_event(path, RTRS_CLT_EV_RECONNECT))
		return -EBUSY;
	left = wait_event_killable_timeout(path->state_wq,
					   rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTED ||
					   rtrs_clt_path_state(path) >= RTRS_CLT_PATH_CLOSING,
					   msecs_to_jiffies(READ_ONCE(path->sess->timing.connect_timeout_ms)));
	if (left < 0)
		return -EINTR;
	return rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTED ? 0 : -ENOTCONN;
}

/* Nothing of the path is left on a device, or somebody else connects it again. */
static bool rtrs_clt_path_is_closed(const struct rtrs_clt_path *path)
{
	enum rtrs_clt_path_state state = rtrs_clt_path_state(path);

	return state < RTRS_CLT_PATH_CLOSING ||
	       (state >= RTRS_CLT_PATH_CLOSED && !atomic_read(&path->links));
}

/**
 * rtrs_clt_path_close() - close a path and wait until nothing of it is left on a device
 * @path: the path; closed already is fine
 *
 * Nobody waits any longer for a path that somebody else connects again meanwhile.
 *
 * Context: process, sleeps; for a process of a user there is rtrs_clt_path_disconnect().
 */
void rtrs_clt_path_close(struct rtrs_clt_path *path)
{
	rtrs_clt_path_event(path, RTRS_CLT_EV_CLOSE);
	wait_event(path->state_wq, rtrs_clt_path_is_closed(path));
}

/**
 * rtrs_clt_path_disconnect() - as rtrs_clt_path_close(), but the wait can be killed
 * @path: the path; closed already is fine
 *
 * Context: process, sleeps.
 * Return: 0; -EINTR: killed, the path closes all the same.
 */
int rtrs_clt_path_disconnect(struct rtrs_clt_path *path)
{
	rtrs_clt_path_event(path, RTRS_CLT_EV_CLOSE);
	return wait_event_killable(path->state_wq, rtrs_clt_path_is_closed(path)) ? -EINTR : 0;
}
