// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounce buffers for READs that are small, or on a device in software.
 *
 * A path has memory that the server may write for as long as the path is up.  The data of a small READ arrive
 * there and are copied: that costs far less than registering the caller's pages and having them invalidated
 * for each request.  Each slot has a buffer of its own, for the shortest and commonest READs, so that these share
 * nothing with other CPUs.  For longer ones there are some buffers of which whoever needs it takes a part, as
 * slots rarely have long READs all at the same time; when no part is large enough pages are registered, and a work
 * adds some more buffers, up to a limit, for who comes next.
 *
 * Ownership: a slot's request owns the slot's buffer, and what it has taken of a shared one until it is
 * unmapped.  The memory is the path's alone and holds nothing but what this server sent.  What a server
 * writes there out of turn is only data of its own that nobody looks at, or that it could have sent anyway.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../verbs/copy.h"
#include "clt.h"
#include "fault.h"

/* For all slots of a path together; a slot gets whole pages of the first, and what it needs of the second. */
#define RTRS_CLT_BOUNCE_OWN_TOTAL	SZ_2M
#define RTRS_CLT_BOUNCE_SHARED_TOTAL	SZ_8M
/* A path has so much of the second from the start, and gets so much more at a time. */
#define RTRS_CLT_BOUNCE_SHARED_STEP	SZ_512K
/* Not before so many jiffies after there was no memory for it. */
#define RTRS_CLT_BOUNCE_GROW_AGAIN	HZ
/* What is taken of a shared buffer at least, so that a word has a bit for each. */
#define RTRS_CLT_BOUNCE_UNIT		SZ_4K

static_assert(RTRS_CLT_BOUNCE_SOFT_BYTES / RTRS_CLT_BOUNCE_UNIT <= BITS_PER_LONG);

static int rtrs_clt_max_bounce_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 0, &value) || value > RTRS_CLT_BOUNCE_SOFT_BYTES) {
		pr_err("parameter max_bounce_bytes=%.*s is not valid, allowed is 0 to %u\n",
		       (int)strcspn(val, "\n"), val, RTRS_CLT_BOUNCE_SOFT_BYTES);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, value);
	return 0;
}

static const struct kernel_param_ops rtrs_clt_max_bounce_ops = {
	.set = rtrs_clt_max_bounce_set,
	.get = param_get_uint,
};

/* Read when a path connects. */
static unsigned int rtrs_clt_max_bounce_bytes = RTRS_CLT_BOUNCE_SOFT_BYTES;
module_param_cb(max_bounce_bytes, &rtrs_clt_max_bounce_ops, &rtrs_clt_max_bounce_bytes, 0644);
__MODULE_PARM_TYPE(max_bounce_bytes, "uint");
MODULE_PARM_DESC(max_bounce_bytes,
		 "Bytes of the longest read that is copied from a bounce buffer (default: 131072)");

static int rtrs_clt_bounce_alloc_buf(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs, gfp_t gfp)
{
	struct scatterlist *sg = &bufs->sgl[bufs->nr];
	void *buf;
	u64 dma;
	int ret;

	buf = fault_here(alloc_bounce) ? NULL : alloc_pages_exact(bufs->bytes, gfp | __GFP_ZERO | __GFP_NOWARN);
	if (!buf)
		return -ENOMEM;
	ret = rtrs_dma_map(path->dev, buf, bufs->bytes, DMA_FROM_DEVICE, &dma);
	if (ret) {
		free_pages_exact(buf, bufs->bytes);
		return ret;
	}
	sg_set_buf(sg, buf, bufs->bytes);
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = bufs->bytes;
	bufs->nr++;
	return 0;
}

static void rtrs_clt_bounce_free_bufs(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs, u32 keep)
{
	while (bufs->nr > keep) {
		struct scatterlist *sg = &bufs->sgl[--bufs->nr];

		ib_dma_unmap_single(path->dev, sg_dma_address(sg), bufs->bytes, DMA_FROM_DEVICE);
		free_pages_exact(sg_virt(sg), bufs->bytes);
	}
}

/* The regions are the link's, which frees them. */
static void rtrs_clt_bounce_free(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs)
{
	rtrs_clt_bounce_free_bufs(path, bufs, 0);
	kvfree(bufs->sgl);
	memset(bufs, 0, sizeof(*bufs));
}

