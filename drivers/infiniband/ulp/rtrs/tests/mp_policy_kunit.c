// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the multipath policies and their names (sysfs section 1). */
#include <kunit/test.h>
#include "../proto/mp_policy.h"

struct better_case {
	const char *name;
	enum rtrs_mp_policy policy;
	struct rtrs_mp_cand a;
	struct rtrs_mp_cand b;
	bool a_better;
	bool b_better;
};

static const struct better_case better_cases[] = {
	{ "RR, equal", RTRS_MP_ROUND_ROBIN, { 1, 1 }, { 1, 1 }, false, false },
	{ "RR looks at nothing", RTRS_MP_ROUND_ROBIN, { 0, 1 }, { 9, 3 }, false, false },
	{ "MI, fewer", RTRS_MP_MIN_INFLIGHT, { 1, 0 }, { 2, 0 }, true, false },
	{ "MI, idle", RTRS_MP_MIN_INFLIGHT, { 0, 0 }, { 1, 0 }, true, false },
	{ "MI, equal", RTRS_MP_MIN_INFLIGHT, { 5, 0 }, { 5, 0 }, false, false },
	{ "MI does not look at heartbeats", RTRS_MP_MIN_INFLIGHT, { 5, 0 }, { 5, 2 }, false, false },
	{ "MI, fewer though further", RTRS_MP_MIN_INFLIGHT, { 4, 2 }, { 5, 0 }, true, false },
	{ "MI, extremes", RTRS_MP_MIN_INFLIGHT, { S32_MIN, 0 }, { S32_MAX, 0 }, true, false },
	{ "ML, nearer", RTRS_MP_MIN_LATENCY, { 0, RTRS_MP_NEAR }, { 0, RTRS_MP_FAR }, true, false },
	{ "ML, nearer though busier", RTRS_MP_MIN_LATENCY,
	  { 9, RTRS_MP_NEAR }, { 0, RTRS_MP_SLOW }, true, false },
	{ "ML, slow before far", RTRS_MP_MIN_LATENCY, { 9, RTRS_MP_SLOW }, { 0, RTRS_MP_FAR }, true, false },
	{ "ML, measured wins", RTRS_MP_MIN_LATENCY, { 9, RTRS_MP_FAR }, { 0, RTRS_MP_UNKNOWN }, true, false },
	{ "ML, as near, fewer", RTRS_MP_MIN_LATENCY, { 2, RTRS_MP_NEAR }, { 3, RTRS_MP_NEAR }, true, false },
	{ "ML, equal", RTRS_MP_MIN_LATENCY, { 3, RTRS_MP_NEAR }, { 3, RTRS_MP_NEAR }, false, false },
	{ "ML, none measured, fewer", RTRS_MP_MIN_LATENCY,
	  { 2, RTRS_MP_UNKNOWN }, { 3, RTRS_MP_UNKNOWN }, true, false },
	{ "ST, idle and faster", RTRS_MP_SERVICE_TIME, { 0, 0, 100 }, { 0, 0, 101 }, true, false },
	{ "ST, equal", RTRS_MP_SERVICE_TIME, { 3, 0, 100 }, { 3, 0, 100 }, false, false },
	{ "ST, fewer", RTRS_MP_SERVICE_TIME, { 3, 0, 100 }, { 4, 0, 100 }, true, false },
	{ "ST, busier, but four times as fast", RTRS_MP_SERVICE_TIME,
	  { 6, 0, 100 }, { 1, 0, 400 }, true, false },
	{ "ST, too busy, though four times as fast", RTRS_MP_SERVICE_TIME,
	  { 8, 0, 100 }, { 1, 0, 400 }, false, true },
	{ "ST, as long, then fewer", RTRS_MP_SERVICE_TIME,
	  { 1, 0, 200 }, { 3, 0, 100 }, true, false },
	{ "ST, not measured wins", RTRS_MP_SERVICE_TIME, { 9, 0, 0 }, { 0, 0, 1 }, true, false },
	{ "ST, none measured, fewer", RTRS_MP_SERVICE_TIME, { 1, 0, 0 }, { 2, 0, 0 }, true, false },
	{ "ST, heartbeats do not count", RTRS_MP_SERVICE_TIME, { 0, 2, 1 }, { 0, 0, 2 }, true, false },
	{ "ST, fewer than none are none", RTRS_MP_SERVICE_TIME,
	  { S32_MIN, 0, 100 }, { 0, 0, 99 }, false, true },
	{ "ST, most of all", RTRS_MP_SERVICE_TIME,
	  { S32_MAX, 0, U64_MAX }, { S32_MAX - 1, 0, U64_MAX }, false, true },
	{ "no policy", RTRS_MP_POLICY__NR, { 0, 1 }, { 9, 3 }, false, false },
	{ "far from any policy", (enum rtrs_mp_policy)99, { 0, 1 }, { 9, 3 }, false, false },
};

