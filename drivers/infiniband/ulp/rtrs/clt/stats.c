// SPDX-License-Identifier: GPL-2.0-only
/* sysfs of the client's counters: stats/ of a path and of a session. */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>

#include "clt.h"

/**
 * rtrs_clt_want_one() - check what was written to an attribute that does something
 * @name: of the attribute
 * @kobj: what it belongs to
 * @buf: what was written
 *
 * Context: any.
 * Return: 0, or -EINVAL after telling.
 */
int rtrs_clt_want_one(const char *name, struct kobject *kobj, const char *buf)
{
	if (sysfs_streq(buf, "1"))
		return 0;
	pr_err("%s of %s: '%.*s' is not valid, write 1\n", name, kobject_name(kobj),
	       (int)strcspn(buf, "\n"), buf);
	return -EINVAL;
}

/**
 * rtrs_clt_show_usage() - read an attribute that does something
 * @name: of the attribute
 * @buf: result
 *
 * Context: process.
 * Return: length of the text.
 */
ssize_t rtrs_clt_show_usage(const char *name, char *buf)
{
	return sysfs_emit(buf, "Usage: echo 1 > %s\n", name);
}

static ssize_t rtrs_clt_show_migration(struct rtrs_clt_path *path, char *buf, size_t offset)
{
	ssize_t len = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const u64 *nr = (void *)per_cpu_ptr(path->stats, cpu) + offset;

		len += sysfs_emit_at(buf, len, "%llu ", *nr);
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t cpu_migration_from_show(struct kobject *kobj, struct kobj_attribute *attr,
				       char *buf)
{
	return rtrs_clt_show_migration(to_clt_path(kobj), buf, offsetof(struct rtrs_io_stats, from));
}

static ssize_t cpu_migration_to_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rtrs_clt_show_migration(to_clt_path(kobj), buf, offsetof(struct rtrs_io_stats, to));
}

static void rtrs_clt_reset_migration(struct rtrs_clt_path *path)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu_ptr(path->stats, cpu)->from = 0;
		per_cpu_ptr(path->stats, cpu)->to = 0;
	}
}

static ssize_t rdma_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_clt_path *path = to_clt_path(kobj);
	struct rtrs_io_stats sum;

	rtrs_io_stats_sum(path->stats, &sum);
	return sysfs_emit(buf, "%llu %llu %llu %llu %u %llu\n", sum.cnt[READ], sum.bytes[READ],
			  sum.cnt[WRITE], sum.bytes[WRITE],
			  (unsigned int)max(atomic_read(&path->inflight), 0), sum.failover);
}

/* Requests in flight are no counter: a reset leaves them alone. */
static void rtrs_clt_reset_rdma(struct rtrs_clt_path *path)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rtrs_io_stats *s = per_cpu_ptr(path->stats, cpu);

		memset(s->cnt, 0, sizeof(s->cnt));
		memset(s->bytes, 0, sizeof(s->bytes));
		s->failover = 0;
	}
}

/* The files that paths and sessions have. */

static ssize_t rtrs_clt_show_causes(const char * const words[], const atomic_t cnt[], int nr,
				    char *buf)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < nr; i++)
		len += sysfs_emit_at(buf, len, "%s %u\n", words[i], (unsigned int)atomic_read(&cnt[i]));
	return len;
}

static void rtrs_clt_reset_causes(atomic_t cnt[], int nr)
{
	while (nr--)
		atomic_set(&cnt[nr], 0);
}

static ssize_t rtrs_clt_show_reconnects(struct rtrs_clt_recovery *rec, char *buf)
{
	return sysfs_emit(buf, "%d %d\n", atomic_read(&rec->cnt[RTRS_CLT_RECONNECTED]),
			  atomic_read(&rec->cnt[RTRS_CLT_RECONNECT_FAILED]));
}

static void rtrs_clt_reset_reconnects(struct rtrs_clt_recovery *rec)
{
	atomic_set(&rec->cnt[RTRS_CLT_RECONNECTED], 0);
	atomic_set(&rec->cnt[RTRS_CLT_RECONNECT_FAILED], 0);
}

