/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_BACKEND_H
#define _RNBD_SRV_BACKEND_H

#include "srv.h"

int rnbd_srv_backend_open(struct rnbd_srv_backend *backend, const char *path, bool writable);
void rnbd_srv_backend_close(struct rnbd_srv_backend *backend);
void rnbd_srv_backend_limits(const struct rnbd_srv_backend *backend, struct rnbd_srv_limits *lim);
void rnbd_srv_backend_identity(const struct rnbd_srv_backend *backend, struct rnbd_identity *id);
void rnbd_srv_backend_rules(const struct rnbd_srv_backend *backend,
			    struct rnbd_srv_io_rules *rules);

#endif /* _RNBD_SRV_BACKEND_H */
