// SPDX-License-Identifier: GPL-2.0-only
/* Grammar of map_device (proto/options.c). */
#include <kunit/test.h>
#include "../proto/opmap.h"
#include "../proto/options.h"

#define MAX_POLL_QUEUES	4

/* What every good text needs. */
#define BASE	"sessname=s device_path=d "

#define S50	"ssssssssssssssssssssssssssssssssssssssssssssssssss"
#define S250	S50 S50 S50 S50 S50

/* The parser gets memory of exactly the length of the text, so that a sanitizer sees what goes beyond. */
static int parse(struct kunit *test, const char *text, struct rnbd_options *opts,
		 struct rnbd_options_error *error)
{
	size_t len = strlen(text) + 1;
	char *copy = kunit_kmalloc(test, len, GFP_KERNEL);

	memcpy(copy, text, len);
	return rnbd_options_parse(copy, MAX_POLL_QUEUES, opts, error);
}

/* ------------------------------------------------------------------------------------ good texts */

struct good_case {
	const char *desc;
	const char *text;
	u16 dest_port;
	enum rnbd_access_mode access_mode;
	u32 nr_poll_queues;
	unsigned int nr_paths;
	int no_path_timeout;
};

static const struct good_case good_cases[] = {
	{ "defaults", BASE, 1234, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "newline at the end", "sessname=s device_path=d\n", 1234, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "blanks all over", " \t\n sessname=s\t\tdevice_path=d  \n\n", 1234, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "other order", "nr_poll_queues=1 path=a device_path=d dest_port=5 sessname=s", 5,
	  RNBD_ACCESS_RW, 1, 1, 30 },
	{ "port after path", BASE "path=a dest_port=99 path=b", 99, RNBD_ACCESS_RW, 0, 2, 30 },
	{ "port 0", BASE "dest_port=0", 0, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "port 65535", BASE "dest_port=65535", 65535, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "port in hexadecimal", BASE "dest_port=0x4D2", 0x4d2, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "port in hexadecimal, upper case", BASE "dest_port=0X4D2", 0x4d2, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "leading zeros are decimal", BASE "dest_port=010", 10, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "plus sign", BASE "dest_port=+7", 7, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "six paths", BASE "path=1 path=2 path=3 path=4 path=5 path=6", 1234, RNBD_ACCESS_RW, 0, 6, 30 },
	{ "ro", BASE "access_mode=ro", 1234, RNBD_ACCESS_RO, 0, 0, 30 },
	{ "rw", BASE "access_mode=rw", 1234, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "migration", BASE "access_mode=migration", 1234, RNBD_ACCESS_MIGRATION, 0, 0, 30 },
	{ "no poll queues", BASE "nr_poll_queues=0", 1234, RNBD_ACCESS_RW, 0, 0, 30 },
	{ "all poll queues", BASE "nr_poll_queues=4", 1234, RNBD_ACCESS_RW, 4, 0, 30 },
	{ "poll queues -1 is all", BASE "nr_poll_queues=-1", 1234, RNBD_ACCESS_RW, 4, 0, 30 },
	{ "no waiting for a path", BASE "no_path_timeout=0", 1234, RNBD_ACCESS_RW, 0, 0, 0 },
	{ "waiting for a path for ever", BASE "no_path_timeout=-1", 1234, RNBD_ACCESS_RW, 0, 0, -1 },
	{ "waiting for a path for a day", BASE "no_path_timeout=86400", 1234, RNBD_ACCESS_RW, 0, 0, 86400 },
};

