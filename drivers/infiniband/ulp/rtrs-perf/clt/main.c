// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtrs-perf client: measures RTRS without a block layer, and is an example of an upper layer.
 *
 * Operation
 *	proto/ parses what is written and sorts latencies; run.c sends requests and takes the time;
 *	session.c has the session and the run on it; ctl.c the files.
 */
#include <linux/module.h>

#include "ctl.h"
#include "session.h"

static int __init rtrs_perf_clt_init(void)
{
	rtrs_perf_ctl_create();
	return 0;
}

static void __exit rtrs_perf_clt_exit(void)
{
	rtrs_perf_ctl_remove();
	rtrs_perf_session_close();
}

module_init(rtrs_perf_clt_init);
module_exit(rtrs_perf_clt_exit);

MODULE_DESCRIPTION("rtrs-perf client: measures RTRS");
MODULE_LICENSE("GPL");
