// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of requests goes: counting, and what sysfs and debugfs show of it.
 *
 * Each request is counted when it completes, on the path that it was last sent on.  Its parts are taken of one
 * in RTRS_CLT_LAT_EVERY; a server with extension SERVER_TIME is asked for its share of them.  A session has no histograms to count in: it shows the sum over its paths, and what
 * those had that were removed.
 *
 * Locks: the mutex of the session's times for whatever no CPU counts in.
 */
#include <linux/rcupdate.h>

#include "../proto/imm.h"
#include "clt.h"

/* Take the parts of a request that was answered. */
static void rtrs_clt_lat_parts(const struct rtrs_clt_req *req, struct rtrs_lat_hist __percpu *hist,
			       u64 total_ns)
{
	bool told = req->path->features & RTRS_EXT_SERVER_TIME;
	u64 ns[RTRS_LAT_PARTS] = {
		[RTRS_LAT_TOTAL] = total_ns,
		[RTRS_LAT_CLIENT] = rtrs_lat_between(req->start_ns, req->posted_ns),
	};

	if (told) {
		/* Refused before it was handed to the ULP, or the peer does as it likes. */
		if (!req->srv_time)
			return;
		rtrs_imm_server_time_decode(req->srv_time, &ns[RTRS_LAT_SERVER], &ns[RTRS_LAT_DEVICE]);
	}
	rtrs_lat_split(ns);
	rtrs_lat_add(&hist[RTRS_LAT_CLIENT], ns[RTRS_LAT_CLIENT]);
	rtrs_lat_add(&hist[RTRS_LAT_WIRE], ns[RTRS_LAT_WIRE]);
	if (!told)
		return;
	rtrs_lat_add(&hist[RTRS_LAT_SERVER], ns[RTRS_LAT_SERVER]);
	rtrs_lat_add(&hist[RTRS_LAT_DEVICE], ns[RTRS_LAT_DEVICE]);
}

/**
 * rtrs_clt_lat_done() - a request completes: count its time
 * @req: the request, its owner's
 * @answered: by the server
 *
 * Context: any.
 */
void rtrs_clt_lat_done(const struct rtrs_clt_req *req, bool answered)
{
	struct rtrs_lat_hist __percpu *hist = req->path->lat.cpu->hist[req->dir];
	u64 total_ns = rtrs_lat_between(req->start_ns, rtrs_lat_now());

	rtrs_lat_add(&hist[RTRS_LAT_TOTAL], total_ns);
	if (unlikely(req->posted_ns) && answered)
		rtrs_clt_lat_parts(req, hist, total_ns);
}

static void rtrs_clt_lat_add_path(struct rtrs_lat_hist *sum, const struct rtrs_clt_path *path,
				  int dir, int part)
{
	rtrs_lat_sum(sum, &path->lat.cpu->hist[dir][part]);
}

static void rtrs_clt_lat_add_sess(struct rtrs_lat_hist *sum, const struct rtrs_clt_sess *sess,
				  int dir, int part)
{
	const struct rtrs_clt_paths *paths;
	unsigned int i;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++)
		rtrs_clt_lat_add_path(sum, paths->path[i], dir, part);
	rcu_read_unlock();
	rtrs_lat_plus(sum, &sess->lat.gone[dir][part]);
}

/**
 * rtrs_clt_lat_fold() - a path is leaving its session, which keeps what it has counted
 * @path: the path, torn down for good
 *
 * To be called in one with taking it out of the list of paths: whoever sums up finds it there, or here.
 *
 * Context: process, mutex of the session's times held.
 */
void rtrs_clt_lat_fold(struct rtrs_clt_path *path)
{
	struct rtrs_clt_sess *sess = path->sess;
	int dir, part;

	lockdep_assert_held(&sess->lat.mutex);
	for (dir = 0; dir < 2; dir++)
		for (part = 0; part < RTRS_LAT_PARTS; part++)
			rtrs_clt_lat_add_path(&sess->lat.gone[dir][part], path, dir, part);
}

/* What a path has counted since somebody reset it. */
static struct rtrs_lat_hist rtrs_clt_lat_of_path(const struct rtrs_clt_path *path, int dir, int part)
{
	struct rtrs_lat_hist sum = {};

	lockdep_assert_held(&path->sess->lat.mutex);
	rtrs_clt_lat_add_path(&sum, path, dir, part);
	rtrs_lat_minus(&sum, &path->lat.base[dir][part]);
	return sum;
}

/* The same of a session. */
static struct rtrs_lat_hist rtrs_clt_lat_of_sess(const struct rtrs_clt_sess *sess, int dir, int part)
{
	struct rtrs_lat_hist sum = {};

	lockdep_assert_held(&sess->lat.mutex);
	rtrs_clt_lat_add_sess(&sum, sess, dir, part);
	rtrs_lat_minus(&sum, &sess->lat.base[dir][part]);
	return sum;
}

