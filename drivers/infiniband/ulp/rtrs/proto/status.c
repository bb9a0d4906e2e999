// SPDX-License-Identifier: GPL-2.0-only
/*
 * Result of a request on the wire: 9 bits of absolute errno.
 *
 * The kernel-internal errnos from 512 up do not fit and must not be cut, as 524 would arrive as 12,
 * ENOMEM.  They are also not known to user space, where a result may end up.
 */
#include "status.h"
#include <rtrs/rtrs_format.h>

/**
 * struct rtrs_status_alias - what travels instead of an errno that does not fit
 * @err: kernel-internal errno, positive
 * @wire: the errno sent instead of it
 */
struct rtrs_status_alias {
	u16 err;
	u16 wire;
};

/* Errnos that fit none of the rows, EIOCBQUEUED among them, are EIO. */
static const struct rtrs_status_alias rtrs_status_aliases[] = {
	{ ERESTARTSYS,		 EINTR },
	{ ERESTARTNOINTR,	 EINTR },
	{ ERESTARTNOHAND,	 EINTR },
	{ ENOIOCTLCMD,		 ENOTTY },
	{ ERESTART_RESTARTBLOCK, EINTR },
	{ EPROBE_DEFER,		 EAGAIN },
	{ EOPENSTALE,		 ESTALE },
	{ ENOPARAM,		 EINVAL },
	{ EBADHANDLE,		 ESTALE },
	{ ENOTSUPP,		 EOPNOTSUPP },
	{ ETOOSMALL,		 EINVAL },
	{ EBADTYPE,		 EINVAL },
	{ EJUKEBOX,		 EAGAIN },
};

/**
 * rtrs_status_error_to_wire() - rtrs_status_to_wire() of a failure
 * @err: not 0
 *
 * Protocol section 3.  A positive value and an errno that is not known are sent as EIO: a failure
 * never turns into a success or into another errno by losing bits.
 *
 * Context: any.
 * Return: 1 .. 511.
 */
u32 rtrs_status_error_to_wire(int err)
{
	size_t i;

	if (err > 0)
		return EIO;
	if (err >= -(int)RTRS_STATUS_MASK)
		return -err;
	for (i = 0; i < ARRAY_SIZE(rtrs_status_aliases); i++)
		if (err == -rtrs_status_aliases[i].err)
			return rtrs_status_aliases[i].wire;
	return EIO;
}
EXPORT_SYMBOL_GPL(rtrs_status_error_to_wire);
