// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rtrs-client, for tests: /sys/kernel/debug/rtrs-client/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RTRS_CLT_FAULTS(FAULT_DEFINE)

static struct fault_point *const rtrs_clt_faults[] = { RTRS_CLT_FAULTS(FAULT_POINTER) };
static struct dentry *rtrs_clt_fault_dir;

/**
 * rtrs_clt_fault_init() - create their files
 *
 * Context: module init.
 */
void rtrs_clt_fault_init(void)
{
	rtrs_clt_fault_dir = debugfs_create_dir("rtrs-client", NULL);
	fault_create_files(rtrs_clt_fault_dir, rtrs_clt_faults, ARRAY_SIZE(rtrs_clt_faults));
}

/**
 * rtrs_clt_fault_exit() - remove them
 *
 * Context: module exit.
 */
void rtrs_clt_fault_exit(void)
{
	debugfs_remove_recursive(rtrs_clt_fault_dir);
}
