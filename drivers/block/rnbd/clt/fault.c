// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rnbd-client, for tests: /sys/kernel/debug/rnbd-client/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RNBD_CLT_FAULTS(FAULT_DEFINE)

static struct fault_point *const rnbd_clt_faults[] = { RNBD_CLT_FAULTS(FAULT_POINTER) };
static struct dentry *rnbd_clt_fault_dir;

/**
 * rnbd_clt_fault_init() - create their files
 *
 * Context: module init.
 */
void rnbd_clt_fault_init(void)
{
	rnbd_clt_fault_dir = debugfs_create_dir("rnbd-client", NULL);
	fault_create_files(rnbd_clt_fault_dir, rnbd_clt_faults, ARRAY_SIZE(rnbd_clt_faults));
}

/**
 * rnbd_clt_fault_exit() - remove them
 *
 * Context: module exit.
 */
void rnbd_clt_fault_exit(void)
{
	debugfs_remove_recursive(rnbd_clt_fault_dir);
}
