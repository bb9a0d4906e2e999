// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink - a client of the family "rtrs", for tests: asks for dumps and for changes, also in wrong ways.
 *
 * Usage: netlink <command>[=do|=dump] [<attribute>=<kind>:<value>]... [slowly] [nobody] [x<n>]
 *
 * Command and attributes are numbers, or one of the names in the table below. The kinds are u32, s32, str, flag, raw
 * (hexadecimal digits), bare (a string without NUL). What changes something is done, all else is a dump, unless the
 * command says which. "slowly" waits for a line on standard input before it reads on behind the first message;
 * "nobody" asks without any privilege; "x17" sends the request 17 times, and prints the first acknowledgement or error.
 *
 * Each thing is a line of <number of the attribute>=<value>. "interrupted" says that it changed meanwhile. An
 * error is "<errno name>", with the kernel's words if there are some, and then "[<attribute>]" if one is to blame,
 * by its place in the request from 1 on, or "[no <number>]" if one is missing; the exit status is 1.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../include/uapi/rdma/rtrs_netlink.h"

/* Small, so that a dump takes several rounds. */
#define BUFFER_BYTES	4096

static char buffer[65536], text[8192];
static int family;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static unsigned int number(const char *word)
{
	static const struct {
		const char *name;
		unsigned int number;
	} names[] = {
		{ "sessions", RTRS_NL_CMD_SESSION_GET },
		{ "paths", RTRS_NL_CMD_PATH_GET },
		{ "devices", RTRS_NL_CMD_DEVICE_GET },
		{ "map", RTRS_NL_CMD_DEVICE_MAP },
		{ "unmap", RTRS_NL_CMD_DEVICE_UNMAP },
		{ "add", RTRS_NL_CMD_PATH_ADD },
		{ "del", RTRS_NL_CMD_PATH_DEL },
		{ "side", RTRS_NL_A_SIDE },
		{ "session", RTRS_NL_A_SESSION },
		{ "path", RTRS_NL_A_PATH },
		{ "device", RTRS_NL_A_DEVICE },
		{ "device-path", RTRS_NL_A_DEVICE_PATH },
		{ "access", RTRS_NL_A_ACCESS_MODE },
		{ "address", RTRS_NL_A_ADDRESS },
		{ "port", RTRS_NL_A_DEST_PORT },
		{ "poll-queues", RTRS_NL_A_POLL_QUEUES },
		{ "no-path-timeout", RTRS_NL_A_NO_PATH_TIMEOUT },
		{ "hb-interval-ms", RTRS_NL_A_HB_INTERVAL_MS },
		{ "hb-missed-max", RTRS_NL_A_HB_MISSED_MAX },
		{ "ack-timeout-ms", RTRS_NL_A_ACK_TIMEOUT_MS },
		{ "retry-count", RTRS_NL_A_RETRY_COUNT },
		{ "connect-timeout-ms", RTRS_NL_A_CONNECT_TIMEOUT_MS },
		{ "force", RTRS_NL_A_FORCE },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, word))
			return names[i].number;
	if (!isdigit((unsigned char)*word)) {
		fprintf(stderr, "netlink: '%s' is nothing\n", word);
		exit(2);
	}
	return strtoul(word, NULL, 0);
}

static void put_raw(struct nlmsghdr *msg, unsigned int type, const char *digits)
{
	unsigned char bytes[256];
	size_t len = 0;

	for (; *digits && len < sizeof(bytes); digits += 2)
		sscanf(digits, "%2hhx", &bytes[len++]);
	mnl_attr_put(msg, type, len, bytes);
}

/* <attribute>=<kind>:<value> */
static void put(struct nlmsghdr *msg, char *word)
{
	char *kind = strchr(word, '='), *value = kind ? strchr(kind, ':') : NULL;
	unsigned int type;

	if (!value) {
		fprintf(stderr, "netlink: '%s': expected <attribute>=<kind>:<value>\n", word);
		exit(2);
	}
	*kind++ = '\0';
	*value++ = '\0';
	type = number(word);
	if (!strcmp(kind, "u32"))
		mnl_attr_put_u32(msg, type, strtoul(value, NULL, 0));
	else if (!strcmp(kind, "s32"))
		mnl_attr_put_u32(msg, type, strtol(value, NULL, 0));
	else if (!strcmp(kind, "flag"))
		mnl_attr_put(msg, type, 0, NULL);
	else if (!strcmp(kind, "str"))
		mnl_attr_put_strz(msg, type, value);
	else if (!strcmp(kind, "bare"))
		mnl_attr_put(msg, type, strlen(value), value);
	else
		put_raw(msg, type, value);
}

static struct nlmsghdr *request(void *buf, int type, int flags, int cmd)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = RTRS_NL_FAMILY_VERSION;
	return msg;
}

