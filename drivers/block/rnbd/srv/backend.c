// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local block device behind an export.
 *
 * It is opened without a holder: a device that is mounted here or part of an array can be
 * exported, and two clients can have it during a migration.  Who may write is decided among the
 * clients, by the export.
 */
#include <linux/blkdev.h>
#include <linux/file.h>

#include "backend.h"

/**
 * rnbd_srv_backend_open() - open a block device
 * @backend: filled in on success
 * @path: where it is
 * @writable: open it for writing too
 *
 * Context: a kernel thread's, so that rnbd_srv_backend_close() can follow.  Sleeps, for as long
 * as the driver likes.
 * Return: 0 or the errno of the open, -ENOTBLK if there is something else.
 */
int rnbd_srv_backend_open(struct rnbd_srv_backend *backend, const char *path, bool writable)
{
	blk_mode_t mode = BLK_OPEN_READ;

	if (writable)
		mode |= BLK_OPEN_WRITE;
	backend->file = bdev_file_open_by_path(path, mode, NULL, NULL);
	if (IS_ERR(backend->file))
		return PTR_ERR(backend->file);
	backend->bdev = file_bdev(backend->file);
	return 0;
}

/**
 * rnbd_srv_backend_close() - close a block device
 * @backend: the device, without I/O in flight
 *
 * The device is released when this returns, not some time later as with fput() in a kernel
 * thread: who hears that a client's CLOSE succeeded may want to remove the device.
 *
 * Context: a kernel thread's.  Sleeps.
 */
void rnbd_srv_backend_close(struct rnbd_srv_backend *backend)
{
	__fput_sync(backend->file);
}

/**
 * rnbd_srv_backend_limits() - describe a block device
 * @backend: the device
 * @lim: filled in
 *
 * Context: any.
 */
void rnbd_srv_backend_limits(const struct rnbd_srv_backend *backend, struct rnbd_srv_limits *lim)
{
	struct block_device *bdev = backend->bdev;

	*lim = (struct rnbd_srv_limits){
		.nsectors		  = bdev_nr_sectors(bdev),
		.max_hw_sectors		  = queue_max_hw_sectors(bdev_get_queue(bdev)),
		.max_write_zeroes_sectors = bdev_write_zeroes_sectors(bdev),
		.max_discard_sectors	  = bdev_max_discard_sectors(bdev),
		.max_secure_erase_sectors = bdev_max_secure_erase_sectors(bdev),
		.discard_granularity	  = bdev_discard_granularity(bdev),
		.discard_alignment	  = bdev_discard_alignment(bdev),
		.physical_block_size	  = bdev_physical_block_size(bdev),
		.logical_block_size	  = bdev_logical_block_size(bdev),
		.max_segments		  = bdev_max_segments(bdev),
		.write_cache		  = bdev_write_cache(bdev),
		.fua			  = bdev_fua(bdev),
	};
}

/**
 * rnbd_srv_backend_rules() - bring rules up to date with a block device
 * @backend: the device
 * @rules: rules of an open device; what may have changed since is set: size, block size, and not
 *	   writable any more
 *
 * Context: any.
 */
void rnbd_srv_backend_rules(const struct rnbd_srv_backend *backend,
			    struct rnbd_srv_io_rules *rules)
{
	struct block_device *bdev = backend->bdev;

	rules->nsectors = bdev_nr_sectors(bdev);
	rules->logical_block_size = bdev_logical_block_size(bdev);
	if (bdev_read_only(bdev))
		rules->writable = false;
}
