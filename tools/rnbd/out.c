// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"

static struct cell *table_cell(struct table *table)
{
	struct cell *cell = MEM_ADD(table->cells, table->nr);

	cell->there = true;
	return cell;
}

void table_text(struct table *table, const char *text)
{
	if (text)
		table_cell(table)->text = text;
	else
		table_none(table);
}

void table_number(struct table *table, long long number)
{
	table_cell(table)->number = number;
}

/* A number as sysfs has it. */
void table_digits(struct table *table, const char *digits)
{
	if (digits)
		table_number(table, strtoll(digits, NULL, 10));
	else
		table_none(table);
}

/* Counters are never negative where there are any. */
void table_count(struct table *table, long long number)
{
	if (number < 0)
		table_none(table);
	else
		table_number(table, number);
}

/* A value that there is not, as of an attribute that these modules lack. */
void table_none(struct table *table)
{
	table_cell(table)->there = false;
}

/* A control character of one byte, or of two; the last one is its number. */
static bool is_control(const char *text, size_t len)
{
	return len == 1 ? iscntrl((unsigned char)*text) : *text == '\302' && text[1] < '\240';
}

/*
 * A string of JSON, which is to be UTF-8: a byte that is not becomes the character of its number, as in ISO 8859-1.
 * Control characters are escaped, as somebody may look at it.
 */
const char *json_quoted(const char *text)
{
	char *quoted = mem_alloc(6 * strlen(text) + 3), *to = quoted;
	size_t len;

	*to++ = '"';
	for (; *text; text += len ? len : 1) {
		len = utf8_len(text);
		if (*text == '"' || *text == '\\')
			to += sprintf(to, "\\%c", *text);
		else if (!len || is_control(text, len))
			to += sprintf(to, "\\u%04x", (unsigned char)text[len ? len - 1 : 0]);
		else
			to = (char *)memcpy(to, text, len) + len;
	}
	*to = '"';
	return quoted;
}

static void json_cell(const struct column *column, const struct cell *cell)
{
	printf("%s: ", json_quoted(column->key));
	if (!cell->there)
		fputs("null", stdout);
	else if (column->kind == COL_TEXT)
		fputs(json_quoted(cell->text), stdout);
	else if (column->kind == COL_JSON)
		fputs(cell->text, stdout);
	else if (column->kind == COL_MILLI)
		printf("%.3f", cell->number / 1e3);
	else
		printf("%lld", cell->number);
}

/* The members of an object, without its braces. */
static void json_row(const struct table *table, size_t row, const char *between)
{
	size_t i;

	for (i = 0; i < table->nr_columns; i++) {
		if (i)
			printf(",%s", between);
		json_cell(&table->columns[i], &table->cells[row * table->nr_columns + i]);
	}
}

static void json_rows(const struct table *table, const char *indent)
{
	size_t row, rows = table->nr / table->nr_columns;

	putchar('[');
	for (row = 0; row < rows; row++) {
		printf("%s\n%s  { ", row ? "," : "", indent);
		json_row(table, row, " ");
		fputs(" }", stdout);
	}
	printf("%s%s]", rows ? "\n" : "", rows ? indent : "");
}

/* Of a text what makes two columns of one is escaped: where there are no headings, a program splits lines at blanks. */
static const char *cell_shown(const struct column *column, const struct cell *cell,
			      const struct args *args)
{
	if (!cell->there)
		return "-";
	if (column->kind == COL_TEXT)
		return *cell->text ? text_shown(cell->text, args->noheaders ? "\\ " : "\\") : "-";
	if (column->kind == COL_BYTES)
		return units_format(cell->number, args->units);
	/* 0: not measured yet */
	if (column->kind == COL_NS)
		return cell->number ? mem_printf("%.3fms", cell->number / 1e6) : "-";
	if (column->kind == COL_SECONDS)
		return cell->number ? mem_printf("%llds", cell->number) : "-";
	if (column->kind == COL_MILLI)
		return mem_printf(cell->number < 9950 ? "%.1f" : "%.0f", cell->number / 1e3);
	return mem_printf("%lld", cell->number);
}

static int column_width(const struct table *table, size_t column, const struct args *args)
{
	size_t at, len, width = args->noheaders ? 0 : strlen(table->columns[column].head);

	for (at = column; at < table->nr; at += table->nr_columns) {
		len = strlen(cell_shown(&table->columns[column], &table->cells[at], args));
		if (len > width)
			width = len;
	}
	return width;
}

/* One line; numbers to the right, nothing behind the last text. */
static void line_print(const struct table *table, const struct cell *row, const int *width,
		       const struct args *args)
{
	const struct column *column = table->columns;
	size_t i, shown_columns = table->nr_columns;
	const char *shown;

	while (!column[shown_columns - 1].head)
		shown_columns--;
	for (i = 0; i < shown_columns; i++, column++) {
		if (!column->head)
			continue;
		shown = row ? cell_shown(column, &row[i], args) : column->head;
		if (column->kind != COL_TEXT)
			printf("%*s", width[i], shown);
		else if (i + 1 < shown_columns)
			printf("%-*s", width[i], shown);
		else
			fputs(shown, stdout);
		fputs(i + 1 < shown_columns ? "  " : "\n", stdout);
	}
}

static void table_lines(const struct table *table, const struct args *args)
{
	int *width = mem_alloc(table->nr_columns * sizeof(*width));
	size_t i;

	for (i = 0; i < table->nr_columns; i++)
		if (table->columns[i].head)
			width[i] = column_width(table, i, args);
	if (!args->noheaders)
		line_print(table, NULL, width, args);
	for (i = 0; i < table->nr; i += table->nr_columns)
		line_print(table, &table->cells[i], width, args);
}

void table_print(const struct table *table, const struct args *args)
{
	if (!args->json) {
		table_lines(table, args);
		return;
	}
	json_rows(table, "");
	putchar('\n');
}

/* One object, the first row of its table, with a list of parts. */
void object_print(const struct table *object, const char *key, const struct table *part,
		  const struct args *args)
{
	size_t i, len, width = 0;

	if (args->json) {
		fputs("{\n  ", stdout);
		json_row(object, 0, "\n  ");
		printf(",\n  \"%s\": ", key);
		json_rows(part, "  ");
		fputs("\n}\n", stdout);
		return;
	}
	for (i = 0; i < object->nr_columns; i++) {
		len = strlen(object->columns[i].key);
		width = len > width ? len : width;
	}
	for (i = 0; i < object->nr_columns; i++)
		printf("%-*s  %s\n", (int)width, object->columns[i].key,
		       cell_shown(&object->columns[i], &object->cells[i], args));
	putchar('\n');
	table_lines(part, args);
}
