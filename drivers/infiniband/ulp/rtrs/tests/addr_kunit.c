// SPDX-License-Identifier: GPL-2.0-only
/* Tests of path addresses (API specification section 4). */
#include <kunit/test.h>
#include "../proto/addr.h"

#define ZERO_8	0, 0, 0, 0, 0, 0, 0, 0

/* Copy of a text in memory of exactly its length, without NUL, so that reading on is caught. */
static char *exact_copy(struct kunit *test, const char *text, size_t len)
{
	char *copy = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, text, len);
	return copy;
}

static bool all_zero(const void *memory, size_t len)
{
	const u8 *bytes = memory;

	while (len--)
		if (*bytes++)
			return false;
	return true;
}

struct parse_v4_case {
	const char *text;
	u8 addr[4];
};

static const struct parse_v4_case parse_v4_cases[] = {
	{ "ip:0.0.0.0", { 0, 0, 0, 0 } },
	{ "ip:1.2.3.4", { 1, 2, 3, 4 } },
	{ "ip:127.0.0.1", { 127, 0, 0, 1 } },
	{ "ip:255.255.255.255", { 255, 255, 255, 255 } },
	{ "ip:192.168.100.200", { 192, 168, 100, 200 } },
	{ "ip:010.020.030.040", { 10, 20, 30, 40 } },
};

static void parse_v4_case_desc(const struct parse_v4_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(parse_v4, parse_v4_cases, parse_v4_case_desc);

static void rtrs_addr_parse__v4(struct kunit *test)
{
	const struct parse_v4_case *c = test->param_value;
	size_t len = strlen(c->text);
	struct sockaddr_storage ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

	memset(&ss, 0xff, sizeof(ss));
	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(exact_copy(test, c->text, len), len, 0x1234, &ss), 0);
	KUNIT_EXPECT_EQ(test, (int)sin->sin_family, AF_INET);
	KUNIT_EXPECT_EQ(test, memcmp(&sin->sin_port, "\x12\x34", 2), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&sin->sin_addr, c->addr, 4), 0);
	KUNIT_EXPECT_TRUE(test, all_zero((u8 *)&ss + 8, sizeof(ss) - 8));
}

struct parse_v6_case {
	const char *text;
	u8 addr[16];
};

