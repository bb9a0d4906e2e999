// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of sessions, paths and devices.
 *
 * Operation: things are asked for by number, one at a time, and nothing is held in between: a dump that
 * nobody reads on keeps nothing.  What comes or goes meanwhile shifts the numbers; then the generation
 * differs, and netlink sets NLM_F_DUMP_INTR, which has the reader ask again.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "nl.h"

/**
 * struct rtrs_nl_cursor - where a dump is
 * @kind: command, says what is dumped
 * @first_part: module of the client that has these things
 * @side: side to be asked next; RTRS_NL_SIDE_SERVER + 1: none
 * @only_side: no other side
 * @sess: number of the session there
 * @nr: number of the thing in the session
 *
 * In netlink_callback.ctx, which netlink's mutex guards.
 */
struct rtrs_nl_cursor {
	u8 kind;
	u8 first_part;
	u8 side;
	bool only_side;
	u32 sess;
	u32 nr;
};

static struct rtrs_nl_cursor *rtrs_nl_cursor(struct netlink_callback *cb)
{
	static_assert(sizeof(struct rtrs_nl_cursor) <= sizeof(cb->ctx));
	return (struct rtrs_nl_cursor *)cb->ctx;
}

static bool rtrs_nl_part_there(enum rtrs_nl_part_id id)
{
	const struct rtrs_nl_part *part = rtrs_nl_part_get(id);

	if (part)
		rtrs_nl_part_put(part);
	return part;
}

static int rtrs_nl_missing(struct netlink_ext_ack *extack, const struct rtrs_nl_cursor *cursor)
{
	bool rnbd = cursor->first_part == RTRS_NL_RNBD_CLIENT;

	if (!cursor->only_side && rnbd)
		NL_SET_ERR_MSG(extack, "neither module rnbd-client nor rnbd-server is loaded");
	else if (!cursor->only_side)
		NL_SET_ERR_MSG(extack, "neither module rtrs-client nor rtrs-server is loaded");
	else if (cursor->side == RTRS_NL_SIDE_CLIENT && rnbd)
		NL_SET_ERR_MSG(extack, "side client: module rnbd-client is not loaded");
	else if (cursor->side == RTRS_NL_SIDE_CLIENT)
		NL_SET_ERR_MSG(extack, "side client: module rtrs-client is not loaded");
	else if (rnbd)
		NL_SET_ERR_MSG(extack, "side server: module rnbd-server is not loaded");
	else
		NL_SET_ERR_MSG(extack, "side server: module rtrs-server is not loaded");
	return -EOPNOTSUPP;
}

/*
 * Older kernels have no room for words where a dump begins.  There the answer is sent from here, and -EINTR
 * says that there is one.
 */
static int rtrs_nl_refuse(struct netlink_callback *cb)
{
	struct netlink_ext_ack own = {};
	int ret;

	ret = rtrs_nl_missing(cb->extack ?: &own, rtrs_nl_cursor(cb));
	if (cb->extack)
		return ret;
	netlink_ack(cb->skb, (struct nlmsghdr *)cb->nlh, ret, &own);
	return -EINTR;
}

static int rtrs_nl_start(struct netlink_callback *cb, u8 kind, enum rtrs_nl_part_id first_part)
{
	const struct nlattr *side = genl_info_dump(cb)->attrs[RTRS_NL_A_SIDE];
	struct rtrs_nl_cursor *cursor = rtrs_nl_cursor(cb);
	bool there;

	*cursor = (struct rtrs_nl_cursor) {
		.kind = kind,
		.first_part = first_part,
		.side = side ? nla_get_u32(side) : RTRS_NL_SIDE_CLIENT,
		.only_side = side,
	};
	there = rtrs_nl_part_there(first_part + cursor->side) ||
		(!side && rtrs_nl_part_there(first_part + RTRS_NL_SIDE_SERVER));
	return there ? 0 : rtrs_nl_refuse(cb);
}

/**
 * rtrs_nl_start_sessions() - begin a dump of sessions
 * @cb: the dump
 *
 * Context: process, may sleep.
 * Return: 0, or -EOPNOTSUPP if no module is there that has some.
 */
