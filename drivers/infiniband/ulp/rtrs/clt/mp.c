// SPDX-License-Identifier: GPL-2.0-only
/* Multipath: which path takes the next request.  The decision between two is proto/mp_policy.c. */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/bitmap.h>
#include <linux/hash.h>

#include "clt.h"

/* The first usable path from one of them on, but not this one. */
static int rtrs_clt_mp_from(const struct rtrs_clt_paths *paths, const unsigned long *tried,
			    unsigned int start, int but)
{
	unsigned int i, n;

	for (n = 0; n < paths->nr; n++) {
		i = (start + n) % paths->nr;
		if (i != but && rtrs_clt_mp_usable(paths, i, tried))
			return i;
	}
	return -1;
}

/**
 * rtrs_clt_mp_beat_sent() - a heartbeat goes out
 * @path: its path
 *
 * Context: any; the heartbeat's tick.
 */
void rtrs_clt_mp_beat_sent(struct rtrs_clt_path *path)
{
	WRITE_ONCE(path->beat_inflight, atomic_read(&path->inflight));
}

static struct rtrs_mp_beats rtrs_clt_mp_beats(const struct rtrs_clt_path *path)
{
	return (struct rtrs_mp_beats) {
		.last_ns = READ_ONCE(path->beats.last_ns),
		.idle_ns = READ_ONCE(path->beats.idle_ns),
		.share_ns = READ_ONCE(path->beats.share_ns),
		.slowed = READ_ONCE(path->beats.slowed),
		.left = READ_ONCE(path->beats.left),
	};
}

static void rtrs_clt_mp_set_beats(struct rtrs_clt_path *path, const struct rtrs_mp_beats *beats)
{
	WRITE_ONCE(path->beats.last_ns, beats->last_ns);
	WRITE_ONCE(path->beats.idle_ns, beats->idle_ns);
	WRITE_ONCE(path->beats.share_ns, beats->share_ns);
	WRITE_ONCE(path->beats.slowed, beats->slowed);
	WRITE_ONCE(path->beats.left, beats->left);
}

/**
 * rtrs_clt_mp_beat_acked() - a heartbeat was answered
 * @path: its path
 *
 * Context: any; receiver of the path's service connection.
 */
void rtrs_clt_mp_beat_acked(struct rtrs_clt_path *path)
{
	int inflight = max(READ_ONCE(path->beat_inflight), atomic_read(&path->inflight));
	struct rtrs_mp_beats beats = rtrs_clt_mp_beats(path);

	rtrs_mp_beat_add(&beats, READ_ONCE(path->hb.latency_ns), max(inflight, 0));
	rtrs_clt_mp_set_beats(path, &beats);
}

/**
 * rtrs_clt_mp_beats_forget() - nothing is known of a path that is about to connect
 * @path: the path, whose heartbeat is stopped
 *
 * Context: any.
 */
void rtrs_clt_mp_beats_forget(struct rtrs_clt_path *path)
{
	static const struct rtrs_mp_beats none;

	rtrs_clt_mp_set_beats(path, &none);
}

static struct rtrs_mp_nearest rtrs_clt_mp_nearest(const struct rtrs_clt_paths *paths, const unsigned long *tried)
{
	struct rtrs_mp_nearest nearest = {};
	struct rtrs_mp_beats beats;
	unsigned int i;

	for (i = 0; i < paths->nr; i++) {
		if (!rtrs_clt_mp_usable(paths, i, tried))
			continue;
		beats = rtrs_clt_mp_beats(paths->path[i]);
		rtrs_mp_nearest_add(&nearest, &beats);
	}
	return nearest;
}

static int rtrs_clt_mp_best(enum rtrs_mp_policy policy, const struct rtrs_clt_paths *paths,
			    const unsigned long *tried)
{
	struct rtrs_mp_cand cand = {}, best_cand = {};
	struct rtrs_mp_nearest nearest = {};
	struct rtrs_mp_beats beats;
	unsigned int i;
	int best = -1;

	if (policy == RTRS_MP_MIN_LATENCY)
		nearest = rtrs_clt_mp_nearest(paths, tried);
	for (i = 0; i < paths->nr; i++) {
		if (!rtrs_clt_mp_usable(paths, i, tried))
			continue;
		cand.inflight = atomic_read(&paths->path[i]->inflight);
		if (policy == RTRS_MP_MIN_LATENCY) {
			beats = rtrs_clt_mp_beats(paths->path[i]);
			cand.rank = rtrs_mp_rank(&nearest, &beats);
		}
		if (best < 0 || rtrs_mp_better(policy, &cand, &best_cand)) {
			best = i;
			best_cand = cand;
		}
	}
	return best;
}

