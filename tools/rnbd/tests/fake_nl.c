// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests put in the place of netlink: lines of the file that RNBD_FAKE names are messages.
 *
 *	family				the kernel has the family; without this line it has not
 *	family changes			it has it from the beginning, with all commands
 *	ask <pattern> 0 <shell command>	what comes of a request that fits, which is told on stdout as a write is; the first
 *					line that fits counts
 *	ask <pattern> <errno name> <attribute> <words>
 *					it is refused, with words; the attribute is to blame, "-": none
 *	ask <pattern> signal - -	a signal comes before the answer
 *	event <name>=<value>;...	an event with these attributes: numbers where the kernel has numbers
 *	lost				events were lost
 *	gone				the family went
 *	other				a message of another kind
 *
 * They come in their order; to wait for one more ends the test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../../include/uapi/rdma/rtrs_netlink.h"

#include "fake.h"

#define FAMILY	0x21
#define GROUP	7

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid);
int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t len);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);

static const struct {
	const char *name;
	unsigned int attr;
	unsigned int bits;
} attrs[] = {
	{ "event", RTRS_NL_A_EVENT, 32 },	{ "side", RTRS_NL_A_SIDE, 32 },
	{ "seq", RTRS_NL_A_SEQ, 32 },		{ "time", RTRS_NL_A_TIME, 64 },
	{ "session", RTRS_NL_A_SESSION, 0 },	{ "path", RTRS_NL_A_PATH, 0 },
	{ "from", RTRS_NL_A_FROM, 0 },		{ "to", RTRS_NL_A_TO, 0 },
	{ "cause", RTRS_NL_A_CAUSE, 0 },	{ "reason", RTRS_NL_A_REASON, 0 },
	{ "error", RTRS_NL_A_ERROR, 32 },	{ "device", RTRS_NL_A_DEVICE, 0 },
	{ "device_path", RTRS_NL_A_DEVICE_PATH, 0 },
	{ "access_mode", RTRS_NL_A_ACCESS_MODE, 0 },
	{ "sectors", RTRS_NL_A_SECTORS, 64 },	{ "moved", RTRS_NL_A_MOVED, 32 },
	{ "failed", RTRS_NL_A_FAILED, 32 },	{ "gap_ms", RTRS_NL_A_GAP_MS, 32 },
	{ "address", RTRS_NL_A_ADDRESS, 0 },	{ "dest_port", RTRS_NL_A_DEST_PORT, 32 },
	{ "poll_queues", RTRS_NL_A_POLL_QUEUES, 32 },
	{ "no_path_timeout", RTRS_NL_A_NO_PATH_TIMEOUT, 32 },
	{ "request_timeout", RTRS_NL_A_REQUEST_TIMEOUT, 32 },
	{ "hb_interval_ms", RTRS_NL_A_HB_INTERVAL_MS, 32 },
	{ "hb_missed_max", RTRS_NL_A_HB_MISSED_MAX, 32 },
	{ "ack_timeout_ms", RTRS_NL_A_ACK_TIMEOUT_MS, 32 },
	{ "retry_count", RTRS_NL_A_RETRY_COUNT, 32 },
	{ "connect_timeout_ms", RTRS_NL_A_CONNECT_TIMEOUT_MS, 32 },
	{ "force", RTRS_NL_A_FORCE, 1 },
	{ "newer", RTRS_NL_A_MAX + 1, 32 },
};

static const char *const commands[] = {
	[RTRS_NL_CMD_DEVICE_MAP] = "device-map",
	[RTRS_NL_CMD_DEVICE_UNMAP] = "device-unmap",
	[RTRS_NL_CMD_PATH_ADD] = "path-add",
	[RTRS_NL_CMD_PATH_DEL] = "path-del",
};

static int asked, signalled;
static FILE *scenario;

/* What the next change is answered with; 0: nothing. */
static struct {
	char data[4096];
	size_t len;
} reply;

static struct nlmsghdr *message(void *buf, unsigned int type, unsigned int cmd)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = type;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	return msg;
}

