/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_STDDEF_H
#define _UNIT_LINUX_STDDEF_H

#include_next <linux/stddef.h>
#include <stddef.h>

#endif /* _UNIT_LINUX_STDDEF_H */