static const struct parse_v6_case parse_v6_cases[] = {
	{ "ip:::", { ZERO_8, ZERO_8 } },
	{ "ip:::1", { ZERO_8, 0, 0, 0, 0, 0, 0, 0, 1 } },
	{ "ip:1::", { 0, 1, 0, 0, 0, 0, 0, 0, ZERO_8 } },
	{ "ip:fe80::1", { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } },
	{ "ip:FE80::AbCd", { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xcd } },
	{ "ip:1:2:3:4:5:6:7:8", { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 } },
	{ "ip:2001:db8:0:1::2:3", { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 3 } },
	{ "ip:0011:2233:4455:6677:8899:aabb:ccdd:eeff",
	  { 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	    0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff } },
	{ "ip:::ffff:1.2.3.4", { ZERO_8, 0, 0, 0xff, 0xff, 1, 2, 3, 4 } },
	{ "ip:ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
};

static void parse_v6_case_desc(const struct parse_v6_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(parse_v6, parse_v6_cases, parse_v6_case_desc);

static void rtrs_addr_parse__v6(struct kunit *test)
{
	const struct parse_v6_case *c = test->param_value;
	size_t len = strlen(c->text);
	struct sockaddr_storage ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;

	memset(&ss, 0xff, sizeof(ss));
	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(exact_copy(test, c->text, len), len, 0xfedc, &ss), 0);
	KUNIT_EXPECT_EQ(test, (int)sin6->sin6_family, AF_INET6);
	KUNIT_EXPECT_EQ(test, memcmp(&sin6->sin6_port, "\xfe\xdc", 2), 0);
	KUNIT_EXPECT_TRUE(test, all_zero(&sin6->sin6_flowinfo, 4));
	KUNIT_EXPECT_EQ(test, memcmp(&sin6->sin6_addr, c->addr, 16), 0);
	KUNIT_EXPECT_TRUE(test, all_zero((u8 *)&ss + 24, sizeof(ss) - 24));
}

struct parse_gid_case {
	const char *text;
	u16 port;
	u8 addr[16];
	u8 sid[8];
};

static const struct parse_gid_case parse_gid_cases[] = {
	{ "gid:fe80:0000:0000:0000:0002:c903:0010:c0d5", 1234,
	  { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0x10, 0xc0, 0xd5 },
	  { 0, 0, 0, 0, 1, 0x3f, 0x04, 0xd2 } },
	{ "gid:fe80::1", 0,
	  { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  { 0, 0, 0, 0, 1, 0x3f, 0, 0 } },
	{ "gid:::", 0x8000, { ZERO_8, ZERO_8 }, { 0, 0, 0, 0, 1, 0x3f, 0x80, 0 } },
	{ "gid:::2", 0xffff, { ZERO_8, 0, 0, 0, 0, 0, 0, 0, 2 },
	  { 0, 0, 0, 0, 1, 0x3f, 0xff, 0xff } },
};

static void parse_gid_case_desc(const struct parse_gid_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(parse_gid, parse_gid_cases, parse_gid_case_desc);

static void rtrs_addr_parse__gid(struct kunit *test)
{
	const struct parse_gid_case *c = test->param_value;
	size_t len = strlen(c->text);
	struct sockaddr_storage ss;
	struct sockaddr_ib *sib = (struct sockaddr_ib *)&ss;

	memset(&ss, 0xff, sizeof(ss));
	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(exact_copy(test, c->text, len), len, c->port, &ss), 0);
	KUNIT_EXPECT_EQ(test, (int)sib->sib_family, AF_IB);
	KUNIT_EXPECT_EQ(test, memcmp(&sib->sib_pkey, "\xff\xff", 2), 0);
	KUNIT_EXPECT_TRUE(test, all_zero(&sib->sib_flowinfo, 4));
	KUNIT_EXPECT_EQ(test, memcmp(&sib->sib_addr, c->addr, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&sib->sib_sid, c->sid, 8), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&sib->sib_sid_mask, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 0);
	KUNIT_EXPECT_TRUE(test, all_zero((u8 *)&ss + 40, sizeof(ss) - 40));
}

struct parse_bad_case {
	const char *name;
	const char *text;
	size_t len;
	int ret;
};

#define BAD(_name, _text, _ret)	{ _name, _text, sizeof(_text) - 1, _ret }

static const struct parse_bad_case parse_bad_cases[] = {
	BAD("empty", "", -EPROTONOSUPPORT),
	BAD("no prefix", "10.0.0.1", -EPROTONOSUPPORT),
	BAD("no colon", "ip", -EPROTONOSUPPORT),
	BAD("half a prefix", "gid", -EPROTONOSUPPORT),
	BAD("other prefix", "ib:fe80::1", -EPROTONOSUPPORT),
	BAD("upper case prefix", "IP:10.0.0.1", -EPROTONOSUPPORT),
	BAD("blank before", " ip:10.0.0.1", -EPROTONOSUPPORT),
	BAD("prefix within", "xip:10.0.0.1", -EPROTONOSUPPORT),
	BAD("other character for the colon", "ip.10.0.0.1", -EPROTONOSUPPORT),
	BAD("other character for the colon, gid", "gid;fe80::1", -EPROTONOSUPPORT),
	BAD("ip, nothing else", "ip:", -EINVAL),
	BAD("gid, nothing else", "gid:", -EINVAL),
	BAD("three numbers", "ip:10.0.0", -EINVAL),
	BAD("five numbers", "ip:10.0.0.1.2", -EINVAL),
	BAD("number above 255", "ip:10.0.0.256", -EINVAL),
	BAD("number that overflows", "ip:10.0.0.4294967297", -EINVAL),
	BAD("longer than an address can be", "ip:0010.020.030.040", -EINVAL),
	BAD("dot at the end", "ip:10.0.0.1.", -EINVAL),
	BAD("dot at the start", "ip:.10.0.0.1", -EINVAL),
	BAD("two dots", "ip:10..0.1", -EINVAL),
	BAD("newline", "ip:10.0.0.1\n", -EINVAL),
	BAD("blank after the prefix", "ip: 10.0.0.1", -EINVAL),
	BAD("blank at the end", "ip:10.0.0.1 ", -EINVAL),
	BAD("NUL at the end", "ip:10.0.0.1\0", -EINVAL),
	BAD("NUL and more", "ip:10.0.0.1\0xx", -EINVAL),
	BAD("colon at the end", "ip:10.0.0.1:", -EINVAL),
	BAD("port", "ip:10.0.0.1:1234", -EINVAL),
	BAD("comma", "ip:10.0.0.1,", -EINVAL),
	BAD("at sign", "ip:10.0.0.1@", -EINVAL),
	BAD("host name", "ip:localhost", -EINVAL),
	BAD("negative number", "ip:-1.0.0.1", -EINVAL),
	BAD("two prefixes", "ip:ip:10.0.0.1", -EINVAL),
	BAD("v4 as gid", "gid:10.0.0.1", -EINVAL),
	BAD("v6 newline", "ip:fe80::1\n", -EINVAL),
	BAD("v6 NUL", "ip:fe80::1\0", -EINVAL),
	BAD("v6 scope", "ip:fe80::1%eth0", -EINVAL),
	BAD("v6 prefix length", "ip:fe80::1/64", -EINVAL),
	BAD("v6 brackets", "ip:[fe80::1]", -EINVAL),
	BAD("v6 two gaps", "ip:1::2::3", -EINVAL),
	BAD("v6 three colons", "ip:1:::2", -EINVAL),
	BAD("v6 one colon", "ip::", -EINVAL),
	BAD("v6 seven groups", "ip:1:2:3:4:5:6:7", -EINVAL),
	BAD("v6 nine groups", "ip:1:2:3:4:5:6:7:8:9", -EINVAL),
	BAD("v6 group too long", "ip:12345::", -EINVAL),
	BAD("v6 colon at the start", "ip::1:2:3:4:5:6:7", -EINVAL),
	BAD("v6 colon at the end", "ip:1:2:3:4:5:6:7:", -EINVAL),
	BAD("v6 no hex", "ip:fe80::g", -EINVAL),
	BAD("v6 with half a v4", "ip:::ffff:1.2.3", -EINVAL),
	BAD("v6 too long", "ip:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", -EINVAL),
	BAD("gid newline", "gid:fe80::1\n", -EINVAL),
	BAD("gid half", "gid:fe80:0000:0000:0000", -EINVAL),
};

static void parse_bad_case_desc(const struct parse_bad_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(parse_bad, parse_bad_cases, parse_bad_case_desc);

static void rtrs_addr_parse__bad(struct kunit *test)
{
	const struct parse_bad_case *c = test->param_value;
	struct sockaddr_storage ss;

	memset(&ss, 0, sizeof(ss));
	KUNIT_EXPECT_EQ(test, rtrs_addr_parse(exact_copy(test, c->text, c->len), c->len, 1, &ss),
			c->ret);
	KUNIT_EXPECT_TRUE(test, all_zero(&ss, sizeof(ss)));
}

/* What is accepted must be an address that is the same after it was written and read again. */
static void check_parse(struct kunit *test, const char *text, size_t len)
{
	struct sockaddr_storage ss, again;
	char out[RTRS_ADDR_STR_LEN];
	int ret;

	ret = rtrs_addr_parse(text, len, 1234, &ss);
	if (ret) {
		KUNIT_ASSERT_TRUE(test, ret == -EINVAL || ret == -EPROTONOSUPPORT);
		return;
	}
	ret = rtrs_addr_format((struct sockaddr *)&ss, out, sizeof(out));
	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(out, ret, 1234, &again), 0);
	KUNIT_ASSERT_EQ(test, memcmp(&ss, &again, sizeof(ss)), 0);
}

static const char * const samples[] = {
	"ip:192.168.0.1",
	"ip:fe80::1:2:3:4",
	"ip:1:2:3:4:5:6:7:8",
	"ip:::ffff:10.20.30.40",
	"gid:fe80:0000:0000:0000:0002:c903:0010:c0d5",
};

static void rtrs_addr_parse__each_length(struct kunit *test)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		for (len = 0; len <= strlen(samples[i]); len++)
			check_parse(test, exact_copy(test, samples[i], len), len);
}

static void rtrs_addr_parse__each_bit(struct kunit *test)
{
	size_t i, len, bit;
	char *copy;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		len = strlen(samples[i]);
		copy = exact_copy(test, samples[i], len);
		for (bit = 0; bit < len * 8; bit++) {
			copy[bit / 8] ^= 1 << bit % 8;
			check_parse(test, copy, len);
			copy[bit / 8] ^= 1 << bit % 8;
		}
	}
}

