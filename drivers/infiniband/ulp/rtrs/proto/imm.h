/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of the 32-bit immediate (protocol section 3).  Values are in CPU order here; the verbs layer
 * converts to and from big endian.  What each request and each response needs is inline.
 *
 * Every field is masked to its width before it is placed, so that a wrong argument can at worst give
 * a wrong slot or offset, which the receiver checks, but never a message of another type.
 */
#ifndef _RTRS_IMM_H
#define _RTRS_IMM_H

#include "proto_env.h"
#include "status.h"
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

static inline u32 rtrs_imm_low_bits(u32 value, u32 bits)
{
	return value & ((1U << bits) - 1);
}

static inline u32 rtrs_imm_pack(enum rtrs_imm_type type, u32 payload)
{
	return (u32)type << RTRS_IMM_PAYLOAD_BITS |
	       rtrs_imm_low_bits(payload, RTRS_IMM_PAYLOAD_BITS);
}

/* A slot, and as many bits below it as the queue depth leaves. */
static inline u32 rtrs_imm_pack_slot(enum rtrs_imm_type type, u32 slot, u32 low, u32 mem_bits)
{
	mem_bits = min_t(u32, mem_bits, RTRS_IMM_PAYLOAD_BITS);
	return rtrs_imm_pack(type, slot << mem_bits | rtrs_imm_low_bits(low, mem_bits));
}

static inline void rtrs_imm_unpack_slot(u32 imm, u32 mem_bits, u32 *slot, u32 *low)
{
	mem_bits = min_t(u32, mem_bits, RTRS_IMM_PAYLOAD_BITS);
	*slot = rtrs_imm_low_bits(imm, RTRS_IMM_PAYLOAD_BITS) >> mem_bits;
	*low = rtrs_imm_low_bits(imm, mem_bits);
}

/**
 * rtrs_imm_io_req() - immediate that announces a request
 * @slot: slot of the request, less than the queue depth
 * @off: byte offset of the RTRS header within the slot's chunk
 * @mem_bits: width of @off, from rtrs_geometry_mem_bits(); above 28 counts as 28
 *
 * Protocol section 3, type IO_REQ.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
static inline u32 rtrs_imm_io_req(u32 slot, u32 off, u32 mem_bits)
{
	return rtrs_imm_pack_slot(RTRS_IMM_IO_REQ, slot, off, mem_bits);
}

/**
 * rtrs_imm_io_req_list() - immediate that announces several requests
 * @slot: slot whose chunk has the list, less than the queue depth
 * @off: byte offset of the list within the chunk
 * @mem_bits: width of @off, from rtrs_geometry_mem_bits(); above 28 counts as 28
 *
 * Extension REQ_LIST.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
static inline u32 rtrs_imm_io_req_list(u32 slot, u32 off, u32 mem_bits)
{
	return rtrs_imm_pack_slot(RTRS_IMM_IO_REQ_LIST, slot, off, mem_bits);
}

/**
 * rtrs_imm_io_req_decode() - slot and offset of a request, or of a list of them
 * @imm: immediate of type IO_REQ or IO_REQ_LIST in CPU order
 * @mem_bits: width of the offset, from rtrs_geometry_mem_bits(); above 28 counts as 28
 * @slot: the slot; the caller checks it against its queue depth
 * @off: byte offset of the RTRS header; the caller checks it against its chunk size
 *
 * Protocol section 3, type IO_REQ.
 *
 * Context: any.
 */
static inline void rtrs_imm_io_req_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *off)
{
	rtrs_imm_unpack_slot(imm, mem_bits, slot, off);
}

/**
 * rtrs_imm_io_rsp() - immediate that completes a request
 * @slot: slot of the request
 * @err: result, 0 or negative errno; mapped by rtrs_status_to_wire()
 * @invalidated: a SEND_WITH_INV for the request was sent before
 *
 * Protocol section 3, types IO_RSP and IO_RSP_W_INV.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
static inline u32 rtrs_imm_io_rsp(u32 slot, int err, bool invalidated)
{
	u32 payload = rtrs_status_to_wire(err) << RTRS_IMM_RSP_ID_BITS |
		      rtrs_imm_low_bits(slot, RTRS_IMM_RSP_ID_BITS);

	return rtrs_imm_pack(invalidated ? RTRS_IMM_IO_RSP_W_INV : RTRS_IMM_IO_RSP, payload);
}

/**
 * rtrs_imm_io_rsp_decode() - slot and result of a completed request
 * @imm: immediate of type IO_RSP or IO_RSP_W_INV in CPU order
 * @slot: the slot; the caller checks it against its queue depth
 * @err: result, 0 or a negative errno not below -511
 *
 * Protocol section 3, types IO_RSP and IO_RSP_W_INV.
 *
 * Context: any.
 */
static inline void rtrs_imm_io_rsp_decode(u32 imm, u32 *slot, int *err)
{
	*slot = rtrs_imm_low_bits(imm, RTRS_IMM_RSP_ID_BITS);
	*err = rtrs_status_from_wire(imm >> RTRS_IMM_RSP_ID_BITS);
}

/**
 * rtrs_imm_io_rsp_many() - immediate that completes several requests, all without error
 * @slot: the lowest slot
 * @others: bit n is slot @slot + 1 + n
 * @mem_bits: width of @others, from rtrs_geometry_mem_bits(); above 28 counts as 28
 *
 * Extension BATCH.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
static inline u32 rtrs_imm_io_rsp_many(u32 slot, u32 others, u32 mem_bits)
{
	return rtrs_imm_pack_slot(RTRS_IMM_IO_RSP_MANY, slot, others, mem_bits);
}

/**
 * rtrs_imm_io_rsp_many_decode() - slots of completed requests
 * @imm: immediate of type IO_RSP_MANY in CPU order
 * @mem_bits: width of @others, from rtrs_geometry_mem_bits(); above 28 counts as 28
 * @slot: the lowest slot
 * @others: bit n is slot @slot + 1 + n; the caller checks each against its queue depth
 *
 * Extension BATCH.
 *
 * Context: any.
 */
static inline void rtrs_imm_io_rsp_many_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *others)
{
	rtrs_imm_unpack_slot(imm, mem_bits, slot, others);
}

u32 rtrs_imm_server_time(u64 server_ns, u64 device_ns);
void rtrs_imm_server_time_decode(u32 imm, u64 *server_ns, u64 *device_ns);
u32 rtrs_imm_hb(bool ack);
u32 rtrs_imm_fence(u32 path_id, bool done);
u32 rtrs_imm_chunks(u32 nr, bool done);
u32 rtrs_imm_req_state(u32 slot, u32 tag);
void rtrs_imm_req_state_decode(u32 imm, u32 *slot, u32 *tag);
u32 rtrs_imm_req_state_rsp(u32 slot, enum rtrs_req_state state, u32 value);
int rtrs_imm_req_state_rsp_decode(u32 imm, u32 *slot, enum rtrs_req_state *state, u32 *value);

#endif /* _RTRS_IMM_H */
