// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection manager: listening, requests, connecting.
 *
 * Operation: the handler of a listening id puts each request into a queue, from where the command
 * "request" takes it.  A command that connects or accepts goes on by steps: it asks for one, and the
 * handler completes cm_done when its outcome is known.  After that events go to "wait".
 *
 * Ownership: a request in the queue owns its id; the queue gives it away to who takes it out.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>

#include "peer.h"

#define PEER_BACKLOG		64
#define PEER_RESOLVE_MS		2000
#define PEER_RESOLVE_TRIES	5

/* Of sends that are tried again as often as the other side says. */
#define PEER_RNR_AS_ASKED	U32_MAX

/**
 * struct peer_listener - a port that is listened on
 * @entry: in the list of listeners
 * @port: its number
 * @id: id of the connection manager
 */
struct peer_listener {
	struct list_head entry;
	u32 port;
	struct rdma_cm_id *id;
};

/* Guarded by peer_mutex. */
static LIST_HEAD(peer_listeners);

/**
 * struct peer_requests - connection requests nobody has asked for yet
 * @lock: guards the others
 * @list: struct peer_con, oldest first
 * @nr: how many
 * @wait: woken up for each
 */
struct peer_requests {
	spinlock_t lock;
	struct list_head list;
	unsigned int nr;
	wait_queue_head_t wait;
};

static struct peer_requests peer_requests = {
	.lock = __SPIN_LOCK_UNLOCKED(peer_requests.lock),
	.list = LIST_HEAD_INIT(peer_requests.list),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(peer_requests.wait),
};

static void peer_cm_keep(struct peer_con *con, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	con->cm.event = event->event;
	con->cm.status = event->status;
	con->cm.len = param->private_data ? param->private_data_len : 0;
	memcpy(con->cm.data, param->private_data, con->cm.len);
	/* Only requests and accepts come with a queue pair. */
	if (param->qp_num)
		con->param = *param;
}

static int peer_cm_new_request(struct rdma_cm_id *id, const struct rdma_cm_event *event)
{
	struct peer_con *con = peer_con_alloc(id);
	bool room;

	if (!con)
		return -ENOMEM;
	peer_cm_keep(con, event);
	id->context = con;
	spin_lock(&peer_requests.lock);
	room = peer_requests.nr < PEER_MAX_CONS;
	if (room) {
		list_add_tail(&con->entry, &peer_requests.list);
		peer_requests.nr++;
	}
	spin_unlock(&peer_requests.lock);
	if (!room) {
		/* The connection manager rejects it and destroys the id. */
		kfree(con);
		return -ENOSPC;
	}
	wake_up_all(&peer_requests.wait);
	return 0;
}

static void peer_cm_step(struct peer_con *con, const struct rdma_cm_event *event)
{
	if (con->established) {
		peer_con_tell(con, "event %s %d", rdma_event_msg(event->event), event->status);
		return;
	}
	peer_cm_keep(con, event);
	con->established = event->event == RDMA_CM_EVENT_ESTABLISHED;
	complete(&con->cm_done);
}

/* Handler of all ids.  Non-zero would have the id destroyed, which belongs to its connection. */
static int peer_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct peer_con *con = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return peer_cm_new_request(id, event);
	case RDMA_CM_EVENT_DISCONNECTED:
		/* Answer it, or the other side waits. */
		rdma_disconnect(id);
		peer_con_tell(con, "disconnected");
		peer_con_over(con);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* peer_forget_device() is on its way. */
		break;
	default:
		peer_cm_step(con, event);
		break;
	}
	return 0;
}

static void peer_cm_remove_listener(struct peer_listener *listener)
{
	list_del(&listener->entry);
	rdma_destroy_id(listener->id);
	kfree(listener);
}

static int peer_cm_listen(struct peer_listener *listener)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = cpu_to_be16(listener->port),
	};
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, peer_cm_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	/* IPv4 too. */
	ret = rdma_set_afonly(id, 0);
	if (!ret)
		ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (!ret)
		ret = rdma_listen(id, PEER_BACKLOG);
	if (ret)
		rdma_destroy_id(id);
	else
		listener->id = id;
	return ret;
}

