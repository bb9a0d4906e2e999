// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grammar of the client's map_device (sysfs specification section 3).
 *
 * Operation
 *	Words separated by blanks, each key=value, in any order; every key but "path" at most once.
 *	The words are cut out in place, so nothing is copied or shortened.  Who has them apart already takes
 *	them one by one, by rnbd_options_set().
 *
 * Errors
 *	The first fault found is described in full: key, value and what would have been right.  The caller
 *	prints it; this file prints nothing.
 */
#include "options.h"
#include "opmap.h"

#define RNBD_OPT_BLANKS	" \t\r\n\f\v"

/**
 * struct rnbd_options_key - a key of the grammar
 * @name: as written before the equals sign
 * @parse: checks and stores a value; on error describes what it expected
 * @repeatable: may come several times
 */
struct rnbd_options_key {
	const char *name;
	int (*parse)(struct rnbd_options_run *run, const char *value);
	bool repeatable;
};

static int rnbd_options_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Decimal, or hexadecimal with 0x; one sign.  The range fits an int with room for one more digit. */
static int rnbd_options_int(const char *value, int min, int max, int *result)
{
	bool negative = *value == '-';
	int base = 10;
	s64 nr = 0;

	if (*value == '-' || *value == '+')
		value++;
	if (value[0] == '0' && (value[1] == 'x' || value[1] == 'X')) {
		base = 16;
		value += 2;
	}
	if (!*value)
		return -EINVAL;
	for (; *value; value++) {
		if (rnbd_options_digit(*value) >= base)
			return -EINVAL;
		nr = nr * base + rnbd_options_digit(*value);
		if (nr > S32_MAX)
			return -EINVAL;
	}
	if (negative)
		nr = -nr;
	if (nr < min || nr > max)
		return -EINVAL;
	*result = nr;
	return 0;
}

/* A number whose range is all there is to say of it. */
static int rnbd_options_range(struct rnbd_options_run *run, const char *value, int min, int max,
			      int *result)
{
	scnprintf(run->error->expected, sizeof(run->error->expected), "a number from %d to %d", min,
		  max);
	return rnbd_options_int(value, min, max, result);
}

static int rnbd_options_parse_sessname(struct rnbd_options_run *run, const char *value)
{
	size_t len = strlen(value);

	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "1 to %d characters without '/' and '.'", RNBD_OPT_MAX_NAME);
	if (!len || len > RNBD_OPT_MAX_NAME || strpbrk(value, "/."))
		return -EINVAL;
	run->opts->sessname = value;
	return 0;
}

static int rnbd_options_parse_device_path(struct rnbd_options_run *run, const char *value)
{
	size_t len = strlen(value);

	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "1 to %d characters", RNBD_OPT_MAX_NAME);
	if (!len || len > RNBD_OPT_MAX_NAME)
		return -EINVAL;
	run->opts->device_path = value;
	return 0;
}

static int rnbd_options_parse_path(struct rnbd_options_run *run, const char *value)
{
	struct rnbd_options *opts = run->opts;

	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "at most %d paths", RNBD_OPT_MAX_PATHS);
	if (opts->nr_paths == RNBD_OPT_MAX_PATHS)
		return -ENOMEM;
	opts->paths[opts->nr_paths++] = value;
	return 0;
}

static int rnbd_options_parse_dest_port(struct rnbd_options_run *run, const char *value)
{
	int port, ret = rnbd_options_range(run, value, 0, U16_MAX, &port);

	if (!ret)
		run->opts->dest_port = port;
	return ret;
}

static int rnbd_options_parse_access_mode(struct rnbd_options_run *run, const char *value)
{
	int mode = rnbd_access_mode_parse(value);

	scnprintf(run->error->expected, sizeof(run->error->expected), "ro, rw or migration");
	if (mode < 0)
		return mode;
	run->opts->access_mode = mode;
	return 0;
}

