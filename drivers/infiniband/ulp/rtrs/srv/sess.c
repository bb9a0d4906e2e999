// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: their slots, their names, and what the ULP is told about them.
 *
 * Names are unique among all contexts: they are directories in sysfs.  A name belongs to a session
 * from the first valid INFO_REQ until the close work of the last path that brought one.
 *
 * Ordering: the ULP sees CONNECTED before the first request of a session and DISCONNECTED after
 * the last one was answered: paths count as up from before they serve until their requests are
 * finished.  A ULP with struct rtrs_srv_ops.orphaned sees DISCONNECTED as soon as no path can bring a request any
 * more.  While it still has requests of the session the object stays, and a client that comes back finds it; for the
 * ULP that is another session.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/export.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "fault.h"
#include "rtrs-srv.h"

/* Guards the list and name, name_entry, nr_named of each session; innermost but for spinlocks. */
static DEFINE_MUTEX(rtrs_srv_names_mutex);
static LIST_HEAD(rtrs_srv_names);

/**
 * rtrs_srv_sess_find() - find a session by its identity
 * @ctx: the context
 * @uuid: RTRS_UUID_LEN bytes
 *
 * Context: process; mutex of the context held.
 * Return: the session or NULL.
 */
struct rtrs_srv_sess *rtrs_srv_sess_find(struct rtrs_srv_ctx *ctx, const u8 *uuid)
{
	struct rtrs_srv_sess *sess;

	lockdep_assert_held(&ctx->mutex);
	list_for_each_entry(sess, &ctx->sessions, entry)
		if (!memcmp(sess->uuid, uuid, sizeof(sess->uuid)))
			return sess;
	return NULL;
}

/**
 * rtrs_srv_sess_create() - create a session without paths
 * @ctx: the context
 * @uuid: identity, RTRS_UUID_LEN bytes
 * @addr: address of the client
 *
 * Context: process, may sleep; mutex of the context held.
 * Return: the session, in the context's list, or an ERR_PTR: -EUSERS if the client has too many,
 * -ENOMEM.
 */
struct rtrs_srv_sess *rtrs_srv_sess_create(struct rtrs_srv_ctx *ctx, const u8 *uuid,
					   const struct sockaddr_storage *addr)
{
	struct rtrs_srv_sess *sess;
	int ret;
	u32 i;

	lockdep_assert_held(&ctx->mutex);
	sess = kzalloc(sizeof(*sess), GFP_KERNEL);
	if (!sess)
		return ERR_PTR(-ENOMEM);
	sess->peer = rtrs_srv_limits_charge(addr, RTRS_SRV_LIMIT_SESSIONS, 1);
	if (IS_ERR(sess->peer)) {
		ret = PTR_ERR(sess->peer);
		goto err_free;
	}
	sess->slots = fault_here(alloc_sess) ? NULL :
		      kvcalloc(ctx->geo.queue_depth, sizeof(*sess->slots), GFP_KERNEL);
	if (!sess->slots) {
		ret = -ENOMEM;
		goto err_uncharge;
	}
	for (i = 0; i < ctx->geo.queue_depth; i++) {
		spin_lock_init(&sess->slots[i].lock);
		INIT_LIST_HEAD(&sess->slots[i].reqs);
	}
	sess->ctx = ctx;
	memcpy(sess->uuid, uuid, sizeof(sess->uuid));
	INIT_LIST_HEAD(&sess->paths);
	INIT_LIST_HEAD(&sess->orphaned);
	mutex_init(&sess->ev_mutex);
	list_add_tail(&sess->entry, &ctx->sessions);
	return sess;

err_uncharge:
	rtrs_srv_limits_uncharge(sess->peer, RTRS_SRV_LIMIT_SESSIONS, 1);
err_free:
	kfree(sess);
	return ERR_PTR(ret);
}

/**
 * rtrs_srv_sess_free_if_empty() - free a session that has no paths, nor requests of former ones
 * @sess: the session
 *
 * Context: process; mutex of the context held.
 */
void rtrs_srv_sess_free_if_empty(struct rtrs_srv_sess *sess)
{
	lockdep_assert_held(&sess->ctx->mutex);
	if (sess->nr_refs)
		return;
	list_del(&sess->entry);
	mutex_destroy(&sess->ev_mutex);
	kvfree(sess->slots);
	rtrs_srv_limits_uncharge(sess->peer, RTRS_SRV_LIMIT_SESSIONS, 1);
	kfree(sess);
}

