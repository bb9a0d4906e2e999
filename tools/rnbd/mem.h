/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a process that lives for one command: nothing is given back before it ends. What does
 * the same again and again takes it from a pool, and empties that.
 */
#ifndef RNBD_MEM_H
#define RNBD_MEM_H

#include <stdarg.h>
#include <stddef.h>

struct mem_pool {
	struct block *blocks;
};

struct mem_pool *mem_use(struct mem_pool *pool);
void mem_empty(struct mem_pool *pool);
void *mem_alloc(size_t bytes);
char *mem_copy(const char *text, size_t len);
char *mem_vprintf(const char *fmt, va_list args);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *mem_room(void *array, size_t nr, size_t size);

/* An array that grows: MEM_ADD(array, nr) is its new last element, all zero. */
#define MEM_ADD(array, nr) \
	((array) = mem_room(array, nr, sizeof(*(array))), &(array)[(nr)++])

#endif
