/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RNBD wire format, protocol major 2.  An RNBD message is the user message of an RTRS request; a
 * response travels as the data of an RTRS READ.  All fields are little endian, sectors are 512 bytes.
 */
#ifndef _RNBD_FORMAT_H
#define _RNBD_FORMAT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define RNBD_PROTO_MAJOR	2
#define RNBD_DEFAULT_PORT	1234
#define RNBD_NAME_LEN		255
/* Longest text of an identity, with NUL.  Not of protocol 2.0. */
#define RNBD_IDENTITY_LEN	128

/**
 * enum rnbd_msg_type - type word of every message
 * @RNBD_MSG_SESS_INFO: client to server, struct rnbd_msg_sess_info
 * @RNBD_MSG_SESS_INFO_RSP: answer, same structure
 * @RNBD_MSG_OPEN: open a device, struct rnbd_msg_open
 * @RNBD_MSG_OPEN_RSP: answer, struct rnbd_msg_open_rsp
 * @RNBD_MSG_IO: one block request, struct rnbd_msg_io
 * @RNBD_MSG_CLOSE: close a device, struct rnbd_msg_close
 */
enum rnbd_msg_type {
	RNBD_MSG_SESS_INFO	= 0,
	RNBD_MSG_SESS_INFO_RSP	= 1,
	RNBD_MSG_OPEN		= 2,
	RNBD_MSG_OPEN_RSP	= 3,
	RNBD_MSG_IO		= 4,
	RNBD_MSG_CLOSE		= 5,
};

/**
 * enum rnbd_access_mode - how a client opens a device; values travel
 * @RNBD_ACCESS_RO: read only, any number of clients
 * @RNBD_ACCESS_RW: the only writer
 * @RNBD_ACCESS_MIGRATION: up to two writers, for live migration
 * @RNBD_ACCESS__NR: number of modes
 */
enum rnbd_access_mode {
	RNBD_ACCESS_RO		= 0,
	RNBD_ACCESS_RW		= 1,
	RNBD_ACCESS_MIGRATION	= 2,
	RNBD_ACCESS__NR
};

/**
 * enum rnbd_io_op - operation in bits 7..0 of struct rnbd_msg_io.rw
 * @RNBD_OP_READ: read @bi_size bytes
 * @RNBD_OP_WRITE: write @bi_size bytes
 * @RNBD_OP_FLUSH: make completed writes durable, no range
 * @RNBD_OP_DISCARD: contents no longer needed
 * @RNBD_OP_SECURE_ERASE: as discard, copies too
 * @RNBD_OP_WRITE_ZEROES: range reads as zeroes afterwards
 * @RNBD_OP__NR: number of operations
 */
enum rnbd_io_op {
	RNBD_OP_READ		= 0,
	RNBD_OP_WRITE		= 1,
	RNBD_OP_FLUSH		= 2,
	RNBD_OP_DISCARD		= 3,
	RNBD_OP_SECURE_ERASE	= 4,
	RNBD_OP_WRITE_ZEROES	= 5,
	RNBD_OP__NR
};

#define RNBD_OP_MASK		0x000000ff
#define RNBD_F_SYNC		0x00000100
#define RNBD_F_FUA		0x00000200
#define RNBD_F_PREFLUSH		0x00000400
#define RNBD_F_NOUNMAP		0x00000800

/* Bits of rnbd_msg_open_rsp.cache_policy. */
#define RNBD_CACHE_FUA		0x01
#define RNBD_CACHE_WRITEBACK	0x02

/**
 * struct rnbd_msg_hdr - start of every message
 * @type: enum rnbd_msg_type
 * @padding: 0, ignored
 */
struct rnbd_msg_hdr {
	__le16 type;
	__le16 padding;
};

/**
 * struct rnbd_msg_sess_info - version exchange, request and response, 36 bytes
 * @hdr: header
 * @ver: protocol major version
 * @reserved: 0
 */
struct rnbd_msg_sess_info {
	struct rnbd_msg_hdr hdr;
	__u8 ver;
	__u8 reserved[31];
};

/**
 * struct rnbd_msg_open - open a device, 264 bytes
 * @hdr: header
 * @access_mode: enum rnbd_access_mode
 * @reserved1: 0
 * @dev_name: name below the server's search path, NUL terminated
 * @reserved2: 0
 */
