// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has to be settled before requests go over another path.
 *
 * Extension FENCE: before what a lost path owed is sent again, the server closes that path.
 *
 * Without it a request that the network holds back can reach the server long after it was sent again
 * and answered over another path, and put old data over newer ones.
 *
 * Operation: the worker of the lost path asks over any connected path and waits.  If that one is lost
 * too, it asks over the next.  When no path is left it gives up: what the path owed fails, and the fence
 * is left behind in the session.  A path that connects later carries no request before the server has
 * answered for all that was left behind, for the ULP may write again what has failed.
 *
 * Extension SESSION: the server's session ends with its last path there, and what it had for the ULP with it.
 * The client may not have noticed: of two paths that the server has lost, one is back before the other is found
 * to be lost, so that the ULP would hear of no loss, and go on with what the server has forgotten.  A path that
 * belongs to another session there than those that are up waits until they are lost.
 *
 * Ownership: a path with the extension has a fence from its set-up on.  While it is waited for, or left
 * behind, it is in the session's list, and whoever takes it from there frees it.
 *
 * Ordering: a path steps to CONNECTED, and a worker gives up, under the session's fence_lock: either
 * the worker sees a path that it can ask, or that path sees what the worker has left behind.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/rtrs-nl.h>

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

/* Ask again after this time: the server had no room to answer, or we none to ask. */
#define RTRS_CLT_FENCE_ASK_MS	500
/* Log that the server takes its time: its adapter's driver drains slowly, or a disk blocks a submission. */
#define RTRS_CLT_FENCE_WARN_MS	30000

/**
 * struct rtrs_clt_fence - a path that the server has to close
 * @entry: in the session's list
 * @id: the server's number of the path
 * @left: no worker waits for it, the next path to connect has to
 * @up: the server has answered
 */
struct rtrs_clt_fence {
	struct list_head entry;
	u32 id;
	bool left;
	bool up;
};

/**
 * struct rtrs_clt_fence_via - path that carries the question
 * @path: the path, with a reference
 * @recon_cnt: its attempt, to see that it was lost and is back
 */
struct rtrs_clt_fence_via {
	struct rtrs_clt_path *path;
	u16 recon_cnt;
};

/* A step of the fence of a lost path. */
static void rtrs_clt_fence_note(const struct rtrs_clt_path *lost, const char *via, u32 id,
				const char *step)
{
	struct rtrs_nl_news news = {
		.event = RTRS_NL_EVENT_FENCE,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = lost->sess->name,
		.path = lost->name,
		.to = step,
	};

	trace_rtrs_clt_fence(via, id, step);
	rtrs_nl_tell(&news);
}

/**
 * rtrs_clt_fence_create() - give a path that has the extension a fence
 * @path: the path, its service connection established
 *
 * Context: process, path mutex held.
 * Return: 0 or -ENOMEM.
 */
int rtrs_clt_fence_create(struct rtrs_clt_path *path)
{
	if (!(path->features & RTRS_EXT_FENCE))
		return 0;
	path->fence = fault_here(alloc_fence) ? NULL : kzalloc(sizeof(*path->fence), GFP_KERNEL);
	if (!path->fence)
		return -ENOMEM;
	path->fence->id = path->srv_id;
	return 0;
}

/**
 * rtrs_clt_fence_destroy() - free a path's fence if it was not needed
 * @path: the path, being torn down
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_fence_destroy(struct rtrs_clt_path *path)
{
	kfree(path->fence);
	path->fence = NULL;
}

/**
 * rtrs_clt_fence_drop_all() - forget what was left behind
 * @sess: session without a worker that waits
 *
 * Context: process.
 */
void rtrs_clt_fence_drop_all(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_fence *fence, *next;

	list_for_each_entry_safe(fence, next, &sess->fences, entry) {
		list_del(&fence->entry);
		kfree(fence);
	}
}

/**
 * rtrs_clt_fence_up() - the server has closed a path
 * @sess: the session
 * @id: the server's number of the path
 *
 * An answer that nobody waits for is the second one to a question that was repeated.
 *
 * Context: completion handler.
 */
