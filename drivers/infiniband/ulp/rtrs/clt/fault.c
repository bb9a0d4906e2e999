// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rtrs-client, for tests: /sys/kernel/debug/rtrs-client/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RTRS_CLT_FAULTS(FAULT_DEFINE)

static struct fault_point *const rtrs_clt_faults[] = { RTRS_CLT_FAULTS(FAULT_POINTER) };

/**
 * rtrs_clt_fault_init() - create their files
 * @dir: the module's directory in debugfs, they go with it
 *
 * Context: module init.
 */
void rtrs_clt_fault_init(struct dentry *dir)
{
	fault_create_files(dir, rtrs_clt_faults, ARRAY_SIZE(rtrs_clt_faults));
}
