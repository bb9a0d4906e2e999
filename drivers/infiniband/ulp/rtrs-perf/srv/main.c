// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtrs-perf server: takes and gives data that nobody needs.
 *
 * No disk, no copy and no memory but the transport's.  The data of a READ are what the chunk has: a path
 * has chunks of its own, which begin as zeros and which nobody but its client writes, so a client is sent
 * nothing but that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <rdma/rtrs.h>

#include "../proto/msg.h"

static ushort rtrs_perf_port = RTRS_PERF_PORT;

static int rtrs_perf_port_set(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_ushort(val, kp);

	if (!ret && !*(ushort *)kp->arg)
		ret = -EINVAL;
	if (ret)
		pr_err("parameter port=%s is not valid, allowed is 1 to %u\n", val, USHRT_MAX);
	return ret;
}

static const struct kernel_param_ops rtrs_perf_port_ops = {
	.set = rtrs_perf_port_set,
	.get = param_get_ushort,
};
__MODULE_PARM_TYPE(port, "ushort");
module_param_cb(port, &rtrs_perf_port_ops, &rtrs_perf_port, 0444);
MODULE_PARM_DESC(port, "Port to listen on, 1..65535 (default: " __stringify(RTRS_PERF_PORT) ")");

static struct rtrs_srv_ctx *rtrs_perf_ctx;
static struct dentry *rtrs_perf_dir;

/* Requests of all sessions that were refused. */
static atomic64_t rtrs_perf_refused;

static int rtrs_perf_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data, size_t data_len,
			     const void *usr, size_t usr_len)
{
	int ret;

	ret = rtrs_perf_msg_check(usr, usr_len, id->dir == WRITE, data_len);
	if (ret) {
		atomic64_inc(&rtrs_perf_refused);
		pr_warn_ratelimited("refused a request with a message of %zu bytes and %zu bytes of data: %pe\n",
				    usr_len, data_len, ERR_PTR(ret));
		return ret;
	}
	rtrs_srv_resp_rdma(id, 0);
	return 0;
}

/* Whoever comes is welcome. */
static int rtrs_perf_link_ev(struct rtrs_srv_sess *sess, enum rtrs_srv_link_ev ev, void *priv)
{
	return 0;
}

static int rtrs_perf_refused_get(void *data, u64 *val)
{
	*val = atomic64_read(&rtrs_perf_refused);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rtrs_perf_refused_fops, rtrs_perf_refused_get, NULL, "%llu\n");

static int __init rtrs_perf_srv_init(void)
{
	struct rtrs_srv_ops ops = {
		.rdma_ev = rtrs_perf_rdma_ev,
		.link_ev = rtrs_perf_link_ev,
	};

	rtrs_perf_ctx = rtrs_srv_open(&ops, rtrs_perf_port);
	if (IS_ERR(rtrs_perf_ctx)) {
		pr_err("cannot listen on port=%u: error %pe\n", rtrs_perf_port, rtrs_perf_ctx);
		return PTR_ERR(rtrs_perf_ctx);
	}
	rtrs_perf_dir = debugfs_create_dir("rtrs-perf-server", NULL);
	debugfs_create_file("refused", 0400, rtrs_perf_dir, NULL, &rtrs_perf_refused_fops);
	return 0;
}

static void __exit rtrs_perf_srv_exit(void)
{
	debugfs_remove(rtrs_perf_dir);
	rtrs_srv_close(rtrs_perf_ctx);
}

module_init(rtrs_perf_srv_init);
module_exit(rtrs_perf_srv_exit);

MODULE_DESCRIPTION("rtrs-perf server: the other end of what rtrs-perf-client measures");
MODULE_LICENSE("GPL");
