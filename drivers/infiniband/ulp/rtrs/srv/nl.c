// SPDX-License-Identifier: GPL-2.0-only
/* What the server shows by netlink: sessions that sysfs has, and all their paths. */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "rtrs-srv.h"

/* All contexts.  The mutex is taken before that of a context. */
static DEFINE_MUTEX(rtrs_srv_nl_mutex);
static LIST_HEAD(rtrs_srv_nl_contexts);

/**
 * rtrs_srv_nl_add() - show the sessions of a context
 * @ctx: the context
 *
 * Context: process, may sleep.
 */
void rtrs_srv_nl_add(struct rtrs_srv_ctx *ctx)
{
	mutex_lock(&rtrs_srv_nl_mutex);
	list_add_tail(&ctx->nl_entry, &rtrs_srv_nl_contexts);
	mutex_unlock(&rtrs_srv_nl_mutex);
}

/**
 * rtrs_srv_nl_del() - undo rtrs_srv_nl_add()
 * @ctx: the context
 *
 * Context: process, may sleep.
 */
void rtrs_srv_nl_del(struct rtrs_srv_ctx *ctx)
{
	mutex_lock(&rtrs_srv_nl_mutex);
	list_del(&ctx->nl_entry);
	mutex_unlock(&rtrs_srv_nl_mutex);
	rtrs_nl_changed();
}

/**
 * rtrs_srv_each_sess() - call a function for each session of each context
 * @fn: the function, with the mutex of the session's context held
 * @arg: what it is given too
 *
 * Context: process, may sleep.
 */
void rtrs_srv_each_sess(void (*fn)(struct rtrs_srv_sess *sess, void *arg), void *arg)
{
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_ctx *ctx;

	guard(mutex)(&rtrs_srv_nl_mutex);
	list_for_each_entry(ctx, &rtrs_srv_nl_contexts, nl_entry) {
		guard(mutex)(&ctx->mutex);
		list_for_each_entry(sess, &ctx->sessions, entry)
			fn(sess, arg);
	}
}

static void rtrs_srv_nl_session(const struct rtrs_srv_sess *sess, struct rtrs_nl_info *info)
{
	const struct rtrs_srv_path *path;

	list_for_each_entry(path, &sess->paths, entry)
		info->nr_paths++;
	info->nr_paths_up = READ_ONCE(sess->paths_up);
}

static void rtrs_srv_nl_path(const struct rtrs_srv_path *path, struct rtrs_nl_info *info)
{
	struct rtrs_io_stats sum;

	strscpy(info->path, path->name, sizeof(info->path));
	info->state = rtrs_srv_path_state_name(rtrs_srv_path_state(path));
	sockaddr_to_str((const struct sockaddr *)&path->clt_addr, info->src, sizeof(info->src));
	sockaddr_to_str((const struct sockaddr *)&path->srv_addr, info->dst, sizeof(info->dst));
	strscpy(info->hca_name, dev_name(&path->dev->dev), sizeof(info->hca_name));
	info->hca_port = path->port_num;
	rtrs_io_stats_sum(path->stats, &sum);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_READS, sum.cnt[READ]);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_READ_BYTES, sum.bytes[READ]);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_WRITES, sum.cnt[WRITE]);
	rtrs_nl_stat(&info->stats, RTRS_NL_STAT_WRITTEN_BYTES, sum.bytes[WRITE]);
}

/* The path of number @nr, or with NULL for it the session. */
static int rtrs_srv_nl_fill(const struct rtrs_srv_sess *sess, const unsigned int *nr,
			    struct rtrs_nl_info *info)
{
	const struct rtrs_srv_path *path;
	unsigned int left;

	if (!nr) {
		rtrs_srv_nl_session(sess, info);
		return 0;
	}
	left = *nr;
	list_for_each_entry(path, &sess->paths, entry) {
		if (left--)
			continue;
		rtrs_srv_nl_path(path, info);
		return 0;
	}
	return -ENOENT;
}

static int rtrs_srv_nl_get(unsigned int sess_nr, const unsigned int *nr, struct rtrs_nl_info *info)
{
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_ctx *ctx;

	guard(mutex)(&rtrs_srv_nl_mutex);
	list_for_each_entry(ctx, &rtrs_srv_nl_contexts, nl_entry) {
		guard(mutex)(&ctx->mutex);
		list_for_each_entry(sess, &ctx->sessions, entry) {
			if (rtrs_srv_get_path_name(sess, info->session, sizeof(info->session)))
				continue;
			if (!sess_nr--)
				return rtrs_srv_nl_fill(sess, nr, info);
		}
	}
	return -ESRCH;
}

static int rtrs_srv_nl_get_session(unsigned int sess_nr, struct rtrs_nl_info *info)
{
	return rtrs_srv_nl_get(sess_nr, NULL, info);
}

static int rtrs_srv_nl_get_path(unsigned int sess_nr, unsigned int nr, struct rtrs_nl_info *info)
{
	return rtrs_srv_nl_get(sess_nr, &nr, info);
}

static const struct rtrs_nl_part rtrs_srv_nl_part = {
	.owner = THIS_MODULE,
	.get_session = rtrs_srv_nl_get_session,
	.get_path = rtrs_srv_nl_get_path,
};

/**
 * rtrs_srv_nl_init() - show sessions and paths by netlink
 *
 * Context: module init.
 */
void rtrs_srv_nl_init(void)
{
	rtrs_nl_register(RTRS_NL_RTRS_SERVER, &rtrs_srv_nl_part);
}

/**
 * rtrs_srv_nl_exit() - undo rtrs_srv_nl_init()
 *
 * Context: module exit.
 */
void rtrs_srv_nl_exit(void)
{
	rtrs_nl_unregister(RTRS_NL_RTRS_SERVER);
}
