/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_SLOW_H
#define _RNBD_SRV_SLOW_H

#include "srv.h"

void rnbd_srv_slow_init(struct rnbd_srv_slow *slow);
void rnbd_srv_slow_begin(struct rnbd_srv_dev *dev, unsigned int secs);
void rnbd_srv_slow_end(struct rnbd_srv_dev *dev);
unsigned int rnbd_srv_slow_secs(const struct rnbd_srv_dev *dev);

#endif /* _RNBD_SRV_SLOW_H */
