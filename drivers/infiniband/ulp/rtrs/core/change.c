// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that change something: attributes become options, as sysfs has them, and a module does it.
 *
 * Operation: each attribute of a request is one option with its name in sysfs and its value as it is written there,
 * so there is one grammar, and what is refused is refused with the same words.  The caller waits in sendto().  What
 * takes long holds no lock that another request needs; only families cannot come or go meanwhile.
 *
 * Errors: the answer is sent from here, as its words may be longer than those that netlink has room for, and do not
 * outlive this.  -EINTR says that there is one.
 */
#include <linux/capability.h>
#include <linux/slab.h>
#include <rdma/rtrs.h>

#include "nl.h"

/* Two dozen are what there is to say, with all paths. */
#define RTRS_NL_MAX_WORDS	64

/* A number as text, with NUL. */
#define RTRS_NL_NUMBER_LEN	12

/**
 * struct rtrs_nl_change - a request while it is carried out
 * @report: words for the caller
 * @req: what the module sees of it
 * @info: what there is afterwards
 * @attrs: attributes of the request
 * @words: the same as options, index as of @attrs
 * @numbers: text of those that are numbers, index as of @attrs
 */
struct rtrs_nl_change {
	struct rtrs_report report;
	struct rtrs_nl_request req;
	struct rtrs_nl_info info;
	const struct nlattr *attrs[RTRS_NL_MAX_WORDS];
	struct rtrs_nl_word words[RTRS_NL_MAX_WORDS];
	char numbers[RTRS_NL_MAX_WORDS][RTRS_NL_NUMBER_LEN];
};

/**
 * struct rtrs_nl_option - an attribute of such requests
 * @key: its name as an option
 * @type: what it is
 */
struct rtrs_nl_option {
	const char *key;
	u8 type;
};

static const struct rtrs_nl_option rtrs_nl_options[] = {
	[RTRS_NL_A_SESSION]	       = { "sessname",		 NLA_NUL_STRING },
	[RTRS_NL_A_PATH]	       = { "path_name",		 NLA_NUL_STRING },
	[RTRS_NL_A_DEVICE]	       = { "device",		 NLA_NUL_STRING },
	[RTRS_NL_A_DEVICE_PATH]	       = { "device_path",	 NLA_NUL_STRING },
	[RTRS_NL_A_ACCESS_MODE]	       = { "access_mode",	 NLA_NUL_STRING },
	[RTRS_NL_A_ADDRESS]	       = { "path",		 NLA_NUL_STRING },
	[RTRS_NL_A_DEST_PORT]	       = { "dest_port",		 NLA_U32 },
	[RTRS_NL_A_POLL_QUEUES]	       = { "nr_poll_queues",	 NLA_S32 },
	[RTRS_NL_A_NO_PATH_TIMEOUT]    = { "no_path_timeout",	 NLA_S32 },
	[RTRS_NL_A_HB_INTERVAL_MS]     = { "hb_interval_ms",	 NLA_U32 },
	[RTRS_NL_A_HB_MISSED_MAX]      = { "hb_missed_max",	 NLA_U32 },
	[RTRS_NL_A_ACK_TIMEOUT_MS]     = { "ack_timeout_ms",	 NLA_U32 },
	[RTRS_NL_A_RETRY_COUNT]	       = { "retry_count",	 NLA_U32 },
	[RTRS_NL_A_CONNECT_TIMEOUT_MS] = { "connect_timeout_ms", NLA_U32 },
	[RTRS_NL_A_FORCE]	       = { "force",		 NLA_FLAG },
};

/* Set by rtrs_nl_change_init(). */
static const struct genl_family *rtrs_nl_change_family;

/**
 * rtrs_nl_value() - an option of a request
 * @req: the request
 * @key: name of the option
 *
 * Context: any.
 * Return: its value, NULL if it is not there.
 */
const char *rtrs_nl_value(const struct rtrs_nl_request *req, const char *key)
{
	unsigned int i;

	for (i = 0; i < req->nr; i++)
		if (!strcmp(req->words[i].key, key))
			return req->words[i].value;
	return NULL;
}
EXPORT_SYMBOL(rtrs_nl_value);

/**
 * rtrs_nl_want() - an option of a request that must be there, once
 * @req: the request
 * @key: name of the option
 *
 * Context: any.
 * Return: its value, or NULL, which the caller is told of.
 */
const char *rtrs_nl_want(const struct rtrs_nl_request *req, const char *key)
{
	const char *value = NULL;
	unsigned int i, nr = 0;

	for (i = 0; i < req->nr; i++)
		if (!strcmp(req->words[i].key, key) && !nr++)
			value = req->words[i].value;
	if (nr == 1)
		return value;
	rtrs_report_set(req->report, nr ? "%s: expected it once" : "%s is missing", key);
	rtrs_report_blame(req->report, key, nr ? 1 : 0);
	return NULL;
}
EXPORT_SYMBOL(rtrs_nl_want);

static const char *rtrs_nl_attr_text(const struct nlattr *attr, char *number)
{
	switch (rtrs_nl_options[nla_type(attr)].type) {
	case NLA_U32:
		scnprintf(number, RTRS_NL_NUMBER_LEN, "%u", nla_get_u32(attr));
		return number;
	case NLA_S32:
		scnprintf(number, RTRS_NL_NUMBER_LEN, "%d", nla_get_s32(attr));
		return number;
	case NLA_FLAG:
		return "1";
	default:
		return nla_data(attr);
	}
}

