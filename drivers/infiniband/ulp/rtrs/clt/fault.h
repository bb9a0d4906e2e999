/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault points of rtrs-client. */
#ifndef _RTRS_CLT_FAULT_H
#define _RTRS_CLT_FAULT_H

#include <selftest/fault.h>

#define RTRS_CLT_FAULTS(X)	\
	X(alloc_sess)	\
	X(alloc_path)	\
	X(alloc_conns)	\
	X(alloc_reqs)	\
	X(alloc_msg)	\
	X(alloc_bounce)	\
	X(alloc_rsps)	\
	X(alloc_fence)	\
	X(alloc_info)	\
	X(alloc_table)	\
	X(alloc_permits)	\
	X(dma_map)	\
	X(conn_create)	\
	X(cm_resolve)	\
	X(cm_connect)	\
	X(cm_timeout)	\
	X(sysfs_path)	\
	X(inv_failed)	\
	X(hb_lost)

RTRS_CLT_FAULTS(FAULT_DECLARE)

struct dentry;

void rtrs_clt_fault_init(struct dentry *dir);

#endif /* _RTRS_CLT_FAULT_H */
