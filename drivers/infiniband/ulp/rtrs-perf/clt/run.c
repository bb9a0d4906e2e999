// SPDX-License-Identifier: GPL-2.0-only
/*
 * A measurement.
 *
 * Operation
 *	A thread for each CPU sends requests until as many are in flight as were asked for, then one more
 *	for each that is completed.  All memory, for data and for latencies, is there before the first
 *	request.  A request's latency is the time from just before rtrs_clt_request() until its callback.
 *	What a path loses RTRS sends over another one: that takes longer, and is no failure.  A request that
 *	fails ends the run.
 *
 * Ordering
 *	A request is sent under rcu_read_lock(), with @stop looked at inside.  So nobody uses the session
 *	any more a grace period after it was set, but for the answers to what is in flight, and it can be
 *	closed then: that ends these.
 *
 * Ownership
 *	A worker's members are its thread's, but @done, that callbacks add to under the lock of @wait; a
 *	callback touches nothing after it has let go of that.  Whoever started the run joins its threads and
 *	puts it; who only reads its result has a reference of his own.
 */
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "run.h"

struct rtrs_perf_worker;

/**
 * struct rtrs_perf_req - a request, sent again and again
 * @entry: in its worker's list of those that are free, or completed
 * @worker: whose it is
 * @permit: the right to a slot while it is in flight
 * @sg: its data
 * @nr_sg: how many entries that has
 * @start_ns: when it was sent
 * @end_ns: when its callback came
 * @error: what that said
 */
struct rtrs_perf_req {
	struct list_head entry;
	struct rtrs_perf_worker *worker;
	struct rtrs_permit *permit;
	struct scatterlist *sg;
	unsigned int nr_sg;
	u64 start_ns;
	u64 end_ns;
	int error;
};

/**
 * struct rtrs_perf_worker - a thread and its requests
 * @run: the run
 * @task: the thread, NULL if there is none yet
 * @reqs: requests, as many as may be in flight
 * @nr_reqs: how many are set up
 * @free: those that are not in flight
 * @todo: how many are still to be sent
 * @in_flight: how many are
 * @failed: how many have failed
 * @end_ns: when the last one was completed
 * @hist: latencies of the others
 * @wait: the thread, for completions
 * @done: requests that are completed, guarded by the lock of @wait
 */
struct rtrs_perf_worker {
	struct rtrs_perf_run *run;
	struct task_struct *task;
	struct rtrs_perf_req *reqs;
	u32 nr_reqs;
	struct list_head free;
	u32 todo;
	u32 in_flight;
	u32 failed;
	u64 end_ns;
	struct rtrs_perf_hist *hist;
	wait_queue_head_t wait;
	struct list_head done;
};

/**
 * struct rtrs_perf_run - a measurement
 * @ref: one for who started it, one for each reader
 * @sess: session; not used any more after rtrs_perf_run_join()
 * @op: what its requests do
 * @size: bytes of data of each
 * @iterations: how many requests in all
 * @depth: how many in flight for each worker
 * @cpus: CPUs, one for each worker
 * @msg: user message of every request
 * @stop: no more requests
 * @error: errno of the first that failed
 * @running: workers that have not ended
 * @ended: woken when none is running any more
 * @start_ns: when it began
 * @nr_workers: how many @workers
 * @workers: threads and their requests
 */
struct rtrs_perf_run {
	struct kref ref;
	struct rtrs_clt_sess *sess;
	enum rtrs_perf_op op;
	u32 size;
	u32 iterations;
	u32 depth;
	struct cpumask cpus;
	struct rtrs_perf_msg msg;
	bool stop;
	int error;
	atomic_t running;
	wait_queue_head_t ended;
	u64 start_ns;
	unsigned int nr_workers;
	struct rtrs_perf_worker workers[];
};

/* May be called before rtrs_clt_request() returns, and on another CPU. */
static void rtrs_perf_req_done(void *priv, int errno)
{
	struct rtrs_perf_req *req = priv;
	struct rtrs_perf_worker *worker = req->worker;
	unsigned long flags;

	req->end_ns = ktime_get_ns();
	req->error = errno;
	spin_lock_irqsave(&worker->wait.lock, flags);
	list_add_tail(&req->entry, &worker->done);
	wake_up_locked(&worker->wait);
	spin_unlock_irqrestore(&worker->wait.lock, flags);
}

