/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_BDEV_FILE_H
#define _COMPAT_BDEV_FILE_H

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

#endif /* _COMPAT_BDEV_FILE_H */
