// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command lines: parse, explain, complete. One table of options for all commands; a command takes
 * those whose letters it lists.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "complete.h"
#include "mem.h"
#include "out.h"

enum option_kind {
	OPT_FLAG,
	OPT_TEXT,
	OPT_LIST,
};

struct option {
	char letter;
	const char *name;
	const char *value;
	enum option_kind kind;
	size_t offset;
	const char *help;
};

/* In commands' lists of letters; what is typed is -w, which is --wait elsewhere. */
#define WATCH	'W'

#define FIELD(field)	offsetof(struct args, field)

static const struct option options[] = {
	{ 's', "session", "NAME", OPT_TEXT, FIELD(session),
	  "session to use or to open (default: <this host>@<server>)" },
	{ 'p', "path", "[SRC@]DST", OPT_LIST, FIELD(paths),
	  "path of a new session; may be given up to 6 times" },
	{ 'P', "port", "PORT", OPT_TEXT, FIELD(port), "port of the server (default: 1234)" },
	{ 'a', "access", "MODE", OPT_TEXT, FIELD(access), "ro, rw or migration (default: rw)" },
	{ 'q', "poll-queues", "N", OPT_TEXT, FIELD(poll_queues),
	  "queues for polled I/O of a new session, -1: one per CPU (default: 0)" },
	{ 't', "no-path-timeout", "SECONDS", OPT_TEXT, FIELD(no_path_timeout),
	  "how long I/O waits without a path, 0: not at all, -1: for ever (default: 600)" },
	{ 'r', "request-timeout", "SECONDS", OPT_TEXT, FIELD(request_timeout),
	  "how long a request may take in all before it fails, 0: for ever (default: 0)" },
	{ 'I', "hb-interval-ms", "MS", OPT_TEXT, FIELD(timing[TIMING_hb_interval_ms]),
	  "time between two heartbeats of a new session (default: 200)" },
	{ 'M', "hb-missed-max", "N", OPT_TEXT, FIELD(timing[TIMING_hb_missed_max]),
	  "heartbeats that may be missed before a path is lost (default: 2)" },
	{ 'T', "ack-timeout-ms", "MS", OPT_TEXT, FIELD(timing[TIMING_ack_timeout_ms]),
	  "how long the RDMA device waits for an acknowledgement (default: 134)" },
	{ 'R', "retry-count", "N", OPT_TEXT, FIELD(timing[TIMING_retry_count]),
	  "how often it sends again before a path is lost (default: 2)" },
	{ 'C', "connect-timeout-ms", "MS", OPT_TEXT, FIELD(timing[TIMING_connect_timeout_ms]),
	  "how long an attempt to connect may take (default: 10000)" },
	{ 'w', "wait", "SECONDS", OPT_TEXT, FIELD(wait),
	  "how long to wait for the device node (default: 10)" },
	{ '4', "ipv4", NULL, OPT_FLAG, FIELD(ipv4), "only IPv4 addresses of the server" },
	{ '6', "ipv6", NULL, OPT_FLAG, FIELD(ipv6), "only IPv6 addresses of the server" },
	{ 'f', "force", NULL, OPT_FLAG, FIELD(force), "do it in spite of the risk named above" },
	{ 'A', "all", NULL, OPT_FLAG, FIELD(all), "all that there are" },
	{ 'S', "server", NULL, OPT_FLAG, FIELD(server), "sessions of the server on this host" },
	{ 'j', "json", NULL, OPT_FLAG, FIELD(json), "print JSON; sizes in bytes" },
	{ 'H', "noheaders", NULL, OPT_FLAG, FIELD(noheaders), "no line of headings" },
	{ 'u', "units", "UNIT", OPT_TEXT, FIELD(units),
	  "sizes in b, k, m, g, t, p or s (sectors); h: what fits (default)" },
	{ 'n', "dry-run", NULL, OPT_FLAG, FIELD(dry_run), "only print what would be written where" },
	{ WATCH, "watch", "SECONDS", OPT_TEXT, FIELD(watch),
	  "print what was counted in each interval of so long" },
	{ 'c', "count", "N", OPT_TEXT, FIELD(count), "end after so many intervals or events" },
	{ 'O', "openmetrics", NULL, OPT_FLAG, FIELD(openmetrics), "print all in the format OpenMetrics" },
	{ 'x', "prometheus", NULL, OPT_FLAG, FIELD(prometheus),
	  "the same in the text format of Prometheus, for node_exporter" },
	{ 'o', "output", "FILE", OPT_TEXT, FIELD(output), "write these two to a file, which is replaced at once" },
	{ 'h', "help", NULL, OPT_FLAG, FIELD(help), "this text" },
};