/**
 * peer_cmd_listen() - "listen <port>": take connection requests, of IPv4 and IPv6
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_listen(struct peer_cmd *cmd)
{
	struct peer_listener *listener;
	u32 port;
	int ret;

	ret = peer_get_u32(cmd, "port", cmd->argv[1], U16_MAX, &port);
	if (ret)
		return ret;
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return peer_error(cmd, -ENOMEM, "port=%u", port);
	listener->port = port;
	ret = peer_cm_listen(listener);
	if (ret) {
		kfree(listener);
		return peer_error(cmd, ret, "port=%u: cannot listen", port);
	}
	list_add_tail(&listener->entry, &peer_listeners);
	return 0;
}

/**
 * peer_cmd_unlisten() - "unlisten <port>"
 * @cmd: the command
 *
 * Requests that came before stay.
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_unlisten(struct peer_cmd *cmd)
{
	struct peer_listener *listener;
	u32 port;
	int ret;

	ret = peer_get_u32(cmd, "port", cmd->argv[1], U16_MAX, &port);
	if (ret)
		return ret;
	list_for_each_entry(listener, &peer_listeners, entry) {
		if (listener->port != port)
			continue;
		peer_cm_remove_listener(listener);
		return 0;
	}
	return peer_error(cmd, -ENOENT, "port=%u: nobody listens there", port);
}

/**
 * peer_cm_unlisten() - stop listening on all ports
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_cm_unlisten(void)
{
	struct peer_listener *listener, *tmp;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry_safe(listener, tmp, &peer_listeners, entry)
		peer_cm_remove_listener(listener);
}

/* The oldest request, of one device or of all (NULL), out of the queue; NULL if there is none. */
static struct peer_con *peer_cm_next_request(const struct ib_device *dev)
{
	struct peer_con *con, *found = NULL;

	spin_lock(&peer_requests.lock);
	list_for_each_entry(con, &peer_requests.list, entry) {
		if (dev && con->id->device != dev)
			continue;
		found = con;
		list_del_init(&con->entry);
		peer_requests.nr--;
		break;
	}
	spin_unlock(&peer_requests.lock);
	return found;
}

/**
 * peer_cm_drop_requests() - destroy requests nobody has asked for
 * @dev: those of this device only; NULL for all
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_cm_drop_requests(const struct ib_device *dev)
{
	struct peer_con *con;

	while ((con = peer_cm_next_request(dev)))
		peer_con_destroy(con);
}

/* Wait for a request that the other side has not given up meanwhile; NULL if none came, or a signal. */
static struct peer_con *peer_cm_wait_request(u32 ms)
{
	long left = msecs_to_jiffies(ms);
	struct peer_con *con;

	for (;;) {
		con = NULL;
		left = wait_event_interruptible_timeout(peer_requests.wait,
							(con = peer_cm_next_request(NULL)), left);
		if (!con || !completion_done(&con->cm_done))
			return con;
		peer_con_destroy(con);
	}
}

/**
 * peer_cmd_request() - "request <con> <ms>": the next connection request becomes a connection
 * @cmd: the command
 *
 * Answers "<address and port of who asks> <private data>", or "timeout" and there is no connection.  Has
 * a queue pair, so receives can be posted before it is accepted.
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_request(struct peer_cmd *cmd)
{
	struct peer_con *con;
	u32 ms;
	int ret;

	ret = peer_con_check_new(cmd, cmd->argv[1]);
	if (!ret)
		ret = peer_get_u32(cmd, "ms", cmd->argv[2], PEER_MAX_WAIT_MS, &ms);
	if (ret)
		return ret;
	con = peer_cm_wait_request(ms);
	if (!con && signal_pending(current))
		return peer_error(cmd, -EINTR, "interrupted");
	if (!con) {
		peer_say(cmd, "timeout");
		return 0;
	}
	ret = peer_con_create_qp(con);
	if (ret) {
		peer_error(cmd, ret, "con=%s: queue pair", cmd->argv[1]);
		peer_con_destroy(con);
		return ret;
	}
	/* The name was found good above. */
	peer_con_publish(cmd, con, cmd->argv[1]);
	peer_say(cmd, "%pISpc ", &con->id->route.addr.dst_addr);
	peer_say_hex(cmd, con->cm.data, con->cm.len);
	return 0;
}

