// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stand-ins for the few library functions of the kernel that libc does not have, or has otherwise.
 * What they do not support ends the program: a test shall not pass on something else than it asked for.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t len = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (len < size) {
		memcpy(dst, src, len + 1);
		return len;
	}
	memcpy(dst, src, size - 1);
	dst[size - 1] = '\0';
	return -E2BIG;
}

/* As in the kernel: decimal numbers, leading zeros are fine, a colon ends the address. */
static int parse_ip4(const char *src, int len, u8 raw[4], int delim, int *used)
{
	int nr = 0, digits = 0, value = 0, i;

	for (i = 0; i <= len; i++) {
		int c = i < len ? (unsigned char)src[i] : '\0';

		*used = i;
		if (c >= '0' && c <= '9') {
			value = value * 10 + c - '0';
			if (value > 255)
				return 0;
			digits++;
			continue;
		}
		if (!digits)
			return 0;
		raw[nr++] = value;
		value = digits = 0;
		if (nr == 4)
			return c != '.' && (!c || c == ':' || c == delim || delim == -1);
		if (c != '.')
			return 0;
	}
	return 0;
}

int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	int len = srclen < 0 ? (int)strlen(src) : srclen;
	int used, ok;
	u8 raw[4];

	ok = parse_ip4(src, len, raw, delim, &used);
	if (ok)
		memcpy(dst, raw, sizeof(raw));
	if (end)
		*end = src + used;
	return ok;
}

/* As in the kernel, except that groups of more than four digits are refused. */
int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	size_t len = srclen < 0 ? strlen(src) : (size_t)srclen;
	size_t used = 0;
	char text[64];

	while (used < len && used < sizeof(text) - 1 && src[used] &&
	       strchr("0123456789abcdefABCDEF:.", src[used])) {
		text[used] = src[used];
		used++;
	}
	text[used] = '\0';
	if (end)
		*end = src + used;
	if (used < len && src[used] && src[used] != delim && delim != -1)
		return 0;
	return inet_pton(AF_INET6, text, dst) == 1;
}

static void ip4_text(const u8 *raw, char *text, size_t size)
{
	snprintf(text, size, "%u.%u.%u.%u", raw[0], raw[1], raw[2], raw[3]);
}

static void ip6_text(const u8 *raw, char *text, size_t size)
{
	size_t pos = 0;
	int i;

	for (i = 0; i < 16; i += 2)
		pos += snprintf(text + pos, size - pos, "%s%02x%02x", i ? ":" : "",
				raw[i], raw[i + 1]);
}

/* The longest run of zero groups, two or more of them, becomes "::"; mapped IPv4 is dotted. */
static void ip6_short_text(const u8 *raw, char *text, size_t size)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	int groups = memcmp(raw, mapped, sizeof(mapped)) ? 8 : 6;
	int best = -1, best_len = 1, run = 0, i;
	size_t pos = 0;

	for (i = 0; i < groups; i++) {
		run = raw[2 * i] || raw[2 * i + 1] ? 0 : run + 1;
		if (run > best_len) {
			best_len = run;
			best = i - run + 1;
		}
	}
	text[0] = '\0';
	for (i = 0; i < groups; i++) {
		if (i == best) {
			pos += snprintf(text + pos, size - pos, "::");
			i += best_len - 1;
			continue;
		}
		pos += snprintf(text + pos, size - pos, "%s%x",
				pos && text[pos - 1] != ':' ? ":" : "",
				raw[2 * i] << 8 | raw[2 * i + 1]);
	}
	if (groups == 6) {
		pos += snprintf(text + pos, size - pos, ":");
		ip4_text(raw + 12, text + pos, size - pos);
	}
}

/* One conversion, @spec after the '%'.  Returns how many characters of @spec belong to it. */
static size_t convert(char *text, size_t size, const char *spec, va_list *args)
{
	if (!strncmp(spec, "pI6c", 4)) {
		ip6_short_text(va_arg(*args, const u8 *), text, size);
		return 4;
	}
	if (!strncmp(spec, "pI6", 3)) {
		ip6_text(va_arg(*args, const u8 *), text, size);
		return 3;
	}
	if (!strncmp(spec, "pI4", 3)) {
		ip4_text(va_arg(*args, const u8 *), text, size);
		return 3;
	}
	if (!strncmp(spec, "llu", 3)) {
		snprintf(text, size, "%llu", va_arg(*args, unsigned long long));
		return 3;
	}
	if (!strncmp(spec, "016llx", 6)) {
		snprintf(text, size, "%016llx", va_arg(*args, unsigned long long));
		return 6;
	}
	if (!strncmp(spec, "02x", 3)) {
		snprintf(text, size, "%02x", va_arg(*args, unsigned int));
		return 3;
	}
	switch (*spec) {
	case 'c':
		snprintf(text, size, "%c", va_arg(*args, int));
		return 1;
	case 'd':
		snprintf(text, size, "%d", va_arg(*args, int));
		return 1;
	case 'u':
		snprintf(text, size, "%u", va_arg(*args, unsigned int));
		return 1;
	case 's':
		strscpy(text, va_arg(*args, const char *), size);
		return 1;
	default:
		fprintf(stderr, "scnprintf: no support for %%%s\n", spec);
		abort();
	}
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	char text[512], *from;
	size_t pos = 0;
	va_list args;

	if (!size)
		return 0;
	va_start(args, fmt);
	while (*fmt) {
		text[0] = *fmt++;
		text[1] = '\0';
		if (text[0] == '%')
			fmt += convert(text, sizeof(text), fmt, &args);
		for (from = text; *from && pos < size - 1; from++)
			buf[pos++] = *from;
	}
	va_end(args);
	buf[pos] = '\0';
	return pos;
}
