/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_BLKDEV_H
#define _COMPAT_LINUX_BLKDEV_H

#include_next <linux/blkdev.h>

#ifndef HAVE_BLK_MODE_T
#include "../v6.1/blk_mode.h"
#endif

#ifndef HAVE_BDEV_FILE_OPEN_BY_PATH
#include "../v6.1/bdev_file.h"
#endif

#ifndef HAVE_BDEV_PARTNO
#include "../v6.1/bdev_partno.h"
#endif

/**
 * DEFINE_BLK_OPEN_RELEASE() - define the methods open and release of a block device
 * @name: what their names begin with: name_open() and name_release()
 * @open_fn: int open_fn(struct gendisk *, blk_mode_t)
 * @release_fn: void release_fn(struct gendisk *)
 *
 * Not in any kernel: a change of arguments in a table of methods is all that a shadow header cannot hide.
 */
#ifdef HAVE_BLK_OPEN_GENDISK
#define DEFINE_BLK_OPEN_RELEASE(name, open_fn, release_fn)		\
static int name##_open(struct gendisk *disk, blk_mode_t mode)		\
{									\
	return open_fn(disk, mode);					\
}									\
									\
static void name##_release(struct gendisk *disk)			\
{									\
	release_fn(disk);						\
}
#else
#include "../v6.1/blk_open_release.h"
#endif

/**
 * DEFINE_BLK_GETGEO() - define the method getgeo of a block device
 * @name: what its name begins with: name_getgeo()
 * @getgeo_fn: int getgeo_fn(struct gendisk *, struct hd_geometry *); fills in all but the start of
 *	       the partition
 */
#ifdef HAVE_BLK_GETGEO_GENDISK
#define DEFINE_BLK_GETGEO(name, getgeo_fn)				\
static int name##_getgeo(struct gendisk *disk, struct hd_geometry *geo)	\
{									\
	return getgeo_fn(disk, geo);					\
}
#else
#define DEFINE_BLK_GETGEO(name, getgeo_fn)				\
static int name##_getgeo(struct block_device *bdev, struct hd_geometry *geo) \
{									\
	geo->start = get_start_sect(bdev);				\
	return getgeo_fn(bdev->bd_disk, geo);				\
}
#endif

#endif /* _COMPAT_LINUX_BLKDEV_H */
