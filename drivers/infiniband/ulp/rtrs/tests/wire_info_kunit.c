// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the codecs of the info exchange (protocol section 4). */
#include <kunit/test.h>
#include "../proto/wire.h"

struct name_case {
	const char *desc;
	const char *name;
	bool valid;
};

static const struct name_case name_cases[] = {
	{ "one letter", "a", true },
	{ "letters", "blya", true },
	{ "blank", "a b", true },
	{ "colon and at sign", "ip:1@ip:2", true },
	{ "bytes above 127", "\xc3\xa4", true },
	{ "backslash", "a\\b", true },
	{ "empty", "", false },
	{ "dot", ".", false },
	{ "two dots", "..", false },
	{ "dot in front", ".a", false },
	{ "dot within", "a.b", false },
	{ "dot at the end", "a.", false },
	{ "slash", "/", false },
	{ "slash in front", "/a", false },
	{ "slash within", "a/b", false },
	{ "slash at the end", "a/", false },
};

static void name_case_desc(const struct name_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(name, name_cases, name_case_desc);

static void rtrs_wire_name_valid__table(struct kunit *test)
{
	const struct name_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_wire_name_valid(c->name), c->valid);
}

static char *long_name(struct kunit *test, size_t len)
{
	char *name = kunit_kmalloc(test, len + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, 'n', len);
	name[len] = '\0';
	return name;
}

static void rtrs_wire_name_valid__each_length(struct kunit *test)
{
	size_t len;
	char *name;

	for (len = 1; len < 300; len++) {
		name = long_name(test, len);
		KUNIT_EXPECT_EQ_MSG(test, rtrs_wire_name_valid(name), len <= 254, "length %zu", len);
		name[len - 1] = '.';
		KUNIT_EXPECT_FALSE(test, rtrs_wire_name_valid(name));
		name[len - 1] = '/';
		KUNIT_EXPECT_FALSE(test, rtrs_wire_name_valid(name));
	}
}

static void rtrs_wire_put_info_req__each_length(struct kunit *test)
{
	u8 *msg = kunit_kmalloc(test, sizeof(struct rtrs_msg_info_req), GFP_KERNEL);
	size_t len, i;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (len = 0; len < 300; len++) {
		memset(msg, 0xff, 272);
		rtrs_wire_put_info_req((struct rtrs_msg_info_req *)msg, long_name(test, len));
		KUNIT_ASSERT_EQ(test, msg[0] | msg[1], 0);
		/* Too long a name is cut: the last byte of the field stays its NUL. */
		for (i = 2; i < 272; i++)
			KUNIT_ASSERT_EQ_MSG(test, msg[i],
					    i - 2 < len && i - 2 < 254 ? 'n' : 0,
					    "length %zu, byte %zu", len, i);
	}
}

static void rtrs_wire_get_info_req__each_name_length(struct kunit *test)
{
	u8 *msg = kunit_kzalloc(test, 272, GFP_KERNEL);
	char *name = kunit_kmalloc(test, RTRS_NAME_LEN, GFP_KERNEL);
	size_t len;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, name);
	for (len = 1; len <= 254; len++) {
		memset(msg + 2, 'n', len);
		memset(name, 0xff, RTRS_NAME_LEN);
		KUNIT_ASSERT_EQ(test, rtrs_wire_get_info_req(msg, 272, name), 0);
		KUNIT_ASSERT_EQ(test, strnlen(name, RTRS_NAME_LEN), len);
		KUNIT_ASSERT_EQ(test, memcmp(name, msg + 2, len), 0);
	}
	/* No NUL within the field; what is behind it does not count. */
	msg[2 + 254] = 'n';
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_req(msg, 272, name), -EINVAL);
	memset(msg + 2, 'n', 270);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_req(msg, 272, name), -EINVAL);
}

#define MAX_DESCS	4

struct info_rsp_case {
	const char *name;
	u32 queue_depth;
	u32 chunk_size;
	u16 sg_cnt;
	int ret;
	struct {
		u64 addr;
		u32 len;
	} desc[MAX_DESCS];
};

