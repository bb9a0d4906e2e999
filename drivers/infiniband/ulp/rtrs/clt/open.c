// SPDX-License-Identifier: GPL-2.0-only
/* Opening and closing sessions (API specification section 2). */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/list.h>
#include <linux/module.h>
#include <rdma/rtrs-nl.h>
#include <rtrs/rtrs_timing.h>

#include "clt.h"

/* All sessions, also those being opened or closed: a name is in use from the first to the last moment. */
static LIST_HEAD(rtrs_clt_sessions);
static DEFINE_MUTEX(rtrs_clt_sessions_mutex);

static int rtrs_clt_reserve_name(struct rtrs_clt_sess *sess, struct rtrs_report *report)
{
	struct rtrs_clt_sess *other;
	int ret = 0;

	mutex_lock(&rtrs_clt_sessions_mutex);
	list_for_each_entry(other, &rtrs_clt_sessions, entry)
		if (!strcmp(other->name, sess->name))
			ret = -EEXIST;
	if (!ret)
		list_add_tail(&sess->entry, &rtrs_clt_sessions);
	mutex_unlock(&rtrs_clt_sessions_mutex);
	if (ret)
		rtrs_clt_err(report, "session name '%s' is in use\n", sess->name);
	else
		rtrs_nl_changed();
	return ret;
}

static void rtrs_clt_sess_tell(const struct rtrs_clt_sess *sess, enum rtrs_nl_event event)
{
	struct rtrs_nl_news news = {
		.event = event,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = sess->name,
	};

	rtrs_nl_tell(&news);
}

static void rtrs_clt_sess_end(struct rtrs_clt_sess *sess)
{
	/* The name is free again when nothing of the session is left in sysfs. */
	get_device(&sess->dev);
	rtrs_clt_sess_destroy(sess);
	mutex_lock(&rtrs_clt_sessions_mutex);
	list_del(&sess->entry);
	mutex_unlock(&rtrs_clt_sessions_mutex);
	rtrs_nl_changed();
	if (sess->opened)
		rtrs_clt_sess_tell(sess, RTRS_NL_EVENT_SESSION_CLOSED);
	put_device(&sess->dev);
}

/**
 * rtrs_clt_sess_get_nth() - find a session by its number
 * @nr: counted from 0; those behind one that goes get another
 *
 * Context: process, may sleep.
 * Return: the session with a reference of its device, NULL if there are not so many.
 */
struct rtrs_clt_sess *rtrs_clt_sess_get_nth(unsigned int nr)
{
	struct rtrs_clt_sess *sess, *found = NULL;

	mutex_lock(&rtrs_clt_sessions_mutex);
	list_for_each_entry(sess, &rtrs_clt_sessions, entry) {
		if (nr--)
			continue;
		get_device(&sess->dev);
		found = sess;
		break;
	}
	mutex_unlock(&rtrs_clt_sessions_mutex);
	return found;
}

/**
 * rtrs_clt_sess_get_open() - find a session that is open by its name
 * @name: the name
 *
 * It may be closed at any time, which paths that are added meanwhile are told.
 *
 * Context: process, may sleep.
 * Return: the session with a reference of its device, NULL if there is none.
 */
struct rtrs_clt_sess *rtrs_clt_sess_get_open(const char *name)
{
	struct rtrs_clt_sess *sess, *found = NULL;

	mutex_lock(&rtrs_clt_sessions_mutex);
	list_for_each_entry(sess, &rtrs_clt_sessions, entry) {
		if (strcmp(sess->name, name) || !rtrs_clt_sess_is_open(sess))
			continue;
		get_device(&sess->dev);
		found = sess;
		break;
	}
	mutex_unlock(&rtrs_clt_sessions_mutex);
	return found;
}

/**
 * rtrs_clt_each_path() - call a function for each path of each session
 * @fn: the function; must not sleep
 * @arg: what it is given too
 *
 * Context: process, may sleep.
 */
void rtrs_clt_each_path(void (*fn)(struct rtrs_clt_path *path, const void *arg), const void *arg)
{
	const struct rtrs_clt_paths *paths;
	struct rtrs_clt_sess *sess;
	unsigned int i;

	mutex_lock(&rtrs_clt_sessions_mutex);
	list_for_each_entry(sess, &rtrs_clt_sessions, entry) {
		rcu_read_lock();
		paths = rcu_dereference(sess->paths);
		for (i = 0; paths && i < paths->nr; i++)
			fn(paths->path[i], arg);
		rcu_read_unlock();
	}
	mutex_unlock(&rtrs_clt_sessions_mutex);
}

