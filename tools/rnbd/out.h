/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results: tables for people, JSON for programs.
 */
#ifndef RNBD_OUT_H
#define RNBD_OUT_H

#include "rnbd.h"

enum column_kind {
	COL_TEXT,
	COL_NUMBER,
	COL_BYTES,
	COL_NS,
	COL_MILLI,		/* thousandths */
	COL_SECONDS,
	COL_JSON,		/* text that is JSON already */
};

/*
 * A column is known by its key in JSON, which has bytes and nanoseconds, and by its head elsewhere.
 * One without a head is in JSON only.
 */
struct column {
	const char *key;
	const char *head;
	enum column_kind kind;
};

struct cell {
	bool there;
	const char *text;
	long long number;
};

struct table {
	const struct column *columns;
	size_t nr_columns;
	struct cell *cells;
	size_t nr;
};

#define TABLE(cols) ((struct table){ .columns = (cols), .nr_columns = ARRAY_SIZE(cols) })

void table_text(struct table *table, const char *text);
void table_number(struct table *table, long long number);
void table_digits(struct table *table, const char *digits);
void table_count(struct table *table, long long number);
void table_none(struct table *table);
void table_print(const struct table *table, const struct args *args);
void object_print(const struct table *object, const char *key, const struct table *part,
		  const struct args *args);

const char *json_quoted(const char *text);
bool units_valid(const char *units);
const char *units_format(unsigned long long bytes, const char *units);
const char *units_parse(const char *text, unsigned long long *bytes);

enum status fail(enum status status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void detail(const char *kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t utf8_len(const char *bytes);
const char *text_shown(const char *text, const char *also);
const char *quoted(const char *text);
const char *nearest(const char *word, const struct words *known);
extern const char *fail_command;

#endif
