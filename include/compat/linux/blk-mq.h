/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_BLK_MQ_H
#define _COMPAT_LINUX_BLK_MQ_H

#include_next <linux/blk-mq.h>

/* Since then every driver's requests are merged. */
#ifdef HAVE_BLK_MQ_F_SHOULD_MERGE
static inline int compat_blk_mq_alloc_tag_set(struct blk_mq_tag_set *set)
{
	set->flags |= BLK_MQ_F_SHOULD_MERGE;
	return blk_mq_alloc_tag_set(set);
}

#define blk_mq_alloc_tag_set(set)	compat_blk_mq_alloc_tag_set(set)
#endif

#ifndef HAVE_BLK_MQ_UNFREEZE_NOMEMRESTORE
#define blk_mq_unfreeze_queue_nomemrestore(q)	blk_mq_unfreeze_queue(q)
#endif

#ifndef HAVE_BLK_RQ_MAP_SG_REQUEST
#define blk_rq_map_sg(rq, sgl)	blk_rq_map_sg((rq)->q, rq, sgl)
#endif

/* Last of the block layer's. */
#ifndef HAVE_BLK_MQ_ALLOC_DISK_LIMITS
#include "../v6.1/blk_limits.h"
#endif

#endif /* _COMPAT_LINUX_BLK_MQ_H */
