/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_INET_H
#define _UNIT_LINUX_INET_H

#include <linux/types.h>

#undef INET_ADDRSTRLEN
#undef INET6_ADDRSTRLEN
#define INET_ADDRSTRLEN		16
#define INET6_ADDRSTRLEN	48

int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end);
int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end);

#endif /* _UNIT_LINUX_INET_H */