/* Wait for the outcome of a step; 0 if there is one. */
static int peer_cm_wait(struct peer_cmd *cmd, struct peer_con *con, const char *what)
{
	if (wait_for_completion_timeout(&con->cm_done, msecs_to_jiffies(PEER_STEP_MS)))
		return 0;
	return peer_error(cmd, -ETIMEDOUT, "con=%s: %s", con->name, what);
}

static void peer_cm_say_outcome(struct peer_cmd *cmd, const struct peer_con *con)
{
	const struct peer_cm_result *cm = &con->cm;

	switch (cm->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		peer_say(cmd, "established ");
		break;
	case RDMA_CM_EVENT_REJECTED:
		peer_say(cmd, "rejected %d ", cm->status);
		break;
	default:
		peer_say(cmd, "failed %d %s", cm->status, rdma_event_msg(cm->event));
		return;
	}
	peer_say_hex(cmd, cm->data, cm->len);
}

static int peer_cm_get_data(struct peer_cmd *cmd, const char *word, u8 **data, size_t *len)
{
	int ret = peer_get_hex(cmd, "hex", word, data, len);

	if (ret || *len <= U8_MAX)
		return ret;
	kfree(*data);
	return peer_error(cmd, -EINVAL, "hex: %zu bytes, wants up to %d", *len, U8_MAX);
}

static int peer_cm_get_rnr(struct peer_cmd *cmd, const char *word, u32 *rnr)
{
	if (strncmp(word, "rnr=", 4))
		return peer_error(cmd, -EINVAL, "%s: wants rnr=<retries>", word);
	return peer_get_u32(cmd, "rnr", word + 4, 7, rnr);
}

/*
 * How often our own sends are tried again when the other side has no receive.  The other side's request
 * or accept has set it; it can be changed only while the send queue is drained.
 */
static int peer_cm_set_rnr(struct peer_cmd *cmd, struct peer_con *con, u32 rnr)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .rnr_retry = rnr };
	int ret;

	reinit_completion(&con->cm_done);
	ret = ib_modify_qp(con->id->qp, &attr, IB_QP_STATE);
	if (ret)
		return peer_error(cmd, ret, "con=%s: cannot drain the send queue", con->name);
	ret = peer_cm_wait(cmd, con, "draining the send queue");
	if (ret)
		return ret;
	ret = ib_modify_qp(con->id->qp, &attr, IB_QP_RNR_RETRY);
	attr.qp_state = IB_QPS_RTS;
	if (!ret)
		ret = ib_modify_qp(con->id->qp, &attr, IB_QP_STATE);
	return ret ? peer_error(cmd, ret, "con=%s: rnr=%u", con->name, rnr) : 0;
}

/* The outcome of connecting; if it is good "rnr=" comes into force. */
static int peer_cm_finish(struct peer_cmd *cmd, struct peer_con *con, u32 rnr)
{
	int ret = 0;

	if (rnr != PEER_RNR_AS_ASKED && con->cm.event == RDMA_CM_EVENT_ESTABLISHED)
		ret = peer_cm_set_rnr(cmd, con, rnr);
	if (!ret)
		peer_cm_say_outcome(cmd, con);
	return ret;
}

