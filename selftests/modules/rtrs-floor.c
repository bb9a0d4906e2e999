// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtrs-floor: what the messages of RTRS cost with nothing around them, for the benchmark.  README beside this
 * has how it is used.
 *
 * Operation: client and server are two ends of one queue pair each, connected over the given addresses of
 * this machine.  A slot is one request on its way: the client writes it into the server's slot, with the
 * slot's number as immediate, and the server answers with an immediate in the same manner.  Memory is registered
 * once.  Completions are polled from a plain unbound workqueue, sends are signalled now and then.
 *
 * Ownership: a run owns both ends and whatever hangs on them; floor_end_destroy() first has all work requests
 * come back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

MODULE_DESCRIPTION("Raw verbs with the message patterns of RTRS, for the benchmark");
MODULE_LICENSE("GPL");

#define FLOOR_LINE_BYTES	256
#define FLOOR_HEADER_BYTES	64
#define FLOOR_MAX_BYTES		SZ_1M
#define FLOOR_MAX_DEPTH		128
#define FLOOR_PORT		1240
#define FLOOR_STEP_MS		5000
#define FLOOR_RUN_MS		600000
/* Every so many sends one asks for its completion. */
#define FLOOR_SIGNAL		16
#define FLOOR_POLL		16

struct floor_run;

/* What a run does otherwise than in the cheapest way; bits, and words by their numbers. */
#define FLOOR_EACH_SIGNALED	BIT(0)
#define FLOOR_INLINE		BIT(1)
#define FLOOR_SRQ		BIT(2)
#define FLOOR_APART		BIT(3)
#define FLOOR_LIST		BIT(4)
#define FLOOR_SEND		BIT(5)
#define FLOOR_CORE_BOUND	BIT(6)
#define FLOOR_CORE_UNBOUND	BIT(7)
#define FLOOR_CORE_SOFTIRQ	BIT(8)
#define FLOOR_CORE		(FLOOR_CORE_BOUND | FLOOR_CORE_UNBOUND | FLOOR_CORE_SOFTIRQ)
/* They are about a request without data, or about an answer with data. */
#define FLOOR_READ_ONLY		(FLOOR_INLINE | FLOOR_APART | FLOOR_LIST)

static const char * const floor_options[] = {
	"signal", "inline", "srq", "apart", "list", "send", "core-bound", "core-unbound", "core-softirq",
};

/**
 * struct floor_slot - memory of one request, at one end
 * @mem: data, and after them the header
 * @dma: the same for the device
 * @mr: what opens it to the other end
 * @wr: what this end sends
 * @data: what is sent ahead of it, with FLOOR_APART and FLOOR_LIST; else without elements
 * @sge: where that is
 */
struct floor_slot {
	void *mem;
	u64 dma;
	struct ib_mr *mr;
	struct ib_rdma_wr wr;
	struct ib_rdma_wr data;
	struct ib_sge sge[2];
};

/**
 * struct floor_end - client or server
 * @run: what it belongs to
 * @id: id of the connection manager, with the queue pair
 * @pd: protection domain
 * @cq: of sends and receives
 * @srq: where receives are, with FLOOR_SRQ
 * @work: polls @cq
 * @step: a step of connecting, or a registration, has come to its end
 * @status: how
 * @sent: how many were sent, for the signals
 * @send_cqe: completion of those that have one
 * @recv_cqe: completion of receives
 * @reg_cqe: completion of registrations
 * @slots: as many as requests travel at once
 */
struct floor_end {
	struct floor_run *run;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct work_struct work;
	struct completion step;
	int status;
	atomic_t sent;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	struct ib_cqe reg_cqe;
	struct floor_slot *slots;
};

/**
 * struct floor_run - one measurement
 * @src: the client's address
 * @dst: the server's
 * @is_read: data travel from server to client
 * @options: FLOOR_*
 * @bytes: how many, in each request
 * @depth: requests that travel at once
 * @rounds: requests in all
 * @started: so many were sent; after the first @depth the client's poller alone counts
 * @answered: so many came back
 * @error: what ended it early
 * @over: nothing more will happen
 * @client: one end
 * @server: the other; its id is NULL until somebody connects
 */
