// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: submit, fail over (protocol section 5).
 *
 * Operation: a request uses its permit's slot on one path at a time.  It is posted by itself (post.c), or
 * with others that the ULP submits together (batch.c), and ends with its answer (done.c).
 *
 * Ownership: see done.c.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <rdma/rtrs-nl.h>

#include "../verbs/trace.h"
#include "clt.h"
#include "fault.h"

/**
 * struct rtrs_clt_io - what a request is made from, on whichever path
 * @dir: READ or WRITE
 * @slot: the permit's slot
 * @con: the permit's connection
 * @conf_fn: completion callback
 * @priv: its argument
 * @vec: user message
 * @nr_vec: entries of @vec
 * @usr_len: bytes of the user message
 * @data_len: bytes of data
 * @sg: data pages
 * @sg_cnt: entries of @sg
 * @failover: taken over from another path
 * @start_ns: when the ULP submitted it, rtrs_lat_now()
 * @batch: what it may travel with, or NULL
 */
struct rtrs_clt_io {
	u8 dir;
	u16 slot;
	u16 con;
	void (*conf_fn)(void *priv, int errno);
	void *priv;
	const struct kvec *vec;
	size_t nr_vec;
	size_t usr_len;
	size_t data_len;
	struct scatterlist *sg;
	unsigned int sg_cnt;
	bool failover;
	u64 start_ns;
	struct rtrs_clt_batch *batch;
};

/* @msg_len: bytes of user message and header. */
static int rtrs_clt_check_len(const struct rtrs_clt_path *path, const struct rtrs_clt_io *io, size_t msg_len)
{
	if (msg_len > path->max_hdr_size || io->data_len > path->chunk_size - msg_len)
		return rtrs_retry_error(RTRS_FAILURE_CHUNK_LIMIT, 0);
	if (io->data_len && !io->sg_cnt)
		return rtrs_retry_error(RTRS_FAILURE_SG_LIST, 0);
	return 0;
}

/*
 * Give a slot room for the longest message there is.  It keeps that, and until the path is torn down also what it had: the
 * adapter reads that again if it has to send the slot's last message once more.  Once only: after it any message fits that
 * rtrs_clt_check_len() lets through, as no path takes longer ones than RTRS_CLT_MAX_HDR_BYTES.
 */
static noinline int rtrs_clt_req_grow(struct rtrs_clt_req *req)
{
	void *buf;
	u64 dma;

	buf = fault_here(alloc_msg) ? NULL : kmalloc(RTRS_CLT_MAX_HDR_BYTES, GFP_NOWAIT | __GFP_NOWARN);
	if (!buf)
		return rtrs_clt_req_short(req, RTRS_FAILURE_MEMORY, 0);
	if (rtrs_dma_map(req->path->dev, buf, RTRS_CLT_MAX_HDR_BYTES, DMA_TO_DEVICE, &dma)) {
		kfree(buf);
		return rtrs_clt_req_short(req, RTRS_FAILURE_DMA_MAP, 0);
	}
	req->old_buf = req->buf;
	req->old_dma = req->dma;
	req->buf = buf;
	req->buf_len = RTRS_CLT_MAX_HDR_BYTES;
	req->dma = dma;
	return 0;
}

/* Is there no mapping for the moment, or is an element longer than this device can ever map? */
static noinline int rtrs_clt_map_failed(const struct rtrs_clt_req *req)
{
	struct ib_device *dev = req->path->dev;
	size_t most = ib_uses_virt_dma(dev) ? SIZE_MAX : dma_max_mapping_size(dev->dma_device);
	struct scatterlist *sg;
	int i;

	for_each_sg(req->sg, sg, req->sg_cnt, i) {
		if (sg->length <= most)
			continue;
		rtrs_clt_path_err_rl(req->path, "%u bytes of memory in one piece, the device can map %zu\n", sg->length,
				     most);
		return rtrs_retry_error(RTRS_FAILURE_DMA_LIMIT, 0);
	}
	return rtrs_clt_req_short(req, RTRS_FAILURE_DMA_MAP, 0);
}

