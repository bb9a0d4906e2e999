// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path object and its state.
 *
 * One writer: rtrs_clt_path_event() is the only place that changes the state.  CM handlers, completions,
 * the heartbeat and sysfs only report events; the path's worker (connect.c) does what they ask for.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/kernel.h>
#include <linux/slab.h>
#include <rdma/rtrs-nl.h>

#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

struct workqueue_struct *rtrs_clt_wq;
struct workqueue_struct *rtrs_clt_tick_wq;

/**
 * rtrs_clt_path_reason() - what an error of a path means
 * @error: negative errno that the path was lost with, 0 if somebody wanted it closed
 *
 * Context: any.
 * Return: a few words.
 */
const char *rtrs_clt_path_reason(int error)
{
	if (error == -EMSGSIZE)
		return "large packets do not get through";
	switch (rtrs_clt_loss_of(error)) {
	case RTRS_CLT_LOSS_ON_REQUEST:
		return "on request";
	case RTRS_CLT_LOSS_BY_SERVER:
		return "closed by the server, or by the device without a reason";
	case RTRS_CLT_LOSS_QUEUE_PAIR:
		return "the device broke a queue pair and gave no reason";
	case RTRS_CLT_LOSS_NO_ANSWER:
		return "no answer";
	case RTRS_CLT_LOSS_UNREACHABLE:
		return "unreachable";
	case RTRS_CLT_LOSS_NO_CARRIER:
		return "no carrier";
	case RTRS_CLT_LOSS_DEVICE_REMOVED:
		return "device removed";
	case RTRS_CLT_LOSS_PROTOCOL:
		return "protocol error";
	default:
		return "error of the device";
	}
}

/* Under the lock that orders steps, so that listeners hear of them in this order. */
static void rtrs_clt_path_tell(const struct rtrs_clt_path *path, enum rtrs_clt_path_state from,
			       enum rtrs_clt_path_event ev, enum rtrs_clt_path_state to)
{
	int error = ev == RTRS_CLT_EV_ERROR ? READ_ONCE(path->error) : 0;
	struct rtrs_nl_news news = {
		.event = RTRS_NL_EVENT_PATH,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = path->sess->name,
		.path = path->name,
		.from = rtrs_clt_path_state_name(from),
		.to = rtrs_clt_path_state_name(to),
		.cause = rtrs_clt_path_event_name(ev),
		.reason = error ? rtrs_clt_path_reason(error) : NULL,
		.error = error,
	};

	lockdep_assert_held(&path->state_lock);
	rtrs_nl_tell(&news);
}

/**
 * rtrs_clt_path_event() - report an event to a path
 * @path: the path
 * @ev: what happened
 *
 * Context: any.
 * Return: true if the event applied in the path's state.
 */
bool rtrs_clt_path_event(struct rtrs_clt_path *path, enum rtrs_clt_path_event ev)
{
	enum rtrs_clt_path_state old;
	struct rtrs_fsm_step step;
	unsigned long flags;

	spin_lock_irqsave(&path->state_lock, flags);
	old = path->_state;
	step = rtrs_clt_path_step(old, ev);
	/* With the step, so that neither is seen without the other: the next attempt does not wait its turn. */
	if (step.valid && (ev == RTRS_CLT_EV_RECONNECT || ev == RTRS_CLT_EV_LINK_UP))
		set_bit(0, &path->retry_now);
	if (step.valid)
		/* PAIRS: rtrs_clt_path_state() */
		smp_store_release(&path->_state, step.next);
	if (step.valid && step.next != old)
		rtrs_clt_path_tell(path, old, ev, step.next);
	spin_unlock_irqrestore(&path->state_lock, flags);

	if (step.valid)
		trace_rtrs_path_step("client", path->name, rtrs_clt_path_state_name(old),
				     rtrs_clt_path_event_name(ev),
				     rtrs_clt_path_state_name(step.next));
	if (step.actions & RTRS_FSM_ACT_WAKE) {
		wake_up_all(&path->state_wq);
		wake_up_all(&path->sess->fence_wq);
	}
	if (step.actions & RTRS_FSM_ACT_WORK)
		mod_delayed_work(rtrs_clt_wq, &path->dwork, 0);
	return step.valid;
}

/**
 * rtrs_clt_path_error() - something broke the path
 * @path: the path
 * @error: negative errno; the first one of an attempt is kept as its reason
 *
 * Context: any.
 */
void rtrs_clt_path_error(struct rtrs_clt_path *path, int error)
{
	cmpxchg(&path->error, 0, error);
	rtrs_clt_path_event(path, RTRS_CLT_EV_ERROR);
}

/**
 * rtrs_clt_is_silence() - does an error mean that nobody has answered
 * @error: why an attempt to connect failed, negative errno
 *
 * Context: any.
 * Return: true if so; false: there is somebody, who does not want, or something is wrong here.
 */
bool rtrs_clt_is_silence(int error)
{
	return error == -ETIMEDOUT || error == -EHOSTUNREACH || error == -ENETDOWN;
}

