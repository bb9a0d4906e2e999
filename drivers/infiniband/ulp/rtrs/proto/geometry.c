// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers both peers derive from queue depth and chunk size: how the payload of an immediate is
 * divided, how many chunks share a memory region, how long the work queues are.
 */
#include "geometry.h"

/* Room the client needs behind the data of a chunk: READ header, and a user message worth the name. */
#define RTRS_MIN_HDR_BYTES	64

/*
 * Receives of a service connection: RTRS_SERVICE_QUEUE_DEPTH messages and as many answers, and
 * one of each for the info exchange.
 */
#define RTRS_SERVICE_RECV_WRS	(2 * RTRS_SERVICE_QUEUE_DEPTH + 2)

/*
 * What is sent has an entry until it is acknowledged, not until it is answered.  So a send queue need not be longer
 * than what is on the way at a time, however deep the session's queue is: 254 sends of 4 KiB that take 20 us are 50
 * GB/s.  Who finds it full waits.  With what rtrs_conn_create_qp() adds it is to stay below a power of two, to which
 * devices round up.
 */
#define RTRS_MOST_SEND_WRS	254

/* The longest chain there is must fit: times, data, invalidation, registration, completion. */
#define RTRS_LEAST_SEND_WRS	6

/* Sends of a client that have completed, and of which nobody knows until the next one that is signalled. */
#define RTRS_CLT_UNSIGNALED	64

static_assert(RTRS_MIN_HDR_BYTES > RTRS_MAX_IO_HDR_BYTES);

/**
 * rtrs_geometry_mem_bits() - width of the offset in the immediate of a request
 * @queue_depth: slots of the session, 1 .. RTRS_MAX_QUEUE_DEPTH
 *
 * Protocol section 3.  The slot number takes what the queue depth needs, the offset has the rest.
 *
 * Context: any.
 * Return: 28 - ceil(log2(@queue_depth)); 0 if the slot number alone does not fit.
 */
u32 rtrs_geometry_mem_bits(u32 queue_depth)
{
	u32 slot_bits = order_base_2(queue_depth);

	return RTRS_IMM_PAYLOAD_BITS - min_t(u32, slot_bits, RTRS_IMM_PAYLOAD_BITS);
}
EXPORT_SYMBOL_GPL(rtrs_geometry_mem_bits);

/**
 * rtrs_geometry_fits_imm() - can an immediate address each byte of each chunk
 * @queue_depth: slots of the session
 * @chunk_size: bytes of one chunk
 *
 * Protocol sections 3 and 11.
 *
 * Context: any.
 * Return: true if @queue_depth and @chunk_size are within their limits together.
 */
bool rtrs_geometry_fits_imm(u32 queue_depth, u64 chunk_size)
{
	if (!queue_depth || queue_depth > RTRS_MAX_QUEUE_DEPTH)
		return false;
	return chunk_size && chunk_size <= 1ULL << rtrs_geometry_mem_bits(queue_depth);
}
EXPORT_SYMBOL_GPL(rtrs_geometry_fits_imm);

/**
 * rtrs_geometry_check_rsp() - are the sizes a server announces usable
 * @rsp: response from rtrs_wire_get_conn_rsp(), not trusted
 *
 * Protocol sections 2.4 and 11.
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int rtrs_geometry_check_rsp(const struct rtrs_conn_rsp *rsp)
{
	u64 chunk_size = (u64)rsp->max_io_size + rsp->max_hdr_size;

	if (!rsp->max_io_size || rsp->max_hdr_size < RTRS_MIN_HDR_BYTES)
		return -EINVAL;
	if (chunk_size < RTRS_MIN_CHUNK_BYTES ||
	    !rtrs_geometry_fits_imm(rsp->queue_depth, chunk_size))
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_geometry_check_rsp);

/**
 * rtrs_geometry_chunks_per_mr() - how many chunks one memory region takes
 * @queue_depth: number of chunks
 * @pages_per_chunk: pages of one chunk
 * @max_pages: pages one memory region can have
 *
 * All regions have the same number of chunks, as the client insists on a number of descriptors that
 * divides the queue depth (protocol section 4).
 *
 * Context: any.
 * Return: the largest divisor of @queue_depth whose chunks fit into one region; 0 if not even one
 * chunk fits.
 */
