/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_IO_H
#define _RNBD_SRV_IO_H

#include "srv.h"

void rnbd_srv_io_submit(struct rnbd_srv_dev *dev, const struct rnbd_srv_io_req *req, void *data,
			struct rtrs_srv_op *id);
void rnbd_srv_io_start_later(struct rnbd_srv_io *io);
void rnbd_srv_io_submit_waiting(struct bio *bio);

#endif /* _RNBD_SRV_IO_H */
