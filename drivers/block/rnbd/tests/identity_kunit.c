// SPDX-License-Identifier: GPL-2.0-only
/* Identity of a disk (proto/identity.c). */
#include <kunit/test.h>
#include "../proto/identity.h"

#define A50	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A127	A50 A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct text_case {
	const char *text;
	bool is_valid;
};

static const struct text_case text_cases[] = {
	{ "", false },
	{ "a", true },
	{ "naa.600140512345678", true },
	{ "!~", true },
	{ A127, true },
	{ A127 "a", false },
	{ "a b", false },
	{ "a\n", false },
	{ "\x7f", false },
	{ "\xc3\xa4", false },
};

static void identity__text_is_valid(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(text_cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, rnbd_identity_is_valid(text_cases[i].text), text_cases[i].is_valid,
				    "%s", text_cases[i].text);
}

struct compare_case {
	const char *name;
	struct rnbd_identity old;
	struct rnbd_identity now;
	enum rnbd_identity_verdict want;
};

static const struct compare_case compare_cases[] = {
	{ "nobody tells", {}, {}, RNBD_IDENTITY_UNKNOWN },
	{ "told before", { 1, 7, 0, "g", "o" }, {}, RNBD_IDENTITY_UNKNOWN },
	{ "told now", {}, { 1, 7, 0, "g", "o" }, RNBD_IDENTITY_UNKNOWN },
	{ "same number", { 1, 7 }, { 1, 7 }, RNBD_IDENTITY_SAME },
	{ "same number, called otherwise", { 1, 7, 0, "g", "o" }, { 1, 7, 0, "h", "p" }, RNBD_IDENTITY_SAME },
	{ "same disk, another partition", { 1, 7, 1, "g" }, { 1, 7, 2, "g" }, RNBD_IDENTITY_OTHER },
	{ "same disk, all of it now", { 1, 7, 1 }, { 1, 7, 0 }, RNBD_IDENTITY_OTHER },
	{ "another number", { 1, 7 }, { 1, 8 }, RNBD_IDENTITY_OTHER },
	{ "another number, same name", { 1, 7, 0, "g" }, { 1, 8, 0, "g" }, RNBD_IDENTITY_SAME },
	{ "another number, same own name", { 1, 7, 0, "", "o" }, { 1, 8, 0, "", "o" }, RNBD_IDENTITY_SAME },
	{ "another number, the name is gone", { 1, 7, 0, "g" }, { 1, 8 }, RNBD_IDENTITY_OTHER },
	{ "another run", { 1, 7 }, { 2, 7 }, RNBD_IDENTITY_UNKNOWN },
	{ "another run, same name", { 1, 7, 0, "g" }, { 2, 9, 0, "g" }, RNBD_IDENTITY_SAME },
	{ "another run, another name", { 1, 7, 0, "g" }, { 2, 7, 0, "h" }, RNBD_IDENTITY_OTHER },
	{ "another run, another own name", { 1, 7, 0, "", "o" }, { 2, 7, 0, "", "p" }, RNBD_IDENTITY_OTHER },
	{ "what is given counts", { 1, 7, 0, "g", "o" }, { 2, 7, 0, "g", "p" }, RNBD_IDENTITY_SAME },
	{ "not given any more", { 1, 7, 0, "g", "o" }, { 2, 7, 0, "", "o" }, RNBD_IDENTITY_SAME },
	{ "given and own are not compared", { 1, 7, 0, "g" }, { 2, 7, 0, "", "g" }, RNBD_IDENTITY_UNKNOWN },
};

static void compare_desc(const struct compare_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(compare, compare_cases, compare_desc);

static void identity__compare(struct kunit *test)
{
	const struct compare_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rnbd_identity_compare(&c->old, &c->now), c->want);
}

static void identity__learn(struct kunit *test)
{
	struct rnbd_identity id = { 1, 7, 0, "g", "o" };
	const struct rnbd_identity none = {}, now = { 2, 9, 3, "", "p" };

	rnbd_identity_learn(&id, &none);
	KUNIT_EXPECT_EQ(test, id.run, 1);
	KUNIT_EXPECT_STREQ(test, id.given, "g");
	rnbd_identity_learn(&id, &now);
	KUNIT_EXPECT_EQ(test, id.run, 2);
	KUNIT_EXPECT_EQ(test, id.disk, 9);
	KUNIT_EXPECT_EQ(test, id.partition, 3);
	KUNIT_EXPECT_STREQ(test, id.given, "g");
	KUNIT_EXPECT_STREQ(test, id.own, "p");
}

static void identity__shown(struct kunit *test)
{
	static const struct {
		struct rnbd_identity id;
		const char *want;
	} cases[] = {
		{ {}, "unknown" },
		{ { 0x1f, 7, 0, "g", "o" }, "g" },
		{ { 0x1f, 7, 0, "", "o" }, "o" },
		{ { 0x1f, 7 }, "disk7@000000000000001f" },
		{ { 0x1f, 7, 2 }, "disk7-part2@000000000000001f" },
		{ { U64_MAX, U64_MAX, U32_MAX }, "disk18446744073709551615-part4294967295@ffffffffffffffff" },
	};
	char text[RNBD_IDENTITY_TEXT_LEN];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		rnbd_identity_text(&cases[i].id, text, sizeof(text));
		KUNIT_EXPECT_STREQ(test, text, cases[i].want);
	}
}