struct split_case {
	const char *text;
	int ret;
	size_t src_len;
	size_t dst_off;
};

static const struct split_case split_cases[] = {
	{ "ip:1.1.1.1", 0, 0, 0 },
	{ "ip:1.1.1.1,ip:2.2.2.2", 1, 10, 11 },
	{ "ip:1.1.1.1@ip:2.2.2.2", 1, 10, 11 },
	{ "a,b", 1, 1, 2 },
	{ "a@b", 1, 1, 2 },
	{ "a@b,c", 1, 3, 4 },
	{ "a,b@c", 1, 1, 2 },
	{ "a,b,c", 1, 1, 2 },
	{ "a@b@c", 1, 1, 2 },
	{ "", 0, 0, 0 },
	{ ",", -EINVAL, 99, 99 },
	{ "@", -EINVAL, 99, 99 },
	{ ",b", -EINVAL, 99, 99 },
	{ "a,", -EINVAL, 99, 99 },
	{ "@b", -EINVAL, 99, 99 },
	{ "a@", -EINVAL, 99, 99 },
	{ "a@b,", -EINVAL, 99, 99 },
};

static void split_case_desc(const struct split_case *c, char *desc)
{
	scnprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%s'", c->text);
}

KUNIT_ARRAY_PARAM(split, split_cases, split_case_desc);

