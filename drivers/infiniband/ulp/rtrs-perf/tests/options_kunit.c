// SPDX-License-Identifier: GPL-2.0-only
/* Grammar of the files session and run (proto/options.c). */
#include <kunit/test.h>
#include "../proto/options.h"

#define S50	"ssssssssssssssssssssssssssssssssssssssssssssssssss"
#define S250	S50 S50 S50 S50 S50
#define N50	"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"

/* Parsers get memory of exactly the length of the text, so that a sanitizer sees what goes beyond. */
static char *copied(struct kunit *test, const char *text)
{
	size_t len = strlen(text) + 1;
	char *copy = kunit_kmalloc(test, len, GFP_KERNEL);

	memcpy(copy, text, len);
	return copy;
}

static const struct rtrs_perf_limits limits = { .size = 131072, .depth = 64 };

static void session__good(struct kunit *test)
{
	struct rtrs_perf_session_opts opts;
	struct rtrs_perf_error error;

	KUNIT_ASSERT_EQ(test, rtrs_perf_session_parse(copied(test, "sessname=s path=a"), &opts, &error), 0);
	KUNIT_EXPECT_STREQ(test, opts.sessname, "s");
	KUNIT_EXPECT_EQ(test, opts.nr_paths, 1U);
	KUNIT_EXPECT_STREQ(test, opts.paths[0], "a");
	KUNIT_EXPECT_EQ(test, opts.dest_port, 1236);
	KUNIT_ASSERT_EQ(test, rtrs_perf_session_parse(copied(test, "\t path=1 path=2 dest_port=65535 path=3 path=4\n"
							     "path=5 path=6 sessname=" S250 "12345 \n"),
						      &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.nr_paths, 6U);
	KUNIT_EXPECT_STREQ(test, opts.paths[5], "6");
	KUNIT_EXPECT_EQ(test, opts.dest_port, 65535);
}

static void run__good(struct kunit *test)
{
	struct rtrs_perf_run_opts opts;
	struct rtrs_perf_error error;

	KUNIT_ASSERT_EQ(test, rtrs_perf_run_parse(copied(test, "op=read size=1 iterations=1 cpus=0"), &limits,
						  &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.op, RTRS_PERF_READ);
	KUNIT_EXPECT_EQ(test, opts.size, 1U);
	KUNIT_EXPECT_EQ(test, opts.iterations, 1U);
	KUNIT_EXPECT_EQ(test, opts.depth, 1U);
	KUNIT_EXPECT_STREQ(test, opts.cpus, "0");
	KUNIT_ASSERT_EQ(test, rtrs_perf_run_parse(copied(test, "cpus=0-3,5 depth=64 iterations=1000000000 "
							 "size=131072 op=write\n"), &limits, &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.op, RTRS_PERF_WRITE);
	KUNIT_EXPECT_EQ(test, opts.size, 131072U);
	KUNIT_EXPECT_EQ(test, opts.iterations, 1000000000U);
	KUNIT_EXPECT_EQ(test, opts.depth, 64U);
	KUNIT_EXPECT_STREQ(test, opts.cpus, "0-3,5");
}

struct bad_case {
	bool run;
	const char *text;
	const char *key;
	const char *value;
	const char *expected;
};

#define SESSION_KEYS	"sessname=, path= or dest_port="
#define RUN_KEYS	"op=, size=, iterations=, depth= or cpus="
#define RUN		"op=read size=512 iterations=9 cpus=0 "
#define NAME		"1 to 255 characters without '/' and '.'"
#define CPUS		"a list of CPUs that are online, as 0-3,5"

static const struct bad_case bad_cases[] = {
	{ false, "", "sessname", NULL, "sessname=<name of the session>" },
	{ false, "path=a", "sessname", NULL, "sessname=<name of the session>" },
	{ false, "sessname=s", "path", NULL, "path=[<src>,]<dst>" },
	{ false, "sessname=s path=a depth=1", "depth", "1", SESSION_KEYS },
	{ false, "depth=1 sessname=s path=", "depth", "1", SESSION_KEYS },
	{ false, "sessname", "sessname", NULL, SESSION_KEYS },
	{ false, "=", "", "", SESSION_KEYS },
	{ false, "sessname=s sessname=t", "sessname", "t", "it once" },
	{ false, "sessname=", "sessname", "", NAME },
	{ false, "sessname=a/b", "sessname", "a/b", NAME },
	{ false, "sessname=a.b", "sessname", "a.b", NAME },
	{ false, "sessname=" S250 "123456", "sessname", S250 "123456", NAME },
	{ false, "path=1 path=2 path=3 path=4 path=5 path=6 path=7", "path", "7", "at most 6 paths" },
	{ false, "dest_port=0", "dest_port", "0", "a number from 1 to 65535" },
	{ false, "dest_port=65536", "dest_port", "65536", "a number from 1 to 65535" },
	{ false, "dest_port=1x", "dest_port", "1x", "a number from 1 to 65535" },
	{ true, "", "op", NULL, "op=read or op=write" },
	{ true, "op=read", "size", NULL, "size=<bytes>" },
	{ true, "op=read size=512", "iterations", NULL, "iterations=<requests>" },
	{ true, "op=read size=512 iterations=9", "cpus", NULL, "cpus=<list of CPUs>" },
	{ true, RUN "path=a", "path", "a", RUN_KEYS },
	{ true, RUN "size=9", "size", "9", "it once" },
	{ true, "op=", "op", "", "read or write" },
	{ true, "op=reads", "op", "reads", "read or write" },
	{ true, "size=0", "size", "0", "a number of bytes from 1 to 131072" },
	{ true, "size=131073", "size", "131073", "a number of bytes from 1 to 131072" },
	{ true, "size=-1", "size", "-1", "a number of bytes from 1 to 131072" },
	{ true, "size=", "size", "", "a number of bytes from 1 to 131072" },
	{ true, "size=18446744073709551617", "size", "18446744073709551617",
	  "a number of bytes from 1 to 131072" },
	{ true, "iterations=0", "iterations", "0", "a number of requests from 1 to 1000000000" },
	{ true, "iterations=1000000001", "iterations", "1000000001",
	  "a number of requests from 1 to 1000000000" },
	{ true, "depth=0", "depth", "0", "a number of requests from 1 to 64" },
	{ true, "depth=65", "depth", "65", "a number of requests from 1 to 64" },
	{ true, "cpus=", "cpus", "", CPUS },
	{ true, "cpus=0:1", "cpus", "0:1", CPUS },
	{ true, "cpus=" N50 N50 N50 N50 N50 "000000", "cpus", N50 N50 N50 N50 N50 "000000", CPUS },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, *c->text ? c->text : "nothing", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void options__bad(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct rtrs_perf_session_opts session;
	struct rtrs_perf_error error;
	struct rtrs_perf_run_opts run;
	char *text = copied(test, c->text);
	int ret;

	ret = c->run ? rtrs_perf_run_parse(text, &limits, &run, &error) :
		       rtrs_perf_session_parse(text, &session, &error);
	KUNIT_ASSERT_EQ_MSG(test, ret, -EINVAL, "%s", c->text);
	KUNIT_EXPECT_STREQ(test, error.key, c->key);
	KUNIT_EXPECT_STREQ(test, error.expected, c->expected);
	KUNIT_ASSERT_EQ_MSG(test, !error.value, !c->value, "%s", c->text);
	if (c->value)
		KUNIT_EXPECT_STREQ(test, error.value, c->value);
}

static struct kunit_case rtrs_perf_options_cases[] = {
	KUNIT_CASE(session__good),
	KUNIT_CASE(run__good),
	KUNIT_CASE_PARAM(options__bad, bad_gen_params),
	{}
};

static struct kunit_suite rtrs_perf_options_suite = {
	.name = "rtrs_perf_options",
	.test_cases = rtrs_perf_options_cases,
};

kunit_test_suite(rtrs_perf_options_suite);

MODULE_DESCRIPTION("KUnit tests of what is written to rtrs-perf's files");
MODULE_LICENSE("GPL");
