// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rtrs-server, for tests: /sys/kernel/debug/rtrs-server/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RTRS_SRV_FAULTS(FAULT_DEFINE)

static struct fault_point *const rtrs_srv_faults[] = { RTRS_SRV_FAULTS(FAULT_POINTER) };
static struct dentry *rtrs_srv_fault_dir;

/**
 * rtrs_srv_fault_init() - create their files
 *
 * Context: module init.
 */
void rtrs_srv_fault_init(void)
{
	rtrs_srv_fault_dir = debugfs_create_dir("rtrs-server", NULL);
	fault_create_files(rtrs_srv_fault_dir, rtrs_srv_faults, ARRAY_SIZE(rtrs_srv_faults));
}

/**
 * rtrs_srv_fault_exit() - remove them
 *
 * Context: module exit.
 */
void rtrs_srv_fault_exit(void)
{
	debugfs_remove_recursive(rtrs_srv_fault_dir);
}