/**
 * peer_cmd_params() - "params <con>": what the other side's request or accept asked for
 * @cmd: the command
 *
 * Answers "retry=<retries> rnr=<retries> rd=<responder resources>/<initiator depth> flow=<0|1>
 * srq=<0|1>".
 *
 * Context: process; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_params(struct peer_cmd *cmd)
{
	const struct peer_con *con = peer_con_find(cmd, cmd->argv[1]);

	if (!con)
		return -ENOENT;
	peer_say(cmd, "retry=%u rnr=%u rd=%u/%u flow=%u srq=%u", con->param.retry_count,
		 con->param.rnr_retry_count, con->param.responder_resources,
		 con->param.initiator_depth, con->param.flow_control, con->param.srq);
	return 0;
}

/**
 * peer_cmd_accept() - "accept <con> <hex> [rnr=<retries>]": accept a request, with private data
 * @cmd: the command
 *
 * Answers "established", "rejected <reason>" if the other side has given its request up, or
 * "failed <status> <event>".
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_accept(struct peer_cmd *cmd)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct peer_con *con = peer_con_find(cmd, cmd->argv[1]);
	u32 rnr = PEER_RNR_AS_ASKED;
	size_t len;
	u8 *data;
	int ret = 0;

	if (!con)
		return -ENOENT;
	if (cmd->argc > 3)
		ret = peer_cm_get_rnr(cmd, cmd->argv[3], &rnr);
	if (!ret)
		ret = peer_cm_get_data(cmd, cmd->argv[2], &data, &len);
	if (ret)
		return ret;
	param.private_data = data;
	param.private_data_len = len;
	/* Outside its handler, which is not to run meanwhile. */
	rdma_lock_handler(con->id);
	ret = rdma_accept(con->id, &param);
	rdma_unlock_handler(con->id);
	kfree(data);
	/* What came before it is the outcome: the request is no more. */
	if (ret && !completion_done(&con->cm_done))
		return peer_error(cmd, ret, "con=%s: cannot accept", con->name);
	ret = peer_cm_wait(cmd, con, "accepted, but not established");
	return ret ? ret : peer_cm_finish(cmd, con, rnr);
}

/**
 * peer_cmd_reject() - "reject <con> <hex> [<reason>]": reject a request, with private data
 * @cmd: the command
 *
 * The connection is gone after.  Without a reason it is 28, consumer defined.
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_reject(struct peer_cmd *cmd)
{
	struct peer_con *con = peer_con_find(cmd, cmd->argv[1]);
	u32 reason = IB_CM_REJ_CONSUMER_DEFINED;
	size_t len;
	u8 *data;
	int ret = 0;

	if (!con)
		return -ENOENT;
	if (cmd->argc > 3)
		ret = peer_get_u32(cmd, "reason", cmd->argv[3], U8_MAX, &reason);
	if (!ret)
		ret = peer_cm_get_data(cmd, cmd->argv[2], &data, &len);
	if (ret)
		return ret;
	ret = rdma_reject(con->id, data, len, reason);
	kfree(data);
	if (ret)
		return peer_error(cmd, ret, "con=%s: cannot reject", con->name);
	list_del(&con->entry);
	peer_con_destroy(con);
	return 0;
}

static int peer_cm_get_addr(struct peer_cmd *cmd, const char *what, const char *word,
			    const char *port, struct sockaddr_storage *addr)
{
	int ret = inet_pton_with_scope(&init_net, AF_UNSPEC, word, port, addr);

	if (ret)
		return peer_error(cmd, -EINVAL, "%s=%s port=%s: wants an IP address and a port",
				  what, word, port);
	return 0;
}

/* Resolve address and route, and make the queue pair. */
static int peer_cm_resolve(struct peer_cmd *cmd, struct peer_con *con, struct sockaddr *src,
			   struct sockaddr *dst)
{
	int tries = 0, ret;

	/* An answer about a neighbour that comes too early is missed, so ask again soon. */
	do {
		reinit_completion(&con->cm_done);
		ret = rdma_resolve_addr(con->id, src, dst, PEER_RESOLVE_MS);
		if (ret)
			return peer_error(cmd, ret, "con=%s: no way to the address", con->name);
		ret = peer_cm_wait(cmd, con, "resolving the address");
		if (ret)
			return ret;
	} while (con->cm.event == RDMA_CM_EVENT_ADDR_ERROR && ++tries < PEER_RESOLVE_TRIES);
	if (con->cm.event != RDMA_CM_EVENT_ADDR_RESOLVED)
		return 0;

	ret = peer_con_create_qp(con);
	if (ret)
		return peer_error(cmd, ret, "con=%s: queue pair", con->name);
	reinit_completion(&con->cm_done);
	ret = rdma_resolve_route(con->id, PEER_RESOLVE_MS);
	if (ret)
		return peer_error(cmd, ret, "con=%s: no route", con->name);
	return peer_cm_wait(cmd, con, "resolving the route");
}

