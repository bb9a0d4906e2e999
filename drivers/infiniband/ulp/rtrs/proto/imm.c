// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pack and unpack the 32-bit immediate.
 *
 * Every field is masked to its width before it is placed, so that a wrong argument can at worst give
 * a wrong slot or offset, which the receiver checks, but never a message of another type.
 */
#include "imm.h"
#include "status.h"

static_assert(RTRS_IMM_TYPE_BITS + RTRS_IMM_PAYLOAD_BITS == 32);
static_assert(2 * RTRS_IMM_TIME_BITS == RTRS_IMM_PAYLOAD_BITS);
static_assert(RTRS_IMM_RSP_ID_BITS + RTRS_IMM_RSP_ERRNO_BITS == RTRS_IMM_PAYLOAD_BITS);

static u32 rtrs_imm_low_bits(u32 value, u32 bits)
{
	return value & ((1U << bits) - 1);
}

static u32 rtrs_imm_pack(enum rtrs_imm_type type, u32 payload)
{
	return (u32)type << RTRS_IMM_PAYLOAD_BITS |
	       rtrs_imm_low_bits(payload, RTRS_IMM_PAYLOAD_BITS);
}

/* A slot, and as many bits below it as the queue depth leaves. */
static u32 rtrs_imm_pack_slot(enum rtrs_imm_type type, u32 slot, u32 low, u32 mem_bits)
{
	mem_bits = min_t(u32, mem_bits, RTRS_IMM_PAYLOAD_BITS);
	return rtrs_imm_pack(type, slot << mem_bits | rtrs_imm_low_bits(low, mem_bits));
}

static void rtrs_imm_unpack_slot(u32 imm, u32 mem_bits, u32 *slot, u32 *low)
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
u32 rtrs_imm_io_req(u32 slot, u32 off, u32 mem_bits)
{
	return rtrs_imm_pack_slot(RTRS_IMM_IO_REQ, slot, off, mem_bits);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_req);

/**
 * rtrs_imm_io_req_decode() - slot and offset of a request
 * @imm: immediate of type IO_REQ in CPU order
 * @mem_bits: width of the offset, from rtrs_geometry_mem_bits(); above 28 counts as 28
 * @slot: the slot; the caller checks it against its queue depth
 * @off: byte offset of the RTRS header; the caller checks it against its chunk size
 *
 * Protocol section 3, type IO_REQ.
 *
 * Context: any.
 */
void rtrs_imm_io_req_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *off)
{
	rtrs_imm_unpack_slot(imm, mem_bits, slot, off);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_req_decode);

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
u32 rtrs_imm_io_rsp(u32 slot, int err, bool invalidated)
{
	u32 payload = rtrs_status_to_wire(err) << RTRS_IMM_RSP_ID_BITS |
		      rtrs_imm_low_bits(slot, RTRS_IMM_RSP_ID_BITS);

	return rtrs_imm_pack(invalidated ? RTRS_IMM_IO_RSP_W_INV : RTRS_IMM_IO_RSP, payload);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_rsp);

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
void rtrs_imm_io_rsp_decode(u32 imm, u32 *slot, int *err)
{
	*slot = rtrs_imm_low_bits(imm, RTRS_IMM_RSP_ID_BITS);
	*err = rtrs_status_from_wire(imm >> RTRS_IMM_RSP_ID_BITS);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_rsp_decode);

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
u32 rtrs_imm_io_rsp_many(u32 slot, u32 others, u32 mem_bits)
{
	return rtrs_imm_pack_slot(RTRS_IMM_IO_RSP_MANY, slot, others, mem_bits);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_rsp_many);

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
void rtrs_imm_io_rsp_many_decode(u32 imm, u32 mem_bits, u32 *slot, u32 *others)
{
	rtrs_imm_unpack_slot(imm, mem_bits, slot, others);
}
EXPORT_SYMBOL_GPL(rtrs_imm_io_rsp_many_decode);

/* The nearest time that can be told. */
static u32 rtrs_imm_pack_time(u64 ns)
{
	u32 shift = max(fls64(ns) - RTRS_IMM_TIME_NUMBER_BITS, 0);

	if (shift) {
		ns = (ns >> shift) + (ns >> (shift - 1) & 1);
		/* Rounded up to one bit more. */
		if (ns >> RTRS_IMM_TIME_NUMBER_BITS) {
			ns >>= 1;
			shift++;
		}
	}
	if (shift >> (RTRS_IMM_TIME_BITS - RTRS_IMM_TIME_NUMBER_BITS))
		return rtrs_imm_low_bits(~0U, RTRS_IMM_TIME_BITS);
	return shift << RTRS_IMM_TIME_NUMBER_BITS | (u32)ns;
}

static u64 rtrs_imm_unpack_time(u32 time)
{
	return (u64)rtrs_imm_low_bits(time, RTRS_IMM_TIME_NUMBER_BITS) <<
	       (rtrs_imm_low_bits(time, RTRS_IMM_TIME_BITS) >> RTRS_IMM_TIME_NUMBER_BITS);
}

/**
 * rtrs_imm_server_time() - immediate that tells where a request spent its time
 * @server_ns: nanoseconds before the server's ULP had it
 * @device_ns: nanoseconds with that ULP
 *
 * Extension SERVER_TIME.  Times are rounded to 9 bits; more than 18 minutes are told as 18 minutes.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_server_time(u64 server_ns, u64 device_ns)
{
	return rtrs_imm_pack(RTRS_IMM_SERVER_TIME,
			     rtrs_imm_pack_time(server_ns) << RTRS_IMM_TIME_BITS |
			     rtrs_imm_pack_time(device_ns));
}
EXPORT_SYMBOL_GPL(rtrs_imm_server_time);

/**
 * rtrs_imm_server_time_decode() - where a request spent its time
 * @imm: immediate of type SERVER_TIME in CPU order
 * @server_ns: nanoseconds before the server's ULP had it
 * @device_ns: nanoseconds with that ULP
 *
 * Extension SERVER_TIME.  All payloads are valid; none is more than 18.3 minutes.
 *
 * Context: any.
 */
void rtrs_imm_server_time_decode(u32 imm, u64 *server_ns, u64 *device_ns)
{
	*server_ns = rtrs_imm_unpack_time(imm >> RTRS_IMM_TIME_BITS);
	*device_ns = rtrs_imm_unpack_time(imm);
}
EXPORT_SYMBOL_GPL(rtrs_imm_server_time_decode);

/**
 * rtrs_imm_hb() - immediate of a heartbeat
 * @ack: the answer to a heartbeat instead of the question
 *
 * Protocol sections 3 and 8.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_hb(bool ack)
{
	return rtrs_imm_pack(ack ? RTRS_IMM_HB_ACK : RTRS_IMM_HB_MSG, 0);
}

/**
 * rtrs_imm_fence() - immediate that asks for a fence, or tells that it is up
 * @path_id: number of the path to be closed
 * @done: the answer instead of the request
 *
 * Extension FENCE.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_fence(u32 path_id, bool done)
{
	return rtrs_imm_pack(done ? RTRS_IMM_FENCE_DONE : RTRS_IMM_FENCE, path_id);
}
EXPORT_SYMBOL_GPL(rtrs_imm_fence);
