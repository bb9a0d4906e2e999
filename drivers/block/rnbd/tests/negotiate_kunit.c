// SPDX-License-Identifier: GPL-2.0-only
/* Client side of the protocol (proto/negotiate.c): bytes sent, answers checked. */
#include <kunit/test.h>
#include "../proto/negotiate.h"

#define PAGE_BYTES	4096

static const struct rnbd_transport_limits transport = {
	.max_io_bytes = 126976,
	.max_segments = 128,
	.page_bytes = PAGE_BYTES,
};

static bool is_zero(const void *mem, size_t len)
{
	const u8 *bytes = mem;

	while (len && !*bytes) {
		bytes++;
		len--;
	}
	return !len;
}

/* ------------------------------------------------------------------------------------- messages */

static void put__sess_info_bytes(struct kunit *test)
{
	struct rnbd_msg_sess_info msg;

	memset(&msg, 0xa5, sizeof(msg));
	rnbd_put_sess_info(&msg);
	KUNIT_EXPECT_EQ(test, ((u8 *)&msg)[0], 0);
	KUNIT_EXPECT_EQ(test, msg.ver, 2);
	KUNIT_EXPECT_TRUE(test, is_zero(&msg.hdr, sizeof(msg.hdr)));
	KUNIT_EXPECT_TRUE(test, is_zero(msg.reserved, sizeof(msg.reserved)));
}

static void put__open_bytes(struct kunit *test)
{
	struct rnbd_msg_open msg;

	memset(&msg, 0xa5, sizeof(msg));
	rnbd_put_open(&msg, "ram0", RNBD_ACCESS_MIGRATION);
	KUNIT_EXPECT_EQ(test, ((u8 *)&msg)[0], 2);
	KUNIT_EXPECT_TRUE(test, is_zero((u8 *)&msg + 1, 3));
	KUNIT_EXPECT_EQ(test, msg.access_mode, 2);
	KUNIT_EXPECT_EQ(test, memcmp(msg.dev_name, "ram0", 5), 0);
	KUNIT_EXPECT_TRUE(test, is_zero(msg.dev_name + 4, sizeof(msg) - offsetof(struct rnbd_msg_open, dev_name) - 4));
	KUNIT_EXPECT_EQ(test, msg.reserved1, 0);
}

static void put__close_bytes(struct kunit *test)
{
	static const u8 expected[8] = { 5, 0, 0, 0, 0x78, 0x56, 0x34, 0x12 };
	struct rnbd_msg_close msg;

	memset(&msg, 0xa5, sizeof(msg));
	rnbd_put_close(&msg, 0x12345678);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, expected, sizeof(msg)), 0);
}

static void put__io_bytes(struct kunit *test)
{
	static const u8 expected[32] = {
		4, 0, 0, 0, 7, 0, 0, 0,
		0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
		1, 3, 0, 0, 0, 0x10, 0, 0, 3, 0x40, 0, 0, 0, 0, 0, 0,
	};
	const struct rnbd_io_desc io = {
		.sector = 0x0123456789abcdefULL,
		.device_id = 7,
		.bytes = 4096,
		.op = RNBD_OP_WRITE,
		.durable = true,
		.prio = 0x4003,
	};
	struct rnbd_msg_io msg;

	memset(&msg, 0xa5, sizeof(msg));
	rnbd_put_io(&msg, &io);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, expected, sizeof(msg)), 0);
}

struct rw_case {
	const char *desc;
	enum rnbd_io_op op;
	bool sync;
	bool durable;
	bool nounmap;
	u32 rw;
};