struct floor_run {
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	bool is_read;
	u32 options;
	u32 bytes;
	u32 depth;
	u32 rounds;
	u32 started;
	u32 answered;
	int error;
	struct completion over;
	struct floor_end client;
	struct floor_end server;
};

static struct workqueue_struct *floor_wq;
static struct dentry *floor_dir;
/* One run at a time; guards floor_ns. */
static DEFINE_MUTEX(floor_mutex);
static u64 floor_ns;

static void floor_fail(struct floor_run *run, int error)
{
	cmpxchg(&run->error, 0, error);
	complete(&run->over);
}

/* ---------------------------------------------------------------- completions */

static void floor_poll(struct work_struct *work)
{
	struct floor_end *end = container_of(work, struct floor_end, work);
	struct ib_wc wcs[FLOOR_POLL];
	int nr, i;

	do {
		while ((nr = ib_poll_cq(end->cq, FLOOR_POLL, wcs)) > 0)
			for (i = 0; i < nr; i++)
				wcs[i].wr_cqe->done(end->cq, &wcs[i]);
	} while (ib_req_notify_cq(end->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static void floor_completion(struct ib_cq *cq, void *ctx)
{
	struct floor_end *end = ctx;

	queue_work(floor_wq, &end->work);
}

static void floor_cq_event(struct ib_event *event, void *ctx)
{
	struct floor_end *end = ctx;

	floor_fail(end->run, -EIO);
}

static size_t floor_slot_bytes(const struct floor_run *run)
{
	return run->bytes + FLOOR_HEADER_BYTES;
}

/* With FLOOR_SEND messages go where a receive says: into slots in turn, whichever they are of. */
static int floor_post_recv(struct floor_end *end, u32 nr)
{
	struct ib_sge sge = {
		.addr = end->slots[nr].dma,
		.length = floor_slot_bytes(end->run),
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &end->recv_cqe,
		.sg_list = &sge,
		.num_sge = end->run->options & FLOOR_SEND ? 1 : 0,
	};

	return end->srq ? ib_post_srq_recv(end->srq, &wr, NULL) : ib_post_recv(end->id->qp, &wr, NULL);
}

/* Send what the slot holds; @nr of its elements. */
static int floor_post(struct floor_end *end, struct floor_slot *slot, int nr)
{
	u32 options = end->run->options;
	bool signal = atomic_inc_return(&end->sent) % FLOOR_SIGNAL == 0 || (options & FLOOR_EACH_SIGNALED);
	struct ib_send_wr *first = &slot->wr.wr;
	int ret;

	slot->wr.wr.num_sge = nr;
	slot->wr.wr.send_flags = signal ? IB_SEND_SIGNALED : 0;
	if ((options & FLOOR_INLINE) && end == &end->run->client)
		slot->wr.wr.send_flags |= IB_SEND_INLINE;
	if (slot->data.wr.num_sge) {
		slot->wr.wr.num_sge = 0;
		if (options & FLOOR_LIST) {
			first = &slot->data.wr;
		} else {
			ret = ib_post_send(end->id->qp, &slot->data.wr, NULL);
			if (ret)
				return ret;
		}
	}
	return ib_post_send(end->id->qp, first, NULL);
}

/* A write has its data first; a read's request is the header alone. */
static int floor_request(struct floor_run *run, u32 nr)
{
	return floor_post(&run->client, &run->client.slots[nr], run->is_read ? 1 : 2);
}

static int floor_answer(struct floor_run *run, u32 nr)
{
	return floor_post(&run->server, &run->server.slots[nr], run->is_read ? 1 : 0);
}

static void floor_client_recv(struct floor_run *run, u32 nr)
{
	int ret = 0;

	if (run->started < run->rounds) {
		run->started++;
		ret = floor_request(run, nr);
	}
	if (ret)
		floor_fail(run, ret);
	else if (++run->answered == run->rounds)
		complete(&run->over);
}

static void floor_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = cq->cq_context;
	struct floor_run *run = end->run;
	u32 nr;
	int ret;

	if (wc->status != IB_WC_SUCCESS)
		return floor_fail(run, -ECONNRESET);
	nr = be32_to_cpu(wc->ex.imm_data);
	ret = nr < run->depth ? floor_post_recv(end, nr) : -EPROTO;
	if (!ret && end == &run->server)
		ret = floor_answer(run, nr);
	if (ret)
		floor_fail(run, ret);
	else if (end == &run->client)
		floor_client_recv(run, nr);
}

static void floor_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = cq->cq_context;

	if (wc->status != IB_WC_SUCCESS)
		floor_fail(end->run, -ECONNRESET);
}

static void floor_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = cq->cq_context;

	end->status = wc->status == IB_WC_SUCCESS ? 0 : -EIO;
	complete(&end->step);
}

