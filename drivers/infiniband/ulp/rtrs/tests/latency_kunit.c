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

struct below_case {
	const char *name;
	u64 nr[RTRS_LAT_BUCKETS];
	unsigned int per_mille;
	u64 us;
};

static const struct below_case below_cases[] = {
	{ "none", { 0 }, 500, 0 },
	{ "less than 1 us", { 1 }, 500, 1 },
	{ "the only one", { [5] = 1 }, 1, 32 },
	{ "it is all of them too", { [5] = 1 }, 1000, 32 },
	{ "half", { [3] = 5, [4] = 5 }, 500, 8 },
	{ "one more than half", { [3] = 5, [4] = 6 }, 500, 16 },
	{ "99 of 100", { [3] = 99, [9] = 1 }, 990, 8 },
	{ "98 of 100", { [3] = 98, [9] = 2 }, 990, 512 },
	{ "999 of 1000", { [3] = 999, [9] = 1 }, 999, 8 },
	{ "all of 1000", { [3] = 999, [9] = 1 }, 1000, 512 },
	{ "the last that ends", { [26] = 1 }, 500, 1 << 26 },
	{ "no end", { [27] = 1 }, 500, ~0ULL },
	{ "many", { [2] = 1ULL << 50, [7] = 1ULL << 40 }, 500, 4 },
};

static void below_case_desc(const struct below_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(below, below_cases, below_case_desc);

static void rtrs_lat_below_us__table(struct kunit *test)
{
	const struct below_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_lat_below_us(c->nr, c->per_mille), c->us);
}

static struct kunit_case rtrs_latency_cases[] = {
	KUNIT_CASE_PARAM(rtrs_lat_below_us__table, below_gen_params),
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
