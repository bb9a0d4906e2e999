// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line: read, check, explain, complete.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "paths.h"
#include "perf.h"
#include "value.h"

static const struct option options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "all", no_argument, NULL, 'a' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'q' },
	{ "cpus", required_argument, NULL, 'c' },
	{ "json", no_argument, NULL, 'j' },
	{ "noheaders", no_argument, NULL, 'H' },
	{ "session", required_argument, NULL, 'S' },
	{ "path", required_argument, NULL, 'p' },
	{ "port", required_argument, NULL, 'P' },
	{ "policy", required_argument, NULL, 'y' },
	{ "ipv4", no_argument, NULL, '4' },
	{ "ipv6", no_argument, NULL, '6' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char *const policies[] = { "round-robin", "min-inflight", "min-latency" };

void perf_help(void)
{
	puts("Usage: rtrs-perf write|read bw|lat [OPTION]... SERVER\n"
	     "       rtrs-perf stop\n\n"
	     "Measure RTRS between this host and a SERVER that has loaded rtrs-perf-server: how much it\n"
	     "carries (bw), or how long requests take (lat). No block device has a part in it.\n\n"
	     "Each address of the server becomes a path; --path gives the paths instead, then SERVER may be\n"
	     "left out. stop ends what another rtrs-perf, or nobody any more, is measuring.\n\n"
	     "Options:\n"
	     "  -s, --size=SIZE             bytes of data of a request, with a unit or without (default: 4096)\n"
	     "  -a, --all                   all sizes from 512 to what a request can have, each twice the last\n"
	     "  -n, --iterations=N          requests for each size, all CPUs together (default: 1000)\n"
	     "  -q, --depth=N               requests in flight for each CPU (default: bw 16, lat 1)\n"
	     "  -c, --cpus=LIST             CPUs that send them, as 0-3,5 (default: the first)\n"
	     "  -j, --json                  print JSON; times in microseconds\n"
	     "  -H, --noheaders             no line of headings\n"
	     "  -S, --session=NAME          name of the session (default: perf-<this host>)\n"
	     "  -p, --path=[SRC@]DST        a path; may be given up to 6 times\n"
	     "  -P, --port=PORT             port of the server (default: 1236)\n"
	     "  -y, --policy=POLICY         round-robin, min-inflight or min-latency (default: the session's)\n"
	     "  -4, --ipv4                  only IPv4 addresses of the server\n"
	     "  -6, --ipv6                  only IPv6 addresses of the server\n"
	     "  -h, --help                  this text");
}

static enum status usage_fail(void)
{
	detail("next", "rtrs-perf --help");
	return ST_USAGE;
}

static enum status check_number(const char *name, const char *text, long min, long max)
{
	const char *why = text ? value_number(text, min, max) : NULL;

	return why ? fail(ST_USAGE, "--%s=%s: %s", name, text, why) : ST_OK;
}

/* "4096", "4k" */
static enum status parse_size(struct perf_args *args)
{
	const char *text = args->size, *why;
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return ST_OK;
	if (len && strspn(text, "0123456789") == len)
		text = mem_printf("%sb", text);
	why = units_parse(text, &args->bytes);
	if (why)
		return fail(ST_USAGE, "--size=%s: %s", args->size, why);
	if (!args->bytes || args->bytes > 0xffffffff)
		return fail(ST_USAGE, "--size=%s: expected 1 to 4294967295 bytes", args->size);
	return ST_OK;
}

static enum status check_policy(const char *policy)
{
	size_t i;

	for (i = 0; policy && i < ARRAY_SIZE(policies); i++)
		if (!strcmp(policy, policies[i]))
			return ST_OK;
	return policy ? fail(ST_USAGE, "--policy=%s: expected round-robin, min-inflight or min-latency", policy) :
	       ST_OK;
}

static enum status check_cpus(const char *cpus)
{
	if (!cpus || (*cpus && strspn(cpus, "0123456789,-") == strlen(cpus) && strlen(cpus) <= MAX_NAME))
		return ST_OK;
	return fail(ST_USAGE, "--cpus=%s: expected a list of CPUs, as 0-3,5", cpus);
}

static enum status check_values(struct perf_args *args)
{
	enum status status = check_number("iterations", args->iterations, 1, PERF_MAX_ITERATIONS);
	const char *why;

	if (status == ST_OK)
		status = check_number("depth", args->depth, 1, 65535);
	if (status == ST_OK)
		status = check_number("port", args->port, 1, MAX_PORT);
	if (status == ST_OK)
		status = parse_size(args);
	if (status == ST_OK)
		status = check_policy(args->policy);
	if (status == ST_OK)
		status = check_cpus(args->cpus);
	if (status != ST_OK)
		return status;
	if (args->size && args->all)
		return fail(ST_USAGE, "--size and --all exclude each other");
	if (args->family.ipv4 && args->family.ipv6)
		return fail(ST_USAGE, "--ipv4 and --ipv6 exclude each other");
	if (args->paths.nr > MAX_PATHS)
		return fail(ST_USAGE, "%zu paths given, allowed are %d", args->paths.nr, MAX_PATHS);
	why = args->session ? value_session(args->session) : NULL;
	return why ? fail(ST_USAGE, "--session='%s': %s", args->session, why) : ST_OK;
}

static enum status parse_words(char **words, int nr, struct perf_args *args)
{
	if (nr == 1 && !strcmp(words[0], "stop")) {
		args->stop = true;
		return ST_OK;
	}
	if (nr < 1 || (strcmp(words[0], "write") && strcmp(words[0], "read"))) {
		fail(ST_USAGE, nr < 1 ? "too few words: expected write, read or stop%s" :
					"'%s': expected write, read or stop", nr < 1 ? "" : words[0]);
		return usage_fail();
	}
	if (nr < 2 || (strcmp(words[1], "bw") && strcmp(words[1], "lat"))) {
		fail(ST_USAGE, nr < 2 ? "too few words: expected bw or lat%s" : "'%s': expected bw or lat",
		     nr < 2 ? "" : words[1]);
		return usage_fail();
	}
	args->write = !strcmp(words[0], "write");
	args->latency = !strcmp(words[1], "lat");
	args->server = nr > 2 ? words[2] : NULL;
	if (nr < 3 && !args->paths.nr) {
		fail(ST_USAGE, "too few words: expected SERVER, or --path");
		return usage_fail();
	}
	if (nr > 3) {
		fail(ST_USAGE, "'%s' is too much: expected one SERVER", words[3]);
		return usage_fail();
	}
	return check_values(args);
}

static void set_option(struct perf_args *args, int letter)
{
	switch (letter) {
	case 's': args->size = optarg; break;
	case 'a': args->all = true; break;
	case 'n': args->iterations = optarg; break;
	case 'q': args->depth = optarg; break;
	case 'c': args->cpus = optarg; break;
	case 'j': args->json = true; break;
	case 'H': args->noheaders = true; break;
	case 'S': args->session = optarg; break;
	case 'p': words_add(&args->paths, optarg); break;
	case 'P': args->port = optarg; break;
	case 'y': args->policy = optarg; break;
	case '4': args->family.ipv4 = true; break;
	case '6': args->family.ipv6 = true; break;
	}
}

static enum status bad_option(char **argv, int letter)
{
	size_t i;

	for (i = 0; letter == ':' && i < ARRAY_SIZE(options) - 1; i++)
		if (options[i].val == optopt)
			return fail(ST_USAGE, "--%s needs a value", options[i].name);
	if (optopt && letter == '?' && argv[optind - 1][1] != '-')
		fail(ST_USAGE, "unknown option -%c", optopt);
	else
		fail(ST_USAGE, "unknown option %s, or a value for one that takes none", argv[optind - 1]);
	return usage_fail();
}

/* ST_OK: go on; --help and --version are for main(). */
enum status perf_parse(int argc, char **argv, struct perf_args *args)
{
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":s:an:q:c:jHS:p:P:y:46hV", options, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			return bad_option(argv, letter);
		set_option(args, letter);
	}
	return parse_words(argv + optind, argc - optind, args);
}

/* Candidates for the last word, one a line, for the shell to pick from. */
void perf_complete(char *const *argv)
{
	const char *last = NULL, *before = "";
	size_t i, words = 0;

	for (; *argv; argv++) {
		if (last)
			before = last;
		last = *argv;
		words += *last != '-';
	}
	if (last && *last == '-') {
		for (i = 0; i < ARRAY_SIZE(options) - 1; i++)
			printf("--%s%s\n", options[i].name, options[i].has_arg ? "=" : "");
	} else if (!strcmp(before, "-y") || !strcmp(before, "--policy")) {
		for (i = 0; i < ARRAY_SIZE(policies); i++)
			puts(policies[i]);
	} else if (words == 1) {
		puts("write\nread\nstop");
	} else if (words == 2) {
		puts("bw\nlat");
	}
}
