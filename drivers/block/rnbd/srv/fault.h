/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault points of rnbd-server. */
#ifndef _RNBD_SRV_FAULT_H
#define _RNBD_SRV_FAULT_H

#include <selftest/fault.h>

#define RNBD_SRV_FAULTS(X)	\
	X(alloc_sess)	\
	X(alloc_dev)	\
	X(alloc_dispatch)	\
	X(alloc_msg)	\
	X(open)	\
	X(sysfs_dev)	\
	X(force_close_delayed)	\
	X(bio_delayed)	\
	X(bio_error)

RNBD_SRV_FAULTS(FAULT_DECLARE)

struct dentry;

void rnbd_srv_fault_init(struct dentry *dir);

#endif /* _RNBD_SRV_FAULT_H */
