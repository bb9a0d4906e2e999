/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_LOG_H
#define _RNBD_SRV_LOG_H

#include <linux/ratelimit.h>
#include <linux/types.h>

struct rnbd_srv_sess;

bool rnbd_srv_may_log(struct ratelimit_state *share);
bool rnbd_srv_sess_may_log(struct rnbd_srv_sess *sess);

#endif /* _RNBD_SRV_LOG_H */
