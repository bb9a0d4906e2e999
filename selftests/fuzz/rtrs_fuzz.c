// SPDX-License-Identifier: GPL-2.0-only
/* What a peer sends to rtrs-client and rtrs-server, and what a person writes, against every decoder. */
#include "../../drivers/infiniband/ulp/rtrs/proto/addr.h"
#include "../../drivers/infiniband/ulp/rtrs/proto/geometry.h"
#include "../../drivers/infiniband/ulp/rtrs/proto/imm.h"
#include "../../drivers/infiniband/ulp/rtrs/proto/mp_policy.h"
#include "../../drivers/infiniband/ulp/rtrs/proto/wire.h"
#include "fuzz.h"

static void fuzz_conn_req(struct fuzz_in *in)
{
	struct rtrs_conn_req req, again;
	struct rtrs_msg_conn_req msg;
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);

	if (!rtrs_wire_get_conn_req(buf, len, &req)) {
		MUST(len >= sizeof(msg));
		MUST(req.cid < req.cid_num && req.cid_num <= RTRS_MAX_CONS);
		rtrs_wire_put_conn_req(&msg, &req);
		MUST(!rtrs_wire_get_conn_req(&msg, sizeof(msg), &again));
		MUST(again.cid == req.cid && again.cid_num == req.cid_num);
		MUST(again.recon_cnt == req.recon_cnt && again.features == req.features);
		MUST(again.chunks == req.chunks);
		MUST(!req.chunks || req.features & RTRS_EXT_CREDITS);
	}
	free(buf);
}

static void fuzz_conn_rsp(struct fuzz_in *in)
{
	struct rtrs_conn_rsp rsp, again;
	struct rtrs_msg_conn_rsp msg;
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);

	if (!rtrs_wire_get_conn_rsp(buf, len, &rsp)) {
		MUST(len >= sizeof(msg));
		if (!rsp.error && !rtrs_geometry_check_rsp(&rsp)) {
			u64 chunk = (u64)rsp.max_io_size + rsp.max_hdr_size;

			MUST(rsp.queue_depth && rsp.max_io_size);
			MUST(rtrs_geometry_fits_imm(rsp.queue_depth, chunk));
			MUST(chunk >= RTRS_MIN_CHUNK_BYTES && chunk <= 1 << RTRS_IMM_PAYLOAD_BITS);
			rtrs_wire_put_conn_rsp(&msg, &rsp);
			MUST(!rtrs_wire_get_conn_rsp(&msg, sizeof(msg), &again));
			MUST(again.queue_depth == rsp.queue_depth && again.new_rkey == rsp.new_rkey);
			MUST(again.max_io_size == rsp.max_io_size);
			MUST(again.max_hdr_size == rsp.max_hdr_size);
		}
	}
	free(buf);
}

static void fuzz_reject(struct fuzz_in *in)
{
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);
	int err = rtrs_wire_get_reject(buf, len);

	MUST(err < 0 && err >= -4095);
	free(buf);
}

static void fuzz_info_req(struct fuzz_in *in)
{
	struct rtrs_msg_info_req msg;
	char name[RTRS_NAME_LEN], again[RTRS_NAME_LEN];
	u64 addr, addr_again;
	u32 rkey, rkey_again;
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);

	if (!rtrs_wire_get_info_req(buf, len, name)) {
		MUST(memchr(name, '\0', sizeof(name)));
		MUST(rtrs_wire_name_valid(name) && name[0] && !strpbrk(name, "/."));
		rtrs_wire_get_info_table(buf, &addr, &rkey);
		rtrs_wire_put_info_req(&msg, name);
		rtrs_wire_put_info_table(&msg, addr, rkey);
		MUST(!rtrs_wire_get_info_req(&msg, sizeof(msg), again));
		MUST(!strcmp(name, again));
		rtrs_wire_get_info_table(&msg, &addr_again, &rkey_again);
		MUST(addr_again == addr && rkey_again == rkey);
	}
	free(buf);
}

/* The chunks of the first descriptors, one after the other, and no part of a descriptor is left. */
static void must_be_chunks(const struct rtrs_sg_desc *desc, const struct rtrs_rbuf *rbufs, u32 nr,
			   u32 chunk_size)
{
	u64 pos = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		MUST(rbufs[i].addr + chunk_size - 1 >= rbufs[i].addr);
		MUST(rbufs[i].addr == le64_to_cpu(desc->addr) + pos);
		MUST(rbufs[i].rkey == le32_to_cpu(desc->rkey));
		pos += chunk_size;
		MUST(pos <= le32_to_cpu(desc->len));
		if (pos == le32_to_cpu(desc->len)) {
			desc++;
			pos = 0;
		}
	}
	MUST(!pos);
}

