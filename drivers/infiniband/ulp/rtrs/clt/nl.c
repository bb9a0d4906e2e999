// SPDX-License-Identifier: GPL-2.0-only
/* The client by netlink: its sessions and paths, as sysfs has them, and paths that are added and removed. */
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/rtrs-nl.h>

#include "clt.h"

static void rtrs_clt_nl_recovery(struct rtrs_nl_stats *stats, struct rtrs_clt_recovery *rec)
{
	static const enum rtrs_nl_stat names[RTRS_CLT_COUNTS] = {
		[RTRS_CLT_RECONNECTED]	    = RTRS_NL_STAT_RECONNECTS,
		[RTRS_CLT_RECONNECT_FAILED] = RTRS_NL_STAT_RECONNECTS_FAILED,
		[RTRS_CLT_TIMED_OUT]	    = RTRS_NL_STAT_TIMEOUTS,
		[RTRS_CLT_OVERDUE]	    = RTRS_NL_STAT_OVERDUE,
		[RTRS_CLT_ANSWER_LOST]	    = RTRS_NL_STAT_ANSWERS_LOST,
		[RTRS_CLT_FENCED]	    = RTRS_NL_STAT_FENCES,
		[RTRS_CLT_FENCE_LEFT]	    = RTRS_NL_STAT_UNFENCED,
		[RTRS_CLT_FAILED_OVER]	    = RTRS_NL_STAT_FAILOVERS,
	};
	enum rtrs_clt_count what;

	for (what = 0; what < RTRS_CLT_COUNTS; what++)
		rtrs_nl_stat(stats, names[what], atomic_read(&rec->cnt[what]));
}

static int rtrs_clt_nl_get_session(unsigned int nr, struct rtrs_nl_info *info)
{
	struct rtrs_clt_sess *sess = rtrs_clt_sess_get_nth(nr);
	const struct rtrs_clt_paths *paths;

	if (!sess)
		return -ESRCH;
	strscpy(info->session, sess->name, sizeof(info->session));
	info->policy = rtrs_mp_policy_text(READ_ONCE(sess->policy));
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	info->nr_paths = paths ? paths->nr : 0;
	rcu_read_unlock();
	info->nr_paths_up = READ_ONCE(sess->paths_up);
	rtrs_clt_nl_recovery(&info->stats, &sess->recovery);
	put_device(&sess->dev);
	return 0;
}

/* A path of the session, with a reference; NULL if it has not so many. */
static struct rtrs_clt_path *rtrs_clt_nl_nth_path(struct rtrs_clt_sess *sess, unsigned int nr)
{
	struct rtrs_clt_path *path = NULL;
	struct rtrs_clt_paths *paths;

	mutex_lock(&sess->paths_mutex);
	paths = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	if (paths && nr < paths->nr) {
		path = paths->path[nr];
		kobject_get(&path->kobj);
	}
	mutex_unlock(&sess->paths_mutex);
	return path;
}

static void rtrs_clt_nl_path_names(struct rtrs_clt_path *path, struct rtrs_nl_info *info)
{
	mutex_lock(&path->name_mutex);
	strscpy(info->path, path->name, sizeof(info->path));
	strscpy(info->hca_name, path->hca_name, sizeof(info->hca_name));
	info->hca_port = path->hca_port;
	mutex_unlock(&path->name_mutex);
	/* The path's name is "src@dst". */
	scnprintf(info->src, sizeof(info->src), "%.*s", (int)strcspn(info->path, "@"), info->path);
	sockaddr_to_str((struct sockaddr *)&path->dst, info->dst, sizeof(info->dst));
}

static void rtrs_clt_nl_path_stats(struct rtrs_clt_path *path, struct rtrs_nl_stats *stats)
{
	struct rtrs_io_stats sum;

	rtrs_io_stats_sum(path->stats, &sum);
	rtrs_nl_stat(stats, RTRS_NL_STAT_READS, sum.cnt[READ]);
	rtrs_nl_stat(stats, RTRS_NL_STAT_READ_BYTES, sum.bytes[READ]);
	rtrs_nl_stat(stats, RTRS_NL_STAT_WRITES, sum.cnt[WRITE]);
	rtrs_nl_stat(stats, RTRS_NL_STAT_WRITTEN_BYTES, sum.bytes[WRITE]);
	rtrs_nl_stat(stats, RTRS_NL_STAT_RESENT, sum.failover);
	rtrs_nl_stat(stats, RTRS_NL_STAT_INFLIGHT, max(atomic_read(&path->inflight), 0));
	rtrs_nl_stat(stats, RTRS_NL_STAT_LATENCY_NS, READ_ONCE(path->hb.latency_ns));
	rtrs_nl_stat(stats, RTRS_NL_STAT_LOST, READ_ONCE(path->losses));
	rtrs_clt_nl_recovery(stats, &path->recovery);
}

