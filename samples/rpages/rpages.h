/* SPDX-License-Identifier: GPL-2.0-only */
/* rpages: what client and server say to each other.  RTRS itself says how much data there is, and which way. */
#ifndef RPAGES_H
#define RPAGES_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define RPAGES_PORT	1237

/**
 * struct rpages_msg - user message of a request
 * @instance: of the memory meant, from struct rpages_info; 0: READ a struct rpages_info
 * @offset: of the data in that memory, in bytes
 */
struct rpages_msg {
	__le64 instance;
	__le64 offset;
};
static_assert(sizeof(struct rpages_msg) == 16);

/**
 * struct rpages_info - what a server has
 * @instance: random, not 0; a server that was loaded again has another one, and lost what was in its memory
 * @bytes: size of the memory
 */
struct rpages_info {
	__le64 instance;
	__le64 bytes;
};
static_assert(sizeof(struct rpages_info) == 16);
#endif /* RPAGES_H */
