// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the codecs (protocol sections 2.3, 2.4, 4, 5 and 6).
 *
 * The samples are written byte by byte from the protocol, not made by the encoders: the same bytes
 * are what an encoder must give and what a decoder must take.
 */
#include <kunit/test.h>
#include "../proto/wire.h"

/* What the samples and their decoders agree on. */
#define QD	4
#define CHUNK	8192
#define OFF	4132
#define SLOT	0x321

static const u8 conn_req_sample[56] = {
	0x00, 0x00,			/* cma_version, ip_version */
	0xbd, 0x1b, 0x00, 0x02,		/* magic, version */
	0x03, 0x01, 0x05, 0x02,		/* cid 0x103, cid_num 0x205 */
	0x07, 0x06,			/* recon_cnt 0x607 */
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
	0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
	0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
	0x01,				/* first_conn */
};

static const u8 conn_rsp_sample[56] = {
	0xbd, 0x1b, 0x00, 0x02,		/* magic, version */
	0x00, 0x00, 0x01, 0x02,		/* error, queue_depth 513 */
	0x00, 0xf0, 0x01, 0x00,		/* max_io_size 126976 */
	0x04, 0x10, 0x00, 0x00,		/* max_hdr_size 4100 */
	0x02, 0x00, 0x00, 0x00,		/* NEW_RKEY */
};

static const u8 reject_sample[56] = {
	0xbd, 0x1b, 0x00, 0x02,
	0xef, 0xff,			/* -EEXIST */
};

static const u8 info_req_sample[272] = { 0x00, 0x00, 's', 'e', 's', 's', '1' };

static const u8 info_rsp_sample[40] = {
	0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x10, 0x00, 0x00, 0x01, 0x00, 0x00, 0x80,	/* addr 0x8000000100001000 */
	0x44, 0x33, 0x22, 0x11, 0x00, 0x40, 0x00, 0x00,	/* rkey 0x11223344, two chunks */
	0x00, 0x00, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00,	/* addr 0xf00000 */
	0x88, 0x77, 0x66, 0x55, 0x00, 0x40, 0x00, 0x00,	/* rkey 0x55667788, two chunks */
};

static const u8 write_sample[4] = { 0x02, 0x00, 0x24, 0x00 };

static const u8 read_empty_sample[8] = { 0x03, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00, 0x00 };

static const u8 read_sample[24] = {
	0x03, 0x00, 0x24, 0x00, 0x01, 0x00, 0x01, 0x00,	/* usr_len 36, NEED_INVAL, one desc */
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	0xd4, 0xc3, 0xb2, 0xa1, 0x00, 0x10, 0x00, 0x00,	/* rkey 0xa1b2c3d4, 4096 bytes */
};

static const u8 rkey_rsp_sample[8] = { 0x04, 0x00, 0x21, 0x03, 0xef, 0xbe, 0xad, 0xde };

/*
 * Decoders behind one signature.  Each returns what its decoder returned, and fails the test if
 * something was accepted that its caller must never see.
 */

static int decode_conn_req(struct kunit *test, const void *buf, size_t len)
{
	struct rtrs_conn_req req;
	int ret = rtrs_wire_get_conn_req(buf, len, &req);

	if (!ret) {
		KUNIT_EXPECT_LT(test, req.cid, req.cid_num);
		KUNIT_EXPECT_LE(test, req.cid_num, RTRS_MAX_CONS);
	}
	return ret;
}

static int decode_conn_rsp(struct kunit *test, const void *buf, size_t len)
{
	struct rtrs_conn_rsp rsp = { .error = 1 };
	int ret = rtrs_wire_get_conn_rsp(buf, len, &rsp);

	if (!ret) {
		KUNIT_EXPECT_EQ(test, rsp.error, 0);
		KUNIT_EXPECT_LE(test, rsp.queue_depth, (u32)RTRS_MAX_QUEUE_DEPTH);
	}
	return ret;
}

