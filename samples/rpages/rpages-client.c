// SPDX-License-Identifier: GPL-2.0-only
/* rpages-client: the memory of an rpages-server as a file, /dev/rpages. */

#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>
#include <rdma/rtrs.h>
#include "rpages.h"

MODULE_DESCRIPTION("Sample ULP of RTRS: a client of memory");
MODULE_LICENSE("GPL");

static char *session = "rpages";
module_param(session, charp, 0444);
MODULE_PARM_DESC(session, "Name of the session, which no other client may have (default: rpages)");

static char *path[8];
static unsigned int nr_paths;
module_param_array(path, charp, &nr_paths, 0444);
MODULE_PARM_DESC(path, "Paths, with commas between them, each [<client>@]<server>");

static struct rtrs_clt_sess *rpages_sess;
static bool rpages_up = true;		/* written by rpages_link_ev() alone */
static DECLARE_WAIT_QUEUE_HEAD(rpages_wait);

#define RPAGES_IO_PAGES	16		/* of a request, if RTRS and the server take so many */

struct rpages_file {
	u8 buf[RPAGES_IO_PAGES * PAGE_SIZE];
	struct scatterlist sg[RPAGES_IO_PAGES];		/* its pages */
	struct mutex lock;				/* one request at a time */
	struct completion done;
	int error;
	size_t max_io;					/* bytes */
	struct rpages_info info;
};

/* A mutex of the session is held: to wait for a request here could be to wait for ever. */
static void rpages_link_ev(void *priv, enum rtrs_clt_link_ev ev)
{
	WRITE_ONCE(rpages_up, ev == RTRS_CLT_LINK_EV_RECONNECTED);
	wake_up_all(&rpages_wait);
	pr_info("rpages: session %s %s\n", session, rpages_up ? "is back" : "has lost its last path");
}

/* Maybe in an interrupt, maybe before rtrs_clt_request() returns. */
static void rpages_done(void *priv, int error)
{
	struct rpages_file *mine = priv;

	mine->error = error;
	complete(&mine->done);
}

static int rpages_call(struct rpages_file *mine, int dir, u64 offset, size_t len)
{
	struct rpages_msg msg = { .instance = mine->info.instance, .offset = cpu_to_le64(offset) };
	struct rtrs_clt_req_ops ops = { .priv = mine, .conf_fn = rpages_done };
	struct kvec vec = { .iov_base = &msg, .iov_len = sizeof(msg) };
	int ret = wait_event_interruptible(rpages_wait, READ_ONCE(rpages_up));
	struct rtrs_permit *permit;

	if (ret)
		return ret;
	permit = rtrs_clt_get_permit(rpages_sess, RTRS_IO_CON, RTRS_PERMIT_WAIT);
	while ((ret = rtrs_clt_request(dir, &ops, rpages_sess, permit, &vec, 1, len, mine->sg,
				       DIV_ROUND_UP(len, PAGE_SIZE))) == -EAGAIN)
		msleep(1);		/* the send queue is full */
	if (!ret) {
		wait_for_completion(&mine->done);
		ret = mine->error;
	}
	rtrs_clt_put_permit(rpages_sess, permit);
	return ret;
}

static ssize_t rpages_io(struct kiocb *iocb, struct iov_iter *iter)
{
	struct rpages_file *mine = iocb->ki_filp->private_data;
	u64 pos = iocb->ki_pos, bytes = le64_to_cpu(mine->info.bytes);
	size_t len = min(iov_iter_count(iter), mine->max_io);
	int ret = 0, dir = iov_iter_rw(iter);

	if (!len || pos >= bytes)
		return len && dir == WRITE ? -ENOSPC : 0;
	len = min_t(u64, len, bytes - pos);
	if (mutex_lock_interruptible(&mine->lock))
		return -ERESTARTSYS;
	if (dir == WRITE && !copy_from_iter_full(mine->buf, len, iter))
		ret = -EFAULT;
	ret = ret ?: rpages_call(mine, dir, pos, len);
	if (!ret && dir == READ && copy_to_iter(mine->buf, len, iter) != len)
		ret = -EFAULT;
	mutex_unlock(&mine->lock);
	iocb->ki_pos += ret ? 0 : len;
	return ret ?: len;
}

static int rpages_open(struct inode *inode, struct file *filp)
{
	struct rpages_file *mine = vzalloc(sizeof(*mine));
	struct rtrs_attrs attrs = {};
	int i, ret;

	if (!mine)
		return -ENOMEM;
	mutex_init(&mine->lock);
	init_completion(&mine->done);
	sg_init_table(mine->sg, RPAGES_IO_PAGES);
	for (i = 0; i < RPAGES_IO_PAGES; i++)
		sg_set_page(&mine->sg[i], vmalloc_to_page(mine->buf + i * PAGE_SIZE), PAGE_SIZE, 0);
	ret = rpages_call(mine, READ, 0, sizeof(mine->info)) ?: rtrs_clt_query(rpages_sess, &attrs);
	memcpy(&mine->info, mine->buf, sizeof(mine->info));
	if (!ret && !mine->info.instance)
		ret = -EPROTO;
	mine->max_io = min3(sizeof(mine->buf), attrs.max_segments * PAGE_SIZE, (size_t)attrs.max_io_size);
	filp->private_data = mine;
	if (ret)
		vfree(mine);
	return ret;
}

static int rpages_release(struct inode *inode, struct file *filp)
{
	vfree(filp->private_data);
	return 0;
}

static const struct file_operations rpages_fops = {
	.owner = THIS_MODULE,		/* no unload while it is open */
	.open = rpages_open,
	.release = rpages_release,
	.read_iter = rpages_io,
	.write_iter = rpages_io,
	.llseek = default_llseek,
};

static struct miscdevice rpages_dev = { MISC_DYNAMIC_MINOR, "rpages", &rpages_fops, .mode = 0600 };

static int __init rpages_init(void)
{
	static struct sockaddr_storage src[ARRAY_SIZE(path)] __initdata, dst[ARRAY_SIZE(path)] __initdata;
	struct rtrs_clt_ops ops = { .link_ev = rpages_link_ev };
	struct rtrs_addr addrs[ARRAY_SIZE(path)];
	int i, ret = 0;

	for (i = 0; !ret && i < nr_paths; i++) {
		addrs[i] = (struct rtrs_addr) { .src = &src[i], .dst = &dst[i] };
		ret = rtrs_addr_to_sockaddr(path[i], strlen(path[i]), RPAGES_PORT, &addrs[i]);
	}
	if (ret)
		return ret;
	rpages_sess = rtrs_clt_open(&ops, session, addrs, nr_paths, RPAGES_PORT, 0, 30, -1, 0);
	if (IS_ERR(rpages_sess))
		return PTR_ERR(rpages_sess);
	ret = misc_register(&rpages_dev);
	if (ret)
		rtrs_clt_close(rpages_sess);
	return ret;
}

static void __exit rpages_exit(void)
{
	misc_deregister(&rpages_dev);
	rtrs_clt_close(rpages_sess);
}

module_init(rpages_init);
module_exit(rpages_exit);
