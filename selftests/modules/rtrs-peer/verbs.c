// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work requests: receives, sends and writes of all kinds, registrations.
 *
 * Ownership: a posted work request has a struct peer_wr, with its memory, that is the queue's until its
 * completion frees it.  All are signalled, and the drain of a connection that is destroyed brings back
 * those that are left.
 */
#include <linux/err.h>
#include <linux/hex.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "peer.h"

/**
 * struct peer_wr - a work request on its way
 * @cqe: handler
 * @con: connection
 * @dma: mapped address of @mem
 * @bytes: size of @mem
 * @dir: who writes @mem
 * @mem: memory that goes with it, NULL if there is none
 * @keep: a receive that is posted again and says nothing
 * @keep_mask: bits of an immediate that name a key
 * @keep_off: where in the message its rkey is; beyond the end if nowhere
 */
struct peer_wr {
	struct ib_cqe cqe;
	struct peer_con *con;
	u64 dma;
	size_t bytes;
	enum dma_data_direction dir;
	void *mem;
	bool keep;
	u32 keep_mask;
	u32 keep_off;
};

static void peer_wr_free(struct peer_wr *pwr)
{
	if (pwr->mem) {
		ib_dma_unmap_single(pwr->con->id->device, pwr->dma, pwr->bytes, pwr->dir);
		kfree(pwr->mem);
	}
	kfree(pwr);
}

/* @data are copied; NULL for a receive. */
static struct peer_wr *peer_wr_alloc(struct peer_con *con, const void *data, size_t bytes)
{
	struct peer_wr *pwr = kzalloc(sizeof(*pwr), GFP_KERNEL);

	if (!pwr)
		return NULL;
	pwr->con = con;
	pwr->bytes = bytes;
	pwr->dir = data ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	if (!bytes)
		return pwr;
	pwr->mem = data ? kmemdup(data, bytes, GFP_KERNEL) : kzalloc(bytes, GFP_KERNEL);
	if (!pwr->mem)
		goto err_free;
	pwr->dma = ib_dma_map_single(con->id->device, pwr->mem, bytes, pwr->dir);
	if (ib_dma_mapping_error(con->id->device, pwr->dma))
		goto err_free_mem;
	return pwr;

err_free_mem:
	kfree(pwr->mem);
err_free:
	kfree(pwr);
	return NULL;
}

static struct ib_sge peer_wr_sge(const struct peer_wr *pwr)
{
	return (struct ib_sge) {
		.addr = pwr->dma,
		.length = pwr->bytes,
		.lkey = pwr->con->domain->pd->local_dma_lkey,
	};
}

/**
 * peer_verbs_con() - the connection of a name, if it has a queue pair
 * @cmd: the command
 * @name: the name
 *
 * Context: process; peer_mutex held.
 * Return: the connection, or NULL and the answer says why.
 */
struct peer_con *peer_verbs_con(struct peer_cmd *cmd, const char *name)
{
	struct peer_con *con = peer_con_find(cmd, name);

	if (con && !con->id->qp) {
		peer_error(cmd, -ENOTCONN, "con=%s: has no queue pair", name);
		return NULL;
	}
	return con;
}

/* What came, with immediate or invalidated key if it brought one, and the bytes. */
static void peer_recv_tell(struct peer_wr *pwr, const struct ib_wc *wc)
{
	bool write = wc->opcode == IB_WC_RECV_RDMA_WITH_IMM;
	size_t room = 128 + 2 * pwr->bytes, len, bytes;
	struct peer_event *ev;

	ev = kmalloc(struct_size(ev, text, room), GFP_KERNEL);
	if (!ev)
		return;
	len = scnprintf(ev->text, room, "recv op=%s len=%u", write ? "write" : "send",
			wc->byte_len);
	if (wc->wc_flags & IB_WC_WITH_IMM)
		len += scnprintf(ev->text + len, room - len, " imm=0x%08x",
				 be32_to_cpu(wc->ex.imm_data));
	else if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		len += scnprintf(ev->text + len, room - len, " inv=0x%08x",
				 wc->ex.invalidate_rkey);
	bytes = write ? 0 : min_t(size_t, wc->byte_len, pwr->bytes);
	if (bytes) {
		ib_dma_sync_single_for_cpu(pwr->con->id->device, pwr->dma, pwr->bytes, pwr->dir);
		len += scnprintf(ev->text + len, room - len, " data=");
		*bin2hex(ev->text + len, pwr->mem, bytes) = '\0';
	}
	peer_con_event(pwr->con, ev);
}

