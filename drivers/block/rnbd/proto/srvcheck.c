// SPDX-License-Identifier: GPL-2.0-only
/*
 * Server side of the protocol, without devices.
 *
 * Operation: a decoder takes the user message and the length that really came, never reads behind
 * it and turns every field into CPU order at once; nobody else looks at the bytes.  Reserved
 * bytes and the padding of the header are ignored, as clients in the field leave them
 * uninitialised.  Messages may be longer than we know: the rest belongs to a newer minor version.
 *
 * Direction: the data length of a request says how much, the transport's direction which way.  Both
 * must go with the operation: a write whose data never came would store what an older request left
 * in the chunk.
 *
 * Errors: a verdict, not an errno, so that the caller can count and name the reason.
 */
#include "srvcheck.h"
#include "opmap.h"

/* The ioprio encoding: class in bits 15..13, of which these exist: none, rt, be, idle. */
#define RNBD_SRV_PRIO_CLASS(prio)	((prio) >> 13)
#define RNBD_SRV_PRIO_CLASS_MAX		3

/* Largest power of two that fits a 16-bit block size field. */
#define RNBD_SRV_MAX_BLOCK_BYTES	32768

static const struct {
	int error;
	const char *name;
	const char *text;
} rnbd_srv_verdicts[RNBD_SRV_VERDICT__NR] = {
	[RNBD_SRV_OK] = { 0, "ok", "allowed" },
	[RNBD_SRV_BAD_LENGTH] = { -EINVAL, "bad_length", "message too short for its type" },
	[RNBD_SRV_BAD_TYPE] = { -EINVAL, "bad_type", "unknown message type" },
	[RNBD_SRV_NO_ROOM] = { -EINVAL, "no_room", "no room for the response" },
	[RNBD_SRV_BAD_MODE] = { -EINVAL, "bad_mode",
		"unknown access mode, known are 0 (ro), 1 (rw), 2 (migration)" },
	[RNBD_SRV_BAD_NAME] = { -EINVAL, "bad_name",
		"device name is empty, not terminated or contains \"..\"" },
	[RNBD_SRV_LONG_NAME] = { -EINVAL, "long_name",
		"search path and device name exceed 4095 bytes" },
	[RNBD_SRV_WRITER_EXISTS] = { -EPERM, "writer_exists",
		"the device has writers: rw allows none, migration one other" },
	[RNBD_SRV_MORE_RIGHTS] = { -EPERM, "more_rights",
		"already open in this session with fewer rights" },
	[RNBD_SRV_TOO_MANY] = { -EMFILE, "too_many",
		"too many open devices in this session" },
	[RNBD_SRV_NOT_EXPORTED] = { -ENOENT, "not_exported", "no device is exported by that name" },
	[RNBD_SRV_NOT_CLIENT] = { -EACCES, "not_client", "it is not exported to this client" },
	[RNBD_SRV_EXPORT_RO] = { -EROFS, "export_ro", "it is exported for reading only" },
	[RNBD_SRV_EXPORT_RW] = { -EACCES, "export_rw", "it is exported for one writer, no migration" },
	[RNBD_SRV_NO_BACKEND] = { -EIO, "no_backend", "the device of this export cannot be opened" },
	[RNBD_SRV_CANNOT_OPEN] = { -EIO, "cannot_open",
		"no block device of that name can be opened below dev_search_path" },
	[RNBD_SRV_BIG_BLOCKS] = { -EINVAL, "big_blocks",
		"logical blocks above 32768 bytes cannot be exported" },
	[RNBD_SRV_NO_DEVICE] = { -ENOTCONN, "no_device", "device id is not open" },
	[RNBD_SRV_BAD_OP] = { -EINVAL, "bad_op", "unknown operation" },
	[RNBD_SRV_BAD_DATA] = { -EINVAL, "bad_data",
		"data length does not go with operation and byte count" },
	[RNBD_SRV_BAD_DIR] = { -EINVAL, "bad_dir", "data go the wrong way for the operation" },
	[RNBD_SRV_BAD_ALIGN] = { -EINVAL, "bad_align",
		"range is empty or not made of whole logical blocks" },
	[RNBD_SRV_OUT_OF_RANGE] = { -EIO, "out_of_range", "range ends behind the device" },
	[RNBD_SRV_READ_ONLY] = { -EROFS, "read_only", "device is read-only" },
	[RNBD_SRV_UNSUPPORTED] = { -EOPNOTSUPP, "unsupported", "not supported by the device" },
	[RNBD_SRV_SYSTEM] = { -EIO, "system", "error of the system" },
};