static void good_desc(const struct good_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(good, good_cases, good_desc);

static void options__good(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ_MSG(test, parse(test, c->text, &opts, &error), 0, "%s", c->desc);
	KUNIT_EXPECT_STREQ(test, opts.sessname, "s");
	KUNIT_EXPECT_STREQ(test, opts.device_path, "d");
	KUNIT_EXPECT_EQ_MSG(test, opts.dest_port, c->dest_port, "%s", c->desc);
	KUNIT_EXPECT_EQ_MSG(test, opts.access_mode, c->access_mode, "%s", c->desc);
	KUNIT_EXPECT_EQ_MSG(test, opts.nr_poll_queues, c->nr_poll_queues, "%s", c->desc);
	KUNIT_EXPECT_EQ_MSG(test, opts.nr_paths, c->nr_paths, "%s", c->desc);
	KUNIT_EXPECT_EQ_MSG(test, opts.no_path_timeout, c->no_path_timeout, "%s", c->desc);
}

static void options__paths_keep_their_order(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ(test, parse(test, "path=ip:1.2.3.4@ip:5.6.7.8 " BASE "path=gid:fe80::1,ip:::1",
				    &opts, &error), 0);
	KUNIT_ASSERT_EQ(test, opts.nr_paths, 2U);
	KUNIT_EXPECT_STREQ(test, opts.paths[0], "ip:1.2.3.4@ip:5.6.7.8");
	KUNIT_EXPECT_STREQ(test, opts.paths[1], "gid:fe80::1,ip:::1");
}

/* What is not given has its default. */
static void options__timing(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ(test, parse(test, BASE, &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.timing.hb_interval_ms, 200U);
	KUNIT_EXPECT_EQ(test, opts.timing.hb_missed_max, 2U);
	KUNIT_EXPECT_EQ(test, opts.timing.ack_timeout_ms, 134U);
	KUNIT_EXPECT_EQ(test, opts.timing.retry_count, 2U);
	KUNIT_EXPECT_EQ(test, opts.timing.connect_timeout_ms, 10000U);
	KUNIT_EXPECT_EQ(test, opts.timing_given, 0U);

	KUNIT_ASSERT_EQ(test, parse(test, BASE "retry_count=2", &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.timing_given, (u32)BIT(RTRS_CLT_TIMING_retry_count));

	KUNIT_ASSERT_EQ(test, parse(test, BASE "hb_interval_ms=20 hb_missed_max=1000 ack_timeout_ms=8000 retry_count=6 connect_timeout_ms=500",
				    &opts, &error), 0);
	KUNIT_EXPECT_EQ(test, opts.timing.hb_interval_ms, 20U);
	KUNIT_EXPECT_EQ(test, opts.timing.hb_missed_max, 1000U);
	KUNIT_EXPECT_EQ(test, opts.timing.ack_timeout_ms, 8000U);
	KUNIT_EXPECT_EQ(test, opts.timing.retry_count, 6U);
	KUNIT_EXPECT_EQ(test, opts.timing.connect_timeout_ms, 500U);
	KUNIT_EXPECT_EQ(test, opts.timing_given, 0x1fU);
}

/* Only the first equals sign separates. */
static void options__value_may_hold_an_equals_sign(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ(test, parse(test, "sessname=a=b device_path=/dev/x=y.z", &opts, &error), 0);
	KUNIT_EXPECT_STREQ(test, opts.sessname, "a=b");
	KUNIT_EXPECT_STREQ(test, opts.device_path, "/dev/x=y.z");
}

/* ------------------------------------------------------------------------------------- bad texts */

struct bad_case {
	const char *desc;
	const char *text;
	int ret;
	const char *key;
	const char *value;
	const char *expected;
};

#define KEYS "sessname=, device_path=, path=, dest_port=, access_mode=, nr_poll_queues=, no_path_timeout=, request_timeout=, hb_interval_ms=, hb_missed_max=, ack_timeout_ms=, retry_count= or connect_timeout_ms="
#define NAME "1 to 255 characters without '/' and '.'"
#define PORT "a number from 0 to 65535"
#define MODE "ro, rw or migration"
#define POLL "a number from -1 to 4, -1 for the highest"
#define BEAT "a number from 20 to 60000"
#define WAIT "a number of seconds from -1 to 86400, -1 for ever"
#define TAKES "a number of seconds from 0 to 86400, 0 for ever"

static const struct bad_case bad_cases[] = {
	{ "empty", "", -EINVAL, "sessname", NULL, "sessname=<name of the session>" },
	{ "only blanks", " \n\t", -EINVAL, "sessname", NULL, "sessname=<name of the session>" },
	{ "no session", "device_path=d", -EINVAL, "sessname", NULL,
	  "sessname=<name of the session>" },
	{ "no device", "sessname=s", -EINVAL, "device_path", NULL,
	  "device_path=<name of the device on the server>" },
	{ "unknown key", BASE "foo=bar", -EINVAL, "foo", "bar", KEYS },
	{ "key in capitals", "SESSNAME=s device_path=d", -EINVAL, "SESSNAME", "s", KEYS },
	{ "start of a key", BASE "dest=1", -EINVAL, "dest", "1", KEYS },
	{ "more than a key", BASE "dest_portx=1", -EINVAL, "dest_portx", "1", KEYS },
	{ "no key", BASE "=1", -EINVAL, "", "1", KEYS },
	{ "no equals sign", BASE "access_mode", -EINVAL, "access_mode", NULL, KEYS },
	{ "blank before the equals sign", BASE "dest_port =1", -EINVAL, "dest_port", NULL, KEYS },
	{ "blank after the equals sign", BASE "dest_port= 1", -EINVAL, "dest_port", "", PORT },
	{ "comma as separator", "sessname=s,device_path=d", -EINVAL, "device_path", NULL,
	  "device_path=<name of the device on the server>" },
	{ "session empty", "sessname= device_path=d", -EINVAL, "sessname", "", NAME },
	{ "session with slash", "sessname=a/b device_path=d", -EINVAL, "sessname", "a/b", NAME },
	{ "session with dot", "sessname=a.b device_path=d", -EINVAL, "sessname", "a.b", NAME },
	{ "session of 256", "device_path=d sessname=" S250 "123456", -EINVAL, "sessname",
	  S250 "123456", NAME },
	{ "session of 255", "device_path=d sessname=" S250 "12345", -ENAMETOOLONG, "device_path",
	  "d", "at most 254 characters together with sessname" },
	{ "device empty", "sessname=s device_path=", -EINVAL, "device_path", "",
	  "1 to 255 characters" },
	{ "device of 256", "sessname=s device_path=" S250 "123456", -EINVAL, "device_path",
	  S250 "123456", "1 to 255 characters" },
	{ "device of 255", "sessname=s device_path=" S250 "12345", -ENAMETOOLONG, "device_path",
	  S250 "12345", "at most 254 characters together with sessname" },
	{ "both of 255", "sessname=12345 device_path=" S250, -ENAMETOOLONG, "device_path", S250,
	  "at most 254 characters together with sessname" },
	{ "session twice", BASE "sessname=s", -EINVAL, "sessname", "s", "it once" },
	{ "device twice", BASE "device_path=e", -EINVAL, "device_path", "e", "it once" },
	{ "port twice", BASE "dest_port=1 dest_port=1", -EINVAL, "dest_port", "1", "it once" },
	{ "mode twice", BASE "access_mode=ro access_mode=rw", -EINVAL, "access_mode", "rw",
	  "it once" },
	{ "poll queues twice", BASE "nr_poll_queues=1 nr_poll_queues=2", -EINVAL,
	  "nr_poll_queues", "2", "it once" },
	{ "seven paths", BASE "path=1 path=2 path=3 path=4 path=5 path=6 path=7", -ENOMEM, "path",
	  "7", "at most 6 paths" },
	{ "port empty", BASE "dest_port=", -EINVAL, "dest_port", "", PORT },
	{ "port sign only", BASE "dest_port=-", -EINVAL, "dest_port", "-", PORT },
	{ "port 0x only", BASE "dest_port=0x", -EINVAL, "dest_port", "0x", PORT },
	{ "port word", BASE "dest_port=abc", -EINVAL, "dest_port", "abc", PORT },
	{ "port with rest", BASE "dest_port=12a", -EINVAL, "dest_port", "12a", PORT },
	{ "port -1", BASE "dest_port=-1", -EINVAL, "dest_port", "-1", PORT },
	{ "port 65536", BASE "dest_port=65536", -EINVAL, "dest_port", "65536", PORT },
	{ "port 2^32 + 1", BASE "dest_port=4294967297", -EINVAL, "dest_port", "4294967297", PORT },
	{ "port 2^64 + 1", BASE "dest_port=18446744073709551617", -EINVAL, "dest_port",
	  "18446744073709551617", PORT },
	{ "port with two signs", BASE "dest_port=--1", -EINVAL, "dest_port", "--1", PORT },
	{ "mode empty", BASE "access_mode=", -EINVAL, "access_mode", "", MODE },
	{ "mode start", BASE "access_mode=r", -EINVAL, "access_mode", "r", MODE },
	{ "mode longer", BASE "access_mode=rwx", -EINVAL, "access_mode", "rwx", MODE },
	{ "mode in capitals", BASE "access_mode=RW", -EINVAL, "access_mode", "RW", MODE },
	{ "poll queues 5", BASE "nr_poll_queues=5", -EINVAL, "nr_poll_queues", "5", POLL },
	{ "poll queues -2", BASE "nr_poll_queues=-2", -EINVAL, "nr_poll_queues", "-2", POLL },
	{ "poll queues word", BASE "nr_poll_queues=all", -EINVAL, "nr_poll_queues", "all", POLL },
	{ "first fault counts", BASE "dest_port=x access_mode=y", -EINVAL, "dest_port", "x", PORT },
	{ "wait for a path -2", BASE "no_path_timeout=-2", -EINVAL, "no_path_timeout", "-2", WAIT },
	{ "wait for more than a day", BASE "no_path_timeout=86401", -EINVAL, "no_path_timeout", "86401", WAIT },
	{ "heartbeats too fast", BASE "hb_interval_ms=19", -EINVAL, "hb_interval_ms", "19", BEAT },
	{ "heartbeats too slow", BASE "hb_interval_ms=60001", -EINVAL, "hb_interval_ms", "60001", BEAT },
	{ "no heartbeat may be missed", BASE "hb_missed_max=0", -EINVAL, "hb_missed_max", "0",
	  "a number from 1 to 1000" },
	{ "no ack timeout", BASE "ack_timeout_ms=0", -EINVAL, "ack_timeout_ms", "0",
	  "a number from 1 to 8000" },
	{ "retries for ever", BASE "retry_count=7", -EINVAL, "retry_count", "7",
	  "a number from 1 to 6" },
	{ "hardly time to connect", BASE "connect_timeout_ms=499", -EINVAL, "connect_timeout_ms", "499",
	  "a number from 500 to 60000" },
	{ "timing twice", BASE "retry_count=1 retry_count=1", -EINVAL, "retry_count", "1", "it once" },
	{ "a request for ever, the other way", BASE "request_timeout=-1", -EINVAL, "request_timeout", "-1", TAKES },
	{ "a request for more than a day", BASE "request_timeout=86401", -EINVAL, "request_timeout", "86401", TAKES },
	{ "wait without a number", BASE "no_path_timeout=", -EINVAL, "no_path_timeout", "", WAIT },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void options__bad(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ_MSG(test, parse(test, c->text, &opts, &error), c->ret, "%s", c->desc);
	KUNIT_ASSERT_NOT_NULL(test, error.key);
	KUNIT_EXPECT_STREQ(test, error.key, c->key);
	KUNIT_ASSERT_EQ_MSG(test, !error.value, !c->value, "%s", c->desc);
	if (c->value)
		KUNIT_EXPECT_STREQ(test, error.value, c->value);
	KUNIT_EXPECT_STREQ(test, error.expected, c->expected);
}

/* 254 characters are the most that both names can have together. */
static void options__longest_names(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_options opts;

	KUNIT_ASSERT_EQ(test, parse(test, "sessname=1234 device_path=" S250, &opts, &error), 0);
	KUNIT_EXPECT_STREQ(test, opts.device_path, S250);
	KUNIT_ASSERT_EQ(test, parse(test, "device_path=1234 sessname=" S250, &opts, &error), 0);
	KUNIT_EXPECT_STREQ(test, opts.sessname, S250);
}

/* Every start of a good text is either good too or refused with a key; nothing is read behind it. */
static void options__every_length(struct kunit *test)
{
	static const char text[] = BASE "path=ip:1.2.3.4 dest_port=0x12 access_mode=ro nr_poll_queues=-1\n";
	struct rnbd_options_error error;
	struct rnbd_options opts;
	char start[sizeof(text)];
	size_t len;
	int ret;

	for (len = 0; len < sizeof(text); len++) {
		memcpy(start, text, len);
		start[len] = '\0';
		ret = parse(test, start, &opts, &error);
		KUNIT_EXPECT_TRUE(test, ret == 0 || ret == -EINVAL);
		KUNIT_EXPECT_TRUE(test, ret == 0 || error.key);
	}
}

/* Whatever a byte is changed to, the parser ends with a result and not with a crash. */
static void options__every_byte_changed(struct kunit *test)
{
	static const char text[] = BASE "path=a dest_port=12 access_mode=ro nr_poll_queues=1";
	struct rnbd_options_error error;
	struct rnbd_options opts;
	char copy[sizeof(text)];
	size_t i;
	int c, ret;

	for (i = 0; i < sizeof(text) - 1; i++) {
		for (c = 0; c < 256; c++) {
			memcpy(copy, text, sizeof(text));
			copy[i] = c;
			ret = rnbd_options_parse(copy, MAX_POLL_QUEUES, &opts, &error);
			KUNIT_ASSERT_TRUE(test, ret == 0 || ret == -EINVAL);
		}
	}
}

/* ------------------------------------------------------------------------------------ one by one */

static void options__one_by_one(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_options_run run;
	struct rnbd_options opts;

	rnbd_options_begin(&run, MAX_POLL_QUEUES, &opts, &error);
	KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "path", "a"), 0);
	KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "device_path", "d"), 0);
	KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "path", "b=c"), 0);
	KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "dest_port", "7"), 0);
	KUNIT_EXPECT_EQ(test, rnbd_options_end(&run), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error.key, "sessname");
	KUNIT_EXPECT_NULL(test, error.value);
	KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "sessname", "s"), 0);
	KUNIT_EXPECT_EQ(test, rnbd_options_end(&run), 0);
	KUNIT_EXPECT_STREQ(test, opts.sessname, "s");
	KUNIT_EXPECT_STREQ(test, opts.device_path, "d");
	KUNIT_ASSERT_EQ(test, opts.nr_paths, 2U);
	KUNIT_EXPECT_STREQ(test, opts.paths[1], "b=c");
	KUNIT_EXPECT_EQ(test, opts.dest_port, 7);
	KUNIT_EXPECT_EQ(test, opts.no_path_timeout, 30);
	KUNIT_EXPECT_EQ(test, opts.request_timeout, 0);
}

