/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_STRING_H
#define _UNIT_LINUX_STRING_H

#include <string.h>
#include <strings.h>
#include <linux/types.h>

ssize_t strscpy(char *dst, const char *src, size_t size);

#endif /* _UNIT_LINUX_STRING_H */
