/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages that are sent once more, later, after the server has refused them. */
#ifndef _RNBD_CLT_RETRY_H
#define _RNBD_CLT_RETRY_H

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * The first ones are for a server that is still coming up, and I/O may wait for it.  The longest delay bounds
 * how long a repaired server is not noticed, and what its log gets meanwhile.
 */
#define RNBD_CLT_RETRY_MIN	HZ
#define RNBD_CLT_RETRY_MAX	(30 * HZ)

/**
 * struct rnbd_clt_retry - a message that is refused, since the link came back
 * @delay: jiffies until the next one, 0: none was refused
 * @error: errno that the kernel log knows of, 0: none
 */
struct rnbd_clt_retry {
	unsigned long delay;
	int error;
};

/**
 * rnbd_clt_retry_reset() - the link is back, nothing was refused so far
 * @retry: what to reset
 *
 * Context: whatever guards it.
 */
static inline void rnbd_clt_retry_reset(struct rnbd_clt_retry *retry)
{
	*retry = (struct rnbd_clt_retry){};
}

/**
 * rnbd_clt_retry_refused() - a message was refused
 * @retry: counts it; @retry->delay says when to send it once more
 * @error: negative errno
 *
 * Context: whatever guards it.
 * Return: true if that is news.  -ECONNABORTED is not: the link is about to be lost again, which others tell.
 */
static inline bool rnbd_clt_retry_refused(struct rnbd_clt_retry *retry, int error)
{
	bool is_news = error != retry->error && error != -ECONNABORTED;

	retry->delay = clamp_t(unsigned long, 2 * retry->delay, RNBD_CLT_RETRY_MIN,
			       RNBD_CLT_RETRY_MAX);
	retry->error = error;
	return is_news;
}

#endif /* _RNBD_CLT_RETRY_H */
