// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client side of the protocol, without devices.
 *
 * Operation
 *	Messages are built in memory that is cleared first, so that no reserved byte carries anything to
 *	the server.  Answers are checked field by field: the transport does not tell how much the server
 *	wrote, so the caller clears the area, and an answer that is missing or cut off shows itself by a
 *	type or block size of 0.
 *
 * Errors
 *	A device whose limits the block layer would refuse, or warn about, is refused here, with a reason.
 *	Limits that are only too large are cut down.
 */
#include "negotiate.h"
#include "opmap.h"

#define RNBD_SECTOR_BYTES	512

/* A request counts its bytes in 32 bits. */
#define RNBD_MAX_REQ_SECTORS	(U32_MAX / RNBD_SECTOR_BYTES)

/*
 * A request without data has to end in the time that the block layer gives it, although the server's disk may have
 * to write all of it.  Discards are cheaper, and an array may have large units for them.
 */
#define RNBD_MAX_ZEROES_SECTORS		((64U << 20) / RNBD_SECTOR_BYTES)
#define RNBD_MAX_DISCARD_SECTORS	((256U << 20) / RNBD_SECTOR_BYTES)

/* The byte offset of every sector fits a signed 64-bit number. */
#define RNBD_MAX_DEV_SECTORS	((u64)S64_MAX / RNBD_SECTOR_BYTES)

/**
 * rnbd_put_sess_info() - build the message that opens the dialogue
 * @msg: destination
 *
 * Context: any.
 */
void rnbd_put_sess_info(struct rnbd_msg_sess_info *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_SESS_INFO);
	msg->ver = RNBD_PROTO_MAJOR;
}

/**
 * rnbd_put_open() - build the message that opens a device
 * @msg: destination
 * @dev_name: name on the server, below RNBD_NAME_LEN characters
 * @mode: access mode
 *
 * Context: any.
 */
void rnbd_put_open(struct rnbd_msg_open *msg, const char *dev_name, enum rnbd_access_mode mode)
{
	memset(msg, 0, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_OPEN);
	msg->access_mode = mode;
	strscpy((char *)msg->dev_name, dev_name, sizeof(msg->dev_name));
}

/**
 * rnbd_put_close() - build the message that closes a device
 * @msg: destination
 * @device_id: which device
 *
 * Context: any.
 */
void rnbd_put_close(struct rnbd_msg_close *msg, u32 device_id)
{
	memset(msg, 0, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_CLOSE);
	msg->device_id = cpu_to_le32(device_id);
}

/**
 * rnbd_put_io() - build the message of a block request
 * @msg: destination
 * @io: the request
 *
 * Protocol section 4.  FUA on an operation that changes nothing but is no flush would be an error to the
 * server's block layer, and is dropped.  RNBD_F_PREFLUSH is never needed: the block layer sends the flush
 * before a write as a request of its own.
 *
 * Context: any.
 */
void rnbd_put_io(struct rnbd_msg_io *msg, const struct rnbd_io_desc *io)
{
	u32 rw = io->op;

	if (io->sync || io->durable || io->op == RNBD_OP_READ)
		rw |= RNBD_F_SYNC;
	if (io->durable && (io->op == RNBD_OP_WRITE || io->op == RNBD_OP_FLUSH))
		rw |= RNBD_F_FUA;
	if (io->nounmap && io->op == RNBD_OP_WRITE_ZEROES)
		rw |= RNBD_F_NOUNMAP;

	memset(msg, 0, sizeof(*msg));
	msg->hdr.type = cpu_to_le16(RNBD_MSG_IO);
	msg->device_id = cpu_to_le32(io->device_id);
	msg->sector = cpu_to_le64(io->sector);
	msg->rw = cpu_to_le32(rw);
	msg->bi_size = cpu_to_le32(io->bytes);
	msg->prio = cpu_to_le16(io->prio);
}

/**
 * rnbd_get_sess_info_rsp() - check the answer to SESS_INFO
 * @rsp: the answer, in memory that was cleared before
 * @ver: protocol major both sides know
 *
 * Context: any.
 * Return: 0, -EPROTO if it is no such answer.
 */
int rnbd_get_sess_info_rsp(const struct rnbd_msg_sess_info *rsp, u8 *ver)
{
	if (rsp->hdr.type != cpu_to_le16(RNBD_MSG_SESS_INFO_RSP))
		return -EPROTO;
	*ver = min_t(u8, rsp->ver, RNBD_PROTO_MAJOR);
	return 0;
}

static u32 rnbd_limits_req_sectors(u32 sectors, u32 logical_block_bytes)
{
	u32 block_sectors = logical_block_bytes / RNBD_SECTOR_BYTES;

	return min_t(u32, sectors, RNBD_MAX_REQ_SECTORS) / block_sectors * block_sectors;
}

static int rnbd_get_block_sizes(const struct rnbd_msg_open_rsp *rsp, u32 page_bytes,
				struct rnbd_dev_limits *limits, const char **why)
{
	u32 logical = le16_to_cpu(rsp->logical_block_size);
	u32 physical = le16_to_cpu(rsp->physical_block_size);