static int peer_recv_post(struct peer_wr *pwr)
{
	struct ib_sge sge = peer_wr_sge(pwr);
	struct ib_recv_wr wr = { .wr_cqe = &pwr->cqe };

	if (pwr->bytes) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	return ib_post_recv(pwr->con->id->qp, &wr, NULL);
}

/* What a message says of keys.  Return: 0 if the receive is posted again. */
static int peer_recv_keep(struct peer_wr *pwr, const struct ib_wc *wc)
{
	struct peer_con *con = pwr->con;
	u32 len = wc->opcode == IB_WC_RECV_RDMA_WITH_IMM ? 0 : wc->byte_len;
	const u8 *rkey = NULL;
	int ret;

	if (len >= 4 && pwr->keep_off <= len - 4) {
		ib_dma_sync_single_for_cpu(con->id->device, pwr->dma, pwr->bytes, pwr->dir);
		rkey = pwr->mem + pwr->keep_off;
	}
	if (wc->wc_flags & IB_WC_WITH_IMM)
		peer_key_heard(be32_to_cpu(wc->ex.imm_data) & pwr->keep_mask, rkey);
	ret = peer_recv_post(pwr);
	wake_up_all(&con->wait);
	return ret;
}

static void peer_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer_wr *pwr = container_of(wc->wr_cqe, struct peer_wr, cqe);

	if (wc->status == IB_WC_SUCCESS && pwr->keep && !peer_recv_keep(pwr, wc))
		return;
	if (wc->status == IB_WC_SUCCESS && !pwr->keep)
		peer_recv_tell(pwr, wc);
	else if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		peer_con_tell(pwr->con, "failed recv %u %s", wc->status,
			      ib_wc_status_msg(wc->status));
	peer_wr_free(pwr);
}

/**
 * struct peer_recv - arguments of the command "recv"
 * @nr: how many
 * @bytes: memory of each
 * @keep: they are posted again, and say nothing
 * @mask: bits of an immediate that name a key
 * @off: where in a message its rkey is
 */
struct peer_recv {
	u32 nr;
	u32 bytes;
	bool keep;
	u32 mask;
	u32 off;
};

static int peer_recv_one(struct peer_con *con, const struct peer_recv *recv)
{
	struct peer_wr *pwr;
	int ret;

	pwr = peer_wr_alloc(con, NULL, recv->bytes);
	if (!pwr)
		return -ENOMEM;
	pwr->cqe.done = peer_recv_done;
	pwr->keep = recv->keep;
	pwr->keep_mask = recv->mask;
	pwr->keep_off = recv->off;
	ret = peer_recv_post(pwr);
	if (ret)
		peer_wr_free(pwr);
	return ret;
}

/* "keep=<mask>[:<off>]" */
static int peer_recv_get_keep(struct peer_cmd *cmd, struct peer_recv *recv, char *word)
{
	char *off;
	int ret;

	if (strncmp(word, "keep=", 5))
		return peer_error(cmd, -EINVAL, "%s: wants keep=", word);
	word += 5;
	off = strchr(word, ':');
	if (off)
		*off++ = '\0';
	recv->keep = true;
	recv->off = U32_MAX;
	ret = peer_get_u32(cmd, "keep", word, U32_MAX, &recv->mask);
	if (!ret && off)
		ret = peer_get_u32(cmd, "keep", off, PEER_MAX_BYTES, &recv->off);
	return ret;
}

