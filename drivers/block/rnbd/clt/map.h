/* SPDX-License-Identifier: GPL-2.0-only */
/* Map and unmap: put all the pieces of a device together, and take them apart. */
#ifndef _RNBD_CLT_MAP_H
#define _RNBD_CLT_MAP_H

#include "types.h"
#include "sess.h"
#include "../proto/options.h"

struct rnbd_clt_dev *rnbd_clt_map(const struct rnbd_clt_sess_params *params,
				  const struct rnbd_options *opts, struct kobject *links);
int rnbd_clt_unmap(struct rnbd_clt_dev *dev, bool force, struct rtrs_report *report);
void rnbd_clt_unmap_all(void);

#endif /* _RNBD_CLT_MAP_H */
