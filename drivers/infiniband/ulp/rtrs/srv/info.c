// SPDX-License-Identifier: GPL-2.0-only
/*
 * Info exchange (protocol section 4): from INFO_REQ to a path that serves.
 *
 * Operation: the completion of INFO_REQ queues the info work, which may take its time: it
 * allocates the chunks, registers them, tells the ULP, makes the path CONNECTED and answers.  With extension PROBE a
 * message as large as the largest packet of I/O follows the answer: a client that gets it knows that such packets arrive.
 *
 * Errors: whatever fails closes the path, with a message and without answer.  Nothing is undone
 * here: the close work waits for the info work and then takes down what it finds.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/delay.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "fault.h"
#include "rtrs-srv.h"

/* How late INFO_RSP is when a test wants it late. */
#define RTRS_SRV_INFO_DELAY_MS	2000

/* Receives without buffer on a connection: what the client can use up and one batch more. */
static u32 rtrs_srv_info_nr_recvs(const struct rtrs_srv_path *path, u32 cid)
{
	u32 nr = cid ? path->geo->queue_depth : RTRS_SERVICE_QUEUE_DEPTH;

	return min_t(u32, nr + RTRS_RECV_BATCH, path->dev->attrs.max_qp_wr - 1);
}

static int rtrs_srv_info_post_recvs(struct rtrs_srv_path *path)
{
	u32 cid;
	int ret;

	for (cid = 0; cid < path->cid_num; cid++) {
		ret = rtrs_conn_post_recv_empty(&path->conns[cid]->conn,
						rtrs_srv_info_nr_recvs(path, cid));
		if (ret)
			return ret;
	}
	return 0;
}

static int rtrs_srv_info_build_rsp(struct rtrs_srv_path *path)
{
	const struct rtrs_srv_bufs *bufs = &path->bufs;
	struct rtrs_srv_info *info = &path->info;
	u32 i;
	int ret;

	info->rsp_len = rtrs_wire_info_rsp_size(bufs->nr_mrs);
	info->rsp = fault_here(alloc_info) ? NULL :
		    kzalloc(info->rsp_len, GFP_KERNEL | __GFP_NOWARN);
	if (!info->rsp)
		return -ENOMEM;
	rtrs_wire_put_info_rsp(info->rsp, bufs->nr_mrs);
	for (i = 0; i < bufs->nr_mrs; i++) {
		const struct ib_mr *mr = bufs->mrs[i].mr;

		rtrs_wire_put_desc(&info->rsp->desc[i], mr->iova, mr->rkey,
				   bufs->chunks_per_mr * bufs->chunk_size);
	}
	ret = rtrs_dma_map(path->dev, info->rsp, info->rsp_len, DMA_TO_DEVICE, &info->rsp_dma);
	if (ret) {
		kfree(info->rsp);
		info->rsp = NULL;
	}
	return ret;
}

static void rtrs_srv_info_rsp_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_path *path = container_of(wc->wr_cqe, struct rtrs_srv_path,
						  info.rsp_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rtrs_srv_path_wc_failed(path, "sending INFO_RSP", wc);
		return;
	}
	rtrs_conn_send_completed(rtrs_conn_from_wc(wc));
	rtrs_srv_io_kick(path->conns[0]);
}

static void rtrs_srv_info_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_path *path = container_of(wc->wr_cqe, struct rtrs_srv_path, info.probe_cqe);

	if (likely(wc->status == IB_WC_SUCCESS)) {
		rtrs_conn_send_completed(rtrs_conn_from_wc(wc));
		rtrs_srv_io_kick(path->conns[0]);
	} else if (wc->status == IB_WC_RETRY_EXC_ERR) {
		rtrs_srv_path_fail(path, "packets with up to %u bytes of data do not get to the client, smaller ones do: MTU?",
				   RTRS_PROBE_BYTES);
	} else {
		rtrs_srv_path_wc_failed(path, "sending the probe", wc);
	}
}

/* Zeros, which nobody writes to: all paths send the same ones. */
static int rtrs_srv_info_map_probe(struct rtrs_srv_path *path)
{
	u64 dma;

	if (!(path->features & RTRS_EXT_PROBE))
		return 0;
	dma = ib_dma_map_page(path->dev, ZERO_PAGE(0), 0, RTRS_PROBE_BYTES, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma))
		return -ENOMEM;
	path->info.probe_dma = dma;
	return 0;
}