/**
 * rtrs_clt_bounce_destroy() - undo rtrs_clt_bounce_create(), but for the regions, which are the link's
 * @path: drained path that owes no request any more; nothing happens if it has no buffers
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_destroy(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;

	rtrs_clt_bounce_free(path, &bounce->own);
	rtrs_clt_bounce_free(path, &bounce->shared);
	kvfree(bounce->taken);
	bounce->taken = NULL;
	bounce->ready = 0;
}

/* The regions too: nothing was registered yet, and who has regions registers them. */
static void rtrs_clt_bounce_undo(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs)
{
	struct rtrs_clt_mrs *mrs = bufs->mrs;

	rtrs_clt_bounce_free(path, bufs);
	rtrs_clt_mrs_free(mrs);
}

/* As many as share a region, or as are missing.  On failure there are as many as before. */
static int rtrs_clt_bounce_add(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs, gfp_t gfp)
{
	u32 was = bufs->nr, nr = min(bufs->most, was + bufs->per_mr);
	int ret = 0;

	while (!ret && bufs->nr < nr)
		ret = rtrs_clt_bounce_alloc_buf(path, bufs, gfp);
	/* Drivers allocate a region's list of pages in one piece: no longer than it has to be. */
	if (!ret)
		ret = rtrs_clt_mrs_add(bufs->mrs, path->pd, 1, bufs->per_mr * (bufs->bytes / SZ_4K));
	if (ret)
		rtrs_clt_bounce_free_bufs(path, bufs, was);
	return ret;
}

/* Free the slots' buffers whose registration was not posted. */
static void rtrs_clt_bounce_drop_own(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce_bufs *own = &path->bounce.own;
	u32 nr = path->bounce.own_posted;

	while (own->mrs->nr > nr)
		rtrs_mr_free(&own->mrs->mr[--own->mrs->nr]);
	rtrs_clt_bounce_free_bufs(path, own, min(own->nr, nr * own->per_mr));
}

static int rtrs_clt_bounce_fill(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs, u32 nr)
{
	int ret = 0;

	while (!ret && bufs->nr < min(nr, bufs->most))
		ret = rtrs_clt_bounce_add(path, bufs, GFP_KERNEL);
	return ret;
}

/*
 * Room for as many of @bytes bytes as there are slots, and as @total allows, and the first @step bytes of them, which
 * share a region if it can have as many.  On failure nothing is left.
 */
static int rtrs_clt_bounce_alloc_bufs(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs,
				      struct rtrs_clt_mrs *mrs, u32 total, u32 step, u32 bytes)
{
	u32 most = min_t(u32, path->sess->queue_depth, total / bytes);
	u32 max_pages = path->dev->attrs.max_fast_reg_page_list_len;
	int ret;

	*bufs = (struct rtrs_clt_bounce_bufs) {
		.bytes = bytes,
		.most = most,
		.per_mr = min3(max_pages / (bytes / SZ_4K), step / bytes, most),
		.mrs = mrs,
	};
	ret = bufs->per_mr ? 0 : -EINVAL;
	if (!ret)
		ret = rtrs_clt_mrs_alloc_array(mrs, DIV_ROUND_UP(most, bufs->per_mr));
	if (!ret) {
		bufs->sgl = kvcalloc(most, sizeof(*bufs->sgl), GFP_KERNEL);
		ret = bufs->sgl ? 0 : -ENOMEM;
	}
	if (!ret) {
		sg_init_table(bufs->sgl, most);
		ret = rtrs_clt_bounce_fill(path, bufs, step / bytes);
	}
	if (ret)
		rtrs_clt_bounce_undo(path, bufs);
	return ret;
}

static int rtrs_clt_bounce_alloc(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs,
				 struct rtrs_clt_mrs *mrs, u32 total, u32 step, u32 bytes)
{
	int ret;

	ret = rtrs_clt_bounce_alloc_bufs(path, bufs, mrs, total, step, bytes);
	/* So much in one piece may be more than there is. */
	if (ret == -ENOMEM && bytes > RTRS_CLT_BOUNCE_BYTES)
		ret = rtrs_clt_bounce_alloc_bufs(path, bufs, mrs, total, step, RTRS_CLT_BOUNCE_BYTES);
	return ret;
}

