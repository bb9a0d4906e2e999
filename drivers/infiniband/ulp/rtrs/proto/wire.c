// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encode, decode and check the messages of the protocol.
 *
 * Ordering
 *	A decoder reads a field only after the length check that covers it, and writes its result only
 *	after the last check, unless its description says otherwise.
 *
 * Alignment
 *	CM private data, and headers inside a chunk, start at any byte.  Fixed parts are copied to a
 *	local structure and read there; nothing here dereferences a message pointer.
 *
 * Errors
 *	-ECONNRESET: connection establishment, the value the protocol rejects with.
 *	-EPROTO: the peer cannot be followed any longer, the caller closes the path.
 *	-EINVAL: the message is wrong, what that means depends on the message.
 */
#include "wire.h"

/*
 * Largest absolute errno a reject may carry.  The kernel's own, from 512 on, are not for user space, where this
 * one may end up: the kernel oopses on a write() that gives EIOCBQUEUED.
 */
#define RTRS_MAX_REJECT_ERRNO	511

/* What is known of @features, nothing if their version is 0. */
static u16 rtrs_wire_features(u8 version, __le16 features)
{
	return version ? le16_to_cpu(features) & RTRS_EXT_ALL : 0;
}

static bool rtrs_wire_version_ok(__le16 magic, __le16 version)
{
	return le16_to_cpu(magic) == RTRS_MAGIC &&
	       le16_to_cpu(version) >> 8 == RTRS_PROTO_MAJOR;
}

/**
 * rtrs_wire_name_valid() - may this be the name of a session
 * @name: NUL-terminated name
 *
 * The name becomes a directory in sysfs, hence no '/' and no '.' (protocol section 4).
 *
 * Context: any.
 * Return: true if @name has 1 to 254 characters, all of them allowed.
 */
bool rtrs_wire_name_valid(const char *name)
{
	size_t len = strnlen(name, RTRS_NAME_LEN);

	return len > 0 && len < RTRS_NAME_LEN &&
	       !memchr(name, '/', len) && !memchr(name, '.', len);
}
EXPORT_SYMBOL_GPL(rtrs_wire_name_valid);

/**
 * rtrs_wire_put_conn_req() - encode a connection request
 * @msg: message to fill, all of it
 * @req: what to say
 *
 * Protocol section 2.3.
 *
 * Context: any.
 */
void rtrs_wire_put_conn_req(struct rtrs_msg_conn_req *msg, const struct rtrs_conn_req *req)
{
	memset(msg, 0, sizeof(*msg));
	msg->magic = cpu_to_le16(RTRS_MAGIC);
	msg->version = cpu_to_le16(RTRS_PROTO_VERSION);
	msg->cid = cpu_to_le16(req->cid);
	msg->cid_num = cpu_to_le16(req->cid_num);
	msg->recon_cnt = cpu_to_le16(req->recon_cnt);
	memcpy(msg->path_uuid, req->path_uuid, sizeof(msg->path_uuid));
	memcpy(msg->sess_uuid, req->sess_uuid, sizeof(msg->sess_uuid));
	msg->flags = req->first_conn ? RTRS_CONN_FIRST : 0;
	if (req->features) {
		msg->ext_version = RTRS_EXT_VERSION;
		msg->ext_features = cpu_to_le16(req->features);
	}
	if (req->features & RTRS_EXT_CREDITS)
		msg->chunks = cpu_to_le32(req->chunks);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_conn_req);

/**
 * rtrs_wire_get_conn_req() - decode and check a connection request
 * @buf: private data of the CM request, any alignment
 * @len: bytes of @buf; the CM may deliver more than the message has
 * @req: filled on success
 *
 * Protocol sections 2.3 and 2.6, first row.  Flags that are not known, the reserved bytes and the
 * byte of the CM core are ignored.
 *
 * Context: any.
 * Return: 0, or -ECONNRESET, which is what to reject with.
 */
