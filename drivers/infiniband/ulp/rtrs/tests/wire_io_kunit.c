// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the codecs of requests (protocol section 5). */
#include <kunit/test.h>
#include "../proto/wire.h"

#define ADDR	0x1122334455667788ULL
#define RKEY	0xa1b2c3d4

static const u8 desc_bytes[16] = {
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	0xd4, 0xc3, 0xb2, 0xa1, 0x00, 0x10, 0x00, 0x00,
};

struct put_case {
	const char *name;
	bool write;
	u32 usr_len;
	bool need_inval;
	bool desc;
	size_t len;
	u8 start[8];
};

static const struct put_case put_cases[] = {
	{ "write", true, 36, false, false, 4, { 2, 0, 36, 0 } },
	{ "write, no user message", true, 0, false, false, 4, { 2, 0, 0, 0 } },
	{ "write, longest", true, 65535, false, false, 4, { 2, 0, 0xff, 0xff } },
	{ "read", false, 0x1234, false, true, 24, { 3, 0, 0x34, 0x12, 0, 0, 1, 0 } },
	{ "read, invalidate", false, 36, true, true, 24, { 3, 0, 36, 0, 1, 0, 1, 0 } },
	{ "read, no data", false, 36, false, false, 8, { 3, 0, 36, 0, 0, 0, 0, 0 } },
	{ "read, nothing to invalidate", false, 36, true, false, 8, { 3, 0, 36, 0, 0, 0, 0, 0 } },
};

