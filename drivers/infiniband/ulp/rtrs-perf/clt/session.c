// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session that is measured: one at a time, so that nothing else disturbs it.
 *
 * Ordering
 *	To close it while a run is on: no new request, a grace period, close the transport's session, which
 *	ends those in flight, and only then wait for the threads.
 *
 * Errors
 *	What is wrong with a text is told once in the kernel log, with key, value and what is allowed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "session.h"

/* A path that was lost is tried again that often at least, in seconds, and for ever. */
#define RTRS_PERF_RECONNECT_DELAY_S	1
#define RTRS_PERF_RECONNECT_ATTEMPTS	-1

/**
 * struct rtrs_perf_session - the session
 * @lock: guards all but @lost
 * @rtrs: the transport's, NULL if none is open
 * @info: its name, and what it can do
 * @run: the last run, active or ended, NULL if there was none; with a reference
 * @lost: how often its last path was lost
 */
struct rtrs_perf_session {
	struct mutex lock;
	struct rtrs_clt_sess *rtrs;
	struct rtrs_perf_session_info info;
	struct rtrs_perf_run *run;
	atomic_t lost;
};

static struct rtrs_perf_session rtrs_perf_session = {
	.lock = __MUTEX_INITIALIZER(rtrs_perf_session.lock),
};

/**
 * struct rtrs_perf_open - one write to the file session
 * @opts: what it says
 * @error: what is wrong with it
 * @paths: its addresses
 * @addrs: what @paths point to, source and destination of each
 */
struct rtrs_perf_open {
	struct rtrs_perf_session_opts opts;
	struct rtrs_perf_error error;
	struct rtrs_addr paths[RTRS_PERF_MAX_PATHS];
	struct sockaddr_storage addrs[RTRS_PERF_MAX_PATHS][2];
};

static void rtrs_perf_session_link_ev(void *priv, enum rtrs_clt_link_ev ev)
{
	if (ev == RTRS_CLT_LINK_EV_DISCONNECTED)
		atomic_inc(&rtrs_perf_session.lost);
}

static int rtrs_perf_open_path(struct rtrs_perf_open *open, unsigned int i)
{
	const char *text = open->opts.paths[i];
	int ret;

	open->paths[i].src = &open->addrs[i][0];
	open->paths[i].dst = &open->addrs[i][1];
	ret = rtrs_addr_to_sockaddr(text, strlen(text), open->opts.dest_port, &open->paths[i]);
	if (ret)
		pr_err("session: path=\"%s\": expected [<src>,]<dst>, each ip:<IPv4 or IPv6 address> or gid:<GID>\n",
		       text);
	return ret;
}

static int rtrs_perf_open_parse(struct rtrs_perf_open *open, char *text)
{
	unsigned int i;
	int ret;

	ret = rtrs_perf_session_parse(text, &open->opts, &open->error);
	if (ret && open->error.value)
		pr_err("session: %s=\"%s\": expected %s\n", open->error.key, open->error.value,
		       open->error.expected);
	else if (ret)
		pr_err("session: %s: expected %s\n", open->error.key, open->error.expected);
	for (i = 0; !ret && i < open->opts.nr_paths; i++)
		ret = rtrs_perf_open_path(open, i);
	return ret;
}

static int rtrs_perf_open_connect(struct rtrs_perf_open *open)
{
	struct rtrs_clt_ops ops = { .link_ev = rtrs_perf_session_link_ev };
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	const char *name = open->opts.sessname;
	struct rtrs_clt_sess *rtrs;
	int ret;

	lockdep_assert_held(&sess->lock);
	rtrs = rtrs_clt_open(&ops, name, open->paths, open->opts.nr_paths, open->opts.dest_port, 0,
			     RTRS_PERF_RECONNECT_DELAY_S, RTRS_PERF_RECONNECT_ATTEMPTS, 0);
	ret = PTR_ERR_OR_ZERO(rtrs);
	if (!ret) {
		ret = rtrs_clt_query(rtrs, &sess->info.attrs);
		if (ret)
			rtrs_clt_close(rtrs);
	}
	if (ret) {
		pr_err("session: sessname=\"%s\": cannot connect: %pe\n", name, ERR_PTR(ret));
		return ret;
	}
	strscpy(sess->info.name, name, sizeof(sess->info.name));
	sess->rtrs = rtrs;
	return 0;
}

