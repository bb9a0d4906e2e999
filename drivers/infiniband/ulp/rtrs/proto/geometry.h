/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue depth, chunk size, immediate bits and WR budgets (protocol sections 2.4, 2.7, 3 and 11). */
#ifndef _RTRS_GEOMETRY_H
#define _RTRS_GEOMETRY_H

#include "proto_env.h"
#include <rtrs/rtrs_format.h>
#include "wire.h"

/*
 * A device whose queues are shorter is refused: of each receive queue a batch that is posted late, that of the drain and one
 * for INFO_RSP are not for messages, and a send queue takes the longest chain some times.
 */
#define RTRS_MIN_QP_WR	64

u32 rtrs_geometry_mem_bits(u32 queue_depth);
bool rtrs_geometry_fits_imm(u32 queue_depth, u64 chunk_size);
int rtrs_geometry_check_rsp(const struct rtrs_conn_rsp *rsp);
u32 rtrs_geometry_chunks_per_mr(u32 queue_depth, u32 pages_per_chunk, u32 max_pages);
u32 rtrs_geometry_clt_send_wrs(bool service, u32 queue_depth, u32 max_qp_wr, bool registers);
u32 rtrs_geometry_clt_recv_wrs(bool service, u32 queue_depth, u32 max_qp_wr);
u32 rtrs_geometry_srv_send_wrs(bool service, u32 queue_depth, u32 max_qp_wr);
u32 rtrs_geometry_srv_recv_wrs(bool service, u32 queue_depth, u32 max_qp_wr);

#endif /* _RTRS_GEOMETRY_H */