static int decode_info_req(struct kunit *test, const void *buf, size_t len)
{
	char *name = kunit_kmalloc(test, RTRS_NAME_LEN, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, name);
	ret = rtrs_wire_get_info_req(buf, len, name);
	if (!ret)
		KUNIT_EXPECT_TRUE(test, rtrs_wire_name_valid(name));
	return ret;
}

static int decode_info_rsp(struct kunit *test, const void *buf, size_t len)
{
	struct rtrs_rbuf *rbufs = kunit_kzalloc(test, QD * sizeof(*rbufs), GFP_KERNEL);
	int i, ret;

	KUNIT_ASSERT_NOT_NULL(test, rbufs);
	ret = rtrs_wire_get_info_rsp(buf, len, QD, QD, CHUNK, rbufs);
	if (ret < 0)
		return ret;
	KUNIT_EXPECT_EQ(test, ret, QD);
	for (i = 0; i < QD; i++)
		KUNIT_EXPECT_LE(test, rbufs[i].addr, U64_MAX - CHUNK);
	return 0;
}

static int decode_io_hdr(struct kunit *test, const void *buf, size_t len)
{
	struct rtrs_io_hdr io;
	int ret;

	memset(&io, 0xff, sizeof(io));
	ret = rtrs_wire_get_io_hdr(buf, len, OFF, &io);
	KUNIT_EXPECT_TRUE(test, io.has_desc || !io.need_inval);
	KUNIT_EXPECT_FALSE(test, io.has_desc && io.write);
	KUNIT_EXPECT_LE(test, io.len, io.data_len);
	if (ret) {
		KUNIT_EXPECT_EQ(test, io.usr_len | io.data_len | io.len, 0U);
		KUNIT_EXPECT_EQ(test, io.addr, 0ULL);
	} else {
		KUNIT_EXPECT_EQ(test, io.usr_len + io.data_len, (u32)OFF);
		KUNIT_EXPECT_EQ(test, io.has_desc, io.len > 0);
	}
	return ret;
}

static int decode_rkey_rsp(struct kunit *test, const void *buf, size_t len)
{
	u32 rkey;

	return rtrs_wire_get_rkey_rsp(buf, len, SLOT, &rkey);
}

struct decoder {
	const char *name;
	int (*decode)(struct kunit *test, const void *buf, size_t len);
	const u8 *sample;
	size_t len;
	int too_short;
	int malformed;
};

