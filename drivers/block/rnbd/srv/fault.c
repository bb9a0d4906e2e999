// SPDX-License-Identifier: GPL-2.0-only
/* Fault points of rnbd-server, for tests: /sys/kernel/debug/rnbd-server/fault/. */
#include <linux/kernel.h>

#include <selftest/fault_debugfs.h>

#include "fault.h"

RNBD_SRV_FAULTS(FAULT_DEFINE)

static struct fault_point *const rnbd_srv_faults[] = { RNBD_SRV_FAULTS(FAULT_POINTER) };

/**
 * rnbd_srv_fault_init() - create their files
 * @dir: the module's directory in debugfs, they go with it
 *
 * Context: module init.
 */
void rnbd_srv_fault_init(struct dentry *dir)
{
	fault_create_files(dir, rnbd_srv_faults, ARRAY_SIZE(rnbd_srv_faults));
}