/* No path is without for want of these; one each for its connections, and one that needed many soon does so again. */
static void rtrs_clt_bounce_create_shared(struct rtrs_clt_path *path, u32 bytes)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;

	if (rtrs_clt_bounce_alloc(path, &bounce->shared, &path->link->shared_mrs, RTRS_CLT_BOUNCE_SHARED_TOTAL,
				  RTRS_CLT_BOUNCE_SHARED_STEP, bytes))
		return;
	bounce->taken = kvcalloc(bounce->shared.most, sizeof(*bounce->taken), GFP_KERNEL);
	if (bounce->taken)
		rtrs_clt_bounce_fill(path, &bounce->shared, max_t(u32, bounce->reached, path->sess->nr_conns - 1));
	else
		rtrs_clt_bounce_undo(path, &bounce->shared);
}

/* Slots that come and go have regions of their own for their buffers too. */
static int rtrs_clt_bounce_create_own(struct rtrs_clt_path *path, u32 bytes, u32 slots)
{
	struct rtrs_clt_bounce_bufs *own = &path->bounce.own;
	u32 step = slots < path->sess->queue_depth ? RTRS_CLT_SLOTS_LEAST * bytes : RTRS_CLT_BOUNCE_OWN_TOTAL;
	int ret;

	ret = rtrs_clt_bounce_alloc(path, own, &path->link->bounce_mrs, RTRS_CLT_BOUNCE_OWN_TOTAL, step, bytes);
	return ret ?: rtrs_clt_bounce_fill(path, own, slots);
}

/**
 * rtrs_clt_bounce_create() - allocate the buffers of a path
 * @path: path in state CONNECTING, queue depth known
 * @slots: how many slots it begins with
 *
 * The slots of a path share RTRS_CLT_BOUNCE_OWN_TOTAL bytes evenly, so a deep queue makes their own buffers smaller,
 * and with one so deep that a slot would get less than a page they have none.  READs that are longer, up
 * to a limit, take a part of the shared ones.  The limit is higher on a device in software: a copy costs it no more than a
 * registration, and rdma_rxe breaks a queue pair when it retransmits and finds a registration that it has done
 * already.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno; rtrs_clt_bounce_destroy() cleans up.
 */
int rtrs_clt_bounce_create(struct rtrs_clt_path *path, u32 slots)
{
	u32 most = ib_uses_virt_dma(path->dev) ? RTRS_CLT_BOUNCE_SOFT_BYTES : RTRS_CLT_BOUNCE_BYTES;
	u32 longest = rounddown(min(most, READ_ONCE(rtrs_clt_max_bounce_bytes)), PAGE_SIZE);
	u32 own = min_t(u32, longest, rounddown(RTRS_CLT_BOUNCE_OWN_TOTAL / path->sess->queue_depth, PAGE_SIZE));
	int ret;

	if (own) {
		ret = rtrs_clt_bounce_create_own(path, own, slots);
		if (ret)
			return ret;
	}
	if (longest > path->bounce.own.bytes)
		rtrs_clt_bounce_create_shared(path, longest);
	return 0;
}

/**
 * rtrs_clt_bounce_bytes() - up to how many bytes a READ may go through a bounce buffer
 * @path: the path, after rtrs_clt_bounce_create()
 *
 * Context: any, while the path stays connected, or connects.
 * Return: bytes, 0 if there are no buffers.
 */
u32 rtrs_clt_bounce_bytes(const struct rtrs_clt_path *path)
{
	return max(path->bounce.own.bytes, path->bounce.shared.bytes);
}

/* Prepare the registration of the buffers of region @i. */
static int rtrs_clt_bounce_map(struct rtrs_clt_bounce_bufs *bufs, u32 i, struct ib_cqe *cqe)
{
	u32 first = i * bufs->per_mr;

	return rtrs_mr_map(&bufs->mrs->mr[i], &bufs->sgl[first], min(bufs->per_mr, bufs->nr - first),
			   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, cqe);
}

