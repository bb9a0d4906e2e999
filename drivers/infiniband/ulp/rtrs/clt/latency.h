/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of the client's requests goes: counted for each path, and summed up for its session. */
#ifndef _RTRS_CLT_LATENCY_H
#define _RTRS_CLT_LATENCY_H

#include <linux/mutex.h>

#include "../verbs/latency.h"

struct rtrs_clt_path;
struct rtrs_clt_req;
struct rtrs_clt_sess;

/*
 * Of so many requests that a CPU sends on a path, the parts of one are taken.  A prime number, so that loads
 * in batches do not always have the same one of a batch taken.
 */
#define RTRS_CLT_LAT_EVERY	61

/**
 * struct rtrs_clt_lat_cpu - requests of one path on one CPU
 * @until: requests until the next one of which the parts are taken; 0 also where somebody reset the times, and a
 *	request that is sent at that moment may undo it
 * @hist: the times, index READ 0, WRITE 1, then enum rtrs_lat_part
 */
struct rtrs_clt_lat_cpu {
	int until;
	struct rtrs_lat_hist hist[2][RTRS_LAT_PARTS];
};

/**
 * struct rtrs_clt_lat - times of a path
 * @cpu: what each CPU has counted; it alone writes there
 * @base: what they were when somebody reset them; mutex of the session's times
 */
struct rtrs_clt_lat {
	struct rtrs_clt_lat_cpu __percpu *cpu;
	struct rtrs_lat_hist base[2][RTRS_LAT_PARTS];
};

/**
 * struct rtrs_clt_lat_past - times of a session that no path of it has any more
 * @mutex: guards @gone and all @base, and taking a path out of the session
 * @gone: those of paths that were removed
 * @base: what all were when somebody reset them
 */
struct rtrs_clt_lat_past {
	struct mutex mutex;
	struct rtrs_lat_hist gone[2][RTRS_LAT_PARTS];
	struct rtrs_lat_hist base[2][RTRS_LAT_PARTS];
};

/**
 * rtrs_clt_lat_sampled() - are the parts of the request that is about to be sent to be taken
 * @lat: of its path
 *
 * Context: any.
 * Return: true for one in RTRS_CLT_LAT_EVERY.
 */
static inline bool rtrs_clt_lat_sampled(struct rtrs_clt_lat *lat)
{
	if (likely(this_cpu_dec_return(lat->cpu->until) >= 0))
		return false;
	this_cpu_write(lat->cpu->until, RTRS_CLT_LAT_EVERY - 1);
	return true;
}

void rtrs_clt_lat_done(const struct rtrs_clt_req *req, bool answered);
void rtrs_clt_lat_fold(struct rtrs_clt_path *path);
ssize_t rtrs_clt_lat_show_path(struct rtrs_clt_path *path, int dir, char *buf);
ssize_t rtrs_clt_lat_show_sess(struct rtrs_clt_sess *sess, int dir, char *buf);
void rtrs_clt_lat_table_path(struct rtrs_clt_path *path, struct seq_file *seq);
void rtrs_clt_lat_table_sess(struct rtrs_clt_sess *sess, struct seq_file *seq);
void rtrs_clt_lat_reset_path(struct rtrs_clt_path *path, int dir);
void rtrs_clt_lat_reset_sess(struct rtrs_clt_sess *sess, int dir);

#endif /* _RTRS_CLT_LATENCY_H */
