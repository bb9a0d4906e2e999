// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: operations of an administrator that may take long, each in a kernel thread of its own.
 *
 * Operation: connecting, or removing a device, may wait for a server or for I/O.  The process
 * that asks for it must remain killable, and must not keep locks of its interface (those of
 * generic netlink) meanwhile.  So a thread runs the operation, and the process waits for the
 * thread, or does not.  To cancel a job sends SIGKILL to its thread: its killable waits end, and
 * the operation undoes what it has done, as if the thread were the process.
 *
 * Ownership: a job has the data of its work until @free.  Its own memory is freed with the last
 * reference, of the thread and of the creator.  A job does not hold its module: the module's exit
 * cancels its jobs and waits for them.  A job is on the list as long as code of that module may
 * run, and its thread is counted until it has left this module.
 *
 * A thread for each job, not a work: workers take no signals, and a queue has a limit that jobs
 * which wait for one server would use up for the others.  Jobs are limited in number instead.
 */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <rdma/rtrs-job.h>

#include "../verbs/fault.h"
#include "job.h"

/* Jobs of all modules at one time. */
#define RTRS_MAX_JOBS		1024

/* "unmap rnbd0 (<name on the server>) of session <name>", the names as far as there is room. */
#define RTRS_JOB_NAME_LEN	128

/**
 * struct rtrs_job - one operation
 * @entry: in rtrs_jobs.list (J)
 * @work: what it does (I)
 * @task: its thread, with a reference (I)
 * @cancelled: it was cancelled, perhaps before the thread could take a signal (set once)
 * @ref: memory: the creator's and the thread's
 * @done: completed when @result is there
 * @result: what the operation returned (valid after @done)
 * @name: for messages (I)
 *
 * J: rtrs_jobs.lock. I: set before the thread runs, constant afterwards.
 */
struct rtrs_job {
	struct list_head entry;
	struct rtrs_job_work work;
	struct task_struct *task;
	bool cancelled;
	refcount_t ref;
	struct completion done;
	int result;
	char name[RTRS_JOB_NAME_LEN];
};

/**
 * struct rtrs_jobs - all jobs
 * @lock: guards @list and @nr_threads
 * @list: jobs by rtrs_job.entry
 * @nr_threads: threads created and not known to have exited
 * @exited: counts threads that have exited, which is noticed later
 * @wait: woken when a job has left the list
 */
struct rtrs_jobs {
	spinlock_t lock;
	struct list_head list;
	unsigned int nr_threads;
	struct completion exited;
	wait_queue_head_t wait;
};

static struct rtrs_jobs rtrs_jobs = {
	.lock	= __SPIN_LOCK_UNLOCKED(rtrs_jobs.lock),
	.list	= LIST_HEAD_INIT(rtrs_jobs.list),
	.exited = COMPLETION_INITIALIZER(rtrs_jobs.exited),
	.wait	= __WAIT_QUEUE_HEAD_INITIALIZER(rtrs_jobs.wait),
};

static bool rtrs_jobs_reserve(void)
{
	bool ret;

	spin_lock(&rtrs_jobs.lock);
	while (rtrs_jobs.nr_threads && try_wait_for_completion(&rtrs_jobs.exited))
		rtrs_jobs.nr_threads--;
	ret = rtrs_jobs.nr_threads < RTRS_MAX_JOBS;
	rtrs_jobs.nr_threads += ret;
	spin_unlock(&rtrs_jobs.lock);
	return ret;
}

static void rtrs_jobs_unreserve(void)
{
	spin_lock(&rtrs_jobs.lock);
	rtrs_jobs.nr_threads--;
	spin_unlock(&rtrs_jobs.lock);
}

static int rtrs_job_thread(void *data)
{
	struct rtrs_job *job = data;

	allow_signal(SIGKILL);
	/* PAIRS: rtrs_job_cancel() sets it before it sends the signal, lost if that was too early. */
	if (READ_ONCE(job->cancelled))
		send_sig(SIGKILL, current, 1);
	job->result = job->work.run(job->work.data);
	job->work.free(job->work.data);
	complete_all(&job->done);
	scoped_guard(spinlock, &rtrs_jobs.lock)
		list_del(&job->entry);
	rtrs_job_put(job);
	wake_up_all(&rtrs_jobs.wait);
	/* Beyond this the thread runs no code of a module. */
	kthread_complete_and_exit(&rtrs_jobs.exited, 0);
}

/**
 * rtrs_job_create() - prepare a job
 * @work: what it does, copied
 * @fmt: name of the job for messages, format as of printk()
 *
 * Context: process, may sleep; the owner is not being unloaded.
 * Return: the job, to be started by rtrs_job_start() or rtrs_job_run(); or ERR_PTR, with the data
 * still the caller's: -EBUSY there are too many, -ENOMEM, -EINTR the caller was killed.
 */