static int rtrs_clt_create_paths(struct rtrs_clt_sess *sess, const struct rtrs_addr *addrs,
				 size_t nr, struct rtrs_report *report)
{
	struct rtrs_clt_path *path;
	size_t i;

	for (i = 0; i < nr; i++) {
		path = rtrs_clt_path_create(sess, &addrs[i], report);
		if (IS_ERR(path)) {
			rtrs_report_blame(report, "path", i);
			return PTR_ERR(path);
		}
	}
	return 0;
}

/*
 * Connect the paths.  One after the other until the first is up: its connection creates the session on
 * the server and brings the queue depth.  The rest together.  Those that fail keep trying.
 */
static int rtrs_clt_connect_paths(struct rtrs_clt_sess *sess, struct rtrs_report *report)
{
	struct rtrs_clt_paths *paths = rcu_dereference_protected(sess->paths, true);
	unsigned int i, first;
	int ret = 0, err = 0;

	for (first = 0; first < paths->nr; first++) {
		rtrs_clt_path_start(paths->path[first]);
		ret = rtrs_clt_path_wait_first(paths->path[first]);
		if (!ret || ret == -EINTR)
			break;
		err = err ?: ret;
	}
	if (ret == -EINTR)
		return ret;
	if (ret) {
		/* Words of the one whose error it is. */
		rtrs_clt_failure_report(paths->path[0], report);
		rtrs_report_blame(report, "path", 0);
		return err;
	}
	for (i = first + 1; i < paths->nr; i++)
		rtrs_clt_path_start(paths->path[i]);
	for (i = first + 1; i < paths->nr; i++)
		if (rtrs_clt_path_wait_first(paths->path[i]) == -EINTR)
			return -EINTR;
	return 0;
}

/* From now on the ULP hears of lost and returned sessions; it must not have missed a loss. */
static int rtrs_clt_sess_set_opened(struct rtrs_clt_sess *sess)
{
	int ret = 0;

	mutex_lock(&sess->ev_mutex);
	if (sess->paths_up)
		sess->opened = true;
	else
		ret = -ECONNRESET;
	mutex_unlock(&sess->ev_mutex);
	return ret;
}

static const struct rtrs_clt_timing rtrs_clt_default_timing = {
	RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_DEFAULT)
};

#define RTRS_CLT_TIMING_CHECK(_name, _min, _max, _default)				\
	if (timing->_name < (_min) || timing->_name > (_max)) {				\
		rtrs_clt_err(report, "session %s: " #_name "=%u, allowed are %u to %u\n", name,	\
			     timing->_name, _min, _max);				\
		return -EINVAL;								\
	}

static int rtrs_clt_check_timing(const char *name, const struct rtrs_clt_timing *timing,
				 struct rtrs_report *report)
{
	RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_CHECK)
	return 0;
}

static int rtrs_clt_check_args(const char *name, size_t path_cnt, u32 nr_poll_queues,
			       struct rtrs_report *report)
{
	if (!rtrs_wire_name_valid(name)) {
		rtrs_clt_err(report, "session name '%.*s' is not valid: 1 to %d characters, no '/' and no '.'\n",
			     RTRS_NAME_LEN, name, RTRS_NAME_LEN - 1);
		return -EINVAL;
	}
	if (!path_cnt || path_cnt > RTRS_MAX_PATHS) {
		rtrs_clt_err(report, "session %s: %zu paths given, allowed are 1 to %d\n", name,
			     path_cnt, RTRS_MAX_PATHS);
		return -EINVAL;
	}
	if (nr_poll_queues > RTRS_MAX_CONS - 1 - nr_cpu_ids) {
		rtrs_clt_err(report, "session %s: %u poll queues given, allowed are 0 to %u\n", name,
			     nr_poll_queues, RTRS_MAX_CONS - 1 - nr_cpu_ids);
		return -EINVAL;
	}
	return 0;
}

/**
 * rtrs_clt_open_timed() - open a session
 * @ops: callbacks, copied
 * @pathname: name of the session
 * @paths: addresses of its paths, copied
 * @path_cnt: number of @paths, 1 to RTRS_MAX_PATHS
 * @port: port for paths added later
 * @pdu_sz: extra bytes behind each permit, for the ULP
 * @reconnect_delay_sec: longest delay between two attempts to connect, in seconds
 * @max_reconnect_attempts: failed attempts before a path is given up; 0 never try again, -1 for ever
 * @nr_poll_queues: polled connections per path, behind one I/O connection per CPU
 * @timing: when a path is lost, copied; each value in its range; NULL for the defaults
 * @report: for words if it fails, as in the kernel log; NULL: nobody wants them
 *
 * API specification section 2, with one difference: the session opens when at least one path connects,
 * and the others go on trying.
 *
 * Context: process, sleeps for as long as connecting takes; killable.
 * Return: the session for rtrs_clt_close(), or ERR_PTR: -EINVAL wrong argument, -EEXIST name in use or a
 * path given twice, -ENOMEM, -EINTR killed, or why the first path did not connect.
 */
