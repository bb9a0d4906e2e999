/* SPDX-License-Identifier: GPL-2.0-only */
/* /sys/class/rnbd-client/ctl: the way in. */
#ifndef _RNBD_CLT_CTL_H
#define _RNBD_CLT_CTL_H

#include "types.h"
#include "../proto/options.h"

void rnbd_clt_ctl_refuse(const struct rnbd_options_error *error, struct rtrs_report *report);
struct rnbd_clt_dev *rnbd_clt_ctl_map(const struct rnbd_options *opts, struct rtrs_report *report);

int rnbd_clt_ctl_create(void);
void rnbd_clt_ctl_close(void);
void rnbd_clt_ctl_destroy(void);

#endif /* _RNBD_CLT_CTL_H */
