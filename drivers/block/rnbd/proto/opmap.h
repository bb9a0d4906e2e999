/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Properties of the operations and access modes of the protocol, as data.  Client and server ask
 * these tables instead of comparing codes.  Inlines only, so that no object is linked into two
 * modules.
 */
#ifndef _RNBD_OPMAP_H
#define _RNBD_OPMAP_H

#include "proto_env.h"
#include <rnbd/rnbd_format.h>

/**
 * struct rnbd_op_desc - what an operation is like
 * @name: for messages and traces
 * @has_data: moves as many bytes of data as it affects
 * @has_range: affects a range of sectors, which is not empty
 * @modifies: changes the contents of the device
 */
struct rnbd_op_desc {
	const char *name;
	bool has_data;
	bool has_range;
	bool modifies;
};

/**
 * rnbd_op_desc - properties of an operation
 * @op: enum rnbd_io_op, or any number a peer sent
 *
 * Context: any.
 * Return: the properties, NULL for an unknown operation.
 */
static inline const struct rnbd_op_desc *rnbd_op_desc(u32 op)
{
	static const struct rnbd_op_desc descs[RNBD_OP__NR] = {
		[RNBD_OP_READ]         = { "read",         true,  true,  false },
		[RNBD_OP_WRITE]        = { "write",        true,  true,  true  },
		[RNBD_OP_FLUSH]        = { "flush",        false, false, false },
		[RNBD_OP_DISCARD]      = { "discard",      false, true,  true  },
		[RNBD_OP_SECURE_ERASE] = { "secure-erase", false, true,  true  },
		[RNBD_OP_WRITE_ZEROES] = { "write-zeroes", false, true,  true  },
	};

	return op < RNBD_OP__NR ? &descs[op] : NULL;
}

/**
 * rnbd_access_mode_name - text of an access mode, as in sysfs
 * @mode: enum rnbd_access_mode, or any number a peer sent
 *
 * Context: any.
 * Return: "ro", "rw" or "migration"; "unknown" for anything else.
 */
static inline const char *rnbd_access_mode_name(u32 mode)
{
	static const char *const names[RNBD_ACCESS__NR] = {
		[RNBD_ACCESS_RO]        = "ro",
		[RNBD_ACCESS_RW]        = "rw",
		[RNBD_ACCESS_MIGRATION] = "migration",
	};

	return mode < RNBD_ACCESS__NR ? names[mode] : "unknown";
}

/**
 * rnbd_access_mode_parse - read an access mode that a person has written
 * @text: NUL-terminated text
 *
 * Context: any.
 * Return: enum rnbd_access_mode, or -EINVAL.
 */
static inline int rnbd_access_mode_parse(const char *text)
{
	int mode;

	for (mode = 0; mode < RNBD_ACCESS__NR; mode++)
		if (!strcmp(text, rnbd_access_mode_name(mode)))
			return mode;
	return -EINVAL;
}

#endif /* _RNBD_OPMAP_H */