static void rtrs_addr_split__table(struct kunit *test)
{
	const struct split_case *c = test->param_value;
	size_t len = strlen(c->text), src_len = 99, dst_off = 99;

	KUNIT_EXPECT_EQ(test, rtrs_addr_split(exact_copy(test, c->text, len), len,
					      &src_len, &dst_off), c->ret);
	KUNIT_EXPECT_EQ(test, src_len, c->src_len);
	KUNIT_EXPECT_EQ(test, dst_off, c->dst_off);
}

static void rtrs_addr_split__separator_beyond_length(struct kunit *test)
{
	size_t src_len = 99, dst_off = 99;

	KUNIT_EXPECT_EQ(test, rtrs_addr_split("abc,d@e", 3, &src_len, &dst_off), 0);
	KUNIT_EXPECT_EQ(test, src_len, 0UL);
	KUNIT_EXPECT_EQ(test, dst_off, 0UL);
	KUNIT_EXPECT_EQ(test, rtrs_addr_split("abc@de,f", 6, &src_len, &dst_off), 1);
	KUNIT_EXPECT_EQ(test, src_len, 3UL);
	KUNIT_EXPECT_EQ(test, dst_off, 4UL);
}

struct same_host_case {
	const char *name;
	const char *a;
	const char *b;
	bool same;
};

static const struct same_host_case same_host_cases[] = {
	{ "v4 same", "ip:10.0.0.1", "ip:10.0.0.1", true },
	{ "v4 first byte", "ip:10.0.0.1", "ip:11.0.0.1", false },
	{ "v4 last byte", "ip:10.0.0.1", "ip:10.0.0.2", false },
	{ "v6 same", "ip:fe80::1", "ip:fe80:0:0:0:0:0:0:1", true },
	{ "v6 first byte", "ip:fe80::1", "ip:fd80::1", false },
	{ "v6 last byte", "ip:fe80::1", "ip:fe80::2", false },
	{ "gid same", "gid:fe80::1", "gid:fe80::1", true },
	{ "gid first byte", "gid:fe80::1", "gid:fd80::1", false },
	{ "gid last byte", "gid:fe80::1", "gid:fe80::2", false },
	{ "v4 and v6", "ip:0.0.0.0", "ip:::", false },
	{ "v4 and mapped v4", "ip:1.2.3.4", "ip:::ffff:1.2.3.4", false },
	{ "v6 and gid", "ip:fe80::1", "gid:fe80::1", false },
	{ "v4 and gid", "ip:0.0.0.0", "gid:::", false },
};