int rtrs_wire_get_conn_req(const void *buf, size_t len, struct rtrs_conn_req *req)
{
	struct rtrs_msg_conn_req msg;
	u16 cid, cid_num;

	if (len < sizeof(msg))
		return -ECONNRESET;
	memcpy(&msg, buf, sizeof(msg));
	if (msg.ip_version || !rtrs_wire_version_ok(msg.magic, msg.version))
		return -ECONNRESET;
	cid = le16_to_cpu(msg.cid);
	cid_num = le16_to_cpu(msg.cid_num);
	if (cid_num > RTRS_MAX_CONS || cid >= cid_num)
		return -ECONNRESET;

	req->cid = cid;
	req->cid_num = cid_num;
	req->recon_cnt = le16_to_cpu(msg.recon_cnt);
	req->first_conn = msg.flags & RTRS_CONN_FIRST;
	req->features = rtrs_wire_features(msg.ext_version, msg.ext_features);
	req->chunks = req->features & RTRS_EXT_CREDITS ? le32_to_cpu(msg.chunks) : 0;
	memcpy(req->path_uuid, msg.path_uuid, sizeof(req->path_uuid));
	memcpy(req->sess_uuid, msg.sess_uuid, sizeof(req->sess_uuid));
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_conn_req);

/**
 * rtrs_wire_put_conn_rsp() - encode the answer to a connection request
 * @msg: message to fill, all of it
 * @rsp: what to say; with an error the other fields are not sent
 *
 * Protocol section 2.4.  For a reject @rsp->error is negative, for an accept 0.
 *
 * Context: any.
 */
void rtrs_wire_put_conn_rsp(struct rtrs_msg_conn_rsp *msg, const struct rtrs_conn_rsp *rsp)
{
	memset(msg, 0, sizeof(*msg));
	msg->magic = cpu_to_le16(RTRS_MAGIC);
	msg->version = cpu_to_le16(RTRS_PROTO_VERSION);
	if (rsp->error) {
		msg->error = cpu_to_le16((u16)rsp->error);
		return;
	}
	msg->queue_depth = cpu_to_le16((u16)rsp->queue_depth);
	msg->max_io_size = cpu_to_le32(rsp->max_io_size);
	msg->max_hdr_size = cpu_to_le32(rsp->max_hdr_size);
	msg->flags = cpu_to_le32(rsp->new_rkey ? RTRS_CONN_RSP_NEW_RKEY : 0);
	if (rsp->features) {
		msg->ext_version = RTRS_EXT_VERSION;
		msg->ext_features = cpu_to_le16(rsp->features);
		msg->path_id = cpu_to_le32(rsp->path_id);
	}
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_conn_rsp);

/**
 * rtrs_wire_get_conn_rsp() - decode and check an accept
 * @buf: private data of the CM reply, any alignment
 * @len: bytes of @buf; the CM may deliver more than the message has
 * @rsp: filled on success; the sizes still have to pass rtrs_geometry_check_rsp()
 *
 * Protocol section 2.4, Documentation/protocol/extensions.rst.
 *
 * Context: any.
 * Return: 0, or -ECONNRESET: malformed, or an accept that carries an error.
 */
int rtrs_wire_get_conn_rsp(const void *buf, size_t len, struct rtrs_conn_rsp *rsp)
{
	struct rtrs_msg_conn_rsp msg;

	if (len < sizeof(msg))
		return -ECONNRESET;
	memcpy(&msg, buf, sizeof(msg));
	if (!rtrs_wire_version_ok(msg.magic, msg.version) || msg.error)
		return -ECONNRESET;

	rsp->error = 0;
	rsp->queue_depth = le16_to_cpu(msg.queue_depth);
	rsp->max_io_size = le32_to_cpu(msg.max_io_size);
	rsp->max_hdr_size = le32_to_cpu(msg.max_hdr_size);
	rsp->new_rkey = le32_to_cpu(msg.flags) & RTRS_CONN_RSP_NEW_RKEY;
	rsp->features = rtrs_wire_features(msg.ext_version, msg.ext_features);
	rsp->path_id = rsp->features ? le32_to_cpu(msg.path_id) : 0;
	if (rsp->path_id >> RTRS_IMM_PAYLOAD_BITS)
		return -ECONNRESET;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_conn_rsp);