static int has_changes(void)
{
	FILE *file = NULL;
	struct line line;

	while (next_line(&file, "family", MAX_WORDS, &line)) {
		if (line.nr < 2 || strcmp(line.word[1], "changes"))
			continue;
		fclose(file);
		return 1;
	}
	return 0;
}

static void put_commands(struct nlmsghdr *msg)
{
	struct nlattr *ops = mnl_attr_nest_start(msg, CTRL_ATTR_OPS), *op;
	unsigned int cmd;

	for (cmd = RTRS_NL_CMD_SESSION_GET; cmd <= RTRS_NL_CMD_MAX; cmd++) {
		op = mnl_attr_nest_start(msg, cmd);
		mnl_attr_put_u32(msg, CTRL_ATTR_OP_ID, cmd);
		mnl_attr_nest_end(msg, op);
	}
	mnl_attr_nest_end(msg, ops);
}

static ssize_t family(void *buf)
{
	struct nlmsghdr *msg = message(buf, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	struct nlattr *groups, *group;

	if (has_changes())
		put_commands(msg);

	mnl_attr_put_u16(msg, CTRL_ATTR_FAMILY_ID, FAMILY);
	groups = mnl_attr_nest_start(msg, CTRL_ATTR_MCAST_GROUPS);
	group = mnl_attr_nest_start(msg, 1);
	mnl_attr_put_u32(msg, CTRL_ATTR_MCAST_GRP_ID, GROUP);
	mnl_attr_put_strz(msg, CTRL_ATTR_MCAST_GRP_NAME, RTRS_NL_MCGRP_EVENTS);
	mnl_attr_nest_end(msg, group);
	mnl_attr_nest_end(msg, groups);
	return msg->nlmsg_len;
}

static ssize_t no_family(void *buf)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct nlmsgerr *err;

	msg->nlmsg_type = NLMSG_ERROR;
	err = mnl_nlmsg_put_extra_header(msg, sizeof(*err));
	err->error = -ENOENT;
	return msg->nlmsg_len;
}

static void put(struct nlmsghdr *msg, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (strcmp(attrs[i].name, name))
			continue;
		if (attrs[i].bits == 32)
			mnl_attr_put_u32(msg, attrs[i].attr, strtoul(value, NULL, 10));
		else if (attrs[i].bits)
			mnl_attr_put_u64(msg, attrs[i].attr, strtoull(value, NULL, 10));
		else
			mnl_attr_put_strz(msg, attrs[i].attr, value);
		return;
	}
	fprintf(stderr, "scenario: no attribute %s\n", name);
	abort();
}

static ssize_t event(void *buf, char *text)
{
	struct nlmsghdr *msg = message(buf, FAMILY, RTRS_NL_CMD_EVENT);
	char *word, *value;

	for (word = strtok(text, ";"); word; word = strtok(NULL, ";")) {
		value = strchr(word, '=');
		if (!value)
			abort();
		*value++ = '\0';
		put(msg, word, value);
	}
	return msg->nlmsg_len;
}

static ssize_t gone(void *buf)
{
	struct nlmsghdr *msg = message(buf, GENL_ID_CTRL, CTRL_CMD_DELFAMILY);

	mnl_attr_put_u16(msg, CTRL_ATTR_FAMILY_ID, FAMILY);
	return msg->nlmsg_len;
}

static void print_attr(FILE *text, const struct nlattr *attr)
{
	size_t i;

	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (attrs[i].attr != mnl_attr_get_type(attr))
			continue;
		fprintf(text, " %s", attrs[i].name);
		if (attrs[i].bits == 32)
			fprintf(text, "=%d", (int)mnl_attr_get_u32(attr));
		else if (!attrs[i].bits)
			fprintf(text, "=%s", mnl_attr_get_str(attr));
		return;
	}
	abort();
}

/* The place of an attribute in a request; 0 if it has none. */
static unsigned int offset_of(const struct nlmsghdr *msg, const char *name)
{
	const struct nlattr *attr;
	size_t i;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
			if (attrs[i].attr == mnl_attr_get_type(attr) && !strcmp(attrs[i].name, name))
				return (const char *)attr - (const char *)msg;
	return 0;
}