/* ---------------------------------------------------------------- an end */

static int floor_wait(struct floor_end *end)
{
	if (!wait_for_completion_timeout(&end->step, msecs_to_jiffies(FLOOR_STEP_MS)))
		return -ETIMEDOUT;
	return end->status;
}

static int floor_create_cq(struct floor_end *end, u32 wrs)
{
	struct ib_cq_init_attr attr = { .cqe = 2 * wrs };
	u32 options = end->run->options;
	struct ib_cq *cq;

	if (options & FLOOR_CORE) {
		cq = ib_alloc_cq(end->id->device, end, attr.cqe, 0,
				 options & FLOOR_CORE_BOUND ? IB_POLL_WORKQUEUE :
				 options & FLOOR_CORE_UNBOUND ? IB_POLL_UNBOUND_WORKQUEUE : IB_POLL_SOFTIRQ);
		if (IS_ERR(cq))
			return PTR_ERR(cq);
		end->cq = cq;
		return 0;
	}
	cq = ib_create_cq(end->id->device, floor_completion, floor_cq_event, end, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	end->cq = cq;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

static int floor_create_srq(struct floor_end *end, u32 wrs)
{
	struct ib_srq_init_attr attr = {
		.srq_type = IB_SRQT_BASIC,
		.attr.max_wr = wrs,
		.attr.max_sge = 1,
	};
	struct ib_srq *srq;

	srq = ib_create_srq(end->pd, &attr);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	end->srq = srq;
	return 0;
}

static int floor_create_qp(struct floor_end *end)
{
	/* Sends between two signals, each of two, are not known to be over; and a drain adds one. */
	u32 wrs = 4 * end->run->depth + 4 * FLOOR_SIGNAL;
	struct ib_qp_init_attr init = {
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap.max_send_wr = wrs,
		.cap.max_recv_wr = wrs,
		.cap.max_send_sge = 2,
		.cap.max_recv_sge = 1,
		.cap.max_inline_data = end->run->options & FLOOR_INLINE ? FLOOR_HEADER_BYTES : 0,
	};
	struct ib_pd *pd;
	int ret;

	pd = ib_alloc_pd(end->id->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	end->pd = pd;
	ret = floor_create_cq(end, wrs);
	if (ret)
		return ret;
	if (end->run->options & FLOOR_SRQ) {
		ret = floor_create_srq(end, wrs);
		if (ret)
			return ret;
	}
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	init.srq = end->srq;
	return rdma_create_qp(end->id, pd, &init);
}

static int floor_map_slot(struct floor_end *end, struct floor_slot *slot)
{
	size_t bytes = floor_slot_bytes(end->run);
	struct scatterlist sg;
	struct ib_mr *mr;
	u64 dma;

	slot->mem = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO);
	if (!slot->mem)
		return -ENOMEM;
	dma = ib_dma_map_single(end->id->device, slot->mem, bytes, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->id->device, dma))
		return -EIO;
	slot->dma = dma;
	mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, DIV_ROUND_UP(bytes, SZ_4K) + 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	slot->mr = mr;
	sg_init_one(&sg, slot->mem, bytes);
	sg_dma_address(&sg) = dma;
	sg_dma_len(&sg) = bytes;
	return ib_map_mr_sg(mr, &sg, 1, NULL, SZ_4K) == 1 ? 0 : -EINVAL;
}

/* Queue pair, memory and receives; its id is bound to a device. */
static int floor_end_create(struct floor_end *end)
{
	u32 i;
	int ret;

	ret = floor_create_qp(end);
	if (ret)
		return ret;
	end->slots = kcalloc(end->run->depth, sizeof(*end->slots), GFP_KERNEL);
	if (!end->slots)
		return -ENOMEM;
	for (i = 0; !ret && i < end->run->depth; i++)
		ret = floor_map_slot(end, &end->slots[i]);
	for (i = 0; !ret && i < end->run->depth; i++)
		ret = floor_post_recv(end, i);
	return ret;
}

static void floor_unmap_slot(struct floor_end *end, struct floor_slot *slot)
{
	size_t bytes = floor_slot_bytes(end->run);

	if (slot->mr)
		ib_dereg_mr(slot->mr);
	if (slot->dma)
		ib_dma_unmap_single(end->id->device, slot->dma, bytes, DMA_BIDIRECTIONAL);
	if (slot->mem)
		free_pages_exact(slot->mem, bytes);
}

static void floor_end_destroy(struct floor_end *end)
{
	u32 i;

	if (!end->id)
		return;
	if (end->id->qp) {
		rdma_disconnect(end->id);
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	if (end->srq)
		ib_destroy_srq(end->srq);
	if (end->cq && (end->run->options & FLOOR_CORE)) {
		ib_free_cq(end->cq);
	} else if (end->cq) {
		cancel_work_sync(&end->work);
		ib_destroy_cq(end->cq);
	}
	for (i = 0; end->slots && i < end->run->depth; i++)
		floor_unmap_slot(end, &end->slots[i]);
	kfree(end->slots);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	rdma_destroy_id(end->id);
}

/* ---------------------------------------------------------------- connecting */

static int floor_accept(struct floor_run *run, struct rdma_cm_id *id)
{
	struct floor_end *end = &run->server;
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	int ret;

	/* Somebody else: the connection manager rejects it and destroys the id. */
	if (end->id)
		return -EBUSY;
	id->context = end;
	end->id = id;
	ret = floor_end_create(end);
	if (!ret)
		ret = rdma_accept(id, &param);
	if (ret)
		floor_fail(run, ret);
	/* The id is the run's even so. */
	return 0;
}

static int floor_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct floor_end *end = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return floor_accept(end->run, id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		end->status = 0;
		complete(&end->step);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		floor_fail(end->run, -ECONNRESET);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		end->status = event->status < 0 ? event->status : -ECONNREFUSED;
		complete(&end->step);
		break;
	}
	return 0;
}

static int floor_connect(struct floor_run *run)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct floor_end *end = &run->client;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, floor_handler, end, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	end->id = id;
	ret = rdma_resolve_addr(id, (struct sockaddr *)&run->src, (struct sockaddr *)&run->dst, FLOOR_STEP_MS);
	if (!ret)
		ret = floor_wait(end);
	if (!ret)
		ret = rdma_resolve_route(id, FLOOR_STEP_MS);
	if (!ret)
		ret = floor_wait(end);
	if (!ret)
		ret = floor_end_create(end);
	if (!ret)
		ret = rdma_connect(id, &param);
	if (!ret)
		ret = floor_wait(end);
	return ret ? ret : floor_wait(&run->server);
}