static void same_host_case_desc(const struct same_host_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(same_host, same_host_cases, same_host_case_desc);

static void rtrs_addr_same_host__table(struct kunit *test)
{
	const struct same_host_case *c = test->param_value;
	struct sockaddr_storage a, b;

	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(c->a, strlen(c->a), 1, &a), 0);
	/* The port never counts. */
	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(c->b, strlen(c->b), 0xffff, &b), 0);
	KUNIT_EXPECT_EQ(test, rtrs_addr_same_host((struct sockaddr *)&a, (struct sockaddr *)&b),
			c->same);
	KUNIT_EXPECT_EQ(test, rtrs_addr_same_host((struct sockaddr *)&b, (struct sockaddr *)&a),
			c->same);
}

static void rtrs_addr_same_host__unknown_family(struct kunit *test)
{
	struct sockaddr_storage a;

	memset(&a, 0, sizeof(a));
	a.ss_family = AF_UNIX;
	KUNIT_EXPECT_FALSE(test, rtrs_addr_same_host((struct sockaddr *)&a, (struct sockaddr *)&a));
	a.ss_family = AF_UNSPEC;
	KUNIT_EXPECT_FALSE(test, rtrs_addr_same_host((struct sockaddr *)&a, (struct sockaddr *)&a));
}

struct format_case {
	const char *in;
	const char *out;
};

static const struct format_case format_cases[] = {
	{ "ip:1.2.3.4", "ip:1.2.3.4" },
	{ "ip:255.255.255.255", "ip:255.255.255.255" },
	{ "ip:::", "ip:::" },
	{ "ip:::1", "ip:::1" },
	{ "ip:FE80:0:0:0:0:0:0:1", "ip:fe80::1" },
	{ "ip:1:0:0:2:0:0:0:3", "ip:1:0:0:2::3" },
	{ "ip:1:0:2:3:4:5:6:7", "ip:1:0:2:3:4:5:6:7" },
	{ "ip:2001:0db8:0000:0000:0000:0000:0000:0000", "ip:2001:db8::" },
	{ "ip:::ffff:1.2.3.4", "ip:::ffff:1.2.3.4" },
	{ "ip:1111:2222:3333:4444:5555:6666:7777:8888",
	  "ip:1111:2222:3333:4444:5555:6666:7777:8888" },
	{ "gid:::", "gid:0000:0000:0000:0000:0000:0000:0000:0000" },
	{ "gid:FE80::1", "gid:fe80:0000:0000:0000:0000:0000:0000:0001" },
};

