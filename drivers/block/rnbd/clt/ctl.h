/* SPDX-License-Identifier: GPL-2.0-only */
/* /sys/class/rnbd-client/ctl: the way in. */
#ifndef _RNBD_CLT_CTL_H
#define _RNBD_CLT_CTL_H

int rnbd_clt_ctl_create(void);
void rnbd_clt_ctl_close(void);
void rnbd_clt_ctl_destroy(void);

#endif /* _RNBD_CLT_CTL_H */
