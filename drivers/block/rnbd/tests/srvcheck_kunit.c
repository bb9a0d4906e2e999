// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of the server (proto/srvcheck.c).  The decoders are fed from memory of exactly the length
 * they are told, so that a sanitizer sees any read behind it.
 */
#include <kunit/test.h>
#include "../proto/opmap.h"
#include "../proto/srvcheck.h"

#define DATA_ROOM	4096

/* Copy of the first @len bytes of @msg in memory of its own. */
static void *exact_copy(struct kunit *test, const void *msg, size_t len)
{
	return memcpy(kunit_kmalloc(test, len, GFP_KERNEL), msg, len);
}

/* Decoders on the first @len bytes of a message; what the first two find is dropped. */
static enum rnbd_srv_verdict cut_sess_info(struct kunit *test, const void *msg, size_t len)
{
	u8 ver;

	return rnbd_srv_get_sess_info(exact_copy(test, msg, len), len, DATA_ROOM, &ver);
}

static enum rnbd_srv_verdict cut_close(struct kunit *test, const void *msg, size_t len)
{
	u32 id;

	return rnbd_srv_get_close(exact_copy(test, msg, len), len, &id);
}

/* This one's finding counts: messages name what was asked for even if it is refused. */
static enum rnbd_srv_verdict cut_open(struct kunit *test, const void *msg, size_t len,
				      struct rnbd_srv_open_req *req)
{
	memset(req, 0xa5, sizeof(*req));
	return rnbd_srv_get_open(exact_copy(test, msg, len), len, DATA_ROOM, req);
}

static void put_io(struct rnbd_msg_io *msg, u32 rw, u64 sector, u32 bytes)
{
	/* What clients leave uninitialised must not matter. */
	memset(msg, 0xa5, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_IO);
	msg->device_id = cpu_to_le32(7);
	msg->sector = cpu_to_le64(sector);
	msg->rw = cpu_to_le32(rw);
	msg->bi_size = cpu_to_le32(bytes);
	msg->prio = cpu_to_le16(0x4003);
}

static void put_open(struct rnbd_msg_open *msg, const char *name, u8 access_mode)
{
	memset(msg, 0xa5, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_OPEN);
	msg->access_mode = access_mode;
	memcpy(msg->dev_name, name, strlen(name) + 1);
}

/* ------------------------------------------------------------------------------- message types */

static void msg_type__needs_a_header(struct kunit *test)
{
	struct rnbd_msg_hdr hdr = { cpu_to_le16(RNBD_MSG_CLOSE), cpu_to_le16(0xffff) };
	size_t len;

	for (len = 0; len < sizeof(hdr); len++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_msg_type(exact_copy(test, &hdr, len), len), -EINVAL);
	KUNIT_EXPECT_EQ(test, rnbd_srv_msg_type(&hdr, sizeof(hdr)), RNBD_MSG_CLOSE);
	hdr.type = cpu_to_le16(0xffff);
	KUNIT_EXPECT_EQ(test, rnbd_srv_msg_type(&hdr, sizeof(hdr)), 0xffff);
}

/* ----------------------------------------------------------------------------------- SESS_INFO */

static void sess_info__version_is_the_smaller(struct kunit *test)
{
	static const u8 vers[][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 255, 2 } };
	struct rnbd_msg_sess_info msg;
	size_t i;
	u8 ver;

	memset(&msg, 0xa5, sizeof(msg));
	for (i = 0; i < ARRAY_SIZE(vers); i++) {
		msg.ver = vers[i][0];
		KUNIT_EXPECT_EQ(test, rnbd_srv_get_sess_info(&msg, sizeof(msg), 36, &ver),
				RNBD_SRV_OK);
		KUNIT_EXPECT_EQ(test, ver, vers[i][1]);
	}
}

static void sess_info__lengths(struct kunit *test)
{
	struct rnbd_msg_sess_info msg = { .ver = 2 };
	size_t len;
	u8 ver;

	for (len = 0; len < 5; len++)
		KUNIT_EXPECT_EQ(test, cut_sess_info(test, &msg, len), RNBD_SRV_BAD_LENGTH);
	for (; len <= sizeof(msg); len++)
		KUNIT_EXPECT_EQ(test, cut_sess_info(test, &msg, len), RNBD_SRV_OK);
	for (len = 0; len < 36; len++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_get_sess_info(&msg, sizeof(msg), len, &ver),
				RNBD_SRV_NO_ROOM);
}

static void sess_info__response_bytes(struct kunit *test)
{
	u8 data[40];
	size_t i;

	memset(data, 0xa5, sizeof(data));
	rnbd_srv_put_sess_info_rsp(data, 2);
	KUNIT_EXPECT_EQ(test, data[0], 1);
	KUNIT_EXPECT_EQ(test, data[4], 2);
	for (i = 1; i < 36; i++)
		if (i != 4)
			KUNIT_EXPECT_EQ(test, data[i], 0);
	KUNIT_EXPECT_EQ(test, data[36], 0xa5);
}

