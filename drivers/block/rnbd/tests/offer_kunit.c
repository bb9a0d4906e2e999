// SPDX-License-Identifier: GPL-2.0-only
/* Grammar of export_device and unexport_device (proto/offer.c). */
#include <kunit/test.h>
#include "../proto/offer.h"
#include "../proto/opmap.h"
#include "../proto/srvcheck.h"

#define A50	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A254	A50 A50 A50 A50 A50 "aaaa"

/* The parser gets memory of exactly the length of the text, so that a sanitizer sees what goes beyond. */
static int parse(struct kunit *test, const char *text, bool name_only, struct rnbd_offer *offer,
		 struct rnbd_options_error *error)
{
	size_t len = strlen(text) + 1;
	char *copy = kunit_kmalloc(test, len, GFP_KERNEL);

	memcpy(copy, text, len);
	return rnbd_offer_parse(copy, name_only, offer, error);
}

struct good_case {
	const char *text;
	const char *name;
	const char *device;
	const char *clients;
	enum rnbd_access_mode access_mode;
	const char *identity;
};

static const struct good_case good_cases[] = {
	{ "name=n device=/d", "n", "/d", NULL, RNBD_ACCESS_RW },
	{ " \tdevice=/d\n name=n\n\n", "n", "/d", NULL, RNBD_ACCESS_RW },
	{ "access_mode=ro name=n device=/d", "n", "/d", NULL, RNBD_ACCESS_RO },
	{ "access_mode=rw name=n device=/d", "n", "/d", NULL, RNBD_ACCESS_RW },
	{ "access_mode=migration name=n device=/d", "n", "/d", NULL, RNBD_ACCESS_MIGRATION },
	{ "name=a=b.c@d,e device=/d=e clients=a,b=c", "a=b.c@d,e", "/d=e", "a,b=c", RNBD_ACCESS_RW },
	{ "name=n device=/d identity=naa.6=1", "n", "/d", NULL, RNBD_ACCESS_RW, "naa.6=1" },
	{ "name=" A254 " device=/", A254, "/", NULL, RNBD_ACCESS_RW },
};

