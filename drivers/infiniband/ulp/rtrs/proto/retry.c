// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a request, or a message, that could not be sent.
 *
 * Two tables decide that for all callers.  The first gives each failure an errno, with which it travels up to whoever
 * can try again.  The second says what each errno asks for.  Documentation/failover.rst, section "Resources that are
 * short for a moment", has the same for what no request waits for, and says who tries again, and when.
 */
#include "retry.h"

/**
 * struct rtrs_retry_failure - the errno of a failure
 * @error: if the failure passes, or is what the cause's errno cannot tell
 * @permanent: if the cause's errno is none of those that pass; 0: it always passes, or never
 */
struct rtrs_retry_failure {
	int error;
	int permanent;
};

static const struct rtrs_retry_failure rtrs_retry_failures[] = {
	/* These pass when somebody else gives back what he has. */
	[RTRS_FAILURE_MEMORY]	   = { -EAGAIN },
	[RTRS_FAILURE_DMA_MAP]	   = { -EAGAIN },
	[RTRS_FAILURE_SEND_QUEUE]  = { -EAGAIN },
	[RTRS_FAILURE_MR_MAP]	   = { -EAGAIN, -EINVAL },
	/* Limits of one path. */
	[RTRS_FAILURE_DMA_LIMIT]   = { -EMSGSIZE },
	[RTRS_FAILURE_MR_LIMIT]	   = { -EMSGSIZE },
	[RTRS_FAILURE_CHUNK_LIMIT] = { -EMSGSIZE },
	/* Errors of the ULP. */
	[RTRS_FAILURE_SG_LIST]	   = { -EINVAL },
	[RTRS_FAILURE_SLOT_BUSY]   = { -EBUSY },
	/*
	 * Nobody knows what of a chain was posted, and the queue has room for what is posted: the driver means that
	 * the queue pair, or the device, is broken.
	 */
	[RTRS_FAILURE_POST]	   = { -EIO },
};

/**
 * struct rtrs_retry_errno - what an errno asks for
 * @error: the errno, negative
 * @retry: what becomes of the request
 */
struct rtrs_retry_errno {
	int error;
	enum rtrs_retry retry;
};

/* All others are of the device, and cost the path. */
static const struct rtrs_retry_errno rtrs_retry_errnos[] = {
	{ -EAGAIN,	 RTRS_RETRY_LATER },
	{ -ECONNABORTED, RTRS_RETRY_NO_PATH },
	{ -EMSGSIZE,	 RTRS_RETRY_ELSEWHERE },
	{ -EINVAL,	 RTRS_RETRY_NEVER },
	{ -EBUSY,	 RTRS_RETRY_NEVER },
};

/* Does a driver say by this that it has no memory, or no room, for the moment? */
static bool rtrs_retry_passes(int error)
{
	return error == -ENOMEM || error == -EAGAIN || error == -ENOBUFS || error == -ENOSPC;
}

/**
 * rtrs_retry_error() - errno of a failure
 * @what: what failed
 * @error: what the function returned that failed, negative errno; 0 if it returned none
 *
 * Context: any.
 * Return: negative errno, for which rtrs_retry_of() gives what becomes of the request.
 */
int rtrs_retry_error(enum rtrs_failure what, int error)
{
	const struct rtrs_retry_failure *failure = &rtrs_retry_failures[what];

	/* As the log is to have it, unless it would be taken for something else. */
	if (what == RTRS_FAILURE_POST && error && rtrs_retry_of(error) == RTRS_RETRY_PATH_LOST)
		return error;
	if (failure->permanent && !rtrs_retry_passes(error))
		return failure->permanent;
	return failure->error;
}
EXPORT_SYMBOL_GPL(rtrs_retry_error);

/**
 * rtrs_retry_of() - what becomes of a request that was not sent
 * @error: negative errno, from rtrs_retry_error() or of the device
 *
 * Context: any.
 * Return: enum rtrs_retry.
 */
enum rtrs_retry rtrs_retry_of(int error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rtrs_retry_errnos); i++)
		if (error == rtrs_retry_errnos[i].error)
			return rtrs_retry_errnos[i].retry;
	return RTRS_RETRY_PATH_LOST;
}
EXPORT_SYMBOL_GPL(rtrs_retry_of);

/**
 * rtrs_retry_merge() - errno of a request that another path did not take either
 * @error: of the paths before, 0 if this one is the first
 * @next: of this one
 *
 * A path that is only short of something for the moment takes the request later, whatever the others say.
 *
 * Context: any.
 * Return: the one that decides.
 */
int rtrs_retry_merge(int error, int next)
{
	if (!error || rtrs_retry_of(next) > rtrs_retry_of(error))
		return next;
	return error;
}
EXPORT_SYMBOL_GPL(rtrs_retry_merge);
