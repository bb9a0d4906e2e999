/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For ULPs that were written for the kernel tree, where the request of the server is declared apart
 * from the rest of the API.  Put this directory on their include path and they build as they are.
 */
#ifndef _RDMA_RTRS_SRV_H
#define _RDMA_RTRS_SRV_H

#include <rdma/rtrs.h>

#endif /* _RDMA_RTRS_SRV_H */