static int rtrs_srv_info_send(struct rtrs_srv_path *path)
{
	struct rtrs_conn *conn = &path->conns[0]->conn;
	struct rtrs_srv_info *info = &path->info;
	int ret;

	ret = fault_here(info_rsp_lost) ? 0 :
	      rtrs_conn_post_send_buf(conn, &info->rsp_cqe, info->rsp_dma, info->rsp_len);
	if (!ret && info->probe_dma)
		ret = rtrs_conn_post_send_buf(conn, &info->probe_cqe, info->probe_dma, RTRS_PROBE_BYTES);
	return ret;
}

static int rtrs_srv_info_check_req(struct rtrs_srv_path *path)
{
	struct rtrs_srv_info *info = &path->info;
	char name[RTRS_NAME_LEN];
	u32 nr_conns;
	int ret;

	ib_dma_sync_single_for_cpu(path->dev, info->req_dma, sizeof(*info->req),
				   DMA_FROM_DEVICE);
	ret = rtrs_wire_get_info_req(info->req, info->req_len, name);
	if (ret) {
		rtrs_srv_path_fail(path, "INFO_REQ of %u bytes is not valid", info->req_len);
		return ret;
	}
	mutex_lock(&path->ctx->mutex);
	nr_conns = path->nr_conns;
	mutex_unlock(&path->ctx->mutex);
	if (nr_conns != path->cid_num) {
		rtrs_srv_path_fail(path, "INFO_REQ after %u of %u connections", nr_conns,
				   path->cid_num);
		return -EINVAL;
	}
	ret = rtrs_srv_sess_claim_name(path, name);
	if (ret)
		rtrs_srv_path_fail(path, "session name '%*pE' refused: %s",
				   (int)strlen(name), name, ret == -EPERM ?
				   "another session has it" : "the session has another name");
	return ret;
}

/* Chunks, requests, receives, registrations. */
static int rtrs_srv_info_prepare(struct rtrs_srv_path *path)
{
	const char *what = "chunks";
	int ret;

	ret = rtrs_srv_chunks_create(path);
	if (ret)
		goto err_message;
	what = "requests";
	ret = rtrs_srv_io_create_reqs(path);
	if (ret)
		goto err_message;
	rtrs_srv_chunks_open(path, 0);
	what = "receives";
	ret = rtrs_srv_info_post_recvs(path);
	if (ret)
		goto err_message;
	what = "memory regions";
	ret = rtrs_srv_chunks_register(path);
	if (ret)
		goto err_message;
	what = "INFO_RSP";
	ret = rtrs_srv_info_build_rsp(path);
	if (!ret)
		ret = rtrs_srv_info_map_probe(path);
	if (ret)
		goto err_message;
	return 0;

err_message:
	rtrs_srv_path_fail(path, "setting up %s, for %u slots of %u bytes: error %d", what,
			   path->chunks.charged, path->geo->chunk_size, ret);
	return ret;
}

/* Extension SESSION.  The number is fixed as long as the path counts as up. */
static void rtrs_srv_info_put_session(struct rtrs_srv_path *path)
{
	struct rtrs_srv_info *info = &path->info;

	if (!(path->features & RTRS_EXT_SESSION))
		return;
	ib_dma_sync_single_for_cpu(path->dev, info->rsp_dma, info->rsp_len, DMA_TO_DEVICE);
	info->rsp->session = cpu_to_le32(path->sess->number);
	ib_dma_sync_single_for_device(path->dev, info->rsp_dma, info->rsp_len, DMA_TO_DEVICE);
}

