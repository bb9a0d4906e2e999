/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Client side of the protocol, without devices: build messages, turn what a server answers into limits that
 * the block layer can take as they are.
 */
#ifndef _RNBD_NEGOTIATE_H
#define _RNBD_NEGOTIATE_H

#include "proto_env.h"
#include <rnbd/rnbd_format.h>

/**
 * struct rnbd_transport_limits - what a session can carry in one request
 * @max_io_bytes: bytes of data
 * @max_segments: entries of the scatter/gather list
 * @page_bytes: page size; the block layer wants requests of at least, and blocks of at most, a page
 */
struct rnbd_transport_limits {
	u32 max_io_bytes;
	u32 max_segments;
	u32 page_bytes;
};

/**
 * struct rnbd_dev_limits - an open device, checked, in CPU order
 * @nsectors: size in sectors of 512 bytes
 * @device_id: handle for I/O and close
 * @logical_block_bytes: a power of two from 512 to a page
 * @physical_block_bytes: a power of two, not below @logical_block_bytes
 * @max_hw_sectors: largest read or write, sectors, whole logical blocks
 * @max_segments: entries of the scatter/gather list of a read or write
 * @max_discard_sectors: largest discard, sectors, 0 = not supported
 * @discard_granularity: bytes, 0 if there is no discard
 * @discard_alignment: bytes, 0 if there is no discard
 * @max_secure_erase_sectors: largest secure erase, sectors, 0 = not supported
 * @max_write_zeroes_sectors: largest write zeroes, sectors, 0 = not supported
 * @write_cache: writes need a flush to be durable
 * @fua: single writes can be made durable; only together with @write_cache
 */
struct rnbd_dev_limits {
	u64 nsectors;
	u32 device_id;
	u32 logical_block_bytes;
	u32 physical_block_bytes;
	u32 max_hw_sectors;
	u16 max_segments;
	u32 max_discard_sectors;
	u32 discard_granularity;
	u32 discard_alignment;
	u32 max_secure_erase_sectors;
	u32 max_write_zeroes_sectors;
	bool write_cache;
	bool fua;
};

/**
 * struct rnbd_io_desc - one block request in the terms of the protocol
 * @sector: first sector of 512 bytes
 * @device_id: which open device
 * @bytes: bytes affected
 * @op: operation
 * @sync: somebody waits for it
 * @durable: carries FUA, or asks for a flush
 * @nounmap: blocks stay allocated; counts with write zeroes only
 * @prio: I/O priority
 */
struct rnbd_io_desc {
	u64 sector;
	u32 device_id;
	u32 bytes;
	enum rnbd_io_op op;
	bool sync;
	bool durable;
	bool nounmap;
	u16 prio;
};

void rnbd_put_sess_info(struct rnbd_msg_sess_info *msg);
void rnbd_put_open(struct rnbd_msg_open *msg, const char *dev_name, enum rnbd_access_mode mode);
void rnbd_put_close(struct rnbd_msg_close *msg, u32 device_id);
void rnbd_put_io(struct rnbd_msg_io *msg, const struct rnbd_io_desc *io);

int rnbd_get_sess_info_rsp(const struct rnbd_msg_sess_info *rsp, u8 *ver);
int rnbd_get_open_rsp(const struct rnbd_msg_open_rsp *rsp,
		      const struct rnbd_transport_limits *transport,
		      struct rnbd_dev_limits *limits, const char **why);
const char *rnbd_limits_changed(const struct rnbd_dev_limits *old, u64 old_sectors,
				const struct rnbd_dev_limits *limits);

#endif /* _RNBD_NEGOTIATE_H */
