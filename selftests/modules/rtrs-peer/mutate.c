// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mutated work requests, many for one command.
 *
 * Operation: the command "mutate" draws a template of a set for each number, copies it, changes it or not,
 * and posts it.  What is drawn and changed depends on the seed, the number, the templates and the keys
 * alone, so that any one can be had again.  What came of those before decides only when the next one is
 * posted: a key that was written through is busy until a receive posted with keep= names it.
 *
 * Changes are wild or tame.  Wild ones are anywhere, and most of them end a connection.  Tame ones are
 * where the template says the other side has to look closely.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "peer.h"

/* Bytes of what is made of a template. */
#define PEER_MUTANT_BYTES	(2 * PEER_TEMPLATE_BYTES)

/*
 * Sends on their way: few, as those behind the one that ends a connection may arrive, but nobody looks
 * at them.  How long a key is waited for, and a send.
 */
#define PEER_MUTATE_WINDOW	4
#define PEER_MUTATE_KEY_MS	50
#define PEER_MUTATE_SEND_MS	20000

/**
 * struct peer_mutant - a template's copy, changed
 * @tmpl: the template
 * @op: opcode
 * @data: bytes, room for PEER_MUTANT_BYTES
 * @len: how many
 * @imm: immediate
 * @raddr: added to the key's address
 * @rkey_flip: bits of the key's rkey that are wrong
 * @inv_flip: bits of the key to invalidate that are wrong
 * @times: how often it is posted
 */
struct peer_mutant {
	const struct peer_template *tmpl;
	enum ib_wr_opcode op;
	u8 *data;
	u32 len;
	u32 imm;
	u64 raddr;
	u32 rkey_flip;
	u32 inv_flip;
	u32 times;
};

/**
 * struct peer_run - arguments of "mutate" and "mutant", and how far it came
 * @set: name of the set
 * @seed: of the whole run
 * @first: number of the first one
 * @count: how many
 * @wild: how many of a thousand are changed anywhere
 * @tame: how many of a thousand where the template says; the rest is as the template
 * @weight: of all templates of the set
 * @sent: work requests posted
 * @late: keys that nothing named in time
 */
struct peer_run {
	const char *set;
	u64 seed;
	u64 first;
	u32 count;
	u32 wild;
	u32 tame;
	u32 weight;
	u32 sent;
	u32 late;
};

/* ---------------------------------------------------------------- chance */

/* SplitMix64: any state is as good as another, so seed and number can be it. */
static u64 peer_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0 to @below - 1; 0 if @below is. */
static u32 peer_random_below(u64 *state, u32 below)
{
	return below ? (u32)((peer_random(state) >> 32) * below >> 32) : 0;
}

/* A value on the edge of something, for a field of @bytes that has @old. */
static u64 peer_random_edge(u64 *state, u32 bytes, u64 old)
{
	u64 most = U64_MAX >> (64 - 8 * bytes);

	switch (peer_random_below(state, 8)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return most;
	case 3:
		return most >> 1;
	case 4:
		return (most >> 1) + 1;
	case 5:
		return old + 1;
	case 6:
		return old - 1;
	default:
		return 1ULL << peer_random_below(state, 8 * bytes);
	}
}

static u64 peer_field_get(const u8 *at, u32 bytes)
{
	__le64 raw = 0;

	memcpy(&raw, at, bytes);
	return le64_to_cpu(raw);
}

static void peer_field_put(u8 *at, u32 bytes, u64 val)
{
	__le64 raw = cpu_to_le64(val);

	memcpy(at, &raw, bytes);
}

/* A field to the edge, or two swapped. */
static void peer_mutate_field(u64 *state, u8 *data, u32 len)
{
	u32 bytes = 2 << peer_random_below(state, 3);
	u8 *at, *other;
	u64 old;

	if (len < bytes)
		return;
	at = data + peer_random_below(state, len - bytes + 1);
	old = peer_field_get(at, bytes);
	if (peer_random_below(state, 4)) {
		peer_field_put(at, bytes, peer_random_edge(state, bytes, old));
		return;
	}
	other = data + peer_random_below(state, len - bytes + 1);
	peer_field_put(at, bytes, peer_field_get(other, bytes));
	peer_field_put(other, bytes, old);
}