/* The attributes have passed the policy of their command, so they are options. */
static int rtrs_nl_read_words(struct rtrs_nl_change *change, const struct genl_info *info)
{
	struct rtrs_nl_request *req = &change->req;
	const struct nlattr *attr;
	int rem;

	req->words = change->words;
	req->report = &change->report;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (req->nr == RTRS_NL_MAX_WORDS) {
			rtrs_report_set(&change->report, "more than %d attributes", RTRS_NL_MAX_WORDS);
			return -E2BIG;
		}
		change->attrs[req->nr] = attr;
		change->words[req->nr].key = rtrs_nl_options[nla_type(attr)].key;
		change->words[req->nr].value = rtrs_nl_attr_text(attr, change->numbers[req->nr]);
		req->nr++;
	}
	return 0;
}

/* The option that is to blame: the attribute if it was there, else that it is missing. */
static void rtrs_nl_point_at(const struct rtrs_nl_change *change, struct netlink_ext_ack *ack)
{
	unsigned int i, nr = change->report.nr;

	for (i = 0; i < change->req.nr; i++) {
		if (strcmp(change->words[i].key, change->report.key) || nr--)
			continue;
		ack->bad_attr = change->attrs[i];
		return;
	}
	for (i = 0; i < ARRAY_SIZE(rtrs_nl_options); i++)
		if (rtrs_nl_options[i].key && !strcmp(rtrs_nl_options[i].key, change->report.key))
			ack->miss_type = i;
}

static int rtrs_nl_answer_error(struct sk_buff *skb, const struct genl_info *info,
				const struct rtrs_nl_change *change, int error)
{
	struct netlink_ext_ack ack = {};

	if (*change->report.text)
		ack._msg = change->report.text;
	if (change->report.key)
		rtrs_nl_point_at(change, &ack);
	netlink_ack(skb, (struct nlmsghdr *)info->nlhdr, error, &ack);
	return -EINTR;
}

static rtrs_nl_change_t rtrs_nl_change_of(const struct rtrs_nl_part *part, u8 cmd)
{
	switch (cmd) {
	case RTRS_NL_CMD_DEVICE_MAP:
		return part->map;
	case RTRS_NL_CMD_DEVICE_UNMAP:
		return part->unmap;
	case RTRS_NL_CMD_PATH_ADD:
		return part->add_path;
	default:
		return part->del_path;
	}
}

static int rtrs_nl_run(struct rtrs_nl_change *change, const struct genl_info *info)
{
	bool rnbd = info->genlhdr->cmd == RTRS_NL_CMD_DEVICE_MAP ||
		    info->genlhdr->cmd == RTRS_NL_CMD_DEVICE_UNMAP;
	const struct rtrs_nl_part *part;
	int ret;

	part = rtrs_nl_part_get(rnbd ? RTRS_NL_RNBD_CLIENT : RTRS_NL_RTRS_CLIENT);
	if (!part) {
		rtrs_report_set(&change->report, "module %s is not loaded",
				rnbd ? "rnbd-client" : "rtrs-client");
		return -EOPNOTSUPP;
	}
	ret = rtrs_nl_change_of(part, info->genlhdr->cmd)(&change->req, &change->info);
	rtrs_nl_part_put(part);
	return ret;
}

/* What there is now, to who asked.  Who does not take it can ask again, for a dump. */
static void rtrs_nl_answer(struct sk_buff *answer, struct genl_info *info, const struct rtrs_nl_info *now)
{
	void *msg = genlmsg_put_reply(answer, info, rtrs_nl_change_family, 0, info->genlhdr->cmd);

	if (!msg || rtrs_nl_put_info(answer, RTRS_NL_SIDE_CLIENT, now)) {
		nlmsg_free(answer);
		return;
	}
	genlmsg_end(answer, msg);
	genlmsg_reply(answer, info);
}

/**
 * rtrs_nl_change() - carry out a request
 * @skb: the request
 * @info: the same, taken apart
 *
 * Context: process, may sleep for as long as the change takes.
 * Return: 0; -EINTR, and the error has been told; -ENOMEM.
 */
int rtrs_nl_change(struct sk_buff *skb, struct genl_info *info)
{
	struct rtrs_nl_change *change = kzalloc(sizeof(*change), GFP_KERNEL);
	/* Before anything is changed that nobody could be told of. */
	struct sk_buff *answer = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!change || !answer)
		goto out_free;
	if (netlink_capable(skb, CAP_SYS_ADMIN)) {
		ret = rtrs_nl_read_words(change, info);
	} else {
		rtrs_report_set(&change->report, "needs CAP_SYS_ADMIN");
		ret = -EPERM;
	}
	if (!ret)
		ret = rtrs_nl_run(change, info);
	if (ret) {
		ret = rtrs_nl_answer_error(skb, info, change, ret);
	} else if (*change->info.session) {
		rtrs_nl_answer(answer, info, &change->info);
		answer = NULL;
	}
out_free:
	nlmsg_free(answer);
	kfree(change);
	return ret;
}

/**
 * rtrs_nl_change_init() - tell which family the answers are of
 * @family: the family
 *
 * Context: module init.
 */
void rtrs_nl_change_init(const struct genl_family *family)
{
	rtrs_nl_change_family = family;
}
