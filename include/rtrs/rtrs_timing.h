/* SPDX-License-Identifier: GPL-2.0-only */
/* How soon a client session notices what happens to a path: values, ranges and defaults. */
#ifndef _RTRS_TIMING_H
#define _RTRS_TIMING_H

#include <linux/types.h>

/**
 * struct rtrs_clt_timing - how soon a client session notices what happens to a path
 * @hb_interval_ms: milliseconds between two heartbeats
 * @hb_missed_max: heartbeats without a sign of life before a path is lost
 * @ack_timeout_ms: milliseconds the device waits for an acknowledgement; devices know the powers of two
 *		    of 4.096 us, it is the next one above
 * @retry_count: how often the device sends again before a path is lost
 * @connect_timeout_ms: milliseconds an attempt to connect may take
 *
 * Not part of mainline's interface.
 */
struct rtrs_clt_timing {
	u32 hb_interval_ms;
	u32 hb_missed_max;
	u32 ack_timeout_ms;
	u32 retry_count;
	u32 connect_timeout_ms;
};

/*
 * X(name, least, most, default), once for all who read or print them.  The defaults notice a path that
 * swallows everything in 0.4 s while I/O is on it, three times the ack timeout, and an idle one, or a peer
 * that hangs, within a second.
 */
#define RTRS_CLT_TIMINGS(X)			\
	X(hb_interval_ms, 20, 60000, 200)	\
	X(hb_missed_max, 1, 1000, 2)		\
	X(ack_timeout_ms, 1, 8000, 134)		\
	X(retry_count, 1, 6, 2)			\
	X(connect_timeout_ms, 500, 60000, 10000)

/* RTRS_CLT_TIMINGS(RTRS_CLT_TIMING_DEFAULT) initialises a struct rtrs_clt_timing. */
#define RTRS_CLT_TIMING_DEFAULT(_name, _min, _max, _default)	._name = _default,

/**
 * enum rtrs_clt_timing_index - the values by number, in the order of RTRS_CLT_TIMINGS()
 * @RTRS_CLT_TIMING_hb_interval_ms: rtrs_clt_timing.hb_interval_ms
 * @RTRS_CLT_TIMING_hb_missed_max: rtrs_clt_timing.hb_missed_max
 * @RTRS_CLT_TIMING_ack_timeout_ms: rtrs_clt_timing.ack_timeout_ms
 * @RTRS_CLT_TIMING_retry_count: rtrs_clt_timing.retry_count
 * @RTRS_CLT_TIMING_connect_timeout_ms: rtrs_clt_timing.connect_timeout_ms
 */
enum rtrs_clt_timing_index {
	RTRS_CLT_TIMING_hb_interval_ms,
	RTRS_CLT_TIMING_hb_missed_max,
	RTRS_CLT_TIMING_ack_timeout_ms,
	RTRS_CLT_TIMING_retry_count,
	RTRS_CLT_TIMING_connect_timeout_ms,
};

#endif /* _RTRS_TIMING_H */
