// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains and buffers.
 *
 * Ownership: a domain lives as long as a connection or a buffer on it.  A buffer is the command's until
 * it is in the list, then the list's.  Its memory may be written by the other side for as long as the
 * registration exists; freeing it ends that first.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "peer.h"

/* Both guarded by peer_mutex. */
static LIST_HEAD(peer_domains);
static LIST_HEAD(peer_bufs);

/**
 * peer_domain_get() - protection domain of a device
 * @dev: the device
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: the domain or an ERR_PTR.
 */
struct peer_domain *peer_domain_get(struct ib_device *dev)
{
	struct peer_domain *domain;
	struct ib_pd *pd;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry(domain, &peer_domains, entry) {
		if (domain->pd->device != dev)
			continue;
		domain->users++;
		return domain;
	}
	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd)) {
		kfree(domain);
		return ERR_CAST(pd);
	}
	domain->pd = pd;
	domain->users = 1;
	list_add_tail(&domain->entry, &peer_domains);
	return domain;
}

/**
 * peer_domain_put() - one user less
 * @domain: the domain
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_domain_put(struct peer_domain *domain)
{
	lockdep_assert_held(&peer_mutex);
	if (--domain->users)
		return;
	list_del(&domain->entry);
	ib_dealloc_pd(domain->pd);
	kfree(domain);
}

static struct peer_buf *peer_buf_lookup(const char *name, unsigned int *nr)
{
	struct peer_buf *buf;

	*nr = 0;
	list_for_each_entry(buf, &peer_bufs, entry) {
		if (!strcmp(buf->name, name))
			return buf;
		++*nr;
	}
	return NULL;
}

/**
 * peer_buf_find() - the buffer of a name
 * @cmd: the command
 * @name: the name
 *
 * Context: process; peer_mutex held.
 * Return: the buffer, or NULL and the answer says why.
 */
struct peer_buf *peer_buf_find(struct peer_cmd *cmd, const char *name)
{
	struct peer_buf *buf;
	unsigned int nr;

	lockdep_assert_held(&peer_mutex);
	buf = peer_buf_lookup(name, &nr);
	if (!buf)
		peer_error(cmd, -ENOENT, "buf=%s: there is no such buffer", name);
	return buf;
}

/**
 * peer_buf_range() - is a range within a buffer
 * @cmd: the command
 * @buf: the buffer
 * @off: start
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or -ERANGE and the answer says why.
 */
int peer_buf_range(struct peer_cmd *cmd, const struct peer_buf *buf, u32 off, u32 len)
{
	if (off > buf->bytes || len > buf->bytes - off)
		return peer_error(cmd, -ERANGE, "off=%u len=%u: buffer %s has %zu bytes", off, len,
				  buf->name, buf->bytes);
	return 0;
}

static int peer_buf_map(struct peer_buf *buf)
{
	struct ib_pd *pd = buf->domain->pd;
	int ret;

	buf->dma = ib_dma_map_single(pd->device, buf->mem, buf->bytes, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(pd->device, buf->dma))
		return -EIO;
	buf->mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, DIV_ROUND_UP(buf->bytes, SZ_4K) + 1);
	if (IS_ERR(buf->mr)) {
		ret = PTR_ERR(buf->mr);
		goto err_unmap;
	}
	sg_init_one(&buf->sg, buf->mem, buf->bytes);
	sg_dma_address(&buf->sg) = buf->dma;
	sg_dma_len(&buf->sg) = buf->bytes;
	ret = ib_map_mr_sg(buf->mr, &buf->sg, 1, NULL, SZ_4K);
	if (ret != 1) {
		ret = ret < 0 ? ret : -EINVAL;
		goto err_free_mr;
	}
	return 0;

err_free_mr:
	ib_dereg_mr(buf->mr);
err_unmap:
	ib_dma_unmap_single(pd->device, buf->dma, buf->bytes, DMA_BIDIRECTIONAL);
	return ret;
}