void rtrs_clt_fence_up(struct rtrs_clt_sess *sess, u32 id)
{
	struct rtrs_clt_fence *fence, *next;
	unsigned long flags;

	spin_lock_irqsave(&sess->fence_lock, flags);
	list_for_each_entry_safe(fence, next, &sess->fences, entry) {
		if (fence->id != id)
			continue;
		WRITE_ONCE(fence->up, true);
		if (fence->left) {
			list_del(&fence->entry);
			kfree(fence);
		}
	}
	spin_unlock_irqrestore(&sess->fence_lock, flags);
	wake_up_all(&sess->fence_wq);
}

/* Post the question; a full send queue gets room, and it is asked again in a moment. */
static int rtrs_clt_fence_post(struct rtrs_clt_path *path, u32 id)
{
	int ret = rtrs_conn_post_empty_imm(&path->conns[0].conn, rtrs_imm_fence(id, false));

	return ret == -EAGAIN ? 0 : ret;
}

/*
 * Ask over a connected path, and keep it in @via.  False if there is none.
 *
 * A connected path without the extension leads to another server than the one that numbered the lost
 * path, which went away with all it had: nothing is to be asked.
 */
static bool rtrs_clt_fence_ask(struct rtrs_clt_path *lost, struct rtrs_clt_fence *fence,
			       struct rtrs_clt_fence_via *via)
{
	struct rtrs_clt_sess *sess = lost->sess;
	const struct rtrs_clt_paths *paths;
	struct rtrs_clt_path *path;
	unsigned int i;
	int ret;

	via->path = NULL;
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr && !via->path; i++) {
		path = paths->path[i];
		if (rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTED ||
		    !kobject_get_unless_zero(&path->kobj))
			continue;
		via->path = path;
		via->recon_cnt = READ_ONCE(path->recon_cnt);
		if (!(path->features & RTRS_EXT_FENCE)) {
			WRITE_ONCE(fence->up, true);
			break;
		}
		ret = rtrs_clt_fence_post(path, fence->id);
		if (ret)
			rtrs_clt_path_error(path, ret);
		rtrs_clt_fence_note(lost, path->name, fence->id, "asked");
	}
	rcu_read_unlock();
	return via->path;
}

/**
 * rtrs_clt_fence_tell() - tell the server, over another path, that this one is lost
 * @path: the path, lost, that owes nothing
 *
 * Nobody waits for the answer.  The server may not have noticed, and would refuse the next attempt until it
 * has closed its end.
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_fence_tell(struct rtrs_clt_path *path)
{
	struct rtrs_clt_fence_via via;

	lockdep_assert_held(&path->mutex);
	if (path->fence && rtrs_clt_path_state(path) == RTRS_CLT_PATH_RECONNECTING &&
	    rtrs_clt_fence_ask(path, path->fence, &via))
		kobject_put(&via.path->kobj);
}

static bool rtrs_clt_fence_via_lost(const struct rtrs_clt_fence_via *via)
{
	return rtrs_clt_path_state(via->path) != RTRS_CLT_PATH_CONNECTED ||
	       READ_ONCE(via->path->recon_cnt) != via->recon_cnt;
}

static bool rtrs_clt_fence_some_connected(struct rtrs_clt_sess *sess)
{
	const struct rtrs_clt_paths *paths;
	bool found = false;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr && !found; i++)
		found = rtrs_clt_path_state(paths->path[i]) == RTRS_CLT_PATH_CONNECTED;
	rcu_read_unlock();
	return found;
}

/* Leave the fence behind.  False if that is not called for any more: a path has connected. */
static bool rtrs_clt_fence_leave(struct rtrs_clt_sess *sess, struct rtrs_clt_fence *fence)
{
	bool left;

	spin_lock_irq(&sess->fence_lock);
	/* The last path is gone for good, or the session is: what connects from now on sees it. */
	left = !fence->up && (READ_ONCE(sess->closing) || !rtrs_clt_fence_some_connected(sess));
	fence->left = left;
	spin_unlock_irq(&sess->fence_lock);
	/* One that was left behind is not ours any more: a late answer frees it. */
	return left;
}

