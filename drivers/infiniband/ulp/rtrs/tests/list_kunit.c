// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the list of requests (extension REQ_LIST). */
#include <kunit/test.h>
#include "../proto/imm.h"
#include "../proto/wire.h"

#define ADDR	0x1122334455667788ULL
#define RKEY	0xa1b2c3d4

/* Slot 7: four bytes of user message, 4096 bytes of data.  Slot 300: no user message, no data. */
static const u8 two[] = {
	5, 0, 2, 0, 60, 0, 0, 0,
	7, 0, 4, 0, 4, 0x10, 0, 0,
	0x2c, 1, 0, 0, 0, 0, 0, 0,
	'u', 's', 'e', 'r',
	3, 0, 4, 0, 0, 0, 1, 0,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xd4, 0xc3, 0xb2, 0xa1, 0, 0x10, 0, 0,
	3, 0, 0, 0, 0, 0, 0, 0,
};

static void put__bytes(struct kunit *test)
{
	struct rtrs_msg_req_list *list;
	struct rtrs_sg_desc desc;
	size_t len;
	u8 *buf;

	buf = kunit_kmalloc(test, sizeof(two), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(buf, 0x5a, sizeof(two));
	list = (void *)buf;
	KUNIT_ASSERT_EQ(test, rtrs_list_table_bytes(2), (size_t)24);
	rtrs_list_put_entry(list, 0, 7, 4, 4100);
	rtrs_list_put_entry(list, 1, 300, 0, 0);
	len = rtrs_list_table_bytes(2);
	memcpy(buf + len, "user", 4);
	rtrs_wire_put_desc(&desc, ADDR, RKEY, 4096);
	len += 4 + rtrs_wire_put_read(buf + len + 4, 4, false, &desc);
	len += rtrs_wire_put_read(buf + len, 0, false, NULL);
	rtrs_list_put(list, 2, len);
	KUNIT_ASSERT_EQ(test, len, sizeof(two));
	KUNIT_EXPECT_EQ(test, memcmp(buf, two, len), 0);
}

static void get__each_alignment(struct kunit *test)
{
	struct rtrs_req_list list;
	struct rtrs_list_req req;
	size_t skip;
	u32 len;
	u8 *buf;

	for (skip = 0; skip < 8; skip++) {
		buf = kunit_kmalloc(test, skip + sizeof(two), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + skip, two, sizeof(two));
		KUNIT_ASSERT_EQ(test, rtrs_list_get_len(buf + skip, 4096, &len), 0);
		KUNIT_ASSERT_EQ(test, len, (u32)sizeof(two));
		KUNIT_ASSERT_EQ(test, rtrs_list_get(buf + skip, len, &list), 0);
		KUNIT_ASSERT_EQ(test, rtrs_list_next(&list, &req), 1);
		KUNIT_EXPECT_EQ(test, req.slot, 7U);
		KUNIT_EXPECT_EQ(test, req.off, 4100U);
		KUNIT_EXPECT_EQ(test, req.error, 0);
		KUNIT_EXPECT_EQ(test, memcmp(req.usr, "user", 4), 0);
		KUNIT_EXPECT_FALSE(test, req.hdr.write);
		KUNIT_EXPECT_EQ(test, req.hdr.usr_len, 4U);
		KUNIT_EXPECT_EQ(test, req.hdr.data_len, 4096U);
		KUNIT_EXPECT_EQ(test, req.hdr.len, 4096U);
		KUNIT_EXPECT_EQ(test, req.hdr.addr, ADDR);
		KUNIT_EXPECT_EQ(test, req.hdr.rkey, (u32)RKEY);
		KUNIT_ASSERT_EQ(test, rtrs_list_next(&list, &req), 1);
		KUNIT_EXPECT_EQ(test, req.slot, 300U);
		KUNIT_EXPECT_EQ(test, req.off, 0U);
		KUNIT_EXPECT_EQ(test, req.hdr.usr_len, 0U);
		KUNIT_EXPECT_FALSE(test, req.hdr.has_desc);
		KUNIT_EXPECT_EQ(test, rtrs_list_next(&list, &req), 0);
		KUNIT_EXPECT_EQ(test, rtrs_list_next(&list, &req), 0);
	}
}

struct broken_case {
	const char *name;
	size_t at;		/* which byte is another one */
	u8 value;
	size_t len;		/* 0: all */
	int good;		/* requests before the list is found broken; -1: at once */
	int error;		/* of the last good one */
};

static const struct broken_case broken_cases[] = {
	{ "nothing is", 0, 5, 0, 2, 0 },
	{ "type", 0, 4, 0, -1 },
	{ "type, upper byte", 1, 1, 0, -1 },
	{ "no request", 2, 0, 0, -1 },
	{ "17 requests", 2, 17, 0, -1 },
	{ "256 more of them", 3, 1, 0, -1 },
	{ "one request, and more behind it", 2, 1, 0, 0 },
	{ "three requests", 2, 3, 0, 0 },
	{ "length less than the table", 4, 23, 0, -1 },
	{ "length just the table", 4, 24, 24, 0 },
	{ "length of 64 KiB more", 6, 1, 0, -1 },
	{ "a byte missing at the end", 4, 59, 59, 1 },
	{ "cut in the first descriptor", 4, 51, 51, 0 },
	{ "cut in the first header", 4, 35, 35, 0 },
	{ "cut in the first user message", 4, 27, 27, 0 },
	{ "user message of another length than the header says", 10, 5, 0, 0 },
	{ "user message beyond the list", 10, 37, 0, 0 },
	{ "user message of 64 KiB", 11, 0xff, 0, 0 },
	{ "header of another length than the user message has", 30, 3, 0, 0 },
	{ "no READ", 28, 2, 0, 0 },
	{ "two descriptors", 34, 2, 0, 0 },
	{ "no descriptor, and one behind it", 34, 0, 0, 1 },
	{ "data beyond the offset", 13, 0x0f, 0, 2, -EINVAL },
	{ "offset in the user message", 13, 0, 0, 2, -EINVAL },
	{ "second one: no READ", 52, 1, 0, 1 },
	{ "second one: a descriptor that is not there", 58, 1, 0, 1 },
	{ "second one: user message that is not there", 18, 1, 0, 1 },
};

static void broken_case_desc(const struct broken_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(broken, broken_cases, broken_case_desc);

/* On memory of just the length, so that a sanitizer sees what is read beyond. */
static void get__broken(struct kunit *test)
{
	const struct broken_case *c = test->param_value;
	size_t len = c->len ? c->len : sizeof(two);
	struct rtrs_req_list list;
	struct rtrs_list_req req;
	int ret, good = 0, error = 0;
	u8 *buf;

	buf = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, two, len);
	buf[c->at] = c->value;
	if (c->good < 0) {
		KUNIT_EXPECT_EQ(test, rtrs_list_get(buf, len, &list), -EPROTO);
		return;
	}
	KUNIT_ASSERT_EQ(test, rtrs_list_get(buf, len, &list), 0);
	while ((ret = rtrs_list_next(&list, &req)) > 0) {
		good++;
		error = req.error ? req.error : error;
	}
	KUNIT_EXPECT_EQ(test, good, c->good);
	KUNIT_EXPECT_EQ(test, ret, c->good == 2 ? 0 : -EPROTO);
	if (c->good == 2)
		KUNIT_EXPECT_EQ(test, error, c->error);
}

static void get__byte_behind_the_last_one(struct kunit *test)
{
	struct rtrs_req_list list;
	struct rtrs_list_req req;
	u8 *buf;

	buf = kunit_kzalloc(test, sizeof(two) + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, two, sizeof(two));
	/* It does not belong to the list: who copied it has to have asked for the length. */
	KUNIT_EXPECT_EQ(test, rtrs_list_get(buf, sizeof(two) + 1, &list), -EPROTO);
	/* It does. */
	buf[4]++;
	KUNIT_ASSERT_EQ(test, rtrs_list_get(buf, sizeof(two) + 1, &list), 0);
	KUNIT_EXPECT_EQ(test, rtrs_list_next(&list, &req), 1);
	KUNIT_EXPECT_EQ(test, rtrs_list_next(&list, &req), 1);
	KUNIT_EXPECT_EQ(test, rtrs_list_next(&list, &req), -EPROTO);
}

static void get_len__limits(struct kunit *test)
{
	u8 buf[8] = { 5, 0, 16, 0, 0, 8, 0, 0 };
	u32 len = 0, avail;

	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 4096, &len), 0);
	KUNIT_EXPECT_EQ(test, len, (u32)RTRS_REQ_LIST_MAX_BYTES);
	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 2048, &len), 0);
	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 2047, &len), -EPROTO);
	buf[4] = 1;
	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 4096, &len), -EPROTO);
	buf[4] = 136;
	buf[5] = 0;
	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 4096, &len), 0);
	KUNIT_EXPECT_EQ(test, len, 136U);
	buf[4] = 135;
	KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, 4096, &len), -EPROTO);
	for (avail = 0; avail < 8; avail++)
		KUNIT_EXPECT_EQ(test, rtrs_list_get_len(buf, avail, &len), -EPROTO);
	/* As many bytes as there are, but not those of the list. */
	KUNIT_EXPECT_EQ(test, rtrs_list_get(two, sizeof(two) - 1, &(struct rtrs_req_list){}), -EPROTO);
}

static void imm__layout(struct kunit *test)
{
	u32 slot, off;

	KUNIT_EXPECT_EQ(test, rtrs_imm_io_req_list(5, 0x12345, 19), 0xf0292345U);
	KUNIT_EXPECT_EQ(test, rtrs_imm_type(0xf0292345), (u32)RTRS_IMM_IO_REQ_LIST);
	rtrs_imm_io_req_decode(0xf0292345, 19, &slot, &off);
	KUNIT_EXPECT_EQ(test, slot, 5U);
	KUNIT_EXPECT_EQ(test, off, 0x12345U);
}

static struct kunit_case list_cases[] = {
	KUNIT_CASE(put__bytes),
	KUNIT_CASE(get__each_alignment),
	KUNIT_CASE_PARAM(get__broken, broken_gen_params),
	KUNIT_CASE(get__byte_behind_the_last_one),
	KUNIT_CASE(get_len__limits),
	KUNIT_CASE(imm__layout),
	{}
};

static struct kunit_suite list_suite = {
	.name = "rtrs_list",
	.test_cases = list_cases,
};

kunit_test_suite(list_suite);

MODULE_DESCRIPTION("KUnit tests of lists of RTRS requests");
MODULE_LICENSE("GPL");