/* Publish the path: to the ULP, in sysfs, to the client. */
static void rtrs_srv_info_finish(struct rtrs_srv_path *path)
{
	int ret;

	if (fault_here(info_delayed))
		msleep(RTRS_SRV_INFO_DELAY_MS);
	ret = rtrs_srv_sess_path_up(path);
	if (ret) {
		rtrs_srv_path_fail(path, "session refused: error %d", ret);
		return;
	}
	rtrs_srv_info_put_session(path);
	ret = rtrs_srv_sysfs_add_path(path);
	if (ret) {
		rtrs_srv_path_fail(path, "creating its sysfs directory: error %d", ret);
		return;
	}
	/* Before INFO_RSP leaves: its receiver sends requests at once. */
	if (!rtrs_srv_path_event(path, RTRS_SRV_EV_ESTABLISHED))
		return;
	cancel_delayed_work(&path->handshake_dwork);
	ret = rtrs_srv_info_send(path);
	if (ret) {
		rtrs_srv_path_fail(path, "posting INFO_RSP: error %d", ret);
		return;
	}
	/* The client posts its receives while it handles INFO_RSP. */
	rtrs_hb_start_later(&path->hb);
	if (rtrs_srv_log_wanted(path))
		pr_info_ratelimited("path %s of session %*pE connected\n", path->name,
				    (int)strlen(path->sess->name), path->sess->name);
}

static void rtrs_srv_info_work(struct work_struct *work)
{
	struct rtrs_srv_path *path = container_of(to_delayed_work(work), struct rtrs_srv_path, info.dwork);

	if (!rtrs_srv_info_check_req(path) && !rtrs_srv_info_prepare(path))
		rtrs_srv_info_finish(path);
}

static void rtrs_srv_info_req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_srv_path *path = container_of(wc->wr_cqe, struct rtrs_srv_path,
						  info.req_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rtrs_srv_path_wc_failed(path, "receiving INFO_REQ", wc);
		return;
	}
	if (wc->opcode != IB_WC_RECV) {
		rtrs_srv_path_fail(path, "request before INFO_REQ");
		return;
	}
	path->info.req_len = wc->byte_len;
	rtrs_srv_path_queue(path, RTRS_SRV_PATH_CONNECTING, path->ctx->wq, &path->info.dwork, 0);
}

/**
 * rtrs_srv_info_init() - prepare a new path for the info exchange
 * @path: the path, just created
 *
 * Context: process, may sleep; mutex of the context held.
 * Return: 0 or -ENOMEM.
 */
int rtrs_srv_info_init(struct rtrs_srv_path *path)
{
	struct rtrs_srv_info *info = &path->info;
	struct rtrs_msg_info_req *req;
	int ret;

	INIT_DELAYED_WORK(&info->dwork, rtrs_srv_info_work);
	info->req_cqe.done = rtrs_srv_info_req_done;
	info->rsp_cqe.done = rtrs_srv_info_rsp_done;
	info->probe_cqe.done = rtrs_srv_info_probe_done;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	ret = rtrs_dma_map(path->dev, req, sizeof(*req), DMA_FROM_DEVICE, &info->req_dma);
	if (ret)
		kfree(req);
	else
		info->req = req;
	return ret;
}

/**
 * rtrs_srv_info_post_recv() - be ready for INFO_REQ
 * @path: the path
 * @conn: its service connection, not accepted yet
 *
 * Context: process.
 * Return: 0 or an error of ib_post_recv().
 */
int rtrs_srv_info_post_recv(struct rtrs_srv_path *path, struct rtrs_conn *conn)
{
	return rtrs_conn_post_recv_buf(conn, &path->info.req_cqe, path->info.req_dma,
				       sizeof(*path->info.req));
}

/**
 * rtrs_srv_info_exit() - free the messages
 * @path: the path, drained; nothing happens to what is not there
 *
 * Context: process; close work of the path.
 */
void rtrs_srv_info_exit(struct rtrs_srv_path *path)
{
	struct rtrs_srv_info *info = &path->info;

	if (info->req) {
		ib_dma_unmap_single(path->dev, info->req_dma, sizeof(*info->req),
				    DMA_FROM_DEVICE);
		kfree(info->req);
		info->req = NULL;
	}
	if (info->rsp) {
		ib_dma_unmap_single(path->dev, info->rsp_dma, info->rsp_len, DMA_TO_DEVICE);
		kfree(info->rsp);
		info->rsp = NULL;
	}
	if (info->probe_dma) {
		ib_dma_unmap_page(path->dev, info->probe_dma, RTRS_PROBE_BYTES, DMA_TO_DEVICE);
		info->probe_dma = 0;
	}
}