static int rtrs_clt_map_data(struct rtrs_clt_req *req)
{
	if (!req->data_len || req->bounced)
		return 0;
	if (!fault_here(dma_map))
		req->nents = ib_dma_map_sg(req->path->dev, req->sg, req->sg_cnt, rtrs_clt_dma_dir(req));
	return likely(req->nents) ? 0 : rtrs_clt_map_failed(req);
}

static __always_inline void rtrs_clt_req_choose_bounce(struct rtrs_clt_req *req)
{
	const struct rtrs_clt_bounce_bufs *own = &req->path->bounce.own;

	req->bounced = NULL;
	if (req->dir != READ || !req->data_len)
		return;
	if (likely(req->data_len <= own->bytes)) {
		req->bounced = own;
		req->bounce_nr = req->slot;
		req->bounce_off = 0;
	} else {
		rtrs_clt_bounce_take(req);
	}
}

static __always_inline void rtrs_clt_req_init(struct rtrs_clt_req *req, const struct rtrs_clt_io *io)
{
	size_t i, off = 0;

	req->conn = &req->path->conns[io->con];
	req->dir = io->dir;
	req->invalidated = false;
	req->start_ns = io->start_ns;
	req->sent_at = jiffies;
	req->cpu = raw_smp_processor_id();
	req->error = 0;
	req->conf_fn = io->conf_fn;
	req->priv = io->priv;
	req->sg = io->sg;
	req->sg_cnt = io->sg_cnt;
	req->nents = 0;
	req->data_len = io->data_len;
	req->usr_len = io->usr_len;
	rtrs_clt_req_choose_bounce(req);
	for (i = 0; i < io->nr_vec; i++) {
		memcpy(req->buf + off, io->vec[i].iov_base, io->vec[i].iov_len);
		off += io->vec[i].iov_len;
	}
}

static unsigned int rtrs_clt_elapsed_ms(u64 since_ns)
{
	return div_u64(rtrs_lat_between(since_ns, rtrs_lat_now()), NSEC_PER_MSEC);
}

static void rtrs_clt_count_sent(struct rtrs_clt_path *path, const struct rtrs_clt_io *io, u32 seq)
{
	int dir = io->dir == WRITE;

	this_cpu_inc(path->stats->cnt[dir]);
	this_cpu_add(path->stats->bytes[dir], io->data_len + io->usr_len);
	if (!io->failover)
		return;
	this_cpu_inc(path->stats->failover);
	trace_rtrs_clt_resend(path->name, io->slot, seq, io->dir == WRITE, io->data_len,
			      rtrs_clt_elapsed_ms(io->start_ns));
}

/* Expect no answer to what was not posted.  False: a server that makes answers up has answered it already. */
static bool rtrs_clt_req_withdraw(struct rtrs_clt_req *req)
{
	int waits = RTRS_REQ_WAITS_ON(req->conn->conn.cid);
	int state = atomic_cmpxchg(&req->state, waits, RTRS_REQ_BUSY);

	return state == waits || state == RTRS_REQ_BUSY;
}

/*
 * Send on one path.  RCU read section with the path seen CONNECTED in it: the path's worker waits for a
 * grace period before it takes anything away.
 */
