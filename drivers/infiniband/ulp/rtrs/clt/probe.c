// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proof that large packets get through before a path carries requests.
 *
 * A network, or the device of one end, may have a smaller MTU than the connection uses, and a firewall may drop what is
 * large.  Then a path connects, for the messages of that are small, and is lost with the first larger request.
 *
 * Operation: after the info exchange the client writes RTRS_PROBE_BYTES of zeros, as many as the largest packet has, into
 * the chunk of slot 0, which no request uses yet, and waits for the acknowledgement.  That works with any server.  With
 * extension PROBE the server sends as many bytes right behind INFO_RSP.  From a server without it nothing large comes by
 * itself; that such packets are lost shows with the first large READ then.
 *
 * Ownership: the memory belongs to the caller, and may be freed when the connection is drained or all has completed.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/netdevice.h>
#include <linux/slab.h>

#include "clt.h"
#include "probe.h"

/* The server's adapter gives up earlier. */
#define RTRS_CLT_PROBE_MS	3000U

/* Bytes of data in the largest packets of the path's connections; what its device allows them is in @mtu. */
static u32 rtrs_clt_probe_packet(const struct rtrs_clt_path *path)
{
	const struct sa_path_rec *rec = path->conns[0].conn.cm_id->route.path_rec;
	int bytes = rec ? ib_mtu_enum_to_int(rec->mtu) : -1;

	return bytes > 0 ? bytes : RTRS_PROBE_BYTES;
}

static u32 rtrs_clt_probe_mtu(const struct rtrs_clt_path *path, char *name)
{
	struct net_device *ndev;
	u32 mtu = 0;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(&init_net, READ_ONCE(path->ifindex));
	if (ndev) {
		mtu = READ_ONCE(ndev->mtu);
		strscpy(name, ndev->name, IFNAMSIZ);
	}
	rcu_read_unlock();
	return mtu;
}

/* Smaller packets do: the info exchange was done just before. */
static void rtrs_clt_probe_lost(struct rtrs_clt_path *path, bool to_server)
{
	char name[IFNAMSIZ] = "the device";
	u32 mtu = rtrs_clt_probe_mtu(path, name);

	if (to_server)
		rtrs_clt_path_fail(path, "packets with %u bytes of data do not get to the server, smaller ones do: MTU? %s has %u\n",
				   rtrs_clt_probe_packet(path), name, mtu);
	else
		rtrs_clt_path_fail(path, "packets with %u bytes of data do not get here from the server, smaller ones do: MTU? %s has %u\n",
				   rtrs_clt_probe_packet(path), name, mtu);
}

static void rtrs_clt_probe_write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_probe *probe = container_of(wc->wr_cqe, struct rtrs_clt_probe, write_cqe);
	struct rtrs_clt_path *path = probe->path;

	if (wc->status == IB_WC_SUCCESS) {
		rtrs_conn_send_completed(rtrs_conn_from_wc(wc));
		smp_store_release(&probe->written, true);
		wake_up_all(&path->state_wq);
	} else if (wc->status == IB_WC_RETRY_EXC_ERR) {
		rtrs_clt_probe_lost(path, true);
		rtrs_clt_path_error(path, -EMSGSIZE);
	} else {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			rtrs_clt_path_fail(path, "writing to the server's memory failed: %s\n",
					   ib_wc_status_msg(wc->status));
		rtrs_clt_path_error(path, -ECONNRESET);
	}
}

static void rtrs_clt_probe_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rtrs_clt_probe *probe = container_of(wc->wr_cqe, struct rtrs_clt_probe, recv_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		/* Too long for its receive, most likely: that is not for the network. */
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			rtrs_clt_path_fail(probe->path, "receiving the probe failed: %s\n", ib_wc_status_msg(wc->status));
		rtrs_clt_path_error(probe->path, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EPROTO);
		return;
	}
	probe->received_len = wc->opcode == IB_WC_RECV ? wc->byte_len : 0;
	smp_store_release(&probe->received, true);
	wake_up_all(&probe->path->state_wq);
}

/**
 * rtrs_clt_probe_alloc() - prepare
 * @probe: zeros but for @path, whose service connection is established
 *
 * Context: process, path mutex held.
 * Return: 0 or -ENOMEM; rtrs_clt_probe_free() cleans up.
 */
