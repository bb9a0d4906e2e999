/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_BLK_MQ_H
#define _COMPAT_LINUX_BLK_MQ_H

#include_next <linux/blk-mq.h>

#ifndef HAVE_BLK_MQ_ALLOC_DISK_LIMITS
#include "../blk_limits.h"
#endif

#endif /* _COMPAT_LINUX_BLK_MQ_H */
