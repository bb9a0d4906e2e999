/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RTRS wire format, protocol version 2.0: every byte that travels.
 *
 * Structures and constants only, no functions.  Encoders, decoders and checks live in
 * drivers/infiniband/ulp/rtrs/proto/wire.h and imm.h.  All multi-byte fields are little endian; the
 * immediate is big endian on the wire (the verbs layer swaps it).
 */
#ifndef _RTRS_FORMAT_H
#define _RTRS_FORMAT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* Identity of the protocol. */
#define RTRS_MAGIC			0x1BBD
#define RTRS_PROTO_MAJOR		2
#define RTRS_PROTO_MINOR		0
#define RTRS_PROTO_VERSION		((RTRS_PROTO_MAJOR << 8) | RTRS_PROTO_MINOR)

/* Limits that both peers may rely on. */
#define RTRS_MAX_PATHS			128
#define RTRS_MAX_CONS			4096
#define RTRS_MIN_CHUNK_BYTES		8192
#define RTRS_MAX_QUEUE_DEPTH		65535
#define RTRS_SERVICE_QUEUE_DEPTH	512
#define RTRS_NAME_LEN			255
#define RTRS_UUID_LEN			16

/* Service id of the AF_IB listener: this prefix or'ed with the port. */
#define RTRS_IB_SERVICE_ID		0x00000000013F0000ULL

/* Heartbeat timing, section 8 of the protocol. */
#define RTRS_HB_INTERVAL_MS		5000
#define RTRS_HB_MISSED_MAX		5

/* Reject reason: consumer defined (IBTA 12.6.7.2). */
#define RTRS_CM_REJ_CONSUMER_DEFINED	28

/* Immediate data: type in bits 31..28, payload in bits 27..0. */
#define RTRS_IMM_TYPE_BITS		4
#define RTRS_IMM_PAYLOAD_BITS		28
#define RTRS_IMM_RSP_ID_BITS		19
#define RTRS_IMM_RSP_ERRNO_BITS		9
/* A time is a number of nanoseconds, shifted to the left by another. */
#define RTRS_IMM_TIME_BITS		14
#define RTRS_IMM_TIME_NUMBER_BITS	9
/* Extension REQ_STATE: a slot, and the rest of the payload. */
#define RTRS_IMM_STATE_SLOT_BITS	16
#define RTRS_IMM_STATE_TAG_BITS		9

/**
 * enum rtrs_imm_type - type field of the immediate
 * @RTRS_IMM_IO_REQ: client to server, a request was written; payload is slot and header offset
 * @RTRS_IMM_IO_RSP: server to client, completion; payload is slot and absolute errno
 * @RTRS_IMM_IO_RSP_W_INV: as @RTRS_IMM_IO_RSP, and a SEND_WITH_INV of the request's rkey came before
 * @RTRS_IMM_HB_MSG: either direction, service connection, are you there
 * @RTRS_IMM_HB_ACK: answer to @RTRS_IMM_HB_MSG
 * @RTRS_IMM_FENCE: extension FENCE, client to server, service connection: close another path and let
 *	nothing of it be under way; payload is its number
 * @RTRS_IMM_FENCE_DONE: answer to @RTRS_IMM_FENCE, same payload
 * @RTRS_IMM_CHUNKS_WANT: extension CREDITS, client to server, payload is how many chunks the path shall have
 * @RTRS_IMM_CHUNKS: extension CREDITS, server to client, payload is how many it has
 * @RTRS_IMM_REQ_STATE: extension REQ_STATE, client to server: where is the request in this slot of the path;
 *	payload is slot and tag
 * @RTRS_IMM_REQ_STATE_RSP: answer to @RTRS_IMM_REQ_STATE on the same connection; payload is slot, enum
 *	rtrs_req_state, and seconds or the tag
 * @RTRS_IMM_IO_RSP_MANY: extension BATCH, server to client, completions without error; payload is the lowest
 *	slot and which of those above it
 * @RTRS_IMM_SERVER_TIME: extension SERVER_TIME, server to client, right before an answer: where its request
 *	spent its time; payload is two times
 * @RTRS_IMM_IO_REQ_TIMED: extension SERVER_TIME, as @RTRS_IMM_IO_REQ, and @RTRS_IMM_SERVER_TIME is wanted
 * @RTRS_IMM_IO_REQ_LIST: extension REQ_LIST, client to server, several requests were written; payload is a
 *	slot and the offset of struct rtrs_msg_req_list in its chunk
 */