static void good_desc(const struct good_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(good, good_cases, good_desc);

static void offer__good(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	struct rnbd_options_error error;
	struct rnbd_offer offer;

	KUNIT_ASSERT_EQ_MSG(test, parse(test, c->text, false, &offer, &error), 0, "%s", c->text);
	KUNIT_EXPECT_STREQ(test, offer.name, c->name);
	KUNIT_EXPECT_STREQ(test, offer.device, c->device);
	KUNIT_EXPECT_EQ(test, offer.access_mode, c->access_mode);
	KUNIT_EXPECT_EQ(test, !offer.clients, !c->clients);
	KUNIT_EXPECT_EQ(test, !offer.identity, !c->identity);
	if (offer.identity && c->identity)
		KUNIT_EXPECT_STREQ(test, offer.identity, c->identity);
	if (offer.clients && c->clients)
		KUNIT_EXPECT_STREQ(test, offer.clients, c->clients);
}

struct bad_case {
	const char *text;
	bool name_only;
	const char *key;
	const char *value;
	const char *expected;
};

#define BAD_NAME	"1 to 254 characters without '/', '!', '..' and control characters, the first no '.'"
#define BAD_DEVICE	"an absolute path of at most 4095 characters"
#define BAD_IDENTITY	"1 to 127 printable characters"
#define KEYS		"name=, device=, access_mode=, clients= or identity="

static const struct bad_case bad_cases[] = {
	{ "", false, "name", NULL, "name=<what clients call it>" },
	{ "device=/d", false, "name", NULL, "name=<what clients call it>" },
	{ "name=n", false, "device", NULL, "device=<path of the block device>" },
	{ "name= device=/d", false, "name", "", BAD_NAME },
	{ "name=.n device=/d", false, "name", ".n", BAD_NAME },
	{ "name=a/b device=/d", false, "name", "a/b", BAD_NAME },
	{ "name=a..b device=/d", false, "name", "a..b", BAD_NAME },
	{ "name=a!b device=/d", false, "name", "a!b", BAD_NAME },
	{ "name=a\033b device=/d", false, "name", "a\033b", BAD_NAME },
	{ "name=a\177b device=/d", false, "name", "a\177b", BAD_NAME },
	{ "name=a" A254 " device=/d", false, "name", "a" A254, BAD_NAME },
	{ "name=n device=", false, "device", "", BAD_DEVICE },
	{ "name=n device=d", false, "device", "d", BAD_DEVICE },
	{ "name=n device=/d access_mode=", false, "access_mode", "", "ro, rw or migration" },
	{ "name=n device=/d access_mode=RW", false, "access_mode", "RW", "ro, rw or migration" },
	{ "name=n device=/d clients=", false, "clients", "",
	  "ip:<address>, gid:<GID> and names of sessions, separated by commas" },
	{ "name=n device=/d name=n", false, "name", "n", "it once" },
	{ "name=n device=/d color=red", false, "color", "red", KEYS },
	{ "name=n device=/d x", false, "x", NULL, KEYS },
	{ "name=n device=/d NAME=n", false, "NAME", "n", KEYS },
	{ "name=n device=/d identity=", false, "identity", "", BAD_IDENTITY },
	{ "name=n device=/d identity=\xc3\xa4", false, "identity", "\xc3\xa4", BAD_IDENTITY },
	{ "name=n device=/d identity=" A254, false, "identity", A254, BAD_IDENTITY },
	{ "", true, "name", NULL, "name=<what clients call it>" },
	{ "name=n device=/d", true, "device", "/d", "name=" },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void offer__bad(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct rnbd_options_error error;
	struct rnbd_offer offer;

	KUNIT_ASSERT_EQ_MSG(test, parse(test, c->text, c->name_only, &offer, &error), -EINVAL, "%s",
			    c->text);
	KUNIT_EXPECT_STREQ(test, error.key, c->key);
	KUNIT_EXPECT_STREQ(test, error.expected, c->expected);
	KUNIT_ASSERT_EQ(test, !error.value, !c->value);
	if (c->value)
		KUNIT_EXPECT_STREQ(test, error.value, c->value);
}

static void offer__longest_device(struct kunit *test)
{
	static const char head[] = "name=n device=/";
	char *text = kunit_kmalloc(test, sizeof(head) + PATH_MAX, GFP_KERNEL);
	struct rnbd_options_error error;
	struct rnbd_offer offer;
	size_t len;

	for (len = PATH_MAX - 1; len <= PATH_MAX; len++) {
		memcpy(text, head, sizeof(head));
		memset(text + sizeof(head) - 1, 'd', len - 1);
		text[sizeof(head) + len - 2] = '\0';
		KUNIT_EXPECT_EQ_MSG(test, parse(test, text, false, &offer, &error),
				    len < PATH_MAX ? 0 : -EINVAL, "%zu", len);
	}
}

static void offer__name_only(struct kunit *test)
{
	struct rnbd_options_error error;
	struct rnbd_offer offer;

	KUNIT_ASSERT_EQ(test, parse(test, " name=n\n", true, &offer, &error), 0);
	KUNIT_EXPECT_STREQ(test, offer.name, "n");
}

static void offer__modes(struct kunit *test)
{
	static const enum rnbd_srv_verdict want[RNBD_ACCESS__NR][RNBD_ACCESS__NR] = {
		[RNBD_ACCESS_RO][RNBD_ACCESS_RW]	= RNBD_SRV_EXPORT_RO,
		[RNBD_ACCESS_RO][RNBD_ACCESS_MIGRATION] = RNBD_SRV_EXPORT_RO,
		[RNBD_ACCESS_RW][RNBD_ACCESS_MIGRATION] = RNBD_SRV_EXPORT_RW,
	};
	u8 offered, access;

	for (offered = 0; offered < RNBD_ACCESS__NR; offered++) {
		for (access = 0; access < RNBD_ACCESS__NR; access++)
			KUNIT_EXPECT_EQ_MSG(test, rnbd_srv_check_offer(offered, access),
					    want[offered][access], "%s asked for as %s",
					    rnbd_access_mode_name(offered), rnbd_access_mode_name(access));
		KUNIT_EXPECT_EQ(test, rnbd_srv_check_offer(offered, RNBD_ACCESS__NR), RNBD_SRV_BAD_MODE);
	}
}

static struct kunit_case offer_cases[] = {
	KUNIT_CASE_PARAM(offer__good, good_gen_params),
	KUNIT_CASE_PARAM(offer__bad, bad_gen_params),
	KUNIT_CASE(offer__longest_device),
	KUNIT_CASE(offer__name_only),
	KUNIT_CASE(offer__modes),
	{}
};

static struct kunit_suite offer_suite = {
	.name = "rnbd_offer",
	.test_cases = offer_cases,
};

kunit_test_suite(offer_suite);

MODULE_DESCRIPTION("Grammar of the RNBD server's export list");
MODULE_LICENSE("GPL");