/**
 * rtrs_wire_get_reject() - errno of a reject
 * @buf: private data of the CM reject, any alignment; may be NULL if @len is 0
 * @len: bytes of @buf
 *
 * Protocol sections 2.4 and 2.6.
 *
 * Context: any.
 * Return: always a negative errno: the one the server sent, or -ECONNRESET if it sent none that
 * makes sense.
 */
int rtrs_wire_get_reject(const void *buf, size_t len)
{
	struct rtrs_msg_conn_rsp msg;
	s16 err;

	if (len < sizeof(msg))
		return -ECONNRESET;
	memcpy(&msg, buf, sizeof(msg));
	if (!rtrs_wire_version_ok(msg.magic, msg.version))
		return -ECONNRESET;
	err = (s16)le16_to_cpu(msg.error);
	if (err >= 0 || err < -RTRS_MAX_REJECT_ERRNO)
		return -ECONNRESET;
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_reject);

/**
 * rtrs_wire_put_info_req() - encode the first message of a path
 * @msg: message to fill, all of it
 * @name: name of the session, one that rtrs_wire_name_valid() accepts
 *
 * Protocol section 4.
 *
 * Context: any.
 */
void rtrs_wire_put_info_req(struct rtrs_msg_info_req *msg, const char *name)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = cpu_to_le16(RTRS_MSG_INFO_REQ);
	memcpy(msg->name, name, strnlen(name, sizeof(msg->name) - 1));
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_info_req);

/**
 * rtrs_wire_get_info_req() - decode and check the first message of a path
 * @buf: the message, any alignment
 * @len: bytes of @buf
 * @name: gets the session name with its NUL, on success only
 *
 * Protocol section 4.
 *
 * Context: any.
 * Return: 0, or -EINVAL: the caller closes the path without an answer.
 */
int rtrs_wire_get_info_req(const void *buf, size_t len, char name[RTRS_NAME_LEN])
{
	const char *sent = (const char *)buf + offsetof(struct rtrs_msg_info_req, name);
	__le16 type;

	if (len < sizeof(struct rtrs_msg_info_req))
		return -EINVAL;
	memcpy(&type, buf, sizeof(type));
	if (le16_to_cpu(type) != RTRS_MSG_INFO_REQ)
		return -EINVAL;
	if (!rtrs_wire_name_valid(sent))
		return -EINVAL;
	memcpy(name, sent, strnlen(sent, RTRS_NAME_LEN) + 1);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_info_req);

/**
 * rtrs_wire_put_info_table() - tell where descriptors of chunks are to be written to
 * @msg: message that rtrs_wire_put_info_req() has filled
 * @addr: address of the client's table
 * @rkey: its key
 *
 * Extension CREDITS.
 *
 * Context: any.
 */
void rtrs_wire_put_info_table(struct rtrs_msg_info_req *msg, u64 addr, u32 rkey)
{
	msg->table_addr = cpu_to_le64(addr);
	msg->table_rkey = cpu_to_le32(rkey);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_info_table);

/**
 * rtrs_wire_get_info_table() - where the client wants descriptors of chunks
 * @buf: message that rtrs_wire_get_info_req() has found good, any alignment
 * @addr: address of the client's table, as the client says
 * @rkey: its key, likewise
 *
 * Extension CREDITS.
 *
 * Context: any.
 */
void rtrs_wire_get_info_table(const void *buf, u64 *addr, u32 *rkey)
{
	struct rtrs_msg_info_req msg;

	memcpy(&msg, buf, sizeof(msg));
	*addr = le64_to_cpu(msg.table_addr);
	*rkey = le32_to_cpu(msg.table_rkey);
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_info_table);

/**
 * rtrs_wire_info_rsp_size() - size of the answer to INFO_REQ
 * @sg_cnt: number of descriptors, at most RTRS_MAX_QUEUE_DEPTH
 *
 * Protocol section 4.
 *
 * Context: any.
 * Return: bytes.
 */