static __always_inline int rtrs_clt_send_on(struct rtrs_clt_path *path, const struct rtrs_clt_io *io)
{
	size_t msg_len = rtrs_wire_io_len(io->dir == WRITE, io->data_len, io->usr_len);
	struct rtrs_clt_req *req = &path->reqs[io->slot];
	bool batched;
	int ret;

	ret = rtrs_clt_check_len(path, io, msg_len);
	if (unlikely(ret))
		return ret;
	if (WARN_ON_ONCE(atomic_cmpxchg_acquire(&req->state, 0, RTRS_REQ_BUSY)))
		return rtrs_retry_error(RTRS_FAILURE_SLOT_BUSY, 0);
	if (unlikely(msg_len > req->buf_len)) {
		ret = rtrs_clt_req_grow(req);
		if (ret)
			goto err_idle;
	}
	rtrs_clt_req_init(req, io);
	ret = rtrs_clt_map_data(req);
	if (unlikely(ret))
		goto err_idle;
	atomic_inc(&path->inflight);
	rtrs_clt_mp_sent(req);
	req->posted_ns = rtrs_clt_lat_sampled(&path->lat) ? rtrs_lat_now() : 0;
	req->seq++;
	trace_rtrs_clt_req_send(RTRS_CLT_REQ_IDS(req), req->dir == WRITE, req->data_len);
	batched = io->batch && rtrs_clt_batch_takes(req);
	ret = batched ? rtrs_clt_batch_add(io->batch, req) : rtrs_clt_post_request(req);
	if (unlikely(ret))
		goto err_unmap;
	rtrs_clt_count_sent(path, io, req->seq);
	if (batched)
		return 0;
	rtrs_clt_req_step(req, rtrs_clt_req_sends_pages(req) ? RTRS_REQ_POSTED :
							       RTRS_REQ_POSTED | RTRS_REQ_SENT);
	return 0;

err_unmap:
	if (unlikely(!rtrs_clt_req_withdraw(req))) {
		/* With the path it goes to another one, or fails. */
		rtrs_clt_path_error(path, -EPROTO);
		return 0;
	}
	/* Never seen by the server: its number is the next one's. */
	req->seq--;
	rtrs_clt_mp_answered(req, false);
	atomic_dec(&path->inflight);
	rtrs_clt_req_unmap(req);
	if (rtrs_retry_of(ret) == RTRS_RETRY_PATH_LOST) {
		/* As any request on a path that is lost. */
		rtrs_clt_path_error(path, ret);
		ret = -ECONNABORTED;
	}
err_idle:
	atomic_set_release(&req->state, 0);
	return ret;
}

/*
 * Send on the path the policy likes best, on the next one if that fails (proto/retry.c).  Inline for the sake of each
 * request's submitter, who has just put @io together.
 */
static __always_inline int rtrs_clt_send(struct rtrs_clt_sess *sess, const struct rtrs_clt_io *io)
{
	DECLARE_BITMAP(tried, RTRS_MAX_PATHS) = {};
	struct rtrs_clt_path *path;
	struct rtrs_clt_paths *paths;
	int ret = -ECONNABORTED, error = 0;

	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	while (paths && (path = rtrs_clt_mp_next(sess, paths, io->con, tried))) {
		ret = rtrs_clt_send_on(path, io);
		if (likely(!ret))
			break;
		ret = error = rtrs_retry_merge(error, ret);
		if (rtrs_retry_of(ret) == RTRS_RETRY_NEVER)
			break;
	}
	rcu_read_unlock();
	return ret;
}

/* Its path is lost, or does not have it, and no other takes it; or it has taken too long. */
static void rtrs_clt_req_count_failed(struct rtrs_clt_req *req, int error)
{
	enum rtrs_clt_io_error cause = RTRS_CLT_IO_ERROR_NO_PATH;
	struct rtrs_clt_path *path = req->path;

	if (error == -ETIMEDOUT)
		cause = RTRS_CLT_IO_ERROR_TIMEOUT;
	else if (path->loss == RTRS_CLT_LOSS_ON_REQUEST || READ_ONCE(path->sess->closing))
		cause = RTRS_CLT_IO_ERROR_ABORTED;
	else if (path->loss == RTRS_CLT_LOSS_NO_ANSWER)
		cause = RTRS_CLT_IO_ERROR_TIMEOUT;
	rtrs_clt_count_io_error(path, cause);
	rtrs_clt_lat_done(req, false);
	trace_rtrs_clt_req_done(path->sess->name, path->name, req->con, req->slot, req->seq, error);
}

static int rtrs_clt_req_failure(const struct rtrs_clt_req *req)
{
	return atomic_read(&req->state) & RTRS_REQ_EXPIRED ? -ETIMEDOUT : -ECONNABORTED;
}

/* Fail what a lost path owed. */
static void rtrs_clt_req_fail(struct rtrs_clt_req *req)
{
	void (*conf_fn)(void *priv, int errno) = req->conf_fn;
	int error = rtrs_clt_req_failure(req);
	void *priv = req->priv;

	rtrs_clt_req_count_failed(req, error);
	atomic_set_release(&req->state, 0);
	conf_fn(priv, error);
}

