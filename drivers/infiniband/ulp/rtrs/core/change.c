// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that change something: attributes become options, as sysfs has them, and a module does
 * it.
 *
 * Operation: each attribute of a request is one option with its name in sysfs and its value as it
 * is written there, so there is one grammar, and what is refused is refused with the same words.
 * Generic netlink calls with locks that all users of the host share, so the request is copied,
 * and a job (job.c) carries it out.  The acknowledgement and, before it, the attributes of the
 * reply are sent when that has ended: sendto() returns at once, recv() waits.
 *
 * Cancelling: when the socket that sent a request is closed, a request that can be undone is
 * cancelled, others go on.  So they are when the module is unloaded, which has an answer.
 *
 * Errors: the answer is sent from here, as its words may be longer than those that netlink has
 * room for, and do not outlive this.  -EINTR says that there is one, or will be.
 *
 * Ownership: a change belongs to its job from rtrs_job_start() on.  It is on the list until its
 * answer was sent, and holds the memory of the socket, whose flags say what an acknowledgement
 * contains.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <net/sock.h>
#include <rdma/rtrs-job.h>
#include <rdma/rtrs.h>

#include "nl.h"

/* Two dozen are what there is to say, with all paths. */
#define RTRS_NL_MAX_WORDS	64

/* Requests of one socket in progress at one time. */
#define RTRS_NL_MAX_CHANGES	16

/* A number as text, with NUL. */
#define RTRS_NL_NUMBER_LEN	12

/**
 * struct rtrs_nl_change - a request while it is carried out
 * @entry: in rtrs_nl_changes.list (C)
 * @portid: socket that sent it (I)
 * @answering: its answer is being sent (C)
 * @gone: the socket is closed: no answer (C)
 * @job: carries it out, with a reference (I)
 * @change: function of the module (I)
 * @skb: copy of the request, with the kernel's socket to answer from (I)
 * @nlh: its header (I)
 * @answer: room for the reply, allocated before anything is changed that nobody could be told of
 * @report: words for the caller
 * @req: what the module sees of it
 * @info: what there is afterwards
 * @attrs: attributes of the request
 * @words: the same as options, index as of @attrs
 * @numbers: text of those that are numbers, index as of @attrs
 *
 * C: rtrs_nl_changes.lock. I: set before the job starts.
 */
struct rtrs_nl_change {
	struct list_head entry;
	u32 portid;
	bool answering;
	bool gone;
	struct rtrs_job *job;
	rtrs_nl_change_t change;
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct sk_buff *answer;
	struct rtrs_report report;
	struct rtrs_nl_request req;
	struct rtrs_nl_info info;
	const struct nlattr *attrs[RTRS_NL_MAX_WORDS];
	struct rtrs_nl_word words[RTRS_NL_MAX_WORDS];
	char numbers[RTRS_NL_MAX_WORDS][RTRS_NL_NUMBER_LEN];
};

/**
 * struct rtrs_nl_changes - all requests in progress
 * @lock: guards the list, and its members where they say so
 * @list: changes by rtrs_nl_change.entry
 * @wait: woken when an answer was sent
 * @family: the family, set by module init
 */
struct rtrs_nl_changes {
	spinlock_t lock;
	struct list_head list;
	wait_queue_head_t wait;
	const struct genl_family *family;
};

static struct rtrs_nl_changes rtrs_nl_changes = {
	.lock = __SPIN_LOCK_UNLOCKED(rtrs_nl_changes.lock),
	.list = LIST_HEAD_INIT(rtrs_nl_changes.list),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(rtrs_nl_changes.wait),
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
	[RTRS_NL_A_REQUEST_TIMEOUT]    = { "request_timeout",	 NLA_U32 },
};

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

static u8 rtrs_nl_change_cmd(const struct rtrs_nl_change *change)
{
	return ((const struct genlmsghdr *)nlmsg_data(change->nlh))->cmd;
}

static void rtrs_nl_change_free(void *data)
{
	struct rtrs_nl_change *change = data;

	if (change->job)
		rtrs_job_put(change->job);
	if (change->skb) {
		sock_put(NETLINK_CB(change->skb).sk);
		change->skb->sk = NULL;
		consume_skb(change->skb);
	}
	nlmsg_free(change->answer);
	kfree(change);
}