static ssize_t rtrs_clt_show_timeouts(struct rtrs_clt_recovery *rec, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&rec->cnt[RTRS_CLT_TIMED_OUT]));
}

static void rtrs_clt_reset_timeouts(struct rtrs_clt_recovery *rec)
{
	atomic_set(&rec->cnt[RTRS_CLT_TIMED_OUT], 0);
}

static ssize_t rtrs_clt_show_overdue(struct rtrs_clt_recovery *rec, char *buf)
{
	return sysfs_emit(buf, "%d %d\n", atomic_read(&rec->cnt[RTRS_CLT_OVERDUE]),
			  atomic_read(&rec->cnt[RTRS_CLT_ANSWER_LOST]));
}

static void rtrs_clt_reset_overdue(struct rtrs_clt_recovery *rec)
{
	atomic_set(&rec->cnt[RTRS_CLT_OVERDUE], 0);
	atomic_set(&rec->cnt[RTRS_CLT_ANSWER_LOST], 0);
}

static ssize_t rtrs_clt_show_fences(struct rtrs_clt_recovery *rec, char *buf)
{
	return sysfs_emit(buf, "%d %d\n", atomic_read(&rec->cnt[RTRS_CLT_FENCED]),
			  atomic_read(&rec->cnt[RTRS_CLT_FENCE_LEFT]));
}

static void rtrs_clt_reset_fences(struct rtrs_clt_recovery *rec)
{
	atomic_set(&rec->cnt[RTRS_CLT_FENCED], 0);
	atomic_set(&rec->cnt[RTRS_CLT_FENCE_LEFT], 0);
}

static ssize_t rtrs_clt_show_failovers(struct rtrs_clt_recovery *rec, char *buf)
{
	ssize_t len;
	int i;

	spin_lock_irq(&rec->lock);
	len = sysfs_emit(buf, "%d %u %u", atomic_read(&rec->cnt[RTRS_CLT_FAILED_OVER]),
			 rec->gap_last_ms, rec->gap_max_ms);
	for (i = 0; i < RTRS_CLT_GAP_BUCKETS; i++)
		len += sysfs_emit_at(buf, len, " %u", rec->gap_hist[i]);
	spin_unlock_irq(&rec->lock);
	return len + sysfs_emit_at(buf, len, "\n");
}

static void rtrs_clt_reset_failovers(struct rtrs_clt_recovery *rec)
{
	spin_lock_irq(&rec->lock);
	atomic_set(&rec->cnt[RTRS_CLT_FAILED_OVER], 0);
	rec->gap_last_ms = 0;
	rec->gap_max_ms = 0;
	memset(rec->gap_hist, 0, sizeof(rec->gap_hist));
	spin_unlock_irq(&rec->lock);
}

static ssize_t rtrs_clt_show_losses(struct rtrs_clt_recovery *rec, char *buf)
{
	static const char * const words[] = {
		[RTRS_CLT_LOSS_ON_REQUEST] = "on_request",
		[RTRS_CLT_LOSS_BY_SERVER] = "by_server",
		[RTRS_CLT_LOSS_QUEUE_PAIR] = "queue_pair",
		[RTRS_CLT_LOSS_NO_ANSWER] = "no_answer",
		[RTRS_CLT_LOSS_UNREACHABLE] = "unreachable",
		[RTRS_CLT_LOSS_NO_CARRIER] = "no_carrier",
		[RTRS_CLT_LOSS_DEVICE_REMOVED] = "device_removed",
		[RTRS_CLT_LOSS_PROTOCOL] = "protocol",
		[RTRS_CLT_LOSS_DEVICE] = "device",
	};

	return rtrs_clt_show_causes(words, rec->losses, RTRS_CLT_LOSSES, buf);
}

static void rtrs_clt_reset_losses(struct rtrs_clt_recovery *rec)
{
	rtrs_clt_reset_causes(rec->losses, RTRS_CLT_LOSSES);
}

