// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much clients can have the kernel log say.
 */
#include "log.h"

/* Messages about sessions and their devices, all sessions together, per interval. */
#define RNBD_SRV_LOG_BURST	100

/**
 * rnbd_srv_may_log() - may the kernel log get another message that a client has caused
 * @share: what its session may say; each has a share, so that one does not silence the others
 *
 * All sessions together have a limit too: a client that comes again has a new session, and a new share.
 *
 * Context: any.
 * Return: true if it may.
 */
bool rnbd_srv_may_log(struct ratelimit_state *share)
{
	static DEFINE_RATELIMIT_STATE(all, DEFAULT_RATELIMIT_INTERVAL, RNBD_SRV_LOG_BURST);

	return __ratelimit(share) && __ratelimit(&all);
}
