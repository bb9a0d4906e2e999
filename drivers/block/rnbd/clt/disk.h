/* SPDX-License-Identifier: GPL-2.0-only */
/* The block device that users see. */
#ifndef _RNBD_CLT_DISK_H
#define _RNBD_CLT_DISK_H

#include "types.h"

int rnbd_clt_disk_init_major(void);
void rnbd_clt_disk_exit_major(void);

int rnbd_clt_disk_add(struct rnbd_clt_dev *dev);
void rnbd_clt_disk_drain(struct rnbd_clt_dev *dev);
void rnbd_clt_disk_del(struct rnbd_clt_dev *dev);

#endif /* _RNBD_CLT_DISK_H */
