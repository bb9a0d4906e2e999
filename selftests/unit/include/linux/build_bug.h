/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_BUILD_BUG_H
#define _UNIT_LINUX_BUILD_BUG_H

#ifndef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, "" #expr)
#endif

#endif /* _UNIT_LINUX_BUILD_BUG_H */