static void refuse(const struct nlmsghdr *request, int error, const char *blamed, const char *words)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(reply.data);
	struct nlmsgerr *err;

	msg->nlmsg_type = NLMSG_ERROR;
	err = mnl_nlmsg_put_extra_header(msg, sizeof(*err));
	err->error = -error;
	err->msg = *request;
	if (error) {
		msg->nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS;
		mnl_attr_put_strz(msg, NLMSGERR_ATTR_MSG, words);
		if (strcmp(blamed, "-"))
			mnl_attr_put_u32(msg, NLMSGERR_ATTR_OFFS, offset_of(request, blamed));
	}
	reply.len = msg->nlmsg_len;
}

/* What comes of a request. */
static void carry_out(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(request);
	const struct nlattr *attr;
	FILE *file = NULL, *text;
	char said[2048];
	struct line line;

	text = fmemopen(said, sizeof(said), "w");
	fprintf(text, "%s", commands[genl->cmd]);
	mnl_attr_for_each(attr, request, sizeof(*genl))
		print_attr(text, attr);
	fclose(text);
	printf("netlink <- %s\n", said);
	fflush(stdout);
	while (next_line(&file, "ask", 4, &line)) {
		if (fnmatch(line.word[1], said, 0))
			continue;
		fclose(file);
		if (!strcmp(line.word[2], "0")) {
			if (system(line.word[3]))
				abort();
			refuse(request, 0, NULL, NULL);
		} else if (!strcmp(line.word[2], "signal")) {
			signalled = 1;
		} else {
			char *words = strchr(line.word[3], ' ');

			*words++ = '\0';
			refuse(request, errno_of(line.word[2]), line.word[3], words);
		}
		return;
	}
	fprintf(stderr, "scenario: nothing about this request\n");
	abort();
}

/* The next line that begins with one of our words; false at the end. */
static int next(char *line, size_t size)
{
	const char *name = getenv("RNBD_FAKE");

	if (!scenario)
		scenario = fopen(name ? name : "/dev/null", "r");
	while (scenario && fgets(line, size, scenario)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "event ", 6) || !strcmp(line, "lost") || !strcmp(line, "gone") ||
		    !strcmp(line, "other") || !strcmp(line, "family"))
			return 1;
	}
	return 0;
}

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	unsigned int group;

	(void)nl;
	memcpy(&group, buf, len);
	if (type == NETLINK_EXT_ACK || type == NETLINK_CAP_ACK)
		return 0;
	if (type != NETLINK_ADD_MEMBERSHIP || (group != GROUP && group != GENL_ID_CTRL))
		abort();
	return 0;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t len)
{
	const struct nlmsghdr *msg = buf;

	(void)nl;
	if (msg->nlmsg_type == GENL_ID_CTRL)
		asked = 1;
	else
		carry_out(msg);
	return len;
}

ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	char line[2048];
	int there;

	(void)nl;
	memset(buf, 0, size);
	if (signalled) {
		signalled = 0;
		errno = EINTR;
		return -1;
	}
	if (reply.len) {
		size = reply.len;
		memcpy(buf, reply.data, size);
		reply.len = 0;
		return size;
	}
	if (asked && has_changes()) {
		asked = 0;
		return family(buf);
	}
	there = next(line, sizeof(line));
	if (asked) {
		asked = 0;
		return there && !strcmp(line, "family") ? family(buf) : no_family(buf);
	}
	if (!there) {
		fprintf(stderr, "scenario: no more messages\n");
		abort();
	}
	if (!strcmp(line, "lost")) {
		errno = ENOBUFS;
		return -1;
	}
	if (!strcmp(line, "gone"))
		return gone(buf);
	if (!strcmp(line, "other"))
		return message(buf, FAMILY, RTRS_NL_CMD_PATH_GET)->nlmsg_len;
	return event(buf, line + 6);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd;
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return 0;
}