static int rnbd_options_parse_nr_poll_queues(struct rnbd_options_run *run, const char *value)
{
	int nr;

	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "a number from -1 to %u, -1 for the highest", run->max_poll_queues);
	if (rnbd_options_int(value, -1, run->max_poll_queues, &nr))
		return -EINVAL;
	run->opts->nr_poll_queues = nr < 0 ? run->max_poll_queues : nr;
	return 0;
}

static int rnbd_options_parse_no_path_timeout(struct rnbd_options_run *run, const char *value)
{
	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "a number of seconds from -1 to %d, -1 for ever", RNBD_OPT_MAX_NO_PATH_TIMEOUT);
	return rnbd_options_int(value, -1, RNBD_OPT_MAX_NO_PATH_TIMEOUT,
				&run->opts->no_path_timeout);
}

static int rnbd_options_parse_request_timeout(struct rnbd_options_run *run, const char *value)
{
	scnprintf(run->error->expected, sizeof(run->error->expected),
		  "a number of seconds from 0 to %d, 0 for ever", RNBD_OPT_MAX_REQUEST_TIMEOUT);
	return rnbd_options_int(value, 0, RNBD_OPT_MAX_REQUEST_TIMEOUT, &run->opts->request_timeout);
}

/* One function for each value of the session's timing. */
#define RNBD_OPTIONS_TIMING(_name, _min, _max, _default)					\
static int rnbd_options_parse_##_name(struct rnbd_options_run *run, const char *value)	\
{											\
	int nr, ret = rnbd_options_range(run, value, _min, _max, &nr);			\
											\
	if (!ret) {									\
		run->opts->timing._name = nr;						\
		run->opts->timing_given |= BIT(RTRS_CLT_TIMING_##_name);		\
	}										\
	return ret;									\
}

RTRS_CLT_TIMINGS(RNBD_OPTIONS_TIMING)

static const struct rnbd_options_key rnbd_options_keys[] = {
	{ "sessname",	    rnbd_options_parse_sessname,       false },
	{ "device_path",    rnbd_options_parse_device_path,    false },
	{ "path",	    rnbd_options_parse_path,	       true  },
	{ "dest_port",	    rnbd_options_parse_dest_port,      false },
	{ "access_mode",    rnbd_options_parse_access_mode,    false },
	{ "nr_poll_queues", rnbd_options_parse_nr_poll_queues, false },
	{ "no_path_timeout", rnbd_options_parse_no_path_timeout, false },
	{ "request_timeout", rnbd_options_parse_request_timeout, false },
#define RNBD_OPTIONS_KEY(_name, _min, _max, _default)	{ #_name, rnbd_options_parse_##_name, false },
	RTRS_CLT_TIMINGS(RNBD_OPTIONS_KEY)
};

static void rnbd_options_expect(struct rnbd_options_run *run, const char *key, const char *value,
				const char *expected)
{
	run->error->key = key;
	run->error->value = value;
	strscpy(run->error->expected, expected, sizeof(run->error->expected));
}

/**
 * rnbd_options_set() - take one option
 * @run: the run
 * @key: which one
 * @value: as it is written behind the equals sign, NULL if there is none; stays until the result is used
 *
 * Context: any.
 * Return: 0; -EINVAL: unknown or doubled key, bad value; -ENOMEM: too many paths.
 */
int rnbd_options_set(struct rnbd_options_run *run, const char *key, const char *value)
{
	const struct rnbd_options_key *known;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rnbd_options_keys); i++)
		if (!strcmp(key, rnbd_options_keys[i].name))
			break;
	if (!value || i == ARRAY_SIZE(rnbd_options_keys)) {
		rnbd_options_expect(run, key, value,
				    "sessname=, device_path=, path=, dest_port=, access_mode=, nr_poll_queues=, no_path_timeout=, request_timeout=, hb_interval_ms=, hb_missed_max=, ack_timeout_ms=, retry_count= or connect_timeout_ms=");
		return -EINVAL;
	}

	known = &rnbd_options_keys[i];
	if ((run->seen & BIT(i)) && !known->repeatable) {
		rnbd_options_expect(run, known->name, value, "it once");
		return -EINVAL;
	}
	run->seen |= BIT(i);
	/* Text has none; what comes in another way shall be what could be written too. */
	if (value[strcspn(value, RNBD_OPT_BLANKS)]) {
		rnbd_options_expect(run, known->name, value, "a value without blanks");
		return -EINVAL;
	}
	run->error->key = known->name;
	run->error->value = value;
	return known->parse(run, value);
}

