/* SPDX-License-Identifier: GPL-2.0-only */
/* What clients of the server may take. */
#ifndef _RTRS_SRV_LIMITS_H
#define _RTRS_SRV_LIMITS_H

#include <linux/socket.h>
#include <linux/types.h>

struct rtrs_srv_peer;

/**
 * enum rtrs_srv_limit - what is limited
 * @RTRS_SRV_LIMIT_SESSIONS: sessions, by the address of their first connection
 * @RTRS_SRV_LIMIT_CONNECTIONS: connections, also those of paths that are not complete
 * @RTRS_SRV_LIMIT_MEMORY: bytes of chunks and what belongs to each, from the first connection of a path on
 * @RTRS_SRV_LIMITS: how many there are
 */
enum rtrs_srv_limit {
	RTRS_SRV_LIMIT_SESSIONS,
	RTRS_SRV_LIMIT_CONNECTIONS,
	RTRS_SRV_LIMIT_MEMORY,
	RTRS_SRV_LIMITS,
};

void rtrs_srv_limits_init(u32 queue_depth);
struct rtrs_srv_peer *rtrs_srv_limits_charge(const struct sockaddr_storage *addr,
					     enum rtrs_srv_limit limit, u64 amount);
void rtrs_srv_limits_uncharge(struct rtrs_srv_peer *peer, enum rtrs_srv_limit limit, u64 amount);
bool rtrs_srv_limits_take_copy(struct rtrs_srv_peer *peer, u32 bytes);
void rtrs_srv_limits_give_copy(struct rtrs_srv_peer *peer, u32 bytes);

#endif /* _RTRS_SRV_LIMITS_H */