/* From region @posted on, which is moved on. */
static int rtrs_clt_bounce_register_bufs(struct rtrs_clt_path *path, struct rtrs_clt_bounce_bufs *bufs, u32 *posted)
{
	struct rtrs_conn *conn = &path->conns[0].conn;
	u32 nr = bufs->mrs ? bufs->mrs->nr : 0;
	struct ib_send_wr *wr;
	int ret;

	for (; *posted < nr; ++*posted) {
		wr = &bufs->mrs->mr[*posted].reg_wr.wr;
		ret = rtrs_clt_bounce_map(bufs, *posted, &conn->send_cqe);
		if (!ret)
			ret = rtrs_conn_post(conn, wr, wr, 1, false);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rtrs_clt_bounce_register() - post the registrations
 * @path: the path, its service connection established
 *
 * The queue works in order: what is posted on the connection after this leaves when the buffers may be
 * written.
 *
 * Context: process, path mutex held.
 * Return: 0 or negative errno; -EAGAIN: the send queue is full for the moment, what is left is posted by the next call.
 */
int rtrs_clt_bounce_register(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	int ret;

	ret = rtrs_clt_bounce_register_bufs(path, &bounce->own, &bounce->own_posted);
	if (!ret)
		ret = rtrs_clt_bounce_register_bufs(path, &bounce->shared, &bounce->shared_posted);
	if (!ret)
		bounce->ready = bounce->shared.nr;
	return ret;
}

/**
 * rtrs_clt_bounce_grow_own() - add buffers of slots
 * @path: path that has had its registrations posted
 * @slots: how many slots are to have one
 *
 * As with rtrs_clt_bounce_register(): what is posted on the service connection after this leaves when the server may
 * write them.
 *
 * Context: process, path mutex held.
 * Return: 0; -EAGAIN if the send queue is full for the moment; else negative errno: none has been added.
 */
int rtrs_clt_bounce_grow_own(struct rtrs_clt_path *path, u32 slots)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	int ret;

	if (!bounce->own.bytes)
		return 0;
	ret = rtrs_clt_bounce_fill(path, &bounce->own, slots);
	if (ret) {
		rtrs_clt_bounce_drop_own(path);
		return ret;
	}
	bounce->own_fresh |= bounce->own_posted < bounce->own.mrs->nr;
	return rtrs_clt_bounce_register_bufs(path, &bounce->own, &bounce->own_posted);
}

/**
 * rtrs_clt_bounce_known() - the server has answered what was posted behind the last rtrs_clt_bounce_grow_own()
 * @path: the path, whose slots may use all their buffers from now on
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_known(struct rtrs_clt_path *path)
{
	path->bounce.own_fresh = false;
}

static void rtrs_clt_bounce_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_bounce *bounce = container_of(wc->wr_cqe, struct rtrs_clt_bounce, reg_cqe);
	struct rtrs_clt_conn *cc = to_clt_conn(rtrs_conn_from_wc(wc));

	bounce->reg_failed = rtrs_clt_send_failed(cc, wc);
	if (!bounce->reg_failed)
		rtrs_conn_send_completed(&cc->conn);
	complete(&bounce->registered);
}

/* As whoever submits: the path's worker waits for a grace period before it drains the queue. */
static int rtrs_clt_bounce_post_last(struct rtrs_clt_path *path)
{
	struct rtrs_clt_mrs *mrs = path->bounce.shared.mrs;
	struct ib_send_wr *wr = &mrs->mr[mrs->nr - 1].reg_wr.wr;
	int ret = -ECONNABORTED;

	rcu_read_lock();
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTED) {
		ret = rtrs_conn_post(&path->conns[0].conn, wr, wr, 1, true);
		if (ret && ret != -EAGAIN)
			rtrs_clt_path_error(path, ret);
	}
	rcu_read_unlock();
	return ret;
}

/*
 * Add to the shared buffers.  They are used when they are registered, as other connections than the one on which that is
 * done carry the READs.  On failure all is as before, unless the path is lost.
 */
static int rtrs_clt_bounce_grow(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;
	struct rtrs_clt_bounce_bufs *shared = &bounce->shared;
	u32 was = shared->nr;
	int ret;

	/* Rather none than that others have to give up theirs. */
	ret = rtrs_clt_bounce_add(path, shared, GFP_KERNEL | __GFP_NORETRY);
	if (ret)
		return ret;
	reinit_completion(&bounce->registered);
	ret = rtrs_clt_bounce_map(shared, shared->mrs->nr - 1, &bounce->reg_cqe);
	if (!ret)
		ret = rtrs_clt_bounce_post_last(path);
	if (ret) {
		rtrs_mr_free(&shared->mrs->mr[--shared->mrs->nr]);
		rtrs_clt_bounce_free_bufs(path, shared, was);
		return ret;
	}
	/* It ends with the connection at the latest. */
	wait_for_completion(&bounce->registered);
	if (bounce->reg_failed)
		return -ECONNABORTED;
	bounce->reached = shared->nr;
	/* PAIRS: rtrs_clt_bounce_take() */
	smp_store_release(&bounce->ready, shared->nr);
	return 0;
}

