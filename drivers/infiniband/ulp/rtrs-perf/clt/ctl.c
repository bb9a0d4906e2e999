// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/rtrs-perf-client/: open a session, run, read what came out.
 *
 * An open file has the module in use, so it cannot go while one is read or written.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "ctl.h"
#include "session.h"

/* Longest text that can be written. */
#define RTRS_PERF_CTL_BYTES	2048

static struct dentry *rtrs_perf_dir;

/* What was written, NUL terminated; for kfree(). */
static char *rtrs_perf_ctl_text(const char __user *buf, size_t count)
{
	if (count > RTRS_PERF_CTL_BYTES)
		return ERR_PTR(-E2BIG);
	return memdup_user_nul(buf, count);
}

static ssize_t rtrs_perf_ctl_take(const char __user *buf, size_t count, int (*take)(char *text))
{
	char *text = rtrs_perf_ctl_text(buf, count);
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = take(text);
	kfree(text);
	return ret ? ret : count;
}

static int rtrs_perf_session_show(struct seq_file *seq, void *unused)
{
	struct rtrs_perf_session_info info;
	int ret;

	ret = rtrs_perf_session_info(&info);
	if (!ret)
		seq_printf(seq, "sessname=%s max_io_size=%u queue_depth=%u max_segments=%u\n", info.name,
			   info.attrs.max_io_size, info.attrs.queue_depth, info.attrs.max_segments);
	return ret == -ENOTCONN ? 0 : ret;
}

static int rtrs_perf_session_open_file(struct inode *inode, struct file *filp)
{
	return single_open(filp, rtrs_perf_session_show, NULL);
}

static ssize_t rtrs_perf_session_write(struct file *filp, const char __user *buf, size_t count,
				       loff_t *ppos)
{
	return rtrs_perf_ctl_take(buf, count, rtrs_perf_session_open);
}

static const struct file_operations rtrs_perf_session_fops = {
	.owner = THIS_MODULE,
	.open = rtrs_perf_session_open_file,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = rtrs_perf_session_write,
	.release = single_release,
};

static int rtrs_perf_run_show(struct seq_file *seq, void *unused)
{
	struct rtrs_perf_run *run = rtrs_perf_session_run();
	bool active;
	u32 total;
	u64 done;

	if (IS_ERR(run))
		return PTR_ERR(run) == -ENODATA ? 0 : PTR_ERR(run);
	/* In this order: what has ended has done all that it will. */
	active = rtrs_perf_run_active(run);
	done = rtrs_perf_run_progress(run, &total);
	seq_printf(seq, "%s %llu of %u\n", active ? "running" : "ended", done, total);
	rtrs_perf_run_put(run);
	return 0;
}

static int rtrs_perf_run_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, rtrs_perf_run_show, NULL);
}

static ssize_t rtrs_perf_run_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	return rtrs_perf_ctl_take(buf, count, rtrs_perf_session_start);
}

static const struct file_operations rtrs_perf_run_fops = {
	.owner = THIS_MODULE,
	.open = rtrs_perf_run_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = rtrs_perf_run_write,
	.release = single_release,
};

/* Files that take a 1 and nothing else; @name is the file's. */
static int rtrs_perf_ctl_one(const char __user *buf, size_t count, const char *name)
{
	char *text = rtrs_perf_ctl_text(buf, count);
	int ret = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strcmp(strim(text), "1")) {
		pr_err("%s: \"%s\" is written: expected 1\n", name, strim(text));
		ret = -EINVAL;
	}
	kfree(text);
	return ret;
}

static ssize_t rtrs_perf_stop_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	int ret = rtrs_perf_ctl_one(buf, count, "stop");

	if (!ret)
		ret = rtrs_perf_session_stop();
	return ret ? ret : count;
}

static const struct file_operations rtrs_perf_stop_fops = {
	.owner = THIS_MODULE,
	.write = rtrs_perf_stop_write,
};

static ssize_t rtrs_perf_close_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	int ret = rtrs_perf_ctl_one(buf, count, "close");

	if (!ret)
		ret = rtrs_perf_session_close();
	return ret ? ret : count;
}

static const struct file_operations rtrs_perf_close_fops = {
	.owner = THIS_MODULE,
	.write = rtrs_perf_close_write,
};

static const char *rtrs_perf_result_state(const struct rtrs_perf_result *result)
{
	if (result->error)
		return "failed";
	return result->stopped ? "stopped" : "done";
}