/**
 * peer_cmd_recv() - "recv <con> <number> <bytes> [keep=<mask>[:<off>]]": post receives
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_recv(struct peer_cmd *cmd)
{
	struct peer_recv recv = {};
	struct peer_con *con;
	u32 i;
	int ret;

	con = peer_verbs_con(cmd, cmd->argv[1]);
	if (!con)
		return -EINVAL;
	ret = peer_get_u32(cmd, "number", cmd->argv[2], PEER_QUEUE_DEPTH, &recv.nr);
	if (!ret)
		ret = peer_get_u32(cmd, "bytes", cmd->argv[3], PEER_ANSWER_BYTES / 2 - 128,
				   &recv.bytes);
	if (!ret && cmd->argc > 4)
		ret = peer_recv_get_keep(cmd, &recv, cmd->argv[4]);
	for (i = 0; !ret && i < recv.nr; i++) {
		ret = peer_recv_one(con, &recv);
		if (ret)
			return peer_error(cmd, ret, "con=%s: receive %u of %u", con->name, i + 1,
					  recv.nr);
	}
	return ret;
}

static void peer_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer_wr *pwr = container_of(wc->wr_cqe, struct peer_wr, cqe);
	struct peer_con *con = pwr->con;
	unsigned long flags;

	peer_wr_free(pwr);
	spin_lock_irqsave(&con->lock, flags);
	con->sends--;
	if (wc->status == IB_WC_SUCCESS)
		con->sends_ok++;
	else
		con->over = true;
	if (con->send_status == IB_WC_SUCCESS)
		con->send_status = wc->status;
	spin_unlock_irqrestore(&con->lock, flags);
	wake_up_all(&con->wait);
}

static const struct {
	const char *name;
	enum ib_wr_opcode op;
} peer_ops[] = {
	{ "send",	IB_WR_SEND },
	{ "send-imm",	IB_WR_SEND_WITH_IMM },
	{ "send-inv",	IB_WR_SEND_WITH_INV },
	{ "write",	IB_WR_RDMA_WRITE },
	{ "write-imm",	IB_WR_RDMA_WRITE_WITH_IMM },
};

/**
 * peer_get_op() - an opcode
 * @cmd: the command
 * @word: its name
 * @op: result
 *
 * Context: any.
 * Return: 0, or -EINVAL and the answer says why.
 */
int peer_get_op(struct peer_cmd *cmd, const char *word, enum ib_wr_opcode *op)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(peer_ops); i++) {
		if (strcmp(word, peer_ops[i].name))
			continue;
		*op = peer_ops[i].op;
		return 0;
	}
	return peer_error(cmd, -EINVAL, "op=%s: wants send, send-imm, send-inv, write or write-imm",
			  word);
}

/**
 * peer_op_name() - name of an opcode
 * @op: one that peer_get_op() gives
 *
 * Context: any.
 * Return: the name.
 */
const char *peer_op_name(enum ib_wr_opcode op)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(peer_ops); i++)
		if (peer_ops[i].op == op)
			return peer_ops[i].name;
	return "?";
}

