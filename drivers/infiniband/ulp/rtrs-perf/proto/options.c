// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grammar of the files session and run.
 *
 * Operation
 *	Words separated by blanks, each key=value, in any order; every key but "path" at most once.
 *	The words are cut out in place, so nothing is copied or shortened.
 *
 * Errors
 *	The first fault found is described in full: key, value and what would have been right.  The caller
 *	prints it; this file prints nothing.
 */
#include "options.h"

#define RTRS_PERF_BLANKS	" \t\r\n\f\v"

/**
 * struct rtrs_perf_ctx - state of one run of the parser
 * @session: result, of a text for the file session
 * @run: the same for the file run
 * @limits: what the session allows, for @run
 * @error: filled when something is wrong
 * @seen: bit mask of the keys that came, by index into the table of keys
 */
struct rtrs_perf_ctx {
	struct rtrs_perf_session_opts *session;
	struct rtrs_perf_run_opts *run;
	const struct rtrs_perf_limits *limits;
	struct rtrs_perf_error *error;
	unsigned long seen;
};

/**
 * struct rtrs_perf_key - a key of the grammar
 * @name: as written before the equals sign
 * @parse: checks and stores a value; on error describes what it expected
 * @repeatable: may come several times
 */
struct rtrs_perf_key {
	const char *name;
	int (*parse)(struct rtrs_perf_ctx *ctx, const char *value);
	bool repeatable;
};

/* Decimal digits and nothing else. */
static int rtrs_perf_int(const char *value, u32 min, u32 max, u32 *result)
{
	u64 nr = 0;

	if (!*value)
		return -EINVAL;
	for (; *value; value++) {
		if (*value < '0' || *value > '9')
			return -EINVAL;
		nr = nr * 10 + *value - '0';
		if (nr > max)
			return -EINVAL;
	}
	if (nr < min)
		return -EINVAL;
	*result = nr;
	return 0;
}

static int rtrs_perf_parse_sessname(struct rtrs_perf_ctx *ctx, const char *value)
{
	size_t len = strlen(value);

	scnprintf(ctx->error->expected, sizeof(ctx->error->expected),
		  "1 to %d characters without '/' and '.'", RTRS_PERF_MAX_NAME);
	if (!len || len > RTRS_PERF_MAX_NAME || strpbrk(value, "/."))
		return -EINVAL;
	ctx->session->sessname = value;
	return 0;
}

static int rtrs_perf_parse_path(struct rtrs_perf_ctx *ctx, const char *value)
{
	struct rtrs_perf_session_opts *opts = ctx->session;

	scnprintf(ctx->error->expected, sizeof(ctx->error->expected), "at most %d paths",
		  RTRS_PERF_MAX_PATHS);
	if (opts->nr_paths == RTRS_PERF_MAX_PATHS)
		return -EINVAL;
	opts->paths[opts->nr_paths++] = value;
	return 0;
}

static int rtrs_perf_parse_dest_port(struct rtrs_perf_ctx *ctx, const char *value)
{
	u32 port;
	int ret;

	scnprintf(ctx->error->expected, sizeof(ctx->error->expected), "a number from 1 to %d", U16_MAX);
	ret = rtrs_perf_int(value, 1, U16_MAX, &port);
	if (!ret)
		ctx->session->dest_port = port;
	return ret;
}

static int rtrs_perf_parse_op(struct rtrs_perf_ctx *ctx, const char *value)
{
	scnprintf(ctx->error->expected, sizeof(ctx->error->expected), "read or write");
	if (!strcmp(value, "read"))
		ctx->run->op = RTRS_PERF_READ;
	else if (!strcmp(value, "write"))
		ctx->run->op = RTRS_PERF_WRITE;
	else
		return -EINVAL;
	return 0;
}

static int rtrs_perf_parse_size(struct rtrs_perf_ctx *ctx, const char *value)
{
	scnprintf(ctx->error->expected, sizeof(ctx->error->expected),
		  "a number of bytes from 1 to %u", ctx->limits->size);
	return rtrs_perf_int(value, 1, ctx->limits->size, &ctx->run->size);
}

static int rtrs_perf_parse_iterations(struct rtrs_perf_ctx *ctx, const char *value)
{
	scnprintf(ctx->error->expected, sizeof(ctx->error->expected),
		  "a number of requests from 1 to %d", RTRS_PERF_MAX_ITERATIONS);
	return rtrs_perf_int(value, 1, RTRS_PERF_MAX_ITERATIONS, &ctx->run->iterations);
}

static int rtrs_perf_parse_depth(struct rtrs_perf_ctx *ctx, const char *value)
{
	scnprintf(ctx->error->expected, sizeof(ctx->error->expected),
		  "a number of requests from 1 to %u", ctx->limits->depth);
	return rtrs_perf_int(value, 1, ctx->limits->depth, &ctx->run->depth);
}

/* Which CPUs there are is not known here. */
static int rtrs_perf_parse_cpus(struct rtrs_perf_ctx *ctx, const char *value)
{
	size_t len = strlen(value);

	scnprintf(ctx->error->expected, sizeof(ctx->error->expected),
		  "a list of CPUs that are online, as 0-3,5");
	if (!len || len > RTRS_PERF_MAX_NAME || strspn(value, "0123456789-,") != len)
		return -EINVAL;
	ctx->run->cpus = value;
	return 0;
}