static void peer_mutate_bytes(u64 *state, u8 *data, u32 len)
{
	static const u8 edges[] = { 0, 0xff, 0x7f, 0x80 };
	u32 nr = 1 + peer_random_below(state, 4);
	u32 at;

	while (len && nr--) {
		at = peer_random_below(state, len);
		switch (peer_random_below(state, 4)) {
		case 0:
			data[at] ^= 1 << peer_random_below(state, 8);
			break;
		case 1:
			data[at] = edges[peer_random_below(state, ARRAY_SIZE(edges))];
			break;
		default:
			peer_mutate_field(state, data, len);
		}
	}
}

static u32 peer_mutate_u32(u64 *state, u32 old)
{
	switch (peer_random_below(state, 4)) {
	case 0:
		return old ^ 1U << peer_random_below(state, 32);
	case 1:
		return peer_random(state);
	case 2:
		return old ^ peer_random_below(state, 256);
	default:
		return peer_random_edge(state, 4, old);
	}
}

static void peer_mutate_len(u64 *state, struct peer_mutant *m)
{
	u32 most = peer_random_below(state, 2) ? 8 : PEER_TEMPLATE_BYTES, more;

	if (peer_random_below(state, 2)) {
		m->len -= min(m->len, 1 + peer_random_below(state, min(most, m->len)));
		return;
	}
	more = 1 + peer_random_below(state, most);
	memset(m->data + m->len, peer_random_below(state, 256), more);
	m->len += more;
}

static void peer_mutate_wild(u64 *state, struct peer_mutant *m)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_INV, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_WRITE_WITH_IMM
	};

	switch (peer_random_below(state, 8)) {
	case 0:
		peer_mutate_len(state, m);
		break;
	case 1:
		m->imm = peer_mutate_u32(state, m->imm);
		break;
	case 2:
		m->op = ops[peer_random_below(state, ARRAY_SIZE(ops))];
		m->inv_flip = peer_mutate_u32(state, 0);
		break;
	case 3:
		m->rkey_flip = peer_mutate_u32(state, 0);
		m->inv_flip = m->rkey_flip;
		break;
	case 4:
		if (peer_random_below(state, 2))
			m->raddr += (s32)peer_random_below(state, 2 * PEER_TEMPLATE_BYTES) -
				    PEER_TEMPLATE_BYTES;
		else
			m->raddr = peer_random_edge(state, 8, m->raddr);
		break;
	case 5:
		m->times = 2 + peer_random_below(state, 3);
		break;
	case 6:
		m->imm = peer_mutate_u32(state, m->imm);
		fallthrough;
	default:
		peer_mutate_bytes(state, m->data, m->len);
	}
}

static void peer_mutate_tame(u64 *state, struct peer_mutant *m)
{
	const struct peer_template *t = m->tmpl;
	u32 flip = peer_random(state) & t->tame_imm;

	if (t->tame_to == t->tame_from || (t->tame_imm && peer_random_below(state, 2)))
		m->imm ^= flip;
	else
		peer_mutate_bytes(state, m->data + t->tame_from, t->tame_to - t->tame_from);
}

/* One number's template: which, and how it is changed. */
static void peer_mutant_plan(const struct peer_run *run, u64 number, struct peer_mutant *m,
			     u64 *state)
{
	*state = run->seed;
	/* Two numbers next to each other are to have nothing in common. */
	*state = peer_random(state) ^ number * 0xd1342543de82ef95;
	m->tmpl = peer_template_at(run->set, peer_random_below(state, run->weight));
}

