// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is posted for a request (protocol section 5).
 *
 * A WRITE gathers the local pages by SGEs and needs no registration unless it has too many elements; such
 * a region is local only, so it is invalidated lazily, in front of its next registration.  A small READ
 * goes through a bounce buffer.  A large one registers its pages for the server, which invalidates them
 * with its answer; where it did not, we do and wait.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include "../proto/imm.h"
#include "../verbs/trace.h"
#include "clt.h"

/**
 * struct rtrs_clt_chain - the sends of one request while they are built; on the stack, and nothing is set
 * that is not used
 * @wr: the WRITE with immediate that carries it
 * @sge: its elements: data, then user message and header
 * @first: start of the chain
 * @nr: WRs in the chain
 */
struct rtrs_clt_chain {
	struct ib_rdma_wr wr;
	struct ib_sge sge[RTRS_CLT_DATA_SGES_MAX + 1];
	struct ib_send_wr *first;
	u32 nr;
};

/* Put the data of a WRITE into SGEs; sum of the list must cover @req->data_len. */
static int rtrs_clt_gather(struct rtrs_clt_req *req, struct ib_sge *sge)
{
	u32 lkey = req->path->pd->local_dma_lkey;
	size_t left = req->data_len;
	struct scatterlist *sg;
	int i, nr = 0;

	for_each_sg(req->sg, sg, req->nents, i) {
		if (!left)
			break;
		sge[nr].addr = sg_dma_address(sg);
		sge[nr].length = min_t(size_t, left, sg_dma_len(sg));
		sge[nr].lkey = lkey;
		left -= sge[nr].length;
		nr++;
	}
	return unlikely(left) ? rtrs_retry_error(RTRS_FAILURE_SG_LIST, 0) : nr;
}

/* Is it longer than what fits a region of this path, whichever pages it has?  Another path's may be longer. */
static bool rtrs_clt_exceeds_region(const struct rtrs_clt_req *req)
{
	u32 pages = req->path->mr_pages;

	return req->nents >= pages || req->data_len > (size_t)(pages - 1) * SZ_4K;
}

static noinline int rtrs_clt_mr_map_failed(const struct rtrs_clt_req *req, int error)
{
	if (error == -EINVAL && rtrs_clt_exceeds_region(req))
		return rtrs_retry_error(RTRS_FAILURE_MR_LIMIT, 0);
	return rtrs_clt_req_short(req, RTRS_FAILURE_MR_MAP, error);
}

