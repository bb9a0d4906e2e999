// SPDX-License-Identifier: GPL-2.0-only
/* rtrs-server: module parameters, opening and closing of contexts. */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/delay.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <rdma/rtrs-job.h>

#include "../proto/geometry.h"
#include "fault.h"
#include "rtrs-srv.h"

MODULE_DESCRIPTION("RTRS (RDMA Transport) server");
MODULE_LICENSE("GPL");

/* How long a ULP does not know yet that it is served when a test wants it so. */
#define RTRS_SRV_LISTEN_DELAY_MS	5000

/* Written at load only. */
static bool rtrs_srv_always_invalidate = true;
module_param_named(always_invalidate, rtrs_srv_always_invalidate, bool, 0444);
MODULE_PARM_DESC(always_invalidate,
		 "Invalidate the memory of a write before it is processed (default: Y)");

static int rtrs_srv_max_chunk_size = 131072;
module_param_named(max_chunk_size, rtrs_srv_max_chunk_size, int, 0444);
MODULE_PARM_DESC(max_chunk_size,
		 "Bytes of a buffer: one request's data and header, a power of two, at least 8192 (default: 131072)");

static int rtrs_srv_max_io_size;
module_param_named(max_io_size, rtrs_srv_max_io_size, int, 0444);
MODULE_PARM_DESC(max_io_size,
		 "Bytes of data of a request, a power of two, header not included; 0: by max_chunk_size (default: 0)");

static int rtrs_srv_sess_queue_depth = 512;
module_param_named(sess_queue_depth, rtrs_srv_sess_queue_depth, int, 0444);
MODULE_PARM_DESC(sess_queue_depth,
		 "Buffers of a path, requests in flight of a session, 1 to 65535 (default: 512)");

static void rtrs_srv_get_geo(struct rtrs_srv_geo *geo)
{
	u32 max_io_size = rtrs_srv_max_io_size ?: rtrs_srv_max_chunk_size - PAGE_SIZE;

	*geo = (struct rtrs_srv_geo){
		.queue_depth = rtrs_srv_sess_queue_depth,
		.chunk_size = max_io_size + PAGE_SIZE,
		.max_io_size = max_io_size,
		.max_hdr_size = PAGE_SIZE,
		.mem_bits = rtrs_geometry_mem_bits(rtrs_srv_sess_queue_depth),
		.new_rkey = rtrs_srv_always_invalidate,
	};
}

static void rtrs_srv_ctx_tell(unsigned int seconds, struct rtrs_srv_ctx *ctx)
{
	const struct rtrs_srv_sess *sess;
	const struct rtrs_srv_path *path;

	guard(mutex)(&ctx->mutex);
	list_for_each_entry(sess, &ctx->sessions, entry)
		list_for_each_entry(path, &sess->paths, entry)
			pr_warn_ratelimited("unloading waits for path %s to close, %u s so far\n", path->name,
					    seconds);
}

/* Close all paths of a context that does not listen any more, and free it. */
static void rtrs_srv_ctx_shut_down(struct rtrs_srv_ctx *ctx)
{
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_path *path;

	mutex_lock(&ctx->mutex);
	list_for_each_entry(sess, &ctx->sessions, entry)
		list_for_each_entry(path, &sess->paths, entry)
			rtrs_srv_path_event_why(path, RTRS_SRV_EV_CLOSE, "the server stops");
	mutex_unlock(&ctx->mutex);

	rtrs_srv_ctx_put(ctx);
	rtrs_complete_slowly(&ctx->gone, rtrs_srv_ctx_tell, ctx);
	/* Also waits for the last close work to return. */
	destroy_workqueue(ctx->close_wq);
	destroy_workqueue(ctx->wq);
	kfree(ctx);
}

/**
 * rtrs_srv_open() - serve RTRS clients on a port
 * @ops: callbacks, copied
 * @port: port number
 *
 * API specification section 3.  Sessions may come before it returns.  Several contexts can be
 * open, each on its port.
 *
 * Context: process, may sleep.
 * Return: the context or an ERR_PTR.
 */