static const struct info_rsp_case info_rsp_cases[] = {
	{ "one for all", 4, 8192, 1, 0, { { 0x10000, 32768 } } },
	{ "one each", 4, 8192, 4, 0,
	  { { 0x10000, 8192 }, { 0x50000, 8192 }, { 0x30000, 8192 }, { 0x20000, 8192 } } },
	{ "two each", 4, 8192, 2, 0, { { 0x10000, 16384 }, { 0x50000, 16384 } } },
	{ "one slot", 1, 8192, 1, 0, { { 0x10000, 8192 } } },
	{ "uneven but complete", 4, 8192, 2, 0, { { 0x10000, 8192 }, { 0x50000, 24576 } } },
	{ "chunk is no power of two", 3, 135168, 3, 0,
	  { { 0x100000, 135168 }, { 0x200000, 135168 }, { 0x300000, 135168 } } },
	{ "address 0", 1, 8192, 1, 0, { { 0, 8192 } } },
	{ "no descriptors", 4, 8192, 0, -EINVAL, { { 0x10000, 32768 } } },
	{ "three for four slots", 4, 8192, 3, -EINVAL,
	  { { 0x10000, 8192 }, { 0x50000, 8192 }, { 0x30000, 16384 } } },
	{ "more descriptors than slots", 1, 8192, 2, -EINVAL,
	  { { 0x10000, 8192 }, { 0x50000, 8192 } } },
	{ "no slots", 0, 8192, 1, -EINVAL, { { 0x10000, 8192 } } },
	{ "no chunk size", 4, 0, 1, -EINVAL, { { 0x10000, 32768 } } },
	{ "length 0", 4, 8192, 1, -EINVAL, { { 0x10000, 0 } } },
	{ "length 0 among others", 4, 8192, 2, -EINVAL, { { 0x10000, 32768 }, { 0x50000, 0 } } },
	{ "length a byte short", 4, 8192, 1, -EINVAL, { { 0x10000, 32767 } } },
	{ "length a byte long", 4, 8192, 1, -EINVAL, { { 0x10000, 32769 } } },
	{ "length below a chunk", 1, 8192, 1, -EINVAL, { { 0x10000, 4096 } } },
	{ "a chunk missing", 4, 8192, 1, -EINVAL, { { 0x10000, 24576 } } },
	{ "a chunk missing at the end", 4, 8192, 2, -EINVAL,
	  { { 0x10000, 16384 }, { 0x50000, 8192 } } },
	{ "a chunk too many", 4, 8192, 1, -EINVAL, { { 0x10000, 40960 } } },
	{ "a chunk too many at the end", 4, 8192, 2, -EINVAL,
	  { { 0x10000, 16384 }, { 0x50000, 24576 } } },
	{ "first takes all", 4, 8192, 2, -EINVAL, { { 0x10000, 32768 }, { 0x50000, 8192 } } },
	{ "largest length", 4, 8192, 1, -EINVAL, { { 0x10000, 0xffffe000 } } },
	{ "up to the last byte but one chunk", 1, 8192, 1, 0, { { U64_MAX - 16383, 8192 } } },
	{ "address wraps", 1, 8192, 1, -EINVAL, { { U64_MAX - 4095, 8192 } } },
	{ "address wraps to 0", 1, 8192, 1, -EINVAL, { { U64_MAX - 8191, 8192 } } },
	{ "last address wraps", 2, 8192, 2, -EINVAL,
	  { { 0x10000, 8192 }, { U64_MAX - 4095, 8192 } } },
	{ "sum of 4 GiB", 2, 0x80000000, 2, 0, { { 0, 0x80000000 }, { 0, 0x80000000 } } },
	{ "8 GiB wanted, sum is 0 in 32 bits", 4, 0x80000000, 2, -EINVAL,
	  { { 0, 0x80000000 }, { 0, 0x80000000 } } },
};

static void info_rsp_case_desc(const struct info_rsp_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(info_rsp, info_rsp_cases, info_rsp_case_desc);

static u32 case_rkey(u32 desc)
{
	return 0xf0e0d000 + desc;
}

static void check_rbufs(struct kunit *test, const struct info_rsp_case *c,
			const struct rtrs_rbuf *rbufs)
{
	u32 slot = 0, i, pos;

	for (i = 0; i < c->sg_cnt; i++) {
		for (pos = 0; pos < c->desc[i].len; pos += c->chunk_size, slot++) {
			KUNIT_ASSERT_LT(test, slot, c->queue_depth);
			KUNIT_EXPECT_EQ(test, rbufs[slot].addr, c->desc[i].addr + pos);
			KUNIT_EXPECT_EQ(test, rbufs[slot].rkey, case_rkey(i));
		}
	}
	KUNIT_EXPECT_EQ(test, slot, c->queue_depth);
}

static void rtrs_wire_get_info_rsp__table(struct kunit *test)
{
	const struct info_rsp_case *c = test->param_value;
	size_t size = rtrs_wire_info_rsp_size(c->sg_cnt);
	struct rtrs_msg_info_rsp *msg = kunit_kzalloc(test, size, GFP_KERNEL);
	struct rtrs_rbuf *rbufs;
	u32 i;

	/* Exactly as many as there are slots, so that one more is caught. */
	rbufs = kunit_kzalloc(test, c->queue_depth * sizeof(*rbufs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	rtrs_wire_put_info_rsp(msg, c->sg_cnt);
	for (i = 0; i < c->sg_cnt; i++)
		rtrs_wire_put_desc(&msg->desc[i], c->desc[i].addr, case_rkey(i), c->desc[i].len);

	KUNIT_ASSERT_EQ(test, rtrs_wire_get_info_rsp(msg, size, c->queue_depth, c->queue_depth,
						     c->chunk_size, rbufs),
			c->ret ? c->ret : (int)c->queue_depth);
	if (!c->ret)
		check_rbufs(test, c, rbufs);
}

static void rtrs_wire_get_info_rsp__type_and_length(struct kunit *test)
{
	u8 msg[24] = { 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0x20, 0, 0 };
	struct rtrs_rbuf rbuf;

	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 24, 1, 1, 8192, &rbuf), 1);
	KUNIT_EXPECT_EQ(test, rbuf.addr, 0x10000ULL);
	KUNIT_EXPECT_EQ(test, rbuf.rkey, 7U);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 25, 1, 1, 8192, &rbuf), 1);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 23, 1, 1, 8192, &rbuf), -EINVAL);
	msg[4] = msg[5] = msg[6] = msg[7] = 0xff;
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 24, 1, 1, 8192, &rbuf), 1);
	msg[0] = 0;
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 24, 1, 1, 8192, &rbuf), -EINVAL);
	msg[0] = 1;
	msg[1] = 1;
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, 24, 1, 1, 8192, &rbuf), -EINVAL);
}

