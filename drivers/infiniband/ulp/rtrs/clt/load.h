/* SPDX-License-Identifier: GPL-2.0-only */
/* What a connection has to do, and what a path is short of.  A: written with once-accessors or atomics. */
#ifndef _RTRS_CLT_LOAD_H
#define _RTRS_CLT_LOAD_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct rtrs_clt_load - what policy service-time knows of a connection; nobody else writes it
 * @inflight: A. requests whose time is taken
 * @service_ns: A. see rtrs_mp_service_add(); two answers at once may count as one
 * @answered_at: A. jiffies of the last answer
 */
struct rtrs_clt_load {
	atomic_t inflight;
	u64 service_ns;
	unsigned long answered_at;
};

/**
 * struct rtrs_clt_shortage - requests that a path could not send for want of memory or mappings (done.c)
 * @since: A. jiffies of the first failure of those that came without a second between them
 * @last: A. jiffies of the last one
 * @tell_at: A. jiffies from which they are reported again
 */
struct rtrs_clt_shortage {
	unsigned long since;
	unsigned long last;
	unsigned long tell_at;
};

#endif /* _RTRS_CLT_LOAD_H */
