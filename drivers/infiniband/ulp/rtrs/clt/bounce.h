/* SPDX-License-Identifier: GPL-2.0-only */
/* Bounce buffers of the client.  The lock letters are those of clt.h. */
#ifndef _RTRS_CLT_BOUNCE_H
#define _RTRS_CLT_BOUNCE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rtrs_clt_mrs;
struct rtrs_clt_path;
struct rtrs_clt_req;
struct rtrs_sg_desc;

/* The longest READ that goes through a bounce buffer; on a device in software. */
#define RTRS_CLT_BOUNCE_BYTES		32768
#define RTRS_CLT_BOUNCE_SOFT_BYTES	131072

/**
 * struct rtrs_clt_bounce_bufs - bounce buffers of one size
 * @bytes: size of each, 0 if there are none
 * @nr: buffers allocated
 * @most: how many there may be
 * @sgl: the buffers, mapped
 * @per_mr: buffers that share a region
 * @mrs: the regions, the link's
 */
struct rtrs_clt_bounce_bufs {
	u32 bytes;
	u32 nr;
	u32 most;
	struct scatterlist *sgl;
	u32 per_mr;
	struct rtrs_clt_mrs *mrs;
};

/**
 * struct rtrs_clt_bounce_taken - what of a shared bounce buffer is in use
 * @units: a bit for each unit of it
 */
struct rtrs_clt_bounce_taken {
	atomic_long_t units;
} ____cacheline_aligned_in_smp;

/**
 * struct rtrs_clt_bounce - buffers for READs of a path (bounce.c)
 *
 * G: @grow while the path is CONNECTED, else the path's worker.  M: its worker.
 *
 * @own: M for writers. one for each slot that the path has
 * @own_posted: M. how many of their regions have had their registration posted
 * @own_fresh: M. some of these may not be registered yet
 * @shared_posted: M. the same of @shared, while the path connects
 * @shared: longer ones, or none, of which any slot takes a part; its @nr is G
 * @ready: A. how many of these are registered
 * @reached: G. how many there were when there were the most, of this connection or an earlier one
 * @taken: C. what of each of these is in use
 * @grow: makes some more
 * @grow_at: A. jiffies before which it need not be tried, after a failure
 * @reg_cqe: I. handler of the registration of these
 * @registered: its handler has run
 * @reg_failed: G, once @registered. it failed
 */
struct rtrs_clt_bounce {
	struct rtrs_clt_bounce_bufs own;
	u32 own_posted;
	u32 shared_posted;
	bool own_fresh;
	struct rtrs_clt_bounce_bufs shared;
	u32 ready;
	u32 reached;
	struct rtrs_clt_bounce_taken *taken;
	struct work_struct grow;
	unsigned long grow_at;
	struct ib_cqe reg_cqe;
	struct completion registered;
	bool reg_failed;
};

void rtrs_clt_bounce_init(struct rtrs_clt_path *path);
int rtrs_clt_bounce_create(struct rtrs_clt_path *path, u32 slots);
int rtrs_clt_bounce_grow_own(struct rtrs_clt_path *path, u32 slots);
void rtrs_clt_bounce_known(struct rtrs_clt_path *path);
void rtrs_clt_bounce_stop(struct rtrs_clt_path *path);
void rtrs_clt_bounce_destroy(struct rtrs_clt_path *path);
int rtrs_clt_bounce_register(struct rtrs_clt_path *path);
u32 rtrs_clt_bounce_bytes(const struct rtrs_clt_path *path);
void rtrs_clt_bounce_take(struct rtrs_clt_req *req);
void rtrs_clt_bounce_give_back(struct rtrs_clt_req *req);
void rtrs_clt_bounce_desc(const struct rtrs_clt_req *req, struct rtrs_sg_desc *desc);
void rtrs_clt_bounce_copy(const struct rtrs_clt_req *req);

#endif /* _RTRS_CLT_BOUNCE_H */
