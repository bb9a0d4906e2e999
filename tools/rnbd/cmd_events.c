// SPDX-License-Identifier: GPL-2.0-only
/*
 * rnbd events: what happens to sessions, paths and devices, as it happens. It runs for long, so what an event
 * needs of memory is given back with it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mem.h"
#include "model.h"
#include "module.h"
#include "nl.h"
#include "out.h"

#define NS_PER_SEC	1000000000u

static const char *const event_names[] = {
	[RTRS_NL_EVENT_PATH]		= "path",
	[RTRS_NL_EVENT_FAILOVER]	= "failover",
	[RTRS_NL_EVENT_FENCE]		= "fence",
	[RTRS_NL_EVENT_SESSION_OPENED]	= "session-opened",
	[RTRS_NL_EVENT_SESSION_CLOSED]	= "session-closed",
	[RTRS_NL_EVENT_DEVICE_MAPPED]	= "device-mapped",
	[RTRS_NL_EVENT_DEVICE_UNMAPPED]	= "device-unmapped",
	[RTRS_NL_EVENT_DEVICE_LOST]	= "device-lost",
	[RTRS_NL_EVENT_DEVICE_BACK]	= "device-back",
	[RTRS_NL_EVENT_DEVICE_FAILED]	= "device-failed",
	[RTRS_NL_EVENT_DEVICE_RESIZED]	= "device-resized",
	[RTRS_NL_EVENT_DEVICE_OPENED]	= "device-opened",
	[RTRS_NL_EVENT_DEVICE_CLOSED]	= "device-closed",
	[RTRS_NL_EVENT_DEVICE_SLOW]	= "device-slow",
	[RTRS_NL_EVENT_DEVICE_ANSWERS]	= "device-answers",
};

static const char *const side_names[] = {
	[RTRS_NL_SIDE_CLIENT] = "client",
	[RTRS_NL_SIDE_SERVER] = "server",
};

/* Members of the JSON object, in their order. */
enum kind {
	TEXT,
	U32,
	U64,
	NAME,		/* of a list of names */
	ERRNO,
	SECTORS,
};

struct member {
	unsigned int attr;
	const char *key;
	enum kind kind;
	const char *const *names;
	size_t nr_names;
};

#define NAMES(names)	NAME, names, ARRAY_SIZE(names)

static const struct member members[] = {
	{ RTRS_NL_A_TIME,	 "time_ns",	U64,	 NULL, 0 },
	{ RTRS_NL_A_SEQ,	 "seq",		U32,	 NULL, 0 },
	{ RTRS_NL_A_EVENT,	 "event",	NAMES(event_names) },
	{ RTRS_NL_A_SIDE,	 "side",	NAMES(side_names) },
	{ RTRS_NL_A_SESSION,	 "session",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_PATH,	 "path",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_DEVICE,	 "device",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_DEVICE_PATH, "device_path",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_ACCESS_MODE, "access_mode",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_SECTORS,	 "size",	SECTORS, NULL, 0 },
	{ RTRS_NL_A_FROM,	 "from",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_TO,		 "to",		TEXT,	 NULL, 0 },
	{ RTRS_NL_A_CAUSE,	 "cause",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_REASON,	 "reason",	TEXT,	 NULL, 0 },
	{ RTRS_NL_A_ERROR,	 "error",	ERRNO,	 NULL, 0 },
	{ RTRS_NL_A_MOVED,	 "moved",	U32,	 NULL, 0 },
	{ RTRS_NL_A_FAILED,	 "failed",	U32,	 NULL, 0 },
	{ RTRS_NL_A_GAP_MS,	 "gap_ms",	U32,	 NULL, 0 },
};

static const char *text_of(const struct nl_message *msg, unsigned int attr)
{
	const struct nlattr *a = msg->attr[attr];

	return a && mnl_attr_validate(a, MNL_TYPE_NUL_STRING) >= 0 ? mnl_attr_get_str(a) : NULL;
}