/* Does its ULP want no answer any more, or has it taken all the time it may? */
static bool rtrs_clt_req_is_over(const struct rtrs_clt_req *req)
{
	const void *aborted = READ_ONCE(rtrs_clt_permit(req->path->sess, req->slot)->aborted);

	return (aborted && aborted == req->priv) || atomic_read(&req->state) & RTRS_REQ_EXPIRED;
}

/* What it takes to send a request again.  @vec: its user message, in its buffer. */
static struct rtrs_clt_io rtrs_clt_req_io(const struct rtrs_clt_req *req, const struct kvec *vec)
{
	return (struct rtrs_clt_io) {
		.dir = req->dir,
		.slot = req->slot,
		.con = req->con,
		.conf_fn = req->conf_fn,
		.priv = req->priv,
		.vec = vec,
		.nr_vec = 1,
		.usr_len = req->usr_len,
		.data_len = req->data_len,
		.sg = req->sg,
		.sg_cnt = req->sg_cnt,
		.failover = true,
		.start_ns = req->start_ns,
	};
}

/* Part a request that its path owes from the path's device. */
static void rtrs_clt_req_detach(struct rtrs_clt_req *req)
{
	rtrs_clt_req_unmap(req);
	rtrs_clt_count_done(req, false);
	req->con = req->conn->conn.cid;
}

/*
 * Send a request again that this path does not have any more, over any path, this one too: so its slot is free there
 * first.  Waits for room in a send queue, memory or a mapping.
 */
static void rtrs_clt_req_send_again(struct rtrs_clt_req *req)
{
	struct kvec vec = { .iov_base = req->buf, .iov_len = req->usr_len };
	struct rtrs_clt_sess *sess = req->path->sess;
	int ret = rtrs_clt_req_failure(req);
	bool over = rtrs_clt_req_is_over(req);
	struct rtrs_clt_io io;

	rtrs_clt_req_detach(req);
	io = rtrs_clt_req_io(req, &vec);
	atomic_set_release(&req->state, 0);
	while (!over && !READ_ONCE(sess->closing)) {
		ret = rtrs_clt_send(sess, &io);
		if (!ret)
			return;
		if (rtrs_retry_of(ret) != RTRS_RETRY_LATER)
			break;
		usleep_range(500, 1000);
	}
	/* The ULP has the permit still, so nobody has used the slot. */
	if (ret != -ETIMEDOUT)
		ret = -ECONNABORTED;
	rtrs_clt_req_count_failed(req, ret);
	io.conf_fn(io.priv, ret);
}

/* Send again what the server does not have (overdue.c). */
static void rtrs_clt_resend_work(struct work_struct *work)
{
	struct rtrs_clt_path *path = container_of(work, struct rtrs_clt_path, resend_work);
	u32 slot;

	for (slot = 0; slot < path->sess->queue_depth; slot++)
		if (atomic_read_acquire(&path->reqs[slot].state) & RTRS_REQ_RESEND)
			rtrs_clt_req_send_again(&path->reqs[slot]);
}

/**
 * rtrs_clt_resend_init() - prepare a path that is about to connect
 * @path: the path
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_resend_init(struct rtrs_clt_path *path)
{
	INIT_WORK(&path->resend_work, rtrs_clt_resend_work);
	path->asked_at = 0;
}

static void rtrs_clt_tell_failover(const struct rtrs_clt_path *path, unsigned int moved,
				   unsigned int failed, unsigned int gap_ms)
{
	struct rtrs_nl_news news = {
		.event = RTRS_NL_EVENT_FAILOVER,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = path->sess->name,
		.path = path->name,
		.moved = moved,
		.failed = failed,
		.gap_ms = gap_ms,
	};

	rtrs_nl_tell(&news);
}

/**
 * struct rtrs_clt_moves - what became of the requests that a path owed
 * @moved: requests that another path has
 * @failed: requests that failed
 * @oldest_ns: when the oldest of @moved was submitted
 */
struct rtrs_clt_moves {
	unsigned int moved;
	unsigned int failed;
	u64 oldest_ns;
};

/*
 * Try each request that the path still owes.  @send: other paths may take them, unless they are over; else they fail.
 * Return: has one to wait, for room in a send queue, memory or a mapping?
 */
