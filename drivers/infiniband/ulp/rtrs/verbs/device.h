/* SPDX-License-Identifier: GPL-2.0-only */
/* What an RDMA device must be able to do to carry RTRS. */
#ifndef _RTRS_DEVICE_H
#define _RTRS_DEVICE_H

#include <rdma/ib_verbs.h>

int rtrs_device_check(struct ib_device *dev, u32 port);
int rtrs_dma_map(struct ib_device *dev, void *buf, size_t len, enum dma_data_direction dir, u64 *dma);

#endif /* _RTRS_DEVICE_H */
