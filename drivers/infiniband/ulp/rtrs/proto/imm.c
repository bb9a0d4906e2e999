// SPDX-License-Identifier: GPL-2.0-only
/* Pack and unpack the 32-bit immediate: what is not of each request. */
#include "imm.h"

static_assert(RTRS_IMM_TYPE_BITS + RTRS_IMM_PAYLOAD_BITS == 32);
static_assert(2 * RTRS_IMM_TIME_BITS == RTRS_IMM_PAYLOAD_BITS);
static_assert(RTRS_MAX_QUEUE_DEPTH < 1U << RTRS_IMM_STATE_SLOT_BITS);
static_assert(RTRS_REQ_STATE__NR <= 1U << (RTRS_IMM_PAYLOAD_BITS - RTRS_IMM_STATE_SLOT_BITS -
					   RTRS_IMM_STATE_TAG_BITS));
static_assert(RTRS_IMM_RSP_ID_BITS + RTRS_IMM_RSP_ERRNO_BITS == RTRS_IMM_PAYLOAD_BITS);

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

/**
 * rtrs_imm_chunks() - immediate that asks for chunks, or tells how many there are
 * @nr: chunks of the path
 * @done: the answer instead of the request
 *
 * Extension CREDITS.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_chunks(u32 nr, bool done)
{
	return rtrs_imm_pack(done ? RTRS_IMM_CHUNKS : RTRS_IMM_CHUNKS_WANT, nr);
}
EXPORT_SYMBOL_GPL(rtrs_imm_chunks);

/**
 * rtrs_imm_req_state() - immediate that asks where a request is
 * @slot: its slot
 * @tag: number to know the answer by; only its lower 9 bits travel
 *
 * Extension REQ_STATE.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_req_state(u32 slot, u32 tag)
{
	return rtrs_imm_pack(RTRS_IMM_REQ_STATE,
			     rtrs_imm_low_bits(slot, RTRS_IMM_STATE_SLOT_BITS) <<
			     (RTRS_IMM_PAYLOAD_BITS - RTRS_IMM_STATE_SLOT_BITS) |
			     rtrs_imm_low_bits(tag, RTRS_IMM_STATE_TAG_BITS));
}
EXPORT_SYMBOL_GPL(rtrs_imm_req_state);

/**
 * rtrs_imm_req_state_decode() - which request is meant
 * @imm: immediate of type REQ_STATE in CPU order
 * @slot: the slot; the caller checks it against its queue depth
 * @tag: to be sent back if there is no request
 *
 * Extension REQ_STATE.  Bits 9 to 11 are not looked at.
 *
 * Context: any.
 */
void rtrs_imm_req_state_decode(u32 imm, u32 *slot, u32 *tag)
{
	*slot = rtrs_imm_payload(imm) >> (RTRS_IMM_PAYLOAD_BITS - RTRS_IMM_STATE_SLOT_BITS);
	*tag = rtrs_imm_low_bits(imm, RTRS_IMM_STATE_TAG_BITS);
}
EXPORT_SYMBOL_GPL(rtrs_imm_req_state_decode);

/**
 * rtrs_imm_req_state_rsp() - immediate that tells where a request is
 * @slot: its slot
 * @state: where it is
 * @value: seconds for which it has been with the ULP, at most 511 are told; with RTRS_REQ_STATE_NONE the tag
 *
 * Extension REQ_STATE.
 *
 * Context: any.
 * Return: the immediate in CPU order.
 */
u32 rtrs_imm_req_state_rsp(u32 slot, enum rtrs_req_state state, u32 value)
{
	u32 most = (1U << RTRS_IMM_STATE_TAG_BITS) - 1;

	value = state == RTRS_REQ_STATE_NONE ? rtrs_imm_low_bits(value, RTRS_IMM_STATE_TAG_BITS) :
					       min_t(u32, value, most);
	return rtrs_imm_pack(RTRS_IMM_REQ_STATE_RSP,
			     rtrs_imm_low_bits(slot, RTRS_IMM_STATE_SLOT_BITS) <<
			     (RTRS_IMM_PAYLOAD_BITS - RTRS_IMM_STATE_SLOT_BITS) |
			     (u32)state << RTRS_IMM_STATE_TAG_BITS | value);
}
EXPORT_SYMBOL_GPL(rtrs_imm_req_state_rsp);

/**
 * rtrs_imm_req_state_rsp_decode() - where a request is
 * @imm: immediate of type REQ_STATE_RSP in CPU order
 * @slot: its slot; the caller checks it against its queue depth
 * @state: where it is
 * @value: as rtrs_imm_req_state_rsp(), below 512
 *
 * Extension REQ_STATE.
 *
 * Context: any.
 * Return: 0, or -EPROTO if there is no such state.
 */
int rtrs_imm_req_state_rsp_decode(u32 imm, u32 *slot, enum rtrs_req_state *state, u32 *value)
{
	u32 bits = RTRS_IMM_PAYLOAD_BITS - RTRS_IMM_STATE_SLOT_BITS;
	u32 number = rtrs_imm_low_bits(imm, bits) >> RTRS_IMM_STATE_TAG_BITS;

	if (number >= RTRS_REQ_STATE__NR)
		return -EPROTO;
	*slot = rtrs_imm_payload(imm) >> bits;
	*state = number;
	*value = rtrs_imm_low_bits(imm, RTRS_IMM_STATE_TAG_BITS);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_imm_req_state_rsp_decode);
