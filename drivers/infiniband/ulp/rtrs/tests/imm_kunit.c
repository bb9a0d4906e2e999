// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the immediate's layout (protocol section 3). */
#include <kunit/test.h>
#include "../proto/imm.h"

struct io_req_case {
	const char *name;
	u32 slot;
	u32 off;
	u32 mem_bits;
	u32 imm;
};

static const struct io_req_case io_req_cases[] = {
	{ "zero", 0, 0, 19, 0 },
	{ "queue depth 1, all is offset", 0, 0x0fffffff, 28, 0x0fffffff },
	{ "queue depth 2", 1, 0x07ffffff, 27, 0x0fffffff },
	{ "queue depth 512, last slot, last byte of 128 KiB", 511, 131071, 19, 0x0ff9ffff },
	{ "queue depth 512, first slot", 0, 4096, 19, 0x00001000 },
	{ "queue depth 65535, last slot", 65534, 4095, 12, 0x0fffefff },
	{ "no offset bits", 5, 7, 0, 5 },
	{ "offset does not reach the slot", 1, 0x00080001, 19, 0x00080001 },
	{ "slot does not reach the type", 512, 1, 19, 1 },
	{ "slot with all bits", 0xffffffff, 0, 19, 0x0ff80000 },
	{ "offset with all bits", 0, 0xffffffff, 19, 0x0007ffff },
	{ "both with all bits", 0xffffffff, 0xffffffff, 12, 0x0fffffff },
	{ "queue depth 1 with a wrong slot", 3, 1, 28, 1 },
	{ "too many offset bits", 1, 0xffffffff, 29, 0x0fffffff },
	{ "offset bits beyond any shift", 1, 0xffffffff, 0xffffffff, 0x0fffffff },
};

static void io_req_case_desc(const struct io_req_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(io_req, io_req_cases, io_req_case_desc);

static void rtrs_imm_io_req__layout(struct kunit *test)
{
	const struct io_req_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_imm_io_req(c->slot, c->off, c->mem_bits), c->imm);
}

struct io_req_decode_case {
	const char *name;
	u32 imm;
	u32 mem_bits;
	u32 slot;
	u32 off;
};

static const struct io_req_decode_case io_req_decode_cases[] = {
	{ "zero", 0, 19, 0, 0 },
	{ "last slot, last byte", 0x0fffffff, 19, 511, 0x7ffff },
	{ "128 KiB", 0x0ff9ffff, 19, 511, 131071 },
	{ "queue depth 1", 0x0fffffff, 28, 0, 0x0fffffff },
	{ "queue depth 65535", 0x0fffefff, 12, 65534, 4095 },
	{ "type bits are not looked at", 0xf0081234, 19, 1, 0x1234 },
	{ "no offset bits", 0x0fffffff, 0, 0x0fffffff, 0 },
	{ "too many offset bits", 0xffffffff, 33, 0, 0x0fffffff },
};

