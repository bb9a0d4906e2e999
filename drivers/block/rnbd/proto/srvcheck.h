/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every rule the server applies to what a client sends, and the answers it builds.  Nothing here
 * touches a device: messages and limits in, verdicts out.
 */
#ifndef _RNBD_SRVCHECK_H
#define _RNBD_SRVCHECK_H

#include "proto_env.h"
#include <rnbd/rnbd_format.h>

/* Shortest I/O message: every field up to bi_size.  Older clients end there. */
#define RNBD_SRV_MIN_IO_BYTES	24

/* Replaced in the search path by the name of the session. */
#define RNBD_SRV_SESS_TOKEN	"%SESSNAME%"

/**
 * enum rnbd_srv_verdict - what a rule says to a message
 * @RNBD_SRV_OK: allowed
 * @RNBD_SRV_BAD_LENGTH: user message shorter than its type demands
 * @RNBD_SRV_BAD_TYPE: message type not known, or one that only servers send
 * @RNBD_SRV_NO_ROOM: data area too small for the response
 * @RNBD_SRV_BAD_MODE: unknown access mode
 * @RNBD_SRV_BAD_NAME: device name empty, not terminated or with ".." in it
 * @RNBD_SRV_LONG_NAME: search path and device name do not fit PATH_MAX
 * @RNBD_SRV_WRITER_EXISTS: the access mode does not go with the writers the device has
 * @RNBD_SRV_MORE_RIGHTS: open again under the same name with more rights
 * @RNBD_SRV_TOO_MANY: the session has its fill of open devices
 * @RNBD_SRV_NOT_EXPORTED: there is an export list, and the name is not on it
 * @RNBD_SRV_NOT_CLIENT: exported, but not to this client
 * @RNBD_SRV_EXPORT_RO: exported for reading only
 * @RNBD_SRV_EXPORT_RW: exported for one writer, no migration
 * @RNBD_SRV_NO_BACKEND: not a rule but an error of opening the device of an export, whose errno goes out
 * @RNBD_SRV_CANNOT_OPEN: not a rule but an error of opening the block device, whose errno goes out
 * @RNBD_SRV_BIG_BLOCKS: logical blocks of the device do not fit the protocol
 * @RNBD_SRV_NO_DEVICE: device id not open, or closed by force
 * @RNBD_SRV_BAD_OP: unknown operation
 * @RNBD_SRV_BAD_DATA: data length does not go with operation and byte count
 * @RNBD_SRV_BAD_DIR: a read with a payload, or a write without
 * @RNBD_SRV_BAD_ALIGN: range is not made of whole logical blocks, or is empty
 * @RNBD_SRV_OUT_OF_RANGE: range ends behind the device
 * @RNBD_SRV_READ_ONLY: modifies a device opened read-only, or one that is read-only here
 * @RNBD_SRV_UNSUPPORTED: the device cannot do the operation
 * @RNBD_SRV_SYSTEM: not a rule but another error of the system, whose errno goes out
 * @RNBD_SRV_VERDICT__NR: number of verdicts
 */
enum rnbd_srv_verdict {
	RNBD_SRV_OK,
	RNBD_SRV_BAD_LENGTH,
	RNBD_SRV_BAD_TYPE,
	RNBD_SRV_NO_ROOM,
	RNBD_SRV_BAD_MODE,
	RNBD_SRV_BAD_NAME,
	RNBD_SRV_LONG_NAME,
	RNBD_SRV_WRITER_EXISTS,
	RNBD_SRV_MORE_RIGHTS,
	RNBD_SRV_TOO_MANY,
	RNBD_SRV_NOT_EXPORTED,
	RNBD_SRV_NOT_CLIENT,
	RNBD_SRV_EXPORT_RO,
	RNBD_SRV_EXPORT_RW,
	RNBD_SRV_NO_BACKEND,
	RNBD_SRV_CANNOT_OPEN,
	RNBD_SRV_BIG_BLOCKS,
	RNBD_SRV_NO_DEVICE,
	RNBD_SRV_BAD_OP,
	RNBD_SRV_BAD_DATA,
	RNBD_SRV_BAD_DIR,
	RNBD_SRV_BAD_ALIGN,
	RNBD_SRV_OUT_OF_RANGE,
	RNBD_SRV_READ_ONLY,
	RNBD_SRV_UNSUPPORTED,
	RNBD_SRV_SYSTEM,
	RNBD_SRV_VERDICT__NR
};