/**
 * rtrs_perf_session_open() - connect
 * @text: as written to the file session; words are cut apart in it
 *
 * Context: may sleep, for as long as connecting takes.
 * Return: 0; -EBUSY one is open; -EINVAL or -EPROTONOSUPPORT for the text; -EINTR; -ENOMEM; errno of the
 * transport.
 */
int rtrs_perf_session_open(char *text)
{
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	struct rtrs_perf_open *open;
	int ret;

	open = kzalloc(sizeof(*open), GFP_KERNEL);
	if (!open)
		return -ENOMEM;
	ret = rtrs_perf_open_parse(open, text);
	if (!ret)
		ret = mutex_lock_interruptible(&sess->lock);
	if (!ret) {
		if (sess->rtrs) {
			pr_err("session: %s is open, and has to be closed first\n", sess->info.name);
			ret = -EBUSY;
		} else {
			ret = rtrs_perf_open_connect(open);
		}
		mutex_unlock(&sess->lock);
	}
	kfree(open);
	return ret;
}

/**
 * rtrs_perf_session_close() - end the run, if one is on, and disconnect
 *
 * What was measured is forgotten.
 *
 * Context: may sleep.
 * Return: 0; -ENOTCONN: there was nothing to close; -EINTR.
 */
int rtrs_perf_session_close(void)
{
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	int ret;

	ret = mutex_lock_interruptible(&sess->lock);
	if (ret)
		return ret;
	if (!sess->rtrs) {
		ret = -ENOTCONN;
		goto out_unlock;
	}
	if (sess->run) {
		rtrs_perf_run_stop(sess->run);
		/* PAIRS: rcu_read_lock() of who sends; a request in flight still has its permit. */
		synchronize_rcu();
	}
	rtrs_clt_close(sess->rtrs);
	sess->rtrs = NULL;
	if (sess->run) {
		rtrs_perf_run_join(sess->run);
		rtrs_perf_run_put(sess->run);
		sess->run = NULL;
	}
out_unlock:
	mutex_unlock(&sess->lock);
	return ret;
}

/**
 * rtrs_perf_session_info() - name of the session, and what it can do
 * @info: result
 *
 * Context: may sleep.
 * Return: 0; -ENOTCONN: none is open; -EINTR.
 */
int rtrs_perf_session_info(struct rtrs_perf_session_info *info)
{
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	int ret;

	ret = mutex_lock_interruptible(&sess->lock);
	if (ret)
		return ret;
	if (sess->rtrs)
		*info = sess->info;
	else
		ret = -ENOTCONN;
	mutex_unlock(&sess->lock);
	return ret;
}

/* The CPUs of a list; all of them have to be online, and few enough for what is in flight. */
static int rtrs_perf_session_cpus(const struct rtrs_perf_run_opts *opts, struct cpumask *cpus)
{
	u32 depth = rtrs_perf_session.info.attrs.queue_depth;

	if (cpulist_parse(opts->cpus, cpus) || cpumask_empty(cpus) ||
	    !cpumask_subset(cpus, cpu_online_mask)) {
		pr_err("run: cpus=\"%s\": expected a list of CPUs that are online, which are %*pbl\n",
		       opts->cpus, cpumask_pr_args(cpu_online_mask));
		return -EINVAL;
	}
	if (cpumask_weight(cpus) > depth / opts->depth) {
		pr_err("run: depth=%u: expected at most %u in flight on %u CPUs, together the queue depth of the session, %u\n",
		       opts->depth, depth / cpumask_weight(cpus), cpumask_weight(cpus), depth);
		return -EINVAL;
	}
	return 0;
}