static int rtrs_perf_req_send(struct rtrs_perf_req *req)
{
	struct rtrs_clt_req_ops ops = { .priv = req, .conf_fn = rtrs_perf_req_done };
	struct rtrs_perf_run *run = req->worker->run;
	struct kvec msg = { .iov_base = &run->msg, .iov_len = sizeof(run->msg) };
	int ret;

	req->permit = rtrs_clt_get_permit(run->sess, RTRS_IO_CON, RTRS_PERMIT_NOWAIT);
	if (!req->permit)
		return -EAGAIN;
	req->start_ns = ktime_get_ns();
	ret = rtrs_clt_request(run->op == RTRS_PERF_WRITE ? WRITE : READ, &ops, run->sess, req->permit,
			       &msg, 1, run->size, req->sg, req->nr_sg);
	if (ret)
		rtrs_clt_put_permit(run->sess, req->permit);
	return ret;
}

static void rtrs_perf_worker_fail(struct rtrs_perf_worker *worker, int error)
{
	worker->failed++;
	cmpxchg(&worker->run->error, 0, error);
	WRITE_ONCE(worker->run->stop, true);
}

static bool rtrs_perf_worker_may_send(struct rtrs_perf_worker *worker)
{
	return worker->todo && !READ_ONCE(worker->run->stop);
}

/* Return: 0, or why not: -EAGAIN not now, -ECANCELED not any more, or an error of the request. */
static int rtrs_perf_worker_send(struct rtrs_perf_worker *worker)
{
	struct rtrs_perf_req *req = list_first_entry(&worker->free, struct rtrs_perf_req, entry);
	int ret = -ECANCELED;

	list_del(&req->entry);
	rcu_read_lock();
	if (!READ_ONCE(worker->run->stop))
		ret = rtrs_perf_req_send(req);
	rcu_read_unlock();
	if (ret) {
		list_add(&req->entry, &worker->free);
		return ret;
	}
	worker->todo--;
	worker->in_flight++;
	return 0;
}

static void rtrs_perf_worker_fill(struct rtrs_perf_worker *worker)
{
	int ret = 0;

	while (!ret && rtrs_perf_worker_may_send(worker) && !list_empty(&worker->free))
		ret = rtrs_perf_worker_send(worker);
	if (ret && ret != -EAGAIN && ret != -ECANCELED)
		rtrs_perf_worker_fail(worker, ret);
	/* The send queue is full of what is not ours. */
	if (ret == -EAGAIN && !worker->in_flight)
		schedule_timeout_idle(1);
}

/* Wait for at least one completion, and count all that there are. */
static void rtrs_perf_worker_reap(struct rtrs_perf_worker *worker)
{
	struct rtrs_perf_req *req, *next;
	LIST_HEAD(done);

	/* A thread gets no signals; one that is not interruptible would count as hung without a path. */
	spin_lock_irq(&worker->wait.lock);
	wait_event_interruptible_locked_irq(worker->wait, !list_empty(&worker->done));
	list_splice_init(&worker->done, &done);
	spin_unlock_irq(&worker->wait.lock);

	list_for_each_entry_safe(req, next, &done, entry) {
		rtrs_clt_put_permit(worker->run->sess, req->permit);
		worker->end_ns = req->end_ns;
		worker->in_flight--;
		list_move(&req->entry, &worker->free);
		if (req->error)
			rtrs_perf_worker_fail(worker, req->error);
		else
			rtrs_perf_hist_add(worker->hist, req->end_ns - req->start_ns);
	}
}

static int rtrs_perf_worker_main(void *data)
{
	struct rtrs_perf_worker *worker = data;
	struct rtrs_perf_run *run = worker->run;

	while (worker->in_flight || rtrs_perf_worker_may_send(worker)) {
		rtrs_perf_worker_fill(worker);
		if (worker->in_flight)
			rtrs_perf_worker_reap(worker);
		cond_resched();
	}
	/* PAIRS: rtrs_perf_run_active(); who sees 0 sees what all have counted. */
	if (atomic_dec_and_test(&run->running))
		wake_up_all(&run->ended);
	return 0;
}

