/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_BLK_OPEN_RELEASE_H
#define _COMPAT_BLK_OPEN_RELEASE_H

#define DEFINE_BLK_OPEN_RELEASE(name, open_fn, release_fn)		\
static int name##_open(struct block_device *bdev, fmode_t fmode)	\
{									\
	blk_mode_t mode = (__force blk_mode_t)0;			\
									\
	if (fmode & FMODE_READ)						\
		mode |= BLK_OPEN_READ;					\
	if (fmode & FMODE_WRITE)					\
		mode |= BLK_OPEN_WRITE;					\
	if (fmode & FMODE_EXCL)						\
		mode |= BLK_OPEN_EXCL;					\
	if (fmode & FMODE_NDELAY)					\
		mode |= BLK_OPEN_NDELAY;				\
	return open_fn(bdev->bd_disk, mode);				\
}									\
									\
static void name##_release(struct gendisk *disk, fmode_t fmode)	\
{									\
	release_fn(disk);						\
}

#endif /* _COMPAT_BLK_OPEN_RELEASE_H */