/* ---------------------------------------------------------------------------------------- OPEN */

struct open_case {
	const char *desc;
	const char *name;
	u8 access_mode;
	enum rnbd_srv_verdict want;
};

static const struct open_case open_cases[] = {
	{ "plain",		"sda",		RNBD_ACCESS_RW,		RNBD_SRV_OK },
	{ "read only",		"dev/ram0",	RNBD_ACCESS_RO,		RNBD_SRV_OK },
	{ "migration",		"/dev/ram0",	RNBD_ACCESS_MIGRATION,	RNBD_SRV_OK },
	{ "single dots",	"./a.b/.c",	RNBD_ACCESS_RW,		RNBD_SRV_OK },
	{ "blank inside",	"a b",		RNBD_ACCESS_RW,		RNBD_SRV_OK },
	{ "empty",		"",		RNBD_ACCESS_RW,		RNBD_SRV_BAD_NAME },
	{ "parent first",	"../sda",	RNBD_ACCESS_RW,		RNBD_SRV_BAD_NAME },
	{ "parent inside",	"a/../b",	RNBD_ACCESS_RW,		RNBD_SRV_BAD_NAME },
	{ "parent last",	"a/..",		RNBD_ACCESS_RW,		RNBD_SRV_BAD_NAME },
	{ "dots in a word",	"a..b",		RNBD_ACCESS_RW,		RNBD_SRV_BAD_NAME },
	{ "mode 3",		"sda",		3,			RNBD_SRV_BAD_MODE },
	{ "mode 255",		"sda",		255,			RNBD_SRV_BAD_MODE },
};

static void open_case_desc(const struct open_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(open, open_cases, open_case_desc);

static void open__names_and_modes(struct kunit *test)
{
	const struct open_case *c = test->param_value;
	struct rnbd_srv_open_req req;
	struct rnbd_msg_open msg;

	put_open(&msg, c->name, c->access_mode);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), DATA_ROOM, &req), c->want);
	KUNIT_EXPECT_STREQ(test, req.name, c->name);
	KUNIT_EXPECT_EQ(test, req.access_mode, c->access_mode);
}

static void open__name_must_end_within_what_came(struct kunit *test)
{
	struct rnbd_srv_open_req req;
	struct rnbd_msg_open msg;
	size_t len;

	put_open(&msg, "abc", RNBD_ACCESS_RW);
	for (len = 0; len <= 6; len++) {
		KUNIT_EXPECT_EQ(test, cut_open(test, &msg, len, &req), RNBD_SRV_BAD_LENGTH);
		KUNIT_EXPECT_STREQ(test, req.name, "");
	}
	for (; len <= 9; len++) {
		KUNIT_EXPECT_EQ(test, cut_open(test, &msg, len, &req), RNBD_SRV_BAD_NAME);
		KUNIT_EXPECT_EQ(test, strlen(req.name), len - 6);
		KUNIT_EXPECT_EQ(test, memcmp(req.name, "abc", len - 6), 0);
	}
	for (; len <= sizeof(msg); len++) {
		KUNIT_EXPECT_EQ(test, cut_open(test, &msg, len, &req), RNBD_SRV_OK);
		KUNIT_EXPECT_STREQ(test, req.name, "abc");
	}
}

static void open__longest_name(struct kunit *test)
{
	struct rnbd_srv_open_req req;
	struct rnbd_msg_open msg;

	put_open(&msg, "", RNBD_ACCESS_RW);
	memset(msg.dev_name, 'x', sizeof(msg.dev_name));
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), DATA_ROOM, &req),
			RNBD_SRV_BAD_NAME);
	KUNIT_EXPECT_EQ(test, strlen(req.name), 254);

	/* A NUL behind the field does not end the name. */
	memset(msg.reserved2, 0, sizeof(msg.reserved2));
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), DATA_ROOM, &req),
			RNBD_SRV_BAD_NAME);

	msg.dev_name[254] = '\0';
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), DATA_ROOM, &req), RNBD_SRV_OK);
	KUNIT_EXPECT_EQ(test, strlen(req.name), 254);
}

static void open__longer_message_is_fine(struct kunit *test)
{
	struct rnbd_srv_open_req req;
	u8 buf[sizeof(struct rnbd_msg_open) + 8] = {};

	put_open((struct rnbd_msg_open *)buf, "sda", RNBD_ACCESS_RO);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(buf, sizeof(buf), DATA_ROOM, &req), RNBD_SRV_OK);
}

static void open__needs_room(struct kunit *test)
{
	struct rnbd_srv_open_req req;
	struct rnbd_msg_open msg;
	size_t room;

	put_open(&msg, "sda", RNBD_ACCESS_RW);
	for (room = 0; room < 56; room++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), room, &req),
				RNBD_SRV_NO_ROOM);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_open(&msg, sizeof(msg), 56, &req), RNBD_SRV_OK);
}