int rtrs_nl_start_sessions(struct netlink_callback *cb)
{
	return rtrs_nl_start(cb, RTRS_NL_CMD_SESSION_GET, RTRS_NL_RTRS_CLIENT);
}

/**
 * rtrs_nl_start_paths() - begin a dump of paths
 * @cb: the dump
 *
 * Context: process, may sleep.
 * Return: 0, or -EOPNOTSUPP if no module is there that has some.
 */
int rtrs_nl_start_paths(struct netlink_callback *cb)
{
	return rtrs_nl_start(cb, RTRS_NL_CMD_PATH_GET, RTRS_NL_RTRS_CLIENT);
}

/**
 * rtrs_nl_start_devices() - begin a dump of devices
 * @cb: the dump
 *
 * Context: process, may sleep.
 * Return: 0, or -EOPNOTSUPP if no module is there that has some.
 */
int rtrs_nl_start_devices(struct netlink_callback *cb)
{
	return rtrs_nl_start(cb, RTRS_NL_CMD_DEVICE_GET, RTRS_NL_RNBD_CLIENT);
}

/* The thing the cursor is at; errors as in struct rtrs_nl_part. */
static int rtrs_nl_get(const struct rtrs_nl_part *part, const struct rtrs_nl_cursor *cursor,
		       struct rtrs_nl_info *info)
{
	memset(info, 0, sizeof(*info));
	switch (cursor->kind) {
	case RTRS_NL_CMD_SESSION_GET:
		return cursor->nr ? -ENOENT : part->get_session(cursor->sess, info);
	case RTRS_NL_CMD_PATH_GET:
		return part->get_path(cursor->sess, cursor->nr, info);
	default:
		return part->get_device(cursor->sess, cursor->nr, info);
	}
}

static int rtrs_nl_put_message(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct rtrs_nl_cursor *cursor,
			       const struct rtrs_nl_info *info)
{
	void *msg;
	int ret;

	msg = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  genl_info_dump(cb)->family, NLM_F_MULTI, cursor->kind);
	if (!msg)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, msg);
	ret = rtrs_nl_put_info(skb, cursor->side, info);
	if (ret) {
		genlmsg_cancel(skb, msg);
		return ret;
	}
	genlmsg_end(skb, msg);
	return 0;
}

/* All of one side, from the cursor on; 0 at its end, -EMSGSIZE when the message is full. */
static int rtrs_nl_dump_side(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct rtrs_nl_part *part, struct rtrs_nl_info *info)
{
	const struct nlattr *only = genl_info_dump(cb)->attrs[RTRS_NL_A_SESSION];
	struct rtrs_nl_cursor *cursor = rtrs_nl_cursor(cb);
	int ret;

	for (;;) {
		ret = rtrs_nl_get(part, cursor, info);
		if (ret == -ENOENT) {
			cursor->sess++;
			cursor->nr = 0;
			continue;
		}
		if (ret)
			return ret == -ESRCH ? 0 : ret;
		if (!only || !nla_strcmp(only, info->session)) {
			ret = rtrs_nl_put_message(skb, cb, cursor, info);
			if (ret)
				return ret;
		}
		cursor->nr++;
	}
}

/**
 * rtrs_nl_dump() - fill the next message of a dump
 * @skb: where to
 * @cb: the dump, begun by one of rtrs_nl_start_*()
 *
 * Context: process, may sleep.
 * Return: bytes in @skb, 0 at the end, or negative errno.
 */
int rtrs_nl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rtrs_nl_cursor *cursor = rtrs_nl_cursor(cb);
	const struct rtrs_nl_part *part;
	struct rtrs_nl_info *info;
	int ret = 0;

	info = kmalloc(sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	cb->seq = rtrs_nl_generation();
	while (cursor->side <= RTRS_NL_SIDE_SERVER && !ret) {
		part = rtrs_nl_part_get(cursor->first_part + cursor->side);
		if (part) {
			ret = rtrs_nl_dump_side(skb, cb, part, info);
			rtrs_nl_part_put(part);
		}
		if (!ret) {
			cursor->side = cursor->only_side ? RTRS_NL_SIDE_SERVER + 1 : cursor->side + 1;
			cursor->sess = 0;
			cursor->nr = 0;
		}
	}
	kfree(info);
	return skb->len ?: ret;
}
