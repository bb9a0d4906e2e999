// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of requests goes: counting, and what sysfs and debugfs show of it.
 *
 * A client with extension SERVER_TIME says which of its requests it wants timed, and is told both times right before
 * the answer.  Of one without, one request in RTRS_SRV_LAT_EVERY is timed, and nobody told.
 */
#include "../proto/imm.h"
#include "rtrs-srv.h"

/**
 * rtrs_srv_lat_answered() - the ULP has answered a request that is timed
 * @req: the request, ANSWERED
 *
 * Context: any; its owner.
 */
void rtrs_srv_lat_answered(struct rtrs_srv_req *req)
{
	struct rtrs_lat_hist __percpu *hist = req->path->lat.cpu->hist[req->op.dir];
	u64 server_ns = rtrs_lat_between(req->arrived_ns, req->submitted_ns);
	u64 device_ns = rtrs_lat_between(req->submitted_ns, rtrs_lat_now());

	rtrs_lat_add(&hist[RTRS_LAT_SERVER - RTRS_LAT_SERVER], server_ns);
	rtrs_lat_add(&hist[RTRS_LAT_DEVICE - RTRS_LAT_SERVER], device_ns);
	if (req->path->features & RTRS_EXT_SERVER_TIME)
		req->time_imm = rtrs_imm_server_time(server_ns, device_ns);
}

/* What a path has counted since somebody reset it; @part from 0 on, which is RTRS_LAT_SERVER. */
static struct rtrs_lat_hist rtrs_srv_lat_of(const struct rtrs_srv_path *path, int dir, int part)
{
	struct rtrs_lat_hist sum = {};

	lockdep_assert_held(&path->lat.mutex);
	rtrs_lat_sum(&sum, &path->lat.cpu->hist[dir][part]);
	rtrs_lat_minus(&sum, &path->lat.base[dir][part]);
	return sum;
}

/**
 * rtrs_srv_lat_show() - the times of a path as sysfs shows them
 * @path: the path
 * @dir: READ or WRITE
 * @buf: result
 *
 * Context: process.
 * Return: length of the text.
 */
ssize_t rtrs_srv_lat_show(struct rtrs_srv_path *path, int dir, char *buf)
{
	struct rtrs_lat_hist sum;
	ssize_t len = 0;
	int part;

	mutex_lock(&path->lat.mutex);
	for (part = 0; part < RTRS_SRV_LAT_PARTS; part++) {
		sum = rtrs_srv_lat_of(path, dir, part);
		len += rtrs_lat_emit(buf, len, RTRS_LAT_SERVER + part, &sum);
	}
	mutex_unlock(&path->lat.mutex);
	return len;
}

/**
 * rtrs_srv_lat_table() - the times of a path as debugfs shows them
 * @path: the path
 * @seq: the file
 *
 * Context: process.
 */
void rtrs_srv_lat_table(struct rtrs_srv_path *path, struct seq_file *seq)
{
	struct rtrs_lat_hist sum;
	int dir, part;

	mutex_lock(&path->lat.mutex);
	for (dir = 0; dir < 2; dir++) {
		for (part = 0; part < RTRS_SRV_LAT_PARTS; part++) {
			sum = rtrs_srv_lat_of(path, dir, part);
			rtrs_lat_show(seq, dir, RTRS_LAT_SERVER + part, &sum);
		}
	}
	mutex_unlock(&path->lat.mutex);
}

/**
 * rtrs_srv_lat_reset() - have a path's times shown from now on
 * @path: the path
 * @dir: READ or WRITE
 *
 * Context: process.
 */
void rtrs_srv_lat_reset(struct rtrs_srv_path *path, int dir)
{
	int part;

	mutex_lock(&path->lat.mutex);
	memset(path->lat.base[dir], 0, sizeof(path->lat.base[dir]));
	for (part = 0; part < RTRS_SRV_LAT_PARTS; part++)
		rtrs_lat_sum(&path->lat.base[dir][part], &path->lat.cpu->hist[dir][part]);
	mutex_unlock(&path->lat.mutex);
}