static void open__any_flipped_bit_is_survived(struct kunit *test)
{
	struct rnbd_srv_open_req req;
	struct rnbd_msg_open msg;
	size_t bit;

	for (bit = 0; bit < 8 * sizeof(msg); bit++) {
		put_open(&msg, "dev/ram0", RNBD_ACCESS_RW);
		((u8 *)&msg)[bit / 8] ^= 1 << bit % 8;
		rnbd_srv_get_open(&msg, sizeof(msg), DATA_ROOM, &req);
		KUNIT_EXPECT_LT(test, strnlen(req.name, sizeof(req.name)), sizeof(req.name));
	}
}

/* --------------------------------------------------------------------------------------- CLOSE */

static void close__lengths(struct kunit *test)
{
	struct rnbd_msg_close msg = { .device_id = cpu_to_le32(0x12345678) };
	size_t len;
	u32 id;

	for (len = 0; len < sizeof(msg); len++)
		KUNIT_EXPECT_EQ(test, cut_close(test, &msg, len), RNBD_SRV_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_close(&msg, sizeof(msg), &id), RNBD_SRV_OK);
	KUNIT_EXPECT_EQ(test, id, 0x12345678);
}

/* ------------------------------------------------------------------------------------------ IO */

struct io_case {
	const char *desc;
	u32 rw;
	u32 bytes;
	u32 data_len;
	bool payload;
	enum rnbd_srv_verdict want;
};

static const struct io_case io_cases[] = {
	{ "read",			0x100, 4096, 4096, false,	RNBD_SRV_OK },
	{ "read, no data",		0x100, 4096, 0, false,		RNBD_SRV_BAD_DATA },
	{ "read, less data",		0x100, 4096, 512, false,	RNBD_SRV_BAD_DATA },
	{ "read, more data",		0x100, 512, 4096, false,	RNBD_SRV_BAD_DATA },
	{ "async write",		0x001, 512, 512, true,		RNBD_SRV_OK },
	{ "sync write",			0x101, 512, 512, true,		RNBD_SRV_OK },
	{ "fua write",			0x301, 512, 512, true,		RNBD_SRV_OK },
	{ "read with payload",		0x100, 4096, 4096, true,	RNBD_SRV_BAD_DIR },
	{ "write without payload",	0x001, 512, 512, false,		RNBD_SRV_BAD_DIR },
	{ "flush, room for nothing",	0x302, 0, 0, false,		RNBD_SRV_OK },
	{ "discard, room for nothing",	0x003, 4096, 0, false,		RNBD_SRV_OK },
	{ "write, no data",		0x001, 512, 0, true,		RNBD_SRV_BAD_DATA },
	{ "flush",			0x302, 0, 0, true,		RNBD_SRV_OK },
	{ "flush with data",		0x302, 512, 512, true,		RNBD_SRV_BAD_DATA },
	{ "flush with data only",	0x302, 0, 512, true,		RNBD_SRV_BAD_DATA },
	{ "flush with bytes only",	0x302, 512, 0, true,		RNBD_SRV_BAD_DATA },
	{ "discard",			0x003, 1 << 20, 0, true,	RNBD_SRV_OK },
	{ "discard with data",		0x003, 4096, 4096, true,	RNBD_SRV_BAD_DATA },
	{ "secure erase",		0x004, 1 << 20, 0, true,	RNBD_SRV_OK },
	{ "secure erase with data",	0x004, 4096, 4096, true,	RNBD_SRV_BAD_DATA },
	{ "write zeroes",		0x005, 1 << 20, 0, true,	RNBD_SRV_OK },
	{ "write zeroes with data",	0x005, 4096, 4096, true,	RNBD_SRV_BAD_DATA },
	{ "operation 6",		0x006, 4096, 4096, false,	RNBD_SRV_BAD_OP },
	{ "operation 255",		0x0ff, 4096, 0, false,		RNBD_SRV_BAD_OP },
	{ "unknown flags",		0xfffffc00, 4096, 4096, false,	RNBD_SRV_OK },
};

static void io_case_desc(const struct io_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(io, io_cases, io_case_desc);

static void io__operation_and_data(struct kunit *test)
{
	const struct io_case *c = test->param_value;
	struct rnbd_srv_io_req req;
	struct rnbd_msg_io msg;

	put_io(&msg, c->rw, 24, c->bytes);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_io(&msg, sizeof(msg), c->data_len, c->payload, 2,
					      &req), c->want);
	KUNIT_EXPECT_EQ(test, req.device_id, 7);
	KUNIT_EXPECT_EQ(test, req.op, c->rw & 0xff);
	KUNIT_EXPECT_EQ(test, req.bytes, c->bytes);
	if (c->want == RNBD_SRV_OK)
		KUNIT_EXPECT_EQ(test, req.sector, req.op == RNBD_OP_FLUSH ? 0 : 24);
}