/* The connection goes on until it is established or an event says that it will not be. */
static int peer_cm_connect(struct peer_cmd *cmd, struct peer_con *con, const u8 *data, size_t len)
{
	/* The other side's queue pair takes the retries from here; rdma_rxe takes 7 for "for ever". */
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = len,
		.retry_count = 3,
		.rnr_retry_count = 7,
	};
	struct sockaddr_storage src, dst;
	bool bound = strcmp(cmd->argv[2], "-");
	int ret;

	ret = peer_cm_get_addr(cmd, "dst", cmd->argv[3], cmd->argv[4], &dst);
	if (!ret && bound)
		ret = peer_cm_get_addr(cmd, "src", cmd->argv[2], "0", &src);
	if (!ret)
		ret = peer_cm_resolve(cmd, con, bound ? (struct sockaddr *)&src : NULL,
				      (struct sockaddr *)&dst);
	if (ret || con->cm.event != RDMA_CM_EVENT_ROUTE_RESOLVED)
		return ret;
	reinit_completion(&con->cm_done);
	ret = rdma_connect(con->id, &param);
	if (ret)
		return peer_error(cmd, ret, "con=%s: cannot connect", con->name);
	return peer_cm_wait(cmd, con, "connecting");
}

/* A word behind those that "connect" needs. */
static int peer_cm_get_option(struct peer_cmd *cmd, struct peer_con *con, const char *word, u32 *rnr)
{
	if (!strncmp(word, "rnr=", 4))
		return peer_cm_get_rnr(cmd, word, rnr);
	if (!strncmp(word, "rnr_timer=", 10))
		return peer_get_u32(cmd, "rnr_timer", word + 10, IB_RNR_TIMER_491_52, &con->rnr_timer);
	if (!strncmp(word, "depth=", 6))
		return peer_get_u32(cmd, "depth", word + 6, PEER_QUEUE_DEPTH, &con->depth);
	return peer_error(cmd, -EINVAL, "%s: wants rnr=<retries>, rnr_timer=<code> or depth=<requests>", word);
}

static int peer_cm_get_options(struct peer_cmd *cmd, struct peer_con *con, u32 *rnr)
{
	int i, ret = 0;

	for (i = 6; !ret && i < cmd->argc; i++)
		ret = peer_cm_get_option(cmd, con, cmd->argv[i], rnr);
	return ret;
}

/**
 * peer_cmd_connect() - "connect <con> <src>|- <dst> <port> <hex> [<option>...]": connect
 * @cmd: the command
 *
 * Answers "established <private data>", "rejected <reason> <private data>" or "failed <status> <event>".
 * If it is not established there is no connection.
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_connect(struct peer_cmd *cmd)
{
	u32 rnr = PEER_RNR_AS_ASKED;
	struct peer_con *con;
	size_t len;
	u8 *data;
	int ret;

	ret = peer_con_check_new(cmd, cmd->argv[1]);
	if (!ret)
		ret = peer_cm_get_data(cmd, cmd->argv[5], &data, &len);
	if (ret)
		return ret;
	con = peer_con_alloc(NULL);
	if (!con) {
		ret = peer_error(cmd, -ENOMEM, "con=%s", cmd->argv[1]);
		goto free_data;
	}
	ret = peer_cm_get_options(cmd, con, &rnr);
	if (ret)
		goto free_con;
	con->id = rdma_create_id(&init_net, peer_cm_handler, con, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(con->id)) {
		ret = peer_error(cmd, PTR_ERR(con->id), "con=%s: no id", cmd->argv[1]);
		goto free_con;
	}
	peer_con_publish(cmd, con, cmd->argv[1]);
	ret = peer_cm_connect(cmd, con, data, len);
	kfree(data);
	if (!ret)
		ret = peer_cm_finish(cmd, con, rnr);
	if (ret || con->cm.event != RDMA_CM_EVENT_ESTABLISHED) {
		list_del(&con->entry);
		peer_con_destroy(con);
	}
	return ret;

free_con:
	kfree(con);
free_data:
	kfree(data);
	return ret;
}

/**
 * peer_cmd_disconnect() - "disconnect <con>"
 * @cmd: the command
 *
 * The connection stays until it is destroyed; "wait" tells when the other side has answered.
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_disconnect(struct peer_cmd *cmd)
{
	struct peer_con *con = peer_con_find(cmd, cmd->argv[1]);
	int ret;

	if (!con)
		return -ENOENT;
	ret = rdma_disconnect(con->id);
	return ret ? peer_error(cmd, ret, "con=%s", con->name) : 0;
}
