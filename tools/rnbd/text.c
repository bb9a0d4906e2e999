// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words, sizes and complaints.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"

/* 1024 to the power of the position; "s" are sectors. */
static const char unit_letters[] = "bkmgtp";

#define SECTOR_BYTES	512

/* The command that is running, for messages. */
const char *fail_command = "";

void words_add(struct words *words, const char *word)
{
	*MEM_ADD(words->word, words->nr) = word;
}

bool words_have(const struct words *words, const char *word)
{
	size_t i;

	for (i = 0; i < words->nr; i++)
		if (!strcmp(words->word[i], word))
			return true;
	return false;
}

const char *words_join(const struct words *words, const char *between)
{
	const char *text = "";
	size_t i;

	for (i = 0; i < words->nr; i++)
		text = mem_printf("%s%s%s", text, i ? between : "", words->word[i]);
	return text;
}

/* How many bytes the UTF-8 sequence has that the text begins with, 0 if it is none. */
size_t utf8_len(const char *bytes)
{
	const unsigned char *text = (const unsigned char *)bytes;
	size_t i, len = *text < 0x80 ? 1 : *text >= 0xc2 && *text < 0xe0 ? 2 : *text >= 0xe0 && *text < 0xf0 ? 3 :
		*text >= 0xf0 && *text < 0xf5 ? 4 : 0;

	for (i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Too long for what they stand for, surrogates, and what is no character. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

/*
 * As a terminal may have it: what is no printable ASCII character, and each of also, becomes \ and three octal digits.
 * Who connects to a server chooses names, and they are neither to move the cursor nor to begin a line.
 */
const char *text_shown(const char *text, const char *also)
{
	char *shown = mem_alloc(4 * strlen(text) + 1), *to = shown;

	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr(also, *text))
			to += sprintf(to, "\\%03o", (unsigned char)*text);
		else
			*to++ = *text;
	return shown;
}

/* As one word of a shell; of one that has $'' if the text cannot be shown as it is. */
const char *quoted(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
	const char *quote, *done = "";

	if (*text && !text[strspn(text, plain)])
		return text;
	if (strlen(text_shown(text, "")) > strlen(text))
		return mem_printf("$'%s'", text_shown(text, "\\'"));
	for (; (quote = strchr(text, '\'')); text = quote + 1)
		done = mem_printf("%s%.*s'\\''", done, (int)(quote - text), text);
	return mem_printf("'%s%s'", done, text);
}

/* A backslash stays, as there are commands in complaints that have it for a shell. */
static const char *complaint(const char *fmt, va_list args)
{
	return text_shown(mem_vprintf(fmt, args), "");
}

static void complain(const char *kind, const char *fmt, va_list args)
{
	fprintf(stderr, "%s%s%s: %s%s\n", program_name, *fail_command ? " " : "", fail_command, kind,
		complaint(fmt, args));
}

/* Say what went wrong, as the first line of a complaint. */
enum status fail(enum status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain("", fmt, args);
	va_end(args);
	return status;
}

/* The same for what does not end the command. */
void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain("warning: ", fmt, args);
	va_end(args);
}

/* One more line of it; kind is "next" for what to do about it. */
void detail(const char *kind, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "  %s: %s\n", kind, complaint(fmt, args));
	va_end(args);
}

/* h: the largest unit in which there is something before the point. */
bool units_valid(const char *units)
{
	return *units && !units[1] && (strchr("hs", *units) || strchr(unit_letters, *units));
}

const char *units_format(unsigned long long bytes, const char *units)
{
	const char *unit = units && *units != 'h' ? strchr(unit_letters, *units) : NULL;
	double value = bytes;
	int power = 0;

	if (units && *units == 's')
		return mem_printf("%llus", bytes / SECTOR_BYTES);
	while (unit ? power < unit - unit_letters : value >= 1024 && unit_letters[power + 1]) {
		value /= 1024;
		power++;
	}
	if (!power)
		return unit ? mem_printf("%llu", bytes) : mem_printf("%lluB", bytes);
	return mem_printf(value == (unsigned long long)value ? "%.0f%c" : "%.1f%c", value,
			  toupper(unit_letters[power]));
}

/* Bytes of "10G", "20480s"; returns NULL or what is wrong. */
const char *units_parse(const char *text, unsigned long long *bytes)
{
	const char *unit;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (!isdigit(*text) || errno)
		return "expected a number with a unit, as 10G or 20480s";
	if (!*end)
		return "has no unit: expected s for sectors of 512 bytes, b, k, m, g, t or p";
	unit = strchr(unit_letters, tolower(*end));
	if (end[1] || (!unit && tolower(*end) != 's'))
		return "has an unknown unit: expected s for sectors of 512 bytes, b, k, m, g, t or p";
	if (__builtin_mul_overflow(*bytes, unit ? 1ULL << (10 * (unit - unit_letters)) : SECTOR_BYTES,
				   bytes))
		return "is too large: expected less than 16384p";
	return NULL;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Insertions, deletions, replacements and swaps of neighbours that make one word of another. */
static unsigned int edit_distance(const char *a, const char *b)
{
	size_t i, j, width = strlen(b) + 1;
	unsigned int *row = mem_alloc((strlen(a) + 1) * width * sizeof(*row)), cost;

#define AT(i, j)	row[(i) * width + (j)]
	for (i = 0; i <= strlen(a); i++)
		AT(i, 0) = i;
	for (j = 0; j < width; j++)
		AT(0, j) = j;
	for (i = 1; i <= strlen(a); i++) {
		for (j = 1; j < width; j++) {
			cost = a[i - 1] != b[j - 1];
			AT(i, j) = min3(AT(i - 1, j) + 1, AT(i, j - 1) + 1, AT(i - 1, j - 1) + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    AT(i - 2, j - 2) + 1 < AT(i, j))
				AT(i, j) = AT(i - 2, j - 2) + 1;
		}
	}
	return AT(strlen(a), width - 1);
#undef AT
}

/* The known word that somebody may have meant, NULL if none is near. */
const char *nearest(const char *word, const struct words *known)
{
	unsigned int distance, best = 3;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < known->nr; i++) {
		distance = edit_distance(word, known->word[i]);
		if (distance < best && distance < strlen(known->word[i])) {
			best = distance;
			found = known->word[i];
		}
	}
	return found;
}
