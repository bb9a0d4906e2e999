/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices: memory, states, OPEN and CLOSE, what happens when the link is lost and comes back. */
#ifndef _RNBD_CLT_DEV_H
#define _RNBD_CLT_DEV_H

#include "types.h"

struct rnbd_clt_dev *rnbd_clt_dev_create(struct rnbd_clt_sess *sess, const char *path,
					 enum rnbd_access_mode mode, int no_path_timeout);
void rnbd_clt_dev_get(struct rnbd_clt_dev *dev);
void rnbd_clt_dev_put(struct rnbd_clt_dev *dev);

int rnbd_clt_dev_open(struct rnbd_clt_dev *dev, enum rnbd_clt_dev_state state, bool accept_other);
void rnbd_clt_dev_set_online(struct rnbd_clt_dev *dev);

int rnbd_clt_dev_get_opener(struct rnbd_clt_dev *dev);
void rnbd_clt_dev_put_opener(struct rnbd_clt_dev *dev);

int rnbd_clt_dev_start_unmap(struct rnbd_clt_dev *dev, bool force);
void rnbd_clt_dev_abort_map(struct rnbd_clt_dev *dev);
void rnbd_clt_dev_close(struct rnbd_clt_dev *dev);
void rnbd_clt_dev_end_unmap(struct rnbd_clt_dev *dev);

const char *rnbd_clt_dev_state_name(enum rnbd_clt_dev_state state);
void rnbd_clt_dev_link_name(const struct rnbd_clt_dev *dev, char *buf, size_t len);

#endif /* _RNBD_CLT_DEV_H */
