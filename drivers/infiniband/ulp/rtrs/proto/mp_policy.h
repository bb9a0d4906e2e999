/* SPDX-License-Identifier: GPL-2.0-only */
/* Multipath policies: which of the usable paths takes the next request. */
#ifndef _RTRS_MP_POLICY_H
#define _RTRS_MP_POLICY_H

#include "proto_env.h"

/**
 * enum rtrs_mp_policy - how the next path is chosen; values are ABI (sysfs)
 * @RTRS_MP_ROUND_ROBIN: each CPU walks over the paths in turn
 * @RTRS_MP_MIN_INFLIGHT: the path with the fewest requests in flight
 * @RTRS_MP_MIN_LATENCY: of the paths that are near, see rtrs_mp_rank(), the one with the fewest requests in flight
 * @RTRS_MP_SERVICE_TIME: the path that is expected to answer first
 * @RTRS_MP_POLICY__NR: number of policies
 */
enum rtrs_mp_policy {
	RTRS_MP_ROUND_ROBIN	= 0,
	RTRS_MP_MIN_INFLIGHT	= 1,
	RTRS_MP_MIN_LATENCY	= 2,
	RTRS_MP_SERVICE_TIME	= 3,
	RTRS_MP_POLICY__NR
};

/**
 * struct rtrs_mp_beats - what the heartbeats of a path have told, see rtrs_mp_beat_add(); all zero: nothing yet
 * @last_ns: round trip of the last one, 0 if none was answered yet
 * @idle_ns: round trip when next to no requests are in its way
 * @share_ns: round trip divided by the requests in its way, when they were many; 0: not known, or forgotten
 * @slowed: those requests have made it take more than twice as long
 * @left: how many more without many requests until @share_ns is forgotten
 */
struct rtrs_mp_beats {
	u64 last_ns;
	u64 idle_ns;
	u64 share_ns;
	bool slowed;
	u8 left;
};

/**
 * struct rtrs_mp_nearest - the shortest times of several paths, see rtrs_mp_nearest_add(); all zero: of none yet
 * @last_ns: of rtrs_mp_beats.last_ns, 0 if there is none
 * @share_ns: of rtrs_mp_beats.share_ns, 0 if there is none
 */
struct rtrs_mp_nearest {
	u64 last_ns;
	u64 share_ns;
};

/**
 * enum rtrs_mp_rank - what min-latency thinks of a path; the lowest one there is takes the requests
 * @RTRS_MP_NEAR: no path is more than twice as near
 * @RTRS_MP_SLOW: near, but with many requests another one is more than twice as fast
 * @RTRS_MP_FAR: another path is more than twice as near
 * @RTRS_MP_UNKNOWN: no heartbeat was answered yet
 */
enum rtrs_mp_rank {
	RTRS_MP_NEAR,
	RTRS_MP_SLOW,
	RTRS_MP_FAR,
	RTRS_MP_UNKNOWN,
};

/**
 * struct rtrs_mp_cand - what a policy looks at in one path
 * @inflight: requests in flight on the path; with service-time, on one connection of it
 * @rank: with min-latency, what heartbeats tell of it
 * @service_ns: service time, see rtrs_mp_service_add(), 0 if none was measured yet
 */
struct rtrs_mp_cand {
	s32 inflight;
	enum rtrs_mp_rank rank;
	u64 service_ns;
};

bool rtrs_mp_better(enum rtrs_mp_policy policy, const struct rtrs_mp_cand *a,
		    const struct rtrs_mp_cand *b);
void rtrs_mp_beat_add(struct rtrs_mp_beats *beats, u64 latency_ns, u32 inflight);
void rtrs_mp_nearest_add(struct rtrs_mp_nearest *nearest, const struct rtrs_mp_beats *beats);
enum rtrs_mp_rank rtrs_mp_rank(const struct rtrs_mp_nearest *nearest, const struct rtrs_mp_beats *beats);
u64 rtrs_mp_service_add(u64 service_ns, u64 latency_ns, u32 inflight);
u64 rtrs_mp_service_aged(u64 service_ns, u32 age_s);
int rtrs_mp_policy_parse(const char *buf);
const char *rtrs_mp_policy_text(enum rtrs_mp_policy policy);

#endif /* _RTRS_MP_POLICY_H */