size_t rtrs_wire_info_rsp_size(u32 sg_cnt)
{
	return sizeof(struct rtrs_msg_info_rsp) + (size_t)sg_cnt * sizeof(struct rtrs_sg_desc);
}
EXPORT_SYMBOL_GPL(rtrs_wire_info_rsp_size);

/**
 * rtrs_wire_put_info_rsp() - encode the answer to INFO_REQ, without its descriptors
 * @msg: message to fill up to its descriptors, which the caller puts with rtrs_wire_put_desc()
 * @sg_cnt: number of descriptors, 1 .. RTRS_MAX_QUEUE_DEPTH
 *
 * Protocol section 4.
 *
 * Context: any.
 */
void rtrs_wire_put_info_rsp(struct rtrs_msg_info_rsp *msg, u32 sg_cnt)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = cpu_to_le16(RTRS_MSG_INFO_RSP);
	msg->sg_cnt = cpu_to_le16((u16)sg_cnt);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_info_rsp);

/**
 * rtrs_wire_put_desc() - encode a descriptor of remote memory
 * @desc: descriptor to fill
 * @addr: I/O virtual address
 * @rkey: key that opens it
 * @len: bytes
 *
 * Protocol section 4.
 *
 * Context: any.
 */
void rtrs_wire_put_desc(struct rtrs_sg_desc *desc, u64 addr, u32 rkey, u32 len)
{
	desc->addr = cpu_to_le64(addr);
	desc->rkey = cpu_to_le32(rkey);
	desc->len = cpu_to_le32(len);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_desc);

/*
 * Cut one descriptor into chunks.  Returns how many there are, 0 if the descriptor is wrong or has
 * more than the caller still takes.
 */
static u32 rtrs_wire_cut_desc(const struct rtrs_sg_desc *desc, u32 chunk_size,
			      struct rtrs_rbuf *rbufs, u32 room)
{
	u64 addr = le64_to_cpu(desc->addr);
	u32 len = le32_to_cpu(desc->len);
	u32 nr = len / chunk_size;
	u32 i;

	if (len % chunk_size || nr > room || addr + len < addr)
		return 0;
	for (i = 0; i < nr; i++) {
		rbufs[i].addr = addr + i * chunk_size;
		rbufs[i].rkey = le32_to_cpu(desc->rkey);
	}
	return nr;
}

/**
 * rtrs_wire_get_info_rsp() - decode and check the answer to INFO_REQ
 * @buf: the message, any alignment
 * @len: bytes received
 * @least: chunks that have to be there, not 0; the queue depth, but for extension CREDITS
 * @most: chunks that there may be, the queue depth, at most RTRS_MAX_QUEUE_DEPTH
 * @chunk_size: bytes of one chunk, not 0
 * @rbufs: gets address and key of @most chunks; on failure its content is undefined
 *
 * Protocol section 4.  As each descriptor covers whole chunks, "all chunks are covered" and "the
 * lengths add up to queue_depth * chunk_size" are the same check, done on the number of chunks, where
 * nothing can overflow.
 *
 * Context: any.
 * Return: how many chunks there are, or -EINVAL: the path fails.
 */
int rtrs_wire_get_info_rsp(const void *buf, size_t len, u32 least, u32 most, u32 chunk_size,
			   struct rtrs_rbuf *rbufs)
{
	const u8 *pos = (const u8 *)buf + sizeof(struct rtrs_msg_info_rsp);
	struct rtrs_msg_info_rsp msg;
	struct rtrs_sg_desc desc;
	u32 sg_cnt, nr, i, done = 0;

	if (!chunk_size || len < sizeof(msg))
		return -EINVAL;
	memcpy(&msg, buf, sizeof(msg));
	sg_cnt = le16_to_cpu(msg.sg_cnt);
	if (le16_to_cpu(msg.type) != RTRS_MSG_INFO_RSP || !sg_cnt ||
	    sg_cnt > most || len < rtrs_wire_info_rsp_size(sg_cnt))
		return -EINVAL;

