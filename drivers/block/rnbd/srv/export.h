/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_EXPORT_H
#define _RNBD_SRV_EXPORT_H

#include "srv.h"

void rnbd_srv_exports_init(struct kobject *dir);
void rnbd_srv_exports_exit(void);

void rnbd_srv_object_get(void);
void rnbd_srv_object_put(void);

int rnbd_srv_export_attach(struct rnbd_srv_dev *dev, enum rnbd_srv_verdict *verdict);
void rnbd_srv_export_detach(struct rnbd_srv_dev *dev);

#endif /* _RNBD_SRV_EXPORT_H */