static void io_req_decode_case_desc(const struct io_req_decode_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(io_req_decode, io_req_decode_cases, io_req_decode_case_desc);

static void rtrs_imm_io_req_decode__layout(struct kunit *test)
{
	const struct io_req_decode_case *c = test->param_value;
	u32 slot = ~0U, off = ~0U;

	rtrs_imm_io_req_decode(c->imm, c->mem_bits, &slot, &off);
	KUNIT_EXPECT_EQ(test, slot, c->slot);
	KUNIT_EXPECT_EQ(test, off, c->off);
}

static void rtrs_imm_io_req__round_trip(struct kunit *test)
{
	u32 bits, max_slot, max_off, slot, off, imm, i;

	for (bits = 12; bits <= 28; bits++) {
		max_slot = (1U << (28 - bits)) - 1;
		max_off = (1U << bits) - 1;
		for (i = 0; i < 4; i++) {
			imm = rtrs_imm_io_req(i & 1 ? max_slot : 0, i & 2 ? max_off : 0, bits);
			rtrs_imm_io_req_decode(imm, bits, &slot, &off);
			KUNIT_EXPECT_EQ_MSG(test, slot, i & 1 ? max_slot : 0, "bits %u", bits);
			KUNIT_EXPECT_EQ_MSG(test, off, i & 2 ? max_off : 0, "bits %u", bits);
		}
	}
}

static void rtrs_imm_io_req_decode__each_bit(struct kunit *test)
{
	u32 bits, bit, slot, off;

	for (bits = 12; bits <= 28; bits++) {
		for (bit = 0; bit < 32; bit++) {
			rtrs_imm_io_req_decode(1U << bit, bits, &slot, &off);
			KUNIT_EXPECT_EQ_MSG(test, off, bit < bits ? 1U << bit : 0,
					    "bits %u, bit %u", bits, bit);
			KUNIT_EXPECT_EQ_MSG(test, slot,
					    bit >= bits && bit < 28 ? 1U << (bit - bits) : 0,
					    "bits %u, bit %u", bits, bit);
		}
	}
}

struct io_rsp_case {
	const char *name;
	u32 slot;
	int err;
	bool invalidated;
	u32 imm;
};

static const struct io_rsp_case io_rsp_cases[] = {
	{ "success", 0, 0, false, 0x10000000 },
	{ "success, invalidated", 0, 0, true, 0x20000000 },
	{ "last slot of 512", 511, 0, false, 0x100001ff },
	{ "last slot of all", 65534, 0, true, 0x2000fffe },
	{ "EIO", 1, -EIO, false, 0x10280001 },
	{ "EIO, invalidated", 1, -EIO, true, 0x20280001 },
	{ "largest errno that fits", 1, -511, false, 0x1ff80001 },
	{ "524 is EOPNOTSUPP, not 12", 1, -524, false, 0x12f80001 },
	{ "slot does not reach the errno", 0x80000, 0, false, 0x10000000 },
	{ "slot with all bits", 0xffffffff, -EIO, false, 0x102fffff },
};

static void io_rsp_case_desc(const struct io_rsp_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(io_rsp, io_rsp_cases, io_rsp_case_desc);

static void rtrs_imm_io_rsp__layout(struct kunit *test)
{
	const struct io_rsp_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_imm_io_rsp(c->slot, c->err, c->invalidated), c->imm);
}

static void rtrs_imm_io_rsp_decode__each_errno(struct kunit *test)
{
	u32 status, slot;
	int err;

	for (status = 0; status < 512; status++) {
		rtrs_imm_io_rsp_decode(0x10000000 | status << 19 | 77, &slot, &err);
		KUNIT_EXPECT_EQ(test, slot, 77U);
		KUNIT_EXPECT_EQ(test, err, -(int)status);
	}
}

static void rtrs_imm_io_rsp_decode__each_bit(struct kunit *test)
{
	u32 bit, slot;
	int err;

	for (bit = 0; bit < 32; bit++) {
		rtrs_imm_io_rsp_decode(1U << bit, &slot, &err);
		KUNIT_EXPECT_EQ_MSG(test, slot, bit < 19 ? 1U << bit : 0, "bit %u", bit);
		KUNIT_EXPECT_EQ_MSG(test, err, bit >= 19 && bit < 28 ? -(1 << (bit - 19)) : 0,
				    "bit %u", bit);
	}
	rtrs_imm_io_rsp_decode(0xffffffff, &slot, &err);
	KUNIT_EXPECT_EQ(test, slot, 0x7ffffU);
	KUNIT_EXPECT_EQ(test, err, -511);
}

static void rtrs_imm_io_rsp__round_trip(struct kunit *test)
{
	u32 slot, got;
	int err, i;

	for (i = 0; i < 512; i++) {
		slot = 65535U * i / 511;
		rtrs_imm_io_rsp_decode(rtrs_imm_io_rsp(slot, -i, i & 1), &got, &err);
		KUNIT_EXPECT_EQ(test, got, slot);
		KUNIT_EXPECT_EQ(test, err, -i);
	}
}

static void rtrs_imm_hb__message_and_answer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_imm_hb(false), 0x80000000U);
	KUNIT_EXPECT_EQ(test, rtrs_imm_hb(true), 0x90000000U);
}

struct server_time_case {
	const char *name;
	u64 server_ns;
	u64 device_ns;
	u32 imm;
	u64 server_told;
	u64 device_told;
};

static const struct server_time_case server_time_cases[] = {
	{ "nothing", 0, 0, 0xd0000000, 0, 0 },
	{ "1 ns", 1, 0, 0xd0004000, 1, 0 },
	{ "exact up to 511 ns", 0, 511, 0xd00001ff, 0, 511 },
	{ "512 ns", 0, 512, 0xd0000300, 0, 512 },
	{ "rounded down", 0, 1025, 0xd0000500, 0, 1024 },
	{ "rounded up", 0, 1026, 0xd0000501, 0, 1028 },
	{ "rounded up to one bit more", 0, 1023, 0xd0000500, 0, 1024 },
	{ "2^20 and 2^24 ns", 1 << 20, 1 << 24, 0xd6402100, 1 << 20, 1 << 24 },
	{ "the longest time", 511ULL << 31, 511ULL << 31, 0xdfffffff, 511ULL << 31, 511ULL << 31 },
	{ "longer", 1ULL << 40, ~0ULL, 0xdfffffff, 511ULL << 31, 511ULL << 31 },
	{ "rounded up to the longest", (511ULL << 31) - 1, 0, 0xdfffc000, 511ULL << 31, 0 },
};