static void io__flags(struct kunit *test)
{
	struct rnbd_srv_io_req req;
	struct rnbd_msg_io msg;
	u32 op;

	for (op = 0; op < RNBD_OP__NR; op++) {
		put_io(&msg, op | RNBD_F_FUA | RNBD_F_SYNC | RNBD_F_PREFLUSH | RNBD_F_NOUNMAP, 0, 0);
		rnbd_srv_get_io(&msg, sizeof(msg), 0, true, 2, &req);
		KUNIT_EXPECT_TRUE(test, req.sync);
		KUNIT_EXPECT_EQ(test, req.fua, op == RNBD_OP_WRITE);
		KUNIT_EXPECT_EQ(test, req.preflush, op == RNBD_OP_WRITE);
		KUNIT_EXPECT_EQ(test, req.nounmap, op == RNBD_OP_WRITE_ZEROES);

		put_io(&msg, op, 0, 0);
		rnbd_srv_get_io(&msg, sizeof(msg), 0, true, 2, &req);
		KUNIT_EXPECT_FALSE(test, req.sync);
		KUNIT_EXPECT_FALSE(test, req.fua);
		KUNIT_EXPECT_FALSE(test, req.preflush);
		KUNIT_EXPECT_FALSE(test, req.nounmap);
	}
}

static void io__lengths_and_priority(struct kunit *test)
{
	struct rnbd_srv_io_req req;
	struct rnbd_msg_io msg;
	size_t len;

	put_io(&msg, RNBD_OP_READ, 8, 4096);
	for (len = 0; len < 24; len++)
		KUNIT_EXPECT_EQ(test,
				rnbd_srv_get_io(exact_copy(test, &msg, len), len, 4096, false,
						2, &req),
				RNBD_SRV_BAD_LENGTH);
	for (; len < 32; len++) {
		KUNIT_EXPECT_EQ(test,
				rnbd_srv_get_io(exact_copy(test, &msg, len), len, 4096, false,
						2, &req),
				RNBD_SRV_OK);
		KUNIT_EXPECT_EQ(test, req.prio, 0);
	}
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_io(&msg, sizeof(msg), 4096, false, 1, &req),
				RNBD_SRV_OK);
	KUNIT_EXPECT_EQ(test, req.prio, 0);
	KUNIT_EXPECT_EQ(test, rnbd_srv_get_io(&msg, sizeof(msg), 4096, false, 2, &req),
				RNBD_SRV_OK);
	KUNIT_EXPECT_EQ(test, req.prio, 0x4003);
}

static void io__priority_class_must_exist(struct kunit *test)
{
	struct rnbd_srv_io_req req;
	struct rnbd_msg_io msg;
	u32 class;

	for (class = 0; class < 8; class++) {
		put_io(&msg, RNBD_OP_READ, 0, 512);
		msg.prio = cpu_to_le16(class << 13 | 5);
		KUNIT_EXPECT_EQ(test, rnbd_srv_get_io(&msg, sizeof(msg), 512, false, 2, &req),
				RNBD_SRV_OK);
		KUNIT_EXPECT_EQ(test, req.prio, class <= 3 ? class << 13 | 5 : 0);
	}
}

static void io__any_flipped_bit_is_survived(struct kunit *test)
{
	struct rnbd_srv_io_rules rules = { 1000, 512, 0x3f, true };
	struct rnbd_srv_io_req req;
	struct rnbd_msg_io msg;
	size_t bit;

	for (bit = 0; bit < 8 * sizeof(msg); bit++) {
		put_io(&msg, RNBD_OP_WRITE, 992, 4096);
		((u8 *)&msg)[bit / 8] ^= 1 << bit % 8;
		if (rnbd_srv_get_io(&msg, sizeof(msg), 4096, true, 2, &req) != RNBD_SRV_OK ||
		    rnbd_srv_check_io(&req, &rules) != RNBD_SRV_OK)
			continue;
		/* Whatever passes stays inside the device and the data. */
		KUNIT_EXPECT_EQ(test, req.bytes, 4096);
		KUNIT_EXPECT_LE(test, req.sector + req.bytes / 512, 1000);
	}
}

/* ------------------------------------------------------------------------- IO against a device */

struct range_case {
	const char *desc;
	u64 sector;
	u32 bytes;
	u32 block;
	u64 nsectors;
	enum rnbd_srv_verdict want;
};

