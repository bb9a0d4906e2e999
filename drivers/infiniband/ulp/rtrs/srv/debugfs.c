// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the server shows to humans: /sys/kernel/debug/rtrs-server/sessions and latency, tables of what sysfs has in many
 * files, and of paths that sysfs does not have yet, or no more; and its fault points.
 *
 * Lifetime: contexts, sessions and paths are in lists for as long as they are there, and leave them under the mutexes
 * that are held while they are shown.  An open file holds the module; to remove a file waits for who is inside it.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "fault.h"
#include "rtrs-srv.h"

static struct dentry *rtrs_srv_debugfs_dir;

/* Before INFO_REQ has come a session has no name. */
static void rtrs_srv_debugfs_name(struct rtrs_srv_sess *sess, struct seq_file *seq)
{
	char name[RTRS_NAME_LEN];

	seq_printf(seq, "port %u, session ", sess->ctx->port);
	if (rtrs_srv_get_path_name(sess, name, sizeof(name)))
		seq_puts(seq, "(not open)");
	else
		seq_escape(seq, name, " \t\n\\");
}

static void rtrs_srv_debugfs_path(const struct rtrs_srv_path *path, struct seq_file *seq)
{
	char device[IB_DEVICE_NAME_MAX + 12];
	struct rtrs_io_stats sum;

	rtrs_io_stats_sum(path->stats, &sum);
	scnprintf(device, sizeof(device), "%s/%u", dev_name(&path->dev->dev), path->port_num);
	seq_printf(seq, "  %-40s %-12s %-12s %11llu %13llu %11llu %13llu\n", path->name, device,
		   rtrs_srv_path_state_name(rtrs_srv_path_state(path)), sum.cnt[READ],
		   sum.bytes[READ] / SZ_1K, sum.cnt[WRITE], sum.bytes[WRITE] / SZ_1K);
}

/* The path's device may be gone. */
static void rtrs_srv_debugfs_orphaned(const struct rtrs_srv_path *path, struct seq_file *seq)
{
	seq_printf(seq, "  %-40s orphaned requests %u, KiB %u, seconds %u\n", path->name, path->orphans,
		   READ_ONCE(path->chunks.charged) * (path->geo->chunk_size / SZ_1K),
		   jiffies_to_msecs(jiffies - path->orphaned_at) / 1000);
}

static void rtrs_srv_debugfs_sess(struct rtrs_srv_sess *sess, void *arg)
{
	const struct rtrs_srv_path *path;
	struct seq_file *seq = arg;
	unsigned int nr = 0;

	list_for_each_entry(path, &sess->paths, entry)
		nr++;
	rtrs_srv_debugfs_name(sess, seq);
	seq_printf(seq, ": %u of %u paths up\n", READ_ONCE(sess->paths_up), nr);
	list_for_each_entry(path, &sess->paths, entry)
		rtrs_srv_debugfs_path(path, seq);
	list_for_each_entry(path, &sess->orphaned, entry)
		rtrs_srv_debugfs_orphaned(path, seq);
}

static int rtrs_srv_sessions_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "  %-40s %-12s %-12s %11s %13s %11s %13s\n", "path", "device", "state", "reads",
		   "KiB read", "writes", "KiB written");
	rtrs_srv_each_sess(rtrs_srv_debugfs_sess, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rtrs_srv_sessions);

static void rtrs_srv_debugfs_latency(struct rtrs_srv_sess *sess, void *arg)
{
	struct rtrs_srv_path *path;
	struct seq_file *seq = arg;

	list_for_each_entry(path, &sess->paths, entry) {
		rtrs_srv_debugfs_name(sess, seq);
		seq_printf(seq, ", path %s\n", path->name);
		rtrs_srv_lat_table(path, seq);
	}
}

static int rtrs_srv_latency_show(struct seq_file *seq, void *unused)
{
	rtrs_lat_show_head(seq);
	rtrs_srv_each_sess(rtrs_srv_debugfs_latency, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rtrs_srv_latency);

/**
 * rtrs_srv_debugfs_init() - create the files
 *
 * Without debugfs the rest works as well.
 *
 * Context: module init.
 */
void rtrs_srv_debugfs_init(void)
{
	rtrs_srv_debugfs_dir = debugfs_create_dir("rtrs-server", NULL);
	debugfs_create_file("sessions", 0400, rtrs_srv_debugfs_dir, NULL, &rtrs_srv_sessions_fops);
	debugfs_create_file("latency", 0400, rtrs_srv_debugfs_dir, NULL, &rtrs_srv_latency_fops);
	rtrs_srv_fault_init(rtrs_srv_debugfs_dir);
}

/**
 * rtrs_srv_debugfs_exit() - remove them
 *
 * Context: module exit.
 */
void rtrs_srv_debugfs_exit(void)
{
	debugfs_remove_recursive(rtrs_srv_debugfs_dir);
}
