/* SPDX-License-Identifier: GPL-2.0-only */
/* Path addresses: parse, format, compare (API specification section 4). */
#ifndef _RTRS_ADDR_H
#define _RTRS_ADDR_H

#include "proto_env.h"

/* Longest text of one address, "gid:" and eight groups, with its NUL; and of a pair. */
#define RTRS_ADDR_STR_LEN	64
#define RTRS_ADDR_PAIR_STR_LEN	(2 * RTRS_ADDR_STR_LEN)

int rtrs_addr_parse(const char *str, size_t len, u16 port, struct sockaddr_storage *dst);
int rtrs_addr_split(const char *str, size_t len, size_t *src_len, size_t *dst_off);
bool rtrs_addr_same_host(const struct sockaddr *a, const struct sockaddr *b);
int rtrs_addr_format(const struct sockaddr *addr, char *buf, size_t len);

#endif /* _RTRS_ADDR_H */