static ssize_t rtrs_clt_show_io_errors(struct rtrs_clt_recovery *rec, char *buf)
{
	static const char * const words[] = {
		[RTRS_CLT_IO_ERROR_SERVER] = "server",
		[RTRS_CLT_IO_ERROR_NO_PATH] = "no_path",
		[RTRS_CLT_IO_ERROR_TIMEOUT] = "timeout",
		[RTRS_CLT_IO_ERROR_ABORTED] = "aborted",
	};

	return rtrs_clt_show_causes(words, rec->io_errors, RTRS_CLT_IO_ERRORS, buf);
}

static void rtrs_clt_reset_io_errors(struct rtrs_clt_recovery *rec)
{
	rtrs_clt_reset_causes(rec->io_errors, RTRS_CLT_IO_ERRORS);
}

static void rtrs_clt_reset_recovery(struct rtrs_clt_recovery *rec)
{
	rtrs_clt_reset_reconnects(rec);
	rtrs_clt_reset_timeouts(rec);
	rtrs_clt_reset_overdue(rec);
	rtrs_clt_reset_fences(rec);
	rtrs_clt_reset_failovers(rec);
	rtrs_clt_reset_losses(rec);
	rtrs_clt_reset_io_errors(rec);
}

static void rtrs_clt_reset_path(struct rtrs_clt_path *path)
{
	rtrs_clt_reset_migration(path);
	rtrs_clt_reset_rdma(path);
	rtrs_clt_reset_recovery(&path->recovery);
	rtrs_clt_lat_reset_path(path, READ);
	rtrs_clt_lat_reset_path(path, WRITE);
}

static void rtrs_clt_reset_sess(struct rtrs_clt_sess *sess)
{
	rtrs_clt_reset_recovery(&sess->recovery);
	rtrs_clt_lat_reset_sess(sess, READ);
	rtrs_clt_lat_reset_sess(sess, WRITE);
}

#define RTRS_CLT_PATH_STORE(_name, _reset)						\
static ssize_t _name##_store(struct kobject *kobj, struct kobj_attribute *attr,		\
			     const char *buf, size_t count)				\
{											\
	int ret = rtrs_clt_want_one(#_name, kobj, buf);					\
											\
	if (ret)									\
		return ret;								\
	_reset;										\
	return count;									\
}

#define RTRS_CLT_PATH_ATTR(_name, _reset)						\
RTRS_CLT_PATH_STORE(_name, _reset)							\
static struct kobj_attribute rtrs_clt_path_##_name = __ATTR_RW(_name)

RTRS_CLT_PATH_ATTR(cpu_migration_from, rtrs_clt_reset_migration(to_clt_path(kobj)));
RTRS_CLT_PATH_ATTR(cpu_migration_to, rtrs_clt_reset_migration(to_clt_path(kobj)));
RTRS_CLT_PATH_ATTR(rdma, rtrs_clt_reset_rdma(to_clt_path(kobj)));

static ssize_t reset_all_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rtrs_clt_show_usage(attr->attr.name, buf);
}

RTRS_CLT_PATH_STORE(reset_all, rtrs_clt_reset_path(to_clt_path(kobj)))
static struct kobj_attribute rtrs_clt_path_reset_all =
	__ATTR(reset_all, 0644, reset_all_show, reset_all_store);

