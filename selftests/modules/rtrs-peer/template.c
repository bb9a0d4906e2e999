// SPDX-License-Identifier: GPL-2.0-only
/*
 * What mutate.c works on: templates, in sets, and keys, numbered places in the other side's memory.
 *
 * Ownership: a template is the command's until it is in the list, then the list's.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "peer.h"

#define PEER_MAX_TEMPLATES	512

/* Guarded by peer_mutex. */
static LIST_HEAD(peer_templates);
static unsigned int peer_nr_templates;

/* Guarded by the lock, which is innermost. */
static struct peer_key peer_keys[PEER_MAX_KEYS];
static DEFINE_SPINLOCK(peer_keys_lock);

/**
 * peer_template_weight() - how much all templates of a set weigh
 * @set: its name
 *
 * Context: process; peer_mutex held.
 * Return: the sum; 0 if there are none.
 */
u32 peer_template_weight(const char *set)
{
	const struct peer_template *t;
	u32 weight = 0;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry(t, &peer_templates, entry)
		if (!strcmp(t->set, set))
			weight += t->weight;
	return weight;
}

/**
 * peer_template_at() - one template of a set
 * @set: its name
 * @at: below the weight of the set; each template covers as much of that as it weighs
 *
 * Context: process; peer_mutex held.
 * Return: the template.
 */
const struct peer_template *peer_template_at(const char *set, u32 at)
{
	const struct peer_template *t;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry(t, &peer_templates, entry) {
		if (strcmp(t->set, set))
			continue;
		if (at < t->weight)
			return t;
		at -= t->weight;
	}
	return NULL;
}

/**
 * peer_key_get() - a key as it is now
 * @key: its number; -1 for none, which is all zero
 *
 * Context: any.
 * Return: the key.
 */
struct peer_key peer_key_get(int key)
{
	struct peer_key val = {};
	unsigned long flags;

	if (key < 0)
		return val;
	spin_lock_irqsave(&peer_keys_lock, flags);
	val = peer_keys[key];
	spin_unlock_irqrestore(&peer_keys_lock, flags);
	return val;
}

/**
 * peer_key_set_busy() - something was written through a key
 * @key: its number
 * @busy: wait for somebody to name it, before the next one
 *
 * Context: any.
 */
void peer_key_set_busy(int key, bool busy)
{
	unsigned long flags;

	spin_lock_irqsave(&peer_keys_lock, flags);
	peer_keys[key].busy = busy;
	spin_unlock_irqrestore(&peer_keys_lock, flags);
}

/**
 * peer_key_heard() - a message came on a receive with keep=
 * @index: key that it names
 * @rkey: little endian, what opens it from now on, in the message; NULL if it says nothing about that
 *
 * Context: completion handler.
 */
void peer_key_heard(u32 index, const u8 *rkey)
{
	unsigned long flags;
	__le32 raw;

	if (index >= PEER_MAX_KEYS)
		return;
	spin_lock_irqsave(&peer_keys_lock, flags);
	peer_keys[index].busy = false;
	if (rkey) {
		memcpy(&raw, rkey, sizeof(raw));
		peer_keys[index].rkey = le32_to_cpu(raw);
	}
	spin_unlock_irqrestore(&peer_keys_lock, flags);
}

static int peer_get_key(struct peer_cmd *cmd, const char *what, const char *word, int *key)
{
	u32 val;
	int ret = peer_get_u32(cmd, what, word, PEER_MAX_KEYS - 1, &val);

	if (!ret)
		*key = val;
	return ret;
}

/* "<number><sep><number>" */
static int peer_get_pair(struct peer_cmd *cmd, const char *what, char *word, char sep, u32 *a,
			 u32 *b)
{
	char *other = strchr(word, sep);
	int ret;

	if (!other)
		return peer_error(cmd, -EINVAL, "%s=%s: wants two numbers and %c between them", what,
				  word, sep);
	*other++ = '\0';
	ret = peer_get_u32(cmd, what, word, U32_MAX, a);
	return ret ? ret : peer_get_u32(cmd, what, other, U32_MAX, b);
}