static int rtrs_perf_session_parse_run(char *text, struct rtrs_perf_run_opts *opts)
{
	const struct rtrs_attrs *attrs = &rtrs_perf_session.info.attrs;
	struct rtrs_perf_limits limits = {
		.size = min_t(u64, attrs->max_io_size, (u64)attrs->max_segments * PAGE_SIZE),
		.depth = attrs->queue_depth,
	};
	struct rtrs_perf_error error;
	int ret;

	ret = rtrs_perf_run_parse(text, &limits, opts, &error);
	if (ret && error.value)
		pr_err("run: %s=\"%s\": expected %s\n", error.key, error.value, error.expected);
	else if (ret)
		pr_err("run: %s: expected %s\n", error.key, error.expected);
	return ret;
}

static int rtrs_perf_session_start_locked(char *text, struct cpumask *cpus)
{
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	struct rtrs_perf_run_opts opts;
	struct rtrs_perf_run *run;
	int ret;

	lockdep_assert_held(&sess->lock);
	if (!sess->rtrs) {
		pr_err("run: no session is open\n");
		return -ENOTCONN;
	}
	if (sess->run && rtrs_perf_run_active(sess->run)) {
		pr_err("run: one is on, and has to end first\n");
		return -EBUSY;
	}
	ret = rtrs_perf_session_parse_run(text, &opts);
	if (!ret)
		ret = rtrs_perf_session_cpus(&opts, cpus);
	if (ret)
		return ret;
	if (sess->run) {
		rtrs_perf_run_join(sess->run);
		rtrs_perf_run_put(sess->run);
	}
	atomic_set(&sess->lost, 0);
	run = rtrs_perf_run_start(sess->rtrs, &opts, cpus);
	sess->run = IS_ERR(run) ? NULL : run;
	if (IS_ERR(run))
		pr_err("run: cannot set up %u requests of %u bytes on %u CPUs: %pe\n", opts.depth, opts.size,
		       cpumask_weight(cpus), run);
	return PTR_ERR_OR_ZERO(run);
}

/**
 * rtrs_perf_session_start() - begin a run
 * @text: as written to the file run; words are cut apart in it
 *
 * What the last run has measured is forgotten.
 *
 * Context: may sleep.
 * Return: 0; -ENOTCONN no session is open; -EBUSY a run is on; -EINVAL for the text; -EINTR; -ENOMEM.
 */
int rtrs_perf_session_start(char *text)
{
	cpumask_var_t cpus;
	int ret;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	ret = mutex_lock_interruptible(&rtrs_perf_session.lock);
	if (!ret) {
		ret = rtrs_perf_session_start_locked(text, cpus);
		mutex_unlock(&rtrs_perf_session.lock);
	}
	free_cpumask_var(cpus);
	return ret;
}

/**
 * rtrs_perf_session_run() - the last run
 *
 * Context: may sleep.
 * Return: the run, active or ended, for rtrs_perf_run_put(); or ERR_PTR: -ENODATA there was none; -EINTR.
 */
struct rtrs_perf_run *rtrs_perf_session_run(void)
{
	struct rtrs_perf_session *sess = &rtrs_perf_session;
	struct rtrs_perf_run *run = ERR_PTR(-ENODATA);
	int ret;

	ret = mutex_lock_interruptible(&sess->lock);
	if (ret)
		return ERR_PTR(ret);
	if (sess->run) {
		run = sess->run;
		rtrs_perf_run_get(run);
	}
	mutex_unlock(&sess->lock);
	return run;
}

/**
 * rtrs_perf_session_stop() - end the run early
 *
 * What it has measured by then is its result.
 *
 * Context: may sleep.
 * Return: 0; -ENODATA: there is none; -EINTR.
 */
int rtrs_perf_session_stop(void)
{
	struct rtrs_perf_run *run = rtrs_perf_session_run();

	if (IS_ERR(run))
		return PTR_ERR(run);
	rtrs_perf_run_stop(run);
	rtrs_perf_run_put(run);
	return 0;
}

/**
 * rtrs_perf_session_lost() - how often all paths were lost since the last run began
 *
 * Context: any.
 * Return: how often.
 */
u32 rtrs_perf_session_lost(void)
{
	return atomic_read(&rtrs_perf_session.lost);
}