static void format_case_desc(const struct format_case *c, char *desc)
{
	strscpy(desc, c->in, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(format, format_cases, format_case_desc);

static void rtrs_addr_format__table(struct kunit *test)
{
	const struct format_case *c = test->param_value;
	struct sockaddr_storage ss;
	char out[RTRS_ADDR_STR_LEN];

	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(c->in, strlen(c->in), 1234, &ss), 0);
	KUNIT_EXPECT_EQ(test, rtrs_addr_format((struct sockaddr *)&ss, out, sizeof(out)),
			(int)strlen(c->out));
	KUNIT_EXPECT_STREQ(test, out, c->out);
}

static void rtrs_addr_format__each_buffer_length(struct kunit *test)
{
	const struct format_case *c = test->param_value;
	int full = strlen(c->out), len, ret;
	struct sockaddr_storage ss;
	char *out;

	KUNIT_ASSERT_EQ(test, rtrs_addr_parse(c->in, strlen(c->in), 1234, &ss), 0);
	for (len = 1; len <= full + 2; len++) {
		out = kunit_kmalloc(test, len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, out);
		ret = rtrs_addr_format((struct sockaddr *)&ss, out, len);
		KUNIT_ASSERT_EQ(test, ret, len > full ? full : len - 1);
		KUNIT_ASSERT_EQ(test, (int)strnlen(out, len), ret);
		KUNIT_ASSERT_EQ(test, memcmp(out, c->out, ret), 0);
	}
	KUNIT_EXPECT_EQ(test, rtrs_addr_format((struct sockaddr *)&ss, NULL, 0), 0);
}

static void rtrs_addr_format__unknown_family(struct kunit *test)
{
	struct sockaddr_storage ss;
	char out[RTRS_ADDR_STR_LEN];
	int ret;

	memset(&ss, 0, sizeof(ss));
	ss.ss_family = 77;
	ret = rtrs_addr_format((struct sockaddr *)&ss, out, sizeof(out));
	KUNIT_EXPECT_STREQ(test, out, "<unknown address family 77>");
	KUNIT_EXPECT_EQ(test, ret, (int)strlen(out));
	ss.ss_family = 65535;
	ret = rtrs_addr_format((struct sockaddr *)&ss, out, sizeof(out));
	KUNIT_EXPECT_STREQ(test, out, "<unknown address family 65535>");
	KUNIT_EXPECT_EQ(test, ret, (int)strlen(out));
}

/* Random addresses with many zero groups, where the short form has its corner cases. */
static void rtrs_addr_format__round_trip(struct kunit *test)
{
	char text[RTRS_ADDR_STR_LEN];
	struct sockaddr_storage ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;
	u32 word = 1, i, group;
	int len;

	for (i = 0; i < 1024; i++) {
		memset(&ss, 0, sizeof(ss));
		sin6->sin6_family = AF_INET6;
		for (group = 0; group < 8; group++) {
			word = word * 1664525 + 1013904223;
			if (!(i >> group & 1))
				continue;
			sin6->sin6_addr.s6_addr[2 * group] = word >> 24;
			sin6->sin6_addr.s6_addr[2 * group + 1] = word >> 16;
		}
		len = rtrs_addr_format((struct sockaddr *)&ss, text, sizeof(text));
		check_parse(test, text, len);
		KUNIT_ASSERT_EQ(test, rtrs_addr_parse(text, len, 0, &ss), 0);
	}
}

static struct kunit_case rtrs_addr_cases[] = {
	KUNIT_CASE_PARAM(rtrs_addr_parse__v4, parse_v4_gen_params),
	KUNIT_CASE_PARAM(rtrs_addr_parse__v6, parse_v6_gen_params),
	KUNIT_CASE_PARAM(rtrs_addr_parse__gid, parse_gid_gen_params),
	KUNIT_CASE_PARAM(rtrs_addr_parse__bad, parse_bad_gen_params),
	KUNIT_CASE(rtrs_addr_parse__each_length),
	KUNIT_CASE(rtrs_addr_parse__each_bit),
	KUNIT_CASE_PARAM(rtrs_addr_split__table, split_gen_params),
	KUNIT_CASE(rtrs_addr_split__separator_beyond_length),
	KUNIT_CASE_PARAM(rtrs_addr_same_host__table, same_host_gen_params),
	KUNIT_CASE(rtrs_addr_same_host__unknown_family),
	KUNIT_CASE_PARAM(rtrs_addr_format__table, format_gen_params),
	KUNIT_CASE_PARAM(rtrs_addr_format__each_buffer_length, format_gen_params),
	KUNIT_CASE(rtrs_addr_format__unknown_family),
	KUNIT_CASE(rtrs_addr_format__round_trip),
	{}
};

static struct kunit_suite rtrs_addr_suite = {
	.name = "rtrs_addr",
	.test_cases = rtrs_addr_cases,
};

kunit_test_suite(rtrs_addr_suite);

MODULE_DESCRIPTION("KUnit tests of RTRS path addresses");
MODULE_LICENSE("GPL");