/**
 * rnbd_srv_verdict_errno() - errno that answers a refused message
 * @verdict: the verdict
 *
 * Context: any.
 * Return: 0 for RNBD_SRV_OK, else a negative errno.
 */
int rnbd_srv_verdict_errno(enum rnbd_srv_verdict verdict)
{
	return rnbd_srv_verdicts[verdict].error;
}

/**
 * rnbd_srv_verdict_name() - short name of a verdict, for counters
 * @verdict: the verdict
 *
 * Context: any.
 * Return: a word of lower case letters and underscores.
 */
const char *rnbd_srv_verdict_name(enum rnbd_srv_verdict verdict)
{
	return rnbd_srv_verdicts[verdict].name;
}

/**
 * rnbd_srv_verdict_text() - reason of a verdict, for messages
 * @verdict: the verdict
 *
 * Context: any.
 * Return: a clause without capital and full stop.
 */
const char *rnbd_srv_verdict_text(enum rnbd_srv_verdict verdict)
{
	return rnbd_srv_verdicts[verdict].text;
}

/**
 * rnbd_srv_msg_type() - type of a user message
 * @usr: user message, any alignment
 * @usr_len: its length in bytes
 *
 * Context: any.
 * Return: the type word (enum rnbd_msg_type or anything a peer sent), -EINVAL if there is no
 * whole header.
 */
int rnbd_srv_msg_type(const void *usr, size_t usr_len)
{
	struct rnbd_msg_hdr hdr;

	if (usr_len < sizeof(hdr))
		return -EINVAL;
	memcpy(&hdr, usr, sizeof(hdr));
	return le16_to_cpu(hdr.type);
}