static void put_case_desc(const struct put_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(put, put_cases, put_case_desc);

static void rtrs_wire_put_io__each_alignment(struct kunit *test)
{
	const struct put_case *c = test->param_value;
	struct rtrs_sg_desc desc;
	size_t skip, len, i;
	u8 *buf;

	rtrs_wire_put_desc(&desc, ADDR, RKEY, 4096);
	for (skip = 0; skip < 8; skip++) {
		buf = kunit_kmalloc(test, skip + c->len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memset(buf, 0x5a, skip + c->len);
		if (c->write)
			len = rtrs_wire_put_write(buf + skip, c->usr_len);
		else
			len = rtrs_wire_put_read(buf + skip, c->usr_len, c->need_inval,
						 c->desc ? &desc : NULL);
		KUNIT_ASSERT_EQ(test, len, c->len);
		for (i = 0; i < skip; i++)
			KUNIT_EXPECT_EQ(test, buf[i], 0x5a);
		KUNIT_EXPECT_EQ(test, memcmp(buf + skip, c->start, len < 8 ? len : 8), 0);
		if (len > 8)
			KUNIT_EXPECT_EQ(test, memcmp(buf + skip + 8, desc_bytes, 16), 0);
	}
}

struct get_case {
	const char *name;
	u8 hdr[8];
	u32 desc_len;
	size_t avail;
	u32 off;
	int ret;
	struct rtrs_io_hdr io;
};

#define WRITE_IO(_usr, _data)	{ .write = true, .usr_len = _usr, .data_len = _data }
#define READ_IO(_usr, _data, _inval, _len)						\
	{ .need_inval = _inval, .has_desc = true, .usr_len = _usr, .data_len = _data,	\
	  .len = _len, .rkey = RKEY, .addr = ADDR }
/* What an error answer needs: the key, and whether to invalidate it. */
#define BAD_READ_IO(_inval)	{ .need_inval = _inval, .has_desc = true, .rkey = RKEY }

static const struct get_case get_cases[] = {
	{ "write", { 2, 0, 36, 0 }, 0, 4, 4132, 0, WRITE_IO(36, 4096) },
	{ "write, no data", { 2, 0, 36, 0 }, 0, 4, 36, 0, WRITE_IO(36, 0) },
	{ "write, no user message", { 2, 0, 0, 0 }, 0, 4, 4096, 0, WRITE_IO(0, 4096) },
	{ "write, nothing at all", { 2, 0, 0, 0 }, 0, 4, 0, 0, WRITE_IO(0, 0) },
	{ "write, longest user message", { 2, 0, 0xff, 0xff }, 0, 4, 65535, 0, WRITE_IO(65535, 0) },
	{ "write, highest offset", { 2, 0, 1, 0 }, 0, 4, 0xffffffff, 0, WRITE_IO(1, 0xfffffffe) },
	{ "write, more available", { 2, 0, 36, 0 }, 0, 24, 4132, 0, WRITE_IO(36, 4096) },
	{ "write, user message too long", { 2, 0, 37, 0 }, 0, 4, 36, -EINVAL, { .write = true } },
	{ "write at the start with user message", { 2, 0, 1, 0 }, 0, 4, 0, -EINVAL,
	  { .write = true } },
	{ "write, one byte of type", { 2 }, 0, 1, 36, -EPROTO, {} },
	{ "write, type only", { 2, 0 }, 0, 2, 36, -EPROTO, {} },
	{ "write, cut", { 2, 0, 36 }, 0, 3, 36, -EPROTO, {} },
	{ "nothing", {}, 0, 0, 36, -EPROTO, {} },
	{ "other type", { 5, 0, 36, 0 }, 0, 24, 4132, -EPROTO, {} },
	{ "info request", { 0, 0, 36, 0 }, 0, 24, 4132, -EPROTO, {} },
	{ "rkey response", { 4, 0, 36, 0 }, 0, 24, 4132, -EPROTO, {} },
	{ "type with a high byte", { 2, 1, 36, 0 }, 0, 24, 4132, -EPROTO, {} },
	{ "read", { 3, 0, 36, 0, 0, 0, 1 }, 4096, 24, 4132, 0, READ_IO(36, 4096, false, 4096) },
	{ "read, invalidate", { 3, 0, 36, 0, 1, 0, 1 }, 4096, 24, 4132, 0,
	  READ_IO(36, 4096, true, 4096) },
	{ "read, flags not known", { 3, 0, 36, 0, 0xfe, 0xff, 1 }, 4096, 24, 4132, 0,
	  READ_IO(36, 4096, false, 4096) },
	{ "read, less than the room", { 3, 0, 36, 0, 0, 0, 1 }, 1, 24, 4132, 0,
	  READ_IO(36, 4096, false, 1) },
	{ "read, no data", { 3, 0, 36, 0 }, 0, 8, 36, 0, { .usr_len = 36 } },
	{ "read, no descriptor, but room", { 3, 0, 36, 0 }, 0, 8, 4132, 0,
	  { .usr_len = 36, .data_len = 4096 } },
	{ "read, nothing to invalidate", { 3, 0, 36, 0, 1 }, 0, 8, 36, 0, { .usr_len = 36 } },
	{ "read, no descriptor, user message too long", { 3, 0, 37, 0, 1 }, 0, 8, 36, -EINVAL, {} },
	{ "read, user message too long", { 3, 0, 37, 0, 1, 0, 1 }, 4096, 24, 36, -EINVAL,
	  BAD_READ_IO(true) },
	{ "read, user message too long, keep the key", { 3, 0, 37, 0, 0, 0, 1 }, 4096, 24, 36,
	  -EINVAL, BAD_READ_IO(false) },
	{ "read, length 0", { 3, 0, 36, 0, 1, 0, 1 }, 0, 24, 4132, -EINVAL, BAD_READ_IO(true) },
	{ "read, length a byte above the room", { 3, 0, 36, 0, 1, 0, 1 }, 4097, 24, 4132, -EINVAL,
	  BAD_READ_IO(true) },
	{ "read, length into the user message", { 3, 0, 36, 0, 1, 0, 1 }, 4132, 24, 4132, -EINVAL,
	  BAD_READ_IO(true) },
	{ "read, no room", { 3, 0, 36, 0, 1, 0, 1 }, 1, 24, 36, -EINVAL, BAD_READ_IO(true) },
	{ "read, largest length", { 3, 0, 36, 0, 1, 0, 1 }, 0xffffffff, 24, 4132, -EINVAL,
	  BAD_READ_IO(true) },
	{ "read, two descriptors", { 3, 0, 36, 0, 1, 0, 2 }, 4096, 24, 4132, -EINVAL, {} },
	{ "read, 257 descriptors", { 3, 0, 36, 0, 1, 0, 1, 1 }, 4096, 24, 4132, -EINVAL, {} },
	{ "read, two descriptors, one of them available", { 3, 0, 36, 0, 1, 0, 2 }, 4096, 8, 4132,
	  -EINVAL, {} },
	{ "read, header cut", { 3, 0, 36, 0, 1, 0, 1 }, 4096, 7, 4132, -EPROTO, {} },
	{ "read, descriptor cut", { 3, 0, 36, 0, 1, 0, 1 }, 4096, 23, 4132, -EPROTO, {} },
	{ "read, descriptor missing", { 3, 0, 36, 0, 1, 0, 1 }, 4096, 8, 4132, -EPROTO, {} },
};

static void get_case_desc(const struct get_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(get, get_cases, get_case_desc);

static void expect_io(struct kunit *test, const struct rtrs_io_hdr *io,
		      const struct rtrs_io_hdr *expected)
{
	KUNIT_EXPECT_EQ(test, io->write, expected->write);
	KUNIT_EXPECT_EQ(test, io->need_inval, expected->need_inval);
	KUNIT_EXPECT_EQ(test, io->has_desc, expected->has_desc);
	KUNIT_EXPECT_EQ(test, io->usr_len, expected->usr_len);
	KUNIT_EXPECT_EQ(test, io->data_len, expected->data_len);
	KUNIT_EXPECT_EQ(test, io->len, expected->len);
	KUNIT_EXPECT_EQ(test, io->rkey, expected->rkey);
	KUNIT_EXPECT_EQ(test, io->addr, expected->addr);
}

static void rtrs_wire_get_io_hdr__table(struct kunit *test)
{
	const struct get_case *c = test->param_value;
	u8 *buf = kunit_kmalloc(test, c->avail, GFP_KERNEL);
	struct rtrs_sg_desc desc;
	struct rtrs_io_hdr io;
	u8 all[24];

	KUNIT_ASSERT_NOT_NULL(test, buf);
	rtrs_wire_put_desc(&desc, ADDR, RKEY, c->desc_len);
	memcpy(all, c->hdr, 8);
	memcpy(all + 8, &desc, 16);
	memcpy(buf, all, c->avail);
	memset(&io, 0xff, sizeof(io));
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_io_hdr(buf, c->avail, c->off, &io), c->ret);
	expect_io(test, &io, &c->io);
}

/* Where user message and result meet: all combinations around the edges. */
static void rtrs_wire_get_io_hdr__edges(struct kunit *test)
{
	struct rtrs_sg_desc desc;
	struct rtrs_io_hdr io;
	u32 off, usr, len;
	u8 hdr[24];
	int ret;

	for (off = 0; off <= 12; off++) {
		for (usr = 0; usr <= 14; usr++) {
			rtrs_wire_put_write(hdr, usr);
			ret = rtrs_wire_get_io_hdr(hdr, 4, off, &io);
			KUNIT_ASSERT_EQ(test, ret, usr <= off ? 0 : -EINVAL);
			for (len = 0; len <= 14; len++) {
				rtrs_wire_put_desc(&desc, ADDR, RKEY, len);
				rtrs_wire_put_read(hdr, usr, true, &desc);
				ret = rtrs_wire_get_io_hdr(hdr, 24, off, &io);
				KUNIT_ASSERT_EQ_MSG(test, ret, len && usr + len <= off ? 0 : -EINVAL,
						    "offset %u, user message %u, length %u",
						    off, usr, len);
				KUNIT_ASSERT_TRUE(test, io.has_desc && io.need_inval);
				KUNIT_ASSERT_EQ(test, io.rkey, RKEY);
			}
		}
	}
}

static void rtrs_wire_get_io_hdr__max_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, RTRS_MAX_IO_HDR_BYTES, 24UL);
}

