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
#include <linux/fs_struct.h>
#include <linux/once.h>
#include <linux/random.h>

#include "backend.h"

/**
 * rnbd_srv_backend_open() - open a block device
 * @backend: filled in on success
 * @path: where it is
 * @writable: open it for writing too
 *
 * The path begins at init's root: a kernel thread may have one in which there is nothing.
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
	scoped_with_init_fs()
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

/* From what a driver knows, the one first that is said to be unique in the world. */
static void rnbd_srv_backend_uid(struct gendisk *disk, struct rnbd_identity *id)
{
	static const struct {
		enum blk_unique_id type;
		const char *name;
	} types[] = {
		{ BLK_UID_NAA, "naa" },
		{ BLK_UID_EUI64, "eui" },
		{ BLK_UID_T10, "t10" },
	};
	u8 uid[16];
	unsigned int i;
	int len = 0;

	if (!disk->fops->get_unique_id)
		return;
	for (i = 0; i < ARRAY_SIZE(types) && len <= 0; i++) {
		len = disk->fops->get_unique_id(disk, uid, types[i].type);
		if (len > 0)
			rnbd_identity_set_uid(id, types[i].name, uid, min_t(int, len, sizeof(uid)));
	}
}

/**
 * rnbd_srv_backend_identity() - which disk a block device is
 * @backend: the device
 * @id: filled in, without what an administrator calls it
 *
 * Names of device mapper and md, serial numbers and what is on a disk are known to udev, not here.
 *
 * Context: process, may sleep.
 */
void rnbd_srv_backend_identity(const struct rnbd_srv_backend *backend, struct rnbd_identity *id)
{
	/* Numbers of disks begin anew with each boot. */
	static u64 rnbd_srv_run;
	struct block_device *bdev = backend->bdev;
	const struct partition_meta_info *info = bdev->bd_meta_info;

	get_random_once(&rnbd_srv_run, sizeof(rnbd_srv_run));
	*id = (struct rnbd_identity){
		.run = rnbd_srv_run | 1,
		.disk = bdev->bd_disk->diskseq,
	};
	rnbd_srv_backend_uid(bdev->bd_disk, id);
	if (bdev_is_partition(bdev))
		rnbd_identity_set_partition(id, bdev_partno(bdev), info ? info->uuid : NULL);
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