static bool option_taken(const struct command *cmd, const struct option *option)
{
	return option->letter == 'h' || strchr(cmd->options, option->letter);
}

static char option_letter(const struct option *option)
{
	return option->letter == WATCH ? 'w' : option->letter;
}

static void usage_hint(const struct command *cmd)
{
	detail("next", "rnbd %s --help", cmd->name);
}

static enum status unknown_option(const struct command *cmd, const char *name)
{
	struct words known = { 0 };
	const char *near;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_taken(cmd, &options[i]))
			words_add(&known, options[i].name);
	near = nearest(name, &known);
	if (near)
		fail(ST_USAGE, "unknown option --%s; did you mean --%s?", name, near);
	else
		fail(ST_USAGE, "unknown option --%s", name);
	usage_hint(cmd);
	return ST_USAGE;
}

static const struct option *option_by_name(const struct command *cmd, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_taken(cmd, &options[i]) && strlen(options[i].name) == len &&
		    !memcmp(options[i].name, name, len))
			return &options[i];
	return NULL;
}

static const struct option *option_by_letter(const struct command *cmd, char letter)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_taken(cmd, &options[i]) && option_letter(&options[i]) == letter)
			return &options[i];
	return NULL;
}

static void option_set(struct args *args, const struct option *option, const char *value)
{
	void *field = (char *)args + option->offset;

	if (option->kind == OPT_FLAG)
		*(bool *)field = true;
	else if (option->kind == OPT_TEXT)
		*(const char **)field = value;
	else
		words_add(field, value);
}

/* "--name", "--name=value" or "--name value". */
static enum status parse_long(const struct command *cmd, char *const **argv, struct args *args)
{
	const char *name = *(*argv)++ + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	const struct option *option = option_by_name(cmd, name, len);

	if (!option)
		return unknown_option(cmd, mem_copy(name, len));
	if (option->kind == OPT_FLAG && value)
		return fail(ST_USAGE, "--%s takes no value", option->name);
	if (value)
		value++;
	else if (option->kind != OPT_FLAG)
		value = **argv ? *(*argv)++ : NULL;
	if (option->kind != OPT_FLAG && !value)
		return fail(ST_USAGE, "--%s needs a value: %s", option->name, option->value);
	option_set(args, option, value);
	return ST_OK;
}

/* "-jH", "-svalue" or "-s value". */
static enum status parse_short(const struct command *cmd, char *const **argv, struct args *args)
{
	const char *letter = *(*argv)++ + 1, *value;
	const struct option *option;

	for (; *letter; letter++) {
		option = option_by_letter(cmd, *letter);
		if (!option) {
			fail(ST_USAGE, "unknown option -%c", *letter);
			usage_hint(cmd);
			return ST_USAGE;
		}
		if (option->kind == OPT_FLAG) {
			option_set(args, option, NULL);
			continue;
		}
		value = letter[1] ? letter + 1 : **argv ? *(*argv)++ : NULL;
		if (!value)
			return fail(ST_USAGE, "-%c needs a value: %s", *letter, option->value);
		option_set(args, option, value);
		break;
	}
	return ST_OK;
}

