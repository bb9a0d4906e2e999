/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of the server's requests goes: before the ULP has them, and with it. */
#ifndef _RTRS_SRV_LATENCY_H
#define _RTRS_SRV_LATENCY_H

#include <linux/mutex.h>

#include "../verbs/latency.h"

struct rtrs_srv_path;
struct rtrs_srv_req;

/* Of so many requests of a connection one is timed where the client does not say which. */
#define RTRS_SRV_LAT_EVERY	61
/* Parts that are known here, from RTRS_LAT_SERVER on. */
#define RTRS_SRV_LAT_PARTS	(RTRS_LAT_PARTS - RTRS_LAT_SERVER)

/**
 * struct rtrs_srv_lat_cpu - timed requests of one path on one CPU
 * @hist: the times, index READ 0, WRITE 1, then enum rtrs_lat_part from RTRS_LAT_SERVER on
 */
struct rtrs_srv_lat_cpu {
	struct rtrs_lat_hist hist[2][RTRS_SRV_LAT_PARTS];
};

/**
 * struct rtrs_srv_lat - times of a path
 * @cpu: what each CPU has counted; it alone writes there
 * @mutex: guards @base
 * @base: what they were when somebody reset them
 */
struct rtrs_srv_lat {
	struct rtrs_srv_lat_cpu __percpu *cpu;
	struct mutex mutex;
	struct rtrs_lat_hist base[2][RTRS_SRV_LAT_PARTS];
};

void rtrs_srv_lat_answered(struct rtrs_srv_req *req);
ssize_t rtrs_srv_lat_show(struct rtrs_srv_path *path, int dir, char *buf);
void rtrs_srv_lat_table(struct rtrs_srv_path *path, struct seq_file *seq);
void rtrs_srv_lat_reset(struct rtrs_srv_path *path, int dir);

#endif /* _RTRS_SRV_LATENCY_H */
