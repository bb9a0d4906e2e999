// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much clients can have the kernel log say.
 */
#include <linux/ktime.h>

#include "log.h"
#include "srv.h"

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

/**
 * rnbd_srv_sess_may_log() - may the kernel log get another message about a device that a session opens or closes
 * @sess: the session
 *
 * A session that comes and goes all the time may not: it has opened and closed all its devices before.
 *
 * Context: any.
 * Return: true if it may.
 */
bool rnbd_srv_sess_may_log(struct rnbd_srv_sess *sess)
{
	return ktime_to_ms(ktime_get()) >= sess->loud_ms && rnbd_srv_may_log(&sess->admin_limit);
}