/* One word, with its value cut off and NUL terminated. */
static int rnbd_options_word(struct rnbd_options_run *run, char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	return rnbd_options_set(run, word, value);
}

/**
 * rnbd_options_end() - look at what no single option can tell
 * @run: the run, each option taken
 *
 * Context: any.
 * Return: 0, and the result is complete; -EINVAL: an option is missing; -ENAMETOOLONG: both names together
 * too long.
 */
int rnbd_options_end(struct rnbd_options_run *run)
{
	const struct rnbd_options *opts = run->opts;

	if (!opts->sessname) {
		rnbd_options_expect(run, "sessname", NULL, "sessname=<name of the session>");
		return -EINVAL;
	}
	if (!opts->device_path) {
		rnbd_options_expect(run, "device_path", NULL,
				    "device_path=<name of the device on the server>");
		return -EINVAL;
	}
	/* Both together and an '@' name the device's link in sysfs, which is one file name. */
	if (strlen(opts->device_path) + 1 + strlen(opts->sessname) > NAME_MAX) {
		rnbd_options_expect(run, "device_path", opts->device_path,
				    "at most 254 characters together with sessname");
		return -ENAMETOOLONG;
	}
	return 0;
}

/**
 * rnbd_options_begin() - begin a run, with the defaults
 * @run: the run
 * @max_poll_queues: largest number of poll queues, the number of possible CPUs
 * @opts: result, complete after rnbd_options_end()
 * @error: what is wrong and what would be right, if one of the functions below fails
 *
 * Context: any.
 */
void rnbd_options_begin(struct rnbd_options_run *run, unsigned int max_poll_queues,
			struct rnbd_options *opts, struct rnbd_options_error *error)
{
	*run = (struct rnbd_options_run) {
		.opts = opts,
		.error = error,
		.max_poll_queues = max_poll_queues,
	};
	memset(opts, 0, sizeof(*opts));
	memset(error, 0, sizeof(*error));
	opts->dest_port = RNBD_DEFAULT_PORT;
	opts->access_mode = RNBD_ACCESS_RW;
	opts->no_path_timeout = RNBD_OPT_NO_PATH_TIMEOUT;
	opts->timing = (struct rtrs_clt_timing) { RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_DEFAULT) };
}

/**
 * rnbd_options_parse() - read what was written to map_device
 * @text: NUL-terminated text; words are cut apart in it, and results point into it
 * @max_poll_queues: largest number of poll queues, the number of possible CPUs
 * @opts: result, complete on success
 * @error: on failure, what is wrong and what would be right
 *
 * Addresses are not looked at.
 *
 * Context: any.
 * Return: 0; -EINVAL: unknown, missing or doubled key, bad value; -ENOMEM: too many paths;
 * -ENAMETOOLONG: both names together too long.  Sysfs specification section 3.
 */
int rnbd_options_parse(char *text, unsigned int max_poll_queues, struct rnbd_options *opts,
		       struct rnbd_options_error *error)
{
	struct rnbd_options_run run;
	int ret;

	rnbd_options_begin(&run, max_poll_queues, opts, error);
	text += strspn(text, RNBD_OPT_BLANKS);
	while (*text) {
		char *word = text;

		text += strcspn(text, RNBD_OPT_BLANKS);
		if (*text)
			*text++ = '\0';
		text += strspn(text, RNBD_OPT_BLANKS);
		ret = rnbd_options_word(&run, word);
		if (ret)
			return ret;
	}
	return rnbd_options_end(&run);
}