static void better_case_desc(const struct better_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(better, better_cases, better_case_desc);

static void rtrs_mp_better__table(struct kunit *test)
{
	const struct better_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_mp_better(c->policy, &c->a, &c->b), c->a_better);
	KUNIT_EXPECT_EQ(test, rtrs_mp_better(c->policy, &c->b, &c->a), c->b_better);
}

/* Whatever the policy, a path is not better than itself and two are not better than each other. */
static void rtrs_mp_better__is_strict_order(struct kunit *test)
{
	static const struct rtrs_mp_cand cands[] = {
		{ 0, 0 }, { 0, 1 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 1, 1 }, { 1, 2 }, { 2, 0, 2 }, { 2, 2, 1 },
	};
	bool ab, bc, ac, ba;
	int p, a, b, c;

	for (p = 0; p < RTRS_MP_POLICY__NR; p++)
	for (a = 0; a < ARRAY_SIZE(cands); a++)
	for (b = 0; b < ARRAY_SIZE(cands); b++)
	for (c = 0; c < ARRAY_SIZE(cands); c++) {
		ab = rtrs_mp_better(p, &cands[a], &cands[b]);
		ba = rtrs_mp_better(p, &cands[b], &cands[a]);
		bc = rtrs_mp_better(p, &cands[b], &cands[c]);
		ac = rtrs_mp_better(p, &cands[a], &cands[c]);
		KUNIT_ASSERT_FALSE_MSG(test, ab && ba, "policy %d: %d and %d", p, a, b);
		KUNIT_ASSERT_TRUE_MSG(test, !(ab && bc) || ac, "policy %d: %d %d %d", p, a, b, c);
	}
}

struct beat_case {
	const char *name;
	struct rtrs_mp_beats beats;
	u64 latency_ns;
	u32 inflight;
	struct rtrs_mp_beats then;
};

/* The last one, idle, share, slowed, left. */
static const struct beat_case beat_cases[] = {
	{ "the first", { 0 }, 100, 0, { 100, 100 } },
	{ "the first, of many requests", { 0 }, 100, 10, { 100, 100, 10, false, 8 } },
	{ "down at once", { 900, 900 }, 100, 0, { 100, 100 } },
	{ "up by a quarter", { 100, 100 }, 500, 0, { 500, 200 } },
	{ "up, if by little", { 100, 100 }, 101, 0, { 101, 101 } },
	{ "the same", { 100, 100 }, 100, 0, { 100, 100 } },
	{ "few requests are none", { 100, 100 }, 500, 3, { 500, 200 } },
	{ "many, that do not slow it", { 100, 100 }, 200, 4, { 200, 125, 50, false, 8 } },
	{ "many, that slow it", { 100, 100 }, 201, 4, { 201, 100, 50, true, 8 } },
	{ "many, yet as near as never before", { 100, 100 }, 20, 4, { 20, 20, 5, false, 8 } },
	{ "not slowed any more", { 400, 100, 40, true, 8 }, 100, 4, { 100, 100, 25, false, 8 } },
	{ "remembered", { 400, 100, 40, true, 8 }, 100, 0, { 100, 100, 40, true, 7 } },
	{ "and forgotten", { 100, 100, 40, true, 1 }, 100, 3, { 100, 100 } },
	{ "by few that need longer, too", { 100, 100, 40, true, 1 }, 500, 0, { 500, 200 } },
	{ "known anew", { 100, 100, 40, true, 1 }, 300, 10, { 300, 100, 30, true, 8 } },
	{ "no time at all", { 0 }, 0, 0, { 1, 1 } },
	{ "shared by very many", { 10, 10 }, 10, 1000, { 10, 10, 1, false, 8 } },
	{ "a day", { 0 }, 86400000000000ULL, 0, { 86400000000000ULL, 86400000000000ULL } },
};

