/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_BLKDEV_H
#define _COMPAT_LINUX_BLKDEV_H

#include_next <linux/blkdev.h>

#ifndef HAVE_BLK_MODE_T
typedef unsigned int __bitwise blk_mode_t;

#define BLK_OPEN_READ		((__force blk_mode_t)(1 << 0))
#define BLK_OPEN_WRITE		((__force blk_mode_t)(1 << 1))
#define BLK_OPEN_EXCL		((__force blk_mode_t)(1 << 2))
#define BLK_OPEN_NDELAY		((__force blk_mode_t)(1 << 3))
#endif

#ifndef HAVE_BDEV_FILE_OPEN_BY_PATH
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>

struct blk_holder_ops;

static inline struct block_device *file_bdev(struct file *bdev_file)
{
	return I_BDEV(bdev_file->f_mapping->host);
}

/*
 * Through an ordinary file, so that whoever has it can do with it what can be done with 6.12's:
 * file_bdev(), fput(), __fput_sync().  Without a holder only; that one would be the file itself.
 */
static inline struct file *bdev_file_open_by_path(const char *path, blk_mode_t mode, void *holder,
						  const struct blk_holder_ops *hops)
{
	bool writable = !!(mode & BLK_OPEN_WRITE);
	struct file *file;
	dev_t dev;
	int ret;

	if (holder)
		return ERR_PTR(-EOPNOTSUPP);
	/* Look before opening: the open of something else might block or have effects. */
	ret = lookup_bdev(path, &dev);
	if (ret)
		return ERR_PTR(ret);
	file = filp_open(path, (writable ? O_RDWR : O_RDONLY) | O_LARGEFILE, 0);
	if (IS_ERR(file))
		return file;
	if (!S_ISBLK(file_inode(file)->i_mode))
		ret = -ENOTBLK;
	else if (writable && bdev_read_only(file_bdev(file)))
		ret = -EACCES;
	if (ret) {
		fput(file);
		return ERR_PTR(ret);
	}
	return file;
}
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
#endif

#ifndef HAVE_BDEV_PARTNO
static inline u8 bdev_partno(const struct block_device *bdev)
{
	return bdev->bd_partno;
}
#endif

#endif /* _COMPAT_LINUX_BLKDEV_H */
