// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "net.h"
#include "value.h"

const char *value_number(const char *text, long min, long max)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (*text && !*end && !errno && number >= min && number <= max)
		return NULL;
	return mem_printf("expected a number from %ld to %ld", min, max);
}

const char *value_session(const char *text)
{
	if (*text && strlen(text) <= MAX_NAME && !strpbrk(text, "/. \t\n"))
		return NULL;
	return mem_printf("expected 1 to %d characters without '/', '.' and blanks", MAX_NAME);
}

const char *value_access(const char *text)
{
	if (!strcmp(text, "ro") || !strcmp(text, "rw") || !strcmp(text, "migration"))
		return NULL;
	return "expected ro, rw or migration";
}

const char *value_identity(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (text[i] <= ' ' || text[i] > '~')
			break;
	if (i && !text[i] && i <= MAX_IDENTITY)
		return NULL;
	return mem_printf("expected 1 to %d printable characters without blanks", MAX_IDENTITY);
}

/* Name of an export: a directory in the server's sysfs. */
const char *value_export(const char *text)
{
	if (*text && *text != '.' && strlen(text) <= MAX_EXPORT && !strpbrk(text, "/! \t\n") &&
	    !strstr(text, ".."))
		return NULL;
	return mem_printf("expected 1 to %d characters without '/', '!', '..' and blanks, the first no '.'",
			  MAX_EXPORT);
}

static bool is_bare_address(const char *text)
{
	union addr addr;

	return addr_parse(text, &addr);
}

/* An address, with or without "ip:", or a GID. */
const char *value_address(const char *text)
{
	if (!strncmp(text, "gid:", 4))
		return is_bare_address(text + 4) && strchr(text + 4, ':') ? NULL :
		       "expected gid: and a GID, as gid:fe80::1";
	return is_bare_address(strncmp(text, "ip:", 3) ? text : text + 3) ? NULL : "expected an address";
}

/* The same, or the name of a session. */
const char *value_client(const char *text)
{
	const char *wrong = value_address(text);

	if (!wrong || !strncmp(text, "gid:", 4))
		return wrong;
	if (strncmp(text, "ip:", 3) && !strchr(text, ',') && !value_session(text))
		return NULL;
	return "expected addresses and names of sessions; these have no '/', '.' and ','";
}

/* Not the name of a session. */
bool client_is_address(const char *text)
{
	return is_bare_address(text) || !strncmp(text, "ip:", 3) || !strncmp(text, "gid:", 4);
}

static const char *gid_text(const union addr *gid)
{
	const unsigned char *byte = gid->in6.sin6_addr.s6_addr;
	const char *text = "gid";
	size_t i;

	for (i = 0; i < sizeof(gid->in6.sin6_addr.s6_addr); i += 2)
		text = mem_printf("%s:%02x%02x", text, byte[i], byte[i + 1]);
	return text;
}

/* An address as the kernel prints it, which is to be compared: a GID with all its groups. */
const char *address_text(const char *text)
{
	const char *bare = strncmp(text, "ip:", 3) ? text : text + 3;
	union addr addr;

	if (!strncmp(text, "gid:", 4))
		return addr_parse(text + 4, &addr) ? gid_text(&addr) : text;
	return addr_parse(bare, &addr) ? mem_printf("ip:%s", addr_text(&addr)) : text;
}
