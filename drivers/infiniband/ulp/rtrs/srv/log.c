// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fewer lines in the kernel log about paths that come only to go again.
 *
 * Operation: a client that connects a path anew gives it the identity that it had.  For identities whose connections did
 * not last there is a table of fixed size.  The first ones are logged; after that there is a line a minute with their
 * number.  One that takes the place of another in the table begins anew: a client that changes identities gets more
 * lines, up to what the rate limits of the messages allow.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

#include "../proto/backoff.h"
#include "../proto/quiet.h"
#include "rtrs-srv.h"

#define RTRS_SRV_LOG_SERIES	64
/* So many are logged before it becomes quiet. */
#define RTRS_SRV_LOG_FIRST	4
/* A client that has other delays between its attempts is not the same trouble any more after this time. */
#define RTRS_SRV_LOG_FORGET_MS	(2 * RTRS_QUIET_MS)

/**
 * struct rtrs_srv_log_series - connections of a path that did not last
 * @key: hash of the identity that the client gave the path
 * @last_ms: time of the last one
 * @quiet: how many, and what of that was logged
 */
struct rtrs_srv_log_series {
	u32 key;
	u64 last_ms;
	struct rtrs_quiet quiet;
};

/* Guards the table; innermost. */
static DEFINE_SPINLOCK(rtrs_srv_log_lock);
static struct rtrs_srv_log_series rtrs_srv_log_table[RTRS_SRV_LOG_SERIES];

/* The path's series, without failures if the last one was long ago. */
static struct rtrs_srv_log_series *rtrs_srv_log_find(const struct rtrs_srv_path *path, u64 now_ms)
{
	u32 key = jhash(path->uuid, sizeof(path->uuid), 0);
	struct rtrs_srv_log_series *series = &rtrs_srv_log_table[key % RTRS_SRV_LOG_SERIES];

	lockdep_assert_held(&rtrs_srv_log_lock);
	if (series->key != key || now_ms - series->last_ms > RTRS_SRV_LOG_FORGET_MS) {
		memset(series, 0, sizeof(*series));
		series->key = key;
	}
	return series;
}

/**
 * rtrs_srv_log_wanted() - is a message worth a line that says that a path comes, or with it a session comes or goes
 * @path: the path
 *
 * Context: any.
 * Return: false if many connections of it did not last.
 */
bool rtrs_srv_log_wanted(const struct rtrs_srv_path *path)
{
	u64 now_ms = ktime_to_ms(ktime_get());
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&rtrs_srv_log_lock, flags);
	ret = rtrs_srv_log_find(path, now_ms)->quiet.failures < RTRS_SRV_LOG_FIRST;
	spin_unlock_irqrestore(&rtrs_srv_log_lock, flags);
	return ret;
}

/**
 * rtrs_srv_log_closed() - is it worth a line that a path is closed
 * @path: the path
 *
 * To be called once, when it begins to close.
 *
 * Context: any.
 * Return: true if so.
 */
bool rtrs_srv_log_closed(const struct rtrs_srv_path *path)
{
	u64 now_ms = ktime_to_ms(ktime_get());
	enum rtrs_quiet_verdict verdict;
	struct rtrs_srv_log_series *series;
	unsigned long flags;
	u32 nr, secs;

	if (now_ms - path->created_ms >= RTRS_USEFUL_MS)
		return true;
	spin_lock_irqsave(&rtrs_srv_log_lock, flags);
	series = rtrs_srv_log_find(path, now_ms);
	series->last_ms = now_ms;
	/* There is but one reason: that it did not last. */
	verdict = rtrs_quiet_failed(&series->quiet, 0, now_ms);
	nr = series->quiet.failures;
	secs = div_u64(now_ms - series->quiet.began_ms, MSEC_PER_SEC);
	spin_unlock_irqrestore(&rtrs_srv_log_lock, flags);
	if (nr <= RTRS_SRV_LOG_FIRST)
		return true;
	if (verdict == RTRS_QUIET_SILENT)
		return false;
	pr_warn_ratelimited("path %s: %u connections in %u s did not last, now:\n", path->name, nr, secs);
	return true;
}
