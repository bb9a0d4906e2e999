/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_BITOPS_H
#define _UNIT_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

/* Number of the highest set bit, counted from 1; 0 if there is none. */
static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

#endif /* _UNIT_LINUX_BITOPS_H */
