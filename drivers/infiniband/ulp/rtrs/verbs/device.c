// SPDX-License-Identifier: GPL-2.0-only
/* Device requirements of RTRS. */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/printk.h>

#include "../proto/geometry.h"
#include "device.h"
#include "fault.h"

/**
 * rtrs_device_check() - can this device carry RTRS
 * @dev: the device
 * @port: its port
 *
 * RTRS needs reliable connections with RDMA WRITE with immediate, SEND with invalidate and fast
 * registration (protocol section 1), and queues that take some messages of each kind.  iWARP has no WRITE with immediate and
 * would fail only at the first request, so it is refused here.
 *
 * Context: any.
 * Return: 0, or -EOPNOTSUPP with a message that names what is missing.
 */
int rtrs_device_check(struct ib_device *dev, u32 port)
{
	u32 wrs = fault_here(few_wrs) ? RTRS_MIN_QP_WR / 4 : dev->attrs.max_qp_wr;

	if (rdma_protocol_iwarp(dev, port)) {
		pr_err_ratelimited("device %s port %u: iWARP has no RDMA WRITE with immediate, RTRS needs InfiniBand or RoCE\n",
				   dev_name(&dev->dev), port);
		return -EOPNOTSUPP;
	}
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		pr_err_ratelimited("device %s port %u: no memory management extensions (fast registration), RTRS needs them\n",
				   dev_name(&dev->dev), port);
		return -EOPNOTSUPP;
	}
	if (wrs < RTRS_MIN_QP_WR) {
		pr_err_ratelimited("device %s port %u: queues of %u work requests at most, RTRS needs %u\n",
				   dev_name(&dev->dev), port, wrs, RTRS_MIN_QP_WR);
		return -EOPNOTSUPP;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_device_check);

/**
 * rtrs_dma_map() - map a buffer of ours for a device
 * @dev: the device
 * @buf: the buffer
 * @len: its bytes
 * @dir: who writes it
 * @dma: result, not changed on failure
 *
 * Context: any.
 * Return: 0 or -ENOMEM.
 */
int rtrs_dma_map(struct ib_device *dev, void *buf, size_t len, enum dma_data_direction dir, u64 *dma)
{
	u64 addr;

	if (fault_here(dma_map_single))
		return -ENOMEM;
	addr = ib_dma_map_single(dev, buf, len, dir);
	if (ib_dma_mapping_error(dev, addr))
		return -ENOMEM;
	*dma = addr;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_dma_map);