#define DECODER(_fn, _msg, _too_short, _malformed)				\
	{ #_msg, decode_##_fn, _msg##_sample, sizeof(_msg##_sample), _too_short, _malformed }

static const struct decoder decoders[] = {
	DECODER(conn_req, conn_req, -ECONNRESET, -ECONNRESET),
	DECODER(conn_rsp, conn_rsp, -ECONNRESET, -ECONNRESET),
	DECODER(info_req, info_req, -EINVAL, -EINVAL),
	DECODER(info_rsp, info_rsp, -EINVAL, -EINVAL),
	DECODER(io_hdr, write, -EPROTO, -EINVAL),
	DECODER(io_hdr, read_empty, -EPROTO, -EINVAL),
	DECODER(io_hdr, read, -EPROTO, -EINVAL),
	DECODER(rkey_rsp, rkey_rsp, -EPROTO, -EPROTO),
};

static void decoder_desc(const struct decoder *d, char *desc)
{
	strscpy(desc, d->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(decoder, decoders, decoder_desc);

/* Memory of exactly @len bytes behind @skip others, so that reading on is caught. */
static u8 *exact_copy(struct kunit *test, const u8 *data, size_t len, size_t skip)
{
	u8 *copy = kunit_kmalloc(test, skip + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy + skip, data, len);
	return copy + skip;
}

static void rtrs_wire_get__each_length(struct kunit *test)
{
	const struct decoder *d = test->param_value;
	size_t len;

	for (len = 0; len < d->len; len++)
		KUNIT_EXPECT_EQ_MSG(test, d->decode(test, exact_copy(test, d->sample, len, 0), len),
				    d->too_short, "length %zu", len);
}

static void rtrs_wire_get__each_alignment(struct kunit *test)
{
	const struct decoder *d = test->param_value;
	size_t skip;

	for (skip = 0; skip < 8; skip++)
		KUNIT_EXPECT_EQ_MSG(test, d->decode(test, exact_copy(test, d->sample, d->len, skip),
						    d->len), 0, "alignment %zu", skip);
}

static void rtrs_wire_get__more_than_the_message(struct kunit *test)
{
	const struct decoder *d = test->param_value;
	size_t more;
	u8 *copy;

	copy = kunit_kmalloc(test, d->len + 140, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	memset(copy, 0xff, d->len + 140);
	memcpy(copy, d->sample, d->len);
	for (more = 1; more <= 140; more++)
		KUNIT_EXPECT_EQ(test, d->decode(test, copy, d->len + more), 0);
}

static void rtrs_wire_get__each_bit(struct kunit *test)
{
	const struct decoder *d = test->param_value;
	u8 *copy = exact_copy(test, d->sample, d->len, 0);
	size_t bit;
	int ret;

	for (bit = 0; bit < d->len * 8; bit++) {
		copy[bit / 8] ^= 1 << bit % 8;
		ret = d->decode(test, copy, d->len);
		KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == d->malformed || ret == d->too_short,
				      "bit %zu: %d", bit, ret);
		copy[bit / 8] ^= 1 << bit % 8;
	}
}

/* Two wrong bytes at once, over the start of the message where its lengths and counts are. */
static void rtrs_wire_get__each_pair_of_bytes(struct kunit *test)
{
	static const u8 values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	const struct decoder *d = test->param_value;
	u8 *copy = exact_copy(test, d->sample, d->len, 0);
	size_t nr = d->len < 24 ? d->len : 24;
	size_t a, b, i;
	int ret;

	for (a = 0; a < nr; a++) {
		for (b = 0; b < a; b++) {
			for (i = 0; i < ARRAY_SIZE(values) * ARRAY_SIZE(values); i++) {
				copy[a] = values[i / ARRAY_SIZE(values)];
				copy[b] = values[i % ARRAY_SIZE(values)];
				ret = d->decode(test, copy, d->len);
				KUNIT_ASSERT_TRUE(test, !ret || ret == d->malformed ||
						  ret == d->too_short);
			}
			copy[b] = d->sample[b];
		}
		copy[a] = d->sample[a];
	}
}

/* A sample with some bytes replaced. */
struct patch_case {
	const char *name;
	int (*decode)(struct kunit *test, const void *buf, size_t len);
	const u8 *sample;
	size_t len;
	int ret;
	size_t off;
	u8 nr;
	u8 bytes[8];
};

#define PATCH(_name, _fn, _msg, _ret, _off, ...)				\
	{ _name, decode_##_fn, _msg##_sample, sizeof(_msg##_sample), _ret, _off,\
	  sizeof((u8[]){ __VA_ARGS__ }), { __VA_ARGS__ } }

#define REQ(_name, ...)		PATCH("conn_req: " _name, conn_req, conn_req, __VA_ARGS__)
#define RSP(_name, ...)		PATCH("conn_rsp: " _name, conn_rsp, conn_rsp, __VA_ARGS__)
#define INFO(_name, ...)	PATCH("info_req: " _name, info_req, info_req, __VA_ARGS__)
#define WRITE_HDR(_name, ...)	PATCH("write: " _name, io_hdr, write, __VA_ARGS__)
#define READ_HDR(_name, ...)	PATCH("read: " _name, io_hdr, read, __VA_ARGS__)
#define RKEY(_name, ...)	PATCH("rkey_rsp: " _name, rkey_rsp, rkey_rsp, __VA_ARGS__)

static const struct patch_case patch_cases[] = {
	REQ("byte of the CM core", 0, 0, 0x60),
	REQ("ip_version", -ECONNRESET, 1, 0x40),
	REQ("magic, low byte", -ECONNRESET, 2, 0xbc),
	REQ("magic, high byte", -ECONNRESET, 3, 0x1a),
	REQ("magic, swapped", -ECONNRESET, 2, 0x1b, 0xbd),
	REQ("newer minor version", 0, 4, 0xff),
	REQ("older major version", -ECONNRESET, 5, 0x01),
	REQ("newer major version", -ECONNRESET, 5, 0x03),
	REQ("version, swapped", -ECONNRESET, 4, 0x02, 0x00),
	REQ("last cid", 0, 6, 0x04, 0x02),
	REQ("cid is cid_num", -ECONNRESET, 6, 0x05, 0x02),
	REQ("cid above cid_num", -ECONNRESET, 6, 0xff, 0xff),
	REQ("no connections", -ECONNRESET, 6, 0, 0, 0, 0),
	REQ("one connection", 0, 6, 0, 0, 1, 0),
	REQ("4096 connections", 0, 8, 0x00, 0x10),
	REQ("4097 connections", -ECONNRESET, 8, 0x01, 0x10),
	REQ("65535 connections", -ECONNRESET, 8, 0xff, 0xff),
	REQ("all flags", 0, 44, 0xff),
	REQ("chunks without the extension", 0, 48, 1, 2, 3, 4),
	REQ("reserved bytes", 0, 52, 1, 2, 3, 4),
	RSP("magic", -ECONNRESET, 0, 0xbc),
	RSP("newer minor version", 0, 2, 0x01),
	RSP("newer major version", -ECONNRESET, 3, 0x03),
	RSP("error", -ECONNRESET, 4, 0x98, 0xff),
	RSP("positive error", -ECONNRESET, 4, 0x01, 0x00),
	RSP("error in the high byte only", -ECONNRESET, 4, 0x00, 0x80),
	RSP("all flags", 0, 16, 0xff, 0xff, 0xff, 0xff),
	RSP("reserved bytes", 0, 48, 1, 2, 3, 4, 5, 6, 7, 8),
	INFO("other type", -EINVAL, 0, 0x01),
	INFO("other type, high byte", -EINVAL, 1, 0x01),
	INFO("no name", -EINVAL, 2, 0),
	INFO("slash in front", -EINVAL, 2, '/'),
	INFO("slash within", -EINVAL, 4, '/'),
	INFO("dot at the end", -EINVAL, 7, '.'),
	INFO("slash after the end", 0, 8, '/', '.'),
	INFO("shortest name", 0, 3, 0),
	INFO("bytes above 127", 0, 2, 0xc3, 0xa4),
	INFO("reserved bytes", 0, 257, 1, 2, 3),
	INFO("key of the table", 0, 260, 1, 2, 3, 4),
	INFO("address of the table", 0, 264, 1, 2, 3, 4, 5, 6, 7, 8),
	WRITE_HDR("type 0", -EPROTO, 0, 0x00),
	WRITE_HDR("type 1", -EPROTO, 0, 0x01),
	WRITE_HDR("type 4", -EPROTO, 0, 0x04),
	WRITE_HDR("type, high byte", -EPROTO, 1, 0x01),
	WRITE_HDR("no user message", 0, 2, 0, 0),
	WRITE_HDR("no data", 0, 2, 0x24, 0x10),
	WRITE_HDR("user message a byte too long", -EINVAL, 2, 0x25, 0x10),
	WRITE_HDR("longest user message", -EINVAL, 2, 0xff, 0xff),
	READ_HDR("no data room, but a descriptor", -EINVAL, 2, 0x24, 0x10),
	READ_HDR("user message a byte too long", -EINVAL, 2, 0x25, 0x10),
	READ_HDR("no flags", 0, 4, 0, 0),
	READ_HDR("all flags", 0, 4, 0xff, 0xff),
	READ_HDR("no descriptor", 0, 6, 0, 0),
	READ_HDR("two descriptors", -EINVAL, 6, 2, 0),
	READ_HDR("256 descriptors", -EINVAL, 6, 0, 1),
	READ_HDR("length 0", -EINVAL, 20, 0, 0, 0, 0),
	READ_HDR("length 1", 0, 20, 1, 0, 0, 0),
	READ_HDR("length above the room", -EINVAL, 20, 0x01, 0x10, 0, 0),
	READ_HDR("length with all bits", -EINVAL, 20, 0xff, 0xff, 0xff, 0xff),
	READ_HDR("user message takes the room", -EINVAL, 2, 0x25, 0x00),
	RKEY("other type", -EPROTO, 0, 0x03),
	RKEY("type, high byte", -EPROTO, 1, 0x80),
	RKEY("other slot", -EPROTO, 2, 0x20),
	RKEY("other slot, high byte", -EPROTO, 3, 0x02),
	RKEY("any key", 0, 4, 0, 0, 0, 0),
};

static void patch_case_desc(const struct patch_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(patch, patch_cases, patch_case_desc);

static void rtrs_wire_get__field(struct kunit *test)
{
	const struct patch_case *c = test->param_value;
	u8 *copy = exact_copy(test, c->sample, c->len, 0);

	memcpy(copy + c->off, c->bytes, c->nr);
	KUNIT_EXPECT_EQ(test, c->decode(test, copy, c->len), c->ret);
}

static void rtrs_wire_conn_req__encode(struct kunit *test)
{
	struct rtrs_conn_req req = {
		.cid = 0x103, .cid_num = 0x205, .recon_cnt = 0x607, .first_conn = true,
	};
	struct rtrs_msg_conn_req msg;
	int i;

	for (i = 0; i < 16; i++) {
		req.path_uuid[i] = 0x10 + i;
		req.sess_uuid[i] = 0x20 + i;
	}
	memset(&msg, 0xff, sizeof(msg));
	rtrs_wire_put_conn_req(&msg, &req);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, conn_req_sample, sizeof(msg)), 0);
	req.first_conn = false;
	rtrs_wire_put_conn_req(&msg, &req);
	KUNIT_EXPECT_EQ(test, (int)msg.flags, 0);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, conn_req_sample, 44), 0);
}