	for (i = 0; i < sg_cnt; i++, pos += sizeof(desc)) {
		memcpy(&desc, pos, sizeof(desc));
		nr = rtrs_wire_cut_desc(&desc, chunk_size, rbufs + done, most - done);
		if (!nr)
			return -EINVAL;
		done += nr;
	}
	return done >= least && !(done % sg_cnt) ? done : -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_info_rsp);

/**
 * rtrs_wire_get_chunks() - decode and check descriptors of more chunks
 * @desc: a private copy of the table
 * @nr_descs: descriptors in it; those behind the last chunk are not looked at
 * @nr: how many chunks there have to be
 * @chunk_size: bytes of one chunk, not 0
 * @rbufs: gets address and key of @nr chunks; on failure its content is undefined
 *
 * Extension CREDITS.
 *
 * Context: any.
 * Return: 0, or -EINVAL: the path fails.
 */
int rtrs_wire_get_chunks(const struct rtrs_sg_desc *desc, u32 nr_descs, u32 nr, u32 chunk_size,
			 struct rtrs_rbuf *rbufs)
{
	u32 i, some, done = 0;

	for (i = 0; i < nr_descs && done < nr; i++) {
		some = rtrs_wire_cut_desc(&desc[i], chunk_size, rbufs + done, nr - done);
		if (!some)
			return -EINVAL;
		done += some;
	}
	return done == nr ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_chunks);

/**
 * rtrs_wire_put_write() - encode the header of a WRITE request
 * @hdr: where to, any alignment, room for struct rtrs_msg_write
 * @usr_len: bytes of the user message right before the header, at most 65535
 *
 * Protocol section 5.
 *
 * Context: any.
 * Return: bytes written.
 */
size_t rtrs_wire_put_write(void *hdr, u32 usr_len)
{
	struct rtrs_msg_write msg = {
		.type	 = cpu_to_le16(RTRS_MSG_WRITE),
		.usr_len = cpu_to_le16((u16)usr_len),
	};

	memcpy(hdr, &msg, sizeof(msg));
	return sizeof(msg);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_write);

/**
 * rtrs_wire_put_read() - encode the header of a READ request
 * @hdr: where to, any alignment, room for RTRS_MAX_IO_HDR_BYTES
 * @usr_len: bytes of the user message right before the header, at most 65535
 * @need_inval: the server shall invalidate the key of @desc; no effect without @desc
 * @desc: memory that takes the result, NULL for a request without data
 *
 * Protocol section 5.
 *
 * Context: any.
 * Return: bytes written.
 */
size_t rtrs_wire_put_read(void *hdr, u32 usr_len, bool need_inval, const struct rtrs_sg_desc *desc)
{
	struct rtrs_msg_read msg = {
		.type	 = cpu_to_le16(RTRS_MSG_READ),
		.usr_len = cpu_to_le16((u16)usr_len),
		.flags	 = cpu_to_le16(desc && need_inval ? RTRS_READ_NEED_INVAL : 0),
		.sg_cnt	 = cpu_to_le16(desc ? 1 : 0),
	};

	memcpy(hdr, &msg, sizeof(msg));
	if (!desc)
		return sizeof(msg);
	memcpy((u8 *)hdr + sizeof(msg), desc, sizeof(*desc));
	return sizeof(msg) + sizeof(*desc);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_read);

/* READ part of rtrs_wire_get_io_hdr(); the user message is checked by the caller. */
static int rtrs_wire_get_read(const void *hdr, size_t avail, struct rtrs_sg_desc *desc,
			      struct rtrs_io_hdr *io)
{
	struct rtrs_msg_read msg;
	u16 sg_cnt;

