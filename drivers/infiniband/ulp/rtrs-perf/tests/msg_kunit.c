// SPDX-License-Identifier: GPL-2.0-only
/* Tests of rtrs-perf's user message (proto/msg.c). */
#include <kunit/test.h>
#include "../proto/msg.h"

static void rtrs_perf_msg_put__bytes(struct kunit *test)
{
	static const u8 wanted[] = { 'R', 'T', 'P', 'F', 1, 0, 1, 0, 0x78, 0x56, 0x34, 0x12 };
	struct rtrs_perf_msg msg;

	rtrs_perf_msg_put(&msg, true, 0x12345678);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, wanted, sizeof(wanted)), 0);
}

static void rtrs_perf_msg_check__good(struct kunit *test)
{
	struct rtrs_perf_msg msg;

	rtrs_perf_msg_put(&msg, false, 512);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), false, 512), 0);
	rtrs_perf_msg_put(&msg, true, 1);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 1), 0);
}

static void rtrs_perf_msg_check__bad(struct kunit *test)
{
	struct rtrs_perf_msg msg;
	u8 longer[sizeof(msg) + 1] = {};

	rtrs_perf_msg_put(&msg, true, 512);
	memcpy(longer, &msg, sizeof(msg));
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, 0, true, 512), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg) - 1, true, 512), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(longer, sizeof(longer), true, 512), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), false, 512), -EINVAL);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 511), -EINVAL);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 512 + (1ULL << 32)), -EINVAL);
	msg.write = cpu_to_le16(2);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 512), -EINVAL);
	rtrs_perf_msg_put(&msg, true, 0);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 0), -EINVAL);
	rtrs_perf_msg_put(&msg, true, 512);
	msg.version = cpu_to_le16(RTRS_PERF_VERSION + 1);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 512), -EPROTONOSUPPORT);
	rtrs_perf_msg_put(&msg, true, 512);
	msg.magic = cpu_to_le32(RTRS_PERF_MAGIC + 1);
	KUNIT_EXPECT_EQ(test, rtrs_perf_msg_check(&msg, sizeof(msg), true, 512), -EPROTONOSUPPORT);
}

static struct kunit_case rtrs_perf_msg_cases[] = {
	KUNIT_CASE(rtrs_perf_msg_put__bytes),
	KUNIT_CASE(rtrs_perf_msg_check__good),
	KUNIT_CASE(rtrs_perf_msg_check__bad),
	{}
};

static struct kunit_suite rtrs_perf_msg_suite = {
	.name = "rtrs_perf_msg",
	.test_cases = rtrs_perf_msg_cases,
};

kunit_test_suite(rtrs_perf_msg_suite);

MODULE_DESCRIPTION("KUnit tests of rtrs-perf's message");
MODULE_LICENSE("GPL");