static bool rtrs_srv_sess_name_taken(const struct rtrs_srv_sess *sess, const char *name)
{
	const struct rtrs_srv_sess *other;

	list_for_each_entry(other, &rtrs_srv_names, name_entry)
		if (other != sess && !strcmp(other->name, name))
			return true;
	return false;
}

/**
 * rtrs_srv_sess_claim_name() - a path's INFO_REQ names the session
 * @path: the path
 * @name: the name, valid
 *
 * Protocol section 4: no other session may have the name, and all paths of a session bring the
 * same.
 *
 * Context: process, may sleep; info work of the path.
 * Return: 0; -EPERM if another session has the name; -EINVAL if this session has another name.
 */
int rtrs_srv_sess_claim_name(struct rtrs_srv_path *path, const char *name)
{
	struct rtrs_srv_sess *sess = path->sess;
	int ret = 0;

	mutex_lock(&rtrs_srv_names_mutex);
	if (sess->nr_named && strcmp(sess->name, name)) {
		ret = -EINVAL;
	} else if (rtrs_srv_sess_name_taken(sess, name)) {
		ret = -EPERM;
	} else {
		if (!sess->nr_named++) {
			strscpy(sess->name, name, sizeof(sess->name));
			list_add_tail(&sess->name_entry, &rtrs_srv_names);
		}
		path->named = true;
		strscpy(path->session_name, name, sizeof(path->session_name));
		/* PAIRS: rtrs_srv_path_tell() */
		smp_store_release(&path->session, path->session_name);
	}
	mutex_unlock(&rtrs_srv_names_mutex);
	return ret;
}

/**
 * rtrs_srv_sess_release_name() - undo rtrs_srv_sess_claim_name()
 * @path: the path; nothing happens if it has not claimed the name
 *
 * Context: process, may sleep; close work of the path.
 */
void rtrs_srv_sess_release_name(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;

	if (!path->named)
		return;
	path->named = false;
	mutex_lock(&rtrs_srv_names_mutex);
	if (!--sess->nr_named)
		list_del(&sess->name_entry);
	mutex_unlock(&rtrs_srv_names_mutex);
}

static void rtrs_srv_sess_tell(const struct rtrs_srv_sess *sess, enum rtrs_nl_event event)
{
	struct rtrs_nl_news news = {
		.event = event,
		.side = RTRS_NL_SIDE_SERVER,
		.session = sess->name,
	};

	rtrs_nl_changed();
	rtrs_nl_tell(&news);
}

static int rtrs_srv_sess_connected(const struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	int ret;

	ret = rtrs_srv_sysfs_add_sess(sess);
	if (ret)
		return ret;
	/* The ULP asks for the name from within the callback: that needs a path that is up. */
	WRITE_ONCE(sess->paths_up, 1);
	do {
		sess->number = get_random_u32();
	} while (!sess->number);
	sess->quiet = !rtrs_srv_log_wanted(path);
	ret = sess->ctx->ops.link_ev(sess, RTRS_SRV_LINK_EV_CONNECTED, NULL);
	if (ret) {
		WRITE_ONCE(sess->paths_up, 0);
		WRITE_ONCE(sess->priv, NULL);
		rtrs_srv_sysfs_del_sess(sess);
		return ret;
	}
	if (!sess->quiet)
		pr_info_ratelimited("session %*pE connected\n", (int)strlen(sess->name), sess->name);
	rtrs_srv_sess_tell(sess, RTRS_NL_EVENT_SESSION_OPENED);
	return 0;
}

/**
 * rtrs_srv_sess_path_up() - a path is about to serve
 * @path: the path; its name is claimed
 *
 * Tells the ULP if it is the first one.
 *
 * Context: process, may sleep; info work of the path.
 * Return: 0, or the error of sysfs or of the ULP, which refuses the path.
 */
int rtrs_srv_sess_path_up(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;
	int ret = 0;

	mutex_lock(&sess->ev_mutex);
	if (!sess->paths_up)
		ret = rtrs_srv_sess_connected(path);
	else
		WRITE_ONCE(sess->paths_up, sess->paths_up + 1);
	path->up = !ret;
	mutex_unlock(&sess->ev_mutex);
	return ret;
}

/**
 * rtrs_srv_sess_path_down() - undo rtrs_srv_sess_path_up()
 * @path: the path, all its requests are finished or orphaned; nothing happens if it is not up
 *
 * Tells the ULP if it was the last one.
 *
 * Context: process, may sleep; close work or end work of the path.
 */