/* The typical words of protocol section 4, and what must not be sent. */
static const struct rw_case rw_cases[] = {
	{ "read",			RNBD_OP_READ,	      false, false, false, 0x100 },
	{ "sync read",			RNBD_OP_READ,	      true,  false, false, 0x100 },
	{ "async write",		RNBD_OP_WRITE,	      false, false, false, 0x001 },
	{ "sync write",			RNBD_OP_WRITE,	      true,  false, false, 0x101 },
	{ "FUA write",			RNBD_OP_WRITE,	      true,  true,  false, 0x301 },
	{ "FUA alone means sync",	RNBD_OP_WRITE,	      false, true,  false, 0x301 },
	{ "flush",			RNBD_OP_FLUSH,	      true,  true,  false, 0x302 },
	{ "discard",			RNBD_OP_DISCARD,      false, false, false, 0x003 },
	{ "sync discard",		RNBD_OP_DISCARD,      true,  false, false, 0x103 },
	{ "secure erase",		RNBD_OP_SECURE_ERASE, false, false, false, 0x004 },
	{ "write zeroes",		RNBD_OP_WRITE_ZEROES, false, false, false, 0x005 },
	{ "write zeroes, no unmap",	RNBD_OP_WRITE_ZEROES, false, false, true,  0x805 },
	{ "no FUA on a read",		RNBD_OP_READ,	      true,  true,  false, 0x100 },
	{ "no FUA on a discard",	RNBD_OP_DISCARD,      true,  true,  false, 0x103 },
	{ "no NOUNMAP on a discard",	RNBD_OP_DISCARD,      false, false, true,  0x003 },
	{ "no NOUNMAP on a write",	RNBD_OP_WRITE,	      false, false, true,  0x001 },
};

static void rw_desc(const struct rw_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rw, rw_cases, rw_desc);

static void put__io_rw_word(struct kunit *test)
{
	const struct rw_case *c = test->param_value;
	const struct rnbd_io_desc io = {
		.op = c->op,
		.sync = c->sync,
		.durable = c->durable,
		.nounmap = c->nounmap,
	};
	struct rnbd_msg_io msg;

	rnbd_put_io(&msg, &io);
	KUNIT_EXPECT_EQ_MSG(test, le32_to_cpu(msg.rw), c->rw, "%s", c->desc);
}

/* ------------------------------------------------------------------------------------ SESS_INFO */

static void sess_info_rsp__version_is_the_smaller(struct kunit *test)
{
	static const u8 vers[][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 255, 2 } };
	struct rnbd_msg_sess_info rsp = { .hdr.type = cpu_to_le16(RNBD_MSG_SESS_INFO_RSP) };
	size_t i;
	u8 ver;

	for (i = 0; i < ARRAY_SIZE(vers); i++) {
		rsp.ver = vers[i][0];
		KUNIT_EXPECT_EQ(test, rnbd_get_sess_info_rsp(&rsp, &ver), 0);
		KUNIT_EXPECT_EQ(test, ver, vers[i][1]);
	}
}

static void sess_info_rsp__other_type(struct kunit *test)
{
	struct rnbd_msg_sess_info rsp = { .ver = 2 };
	u8 ver = 77;
	int type;

	for (type = 0; type < 256; type++) {
		rsp.hdr.type = cpu_to_le16(type);
		if (type == RNBD_MSG_SESS_INFO_RSP)
			continue;
		KUNIT_EXPECT_EQ(test, rnbd_get_sess_info_rsp(&rsp, &ver), -EPROTO);
	}
	rsp.hdr.type = cpu_to_le16(RNBD_MSG_SESS_INFO_RSP << 8);
	KUNIT_EXPECT_EQ(test, rnbd_get_sess_info_rsp(&rsp, &ver), -EPROTO);
	KUNIT_EXPECT_EQ(test, ver, 77);
}

/* ----------------------------------------------------------------------------------------- OPEN */

/* A device with everything. */
static struct rnbd_msg_open_rsp full_rsp(void)
{
	struct rnbd_msg_open_rsp rsp = {
		.hdr.type = cpu_to_le16(RNBD_MSG_OPEN_RSP),
		.device_id = cpu_to_le32(42),
		.nsectors = cpu_to_le64(1000000),
		.max_hw_sectors = cpu_to_le32(1),
		.max_write_zeroes_sectors = cpu_to_le32(2048),
		.max_discard_sectors = cpu_to_le32(4096),
		.discard_granularity = cpu_to_le32(8192),
		.discard_alignment = cpu_to_le32(512),
		.physical_block_size = cpu_to_le16(4096),
		.logical_block_size = cpu_to_le16(512),
		.max_segments = cpu_to_le16(1),
		.secure_discard = cpu_to_le16(1),
		.cache_policy = RNBD_CACHE_FUA | RNBD_CACHE_WRITEBACK,
	};

	return rsp;
}

static int get(const struct rnbd_msg_open_rsp *rsp, struct rnbd_dev_limits *limits)
{
	const char *why = NULL;
	int ret = rnbd_get_open_rsp(rsp, &transport, limits, &why);

	/* A reason if, and only if, it failed. */
	return !ret == !why ? ret : 1;
}