static bool number_of(const struct nl_message *msg, unsigned int attr, uint32_t *number)
{
	const struct nlattr *a = msg->attr[attr];

	if (!a || mnl_attr_validate(a, MNL_TYPE_U32) < 0)
		return false;
	*number = mnl_attr_get_u32(a);
	return true;
}

static bool large_of(const struct nl_message *msg, unsigned int attr, uint64_t *number)
{
	const struct nlattr *a = msg->attr[attr];

	if (!a || mnl_attr_validate(a, MNL_TYPE_U64) < 0)
		return false;
	*number = mnl_attr_get_u64(a);
	return true;
}

static const char *name_of(const char *const *names, size_t nr, uint32_t value)
{
	return value < nr ? names[value] : "unknown";
}

static void json_key(const char *key, bool *first)
{
	printf("%s \"%s\": ", *first ? "{" : ",", key);
	*first = false;
}

static void json_member(const struct member *member, const struct nl_message *msg, bool *first)
{
	const char *text = text_of(msg, member->attr);
	uint64_t large;
	uint32_t small;

	switch (member->kind) {
	case TEXT:
		if (!text)
			return;
		json_key(member->key, first);
		fputs(json_quoted(text), stdout);
		return;
	case U64:
	case SECTORS:
		if (!large_of(msg, member->attr, &large))
			return;
		json_key(member->key, first);
		printf("%" PRIu64, member->kind == SECTORS ? large * 512 : large);
		return;
	case U32:
	case NAME:
	case ERRNO:
		if (!number_of(msg, member->attr, &small))
			return;
		json_key(member->key, first);
		if (member->kind == U32)
			printf("%" PRIu32, small);
		else if (member->kind == NAME)
			fputs(json_quoted(name_of(member->names, member->nr_names, small)), stdout);
		else
			fputs(json_quoted(strerrorname_np(small) ? strerrorname_np(small) : "unknown"), stdout);
		return;
	}
}

static void print_json(const struct nl_message *msg)
{
	bool first = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++)
		json_member(&members[i], msg, &first);
	puts(" }");
}

static void print_time(const struct nl_message *msg)
{
	char text[32] = "";
	struct tm broken;
	uint64_t ns = 0;
	time_t seconds;

	large_of(msg, RTRS_NL_A_TIME, &ns);
	seconds = ns / NS_PER_SEC;
	if (localtime_r(&seconds, &broken))
		strftime(text, sizeof(text), "%F %T", &broken);
	printf("%s.%06u", text, (unsigned int)(ns % NS_PER_SEC / 1000));
}

/* " word: text", or nothing. */
static void print_attr(const struct nl_message *msg, unsigned int attr, const char *before)
{
	const char *text = text_of(msg, attr);

	if (!text)
		return;
	printf("%s%s", before, text_shown(text, "\\"));
}

static void print_failover(const struct nl_message *msg)
{
	uint32_t moved = 0, failed = 0, gap_ms = 0;

	number_of(msg, RTRS_NL_A_MOVED, &moved);
	number_of(msg, RTRS_NL_A_FAILED, &failed);
	number_of(msg, RTRS_NL_A_GAP_MS, &gap_ms);
	printf(" %" PRIu32 " requests moved, %" PRIu32 " failed, gap %" PRIu32 " ms", moved, failed,
	       gap_ms);
}

/* For how long the disk has not answered, or had not. */
static void print_slow(const struct nl_message *msg, const char *word)
{
	uint32_t ms;

	if (number_of(msg, RTRS_NL_A_GAP_MS, &ms))
		printf(" %s %" PRIu32 " s", word, ms / 1000);
}