static void beat_case_desc(const struct beat_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(beat, beat_cases, beat_case_desc);

static void rtrs_mp_beat_add__table(struct kunit *test)
{
	const struct beat_case *c = test->param_value;
	struct rtrs_mp_beats beats = c->beats;

	rtrs_mp_beat_add(&beats, c->latency_ns, c->inflight);
	KUNIT_EXPECT_EQ(test, beats.last_ns, c->then.last_ns);
	KUNIT_EXPECT_EQ(test, beats.idle_ns, c->then.idle_ns);
	KUNIT_EXPECT_EQ(test, beats.share_ns, c->then.share_ns);
	KUNIT_EXPECT_EQ(test, beats.slowed, c->then.slowed);
	KUNIT_EXPECT_EQ(test, beats.left, c->then.left);
}

struct rank_case {
	const char *name;
	struct rtrs_mp_beats a;
	struct rtrs_mp_beats b;
	enum rtrs_mp_rank a_rank;
	enum rtrs_mp_rank b_rank;
};

static const struct rank_case rank_cases[] = {
	{ "none measured", { 0 }, { 0 }, RTRS_MP_UNKNOWN, RTRS_MP_UNKNOWN },
	{ "one measured", { 900, 900 }, { 0 }, RTRS_MP_NEAR, RTRS_MP_UNKNOWN },
	{ "equal", { 100, 100 }, { 100, 100 }, RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "twice as long", { 100, 100 }, { 200, 200 }, RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "longer", { 100, 100 }, { 201, 201 }, RTRS_MP_NEAR, RTRS_MP_FAR },
	{ "the last one alone does not count", { 100, 100 }, { 900, 200 }, RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "one has work, the other has not", { 3200, 100, 100, true, 8 }, { 100, 100 }, RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "both have work, equal", { 1600, 100, 100, true, 8 }, { 1600, 90, 110, true, 8 },
	  RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "both have work, one is slower", { 1600, 100, 100, true, 8 }, { 3300, 100, 201, true, 8 },
	  RTRS_MP_NEAR, RTRS_MP_SLOW },
	{ "idle now, and was slower", { 3200, 100, 100, true, 8 }, { 100, 100, 400, true, 3 },
	  RTRS_MP_NEAR, RTRS_MP_SLOW },
	{ "both were slow, the slower one is idle", { 3200, 100, 100, true, 8 }, { 100, 100, 200, true, 3 },
	  RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "a larger share, but not slowed", { 110, 100, 10, false, 8 }, { 150, 100, 37, false, 8 },
	  RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "far, whatever its share", { 200, 200, 20, false, 8 }, { 800, 800, 10, false, 8 },
	  RTRS_MP_NEAR, RTRS_MP_FAR },
	{ "far, but the near one has too much work", { 900, 100, 30, true, 8 }, { 800, 800 },
	  RTRS_MP_NEAR, RTRS_MP_NEAR },
	{ "near once, and far since, with work", { 20000, 100, 2000, true, 8 }, { 300, 300, 30, false, 8 },
	  RTRS_MP_SLOW, RTRS_MP_NEAR },
	{ "one slow and the other far", { 100, 100, 90, true, 3 }, { 900, 900, 40, false, 8 },
	  RTRS_MP_SLOW, RTRS_MP_FAR },
};

static void rank_case_desc(const struct rank_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rank, rank_cases, rank_case_desc);

static void rtrs_mp_rank__table(struct kunit *test)
{
	const struct rank_case *c = test->param_value;
	struct rtrs_mp_nearest nearest = {};

	rtrs_mp_nearest_add(&nearest, &c->a);
	rtrs_mp_nearest_add(&nearest, &c->b);
	KUNIT_EXPECT_EQ(test, rtrs_mp_rank(&nearest, &c->a), c->a_rank);
	KUNIT_EXPECT_EQ(test, rtrs_mp_rank(&nearest, &c->b), c->b_rank);
}

/* A path alone is as near as any, slowed or not. */
static void rtrs_mp_rank__of_one(struct kunit *test)
{
	static const struct rtrs_mp_beats beats = { 3200, 100, 100, true, 8 };
	struct rtrs_mp_nearest nearest = {};

	rtrs_mp_nearest_add(&nearest, &beats);
	KUNIT_EXPECT_EQ(test, rtrs_mp_rank(&nearest, &beats), RTRS_MP_NEAR);
}

struct service_case {
	const char *name;
	u64 service_ns;
	u64 latency_ns;
	u32 inflight;
	u64 then_ns;
};

static const struct service_case service_cases[] = {
	{ "the first is taken as it is", 0, 8000, 1, 8000 },
	{ "divided by what is in flight", 0, 8000, 4, 2000 },
	{ "an eighth of it counts", 8000, 16000, 1, 9000 },
	{ "and of a shorter one", 8000, 0, 1, 7000 },
	{ "the same", 8000, 8000, 1, 8000 },
	{ "one after the other", 1000, 16000, 16, 1000 },
	{ "never nothing", 0, 0, 1, 1 },
	{ "not of one either", 1, 0, 1, 1 },
	{ "none in flight counts as one", 0, 8000, 0, 8000 },
	{ "a day", 0, 86400000000000ULL, 1, 86400000000000ULL },
};

static void service_case_desc(const struct service_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(service, service_cases, service_case_desc);

static void rtrs_mp_service_add__table(struct kunit *test)
{
	const struct service_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_mp_service_add(c->service_ns, c->latency_ns, c->inflight), c->then_ns);
}

/* After a change the average is within an eighth of the new value when 24 answers have come. */
static void rtrs_mp_service_add__follows(struct kunit *test)
{
	u64 service_ns = 1000000;
	int i;

	for (i = 0; i < 24; i++)
		service_ns = rtrs_mp_service_add(service_ns, 4000000, 1);
	KUNIT_EXPECT_GT(test, service_ns, 3500000ULL);
	KUNIT_EXPECT_LE(test, service_ns, 4000000ULL);
}

static void rtrs_mp_service_aged__halves(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(4000, 0), 4000ULL);
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(4000, 1), 2000ULL);
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(4000, 3), 500ULL);
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(U64_MAX, 63), 1ULL);
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(U64_MAX, 64), 0ULL);
	KUNIT_EXPECT_EQ(test, rtrs_mp_service_aged(U64_MAX, U32_MAX), 0ULL);
}

