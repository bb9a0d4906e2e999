/* SPDX-License-Identifier: GPL-2.0-only */
/* Proof that large packets get through before a path carries requests. */
#ifndef _RTRS_CLT_PROBE_H
#define _RTRS_CLT_PROBE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rtrs_clt_path;

/**
 * struct rtrs_clt_probe - the proof while it runs
 * @path: the path
 * @write_cqe: handler of the client's RDMA WRITE
 * @recv_cqe: handler of the server's message
 * @buf: room for that message, NULL without extension PROBE
 * @buf_dma: mapped address of @buf
 * @zeros_dma: mapped address of what the client writes
 * @received_len: bytes of the server's message, valid when @received
 * @written: the write is acknowledged
 * @received: the server's message came
 */
struct rtrs_clt_probe {
	struct rtrs_clt_path *path;
	struct ib_cqe write_cqe;
	struct ib_cqe recv_cqe;
	void *buf;
	u64 buf_dma;
	u64 zeros_dma;
	u32 received_len;
	bool written;
	bool received;
};

int rtrs_clt_probe_alloc(struct rtrs_clt_probe *probe);
void rtrs_clt_probe_free(struct rtrs_clt_probe *probe);
int rtrs_clt_probe_post_recv(struct rtrs_clt_probe *probe);
int rtrs_clt_probe_run(struct rtrs_clt_probe *probe);

#endif /* _RTRS_CLT_PROBE_H */
