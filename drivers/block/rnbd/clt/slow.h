/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that take longer than queue/io_timeout. */
#ifndef _RNBD_CLT_SLOW_H
#define _RNBD_CLT_SLOW_H

#include "types.h"

void rnbd_clt_slow_init(struct rnbd_clt_dev *dev);
void rnbd_clt_slow_stop(struct rnbd_clt_dev *dev);
void rnbd_clt_slow_note(struct rnbd_clt_dev *dev, struct request *rq);
unsigned int rnbd_clt_slow_secs(const struct rnbd_clt_dev *dev);
unsigned int rnbd_clt_slow_count(const struct rnbd_clt_dev *dev);

#endif /* _RNBD_CLT_SLOW_H */
