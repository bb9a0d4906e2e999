/* SPDX-License-Identifier: GPL-2.0-only */
/* Directory rnbd/ of a disk in sysfs. */
#ifndef _RNBD_CLT_SYSFS_H
#define _RNBD_CLT_SYSFS_H

#include "types.h"

int rnbd_clt_sysfs_add(struct rnbd_clt_dev *dev, struct kobject *links);
void rnbd_clt_sysfs_del(struct rnbd_clt_dev *dev);

#endif /* _RNBD_CLT_SYSFS_H */
