/* SPDX-License-Identifier: GPL-2.0-only */
/* Wire status <-> errno: 9 bits of absolute errno travel (protocol section 3). */
#ifndef _RTRS_STATUS_H
#define _RTRS_STATUS_H

#include "proto_env.h"

u32 rtrs_status_to_wire(int err);
int rtrs_status_from_wire(u32 status);

#endif /* _RTRS_STATUS_H */
