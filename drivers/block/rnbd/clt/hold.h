/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that wait because no path is left. */
#ifndef _RNBD_CLT_HOLD_H
#define _RNBD_CLT_HOLD_H

#include "types.h"

void rnbd_clt_hold_init(struct rnbd_clt_dev *dev, int timeout);
bool rnbd_clt_hold(struct rnbd_clt_dev *dev);
void rnbd_clt_hold_open(struct rnbd_clt_dev *dev);
void rnbd_clt_hold_stop(struct rnbd_clt_dev *dev);
void rnbd_clt_hold_set_timeout(struct rnbd_clt_dev *dev, int timeout);
blk_status_t rnbd_clt_hold_status(const struct rnbd_clt_dev *dev);

extern struct workqueue_struct *rnbd_clt_hold_wq;
int rnbd_clt_hold_init_wq(void);
void rnbd_clt_hold_exit_wq(void);

#endif /* _RNBD_CLT_HOLD_H */