/* Whole seconds since the last answer.  After one of them the next answer begins a new average. */
static u32 rtrs_clt_load_age_s(const struct rtrs_clt_load *load)
{
	long age = jiffies - READ_ONCE(load->answered_at);

	return max(age, 0L) / HZ;
}

/**
 * rtrs_clt_mp_time() - take the time of a request
 * @req: the request, about to be posted
 *
 * Context: any; its submitter.
 */
void rtrs_clt_mp_time(struct rtrs_clt_req *req)
{
	req->sent_ns = ktime_get_ns();
	req->sent_inflight = atomic_inc_return(&req->conn->load.inflight);
}

/**
 * rtrs_clt_mp_timed() - the end of a request whose time was taken
 * @req: the request
 * @answered: it was answered on its path, without error
 *
 * Context: any; whoever owns the request.
 */
void rtrs_clt_mp_timed(struct rtrs_clt_req *req, bool answered)
{
	struct rtrs_clt_load *load = &req->conn->load;
	u64 service_ns;

	atomic_dec(&load->inflight);
	if (!answered)
		return;
	service_ns = rtrs_clt_load_age_s(load) ? 0 : READ_ONCE(load->service_ns);
	WRITE_ONCE(load->service_ns, rtrs_mp_service_add(service_ns, ktime_get_ns() - req->sent_ns,
							 req->sent_inflight));
	WRITE_ONCE(load->answered_at, jiffies);
}

static struct rtrs_mp_cand rtrs_clt_mp_load(const struct rtrs_clt_path *path, u16 con)
{
	const struct rtrs_clt_load *load = &path->conns[con].load;

	return (struct rtrs_mp_cand) {
		.inflight = atomic_read(&load->inflight),
		.service_ns = rtrs_mp_service_aged(READ_ONCE(load->service_ns), rtrs_clt_load_age_s(load)),
	};
}

/*
 * The better one of two that are drawn: nearly as good as the best of all, and senders who see the same
 * load do not all go the same way.  Each CPU looks at its own connections only.
 */
static int rtrs_clt_mp_service_time(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths,
				    const unsigned long *tried, u16 con)
{
	u32 draw = hash_32(this_cpu_inc_return(*sess->rr), 32);
	int a = rtrs_clt_mp_from(paths, tried, draw & 0xffff, -1);
	int b = a < 0 ? -1 : rtrs_clt_mp_from(paths, tried, draw >> 16, a);
	struct rtrs_mp_cand cand_a, cand_b;

	if (b < 0)
		return a;
	cand_a = rtrs_clt_mp_load(paths->path[a], con);
	cand_b = rtrs_clt_mp_load(paths->path[b], con);
	return rtrs_mp_better(RTRS_MP_SERVICE_TIME, &cand_b, &cand_a) ? b : a;
}

/**
 * rtrs_clt_mp_choose() - choose one of several paths
 * @sess: the session
 * @paths: its paths
 * @con: the connection that is to be used
 * @tried: bit i is set: path i was tried for this request already
 *
 * Context: RCU read section.
 * Return: number of a path that was connected a moment ago, or -1.
 */
int rtrs_clt_mp_choose(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths, u16 con,
		       const unsigned long *tried)
{
	enum rtrs_mp_policy policy = READ_ONCE(sess->policy);

	if (policy == RTRS_MP_ROUND_ROBIN)
		return rtrs_clt_mp_from(paths, tried, this_cpu_inc_return(*sess->rr), -1);
	if (policy == RTRS_MP_SERVICE_TIME)
		return rtrs_clt_mp_service_time(sess, paths, tried, con);
	return rtrs_clt_mp_best(policy, paths, tried);
}