static void open_rsp__everything(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;

	memset(&limits, 0xa5, sizeof(limits));
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.device_id, 42U);
	KUNIT_EXPECT_EQ(test, limits.nsectors, 1000000ULL);
	KUNIT_EXPECT_EQ(test, limits.logical_block_bytes, 512U);
	KUNIT_EXPECT_EQ(test, limits.physical_block_bytes, 4096U);
	/* Those two come from the transport. */
	KUNIT_EXPECT_EQ(test, limits.max_hw_sectors, 248U);
	KUNIT_EXPECT_EQ(test, limits.max_segments, 128);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 4096U);
	KUNIT_EXPECT_EQ(test, limits.discard_granularity, 8192U);
	KUNIT_EXPECT_EQ(test, limits.discard_alignment, 512U);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 4096U);
	KUNIT_EXPECT_EQ(test, limits.max_write_zeroes_sectors, 2048U);
	KUNIT_EXPECT_TRUE(test, limits.write_cache);
	KUNIT_EXPECT_TRUE(test, limits.fua);
}

static void open_rsp__nothing_optional(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = {
		.hdr.type = cpu_to_le16(RNBD_MSG_OPEN_RSP),
		.logical_block_size = cpu_to_le16(512),
	};
	struct rnbd_dev_limits limits;

	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.nsectors, 0ULL);
	KUNIT_EXPECT_EQ(test, limits.physical_block_bytes, 512U);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 0U);
	KUNIT_EXPECT_EQ(test, limits.discard_granularity, 0U);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 0U);
	KUNIT_EXPECT_EQ(test, limits.max_write_zeroes_sectors, 0U);
	KUNIT_EXPECT_FALSE(test, limits.write_cache);
	KUNIT_EXPECT_FALSE(test, limits.fua);
}

static void open_rsp__other_type(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;
	int type;

	for (type = 0; type < 256; type++) {
		if (type == RNBD_MSG_OPEN_RSP)
			continue;
		rsp.hdr.type = cpu_to_le16(type);
		KUNIT_EXPECT_EQ(test, get(&rsp, &limits), -EPROTO);
	}
	/* What the caller cleared and nobody wrote. */
	memset(&rsp, 0, sizeof(rsp));
	KUNIT_EXPECT_EQ(test, get(&rsp, &limits), -EPROTO);
}

struct block_case {
	u16 logical;
	u16 physical;
	int ret;
	u32 physical_bytes;
};

static const struct block_case block_cases[] = {
	{ 512, 512, 0, 512 },
	{ 512, 4096, 0, 4096 },
	{ 4096, 4096, 0, 4096 },
	{ 4096, 512, 0, 4096 },
	{ 512, 0, 0, 512 },
	{ 512, 3000, 0, 512 },
	{ 512, 32768, 0, 32768 },
	{ 0, 4096, -EINVAL, 0 },
	{ 1, 512, -EINVAL, 0 },
	{ 256, 512, -EINVAL, 0 },
	{ 511, 512, -EINVAL, 0 },
	{ 1536, 4096, -EINVAL, 0 },
	{ 8192, 8192, -EINVAL, 0 },
	{ 65535, 4096, -EINVAL, 0 },
};

static void open_rsp__block_sizes(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(block_cases); i++) {
		const struct block_case *c = &block_cases[i];

		rsp.logical_block_size = cpu_to_le16(c->logical);
		rsp.physical_block_size = cpu_to_le16(c->physical);
		KUNIT_EXPECT_EQ_MSG(test, get(&rsp, &limits), c->ret, "%u/%u", c->logical,
				    c->physical);
		KUNIT_EXPECT_EQ_MSG(test, limits.physical_block_bytes, c->physical_bytes, "%u/%u",
				    c->logical, c->physical);
		/* Refused, but open on the server: the id is needed to close it. */
		KUNIT_EXPECT_EQ(test, limits.device_id, 42U);
	}
}

