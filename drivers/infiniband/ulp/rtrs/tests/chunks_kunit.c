// SPDX-License-Identifier: GPL-2.0-only
/* Tests of chunks that a path gets as it needs them (extension CREDITS). */
#include <kunit/test.h>
#include "../proto/imm.h"
#include "../proto/wire.h"

#define ADDR	0x1122334455667788ULL
#define RKEY	0xa1b2c3d4
#define C	8192

struct request_case {
	const char *name;
	u32 chunks;
	u16 features;
	u8 ext[11];		/* from offset 45 on, as it is sent */
	u32 got;
};

static const struct request_case request_cases[] = {
	{ "some", 0x12345678, RTRS_EXT_CREDITS,
	  { 1, 0x40, 0, 0x78, 0x56, 0x34, 0x12 }, 0x12345678 },
	{ "one", 1, RTRS_EXT_CREDITS, { 1, 0x40, 0, 1 }, 1 },
	{ "none", 0, RTRS_EXT_CREDITS, { 1, 0x40, 0 }, 0 },
	{ "all bits", 0xffffffff, RTRS_EXT_CREDITS,
	  { 1, 0x40, 0, 0xff, 0xff, 0xff, 0xff }, 0xffffffff },
	{ "another extension too", 512, RTRS_EXT_CREDITS | RTRS_EXT_FENCE,
	  { 1, 0x41, 0, 0, 2 }, 512 },
	{ "only other extensions", 512, RTRS_EXT_ALL & ~RTRS_EXT_CREDITS, { 1, 0xbf, 3 }, 0 },
	{ "no extensions", 512, 0, { 0 }, 0 },
};

static void request_case_desc(const struct request_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(request, request_cases, request_case_desc);

static void request__both_ways(struct kunit *test)
{
	const struct request_case *c = test->param_value;
	struct rtrs_conn_req req = {
		.cid_num = 1, .features = c->features, .chunks = c->chunks,
	};
	struct rtrs_msg_conn_req msg;

	memset(&msg, 0xff, sizeof(msg));
	rtrs_wire_put_conn_req(&msg, &req);
	KUNIT_EXPECT_EQ(test, memcmp((u8 *)&msg + 45, c->ext, sizeof(c->ext)), 0);
	memset(&req, 0xff, sizeof(req));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.features, c->features);
	KUNIT_EXPECT_EQ(test, req.chunks, c->got);
}

struct request_get_case {
	const char *name;
	u8 ext[11];		/* from offset 45 on */
	u32 chunks;
};

static const struct request_get_case request_get_cases[] = {
	{ "some", { 1, 0x40, 0, 4, 3, 2, 1 }, 0x01020304 },
	{ "newer version", { 0xff, 0xff, 0xff, 4, 3, 2, 1 }, 0x01020304 },
	{ "the rest is reserved", { 1, 0x40, 0, 4, 3, 2, 1, 0xff, 0xff, 0xff, 0xff }, 0x01020304 },
	{ "version 0", { 0, 0x40, 0, 4, 3, 2, 1 }, 0 },
	{ "other extensions", { 1, 0xbf, 0xff, 4, 3, 2, 1 }, 0 },
	{ "no extensions", { 1, 0, 0, 4, 3, 2, 1 }, 0 },
};

static void request_get_case_desc(const struct request_get_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(request_get, request_get_cases, request_get_case_desc);

static void request__decode(struct kunit *test)
{
	const struct request_get_case *c = test->param_value;
	struct rtrs_conn_req req = { .cid_num = 1 };
	struct rtrs_msg_conn_req msg;

	rtrs_wire_put_conn_req(&msg, &req);
	memcpy((u8 *)&msg + 45, c->ext, sizeof(c->ext));
	memset(&req, 0xff, sizeof(req));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(&msg, sizeof(msg), &req), 0);
	KUNIT_EXPECT_EQ(test, req.chunks, c->chunks);
}

/* From offset 257 on. */
static const u8 table_sample[15] = {
	0x00, 0x00, 0x00,
	0xd4, 0xc3, 0xb2, 0xa1,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
};