static bool rtrs_clt_move_owed(struct rtrs_clt_path *path, bool send, struct rtrs_clt_moves *moves)
{
	struct rtrs_clt_req *req;
	struct rtrs_clt_io io;
	bool waits = false;
	struct kvec vec;
	u32 slot;
	int ret;

	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		if (!atomic_read_acquire(&req->state))
			continue;
		vec = (struct kvec){ .iov_base = req->buf, .iov_len = req->usr_len };
		io = rtrs_clt_req_io(req, &vec);
		ret = send && !rtrs_clt_req_is_over(req) ? rtrs_clt_send(path->sess, &io) : -ECONNABORTED;
		if (!ret) {
			/* The ULP may have its slot again by now, but cannot use it on this path, which is not connected. */
			atomic_set_release(&req->state, 0);
			moves->moved++;
			moves->oldest_ns = min(moves->oldest_ns, io.start_ns);
		} else if (rtrs_retry_of(ret) == RTRS_RETRY_LATER && !READ_ONCE(path->sess->closing)) {
			waits = true;
		} else {
			rtrs_clt_req_fail(req);
			moves->failed++;
		}
	}
	return waits;
}

/* Move what the lost path owes, or fail it.  One that no path can take yet does not keep the others from moving. */
static void rtrs_clt_fail_over_owed(struct rtrs_clt_path *path, bool send)
{
	struct rtrs_clt_moves moves = { .oldest_ns = rtrs_lat_now() };
	unsigned int gap_ms;

	while (rtrs_clt_move_owed(path, send, &moves))
		usleep_range(500, 1000);
	gap_ms = rtrs_clt_elapsed_ms(moves.oldest_ns);
	if (moves.moved)
		rtrs_clt_count_failover(path, gap_ms);
	trace_rtrs_clt_failover(path->name, moves.moved, moves.failed, gap_ms);
	rtrs_clt_tell_failover(path, moves.moved, moves.failed, gap_ms);
}

/**
 * rtrs_clt_detach() - part what a lost path left unanswered from the path's device
 * @path: not CONNECTED for a grace period, its queues drained and its resend work cancelled: nobody else owns its
 *	requests
 *
 * Requests that were answered already are completed with their result.  The others keep their pages, which the server can
 * no longer reach, and their message, both unmapped.  Regions stay marked valid for nobody: they go with the link.
 *
 * Context: process, path mutex held.
 * Return: true if there are others; rtrs_clt_fail_over() has to know.
 */
bool rtrs_clt_detach(struct rtrs_clt_path *path)
{
	struct rtrs_clt_req *req;
	bool owed = false;
	u32 slot;
	int state;

	lockdep_assert_held(&path->mutex);
	for (slot = 0; slot < path->sess->queue_depth; slot++) {
		req = &path->reqs[slot];
		state = atomic_read_acquire(&req->state);
		if ((state & RTRS_REQ_POSTED) && (state & RTRS_REQ_RESPONDED) && req->error != RTRS_CLT_SEND_AGAIN) {
			rtrs_clt_req_finish(req, req->error);
		} else if (state) {
			rtrs_clt_req_detach(req);
			owed = true;
		}
	}
	return owed;
}

/**
 * rtrs_clt_fail_over() - send what a lost path left unanswered over other paths
 * @path: the path, after rtrs_clt_detach(); its device may be gone
 * @owed: what that returned
 *
 * First the server closes the path, if it can be told to.
 *
 * Context: process, path mutex held.  Waits for the server, and for resources that other paths are short of.
 */
void rtrs_clt_fail_over(struct rtrs_clt_path *path, bool owed)
{
	lockdep_assert_held(&path->mutex);
	if (owed)
		rtrs_clt_fail_over_owed(path, rtrs_clt_fence(path));
	else
		rtrs_clt_fence_tell(path);
}