static void fuzz_info_rsp(struct fuzz_in *in)
{
	u32 most = fuzz_take(in, 2), chunk_size = fuzz_take(in, 4), least = fuzz_take(in, 2);
	const struct rtrs_msg_info_rsp *msg;
	struct rtrs_rbuf *rbufs;
	size_t len;
	void *buf;
	int nr;

	if (!most || !least || !chunk_size)
		return;
	buf = fuzz_block(in, SIZE_MAX, &len);
	rbufs = calloc(most, sizeof(*rbufs));
	MUST(rbufs);
	nr = rtrs_wire_get_info_rsp(buf, len, least, most, chunk_size, rbufs);
	if (nr < 0) {
		MUST(nr == -EINVAL);
	} else {
		msg = buf;
		MUST(nr >= least && nr <= most && !(nr % le16_to_cpu(msg->sg_cnt)));
		MUST(len >= rtrs_wire_info_rsp_size(le16_to_cpu(msg->sg_cnt)));
		must_be_chunks(msg->desc, rbufs, nr, chunk_size);
	}
	free(rbufs);
	free(buf);
}

static void fuzz_chunks(struct fuzz_in *in)
{
	u32 nr = fuzz_take(in, 2), chunk_size = fuzz_take(in, 4);
	struct rtrs_sg_desc *desc;
	struct rtrs_rbuf *rbufs;
	size_t len;
	int ret;

	if (!nr || !chunk_size)
		return;
	desc = fuzz_block(in, in->len - in->len % sizeof(*desc), &len);
	rbufs = calloc(nr, sizeof(*rbufs));
	MUST(rbufs);
	ret = rtrs_wire_get_chunks(desc, len / sizeof(*desc), nr, chunk_size, rbufs);
	MUST(!ret || ret == -EINVAL);
	if (!ret)
		must_be_chunks(desc, rbufs, nr, chunk_size);
	free(rbufs);
	free(desc);
}

static void fuzz_io_hdr(struct fuzz_in *in)
{
	u32 off = fuzz_take(in, 4);
	struct rtrs_io_hdr io;
	size_t len;
	void *buf = fuzz_block(in, RTRS_MAX_IO_HDR_BYTES, &len);
	int ret = rtrs_wire_get_io_hdr(buf, len, off, &io);

	MUST(!ret || ret == -EINVAL || ret == -EPROTO);
	if (!ret) {
		MUST((u64)io.data_len + io.usr_len == off);
		MUST(io.len <= io.data_len);
		MUST(!io.write || (!io.has_desc && !io.need_inval));
		MUST(io.has_desc || !io.need_inval);
	} else if (ret == -EINVAL) {
		MUST(!io.len && !io.data_len && !io.usr_len && !io.addr);
	}
	free(buf);
}

static void fuzz_list(struct fuzz_in *in)
{
	struct rtrs_req_list list;
	struct rtrs_list_req req;
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);
	const u8 *end = (u8 *)buf + len;
	u32 said, nr = 0;
	int ret;

	if (!rtrs_list_get_len(buf, len, &said))
		MUST(said <= len && said <= RTRS_REQ_LIST_MAX_BYTES);
	if (!rtrs_list_get(buf, len, &list)) {
		while ((ret = rtrs_list_next(&list, &req)) > 0) {
			MUST(++nr <= RTRS_REQ_LIST_MAX);
			MUST(!req.error || req.error == -EINVAL);
			MUST(!req.hdr.write);
			MUST((u8 *)req.usr >= (u8 *)buf && (u8 *)req.usr + req.hdr.usr_len <= end);
			MUST(req.error || (u64)req.hdr.data_len + req.hdr.usr_len == req.off);
		}
		MUST(!ret || ret == -EPROTO);
		MUST(ret || nr);
	}
	free(buf);
}

static void fuzz_rkey_rsp(struct fuzz_in *in)
{
	struct rtrs_msg_rkey_rsp msg;
	u32 slot = fuzz_take(in, 2), rkey, again;
	size_t len;
	void *buf = fuzz_block(in, SIZE_MAX, &len);

	if (!rtrs_wire_get_rkey_rsp(buf, len, slot, &rkey)) {
		rtrs_wire_put_rkey_rsp(&msg, slot, rkey);
		MUST(!rtrs_wire_get_rkey_rsp(&msg, sizeof(msg), slot, &again) && again == rkey);
	}
	free(buf);
}