struct parse_case {
	const char *buf;
	int policy;
};

static const struct parse_case parse_cases[] = {
	{ "0", RTRS_MP_ROUND_ROBIN },
	{ "1", RTRS_MP_MIN_INFLIGHT },
	{ "2", RTRS_MP_MIN_LATENCY },
	{ "3", RTRS_MP_SERVICE_TIME },
	{ "0\n", RTRS_MP_ROUND_ROBIN },
	{ "2\n", RTRS_MP_MIN_LATENCY },
	{ "rr", RTRS_MP_ROUND_ROBIN },
	{ "mi", RTRS_MP_MIN_INFLIGHT },
	{ "ml", RTRS_MP_MIN_LATENCY },
	{ "st", RTRS_MP_SERVICE_TIME },
	{ "RR", RTRS_MP_ROUND_ROBIN },
	{ "MI\n", RTRS_MP_MIN_INFLIGHT },
	{ "ML\n", RTRS_MP_MIN_LATENCY },
	{ "round-robin", RTRS_MP_ROUND_ROBIN },
	{ "min-inflight", RTRS_MP_MIN_INFLIGHT },
	{ "min-latency", RTRS_MP_MIN_LATENCY },
	{ "service-time", RTRS_MP_SERVICE_TIME },
	{ "service-time (ST: 3)\n", RTRS_MP_SERVICE_TIME },
	{ "Round-Robin\n", RTRS_MP_ROUND_ROBIN },
	{ "MIN-INFLIGHT\n", RTRS_MP_MIN_INFLIGHT },
	{ "min-latency\n", RTRS_MP_MIN_LATENCY },
	{ "round-robin (RR: 0)\n", RTRS_MP_ROUND_ROBIN },
	{ "min-inflight (MI: 1)\n", RTRS_MP_MIN_INFLIGHT },
	{ "min-latency (ML: 2)\n", RTRS_MP_MIN_LATENCY },
	{ "", -EINVAL },
	{ "\n", -EINVAL },
	{ "4", -EINVAL },
	{ "-1", -EINVAL },
	{ "00", -EINVAL },
	{ "0x1", -EINVAL },
	{ " 0", -EINVAL },
	{ "0 ", -EINVAL },
	{ "0\n\n", -EINVAL },
	{ "r", -EINVAL },
	{ "rrr", -EINVAL },
	{ "rr ", -EINVAL },
	{ "mx", -EINVAL },
	{ "m", -EINVAL },
	{ "min", -EINVAL },
	{ "min-", -EINVAL },
	{ "min-inflighT-", RTRS_MP_MIN_INFLIGHT },
	{ "min-infligh", -EINVAL },
	{ "min-latenc\n", -EINVAL },
	{ "service", -EINVAL },
	{ "round-robi", -EINVAL },
	{ "\nround-robin", -EINVAL },
	{ "x-round-robin", -EINVAL },
};