/* One "key=value". */
static int peer_post_get_arg(struct peer_cmd *cmd, struct peer_post *post, char *word)
{
	char *val = strchr(word, '=');

	if (!val)
		return peer_error(cmd, -EINVAL, "%s: wants key=value", word);
	*val++ = '\0';
	if (!strcmp(word, "data")) {
		kfree(post->data);
		return peer_get_hex(cmd, word, val, &post->data, &post->data_len);
	}
	if (!strcmp(word, "buf")) {
		post->buf = peer_buf_find(cmd, val);
		return post->buf ? 0 : -ENOENT;
	}
	if (!strcmp(word, "raddr"))
		return peer_get_u64(cmd, word, val, U64_MAX, &post->raddr);
	if (!strcmp(word, "off"))
		return peer_get_u32(cmd, word, val, PEER_MAX_BYTES, &post->off);
	if (!strcmp(word, "len"))
		return peer_get_u32(cmd, word, val, PEER_MAX_BYTES, &post->len);
	if (!strcmp(word, "nr"))
		return peer_get_u32(cmd, word, val, PEER_QUEUE_DEPTH, &post->nr);
	if (!strcmp(word, "rkey"))
		return peer_get_u32(cmd, word, val, U32_MAX, &post->rkey);
	if (!strcmp(word, "imm"))
		return peer_get_u32(cmd, word, val, U32_MAX, &post->imm);
	if (!strcmp(word, "step"))
		return peer_get_u32(cmd, word, val, U32_MAX, &post->step);
	if (!strcmp(word, "inv"))
		return peer_get_u32(cmd, word, val, U32_MAX, &post->inv);
	return peer_error(cmd, -EINVAL,
			  "%s: wants data, buf, off, len, nr, raddr, rkey, imm, step or inv", word);
}

static int peer_post_get(struct peer_cmd *cmd, struct peer_post *post)
{
	int i, ret;

	ret = peer_get_op(cmd, cmd->argv[2], &post->op);
	for (i = 3; !ret && i < cmd->argc; i++)
		ret = peer_post_get_arg(cmd, post, cmd->argv[i]);
	if (!ret && post->buf)
		ret = peer_buf_range(cmd, post->buf, post->off, post->len);
	if (!ret && post->data && post->buf)
		ret = peer_error(cmd, -EINVAL, "data and buf: wants one of them");
	return ret;
}

/**
 * peer_post_one() - post a send or a write
 * @con: connection, with a queue pair
 * @post: what; its data are copied
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0 or negative errno.
 */
int peer_post_one(struct peer_con *con, const struct peer_post *post)
{
	struct ib_rdma_wr wr = {
		.wr.opcode = post->op,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = post->raddr,
		.rkey = post->rkey,
	};
	struct peer_wr *pwr;
	struct ib_sge sge;
	int ret;

	pwr = peer_wr_alloc(con, post->data, post->data_len);
	if (!pwr)
		return -ENOMEM;
	pwr->cqe.done = peer_send_done;
	wr.wr.wr_cqe = &pwr->cqe;
	if (post->op == IB_WR_SEND_WITH_INV)
		wr.wr.ex.invalidate_rkey = post->inv;
	else
		wr.wr.ex.imm_data = cpu_to_be32(post->imm);
	sge = peer_wr_sge(pwr);
	if (post->buf) {
		sge.addr = post->buf->dma + post->off;
		sge.length = post->len;
	}
	if (sge.length) {
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = 1;
	}

	spin_lock_irq(&con->lock);
	con->sends++;
	spin_unlock_irq(&con->lock);
	ret = ib_post_send(con->id->qp, &wr.wr, NULL);
	if (ret) {
		spin_lock_irq(&con->lock);
		con->sends--;
		spin_unlock_irq(&con->lock);
		peer_wr_free(pwr);
	}
	return ret;
}

