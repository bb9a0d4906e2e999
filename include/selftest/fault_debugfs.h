/* SPDX-License-Identifier: GPL-2.0-only */
/* Definition of a module's fault points, and their files; for the one source file that has them. */
#ifndef _SELFTEST_FAULT_DEBUGFS_H
#define _SELFTEST_FAULT_DEBUGFS_H

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/limits.h>

#include <selftest/fault.h>

#define FAULT_DEFINE(point)	\
	struct fault_point fault_##point = { .name = #point, .armed = STATIC_KEY_FALSE_INIT };

#define FAULT_POINTER(point)	&fault_##point,

static int fault_get(void *data, u64 *val)
{
	struct fault_point *point = data;

	*val = atomic_read(&point->left);
	return 0;
}

static int fault_set(void *data, u64 val)
{
	struct fault_point *point = data;

	if (val > INT_MAX)
		return -ERANGE;
	atomic_set(&point->left, val);
	if (val)
		static_branch_enable(&point->armed);
	else
		static_branch_disable(&point->armed);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(fault_fops, fault_get, fault_set, "%llu\n");

/**
 * fault_create_files() - create a file for each point
 * @dir: the module's directory in debugfs; they go with it
 * @points: the points
 * @nr: how many
 *
 * Without debugfs nothing happens, and no point can be armed.
 *
 * Context: process, module init.
 */
static void __maybe_unused fault_create_files(struct dentry *dir,
					      struct fault_point *const *points, size_t nr)
{
	struct dentry *faults = debugfs_create_dir("fault", dir);

	while (nr--)
		debugfs_create_file_unsafe(points[nr]->name, 0600, faults, points[nr], &fault_fops);
}

#endif /* _SELFTEST_FAULT_DEBUGFS_H */