static void server_time_case_desc(const struct server_time_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(server_time, server_time_cases, server_time_case_desc);

static void rtrs_imm_server_time__layout(struct kunit *test)
{
	const struct server_time_case *c = test->param_value;
	u64 server_ns, device_ns;

	KUNIT_EXPECT_EQ(test, rtrs_imm_server_time(c->server_ns, c->device_ns), c->imm);
	rtrs_imm_server_time_decode(c->imm, &server_ns, &device_ns);
	KUNIT_EXPECT_EQ(test, server_ns, c->server_told);
	KUNIT_EXPECT_EQ(test, device_ns, c->device_told);
}

/* Never wrong by more than one in 512. */
static void rtrs_imm_server_time__exact_enough(struct kunit *test)
{
	u64 ns, told, other;

	for (ns = 1; ns < 511ULL << 31; ns += ns / 97 + 1) {
		rtrs_imm_server_time_decode(rtrs_imm_server_time(0, ns), &other, &told);
		KUNIT_ASSERT_EQ(test, other, 0ULL);
		KUNIT_ASSERT_LE_MSG(test, (told > ns ? told - ns : ns - told) * 512, ns, "%llu ns", ns);
	}
}

/* Whatever the payload is, it means something. */
static void rtrs_imm_server_time_decode__each_bit(struct kunit *test)
{
	u64 server_ns, device_ns;
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		rtrs_imm_server_time_decode(1U << bit, &server_ns, &device_ns);
		KUNIT_EXPECT_EQ_MSG(test, device_ns, bit < 9 ? 1ULL << bit : 0, "bit %u", bit);
		KUNIT_EXPECT_EQ_MSG(test, server_ns, bit >= 14 && bit < 23 ? 1ULL << (bit - 14) : 0,
				    "bit %u", bit);
	}
}

static void rtrs_imm_timed__same_request(struct kunit *test)
{
	u32 imm = rtrs_imm_timed(rtrs_imm_io_req(511, 4096, 19)), slot, off;

	KUNIT_EXPECT_EQ(test, imm, 0xeff81000U);
	rtrs_imm_io_req_decode(imm, 19, &slot, &off);
	KUNIT_EXPECT_EQ(test, slot, 511U);
	KUNIT_EXPECT_EQ(test, off, 4096U);
}

struct req_state_case {
	const char *name;
	u32 slot;
	u32 state;
	u32 value;
	u32 imm;
	u32 told;
};

static const struct req_state_case req_state_cases[] = {
	{ "no request, no tag", 0, RTRS_REQ_STATE_NONE, 0, 0x60000000, 0 },
	{ "no request, its tag", 1, RTRS_REQ_STATE_NONE, 0x155, 0x60001155, 0x155 },
	{ "no request, a tag that is too long", 1, RTRS_REQ_STATE_NONE, 0xfffffe01, 0x60001001, 1 },
	{ "received", 2, RTRS_REQ_STATE_RECEIVED, 7, 0x60002207, 7 },
	{ "with the ULP for 31 s", 511, RTRS_REQ_STATE_ULP, 31, 0x601ff41f, 31 },
	{ "for 511 s", 511, RTRS_REQ_STATE_ULP, 511, 0x601ff5ff, 511 },
	{ "for longer than can be told", 511, RTRS_REQ_STATE_ULP, 512, 0x601ff5ff, 511 },
	{ "for ever", 511, RTRS_REQ_STATE_ULP, 0xffffffff, 0x601ff5ff, 511 },
	{ "answered, last slot", 65534, RTRS_REQ_STATE_ANSWERED, 0, 0x6fffe600, 0 },
};