u32 rtrs_geometry_chunks_per_mr(u32 queue_depth, u32 pages_per_chunk, u32 max_pages)
{
	u32 nr;

	if (!pages_per_chunk)
		return 0;
	for (nr = min(queue_depth, max_pages / pages_per_chunk); nr; nr--)
		if (queue_depth % nr == 0)
			break;
	return nr;
}
EXPORT_SYMBOL_GPL(rtrs_geometry_chunks_per_mr);

/**
 * rtrs_geometry_clt_send_wrs() - length of a client's send queue
 * @service: service connection, else I/O connection
 * @queue_depth: slots of the session, at most RTRS_MAX_QUEUE_DEPTH
 * @max_qp_wr: limit of the device
 * @registers: each request with data may register them, not only those that are large or in many pieces
 *
 * Protocol section 2.7, where it is the client's own matter.  A request takes one, and one that registers
 * its data four at most: invalidation of what it had registered before, registration, message, and, until it ends, room
 * for the invalidation then.  An entry with many SGEs is a kilobyte: with three for each slot the queue of one
 * connection of a usual session would take 2 MiB, rather than a quarter.  Where each request may register its data, so
 * that it has an entry until it ends, there are as many nevertheless.
 *
 * Context: any.
 * Return: number of work requests.
 */
u32 rtrs_geometry_clt_send_wrs(bool service, u32 queue_depth, u32 max_qp_wr, bool registers)
{
	u32 per_io = 3 * queue_depth + 1 + min_t(u32, queue_depth, RTRS_CLT_UNSIGNALED);

	if (service)
		per_io = RTRS_MOST_SEND_WRS;
	else if (!registers)
		per_io = min_t(u32, per_io, RTRS_MOST_SEND_WRS);
	return min(max_qp_wr, max_t(u32, per_io, RTRS_LEAST_SEND_WRS));
}
EXPORT_SYMBOL_GPL(rtrs_geometry_clt_send_wrs);

/**
 * rtrs_geometry_clt_recv_wrs() - length of a client's receive queue
 * @service: service connection, else I/O connection
 * @queue_depth: slots of the session, at most RTRS_MAX_QUEUE_DEPTH
 * @max_qp_wr: limit of the device
 *
 * Protocol section 2.7.
 *
 * Context: any.
 * Return: number of work requests.
 */
u32 rtrs_geometry_clt_recv_wrs(bool service, u32 queue_depth, u32 max_qp_wr)
{
	return min(max_qp_wr, service ? RTRS_SERVICE_RECV_WRS : 3 * queue_depth + 1);
}
EXPORT_SYMBOL_GPL(rtrs_geometry_clt_recv_wrs);

/**
 * rtrs_geometry_srv_send_wrs() - length of a server's send queue
 * @service: service connection, else I/O connection
 * @queue_depth: slots of the session, at most RTRS_MAX_QUEUE_DEPTH
 * @max_qp_wr: limit of the device
 *
 * Protocol section 2.7, where it is the server's own matter: a peer cannot tell.  An answer is one message as a
 * rule, and up to five work requests; those for which there is no room wait.
 *
 * Context: any.
 * Return: number of work requests.
 */
u32 rtrs_geometry_srv_send_wrs(bool service, u32 queue_depth, u32 max_qp_wr)
{
	u32 per_io = clamp_t(u32, 3 * queue_depth + 1, RTRS_LEAST_SEND_WRS, RTRS_MOST_SEND_WRS);

	return min(max_qp_wr, service ? RTRS_MOST_SEND_WRS : per_io);
}
EXPORT_SYMBOL_GPL(rtrs_geometry_srv_send_wrs);

/**
 * rtrs_geometry_srv_recv_wrs() - length of a server's receive queue
 * @service: service connection, else I/O connection
 * @queue_depth: slots of the session, at most RTRS_MAX_QUEUE_DEPTH
 * @max_qp_wr: limit of the device
 *
 * Protocol section 2.7.
 *
 * Context: any.
 * Return: number of work requests.
 */
u32 rtrs_geometry_srv_recv_wrs(bool service, u32 queue_depth, u32 max_qp_wr)
{
	return min(max_qp_wr, service ? RTRS_SERVICE_RECV_WRS : queue_depth + 1);
}
EXPORT_SYMBOL_GPL(rtrs_geometry_srv_recv_wrs);