void rtrs_srv_sess_path_down(struct rtrs_srv_path *path)
{
	struct rtrs_srv_sess *sess = path->sess;

	if (!path->up)
		return;
	path->up = false;
	mutex_lock(&sess->ev_mutex);
	WRITE_ONCE(sess->paths_up, sess->paths_up - 1);
	if (!sess->paths_up) {
		sess->ctx->ops.link_ev(sess, RTRS_SRV_LINK_EV_DISCONNECTED, sess->priv);
		WRITE_ONCE(sess->priv, NULL);
		rtrs_srv_sysfs_del_sess(sess);
		if (rtrs_srv_log_wanted(path))
			pr_info_ratelimited("session %*pE disconnected\n", (int)strlen(sess->name),
					    sess->name);
		rtrs_srv_sess_tell(sess, RTRS_NL_EVENT_SESSION_CLOSED);
	}
	mutex_unlock(&sess->ev_mutex);
}

/**
 * rtrs_srv_set_sess_priv() - remember a pointer of the ULP with a session
 * @sess: the session
 * @priv: passed to rdma_ev and to link_ev DISCONNECTED
 *
 * API specification section 3.
 *
 * Context: any; normally link_ev CONNECTED.
 */
void rtrs_srv_set_sess_priv(struct rtrs_srv_sess *sess, void *priv)
{
	WRITE_ONCE(sess->priv, priv);
}
EXPORT_SYMBOL(rtrs_srv_set_sess_priv);

/**
 * rtrs_srv_get_path_name() - copy the name of a session
 * @sess: the session
 * @pathname: result, NUL terminated, cut if too long
 * @len: its size
 *
 * API specification section 3.
 *
 * Context: process, may sleep; allowed in link_ev.
 * Return: 0, or -ENOTCONN if no path is up.
 */
int rtrs_srv_get_path_name(struct rtrs_srv_sess *sess, char *pathname, size_t len)
{
	int ret = -ENOTCONN;

	mutex_lock(&rtrs_srv_names_mutex);
	if (READ_ONCE(sess->paths_up)) {
		strscpy(pathname, sess->name, len);
		ret = 0;
	}
	mutex_unlock(&rtrs_srv_names_mutex);
	return ret;
}
EXPORT_SYMBOL(rtrs_srv_get_path_name);

/**
 * rtrs_srv_get_queue_depth() - number of slots of a session
 * @sess: the session
 *
 * API specification section 3.
 *
 * Context: any.
 * Return: the number.
 */
int rtrs_srv_get_queue_depth(struct rtrs_srv_sess *sess)
{
	return sess->ctx->geo.queue_depth;
}
EXPORT_SYMBOL(rtrs_srv_get_queue_depth);

/**
 * rtrs_srv_is_quiet() - has a session come so often that the kernel log is to have few lines about it
 * @sess: the session
 *
 * Its client connects again and again, and no connection lasts.  The transport leaves out most messages about that, and
 * the ULP does so with those that would come as often.  Not part of mainline's interface.
 *
 * Context: link_ev CONNECTED.
 * Return: true if so.
 */
bool rtrs_srv_is_quiet(const struct rtrs_srv_sess *sess)
{
	lockdep_assert_held(&sess->ev_mutex);
	return sess->quiet;
}
EXPORT_SYMBOL(rtrs_srv_is_quiet);

/**
 * rtrs_srv_comes_from() - do all paths of a session come from some hosts
 * @sess: the session, with a request of it not yet answered
 * @addrs: addresses of the hosts; ports do not count
 * @nr: how many
 * @other: if they do not: address of a path that comes from elsewhere, all zero without any path
 *
 * Paths that are on their way up or down count too.  Not part of mainline's interface.
 *
 * Context: process, may sleep; not in link_ev.
 * Return: true if they do, and there is one.
 */
bool rtrs_srv_comes_from(struct rtrs_srv_sess *sess, const struct sockaddr_storage *addrs, size_t nr,
			 struct sockaddr_storage *other)
{
	const struct rtrs_srv_path *path;
	size_t i;

	memset(other, 0, sizeof(*other));
	guard(mutex)(&sess->ctx->mutex);
	list_for_each_entry(path, &sess->paths, entry) {
		for (i = 0; i < nr; i++)
			if (rtrs_addr_same_host((const struct sockaddr *)&path->clt_addr,
						(const struct sockaddr *)&addrs[i]))
				break;
		if (i < nr)
			continue;
		*other = path->clt_addr;
		return false;
	}
	return !list_empty(&sess->paths);
}
EXPORT_SYMBOL(rtrs_srv_comes_from);