/* Register the pages; LOCAL_INV of a previous, local-only mapping goes in front. */
static int rtrs_clt_register(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain, int access)
{
	struct ib_cqe *cqe = &req->conn->conn.send_cqe;
	struct ib_send_wr *inv = NULL;
	int ret;

	if (req->mr->valid) {
		trace_rtrs_clt_mr_invalidate(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
		inv = rtrs_mr_inv_wr(req->mr, cqe);
	}
	ret = rtrs_mr_map(req->mr, req->sg, req->nents, access, cqe);
	if (unlikely(ret))
		return rtrs_clt_mr_map_failed(req, ret);
	if (unlikely(req->mr->mr->length < req->data_len)) {
		rtrs_mr_unmap(req->mr, inv);
		return rtrs_retry_error(RTRS_FAILURE_SG_LIST, 0);
	}

	trace_rtrs_clt_mr_register(RTRS_CLT_REQ_IDS(req), req->mr->mr->rkey);
	req->mr->reg_wr.wr.next = chain->first;
	chain->first = &req->mr->reg_wr.wr;
	chain->nr++;
	if (inv) {
		inv->next = chain->first;
		chain->first = inv;
		chain->nr++;
	}
	return 0;
}

/* Data part of a WRITE. Returns number of SGEs or errno. */
static int rtrs_clt_build_write(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain)
{
	int ret;

	if (!req->data_len)
		return 0;
	if (req->nents <= req->conn->data_sges)
		return rtrs_clt_gather(req, chain->sge);
	ret = rtrs_clt_register(req, chain, IB_ACCESS_LOCAL_WRITE);
	if (unlikely(ret))
		return ret;
	chain->sge[0] = (struct ib_sge) {
		.addr = req->mr->mr->iova,
		.length = req->data_len,
		.lkey = req->mr->mr->lkey,
	};
	return 1;
}

/**
 * rtrs_clt_put_read() - header of a READ for whose data nothing is registered, behind its user message
 * @req: the request, without data or with a bounce buffer
 *
 * Context: any; its submitter.
 * Return: bytes of the header.
 */
size_t rtrs_clt_put_read(const struct rtrs_clt_req *req)
{
	void *hdr = req->buf + req->usr_len;
	struct rtrs_sg_desc desc;

	if (!req->data_len)
		return rtrs_wire_put_read(hdr, req->usr_len, false, NULL);
	rtrs_clt_bounce_desc(req, &desc);
	return rtrs_wire_put_read(hdr, req->usr_len, false, &desc);
}

/* Header behind the user message, and the data part. Returns number of data SGEs or errno. */
static int rtrs_clt_build(struct rtrs_clt_req *req, struct rtrs_clt_chain *chain, size_t *hdr_len)
{
	void *hdr = req->buf + req->usr_len;
	struct rtrs_sg_desc desc;
	int ret;

	if (req->dir == WRITE) {
		*hdr_len = rtrs_wire_put_write(hdr, req->usr_len);
		return rtrs_clt_build_write(req, chain);
	}
	if (!req->data_len || req->bounced) {
		*hdr_len = rtrs_clt_put_read(req);
		return 0;
	}
	req->invs_before = READ_ONCE(req->conn->nr_invs);
	ret = rtrs_clt_register(req, chain, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (unlikely(ret))
		return ret;
	rtrs_wire_put_desc(&desc, req->mr->mr->iova, req->mr->mr->rkey, req->data_len);
	*hdr_len = rtrs_wire_put_read(hdr, req->usr_len, req->path->ask_inval, &desc);
	return 0;
}

/**
 * rtrs_clt_post_request() - post a request in a message of its own
 * @req: the request, BUSY, with its data mapped
 *
 * Context: any; its submitter.
 * Return: 0; or nothing was posted, and rtrs_retry_of() says what becomes of the request: -EAGAIN send queue full, or no
 * memory for a region, -EMSGSIZE more pages than this path can register, -EINVAL pages that cannot be registered, or an
 * error of the device, after which the path can only be closed.
 */
int rtrs_clt_post_request(struct rtrs_clt_req *req)
{
	struct rtrs_clt_path *path = req->path;
	struct rtrs_rbuf *rbuf = &path->rbufs[req->slot];
	struct rtrs_clt_chain chain __uninitialized;
	bool sends_pages = rtrs_clt_req_sends_pages(req);
	size_t hdr_len, msg_len;
	u64 off = req->data_len;
	int nr_sge, ret;
	u32 imm;

	chain.first = &chain.wr.wr;
	chain.nr = 1;
	nr_sge = rtrs_clt_build(req, &chain, &hdr_len);
	if (unlikely(nr_sge < 0))
		return nr_sge;
	msg_len = req->usr_len + hdr_len;
	ib_dma_sync_single_for_device(path->dev, req->dma, msg_len, DMA_TO_DEVICE);
	chain.sge[nr_sge++] = (struct ib_sge) {
		.addr = req->dma,
		.length = msg_len,
		.lkey = path->pd->local_dma_lkey,
	};
	imm = rtrs_imm_io_req(req->slot, off + req->usr_len, path->sess->mem_bits);
	if (unlikely(req->posted_ns) && (path->features & RTRS_EXT_SERVER_TIME))
		imm = rtrs_imm_timed(imm);
	chain.wr = (struct ib_rdma_wr) {
		.wr = {
			.wr_cqe = sends_pages ? &req->sent_cqe : &req->conn->conn.send_cqe,
			.sg_list = chain.sge,
			.num_sge = nr_sge,
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(imm),
		},
		.remote_addr = req->dir == WRITE ? rbuf->addr : rbuf->addr + off,
		.rkey = rbuf->rkey,
	};
	rtrs_clt_req_expect(req);
	if (req->dir == READ && chain.nr > 1)
		ret = rtrs_conn_post_and_reserve(&req->conn->conn, chain.first, &chain.wr.wr, chain.nr, false);
	else
		ret = rtrs_conn_post(&req->conn->conn, chain.first, &chain.wr.wr, chain.nr, sends_pages);
	if (unlikely(ret) && chain.nr > 1)
		rtrs_mr_unmap(req->mr, chain.first->opcode == IB_WR_LOCAL_INV);
	return ret;
}