static const struct range_case range_cases[] = {
	{ "whole device",	0, 8 * 512, 512, 8,			RNBD_SRV_OK },
	{ "last sector",	7, 512, 512, 8,				RNBD_SRV_OK },
	{ "one behind",		8, 512, 512, 8,				RNBD_SRV_OUT_OF_RANGE },
	{ "across the end",	7, 1024, 512, 8,			RNBD_SRV_OUT_OF_RANGE },
	{ "longer than all",	0, 9 * 512, 512, 8,			RNBD_SRV_OUT_OF_RANGE },
	{ "empty device",	0, 512, 512, 0,				RNBD_SRV_OUT_OF_RANGE },
	{ "sum wraps",		~0ULL, 512, 512, 8,			RNBD_SRV_OUT_OF_RANGE },
	{ "sum wraps to zero",	~0ULL - 7, 4096, 512, 8,		RNBD_SRV_OUT_OF_RANGE },
	{ "bytes would wrap",	1ULL << 55, 512, 512, 8,		RNBD_SRV_OUT_OF_RANGE },
	{ "most bytes",		0, 0xfffffe00, 512, 0x7fffff,		RNBD_SRV_OK },
	{ "most bytes, short",	0, 0xfffffe00, 512, 0x7ffffe,		RNBD_SRV_OUT_OF_RANGE },
	{ "no bytes",		0, 0, 512, 8,				RNBD_SRV_BAD_ALIGN },
	{ "odd bytes",		0, 511, 512, 8,				RNBD_SRV_BAD_ALIGN },
	{ "one byte more",	0, 513, 512, 8,				RNBD_SRV_BAD_ALIGN },
	{ "4k whole",		8, 4096, 4096, 16,			RNBD_SRV_OK },
	{ "4k half a block",	8, 2048, 4096, 16,			RNBD_SRV_BAD_ALIGN },
	{ "4k odd start",	4, 4096, 4096, 16,			RNBD_SRV_BAD_ALIGN },
};

static void range_case_desc(const struct range_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(range, range_cases, range_case_desc);

static void check_io__ranges(struct kunit *test)
{
	const struct range_case *c = test->param_value;
	struct rnbd_srv_io_req req = { .sector = c->sector, .bytes = c->bytes };
	struct rnbd_srv_io_rules rules = { c->nsectors, c->block, 0x3f, true };

	for (req.op = 0; req.op < RNBD_OP__NR; req.op++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_check_io(&req, &rules),
				req.op == RNBD_OP_FLUSH ? RNBD_SRV_OK : c->want);
}

static void check_io__read_only(struct kunit *test)
{
	struct rnbd_srv_io_rules rules = { 8, 512, 0x3f, false };
	struct rnbd_srv_io_req req = { .bytes = 512 };

	for (req.op = 0; req.op < RNBD_OP__NR; req.op++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_check_io(&req, &rules),
				req.op == RNBD_OP_READ || req.op == RNBD_OP_FLUSH ?
				RNBD_SRV_OK : RNBD_SRV_READ_ONLY);
}

static void check_io__unsupported(struct kunit *test)
{
	struct rnbd_srv_io_rules rules = { 8, 512, 0, true };
	struct rnbd_srv_limits lim = {};
	struct rnbd_srv_io_req req = { .bytes = 512 };

	rules.ops = rnbd_srv_limits_ops(&lim);
	for (req.op = 0; req.op < RNBD_OP__NR; req.op++)
		KUNIT_EXPECT_EQ(test, rnbd_srv_check_io(&req, &rules),
				req.op >= RNBD_OP_DISCARD ? RNBD_SRV_UNSUPPORTED : RNBD_SRV_OK);

	lim.max_discard_sectors = 1;
	KUNIT_EXPECT_EQ(test, rnbd_srv_limits_ops(&lim), 0x0f);
	lim.max_secure_erase_sectors = 1;
	KUNIT_EXPECT_EQ(test, rnbd_srv_limits_ops(&lim), 0x1f);
	lim.max_write_zeroes_sectors = 1;
	KUNIT_EXPECT_EQ(test, rnbd_srv_limits_ops(&lim), 0x3f);

	req.op = RNBD_OP__NR;
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_io(&req, &rules), RNBD_SRV_BAD_OP);
}

/* -------------------------------------------------------------------------------------- access */

static void access__matrix(struct kunit *test)
{
	/* By number of writers the device has. */
	static const enum rnbd_srv_verdict want[RNBD_ACCESS__NR][4] = {
		[RNBD_ACCESS_RO] = { RNBD_SRV_OK, RNBD_SRV_OK, RNBD_SRV_OK, RNBD_SRV_OK },
		[RNBD_ACCESS_RW] = { RNBD_SRV_OK, RNBD_SRV_WRITER_EXISTS, RNBD_SRV_WRITER_EXISTS,
				     RNBD_SRV_WRITER_EXISTS },
		[RNBD_ACCESS_MIGRATION] = { RNBD_SRV_OK, RNBD_SRV_OK, RNBD_SRV_WRITER_EXISTS,
					    RNBD_SRV_WRITER_EXISTS },
	};
	unsigned int nr;
	u8 mode;

	for (mode = 0; mode < RNBD_ACCESS__NR; mode++)
		for (nr = 0; nr < 4; nr++)
			KUNIT_EXPECT_EQ(test, rnbd_srv_check_access(mode, nr), want[mode][nr]);
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_access(3, 0), RNBD_SRV_BAD_MODE);
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_access(255, 0), RNBD_SRV_BAD_MODE);
}

