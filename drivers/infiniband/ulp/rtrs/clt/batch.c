// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that are submitted together (extension REQ_LIST).
 *
 * A READ whose data need no registration is nothing but a user message and a header.  Those that the ULP
 * submits together, and that leave on one connection, travel as one list in the chunk of the first of them,
 * behind its room for data, where its own header would be.  Nothing waits for more to come: the ULP says
 * when it has no more.
 *
 * Ownership: a request in a batch is BUSY and its submitter's, as one that is being posted.  It counts as in
 * flight, and there is room for its message in the send queue: from then on only what breaks the path can
 * keep it from being posted, and then the path's worker sends it over another one.
 *
 * Context: the batch is one RCU read section, which the paths of its requests outlive.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/moduleparam.h>

#include "../proto/imm.h"
#include "clt.h"

static bool rtrs_clt_list_requests = true;
module_param_named(list_requests, rtrs_clt_list_requests, bool, 0644);
MODULE_PARM_DESC(list_requests, "Extension: reads that are submitted together travel in one message (default: Y)");

/**
 * rtrs_clt_batch_features_off() - extensions that new connections do without
 *
 * Context: any.
 * Return: RTRS_EXT_* bits.
 */
u16 rtrs_clt_batch_features_off(void)
{
	return READ_ONCE(rtrs_clt_list_requests) ? 0 : RTRS_EXT_REQ_LIST;
}

/**
 * rtrs_clt_batch_takes() - may a request travel with others
 * @req: the request, about to be posted
 *
 * One whose times are asked for goes by itself.
 *
 * Context: any; its submitter.
 */
bool rtrs_clt_batch_takes(const struct rtrs_clt_req *req)
{
	size_t msg_len = rtrs_wire_io_len(false, req->data_len, req->usr_len);

	/* Whichever is the first has the table in its memory. */
	return (req->path->features & RTRS_EXT_REQ_LIST) && req->dir == READ && !req->nents && !req->posted_ns &&
	       rtrs_list_table_bytes(1) + msg_len <= RTRS_REQ_LIST_MAX_BYTES &&
	       ALIGN(msg_len, 8) + rtrs_list_table_bytes(RTRS_CLT_BATCH_MAX) <= req->buf_len;
}

/* Is there room for one more, with that many bytes? */
static bool rtrs_clt_batch_has_room(const struct rtrs_clt_batch *batch, const struct rtrs_clt_req *req, size_t msg_len)
{
	const struct rtrs_clt_req *lead = batch->req[0];
	size_t len = rtrs_list_table_bytes(batch->nr + 1) + batch->msgs_len + msg_len;

	/* The table has an element of its own in the work request. */
	return lead->conn == req->conn && batch->nr < min_t(u32, RTRS_CLT_BATCH_MAX, max(lead->conn->data_sges, 1U)) &&
	       len <= RTRS_REQ_LIST_MAX_BYTES && len <= lead->path->chunk_size - lead->data_len;
}

/**
 * rtrs_clt_batch_add() - post a request together with others
 * @batch: the batch
 * @req: the request, for which rtrs_clt_batch_takes() was true; the batch's on success
 *
 * Context: as rtrs_clt_batch_request().
 * Return: 0, or -EAGAIN if there is no room in the send queue.
 */
int rtrs_clt_batch_add(struct rtrs_clt_batch *batch, struct rtrs_clt_req *req)
{
	size_t msg_len = req->usr_len + rtrs_clt_put_read(req);
	int ret;

	if (batch->nr && !rtrs_clt_batch_has_room(batch, req, msg_len))
		rtrs_clt_batch_post(batch);
	if (!batch->nr) {
		ret = rtrs_conn_reserve(&req->conn->conn);
		if (ret)
			return ret;
	}
	ib_dma_sync_single_for_device(req->path->dev, req->dma, msg_len, DMA_TO_DEVICE);
	rtrs_clt_req_expect(req);
	batch->req[batch->nr] = req;
	batch->msg_len[batch->nr] = msg_len;
	batch->msgs_len += msg_len;
	batch->nr++;
	return 0;
}

/* The table is put behind the first one's message, in its memory.  Return: where it is there. */
static u32 rtrs_clt_batch_put_table(const struct rtrs_clt_batch *batch)
{
	struct rtrs_clt_req *lead = batch->req[0];
	u32 off = ALIGN(batch->msg_len[0], 8), len = rtrs_list_table_bytes(batch->nr), i;
	struct rtrs_msg_req_list *list = lead->buf + off;

	BUILD_BUG_ON(RTRS_CLT_BATCH_MAX > RTRS_REQ_LIST_MAX);
	rtrs_list_put(list, batch->nr, len + batch->msgs_len);
	for (i = 0; i < batch->nr; i++)
		rtrs_list_put_entry(list, i, batch->req[i]->slot, batch->req[i]->usr_len,
				    batch->req[i]->data_len + batch->req[i]->usr_len);
	ib_dma_sync_single_for_device(lead->path->dev, lead->dma + off, len, DMA_TO_DEVICE);
	return off;
}

static int rtrs_clt_batch_send(const struct rtrs_clt_batch *batch)
{
	struct rtrs_clt_req *lead = batch->req[0];
	struct rtrs_clt_path *path = lead->path;
	const struct rtrs_rbuf *rbuf = &path->rbufs[lead->slot];
	struct ib_sge sge[RTRS_CLT_BATCH_MAX + 1];
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &lead->conn->conn.send_cqe,
			.sg_list = sge,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
		},
		.remote_addr = rbuf->addr + lead->data_len,
		.rkey = rbuf->rkey,
	};
	u32 i, nr_sge = 0, lkey = path->pd->local_dma_lkey, imm;

	if (batch->nr == 1) {
		imm = rtrs_imm_io_req(lead->slot, lead->data_len + lead->usr_len, path->sess->mem_bits);
	} else {
		imm = rtrs_imm_io_req_list(lead->slot, lead->data_len, path->sess->mem_bits);
		sge[nr_sge++] = (struct ib_sge) {
			.addr = lead->dma + rtrs_clt_batch_put_table(batch),
			.length = rtrs_list_table_bytes(batch->nr),
			.lkey = lkey,
		};
	}
	for (i = 0; i < batch->nr; i++)
		sge[nr_sge++] = (struct ib_sge) {
			.addr = batch->req[i]->dma,
			.length = batch->msg_len[i],
			.lkey = lkey,
		};
	wr.wr.num_sge = nr_sge;
	wr.wr.ex.imm_data = cpu_to_be32(imm);
	return rtrs_conn_post_reserved(&lead->conn->conn, &wr.wr, false);
}

/**
 * rtrs_clt_batch_post() - post what there is
 * @batch: the batch, empty afterwards
 *
 * Context: as rtrs_clt_batch_request().
 */
void rtrs_clt_batch_post(struct rtrs_clt_batch *batch)
{
	u32 i;
	int ret;

	if (!batch->nr)
		return;
	ret = rtrs_clt_batch_send(batch);
	if (unlikely(ret))
		rtrs_clt_path_error(batch->req[0]->path, ret);
	for (i = 0; i < batch->nr; i++)
		rtrs_clt_req_step(batch->req[i], RTRS_REQ_POSTED | RTRS_REQ_SENT);
	batch->nr = 0;
	batch->msgs_len = 0;
}
