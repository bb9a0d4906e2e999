/* SPDX-License-Identifier: GPL-2.0-only */
/* Fast registration memory regions, one object each with its WRs embedded. */
#ifndef _RTRS_MR_H
#define _RTRS_MR_H

#include <rdma/ib_verbs.h>

/**
 * struct rtrs_mr - a memory region and the WRs that register and invalidate it
 * @mr: the verbs object
 * @reg_wr: REG_MR; filled by rtrs_mr_map() and rtrs_mr_renew()
 * @inv_wr: LOCAL_INV; filled by rtrs_mr_inv_wr()
 * @valid: registered (or about to be, in the chain being built); owned by who owns the region
 */
struct rtrs_mr {
	struct ib_mr *mr;
	struct ib_reg_wr reg_wr;
	struct ib_send_wr inv_wr;
	bool valid;
};

int rtrs_mr_alloc(struct rtrs_mr *rmr, struct ib_pd *pd, u32 max_pages);
void rtrs_mr_free(struct rtrs_mr *rmr);
int rtrs_mr_map(struct rtrs_mr *rmr, struct scatterlist *sg, u32 nr, int access,
		struct ib_cqe *cqe);
void rtrs_mr_unmap(struct rtrs_mr *rmr, bool was_valid);
void rtrs_mr_renew(struct rtrs_mr *rmr, struct ib_cqe *cqe);
struct ib_send_wr *rtrs_mr_inv_wr(struct rtrs_mr *rmr, struct ib_cqe *cqe);

#endif /* _RTRS_MR_H */
