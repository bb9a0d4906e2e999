// SPDX-License-Identifier: GPL-2.0-only
/* Tests of how long an attempt to connect, and the delay before the next one, may take. */
#include <kunit/test.h>
#include "../proto/backoff.h"

struct backoff_case {
	const char *name;
	u32 failures;
	u32 max_ms;
	u32 random;
	u32 delay_ms;
};

static const struct backoff_case backoff_cases[] = {
	{ "path just lost, shortest", 0, 30000, 0, 25 },
	{ "path just lost, longest", 0, 30000, 0xffffffff, 50 },
	{ "path just lost, middle", 0, 30000, 0x80000000, 38 },
	{ "one failure, shortest", 1, 30000, 0, 50 },
	{ "one failure, longest", 1, 30000, 0xffffffff, 100 },
	{ "two failures, longest", 2, 30000, 0xffffffff, 200 },
	{ "nine failures, still below the limit", 9, 30000, 0xffffffff, 25600 },
	{ "ten failures, at the limit", 10, 30000, 0xffffffff, 30000 },
	{ "ten failures, shortest", 10, 30000, 0, 15000 },
	{ "limit below the first delay, shortest", 0, 40, 0, 20 },
	{ "limit below the first delay, longest", 5, 40, 0xffffffff, 40 },
	{ "no delay wanted", 0, 0, 0xffffffff, 0 },
	{ "no delay wanted after many failures", 100, 0, 0xffffffff, 0 },
	{ "limit 1, lowest word", 3, 1, 0, 1 },
	{ "limit 1, highest word", 3, 1, 0xffffffff, 1 },
	{ "odd limit, lowest word", 9, 3, 0, 2 },
	{ "odd limit, highest word", 9, 3, 0xffffffff, 3 },
	{ "largest limit, many failures", 100, 0xffffffff, 0xffffffff, 0xffffffff },
	{ "largest limit, shortest", 100, 0xffffffff, 0, 0x80000000 },
	{ "largest limit, no overflow at 26", 26, 0xffffffff, 0xffffffff, 3355443200U },
	{ "largest limit, capped at 27", 27, 0xffffffff, 0xffffffff, 0xffffffff },
	{ "shift beyond any word", 0xffffffff, 30000, 0xffffffff, 30000 },
	{ "shift that is a multiple of 64", 64, 30000, 0, 15000 },
};

static void backoff_case_desc(const struct backoff_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(backoff, backoff_cases, backoff_case_desc);

static void rtrs_backoff_ms__table(struct kunit *test)
{
	const struct backoff_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_backoff_ms(c->failures, c->max_ms, c->random), c->delay_ms);
}

/* The delay without jitter, by doubling instead of shifting. */
static u64 full_delay_ms(u32 failures, u32 max_ms)
{
	u64 delay = 50;

	while (failures-- && delay < max_ms)
		delay *= 2;
	return delay < max_ms ? delay : max_ms;
}