enum rtrs_imm_type {
	RTRS_IMM_IO_REQ		= 0,
	RTRS_IMM_IO_RSP		= 1,
	RTRS_IMM_IO_RSP_W_INV	= 2,
	RTRS_IMM_CHUNKS_WANT	= 3,
	RTRS_IMM_CHUNKS		= 4,
	RTRS_IMM_REQ_STATE	= 5,
	RTRS_IMM_REQ_STATE_RSP	= 6,
	RTRS_IMM_HB_MSG		= 8,
	RTRS_IMM_HB_ACK		= 9,
	RTRS_IMM_FENCE		= 10,
	RTRS_IMM_FENCE_DONE	= 11,
	RTRS_IMM_IO_RSP_MANY	= 12,
	RTRS_IMM_SERVER_TIME	= 13,
	RTRS_IMM_IO_REQ_TIMED	= 14,
	RTRS_IMM_IO_REQ_LIST	= 15,
};

/**
 * enum rtrs_req_state - extension REQ_STATE, where the server has the request of a slot on a path
 * @RTRS_REQ_STATE_NONE: it has none; whatever this path has brought for the slot is answered, or was dropped
 * @RTRS_REQ_STATE_RECEIVED: it waits for its turn in the slot, or for the invalidation of its chunk
 * @RTRS_REQ_STATE_ULP: the server's ULP has it
 * @RTRS_REQ_STATE_ANSWERED: the ULP has answered, the response waits for room in the send queue
 * @RTRS_REQ_STATE__NR: number of states
 */
enum rtrs_req_state {
	RTRS_REQ_STATE_NONE	= 0,
	RTRS_REQ_STATE_RECEIVED	= 1,
	RTRS_REQ_STATE_ULP	= 2,
	RTRS_REQ_STATE_ANSWERED	= 3,
	RTRS_REQ_STATE__NR
};

/**
 * enum rtrs_msg_type - first 16-bit word of every message that is not CM private data
 * @RTRS_MSG_INFO_REQ: client to server, struct rtrs_msg_info_req
 * @RTRS_MSG_INFO_RSP: server to client, struct rtrs_msg_info_rsp
 * @RTRS_MSG_WRITE: header of a WRITE request, struct rtrs_msg_write
 * @RTRS_MSG_READ: header of a READ request, struct rtrs_msg_read
 * @RTRS_MSG_RKEY_RSP: new rkey of a slot, struct rtrs_msg_rkey_rsp
 * @RTRS_MSG_REQ_LIST: extension REQ_LIST, several READ requests, struct rtrs_msg_req_list
 */
enum rtrs_msg_type {
	RTRS_MSG_INFO_REQ	= 0,
	RTRS_MSG_INFO_RSP	= 1,
	RTRS_MSG_WRITE		= 2,
	RTRS_MSG_READ		= 3,
	RTRS_MSG_RKEY_RSP	= 4,
	RTRS_MSG_REQ_LIST	= 5,
};

/*
 * Extensions, offered in the request and taken up in the response.  A peer without has zeros there and
 * ignores what it finds.
 */
#define RTRS_EXT_VERSION		1
#define RTRS_EXT_FENCE			0x0001
#define RTRS_EXT_IMPLICIT_RKEY		0x0002
#define RTRS_EXT_BATCH			0x0004
#define RTRS_EXT_SERVER_TIME		0x0008
#define RTRS_EXT_REQ_LIST		0x0010
#define RTRS_EXT_SESSION		0x0020
#define RTRS_EXT_CREDITS		0x0040
#define RTRS_EXT_REQ_STATE		0x0080
#define RTRS_EXT_PROBE			0x0100
#define RTRS_EXT_IDENTITY		0x0200
#define RTRS_EXT_ALL			(RTRS_EXT_FENCE | RTRS_EXT_IMPLICIT_RKEY | RTRS_EXT_BATCH | \
					 RTRS_EXT_SERVER_TIME | RTRS_EXT_REQ_LIST | RTRS_EXT_SESSION | \
					 RTRS_EXT_CREDITS | RTRS_EXT_REQ_STATE | RTRS_EXT_PROBE | \
					 RTRS_EXT_IDENTITY)

/* Extension CREDITS: descriptors in the table of a client, which is 4 KiB. */
#define RTRS_CHUNK_TABLE_DESCS		256

/* Extension PROBE: bytes of the server's second message, all 0; as many as the largest path MTU has. */
#define RTRS_PROBE_BYTES		4096

