/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_OFFER_H
#define _RNBD_SRV_OFFER_H

#include "srv.h"

void rnbd_srv_offers_init(struct kobject *dir);
void rnbd_srv_offers_exit(void);

int rnbd_srv_offer_set(const char *buf);
int rnbd_srv_offer_remove(const char *buf);
bool rnbd_srv_offer_decides(const struct rnbd_srv_dev *dev, char *path,
			    enum rnbd_srv_verdict *verdict);
void rnbd_srv_offer_identity(const struct rnbd_srv_dev *dev, struct rnbd_identity *id);

#endif /* _RNBD_SRV_OFFER_H */