static int rtrs_perf_req_init(struct rtrs_perf_req *req, struct rtrs_perf_worker *worker, int node)
{
	u32 left = worker->run->size, len;
	struct page *page;

	req->worker = worker;
	req->nr_sg = 0;
	req->sg = kvcalloc(DIV_ROUND_UP(left, PAGE_SIZE), sizeof(*req->sg), GFP_KERNEL);
	if (!req->sg)
		return -ENOMEM;
	sg_init_table(req->sg, DIV_ROUND_UP(left, PAGE_SIZE));
	for (; left; left -= len) {
		page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
		if (!page)
			return -ENOMEM;
		len = min_t(u32, left, PAGE_SIZE);
		sg_set_page(&req->sg[req->nr_sg++], page, len, 0);
	}
	list_add_tail(&req->entry, &worker->free);
	return 0;
}

static void rtrs_perf_req_exit(struct rtrs_perf_req *req)
{
	while (req->nr_sg)
		__free_page(sg_page(&req->sg[--req->nr_sg]));
	kvfree(req->sg);
}

/* What it has allocated when it fails rtrs_perf_worker_exit() frees. */
static int rtrs_perf_worker_init(struct rtrs_perf_worker *worker, struct rtrs_perf_run *run, int cpu,
				 u32 todo)
{
	u32 nr = min(run->depth, todo);
	struct task_struct *task;
	int ret;

	worker->run = run;
	worker->todo = todo;
	INIT_LIST_HEAD(&worker->free);
	INIT_LIST_HEAD(&worker->done);
	init_waitqueue_head(&worker->wait);
	worker->hist = kvzalloc(sizeof(*worker->hist), GFP_KERNEL);
	worker->reqs = kvcalloc(nr, sizeof(*worker->reqs), GFP_KERNEL);
	if (!worker->hist || (nr && !worker->reqs))
		return -ENOMEM;
	while (worker->nr_reqs < nr) {
		/* Even if only half of it is there, it is freed. */
		ret = rtrs_perf_req_init(&worker->reqs[worker->nr_reqs++], worker, cpu_to_node(cpu));
		if (ret)
			return ret;
		cond_resched();
	}
	task = kthread_create_on_node(rtrs_perf_worker_main, worker, cpu_to_node(cpu), "rtrs_perf/%d", cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	worker->task = get_task_struct(task);
	return 0;
}

/* Its thread has ended, or was never woken. */
static void rtrs_perf_worker_join(struct rtrs_perf_worker *worker)
{
	if (!worker->task)
		return;
	kthread_stop(worker->task);
	put_task_struct(worker->task);
	worker->task = NULL;
}

static void rtrs_perf_worker_exit(struct rtrs_perf_worker *worker)
{
	while (worker->nr_reqs)
		rtrs_perf_req_exit(&worker->reqs[--worker->nr_reqs]);
	kvfree(worker->reqs);
	kvfree(worker->hist);
}

static void rtrs_perf_run_free(struct kref *ref)
{
	struct rtrs_perf_run *run = container_of(ref, struct rtrs_perf_run, ref);
	unsigned int i;

	for (i = 0; i < run->nr_workers; i++)
		rtrs_perf_worker_exit(&run->workers[i]);
	kvfree(run);
}

static int rtrs_perf_run_init(struct rtrs_perf_run *run)
{
	unsigned int i = 0;
	int cpu, ret;

	for_each_cpu(cpu, &run->cpus) {
		ret = rtrs_perf_worker_init(&run->workers[i], run, cpu,
					    run->iterations / run->nr_workers +
					    (i < run->iterations % run->nr_workers));
		if (ret)
			return ret;
		i++;
	}
	return 0;
}

/**
 * rtrs_perf_run_start() - begin to measure
 * @sess: open session; until rtrs_perf_run_join() it stays that
 * @opts: what to measure; what is in flight on all CPUs fits the session
 * @cpus: CPUs, at least one
 *
 * Context: may sleep.
 * Return: the run, for rtrs_perf_run_join() and then rtrs_perf_run_put(); or ERR_PTR: -ENOMEM, or why there
 * is no thread.
 */
struct rtrs_perf_run *rtrs_perf_run_start(struct rtrs_clt_sess *sess,
					  const struct rtrs_perf_run_opts *opts,
					  const struct cpumask *cpus)
{
	unsigned int i, nr_workers = cpumask_weight(cpus);
	struct rtrs_perf_run *run;
	int ret;

	run = kvzalloc(struct_size(run, workers, nr_workers), GFP_KERNEL);
	if (!run)
		return ERR_PTR(-ENOMEM);
	kref_init(&run->ref);
	run->sess = sess;
	run->op = opts->op;
	run->size = opts->size;
	run->iterations = opts->iterations;
	run->depth = opts->depth;
	cpumask_copy(&run->cpus, cpus);
	rtrs_perf_msg_put(&run->msg, opts->op == RTRS_PERF_WRITE, opts->size);
	init_waitqueue_head(&run->ended);
	run->nr_workers = nr_workers;
	ret = rtrs_perf_run_init(run);
	if (ret) {
		for (i = 0; i < nr_workers; i++)
			rtrs_perf_worker_join(&run->workers[i]);
		rtrs_perf_run_put(run);
		return ERR_PTR(ret);
	}
	atomic_set(&run->running, nr_workers);
	run->start_ns = ktime_get_ns();
	for (i = 0; i < nr_workers; i++)
		wake_up_process(run->workers[i].task);
	return run;
}

/**
 * rtrs_perf_run_stop() - send no more requests
 * @run: the run
 *
 * It ends when those in flight are completed.
 *
 * Context: any.
 */
void rtrs_perf_run_stop(struct rtrs_perf_run *run)
{
	WRITE_ONCE(run->stop, true);
}

/**
 * rtrs_perf_run_join() - wait until a run has ended, and its threads too
 * @run: the run; once, by who started it
 *
 * Context: may sleep; for as long as it takes, if it was not told to stop.
 */
void rtrs_perf_run_join(struct rtrs_perf_run *run)
{
	unsigned int i;

	wait_event(run->ended, !rtrs_perf_run_active(run));
	for (i = 0; i < run->nr_workers; i++)
		rtrs_perf_worker_join(&run->workers[i]);
}

/**
 * rtrs_perf_run_get() - have a run stay in memory
 * @run: a run
 *
 * Context: any.
 */
void rtrs_perf_run_get(struct rtrs_perf_run *run)
{
	kref_get(&run->ref);
}

/**
 * rtrs_perf_run_put() - undo that; or give it up, who has started it
 * @run: a run
 *
 * Context: may sleep.
 */
void rtrs_perf_run_put(struct rtrs_perf_run *run)
{
	kref_put(&run->ref, rtrs_perf_run_free);
}

/**
 * rtrs_perf_run_wait() - wait until a run has ended
 * @run: a run
 *
 * Context: may sleep.
 * Return: 0, or -ERESTARTSYS: a signal came.
 */
int rtrs_perf_run_wait(struct rtrs_perf_run *run)
{
	return wait_event_interruptible(run->ended, !rtrs_perf_run_active(run));
}

/**
 * rtrs_perf_run_active() - are requests in flight, or still to be sent
 * @run: a run
 *
 * Context: any.
 * Return: false if it has ended; then the result is there.
 */
bool rtrs_perf_run_active(struct rtrs_perf_run *run)
{
	return atomic_read_acquire(&run->running);
}

/**
 * rtrs_perf_run_progress() - how far it is
 * @run: a run
 * @iterations: how many requests it is to be
 *
 * Context: any.
 * Return: how many are completed; only almost that, while it is active.
 */
u64 rtrs_perf_run_progress(struct rtrs_perf_run *run, u32 *iterations)
{
	unsigned int i;
	u64 nr = 0;

	for (i = 0; i < run->nr_workers; i++)
		nr += data_race(READ_ONCE(run->workers[i].hist->nr));
	*iterations = run->iterations;
	return nr;
}

/**
 * rtrs_perf_run_result() - what came out
 * @run: a run that has ended
 * @result: what it was, and how it went; valid as long as the run
 * @hist: latencies of all its requests that did not fail, zeroed before
 *
 * Context: any.
 */
void rtrs_perf_run_result(struct rtrs_perf_run *run, struct rtrs_perf_result *result,
			  struct rtrs_perf_hist *hist)
{
	u64 end_ns = run->start_ns;
	unsigned int i;

	*result = (struct rtrs_perf_result) {
		.op = run->op,
		.size = run->size,
		.iterations = run->iterations,
		.depth = run->depth,
		.cpus = &run->cpus,
		.stopped = READ_ONCE(run->stop),
		.error = run->error,
	};
	for (i = 0; i < run->nr_workers; i++) {
		end_ns = max(end_ns, run->workers[i].end_ns);
		result->failed += run->workers[i].failed;
		rtrs_perf_hist_merge(hist, run->workers[i].hist);
	}
	result->elapsed_ns = end_ns - run->start_ns;
}
