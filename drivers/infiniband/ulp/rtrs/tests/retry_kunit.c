// SPDX-License-Identifier: GPL-2.0-only
/* Tests of what becomes of a request that could not be sent. */
#include <kunit/test.h>
#include "../proto/retry.h"

struct retry_case {
	const char *name;
	enum rtrs_failure what;
	int error;
	int result;
	enum rtrs_retry retry;
};

static const struct retry_case retry_cases[] = {
	{ "no memory", RTRS_FAILURE_MEMORY, 0, -EAGAIN, RTRS_RETRY_LATER },
	{ "no memory, with errno", RTRS_FAILURE_MEMORY, -ENOMEM, -EAGAIN, RTRS_RETRY_LATER },
	{ "no mapping", RTRS_FAILURE_DMA_MAP, 0, -EAGAIN, RTRS_RETRY_LATER },
	{ "no mapping, whatever the driver says", RTRS_FAILURE_DMA_MAP, -EIO, -EAGAIN, RTRS_RETRY_LATER },
	{ "never a mapping on this path", RTRS_FAILURE_DMA_LIMIT, 0, -EMSGSIZE, RTRS_RETRY_ELSEWHERE },
	{ "send queue full", RTRS_FAILURE_SEND_QUEUE, 0, -EAGAIN, RTRS_RETRY_LATER },
	{ "region, no memory", RTRS_FAILURE_MR_MAP, -ENOMEM, -EAGAIN, RTRS_RETRY_LATER },
	{ "region, later", RTRS_FAILURE_MR_MAP, -EAGAIN, -EAGAIN, RTRS_RETRY_LATER },
	{ "region, no buffers", RTRS_FAILURE_MR_MAP, -ENOBUFS, -EAGAIN, RTRS_RETRY_LATER },
	{ "region, no space", RTRS_FAILURE_MR_MAP, -ENOSPC, -EAGAIN, RTRS_RETRY_LATER },
	{ "region, wrong list", RTRS_FAILURE_MR_MAP, -EINVAL, -EINVAL, RTRS_RETRY_NEVER },
	{ "region, any other error", RTRS_FAILURE_MR_MAP, -EFAULT, -EINVAL, RTRS_RETRY_NEVER },
	{ "region, no errno", RTRS_FAILURE_MR_MAP, 0, -EINVAL, RTRS_RETRY_NEVER },
	{ "longer than a region of this path", RTRS_FAILURE_MR_LIMIT, -EINVAL, -EMSGSIZE, RTRS_RETRY_ELSEWHERE },
	{ "longer than a chunk of this path", RTRS_FAILURE_CHUNK_LIMIT, 0, -EMSGSIZE, RTRS_RETRY_ELSEWHERE },
	{ "list too short", RTRS_FAILURE_SG_LIST, 0, -EINVAL, RTRS_RETRY_NEVER },
	{ "permit used twice", RTRS_FAILURE_SLOT_BUSY, 0, -EBUSY, RTRS_RETRY_NEVER },
	{ "post", RTRS_FAILURE_POST, -EIO, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, no memory", RTRS_FAILURE_POST, -ENOMEM, -ENOMEM, RTRS_RETRY_PATH_LOST },
	{ "post, not connected", RTRS_FAILURE_POST, -ENOTCONN, -ENOTCONN, RTRS_RETRY_PATH_LOST },
	/* A part of the chain may have been posted. */
	{ "post, would be taken for a full queue", RTRS_FAILURE_POST, -EAGAIN, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, would be taken for a wrong request", RTRS_FAILURE_POST, -EINVAL, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, would be taken for a used permit", RTRS_FAILURE_POST, -EBUSY, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, would be taken for a limit", RTRS_FAILURE_POST, -EMSGSIZE, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, would be taken for no path", RTRS_FAILURE_POST, -ECONNABORTED, -EIO, RTRS_RETRY_PATH_LOST },
	{ "post, no errno", RTRS_FAILURE_POST, 0, -EIO, RTRS_RETRY_PATH_LOST },
};

static void retry_case_desc(const struct retry_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(retry, retry_cases, retry_case_desc);

static void rtrs_retry_error__table(struct kunit *test)
{
	const struct retry_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_retry_error(c->what, c->error), c->result);
	KUNIT_EXPECT_EQ(test, (int)rtrs_retry_of(c->result), (int)c->retry);
}

/* No failure, whatever its cause, is a success, and each has a row above. */
static void rtrs_retry_error__each_is_an_error(struct kunit *test)
{
	bool seen[RTRS_FAILURE__NR] = {};
	int what, error;
	size_t i;

	for (what = 0; what < RTRS_FAILURE__NR; what++)
		for (error = -530; error <= 0; error++)
			KUNIT_ASSERT_LT(test, rtrs_retry_error(what, error), 0);
	for (i = 0; i < ARRAY_SIZE(retry_cases); i++)
		seen[retry_cases[i].what] = true;
	for (what = 0; what < RTRS_FAILURE__NR; what++)
		KUNIT_EXPECT_TRUE(test, seen[what]);
}

/* What is posted with an error must never be sent again on the same path, nor be failed: part of it may be on its way. */
static void rtrs_retry_error__post_always_costs_the_path(struct kunit *test)
{
	int error;

	for (error = -530; error <= 0; error++)
		KUNIT_ASSERT_EQ(test, (int)rtrs_retry_of(rtrs_retry_error(RTRS_FAILURE_POST, error)),
				(int)RTRS_RETRY_PATH_LOST);
}

struct merge_case {
	const char *name;
	int error;
	int next;
	int result;
};

static const struct merge_case merge_cases[] = {
	{ "first path", 0, -EMSGSIZE, -EMSGSIZE },
	{ "short, then lost", -EAGAIN, -ECONNABORTED, -EAGAIN },
	{ "lost, then short", -ECONNABORTED, -EAGAIN, -EAGAIN },
	{ "short, then too small", -EAGAIN, -EMSGSIZE, -EAGAIN },
	{ "too small, then short", -EMSGSIZE, -EAGAIN, -EAGAIN },
	{ "too small, then lost", -EMSGSIZE, -ECONNABORTED, -ECONNABORTED },
	{ "lost, then too small", -ECONNABORTED, -EMSGSIZE, -ECONNABORTED },
	{ "too small twice", -EMSGSIZE, -EMSGSIZE, -EMSGSIZE },
	{ "short, then wrong", -EAGAIN, -EINVAL, -EINVAL },
	{ "lost, then used twice", -ECONNABORTED, -EBUSY, -EBUSY },
};

static void merge_case_desc(const struct merge_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(merge, merge_cases, merge_case_desc);

static void rtrs_retry_merge__table(struct kunit *test)
{
	const struct merge_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_retry_merge(c->error, c->next), c->result);
}

static struct kunit_case rtrs_retry_cases[] = {
	KUNIT_CASE_PARAM(rtrs_retry_error__table, retry_gen_params),
	KUNIT_CASE(rtrs_retry_error__each_is_an_error),
	KUNIT_CASE(rtrs_retry_error__post_always_costs_the_path),
	KUNIT_CASE_PARAM(rtrs_retry_merge__table, merge_gen_params),
	{}
};

static struct kunit_suite rtrs_retry_suite = {
	.name = "rtrs_retry",
	.test_cases = rtrs_retry_cases,
};

kunit_test_suite(rtrs_retry_suite);

MODULE_DESCRIPTION("KUnit tests of what becomes of requests that cannot be sent");
MODULE_LICENSE("GPL");