static struct rtrs_nl_change *rtrs_nl_change_alloc(const struct sk_buff *skb,
						   const struct genl_info *info)
{
	struct rtrs_nl_change *change;

	change = kzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return NULL;
	INIT_LIST_HEAD(&change->entry);
	change->portid = info->snd_portid;
	change->answer = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	change->skb = skb_copy(skb, GFP_KERNEL);
	if (change->skb) {
		/* netlink_ack() answers from the kernel's socket, which stays. */
		change->skb->sk = skb->sk;
		sock_hold(NETLINK_CB(change->skb).sk);
	}
	if (!change->skb || !change->answer) {
		rtrs_nl_change_free(change);
		return NULL;
	}
	change->nlh = (const void *)(change->skb->data + ((const u8 *)info->nlhdr - skb->data));
	return change;
}

/* The attributes have passed the policy of their command, so they are options. */
static int rtrs_nl_read_words(struct rtrs_nl_change *change)
{
	struct rtrs_nl_request *req = &change->req;
	const struct nlattr *attr;
	int rem;

	req->words = change->words;
	req->report = &change->report;
	nlmsg_for_each_attr(attr, change->nlh, GENL_HDRLEN, rem) {
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

static void rtrs_nl_answer_error(const struct rtrs_nl_change *change, int error)
{
	struct netlink_ext_ack ack = {};

	if (*change->report.text)
		ack._msg = change->report.text;
	if (change->report.key)
		rtrs_nl_point_at(change, &ack);
	netlink_ack(change->skb, (struct nlmsghdr *)change->nlh, error, &ack);
}

/* What there is now, to who asked.  Who does not take it can ask again, for a dump. */
static void rtrs_nl_answer_info(struct rtrs_nl_change *change)
{
	struct sk_buff *answer = change->answer;
	void *msg;

	change->answer = NULL;
	msg = genlmsg_put(answer, change->portid, change->nlh->nlmsg_seq, rtrs_nl_changes.family, 0,
			  rtrs_nl_change_cmd(change));
	if (!msg || rtrs_nl_put_info(answer, RTRS_NL_SIDE_CLIENT, &change->info)) {
		nlmsg_free(answer);
		return;
	}
	genlmsg_end(answer, msg);
	genlmsg_unicast(&init_net, answer, change->portid);
}

static void rtrs_nl_answer(struct rtrs_nl_change *change, int error)
{
	const struct netlink_ext_ack none = {};

	if (error) {
		rtrs_nl_answer_error(change, error);
		return;
	}
	if (*change->info.session)
		rtrs_nl_answer_info(change);
	if (change->nlh->nlmsg_flags & NLM_F_ACK)
		netlink_ack(change->skb, (struct nlmsghdr *)change->nlh, 0, &none);
}

/* Answer, unless the socket is closed: another one may have its number by now. */
static void rtrs_nl_change_end(struct rtrs_nl_change *change, int error)
{
	bool answering;

	scoped_guard(spinlock, &rtrs_nl_changes.lock) {
		change->answering = answering = !change->gone;
		if (!answering)
			list_del(&change->entry);
	}
	if (!answering)
		return;
	rtrs_nl_answer(change, error);
	scoped_guard(spinlock, &rtrs_nl_changes.lock)
		list_del(&change->entry);
	wake_up_all(&rtrs_nl_changes.wait);
}

static int rtrs_nl_change_run(void *data)
{
	struct rtrs_nl_change *change = data;
	int ret = change->change(&change->req, &change->info);

	if (ret == -EINTR)
		rtrs_report_set(&change->report, "interrupted: the module is being unloaded");
	rtrs_nl_change_end(change, ret);
	return ret;
}

/* Put a request on the list; false if its socket has too many there. */
static bool rtrs_nl_change_list(struct rtrs_nl_change *change)
{
	const struct rtrs_nl_change *other;
	unsigned int nr = 0;

	spin_lock(&rtrs_nl_changes.lock);
	list_for_each_entry(other, &rtrs_nl_changes.list, entry)
		nr += other->portid == change->portid;
	if (nr < RTRS_NL_MAX_CHANGES)
		list_add_tail(&change->entry, &rtrs_nl_changes.list);
	spin_unlock(&rtrs_nl_changes.lock);
	return nr < RTRS_NL_MAX_CHANGES;
}

static int rtrs_nl_start_job(struct rtrs_nl_change *change, const struct rtrs_nl_part *part)
{
	static const struct {
		const char *name;
		const char *key;
		bool can_cancel;
	} names[] = {
		[RTRS_NL_CMD_DEVICE_MAP]   = { "map",	       "device_path", true },
		[RTRS_NL_CMD_DEVICE_UNMAP] = { "unmap",	       "device",      false },
		[RTRS_NL_CMD_PATH_ADD]	   = { "add path",     "path",	      true },
		[RTRS_NL_CMD_PATH_DEL]	   = { "remove path",  "path_name",   false },
	};
	u8 cmd = rtrs_nl_change_cmd(change);
	struct rtrs_job_work work = {
		.owner = part->owner,
		.run = rtrs_nl_change_run,
		.free = rtrs_nl_change_free,
		.data = change,
		.can_cancel = names[cmd].can_cancel,
	};
	const char *sess = rtrs_nl_value(&change->req, "sessname");
	const char *what = rtrs_nl_value(&change->req, names[cmd].key);
	struct rtrs_job *job;

	if (!rtrs_nl_change_list(change)) {
		rtrs_report_set(&change->report, "%d requests of this socket are in progress",
				RTRS_NL_MAX_CHANGES);
		return -EBUSY;
	}
	job = rtrs_job_create(&work, "%s %s%s%s", names[cmd].name, what ?: "?",
			      sess ? " of session " : "", sess ?: "");
	if (IS_ERR(job)) {
		scoped_guard(spinlock, &rtrs_nl_changes.lock)
			list_del(&change->entry);
		if (PTR_ERR(job) == -EBUSY)
			rtrs_report_set(&change->report, "too many operations are in progress");
		return PTR_ERR(job);
	}
	/* The socket cannot be closed before this returns, so nobody looks at it until then. */
	change->job = job;
	rtrs_job_start(job);
	return 0;
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

static int rtrs_nl_change_start(struct rtrs_nl_change *change)
{
	u8 cmd = rtrs_nl_change_cmd(change);
	bool rnbd = cmd == RTRS_NL_CMD_DEVICE_MAP || cmd == RTRS_NL_CMD_DEVICE_UNMAP;
	const struct rtrs_nl_part *part;
	int ret;

	part = rtrs_nl_part_get(rnbd ? RTRS_NL_RNBD_CLIENT : RTRS_NL_RTRS_CLIENT);
	if (!part) {
		rtrs_report_set(&change->report, "module %s is not loaded",
				rnbd ? "rnbd-client" : "rtrs-client");
		return -EOPNOTSUPP;
	}
	change->change = rtrs_nl_change_of(part, cmd);
	ret = rtrs_nl_start_job(change, part);
	/* From here on the module's exit waits for the job. */
	rtrs_nl_part_put(part);
	return ret;
}

/**
 * rtrs_nl_change() - have a request carried out
 * @skb: the request
 * @info: the same, taken apart
 *
 * Context: process, with locks of generic netlink; waits for memory and for a thread to be created.
 * Return: -EINTR: the answer has been sent, or will be; -ENOMEM.
 */
int rtrs_nl_change(struct sk_buff *skb, struct genl_info *info)
{
	struct rtrs_nl_change *change = rtrs_nl_change_alloc(skb, info);
	int ret;

	if (!change)
		return -ENOMEM;
	if (netlink_capable(skb, CAP_SYS_ADMIN)) {
		ret = rtrs_nl_read_words(change);
	} else {
		rtrs_report_set(&change->report, "needs CAP_SYS_ADMIN");
		ret = -EPERM;
	}
	if (!ret)
		ret = rtrs_nl_change_start(change);
	if (ret) {
		rtrs_nl_answer_error(change, ret);
		rtrs_nl_change_free(change);
	}
	return -EINTR;
}

/* Nobody waits for the requests of this socket any longer.  False: one is being answered. */
static bool rtrs_nl_drop_requests(u32 portid)
{
	struct rtrs_nl_change *change;
	bool dropped = true;

	spin_lock(&rtrs_nl_changes.lock);
	list_for_each_entry(change, &rtrs_nl_changes.list, entry) {
		if (change->portid != portid)
			continue;
		if (change->answering) {
			dropped = false;
			continue;
		}
		change->gone = true;
		rtrs_job_cancel(change->job);
	}
	spin_unlock(&rtrs_nl_changes.lock);
	return dropped;
}

/* A socket is being closed. */
static int rtrs_nl_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net))
		wait_event(rtrs_nl_changes.wait, rtrs_nl_drop_requests(notify->portid));
	return NOTIFY_DONE;
}

static struct notifier_block rtrs_nl_notifier = {
	.notifier_call = rtrs_nl_notify,
};

/**
 * rtrs_nl_change_init() - prepare for requests
 * @family: the family, about to be registered
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int rtrs_nl_change_init(const struct genl_family *family)
{
	rtrs_nl_changes.family = family;
	return netlink_register_notifier(&rtrs_nl_notifier);
}

/**
 * rtrs_nl_change_exit() - undo rtrs_nl_change_init()
 *
 * Context: module exit; the family is not registered any more, and no request is in progress.
 */
void rtrs_nl_change_exit(void)
{
	netlink_unregister_notifier(&rtrs_nl_notifier);
}