struct rtrs_srv_ctx *rtrs_srv_open(struct rtrs_srv_ops *ops, u16 port)
{
	struct rtrs_srv_ctx *ctx;
	int ret;

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->ops = *ops;
	ctx->port = port;
	rtrs_srv_get_geo(&ctx->geo);
	mutex_init(&ctx->mutex);
	INIT_LIST_HEAD(&ctx->sessions);
	refcount_set(&ctx->users, 1);
	init_completion(&ctx->gone);
	/* A client may ask a server for paths of the one that ran here before: never the same numbers. */
	ctx->last_path_id = get_random_u32();
	ctx->wq = alloc_workqueue("rtrs-server/%u", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, port);
	if (!ctx->wq) {
		ret = -ENOMEM;
		goto err_free_ctx;
	}
	ctx->close_wq = alloc_workqueue("rtrs-server-close/%u", WQ_UNBOUND | WQ_MEM_RECLAIM,
					WQ_MAX_ACTIVE, port);
	if (!ctx->close_wq) {
		ret = -ENOMEM;
		goto err_destroy_wq;
	}
	ret = rtrs_srv_cm_listen(ctx);
	if (ret) {
		/* One device may have had clients before another one failed. */
		rtrs_srv_ctx_shut_down(ctx);
		return ERR_PTR(ret);
	}
	rtrs_srv_nl_add(ctx);
	if (fault_here(listen_delayed))
		msleep(RTRS_SRV_LISTEN_DELAY_MS);
	return ctx;

err_destroy_wq:
	destroy_workqueue(ctx->wq);
err_free_ctx:
	kfree(ctx);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(rtrs_srv_open);

/**
 * rtrs_srv_close() - close all sessions and stop serving
 * @ctx: the context; gone after return
 *
 * API specification section 3.  Each session has seen link_ev DISCONNECTED when it returns.
 *
 * Context: process, may sleep; waits for the ULP to answer what it has.
 */
void rtrs_srv_close(struct rtrs_srv_ctx *ctx)
{
	rtrs_srv_nl_del(ctx);
	/* No new path or connection comes after this. */
	rtrs_srv_cm_unlisten(ctx);
	rtrs_srv_ctx_shut_down(ctx);
}
EXPORT_SYMBOL(rtrs_srv_close);

/* A chunk is allocated as the next power of two, and what is beyond it given back. */
static int __init rtrs_srv_check_max_io_size(void)
{
	int max_io = KMALLOC_MAX_SIZE / 2;

	if (!rtrs_srv_max_io_size)
		return 0;
	if (rtrs_srv_max_io_size < (int)PAGE_SIZE || rtrs_srv_max_io_size > max_io ||
	    !is_power_of_2(rtrs_srv_max_io_size)) {
		pr_err("parameter max_io_size=%d is not valid, allowed is 0 or a power of two from %lu to %d\n",
		       rtrs_srv_max_io_size, PAGE_SIZE, max_io);
		return -EINVAL;
	}
	if (!rtrs_geometry_fits_imm(rtrs_srv_sess_queue_depth, rtrs_srv_max_io_size + PAGE_SIZE)) {
		pr_err("parameters sess_queue_depth=%d and max_io_size=%d are not valid together, with this queue depth max_io_size is less than %llu\n",
		       rtrs_srv_sess_queue_depth, rtrs_srv_max_io_size,
		       1ULL << rtrs_geometry_mem_bits(rtrs_srv_sess_queue_depth));
		return -EINVAL;
	}
	return 0;
}

static int __init rtrs_srv_check_params(void)
{
	int min_chunk = max_t(int, RTRS_MIN_CHUNK_BYTES, 2 * PAGE_SIZE);
	int max_chunk = KMALLOC_MAX_SIZE;

	if (rtrs_srv_sess_queue_depth < 1 || rtrs_srv_sess_queue_depth > RTRS_MAX_QUEUE_DEPTH) {
		pr_err("parameter sess_queue_depth=%d is not valid, allowed is 1 to %d\n",
		       rtrs_srv_sess_queue_depth, RTRS_MAX_QUEUE_DEPTH);
		return -EINVAL;
	}
	if (rtrs_srv_max_chunk_size < min_chunk || rtrs_srv_max_chunk_size > max_chunk ||
	    !is_power_of_2(rtrs_srv_max_chunk_size)) {
		pr_err("parameter max_chunk_size=%d is not valid, allowed is a power of two from %d to %d\n",
		       rtrs_srv_max_chunk_size, min_chunk, max_chunk);
		return -EINVAL;
	}
	if (!rtrs_srv_max_io_size &&
	    !rtrs_geometry_fits_imm(rtrs_srv_sess_queue_depth, rtrs_srv_max_chunk_size)) {
		pr_err("parameters sess_queue_depth=%d and max_chunk_size=%d are not valid together, with this queue depth max_chunk_size is at most %u\n",
		       rtrs_srv_sess_queue_depth, rtrs_srv_max_chunk_size,
		       1U << rtrs_geometry_mem_bits(rtrs_srv_sess_queue_depth));
		return -EINVAL;
	}
	return rtrs_srv_check_max_io_size();
}

static int __init rtrs_srv_init(void)
{
	int ret;

	ret = rtrs_srv_check_params();
	if (ret)
		return ret;
	rtrs_srv_limits_init(rtrs_srv_sess_queue_depth);
	ret = rtrs_srv_slots_init();
	if (ret)
		return ret;
	ret = rtrs_srv_sysfs_init();
	if (ret) {
		rtrs_srv_slots_exit();
		return ret;
	}
	rtrs_srv_debugfs_init();
	rtrs_srv_nl_init();
	return 0;
}

static void __exit rtrs_srv_exit(void)
{
	rtrs_srv_nl_exit();
	rtrs_srv_debugfs_exit();
	rtrs_srv_sysfs_exit();
	rtrs_srv_slots_exit();
}

module_init(rtrs_srv_init);
module_exit(rtrs_srv_exit);
