/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_BLK_MQ_H
#define _COMPAT_LINUX_BLK_MQ_H

#include_next <linux/blk-mq.h>

#ifndef HAVE_BLK_MQ_ALLOC_DISK_LIMITS
#include "../blk_limits.h"
#endif

#ifndef HAVE_RQ_LIST
/* A list of requests was a pointer to the first one. */
#define rq_list request *
#define rq_list_init(list) (*(list) = NULL)
#define rq_list_add_head rq_list_add
#endif

#endif /* _COMPAT_LINUX_BLK_MQ_H */
