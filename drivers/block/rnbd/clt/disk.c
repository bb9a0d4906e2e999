// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block device that users see: /dev/rnbd<N>.
 *
 * Ownership
 *	The device holds its disk until its own memory goes.  An opener holds the device, through open and
 *	release, so that a disk that was removed by force has its device as long as somebody has it open.
 *
 *	The number of a disk, and with it its name and its dev_t, is free when the disk's memory goes, not when the
 *	disk is removed: a mounted file system is found by its dev_t, and has a directory in sysfs by its name.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/hdreg.h>
#include <linux/idr.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/wait.h>

#include "dev.h"
#include "disk.h"
#include "fault.h"
#include "queue.h"
#include "sess.h"
#include "slow.h"

/* Minors of a disk, for itself and its partitions (protocol specification section 5). */
#define RNBD_CLT_DISK_MINORS	64
#define RNBD_CLT_DISK_MAX_INDEX	((1U << MINORBITS) / RNBD_CLT_DISK_MINORS - 1)

/* Made-up geometry, for partition tools of the past. */
#define RNBD_CLT_GEO_HEADS	4
#define RNBD_CLT_GEO_SECTORS	16

/* How long requests may take to end before they are aborted. */
#define RNBD_CLT_DRAIN_TIMEOUT	(2 * HZ)
/* How often that is tried, in jiffies and until the last path is given up too, and until a sole user disconnects. */
#define RNBD_CLT_ABORT_DELAY	max_t(unsigned long, 1, HZ / 20)
#define RNBD_CLT_ABORT_ROUNDS	30
#define RNBD_CLT_CUT_ROUNDS	100

/**
 * struct rnbd_clt_disks - numbers of the disks of this host
 * @major: of all of them (I, set by module init)
 * @ida: N of each rnbd<N>; has a lock of its own
 * @wait: woken when a number is free again
 */
struct rnbd_clt_disks {
	int major;
	struct ida ida;
	wait_queue_head_t wait;
};

static struct rnbd_clt_disks rnbd_clt_disks = {
	.ida = IDA_INIT(rnbd_clt_disks.ida),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(rnbd_clt_disks.wait),
};

/**
 * rnbd_clt_disk_init_major() - get device numbers
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int rnbd_clt_disk_init_major(void)
{
	int major = register_blkdev(0, "rnbd");

	if (major < 0)
		return major;
	rnbd_clt_disks.major = major;
	return 0;
}

/**
 * rnbd_clt_disk_exit_major() - give them back
 *
 * Waits for disks that are removed, but whose memory somebody else still holds; an opener holds the module.
 *
 * Context: module exit, without devices; may sleep.
 */
void rnbd_clt_disk_exit_major(void)
{
	wait_event(rnbd_clt_disks.wait, ida_is_empty(&rnbd_clt_disks.ida));
	unregister_blkdev(rnbd_clt_disks.major, "rnbd");
	ida_destroy(&rnbd_clt_disks.ida);
}

static int rnbd_clt_disk_open(struct gendisk *disk, blk_mode_t mode)
{
	struct rnbd_clt_dev *dev = disk->private_data;

	if (dev->access_mode == RNBD_ACCESS_RO && (mode & BLK_OPEN_WRITE)) {
		pr_info_ratelimited("%s: mapped with access_mode=ro, %s may not open it for writing\n",
				    disk->disk_name, current->comm);
		return -EPERM;
	}
	return rnbd_clt_dev_get_opener(dev);
}

static void rnbd_clt_disk_release(struct gendisk *disk)
{
	rnbd_clt_dev_put_opener(disk->private_data);
}

static int rnbd_clt_disk_index(const struct gendisk *disk)
{
	return disk->first_minor / RNBD_CLT_DISK_MINORS;
}

static void rnbd_clt_disk_free_index(int index)
{
	ida_free(&rnbd_clt_disks.ida, index);
	wake_up_all(&rnbd_clt_disks.wait);
}

/* The last reference of a disk that was added is gone. */
static void rnbd_clt_disk_free(struct gendisk *disk)
{
	rnbd_clt_disk_free_index(rnbd_clt_disk_index(disk));
}

static int rnbd_clt_disk_getgeo(struct gendisk *disk, struct hd_geometry *geo)
{
	sector_t cylinders = get_capacity(disk);

	sector_div(cylinders, RNBD_CLT_GEO_HEADS * RNBD_CLT_GEO_SECTORS);
	geo->heads = RNBD_CLT_GEO_HEADS;
	geo->sectors = RNBD_CLT_GEO_SECTORS;
	geo->cylinders = min_t(sector_t, cylinders, U16_MAX);
	return 0;
}

DEFINE_BLK_OPEN_RELEASE(rnbd_clt_disk_ops, rnbd_clt_disk_open, rnbd_clt_disk_release);
DEFINE_BLK_GETGEO(rnbd_clt_disk_ops, rnbd_clt_disk_getgeo);

static const struct block_device_operations rnbd_clt_disk_ops = {
	.owner		= THIS_MODULE,
	.open		= rnbd_clt_disk_ops_open,
	.release	= rnbd_clt_disk_ops_release,
	.free_disk	= rnbd_clt_disk_free,
	.getgeo		= rnbd_clt_disk_ops_getgeo,
};