static void open_rsp__size(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;

	rsp.nsectors = cpu_to_le64(S64_MAX / 512);
	KUNIT_EXPECT_EQ(test, get(&rsp, &limits), 0);
	rsp.nsectors = cpu_to_le64(S64_MAX / 512 + 1ULL);
	KUNIT_EXPECT_EQ(test, get(&rsp, &limits), -EINVAL);
	rsp.nsectors = cpu_to_le64(U64_MAX);
	KUNIT_EXPECT_EQ(test, get(&rsp, &limits), -EINVAL);
}

static void open_rsp__limits_fit_a_request(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;

	rsp.max_discard_sectors = cpu_to_le32(U32_MAX);
	rsp.max_write_zeroes_sectors = cpu_to_le32(U32_MAX);
	rsp.logical_block_size = cpu_to_le16(4096);
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 256U << 11);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 64U << 11);
	KUNIT_EXPECT_EQ(test, limits.max_write_zeroes_sectors, 64U << 11);

	/* A unit for discards that is larger than that. */
	rsp.discard_granularity = cpu_to_le32(1U << 30);
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 1024U << 11);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 1024U << 11);

	/* And what the server has, if it is less. */
	rsp.max_discard_sectors = cpu_to_le32(64U << 11);
	rsp.max_write_zeroes_sectors = cpu_to_le32((64U << 11) - 8);
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 64U << 11);
	KUNIT_EXPECT_EQ(test, limits.max_write_zeroes_sectors, (64U << 11) - 8);

	/* Less than a block is nothing. */
	rsp.max_discard_sectors = cpu_to_le32(7);
	rsp.max_write_zeroes_sectors = cpu_to_le32(15);
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_discard_sectors, 0U);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 0U);
	KUNIT_EXPECT_EQ(test, limits.discard_granularity, 0U);
	KUNIT_EXPECT_EQ(test, limits.max_write_zeroes_sectors, 8U);
}

static void open_rsp__discard_granularity(struct kunit *test)
{
	static const u32 cases[][4] = {
		/* granularity, alignment, and what becomes of them */
		{ 0, 0, 512, 0 }, { 0, 512, 512, 0 }, { 100, 0, 512, 0 }, { 512, 0, 512, 0 },
		{ 1000, 0, 512, 0 }, { 1024, 512, 1024, 512 }, { 1024, 1024, 1024, 0 },
		{ 1536, 512, 1536, 512 }, { U32_MAX, U32_MAX, 512, 511 },
	};
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		rsp.discard_granularity = cpu_to_le32(cases[i][0]);
		rsp.discard_alignment = cpu_to_le32(cases[i][1]);
		KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
		KUNIT_EXPECT_EQ(test, limits.discard_granularity, cases[i][2]);
		KUNIT_EXPECT_EQ(test, limits.discard_alignment, cases[i][3]);
	}
}

static void open_rsp__secure_erase_needs_discard(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;

	rsp.secure_discard = cpu_to_le16(0x8000);
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 4096U);
	rsp.secure_discard = 0;
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 0U);
	rsp.secure_discard = cpu_to_le16(1);
	rsp.max_discard_sectors = 0;
	KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.max_secure_erase_sectors, 0U);
}

static void open_rsp__cache_policy(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;
	int policy;

	for (policy = 0; policy < 256; policy++) {
		rsp.cache_policy = policy;
		KUNIT_ASSERT_EQ(test, get(&rsp, &limits), 0);
		KUNIT_EXPECT_EQ(test, limits.write_cache, (policy & 2) == 2);
		KUNIT_EXPECT_EQ(test, limits.fua, (policy & 3) == 3);
	}
}

static void open_rsp__transport_too_small(struct kunit *test)
{
	static const struct {
		u32 max_io_bytes;
		u32 max_segments;
		int ret;
	} cases[] = {
		{ 4096, 1, 0 }, { 4095, 1, -EINVAL }, { 0, 1, -EINVAL }, { 4096, 0, -EINVAL },
		{ U32_MAX, U32_MAX, 0 },
	};
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits limits;
	const char *why;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rnbd_transport_limits small = {
			.max_io_bytes = cases[i].max_io_bytes,
			.max_segments = cases[i].max_segments,
			.page_bytes = PAGE_BYTES,
		};

		KUNIT_EXPECT_EQ(test, rnbd_get_open_rsp(&rsp, &small, &limits, &why), cases[i].ret);
	}
	/* The last one: cut to what fits the fields. */
	KUNIT_EXPECT_EQ(test, limits.max_segments, U16_MAX);
	KUNIT_EXPECT_EQ(test, limits.max_hw_sectors, U32_MAX / 512);
}