/* @io has what the request consists of already. */
static __always_inline int rtrs_clt_submit(struct rtrs_clt_sess *sess, struct rtrs_clt_io *io, int dir,
					   const struct rtrs_clt_req_ops *ops,
					   const struct rtrs_permit *permit)
{
	size_t i;
	int ret;

	io->dir = dir == WRITE ? WRITE : READ;
	io->slot = permit->slot;
	io->con = permit->con;
	io->conf_fn = ops->conf_fn;
	io->priv = ops->priv;
	io->start_ns = rtrs_lat_now();
	for (i = 0; i < io->nr_vec; i++)
		io->usr_len += io->vec[i].iov_len;
	ret = rtrs_clt_send(sess, io);
	if (unlikely(ret == -ECONNABORTED))
		atomic_inc(&sess->recovery.io_errors[RTRS_CLT_IO_ERROR_NO_PATH]);
	return ret;
}

/**
 * rtrs_clt_request() - send a request
 * @dir: READ or WRITE
 * @ops: completion callback and its argument, copied
 * @sess: open session
 * @permit: permit of the session; one request at a time
 * @vec: user message, copied
 * @nr: entries of @vec
 * @len: bytes of data
 * @sg: data pages, the caller's until the callback; entries cover at least @len bytes
 * @sg_cnt: entries of @sg
 *
 * API specification section 2.  The callback may run before this function returns.
 *
 * Context: any.
 * Return: 0: the callback is called exactly once.  Else it is not called: -ECONNABORTED no connected
 * path, or the device has just broken the last one, -EMSGSIZE too large for a slot, or for the device to map, -EINVAL list
 * does not cover @len or cannot be registered, -EAGAIN for the moment: send queue full, or no memory or DMA mapping; nobody
 * tells when there is.
 */
int rtrs_clt_request(int dir, struct rtrs_clt_req_ops *ops, struct rtrs_clt_sess *sess,
		     struct rtrs_permit *permit, const struct kvec *vec, size_t nr, size_t len,
		     struct scatterlist *sg, unsigned int sg_cnt)
{
	struct rtrs_clt_io io = { .vec = vec, .nr_vec = nr, .data_len = len, .sg = sg, .sg_cnt = sg_cnt };

	return rtrs_clt_submit(sess, &io, dir, ops, permit);
}
EXPORT_SYMBOL(rtrs_clt_request);

/**
 * rtrs_clt_batch_begin() - begin to send requests that are there at the same time
 * @batch: the caller's, on its stack; the transport's until rtrs_clt_batch_end()
 * @sess: open session
 *
 * Reads may be put together in fewer messages then.  Not part of mainline's interface.
 *
 * Context: any.  No sleeping before rtrs_clt_batch_end().
 */
void rtrs_clt_batch_begin(struct rtrs_clt_batch *batch, struct rtrs_clt_sess *sess) __acquires(RCU)
{
	rcu_read_lock();
	batch->sess = sess;
	batch->nr = 0;
	batch->msgs_len = 0;
}
EXPORT_SYMBOL(rtrs_clt_batch_begin);

/**
 * rtrs_clt_batch_request() - send a request, now or with the next ones
 * @dir: as the arguments that follow, those of rtrs_clt_request()
 * @ops: completion callback and its argument
 * @batch: from rtrs_clt_batch_begin()
 * @permit: permit of its session
 * @vec: user message, copied
 * @nr: entries of @vec
 * @len: bytes of data
 * @sg: data pages
 * @sg_cnt: entries of @sg
 *
 * Not part of mainline's interface.
 *
 * Context: any, no sleeping.
 * Return: as rtrs_clt_request().
 */
int rtrs_clt_batch_request(int dir, struct rtrs_clt_req_ops *ops, struct rtrs_clt_batch *batch,
			   struct rtrs_permit *permit, const struct kvec *vec, size_t nr, size_t len,
			   struct scatterlist *sg, unsigned int sg_cnt)
{
	struct rtrs_clt_io io = {
		.vec = vec, .nr_vec = nr, .data_len = len, .sg = sg, .sg_cnt = sg_cnt, .batch = batch,
	};

	return rtrs_clt_submit(batch->sess, &io, dir, ops, permit);
}
EXPORT_SYMBOL(rtrs_clt_batch_request);

/**
 * rtrs_clt_batch_end() - send what has not been sent yet
 * @batch: from rtrs_clt_batch_begin()
 *
 * Not part of mainline's interface.
 *
 * Context: any, no sleeping.
 */