/* It is what is encoded, for each kind of header. */
static void rtrs_wire_io_len__is_what_is_put(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 488, 508, 4072, 4073, 4092, 4096, 65535 };
	struct rtrs_sg_desc desc;
	u8 hdr[RTRS_MAX_IO_HDR_BYTES];
	int i;

	rtrs_wire_put_desc(&desc, ADDR, RKEY, 512);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		KUNIT_EXPECT_EQ(test, rtrs_wire_io_len(true, false, lens[i]), lens[i] + rtrs_wire_put_write(hdr, lens[i]));
		KUNIT_EXPECT_EQ(test, rtrs_wire_io_len(true, true, lens[i]), lens[i] + rtrs_wire_put_write(hdr, lens[i]));
		KUNIT_EXPECT_EQ(test, rtrs_wire_io_len(false, false, lens[i]),
				lens[i] + rtrs_wire_put_read(hdr, lens[i], false, NULL));
		KUNIT_EXPECT_EQ(test, rtrs_wire_io_len(false, true, lens[i]),
				lens[i] + rtrs_wire_put_read(hdr, lens[i], true, &desc));
	}
}

/* A sum that does not fit is longer than any room. */
static void rtrs_wire_io_len__no_overflow(struct kunit *test)
{
	size_t len;

	for (len = SIZE_MAX - 64; len; len++) {
		KUNIT_ASSERT_GE(test, rtrs_wire_io_len(true, false, len), len);
		KUNIT_ASSERT_GE(test, rtrs_wire_io_len(false, true, len), len);
	}
}

static struct kunit_case rtrs_wire_io_cases[] = {
	KUNIT_CASE(rtrs_wire_io_len__is_what_is_put),
	KUNIT_CASE(rtrs_wire_io_len__no_overflow),
	KUNIT_CASE_PARAM(rtrs_wire_put_io__each_alignment, put_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get_io_hdr__table, get_gen_params),
	KUNIT_CASE(rtrs_wire_get_io_hdr__edges),
	KUNIT_CASE(rtrs_wire_get_io_hdr__max_size),
	{}
};

static struct kunit_suite rtrs_wire_io_suite = {
	.name = "rtrs_wire_io",
	.test_cases = rtrs_wire_io_cases,
};

kunit_test_suite(rtrs_wire_io_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS codecs: requests");
MODULE_LICENSE("GPL");