/* Text cannot have them, other callers could. */
static void options__values_have_no_blanks(struct kunit *test)
{
	static const char *const values[] = { " ", "a b", "a\n", "\ta", "\v" };
	struct rnbd_options_error error;
	struct rnbd_options_run run;
	struct rnbd_options opts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		rnbd_options_begin(&run, MAX_POLL_QUEUES, &opts, &error);
		KUNIT_EXPECT_EQ(test, rnbd_options_set(&run, "device_path", values[i]), -EINVAL);
		KUNIT_EXPECT_STREQ(test, error.key, "device_path");
		KUNIT_EXPECT_STREQ(test, error.value, values[i]);
		KUNIT_EXPECT_STREQ(test, error.expected, "a value without blanks");
	}
}

static struct kunit_case options_cases[] = {
	KUNIT_CASE_PARAM(options__good, good_gen_params),
	KUNIT_CASE(options__paths_keep_their_order),
	KUNIT_CASE(options__timing),
	KUNIT_CASE(options__value_may_hold_an_equals_sign),
	KUNIT_CASE_PARAM(options__bad, bad_gen_params),
	KUNIT_CASE(options__longest_names),
	KUNIT_CASE(options__every_length),
	KUNIT_CASE(options__every_byte_changed),
	KUNIT_CASE(options__one_by_one),
	KUNIT_CASE(options__values_have_no_blanks),
	{}
};

static struct kunit_suite options_suite = {
	.name = "rnbd_options",
	.test_cases = options_cases,
};

kunit_test_suite(options_suite);

MODULE_DESCRIPTION("Grammar of map_device");
MODULE_LICENSE("GPL");