static void parse_case_desc(const struct parse_case *c, char *desc)
{
	size_t i;

	/* The text itself is the name; newlines would break the report's lines. */
	for (i = 0; c->buf[i] && i < KUNIT_PARAM_DESC_SIZE - 1; i++)
		desc[i] = c->buf[i] == '\n' ? '$' : c->buf[i];
	desc[i] = '\0';
}

KUNIT_ARRAY_PARAM(parse, parse_cases, parse_case_desc);

static void rtrs_mp_policy_parse__table(struct kunit *test)
{
	const struct parse_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_mp_policy_parse(c->buf), c->policy);
}

static void rtrs_mp_policy_text__all(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text(RTRS_MP_ROUND_ROBIN), "round-robin (RR: 0)");
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text(RTRS_MP_MIN_INFLIGHT), "min-inflight (MI: 1)");
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text(RTRS_MP_MIN_LATENCY), "min-latency (ML: 2)");
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text(RTRS_MP_SERVICE_TIME), "service-time (ST: 3)");
}

static void rtrs_mp_policy_text__no_policy(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text(RTRS_MP_POLICY__NR), "unknown");
	KUNIT_EXPECT_STREQ(test, rtrs_mp_policy_text((enum rtrs_mp_policy)-1), "unknown");
}

static void rtrs_mp_policy_text__can_be_parsed(struct kunit *test)
{
	int p;

	for (p = 0; p < RTRS_MP_POLICY__NR; p++)
		KUNIT_EXPECT_EQ(test, rtrs_mp_policy_parse(rtrs_mp_policy_text(p)), p);
}

static struct kunit_case rtrs_mp_policy_cases[] = {
	KUNIT_CASE_PARAM(rtrs_mp_better__table, better_gen_params),
	KUNIT_CASE(rtrs_mp_better__is_strict_order),
	KUNIT_CASE_PARAM(rtrs_mp_beat_add__table, beat_gen_params),
	KUNIT_CASE_PARAM(rtrs_mp_rank__table, rank_gen_params),
	KUNIT_CASE(rtrs_mp_rank__of_one),
	KUNIT_CASE_PARAM(rtrs_mp_service_add__table, service_gen_params),
	KUNIT_CASE(rtrs_mp_service_add__follows),
	KUNIT_CASE(rtrs_mp_service_aged__halves),
	KUNIT_CASE_PARAM(rtrs_mp_policy_parse__table, parse_gen_params),
	KUNIT_CASE(rtrs_mp_policy_text__all),
	KUNIT_CASE(rtrs_mp_policy_text__no_policy),
	KUNIT_CASE(rtrs_mp_policy_text__can_be_parsed),
	{}
};

static struct kunit_suite rtrs_mp_policy_suite = {
	.name = "rtrs_mp_policy",
	.test_cases = rtrs_mp_policy_cases,
};

kunit_test_suite(rtrs_mp_policy_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS multipath policies");
MODULE_LICENSE("GPL");
