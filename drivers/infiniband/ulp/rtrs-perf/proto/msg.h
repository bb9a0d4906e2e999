/* SPDX-License-Identifier: GPL-2.0-only */
/* What client and server of rtrs-perf say to each other. */
#ifndef _RTRS_PERF_MSG_H
#define _RTRS_PERF_MSG_H

#include "proto_env.h"

/* Where the server listens unless it is told otherwise; RNBD has 1234. */
#define RTRS_PERF_PORT		1236

#define RTRS_PERF_MAGIC		0x46505452
#define RTRS_PERF_VERSION	1

/**
 * struct rtrs_perf_msg - user message of every request
 * @magic: RTRS_PERF_MAGIC, "RTPF": another ULP's client at our port is told so
 * @version: RTRS_PERF_VERSION
 * @write: 1: the data go to the server; 0: they come from there
 * @bytes: how many
 *
 * Nothing is in the answer but the errno.
 */
struct rtrs_perf_msg {
	__le32 magic;
	__le16 version;
	__le16 write;
	__le32 bytes;
};

static_assert(sizeof(struct rtrs_perf_msg) == 12);

/**
 * rtrs_perf_msg_put() - write the message of a request
 * @msg: where to
 * @write: the data go to the server
 * @bytes: how many
 *
 * Context: any.
 */
static inline void rtrs_perf_msg_put(struct rtrs_perf_msg *msg, bool write, u32 bytes)
{
	*msg = (struct rtrs_perf_msg) {
		.magic = cpu_to_le32(RTRS_PERF_MAGIC),
		.version = cpu_to_le16(RTRS_PERF_VERSION),
		.write = cpu_to_le16(write),
		.bytes = cpu_to_le32(bytes),
	};
}

int rtrs_perf_msg_check(const void *usr, size_t usr_len, bool write, size_t data_len);

#endif /* _RTRS_PERF_MSG_H */
