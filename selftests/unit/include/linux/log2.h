/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_LOG2_H
#define _UNIT_LINUX_LOG2_H

#include <linux/types.h>

/* Bit number of the highest set bit; @n is not 0. */
static inline int ilog2(unsigned long n)
{
	return 8 * sizeof(n) - 1 - __builtin_clzl(n);
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline int order_base_2(unsigned long n)
{
	return n > 1 ? ilog2(n - 1) + 1 : 0;
}

#endif /* _UNIT_LINUX_LOG2_H */
