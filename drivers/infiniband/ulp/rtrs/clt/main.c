// SPDX-License-Identifier: GPL-2.0-only
/* rtrs-client: module. */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/module.h>
#include <rdma/rtrs-job.h>

#include "clt.h"

MODULE_DESCRIPTION("RTRS (RDMA Transport) client");
MODULE_LICENSE("GPL");

static int __init rtrs_clt_init(void)
{
	int ret;

	/*
	 * Writeback waits for paths to be torn down and requests to move.  A path worker waits for servers, so as
	 * many as possible run at a time.
	 */
	rtrs_clt_wq = alloc_workqueue("rtrs-client", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	if (!rtrs_clt_wq)
		return -ENOMEM;
	/* Its works wait for nobody, so none of them is late because path workers use up the other queue. */
	rtrs_clt_tick_wq = alloc_workqueue("rtrs-client-tick", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rtrs_clt_tick_wq) {
		ret = -ENOMEM;
		goto err_destroy_wq;
	}
	ret = rtrs_clt_sysfs_init();
	if (ret)
		goto err_destroy_tick_wq;
	ret = rtrs_clt_link_init();
	if (ret)
		goto err_sysfs_exit;
	ret = rtrs_clt_carrier_init();
	if (ret)
		goto err_link_exit;
	rtrs_clt_debugfs_init();
	rtrs_clt_nl_init();
	return 0;

err_link_exit:
	rtrs_clt_link_exit();
err_sysfs_exit:
	rtrs_clt_sysfs_exit();
err_destroy_tick_wq:
	destroy_workqueue(rtrs_clt_tick_wq);
err_destroy_wq:
	destroy_workqueue(rtrs_clt_wq);
	return ret;
}

static void __exit rtrs_clt_exit(void)
{
	rtrs_clt_nl_exit();
	rtrs_clt_debugfs_exit();
	rtrs_clt_carrier_exit();
	/* Paths whose removal was not waited for. */
	rtrs_jobs_end(THIS_MODULE);
	/* No session is left: a ULP that has one open holds a reference to this module. */
	rtrs_clt_link_exit();
	/* The last links may have held paths and sessions. */
	rtrs_clt_sysfs_exit();
	destroy_workqueue(rtrs_clt_tick_wq);
	destroy_workqueue(rtrs_clt_wq);
	/* Path tables may still be in a grace period. */
	rcu_barrier();
}

module_init(rtrs_clt_init);
module_exit(rtrs_clt_exit);
