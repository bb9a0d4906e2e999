/* SPDX-License-Identifier: GPL-2.0-only */
/* Multipath policies: which of the usable paths takes the next request. */
#ifndef _RTRS_MP_POLICY_H
#define _RTRS_MP_POLICY_H

#include "proto_env.h"

/**
 * enum rtrs_mp_policy - how the next path is chosen; values are ABI (sysfs)
 * @RTRS_MP_ROUND_ROBIN: each CPU walks over the paths in turn
 * @RTRS_MP_MIN_INFLIGHT: the path with the fewest requests in flight
 * @RTRS_MP_MIN_LATENCY: the path with the shortest last heartbeat round trip; unmeasured paths last
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
 * struct rtrs_mp_cand - what a policy looks at in one path
 * @inflight: requests in flight on the path; with service-time, on one connection of it
 * @latency_ns: last heartbeat round trip, 0 if none was measured yet
 * @service_ns: service time, see rtrs_mp_service_add(), 0 if none was measured yet
 */
struct rtrs_mp_cand {
	s32 inflight;
	s64 latency_ns;
	u64 service_ns;
};

bool rtrs_mp_better(enum rtrs_mp_policy policy, const struct rtrs_mp_cand *a,
		    const struct rtrs_mp_cand *b);
u64 rtrs_mp_service_add(u64 service_ns, u64 latency_ns, u32 inflight);
u64 rtrs_mp_service_aged(u64 service_ns, u32 age_s);
int rtrs_mp_policy_parse(const char *buf);
const char *rtrs_mp_policy_text(enum rtrs_mp_policy policy);

#endif /* _RTRS_MP_POLICY_H */
