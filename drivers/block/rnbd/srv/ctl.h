/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_CTL_H
#define _RNBD_SRV_CTL_H

#include <linux/kobject.h>

extern const struct kobj_type rnbd_srv_ctl_dev_type;

int rnbd_srv_ctl_init(void);
void rnbd_srv_ctl_exit(void);

#endif /* _RNBD_SRV_CTL_H */
