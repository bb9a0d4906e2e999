// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the buckets that latencies are sorted into (proto/hist.c). */
#include <kunit/test.h>
#include "../proto/hist.h"

struct index_case {
	const char *name;
	u64 ns;
	u32 index;
	u64 from;
	u64 to;
};

static const struct index_case index_cases[] = {
	{ "nothing", 0, 0, 0, 1 },
	{ "one nanosecond", 1, 1, 1, 2 },
	{ "last below the first power", 127, 127, 127, 128 },
	{ "first power", 128, 128, 128, 129 },
	{ "last of width 1", 255, 255, 255, 256 },
	{ "first of width 2", 256, 256, 256, 258 },
	{ "its second half", 257, 256, 256, 258 },
	{ "the next", 258, 257, 258, 260 },
	{ "last of width 2", 511, 383, 510, 512 },
	{ "first of width 4", 512, 384, 512, 516 },
	{ "a microsecond", 1000, 506, 1000, 1004 },
	{ "a millisecond", 1000000, 1780, 999424, 1003520 },
	{ "a second", 1000000000, 3054, 998244352, 1002438656 },
	{ "the longest", RTRS_PERF_HIST_MAX_NS, RTRS_PERF_HIST_BUCKETS - 1, 0xff00000000, 0x10000000000 },
	{ "longer", RTRS_PERF_HIST_MAX_NS + 1, RTRS_PERF_HIST_BUCKETS - 1, 0xff00000000, 0x10000000000 },
	{ "for ever", U64_MAX, RTRS_PERF_HIST_BUCKETS - 1, 0xff00000000, 0x10000000000 },
};

static void index_case_desc(const struct index_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(index, index_cases, index_case_desc);

static void rtrs_perf_hist_index__table(struct kunit *test)
{
	const struct index_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_perf_hist_index(c->ns), c->index);
	KUNIT_EXPECT_EQ(test, rtrs_perf_hist_from(c->index), c->from);
	KUNIT_EXPECT_EQ(test, rtrs_perf_hist_from(c->index + 1), c->to);
}

/* No gap, no overlap, and none wider than 1 % of what it begins with. */
static void rtrs_perf_hist_from__covers_all(struct kunit *test)
{
	u64 from, to;
	u32 i;

	for (i = 0; i < RTRS_PERF_HIST_BUCKETS; i++) {
		from = rtrs_perf_hist_from(i);
		to = rtrs_perf_hist_from(i + 1);
		KUNIT_ASSERT_GT_MSG(test, to, from, "bucket %u", i);
		KUNIT_ASSERT_EQ_MSG(test, rtrs_perf_hist_index(from), i, "bucket %u", i);
		KUNIT_ASSERT_EQ_MSG(test, rtrs_perf_hist_index(to - 1), i, "bucket %u", i);
		if (to - from > 1)
			KUNIT_ASSERT_LT_MSG(test, 100 * (to - from), from, "bucket %u", i);
	}
	KUNIT_EXPECT_EQ(test, rtrs_perf_hist_from(0), (u64)0);
	KUNIT_EXPECT_EQ(test, rtrs_perf_hist_from(RTRS_PERF_HIST_BUCKETS), RTRS_PERF_HIST_MAX_NS + 1);
}

static void rtrs_perf_hist_add__counts(struct kunit *test)
{
	struct rtrs_perf_hist *hist = kunit_kzalloc(test, sizeof(*hist), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hist);
	rtrs_perf_hist_add(hist, 300);
	KUNIT_EXPECT_EQ(test, hist->min_ns, (u64)300);
	KUNIT_EXPECT_EQ(test, hist->max_ns, (u64)300);
	rtrs_perf_hist_add(hist, 0);
	rtrs_perf_hist_add(hist, 301);
	KUNIT_EXPECT_EQ(test, hist->nr, (u64)3);
	KUNIT_EXPECT_EQ(test, hist->min_ns, (u64)0);
	KUNIT_EXPECT_EQ(test, hist->max_ns, (u64)301);
	KUNIT_EXPECT_EQ(test, hist->sum_ns, (u64)601);
	KUNIT_EXPECT_EQ(test, hist->count[rtrs_perf_hist_index(300)], (u64)2);
	KUNIT_EXPECT_EQ(test, hist->count[0], (u64)1);
	/* Exact, though there is no bucket for it. */
	rtrs_perf_hist_add(hist, RTRS_PERF_HIST_MAX_NS + 5);
	KUNIT_EXPECT_EQ(test, hist->max_ns, RTRS_PERF_HIST_MAX_NS + 5);
	KUNIT_EXPECT_EQ(test, hist->count[RTRS_PERF_HIST_BUCKETS - 1], (u64)1);
}

static void rtrs_perf_hist_merge__adds_up(struct kunit *test)
{
	struct rtrs_perf_hist *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	struct rtrs_perf_hist *one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_NOT_NULL(test, one);
	/* One without latencies has no least, and must not bring 0. */
	rtrs_perf_hist_merge(all, one);
	KUNIT_EXPECT_EQ(test, all->nr, (u64)0);
	rtrs_perf_hist_add(one, 500);
	rtrs_perf_hist_add(one, 7);
	rtrs_perf_hist_merge(all, one);
	KUNIT_EXPECT_EQ(test, all->min_ns, (u64)7);
	memset(one, 0, sizeof(*one));
	rtrs_perf_hist_merge(all, one);
	KUNIT_EXPECT_EQ(test, all->min_ns, (u64)7);
	rtrs_perf_hist_add(one, 9000);
	rtrs_perf_hist_add(one, 500);
	rtrs_perf_hist_merge(all, one);
	KUNIT_EXPECT_EQ(test, all->nr, (u64)4);
	KUNIT_EXPECT_EQ(test, all->min_ns, (u64)7);
	KUNIT_EXPECT_EQ(test, all->max_ns, (u64)9000);
	KUNIT_EXPECT_EQ(test, all->sum_ns, (u64)10007);
	KUNIT_EXPECT_EQ(test, all->count[rtrs_perf_hist_index(500)], (u64)2);
}

static struct kunit_case rtrs_perf_hist_cases[] = {
	KUNIT_CASE_PARAM(rtrs_perf_hist_index__table, index_gen_params),
	KUNIT_CASE(rtrs_perf_hist_from__covers_all),
	KUNIT_CASE(rtrs_perf_hist_add__counts),
	KUNIT_CASE(rtrs_perf_hist_merge__adds_up),
	{}
};

static struct kunit_suite rtrs_perf_hist_suite = {
	.name = "rtrs_perf_hist",
	.test_cases = rtrs_perf_hist_cases,
};

kunit_test_suite(rtrs_perf_hist_suite);

MODULE_DESCRIPTION("KUnit tests of rtrs-perf's histogram");
MODULE_LICENSE("GPL");