static void rtrs_wire_conn_req__decode(struct kunit *test)
{
	u8 *copy = exact_copy(test, conn_req_sample, sizeof(conn_req_sample), 0);
	struct rtrs_conn_req req;

	memset(&req, 0xff, sizeof(req));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(copy, 56, &req), 0);
	KUNIT_EXPECT_EQ(test, (int)req.cid, 0x103);
	KUNIT_EXPECT_EQ(test, (int)req.cid_num, 0x205);
	KUNIT_EXPECT_EQ(test, (int)req.recon_cnt, 0x607);
	KUNIT_EXPECT_TRUE(test, req.first_conn);
	KUNIT_EXPECT_EQ(test, memcmp(req.path_uuid, conn_req_sample + 12, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(req.sess_uuid, conn_req_sample + 28, 16), 0);
	copy[44] = 0xfe;
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_req(copy, 56, &req), 0);
	KUNIT_EXPECT_FALSE(test, req.first_conn);
}

static void rtrs_wire_conn_rsp__encode(struct kunit *test)
{
	struct rtrs_conn_rsp rsp = {
		.queue_depth = 513, .max_io_size = 126976, .max_hdr_size = 4100, .new_rkey = true,
	};
	struct rtrs_msg_conn_rsp msg;

	memset(&msg, 0xff, sizeof(msg));
	rtrs_wire_put_conn_rsp(&msg, &rsp);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, conn_rsp_sample, sizeof(msg)), 0);
	rsp.new_rkey = false;
	rtrs_wire_put_conn_rsp(&msg, &rsp);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(msg.flags), 0U);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, conn_rsp_sample, 16), 0);
}

