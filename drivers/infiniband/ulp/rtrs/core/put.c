// SPDX-License-Identifier: GPL-2.0-only
/* Structures as attributes. */
#include "nl.h"

/**
 * rtrs_nl_put_text() - add a string
 * @skb: the message
 * @attr: attribute
 * @text: the string; nothing is added if it is NULL or empty
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int rtrs_nl_put_text(struct sk_buff *skb, int attr, const char *text)
{
	return text && *text ? nla_put_string(skb, attr, text) : 0;
}

static int rtrs_nl_put_number(struct sk_buff *skb, int attr, u32 number)
{
	return number ? nla_put_u32(skb, attr, number) : 0;
}

static int rtrs_nl_put_stats(struct sk_buff *skb, const struct rtrs_nl_stats *stats)
{
	struct nlattr *nest;
	int stat, ret = 0;

	if (!stats->there)
		return 0;
	nest = nla_nest_start(skb, RTRS_NL_A_STATS);
	if (!nest)
		return -EMSGSIZE;
	for (stat = RTRS_NL_STAT_PAD + 1; stat <= RTRS_NL_STAT_MAX && !ret; stat++)
		if (stats->there & BIT(stat))
			ret = nla_put_u64_64bit(skb, stat, stats->value[stat], RTRS_NL_STAT_PAD);
	if (ret)
		return ret;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rtrs_nl_put_info() - add all that a session, path or device has
 * @skb: the message
 * @side: side it is of
 * @info: what it has
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE, with attributes added that the caller cancels.
 */
int rtrs_nl_put_info(struct sk_buff *skb, enum rtrs_nl_side side, const struct rtrs_nl_info *info)
{
	if (nla_put_u32(skb, RTRS_NL_A_SIDE, side) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_SESSION, info->session) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_POLICY, info->policy) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_PATH, info->path) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_STATE, info->state) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_SRC, info->src) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_DST, info->dst) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_HCA_NAME, info->hca_name) ||
	    rtrs_nl_put_number(skb, RTRS_NL_A_HCA_PORT, info->hca_port) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_REASON, info->loss_reason) ||
	    rtrs_nl_put_number(skb, RTRS_NL_A_ERROR, info->loss_error) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_DEVICE, info->device) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_DEVICE_PATH, info->device_path) ||
	    rtrs_nl_put_text(skb, RTRS_NL_A_ACCESS_MODE, info->access_mode))
		return -EMSGSIZE;
	if (info->nr_paths && (nla_put_u32(skb, RTRS_NL_A_PATHS, info->nr_paths) ||
			       nla_put_u32(skb, RTRS_NL_A_PATHS_UP, info->nr_paths_up)))
		return -EMSGSIZE;
	if (*info->device &&
	    nla_put_u64_64bit(skb, RTRS_NL_A_SECTORS, info->nsectors, RTRS_NL_A_PAD))
		return -EMSGSIZE;
	return rtrs_nl_put_stats(skb, &info->stats);
}
