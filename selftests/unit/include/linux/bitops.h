/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_BITOPS_H
#define _UNIT_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

#endif /* _UNIT_LINUX_BITOPS_H */