struct rnbd_msg_open {
	struct rnbd_msg_hdr hdr;
	__u8 access_mode;
	__u8 reserved1;
	__u8 dev_name[RNBD_NAME_LEN];
	__u8 reserved2[3];
};

/**
 * struct rnbd_msg_open_rsp - what was opened, 56 bytes
 * @hdr: header
 * @device_id: handle for I/O and close
 * @nsectors: size in sectors
 * @max_hw_sectors: sectors
 * @max_write_zeroes_sectors: sectors, 0 = not supported
 * @max_discard_sectors: sectors, 0 = not supported
 * @discard_granularity: bytes
 * @discard_alignment: bytes
 * @physical_block_size: bytes
 * @logical_block_size: bytes
 * @max_segments: of the server's device
 * @secure_discard: non-zero = secure erase supported
 * @obsolete_rotational: 0
 * @cache_policy: RNBD_CACHE_*
 * @reserved: 0
 */
struct rnbd_msg_open_rsp {
	struct rnbd_msg_hdr hdr;
	__le32 device_id;
	__le64 nsectors;
	__le32 max_hw_sectors;
	__le32 max_write_zeroes_sectors;
	__le32 max_discard_sectors;
	__le32 discard_granularity;
	__le32 discard_alignment;
	__le16 physical_block_size;
	__le16 logical_block_size;
	__le16 max_segments;
	__le16 secure_discard;
	__u8 obsolete_rotational;
	__u8 cache_policy;
	__u8 reserved[10];
};

/**
 * struct rnbd_msg_open_rsp_id - what was opened, and which disk it is, 336 bytes (extension IDENTITY)
 * @rsp: as of protocol 2.0
 * @run: number of the server's run, 0: the server does not tell which disk it is
 * @disk: number of the disk in that run, not 0
 * @partition: number of the partition, 0: the whole disk
 * @reserved: 0
 * @given: identity that the server's administrator gave, NUL terminated; empty: none
 * @own: identity that the disk has, NUL terminated; empty: none
 */
struct rnbd_msg_open_rsp_id {
	struct rnbd_msg_open_rsp rsp;
	__le64 run;
	__le64 disk;
	__le32 partition;
	__u8 reserved[4];
	__u8 given[RNBD_IDENTITY_LEN];
	__u8 own[RNBD_IDENTITY_LEN];
};

/**
 * struct rnbd_msg_io - one block request, 32 bytes
 * @hdr: header
 * @device_id: handle from struct rnbd_msg_open_rsp
 * @sector: first sector
 * @rw: enum rnbd_io_op and RNBD_F_*
 * @bi_size: bytes affected
 * @prio: I/O priority, version 2 and longer messages only
 * @padding: 0
 */
struct rnbd_msg_io {
	struct rnbd_msg_hdr hdr;
	__le32 device_id;
	__le64 sector;
	__le32 rw;
	__le32 bi_size;
	__le16 prio;
	__u8 padding[6];
};

/**
 * struct rnbd_msg_close - close a device, 8 bytes
 * @hdr: header
 * @device_id: handle from struct rnbd_msg_open_rsp
 */
struct rnbd_msg_close {
	struct rnbd_msg_hdr hdr;
	__le32 device_id;
};

static_assert(sizeof(struct rnbd_msg_sess_info) == 36);
static_assert(sizeof(struct rnbd_msg_open) == 264);
static_assert(offsetof(struct rnbd_msg_open, dev_name) == 6);
static_assert(sizeof(struct rnbd_msg_open_rsp) == 56);
static_assert(offsetof(struct rnbd_msg_open_rsp, nsectors) == 8);
static_assert(offsetof(struct rnbd_msg_open_rsp, physical_block_size) == 36);
static_assert(offsetof(struct rnbd_msg_open_rsp, cache_policy) == 45);
static_assert(sizeof(struct rnbd_msg_open_rsp_id) == 336);
static_assert(offsetof(struct rnbd_msg_open_rsp_id, run) == 56);
static_assert(offsetof(struct rnbd_msg_open_rsp_id, given) == 80);
static_assert(sizeof(struct rnbd_msg_io) == 32);
static_assert(offsetof(struct rnbd_msg_io, sector) == 8);
static_assert(offsetof(struct rnbd_msg_io, rw) == 16);
static_assert(offsetof(struct rnbd_msg_io, prio) == 24);
static_assert(sizeof(struct rnbd_msg_close) == 8);

#endif /* _RNBD_FORMAT_H */
