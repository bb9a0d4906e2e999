/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_ORPHAN_H
#define _RNBD_SRV_ORPHAN_H

#include "srv.h"

void rnbd_srv_orphans_init(void (*start)(struct rnbd_srv_io *io));
bool rnbd_srv_orphaned(struct rtrs_srv_op *id);
bool rnbd_srv_orphan_wait(struct rnbd_srv_io *io);
void rnbd_srv_orphan_end(struct rnbd_srv_io *io);

#endif /* _RNBD_SRV_ORPHAN_H */