static void print_line(const struct nl_message *msg)
{
	uint32_t event = RTRS_NL_EVENT_PATH, side = RTRS_NL_SIDE_CLIENT, error;
	char sectors[32];
	uint64_t size;

	number_of(msg, RTRS_NL_A_EVENT, &event);
	number_of(msg, RTRS_NL_A_SIDE, &side);
	print_time(msg);
	printf(" %s %s", name_of(side_names, ARRAY_SIZE(side_names), side),
	       name_of(event_names, ARRAY_SIZE(event_names), event));
	print_attr(msg, RTRS_NL_A_SESSION, " ");
	print_attr(msg, RTRS_NL_A_PATH, " ");
	print_attr(msg, RTRS_NL_A_DEVICE, " ");
	print_attr(msg, RTRS_NL_A_DEVICE_PATH, " ");
	print_attr(msg, RTRS_NL_A_ACCESS_MODE, " ");
	if (large_of(msg, RTRS_NL_A_SECTORS, &size)) {
		snprintf(sectors, sizeof(sectors), " %" PRIu64 "s", size);
		fputs(sectors, stdout);
	}
	print_attr(msg, RTRS_NL_A_FROM, " ");
	print_attr(msg, RTRS_NL_A_TO, msg->attr[RTRS_NL_A_FROM] ? " -> " : " ");
	print_attr(msg, RTRS_NL_A_CAUSE, ", ");
	if (event == RTRS_NL_EVENT_FAILOVER)
		print_failover(msg);
	if (event == RTRS_NL_EVENT_DEVICE_SLOW || event == RTRS_NL_EVENT_DEVICE_ANSWERS)
		print_slow(msg, event == RTRS_NL_EVENT_DEVICE_SLOW ? "for" : "after");
	print_attr(msg, RTRS_NL_A_REASON, ": ");
	if (number_of(msg, RTRS_NL_A_ERROR, &error))
		printf(" (%s)", strerrorname_np(error) ? strerrorname_np(error) : "unknown");
	putchar('\n');
}

static void print_event(const struct nl_message *msg, const struct args *args)
{
	struct mem_pool pool = { 0 };

	mem_use(&pool);
	if (args->json)
		print_json(msg);
	else
		print_line(msg);
	mem_use(NULL);
	mem_empty(&pool);
}

static bool is_wanted(const struct nl_message *msg, const struct args *args)
{
	const char *session = text_of(msg, RTRS_NL_A_SESSION);

	return !args->words.nr || (session && !strcmp(session, args->words.word[0]));
}

/* 0: for ever. */
static bool count_parse(const char *text, unsigned long *count)
{
	char *end;

	*count = 0;
	if (!text)
		return true;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*count = strtoul(text, &end, 10);
	return !*end && !errno && *count;
}

static enum status no_family(void)
{
	if (errno != ENOENT)
		return fail(ST_NOT_READY, "cannot listen by netlink: %s", strerror(errno));
	fail(ST_NOT_READY, "there are no events: the kernel has no netlink family " RTRS_NL_FAMILY_NAME);
	if (module_loaded("rtrs-core"))
		detail("reason", "the module rtrs-core that is loaded does not have it, mainline's does not");
	else
		detail("next", "%s", module_remedy("rtrs-core"));
	return ST_NOT_READY;
}

/* Whoever reads a pipe gets each event at once. */
static bool flushed(void)
{
	return !fflush(stdout) && !ferror(stdout);
}

static enum status listen_for(struct nl *nl, const struct args *args, unsigned long count)
{
	struct nl_message msg;

	while (flushed()) {
		switch (nl_next(nl, &msg)) {
		case NL_EVENT:
			if (!is_wanted(&msg, args))
				continue;
			print_event(&msg, args);
			if (count && !--count)
				return ST_OK;
			break;
		case NL_LOST:
			puts(args->json ? "{ \"event\": \"events-lost\" }" : "events were lost here");
			break;
		case NL_GONE:
			flushed();
			return fail(ST_NOT_READY, "no more events: module rtrs-core was unloaded");
		case NL_FAILED:
			return fail(ST_NOT_READY, "cannot receive events: %s", strerror(errno));
		}
	}
	/* main() says why. */
	return ST_OK;
}

enum status cmd_events(const struct args *args)
{
	unsigned long count;
	enum status status;
	struct nl nl;

	if (!count_parse(args->count, &count))
		return fail(ST_USAGE, "--count=%s: expected a number from 1 on", args->count);
	status = nl_open(&nl) && nl_listen(&nl) ? listen_for(&nl, args, count) : no_family();
	nl_close(&nl);
	return status;
}
