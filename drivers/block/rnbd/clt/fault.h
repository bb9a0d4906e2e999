/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault points of rnbd-client. */
#ifndef _RNBD_CLT_FAULT_H
#define _RNBD_CLT_FAULT_H

#include <selftest/fault.h>

#define RNBD_CLT_FAULTS(X)	\
	X(alloc_sess)	\
	X(alloc_dev)	\
	X(alloc_msg)	\
	X(no_permit)	\
	X(disk_add)

RNBD_CLT_FAULTS(FAULT_DECLARE)

void rnbd_clt_fault_init(void);
void rnbd_clt_fault_exit(void);

#endif /* _RNBD_CLT_FAULT_H */
