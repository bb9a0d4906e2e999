// SPDX-License-Identifier: GPL-2.0-only
/* Tests of how the time of a request is sorted. */
#include <kunit/test.h>
#include "../proto/latency.h"

struct bucket_case {
	const char *name;
	u64 ns;
	unsigned int bucket;
};

static const struct bucket_case bucket_cases[] = {
	{ "nothing", 0, 0 },
	{ "right below 1 us", 999, 0 },
	{ "1 us", 1000, 1 },
	{ "right below 2 us", 1999, 1 },
	{ "2 us", 2000, 2 },
	{ "right below 4 us", 3999, 2 },
	{ "1 ms", 1000000, 10 },
	{ "1.024 ms", 1024000, 11 },
	{ "4 s", 4000000000ULL, 22 },
	{ "right below 2^26 us", (1000ULL << 26) - 1, 26 },
	{ "2^26 us", 1000ULL << 26, 27 },
	{ "right below 2^27 us", (1000ULL << 27) - 1, 27 },
	{ "2^27 us", 1000ULL << 27, 27 },
	{ "for ever", ~0ULL, 27 },
};

static void bucket_case_desc(const struct bucket_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bucket, bucket_cases, bucket_case_desc);

static void rtrs_lat_bucket__table(struct kunit *test)
{
	const struct bucket_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_lat_bucket(c->ns), c->bucket);
}

/* Bucket n ends at 2^n us, but for the last one. */
static void rtrs_lat_bucket__bounds(struct kunit *test)
{
	unsigned int n;

	for (n = 0; n < RTRS_LAT_BUCKETS - 1; n++) {
		KUNIT_EXPECT_EQ(test, rtrs_lat_bucket((1000ULL << n) - 1), n);
		KUNIT_EXPECT_EQ(test, rtrs_lat_bucket(1000ULL << n), n + 1);
	}
}

struct split_case {
	const char *name;
	u64 told[RTRS_LAT_PARTS];
	u64 parts[RTRS_LAT_PARTS];
};

/* In the order of enum rtrs_lat_part: total, client, wire, server, device. */
static const struct split_case split_cases[] = {
	{ "nothing", { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } },
	{ "what is left is the wire's", { 100, 10, 0, 20, 30 }, { 100, 10, 40, 20, 30 } },
	{ "no server that tells", { 100, 10, 0, 0, 0 }, { 100, 10, 90, 0, 0 } },
	{ "what was there counts for nothing", { 100, 10, 77, 20, 30 }, { 100, 10, 40, 20, 30 } },
	{ "nothing left", { 100, 10, 0, 40, 50 }, { 100, 10, 0, 40, 50 } },
	{ "the server's queue is too long", { 100, 10, 0, 99, 50 }, { 100, 10, 0, 40, 50 } },
	{ "so is the device's time", { 100, 10, 0, 20, 99 }, { 100, 10, 0, 0, 90 } },
	{ "both for ever", { 100, 10, 0, ~0ULL, ~0ULL }, { 100, 10, 0, 0, 90 } },
	{ "the client's own is too long", { 100, 101, 0, 20, 30 }, { 100, 100, 0, 0, 0 } },
};

static void split_case_desc(const struct split_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(split, split_cases, split_case_desc);

static void rtrs_lat_split__table(struct kunit *test)
{
	const struct split_case *c = test->param_value;
	u64 parts[RTRS_LAT_PARTS];
	int i;

	memcpy(parts, c->told, sizeof(parts));
	rtrs_lat_split(parts);
	for (i = 0; i < RTRS_LAT_PARTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, parts[i], c->parts[i], "part %d", i);
}

static struct kunit_case rtrs_latency_cases[] = {
	KUNIT_CASE_PARAM(rtrs_lat_split__table, split_gen_params),
	KUNIT_CASE_PARAM(rtrs_lat_bucket__table, bucket_gen_params),
	KUNIT_CASE(rtrs_lat_bucket__bounds),
	{}
};

static struct kunit_suite rtrs_latency_suite = {
	.name = "rtrs_latency",
	.test_cases = rtrs_latency_cases,
};

kunit_test_suite(rtrs_latency_suite);

MODULE_DESCRIPTION("KUnit tests of the parts of a request's time");
MODULE_LICENSE("GPL");
