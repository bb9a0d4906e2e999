// SPDX-License-Identifier: GPL-2.0-only
/*
 * A write to sysfs as a request by netlink: file and text become a command and its attributes.
 *
 * Whatever keeps it from being one, modules without that command, a network namespace that does not see the family, or
 * a service that may write to sysfs but has no capability, leaves it to sysfs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "mem.h"
#include "nl.h"

/* Words of map_device. */
static const struct key {
	const char *name;
	unsigned int attr;
	bool number;
} keys[] = {
	{ "sessname", RTRS_NL_A_SESSION, false },
	{ "device_path", RTRS_NL_A_DEVICE_PATH, false },
	{ "path", RTRS_NL_A_ADDRESS, false },
	{ "access_mode", RTRS_NL_A_ACCESS_MODE, false },
	{ "dest_port", RTRS_NL_A_DEST_PORT, true },
	{ "nr_poll_queues", RTRS_NL_A_POLL_QUEUES, true },
	{ "no_path_timeout", RTRS_NL_A_NO_PATH_TIMEOUT, true },
	{ "request_timeout", RTRS_NL_A_REQUEST_TIMEOUT, true },
	{ "hb_interval_ms", RTRS_NL_A_HB_INTERVAL_MS, true },
	{ "hb_missed_max", RTRS_NL_A_HB_MISSED_MAX, true },
	{ "ack_timeout_ms", RTRS_NL_A_ACK_TIMEOUT_MS, true },
	{ "retry_count", RTRS_NL_A_RETRY_COUNT, true },
	{ "connect_timeout_ms", RTRS_NL_A_CONNECT_TIMEOUT_MS, true },
};

/* False: there is no room. Whoever types a text may make it as long as the system lets him. */
static bool put_text(struct nlmsghdr *msg, unsigned int attr, const char *text)
{
	return mnl_attr_put_strz_check(msg, NL_REQUEST_BYTES, attr, text);
}

static bool put_key(struct nlmsghdr *msg, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, name))
			continue;
		if (keys[i].number)
			return mnl_attr_put_u32_check(msg, NL_REQUEST_BYTES, keys[i].attr, strtol(value, NULL, 10));
		return put_text(msg, keys[i].attr, value);
	}
	return false;
}

static bool put_map(struct nlmsghdr *msg, const char *text)
{
	char *word, *value, *rest;

	for (word = strtok_r(mem_printf("%s", text), " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		value = strchr(word, '=');
		if (!value)
			return false;
		*value++ = '\0';
		if (!put_key(msg, word, value))
			return false;
	}
	return true;
}

/* The name in a file's path that comes behind another. */
static const char *name_behind(const char *file, const char *before)
{
	const char *at = strstr(file, before);

	return at ? mem_copy(at + strlen(before), strcspn(at + strlen(before), "/")) : "";
}

static bool put_unmap(struct nlmsghdr *msg, const char *file, const char *text)
{
	return put_text(msg, RTRS_NL_A_DEVICE, name_behind(file, "/sys/block/")) &&
	       (strcmp(text, "force") || mnl_attr_put_check(msg, NL_REQUEST_BYTES, RTRS_NL_A_FORCE, 0, NULL));
}

static bool put_path(struct nlmsghdr *msg, const char *file, unsigned int attr, const char *path)
{
	return put_text(msg, RTRS_NL_A_SESSION, name_behind(file, "/sys/class/rtrs-client/")) &&
	       put_text(msg, attr, path);
}

static unsigned int command_of(enum op op)
{
	switch (op) {
	case OP_MAP:
		return RTRS_NL_CMD_DEVICE_MAP;
	case OP_UNMAP:
		return RTRS_NL_CMD_DEVICE_UNMAP;
	case OP_PATH_ADD:
		return RTRS_NL_CMD_PATH_ADD;
	case OP_PATH_DEL:
		return RTRS_NL_CMD_PATH_DEL;
	default:
		return RTRS_NL_CMD_UNSPEC;
	}
}

static bool put_attributes(struct nlmsghdr *msg, enum op op, const char *file, const char *text)
{
	switch (op) {
	case OP_MAP:
		return put_map(msg, text);
	case OP_UNMAP:
		return put_unmap(msg, file, text);
	case OP_PATH_ADD:
		return put_path(msg, file, RTRS_NL_A_ADDRESS, text);
	default:
		return put_path(msg, file, RTRS_NL_A_PATH, name_behind(file, "/paths/"));
	}
}

/* Do by netlink what a write would; false: nothing is done, it has to be written. */
bool ask(enum op op, const char *file, const char *text, struct answer *answer)
{
	unsigned int command = command_of(op);
	struct nl_reply reply;
	struct nlmsghdr *msg;
	struct nl nl;
	bool asked;

	if (!command)
		return false;
	asked = nl_open(&nl) && nl_has(&nl, command);
	msg = asked ? nl_request(&nl, command) : NULL;
	asked = msg && put_attributes(msg, op, file, text) && nl_ask(&nl, msg, &reply);
	nl_close(&nl);
	/* It was not looked at what it asks for: who asks may not, or there is no such module. */
	if (!asked || (!reply.blames && (reply.err == EPERM || reply.err == EOPNOTSUPP)))
		return false;
	*answer = (struct answer){ reply.err, reply.words };
	return true;
}