/* Extension REQ_LIST: requests of a list, and its bytes. */
#define RTRS_REQ_LIST_MAX		16
#define RTRS_REQ_LIST_MAX_BYTES		2048

/* Bits of rtrs_msg_conn_req.flags. */
#define RTRS_CONN_FIRST			0x01

/* Bits of rtrs_msg_conn_rsp.flags. */
#define RTRS_CONN_RSP_NEW_RKEY		0x00000002

/* Bits of rtrs_msg_read.flags. */
#define RTRS_READ_NEED_INVAL		0x0001

/**
 * struct rtrs_msg_conn_req - CM private data of a connection request, 56 bytes
 * @cma_version: belongs to the CM core for AF_IB, 0
 * @ip_version: overlays the CMA header for AF_IB, must be 0
 * @magic: RTRS_MAGIC
 * @version: RTRS_PROTO_VERSION; only the major part is compared
 * @cid: number of this connection within its path, 0 .. @cid_num - 1
 * @cid_num: connections of the path, the service connection included
 * @recon_cnt: number of the attempt, the same for all connections of one attempt
 * @path_uuid: identity of the path, constant for its life
 * @sess_uuid: identity of the session, constant for its life
 * @flags: RTRS_CONN_*
 * @ext_version: RTRS_EXT_VERSION, 0 from a client without extensions
 * @ext_features: RTRS_EXT_* that the client offers
 * @chunks: extension CREDITS, how many chunks the path needs from the start; else 0
 * @reserved: 0
 */
struct rtrs_msg_conn_req {
	__u8	cma_version;
	__u8	ip_version;
	__le16	magic;
	__le16	version;
	__le16	cid;
	__le16	cid_num;
	__le16	recon_cnt;
	__u8	path_uuid[RTRS_UUID_LEN];
	__u8	sess_uuid[RTRS_UUID_LEN];
	__u8	flags;
	__u8	ext_version;
	__le16	ext_features;
	__le32	chunks;
	__u8	reserved[4];
};

/**
 * struct rtrs_msg_conn_rsp - CM private data of accept and reject, 56 bytes
 * @magic: RTRS_MAGIC
 * @version: RTRS_PROTO_VERSION
 * @error: 0 on accept, negative errno as 16-bit two's complement on reject
 * @queue_depth: slots of the session
 * @max_io_size: bytes of data one slot takes
 * @max_hdr_size: bytes of user message and RTRS header one slot takes
 * @flags: RTRS_CONN_RSP_*
 * @ext_version: RTRS_EXT_VERSION, 0 from a server without extensions
 * @ext_pad: 0
 * @ext_features: RTRS_EXT_* that both offer
 * @path_id: number of the path at this port of the server, 28 bits, used again only when all others were
 * @reserved: 0
 */
struct rtrs_msg_conn_rsp {
	__le16	magic;
	__le16	version;
	__le16	error;
	__le16	queue_depth;
	__le32	max_io_size;
	__le32	max_hdr_size;
	__le32	flags;
	__u8	ext_version;
	__u8	ext_pad;
	__le16	ext_features;
	__le32	path_id;
	__u8	reserved[28];
};

/**
 * struct rtrs_msg_info_req - first message on the service connection, 272 bytes
 * @type: RTRS_MSG_INFO_REQ
 * @name: session name, NUL terminated, zero padded
 * @reserved: 0
 * @table_rkey: extension CREDITS, key of the client's table of RTRS_CHUNK_TABLE_DESCS descriptors; else 0
 * @table_addr: its address
 */
struct rtrs_msg_info_req {
	__le16	type;
	__u8	name[RTRS_NAME_LEN];
	__u8	reserved[3];
	__le32	table_rkey;
	__le64	table_addr;
};

/**
 * struct rtrs_sg_desc - remote memory, 16 bytes
 * @addr: I/O virtual address
 * @rkey: key that opens it
 * @len: bytes
 */
struct rtrs_sg_desc {
	__le64	addr;
	__le32	rkey;
	__le32	len;
};

/**
 * struct rtrs_msg_info_rsp - answer to struct rtrs_msg_info_req, 8 bytes + 16 for each descriptor
 * @type: RTRS_MSG_INFO_RSP
 * @sg_cnt: number of descriptors
 * @session: extension SESSION, number of the session at the server; else 0
 * @desc: the server's memory; concatenated and cut into chunks it gives chunk 0 .. queue_depth - 1, or with extension
 *	CREDITS the first of them
 */
struct rtrs_msg_info_rsp {
	__le16	type;
	__le16	sg_cnt;
	__le32	session;
	struct rtrs_sg_desc desc[];
};