static enum status check_words(const struct command *cmd, const struct args *args)
{
	if (args->words.nr < cmd->min)
		fail(ST_USAGE, "too few words: expected %s", cmd->words);
	else if (args->words.nr > cmd->max && *cmd->words)
		fail(ST_USAGE, "'%s' is too much: expected %s", args->words.word[cmd->max], cmd->words);
	else if (args->words.nr > cmd->max)
		fail(ST_USAGE, "'%s' is too much: expected nothing", args->words.word[cmd->max]);
	else
		return ST_OK;
	usage_hint(cmd);
	return ST_USAGE;
}

/* What follows the command's name. */
enum status args_parse(const struct command *cmd, char *const *argv, struct args *args)
{
	enum status status = ST_OK;
	bool words_only = false;

	while (*argv && status == ST_OK) {
		if (!words_only && !strcmp(*argv, "--")) {
			words_only = true;
			argv++;
		} else if (words_only || (*argv)[0] != '-' || !(*argv)[1]) {
			words_add(&args->words, *argv++);
		} else if ((*argv)[1] == '-') {
			status = parse_long(cmd, &argv, args);
		} else {
			status = parse_short(cmd, &argv, args);
		}
	}
	if (status != ST_OK || args->help)
		return status;
	if (args->units && !units_valid(args->units))
		return fail(ST_USAGE, "--units=%s: expected b, k, m, g, t, p, s or h", args->units);
	return check_words(cmd, args);
}

/* The command that the first words name, and how many words that takes; NULL if there is none. */
static const struct command *command_find(char *const *argv, int *used)
{
	const char *second;
	size_t i, len;

	for (i = 0; i < nr_commands; i++) {
		len = strcspn(commands[i].name, " ");
		second = commands[i].name + len;
		if (strlen(argv[0]) != len || memcmp(argv[0], commands[i].name, len))
			continue;
		if (*second && (!argv[1] || strcmp(argv[1], second + 1)))
			continue;
		*used = *second ? 2 : 1;
		return &commands[i];
	}
	return NULL;
}

static bool has_second_word(const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < nr_commands; i++)
		if (!strncmp(commands[i].name, name, len) && commands[i].name[len] == ' ')
			return true;
	return false;
}

static const struct command *second_word_missing(const char *name)
{
	struct words names = { 0 };
	size_t i, len = strlen(name);

	for (i = 0; i < nr_commands; i++)
		if (!strncmp(commands[i].name, name, len) && commands[i].name[len] == ' ')
			words_add(&names, commands[i].name);
	fail(ST_USAGE, "'%s' is not complete: expected %s", name, words_join(&names, ", "));
	detail("next", "rnbd --help lists all commands");
	return NULL;
}

/* The same, with a complaint if there is none. */
const struct command *args_command(char *const *argv, int *used)
{
	const struct command *cmd = command_find(argv, used);
	const char *name = argv[0], *near;
	struct words names = { 0 };
	size_t i;

	if (cmd)
		return cmd;
	if (has_second_word(name) && (!argv[1] || *argv[1] == '-'))
		return second_word_missing(name);
	for (i = 0; i < nr_commands; i++)
		words_add(&names, commands[i].name);
	if (has_second_word(name))
		name = mem_printf("%s %s", name, argv[1]);
	near = nearest(name, &names);
	if (near)
		fail(ST_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
	else
		fail(ST_USAGE, "unknown command '%s'", name);
	detail("next", "rnbd --help lists all commands");
	return NULL;
}

static void args_usage(const struct command *cmd)
{
	printf("Usage: rnbd %s%s%s%s\n", cmd->name, *cmd->options ? " [OPTION]..." : "",
	       *cmd->words ? " " : "", cmd->words);
}

void args_help(const struct command *cmd)
{
	const struct option *option;
	const char *name;

	args_usage(cmd);
	printf("\n%s\n\nOptions:\n", cmd->about);
	for (option = options; option < options + ARRAY_SIZE(options); option++) {
		if (!option_taken(cmd, option))
			continue;
		name = option->value ? mem_printf("%s=%s", option->name, option->value) : option->name;
		printf("  -%c, --%-25s %s\n", option_letter(option), name, option->help);
	}
}

/* The option that waits for the word after this one. */
static const struct option *option_open(const struct command *cmd, const char *word)
{
	const struct option *option = NULL;

	if (!word || word[0] != '-')
		return NULL;
	if (word[1] == '-')
		option = option_by_name(cmd, word + 2, strlen(word + 2));
	else if (word[1])
		option = option_by_letter(cmd, word[strlen(word) - 1]);
	return option && option->kind != OPT_FLAG ? option : NULL;
}

static struct words complete_options(const struct command *cmd)
{
	struct words found = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_taken(cmd, &options[i]))
			words_add(&found, mem_printf("--%s%s", options[i].name,
						     options[i].kind == OPT_FLAG ? "" : "="));
	return found;
}

