// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family "rtrs".
 *
 * Operation: dumps tell what sysfs tells, to whoever can read sysfs, and so do events.  What changes something is
 * for those who may write there.  Sessions belong to the first network namespace, and the family is seen there only.
 *
 * Ranges of options are no part of the policy: whoever they concern says what is allowed.
 */
#include <linux/module.h>

#include "nl.h"

static const struct nla_policy rtrs_nl_get_policy[] = {
	[RTRS_NL_A_SIDE]	= NLA_POLICY_MAX(NLA_U32, RTRS_NL_SIDE_SERVER),
	[RTRS_NL_A_SESSION]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
};

static const struct nla_policy rtrs_nl_map_policy[] = {
	[RTRS_NL_A_SESSION]	       = { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_DEVICE_PATH]	       = { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_ACCESS_MODE]	       = { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_ADDRESS]	       = { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_DEST_PORT]	       = { .type = NLA_U32 },
	[RTRS_NL_A_POLL_QUEUES]	       = { .type = NLA_S32 },
	[RTRS_NL_A_NO_PATH_TIMEOUT]    = { .type = NLA_S32 },
	[RTRS_NL_A_HB_INTERVAL_MS]     = { .type = NLA_U32 },
	[RTRS_NL_A_HB_MISSED_MAX]      = { .type = NLA_U32 },
	[RTRS_NL_A_ACK_TIMEOUT_MS]     = { .type = NLA_U32 },
	[RTRS_NL_A_RETRY_COUNT]	       = { .type = NLA_U32 },
	[RTRS_NL_A_CONNECT_TIMEOUT_MS] = { .type = NLA_U32 },
	[RTRS_NL_A_REQUEST_TIMEOUT]    = { .type = NLA_U32 },
};

static const struct nla_policy rtrs_nl_unmap_policy[] = {
	[RTRS_NL_A_DEVICE]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_FORCE]	= { .type = NLA_FLAG },
};

static const struct nla_policy rtrs_nl_path_add_policy[] = {
	[RTRS_NL_A_SESSION]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_ADDRESS]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
};

static const struct nla_policy rtrs_nl_path_del_policy[] = {
	[RTRS_NL_A_SESSION]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
	[RTRS_NL_A_PATH]	= { .type = NLA_NUL_STRING, .len = RTRS_NL_TEXT_LEN - 1 },
};

#define RTRS_NL_GET(_cmd, _start)				\
	{							\
		.cmd = _cmd,					\
		.start = _start,				\
		.dumpit = rtrs_nl_dump,				\
		.policy = rtrs_nl_get_policy,			\
		.maxattr = ARRAY_SIZE(rtrs_nl_get_policy) - 1,	\
	}

#define RTRS_NL_CHANGE(_cmd, _policy)				\
	{							\
		.cmd = _cmd,					\
		.doit = rtrs_nl_change,				\
		.policy = _policy,				\
		.maxattr = ARRAY_SIZE(_policy) - 1,		\
	}

static const struct genl_ops rtrs_nl_ops[] = {
	RTRS_NL_GET(RTRS_NL_CMD_SESSION_GET, rtrs_nl_start_sessions),
	RTRS_NL_GET(RTRS_NL_CMD_PATH_GET, rtrs_nl_start_paths),
	RTRS_NL_GET(RTRS_NL_CMD_DEVICE_GET, rtrs_nl_start_devices),
	RTRS_NL_CHANGE(RTRS_NL_CMD_DEVICE_MAP, rtrs_nl_map_policy),
	RTRS_NL_CHANGE(RTRS_NL_CMD_DEVICE_UNMAP, rtrs_nl_unmap_policy),
	RTRS_NL_CHANGE(RTRS_NL_CMD_PATH_ADD, rtrs_nl_path_add_policy),
	RTRS_NL_CHANGE(RTRS_NL_CMD_PATH_DEL, rtrs_nl_path_del_policy),
};

static const struct genl_multicast_group rtrs_nl_groups[] = {
	{ .name = RTRS_NL_MCGRP_EVENTS },
};

static struct genl_family rtrs_nl_family __ro_after_init = {
	.name = RTRS_NL_FAMILY_NAME,
	.version = RTRS_NL_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = rtrs_nl_ops,
	.n_ops = ARRAY_SIZE(rtrs_nl_ops),
	.mcgrps = rtrs_nl_groups,
	.n_mcgrps = ARRAY_SIZE(rtrs_nl_groups),
};

/**
 * rtrs_nl_init() - register the family
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int __init rtrs_nl_init(void)
{
	int ret;

	rtrs_nl_event_init(&rtrs_nl_family);
	ret = rtrs_nl_change_init(&rtrs_nl_family);
	if (ret)
		return ret;
	ret = genl_register_family(&rtrs_nl_family);
	if (ret)
		rtrs_nl_change_exit();
	return ret;
}

/**
 * rtrs_nl_exit() - undo rtrs_nl_init()
 *
 * Context: module exit, no other module has a part in it any more.
 */
void rtrs_nl_exit(void)
{
	rtrs_nl_event_exit();
	genl_unregister_family(&rtrs_nl_family);
	rtrs_nl_change_exit();
}
