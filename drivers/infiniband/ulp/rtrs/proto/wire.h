/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encode, decode and check every message of the protocol.  Decoders take private memory: the caller
 * has copied what a peer can still write before it calls.
 */
#ifndef _RTRS_WIRE_H
#define _RTRS_WIRE_H

#include "proto_env.h"
#include <rtrs/rtrs_format.h>

/**
 * struct rtrs_conn_req - connection request in CPU order
 * @cid: number of the connection within its path
 * @cid_num: connections of the path
 * @recon_cnt: number of the attempt
 * @first_conn: the server may create the session
 * @features: extensions offered, RTRS_EXT_*
 * @chunks: chunks that the path needs from the start, with extension CREDITS only
 * @path_uuid: identity of the path
 * @sess_uuid: identity of the session
 */
struct rtrs_conn_req {
	u16 cid;
	u16 cid_num;
	u16 recon_cnt;
	bool first_conn;
	u16 features;
	u32 chunks;
	u8 path_uuid[RTRS_UUID_LEN];
	u8 sess_uuid[RTRS_UUID_LEN];
};

/**
 * struct rtrs_conn_rsp - connection response in CPU order
 * @error: 0, or negative errno of a reject
 * @queue_depth: slots of the session
 * @max_io_size: bytes of data per slot
 * @max_hdr_size: bytes of user message and header per slot
 * @new_rkey: each completion carries the slot's next rkey
 * @features: extensions taken up, RTRS_EXT_*
 * @path_id: number of the path, with extensions only
 */
struct rtrs_conn_rsp {
	int error;
	u32 queue_depth;
	u32 max_io_size;
	u32 max_hdr_size;
	bool new_rkey;
	u16 features;
	u32 path_id;
};

/**
 * struct rtrs_rbuf - one chunk of the server as the client sees it
 * @addr: I/O virtual address of the chunk
 * @rkey: key that opens it now
 */
struct rtrs_rbuf {
	u64 addr;
	u32 rkey;
};

/**
 * struct rtrs_io_hdr - header of a request in CPU order
 * @write: WRITE, else READ
 * @need_inval: READ: the client wants @rkey invalidated by SEND_WITH_INV
 * @has_desc: READ: @addr, @rkey and @len are given
 * @usr_len: bytes of user message, right before the header in the chunk
 * @data_len: bytes of data (WRITE) or room for data (READ), at the start of the chunk
 * @len: READ: bytes the client's memory takes, at most @data_len
 * @rkey: READ: key of the client's memory
 * @addr: READ: address of the client's memory
 */
struct rtrs_io_hdr {
	bool write;
	bool need_inval;
	bool has_desc;
	u32 usr_len;
	u32 data_len;
	u32 len;
	u32 rkey;
	u64 addr;
};

/* Largest RTRS header of a request: READ with one descriptor. */
#define RTRS_MAX_IO_HDR_BYTES	(sizeof(struct rtrs_msg_read) + sizeof(struct rtrs_sg_desc))

/**
 * rtrs_wire_io_len() - bytes that user message and header of a request take
 * @write: the request is a WRITE, else a READ
 * @has_desc: the header of a READ has a descriptor; no effect on a WRITE
 * @usr_len: bytes of the user message
 *
 * Protocol section 5.  Whoever compares a request with the room for it uses this function.
 *
 * Context: any.
 * Return: bytes, SIZE_MAX if the sum does not fit.
 */
static inline size_t rtrs_wire_io_len(bool write, bool has_desc, size_t usr_len)
{
	size_t hdr_len = write ? sizeof(struct rtrs_msg_write) : sizeof(struct rtrs_msg_read);

	if (!write && has_desc)
		hdr_len += sizeof(struct rtrs_sg_desc);
	return usr_len > SIZE_MAX - hdr_len ? SIZE_MAX : usr_len + hdr_len;
}

/**
 * struct rtrs_req_list - a list of requests that is being read
 * @entry: entry of the next request
 * @msg: its user message
 * @left: requests that are left
 * @avail: bytes at @msg
 */
struct rtrs_req_list {
	const u8 *entry;
	const u8 *msg;
	u32 left;
	size_t avail;
};

/**
 * struct rtrs_list_req - a request of a list
 * @slot: its slot; the caller checks it against its queue depth
 * @off: where its header would be in the slot's chunk; the caller checks it against its chunk size
 * @usr: its user message
 * @error: 0, or -EINVAL: the request is wrong, answer it with this
 * @hdr: its header, as rtrs_wire_get_io_hdr() leaves it
 */
struct rtrs_list_req {
	u32 slot;
	u32 off;
	const void *usr;
	int error;
	struct rtrs_io_hdr hdr;
};

bool rtrs_wire_name_valid(const char *name);

void rtrs_wire_put_conn_req(struct rtrs_msg_conn_req *msg, const struct rtrs_conn_req *req);
int rtrs_wire_get_conn_req(const void *buf, size_t len, struct rtrs_conn_req *req);
void rtrs_wire_put_conn_rsp(struct rtrs_msg_conn_rsp *msg, const struct rtrs_conn_rsp *rsp);
int rtrs_wire_get_conn_rsp(const void *buf, size_t len, struct rtrs_conn_rsp *rsp);
int rtrs_wire_get_reject(const void *buf, size_t len);

void rtrs_wire_put_info_req(struct rtrs_msg_info_req *msg, const char *name);
int rtrs_wire_get_info_req(const void *buf, size_t len, char name[RTRS_NAME_LEN]);
void rtrs_wire_put_info_table(struct rtrs_msg_info_req *msg, u64 addr, u32 rkey);
void rtrs_wire_get_info_table(const void *buf, u64 *addr, u32 *rkey);
size_t rtrs_wire_info_rsp_size(u32 sg_cnt);
void rtrs_wire_put_info_rsp(struct rtrs_msg_info_rsp *msg, u32 sg_cnt);
void rtrs_wire_put_desc(struct rtrs_sg_desc *desc, u64 addr, u32 rkey, u32 len);
int rtrs_wire_get_info_rsp(const void *buf, size_t len, u32 least, u32 most, u32 chunk_size,
			   struct rtrs_rbuf *rbufs);
int rtrs_wire_get_chunks(const struct rtrs_sg_desc *desc, u32 nr_descs, u32 nr, u32 chunk_size,
			 struct rtrs_rbuf *rbufs);

size_t rtrs_wire_put_write(void *hdr, u32 usr_len);
size_t rtrs_wire_put_read(void *hdr, u32 usr_len, bool need_inval, const struct rtrs_sg_desc *desc);
int rtrs_wire_get_io_hdr(const void *hdr, size_t avail, u32 off, struct rtrs_io_hdr *io);

size_t rtrs_list_table_bytes(u32 nr);
void rtrs_list_put(struct rtrs_msg_req_list *list, u32 nr, u32 len);
void rtrs_list_put_entry(struct rtrs_msg_req_list *list, u32 i, u32 slot, u32 usr_len, u32 off);
int rtrs_list_get_len(const void *buf, size_t avail, u32 *len);
int rtrs_list_get(const void *buf, size_t len, struct rtrs_req_list *list);
int rtrs_list_next(struct rtrs_req_list *list, struct rtrs_list_req *req);

void rtrs_wire_put_rkey_rsp(struct rtrs_msg_rkey_rsp *msg, u32 slot, u32 rkey);
int rtrs_wire_get_rkey_rsp(const void *buf, size_t len, u32 slot, u32 *rkey);

#endif /* _RTRS_WIRE_H */