static void rnbd_clt_disk_limits(const struct rnbd_dev_limits *limits, struct queue_limits *lim)
{
	*lim = (struct queue_limits) {
		.logical_block_size	  = limits->logical_block_bytes,
		.physical_block_size	  = limits->physical_block_bytes,
		.max_hw_sectors		  = limits->max_hw_sectors,
		.io_opt			  = limits->max_hw_sectors << SECTOR_SHIFT,
		.max_segments		  = limits->max_segments,
		.virt_boundary_mask	  = RNBD_CLT_PAGE_BYTES - 1,
		.max_hw_discard_sectors	  = limits->max_discard_sectors,
		.max_discard_segments	  = 1,
		.discard_granularity	  = limits->discard_granularity,
		.discard_alignment	  = limits->discard_alignment,
		.max_secure_erase_sectors = limits->max_secure_erase_sectors,
		.max_write_zeroes_sectors = limits->max_write_zeroes_sectors,
	};
	if (limits->write_cache)
		lim->features |= BLK_FEAT_WRITE_CACHE;
	if (limits->fua)
		lim->features |= BLK_FEAT_FUA;
}

static void rnbd_clt_disk_setup(struct rnbd_clt_dev *dev, struct gendisk *disk, int index)
{
	disk->major = rnbd_clt_disks.major;
	disk->first_minor = index * RNBD_CLT_DISK_MINORS;
	disk->minors = RNBD_CLT_DISK_MINORS;
	disk->fops = &rnbd_clt_disk_ops;
	disk->private_data = dev;
	scnprintf(disk->disk_name, sizeof(disk->disk_name), "rnbd%d", index);
	set_capacity(disk, dev->limits.nsectors);
	if (dev->access_mode == RNBD_ACCESS_RO)
		set_disk_ro(disk, true);
}

/* How many disks share the slots of the session from now on. */
static void rnbd_clt_disk_count(struct rnbd_clt_sess *sess, int more)
{
	spin_lock(&sess->lock);
	WRITE_ONCE(sess->nr_disks, sess->nr_disks + more);
	spin_unlock(&sess->lock);
}

/**
 * rnbd_clt_disk_add() - make the disk of a device
 * @dev: device that is open
 *
 * Context: may sleep, and read from the device.
 * Return: 0, to be undone by rnbd_clt_disk_del(); -ENOSPC: no number left; another negative errno.
 */
int rnbd_clt_disk_add(struct rnbd_clt_dev *dev)
{
	struct queue_limits lim;
	struct gendisk *disk;
	int index, ret;

	index = ida_alloc_max(&rnbd_clt_disks.ida, RNBD_CLT_DISK_MAX_INDEX, GFP_KERNEL);
	if (index < 0)
		return index;
	ret = rnbd_clt_queue_init(dev);
	if (ret)
		goto err_free_index;
	rnbd_clt_disk_limits(&dev->limits, &lim);
	disk = blk_mq_alloc_disk(&dev->tag_set, &lim, dev);
	if (IS_ERR(disk)) {
		ret = PTR_ERR(disk);
		goto err_exit_queue;
	}
	rnbd_clt_disk_setup(dev, disk, index);
	rnbd_clt_disk_count(dev->sess, 1);
	ret = fault_here(disk_add) ? -ENOMEM : device_add_disk(NULL, disk, NULL);
	if (ret)
		goto err_put_disk;
	/* The scan for partitions opened the disk; kernel threads release files later. */
	flush_delayed_fput();
	dev->disk = disk;
	dev->is_added = true;
	return 0;

err_put_disk:
	rnbd_clt_disk_count(dev->sess, -1);
	put_disk(disk);
err_exit_queue:
	rnbd_clt_queue_exit(dev);
err_free_index:
	rnbd_clt_disk_free_index(index);
	return ret;
}

/* Have requests fail that the server does not answer. */
static void rnbd_clt_disk_abort(struct rnbd_clt_dev *dev)
{
	unsigned int round = 0;

	pr_warn("%s: requests do not end, giving up the paths that they are on, one after the other\n",
		dev->disk->disk_name);
	dev->is_cut = true;
	do {
		if (++round == RNBD_CLT_CUT_ROUNDS)
			rnbd_clt_sess_cut(dev->sess);
		rnbd_clt_queue_abort(dev, round >= RNBD_CLT_ABORT_ROUNDS);
	} while (!blk_mq_freeze_queue_wait_timeout(dev->disk->queue, RNBD_CLT_ABORT_DELAY));
}

/**
 * rnbd_clt_disk_drain() - see that requests end, before the disk is removed with users on it
 * @dev: device after rnbd_clt_dev_start_unmap()
 *
 * Whatever has not reached the transport fails by itself.  The rest ends when the server answers.  If that takes too
 * long, the paths that its requests are on are given up: only then the pages are safe from the server.  Other disks of
 * the session go on over other paths.
 *
 * Context: may sleep; the caller is a user of the session.
 */
void rnbd_clt_disk_drain(struct rnbd_clt_dev *dev)
{
	struct request_queue *q;

	if (!dev->is_added)
		return;
	q = dev->disk->queue;
	blk_freeze_queue_start(q);
	if (!blk_mq_freeze_queue_wait_timeout(q, RNBD_CLT_DRAIN_TIMEOUT))
		rnbd_clt_disk_abort(dev);
	blk_mq_unfreeze_queue_nomemrestore(q);
	blk_mark_disk_dead(dev->disk);
}

/**
 * rnbd_clt_disk_del() - remove the disk of a device
 * @dev: the device; need not have a disk
 *
 * Its memory, and so its name, stays until the device's goes.
 *
 * Context: may sleep.
 */
void rnbd_clt_disk_del(struct rnbd_clt_dev *dev)
{
	if (!dev->is_added)
		return;
	dev->is_added = false;
	del_gendisk(dev->disk);
	rnbd_clt_slow_stop(dev);
	rnbd_clt_disk_count(dev->sess, -1);
	rnbd_clt_queue_exit(dev);
}
