// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the status that travels in a completion (protocol section 3). */
#include <kunit/test.h>
#include "../proto/status.h"

struct to_wire_case {
	const char *name;
	int err;
	u32 status;
};

static const struct to_wire_case to_wire_cases[] = {
	{ "success", 0, 0 },
	{ "EPERM", -EPERM, 1 },
	{ "EIO", -EIO, 5 },
	{ "ENOMEM", -ENOMEM, 12 },
	{ "EREMOTEIO", -EREMOTEIO, 121 },
	{ "last that fits", -511, 511 },
	{ "ERESTARTSYS", -512, 4 },
	{ "ERESTARTNOINTR", -513, 4 },
	{ "ERESTARTNOHAND", -514, 4 },
	{ "ENOIOCTLCMD", -515, 25 },
	{ "ERESTART_RESTARTBLOCK", -516, 4 },
	{ "EPROBE_DEFER", -517, 11 },
	{ "EOPENSTALE", -518, 116 },
	{ "ENOPARAM", -519, 22 },
	{ "no errno 520", -520, 5 },
	{ "EBADHANDLE", -521, 116 },
	{ "ENOTSYNC", -522, 5 },
	{ "EBADCOOKIE", -523, 5 },
	{ "ENOTSUPP", -524, 95 },
	{ "ETOOSMALL", -525, 22 },
	{ "ESERVERFAULT", -526, 5 },
	{ "EBADTYPE", -527, 22 },
	{ "EJUKEBOX", -528, 11 },
	{ "EIOCBQUEUED", -529, 5 },
	{ "ERECALLCONFLICT", -530, 5 },
	{ "1024 would be cut to success", -1024, 5 },
	{ "lowest errno", -4095, 5 },
	{ "lowest int", INT_MIN, 5 },
	{ "positive", 1, 5 },
	{ "positive errno", ENOMEM, 5 },
	{ "positive, would be cut to success", 512, 5 },
	{ "highest int", INT_MAX, 5 },
};

static void to_wire_case_desc(const struct to_wire_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(to_wire, to_wire_cases, to_wire_case_desc);

static void rtrs_status_to_wire__table(struct kunit *test)
{
	const struct to_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_status_to_wire(c->err), c->status);
}

static void rtrs_status_to_wire__failure_stays_failure(struct kunit *test)
{
	u32 status;
	int err;

	for (err = -5000; err <= 5000; err++) {
		if (!err)
			continue;
		status = rtrs_status_to_wire(err);
		KUNIT_ASSERT_NE_MSG(test, status, 0U, "errno %d", err);
		KUNIT_ASSERT_LE_MSG(test, status, 511U, "errno %d", err);
	}
}

static void rtrs_status_from_wire__all(struct kunit *test)
{
	int status;

	for (status = 0; status < 512; status++)
		KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(status), -status);
}

static void rtrs_status_from_wire__bits_above_are_ignored(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(512), 0);
	KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(512 + EIO), -EIO);
	KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(0x80000000), 0);
	KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(0xffffffff), -511);
}

static void rtrs_status_from_wire__round_trip(struct kunit *test)
{
	int err;

	for (err = -511; err <= 0; err++)
		KUNIT_EXPECT_EQ(test, rtrs_status_from_wire(rtrs_status_to_wire(err)), err);
}

static struct kunit_case rtrs_status_cases[] = {
	KUNIT_CASE_PARAM(rtrs_status_to_wire__table, to_wire_gen_params),
	KUNIT_CASE(rtrs_status_to_wire__failure_stays_failure),
	KUNIT_CASE(rtrs_status_from_wire__all),
	KUNIT_CASE(rtrs_status_from_wire__bits_above_are_ignored),
	KUNIT_CASE(rtrs_status_from_wire__round_trip),
	{}
};

static struct kunit_suite rtrs_status_suite = {
	.name = "rtrs_status",
	.test_cases = rtrs_status_cases,
};

kunit_test_suite(rtrs_status_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS wire status");
MODULE_LICENSE("GPL");
