/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of data.
 */
#ifndef _RTRS_COPY_H
#define _RTRS_COPY_H

#include <linux/kasan-checks.h>
#include <linux/mm.h>
#include <linux/string.h>

/**
 * rtrs_copy() - copy data, whole pages of them the way the kernel copies pages
 * @dst: to
 * @src: from; does not overlap with @dst
 * @len: bytes
 *
 * Without fast short string moves memcpy() is a loop of loads and stores, of three times as many
 * instructions as copy_page() needs for a page.
 *
 * Context: any.
 */
static inline void rtrs_copy(void *dst, const void *src, size_t len)
{
	/* copy_page() does not look for itself. */
	kasan_check_read(src, len);
	kasan_check_write(dst, len);
	if (PAGE_ALIGNED(dst) && PAGE_ALIGNED(src)) {
		for (; len >= PAGE_SIZE; len -= PAGE_SIZE) {
			copy_page(dst, (void *)src);
			dst += PAGE_SIZE;
			src += PAGE_SIZE;
		}
	}
	if (len)
		memcpy(dst, src, len);
}

#endif
