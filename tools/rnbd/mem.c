// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "rnbd.h"

/* All blocks, so that a leak checker sees who holds them. */
struct block {
	struct block *next;
	max_align_t data[];
};

static struct mem_pool all, *current = &all;

/* Where memory comes from now; NULL: it stays. Returns where it came from before. */
struct mem_pool *mem_use(struct mem_pool *pool)
{
	struct mem_pool *before = current;

	current = pool ? pool : &all;
	return before;
}

void mem_empty(struct mem_pool *pool)
{
	struct block *block;

	while ((block = pool->blocks)) {
		pool->blocks = block->next;
		free(block);
	}
}

/* Zeroed memory, or the end. */
void *mem_alloc(size_t bytes)
{
	struct block *block = calloc(1, sizeof(*block) + bytes);

	if (!block) {
		fprintf(stderr, "%s: out of memory\n", program_name);
		exit(ST_NOT_READY);
	}
	block->next = current->blocks;
	current->blocks = block;
	return block->data;
}

char *mem_copy(const char *text, size_t len)
{
	return memcpy(mem_alloc(len + 1), text, len);
}

char *mem_vprintf(const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = mem_alloc(len + 1);
	vsnprintf(text, len + 1, fmt, args);
	return text;
}

char *mem_printf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = mem_vprintf(fmt, args);
	va_end(args);
	return text;
}

/* The array with room for element number nr. It doubles whenever nr is a power of two. */
void *mem_room(void *array, size_t nr, size_t size)
{
	void *larger;

	if (nr & (nr - 1))
		return array;
	larger = mem_alloc((nr ? 2 * nr : 1) * size);
	return nr ? memcpy(larger, array, nr * size) : larger;
}
