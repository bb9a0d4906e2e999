// SPDX-License-Identifier: GPL-2.0-only
/* Tests of which failures are written to the kernel log. */
#include <kunit/test.h>
#include "../proto/quiet.h"

struct quiet_step {
	u64 now_ms;
	u32 reason;
	enum rtrs_quiet_verdict verdict;
};

static const struct quiet_step quiet_steps[] = {
	{ 1000, 110, RTRS_QUIET_DETAIL },
	{ 1000, 110, RTRS_QUIET_SILENT },
	{ 1070, 110, RTRS_QUIET_SILENT },
	{ 60999, 110, RTRS_QUIET_SILENT },
	{ 61000, 110, RTRS_QUIET_SUMMARY },
	{ 61001, 110, RTRS_QUIET_SILENT },
	{ 62000, 104, RTRS_QUIET_DETAIL },
	/* A minute after any line, not after the one with the same reason. */
	{ 121000, 110, RTRS_QUIET_SILENT },
	{ 121999, 104, RTRS_QUIET_SILENT },
	{ 122000, 104, RTRS_QUIET_SUMMARY },
	{ 122001, 110, RTRS_QUIET_SILENT },
	{ 900000, 110, RTRS_QUIET_SUMMARY },
};

static void rtrs_quiet_failed__series(struct kunit *test)
{
	struct rtrs_quiet quiet = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(quiet_steps); i++)
		KUNIT_EXPECT_EQ_MSG(test, rtrs_quiet_failed(&quiet, quiet_steps[i].reason, quiet_steps[i].now_ms),
				    quiet_steps[i].verdict, "step %u", i);
	KUNIT_EXPECT_EQ(test, quiet.failures, ARRAY_SIZE(quiet_steps));
	KUNIT_EXPECT_EQ(test, quiet.began_ms, 1000);
}

/* However many reasons there are, only some of them are logged at once. */
static void rtrs_quiet_failed__reasons_are_bounded(struct kunit *test)
{
	struct rtrs_quiet quiet = {};
	u32 i, lines = 0;

	for (i = 0; i < 1000; i++)
		if (rtrs_quiet_failed(&quiet, i, 59 * i) != RTRS_QUIET_SILENT)
			lines++;
	KUNIT_EXPECT_EQ(test, lines, RTRS_QUIET_REASONS);
}

static void rtrs_quiet_is_new__counts_with_failures(struct kunit *test)
{
	struct rtrs_quiet quiet = {};

	KUNIT_EXPECT_TRUE(test, rtrs_quiet_is_new(&quiet, 7));
	KUNIT_EXPECT_FALSE(test, rtrs_quiet_is_new(&quiet, 7));
	/* What led to the failure may have used up its reason: then the first failure is told with its number. */
	KUNIT_EXPECT_EQ(test, rtrs_quiet_failed(&quiet, 7, 0), RTRS_QUIET_SUMMARY);
	KUNIT_EXPECT_EQ(test, rtrs_quiet_failed(&quiet, 8, 1), RTRS_QUIET_DETAIL);
	KUNIT_EXPECT_FALSE(test, rtrs_quiet_is_new(&quiet, 8));
}

static void rtrs_quiet_failed__number_does_not_wrap(struct kunit *test)
{
	struct rtrs_quiet quiet = { .failures = U32_MAX };

	KUNIT_EXPECT_EQ(test, rtrs_quiet_failed(&quiet, 1, 5), RTRS_QUIET_DETAIL);
	KUNIT_EXPECT_EQ(test, quiet.failures, U32_MAX);
}

static struct kunit_case rtrs_quiet_cases[] = {
	KUNIT_CASE(rtrs_quiet_failed__series),
	KUNIT_CASE(rtrs_quiet_failed__reasons_are_bounded),
	KUNIT_CASE(rtrs_quiet_is_new__counts_with_failures),
	KUNIT_CASE(rtrs_quiet_failed__number_does_not_wrap),
	{}
};

static struct kunit_suite rtrs_quiet_suite = {
	.name = "rtrs_quiet",
	.test_cases = rtrs_quiet_cases,
};

kunit_test_suite(rtrs_quiet_suite);

MODULE_DESCRIPTION("KUnit tests of which RTRS failures are logged");
MODULE_LICENSE("GPL");