struct rtrs_job *rtrs_job_create(const struct rtrs_job_work *work, const char *fmt, ...)
{
	struct rtrs_job *job;
	va_list args;
	int ret;

	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return ERR_PTR(-ENOMEM);
	job->work = *work;
	init_completion(&job->done);
	refcount_set(&job->ref, 2);
	va_start(args, fmt);
	vscnprintf(job->name, sizeof(job->name), fmt, args);
	va_end(args);
	if (!rtrs_jobs_reserve()) {
		pr_warn_ratelimited("%s: refused, %u operations are in progress\n", job->name,
				    RTRS_MAX_JOBS);
		ret = -EBUSY;
		goto err_free;
	}
	job->task = fault_here(job_create) ? ERR_PTR(-ENOMEM) :
		    kthread_create(rtrs_job_thread, job, "rtrs-%s", job->name);
	if (IS_ERR(job->task)) {
		ret = PTR_ERR(job->task);
		goto err_unreserve;
	}
	get_task_struct(job->task);
	scoped_guard(spinlock, &rtrs_jobs.lock)
		list_add_tail(&job->entry, &rtrs_jobs.list);
	return job;

err_unreserve:
	rtrs_jobs_unreserve();
err_free:
	kfree(job);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(rtrs_job_create);

/**
 * rtrs_job_start() - start a job
 * @job: job that was not started yet
 *
 * Context: any.
 */
void rtrs_job_start(struct rtrs_job *job)
{
	wake_up_process(job->task);
}
EXPORT_SYMBOL(rtrs_job_start);

/**
 * rtrs_job_run() - start a job, wait for it, put it
 * @job: job that was not started yet
 *
 * If the caller is killed it waits no longer: the job is cancelled if it can be, else it goes on.
 *
 * Context: process, sleeps.
 * Return: what the operation returned, or -EINTR if the caller was killed.
 */
int rtrs_job_run(struct rtrs_job *job)
{
	int ret;

	rtrs_job_start(job);
	if (wait_for_completion_killable(&job->done)) {
		rtrs_job_cancel(job);
		ret = -EINTR;
	} else {
		ret = job->result;
	}
	rtrs_job_put(job);
	return ret;
}
EXPORT_SYMBOL(rtrs_job_run);

/**
 * rtrs_job_cancel() - have a job undo what it has done
 * @job: job that the caller has a reference of
 *
 * Nothing happens if it cannot be cancelled or has ended.
 *
 * Context: process.
 */
void rtrs_job_cancel(struct rtrs_job *job)
{
	if (!job->work.can_cancel)
		return;
	WRITE_ONCE(job->cancelled, true);
	send_sig(SIGKILL, job->task, 1);
}
EXPORT_SYMBOL(rtrs_job_cancel);

/**
 * rtrs_job_put() - give up a reference
 * @job: the job
 *
 * Context: process.
 */
void rtrs_job_put(struct rtrs_job *job)
{
	if (!refcount_dec_and_test(&job->ref))
		return;
	put_task_struct(job->task);
	kfree(job);
}
EXPORT_SYMBOL(rtrs_job_put);

static bool rtrs_jobs_ended(const struct module *owner)
{
	struct rtrs_job *job;
	bool ended = true;

	spin_lock(&rtrs_jobs.lock);
	list_for_each_entry(job, &rtrs_jobs.list, entry)
		ended &= job->work.owner != owner;
	spin_unlock(&rtrs_jobs.lock);
	return ended;
}

static void rtrs_jobs_tell(unsigned int seconds, const struct module *owner)
{
	struct rtrs_job *job;

	spin_lock(&rtrs_jobs.lock);
	list_for_each_entry(job, &rtrs_jobs.list, entry)
		if (job->work.owner == owner)
			pr_warn("unloading %s waits for \"%s\", %u s so far\n",
				module_name((struct module *)owner), job->name, seconds);
	spin_unlock(&rtrs_jobs.lock);
}

/**
 * rtrs_jobs_wait() - wait for all jobs of a module
 * @owner: the module, whose exit runs; it starts no more jobs meanwhile
 *
 * Logs what it waits for if that takes long.
 *
 * Context: process, sleeps.
 */
void rtrs_jobs_wait(const struct module *owner)
{
	rtrs_wait_slowly(rtrs_jobs.wait, rtrs_jobs_ended(owner), rtrs_jobs_tell, owner);
}
EXPORT_SYMBOL(rtrs_jobs_wait);

/**
 * rtrs_jobs_end() - cancel all jobs of a module and wait for them
 * @owner: the module, whose exit runs; nobody starts more jobs of it
 *
 * Context: process, sleeps.
 */
void rtrs_jobs_end(const struct module *owner)
{
	struct rtrs_job *job;

	scoped_guard(spinlock, &rtrs_jobs.lock)
		list_for_each_entry(job, &rtrs_jobs.list, entry)
			if (job->work.owner == owner)
				rtrs_job_cancel(job);
	rtrs_jobs_wait(owner);
}
EXPORT_SYMBOL(rtrs_jobs_end);

/**
 * rtrs_jobs_exit() - wait until the threads of all jobs have left this module
 *
 * Context: module exit, no module is left that has jobs.
 */
void rtrs_jobs_exit(void)
{
	while (rtrs_jobs.nr_threads--)
		wait_for_completion(&rtrs_jobs.exited);
}