static void rtrs_perf_result_print(struct seq_file *seq, const struct rtrs_perf_result *result,
				   const struct rtrs_perf_hist *hist)
{
	seq_printf(seq, "op=%s\nsize=%u\niterations=%u\ndepth=%u\ncpus=%*pbl\n",
		   result->op == RTRS_PERF_WRITE ? "write" : "read", result->size, result->iterations,
		   result->depth, cpumask_pr_args(result->cpus));
	seq_printf(seq, "state=%s\nerror=%d\ndone=%llu\nfailed=%llu\nlost=%u\nelapsed_ns=%llu\n",
		   rtrs_perf_result_state(result), result->error, hist->nr, result->failed,
		   rtrs_perf_session_lost(), result->elapsed_ns);
	seq_printf(seq, "min_ns=%llu\nmax_ns=%llu\nsum_ns=%llu\n", hist->min_ns, hist->max_ns,
		   hist->sum_ns);
}

static void rtrs_perf_histogram_print(struct seq_file *seq, const struct rtrs_perf_result *result,
				      const struct rtrs_perf_hist *hist)
{
	u32 i;

	for (i = 0; i < RTRS_PERF_HIST_BUCKETS; i++)
		if (hist->count[i])
			seq_printf(seq, "%llu %llu %llu\n", rtrs_perf_hist_from(i),
				   rtrs_perf_hist_from(i + 1), hist->count[i]);
}

/* Wait for the end of the run, and print. */
static int rtrs_perf_ctl_show(struct seq_file *seq,
			      void (*print)(struct seq_file *seq, const struct rtrs_perf_result *result,
					    const struct rtrs_perf_hist *hist))
{
	struct rtrs_perf_run *run = rtrs_perf_session_run();
	struct rtrs_perf_result result;
	struct rtrs_perf_hist *hist;
	int ret;

	if (IS_ERR(run))
		return PTR_ERR(run);
	hist = kvzalloc(sizeof(*hist), GFP_KERNEL);
	ret = hist ? rtrs_perf_run_wait(run) : -ENOMEM;
	if (!ret) {
		rtrs_perf_run_result(run, &result, hist);
		print(seq, &result, hist);
	}
	kvfree(hist);
	rtrs_perf_run_put(run);
	return ret;
}

static int rtrs_perf_result_show(struct seq_file *seq, void *unused)
{
	return rtrs_perf_ctl_show(seq, rtrs_perf_result_print);
}

static int rtrs_perf_result_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, rtrs_perf_result_show, NULL);
}

static const struct file_operations rtrs_perf_result_fops = {
	.owner = THIS_MODULE,
	.open = rtrs_perf_result_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int rtrs_perf_histogram_show(struct seq_file *seq, void *unused)
{
	return rtrs_perf_ctl_show(seq, rtrs_perf_histogram_print);
}

static int rtrs_perf_histogram_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, rtrs_perf_histogram_show, NULL);
}

static const struct file_operations rtrs_perf_histogram_fops = {
	.owner = THIS_MODULE,
	.open = rtrs_perf_histogram_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * rtrs_perf_ctl_create() - make the files
 *
 * Without debugfs nothing happens, and nothing can be measured.
 *
 * Context: module init.
 */
void rtrs_perf_ctl_create(void)
{
	rtrs_perf_dir = debugfs_create_dir("rtrs-perf-client", NULL);
	debugfs_create_file("session", 0600, rtrs_perf_dir, NULL, &rtrs_perf_session_fops);
	debugfs_create_file("close", 0200, rtrs_perf_dir, NULL, &rtrs_perf_close_fops);
	debugfs_create_file("run", 0600, rtrs_perf_dir, NULL, &rtrs_perf_run_fops);
	debugfs_create_file("stop", 0200, rtrs_perf_dir, NULL, &rtrs_perf_stop_fops);
	debugfs_create_file("result", 0400, rtrs_perf_dir, NULL, &rtrs_perf_result_fops);
	debugfs_create_file("histogram", 0400, rtrs_perf_dir, NULL, &rtrs_perf_histogram_fops);
}

/**
 * rtrs_perf_ctl_remove() - remove them
 *
 * Context: module exit.
 */
void rtrs_perf_ctl_remove(void)
{
	debugfs_remove(rtrs_perf_dir);
}
