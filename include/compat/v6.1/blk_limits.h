/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk is allocated with a structure of limits; older kernels have a setter for each.  The structure
 * here has the members of the new one that have a meaning there.  It takes over the name, so this
 * header is included last of the block layer's.
 */
#ifndef _COMPAT_BLK_LIMITS_H
#define _COMPAT_BLK_LIMITS_H

#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/log2.h>

typedef unsigned int __bitwise blk_features_t;

#define BLK_FEAT_WRITE_CACHE	((__force blk_features_t)(1u << 0))
#define BLK_FEAT_FUA		((__force blk_features_t)(1u << 1))
#define BLK_FEAT_ROTATIONAL	((__force blk_features_t)(1u << 2))

/**
 * struct compat_queue_limits - what a disk can do
 * @features: BLK_FEAT_*
 * @virt_boundary_mask: pages of a request have no gaps with respect to this, 0 = no such rule
 * @max_hw_sectors: largest read or write, sectors of 512 bytes, at least a page
 * @max_segments: entries of the scatter/gather list
 * @max_discard_segments: ranges of a discard
 * @logical_block_size: bytes, a power of two from 512 to a page
 * @physical_block_size: bytes
 * @io_opt: preferred size of a request, bytes
 * @max_hw_discard_sectors: largest discard, 0 = not supported
 * @max_secure_erase_sectors: largest secure erase, 0 = not supported
 * @max_write_zeroes_sectors: largest write zeroes, 0 = not supported
 * @discard_granularity: bytes
 * @discard_alignment: bytes
 */
struct compat_queue_limits {
	blk_features_t features;
	unsigned long virt_boundary_mask;
	unsigned int max_hw_sectors;
	unsigned short max_segments;
	unsigned short max_discard_segments;
	unsigned int logical_block_size;
	unsigned int physical_block_size;
	unsigned int io_opt;
	unsigned int max_hw_discard_sectors;
	unsigned int max_secure_erase_sectors;
	unsigned int max_write_zeroes_sectors;
	unsigned int discard_granularity;
	unsigned int discard_alignment;
};

static inline void compat_queue_limits_apply(struct request_queue *q,
					     const struct compat_queue_limits *lim)
{
	bool write_cache = !!(lim->features & BLK_FEAT_WRITE_CACHE);
	unsigned int physical = max(lim->physical_block_size, lim->logical_block_size);

	blk_queue_logical_block_size(q, lim->logical_block_size);
	blk_queue_physical_block_size(q, physical);
	blk_queue_max_hw_sectors(q, lim->max_hw_sectors);
	blk_queue_io_opt(q, rounddown(lim->io_opt, physical));
	blk_queue_max_segments(q, lim->max_segments);
	blk_queue_virt_boundary(q, lim->virt_boundary_mask);
	blk_queue_max_discard_sectors(q, lim->max_hw_discard_sectors);
	blk_queue_max_discard_segments(q, max_t(unsigned short, lim->max_discard_segments, 1));
	q->limits.discard_granularity = lim->max_hw_discard_sectors ?
					max(lim->discard_granularity, physical) : 0;
	q->limits.discard_alignment = lim->discard_alignment;
	blk_queue_max_secure_erase_sectors(q, lim->max_secure_erase_sectors);
	blk_queue_max_write_zeroes_sectors(q, lim->max_write_zeroes_sectors);
	blk_queue_write_cache(q, write_cache,
			      write_cache && (lim->features & BLK_FEAT_FUA));
	if (!(lim->features & BLK_FEAT_ROTATIONAL))
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
}

static inline struct gendisk *compat_blk_mq_alloc_disk(struct blk_mq_tag_set *set,
						       const struct compat_queue_limits *lim,
						       void *queuedata,
						       struct lock_class_key *lkclass)
{
	struct gendisk *disk;

	if (!is_power_of_2(lim->logical_block_size) || lim->logical_block_size < SECTOR_SIZE ||
	    lim->logical_block_size > PAGE_SIZE || lim->max_hw_sectors < PAGE_SECTORS)
		return ERR_PTR(-EINVAL);
	disk = __blk_mq_alloc_disk(set, queuedata, lkclass);
	if (!IS_ERR(disk))
		compat_queue_limits_apply(disk->queue, lim);
	return disk;
}

#undef blk_mq_alloc_disk
#define blk_mq_alloc_disk(set, lim, queuedata)				\
({									\
	static struct lock_class_key __key;				\
									\
	compat_blk_mq_alloc_disk(set, lim, queuedata, &__key);		\
})

#define queue_limits compat_queue_limits

#endif /* _COMPAT_BLK_LIMITS_H */
