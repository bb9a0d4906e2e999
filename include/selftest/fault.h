/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault points: places where a test makes the next step fail.
 *
 * Each module lists its own in a macro, as in
 *
 *	#define MY_FAULTS(X) X(alloc_path) X(post_send)
 *	MY_FAULTS(FAULT_DECLARE)
 *
 * defines them once, with selftest/fault_debugfs.h, and asks fault_here(alloc_path) where it can fail.  A point
 * is armed in debugfs, <module>/fault/<name>, with a number: 1 has the next one fail, 2 the one after. Then
 * it is spent.  A point that was not armed since the module was loaded costs a no-op.
 */
#ifndef _SELFTEST_FAULT_H
#define _SELFTEST_FAULT_H

#include <linux/atomic.h>
#include <linux/jump_label.h>

/**
 * struct fault_point - a place that can be made to fail
 * @name: its name, as in debugfs
 * @armed: patched in while the point is armed, or spent
 * @left: how often it is still passed until it fires, 0: spent
 */
struct fault_point {
	const char *name;
	struct static_key_false armed;
	atomic_t left;
};

#define FAULT_DECLARE(point)	extern struct fault_point fault_##point;

/**
 * fault_fires() - count one passage of a point
 * @point: the point
 *
 * Context: any.
 * Return: true once, when the number it was armed with is reached.
 */
static inline bool fault_fires(struct fault_point *point)
{
	return !atomic_dec_if_positive(&point->left);
}

/* Whether the step at this point has to fail now; @point is a name from the module's list. */
#define fault_here(point)	\
	(static_branch_unlikely(&fault_##point.armed) && fault_fires(&fault_##point))

#endif /* _SELFTEST_FAULT_H */