static const struct rtrs_perf_key rtrs_perf_session_keys[] = {
	{ "sessname",	rtrs_perf_parse_sessname,   false },
	{ "path",	rtrs_perf_parse_path,	    true  },
	{ "dest_port",	rtrs_perf_parse_dest_port,  false },
};

static const struct rtrs_perf_key rtrs_perf_run_keys[] = {
	{ "op",		rtrs_perf_parse_op,	    false },
	{ "size",	rtrs_perf_parse_size,	    false },
	{ "iterations",	rtrs_perf_parse_iterations, false },
	{ "depth",	rtrs_perf_parse_depth,	    false },
	{ "cpus",	rtrs_perf_parse_cpus,	    false },
};

static int rtrs_perf_expect(struct rtrs_perf_error *error, const char *key, const char *value,
			    const char *expected)
{
	error->key = key;
	error->value = value;
	strscpy(error->expected, expected, sizeof(error->expected));
	return -EINVAL;
}

/* One word, with its value cut off and NUL terminated. */
static int rtrs_perf_parse_word(struct rtrs_perf_ctx *ctx, char *word, const struct rtrs_perf_key *keys,
				unsigned int nr_keys, const char *known)
{
	char *value = strchr(word, '=');
	unsigned int i;

	if (value)
		*value++ = '\0';
	for (i = 0; i < nr_keys; i++)
		if (!strcmp(word, keys[i].name))
			break;
	if (!value || i == nr_keys)
		return rtrs_perf_expect(ctx->error, word, value, known);
	if ((ctx->seen & BIT(i)) && !keys[i].repeatable)
		return rtrs_perf_expect(ctx->error, keys[i].name, value, "it once");
	ctx->seen |= BIT(i);
	ctx->error->key = keys[i].name;
	ctx->error->value = value;
	return keys[i].parse(ctx, value);
}

static int rtrs_perf_parse_words(struct rtrs_perf_ctx *ctx, char *text, const struct rtrs_perf_key *keys,
				 unsigned int nr_keys, const char *known)
{
	int ret = 0;
	char *word;

	memset(ctx->error, 0, sizeof(*ctx->error));
	text += strspn(text, RTRS_PERF_BLANKS);
	while (*text && !ret) {
		word = text;
		text += strcspn(text, RTRS_PERF_BLANKS);
		if (*text)
			*text++ = '\0';
		text += strspn(text, RTRS_PERF_BLANKS);
		ret = rtrs_perf_parse_word(ctx, word, keys, nr_keys, known);
	}
	return ret;
}

/**
 * rtrs_perf_session_parse() - read what was written to the file session
 * @text: NUL-terminated text; words are cut apart in it, and results point into it
 * @opts: result, complete on success
 * @error: on failure, what is wrong and what would be right
 *
 * Addresses are not looked at.
 *
 * Context: any.
 * Return: 0; -EINVAL: unknown, missing or doubled key, bad value, too many paths.
 */
int rtrs_perf_session_parse(char *text, struct rtrs_perf_session_opts *opts,
			    struct rtrs_perf_error *error)
{
	struct rtrs_perf_ctx ctx = { .session = opts, .error = error };
	int ret;

	memset(opts, 0, sizeof(*opts));
	opts->dest_port = RTRS_PERF_PORT;
	ret = rtrs_perf_parse_words(&ctx, text, rtrs_perf_session_keys,
				    ARRAY_SIZE(rtrs_perf_session_keys),
				    "sessname=, path= or dest_port=");
	if (ret)
		return ret;
	if (!opts->sessname)
		return rtrs_perf_expect(error, "sessname", NULL, "sessname=<name of the session>");
	if (!opts->nr_paths)
		return rtrs_perf_expect(error, "path", NULL, "path=[<src>,]<dst>");
	return 0;
}

/**
 * rtrs_perf_run_parse() - read what was written to the file run
 * @text: NUL-terminated text; words are cut apart in it, and results point into it
 * @limits: what the session allows
 * @opts: result, complete on success
 * @error: on failure, what is wrong and what would be right
 *
 * Which CPUs the list has, and whether they are too many for the depth, is not looked at.
 *
 * Context: any.
 * Return: 0; -EINVAL: unknown, missing or doubled key, bad value.
 */
int rtrs_perf_run_parse(char *text, const struct rtrs_perf_limits *limits,
			struct rtrs_perf_run_opts *opts, struct rtrs_perf_error *error)
{
	struct rtrs_perf_ctx ctx = { .run = opts, .limits = limits, .error = error };
	int ret;

	memset(opts, 0, sizeof(*opts));
	opts->depth = 1;
	ret = rtrs_perf_parse_words(&ctx, text, rtrs_perf_run_keys, ARRAY_SIZE(rtrs_perf_run_keys),
				    "op=, size=, iterations=, depth= or cpus=");
	if (ret)
		return ret;
	if (!opts->op)
		return rtrs_perf_expect(error, "op", NULL, "op=read or op=write");
	if (!opts->size)
		return rtrs_perf_expect(error, "size", NULL, "size=<bytes>");
	if (!opts->iterations)
		return rtrs_perf_expect(error, "iterations", NULL, "iterations=<requests>");
	if (!opts->cpus)
		return rtrs_perf_expect(error, "cpus", NULL, "cpus=<list of CPUs>");
	return 0;
}