void rtrs_clt_batch_end(struct rtrs_clt_batch *batch) __releases(RCU)
{
	rtrs_clt_batch_post(batch);
	rcu_read_unlock();
}
EXPORT_SYMBOL(rtrs_clt_batch_end);

/* Is this request on that path?  In an RCU read section. */
static bool rtrs_clt_path_has_posted(const struct rtrs_clt_path *path, u32 slot, const void *priv)
{
	const struct rtrs_clt_req *req;

	if (rtrs_clt_path_state(path) != RTRS_CLT_PATH_CONNECTED)
		return false;
	req = &path->reqs[slot];
	return (atomic_read_acquire(&req->state) & RTRS_REQ_POSTED) && READ_ONCE(req->priv) == priv;
}

static bool rtrs_clt_other_connected(const struct rtrs_clt_paths *paths, const struct rtrs_clt_path *path)
{
	unsigned int i;

	for (i = 0; i < paths->nr; i++)
		if (paths->path[i] != path && rtrs_clt_path_state(paths->path[i]) == RTRS_CLT_PATH_CONNECTED)
			return true;
	return false;
}

/**
 * rtrs_clt_request_abort() - the answer to a request is not wanted any more
 * @sess: open session
 * @permit: permit of the request
 * @priv: @priv of its struct rtrs_clt_req_ops, not NULL; no other request of the session ever has the same
 * @last_path: give up the path that the request is on also if it is the only one of several that is connected
 *
 * Pages of a request can be had back only from a path that is torn down.  So the path is given up, other requests go to
 * another one, and this one completes with -ECONNABORTED, at the latest when the path is torn down; it is not sent
 * again.  The server may still have it, and some let no other request of its slot run before it is done: keep the permit,
 * if @permit->aborted is @priv in the callback, until the server has none of the ULP's requests any more.
 *
 * If the request is about to be sent, or to move to another path, nothing may happen: call again, after a while, until
 * it has completed.  Not part of mainline's interface.
 *
 * Context: any.
 * Return: true if a path was given up.
 */
bool rtrs_clt_request_abort(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv,
			    bool last_path)
{
	const struct rtrs_clt_paths *paths;
	struct rtrs_clt_path *path;
	bool given_up = false;
	unsigned int i;

	WRITE_ONCE(permit->aborted, priv);
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		path = paths->path[i];
		if (!rtrs_clt_path_has_posted(path, permit->slot, priv))
			continue;
		if (!last_path && paths->nr > 1 && !rtrs_clt_other_connected(paths, path))
			continue;
		rtrs_clt_path_err_rl(path, "the request in slot %u is aborted, path given up\n", permit->slot);
		rtrs_clt_path_error(path, -ECANCELED);
		given_up = true;
	}
	rcu_read_unlock();
	return given_up;
}
EXPORT_SYMBOL(rtrs_clt_request_abort);

/**
 * rtrs_clt_rdma_cq_direct() - complete polled requests
 * @sess: open session
 * @index: I/O connection, counted from 0; polled ones follow the others
 *
 * All connected paths are polled: a request may have failed over to any of them.
 *
 * Context: any in which the ULP's callbacks may run.
 * Return: number of completions, or -1 if no path is connected.
 */
int rtrs_clt_rdma_cq_direct(struct rtrs_clt_sess *sess, unsigned int index)
{
	const struct rtrs_clt_paths *paths;
	struct rtrs_clt_conn *cc;
	unsigned int i;
	int ret = -1, nr;

	if (index + 1 >= sess->nr_conns)
		return 0;
	rcu_read_lock();
	paths = rcu_dereference(sess->paths);
	for (i = 0; paths && i < paths->nr; i++) {
		if (rtrs_clt_path_state(paths->path[i]) != RTRS_CLT_PATH_CONNECTED)
			continue;
		cc = &paths->path[i]->conns[index + 1];
		nr = cc->conn.cq.ctx == RTRS_CQ_DIRECT ? rtrs_cq_poll(&cc->conn.cq) : 0;
		ret = max(ret, 0) + nr;
	}
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(rtrs_clt_rdma_cq_direct);