	if (avail < sizeof(msg))
		return -EPROTO;
	memcpy(&msg, hdr, sizeof(msg));
	sg_cnt = le16_to_cpu(msg.sg_cnt);
	if (sg_cnt > 1)
		return -EINVAL;
	if (!sg_cnt)
		return 0;
	if (avail < sizeof(msg) + sizeof(*desc))
		return -EPROTO;
	memcpy(desc, (const u8 *)hdr + sizeof(msg), sizeof(*desc));
	io->has_desc = true;
	io->need_inval = le16_to_cpu(msg.flags) & RTRS_READ_NEED_INVAL;
	io->rkey = le32_to_cpu(desc->rkey);
	return 0;
}

/**
 * rtrs_wire_get_io_hdr() - decode and check the header of a request
 * @hdr: private copy of the bytes from offset @off of the chunk, any alignment
 * @avail: how many of these lie within the chunk; may be more than the header has
 * @off: offset of the header, from the immediate, not above the chunk size
 * @io: always set.  On -EINVAL @write, @need_inval, @has_desc and @rkey tell what could be decoded,
 *	so that the error answer can still invalidate the client's key; all else is 0.
 *
 * Protocol section 5.
 *
 * Context: any.
 * Return: 0; -EINVAL: the request is wrong, answer it with this; -EPROTO: not a request, or it
 * reaches beyond the chunk, the caller closes the path.
 */
int rtrs_wire_get_io_hdr(const void *hdr, size_t avail, u32 off, struct rtrs_io_hdr *io)
{
	struct rtrs_sg_desc desc;
	struct rtrs_msg_write msg;	/* the common start of both headers */
	u32 usr_len, len;
	int ret;

	memset(io, 0, sizeof(*io));
	if (avail < sizeof(msg))
		return -EPROTO;
	memcpy(&msg, hdr, sizeof(msg));
	switch (le16_to_cpu(msg.type)) {
	case RTRS_MSG_WRITE:
		io->write = true;
		break;
	case RTRS_MSG_READ:
		ret = rtrs_wire_get_read(hdr, avail, &desc, io);
		if (ret)
			return ret;
		break;
	default:
		return -EPROTO;
	}

	usr_len = le16_to_cpu(msg.usr_len);
	if (usr_len > off)
		return -EINVAL;
	if (io->has_desc) {
		len = le32_to_cpu(desc.len);
		if (!len || len > off - usr_len)
			return -EINVAL;
		io->len = len;
		io->addr = le64_to_cpu(desc.addr);
	}
	io->usr_len = usr_len;
	io->data_len = off - usr_len;
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_io_hdr);

/**
 * rtrs_wire_put_rkey_rsp() - encode the next rkey of a slot
 * @msg: message to fill
 * @slot: the slot that is completed
 * @rkey: key that opens its chunk from now on
 *
 * Protocol section 6.
 *
 * Context: any.
 */
void rtrs_wire_put_rkey_rsp(struct rtrs_msg_rkey_rsp *msg, u32 slot, u32 rkey)
{
	msg->type = cpu_to_le16(RTRS_MSG_RKEY_RSP);
	msg->buf_id = cpu_to_le16((u16)slot);
	msg->rkey = cpu_to_le32(rkey);
}
EXPORT_SYMBOL_GPL(rtrs_wire_put_rkey_rsp);

/**
 * rtrs_wire_get_rkey_rsp() - decode and check the next rkey of a slot
 * @buf: the message, any alignment
 * @len: bytes received
 * @slot: the slot that the immediate of the same completion names
 * @rkey: gets the key, on success only
 *
 * Protocol section 6, rule 4.
 *
 * Context: any.
 * Return: 0, or -EPROTO: the path fails.
 */
int rtrs_wire_get_rkey_rsp(const void *buf, size_t len, u32 slot, u32 *rkey)
{
	struct rtrs_msg_rkey_rsp msg;

	if (len < sizeof(msg))
		return -EPROTO;
	memcpy(&msg, buf, sizeof(msg));
	if (le16_to_cpu(msg.type) != RTRS_MSG_RKEY_RSP || le16_to_cpu(msg.buf_id) != slot)
		return -EPROTO;
	*rkey = le32_to_cpu(msg.rkey);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_wire_get_rkey_rsp);