static void info_table__bytes(struct kunit *test)
{
	struct rtrs_msg_info_req *msg = kunit_kmalloc(test, 2 * sizeof(*msg), GFP_KERNEL);
	u64 addr = ~0ULL;
	u32 rkey = ~0U;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	memset(msg, 0xff, 2 * sizeof(*msg));
	rtrs_wire_put_info_req(&msg[0], "sess1");
	rtrs_wire_put_info_req(&msg[1], "sess1");
	rtrs_wire_get_info_table(&msg[0], &addr, &rkey);
	KUNIT_EXPECT_EQ(test, addr, 0ULL);
	KUNIT_EXPECT_EQ(test, rkey, 0U);
	rtrs_wire_put_info_table(&msg[0], ADDR, RKEY);
	KUNIT_EXPECT_EQ(test, memcmp((u8 *)&msg[0] + 257, table_sample, sizeof(table_sample)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&msg[0], &msg[1], 257), 0);
}

static void info_table__each_alignment(struct kunit *test)
{
	size_t skip;
	u64 addr;
	u32 rkey;
	u8 *msg;

	for (skip = 0; skip < 8; skip++) {
		msg = kunit_kmalloc(test, skip + 272, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, msg);
		msg += skip;
		memset(msg, 0xff, 257);
		memcpy(msg + 257, table_sample, sizeof(table_sample));
		rtrs_wire_get_info_table(msg, &addr, &rkey);
		KUNIT_EXPECT_EQ_MSG(test, addr, ADDR, "alignment %zu", skip);
		KUNIT_EXPECT_EQ_MSG(test, rkey, (u32)RKEY, "alignment %zu", skip);
		/* The reserved bytes do not count. */
		memset(msg + 257, 0xff, 3);
		rtrs_wire_get_info_table(msg, &addr, &rkey);
		KUNIT_EXPECT_EQ(test, addr, ADDR);
		KUNIT_EXPECT_EQ(test, rkey, (u32)RKEY);
	}
}

static void info_table__each_bit(struct kunit *test)
{
	u8 *msg = kunit_kzalloc(test, 272, GFP_KERNEL);
	u32 bit, rkey;
	u64 addr;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (bit = 0; bit < 96; bit++) {
		msg[260 + bit / 8] = 1 << bit % 8;
		rtrs_wire_get_info_table(msg, &addr, &rkey);
		KUNIT_EXPECT_EQ_MSG(test, rkey, bit < 32 ? 1U << bit : 0, "bit %u", bit);
		KUNIT_EXPECT_EQ_MSG(test, addr, bit >= 32 ? 1ULL << (bit - 32) : 0, "bit %u", bit);
		msg[260 + bit / 8] = 0;
	}
}

#define MAX_DESCS	4

struct one_desc {
	u64 addr;
	u32 len;
};

static u32 case_rkey(u32 desc)
{
	return 0xf0e0d000 + desc;
}

static void put_descs(struct rtrs_sg_desc *to, const struct one_desc *desc, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		rtrs_wire_put_desc(&to[i], desc[i].addr, case_rkey(i), desc[i].len);
}

/* The first @nr chunks of @desc. */
static void check_rbufs(struct kunit *test, const struct one_desc *desc, u32 chunk_size,
			const struct rtrs_rbuf *rbufs, u32 nr)
{
	u32 done = 0, i, pos;

	for (i = 0; done < nr; i++) {
		KUNIT_ASSERT_LT(test, i, (u32)MAX_DESCS);
		for (pos = 0; pos < desc[i].len; pos += chunk_size, done++) {
			KUNIT_ASSERT_LT(test, done, nr);
			KUNIT_EXPECT_EQ(test, rbufs[done].addr, desc[i].addr + pos);
			KUNIT_EXPECT_EQ(test, rbufs[done].rkey, case_rkey(i));
		}
	}
}

struct some_case {
	const char *name;
	u32 least;
	u32 most;
	u16 sg_cnt;
	int ret;
	struct one_desc desc[MAX_DESCS];
};

