/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of a request that could not be sent. */
#ifndef _RTRS_RETRY_H
#define _RTRS_RETRY_H

#include "proto_env.h"

/**
 * enum rtrs_failure - what kept a request, or a message, from being posted
 * @RTRS_FAILURE_MEMORY: an allocation that must not wait
 * @RTRS_FAILURE_DMA_MAP: the DMA API has no mapping: IOMMU or swiotlb is full
 * @RTRS_FAILURE_DMA_LIMIT: an element is longer than any mapping of this device
 * @RTRS_FAILURE_SEND_QUEUE: no free entry in the send queue
 * @RTRS_FAILURE_MR_MAP: ib_map_mr_sg() failed
 * @RTRS_FAILURE_MR_LIMIT: more pages than a memory region of this path takes
 * @RTRS_FAILURE_CHUNK_LIMIT: longer than a chunk of this path's server
 * @RTRS_FAILURE_SG_LIST: the list of pages does not cover the data
 * @RTRS_FAILURE_SLOT_BUSY: the ULP uses one permit for two requests
 * @RTRS_FAILURE_POST: ib_post_send() or ib_post_recv() failed
 * @RTRS_FAILURE__NR: number of failures
 */
enum rtrs_failure {
	RTRS_FAILURE_MEMORY,
	RTRS_FAILURE_DMA_MAP,
	RTRS_FAILURE_DMA_LIMIT,
	RTRS_FAILURE_SEND_QUEUE,
	RTRS_FAILURE_MR_MAP,
	RTRS_FAILURE_MR_LIMIT,
	RTRS_FAILURE_CHUNK_LIMIT,
	RTRS_FAILURE_SG_LIST,
	RTRS_FAILURE_SLOT_BUSY,
	RTRS_FAILURE_POST,
	RTRS_FAILURE__NR
};

/**
 * enum rtrs_retry - what becomes of the request
 * @RTRS_RETRY_PATH_LOST: the path is lost, and the request goes where that path's requests go
 * @RTRS_RETRY_ELSEWHERE: it may go over another path; if there is none it fails
 * @RTRS_RETRY_NO_PATH: no path is connected; the ULP decides how long it waits for one
 * @RTRS_RETRY_LATER: another path may take it now, else it is sent later
 * @RTRS_RETRY_NEVER: it fails, on any path
 *
 * In the order in which they decide about a request that failed on several paths, the last one first.
 */
enum rtrs_retry {
	RTRS_RETRY_PATH_LOST,
	RTRS_RETRY_ELSEWHERE,
	RTRS_RETRY_NO_PATH,
	RTRS_RETRY_LATER,
	RTRS_RETRY_NEVER,
};

int rtrs_retry_error(enum rtrs_failure what, int error);
enum rtrs_retry rtrs_retry_of(int error);
int rtrs_retry_merge(int error, int next);

#endif /* _RTRS_RETRY_H */
