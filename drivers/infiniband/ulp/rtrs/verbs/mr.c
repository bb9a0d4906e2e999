// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast registration memory regions.
 *
 * Ordering: a region is mapped and registered only while invalid.  The key's low byte advances with
 * each mapping, so a key a peer has seen never opens the next mapping.
 */
#include <linux/export.h>
#include <linux/sizes.h>

#include "fault.h"
#include "mr.h"

/*
 * What a region is addressed by.  Any number with the right offset in the first page would do: the
 * mapped address, which with some devices is a kernel pointer, is none of a peer's business.
 */
#define RTRS_MR_IOVA_BASE	(1ULL << 32)

/**
 * rtrs_mr_alloc() - allocate a region
 * @rmr: the object, zeroed
 * @pd: protection domain
 * @max_pages: 4 KiB pages it must be able to map
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int rtrs_mr_alloc(struct rtrs_mr *rmr, struct ib_pd *pd, u32 max_pages)
{
	struct ib_mr *mr;

	if (fault_here(mr_alloc))
		return -ENOMEM;
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, max_pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	rmr->mr = mr;
	rmr->valid = false;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_mr_alloc);

/**
 * rtrs_mr_free() - free a region, registered or not
 * @rmr: the object; nothing happens if there is no region
 *
 * Context: process, may sleep; no WR of the region is in a queue.
 */
void rtrs_mr_free(struct rtrs_mr *rmr)
{
	if (!rmr->mr)
		return;
	ib_dereg_mr(rmr->mr);
	rmr->mr = NULL;
	rmr->valid = false;
}
EXPORT_SYMBOL_GPL(rtrs_mr_free);

/**
 * rtrs_mr_map() - map mapped pages into an invalid region and prepare its REG_MR
 * @rmr: the region
 * @sg: DMA-mapped list
 * @nr: entries
 * @access: IB_ACCESS_*
 * @cqe: handler of the WR, unsignalled
 *
 * The region is addressed by @rmr->mr->iova, which is no address of this host.  The WR is in
 * @rmr->reg_wr.wr, not linked and not posted.  4 KiB pages whatever PAGE_SIZE is: that is
 * what every device and both kernels' rxe take.
 *
 * Context: any; the region belongs to the caller.
 * Return: 0, or -EINVAL if the list does not fit one region.
 */
int rtrs_mr_map(struct rtrs_mr *rmr, struct scatterlist *sg, u32 nr, int access,
		struct ib_cqe *cqe)
{
	int mapped;

	if (fault_here(mr_map))
		return -ENOMEM;
	mapped = ib_map_mr_sg(rmr->mr, sg, nr, NULL, SZ_4K);
	if (unlikely(mapped != nr))
		return mapped < 0 ? mapped : -EINVAL;
	ib_update_fast_reg_key(rmr->mr, ib_inc_rkey(rmr->mr->rkey));
	rmr->mr->iova = RTRS_MR_IOVA_BASE + (rmr->mr->iova & (SZ_4K - 1));

	rmr->reg_wr = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = cqe,
		.mr = rmr->mr,
		.key = rmr->mr->rkey,
		.access = access,
	};
	rmr->valid = true;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_mr_map);

/**
 * rtrs_mr_unmap() - take back a mapping whose REG_MR was not posted
 * @rmr: the region
 * @was_valid: an older registration is still in force, because the LOCAL_INV prepared ahead of the
 *	       mapping was not posted either
 *
 * Context: any; the region belongs to the caller.
 */
void rtrs_mr_unmap(struct rtrs_mr *rmr, bool was_valid)
{
	rmr->valid = was_valid;
	if (was_valid)
		ib_update_fast_reg_key(rmr->mr, rmr->inv_wr.ex.invalidate_rkey & 0xff);
}
EXPORT_SYMBOL_GPL(rtrs_mr_unmap);

/**
 * rtrs_mr_renew() - prepare the REG_MR of an invalidated region with the pages it had before
 * @rmr: the region, mapped once by rtrs_mr_map()
 * @cqe: handler of the WR, unsignalled
 *
 * Only the key changes.  The WR is in @rmr->reg_wr.wr, not linked and not posted.
 *
 * Context: any; the region belongs to the caller.
 */
void rtrs_mr_renew(struct rtrs_mr *rmr, struct ib_cqe *cqe)
{
	ib_update_fast_reg_key(rmr->mr, ib_inc_rkey(rmr->mr->rkey));
	rmr->reg_wr = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = cqe,
		.mr = rmr->mr,
		.key = rmr->mr->rkey,
		.access = rmr->reg_wr.access,
	};
	rmr->valid = true;
}
EXPORT_SYMBOL_GPL(rtrs_mr_renew);

/**
 * rtrs_mr_inv_wr() - prepare the LOCAL_INV of a registered region
 * @rmr: the region
 * @cqe: handler of the WR
 *
 * Context: any; the region belongs to the caller, who clears @valid when the WR has taken effect or is
 * in a queue ahead of the next registration.
 * Return: the WR, embedded in @rmr.
 */
struct ib_send_wr *rtrs_mr_inv_wr(struct rtrs_mr *rmr, struct ib_cqe *cqe)
{
	rmr->inv_wr = (struct ib_send_wr) {
		.opcode = IB_WR_LOCAL_INV,
		.wr_cqe = cqe,
		.ex.invalidate_rkey = rmr->mr->rkey,
	};
	return &rmr->inv_wr;
}
EXPORT_SYMBOL_GPL(rtrs_mr_inv_wr);