/* No allocation here recurses into writeback or swapping, which may be waiting for this very path. */
static void rtrs_clt_bounce_grow_work(struct work_struct *work)
{
	struct rtrs_clt_path *path = container_of(work, struct rtrs_clt_path, bounce.grow);
	unsigned int noio = memalloc_noio_save();

	if (path->bounce.shared.nr < path->bounce.shared.most && rtrs_clt_bounce_grow(path))
		WRITE_ONCE(path->bounce.grow_at, jiffies + RTRS_CLT_BOUNCE_GROW_AGAIN);
	memalloc_noio_restore(noio);
}

/**
 * rtrs_clt_bounce_init() - set up what adds buffers
 * @path: path that is about to connect
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_init(struct rtrs_clt_path *path)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;

	INIT_WORK(&bounce->grow, rtrs_clt_bounce_grow_work);
	bounce->grow_at = jiffies;
	bounce->own_posted = 0;
	bounce->shared_posted = 0;
	bounce->own_fresh = false;
	bounce->reg_cqe.done = rtrs_clt_bounce_registered;
	init_completion(&bounce->registered);
}

/**
 * rtrs_clt_bounce_stop() - make no more buffers
 * @path: drained path, that carries no request: nobody asks for more
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_bounce_stop(struct rtrs_clt_path *path)
{
	cancel_work_sync(&path->bounce.grow);
}

/* There was no room for a READ. */
static void rtrs_clt_bounce_want(struct rtrs_clt_path *path, u32 ready)
{
	struct rtrs_clt_bounce *bounce = &path->bounce;

	if (ready < bounce->shared.most && time_after_eq(jiffies, READ_ONCE(bounce->grow_at)))
		queue_work(rtrs_clt_wq, &bounce->grow);
}

static unsigned int rtrs_clt_bounce_units(const struct rtrs_clt_req *req)
{
	return DIV_ROUND_UP(req->data_len, RTRS_CLT_BOUNCE_UNIT);
}

/* The first of @nr adjacent units, of @units, which were free and are taken now; @units if there are none. */
static unsigned int rtrs_clt_bounce_take_units(struct rtrs_clt_bounce_taken *taken, unsigned int units,
					       unsigned int nr)
{
	long old = atomic_long_read(&taken->units);
	unsigned int first;
	unsigned long now;

	do {
		now = old;
		first = bitmap_find_next_zero_area(&now, units, 0, nr, 0);
		if (first >= units)
			return units;
		now |= GENMASK(first + nr - 1, first);
	} while (!atomic_long_try_cmpxchg_acquire(&taken->units, &old, now));
	return first;
}

/*
 * Where the search begins: each connection, which is one CPU's, has its share of the buffers, and in it neighbouring
 * slots begin at different ones.
 */
static u32 rtrs_clt_bounce_home(const struct rtrs_clt_req *req, u32 ready)
{
	u32 share = max(ready / (req->path->sess->nr_conns - 1), 1U);
	u16 cid = req->conn->conn.cid;

	return ((cid ? cid - 1 : 0) * share + req->slot % share) % ready;
}

/**
 * rtrs_clt_bounce_take() - find room for a READ that does not fit into its slot's own buffer
 * @req: the request, BUSY; its @bounced, @bounce_nr and @bounce_off are set if there is some
 *
 * Context: any; the path is CONNECTED, as for rtrs_clt_send_on().
 */
