/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots of a session, and what a path has for them.  The lock letters are those of clt.h. */
#ifndef _RTRS_CLT_SLOTS_H
#define _RTRS_CLT_SLOTS_H

#include <linux/sbitmap.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rtrs/rtrs_format.h>

struct rtrs_clt_path;
struct rtrs_clt_sess;

/* With extension CREDITS a session begins with so many slots, and never has fewer. */
#define RTRS_CLT_SLOTS_LEAST	16U
#define RTRS_CLT_TABLE_BYTES	(RTRS_CHUNK_TABLE_DESCS * sizeof(struct rtrs_sg_desc))

/**
 * struct rtrs_clt_slots - the slots of a session (slots.c)
 *
 * L: @lock.
 *
 * @map: those that the ULP has, and those that are closed
 * @wait: sleepers of rtrs_clt_get_permit() and rtrs_clt_close()
 * @lock: guards what follows, the slots of paths, and the step of a path to CONNECTED; only state_lock and queues inside
 * @closed: L. those that are not to be used, NULL until there are permits
 * @open: L, read without. so many are open, but for those that are about to be closed
 * @want: L, read without. so many each path is to have, not fewer than are open
 * @target: L, read without. so many are to stay open, 0 if none is about to be closed
 * @quiet: L. seconds since many of them were in use, or since there was none
 * @is_short: A. bit 0: there was none when one was wanted
 * @again: A. jiffies before which more are not asked for
 * @dwork: opens and closes them
 */
struct rtrs_clt_slots {
	struct sbitmap map;
	wait_queue_head_t wait;
	spinlock_t lock;
	unsigned long *closed;
	u32 open;
	u32 want;
	u32 target;
	u32 quiet;
	unsigned long is_short;
	unsigned long again;
	struct delayed_work dwork;
};

/**
 * struct rtrs_clt_table - where a server writes descriptors of chunks to
 * @desc: RTRS_CHUNK_TABLE_DESCS descriptors, NULL if there is no table
 * @copy: room for a copy of them
 * @sg: @desc, mapped
 */
struct rtrs_clt_table {
	struct rtrs_sg_desc *desc;
	struct rtrs_sg_desc *copy;
	struct scatterlist sg;
};

/**
 * struct rtrs_clt_credits - what a path has for its slots (credits.c)
 * @slots: lock of the session's slots, read by the path's worker without. slots that may be used on this path
 * @chunks: M. chunks that the server has for it and is not asked to take back
 * @offered: C. how many each connection has asked for
 * @first: C. of these, how many the server has to have for it at first
 * @asked: M. how many the server is asked for at present, 0 if it is not asked
 * @was: M. how many there were when it was asked
 * @last: M. how many it was asked for last
 * @told: A. how many the server says there are, 0 if that was seen to
 * @table: M. where their keys come
 */
struct rtrs_clt_credits {
	u32 slots;
	u32 chunks;
	u32 offered;
	u32 first;
	u32 asked;
	u32 was;
	u32 last;
	u32 told;
	struct rtrs_clt_table table;
};

/* slots.c */
void rtrs_clt_slots_init(struct rtrs_clt_sess *sess);
int rtrs_clt_slots_alloc(struct rtrs_clt_sess *sess);
void rtrs_clt_slots_free(struct rtrs_clt_sess *sess);
u32 rtrs_clt_slots_in_use(struct rtrs_clt_sess *sess);
void rtrs_clt_slots_raise(struct rtrs_clt_sess *sess);
void rtrs_clt_slots_are_short(struct rtrs_clt_sess *sess);
void rtrs_clt_slots_stop(struct rtrs_clt_sess *sess);
u32 rtrs_clt_slots_wanted(struct rtrs_clt_sess *sess);
bool rtrs_clt_slots_connect(struct rtrs_clt_path *path);
bool rtrs_clt_slots_may_connect(const struct rtrs_clt_path *path);
void rtrs_clt_slots_refused(struct rtrs_clt_path *path);
u32 rtrs_clt_slots_lower(struct rtrs_clt_path *path);
void rtrs_clt_slots_have(struct rtrs_clt_path *path, u32 nr);

/* credits.c */
u16 rtrs_clt_credits_features_off(void);
int rtrs_clt_credits_equip(struct rtrs_clt_path *path, u32 nr);
void rtrs_clt_credits_unmap(struct rtrs_clt_path *path);
int rtrs_clt_credits_create_table(struct rtrs_clt_path *path);
void rtrs_clt_credits_destroy_table(struct rtrs_clt_path *path);
int rtrs_clt_credits_put_table(struct rtrs_clt_path *path, struct rtrs_msg_info_req *msg);
void rtrs_clt_credits_begin(struct rtrs_clt_path *path, u32 nr);
int rtrs_clt_credits_told(struct rtrs_clt_path *path, u32 nr);
void rtrs_clt_credits_run(struct rtrs_clt_path *path);

#endif /* _RTRS_CLT_SLOTS_H */