/* Ask until there is an answer.  False if nobody is left to ask, and the fence was left behind. */
static bool rtrs_clt_fence_wait(struct rtrs_clt_path *path, struct rtrs_clt_fence *fence)
{
	unsigned long start = jiffies, warn_at = start + msecs_to_jiffies(RTRS_CLT_FENCE_WARN_MS);
	struct rtrs_clt_sess *sess = path->sess;
	struct rtrs_clt_fence_via via;

	while (!READ_ONCE(fence->up)) {
		if (READ_ONCE(sess->closing) || !rtrs_clt_fence_ask(path, fence, &via)) {
			if (rtrs_clt_fence_leave(sess, fence))
				return false;
			continue;
		}
		wait_event_timeout(sess->fence_wq,
				   READ_ONCE(fence->up) || READ_ONCE(sess->closing) ||
				   rtrs_clt_fence_via_lost(&via),
				   msecs_to_jiffies(RTRS_CLT_FENCE_ASK_MS));
		kobject_put(&via.path->kobj);
		if (time_after(jiffies, warn_at)) {
			rtrs_clt_path_err(path, "the server has not closed the path for %u s, its requests wait\n",
					  jiffies_to_msecs(jiffies - start) / 1000);
			warn_at = jiffies + msecs_to_jiffies(RTRS_CLT_FENCE_WARN_MS);
		}
	}
	return true;
}

/**
 * rtrs_clt_fence() - have the server close a lost path
 * @path: the path, torn down so far that nothing of it is sent any more
 *
 * Nothing is asked of a server that lacks the extension.
 *
 * Context: process, path mutex held.  Waits for the server to close the path.
 * Return: true if what the path owed may be sent again; false if no path is left to send it over.
 */
bool rtrs_clt_fence(struct rtrs_clt_path *path)
{
	struct rtrs_clt_fence *fence = path->fence;
	struct rtrs_clt_sess *sess = path->sess;

	lockdep_assert_held(&path->mutex);
	if (!fence)
		return true;
	path->fence = NULL;
	spin_lock_irq(&sess->fence_lock);
	list_add_tail(&fence->entry, &sess->fences);
	spin_unlock_irq(&sess->fence_lock);
	if (!rtrs_clt_fence_wait(path, fence)) {
		rtrs_clt_count(path, RTRS_CLT_FENCE_LEFT);
		rtrs_clt_fence_note(path, path->name, path->srv_id, "left behind");
		return false;
	}
	rtrs_clt_count(path, RTRS_CLT_FENCED);
	rtrs_clt_fence_note(path, path->name, path->srv_id, "answered");
	spin_lock_irq(&sess->fence_lock);
	list_del(&fence->entry);
	spin_unlock_irq(&sess->fence_lock);
	kfree(fence);
	return true;
}

static bool rtrs_clt_fence_any_left(struct rtrs_clt_sess *sess)
{
	struct rtrs_clt_fence *fence;
	bool found = false;

	spin_lock_irq(&sess->fence_lock);
	list_for_each_entry(fence, &sess->fences, entry)
		if (fence->left) {
			found = true;
			break;
		}
	spin_unlock_irq(&sess->fence_lock);
	return found;
}

/*
 * Does a path lead to the session that the ULP knows, or does the ULP know that it has none?  A server gives a
 * number to all paths or to none, so one that has begun to, or stopped, is another server.  Without numbers a
 * path that is still connected is taken for proof.
 */
static bool rtrs_clt_fence_joins(const struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	u32 known = READ_ONCE(sess->srv_sess);

	if (!READ_ONCE(sess->paths_up))
		return true;
	return path->srv_sess == known && (known || rtrs_clt_fence_some_connected(sess));
}