static void reopen__matrix(struct kunit *test)
{
	/* [open as][asked for]; ro, rw, migration */
	static const bool allowed[3][3] = {
		{ true,  false, false },
		{ true,  true,  true  },
		{ true,  false, true  },
	};
	u8 open, ask;

	for (open = 0; open < 3; open++)
		for (ask = 0; ask < 3; ask++)
			KUNIT_EXPECT_EQ(test, rnbd_srv_check_reopen(open, ask),
					allowed[open][ask] ? RNBD_SRV_OK : RNBD_SRV_MORE_RIGHTS);
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_reopen(0, 3), RNBD_SRV_BAD_MODE);
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_reopen(3, 0), RNBD_SRV_BAD_MODE);
}

static void ranges__that_conflict(struct kunit *test)
{
	static const struct {
		u64 sector, other_sector;
		u32 bytes, other_bytes;
		bool conflict;
	} cases[] = {
		{ 8, 8, 4096, 4096, true },
		{ 8, 15, 4096, 512, true },
		{ 8, 16, 4096, 512, false },
		{ 8, 7, 4096, 512, false },
		{ 8, 7, 4096, 1024, true },
		{ 8, 0, 512, 1 << 20, true },
		{ 0, (1ULL << 55) - 1, U32_MAX - 511, 512, false },
		{ (1ULL << 55) - 1, (1ULL << 55) - 1, 512, 512, true },
		/* A flush has no range; two of them conflict. */
		{ 0, 0, 0, 512, false },
		{ 0, 0, 0, 0, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ(test, rnbd_srv_ranges_conflict(cases[i].sector, cases[i].bytes,
							       cases[i].other_sector, cases[i].other_bytes),
				cases[i].conflict);
		KUNIT_EXPECT_EQ(test, rnbd_srv_ranges_conflict(cases[i].other_sector, cases[i].other_bytes,
							       cases[i].sector, cases[i].bytes),
				cases[i].conflict);
	}
}

/* --------------------------------------------------------------------------------------- paths */

struct path_case {
	const char *search_path;
	const char *name;
	const char *want;
};

static const struct path_case path_cases[] = {
	{ "/",				"dev/sda",	"/dev/sda" },
	{ "/",				"/dev/sda",	"/dev/sda" },
	{ "/",				"//dev///sda",	"/dev/sda" },
	{ "",				"dev/sda",	"/dev/sda" },
	{ "/dev",			"sda",		"/dev/sda" },
	{ "/dev/",			"/sda",		"/dev/sda" },
	{ "dev",			"sda",		"dev/sda" },
	{ "/srv/%SESSNAME%",		"d",		"/srv/s1/d" },
	{ "/srv/%SESSNAME%/",		"d",		"/srv/s1/d" },
	{ "/srv%SESSNAME%",		"d",		"/srv/s1/d" },
	{ "%SESSNAME%",			"d",		"/s1/d" },
	{ "/srv/%SESSNAME%/disks",	"d",		"/srv/s1/disks/d" },
	{ "/srv/%SESSNAME%-x/",		"d",		"/srv/s1-x/d" },
	{ "/a/%SESSNAME%/%SESSNAME%",	"d",		"/a/s1/%SESSNAME%/d" },
	{ "/srv/%sessname%",		"d",		"/srv/%sessname%/d" },
	{ "/",				"a/../b",	NULL },
};

static void path_case_desc(const struct path_case *c, char *desc)
{
	scnprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s + %s", c->search_path, c->name);
}

KUNIT_ARRAY_PARAM(path, path_cases, path_case_desc);

static void export_path__composed(struct kunit *test)
{
	const struct path_case *c = test->param_value;
	char *path = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL);
	enum rnbd_srv_verdict verdict;

	verdict = rnbd_srv_export_path(path, PATH_MAX, c->search_path, "s1", c->name);
	KUNIT_ASSERT_EQ(test, verdict, c->want ? RNBD_SRV_OK : RNBD_SRV_BAD_NAME);
	if (c->want)
		KUNIT_EXPECT_STREQ(test, path, c->want);
}