/**
 * rtrs_clt_lat_show_path() - the times of a path as sysfs shows them
 * @path: the path
 * @dir: READ or WRITE
 * @buf: result
 *
 * Context: process, takes the mutex of the session's times.
 * Return: length of the text.
 */
ssize_t rtrs_clt_lat_show_path(struct rtrs_clt_path *path, int dir, char *buf)
{
	struct rtrs_lat_hist sum;
	ssize_t len = 0;
	int part;

	mutex_lock(&path->sess->lat.mutex);
	for (part = 0; part < RTRS_LAT_PARTS; part++) {
		sum = rtrs_clt_lat_of_path(path, dir, part);
		len += rtrs_lat_emit(buf, len, part, &sum);
	}
	mutex_unlock(&path->sess->lat.mutex);
	return len;
}

/**
 * rtrs_clt_lat_show_sess() - the times of all paths that a session has, or has had
 * @sess: the session
 * @dir: READ or WRITE
 * @buf: result
 *
 * Context: process, takes the mutex of the session's times.
 * Return: length of the text.
 */
ssize_t rtrs_clt_lat_show_sess(struct rtrs_clt_sess *sess, int dir, char *buf)
{
	struct rtrs_lat_hist sum;
	ssize_t len = 0;
	int part;

	mutex_lock(&sess->lat.mutex);
	for (part = 0; part < RTRS_LAT_PARTS; part++) {
		sum = rtrs_clt_lat_of_sess(sess, dir, part);
		len += rtrs_lat_emit(buf, len, part, &sum);
	}
	mutex_unlock(&sess->lat.mutex);
	return len;
}

/**
 * rtrs_clt_lat_table_path() - the times of a path as debugfs shows them
 * @path: the path
 * @seq: the file
 *
 * Context: process, takes the mutex of the session's times.
 */
void rtrs_clt_lat_table_path(struct rtrs_clt_path *path, struct seq_file *seq)
{
	struct rtrs_lat_hist sum;
	int dir, part;

	mutex_lock(&path->sess->lat.mutex);
	for (dir = 0; dir < 2; dir++) {
		for (part = 0; part < RTRS_LAT_PARTS; part++) {
			sum = rtrs_clt_lat_of_path(path, dir, part);
			rtrs_lat_show(seq, dir, part, &sum);
		}
	}
	mutex_unlock(&path->sess->lat.mutex);
}

/**
 * rtrs_clt_lat_table_sess() - the times of all paths that a session has, or has had, likewise
 * @sess: the session
 * @seq: the file
 *
 * Context: process, takes the mutex of the session's times.
 */
void rtrs_clt_lat_table_sess(struct rtrs_clt_sess *sess, struct seq_file *seq)
{
	struct rtrs_lat_hist sum;
	int dir, part;

	mutex_lock(&sess->lat.mutex);
	for (dir = 0; dir < 2; dir++) {
		for (part = 0; part < RTRS_LAT_PARTS; part++) {
			sum = rtrs_clt_lat_of_sess(sess, dir, part);
			rtrs_lat_show(seq, dir, part, &sum);
		}
	}
	mutex_unlock(&sess->lat.mutex);
}

/**
 * rtrs_clt_lat_reset_path() - have a path's times shown from now on
 * @path: the path
 * @dir: READ or WRITE
 *
 * Its session's stay as they are.  The parts of the next request of each CPU are taken, so that a few requests
 * after a reset tell something.
 *
 * Context: process, takes the mutex of the session's times.
 */
void rtrs_clt_lat_reset_path(struct rtrs_clt_path *path, int dir)
{
	int part, cpu;

	mutex_lock(&path->sess->lat.mutex);
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(path->lat.cpu, cpu)->until, 0);
	memset(path->lat.base[dir], 0, sizeof(path->lat.base[dir]));
	for (part = 0; part < RTRS_LAT_PARTS; part++)
		rtrs_clt_lat_add_path(&path->lat.base[dir][part], path, dir, part);
	mutex_unlock(&path->sess->lat.mutex);
}

/**
 * rtrs_clt_lat_reset_sess() - have a session's times shown from now on
 * @sess: the session
 * @dir: READ or WRITE
 *
 * Those of its paths stay as they are.
 *
 * Context: process, takes the mutex of the session's times.
 */
void rtrs_clt_lat_reset_sess(struct rtrs_clt_sess *sess, int dir)
{
	int part;

	mutex_lock(&sess->lat.mutex);
	memset(sess->lat.base[dir], 0, sizeof(sess->lat.base[dir]));
	for (part = 0; part < RTRS_LAT_PARTS; part++)
		rtrs_clt_lat_add_sess(&sess->lat.base[dir][part], sess, dir, part);
	mutex_unlock(&sess->lat.mutex);
}
