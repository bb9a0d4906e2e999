// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grammar of the server's export_device and unexport_device: words separated by blanks, each key=value,
 * in any order and at most once, as in map_device.
 *
 * Errors
 *	The first fault found is described in full.  The caller prints it; this file prints nothing.
 */
#include "identity.h"
#include "offer.h"
#include "opmap.h"

#define RNBD_OFFER_BLANKS	" \t\r\n\f\v"

/* Names are directories in sysfs, where '!' stands for a slash. */
static int rnbd_offer_set_name(struct rnbd_offer *offer, char *value)
{
	size_t len = strlen(value), i;

	if (!len || len >= RNBD_NAME_LEN || *value == '.' || strpbrk(value, "/!") ||
	    strstr(value, ".."))
		return -EINVAL;
	for (i = 0; i < len; i++)
		if ((u8)value[i] < ' ' || value[i] == 0x7f)
			return -EINVAL;
	offer->name = value;
	return 0;
}

static int rnbd_offer_set_device(struct rnbd_offer *offer, char *value)
{
	if (*value != '/' || strlen(value) >= PATH_MAX)
		return -EINVAL;
	offer->device = value;
	return 0;
}

static int rnbd_offer_set_access_mode(struct rnbd_offer *offer, char *value)
{
	int mode = rnbd_access_mode_parse(value);

	if (mode < 0)
		return mode;
	offer->access_mode = mode;
	return 0;
}

static int rnbd_offer_set_clients(struct rnbd_offer *offer, char *value)
{
	offer->clients = value;
	return *value ? 0 : -EINVAL;
}

static int rnbd_offer_set_identity(struct rnbd_offer *offer, char *value)
{
	offer->identity = value;
	return rnbd_identity_is_valid(value) ? 0 : -EINVAL;
}

/* The first one is all that unexport_device knows. */
static const struct {
	const char *name;
	int (*set)(struct rnbd_offer *offer, char *value);
	const char *expected;
} rnbd_offer_keys[] = {
	{ "name", rnbd_offer_set_name,
	  "1 to 254 characters without '/', '!', '..' and control characters, the first no '.'" },
	{ "device", rnbd_offer_set_device, "an absolute path of at most 4095 characters" },
	{ "access_mode", rnbd_offer_set_access_mode, "ro, rw or migration" },
	{ "clients", rnbd_offer_set_clients,
	  "ip:<address>, gid:<GID> and names of sessions, separated by commas" },
	{ "identity", rnbd_offer_set_identity, "1 to 127 printable characters" },
};

static int rnbd_offer_fault(struct rnbd_options_error *error, const char *key, const char *value,
			    const char *expected)
{
	error->key = key;
	error->value = value;
	strscpy(error->expected, expected, sizeof(error->expected));
	return -EINVAL;
}

/* One word, with its value cut off and NUL terminated. */
static int rnbd_offer_word(char *word, bool name_only, unsigned long *seen, struct rnbd_offer *offer,
			   struct rnbd_options_error *error)
{
	unsigned int i, nr = name_only ? 1 : ARRAY_SIZE(rnbd_offer_keys);
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (i = 0; i < nr; i++)
		if (!strcmp(word, rnbd_offer_keys[i].name))
			break;
	if (!value || i == nr)
		return rnbd_offer_fault(error, word, value, name_only ? "name=" :
					"name=, device=, access_mode=, clients= or identity=");
	if (*seen & BIT(i))
		return rnbd_offer_fault(error, word, value, "it once");
	*seen |= BIT(i);
	if (rnbd_offer_keys[i].set(offer, value))
		return rnbd_offer_fault(error, word, value, rnbd_offer_keys[i].expected);
	return 0;
}

/**
 * rnbd_offer_parse() - read what was written to export_device or unexport_device
 * @text: NUL-terminated text; words are cut apart in it, and results point into it
 * @name_only: it is unexport_device
 * @offer: result, complete on success
 * @error: on failure, what is wrong and what would be right
 *
 * Clients are not looked at.
 *
 * Context: any.
 * Return: 0, or -EINVAL: unknown, missing or doubled key, bad value.
 */
int rnbd_offer_parse(char *text, bool name_only, struct rnbd_offer *offer,
		     struct rnbd_options_error *error)
{
	unsigned long seen = 0;
	char *word;
	int ret;

	*offer = (struct rnbd_offer){ .access_mode = RNBD_ACCESS_RW };
	for (text += strspn(text, RNBD_OFFER_BLANKS); *text; text += strspn(text, RNBD_OFFER_BLANKS)) {
		word = text;
		text += strcspn(text, RNBD_OFFER_BLANKS);
		if (*text)
			*text++ = '\0';
		ret = rnbd_offer_word(word, name_only, &seen, offer, error);
		if (ret)
			return ret;
	}
	if (!offer->name)
		return rnbd_offer_fault(error, "name", NULL, "name=<what clients call it>");
	if (!offer->device && !name_only)
		return rnbd_offer_fault(error, "device", NULL, "device=<path of the block device>");
	return 0;
}