	if (!is_power_of_2(logical) || logical < RNBD_SECTOR_BYTES || logical > page_bytes) {
		*why = "the logical block size is not a power of two from 512 to a page";
		return -EINVAL;
	}
	/* 65536 does not fit the field and arrives as 0; it is but a hint. */
	if (!is_power_of_2(physical) || physical < logical)
		physical = logical;
	limits->logical_block_bytes = logical;
	limits->physical_block_bytes = physical;
	return 0;
}

static void rnbd_get_discard(const struct rnbd_msg_open_rsp *rsp, struct rnbd_dev_limits *limits)
{
	u32 logical = limits->logical_block_bytes;
	u32 granularity = le32_to_cpu(rsp->discard_granularity);
	u32 least;

	limits->max_discard_sectors =
		rnbd_limits_req_sectors(le32_to_cpu(rsp->max_discard_sectors), logical);
	if (!limits->max_discard_sectors)
		return;
	if (granularity < logical || granularity % logical)
		granularity = logical;
	limits->discard_granularity = granularity;
	limits->discard_alignment = le32_to_cpu(rsp->discard_alignment) % granularity;
	/* Less than a unit is no discard at all. */
	least = granularity / RNBD_SECTOR_BYTES;
	if (rsp->secure_discard)
		limits->max_secure_erase_sectors = min_t(u32, limits->max_discard_sectors,
							 max_t(u32, RNBD_MAX_ZEROES_SECTORS, least));
	limits->max_discard_sectors = min_t(u32, limits->max_discard_sectors,
					    max_t(u32, RNBD_MAX_DISCARD_SECTORS, least));
}

/**
 * rnbd_get_open_rsp() - check the answer to OPEN and derive limits from it
 * @rsp: the answer, in memory that was cleared before
 * @transport: what the session can carry
 * @limits: result; the device_id in it is set whenever -EPROTO is not returned
 * @why: on failure, the reason
 *
 * Protocol section 5.
 *
 * Context: any.
 * Return: 0; -EPROTO: no such answer, the device is not open; -EINVAL: limits that cannot be used, the
 * device is open and wants to be closed.
 */
int rnbd_get_open_rsp(const struct rnbd_msg_open_rsp *rsp,
		      const struct rnbd_transport_limits *transport,
		      struct rnbd_dev_limits *limits, const char **why)
{
	memset(limits, 0, sizeof(*limits));
	if (rsp->hdr.type != cpu_to_le16(RNBD_MSG_OPEN_RSP)) {
		*why = "the answer is of another type";
		return -EPROTO;
	}
	limits->device_id = le32_to_cpu(rsp->device_id);
	limits->nsectors = le64_to_cpu(rsp->nsectors);
	if (limits->nsectors > RNBD_MAX_DEV_SECTORS) {
		*why = "the device is larger than 2^63 bytes";
		return -EINVAL;
	}
	if (rnbd_get_block_sizes(rsp, transport->page_bytes, limits, why))
		return -EINVAL;
	if (transport->max_io_bytes < transport->page_bytes || !transport->max_segments) {
		*why = "the session carries less than a page in one request";
		return -EINVAL;
	}
	limits->max_hw_sectors =
		rnbd_limits_req_sectors(transport->max_io_bytes / RNBD_SECTOR_BYTES,
					limits->logical_block_bytes);
	limits->max_segments = min_t(u32, transport->max_segments, U16_MAX);
	rnbd_get_discard(rsp, limits);
	limits->max_write_zeroes_sectors =
		rnbd_limits_req_sectors(min_t(u32, le32_to_cpu(rsp->max_write_zeroes_sectors),
					      RNBD_MAX_ZEROES_SECTORS), limits->logical_block_bytes);
	limits->write_cache = rsp->cache_policy & RNBD_CACHE_WRITEBACK;
	limits->fua = limits->write_cache && (rsp->cache_policy & RNBD_CACHE_FUA);
	return 0;
}

/**
 * rnbd_limits_changed() - may a device that comes back take the place of the one that was lost
 * @old: limits it had
 * @old_sectors: size that users of the device have seen last
 * @limits: limits it has now
 *
 * Users have built on block sizes, cache mode and size.  A device may grow.
 *
 * Context: any.
 * Return: NULL if it may, else the reason why not.
 */
const char *rnbd_limits_changed(const struct rnbd_dev_limits *old, u64 old_sectors,
				const struct rnbd_dev_limits *limits)
{
	if (limits->logical_block_bytes != old->logical_block_bytes)
		return "the logical block size has changed";
	if (limits->write_cache != old->write_cache || limits->fua != old->fua)
		return "the cache mode has changed";
	if (limits->nsectors < old_sectors)
		return "the device has become smaller";
	if (limits->max_hw_sectors < old->max_hw_sectors ||
	    limits->max_segments < old->max_segments)
		return "the session carries less in one request than before";
	return NULL;
}