static int floor_register(struct floor_end *end, struct floor_slot *slot)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &end->reg_cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = slot->mr,
		.key = slot->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	int ret = ib_post_send(end->id->qp, &wr.wr, NULL);

	return ret ? ret : floor_wait(end);
}

/* What one end sends from a slot into the same slot of the other: the header alone, or data and header. */
static void floor_prepare(struct floor_end *end, const struct floor_end *peer, u32 nr, bool header_only)
{
	struct floor_slot *slot = &end->slots[nr];
	const struct floor_slot *to = &peer->slots[nr];
	u32 lkey = end->pd->local_dma_lkey, bytes = end->run->bytes;
	struct ib_sge data = { .addr = slot->dma, .length = bytes, .lkey = lkey };
	struct ib_sge header = { .addr = slot->dma + bytes, .length = FLOOR_HEADER_BYTES, .lkey = lkey };

	slot->sge[0] = header_only ? header : data;
	slot->sge[1] = header;
	slot->wr.wr.wr_cqe = &end->send_cqe;
	slot->wr.wr.opcode = end->run->options & FLOOR_SEND ? IB_WR_SEND_WITH_IMM : IB_WR_RDMA_WRITE_WITH_IMM;
	slot->wr.wr.ex.imm_data = cpu_to_be32(nr);
	slot->wr.wr.sg_list = slot->sge;
	slot->wr.rkey = to->mr->rkey;
	slot->wr.remote_addr = to->dma + (header_only ? bytes : 0);
	if (end == &end->run->server && (end->run->options & (FLOOR_APART | FLOOR_LIST))) {
		slot->data = slot->wr;
		slot->data.wr.opcode = IB_WR_RDMA_WRITE;
		slot->data.wr.num_sge = 1;
		slot->data.wr.next = &slot->wr.wr;
		if (end->run->options & FLOOR_APART)
			slot->data.wr.next = NULL;
	}
}

