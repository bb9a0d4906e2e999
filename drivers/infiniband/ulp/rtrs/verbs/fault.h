/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault points of rtrs-core. */
#ifndef _RTRS_FAULT_H
#define _RTRS_FAULT_H

#include <selftest/fault.h>

#define RTRS_FAULTS(X)	\
	X(few_wrs)	\
	X(cq_create)	\
	X(cq_poll)	\
	X(qp_create)	\
	X(mr_alloc)	\
	X(mr_map)	\
	X(dma_map_single)	\
	X(post_send)	\
	X(post_recv)	\
	X(sq_full)	\
	X(nl_event)	\
	X(job_create)

RTRS_FAULTS(FAULT_DECLARE)

void rtrs_fault_init(void);
void rtrs_fault_exit(void);

#endif /* _RTRS_FAULT_H */
