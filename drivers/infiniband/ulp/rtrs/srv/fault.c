// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rtrs-server, for tests: /sys/kernel/debug/rtrs-server/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RTRS_SRV_FAULTS(FAULT_DEFINE)

static struct fault_point *const rtrs_srv_faults[] = { RTRS_SRV_FAULTS(FAULT_POINTER) };

/**
 * rtrs_srv_fault_init() - create their files
 * @dir: the module's directory in debugfs, they go with it
 *
 * Context: module init.
 */
void rtrs_srv_fault_init(struct dentry *dir)
{
	fault_create_files(dir, rtrs_srv_faults, ARRAY_SIZE(rtrs_srv_faults));
}