/* Any answer is either refused with a reason or gives limits that the block layer takes. */
static void open_rsp__any_flipped_bit_is_survived(struct kunit *test)
{
	size_t bit;

	for (bit = 0; bit < 8 * sizeof(struct rnbd_msg_open_rsp); bit++) {
		struct rnbd_msg_open_rsp rsp = full_rsp();
		struct rnbd_dev_limits limits;

		((u8 *)&rsp)[bit / 8] ^= 1 << bit % 8;
		if (get(&rsp, &limits))
			continue;
		KUNIT_EXPECT_TRUE(test, is_power_of_2(limits.logical_block_bytes));
		KUNIT_EXPECT_LE(test, limits.logical_block_bytes, (u32)PAGE_BYTES);
		KUNIT_EXPECT_LE(test, limits.nsectors, (u64)S64_MAX / 512);
		KUNIT_EXPECT_LE(test, limits.max_discard_sectors, U32_MAX / 512);
		KUNIT_EXPECT_LE(test, limits.max_write_zeroes_sectors, U32_MAX / 512);
		KUNIT_EXPECT_EQ(test, !limits.max_discard_sectors, !limits.discard_granularity);
	}
}

/* -------------------------------------------------------------------------------- after a reopen */

static void changed__what_matters(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits old, new;

	KUNIT_ASSERT_EQ(test, get(&rsp, &old), 0);
	new = old;
	KUNIT_EXPECT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));

	new.device_id = 7;
	new.nsectors += 8;
	new.physical_block_bytes = 512;
	new.max_discard_sectors = 0;
	new.max_hw_sectors += 8;
	new.max_segments++;
	KUNIT_EXPECT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));

	new = old;
	new.logical_block_bytes = 4096;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
	new = old;
	new.write_cache = false;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
	new = old;
	new.fua = false;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
	new = old;
	new.nsectors--;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
	new = old;
	new.max_hw_sectors--;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
	new = old;
	new.max_segments--;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors, &new));
}

/* What counts is the size that users saw last, which an administrator may have changed. */
static void changed__size_seen_last(struct kunit *test)
{
	struct rnbd_msg_open_rsp rsp = full_rsp();
	struct rnbd_dev_limits old, new;

	KUNIT_ASSERT_EQ(test, get(&rsp, &old), 0);
	new = old;
	KUNIT_EXPECT_NOT_NULL(test, rnbd_limits_changed(&old, old.nsectors + 1, &new));
	new.nsectors = 500000;
	KUNIT_EXPECT_NULL(test, rnbd_limits_changed(&old, 500000, &new));
}

static struct kunit_case negotiate_cases[] = {
	KUNIT_CASE(put__sess_info_bytes),
	KUNIT_CASE(put__open_bytes),
	KUNIT_CASE(put__close_bytes),
	KUNIT_CASE(put__io_bytes),
	KUNIT_CASE_PARAM(put__io_rw_word, rw_gen_params),
	KUNIT_CASE(sess_info_rsp__version_is_the_smaller),
	KUNIT_CASE(sess_info_rsp__other_type),
	KUNIT_CASE(open_rsp__everything),
	KUNIT_CASE(open_rsp__nothing_optional),
	KUNIT_CASE(open_rsp__other_type),
	KUNIT_CASE(open_rsp__block_sizes),
	KUNIT_CASE(open_rsp__size),
	KUNIT_CASE(open_rsp__limits_fit_a_request),
	KUNIT_CASE(open_rsp__discard_granularity),
	KUNIT_CASE(open_rsp__secure_erase_needs_discard),
	KUNIT_CASE(open_rsp__cache_policy),
	KUNIT_CASE(open_rsp__transport_too_small),
	KUNIT_CASE(open_rsp__any_flipped_bit_is_survived),
	KUNIT_CASE(changed__what_matters),
	KUNIT_CASE(changed__size_seen_last),
	{}
};

static struct kunit_suite negotiate_suite = {
	.name = "rnbd_negotiate",
	.test_cases = negotiate_cases,
};

kunit_test_suite(negotiate_suite);

MODULE_DESCRIPTION("Client side of the RNBD protocol");
MODULE_LICENSE("GPL");
