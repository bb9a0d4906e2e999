/* SPDX-License-Identifier: GPL-2.0-only */
/* Block requests to the transport and back. */
#ifndef _RNBD_CLT_QUEUE_H
#define _RNBD_CLT_QUEUE_H

#include "types.h"

int rnbd_clt_queue_alloc_slots(struct rnbd_clt_sess *sess);
void rnbd_clt_queue_free_slots(struct rnbd_clt_sess *sess);

int rnbd_clt_queue_init(struct rnbd_clt_dev *dev);
void rnbd_clt_queue_abort(struct rnbd_clt_dev *dev, bool last_path);
void rnbd_clt_queue_exit(struct rnbd_clt_dev *dev);

#endif /* _RNBD_CLT_QUEUE_H */