int rtrs_clt_probe_alloc(struct rtrs_clt_probe *probe)
{
	struct rtrs_clt_path *path = probe->path;
	u64 dma;

	probe->write_cqe.done = rtrs_clt_probe_write_done;
	probe->recv_cqe.done = rtrs_clt_probe_recv_done;
	dma = ib_dma_map_page(path->dev, ZERO_PAGE(0), 0, RTRS_PROBE_BYTES, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma))
		return -ENOMEM;
	probe->zeros_dma = dma;
	if (!(path->features & RTRS_EXT_PROBE))
		return 0;
	probe->buf = kzalloc(RTRS_PROBE_BYTES, GFP_KERNEL);
	if (!probe->buf)
		return -ENOMEM;
	dma = ib_dma_map_single(path->dev, probe->buf, RTRS_PROBE_BYTES, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(path->dev, dma))
		return -ENOMEM;
	probe->buf_dma = dma;
	return 0;
}

/**
 * rtrs_clt_probe_free() - undo rtrs_clt_probe_alloc()
 * @probe: prepared, whole or in part; nothing of it is in a queue
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_probe_free(struct rtrs_clt_probe *probe)
{
	struct ib_device *dev = probe->path->dev;

	if (probe->buf_dma)
		ib_dma_unmap_single(dev, probe->buf_dma, RTRS_PROBE_BYTES, DMA_FROM_DEVICE);
	kfree(probe->buf);
	if (probe->zeros_dma)
		ib_dma_unmap_page(dev, probe->zeros_dma, RTRS_PROBE_BYTES, DMA_TO_DEVICE);
}

/**
 * rtrs_clt_probe_post_recv() - be ready for the server's message, the one after INFO_RSP
 * @probe: prepared
 *
 * Context: process, path mutex held.
 * Return: 0 or an error of ib_post_recv().
 */
int rtrs_clt_probe_post_recv(struct rtrs_clt_probe *probe)
{
	if (!probe->buf)
		return 0;
	return rtrs_conn_post_recv_buf(&probe->path->conns[0].conn, &probe->recv_cqe, probe->buf_dma, RTRS_PROBE_BYTES);
}

static int rtrs_clt_probe_post_write(struct rtrs_clt_probe *probe)
{
	struct rtrs_conn *conn = &probe->path->conns[0].conn;
	struct ib_sge sge = {
		.addr = probe->zeros_dma,
		.length = RTRS_PROBE_BYTES,
		.lkey = conn->qp->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &probe->write_cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.remote_addr = probe->path->rbufs[0].addr,
		.rkey = probe->path->rbufs[0].rkey,
	};

	return rtrs_conn_post(conn, &wr.wr, &wr.wr, 1, true);
}

/**
 * rtrs_clt_probe_run() - see that large packets get through, both ways if the server takes part
 * @probe: prepared; the info exchange is done
 *
 * Context: process, path mutex held; sleeps for some seconds at most.
 * Return: 0; -EMSGSIZE if they do not, which is noted as the path's failure; or another negative errno.
 */
int rtrs_clt_probe_run(struct rtrs_clt_probe *probe)
{
	struct rtrs_clt_path *path = probe->path;
	u32 timeout_ms = min(READ_ONCE(path->sess->timing.connect_timeout_ms), RTRS_CLT_PROBE_MS);
	bool written;
	int ret;

	ret = rtrs_clt_probe_post_write(probe);
	if (ret)
		return ret;
	ret = rtrs_clt_wait_connecting(path, smp_load_acquire(&probe->written) &&
					     (!probe->buf || smp_load_acquire(&probe->received)), timeout_ms);
	if (!ret && probe->buf && probe->received_len != RTRS_PROBE_BYTES) {
		rtrs_clt_path_fail(path, "malformed probe, %u bytes\n", probe->received_len);
		return -EPROTO;
	}
	/*
	 * The server closes the path when its adapter has given up.  This side's adapter may try for longer than the
	 * probe may take: it depends on ack_timeout_ms.
	 */
	written = smp_load_acquire(&probe->written);
	if (ret == -ETIMEDOUT || (ret == -ECONNRESET && written)) {
		rtrs_clt_probe_lost(path, !written);
		return -EMSGSIZE;
	}
	return ret;
}