/* Kind of the command's next word, '\0' if there is none. */
static char complete_kind(const struct command *cmd, size_t nr)
{
	size_t kinds = strlen(cmd->complete);

	if (nr < kinds)
		return cmd->complete[nr];
	return kinds && nr < cmd->max ? cmd->complete[kinds - 1] : '\0';
}

/* The first word, or the second of a command that has two. */
static struct words complete_command(char *const *argv)
{
	struct words found = { 0 };
	const char *name;
	size_t i, len;

	for (i = 0; i < nr_commands; i++) {
		len = strcspn(commands[i].name, " ");
		name = argv[1] ? commands[i].name + len + 1 : mem_copy(commands[i].name, len);
		if (argv[1] && (!commands[i].name[len] || strlen(argv[0]) != len ||
				memcmp(argv[0], commands[i].name, len)))
			continue;
		if (!words_have(&found, name))
			words_add(&found, name);
	}
	return found;
}

/* "--name=" and the values that may follow. */
static struct words complete_assigned(const struct command *cmd, const char *word)
{
	size_t i, len = strcspn(word, "=");
	const struct option *option = option_by_name(cmd, word + 2, len - 2);
	struct words found = { 0 };

	if (option)
		found = complete_value(option->letter);
	for (i = 0; i < found.nr; i++)
		found.word[i] = mem_printf("%.*s=%s", (int)len, word, found.word[i]);
	return found;
}

/* Who connects to this server has chosen some of the names: none is to be taken for an option. */
static struct words complete_names(const struct command *cmd, const struct words *before)
{
	struct words names = complete_words(complete_kind(cmd, before->nr), before), found = { 0 };
	size_t i;

	for (i = 0; i < names.nr; i++)
		if (*names.word[i] != '-')
			words_add(&found, names.word[i]);
	return found;
}

static struct words complete_argument(const struct command *cmd, char *const *argv)
{
	const struct option *open = NULL;
	struct words words = { 0 };

	for (; argv[1]; argv++) {
		if (!open && **argv != '-')
			words_add(&words, *argv);
		open = open ? NULL : option_open(cmd, *argv);
	}
	if (open)
		return complete_value(open->letter);
	if (!strncmp(*argv, "--", 2) && strchr(*argv, '='))
		return complete_assigned(cmd, *argv);
	if (**argv == '-')
		return complete_options(cmd);
	return complete_names(cmd, &words);
}

static bool has_control(const char *word)
{
	while (*word && !iscntrl((unsigned char)*word))
		word++;
	return *word;
}

/*
 * Candidates for the last word, one a line, so none that has a newline; the shell picks those that begin with what is
 * typed. What makes no sense gives nothing, as a completion must not complain.
 */
void args_complete(char *const *argv)
{
	const struct command *cmd;
	struct words found;
	size_t i;
	int used;

	if (!argv[0])
		return;
	cmd = argv[1] ? command_find(argv, &used) : NULL;
	if (cmd && argv[used])
		found = complete_argument(cmd, argv + used);
	else
		found = complete_command(argv);
	for (i = 0; i < found.nr; i++)
		if (!has_control(found.word[i]))
			puts(found.word[i]);
}