static const struct some_case some_cases[] = {
	{ "least", 2, 8, 1, 2, { { 0x10000, 2 * C } } },
	{ "one more than least", 2, 8, 1, 3, { { 0x10000, 3 * C } } },
	{ "between", 2, 8, 2, 6, { { 0x10000, 3 * C }, { 0x50000, 3 * C } } },
	{ "one less than most", 2, 8, 1, 7, { { 0x10000, 7 * C } } },
	{ "most", 2, 8, 1, 8, { { 0x10000, 8 * C } } },
	{ "most, in two", 2, 8, 2, 8, { { 0x10000, 4 * C }, { 0x50000, 4 * C } } },
	{ "one is enough", 1, 65535, 1, 1, { { 0x10000, C } } },
	{ "least, with a descriptor each", 3, 8, 3, 3,
	  { { 0x30000, C }, { 0x10000, C }, { 0x50000, C } } },
	{ "descriptors divide what there is, but not most", 2, 8, 3, 6,
	  { { 0x10000, 2 * C }, { 0x30000, 2 * C }, { 0x50000, 2 * C } } },
	{ "uneven, but as many as for even ones", 2, 8, 2, 4,
	  { { 0x10000, C }, { 0x50000, 3 * C } } },
	{ "as many descriptors as most", 2, 3, 3, 3,
	  { { 0x10000, C }, { 0x30000, C }, { 0x50000, C } } },
	{ "none are needed", 0, 8, 1, 1, { { 0x10000, C } } },
	{ "one less than least", 2, 8, 1, -EINVAL, { { 0x10000, C } } },
	{ "one less than least, in two", 5, 8, 2, -EINVAL,
	  { { 0x10000, 2 * C }, { 0x50000, 2 * C } } },
	{ "one more than most", 2, 8, 1, -EINVAL, { { 0x10000, 9 * C } } },
	{ "one more than most, in three", 2, 8, 3, -EINVAL,
	  { { 0x10000, 3 * C }, { 0x30000, 3 * C }, { 0x50000, 3 * C } } },
	{ "most, and more behind them", 2, 8, 2, -EINVAL, { { 0x10000, 8 * C }, { 0x50000, C } } },
	{ "least above most", 4, 2, 1, -EINVAL, { { 0x10000, 2 * C } } },
	{ "two descriptors for three", 2, 8, 2, -EINVAL,
	  { { 0x10000, C }, { 0x50000, 2 * C } } },
	{ "descriptors divide most, but not what there is", 2, 8, 4, -EINVAL,
	  { { 0x10000, C }, { 0x20000, C }, { 0x30000, C }, { 0x50000, 2 * C } } },
	{ "more descriptors than most", 1, 2, 3, -EINVAL,
	  { { 0x10000, C }, { 0x30000, C }, { 0x50000, C } } },
	{ "no descriptors", 1, 8, 0, -EINVAL, { { 0x10000, C } } },
	{ "nothing may be there", 0, 0, 1, -EINVAL, { { 0x10000, C } } },
	{ "length 0", 1, 8, 1, -EINVAL, { { 0x10000, 0 } } },
	{ "length 0 when there are enough", 1, 8, 2, -EINVAL,
	  { { 0x10000, 2 * C }, { 0x50000, 0 } } },
	{ "length a byte long", 2, 8, 1, -EINVAL, { { 0x10000, 2 * C + 1 } } },
	{ "address wraps", 1, 8, 2, -EINVAL, { { 0x10000, C }, { U64_MAX - C + 2, C } } },
};

