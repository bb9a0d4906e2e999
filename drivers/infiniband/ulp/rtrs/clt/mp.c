// SPDX-License-Identifier: GPL-2.0-only
/* Multipath: which path takes the next request.  The decision between two is proto/mp_policy.c. */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/bitmap.h>

#include "clt.h"

static bool rtrs_clt_mp_usable(const struct rtrs_clt_paths *paths, unsigned int i,
			       const unsigned long *tried)
{
	return !test_bit(i, tried) &&
	       rtrs_clt_path_state(paths->path[i]) == RTRS_CLT_PATH_CONNECTED;
}

static int rtrs_clt_mp_round_robin(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths,
				   const unsigned long *tried)
{
	unsigned int i, n, start = this_cpu_inc_return(*sess->rr);

	for (n = 0; n < paths->nr; n++) {
		i = (start + n) % paths->nr;
		if (rtrs_clt_mp_usable(paths, i, tried))
			return i;
	}
	return -1;
}

static int rtrs_clt_mp_best(enum rtrs_mp_policy policy, const struct rtrs_clt_paths *paths,
			    const unsigned long *tried)
{
	struct rtrs_mp_cand cand, best_cand = {};
	unsigned int i;
	int best = -1;

	for (i = 0; i < paths->nr; i++) {
		if (!rtrs_clt_mp_usable(paths, i, tried))
			continue;
		cand.inflight = atomic_read(&paths->path[i]->inflight);
		cand.latency_ns = READ_ONCE(paths->path[i]->hb.latency_ns);
		if (best < 0 || rtrs_mp_better(policy, &cand, &best_cand)) {
			best = i;
			best_cand = cand;
		}
	}
	return best;
}

/**
 * rtrs_clt_mp_next() - choose a connected path
 * @sess: the session
 * @paths: its paths
 * @tried: bit i is set: path i was tried for this request already; the chosen one is added
 *
 * Context: RCU read section.
 * Return: a path that was connected a moment ago, or NULL.
 */
struct rtrs_clt_path *rtrs_clt_mp_next(struct rtrs_clt_sess *sess,
				       const struct rtrs_clt_paths *paths, unsigned long *tried)
{
	enum rtrs_mp_policy policy = READ_ONCE(sess->policy);
	int i;

	if (policy == RTRS_MP_ROUND_ROBIN)
		i = rtrs_clt_mp_round_robin(sess, paths, tried);
	else
		i = rtrs_clt_mp_best(policy, paths, tried);
	if (i < 0)
		return NULL;
	__set_bit(i, tried);
	return paths->path[i];
}
