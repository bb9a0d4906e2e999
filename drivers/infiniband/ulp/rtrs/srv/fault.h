/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault points of rtrs-server. */
#ifndef _RTRS_SRV_FAULT_H
#define _RTRS_SRV_FAULT_H

#include <selftest/fault.h>

#define RTRS_SRV_FAULTS(X)	\
	X(alloc_peer)	\
	X(alloc_sess)	\
	X(alloc_path)	\
	X(alloc_conn)	\
	X(alloc_bufs)	\
	X(alloc_table)	\
	X(alloc_reqs)	\
	X(alloc_pdus)	\
	X(alloc_rsps)	\
	X(alloc_usr_page)	\
	X(alloc_copy)	\
	X(alloc_info)	\
	X(listen_delayed)	\
	X(cm_reject)	\
	X(cm_accept)	\
	X(sysfs_sess)	\
	X(sysfs_path)	\
	X(info_delayed)	\
	X(info_rsp_lost)	\
	X(inv_failed)	\
	X(rsp_delayed)	\
	X(rsp_lost)	\
	X(hb_lost)

RTRS_SRV_FAULTS(FAULT_DECLARE)

struct dentry;

void rtrs_srv_fault_init(struct dentry *dir);

#endif /* _RTRS_SRV_FAULT_H */