static void some_case_desc(const struct some_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(some, some_cases, some_case_desc);

static void info_rsp__least_and_most(struct kunit *test)
{
	const struct some_case *c = test->param_value;
	size_t size = rtrs_wire_info_rsp_size(c->sg_cnt);
	struct rtrs_msg_info_rsp *msg = kunit_kzalloc(test, size, GFP_KERNEL);
	struct rtrs_rbuf *rbufs;
	int ret;

	/* Exactly as many as there may be, so that one more is caught. */
	rbufs = kunit_kzalloc(test, c->most * sizeof(*rbufs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	rtrs_wire_put_info_rsp(msg, c->sg_cnt);
	put_descs(msg->desc, c->desc, c->sg_cnt);
	ret = rtrs_wire_get_info_rsp(msg, size, c->least, c->most, C, rbufs);
	KUNIT_ASSERT_EQ(test, ret, c->ret);
	if (ret > 0) {
		check_rbufs(test, c->desc, C, rbufs, ret);
		KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, size - 1, c->least, c->most, C,
							     rbufs), -EINVAL);
	}
}

struct chunks_case {
	const char *name;
	u32 nr_descs;
	u32 nr;
	u32 chunk_size;
	int ret;
	struct one_desc desc[MAX_DESCS];
};

static const struct chunks_case chunks_cases[] = {
	{ "one for all", 1, 4, C, 0, { { 0x10000, 4 * C } } },
	{ "one each", 4, 4, C, 0,
	  { { 0x10000, C }, { 0x50000, C }, { 0x30000, C }, { 0x20000, C } } },
	{ "uneven", 2, 3, C, 0, { { 0x10000, C }, { 0x50000, 2 * C } } },
	{ "one", 1, 1, C, 0, { { 0x10000, C } } },
	{ "chunk is no power of two", 2, 3, 135168, 0,
	  { { 0x100000, 2 * 135168 }, { 0x200000, 135168 } } },
	{ "address 0", 1, 1, C, 0, { { 0, C } } },
	{ "good one behind the last chunk", 2, 2, C, 0, { { 0x10000, 2 * C }, { 0x50000, C } } },
	{ "garbage behind the last chunk", 4, 2, C, 0,
	  { { 0x10000, C }, { 0x50000, C }, { U64_MAX, 0xffffffff }, { 1, 1 } } },
	{ "zeros behind the last chunk", 4, 1, C, 0, { { 0x10000, C } } },
	{ "nothing wanted", 1, 0, C, 0, { { U64_MAX, 1 } } },
	{ "nothing wanted of nothing", 0, 0, C, 0, { } },
	{ "no descriptors", 0, 1, C, -EINVAL, { } },
	{ "zeros", 4, 1, C, -EINVAL, { } },
	{ "a chunk missing", 1, 4, C, -EINVAL, { { 0x10000, 3 * C } } },
	{ "a chunk missing, with a descriptor each", 3, 4, C, -EINVAL,
	  { { 0x10000, C }, { 0x50000, C }, { 0x30000, C }, { 0x20000, C } } },
	{ "a chunk too many", 1, 4, C, -EINVAL, { { 0x10000, 5 * C } } },
	{ "a chunk too many in the last", 2, 3, C, -EINVAL, { { 0x10000, C }, { 0x50000, 3 * C } } },
	{ "largest length", 1, 4, C, -EINVAL, { { 0x10000, 0xffffe000 } } },
	{ "length 0", 1, 1, C, -EINVAL, { { 0x10000, 0 } } },
	{ "length 0 in front", 2, 1, C, -EINVAL, { { 0x10000, 0 }, { 0x50000, C } } },
	{ "length 0 among others", 3, 2, C, -EINVAL,
	  { { 0x10000, C }, { 0x30000, 0 }, { 0x50000, C } } },
	{ "length a byte short", 1, 2, C, -EINVAL, { { 0x10000, 2 * C - 1 } } },
	{ "length a byte long", 1, 2, C, -EINVAL, { { 0x10000, 2 * C + 1 } } },
	{ "length below a chunk", 1, 1, C, -EINVAL, { { 0x10000, C / 2 } } },
	{ "halves of a chunk", 2, 1, C, -EINVAL,
	  { { 0x10000, C / 2 }, { 0x10000 + C / 2, C / 2 } } },
	{ "up to the last byte but one", 1, 2, C, 0, { { U64_MAX - 2 * C, 2 * C } } },
	{ "address wraps to 0", 1, 2, C, -EINVAL, { { U64_MAX - 2 * C + 1, 2 * C } } },
	{ "address wraps", 1, 2, C, -EINVAL, { { U64_MAX - C, 2 * C } } },
	{ "last address wraps", 2, 2, C, -EINVAL, { { 0x10000, C }, { U64_MAX, C } } },
	{ "sum of 4 GiB", 2, 2, 0x80000000, 0, { { 0, 0x80000000 }, { 0, 0x80000000 } } },
	{ "8 GiB wanted, sum is 0 in 32 bits", 2, 4, 0x80000000, -EINVAL,
	  { { 0, 0x80000000 }, { 0, 0x80000000 } } },
};

static void chunks_case_desc(const struct chunks_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(chunks, chunks_cases, chunks_case_desc);

static void get_chunks__table(struct kunit *test)
{
	const struct chunks_case *c = test->param_value;
	struct rtrs_sg_desc *desc = kunit_kzalloc(test, c->nr_descs * sizeof(*desc), GFP_KERNEL);
	struct rtrs_rbuf *rbufs = kunit_kzalloc(test, c->nr * sizeof(*rbufs), GFP_KERNEL);

	/* Both exactly as long as said, so that one more is caught. */
	KUNIT_ASSERT_NOT_NULL(test, desc);
	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	put_descs(desc, c->desc, c->nr_descs);
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_chunks(desc, c->nr_descs, c->nr, c->chunk_size, rbufs),
			c->ret);
	if (!c->ret)
		check_rbufs(test, c->desc, c->chunk_size, rbufs, c->nr);
}

/* A table that is full, and each number of chunks of it. */
static void get_chunks__full_table(struct kunit *test)
{
	const u32 nr = RTRS_CHUNK_TABLE_DESCS;
	struct rtrs_sg_desc *desc = kunit_kmalloc(test, nr * sizeof(*desc), GFP_KERNEL);
	struct rtrs_rbuf *rbufs = kunit_kzalloc(test, (nr + 1) * sizeof(*rbufs), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, desc);
	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	KUNIT_EXPECT_EQ(test, nr * sizeof(*desc), 4096UL);
	for (i = 0; i < nr; i++)
		rtrs_wire_put_desc(&desc[i], (u64)i << 20, i + 1, 4096);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_chunks(desc, nr, nr + 1, 4096, rbufs), -EINVAL);
	for (i = 0; i <= nr; i++) {
		memset(rbufs, 0, (nr + 1) * sizeof(*rbufs));
		KUNIT_ASSERT_EQ(test, rtrs_wire_get_chunks(desc, nr, i, 4096, rbufs), 0);
		KUNIT_ASSERT_EQ(test, rbufs[i].rkey, 0U);
		if (i) {
			KUNIT_ASSERT_EQ(test, rbufs[i - 1].addr, (u64)(i - 1) << 20);
			KUNIT_ASSERT_EQ(test, rbufs[i - 1].rkey, i);
		}
	}
}

