// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the extensions: where they are offered and taken up, and the messages of FENCE.
 *
 * A peer that knows none must not see a byte of them, and its zeros must not be taken for any.
 */
#include <kunit/test.h>
#include "../proto/imm.h"
#include "../proto/wire.h"

/* Offsets in the private data. */
#define REQ_EXT		45
#define RSP_EXT		20

static bool zeros(const void *buf, size_t from, size_t to)
{
	const u8 *bytes = buf;

	while (from < to)
		if (bytes[from++])
			return false;
	return true;
}

static void put_req(struct rtrs_msg_conn_req *msg, u16 features)
{
	const struct rtrs_conn_req req = { .cid_num = 1, .features = features };

	rtrs_wire_put_conn_req(msg, &req);
}

static void put_rsp(struct rtrs_msg_conn_rsp *msg, u16 features, u32 path_id)
{
	const struct rtrs_conn_rsp rsp = {
		.queue_depth = 1,
		.features = features,
		.path_id = path_id,
	};

	rtrs_wire_put_conn_rsp(msg, &rsp);
}

static void request__offers(struct kunit *test)
{
	static const u8 want[] = { 1, 0x01, 0x00 };
	struct rtrs_msg_conn_req msg;
	struct rtrs_conn_req req;

	put_req(&msg, RTRS_EXT_FENCE);
	KUNIT_EXPECT_EQ(test, memcmp((u8 *)&msg + REQ_EXT, want, sizeof(want)), 0);
	KUNIT_EXPECT_TRUE(test, zeros(&msg, REQ_EXT + sizeof(want), sizeof(msg)));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.features, RTRS_EXT_FENCE);
}

static void request__without_is_as_ever(struct kunit *test)
{
	struct rtrs_msg_conn_req msg;
	struct rtrs_conn_req req;

	put_req(&msg, 0);
	KUNIT_EXPECT_TRUE(test, zeros(&msg, REQ_EXT, sizeof(msg)));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.features, 0);
}

static void response__takes_up(struct kunit *test)
{
	static const u8 want[] = { 1, 0, 0x01, 0x00, 0x78, 0x56, 0x34, 0x02 };
	struct rtrs_msg_conn_rsp msg;
	struct rtrs_conn_rsp rsp;

	put_rsp(&msg, RTRS_EXT_FENCE, 0x2345678);
	KUNIT_EXPECT_EQ(test, memcmp((u8 *)&msg + RSP_EXT, want, sizeof(want)), 0);
	KUNIT_EXPECT_TRUE(test, zeros(&msg, RSP_EXT + sizeof(want), sizeof(msg)));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(&msg, sizeof(msg), &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.features, RTRS_EXT_FENCE);
	KUNIT_EXPECT_EQ(test, rsp.path_id, 0x2345678U);
}

/* Only 28 bits can be asked for. */
static void response__number_too_large(struct kunit *test)
{
	struct rtrs_msg_conn_rsp msg;
	struct rtrs_conn_rsp rsp;

	put_rsp(&msg, RTRS_EXT_FENCE, 0xfffffff);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_conn_rsp(&msg, sizeof(msg), &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.path_id, 0xfffffffU);
	put_rsp(&msg, RTRS_EXT_FENCE, 0x10000000);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_conn_rsp(&msg, sizeof(msg), &rsp), -ECONNRESET);
}

static void response__without_is_as_ever(struct kunit *test)
{
	struct rtrs_msg_conn_rsp msg;
	struct rtrs_conn_rsp rsp;

	put_rsp(&msg, 0, 0x2345678);
	KUNIT_EXPECT_TRUE(test, zeros(&msg, RSP_EXT, sizeof(msg)));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(&msg, sizeof(msg), &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.features, 0);
	KUNIT_EXPECT_EQ(test, rsp.path_id, 0U);
}

static void reject__says_nothing(struct kunit *test)
{
	const struct rtrs_conn_rsp rsp = {
		.error = -EEXIST,
		.features = RTRS_EXT_FENCE,
		.path_id = 1,
	};
	struct rtrs_msg_conn_rsp msg;

	rtrs_wire_put_conn_rsp(&msg, &rsp);
	KUNIT_EXPECT_TRUE(test, zeros(&msg, 6, sizeof(msg)));
}