static void req_state_case_desc(const struct req_state_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(req_state, req_state_cases, req_state_case_desc);

static void rtrs_imm_req_state_rsp__layout(struct kunit *test)
{
	const struct req_state_case *c = test->param_value;
	enum rtrs_req_state state;
	u32 slot, value;

	KUNIT_EXPECT_EQ(test, rtrs_imm_req_state_rsp(c->slot, c->state, c->value), c->imm);
	KUNIT_ASSERT_EQ(test, rtrs_imm_req_state_rsp_decode(c->imm, &slot, &state, &value), 0);
	KUNIT_EXPECT_EQ(test, slot, c->slot);
	KUNIT_EXPECT_EQ(test, (u32)state, c->state);
	KUNIT_EXPECT_EQ(test, value, c->told);
}

static void rtrs_imm_req_state_rsp_decode__each_state(struct kunit *test)
{
	enum rtrs_req_state state;
	u32 number, slot, value;
	int ret;

	for (number = 0; number < 8; number++) {
		ret = rtrs_imm_req_state_rsp_decode(0x60003000 | number << 9, &slot, &state, &value);
		KUNIT_EXPECT_EQ(test, ret, number < 4 ? 0 : -EPROTO);
	}
}

static void rtrs_imm_req_state__layout(struct kunit *test)
{
	u32 slot, tag;

	KUNIT_EXPECT_EQ(test, rtrs_imm_req_state(0, 0), 0x50000000U);
	KUNIT_EXPECT_EQ(test, rtrs_imm_req_state(65534, 0x1ff), 0x5fffe1ffU);
	KUNIT_EXPECT_EQ(test, rtrs_imm_req_state(3, 0x10203), 0x50003003U);
	rtrs_imm_req_state_decode(0x5fffe1ff, &slot, &tag);
	KUNIT_EXPECT_EQ(test, slot, 65534U);
	KUNIT_EXPECT_EQ(test, tag, 0x1ffU);
	/* What is reserved is not looked at. */
	rtrs_imm_req_state_decode(0x50003e05, &slot, &tag);
	KUNIT_EXPECT_EQ(test, slot, 3U);
	KUNIT_EXPECT_EQ(test, tag, 5U);
}

static void rtrs_imm_type__of_each(struct kunit *test)
{
	u32 type;

	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_io_req(511, 4096, 19)), (u32)RTRS_IMM_IO_REQ);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_io_rsp(511, -511, false)),
			(u32)RTRS_IMM_IO_RSP);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_io_rsp(511, -511, true)),
			(u32)RTRS_IMM_IO_RSP_W_INV);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_hb(false)), (u32)RTRS_IMM_HB_MSG);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_hb(true)), (u32)RTRS_IMM_HB_ACK);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_chunks(512, false)), (u32)RTRS_IMM_CHUNKS_WANT);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_chunks(512, true)), (u32)RTRS_IMM_CHUNKS);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_req_state(511, 1)), (u32)RTRS_IMM_REQ_STATE);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(rtrs_imm_req_state_rsp(511, RTRS_REQ_STATE_ULP, 1)),
			(u32)RTRS_IMM_REQ_STATE_RSP);
	for (type = 0; type < 16; type++) {
		KUNIT_EXPECT_EQ(test, rtrs_imm_type(type << 28), type);
		KUNIT_EXPECT_EQ(test, rtrs_imm_type(type << 28 | 0x0fffffff), type);
	}
}

static void rtrs_imm_type__wrong_arguments_keep_it(struct kunit *test)
{
	u32 a = 0x12345678, b, i;

	for (i = 0; i < 2000; i++) {
		a = a * 1664525 + 1013904223;
		b = a * 1664525 + 1013904223;
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_io_req(a, b, i)), 0U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_io_rsp(a, (int)b, false)), 1U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_io_rsp(a, (int)b, true)), 2U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_chunks(a, false)), 3U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_chunks(a, true)), 4U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_req_state(a, b)), 5U);
		KUNIT_ASSERT_EQ(test, rtrs_imm_type(rtrs_imm_req_state_rsp(a, i % RTRS_REQ_STATE__NR, b)), 6U);
	}
}

static struct kunit_case rtrs_imm_cases[] = {
	KUNIT_CASE_PARAM(rtrs_imm_io_req__layout, io_req_gen_params),
	KUNIT_CASE_PARAM(rtrs_imm_io_req_decode__layout, io_req_decode_gen_params),
	KUNIT_CASE(rtrs_imm_io_req__round_trip),
	KUNIT_CASE(rtrs_imm_io_req_decode__each_bit),
	KUNIT_CASE_PARAM(rtrs_imm_io_rsp__layout, io_rsp_gen_params),
	KUNIT_CASE(rtrs_imm_io_rsp_decode__each_errno),
	KUNIT_CASE(rtrs_imm_io_rsp_decode__each_bit),
	KUNIT_CASE(rtrs_imm_io_rsp__round_trip),
	KUNIT_CASE_PARAM(rtrs_imm_server_time__layout, server_time_gen_params),
	KUNIT_CASE(rtrs_imm_server_time__exact_enough),
	KUNIT_CASE(rtrs_imm_server_time_decode__each_bit),
	KUNIT_CASE(rtrs_imm_timed__same_request),
	KUNIT_CASE_PARAM(rtrs_imm_req_state_rsp__layout, req_state_gen_params),
	KUNIT_CASE(rtrs_imm_req_state_rsp_decode__each_state),
	KUNIT_CASE(rtrs_imm_req_state__layout),
	KUNIT_CASE(rtrs_imm_hb__message_and_answer),
	KUNIT_CASE(rtrs_imm_type__of_each),
	KUNIT_CASE(rtrs_imm_type__wrong_arguments_keep_it),
	{}
};

static struct kunit_suite rtrs_imm_suite = {
	.name = "rtrs_imm",
	.test_cases = rtrs_imm_cases,
};

kunit_test_suite(rtrs_imm_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS immediate");
MODULE_LICENSE("GPL");
