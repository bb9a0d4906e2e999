/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs: operations of an administrator that may take long, each in a kernel thread of its own (core/job.c).
 */
#ifndef _RDMA_RTRS_JOB_H
#define _RDMA_RTRS_JOB_H

#include <linux/compiler_attributes.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/types.h>
#include <linux/wait.h>

struct module;
struct rtrs_job;

/* A wait without a user who could kill it logs what it waits for: after 5 s, then every 10 s. */
#define RTRS_SLOW_FIRST_MS	5000
#define RTRS_SLOW_NEXT_MS	10000

/**
 * struct rtrs_job_work - what a job does
 * @owner: module that @run and @free are part of; it calls rtrs_jobs_end() before it goes
 * @run: does it; its waits are killable, which is how a job is cancelled
 * @free: frees @data when @run has returned
 * @data: argument of both, owned by the job from rtrs_job_create() on
 * @can_cancel: @run undoes what it has done when its wait is killed; else it is never cancelled
 */
struct rtrs_job_work {
	struct module *owner;
	int (*run)(void *data);
	void (*free)(void *data);
	void *data;
	bool can_cancel;
};

#define __rtrs_slowly(_wait, _tell, ...) do {						\
	unsigned long __start = jiffies, __timeout = msecs_to_jiffies(RTRS_SLOW_FIRST_MS);	\
											\
	while (!(_wait)) {								\
		_tell(jiffies_to_msecs(jiffies - __start) / MSEC_PER_SEC, ##__VA_ARGS__);	\
		__timeout = msecs_to_jiffies(RTRS_SLOW_NEXT_MS);				\
	}										\
} while (0)

/**
 * rtrs_wait_slowly() - wait for a condition without a limit, and log what is waited for
 * @wq: wait queue
 * @cond: condition
 * @tell: function that logs it, called with the seconds that have passed and the other arguments
 *
 * Context: process, sleeps.
 */
#define rtrs_wait_slowly(wq, cond, tell, ...)						\
	__rtrs_slowly(wait_event_timeout(wq, cond, __timeout), tell, ##__VA_ARGS__)

/**
 * rtrs_complete_slowly() - wait for a completion without a limit, and log what is waited for
 * @done: the completion
 * @tell: function that logs it, called with the seconds that have passed and the other arguments
 *
 * Context: process, sleeps.
 */
#define rtrs_complete_slowly(done, tell, ...)						\
	__rtrs_slowly(wait_for_completion_timeout(done, __timeout), tell, ##__VA_ARGS__)

__printf(2, 3)
struct rtrs_job *rtrs_job_create(const struct rtrs_job_work *work, const char *fmt, ...);
void rtrs_job_start(struct rtrs_job *job);
int rtrs_job_run(struct rtrs_job *job);
void rtrs_job_cancel(struct rtrs_job *job);
void rtrs_job_put(struct rtrs_job *job);
void rtrs_jobs_wait(const struct module *owner);
void rtrs_jobs_end(const struct module *owner);

#endif /* _RDMA_RTRS_JOB_H */
