// SPDX-License-Identifier: GPL-2.0-only
/* rpages-server: memory that other machines read and write. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/rtrs.h>
#include "rpages.h"

MODULE_DESCRIPTION("Sample ULP of RTRS: a server of memory");
MODULE_LICENSE("GPL");

static ushort pages = 256;
module_param(pages, ushort, 0444);
MODULE_PARM_DESC(pages, "Pages of memory, 1 to 65535 (default: 256)");

static struct debugfs_blob_wrapper rpages_mem;
static struct dentry *rpages_file;
static struct rtrs_srv_ctx *rpages_ctx;
static struct rpages_info rpages_info;

static int rpages_link_ev(struct rtrs_srv_sess *sess, enum rtrs_srv_link_ev ev, void *priv)
{
	atomic_long_t *answered = priv;

	if (ev == RTRS_SRV_LINK_EV_DISCONNECTED) {
		pr_info("a client is gone, it was answered %ld times\n", atomic_long_read(answered));
		kfree(answered);
		return 0;
	}
	answered = kzalloc(sizeof(*answered), GFP_KERNEL);
	rtrs_srv_set_sess_priv(sess, answered);
	return answered ? 0 : -ENOMEM;
}

static int rpages_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data, size_t datalen,
			  const void *usr, size_t usrlen)
{
	const struct rpages_msg *msg = usr;
	u64 offset;

	if (usrlen != sizeof(*msg))
		return -EINVAL;
	offset = le64_to_cpu(msg->offset);
	if (!msg->instance && id->dir == READ && datalen == sizeof(rpages_info))
		memcpy(data, &rpages_info, datalen);
	else if (msg->instance != rpages_info.instance)
		return -ESTALE;
	else if (offset > rpages_mem.size || datalen > rpages_mem.size - offset)
		return -ERANGE;
	else if (id->dir == READ)
		memcpy(data, rpages_mem.data + offset, datalen);
	else
		memcpy(rpages_mem.data + offset, data, datalen);
	atomic_long_inc(priv);
	rtrs_srv_resp_rdma(id, 0);
	return 0;
}

static int __init rpages_init(void)
{
	struct rtrs_srv_ops ops = { .rdma_ev = rpages_rdma_ev, .link_ev = rpages_link_ev };

	if (!pages)
		return -EINVAL;
	rpages_mem.size = pages * PAGE_SIZE;
	rpages_info.bytes = cpu_to_le64(rpages_mem.size);
	rpages_info.instance = cpu_to_le64(get_random_u64() | 1);
	rpages_mem.data = vzalloc(rpages_mem.size);
	if (!rpages_mem.data)
		return -ENOMEM;
	rpages_ctx = rtrs_srv_open(&ops, RPAGES_PORT);
	if (IS_ERR(rpages_ctx)) {
		vfree(rpages_mem.data);
		return PTR_ERR(rpages_ctx);
	}
	rpages_file = debugfs_create_blob("rpages-server", 0400, NULL, &rpages_mem);
	return 0;
}

static void __exit rpages_exit(void)
{
	debugfs_remove(rpages_file);
	rtrs_srv_close(rpages_ctx);
	vfree(rpages_mem.data);
}

module_init(rpages_init);
module_exit(rpages_exit);