static void export_path__lengths(struct kunit *test)
{
	char *search = kunit_kzalloc(test, PATH_MAX, GFP_KERNEL);
	char *path = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL);

	/* 4095 in all with the slash between: just fits. */
	memset(search, 'x', 4095);
	search[0] = '/';
	search[4090] = '\0';
	KUNIT_EXPECT_EQ(test, rnbd_srv_export_path(path, PATH_MAX, search, "s", "abcd"),
			RNBD_SRV_OK);
	KUNIT_EXPECT_EQ(test, strlen(path), 4095);
	/* The sum is allowed, the slash is one too many. */
	KUNIT_EXPECT_EQ(test, rnbd_srv_export_path(path, PATH_MAX, search, "s", "abcde"),
			RNBD_SRV_LONG_NAME);
	/* The sum itself, although the slashes collapse. */
	KUNIT_EXPECT_EQ(test, rnbd_srv_export_path(path, PATH_MAX, search, "s", "//////"),
			RNBD_SRV_LONG_NAME);
}

static void export_path__every_size_is_respected(struct kunit *test)
{
	static const char *const search_paths[] = { "/a/%SESSNAME%/b", "/a%SESSNAME%/b/" };
	static const char want[] = "/a/s1/b/c";
	size_t size;
	int i;

	for (i = 0; i < ARRAY_SIZE(search_paths); i++) {
		for (size = 1; size <= sizeof(want) + 1; size++) {
			char *path = kunit_kmalloc(test, size, GFP_KERNEL);

			KUNIT_EXPECT_EQ(test, rnbd_srv_export_path(path, size, search_paths[i], "s1", "c"),
					size < sizeof(want) ? RNBD_SRV_LONG_NAME : RNBD_SRV_OK);
		}
	}
}

static void search_path__parameter(struct kunit *test)
{
	char path[6];

	KUNIT_EXPECT_EQ(test, rnbd_srv_search_path(path, sizeof(path), "/dev\n"), 0);
	KUNIT_EXPECT_STREQ(test, path, "/dev");
	KUNIT_EXPECT_EQ(test, rnbd_srv_search_path(path, sizeof(path), "/dev\n\n"), 0);
	KUNIT_EXPECT_STREQ(test, path, "/dev\n");
	KUNIT_EXPECT_EQ(test, rnbd_srv_search_path(path, sizeof(path), "12345\n"), 0);
	KUNIT_EXPECT_STREQ(test, path, "12345");
	KUNIT_EXPECT_EQ(test, rnbd_srv_search_path(path, sizeof(path), "123456"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, path, "12345");
	KUNIT_EXPECT_EQ(test, rnbd_srv_search_path(path, sizeof(path), ""), 0);
	KUNIT_EXPECT_STREQ(test, path, "");
}

/* ------------------------------------------------------------------------------------ OPEN_RSP */

static void open_rsp__bytes(struct kunit *test)
{
	static const u8 want[56] = {
		0x03, 0x00, 0x00, 0x00, 0x04, 0x03, 0x02, 0x01,
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
		0x00, 0x08, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00,
		0xfe, 0xff, 0xff, 0x00, 0x00, 0x10, 0x00, 0x00,
		0x00, 0x02, 0x00, 0x00, 0x00, 0x10, 0x00, 0x02,
		0x80, 0x00, 0x01, 0x00, 0x00, 0x03,
	};
	static const struct rnbd_srv_limits lim = {
		.nsectors = 0x0102030405060708ULL, .max_hw_sectors = 2048,
		.max_write_zeroes_sectors = 0xffff, .max_discard_sectors = 0xfffffe,
		.max_secure_erase_sectors = 0x10000, .discard_granularity = 4096,
		.discard_alignment = 512, .physical_block_size = 4096, .logical_block_size = 512,
		.max_segments = 128, .write_cache = true, .fua = true,
	};
	u8 data[60];
	size_t i;

	memset(data, 0xa5, sizeof(data));
	rnbd_srv_put_open_rsp(data, 0x01020304, &lim);
	for (i = 0; i < sizeof(want); i++)
		KUNIT_EXPECT_EQ_MSG(test, data[i], want[i], "offset %zu", i);
	KUNIT_EXPECT_EQ(test, data[56], 0xa5);
}

static void open_rsp__values_that_do_not_fit(struct kunit *test)
{
	struct rnbd_srv_limits lim = {
		.physical_block_size = 65536, .logical_block_size = 32768, .max_segments = 65536,
		.discard_alignment = U32_MAX,
	};
	struct rnbd_msg_open_rsp rsp;

	rnbd_srv_put_open_rsp(&rsp, 0, &lim);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(rsp.physical_block_size), 32768);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(rsp.logical_block_size), 32768);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(rsp.max_segments), 65535);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.discard_alignment), 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(rsp.secure_discard), 0);
	KUNIT_EXPECT_EQ(test, rsp.cache_policy, 0);

	KUNIT_EXPECT_EQ(test, rnbd_srv_check_limits(&lim), RNBD_SRV_OK);
	lim.logical_block_size = 65536;
	KUNIT_EXPECT_EQ(test, rnbd_srv_check_limits(&lim), RNBD_SRV_BIG_BLOCKS);
}

