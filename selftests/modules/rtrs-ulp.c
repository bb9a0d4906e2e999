// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtrs-ulp: the smallest ULP of RTRS, server and client in one, for tests.  README beside this has how it is
 * used.
 *
 * The server answers each READ with the user message that came with it.  The client sends one in the pieces
 * that it is told, and compares.  With parameter writes it sends the message in WRITEs without data instead.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <rdma/rtrs.h>

MODULE_DESCRIPTION("Smallest ULP of RTRS, for tests");
MODULE_LICENSE("GPL");

#define ULP_LINE_BYTES	512
#define ULP_MAX_PIECES	8

static ushort ulp_port = 1235;
module_param_named(port, ulp_port, ushort, 0444);
MODULE_PARM_DESC(port, "Port to listen on (default: 1235)");

static uint ulp_writes;
module_param_named(writes, ulp_writes, uint, 0644);
MODULE_PARM_DESC(writes, "Send each message in this many WRITEs, one after the other, and in no READ (default: 0)");

static struct rtrs_srv_ctx *ulp_ctx;
static struct dentry *ulp_dir;

/**
 * struct ulp_send - a user message on its way
 * @sess: session it is sent over
 * @mem: its bytes
 * @result: what the server has sent back
 * @vec: its pieces
 * @nr: number of @vec
 * @len: bytes of all pieces
 * @done: the request is completed
 * @error: and how
 */
struct ulp_send {
	struct rtrs_clt_sess *sess;
	u8 *mem;
	u8 *result;
	struct kvec vec[ULP_MAX_PIECES];
	size_t nr;
	size_t len;
	struct completion done;
	int error;
};

static int ulp_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data, size_t datalen,
		       const void *usr, size_t usrlen)
{
	if (id->dir == WRITE && ulp_writes) {
		rtrs_srv_resp_rdma(id, 0);
		return 0;
	}
	if (id->dir != READ || datalen < usrlen)
		return -EINVAL;
	memcpy(data, usr, usrlen);
	rtrs_srv_resp_rdma(id, 0);
	return 0;
}

static int ulp_srv_link_ev(struct rtrs_srv_sess *sess, enum rtrs_srv_link_ev ev, void *priv)
{
	return 0;
}

static void ulp_clt_link_ev(void *priv, enum rtrs_clt_link_ev ev)
{
}

static void ulp_send_done(void *priv, int errno)
{
	struct ulp_send *send = priv;

	send->error = errno;
	complete(&send->done);
}

static int ulp_send_one(struct ulp_send *send, struct rtrs_permit *permit, int dir, struct scatterlist *sg)
{
	struct rtrs_clt_req_ops ops = { .priv = send, .conf_fn = ulp_send_done };
	int ret;

	reinit_completion(&send->done);
	ret = rtrs_clt_request(dir, &ops, send->sess, permit, send->vec, send->nr, sg ? send->len : 0, sg, sg ? 1 : 0);
	if (ret)
		return ret;
	wait_for_completion(&send->done);
	return send->error;
}

static int ulp_send_request(struct ulp_send *send)
{
	unsigned int i, writes = READ_ONCE(ulp_writes);
	struct rtrs_permit *permit;
	struct scatterlist sg;
	int ret = 0;

	sg_init_one(&sg, send->result, send->len);
	permit = rtrs_clt_get_permit(send->sess, RTRS_IO_CON, RTRS_PERMIT_WAIT);
	for (i = 0; !ret && i < writes; i++)
		ret = ulp_send_one(send, permit, WRITE, NULL);
	if (!writes)
		ret = ulp_send_one(send, permit, READ, &sg);
	rtrs_clt_put_permit(send->sess, permit);
	if (writes)
		return ret;
	if (!ret && memcmp(send->mem, send->result, send->len))
		ret = -EILSEQ;
	return ret;
}

/* Pieces with nothing between them, of bytes that do not repeat soon. */
static int ulp_send_cut(struct ulp_send *send, char **words, int nr)
{
	unsigned int bytes;
	size_t i;

	for (send->nr = 0; send->nr < nr; send->nr++) {
		if (kstrtouint(words[send->nr], 10, &bytes) || bytes > PAGE_SIZE)
			return -EINVAL;
		send->vec[send->nr].iov_base = send->mem + send->len;
		send->vec[send->nr].iov_len = bytes;
		send->len += bytes;
	}
	for (i = 0; i < send->len; i++)
		send->mem[i] = i * 7 + i / 251;
	return 0;
}

static int ulp_send_over(struct ulp_send *send, const char *name, const char *path)
{
	struct rtrs_clt_ops ops = { .link_ev = ulp_clt_link_ev };
	struct sockaddr_storage src, dst;
	struct rtrs_addr addr = { .src = &src, .dst = &dst };
	int ret;

	ret = rtrs_addr_to_sockaddr(path, strlen(path), ulp_port, &addr);
	if (ret)
		return ret;
	send->sess = rtrs_clt_open(&ops, name, &addr, 1, ulp_port, 0, 1, 0, 0);
	if (IS_ERR(send->sess))
		return PTR_ERR(send->sess);
	ret = ulp_send_request(send);
	rtrs_clt_close(send->sess);
	return ret;
}

/* "<session> <path> <bytes> [<bytes>...]" */
static int ulp_send_words(char **words, int nr)
{
	struct ulp_send send = {};
	int ret = -EINVAL;

	if (nr < 3 || nr > 2 + ULP_MAX_PIECES)
		return ret;
	init_completion(&send.done);
	send.mem = kzalloc(ULP_MAX_PIECES * PAGE_SIZE, GFP_KERNEL);
	send.result = kzalloc(ULP_MAX_PIECES * PAGE_SIZE, GFP_KERNEL);
	if (!send.mem || !send.result)
		ret = -ENOMEM;
	else
		ret = ulp_send_cut(&send, words + 2, nr - 2);
	if (!ret)
		ret = ulp_send_over(&send, words[0], words[1]);
	kfree(send.result);
	kfree(send.mem);
	return ret;
}

static ssize_t ulp_send_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	char *line, **words;
	int nr, ret;

	if (count > ULP_LINE_BYTES)
		return -E2BIG;
	line = memdup_user_nul(buf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	words = argv_split(GFP_KERNEL, line, &nr);
	kfree(line);
	if (!words)
		return -ENOMEM;
	ret = ulp_send_words(words, nr);
	argv_free(words);
	return ret ? ret : count;
}

static const struct file_operations ulp_send_fops = {
	.owner = THIS_MODULE,
	.write = ulp_send_write,
};

static int __init ulp_init(void)
{
	struct rtrs_srv_ops ops = { .rdma_ev = ulp_rdma_ev, .link_ev = ulp_srv_link_ev };

	ulp_ctx = rtrs_srv_open(&ops, ulp_port);
	if (IS_ERR(ulp_ctx))
		return PTR_ERR(ulp_ctx);
	ulp_dir = debugfs_create_dir("rtrs-ulp", NULL);
	debugfs_create_file("send", 0200, ulp_dir, NULL, &ulp_send_fops);
	return 0;
}

static void __exit ulp_exit(void)
{
	debugfs_remove(ulp_dir);
	rtrs_srv_close(ulp_ctx);
}

module_init(ulp_init);
module_exit(ulp_exit);