static int peer_template_arg(struct peer_cmd *cmd, struct peer_template *t, char *word)
{
	char *val = strchr(word, '=');
	u32 key = 0;
	int ret;

	if (!val)
		return peer_error(cmd, -EINVAL, "%s: wants key=value", word);
	*val++ = '\0';
	if (!strcmp(word, "data")) {
		kfree(t->post.data);
		return peer_get_hex(cmd, word, val, &t->post.data, &t->post.data_len);
	}
	if (!strcmp(word, "imm"))
		return peer_get_u32(cmd, word, val, U32_MAX, &t->post.imm);
	if (!strcmp(word, "inv"))
		return peer_get_u32(cmd, word, val, U32_MAX, &t->post.inv);
	if (!strcmp(word, "raddr"))
		return peer_get_u64(cmd, word, val, U64_MAX, &t->post.raddr);
	if (!strcmp(word, "weight"))
		return peer_get_u32(cmd, word, val, 1000, &t->weight);
	if (!strcmp(word, "key"))
		return peer_get_key(cmd, word, val, &t->key);
	if (!strcmp(word, "invkey"))
		return peer_get_key(cmd, word, val, &t->inv_key);
	if (!strcmp(word, "tameimm"))
		return peer_get_u32(cmd, word, val, U32_MAX, &t->tame_imm);
	if (!strcmp(word, "tame"))
		return peer_get_pair(cmd, word, val, '-', &t->tame_from, &t->tame_to);
	if (!strcmp(word, "desc")) {
		ret = peer_get_pair(cmd, word, val, ':', &t->desc_off, &key);
		if (!ret && key >= PEER_MAX_KEYS)
			ret = peer_error(cmd, -EINVAL, "desc: key %u", key);
		t->desc_key = key;
		return ret;
	}
	return peer_error(cmd, -EINVAL,
			  "%s: wants data, imm, inv, raddr, weight, key, invkey, tame, tameimm or desc",
			  word);
}

static int peer_template_check(struct peer_cmd *cmd, const struct peer_template *t)
{
	size_t len = t->post.data_len;

	if (len > PEER_TEMPLATE_BYTES)
		return peer_error(cmd, -EINVAL, "data: %zu bytes, wants up to %d", len,
				  PEER_TEMPLATE_BYTES);
	if (t->tame_from > t->tame_to || t->tame_to > len)
		return peer_error(cmd, -EINVAL, "tame=%u-%u: of %zu bytes", t->tame_from, t->tame_to,
				  len);
	if (t->desc_key >= 0 && (len < 12 || t->desc_off > len - 12))
		return peer_error(cmd, -EINVAL, "desc=%u: of %zu bytes", t->desc_off, len);
	if (peer_nr_templates >= PEER_MAX_TEMPLATES)
		return peer_error(cmd, -ENOSPC, "there are %u templates", peer_nr_templates);
	return 0;
}

static void peer_template_free(struct peer_template *t)
{
	kfree(t->post.data);
	kfree(t);
}

/**
 * peer_cmd_template() - "template <set> <op> [<key>=<value>...]": something to mutate
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_template(struct peer_cmd *cmd)
{
	struct peer_template *t;
	int i, ret;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return peer_error(cmd, -ENOMEM, "set=%s", cmd->argv[1]);
	t->weight = 1;
	t->key = -1;
	t->inv_key = -1;
	t->desc_key = -1;
	ret = peer_get_name(cmd, "set", cmd->argv[1]);
	if (!ret)
		ret = peer_get_op(cmd, cmd->argv[2], &t->post.op);
	for (i = 3; !ret && i < cmd->argc; i++)
		ret = peer_template_arg(cmd, t, cmd->argv[i]);
	if (!ret)
		ret = peer_template_check(cmd, t);
	if (ret) {
		peer_template_free(t);
		return ret;
	}
	strscpy(t->set, cmd->argv[1], sizeof(t->set));
	list_add_tail(&t->entry, &peer_templates);
	peer_nr_templates++;
	return 0;
}

/**
 * peer_templates_free() - free templates
 * @set: those of this set; NULL for all
 *
 * Context: process, may sleep; peer_mutex held.
 */