/* ------------------------------------------------------------------------------------ verdicts */

static void verdicts__are_complete(struct kunit *test)
{
	unsigned int v, w;

	for (v = 0; v < RNBD_SRV_VERDICT__NR; v++) {
		KUNIT_ASSERT_NOT_NULL(test, rnbd_srv_verdict_name(v));
		KUNIT_ASSERT_NOT_NULL(test, rnbd_srv_verdict_text(v));
		KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(v) == 0, v == RNBD_SRV_OK);
		/* The wire carries nine bits. */
		KUNIT_EXPECT_LE(test, rnbd_srv_verdict_errno(v), 0);
		KUNIT_EXPECT_GT(test, rnbd_srv_verdict_errno(v), -512);
		for (w = 0; w < v; w++)
			KUNIT_EXPECT_STRNEQ(test, rnbd_srv_verdict_name(v),
					    rnbd_srv_verdict_name(w));
	}
}

static void verdicts__documented_errnos(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_NO_DEVICE), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_WRITER_EXISTS), -EPERM);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_BAD_MODE), -EINVAL);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_BAD_NAME), -EINVAL);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_LONG_NAME), -EINVAL);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_READ_ONLY), -EROFS);
	KUNIT_EXPECT_EQ(test, rnbd_srv_verdict_errno(RNBD_SRV_UNSUPPORTED), -EOPNOTSUPP);
}

static void opmap__names(struct kunit *test)
{
	u32 op;

	for (op = 0; op < RNBD_OP__NR; op++) {
		KUNIT_ASSERT_NOT_NULL(test, rnbd_op_desc(op));
		KUNIT_EXPECT_NOT_NULL(test, rnbd_op_desc(op)->name);
		/* Data without a range would have nowhere to go. */
		KUNIT_EXPECT_TRUE(test, rnbd_op_desc(op)->has_range || !rnbd_op_desc(op)->has_data);
	}
	KUNIT_EXPECT_NULL(test, rnbd_op_desc(RNBD_OP__NR));
	KUNIT_EXPECT_NULL(test, rnbd_op_desc(U32_MAX));
	KUNIT_EXPECT_STREQ(test, rnbd_access_mode_name(RNBD_ACCESS_RO), "ro");
	KUNIT_EXPECT_STREQ(test, rnbd_access_mode_name(RNBD_ACCESS_RW), "rw");
	KUNIT_EXPECT_STREQ(test, rnbd_access_mode_name(RNBD_ACCESS_MIGRATION), "migration");
	KUNIT_EXPECT_STREQ(test, rnbd_access_mode_name(3), "unknown");
}

static struct kunit_case srvcheck_cases[] = {
	KUNIT_CASE(msg_type__needs_a_header),
	KUNIT_CASE(sess_info__version_is_the_smaller),
	KUNIT_CASE(sess_info__lengths),
	KUNIT_CASE(sess_info__response_bytes),
	KUNIT_CASE_PARAM(open__names_and_modes, open_gen_params),
	KUNIT_CASE(open__name_must_end_within_what_came),
	KUNIT_CASE(open__longest_name),
	KUNIT_CASE(open__longer_message_is_fine),
	KUNIT_CASE(open__needs_room),
	KUNIT_CASE(open__any_flipped_bit_is_survived),
	KUNIT_CASE(close__lengths),
	KUNIT_CASE_PARAM(io__operation_and_data, io_gen_params),
	KUNIT_CASE(io__flags),
	KUNIT_CASE(io__lengths_and_priority),
	KUNIT_CASE(io__priority_class_must_exist),
	KUNIT_CASE(io__any_flipped_bit_is_survived),
	KUNIT_CASE_PARAM(check_io__ranges, range_gen_params),
	KUNIT_CASE(check_io__read_only),
	KUNIT_CASE(check_io__unsupported),
	KUNIT_CASE(access__matrix),
	KUNIT_CASE(reopen__matrix),
	KUNIT_CASE_PARAM(export_path__composed, path_gen_params),
	KUNIT_CASE(ranges__that_conflict),
	KUNIT_CASE(export_path__lengths),
	KUNIT_CASE(export_path__every_size_is_respected),
	KUNIT_CASE(search_path__parameter),
	KUNIT_CASE(open_rsp__bytes),
	KUNIT_CASE(open_rsp__values_that_do_not_fit),
	KUNIT_CASE(verdicts__are_complete),
	KUNIT_CASE(verdicts__documented_errnos),
	KUNIT_CASE(opmap__names),
	{}
};

static struct kunit_suite srvcheck_suite = {
	.name = "rnbd_srvcheck",
	.test_cases = srvcheck_cases,
};

kunit_test_suite(srvcheck_suite);

MODULE_DESCRIPTION("Rules of the RNBD server");
MODULE_LICENSE("GPL");
