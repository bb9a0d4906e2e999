/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of the 32-bit immediate (protocol section 3).  Values are in CPU order here; the verbs layer
 * converts to and from big endian.
 */
#ifndef _RTRS_IMM_H
#define _RTRS_IMM_H

#include "proto_env.h"
#include <rtrs/rtrs_format.h>

/**
 * rtrs_imm_type() - type field of an immediate
 * @imm: the immediate
 *
 * Return: one of enum rtrs_imm_type, or a value not in it, which the caller must treat as unknown.
 */
static inline u32 rtrs_imm_type(u32 imm)
{
	return imm >> RTRS_IMM_PAYLOAD_BITS;
}

/**
 * rtrs_imm_payload() - payload field of an immediate
 * @imm: the immediate
 *
 * Return: 28 bits.
 */
static inline u32 rtrs_imm_payload(u32 imm)
{
	return imm & ((1U << RTRS_IMM_PAYLOAD_BITS) - 1);
}

/**
 * rtrs_imm_timed() - the same request, and where it spends its time is wanted
 * @imm: immediate of type IO_REQ
 *
 * Extension SERVER_TIME.
 *
 * Return: immediate of type IO_REQ_TIMED.
 */
static inline u32 rtrs_imm_timed(u32 imm)
{
	return (u32)RTRS_IMM_IO_REQ_TIMED << RTRS_IMM_PAYLOAD_BITS | rtrs_imm_payload(imm);
}

u32 rtrs_imm_io_req(u32 slot, u32 off, u32 mem_bits);
void rtrs_imm_io_req_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *off);
u32 rtrs_imm_io_rsp(u32 slot, int err, bool invalidated);
void rtrs_imm_io_rsp_decode(u32 imm, u32 *slot, int *err);
u32 rtrs_imm_io_rsp_many(u32 slot, u32 others, u32 mem_bits);
void rtrs_imm_io_rsp_many_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *others);
u32 rtrs_imm_server_time(u64 server_ns, u64 device_ns);
void rtrs_imm_server_time_decode(u32 imm, u64 *server_ns, u64 *device_ns);
u32 rtrs_imm_hb(bool ack);
u32 rtrs_imm_fence(u32 path_id, bool done);

#endif /* _RTRS_IMM_H */