/* Version 0 is no version; what is not known is not taken; a newer version keeps what we know. */
static void features__only_what_is_known(struct kunit *test)
{
	struct rtrs_msg_conn_req msg;
	struct rtrs_msg_conn_rsp answer;
	struct rtrs_conn_req req;
	struct rtrs_conn_rsp rsp;

	put_req(&msg, RTRS_EXT_FENCE);
	put_rsp(&answer, RTRS_EXT_FENCE, 7);
	msg.ext_features = cpu_to_le16(0xffff);
	answer.ext_features = cpu_to_le16(0xffff);
	msg.ext_version = 2;
	answer.ext_version = 255;
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.features, RTRS_EXT_ALL);
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(&answer, sizeof(answer), &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.features, RTRS_EXT_ALL);

	msg.ext_version = 0;
	answer.ext_version = 0;
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.features, 0);
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(&answer, sizeof(answer), &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.features, 0);
	KUNIT_EXPECT_EQ(test, rsp.path_id, 0U);
}

static void fence__question_and_answer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_imm_fence(0x2345678, false), 0xa2345678U);
	KUNIT_EXPECT_EQ(test, rtrs_imm_fence(0x2345678, true), 0xb2345678U);
	/* No number makes it another message. */
	KUNIT_EXPECT_EQ(test, rtrs_imm_fence(0xffffffff, false), 0xafffffffU);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(0xa2345678), (u32)RTRS_IMM_FENCE);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(0xb2345678), (u32)RTRS_IMM_FENCE_DONE);
	KUNIT_EXPECT_EQ(test, rtrs_imm_payload(0xb2345678), 0x2345678U);
}

struct many_case {
	const char *name;
	u32 slot;
	u32 others;
	u32 mem_bits;
	u32 imm;
};

static const struct many_case many_cases[] = {
	{ "one slot", 5, 0, 19, 0xc0280000 },
	{ "the next one too", 5, 1, 19, 0xc0280001 },
	{ "queue depth 512, slots 492 to 511", 492, 0x7ffff, 19, 0xcf67ffff },
	{ "queue depth 32768, slots 32754 to 32767", 32754, 0x1fff, 13, 0xcffe5fff },
	{ "queue depth 1", 0, 0, 28, 0xc0000000 },
	{ "others do not reach the slot", 1, 0x80001, 19, 0xc0080001 },
	{ "the slot does not reach the type", 512, 1, 19, 0xc0000001 },
};

static void many_case_desc(const struct many_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(many, many_cases, many_case_desc);

static void batch__layout(struct kunit *test)
{
	const struct many_case *c = test->param_value;
	u32 slot, others;

	KUNIT_EXPECT_EQ(test, rtrs_imm_io_rsp_many(c->slot, c->others, c->mem_bits), c->imm);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(c->imm), (u32)RTRS_IMM_IO_RSP_MANY);
	rtrs_imm_io_rsp_many_decode(c->imm, c->mem_bits, &slot, &others);
	KUNIT_EXPECT_EQ(test, rtrs_imm_io_rsp_many(slot, others, c->mem_bits), c->imm);
}

static void batch__decode(struct kunit *test)
{
	u32 slot, others;

	rtrs_imm_io_rsp_many_decode(0xcf67ffff, 19, &slot, &others);
	KUNIT_EXPECT_EQ(test, slot, 492U);
	KUNIT_EXPECT_EQ(test, others, 0x7ffffU);
	rtrs_imm_io_rsp_many_decode(0xcffe5fff, 13, &slot, &others);
	KUNIT_EXPECT_EQ(test, slot, 32754U);
	KUNIT_EXPECT_EQ(test, others, 0x1fffU);
}

static struct kunit_case wire_ext_cases[] = {
	KUNIT_CASE(request__offers),
	KUNIT_CASE(request__without_is_as_ever),
	KUNIT_CASE(response__takes_up),
	KUNIT_CASE(response__number_too_large),
	KUNIT_CASE(response__without_is_as_ever),
	KUNIT_CASE(reject__says_nothing),
	KUNIT_CASE(features__only_what_is_known),
	KUNIT_CASE(fence__question_and_answer),
	KUNIT_CASE_PARAM(batch__layout, many_gen_params),
	KUNIT_CASE(batch__decode),
	{}
};

static struct kunit_suite wire_ext_suite = {
	.name = "rtrs_wire_ext",
	.test_cases = wire_ext_cases,
};

kunit_test_suite(wire_ext_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS extensions");
MODULE_LICENSE("GPL");