static void rtrs_clt_nl_path(struct rtrs_clt_path *path, struct rtrs_nl_info *info)
{
	strscpy(info->session, path->sess->name, sizeof(info->session));
	info->policy = rtrs_mp_policy_text(READ_ONCE(path->sess->policy));
	rtrs_clt_nl_path_names(path, info);
	info->state = rtrs_clt_path_state_name(rtrs_clt_path_state(path));
	if (READ_ONCE(path->losses)) {
		info->loss_error = -READ_ONCE(path->loss_error);
		info->loss_reason = rtrs_clt_path_reason(-(int)info->loss_error);
	}
	rtrs_clt_nl_path_stats(path, &info->stats);
}

static int rtrs_clt_nl_get_path(unsigned int sess_nr, unsigned int nr, struct rtrs_nl_info *info)
{
	struct rtrs_clt_sess *sess = rtrs_clt_sess_get_nth(sess_nr);
	struct rtrs_clt_path *path;

	if (!sess)
		return -ESRCH;
	path = rtrs_clt_nl_nth_path(sess, nr);
	if (path) {
		rtrs_clt_nl_path(path, info);
		kobject_put(&path->kobj);
	}
	put_device(&sess->dev);
	return path ? 0 : -ENOENT;
}

/* The open session that a request names, with a reference; or ERR_PTR. */
static struct rtrs_clt_sess *rtrs_clt_nl_session(const struct rtrs_nl_request *req)
{
	const char *name = rtrs_nl_want(req, "sessname");
	struct rtrs_clt_sess *sess;

	if (!name)
		return ERR_PTR(-EINVAL);
	sess = rtrs_clt_sess_get_open(name);
	if (sess)
		return sess;
	rtrs_report_set(req->report, "session %s does not exist", name);
	rtrs_report_blame(req->report, "sessname", 0);
	return ERR_PTR(-ENOENT);
}

static int rtrs_clt_nl_add_path(const struct rtrs_nl_request *req, struct rtrs_nl_info *info)
{
	const char *addr = rtrs_nl_want(req, "path");
	struct rtrs_clt_sess *sess;
	struct rtrs_clt_path *path;

	if (!addr)
		return -EINVAL;
	sess = rtrs_clt_nl_session(req);
	if (IS_ERR(sess))
		return PTR_ERR(sess);
	path = rtrs_clt_add_path(sess, addr, req->report);
	put_device(&sess->dev);
	if (IS_ERR(path))
		return PTR_ERR(path);
	rtrs_clt_nl_path(path, info);
	kobject_put(&path->kobj);
	return 0;
}

/* A path of the session that is not being removed, with a reference; NULL if it has none of the name. */
static struct rtrs_clt_path *rtrs_clt_nl_find_path(struct rtrs_clt_sess *sess, const char *name)
{
	struct rtrs_clt_path *path, *found = NULL;
	struct rtrs_clt_paths *paths;
	unsigned int i;

	mutex_lock(&sess->paths_mutex);
	paths = rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex));
	for (i = 0; paths && i < paths->nr && !found; i++) {
		path = paths->path[i];
		mutex_lock(&path->name_mutex);
		if (path->published && !strcmp(path->name, name))
			found = path;
		mutex_unlock(&path->name_mutex);
	}
	if (found)
		kobject_get(&found->kobj);
	mutex_unlock(&sess->paths_mutex);
	return found;
}

static int rtrs_clt_nl_del_path(const struct rtrs_nl_request *req, struct rtrs_nl_info *info)
{
	const char *name = rtrs_nl_want(req, "path_name");
	struct rtrs_clt_sess *sess;
	struct rtrs_clt_path *path;

	if (!name)
		return -EINVAL;
	sess = rtrs_clt_nl_session(req);
	if (IS_ERR(sess))
		return PTR_ERR(sess);
	path = rtrs_clt_nl_find_path(sess, name);
	if (path) {
		rtrs_clt_path_destroy(path);
		kobject_put(&path->kobj);
	} else {
		rtrs_report_set(req->report, "session %s has no path %s", sess->name, name);
		rtrs_report_blame(req->report, "path_name", 0);
	}
	put_device(&sess->dev);
	return path ? 0 : -ENOENT;
}

static const struct rtrs_nl_part rtrs_clt_nl_part = {
	.owner = THIS_MODULE,
	.get_session = rtrs_clt_nl_get_session,
	.get_path = rtrs_clt_nl_get_path,
	.add_path = rtrs_clt_nl_add_path,
	.del_path = rtrs_clt_nl_del_path,
};

/**
 * rtrs_clt_nl_init() - show sessions and paths by netlink
 *
 * Context: module init.
 */
void rtrs_clt_nl_init(void)
{
	rtrs_nl_register(RTRS_NL_RTRS_CLIENT, &rtrs_clt_nl_part);
}

/**
 * rtrs_clt_nl_exit() - undo rtrs_clt_nl_init()
 *
 * Context: module exit.
 */
void rtrs_clt_nl_exit(void)
{
	rtrs_nl_unregister(RTRS_NL_RTRS_CLIENT);
}