struct rtrs_clt_sess *rtrs_clt_open_timed(struct rtrs_clt_ops *ops, const char *pathname,
					  const struct rtrs_addr *paths, size_t path_cnt,
					  u16 port, size_t pdu_sz, u8 reconnect_delay_sec,
					  s16 max_reconnect_attempts, u32 nr_poll_queues,
					  const struct rtrs_clt_timing *timing,
					  struct rtrs_report *report)
{
	struct rtrs_clt_sess *sess;
	int ret;

	ret = rtrs_clt_check_args(pathname, path_cnt, nr_poll_queues, report);
	if (!ret && timing)
		ret = rtrs_clt_check_timing(pathname, timing, report);
	if (ret)
		return ERR_PTR(ret);
	sess = rtrs_clt_sess_alloc(pathname, pdu_sz, nr_poll_queues);
	if (!sess)
		return ERR_PTR(-ENOMEM);
	sess->ops = *ops;
	sess->port = port;
	sess->reconnect_delay_ms = reconnect_delay_sec * MSEC_PER_SEC;
	sess->max_reconnect_attempts = max_reconnect_attempts;
	sess->timing = timing ? *timing : rtrs_clt_default_timing;
	/* Before the session is on the list, where others take references. */
	rtrs_clt_sess_init_dev(sess);
	ret = rtrs_clt_reserve_name(sess, report);
	if (ret) {
		put_device(&sess->dev);
		return ERR_PTR(ret);
	}

	ret = rtrs_clt_create_paths(sess, paths, path_cnt, report);
	if (!ret)
		ret = rtrs_clt_connect_paths(sess, report);
	if (!ret)
		ret = rtrs_clt_sess_alloc_permits(sess);
	if (!ret)
		ret = rtrs_clt_sess_publish(sess);
	if (!ret)
		ret = rtrs_clt_sess_set_opened(sess);
	if (ret) {
		rtrs_clt_sess_end(sess);
		return ERR_PTR(ret);
	}
	rtrs_clt_sess_announce(sess);
	rtrs_clt_sess_tell(sess, RTRS_NL_EVENT_SESSION_OPENED);
	return sess;
}
EXPORT_SYMBOL(rtrs_clt_open_timed);

/**
 * rtrs_clt_open() - open a session with the default timing
 * @ops: see rtrs_clt_open_timed(), also for the others
 * @pathname: name of the session
 * @paths: addresses of its paths
 * @path_cnt: number of @paths
 * @port: port for paths added later
 * @pdu_sz: extra bytes behind each permit
 * @reconnect_delay_sec: longest delay between two attempts to connect
 * @max_reconnect_attempts: failed attempts before a path is given up
 * @nr_poll_queues: polled connections per path
 *
 * Context: process, sleeps for as long as connecting takes.
 * Return: as rtrs_clt_open_timed().
 */
struct rtrs_clt_sess *rtrs_clt_open(struct rtrs_clt_ops *ops, const char *pathname,
				    const struct rtrs_addr *paths, size_t path_cnt,
				    u16 port, size_t pdu_sz, u8 reconnect_delay_sec,
				    s16 max_reconnect_attempts, u32 nr_poll_queues)
{
	return rtrs_clt_open_timed(ops, pathname, paths, path_cnt, port, pdu_sz,
				   reconnect_delay_sec, max_reconnect_attempts, nr_poll_queues, NULL,
				   NULL);
}
EXPORT_SYMBOL(rtrs_clt_open);

/**
 * rtrs_clt_get_timing() - when a session gives a path up
 * @sess: open session
 * @timing: each value as it is now; an administrator may change them
 *
 * Not part of mainline's interface.
 *
 * Context: any.
 */
void rtrs_clt_get_timing(const struct rtrs_clt_sess *sess, struct rtrs_clt_timing *timing)
{
#define RTRS_CLT_TIMING_READ(_name, _min, _max, _default)	._name = READ_ONCE(sess->timing._name),
	*timing = (struct rtrs_clt_timing) { RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_READ) };
}
EXPORT_SYMBOL(rtrs_clt_get_timing);

/**
 * rtrs_clt_close() - close a session
 * @sess: open session; not used any more after this call, but for permits to give back
 *
 * Requests in flight are completed with -ECONNABORTED.  Waits until all permits are given back.
 *
 * Context: process, sleeps.
 */
void rtrs_clt_close(struct rtrs_clt_sess *sess)
{
	rtrs_clt_sess_end(sess);
}
EXPORT_SYMBOL(rtrs_clt_close);
