// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink by libmnl: which number the family has, its events, and requests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "mem.h"
#include "nl.h"

/* Some thousand events may wait for a terminal that is slow. */
#define NL_RECEIVE_BYTES	(4 << 20)

/* Messages come one by one but for dumps; the kernel makes none larger than this. */
static char buffer[32768];
static size_t received;
static const struct nlmsghdr *at;

/* The next message, valid until this is called again; NULL and errno. */
static const struct nlmsghdr *next_message(struct nl *nl)
{
	int left = received;
	ssize_t got;

	if (at) {
		at = mnl_nlmsg_next(at, &left);
		received = left;
	}
	if (!at || !mnl_nlmsg_ok(at, received)) {
		got = mnl_socket_recvfrom(nl->sock, buffer, sizeof(buffer));
		at = NULL;
		if (got < 0)
			return NULL;
		received = got;
		at = (const struct nlmsghdr *)buffer;
	}
	if (mnl_nlmsg_ok(at, received))
		return at;
	at = NULL;
	errno = EBADMSG;
	return NULL;
}

/* The group of this name; 0 if there is none. */
static unsigned int group_number(const struct nlattr *groups, const char *wanted)
{
	const struct nlattr *group, *attr, *name, *number;

	mnl_attr_for_each_nested(group, groups) {
		name = number = NULL;
		mnl_attr_for_each_nested(attr, group) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				name = attr;
			else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
				number = attr;
		}
		if (name && number && !strcmp(mnl_attr_get_str(name), wanted))
			return mnl_attr_get_u32(number);
	}
	return 0;
}

static uint32_t read_commands(const struct nlattr *ops)
{
	const struct nlattr *op, *attr;
	uint32_t commands = 0;

	mnl_attr_for_each_nested(op, ops)
		mnl_attr_for_each_nested(attr, op)
			if (mnl_attr_get_type(attr) == CTRL_ATTR_OP_ID && mnl_attr_get_u32(attr) < 32)
				commands |= 1U << mnl_attr_get_u32(attr);
	return commands;
}

static void read_family(struct nl *nl, const struct nlmsghdr *msg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			nl->family = mnl_attr_get_u16(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			nl->events = group_number(attr, RTRS_NL_MCGRP_EVENTS);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_OPS)
			nl->commands = read_commands(attr);
	}
}

static bool find_family(struct nl *nl)
{
	char request[MNL_NLMSG_HDRLEN + 128];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(request);
	struct genlmsghdr *genl;
	const struct nlmsghdr *answer;
	const struct nlmsgerr *err;

	msg->nlmsg_type = GENL_ID_CTRL;
	msg->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, RTRS_NL_FAMILY_NAME);
	if (mnl_socket_sendto(nl->sock, msg, msg->nlmsg_len) < 0)
		return false;
	answer = next_message(nl);
	if (!answer)
		return false;
	if (answer->nlmsg_type == NLMSG_ERROR) {
		err = mnl_nlmsg_get_payload(answer);
		errno = -err->error;
		return false;
	}
	read_family(nl, answer);
	errno = EPROTO;
	return nl->family && nl->events;
}

/* False and errno, ENOENT if these modules do not have the family. */
bool nl_open(struct nl *nl)
{
	*nl = (struct nl){ .sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC) };
	return nl->sock && mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) == 0 && find_family(nl);
}

/* Also of one that could not be opened; errno stays. */
void nl_close(struct nl *nl)
{
	int error = errno;

	if (nl->sock)
		mnl_socket_close(nl->sock);
	errno = error;
}

/* Do these modules have a command? */
bool nl_has(const struct nl *nl, unsigned int command)
{
	return nl->commands & 1U << command;
}

/* A request without attributes yet, of NL_REQUEST_BYTES. Good until the next one. */
struct nlmsghdr *nl_request(const struct nl *nl, unsigned int command)
{
	static char request[NL_REQUEST_BYTES];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(request);
	struct genlmsghdr *genl;

	msg->nlmsg_type = nl->family;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = command;
	genl->version = RTRS_NL_FAMILY_VERSION;
	return msg;
}

static void read_error(const struct nlmsghdr *msg, struct nl_reply *reply)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(msg);
	size_t skip = sizeof(*err);
	const struct nlattr *attr;

	reply->err = -err->error;
	if (!(msg->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&err->msg);
	if (!(msg->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	mnl_attr_for_each(attr, msg, MNL_ALIGN(skip)) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			reply->words = mem_printf("%s", mnl_attr_get_str(attr));
		else if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_OFFS ||
			 mnl_attr_get_type(attr) == NLMSGERR_ATTR_MISS_TYPE)
			reply->blames = true;
	}
}

/*
 * Have a request carried out, and wait for that. False and errno if it could not be sent. A signal that is caught ends the
 * wait, with EINTR: the kernel cancels the request when the socket is closed.
 */
bool nl_ask(struct nl *nl, const struct nlmsghdr *msg, struct nl_reply *reply)
{
	const struct nlmsghdr *answer;
	int on = 1;

	*reply = (struct nl_reply){ 0 };
	if (mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &on, sizeof(on)) ||
	    mnl_socket_sendto(nl->sock, msg, msg->nlmsg_len) < 0)
		return false;
	/* What there is now comes before the word that it is done; sysfs has it too. */
	do {
		answer = next_message(nl);
	} while (answer && answer->nlmsg_type != NLMSG_ERROR);
	if (answer)
		read_error(answer, reply);
	else
		reply->err = errno;
	return true;
}

static bool join(struct nl *nl, unsigned int group)
{
	return mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) == 0;
}

/* From now on events come. False and errno. */
bool nl_listen(struct nl *nl)
{
	int bytes = NL_RECEIVE_BYTES, fd = mnl_socket_get_fd(nl->sock);

	/* Beyond the limit only with CAP_NET_ADMIN; else as much as that allows. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)))
		return false;
	/* The controller's own group, of the same number, tells of families that go. */
	return join(nl, GENL_ID_CTRL) && join(nl, nl->events);
}

static bool is_gone(const struct nl *nl, const struct nlmsghdr *msg)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(msg);
	const struct nlattr *attr;

	if (msg->nlmsg_type != GENL_ID_CTRL || genl->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(attr, msg, sizeof(*genl))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_u16(attr) == nl->family)
			return true;
	return false;
}

/* What a newer kernel has more is left out. */
static void read_event(const struct nlmsghdr *msg, struct nl_message *event)
{
	const struct nlattr *attr;

	*event = (struct nl_message){ 0 };
	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= RTRS_NL_A_MAX)
			event->attr[mnl_attr_get_type(attr)] = attr;
}

/* Wait for the next event; valid until this is called again. */
enum nl_news nl_next(struct nl *nl, struct nl_message *event)
{
	const struct genlmsghdr *genl;
	const struct nlmsghdr *msg;

	for (;;) {
		msg = next_message(nl);
		if (!msg && errno == EINTR)
			continue;
		if (!msg)
			return errno == ENOBUFS ? NL_LOST : NL_FAILED;
		if (is_gone(nl, msg))
			return NL_GONE;
		genl = mnl_nlmsg_get_payload(msg);
		if (msg->nlmsg_type != nl->family || genl->cmd != RTRS_NL_CMD_EVENT)
			continue;
		read_event(msg, event);
		return NL_EVENT;
	}
}