/**
 * struct rnbd_srv_io_req - an I/O message in CPU order
 * @sector: first sector of 512 bytes; 0 if the operation has no range
 * @device_id: which open device
 * @bytes: bytes affected
 * @prio: I/O priority, 0 = none given
 * @op: enum rnbd_io_op
 * @sync: somebody waits for it
 * @fua: durable before it completes; set for writes only
 * @preflush: what completed before is durable before it begins; set for writes only
 * @nounmap: blocks stay allocated; set for write zeroes only
 */
struct rnbd_srv_io_req {
	u64 sector;
	u32 device_id;
	u32 bytes;
	u16 prio;
	u8 op;
	bool sync;
	bool fua;
	bool preflush;
	bool nounmap;
};

/**
 * struct rnbd_srv_io_rules - what an open device allows
 * @nsectors: size in sectors of 512 bytes
 * @logical_block_size: bytes, a power of two of at least 512
 * @ops: bit per enum rnbd_io_op the device can do
 * @writable: may be written
 */
struct rnbd_srv_io_rules {
	u64 nsectors;
	u32 logical_block_size;
	u8 ops;
	bool writable;
};

/**
 * struct rnbd_srv_open_req - an OPEN message, checked
 * @access_mode: enum rnbd_access_mode
 * @name: device name, terminated
 */
struct rnbd_srv_open_req {
	u8 access_mode;
	char name[RNBD_NAME_LEN];
};

/**
 * struct rnbd_srv_limits - a block device as its queue describes it
 * @nsectors: size in sectors of 512 bytes
 * @max_hw_sectors: sectors per request
 * @max_write_zeroes_sectors: sectors, 0 = not supported
 * @max_discard_sectors: sectors, 0 = not supported
 * @max_secure_erase_sectors: sectors, 0 = not supported
 * @discard_granularity: bytes
 * @discard_alignment: bytes, or a number above INT_MAX if the device cannot say
 * @physical_block_size: bytes
 * @logical_block_size: bytes
 * @max_segments: segments per request
 * @write_cache: has a volatile write cache
 * @fua: can write through it
 */
struct rnbd_srv_limits {
	u64 nsectors;
	u32 max_hw_sectors;
	u32 max_write_zeroes_sectors;
	u32 max_discard_sectors;
	u32 max_secure_erase_sectors;
	u32 discard_granularity;
	u32 discard_alignment;
	u32 physical_block_size;
	u32 logical_block_size;
	u32 max_segments;
	bool write_cache;
	bool fua;
};

int rnbd_srv_verdict_errno(enum rnbd_srv_verdict verdict);
const char *rnbd_srv_verdict_name(enum rnbd_srv_verdict verdict);
const char *rnbd_srv_verdict_text(enum rnbd_srv_verdict verdict);

int rnbd_srv_msg_type(const void *usr, size_t usr_len);
enum rnbd_srv_verdict rnbd_srv_get_sess_info(const void *usr, size_t usr_len, size_t data_len,
					     u8 *ver);
enum rnbd_srv_verdict rnbd_srv_get_open(const void *usr, size_t usr_len, size_t data_len,
					struct rnbd_srv_open_req *req);
enum rnbd_srv_verdict rnbd_srv_get_close(const void *usr, size_t usr_len, u32 *device_id);
enum rnbd_srv_verdict rnbd_srv_get_io(const void *usr, size_t usr_len, size_t data_len,
				      bool payload, u8 ver, struct rnbd_srv_io_req *req);

enum rnbd_srv_verdict rnbd_srv_check_io(const struct rnbd_srv_io_req *req,
					const struct rnbd_srv_io_rules *rules);
bool rnbd_srv_ranges_conflict(u64 sector, u32 bytes, u64 other_sector, u32 other_bytes);
enum rnbd_srv_verdict rnbd_srv_check_access(u8 access_mode, unsigned int nr_writers);
enum rnbd_srv_verdict rnbd_srv_check_offer(u8 offered_mode, u8 access_mode);
enum rnbd_srv_verdict rnbd_srv_check_reopen(u8 open_mode, u8 access_mode);
enum rnbd_srv_verdict rnbd_srv_check_limits(const struct rnbd_srv_limits *lim);
u8 rnbd_srv_limits_ops(const struct rnbd_srv_limits *lim);

int rnbd_srv_search_path(char *path, size_t size, const char *val);
enum rnbd_srv_verdict rnbd_srv_export_path(char *path, size_t size, const char *search_path,
					   const char *sessname, const char *name);

void rnbd_srv_put_sess_info_rsp(void *data, u8 ver);
void rnbd_srv_put_open_rsp(void *data, u32 device_id, const struct rnbd_srv_limits *lim);

#endif /* _RNBD_SRVCHECK_H */