/**
 * struct rtrs_msg_write - header of a WRITE request, 4 bytes
 * @type: RTRS_MSG_WRITE
 * @usr_len: bytes of the user message right before this header
 */
struct rtrs_msg_write {
	__le16	type;
	__le16	usr_len;
};

/**
 * struct rtrs_msg_read - header of a READ request, 8 bytes + 16 if @sg_cnt is 1
 * @type: RTRS_MSG_READ
 * @usr_len: bytes of the user message right before this header
 * @flags: RTRS_READ_*
 * @sg_cnt: 0 or 1
 * @desc: client memory that takes the result
 */
struct rtrs_msg_read {
	__le16	type;
	__le16	usr_len;
	__le16	flags;
	__le16	sg_cnt;
	struct rtrs_sg_desc desc[];
};

/**
 * struct rtrs_msg_rkey_rsp - carried by each I/O completion of a server with NEW_RKEY, 8 bytes
 * @type: RTRS_MSG_RKEY_RSP
 * @buf_id: the slot
 * @rkey: key of the slot's chunk from now on
 */
struct rtrs_msg_rkey_rsp {
	__le16	type;
	__le16	buf_id;
	__le32	rkey;
};

/**
 * struct rtrs_msg_req_entry - one request of a list, 8 bytes
 * @slot: the request's slot
 * @usr_len: bytes of its user message, as in its header
 * @off: where its header would be in the slot's chunk, as in an immediate of type RTRS_IMM_IO_REQ
 */
struct rtrs_msg_req_entry {
	__le16	slot;
	__le16	usr_len;
	__le32	off;
};

/**
 * struct rtrs_msg_req_list - several READ requests, 8 bytes + 8 for each
 * @type: RTRS_MSG_REQ_LIST
 * @nr: number of requests, 1 to RTRS_REQ_LIST_MAX
 * @len: bytes of the whole list, at most RTRS_REQ_LIST_MAX_BYTES
 * @entry: the requests; behind the last one of them come, in this order and with nothing in between, user message
 *	and header of each
 */
struct rtrs_msg_req_list {
	__le16	type;
	__le16	nr;
	__le32	len;
	struct rtrs_msg_req_entry entry[];
};

static_assert(sizeof(struct rtrs_msg_conn_req) == 56);
static_assert(offsetof(struct rtrs_msg_conn_req, magic) == 2);
static_assert(offsetof(struct rtrs_msg_conn_req, cid) == 6);
static_assert(offsetof(struct rtrs_msg_conn_req, recon_cnt) == 10);
static_assert(offsetof(struct rtrs_msg_conn_req, path_uuid) == 12);
static_assert(offsetof(struct rtrs_msg_conn_req, sess_uuid) == 28);
static_assert(offsetof(struct rtrs_msg_conn_req, flags) == 44);
static_assert(offsetof(struct rtrs_msg_conn_req, chunks) == 48);
static_assert(sizeof(struct rtrs_msg_conn_rsp) == 56);
static_assert(offsetof(struct rtrs_msg_conn_rsp, queue_depth) == 6);
static_assert(offsetof(struct rtrs_msg_conn_rsp, max_io_size) == 8);
static_assert(offsetof(struct rtrs_msg_conn_rsp, flags) == 16);
static_assert(sizeof(struct rtrs_msg_info_req) == 272);
static_assert(offsetof(struct rtrs_msg_info_req, name) == 2);
static_assert(offsetof(struct rtrs_msg_info_req, table_rkey) == 260);
static_assert(offsetof(struct rtrs_msg_info_req, table_addr) == 264);
static_assert(sizeof(struct rtrs_sg_desc) == 16);
static_assert(offsetof(struct rtrs_sg_desc, rkey) == 8);
static_assert(sizeof(struct rtrs_msg_info_rsp) == 8);
static_assert(sizeof(struct rtrs_msg_write) == 4);
static_assert(sizeof(struct rtrs_msg_read) == 8);
static_assert(sizeof(struct rtrs_msg_rkey_rsp) == 8);
static_assert(offsetof(struct rtrs_msg_rkey_rsp, rkey) == 4);
static_assert(sizeof(struct rtrs_msg_req_entry) == 8);
static_assert(offsetof(struct rtrs_msg_req_entry, off) == 4);
static_assert(sizeof(struct rtrs_msg_req_list) == 8);
static_assert(offsetof(struct rtrs_msg_req_list, len) == 4);

#endif /* _RTRS_FORMAT_H */
