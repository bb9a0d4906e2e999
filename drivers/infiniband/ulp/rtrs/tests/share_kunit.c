// SPDX-License-Identifier: GPL-2.0-only
/* Tests of how many slots a user of a session may hold. */
#include <kunit/test.h>
#include "../proto/share.h"

struct share_case {
	const char *name;
	u32 open;
	u32 free;
	u32 held;
	u32 users;
	bool may;
};

static const struct share_case share_cases[] = {
	{ "nothing is in use", 512, 512, 0, 2, true },
	{ "one user holds most: not yet all of its share", 512, 154, 358, 2, true },
	{ "one user holds most: all of its share", 512, 153, 359, 2, false },
	{ "the other one gets a part of the rest", 512, 100, 60, 2, true },
	{ "and not more", 512, 82, 72, 2, false },
	{ "nothing beyond the reserve: share of it", 512, 64, 20, 2, true },
	{ "nothing beyond the reserve: end of that share", 512, 64, 21, 2, false },
	{ "nothing is free, and it holds few", 512, 0, 20, 2, true },
	{ "nothing is free, and it holds more", 512, 0, 21, 2, false },
	{ "a share is one at least", 512, 10, 0, 150, true },
	{ "and then no more", 512, 10, 1, 150, false },
	{ "few open: the first one", 16, 1, 0, 3, true },
	{ "few open: the second one", 16, 2, 1, 3, false },
	{ "few open: beyond the reserve", 16, 6, 10, 3, true },
	{ "few open: enough", 16, 4, 11, 3, false },
	{ "one open", 1, 1, 0, 2, true },
	{ "one open, held", 1, 0, 1, 2, false },
	{ "no overflow", 0xffffffff, 0xffffffff, 0xfffffffe, 0xfffffffe, true },
};

static void share_case_desc(const struct share_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(share, share_cases, share_case_desc);

static void rtrs_share_may_take__table(struct kunit *test)
{
	const struct share_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_share_may_take(c->open, c->free, c->held, c->users), c->may);
}

/* Users take slots one after the other for as long as they may, and give none back. */
static void rtrs_share_may_take__leaves_some(struct kunit *test)
{
	u32 open, users, user, held, free;

	for (open = 16; open <= 1024; open *= 2) {
		for (users = 2; users <= open / RTRS_SHARE_RESERVE_PART; users++) {
			free = open;
			for (user = 0; user < users; user++) {
				for (held = 0; free && rtrs_share_may_take(open, free, held, users); held++)
					free--;
				KUNIT_ASSERT_GE(test, held, open / RTRS_SHARE_RESERVE_PART / (users + 1));
				KUNIT_ASSERT_GE(test, held, 1U);
			}
		}
	}
}

/* A user alone in its session's traffic is not held back much. */
static void rtrs_share_may_take__alone(struct kunit *test)
{
	u32 held;

	for (held = 0; rtrs_share_may_take(512, 512 - held, held, 2); held++)
		;
	KUNIT_EXPECT_EQ(test, held, 359U);
}

static struct kunit_case rtrs_share_cases[] = {
	KUNIT_CASE_PARAM(rtrs_share_may_take__table, share_gen_params),
	KUNIT_CASE(rtrs_share_may_take__leaves_some),
	KUNIT_CASE(rtrs_share_may_take__alone),
	{}
};

static struct kunit_suite rtrs_share_suite = {
	.name = "rtrs_share",
	.test_cases = rtrs_share_cases,
};

kunit_test_suite(rtrs_share_suite);

MODULE_DESCRIPTION("KUnit tests of the share of a session's slots");
MODULE_LICENSE("GPL");
