/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Change something: one write to sysfs, and what is to be said if it is refused.
 */
#ifndef RNBD_ACT_H
#define RNBD_ACT_H

#include "rnbd.h"

enum op {
	OP_MAP		= 1 << 0,
	OP_UNMAP	= 1 << 1,
	OP_REMAP	= 1 << 2,
	OP_RESIZE	= 1 << 3,
	OP_PATH_ADD	= 1 << 4,
	OP_PATH_DEL	= 1 << 5,
	OP_RECONNECT	= 1 << 6,
	OP_DISCONNECT	= 1 << 7,
	OP_CLOSE	= 1 << 8,
	OP_EXPORT	= 1 << 9,
	OP_UNEXPORT	= 1 << 10,
	OP_SET		= 1 << 11,
};

enum status act(const struct args *args, enum op op, const char *what, const char *file,
		const char *text);
void act_kernel_lines(void);

#endif