static void rtrs_wire_conn_rsp__encode_reject(struct kunit *test)
{
	struct rtrs_conn_rsp rsp = {
		.error = -EEXIST,
		.queue_depth = 513, .max_io_size = 126976, .max_hdr_size = 4100, .new_rkey = true,
	};
	struct rtrs_msg_conn_rsp msg;

	memset(&msg, 0xff, sizeof(msg));
	rtrs_wire_put_conn_rsp(&msg, &rsp);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, reject_sample, sizeof(msg)), 0);
}

static void rtrs_wire_conn_rsp__decode(struct kunit *test)
{
	u8 *copy = exact_copy(test, conn_rsp_sample, sizeof(conn_rsp_sample), 0);
	struct rtrs_conn_rsp rsp;

	memset(&rsp, 0xff, sizeof(rsp));
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(copy, 56, &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.error, 0);
	KUNIT_EXPECT_EQ(test, rsp.queue_depth, 513U);
	KUNIT_EXPECT_EQ(test, rsp.max_io_size, 126976U);
	KUNIT_EXPECT_EQ(test, rsp.max_hdr_size, 4100U);
	KUNIT_EXPECT_TRUE(test, rsp.new_rkey);
	copy[16] = 0xfd;
	KUNIT_ASSERT_EQ(test, rtrs_wire_get_conn_rsp(copy, 56, &rsp), 0);
	KUNIT_EXPECT_FALSE(test, rsp.new_rkey);
}