/**
 * rnbd_srv_get_sess_info() - decode SESS_INFO
 * @usr: user message, of that type
 * @usr_len: its length in bytes
 * @data_len: room for the response in bytes
 * @ver: set to the version both sides speak
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_get_sess_info(const void *usr, size_t usr_len, size_t data_len,
					     u8 *ver)
{
	struct rnbd_msg_sess_info msg;

	if (usr_len < offsetof(struct rnbd_msg_sess_info, reserved))
		return RNBD_SRV_BAD_LENGTH;
	if (data_len < sizeof(struct rnbd_msg_sess_info))
		return RNBD_SRV_NO_ROOM;

	memcpy(&msg, usr, offsetof(struct rnbd_msg_sess_info, reserved));
	*ver = msg.ver < RNBD_PROTO_MAJOR ? msg.ver : RNBD_PROTO_MAJOR;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_get_open() - decode OPEN
 * @usr: user message, of that type
 * @usr_len: its length in bytes
 * @data_len: room for the response in bytes
 * @req: filled in on success; on failure the name is terminated all the same, for messages
 *
 * The name must end inside the field and inside what came.  ".." is refused wherever it stands: a
 * name must not lead out of the search path.
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_get_open(const void *usr, size_t usr_len, size_t data_len,
					struct rnbd_srv_open_req *req)
{
	const size_t name_off = offsetof(struct rnbd_msg_open, dev_name);
	struct rnbd_msg_open msg;
	size_t name_len;

	memset(req, 0, sizeof(*req));
	if (usr_len <= name_off)
		return RNBD_SRV_BAD_LENGTH;

	if (usr_len > sizeof(msg))
		usr_len = sizeof(msg);
	memset(&msg, 0xff, sizeof(msg));
	memcpy(&msg, usr, usr_len);

	name_len = strnlen((const char *)msg.dev_name, sizeof(msg.dev_name));
	if (name_len > usr_len - name_off)
		name_len = usr_len - name_off;
	/* Cut by one if it has no end, which is refused below. */
	memcpy(req->name, msg.dev_name, min(name_len, sizeof(req->name) - 1));
	req->access_mode = msg.access_mode;

	if (data_len < sizeof(struct rnbd_msg_open_rsp))
		return RNBD_SRV_NO_ROOM;
	if (!name_len || name_len == sizeof(msg.dev_name) || name_off + name_len == usr_len ||
	    strstr(req->name, ".."))
		return RNBD_SRV_BAD_NAME;
	if (req->access_mode >= RNBD_ACCESS__NR)
		return RNBD_SRV_BAD_MODE;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_get_close() - decode CLOSE
 * @usr: user message, of that type
 * @usr_len: its length in bytes
 * @device_id: set to the device to close
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_get_close(const void *usr, size_t usr_len, u32 *device_id)
{
	struct rnbd_msg_close msg;

	if (usr_len < sizeof(msg))
		return RNBD_SRV_BAD_LENGTH;
	memcpy(&msg, usr, sizeof(msg));
	*device_id = le32_to_cpu(msg.device_id);
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_get_io() - decode IO and check what needs no device
 * @usr: user message, of that type
 * @usr_len: its length in bytes
 * @data_len: bytes of payload or room for the result
 * @payload: the data are payload of the client; false: room for the result
 * @ver: version of the session
 * @req: filled in as far as the message goes; valid as a whole with RNBD_SRV_OK
 *
 * The priority is a hint: it counts only from version 2 on and in a full message, and a class
 * that does not exist counts as none, because schedulers use the class as an index.  FUA and PREFLUSH
 * belong to writes; clients send them with FLUSH too, where they say nothing.
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_get_io(const void *usr, size_t usr_len, size_t data_len,
				      bool payload, u8 ver, struct rnbd_srv_io_req *req)
{
	const struct rnbd_op_desc *desc;
	struct rnbd_msg_io msg;
	u32 rw;

	memset(req, 0, sizeof(*req));
	if (usr_len < RNBD_SRV_MIN_IO_BYTES)
		return RNBD_SRV_BAD_LENGTH;
	memcpy(&msg, usr, RNBD_SRV_MIN_IO_BYTES);

	rw = le32_to_cpu(msg.rw);
	req->device_id = le32_to_cpu(msg.device_id);
	req->op = rw & RNBD_OP_MASK;
	req->bytes = le32_to_cpu(msg.bi_size);
	req->sync = rw & RNBD_F_SYNC;
	req->fua = req->op == RNBD_OP_WRITE && (rw & RNBD_F_FUA);
	req->preflush = req->op == RNBD_OP_WRITE && (rw & RNBD_F_PREFLUSH);
	req->nounmap = req->op == RNBD_OP_WRITE_ZEROES && (rw & RNBD_F_NOUNMAP);
	if (ver >= RNBD_PROTO_MAJOR && usr_len >= sizeof(msg)) {
		memcpy(&msg.prio, usr + offsetof(struct rnbd_msg_io, prio), sizeof(msg.prio));
		req->prio = le16_to_cpu(msg.prio);
	}
	if (RNBD_SRV_PRIO_CLASS(req->prio) > RNBD_SRV_PRIO_CLASS_MAX)
		req->prio = 0;

	desc = rnbd_op_desc(req->op);
	if (!desc)
		return RNBD_SRV_BAD_OP;
	if (desc->has_range)
		req->sector = le64_to_cpu(msg.sector);
	if (data_len != (desc->has_data ? req->bytes : 0))
		return RNBD_SRV_BAD_DATA;
	if (!desc->has_range && req->bytes)
		return RNBD_SRV_BAD_DATA;
	if (desc->has_data && desc->modifies != payload)
		return RNBD_SRV_BAD_DIR;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_check_io() - check an I/O request against its device
 * @req: a request that rnbd_srv_get_io() allowed
 * @rules: what the device allows
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_check_io(const struct rnbd_srv_io_req *req,
					const struct rnbd_srv_io_rules *rules)
{
	const struct rnbd_op_desc *desc = rnbd_op_desc(req->op);
	u32 block_mask = rules->logical_block_size - 1;
	u64 nr = req->bytes / 512;

	if (!desc)
		return RNBD_SRV_BAD_OP;
	if (desc->modifies && !rules->writable)
		return RNBD_SRV_READ_ONLY;
	if (!(rules->ops & BIT(req->op)))
		return RNBD_SRV_UNSUPPORTED;
	if (!desc->has_range)
		return RNBD_SRV_OK;
	if (!req->bytes || req->bytes & block_mask || req->sector & (block_mask / 512))
		return RNBD_SRV_BAD_ALIGN;
	if (nr > rules->nsectors || req->sector > rules->nsectors - nr)
		return RNBD_SRV_OUT_OF_RANGE;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_ranges_conflict() - may two requests of a block device not run in any order
 * @sector: first sector of the one
 * @bytes: its length, whole sectors; 0: it is a flush
 * @other_sector: first sector of the other
 * @other_bytes: its length
 *
 * Context: any.
 * Return: true if they have a sector in common, or if both are flushes.
 */
bool rnbd_srv_ranges_conflict(u64 sector, u32 bytes, u64 other_sector, u32 other_bytes)
{
	if (!bytes || !other_bytes)
		return !bytes && !other_bytes;
	return sector < other_sector + other_bytes / 512 &&
	       other_sector < sector + bytes / 512;
}

/**
 * rnbd_srv_check_access() - may one more client open a device so
 * @access_mode: enum rnbd_access_mode
 * @nr_writers: how many, of all sessions together, have it open for writing
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_check_access(u8 access_mode, unsigned int nr_writers)
{
	switch (access_mode) {
	case RNBD_ACCESS_RO:
		return RNBD_SRV_OK;
	case RNBD_ACCESS_RW:
		return nr_writers ? RNBD_SRV_WRITER_EXISTS : RNBD_SRV_OK;
	case RNBD_ACCESS_MIGRATION:
		return nr_writers > 1 ? RNBD_SRV_WRITER_EXISTS : RNBD_SRV_OK;
	}
	return RNBD_SRV_BAD_MODE;
}

/**
 * rnbd_srv_check_offer() - may a device be opened as a client asks
 * @offered_mode: enum rnbd_access_mode, the most that it is exported for
 * @access_mode: what is asked for
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_check_offer(u8 offered_mode, u8 access_mode)
{
	if (access_mode >= RNBD_ACCESS__NR)
		return RNBD_SRV_BAD_MODE;
	if (access_mode == RNBD_ACCESS_RO || offered_mode == RNBD_ACCESS_MIGRATION)
		return RNBD_SRV_OK;
	if (offered_mode == RNBD_ACCESS_RO)
		return RNBD_SRV_EXPORT_RO;
	return access_mode == RNBD_ACCESS_MIGRATION ? RNBD_SRV_EXPORT_RW : RNBD_SRV_OK;
}

/**
 * rnbd_srv_check_reopen() - may a device that is open in the session be opened again under its name
 * @open_mode: enum rnbd_access_mode of the open device
 * @access_mode: what is asked for now
 *
 * A client that lost its paths, but not its session here, opens again and gets the same handle.
 * It never gains by that: from less to more it goes read-only, one of two writers, the only
 * writer.
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_check_reopen(u8 open_mode, u8 access_mode)
{
	static const u8 rights[RNBD_ACCESS__NR] = {
		[RNBD_ACCESS_RO]        = 0,
		[RNBD_ACCESS_MIGRATION] = 1,
		[RNBD_ACCESS_RW]        = 2,
	};

	if (open_mode >= RNBD_ACCESS__NR || access_mode >= RNBD_ACCESS__NR)
		return RNBD_SRV_BAD_MODE;
	return rights[access_mode] > rights[open_mode] ? RNBD_SRV_MORE_RIGHTS : RNBD_SRV_OK;
}

/**
 * rnbd_srv_check_limits() - can the protocol carry this device
 * @lim: limits of the device
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_check_limits(const struct rnbd_srv_limits *lim)
{
	if (lim->logical_block_size > RNBD_SRV_MAX_BLOCK_BYTES)
		return RNBD_SRV_BIG_BLOCKS;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_limits_ops() - operations a device can do
 * @lim: limits of the device
 *
 * Context: any.
 * Return: bit per enum rnbd_io_op.
 */
u8 rnbd_srv_limits_ops(const struct rnbd_srv_limits *lim)
{
	u8 ops = BIT(RNBD_OP_READ) | BIT(RNBD_OP_WRITE) | BIT(RNBD_OP_FLUSH);

	if (lim->max_discard_sectors)
		ops |= BIT(RNBD_OP_DISCARD);
	if (lim->max_secure_erase_sectors)
		ops |= BIT(RNBD_OP_SECURE_ERASE);
	if (lim->max_write_zeroes_sectors)
		ops |= BIT(RNBD_OP_WRITE_ZEROES);
	return ops;
}

/**
 * rnbd_srv_search_path() - take over the module parameter dev_search_path
 * @path: filled in on success
 * @size: bytes at @path
 * @val: value as given; one trailing newline is cut
 *
 * Context: any.
 * Return: 0, or -EINVAL if the value has @size bytes or more.
 */
int rnbd_srv_search_path(char *path, size_t size, const char *val)
{
	size_t len = strlen(val);

	if (len && val[len - 1] == '\n')
		len--;
	if (len >= size)
		return -EINVAL;
	memcpy(path, val, len);
	path[len] = '\0';
	return 0;
}

/* Append @len bytes of @part at *@pos; false if they and a terminator do not fit. */
static bool rnbd_srv_path_append(char *path, size_t size, size_t *pos, const char *part, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (part[i] == '/' && *pos && path[*pos - 1] == '/')
			continue;
		if (*pos + 1 >= size)
			return false;
		path[(*pos)++] = part[i];
	}
	path[*pos] = '\0';
	return true;
}

/**
 * rnbd_srv_export_path() - full path of the device a client asks for
 * @path: filled in on success
 * @size: bytes at @path
 * @search_path: value of dev_search_path
 * @sessname: name of the session
 * @name: device name as sent by the client
 *
 * search path "/" name.  In the search path the first %SESSNAME% stands for "/" session name, and
 * what follows it is kept.  Runs of slashes become one.
 *
 * Context: any.
 * Return: RNBD_SRV_OK or why not.
 */
enum rnbd_srv_verdict rnbd_srv_export_path(char *path, size_t size, const char *search_path,
					   const char *sessname, const char *name)
{
	const char *token = strstr(search_path, RNBD_SRV_SESS_TOKEN);
	size_t head = token ? (size_t)(token - search_path) : strlen(search_path);
	const char *tail = token ? token + strlen(RNBD_SRV_SESS_TOKEN) : "";
	size_t pos = 0;

	if (strstr(name, ".."))
		return RNBD_SRV_BAD_NAME;
	if (strlen(search_path) + strlen(name) >= PATH_MAX)
		return RNBD_SRV_LONG_NAME;
	if (!rnbd_srv_path_append(path, size, &pos, search_path, head) ||
	    (token && !rnbd_srv_path_append(path, size, &pos, "/", 1)) ||
	    (token && !rnbd_srv_path_append(path, size, &pos, sessname, strlen(sessname))) ||
	    !rnbd_srv_path_append(path, size, &pos, tail, strlen(tail)) ||
	    !rnbd_srv_path_append(path, size, &pos, "/", 1) ||
	    !rnbd_srv_path_append(path, size, &pos, name, strlen(name)))
		return RNBD_SRV_LONG_NAME;
	return RNBD_SRV_OK;
}

/**
 * rnbd_srv_put_sess_info_rsp() - build SESS_INFO_RSP
 * @data: result area, at least sizeof(struct rnbd_msg_sess_info) bytes
 * @ver: version of the session
 *
 * Context: any.
 */
void rnbd_srv_put_sess_info_rsp(void *data, u8 ver)
{
	struct rnbd_msg_sess_info rsp = {
		.hdr.type = cpu_to_le16(RNBD_MSG_SESS_INFO_RSP),
		.ver	  = ver,
	};

	memcpy(data, &rsp, sizeof(rsp));
}

static __le16 rnbd_srv_clamp16(u32 val, u32 max)
{
	return cpu_to_le16(val < max ? val : max);
}

/**
 * rnbd_srv_put_open_rsp() - build OPEN_RSP
 * @data: result area, at least sizeof(struct rnbd_msg_open_rsp) bytes
 * @device_id: handle of the device
 * @lim: its limits, for which rnbd_srv_check_limits() said yes
 *
 * Values that do not fit a 16-bit field become the largest that does and makes sense there; an
 * unknown discard alignment becomes 0.
 *
 * Context: any.
 */
void rnbd_srv_put_open_rsp(void *data, u32 device_id, const struct rnbd_srv_limits *lim)
{
	struct rnbd_msg_open_rsp rsp = {
		.hdr.type		  = cpu_to_le16(RNBD_MSG_OPEN_RSP),
		.device_id		  = cpu_to_le32(device_id),
		.nsectors		  = cpu_to_le64(lim->nsectors),
		.max_hw_sectors		  = cpu_to_le32(lim->max_hw_sectors),
		.max_write_zeroes_sectors = cpu_to_le32(lim->max_write_zeroes_sectors),
		.max_discard_sectors	  = cpu_to_le32(lim->max_discard_sectors),
		.discard_granularity	  = cpu_to_le32(lim->discard_granularity),
		.physical_block_size	  = rnbd_srv_clamp16(lim->physical_block_size,
							     RNBD_SRV_MAX_BLOCK_BYTES),
		.logical_block_size	  = rnbd_srv_clamp16(lim->logical_block_size,
							     RNBD_SRV_MAX_BLOCK_BYTES),
		.max_segments		  = rnbd_srv_clamp16(lim->max_segments, U16_MAX),
		.secure_discard		  = cpu_to_le16(!!lim->max_secure_erase_sectors),
	};

	if (lim->discard_alignment <= INT_MAX)
		rsp.discard_alignment = cpu_to_le32(lim->discard_alignment);
	if (lim->fua)
		rsp.cache_policy |= RNBD_CACHE_FUA;
	if (lim->write_cache)
		rsp.cache_policy |= RNBD_CACHE_WRITEBACK;
	memcpy(data, &rsp, sizeof(rsp));
}