static void rtrs_backoff_ms__within_bounds(struct kunit *test)
{
	static const u32 limits[] = { 0, 1, 2, 3, 49, 50, 51, 1000, 30000, 255000, 0xffffffff };
	static const u32 words[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	u32 failures, i, j, delay;
	u64 full;

	for (failures = 0; failures <= 100; failures++) {
		for (i = 0; i < ARRAY_SIZE(limits); i++) {
			full = full_delay_ms(failures, limits[i]);
			for (j = 0; j < ARRAY_SIZE(words); j++) {
				delay = rtrs_backoff_ms(failures, limits[i], words[j]);
				KUNIT_ASSERT_GE_MSG(test, 2ULL * delay, full, "failures %u, limit %u",
						    failures, limits[i]);
				KUNIT_ASSERT_LE_MSG(test, (u64)delay, full, "failures %u, limit %u",
						    failures, limits[i]);
				KUNIT_ASSERT_TRUE_MSG(test, delay || !limits[i], "failures %u",
						      failures);
			}
		}
	}
}

static void rtrs_backoff_ms__more_random_is_never_less(struct kunit *test)
{
	u32 failures, step, delay, last;

	for (failures = 0; failures <= 10; failures++) {
		last = 0;
		for (step = 0; step < 256; step++) {
			delay = rtrs_backoff_ms(failures, 30000, step << 24 | 0xffffff);
			KUNIT_ASSERT_GE(test, delay, last);
			last = delay;
		}
	}
}

static void rtrs_backoff_ms__jitter_reaches_all(struct kunit *test)
{
	bool seen[26] = {};
	u32 step, delay, nr = 0;

	for (step = 0; step < 1024; step++) {
		delay = rtrs_backoff_ms(0, 30000, step << 22);
		KUNIT_ASSERT_GE(test, delay, 25U);
		KUNIT_ASSERT_LE(test, delay, 50U);
		if (!seen[delay - 25])
			nr++;
		seen[delay - 25] = true;
	}
	KUNIT_EXPECT_EQ(test, nr, 26U);
}

static void rtrs_patience_ms__table(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 10000), 312);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(1, 10000), 351);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(2, 10000), 394);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(29, 10000), 9403);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(30, 10000), 10000);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 60000), 1875);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(1, 60000), 2109);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 3200), 100);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 3199), 100);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 500), 100);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(1, 500), 112);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0, 99), 99);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0xffffffff, 10000), 10000);
	KUNIT_EXPECT_EQ(test, rtrs_patience_ms(0xffffffff, 0xffffffff), 0xffffffff);
}

static void rtrs_backoff_flaps__table(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(0, 0), 1);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(0, 4999), 1);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(0, 5000), 0);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(7, 4999), 8);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(7, 5000), 0);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(7, 0xffffffff), 0);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(0xfffffffe, 0), 0xffffffff);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flaps(0xffffffff, 0), 0xffffffff);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flap_failures(0), 0);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flap_failures(RTRS_FLAPS_FREE), 0);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flap_failures(RTRS_FLAPS_FREE + 1), 1);
	KUNIT_EXPECT_EQ(test, rtrs_backoff_flap_failures(0xffffffff), 0xffffffff - RTRS_FLAPS_FREE);
}

/* A path that breaks 100 ms after each connect: so many attempts there are in the first minute, and in any later one. */
static void rtrs_backoff_flaps__attempts(struct kunit *test)
{
	u32 flaps = 0, nr = 0, later = 0;
	u64 now_ms = 0;

	for (; now_ms < 600000; now_ms += 100 + rtrs_backoff_ms(rtrs_backoff_flap_failures(flaps), 30000, 0)) {
		if (now_ms < 60000)
			nr++;
		else if (now_ms >= 540000)
			later++;
		flaps = rtrs_backoff_flaps(flaps, 100);
	}
	KUNIT_EXPECT_EQ(test, nr, 20U);
	KUNIT_EXPECT_EQ(test, later, 4U);
}

static struct kunit_case rtrs_backoff_cases[] = {
	KUNIT_CASE(rtrs_backoff_flaps__table),
	KUNIT_CASE(rtrs_backoff_flaps__attempts),
	KUNIT_CASE(rtrs_patience_ms__table),
	KUNIT_CASE_PARAM(rtrs_backoff_ms__table, backoff_gen_params),
	KUNIT_CASE(rtrs_backoff_ms__within_bounds),
	KUNIT_CASE(rtrs_backoff_ms__more_random_is_never_less),
	KUNIT_CASE(rtrs_backoff_ms__jitter_reaches_all),
	{}
};

static struct kunit_suite rtrs_backoff_suite = {
	.name = "rtrs_backoff",
	.test_cases = rtrs_backoff_cases,
};

kunit_test_suite(rtrs_backoff_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS reconnect delay");
MODULE_LICENSE("GPL");
