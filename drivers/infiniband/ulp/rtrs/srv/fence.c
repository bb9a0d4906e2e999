// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extension FENCE: a client has a path closed over another one.
 *
 * Operation: a client that has lost path A sends FENCE over path B, and sends the requests in flight
 * again when FENCE_DONE arrives.  The server sends FENCE_DONE when A's queue pairs are in error and
 * drained: nothing can reach a chunk over A any more, however long the network holds it back, and every
 * request that A has carried is in the order of its slot.  The disk may still have some of them; the
 * order of the slot, or the ULP where it has ops->orphaned, keeps their blocks from later requests.
 *
 * Nothing here waits for A: the numbers in FENCE stay with B, and the close work of each path of the
 * session has B look at them again.
 *
 * Ownership: the numbers belong to the path they came on and die with it.  Its fence work is never
 * queued after the step to CLOSING, so the close work has to wait for it only once.
 *
 * Errors: a number that is not known belongs to a path that is gone, which is what was asked for.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/printk.h>

#include "../proto/imm.h"
#include "rtrs-srv.h"

/* Have the path with this number closed.  True if nothing of it is under way any more. */
static bool rtrs_srv_fence_closed(struct rtrs_srv_path *path, u32 id)
{
	struct rtrs_srv_path *victim;
	bool closed = true;

	mutex_lock(&path->ctx->mutex);
	list_for_each_entry(victim, &path->sess->paths, entry) {
		if (victim->id != id)
			continue;
		closed = victim->drained;
		if (victim == path)
			rtrs_srv_path_fail(path, "client wants this path closed over itself");
		else if (!closed)
			rtrs_srv_path_fail(victim, "given up by the client, as it says over path %s",
					   path->name);
		break;
	}
	mutex_unlock(&path->ctx->mutex);
	return closed;
}

/* The only one that takes numbers out, so an index stays good while the lock is not held. */
static void rtrs_srv_fence_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(to_delayed_work(work), struct rtrs_srv_path, fence.dwork);
	struct rtrs_srv_fence *fence = &path->fence;
	u32 id, i = 0;
	int ret;

	spin_lock_irq(&fence->lock);
	while (i < fence->nr) {
		id = fence->ids[i];
		spin_unlock_irq(&fence->lock);
		if (rtrs_srv_fence_closed(path, id)) {
			ret = rtrs_conn_post_empty_imm(&path->conns[0]->conn,
						       rtrs_imm_fence(id, true));
			/* Without room in the send queue: the client asks again. */
			if (ret && ret != -EAGAIN)
				rtrs_srv_path_fail(path, "answering a fence: error %d", ret);
			spin_lock_irq(&fence->lock);
			fence->ids[i] = fence->ids[--fence->nr];
		} else {
			spin_lock_irq(&fence->lock);
			i++;
		}
	}
	spin_unlock_irq(&fence->lock);
}

static void rtrs_srv_fence_start(struct rtrs_srv_path *path)
{
	rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTED, path->ctx->wq, &path->fence.dwork, 0);
}

/**
 * rtrs_srv_fence_init() - prepare for fences asked for over a path
 * @path: the path, just created
 *
 * Context: any.
 */
void rtrs_srv_fence_init(struct rtrs_srv_path *path)
{
	spin_lock_init(&path->fence.lock);
	INIT_DELAYED_WORK(&path->fence.dwork, rtrs_srv_fence_work);
}

static bool rtrs_srv_fence_add(struct rtrs_srv_fence *fence, u32 id)
{
	u32 i;

	for (i = 0; i < fence->nr; i++)
		if (fence->ids[i] == id)
			return true;
	if (fence->nr == ARRAY_SIZE(fence->ids))
		return false;
	fence->ids[fence->nr++] = id;
	return true;
}

/**
 * rtrs_srv_fence_request() - the client wants a path closed
 * @path: path over which it says so
 * @id: number of the path to be closed; asking again changes nothing
 *
 * Context: completion handler.
 */
void rtrs_srv_fence_request(struct rtrs_srv_path *path, u32 id)
{
	struct rtrs_srv_fence *fence = &path->fence;
	unsigned long flags;
	bool added;

	spin_lock_irqsave(&fence->lock, flags);
	added = rtrs_srv_fence_add(fence, id);
	spin_unlock_irqrestore(&fence->lock, flags);
	if (added)
		rtrs_srv_fence_start(path);
	else
		rtrs_srv_path_fail(path, "more than %zu fences asked for at once",
				   ARRAY_SIZE(fence->ids));
}

/**
 * rtrs_srv_fence_stop() - wait for the fence work of a closing path
 * @path: the path, CLOSING
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_fence_stop(struct rtrs_srv_path *path)
{
	cancel_delayed_work_sync(&path->fence.dwork);
}

/**
 * rtrs_srv_fence_up() - nothing of a closing path is under way any more
 * @path: the path, its requests finished and its queue pairs drained
 *
 * Context: process, takes the mutex of the context; close work of the path.
 */
void rtrs_srv_fence_up(struct rtrs_srv_path *path)
{
	struct rtrs_srv_path *other;

	mutex_lock(&path->ctx->mutex);
	path->drained = true;
	list_for_each_entry(other, &path->sess->paths, entry)
		rtrs_srv_fence_start(other);
	mutex_unlock(&path->ctx->mutex);
}