/* What the session promises holds on each of its paths: the first one that is up brings it, others may lower it. */
static void rtrs_clt_fence_merge_sizes(const struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;

	lockdep_assert_held(&sess->ev_mutex);
	WRITE_ONCE(sess->max_segments, min_not_zero(sess->max_segments, path->max_segments));
	WRITE_ONCE(sess->max_io_size, min_not_zero(sess->max_io_size, path->max_io_size));
	WRITE_ONCE(sess->features, sess->paths_up ? sess->features & path->features : path->features);
}

/*
 * Step to CONNECTED if nothing is left behind, else ask for all of it.  Under the mutex of link events, with
 * which the path is counted too: the ULP has heard that the session was lost before a path to the next one is
 * there, and does not hear it while a path carries requests.
 */
static int rtrs_clt_fence_step(struct rtrs_clt_path *path, bool *stepped)
{
	struct rtrs_clt_sess *sess = path->sess;
	struct rtrs_clt_fence *fence, *next;
	bool left = false;
	int ret = 0;

	spin_lock_irq(&sess->fence_lock);
	list_for_each_entry_safe(fence, next, &sess->fences, entry) {
		if (!fence->left)
			continue;
		if (!(path->features & RTRS_EXT_FENCE)) {
			list_del(&fence->entry);
			kfree(fence);
			continue;
		}
		left = true;
		ret = rtrs_clt_fence_post(path, fence->id);
		if (ret)
			break;
	}
	*stepped = false;
	if (!left && rtrs_clt_fence_joins(path)) {
		/* Before the step, that wakes who waits to join it. */
		WRITE_ONCE(sess->srv_sess, path->srv_sess);
		*stepped = rtrs_clt_slots_connect(path);
	}
	spin_unlock_irq(&sess->fence_lock);
	if (*stepped) {
		/* Nobody asks for them before a path counts as up. */
		rtrs_clt_fence_merge_sizes(path);
		rtrs_clt_path_count_up(path, true);
	}
	return ret;
}

/* Is there nothing that a path has to wait for, at a glance? */
static bool rtrs_clt_fence_may_step(struct rtrs_clt_path *path)
{
	return !rtrs_clt_fence_any_left(path->sess) && rtrs_clt_fence_joins(path) && rtrs_clt_slots_may_connect(path);
}

static void rtrs_clt_fence_tell_late(struct rtrs_clt_path *path)
{
	if (rtrs_clt_fence_any_left(path->sess))
		rtrs_clt_path_fail(path, "the server has not closed a path lost before\n");
	else if (!rtrs_clt_slots_may_connect(path))
		rtrs_clt_path_fail(path, "the server has not made chunks for the slots that other paths have\n");
	else
		rtrs_clt_path_fail(path, "it leads to another session of a server than the paths that are up\n");
}

/**
 * rtrs_clt_fence_established() - step to CONNECTED and count as up, after all that has to be settled before
 * @path: the path, CONNECTING, the info exchange done
 *
 * Context: process, path mutex held.
 * Return: 0; -ETIMEDOUT if, in connect_timeout_ms, the server has not closed its end of the paths lost before,
 * or paths of another session of it were not lost; the path's error if it broke; or an error of ib_post_send().
 */
int rtrs_clt_fence_established(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	unsigned long end = jiffies + msecs_to_jiffies(READ_ONCE(sess->timing.connect_timeout_ms));
	bool stepped;
	int ret;

	lockdep_assert_held(&path->mutex);
	while (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTING) {
		rtrs_clt_credits_run(path);
		mutex_lock(&sess->ev_mutex);
		ret = rtrs_clt_fence_step(path, &stepped);
		mutex_unlock(&sess->ev_mutex);
		if (ret || stepped)
			return ret;
		if (time_after(jiffies, end)) {
			rtrs_clt_fence_tell_late(path);
			return -ETIMEDOUT;
		}
		wait_event_timeout(sess->fence_wq, rtrs_clt_fence_may_step(path) ||
				   rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTING,
				   msecs_to_jiffies(RTRS_CLT_FENCE_ASK_MS));
	}
	return READ_ONCE(path->error) ?: -ECONNABORTED;
}
