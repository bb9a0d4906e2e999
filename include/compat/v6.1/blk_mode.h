/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_BLK_MODE_H
#define _COMPAT_BLK_MODE_H

typedef unsigned int __bitwise blk_mode_t;

#define BLK_OPEN_READ		((__force blk_mode_t)(1 << 0))
#define BLK_OPEN_WRITE		((__force blk_mode_t)(1 << 1))
#define BLK_OPEN_EXCL		((__force blk_mode_t)(1 << 2))
#define BLK_OPEN_NDELAY		((__force blk_mode_t)(1 << 3))

#endif /* _COMPAT_BLK_MODE_H */