void rtrs_clt_bounce_take(struct rtrs_clt_req *req)
{
	struct rtrs_clt_bounce *bounce = &req->path->bounce;
	const struct rtrs_clt_bounce_bufs *shared = &bounce->shared;
	u32 units = shared->bytes / RTRS_CLT_BOUNCE_UNIT;
	u32 want = rtrs_clt_bounce_units(req);
	u32 i, nr, first, ready;

	/* PAIRS: rtrs_clt_bounce_grow() */
	ready = smp_load_acquire(&bounce->ready);
	if (!ready || req->data_len > shared->bytes)
		return;
	nr = rtrs_clt_bounce_home(req, ready);
	for (i = 0; i < ready; i++) {
		first = rtrs_clt_bounce_take_units(&bounce->taken[nr], units, want);
		if (first < units) {
			req->bounced = shared;
			req->bounce_nr = nr;
			req->bounce_off = first * RTRS_CLT_BOUNCE_UNIT;
			return;
		}
		if (++nr == ready)
			nr = 0;
	}
	rtrs_clt_bounce_want(req->path, ready);
}

/**
 * rtrs_clt_bounce_give_back() - a READ does not need its buffer any more
 * @req: the request; nothing happens unless it has taken a part of a shared one
 *
 * Context: any; the buffers are there, as rtrs_clt_bounce_destroy() comes after all requests.
 */
void rtrs_clt_bounce_give_back(struct rtrs_clt_req *req)
{
	struct rtrs_clt_bounce *bounce = &req->path->bounce;
	unsigned int first = req->bounce_off / RTRS_CLT_BOUNCE_UNIT;

	if (req->bounced != &bounce->shared)
		return;
	/* All that was read of it was read before somebody else has it written. */
	atomic_long_fetch_andnot_release(GENMASK(first + rtrs_clt_bounce_units(req) - 1, first),
					 &bounce->taken[req->bounce_nr].units);
	req->bounced = NULL;
}

/**
 * rtrs_clt_bounce_desc() - describe a READ's buffer to the server
 * @req: the request, which has one
 * @desc: result
 *
 * Context: any.
 */
void rtrs_clt_bounce_desc(const struct rtrs_clt_req *req, struct rtrs_sg_desc *desc)
{
	const struct rtrs_clt_bounce_bufs *bufs = req->bounced;
	const struct ib_mr *mr = bufs->mrs->mr[req->bounce_nr / bufs->per_mr].mr;
	u64 off = (u64)(req->bounce_nr % bufs->per_mr) * bufs->bytes + req->bounce_off;

	rtrs_wire_put_desc(desc, mr->iova + off, mr->rkey, req->data_len);
}

static void rtrs_clt_bounce_copy_to_page(struct page *page, size_t off, const void *buf, size_t len)
{
	void *to = kmap_local_page(page);

	rtrs_copy(to + off, buf, len);
	flush_dcache_page(page);
	kunmap_local(to);
}

/* Not inline: who has a single page would clear the iterator too, where kernels clear the stack. */
static noinline void rtrs_clt_bounce_copy_to_list(struct scatterlist *sg, unsigned int nr, const void *buf,
						  size_t len)
{
	struct sg_mapping_iter iter;
	size_t part;

	sg_miter_start(&iter, sg, nr, SG_MITER_ATOMIC | SG_MITER_TO_SG);
	while (len && sg_miter_next(&iter)) {
		part = min(len, iter.length);
		rtrs_copy(iter.addr, buf, part);
		buf += part;
		len -= part;
	}
	sg_miter_stop(&iter);
}

static void rtrs_clt_bounce_copy_to(struct scatterlist *sg, unsigned int nr, const void *buf, size_t len)
{
	/* The way through a list costs as much as the copy itself. */
	if (likely(len <= sg->length && sg->offset + len <= PAGE_SIZE))
		rtrs_clt_bounce_copy_to_page(sg_page(sg), sg->offset, buf, len);
	else
		rtrs_clt_bounce_copy_to_list(sg, nr, buf, len);
}

/**
 * rtrs_clt_bounce_copy() - copy a READ's data to where the caller wants them
 * @req: answered request that has a buffer
 *
 * Context: completion handler.
 */
void rtrs_clt_bounce_copy(const struct rtrs_clt_req *req)
{
	struct scatterlist *sg = &req->bounced->sgl[req->bounce_nr];
	u64 dma = sg_dma_address(sg) + req->bounce_off;

	ib_dma_sync_single_for_cpu(req->path->dev, dma, req->data_len, DMA_FROM_DEVICE);
	rtrs_clt_bounce_copy_to(req->sg, req->sg_cnt, sg_virt(sg) + req->bounce_off, req->data_len);
	ib_dma_sync_single_for_device(req->path->dev, dma, req->data_len, DMA_FROM_DEVICE);
}