static void peer_mutant_make(const struct peer_run *run, struct peer_mutant *m, u64 *state)
{
	const struct peer_template *t = m->tmpl;
	struct peer_key desc = peer_key_get(t->desc_key);
	u32 kind = peer_random_below(state, 1000);

	m->op = t->post.op;
	m->len = t->post.data_len;
	m->imm = t->post.imm;
	m->raddr = t->post.raddr;
	m->rkey_flip = 0;
	m->inv_flip = 0;
	m->times = 1;
	memcpy(m->data, t->post.data, m->len);
	if (t->desc_key >= 0) {
		peer_field_put(m->data + t->desc_off, 8, desc.addr);
		peer_field_put(m->data + t->desc_off + 8, 4, desc.rkey);
	}
	if (kind < run->wild)
		peer_mutate_wild(state, m);
	else if (kind < run->wild + run->tame)
		peer_mutate_tame(state, m);
}

/* As a work request. */
static struct peer_post peer_mutant_post(const struct peer_mutant *m)
{
	const struct peer_template *t = m->tmpl;
	struct peer_key key = peer_key_get(t->key);
	u32 inv = t->inv_key < 0 ? t->post.inv : peer_key_get(t->inv_key).rkey;

	return (struct peer_post) {
		.op = m->op,
		.data = m->data,
		.data_len = m->len,
		.raddr = key.addr + m->raddr,
		.rkey = key.rkey ^ m->rkey_flip,
		.imm = m->imm,
		.inv = inv ^ m->inv_flip,
	};
}

/* ---------------------------------------------------------------- a run */

static bool peer_mutate_room(struct peer_con *con, u32 room)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&con->lock, flags);
	ret = con->over || con->sends <= room;
	spin_unlock_irqrestore(&con->lock, flags);
	return ret;
}

static bool peer_mutate_key_free(struct peer_con *con, int key)
{
	return con->over || !peer_key_get(key).busy;
}

/* Until no more than so many sends are on their way. */
static int peer_mutate_wait_sends(struct peer_con *con, u32 room)
{
	long left = wait_event_killable_timeout(con->wait, peer_mutate_room(con, room),
						msecs_to_jiffies(PEER_MUTATE_SEND_MS));

	return left < 0 ? -EINTR : left ? 0 : -ETIMEDOUT;
}

/* Until the other side has said that the key can be used. */
static int peer_mutate_wait_key(struct peer_con *con, struct peer_run *run, int key)
{
	long left;

	if (key < 0)
		return 0;
	left = wait_event_killable_timeout(con->wait, peer_mutate_key_free(con, key),
					   msecs_to_jiffies(PEER_MUTATE_KEY_MS));
	run->late += !left;
	return left < 0 ? -EINTR : 0;
}

static int peer_mutate_one(struct peer_con *con, struct peer_run *run, struct peer_mutant *m,
			   u64 number)
{
	const struct peer_template *t;
	struct peer_post post;
	u64 state;
	int ret;

	peer_mutant_plan(run, number, m, &state);
	t = m->tmpl;
	ret = peer_mutate_wait_sends(con, PEER_MUTATE_WINDOW - 1);
	if (!ret)
		ret = peer_mutate_wait_key(con, run, t->key);
	if (ret || con->over)
		return ret;
	peer_mutant_make(run, m, &state);
	post = peer_mutant_post(m);
	/* With another immediate nobody knows whether it will be named. */
	if (t->key >= 0)
		peer_key_set_busy(t->key, m->op == t->post.op && m->imm == t->post.imm);
	while (!ret && m->times--) {
		ret = peer_post_one(con, &post);
		run->sent += !ret;
	}
	/* The queue pair is gone: what was sent before is waited for as ever. */
	if (ret)
		peer_con_over(con);
	return 0;
}

static u32 peer_mutate_ok(struct peer_con *con)
{
	unsigned long flags;
	u32 ok;

	spin_lock_irqsave(&con->lock, flags);
	ok = con->sends_ok;
	spin_unlock_irqrestore(&con->lock, flags);
	return ok;
}