/**
 * peer_cmd_post() - "post <con> <op> [<key>=<value>...]": post a send or a write
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_post(struct peer_cmd *cmd)
{
	struct peer_post post = { .nr = 1 };
	struct peer_con *con;
	u32 i;
	int ret;

	con = peer_verbs_con(cmd, cmd->argv[1]);
	if (!con)
		return -EINVAL;
	ret = peer_post_get(cmd, &post);
	for (i = 0; !ret && i < post.nr; i++) {
		ret = peer_post_one(con, &post);
		if (ret)
			peer_error(cmd, ret, "con=%s: %u of %u", con->name, i + 1, post.nr);
		post.imm += post.step;
	}
	kfree(post.data);
	return ret;
}

static void peer_sync_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer_sync *sync = container_of(wc->wr_cqe, struct peer_sync, cqe);

	sync->status = wc->status;
	complete(&sync->done);
}

/* Post a work request that is over in no time, and wait for it. */
static int peer_post_sync(struct peer_cmd *cmd, struct peer_con *con, struct ib_send_wr *wr)
{
	struct peer_sync sync = { .cqe.done = peer_sync_done };
	int ret;

	init_completion(&sync.done);
	wr->wr_cqe = &sync.cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	ret = ib_post_send(con->id->qp, wr, NULL);
	if (ret)
		return peer_error(cmd, ret, "con=%s: posting it", con->name);
	if (!wait_for_completion_timeout(&sync.done, msecs_to_jiffies(PEER_STEP_MS))) {
		/* It points into this frame: the queue has to give it back. */
		ib_drain_qp(con->id->qp);
		return peer_error(cmd, -ETIMEDOUT, "con=%s: no completion, queue pair stopped",
				  con->name);
	}
	if (sync.status != IB_WC_SUCCESS)
		return peer_error(cmd, -EIO, "con=%s: %s", con->name,
				  ib_wc_status_msg(sync.status));
	return 0;
}

static int peer_buf_register(struct peer_cmd *cmd, struct peer_con *con, struct peer_buf *buf)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = buf->mr,
		.key = buf->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	int ret = peer_post_sync(cmd, con, &wr.wr);

	if (!ret)
		peer_say(cmd, "addr=0x%llx rkey=0x%08x", buf->mr->iova, buf->mr->rkey);
	return ret;
}

/**
 * peer_cmd_buf() - "buf <buf> <con> <bytes>": memory the other side may write
 * @cmd: the command
 *
 * Registered through the connection, which must be established; all connections on the same device may
 * be used to write it.
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_buf(struct peer_cmd *cmd)
{
	struct peer_buf *buf;
	struct peer_con *con;
	u32 bytes;
	int ret;

	con = peer_verbs_con(cmd, cmd->argv[2]);
	if (!con)
		return -EINVAL;
	ret = peer_get_u32(cmd, "bytes", cmd->argv[3], PEER_MAX_BYTES, &bytes);
	if (ret)
		return ret;
	if (!bytes)
		return peer_error(cmd, -EINVAL, "bytes=0: wants 1 to %u", PEER_MAX_BYTES);
	ret = peer_buf_alloc(cmd, cmd->argv[1], con->domain, bytes, &buf);
	if (ret)
		return ret;
	ret = peer_buf_register(cmd, con, buf);
	if (ret)
		peer_buf_free(buf);
	return ret;
}

/**
 * peer_cmd_rereg() - "rereg <buf> <con>": register an invalidated buffer again, with a new key
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_rereg(struct peer_cmd *cmd)
{
	struct peer_buf *buf = peer_buf_find(cmd, cmd->argv[1]);
	struct peer_con *con;

	if (!buf)
		return -ENOENT;
	con = peer_verbs_con(cmd, cmd->argv[2]);
	if (!con)
		return -EINVAL;
	if (con->domain != buf->domain)
		return peer_error(cmd, -EXDEV, "con=%s: on another device than buffer %s",
				  con->name, buf->name);
	ib_update_fast_reg_key(buf->mr, ib_inc_rkey(buf->mr->rkey));
	return peer_buf_register(cmd, con, buf);
}

/**
 * peer_cmd_inv() - "inv <con> <rkey>": invalidate a key of ours
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_inv(struct peer_cmd *cmd)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV };
	struct peer_con *con;
	int ret;

	con = peer_verbs_con(cmd, cmd->argv[1]);
	if (!con)
		return -EINVAL;
	ret = peer_get_u32(cmd, "rkey", cmd->argv[2], U32_MAX, &wr.ex.invalidate_rkey);
	return ret ? ret : peer_post_sync(cmd, con, &wr);
}