static void print_attr(const struct nlattr *attr)
{
	const unsigned char *data = mnl_attr_get_payload(attr);
	int len = mnl_attr_get_payload_len(attr), type = mnl_attr_get_type(attr);
	const struct nlattr *inner;

	if (type == RTRS_NL_A_PAD)
		return;
	printf(" %d=", type);
	if (type == RTRS_NL_A_STATS) {
		mnl_attr_for_each_nested(inner, attr)
			if (mnl_attr_get_type(inner) != RTRS_NL_STAT_PAD)
				printf("%d:%llu,", mnl_attr_get_type(inner),
				       (unsigned long long)mnl_attr_get_u64(inner));
	} else if (type == RTRS_NL_A_SECTORS || type == RTRS_NL_A_TIME) {
		printf("%llu", (unsigned long long)mnl_attr_get_u64(attr));
	} else if (len == 4 && data[len - 1] == '\0' && !isprint(data[0])) {
		printf("%u", mnl_attr_get_u32(attr));
	} else {
		printf("%.*s", len, data);
	}
}

static int print_message(const struct nlmsghdr *msg, void *arg)
{
	const struct nlattr *attr;

	if (msg->nlmsg_type == GENL_ID_CTRL) {
		mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
			if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
				*(int *)arg = mnl_attr_get_u16(attr);
		return MNL_CB_OK;
	}
	printf("%d:", ((const struct genlmsghdr *)mnl_nlmsg_get_payload(msg))->cmd);
	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		print_attr(attr);
	putchar('\n');
	return MNL_CB_OK;
}

/* Which attribute of the request is this many bytes behind its beginning. */
static int place_of(uint32_t offset)
{
	const struct nlmsghdr *msg = (const void *)text;
	const struct nlattr *attr;
	int place = 1;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr)) {
		if ((const char *)attr == text + offset)
			return place;
		place++;
	}
	return 0;
}

static void print_blame(const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case NLMSGERR_ATTR_MSG:
		printf(": %s", mnl_attr_get_str(attr));
		break;
	case NLMSGERR_ATTR_OFFS:
		printf(" [%d]", place_of(mnl_attr_get_u32(attr)));
		break;
	case NLMSGERR_ATTR_MISS_TYPE:
		printf(" [no %u]", mnl_attr_get_u32(attr));
		break;
	}
}

/* NLMSG_ERROR, with the kernel's words behind the request. */
static int print_error(const struct nlmsghdr *msg)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(msg);
	size_t skip = sizeof(*err);
	const struct nlattr *attr;

	if (!err->error)
		return 0;
	printf("%s", strerrorname_np(-err->error));
	if (!(msg->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&err->msg);
	if (msg->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_for_each(attr, msg, MNL_ALIGN(skip))
			print_blame(attr);
	putchar('\n');
	return 1;
}

/* What the kernel answers; 0, or 1 for an error. */
static int answers(struct mnl_socket *sock, int *arg, int slowly)
{
	const struct nlmsghdr *msg;
	int left, interrupted = 0;
	char line[16];

	for (;;) {
		left = mnl_socket_recvfrom(sock, buffer, BUFFER_BYTES);
		if (left < 0)
			die("recv");
		for (msg = (const void *)buffer; mnl_nlmsg_ok(msg, left); msg = mnl_nlmsg_next(msg, &left)) {
			interrupted |= msg->nlmsg_flags & NLM_F_DUMP_INTR;
			if (msg->nlmsg_type == NLMSG_ERROR)
				return print_error(msg);
			if (msg->nlmsg_type == NLMSG_DONE) {
				if (interrupted)
					puts("interrupted");
				return 0;
			}
			print_message(msg, arg);
			if (!(msg->nlmsg_flags & NLM_F_MULTI))
				return 0;
		}
		if (slowly) {
			puts("waiting");
			fflush(stdout);
			if (!fgets(line, sizeof(line), stdin))
				return 2;
			slowly = 0;
		}
	}
}

static void send_to(struct mnl_socket *sock, const struct nlmsghdr *msg)
{
	if (mnl_socket_sendto(sock, msg, msg->nlmsg_len) < 0)
		die("send");
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? strchr(argv[1], '=') : NULL;
	struct mnl_socket *sock;
	struct nlmsghdr *msg;
	int on = 1, slowly = 0, times = 1, change, i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], "nobody") && (setgid(65534) || setuid(65534)))
			die("setuid");
	sock = mnl_socket_open(NETLINK_GENERIC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) || argc < 2)
		die("socket");
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(sock, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &on, sizeof(on));
	msg = request(text, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, RTRS_NL_FAMILY_NAME);
	send_to(sock, msg);
	if (answers(sock, &family, 0) || !family)
		return 1;
	if (how)
		*how++ = '\0';
	memset(text, 0, sizeof(text));
	change = how ? !strcmp(how, "do") : number(argv[1]) > RTRS_NL_CMD_EVENT &&
					    number(argv[1]) <= RTRS_NL_CMD_MAX;
	msg = request(text, family, change ? NLM_F_ACK : NLM_F_DUMP, number(argv[1]));
	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], "slowly"))
			slowly = 1;
		else if (strcmp(argv[i], "nobody") && sscanf(argv[i], "x%d", &times) != 1)
			put(msg, argv[i]);
	while (times--)
		send_to(sock, msg);
	return answers(sock, &family, slowly);
}