/**
 * peer_buf_alloc() - allocate and map a buffer
 * @cmd: the command
 * @name: its name
 * @domain: where to register it; a use of it is taken
 * @bytes: its size, 1 to PEER_MAX_BYTES
 * @bufp: result: zeroed, in the list, its registration not posted yet
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_buf_alloc(struct peer_cmd *cmd, const char *name, struct peer_domain *domain, u32 bytes,
		   struct peer_buf **bufp)
{
	struct peer_buf *buf;
	unsigned int nr;
	int ret;

	ret = peer_get_name(cmd, "buf", name);
	if (ret)
		return ret;
	if (peer_buf_lookup(name, &nr))
		return peer_error(cmd, -EEXIST, "buf=%s: there is one already", name);
	if (nr >= PEER_MAX_BUFS)
		return peer_error(cmd, -ENOSPC, "buf=%s: there are %u buffers", name, nr);

	buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return peer_error(cmd, -ENOMEM, "buf=%s", name);
	strscpy(buf->name, name, sizeof(buf->name));
	buf->bytes = bytes;
	buf->domain = domain;
	buf->mem = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	ret = buf->mem ? peer_buf_map(buf) : -ENOMEM;
	if (ret) {
		if (buf->mem)
			free_pages_exact(buf->mem, bytes);
		kfree(buf);
		return peer_error(cmd, ret, "buf=%s: %u bytes of registered memory", name, bytes);
	}
	domain->users++;
	list_add_tail(&buf->entry, &peer_bufs);
	*bufp = buf;
	return 0;
}

/**
 * peer_buf_free() - free a buffer
 * @buf: the buffer, in the list
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_buf_free(struct peer_buf *buf)
{
	struct ib_device *dev = buf->domain->pd->device;

	list_del(&buf->entry);
	ib_dereg_mr(buf->mr);
	ib_dma_unmap_single(dev, buf->dma, buf->bytes, DMA_BIDIRECTIONAL);
	free_pages_exact(buf->mem, buf->bytes);
	peer_domain_put(buf->domain);
	kfree(buf);
}

/**
 * peer_bufs_free() - free all buffers
 * @dev: those of this device only; NULL for all
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_bufs_free(const struct ib_device *dev)
{
	struct peer_buf *buf, *tmp;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry_safe(buf, tmp, &peer_bufs, entry)
		if (!dev || buf->domain->pd->device == dev)
			peer_buf_free(buf);
}

/* Words 1 and 2 of a command: buffer and offset. */
static struct peer_buf *peer_buf_args(struct peer_cmd *cmd, u32 *off)
{
	struct peer_buf *buf = peer_buf_find(cmd, cmd->argv[1]);

	if (buf && peer_get_u32(cmd, "off", cmd->argv[2], PEER_MAX_BYTES, off))
		return NULL;
	return buf;
}

static void peer_buf_to_device(struct peer_buf *buf)
{
	ib_dma_sync_single_for_device(buf->domain->pd->device, buf->dma, buf->bytes,
				      DMA_BIDIRECTIONAL);
}

/**
 * peer_cmd_put() - "put <buf> <off> <hex>": write into a buffer
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_put(struct peer_cmd *cmd)
{
	struct peer_buf *buf;
	size_t len;
	u8 *data;
	u32 off;
	int ret;

	buf = peer_buf_args(cmd, &off);
	if (!buf)
		return -EINVAL;
	ret = peer_get_hex(cmd, "hex", cmd->argv[3], &data, &len);
	if (ret)
		return ret;
	ret = peer_buf_range(cmd, buf, off, len);
	if (!ret) {
		memcpy(buf->mem + off, data, len);
		peer_buf_to_device(buf);
	}
	kfree(data);
	return ret;
}

/**
 * peer_cmd_fill() - "fill <buf> <off> <len> <byte>": the same byte, many times
 * @cmd: the command
 *
 * Context: process; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_fill(struct peer_cmd *cmd)
{
	u32 off, len, byte;
	struct peer_buf *buf;
	int ret;

	buf = peer_buf_args(cmd, &off);
	if (!buf)
		return -EINVAL;
	ret = peer_get_u32(cmd, "len", cmd->argv[3], PEER_MAX_BYTES, &len);
	if (!ret)
		ret = peer_get_u32(cmd, "byte", cmd->argv[4], 255, &byte);
	if (!ret)
		ret = peer_buf_range(cmd, buf, off, len);
	if (ret)
		return ret;
	memset(buf->mem + off, byte, len);
	peer_buf_to_device(buf);
	return 0;
}

/**
 * peer_cmd_get() - "get <buf> <off> <len>": what is in a buffer
 * @cmd: the command
 *
 * Context: process; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_get(struct peer_cmd *cmd)
{
	struct peer_buf *buf;
	u32 off, len;
	int ret;

	buf = peer_buf_args(cmd, &off);
	if (!buf)
		return -EINVAL;
	ret = peer_get_u32(cmd, "len", cmd->argv[3], PEER_ANSWER_BYTES / 2 - 1, &len);
	if (!ret)
		ret = peer_buf_range(cmd, buf, off, len);
	if (ret)
		return ret;
	ib_dma_sync_single_for_cpu(buf->domain->pd->device, buf->dma, buf->bytes,
				   DMA_BIDIRECTIONAL);
	peer_say_hex(cmd, buf->mem + off, len);
	return 0;
}

/**
 * peer_cmd_free() - "free <buf>"
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_free(struct peer_cmd *cmd)
{
	struct peer_buf *buf = peer_buf_find(cmd, cmd->argv[1]);

	if (!buf)
		return -ENOENT;
	peer_buf_free(buf);
	return 0;
}
