/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heartbeats of one path (protocol section 8), and the watch over its connections between them: the
 * heartbeat speaks for the service connection only.
 */
#ifndef _RTRS_HEARTBEAT_H
#define _RTRS_HEARTBEAT_H

#include <linux/ktime.h>
#include <linux/workqueue.h>

struct rtrs_conn;
struct rtrs_hb;

/**
 * struct rtrs_hb_ops - what the owner of a heartbeat provides
 * @send: send HB_MSG on the service connection; a negative result ends the heartbeat
 * @watch: called once a second; a negative result ends the heartbeat
 * @excused: the peer has given no sign of life for too long, but is known to be busy: wait on; NULL: it never is
 * @silent: the peer has given no sign of life for too long
 * @failed: @send or @watch failed with @error
 *
 * All are called from the heartbeat's work, and one of the last two at most, once per start: the owner
 * gives up the path.
 */
struct rtrs_hb_ops {
	int (*send)(struct rtrs_hb *hb);
	int (*watch)(struct rtrs_hb *hb);
	bool (*excused)(struct rtrs_hb *hb);
	void (*silent)(struct rtrs_hb *hb);
	void (*failed)(struct rtrs_hb *hb, int error);
};

/**
 * struct rtrs_hb - heartbeat of a path
 * @ops: owner's callbacks
 * @dwork: the tick
 * @wq: where it runs
 * @interval_ms: milliseconds between heartbeats
 * @missed_max: heartbeats without a sign of life before the path is dead
 * @last: jiffies of the last heartbeat; the tick only
 * @next_watch: jiffies of the next look at the connections; the tick only
 * @missed: heartbeats since the last sign of life; written by the tick and by receivers
 * @sent: when the last HB_MSG was sent
 * @latency_ns: round trip of the last answered HB_MSG, 0 before the first
 */
struct rtrs_hb {
	const struct rtrs_hb_ops *ops;
	struct delayed_work dwork;
	struct workqueue_struct *wq;
	unsigned int interval_ms;
	unsigned int missed_max;
	unsigned long last;
	unsigned long next_watch;
	unsigned int missed;
	ktime_t sent;
	s64 latency_ns;
};

void rtrs_hb_init(struct rtrs_hb *hb, const struct rtrs_hb_ops *ops, struct workqueue_struct *wq);
void rtrs_hb_set_timing(struct rtrs_hb *hb, unsigned int interval_ms, unsigned int missed_max);
void rtrs_hb_start(struct rtrs_hb *hb);
void rtrs_hb_start_later(struct rtrs_hb *hb);
void rtrs_hb_stop(struct rtrs_hb *hb);
int rtrs_hb_post(struct rtrs_conn *conn, bool ack);
void rtrs_hb_acked(struct rtrs_hb *hb);

/**
 * rtrs_hb_alive() - the peer gave a sign of life
 * @hb: the heartbeat
 *
 * Writes only if there is something to reset: this is called for each receive, and the line is shared
 * by all connections of the path.
 *
 * Context: any.
 */
static inline void rtrs_hb_alive(struct rtrs_hb *hb)
{
	if (READ_ONCE(hb->missed))
		WRITE_ONCE(hb->missed, 0);
}

#endif /* _RTRS_HEARTBEAT_H */
