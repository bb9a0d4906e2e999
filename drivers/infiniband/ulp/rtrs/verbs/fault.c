// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rtrs-core, for tests: /sys/kernel/debug/rtrs-core/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RTRS_FAULTS(FAULT_DEFINE)

static struct fault_point *const rtrs_faults[] = { RTRS_FAULTS(FAULT_POINTER) };
static struct dentry *rtrs_fault_dir;

/**
 * rtrs_fault_init() - create their files
 *
 * Context: module init.
 */
void rtrs_fault_init(void)
{
	rtrs_fault_dir = debugfs_create_dir("rtrs-core", NULL);
	fault_create_files(rtrs_fault_dir, rtrs_faults, ARRAY_SIZE(rtrs_faults));
}

/**
 * rtrs_fault_exit() - remove them
 *
 * Context: module exit.
 */
void rtrs_fault_exit(void)
{
	debugfs_remove_recursive(rtrs_fault_dir);
}