static int floor_open(struct floor_run *run)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < run->depth; i++)
		ret = floor_register(&run->client, &run->client.slots[i]);
	for (i = 0; !ret && i < run->depth; i++)
		ret = floor_register(&run->server, &run->server.slots[i]);
	for (i = 0; !ret && i < run->depth; i++) {
		floor_prepare(&run->client, &run->server, i, run->is_read);
		floor_prepare(&run->server, &run->client, i, false);
	}
	return ret;
}

/* ---------------------------------------------------------------- a run */

static int floor_go(struct floor_run *run)
{
	u64 start = ktime_get_ns();
	long left;
	u32 i;
	int ret;

	run->started = run->depth;
	for (i = 0; i < run->depth; i++) {
		ret = floor_request(run, i);
		if (ret)
			return ret;
	}
	left = wait_for_completion_killable_timeout(&run->over, msecs_to_jiffies(FLOOR_RUN_MS));
	floor_ns = ktime_get_ns() - start;
	if (left <= 0)
		return left ? left : -ETIMEDOUT;
	return run->error;
}

static void floor_end_init(struct floor_run *run, struct floor_end *end)
{
	end->run = run;
	end->send_cqe.done = floor_send_done;
	end->recv_cqe.done = floor_recv_done;
	end->reg_cqe.done = floor_reg_done;
	INIT_WORK(&end->work, floor_poll);
	init_completion(&end->step);
}