static void must_be_req_state(u32 imm)
{
	enum rtrs_req_state state;
	u32 slot, value;

	rtrs_imm_req_state_decode(imm, &slot, &value);
	MUST(slot < 1 << RTRS_IMM_STATE_SLOT_BITS && value < 1 << RTRS_IMM_STATE_TAG_BITS);
	MUST(rtrs_imm_payload(rtrs_imm_req_state(slot, value)) == (rtrs_imm_payload(imm) & ~0xe00));
	if (rtrs_imm_req_state_rsp_decode(imm, &slot, &state, &value))
		return;
	MUST(state < RTRS_REQ_STATE__NR);
	MUST(rtrs_imm_payload(rtrs_imm_req_state_rsp(slot, state, value)) == rtrs_imm_payload(imm));
}

static void fuzz_imm(struct fuzz_in *in)
{
	u32 queue_depth = fuzz_take(in, 2), imm = fuzz_take(in, 4), slot, off, mem_bits;
	u64 server_ns, device_ns;
	int err;

	if (!queue_depth)
		return;
	mem_bits = rtrs_geometry_mem_bits(queue_depth);
	rtrs_imm_io_req_decode(imm, mem_bits, &slot, &off);
	MUST(rtrs_imm_payload(rtrs_imm_io_req(slot, off, mem_bits)) == rtrs_imm_payload(imm));
	rtrs_imm_io_rsp_decode(imm, &slot, &err);
	MUST(err <= 0 && err > -(1 << RTRS_IMM_RSP_ERRNO_BITS));
	MUST(slot < 1 << RTRS_IMM_RSP_ID_BITS);
	MUST(rtrs_imm_payload(rtrs_imm_io_rsp(slot, err, false)) == rtrs_imm_payload(imm));
	rtrs_imm_server_time_decode(imm, &server_ns, &device_ns);
	MUST(server_ns <= 511ULL << 31 && device_ns <= 511ULL << 31);
	MUST(rtrs_imm_type(rtrs_imm_chunks(imm, false)) == RTRS_IMM_CHUNKS_WANT);
	MUST(rtrs_imm_payload(rtrs_imm_chunks(imm, true)) == rtrs_imm_payload(imm));
	must_be_req_state(imm);
}

static void fuzz_addr(struct fuzz_in *in)
{
	struct sockaddr_storage addr, again;
	char text[RTRS_ADDR_STR_LEN];
	u16 port = fuzz_take(in, 2);
	size_t len, src_len, dst_off;
	char *str = fuzz_block(in, SIZE_MAX, &len);
	int ret;

	if (!rtrs_addr_parse(str, len, port, &addr)) {
		len = rtrs_addr_format((struct sockaddr *)&addr, text, sizeof(text));
		MUST(len < sizeof(text) - 1 && text[len] == '\0' && strlen(text) == len);
		MUST(!rtrs_addr_parse(text, len, port, &again));
		MUST(rtrs_addr_same_host((struct sockaddr *)&addr, (struct sockaddr *)&again));
	} else {
		ret = rtrs_addr_split(str, len, &src_len, &dst_off);
		MUST(ret == 0 || ret == 1 || ret == -EINVAL);
		MUST(ret < 0 || (src_len <= dst_off && dst_off <= len));
		MUST(ret != 1 || (src_len && dst_off == src_len + 1 && dst_off < len));
	}
	free(str);
}

static void fuzz_policy(struct fuzz_in *in)
{
	char *text = fuzz_text(in);
	int policy = rtrs_mp_policy_parse(text);

	MUST(policy == -EINVAL || (policy >= 0 && policy < RTRS_MP_POLICY__NR));
	if (policy >= 0)
		MUST(rtrs_mp_policy_parse(rtrs_mp_policy_text(policy)) == policy);
	free(text);
}

/**
 * LLVMFuzzerTestOneInput() - one input
 * @data: its bytes
 * @size: how many
 *
 * Return: 0; what breaks a promise aborts.
 */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const targets[])(struct fuzz_in *in) = {
		fuzz_conn_req, fuzz_conn_rsp, fuzz_reject, fuzz_info_req, fuzz_info_rsp,
		fuzz_io_hdr, fuzz_rkey_rsp, fuzz_imm, fuzz_addr, fuzz_policy, fuzz_list,
		fuzz_chunks,
	};
	struct fuzz_in in = { data, size };
	u8 target = fuzz_take(&in, 1);

	if (size && target < sizeof(targets) / sizeof(targets[0]))
		targets[target](&in);
	return 0;
}