struct reject_case {
	const char *name;
	size_t len;
	size_t off;
	u8 bytes[2];
	int err;
};

static const struct reject_case reject_cases[] = {
	{ "EEXIST", 56, 4, { 0xef, 0xff }, -EEXIST },
	{ "ECONNRESET", 56, 4, { 0x98, 0xff }, -ECONNRESET },
	{ "ENXIO", 56, 4, { 0xfa, 0xff }, -ENXIO },
	{ "EPERM", 56, 4, { 0xff, 0xff }, -EPERM },
	{ "lowest errno", 56, 4, { 0x01, 0xfe }, -511 },
	{ "ERESTARTSYS, the kernel's own", 56, 4, { 0x00, 0xfe }, -ECONNRESET },
	{ "EIOCBQUEUED, on which write() oopses", 56, 4, { 0xef, 0xfd }, -ECONNRESET },
	{ "lowest number", 56, 4, { 0x00, 0x80 }, -ECONNRESET },
	{ "0", 56, 4, { 0, 0 }, -ECONNRESET },
	{ "1", 56, 4, { 1, 0 }, -ECONNRESET },
	{ "highest number", 56, 4, { 0xff, 0x7f }, -ECONNRESET },
	{ "magic", 56, 0, { 0xbc, 0x1b }, -ECONNRESET },
	{ "newer minor version", 56, 2, { 0x07, 0x02 }, -EEXIST },
	{ "newer major version", 56, 2, { 0x00, 0x03 }, -ECONNRESET },
	{ "a byte short", 55, 4, { 0xef, 0xff }, -ECONNRESET },
	{ "only the errno", 6, 4, { 0xef, 0xff }, -ECONNRESET },
};

static void reject_case_desc(const struct reject_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(reject, reject_cases, reject_case_desc);

static void rtrs_wire_get_reject__table(struct kunit *test)
{
	const struct reject_case *c = test->param_value;
	u8 *copy = exact_copy(test, reject_sample, c->len, 1);

	memcpy(copy + c->off, c->bytes, 2);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_reject(copy, c->len), c->err);
}