static int floor_measure(struct floor_run *run)
{
	struct rdma_cm_id *listener;
	int ret;

	init_completion(&run->over);
	floor_end_init(run, &run->client);
	floor_end_init(run, &run->server);
	listener = rdma_create_id(&init_net, floor_handler, &run->server, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = rdma_bind_addr(listener, (struct sockaddr *)&run->dst);
	if (!ret)
		ret = rdma_listen(listener, 1);
	if (!ret)
		ret = floor_connect(run);
	if (!ret)
		ret = floor_open(run);
	if (!ret)
		ret = floor_go(run);
	/* Nobody can become the server after this. */
	rdma_destroy_id(listener);
	floor_end_destroy(&run->client);
	floor_end_destroy(&run->server);
	return ret;
}

static int floor_number(const char *name, const char *word, u32 min, u32 max, u32 *result)
{
	if (!kstrtou32(word, 10, result) && *result >= min && *result <= max)
		return 0;
	pr_err("%s=%s: wanted %u to %u\n", name, word, min, max);
	return -EINVAL;
}

static int floor_address(const char *name, const char *word, const char *port, struct sockaddr_storage *addr)
{
	if (!inet_pton_with_scope(&init_net, AF_UNSPEC, word, port, addr))
		return 0;
	pr_err("%s=%s: wanted an IP address\n", name, word);
	return -EINVAL;
}

static int floor_option(struct floor_run *run, const char *word)
{
	int nr = match_string(floor_options, ARRAY_SIZE(floor_options), word);

	if (nr < 0 || (!run->is_read && (BIT(nr) & FLOOR_READ_ONLY))) {
		pr_err("option %s: there is none of this name for the pattern\n", word);
		return -EINVAL;
	}
	run->options |= BIT(nr);
	return 0;
}

/* "<source> <destination> read|write <bytes> <depth> <rounds> [<option>...]" */
static int floor_parse(struct floor_run *run, char **words)
{
	char **option;
	int ret;

	ret = floor_address("source", words[0], NULL, &run->src);
	if (!ret)
		ret = floor_address("destination", words[1], __stringify(FLOOR_PORT), &run->dst);
	if (ret)
		return ret;
	run->is_read = !strcmp(words[2], "read");
	if (!run->is_read && strcmp(words[2], "write")) {
		pr_err("pattern=%s: wanted read or write\n", words[2]);
		return -EINVAL;
	}
	ret = floor_number("bytes", words[3], 1, FLOOR_MAX_BYTES, &run->bytes);
	if (!ret)
		ret = floor_number("depth", words[4], 1, FLOOR_MAX_DEPTH, &run->depth);
	if (!ret)
		ret = floor_number("rounds", words[5], run->depth, U32_MAX, &run->rounds);
	for (option = &words[6]; !ret && *option; option++)
		ret = floor_option(run, *option);
	return ret;
}

static int floor_command(char *line)
{
	struct floor_run *run;
	char **words;
	int nr, ret = -EINVAL;

	run = kzalloc(sizeof(*run), GFP_KERNEL);
	words = argv_split(GFP_KERNEL, line, &nr);
	if (!run || !words)
		ret = -ENOMEM;
	else if (nr < 6)
		pr_err("%d words: wanted <source> <destination> read|write <bytes> <depth> <rounds> [<option>...]\n", nr);
	else
		ret = floor_parse(run, words);
	if (!ret)
		ret = floor_measure(run);
	if (words)
		argv_free(words);
	kfree(run);
	return ret;
}

static ssize_t floor_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	char *line;
	int ret;

	if (count > FLOOR_LINE_BYTES)
		return -E2BIG;
	line = memdup_user_nul(buf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&floor_mutex);
	ret = floor_command(line);
	mutex_unlock(&floor_mutex);
	kfree(line);
	return ret ? ret : count;
}

static ssize_t floor_read(struct file *filp, char __user *buf, size_t count, loff_t *ppos)
{
	char text[24];
	int len;

	mutex_lock(&floor_mutex);
	len = scnprintf(text, sizeof(text), "%llu\n", floor_ns);
	mutex_unlock(&floor_mutex);
	return simple_read_from_buffer(buf, count, ppos, text, len);
}

static const struct file_operations floor_fops = {
	.owner = THIS_MODULE,
	.read = floor_read,
	.write = floor_write,
};

static int __init floor_init(void)
{
	floor_wq = alloc_workqueue("rtrs-floor", WQ_UNBOUND, 0);
	if (!floor_wq)
		return -ENOMEM;
	floor_dir = debugfs_create_dir("rtrs-floor", NULL);
	debugfs_create_file("run", 0600, floor_dir, NULL, &floor_fops);
	return 0;
}

static void __exit floor_exit(void)
{
	debugfs_remove(floor_dir);
	destroy_workqueue(floor_wq);
}

module_init(floor_init);
module_exit(floor_exit);
