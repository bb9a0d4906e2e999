/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_RDMA_IB_H
#define _UNIT_RDMA_IB_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* Same layout as in the kernel, without the names for each way to look at it. */
struct ib_addr {
	union {
		__u8	uib_addr8[16];
		__be64	uib_addr64[2];
	} ib_u;
#define sib_raw		ib_u.uib_addr8
};

struct sockaddr_ib {
	unsigned short	sib_family;
	__be16		sib_pkey;
	__be32		sib_flowinfo;
	struct ib_addr	sib_addr;
	__be64		sib_sid;
	__be64		sib_sid_mask;
	__u64		sib_scope_id;
};

static_assert(sizeof(struct sockaddr_ib) == 48);
static_assert(offsetof(struct sockaddr_ib, sib_addr) == 8);
static_assert(offsetof(struct sockaddr_ib, sib_sid) == 24);

#endif /* _UNIT_RDMA_IB_H */