void peer_templates_free(const char *set)
{
	struct peer_template *t, *tmp;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry_safe(t, tmp, &peer_templates, entry) {
		if (set && strcmp(t->set, set))
			continue;
		list_del(&t->entry);
		peer_nr_templates--;
		peer_template_free(t);
	}
}

/**
 * peer_cmd_forget() - "forget <set>|all": templates
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0.
 */
int peer_cmd_forget(struct peer_cmd *cmd)
{
	peer_templates_free(strcmp(cmd->argv[1], "all") ? cmd->argv[1] : NULL);
	return 0;
}

static void peer_key_decode(struct peer_key *key, const u8 *desc)
{
	__le64 addr;
	__le32 rkey;

	memcpy(&addr, desc, sizeof(addr));
	memcpy(&rkey, desc + sizeof(addr), sizeof(rkey));
	key->addr = le64_to_cpu(addr);
	key->rkey = le32_to_cpu(rkey);
}

/* "desc=<hex>": le64 address, le32 key, what follows does not matter */
static int peer_key_from_hex(struct peer_cmd *cmd, const char *word, struct peer_key *key)
{
	size_t len;
	u8 *data;
	int ret;

	ret = peer_get_hex(cmd, "desc", word, &data, &len);
	if (ret)
		return ret;
	if (len < 12) {
		kfree(data);
		return peer_error(cmd, -EINVAL, "desc: %zu bytes, wants 12", len);
	}
	peer_key_decode(key, data);
	kfree(data);
	return 0;
}

/* "at=<buf>:<off>": the same, as it lies in a buffer */
static int peer_key_from_mem(struct peer_cmd *cmd, char *word, struct peer_key *key)
{
	char *off = strchr(word, ':');
	struct peer_buf *buf;
	u32 at;
	int ret;

	if (!off)
		return peer_error(cmd, -EINVAL, "at=%s: wants <buf>:<off>", word);
	*off++ = '\0';
	buf = peer_buf_find(cmd, word);
	if (!buf)
		return -ENOENT;
	ret = peer_get_u32(cmd, "off", off, PEER_MAX_BYTES, &at);
	if (!ret)
		ret = peer_buf_range(cmd, buf, at, 12);
	if (ret)
		return ret;
	ib_dma_sync_single_for_cpu(buf->domain->pd->device, buf->dma, buf->bytes,
				   DMA_BIDIRECTIONAL);
	peer_key_decode(key, buf->mem + at);
	return 0;
}

static int peer_key_from(struct peer_cmd *cmd, char *word, struct peer_key *key)
{
	struct peer_buf *buf;

	if (!strncmp(word, "desc=", 5))
		return peer_key_from_hex(cmd, word + 5, key);
	if (!strncmp(word, "at=", 3))
		return peer_key_from_mem(cmd, word + 3, key);
	if (strncmp(word, "buf=", 4))
		return peer_error(cmd, -EINVAL, "%s: wants desc=, at= or buf=", word);
	buf = peer_buf_find(cmd, word + 4);
	if (!buf)
		return -ENOENT;
	key->addr = buf->mr->iova;
	key->rkey = buf->mr->rkey;
	return 0;
}

/**
 * peer_cmd_key() - "key <number> desc=<hex>|at=<buf>:<off>|buf=<buf> [<bytes>]": a place to write to
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_key(struct peer_cmd *cmd)
{
	struct peer_key key = {};
	u64 add = 0;
	int index, ret;

	ret = peer_get_key(cmd, "key", cmd->argv[1], &index);
	if (!ret)
		ret = peer_key_from(cmd, cmd->argv[2], &key);
	if (!ret && cmd->argc > 3)
		ret = peer_get_u64(cmd, "bytes", cmd->argv[3], U64_MAX, &add);
	if (ret)
		return ret;
	key.addr += add;
	spin_lock_irq(&peer_keys_lock);
	peer_keys[index] = key;
	spin_unlock_irq(&peer_keys_lock);
	return 0;
}