/**
 * rtrs_clt_send_failed() - did a send fail; then its path is lost
 * @cc: its connection
 * @wc: its completion
 *
 * Context: completion handler.
 * Return: true if so.
 */
bool rtrs_clt_send_failed(struct rtrs_clt_conn *cc, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return false;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		rtrs_clt_path_fail(cc->path, "send on connection %u failed: %s\n",
				   cc->conn.cid, ib_wc_status_msg(wc->status));
	rtrs_clt_path_error(cc->path, wc->status == IB_WC_RETRY_EXC_ERR ?
			    -ETIMEDOUT : -ECONNABORTED);
	return true;
}

/**
 * rtrs_clt_path_attempt_done() - an attempt to connect ended, wake who waits for that
 * @path: the path
 * @result: 0 or why it failed
 *
 * Context: process.
 */
void rtrs_clt_path_attempt_done(struct rtrs_clt_path *path, int result)
{
	spin_lock_irq(&path->state_lock);
	path->attempt_result = result;
	/* Who sees the one sees the other: rtrs_clt_path_wait_first(). */
	smp_store_release(&path->attempts, path->attempts + 1);
	spin_unlock_irq(&path->state_lock);
	wake_up_all(&path->state_wq);
}

/**
 * rtrs_clt_path_count_up() - the path starts or stops to count as up for its session
 * @path: the path
 * @up: it is up
 *
 * Tells the ULP when the session's last path goes and when the first one is back.  Never before
 * rtrs_clt_open() has returned, and not while the ULP closes the session itself.
 *
 * Context: process, path mutex and the session's ev_mutex held.
 */
void rtrs_clt_path_count_up(struct rtrs_clt_path *path, bool up)
{
	struct rtrs_clt_sess *sess = path->sess;
	bool tell;

	lockdep_assert_held(&path->mutex);
	lockdep_assert_held(&sess->ev_mutex);
	path->counted_up = up;
	if (up)
		tell = !sess->paths_up++;
	else
		tell = !--sess->paths_up;
	if (tell && sess->opened && !sess->closing)
		sess->ops.link_ev(sess->ops.priv, up ? RTRS_CLT_LINK_EV_RECONNECTED :
						       RTRS_CLT_LINK_EV_DISCONNECTED);
	if (!up)
		wake_up_all(&sess->fence_wq);
}

static void rtrs_clt_path_set_name(struct rtrs_clt_path *path)
{
	struct sockaddr_storage any = { .ss_family = path->dst.ss_family };
	struct rtrs_addr addr = {
		.src = path->addr.src ? path->addr.src : &any,
		.dst = path->addr.dst,
	};

	rtrs_addr_to_str(&addr, path->name, sizeof(path->name));
}

/**
 * rtrs_clt_path_alloc() - allocate a path that is about to connect
 * @sess: its session
 * @addr: addresses, copied
 * @work: its worker
 *
 * The caller initialises @kobj at once; its last put ends in rtrs_clt_path_release().
 *
 * Context: process, may sleep.
 * Return: the path in state CONNECTING without a worker running, or NULL.
 */
struct rtrs_clt_path *rtrs_clt_path_alloc(struct rtrs_clt_sess *sess, const struct rtrs_addr *addr,
					  work_func_t work)
{
	struct rtrs_clt_path *path;

	path = fault_here(alloc_path) ? NULL : kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return NULL;
	path->stats = alloc_percpu(struct rtrs_io_stats);
	path->lat.cpu = alloc_percpu(struct rtrs_clt_lat_cpu);
	if (!path->stats || !path->lat.cpu)
		goto err_free;
	path->sess = sess;
	get_device(&sess->dev);
	uuid_gen(&path->uuid);
	path->dst = *addr->dst;
	path->addr.dst = &path->dst;
	if (addr->src) {
		path->src = *addr->src;
		path->addr.src = &path->src;
	}
	rtrs_clt_path_set_name(path);
	spin_lock_init(&path->state_lock);
	mutex_init(&path->mutex);
	mutex_init(&path->name_mutex);
	init_waitqueue_head(&path->state_wq);
	rtrs_clt_recovery_init(&path->recovery);
	rtrs_clt_failure_init(&path->failure);
	INIT_DELAYED_WORK(&path->dwork, work);
	path->shortage.since = jiffies;
	path->shortage.last = jiffies;
	path->shortage.tell_at = jiffies;
	path->_state = RTRS_CLT_PATH_CONNECTING;
	return path;

err_free:
	free_percpu(path->lat.cpu);
	free_percpu(path->stats);
	kfree(path);
	return NULL;
}

/**
 * rtrs_clt_path_release() - free a path
 * @path: torn down, and out of its session for a grace period
 *
 * Context: process.
 */
void rtrs_clt_path_release(struct rtrs_clt_path *path)
{
	u32 slot;

	if (path->reqs)
		for (slot = 0; slot < path->sess->queue_depth; slot++)
			kfree(path->reqs[slot].buf);
	kvfree(path->reqs);
	kvfree(path->rbufs);
	free_percpu(path->lat.cpu);
	free_percpu(path->stats);
	put_device(&path->sess->dev);
	kfree(path);
}