static void identity__of_a_disk(struct kunit *test)
{
	static const u8 uid[16] = { 0x60, 0x01, 0x40, 0x5f, ' ', 'A', 0, 0xff };
	struct rnbd_identity id = {};

	rnbd_identity_set_uid(&id, "naa", uid, 0);
	KUNIT_EXPECT_STREQ(test, id.own, "");
	rnbd_identity_set_uid(&id, "naa", uid, 16);
	KUNIT_EXPECT_STREQ(test, id.own, "naa.6001405f204100ff0000000000000000");
	rnbd_identity_set_partition(&id, 12, "uuid");
	KUNIT_EXPECT_STREQ(test, id.own, "naa.6001405f204100ff0000000000000000-part12");
	KUNIT_EXPECT_EQ(test, id.partition, 12);
	rnbd_identity_set_uid(&id, "t10", uid, 8);
	KUNIT_EXPECT_STREQ(test, id.own, "t10.`_@__A__");
	KUNIT_EXPECT_TRUE(test, rnbd_identity_is_valid(id.own));
}

static void identity__of_a_partition(struct kunit *test)
{
	struct rnbd_identity id = {};

	rnbd_identity_set_partition(&id, 1, NULL);
	KUNIT_EXPECT_STREQ(test, id.own, "");
	rnbd_identity_set_partition(&id, 1, "");
	KUNIT_EXPECT_STREQ(test, id.own, "");
	rnbd_identity_set_partition(&id, 1, "a b");
	KUNIT_EXPECT_STREQ(test, id.own, "");
	rnbd_identity_set_partition(&id, 1, "0d9f7a33-01");
	KUNIT_EXPECT_STREQ(test, id.own, "partuuid.0d9f7a33-01");
}

/* Where each thing is on the wire, and that nothing else is touched. */
static void identity__bytes(struct kunit *test)
{
	static const struct rnbd_identity id = { 0x0807060504030201, 0x1817161514131211, 0x24232221, "given", "own" };
	struct rnbd_msg_open_rsp_id msg;
	struct rnbd_identity got;
	u8 *bytes = (u8 *)&msg;
	unsigned int i;

	memset(&msg, 0xff, sizeof(msg));
	rnbd_put_identity(&msg, &id);
	for (i = 0; i < 56; i++)
		KUNIT_EXPECT_EQ(test, bytes[i], 0xff);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, bytes[56 + i], 1 + i);
		KUNIT_EXPECT_EQ(test, bytes[64 + i], 0x11 + i);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, bytes[72 + i], 0x21 + i);
		KUNIT_EXPECT_EQ(test, bytes[76 + i], 0);
	}
	KUNIT_EXPECT_EQ(test, memcmp(bytes + 80, "given\0", 6), 0);
	KUNIT_EXPECT_EQ(test, memcmp(bytes + 208, "own\0", 4), 0);
	KUNIT_EXPECT_EQ(test, bytes[335], 0);
	KUNIT_EXPECT_NULL(test, rnbd_get_identity(&msg, &got));
	KUNIT_EXPECT_EQ(test, got.run, id.run);
	KUNIT_EXPECT_EQ(test, got.disk, id.disk);
	KUNIT_EXPECT_EQ(test, got.partition, id.partition);
	KUNIT_EXPECT_STREQ(test, got.given, "given");
	KUNIT_EXPECT_STREQ(test, got.own, "own");
}

static const char *get(struct rnbd_msg_open_rsp_id *msg)
{
	struct rnbd_identity got;
	const char *why;

	memset(&got, 0xff, sizeof(got));
	why = rnbd_get_identity(msg, &got);
	return !why || (!got.run && !got.given[0] && !got.own[0]) ? why : "something is left in the result";
}

static void identity__refused(struct kunit *test)
{
	static const char wrong[] = "the identity of the disk is not valid";
	static const struct rnbd_identity id = { 1, 7, 0, "given", "own" };
	struct rnbd_msg_open_rsp_id msg = {};

	KUNIT_EXPECT_NULL(test, get(&msg));
	rnbd_put_identity(&msg, &id);
	KUNIT_EXPECT_NULL(test, get(&msg));
	msg.disk = 0;
	KUNIT_EXPECT_STREQ(test, get(&msg), wrong);
	rnbd_put_identity(&msg, &id);
	msg.given[2] = '\n';
	KUNIT_EXPECT_STREQ(test, get(&msg), wrong);
	rnbd_put_identity(&msg, &id);
	msg.own[1] = 0xc3;
	KUNIT_EXPECT_STREQ(test, get(&msg), wrong);
	rnbd_put_identity(&msg, &id);
	memset(msg.given, 'a', sizeof(msg.given));
	KUNIT_EXPECT_STREQ(test, get(&msg), wrong);
	msg.given[sizeof(msg.given) - 1] = '\0';
	KUNIT_EXPECT_NULL(test, get(&msg));
	memset(msg.own, 'a', sizeof(msg.own));
	KUNIT_EXPECT_STREQ(test, get(&msg), wrong);
	/* Without a number of the run nothing was told, whatever is there. */
	msg.run = 0;
	KUNIT_EXPECT_NULL(test, get(&msg));
}

static struct kunit_case identity_cases[] = {
	KUNIT_CASE(identity__text_is_valid),
	KUNIT_CASE_PARAM(identity__compare, compare_gen_params),
	KUNIT_CASE(identity__learn),
	KUNIT_CASE(identity__shown),
	KUNIT_CASE(identity__of_a_disk),
	KUNIT_CASE(identity__of_a_partition),
	KUNIT_CASE(identity__bytes),
	KUNIT_CASE(identity__refused),
	{}
};

static struct kunit_suite identity_suite = {
	.name = "rnbd_identity",
	.test_cases = identity_cases,
};

kunit_test_suite(identity_suite);

MODULE_DESCRIPTION("Identity of a disk of an RNBD server");
MODULE_LICENSE("GPL");
