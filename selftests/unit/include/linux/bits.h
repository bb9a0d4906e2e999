/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_BITS_H
#define _UNIT_LINUX_BITS_H

#define BIT(nr)		(1UL << (nr))
#define BIT_ULL(nr)	(1ULL << (nr))

#endif /* _UNIT_LINUX_BITS_H */