#define RTRS_CLT_SESS_STORE(_name, _reset)						\
static ssize_t _name##_sess_store(struct device *dev, struct device_attribute *attr,	\
				  const char *buf, size_t count)			\
{											\
	int ret = rtrs_clt_want_one(#_name, &dev->kobj, buf);				\
											\
	if (ret)									\
		return ret;								\
	_reset;										\
	return count;									\
}

/* A file of both. */
#define RTRS_CLT_RECOVERY_ATTR(_name)							\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) \
{											\
	return rtrs_clt_show_##_name(&to_clt_path(kobj)->recovery, buf);		\
}											\
											\
RTRS_CLT_PATH_ATTR(_name, rtrs_clt_reset_##_name(&to_clt_path(kobj)->recovery));	\
											\
static ssize_t _name##_sess_show(struct device *dev, struct device_attribute *attr,	\
				 char *buf)						\
{											\
	return rtrs_clt_show_##_name(&to_clt_sess(dev)->recovery, buf);			\
}											\
											\
RTRS_CLT_SESS_STORE(_name, rtrs_clt_reset_##_name(&to_clt_sess(dev)->recovery))		\
static struct device_attribute rtrs_clt_sess_##_name =					\
	__ATTR(_name, 0644, _name##_sess_show, _name##_sess_store)

RTRS_CLT_RECOVERY_ATTR(reconnects);
RTRS_CLT_RECOVERY_ATTR(timeouts);
RTRS_CLT_RECOVERY_ATTR(overdue);
RTRS_CLT_RECOVERY_ATTR(fences);
RTRS_CLT_RECOVERY_ATTR(failovers);
RTRS_CLT_RECOVERY_ATTR(losses);
RTRS_CLT_RECOVERY_ATTR(io_errors);

/* Likewise, for one direction. */
#define RTRS_CLT_LAT_ATTR(_name, _dir)							\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) \
{											\
	return rtrs_clt_lat_show_path(to_clt_path(kobj), _dir, buf);			\
}											\
											\
RTRS_CLT_PATH_ATTR(_name, rtrs_clt_lat_reset_path(to_clt_path(kobj), _dir));		\
											\
static ssize_t _name##_sess_show(struct device *dev, struct device_attribute *attr,	\
				 char *buf)						\
{											\
	return rtrs_clt_lat_show_sess(to_clt_sess(dev), _dir, buf);			\
}											\
											\
RTRS_CLT_SESS_STORE(_name, rtrs_clt_lat_reset_sess(to_clt_sess(dev), _dir))		\
static struct device_attribute rtrs_clt_sess_##_name =					\
	__ATTR(_name, 0644, _name##_sess_show, _name##_sess_store)

RTRS_CLT_LAT_ATTR(latency_read, READ);
RTRS_CLT_LAT_ATTR(latency_write, WRITE);

static ssize_t reset_all_sess_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rtrs_clt_show_usage(attr->attr.name, buf);
}

RTRS_CLT_SESS_STORE(reset_all, rtrs_clt_reset_sess(to_clt_sess(dev)))
static struct device_attribute rtrs_clt_sess_reset_all =
	__ATTR(reset_all, 0644, reset_all_sess_show, reset_all_sess_store);

static struct attribute *rtrs_clt_path_stats[] = {
	&rtrs_clt_path_cpu_migration_from.attr,
	&rtrs_clt_path_cpu_migration_to.attr,
	&rtrs_clt_path_rdma.attr,
	&rtrs_clt_path_reconnects.attr,
	&rtrs_clt_path_timeouts.attr,
	&rtrs_clt_path_overdue.attr,
	&rtrs_clt_path_fences.attr,
	&rtrs_clt_path_failovers.attr,
	&rtrs_clt_path_losses.attr,
	&rtrs_clt_path_io_errors.attr,
	&rtrs_clt_path_latency_read.attr,
	&rtrs_clt_path_latency_write.attr,
	&rtrs_clt_path_reset_all.attr,
	NULL
};

const struct attribute_group rtrs_clt_path_stats_group = {
	.name = "stats",
	.attrs = rtrs_clt_path_stats,
};

static struct attribute *rtrs_clt_sess_stats[] = {
	&rtrs_clt_sess_reconnects.attr,
	&rtrs_clt_sess_timeouts.attr,
	&rtrs_clt_sess_overdue.attr,
	&rtrs_clt_sess_fences.attr,
	&rtrs_clt_sess_failovers.attr,
	&rtrs_clt_sess_losses.attr,
	&rtrs_clt_sess_io_errors.attr,
	&rtrs_clt_sess_latency_read.attr,
	&rtrs_clt_sess_latency_write.attr,
	&rtrs_clt_sess_reset_all.attr,
	NULL
};

const struct attribute_group rtrs_clt_sess_stats_group = {
	.name = "stats",
	.attrs = rtrs_clt_sess_stats,
};
