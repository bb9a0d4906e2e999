// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the client shows to humans: /sys/kernel/debug/rtrs-client/sessions and latency, tables of what sysfs has in many
 * files; and its fault points.
 *
 * Lifetime: a reader holds the session's device.  Paths leave the session under paths_mutex, which is held while they
 * are shown.  An open file holds the module; to remove a file waits for who is inside it.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "clt.h"
#include "fault.h"

static struct dentry *rtrs_clt_debugfs_dir;

static void rtrs_clt_debugfs_each_sess(struct seq_file *seq,
				       void (*fn)(struct rtrs_clt_sess *sess,
						  const struct rtrs_clt_paths *paths,
						  struct seq_file *seq))
{
	struct rtrs_clt_sess *sess;
	unsigned int nr = 0;

	/*
	 * With the list of sessions locked nobody may wait for a path: what reports a lost carrier has RTNL and
	 * wants that list.
	 */
	while ((sess = rtrs_clt_sess_get_nth(nr++))) {
		mutex_lock(&sess->paths_mutex);
		fn(sess, rcu_dereference_protected(sess->paths, lockdep_is_held(&sess->paths_mutex)),
		   seq);
		mutex_unlock(&sess->paths_mutex);
		put_device(&sess->dev);
	}
}

static void rtrs_clt_debugfs_path(struct rtrs_clt_path *path, struct seq_file *seq)
{
	char device[IB_DEVICE_NAME_MAX + 12] = "-";
	struct rtrs_io_stats sum;

	rtrs_io_stats_sum(path->stats, &sum);
	mutex_lock(&path->name_mutex);
	if (*path->hca_name)
		scnprintf(device, sizeof(device), "%s/%u", path->hca_name, path->hca_port);
	seq_printf(seq, "  %-40s %-12s %-12s", path->name, device,
		   rtrs_clt_path_state_name(rtrs_clt_path_state(path)));
	mutex_unlock(&path->name_mutex);
	seq_printf(seq, " %9d %11llu %13llu %11llu %13llu %11llu %6u\n",
		   max(atomic_read(&path->inflight), 0), sum.cnt[READ], sum.bytes[READ] / SZ_1K,
		   sum.cnt[WRITE], sum.bytes[WRITE] / SZ_1K, sum.failover, READ_ONCE(path->losses));
}

static void rtrs_clt_debugfs_sess(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths,
				  struct seq_file *seq)
{
	unsigned int i, nr = paths ? paths->nr : 0;

	seq_printf(seq, "session %s: %u of %u paths up, %s, %d failovers\n", sess->name,
		   READ_ONCE(sess->paths_up), nr, rtrs_mp_policy_text(READ_ONCE(sess->policy)),
		   atomic_read(&sess->recovery.cnt[RTRS_CLT_FAILED_OVER]));
	for (i = 0; i < nr; i++)
		rtrs_clt_debugfs_path(paths->path[i], seq);
}

static int rtrs_clt_sessions_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "  %-40s %-12s %-12s %9s %11s %13s %11s %13s %11s %6s\n", "path", "device", "state",
		   "in flight", "reads", "KiB read", "writes", "KiB written", "taken over", "lost");
	rtrs_clt_debugfs_each_sess(seq, rtrs_clt_debugfs_sess);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rtrs_clt_sessions);

static void rtrs_clt_debugfs_latency(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths,
				     struct seq_file *seq)
{
	struct rtrs_clt_path *path;
	unsigned int i;

	seq_printf(seq, "session %s\n", sess->name);
	rtrs_clt_lat_table_sess(sess, seq);
	for (i = 0; paths && i < paths->nr; i++) {
		path = paths->path[i];
		mutex_lock(&path->name_mutex);
		seq_printf(seq, "session %s, path %s\n", sess->name, path->name);
		mutex_unlock(&path->name_mutex);
		rtrs_clt_lat_table_path(path, seq);
	}
}

static int rtrs_clt_latency_show(struct seq_file *seq, void *unused)
{
	rtrs_lat_show_head(seq);
	rtrs_clt_debugfs_each_sess(seq, rtrs_clt_debugfs_latency);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rtrs_clt_latency);

/**
 * rtrs_clt_debugfs_init() - create the files
 *
 * Without debugfs the rest works as well.
 *
 * Context: module init.
 */
void rtrs_clt_debugfs_init(void)
{
	rtrs_clt_debugfs_dir = debugfs_create_dir("rtrs-client", NULL);
	debugfs_create_file("sessions", 0400, rtrs_clt_debugfs_dir, NULL, &rtrs_clt_sessions_fops);
	debugfs_create_file("latency", 0400, rtrs_clt_debugfs_dir, NULL, &rtrs_clt_latency_fops);
	rtrs_clt_fault_init(rtrs_clt_debugfs_dir);
}

/**
 * rtrs_clt_debugfs_exit() - remove them
 *
 * Context: module exit.
 */
void rtrs_clt_debugfs_exit(void)
{
	debugfs_remove_recursive(rtrs_clt_debugfs_dir);
}