/* The largest answer there is, one descriptor each for 65535 slots. */
static void rtrs_wire_get_info_rsp__largest(struct kunit *test)
{
	const u32 qd = RTRS_MAX_QUEUE_DEPTH;
	size_t size = rtrs_wire_info_rsp_size(qd);
	struct rtrs_msg_info_rsp *msg = kunit_kmalloc(test, size, GFP_KERNEL);
	struct rtrs_rbuf *rbufs = kunit_kzalloc(test, qd * sizeof(*rbufs), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	KUNIT_EXPECT_EQ(test, size, 8UL + 16 * 65535);
	rtrs_wire_put_info_rsp(msg, qd);
	for (i = 0; i < qd; i++)
		rtrs_wire_put_desc(&msg->desc[i], (u64)i << 20, i, 4096);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_rsp(msg, size - 1, qd, qd, 4096, rbufs), -EINVAL);
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_info_rsp(msg, size, qd, qd, 4096, rbufs), (int)qd);
	for (i = 0; i < qd; i++) {
		KUNIT_ASSERT_EQ(test, rbufs[i].addr, (u64)i << 20);
		KUNIT_ASSERT_EQ(test, rbufs[i].rkey, i);
	}
}

static void rtrs_wire_put_info_rsp__bytes(struct kunit *test)
{
	static const u8 expected[24] = {
		0x01, 0x00, 0x34, 0x12, 0x00, 0x00, 0x00, 0x00,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
		0xd4, 0xc3, 0xb2, 0xa1, 0x78, 0x56, 0x34, 0x12,
	};
	struct rtrs_msg_info_rsp *msg = kunit_kmalloc(test, sizeof(expected), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	memset(msg, 0xff, sizeof(expected));
	rtrs_wire_put_desc(&msg->desc[0], 0x1122334455667788ULL, 0xa1b2c3d4, 0x12345678);
	rtrs_wire_put_info_rsp(msg, 0x1234);
	KUNIT_EXPECT_EQ(test, memcmp(msg, expected, sizeof(expected)), 0);
}

static void rtrs_wire_info_rsp_size__values(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_wire_info_rsp_size(0), 8UL);
	KUNIT_EXPECT_EQ(test, rtrs_wire_info_rsp_size(1), 24UL);
	KUNIT_EXPECT_EQ(test, rtrs_wire_info_rsp_size(512), 8200UL);
	KUNIT_EXPECT_EQ(test, rtrs_wire_info_rsp_size(65535), 1048568UL);
}

static struct kunit_case rtrs_wire_info_cases[] = {
	KUNIT_CASE_PARAM(rtrs_wire_name_valid__table, name_gen_params),
	KUNIT_CASE(rtrs_wire_name_valid__each_length),
	KUNIT_CASE(rtrs_wire_put_info_req__each_length),
	KUNIT_CASE(rtrs_wire_get_info_req__each_name_length),
	KUNIT_CASE_PARAM(rtrs_wire_get_info_rsp__table, info_rsp_gen_params),
	KUNIT_CASE(rtrs_wire_get_info_rsp__type_and_length),
	KUNIT_CASE(rtrs_wire_get_info_rsp__largest),
	KUNIT_CASE(rtrs_wire_put_info_rsp__bytes),
	KUNIT_CASE(rtrs_wire_info_rsp_size__values),
	{}
};

static struct kunit_suite rtrs_wire_info_suite = {
	.name = "rtrs_wire_info",
	.test_cases = rtrs_wire_info_cases,
};

kunit_test_suite(rtrs_wire_info_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS codecs: info exchange");
MODULE_LICENSE("GPL");
