// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: their queue pair, their end, and what they have seen.
 *
 * Ownership: a connection owns its id and with it the queue pair.  Whoever takes it out of the list or
 * queue it is in destroys it; peer_con_destroy() first has all work requests come back, then waits for
 * the handlers of the id, so nobody uses it after.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "peer.h"

/* Guarded by peer_mutex. */
static LIST_HEAD(peer_cons);

/**
 * peer_con_alloc() - allocate a connection
 * @id: its id, the caller's until it sets the context; may be NULL and set later
 *
 * Context: process, may sleep.
 * Return: the connection, in no list, or NULL.
 */
struct peer_con *peer_con_alloc(struct rdma_cm_id *id)
{
	struct peer_con *con = kzalloc(sizeof(*con), GFP_KERNEL);

	if (!con)
		return NULL;
	con->id = id;
	con->depth = PEER_QUEUE_DEPTH;
	/* Only tunes: who finds no receive is asked to try again soon. */
	con->rnr_timer = IB_RNR_TIMER_000_64;
	INIT_LIST_HEAD(&con->entry);
	INIT_LIST_HEAD(&con->events);
	spin_lock_init(&con->lock);
	init_waitqueue_head(&con->wait);
	init_completion(&con->cm_done);
	return con;
}

static void peer_con_qp_event(struct ib_event *event, void *ctx)
{
	struct peer_con *con = ctx;

	/* Errors show in completions. */
	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(con->id, IB_EVENT_COMM_EST);
	else if (event->event == IB_EVENT_SQ_DRAINED)
		complete(&con->cm_done);
}

/**
 * peer_con_create_qp() - give a connection its queue pair
 * @con: connection whose id is bound to a device
 *
 * Receives may be posted from now on.
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0 or negative errno; peer_con_destroy() cleans up.
 */
int peer_con_create_qp(struct peer_con *con)
{
	struct ib_device *dev = con->id->device;
	/* One more each for the drain. */
	u32 depth = min_t(u32, con->depth + 1, dev->attrs.max_qp_wr);
	struct ib_qp_init_attr init = {
		.event_handler = peer_con_qp_event,
		.qp_context = con,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap.max_send_wr = depth,
		.cap.max_recv_wr = depth,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};
	struct peer_domain *domain;
	struct ib_cq *cq;
	int ret;

	domain = peer_domain_get(dev);
	if (IS_ERR(domain))
		return PTR_ERR(domain);
	con->domain = domain;
	cq = ib_alloc_cq_any(dev, con, 2 * depth, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	con->cq = cq;
	init.send_cq = cq;
	init.recv_cq = cq;
	ret = rdma_create_qp(con->id, domain->pd, &init);
	if (ret)
		return ret;
	rdma_set_min_rnr_timer(con->id, con->rnr_timer);
	return 0;
}

/**
 * peer_con_destroy() - disconnect a connection and free it
 * @con: the connection, in no list or queue any more
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_con_destroy(struct peer_con *con)
{
	struct peer_event *ev, *tmp;

	lockdep_assert_held(&peer_mutex);
	if (con->id->qp) {
		rdma_disconnect(con->id);
		ib_drain_qp(con->id->qp);
		rdma_destroy_qp(con->id);
	}
	if (con->cq)
		ib_free_cq(con->cq);
	if (con->domain)
		peer_domain_put(con->domain);
	/* Last: as long as the id is there the device is. */
	rdma_destroy_id(con->id);
	list_for_each_entry_safe(ev, tmp, &con->events, entry)
		kfree(ev);
	kfree(con);
}

static struct peer_con *peer_con_lookup(const char *name, unsigned int *nr)
{
	struct peer_con *con;

	*nr = 0;
	list_for_each_entry(con, &peer_cons, entry) {
		if (!strcmp(con->name, name))
			return con;
		++*nr;
	}
	return NULL;
}

/**
 * peer_con_check_new() - may a new connection have this name
 * @cmd: the command
 * @name: the name
 *
 * Context: process; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_con_check_new(struct peer_cmd *cmd, const char *name)
{
	unsigned int nr;
	int ret;

	lockdep_assert_held(&peer_mutex);
	ret = peer_get_name(cmd, "con", name);
	if (ret)
		return ret;
	if (peer_con_lookup(name, &nr))
		return peer_error(cmd, -EEXIST, "con=%s: there is one already", name);
	if (nr >= PEER_MAX_CONS)
		return peer_error(cmd, -ENOSPC, "con=%s: there are %u connections", name, nr);
	return 0;
}

/**
 * peer_con_publish() - put a connection into the list
 * @cmd: the command
 * @con: the connection
 * @name: its name
 *
 * Context: process; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_con_publish(struct peer_cmd *cmd, struct peer_con *con, const char *name)
{
	int ret = peer_con_check_new(cmd, name);

	if (ret)
		return ret;
	strscpy(con->name, name, sizeof(con->name));
	list_add_tail(&con->entry, &peer_cons);
	return 0;
}

/**
 * peer_con_find() - the connection of a name
 * @cmd: the command
 * @name: the name
 *
 * Context: process; peer_mutex held.
 * Return: the connection, or NULL and the answer says why.
 */
struct peer_con *peer_con_find(struct peer_cmd *cmd, const char *name)
{
	struct peer_con *con;
	unsigned int nr;