struct imm_case {
	const char *name;
	u32 nr;
	u32 want;
	u32 have;
};

static const struct imm_case imm_cases[] = {
	{ "none", 0, 0x30000000, 0x40000000 },
	{ "one", 1, 0x30000001, 0x40000001 },
	{ "512", 512, 0x30000200, 0x40000200 },
	{ "longest queue", 65535, 0x3000ffff, 0x4000ffff },
	{ "all of the payload", 0x0fffffff, 0x3fffffff, 0x4fffffff },
	{ "does not reach the type", 0x10000000, 0x30000000, 0x40000000 },
	{ "type is cut off", 0x92345678, 0x32345678, 0x42345678 },
	{ "all bits", 0xffffffff, 0x3fffffff, 0x4fffffff },
};

static void imm_case_desc(const struct imm_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(imm, imm_cases, imm_case_desc);

static void imm__layout(struct kunit *test)
{
	const struct imm_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_imm_chunks(c->nr, false), c->want);
	KUNIT_EXPECT_EQ(test, rtrs_imm_chunks(c->nr, true), c->have);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(c->want), (u32)RTRS_IMM_CHUNKS_WANT);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(c->have), (u32)RTRS_IMM_CHUNKS);
	KUNIT_EXPECT_EQ(test, rtrs_imm_payload(c->want), c->nr & 0x0fffffff);
	KUNIT_EXPECT_EQ(test, rtrs_imm_payload(c->have), c->nr & 0x0fffffff);
}

static struct kunit_case chunks_kunit_cases[] = {
	KUNIT_CASE_PARAM(request__both_ways, request_gen_params),
	KUNIT_CASE_PARAM(request__decode, request_get_gen_params),
	KUNIT_CASE(info_table__bytes),
	KUNIT_CASE(info_table__each_alignment),
	KUNIT_CASE(info_table__each_bit),
	KUNIT_CASE_PARAM(info_rsp__least_and_most, some_gen_params),
	KUNIT_CASE_PARAM(get_chunks__table, chunks_gen_params),
	KUNIT_CASE(get_chunks__full_table),
	KUNIT_CASE_PARAM(imm__layout, imm_gen_params),
	{}
};

static struct kunit_suite chunks_suite = {
	.name = "rtrs_chunks",
	.test_cases = chunks_kunit_cases,
};

kunit_test_suite(chunks_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS extension CREDITS");
MODULE_LICENSE("GPL");
