/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_CLT_TELL_H
#define _RNBD_CLT_TELL_H

#include <rdma/rtrs-nl.h>

#include "types.h"

void rnbd_clt_tell(const struct rnbd_clt_dev *dev, enum rtrs_nl_event event, const char *reason,
		   int error);
void rnbd_clt_tell_slow(const struct rnbd_clt_dev *dev, enum rtrs_nl_event event, const char *reason,
			unsigned int secs);

#endif /* _RNBD_CLT_TELL_H */