static int peer_mutate_arg(struct peer_cmd *cmd, struct peer_run *run, char *word)
{
	char *val = strchr(word, '=');

	if (!val)
		return peer_error(cmd, -EINVAL, "%s: wants key=value", word);
	*val++ = '\0';
	if (!strcmp(word, "seed"))
		return peer_get_u64(cmd, word, val, U64_MAX, &run->seed);
	if (!strcmp(word, "first"))
		return peer_get_u64(cmd, word, val, U64_MAX, &run->first);
	if (!strcmp(word, "count"))
		return peer_get_u32(cmd, word, val, U32_MAX, &run->count);
	if (!strcmp(word, "wild"))
		return peer_get_u32(cmd, word, val, 1000, &run->wild);
	if (!strcmp(word, "tame"))
		return peer_get_u32(cmd, word, val, 1000, &run->tame);
	return peer_error(cmd, -EINVAL, "%s: wants seed, first, count, wild or tame", word);
}

/* The set, and "key=value" from word @arg on. */
static int peer_mutate_args(struct peer_cmd *cmd, struct peer_run *run, int arg)
{
	int ret = 0;

	run->set = cmd->argv[arg++];
	run->weight = peer_template_weight(run->set);
	if (!run->weight)
		return peer_error(cmd, -ENOENT, "set=%s: has no template", run->set);
	for (; !ret && arg < cmd->argc; arg++)
		ret = peer_mutate_arg(cmd, run, cmd->argv[arg]);
	return ret;
}

/**
 * peer_cmd_mutate() - "mutate <con> <set> [<key>=<value>...]": post mutated work requests
 * @cmd: the command
 *
 * Ends before its time when the connection does.  Answers "open" or "over", the next number, how many were
 * posted and how many of them arrived.
 *
 * Context: process, sleeps; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_mutate(struct peer_cmd *cmd)
{
	struct peer_run run = { .count = 1 };
	struct peer_mutant m = {};
	struct peer_con *con;
	u32 ok, nr;
	int ret;

	con = peer_verbs_con(cmd, cmd->argv[1]);
	if (!con)
		return -EINVAL;
	ret = peer_mutate_args(cmd, &run, 2);
	if (ret)
		return ret;
	m.data = kzalloc(PEER_MUTANT_BYTES, GFP_KERNEL);
	if (!m.data)
		return peer_error(cmd, -ENOMEM, "con=%s", con->name);
	ok = peer_mutate_ok(con);
	for (nr = 0; !ret && nr < run.count && !con->over; nr++)
		ret = peer_mutate_one(con, &run, &m, run.first + nr);
	if (!ret)
		ret = peer_mutate_wait_sends(con, 0);
	kfree(m.data);
	if (ret)
		return peer_error(cmd, ret, "con=%s: number %llu", con->name, run.first + nr);
	peer_say(cmd, "%s next=%llu sent=%u ok=%u late=%u", con->over ? "over" : "open",
		 run.first + nr, run.sent, peer_mutate_ok(con) - ok, run.late);
	return 0;
}

/**
 * peer_cmd_mutant() - "mutant <set> [<key>=<value>...]": what "mutate" would post, for one number
 * @cmd: the command
 *
 * Context: process, may sleep; peer_mutex held.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_cmd_mutant(struct peer_cmd *cmd)
{
	struct peer_run run = { .count = 1 };
	struct peer_mutant m = {};
	struct peer_post post;
	u64 state;
	int ret;

	ret = peer_mutate_args(cmd, &run, 1);
	if (ret)
		return ret;
	m.data = kzalloc(PEER_MUTANT_BYTES, GFP_KERNEL);
	if (!m.data)
		return peer_error(cmd, -ENOMEM, "set=%s", run.set);
	peer_mutant_plan(&run, run.first, &m, &state);
	peer_mutant_make(&run, &m, &state);
	post = peer_mutant_post(&m);
	peer_say(cmd, "op=%s times=%u imm=0x%08x raddr=0x%llx rkey=0x%08x inv=0x%08x data=",
		 peer_op_name(post.op), m.times, post.imm, post.raddr, post.rkey, post.inv);
	peer_say_hex(cmd, m.data, m.len);
	kfree(m.data);
	return 0;
}
