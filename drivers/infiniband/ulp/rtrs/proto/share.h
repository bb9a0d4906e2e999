/* SPDX-License-Identifier: GPL-2.0-only */
/* How many of a session's slots one of its users may hold. */
#ifndef _RTRS_SHARE_H
#define _RTRS_SHARE_H

#include "proto_env.h"

/* One in this many of the open slots is reserved for users that hold few. */
#define RTRS_SHARE_RESERVE_PART		8
/* A user may hold up to this many times what is free beyond the reserve. */
#define RTRS_SHARE_ALPHA		4

bool rtrs_share_may_take(u32 open, u32 free, u32 held, u32 users);

#endif /* _RTRS_SHARE_H */