static void rtrs_wire_get_reject__each_length_and_bit(struct kunit *test)
{
	size_t len, bit;
	u8 *copy;
	int err;

	KUNIT_EXPECT_EQ(test, rtrs_wire_get_reject(NULL, 0), -ECONNRESET);
	for (len = 0; len < sizeof(reject_sample); len++)
		KUNIT_EXPECT_EQ(test, rtrs_wire_get_reject(exact_copy(test, reject_sample, len, 0),
							   len), -ECONNRESET);
	for (bit = 0; bit < sizeof(reject_sample) * 8; bit++) {
		copy = exact_copy(test, reject_sample, sizeof(reject_sample), 0);
		copy[bit / 8] ^= 1 << bit % 8;
		err = rtrs_wire_get_reject(copy, sizeof(reject_sample));
		KUNIT_EXPECT_LT_MSG(test, err, 0, "bit %zu", bit);
		KUNIT_EXPECT_GE_MSG(test, err, -4095, "bit %zu", bit);
	}
	/* What the CM delivers, with something behind the message. */
	copy = kunit_kzalloc(test, 148, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, reject_sample, sizeof(reject_sample));
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_reject(copy, 148), -EEXIST);
}

static void rtrs_wire_get__result_untouched_on_error(struct kunit *test)
{
	struct { struct rtrs_conn_req req; struct rtrs_conn_rsp rsp; u32 rkey; char name[255]; } *out;
	u8 *copy = exact_copy(test, conn_req_sample, 56, 0);
	size_t i;

	out = kunit_kmalloc(test, sizeof(*out), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);
	memset(out, 0x5a, sizeof(*out));
	memset(copy + 8, 0, 2);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_conn_req(copy, 56, &out->req), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_conn_rsp(reject_sample, 56, &out->rsp), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_rkey_rsp(rkey_rsp_sample, 8, SLOT + 1, &out->rkey),
			-EPROTO);
	/* The slot of an immediate has 19 bits, that of the message 16. */
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_rkey_rsp(rkey_rsp_sample, 8, SLOT + 0x10000, &out->rkey),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_info_req(info_req_sample, 271, out->name), -EINVAL);
	for (i = 0; i < sizeof(*out); i++)
		KUNIT_ASSERT_EQ_MSG(test, ((u8 *)out)[i], 0x5a, "byte %zu", i);
}

static void rtrs_wire_rkey_rsp__both_ways(struct kunit *test)
{
	struct rtrs_msg_rkey_rsp msg;
	u32 rkey = 0;

	memset(&msg, 0xff, sizeof(msg));
	rtrs_wire_put_rkey_rsp(&msg, SLOT, 0xdeadbeef);
	KUNIT_EXPECT_EQ(test, memcmp(&msg, rkey_rsp_sample, sizeof(msg)), 0);
	KUNIT_EXPECT_EQ(test, rtrs_wire_get_rkey_rsp(rkey_rsp_sample, 8, SLOT, &rkey), 0);
	KUNIT_EXPECT_EQ(test, rkey, 0xdeadbeef);
}

static struct kunit_case rtrs_wire_cases[] = {
	KUNIT_CASE_PARAM(rtrs_wire_get__each_length, decoder_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get__each_alignment, decoder_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get__more_than_the_message, decoder_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get__each_bit, decoder_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get__each_pair_of_bytes, decoder_gen_params),
	KUNIT_CASE_PARAM(rtrs_wire_get__field, patch_gen_params),
	KUNIT_CASE(rtrs_wire_get__result_untouched_on_error),
	KUNIT_CASE(rtrs_wire_conn_req__encode),
	KUNIT_CASE(rtrs_wire_conn_req__decode),
	KUNIT_CASE(rtrs_wire_conn_rsp__encode),
	KUNIT_CASE(rtrs_wire_conn_rsp__encode_reject),
	KUNIT_CASE(rtrs_wire_conn_rsp__decode),
	KUNIT_CASE_PARAM(rtrs_wire_get_reject__table, reject_gen_params),
	KUNIT_CASE(rtrs_wire_get_reject__each_length_and_bit),
	KUNIT_CASE(rtrs_wire_rkey_rsp__both_ways),
	{}
};

static struct kunit_suite rtrs_wire_suite = {
	.name = "rtrs_wire",
	.test_cases = rtrs_wire_cases,
};

kunit_test_suite(rtrs_wire_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS codecs: all decoders, connection messages");
MODULE_LICENSE("GPL");
