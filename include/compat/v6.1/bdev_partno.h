/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_BDEV_PARTNO_H
#define _COMPAT_BDEV_PARTNO_H

static inline u8 bdev_partno(const struct block_device *bdev)
{
	return bdev->bd_partno;
}

#endif /* _COMPAT_BDEV_PARTNO_H */