	lockdep_assert_held(&peer_mutex);
	con = peer_con_lookup(name, &nr);
	if (!con)
		peer_error(cmd, -ENOENT, "con=%s: there is no such connection", name);
	return con;
}

/**
 * peer_cons_destroy() - destroy all connections
 * @dev: those of this device only; NULL for all
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_cons_destroy(const struct ib_device *dev)
{
	struct peer_con *con, *tmp;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry_safe(con, tmp, &peer_cons, entry) {
		if (dev && con->id->device != dev)
			continue;
		list_del(&con->entry);
		peer_con_destroy(con);
	}
}

/**
 * peer_con_event() - a connection saw something
 * @con: the connection
 * @ev: what, the connection's from now on; dropped if too many wait already
 *
 * Context: any.
 */
void peer_con_event(struct peer_con *con, struct peer_event *ev)
{
	unsigned long flags;

	spin_lock_irqsave(&con->lock, flags);
	if (con->nr_events < PEER_MAX_EVENTS) {
		list_add_tail(&ev->entry, &con->events);
		con->nr_events++;
		ev = NULL;
	}
	spin_unlock_irqrestore(&con->lock, flags);
	kfree(ev);
	wake_up_all(&con->wait);
}

/**
 * peer_con_tell() - a connection saw something that is said in a few words
 * @con: the connection
 * @fmt: the words, and arguments
 *
 * Context: process, may sleep.
 */
void peer_con_tell(struct peer_con *con, const char *fmt, ...)
{
	struct peer_event *ev;
	va_list args;
	int len = 128;

	ev = kmalloc(struct_size(ev, text, len), GFP_KERNEL);
	if (!ev)
		return;
	va_start(args, fmt);
	vscnprintf(ev->text, len, fmt, args);
	va_end(args);
	peer_con_event(con, ev);
}

/**
 * peer_con_over() - nothing that is sent will arrive any more
 * @con: the connection
 *
 * Context: process.
 */
void peer_con_over(struct peer_con *con)
{
	spin_lock_irq(&con->lock);
	con->over = true;
	spin_unlock_irq(&con->lock);
	wake_up_all(&con->wait);
}

static struct peer_event *peer_con_next_event(struct peer_con *con)
{
	struct peer_event *ev;
	unsigned long flags;

	spin_lock_irqsave(&con->lock, flags);
	ev = list_first_entry_or_null(&con->events, struct peer_event, entry);
	if (ev) {
		list_del(&ev->entry);
		con->nr_events--;
	}
	spin_unlock_irqrestore(&con->lock, flags);
	return ev;
}

/* Words 1 and 2 of a command: connection and milliseconds. */
static struct peer_con *peer_con_wait_args(struct peer_cmd *cmd, u32 *ms)
{
	struct peer_con *con = peer_con_find(cmd, cmd->argv[1]);

	if (con && peer_get_u32(cmd, "ms", cmd->argv[2], PEER_MAX_WAIT_MS, ms))
		return NULL;
	return con;
}

/**
 * peer_cmd_wait() - "wait <con> <ms>": the next thing the connection saw, or "timeout"
 * @cmd: the command
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_wait(struct peer_cmd *cmd)
{
	struct peer_event *ev = NULL;
	struct peer_con *con;
	long left;
	u32 ms;

	con = peer_con_wait_args(cmd, &ms);
	if (!con)
		return -EINVAL;
	left = wait_event_interruptible_timeout(con->wait, (ev = peer_con_next_event(con)),
						msecs_to_jiffies(ms));
	if (!ev && left < 0)
		return peer_error(cmd, -EINTR, "con=%s: interrupted", con->name);
	peer_say(cmd, "%s", ev ? ev->text : "timeout");
	kfree(ev);
	return 0;
}

/* How many sends are on their way, and whether one failed. */
static unsigned int peer_con_sends(struct peer_con *con, enum ib_wc_status *status)
{
	unsigned long flags;
	unsigned int nr;

	spin_lock_irqsave(&con->lock, flags);
	nr = con->sends;
	*status = con->send_status;
	spin_unlock_irqrestore(&con->lock, flags);
	return nr;
}

/**
 * peer_cmd_sent() - "sent <con> <ms>": wait until all that was posted has been sent
 * @cmd: the command
 *
 * Answers "sent", "failed <number> <words>" for the first failure since the last time, or "timeout <number
 * of sends on their way>".
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_sent(struct peer_cmd *cmd)
{
	enum ib_wc_status status;
	struct peer_con *con;
	unsigned int nr;
	long left;
	u32 ms;

	con = peer_con_wait_args(cmd, &ms);
	if (!con)
		return -EINVAL;
	left = wait_event_interruptible_timeout(con->wait, !peer_con_sends(con, &status),
						msecs_to_jiffies(ms));
	nr = peer_con_sends(con, &status);
	if (nr && left < 0)
		return peer_error(cmd, -EINTR, "con=%s: interrupted", con->name);
	if (status != IB_WC_SUCCESS) {
		peer_say(cmd, "failed %u %s", status, ib_wc_status_msg(status));
		spin_lock_irq(&con->lock);
		con->send_status = IB_WC_SUCCESS;
		spin_unlock_irq(&con->lock);
	} else if (nr) {
		peer_say(cmd, "timeout %u", nr);
	} else {
		peer_say(cmd, "sent");
	}
	return 0;
}
