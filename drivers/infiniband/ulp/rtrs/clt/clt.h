/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of the client: session, path, connection, request.
 *
 * Lock letters used below: I fixed after set-up; S path state_lock; M path mutex, held by whoever
 * connects or tears down; P session paths_mutex, readers may use RCU; E session ev_mutex; A atomic;
 * N path name_mutex; L session slots.lock; O whoever owns the request (see io.c); C fixed while the path is
 * connected, changed under M only when no request can be submitted to the path.
 *
 * Lock order: Documentation/locking.rst.
 */
#ifndef _RTRS_CLT_H
#define _RTRS_CLT_H

#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <rdma/rtrs.h>

#include "../proto/addr.h"
#include "../proto/mp_policy.h"
#include "../proto/path_fsm.h"
#include "../proto/retry.h"
#include "../proto/wire.h"
#include "../verbs/conn.h"
#include "../verbs/device.h"
#include "../verbs/heartbeat.h"
#include "../verbs/mr.h"
#include "../verbs/stats.h"
#include "bounce.h"
#include "failure.h"
#include "latency.h"
#include "load.h"
#include "recovery.h"
#include "slots.h"

struct rtrs_clt_path;

/*
 * SGEs for the data of a WRITE; more elements than that are registered as one region instead.  Each
 * one costs memory of the adapter's send queues, so there are few.  A device in software has these in
 * ordinary memory: there the largest WRITE in whole pages needs no registration.
 */
#define RTRS_CLT_DATA_SGES		16
#define RTRS_CLT_DATA_SGES_MAX		31
/* On the service connection, whose messages have little; its queue would be as large as that of an I/O connection. */
#define RTRS_CLT_SERVICE_SGES		1
/* What any session offers its user, if the device can, and what one with a server for large requests does. */
#define RTRS_CLT_SEGMENTS		128
#define RTRS_CLT_SEGMENTS_MAX		256
#define RTRS_CLT_MAX_HDR_BYTES		4096
/* What a slot has room for from the start: any message of RNBD, and the table of a list (batch.c). */
#define RTRS_CLT_MSG_BYTES		512
/*
 * Resolving an address ends before the wait for the connection does, so that the reason is told right.
 * It is repeated, for it can miss the one answer of a neighbour that nobody has talked to before.
 */
#define RTRS_CLT_RESOLVE_TIMEOUT_MS	2000
#define RTRS_CLT_RESOLVE_TRIES		3

/* Bits of rtrs_clt_req.state; see done.c for who sets them and who completes. */
#define RTRS_REQ_BUSY		BIT(0)
#define RTRS_REQ_POSTED		BIT(1)
#define RTRS_REQ_RESPONDED	BIT(2)
#define RTRS_REQ_SENT		BIT(3)
#define RTRS_REQ_CLAIMED	BIT(4)
#define RTRS_REQ_ASKED		BIT(5)	/* the server was asked for it on its connection (overdue.c) */
#define RTRS_REQ_EXPIRED	BIT(6)	/* its path was given up for it, so it fails (overdue.c) */
#define RTRS_REQ_RESEND		BIT(7)	/* the path's resend work has it */
/* What may be set while it waits for its answer. */
#define RTRS_REQ_MAY_WAIT	(RTRS_REQ_POSTED | RTRS_REQ_SENT | RTRS_REQ_ASKED | RTRS_REQ_EXPIRED)
/* BUSY, and above the bits the connection that the answer has to come on. */
#define RTRS_REQ_WAITS_ON(cid)	(((int)(cid) + 1) << 8 | RTRS_REQ_BUSY)
#define RTRS_REQ_CID(state)	(((state) >> 8) - 1)
/* A "result" that is none: the answer is lost, the request is sent again. No server can answer that. */
#define RTRS_CLT_SEND_AGAIN	1
#define RTRS_REQ_ALL_DONE	(RTRS_REQ_POSTED | RTRS_REQ_RESPONDED | RTRS_REQ_SENT)

/**
 * struct rtrs_clt_req - a slot on one path
 * @path: I. the path
 * @slot: I. the slot
 * @seq: O. requests of the slot on the path since that was connected, this one included
 * @state: A. RTRS_REQ_* bits, 0 when idle
 * @conn: O. connection it was sent on
 * @con: O. number of @conn, when the path is lost: @conn is gone then
 * @dir: O. READ or WRITE
 * @bounced: O. a READ through one of these bounce buffers: nothing mapped, nothing registered; else NULL
 * @bounce_nr: O. which of them
 * @bounce_off: O. where in it, bytes
 * @invalidated: O. the server invalidated the region of a READ
 * @invs_before: O. @nr_invs of @conn before the region was registered: an older one was of an older registration
 * @start_ns: O. when the ULP submitted it, rtrs_lat_now()
 * @sent_at: O. jiffies when it was sent on this path
 * @told: A. state that the server has told, and @seq of then (overdue.c); 0: none
 * @posted_ns: O. when it was about to be posted on this path, 0 unless its parts are taken (latency.c)
 * @srv_time: O. immediate of type SERVER_TIME that came with the answer, 0 if none did
 * @sent_ns: O. when it was sent on this path, 0 unless its time is taken (mp.c)
 * @sent_inflight: O. requests that were in flight on @conn then, itself included
 * @cpu: O. CPU that sent it
 * @error: O. result, valid with RTRS_REQ_RESPONDED
 * @conf_fn: O. completion callback of the ULP
 * @priv: O. its argument
 * @sg: O. data pages
 * @sg_cnt: O. entries of @sg
 * @nents: O. entries after DMA mapping, 0 if not mapped
 * @data_len: O. bytes of data
 * @usr_len: O. bytes of user message
 * @buf: O. user message and RTRS header; NULL until the path first has the slot
 * @buf_len: O. room in @buf
 * @dma: O. mapped address of @buf
 * @old_buf: O. what was @buf before a message came that did not fit; the adapter may still read it. NULL if none did
 * @old_dma: O. mapped address of @old_buf
 * @mr: O. region for READ data, or for a WRITE with many elements; NULL if the path does not have the slot
 * @sent_cqe: I. handler of the send, if it reads the data pages
 * @inv_cqe: I. handler of an awaited LOCAL_INV
 */
struct rtrs_clt_req {
	struct rtrs_clt_path *path;
	u16 slot;
	u32 seq;
	atomic_t state;
	struct rtrs_clt_conn *conn;
	u16 con;
	u8 dir;
	const struct rtrs_clt_bounce_bufs *bounced;
	u16 bounce_nr;
	bool invalidated;
	u32 invs_before;
	u32 bounce_off;
	u64 start_ns;
	unsigned long sent_at;
	u32 told;
	u64 posted_ns;
	u32 srv_time;
	u64 sent_ns;
	u32 sent_inflight;
	int cpu;
	int error;
	void (*conf_fn)(void *priv, int errno);
	void *priv;
	struct scatterlist *sg;
	unsigned int sg_cnt;
	unsigned int nents;
	size_t data_len;
	size_t usr_len;
	void *buf;
	size_t buf_len;
	u64 dma;
	void *old_buf;
	u64 old_dma;
	struct rtrs_mr *mr;
	struct ib_cqe sent_cqe;
	struct ib_cqe inv_cqe;
};

/**
 * struct rtrs_clt_rsp - one receive with a buffer for RKEY_RSP
 * @cqe: handler
 */
struct rtrs_clt_rsp {
	struct ib_cqe cqe;
};

/**
 * struct rtrs_clt_conn - connection of a client path
 * @conn: CM id and queue pair
 * @path: I. the path
 * @established: A. the CM reported ESTABLISHED
 * @dying: handler lock of the CM id. Being torn down: its handler must not create anything
 * @data_sges: C. SGEs for data in one send; 0: every WRITE registers its pages
 * @load: what it has to do
 * @inv_rkey: handlers of this connection only. Key of the last SEND_WITH_INV not yet claimed by a response
 * @nr_invs: handlers of this connection only, for writing. How many of those came; wraps
 * @srv_time: handlers of this connection only. The last SERVER_TIME, 0 if a response has claimed it
 * @rsps: C. receives with buffers, NULL unless the server sends new rkeys
 * @rsp_buf: C. their buffers, 8 bytes each
 * @rsp_dma: C. mapped address of @rsp_buf
 * @nr_rsps: C. number of @rsps
 */
struct rtrs_clt_conn {
	struct rtrs_conn conn;
	struct rtrs_clt_path *path;
	bool established;
	bool dying;
	u32 data_sges;
	struct rtrs_clt_load load;
	u32 inv_rkey;
	u32 nr_invs;
	u32 srv_time;
	struct rtrs_clt_rsp *rsps;
	struct rtrs_msg_rkey_rsp *rsp_buf;
	u64 rsp_dma;
	u32 nr_rsps;
};

/**
 * struct rtrs_clt_mrs - regions that are freed together
 * @mr: the regions
 * @nr: how many are allocated
 */
struct rtrs_clt_mrs {
	struct rtrs_mr *mr;
	u32 nr;
};

/**
 * struct rtrs_clt_link - verbs objects of one attempt to connect (link.c)
 * @entry: in the list of links, guarded by rtrs_clt_links_lock
 * @work: destroys them
 * @path: I. the path, with a reference
 * @dev: device, from the first connection on
 * @pd: its protection domain
 * @slot_mrs: a region for each slot that the path has
 * @table_mr: that of the path's table
 * @bounce_mrs: those of the slots' bounce buffers
 * @shared_mrs: those of the shared ones
 * @nr_conns: I. connections
 * @conns: the connections
 */
struct rtrs_clt_link {
	struct list_head entry;
	struct work_struct work;
	struct rtrs_clt_path *path;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct rtrs_clt_mrs slot_mrs;
	struct rtrs_clt_mrs table_mr;
	struct rtrs_clt_mrs bounce_mrs;
	struct rtrs_clt_mrs shared_mrs;
	u16 nr_conns;
	struct rtrs_clt_conn conns[];
};

/**
 * struct rtrs_clt_path - one way to the server
 *
 * @sess: I. the session
 * @uuid: I. identity on the wire
 * @addr: I. addresses as given; @addr.src is NULL if routing chooses
 * @src: I. storage of @addr.src
 * @dst: I. storage of @addr.dst
 * @name: N, and S to change it. "src@dst" with the real source address once it is known
 * @hca_name: likewise; device of the last connection
 * @hca_port: likewise; its port
 * @state_lock: guards @_state changes
 * @_state: S. enum rtrs_clt_path_state; read with rtrs_clt_path_state()
 * @error: A. first error since the last attempt began, 0 if none
 * @state_wq: woken at each step and each finished attempt
 * @attempts: S. finished attempts to connect
 * @attempt_result: S. result of the last finished attempt
 * @mutex: one connect or tear-down at a time
 * @dwork: connects and tears down
 * @retry_now: A. bit 0: skip the delay before the next attempt
 * @retry_at: M. jiffies of the next attempt, 0 if not planned yet
 * @failures: M. failed attempts since the path was last up, or an answer came after none had
 * @flaps: M. losses in a row of a path that was not useful (proto/backoff.c)
 * @connected_at: M. jiffies when it connected last
 * @on_trial: M. connected, but not useful yet after failures
 * @unanswered: M. attempts in a row that nobody answered
 * @patience: M. all of them since the path was up
 * @count_at: M. jiffies from which the next attempt without an answer counts as a failure
 * @recon_cnt: M. attempts in all, travels with the connection request
 * @was_up: M. the service connection was established once
 * @counted_up: M. counts in @sess->paths_up
 * @loss: M. why it was last lost when it was up
 * @max_failures_hit: M. the server's geometry changed, do not try again
 * @losses: M for writers. how often it was lost, or closed, while it was up
 * @failure: why it was lost or did not connect, and what of that was logged
 * @loss_error: M for writers. negative errno of the last time, 0 on request
 * @link: C. verbs objects of the connection, NULL when torn down
 * @links: A. links that are not destroyed yet, the present one too
 * @dev: C. device, NULL when torn down
 * @port: A. port of the device of the last connection
 * @dev_index: A. the number that device has, or had, among all
 * @ifindex: A. network device of the last connection, 0 if there was none or it has none
 * @pd: C. protection domain of this path alone, the link's
 * @conns: C. connections, the link's
 * @new_rkey: C. completions carry the next rkey of their slot
 * @offered: C. extensions that the server was told of; settled by the service connection
 * @features: C. extensions that both sides have
 * @srv_id: C. the server's number of this path, with extensions
 * @srv_sess: C. the server's number of the session that the path belongs to there, with extension SESSION, else 0
 * @fence: C. to be waited for when the path is lost, NULL without extension FENCE
 * @max_io_size: C. bytes of data per request that the server has announced
 * @chunk_size: C. bytes of one chunk of the server
 * @max_hdr_size: C. bytes of user message and header
 * @max_segments: C. elements of a request's list that the path is good for
 * @mr_pages: C. pages one region maps
 * @data_sges: C. what an I/O connection has of these
 * @ask_inval: C. the server is asked to invalidate what a READ registered
 * @bounce: C. buffers for small READs
 * @reqs: C. a request for each slot; allocated at the first connect, freed with the path
 * @nr_mapped: M. so many of them have their message mapped
 * @rbufs: C. the server's chunks; a slot's entry belongs to the owner of its request, or to M while it has none
 * @credits: what it has for its slots
 * @inflight: A. requests on the path
 * @shortage: what it was short of lately
 * @hb: heartbeat
 * @asked_at: A. jiffies of the oldest question that the server has not answered, 0 if there is none (overdue.c)
 * @resend_work: sends again what the server does not have
 * @beat_inflight: A. requests that were on the path when the last heartbeat went out
 * @beats: A. what heartbeats have told; written by the receiver of the service connection
 * @stats: per-CPU counters
 * @lat: where the time of its requests went
 * @recovery: what losing the path has cost
 * @kobj: sysfs directory and lifetime
 * @name_mutex: N. guards names and adding or renaming @kobj; held for moments only, and by no file of @kobj's
 * @published: N. @kobj is in sysfs
 * @removing: A. bit 0: somebody is in rtrs_clt_path_destroy()
 */
struct rtrs_clt_path {
	struct rtrs_clt_sess *sess;
	uuid_t uuid;
	struct rtrs_addr addr;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	char name[RTRS_ADDR_PAIR_STR_LEN];
	char hca_name[IB_DEVICE_NAME_MAX];
	u32 hca_port;

	spinlock_t state_lock;
	u8 _state;
	int error;
	wait_queue_head_t state_wq;
	unsigned int attempts;
	int attempt_result;

	struct mutex mutex;
	struct delayed_work dwork;
	unsigned long retry_now;
	unsigned long retry_at;
	u32 failures;
	u32 flaps;
	unsigned long connected_at;
	bool on_trial;
	u32 unanswered;
	u32 patience;
	unsigned long count_at;
	u16 recon_cnt;
	bool was_up;
	bool counted_up;
	enum rtrs_clt_loss loss;
	bool max_failures_hit;
	u32 losses;
	int loss_error;
	struct rtrs_clt_failure failure;

	struct rtrs_clt_link *link;
	atomic_t links;
	struct ib_device *dev;
	u32 port;
	u32 dev_index;
	int ifindex;
	struct ib_pd *pd;
	struct rtrs_clt_conn *conns;
	bool new_rkey;
	u16 offered;
	u16 features;
	u32 srv_id;
	u32 srv_sess;
	struct rtrs_clt_fence *fence;
	u32 max_io_size;
	u32 chunk_size;
	u32 max_hdr_size;
	u32 max_segments;
	u32 mr_pages;
	u32 data_sges;
	bool ask_inval;
	struct rtrs_clt_bounce bounce;
	struct rtrs_clt_req *reqs;
	u32 nr_mapped;
	struct rtrs_rbuf *rbufs;
	struct rtrs_clt_credits credits;
	atomic_t inflight;
	struct rtrs_clt_shortage shortage;
	struct rtrs_hb hb;
	unsigned long asked_at;
	struct work_struct resend_work;
	int beat_inflight;
	struct rtrs_mp_beats beats;
	struct rtrs_io_stats __percpu *stats;
	struct rtrs_clt_lat lat;
	struct rtrs_clt_recovery recovery;

	struct kobject kobj;
	struct mutex name_mutex;
	bool published;
	unsigned long removing;
};

/**
 * struct rtrs_clt_paths - the paths of a session, replaced as a whole
 * @rcu: for freeing after a grace period
 * @nr: entries
 * @path: the paths
 */
struct rtrs_clt_paths {
	struct rcu_head rcu;
	unsigned int nr;
	struct rtrs_clt_path *path[];
};

/**
 * struct rtrs_clt_sess - session with one server
 *
 * @entry: entry in the list of all sessions, guarded by its mutex (open.c)
 * @name: I. its name, also in sysfs
 * @uuid: I. identity on the wire
 * @ops: I. callbacks of the ULP
 * @port: I. port of all paths
 * @reconnect_delay_ms: I. longest delay between two attempts
 * @max_reconnect_attempts: A. failed attempts before a path is given up, -1 never
 * @timing: A. when a path is lost; for a connection, what it was when that was made
 * @nr_conns: I. connections of each path
 * @nr_io_conns: I. of these, I/O connections with interrupts; the service connection comes before,
 *	polled connections after them
 * @paths_mutex: serialises adding and removing paths
 * @paths: P. the paths
 * @paths_wait: woken when a path has left @paths
 * @policy: A. enum rtrs_mp_policy
 * @rr: per-CPU position of round-robin, and what service-time draws from
 * @geo_mutex: guards the two sizes below while paths connect
 * @queue_depth: slots; 0 until the server has told it to the first path, then fixed
 * @mem_bits: bits of the immediate that hold the offset in a chunk; as @queue_depth
 * @max_io_size: E. bytes per request, 0 until the first path is up; only ever lowered
 * @max_segments: E. sg entries per request; as @max_io_size
 * @features: E. extensions that all paths have which are up
 * @ev_mutex: serialises link events
 * @paths_up: E. paths that are up
 * @unsteady: A. the last path that was lost had not been useful (proto/backoff.c), and none was since
 * @srv_sess: E. the server's number of the session that the ULP knows, 0 if it gave none
 * @opened: E. rtrs_clt_open() is done, link events are wanted
 * @closing: E. rtrs_clt_close() runs; no reconnect events any more
 * @fence_lock: guards @fences and the step of a path to CONNECTED; only state_lock and queues inside
 * @fences: struct rtrs_clt_fence that are waited for, or left behind
 * @fence_wq: woken when one is up, a path is lost, or none counts as up any more
 * @recovery: what losing paths has cost, those that were removed too
 * @lat: where the time of requests went on paths that were removed
 * @slots: the slots, from the first permit on
 * @permits: I. array of permits
 * @permit_size: I. bytes of one, with the ULP's part
 * @dev: sysfs device and lifetime
 * @paths_kobj: I. sysfs directory "paths"
 * @published: @dev is in sysfs; used by open and close only
 */
struct rtrs_clt_sess {
	struct list_head entry;
	char name[RTRS_NAME_LEN];
	uuid_t uuid;
	struct rtrs_clt_ops ops;
	u16 port;
	u32 reconnect_delay_ms;
	int max_reconnect_attempts;
	struct rtrs_clt_timing timing;
	u16 nr_conns;
	u16 nr_io_conns;

	struct mutex paths_mutex;
	struct rtrs_clt_paths __rcu *paths;
	wait_queue_head_t paths_wait;
	u8 policy;
	unsigned int __percpu *rr;

	struct mutex geo_mutex;
	u32 queue_depth;
	u32 mem_bits;
	u32 max_io_size;
	u32 max_segments;
	u16 features;

	struct mutex ev_mutex;
	unsigned int paths_up;
	bool unsteady;
	u32 srv_sess;
	bool opened;
	bool closing;

	spinlock_t fence_lock;
	struct list_head fences;
	wait_queue_head_t fence_wq;
	struct rtrs_clt_recovery recovery;
	struct rtrs_clt_lat_past lat;

	struct rtrs_clt_slots slots;
	void *permits;
	size_t permit_size;

	struct device dev;
	struct kobject *paths_kobj;
	bool published;
};

#define rtrs_clt_path_info(path, fmt, ...) \
	pr_info("session %s, path %s: " fmt, (path)->sess->name, (path)->name, ##__VA_ARGS__)
#define rtrs_clt_path_err(path, fmt, ...) \
	pr_err("session %s, path %s: " fmt, (path)->sess->name, (path)->name, ##__VA_ARGS__)
#define rtrs_clt_path_err_rl(path, fmt, ...) \
	pr_err_ratelimited("session %s, path %s: " fmt, (path)->sess->name, (path)->name, \
			   ##__VA_ARGS__)

/* A message also for the one whose request fails. */
#define rtrs_clt_err(report, fmt, ...) do {			\
	pr_err(fmt, ##__VA_ARGS__);				\
	rtrs_report_set(report, fmt, ##__VA_ARGS__);		\
} while (0)

/* The cause why a path is lost or does not connect, noted before the error is reported; logged if it is new. */
#define rtrs_clt_path_fail(path, fmt, ...) do {						\
	if (rtrs_clt_failure_is_new(path, fmt))						\
		rtrs_clt_path_err_rl(path, fmt, ##__VA_ARGS__);				\
	rtrs_clt_failure_note(path, fmt, ##__VA_ARGS__);				\
} while (0)

/**
 * rtrs_clt_path_state() - state of a path
 * @path: the path
 *
 * PAIRS: with the store-release in rtrs_clt_path_event(): who sees CONNECTED sees all that was set up
 * before.
 *
 * Context: any.  Return: the state, which may change at once unless the caller prevents it.
 */
static inline enum rtrs_clt_path_state rtrs_clt_path_state(const struct rtrs_clt_path *path)
{
	return smp_load_acquire(&path->_state);
}

static inline bool rtrs_clt_connecting(const struct rtrs_clt_path *path)
{
	return rtrs_clt_path_state(path) == RTRS_CLT_PATH_CONNECTING;
}

/* Wait for @cond while the path is CONNECTING; 0 if it came true. */
#define rtrs_clt_wait_connecting(path, cond, ms) ({					\
	struct rtrs_clt_path *__path = (path);						\
	long __left = wait_event_timeout(__path->state_wq,				\
					 (cond) || !rtrs_clt_connecting(__path),	\
					 msecs_to_jiffies(ms));				\
	!rtrs_clt_connecting(__path) ? (READ_ONCE(__path->error) ?: -ECONNABORTED) :	\
	__left ? 0 : -ETIMEDOUT;							\
})

/* What joins the tracepoints of a request. */
#define RTRS_CLT_REQ_IDS(req)	(req)->path->sess->name, (req)->path->name, (req)->conn->conn.cid, \
				(req)->slot, (req)->seq

/**
 * rtrs_clt_req_expect() - from now on the request may be answered
 * @req: the request, BUSY, all set up; it is posted next
 *
 * Context: any; its submitter.
 */
static inline void rtrs_clt_req_expect(struct rtrs_clt_req *req)
{
	/* PAIRS: rtrs_clt_claim() */
	atomic_set_release(&req->state, RTRS_REQ_WAITS_ON(req->conn->conn.cid));
}

/* Do the path's chunks come and go? */
static inline bool rtrs_clt_path_has_credits(const struct rtrs_clt_path *path)
{
	return path->features & RTRS_EXT_CREDITS;
}

static inline struct rtrs_permit *rtrs_clt_permit(const struct rtrs_clt_sess *sess, u32 slot)
{
	return sess->permits + slot * sess->permit_size;
}

static inline struct rtrs_clt_conn *to_clt_conn(struct rtrs_conn *conn)
{
	return container_of(conn, struct rtrs_clt_conn, conn);
}

static inline struct rtrs_clt_path *to_clt_path(struct kobject *kobj)
{
	return container_of(kobj, struct rtrs_clt_path, kobj);
}

static inline struct rtrs_clt_sess *to_clt_sess(struct device *dev)
{
	return container_of(dev, struct rtrs_clt_sess, dev);
}

/* path.c */
extern struct workqueue_struct *rtrs_clt_wq;
extern struct workqueue_struct *rtrs_clt_tick_wq;
struct rtrs_clt_path *rtrs_clt_path_alloc(struct rtrs_clt_sess *sess, const struct rtrs_addr *addr,
					  work_func_t work);
void rtrs_clt_path_release(struct rtrs_clt_path *path);
bool rtrs_clt_path_event(struct rtrs_clt_path *path, enum rtrs_clt_path_event ev);
void rtrs_clt_path_error(struct rtrs_clt_path *path, int error);
bool rtrs_clt_send_failed(struct rtrs_clt_conn *cc, const struct ib_wc *wc);
void rtrs_clt_path_attempt_done(struct rtrs_clt_path *path, int result);
const char *rtrs_clt_path_reason(int error);
bool rtrs_clt_is_silence(int error);
void rtrs_clt_path_count_up(struct rtrs_clt_path *path, bool up);

/* mp.c */
int rtrs_clt_mp_choose(struct rtrs_clt_sess *sess, const struct rtrs_clt_paths *paths, u16 con,
		       const unsigned long *tried);
void rtrs_clt_mp_beat_sent(struct rtrs_clt_path *path);
void rtrs_clt_mp_beat_acked(struct rtrs_clt_path *path);
void rtrs_clt_mp_beats_forget(struct rtrs_clt_path *path);
void rtrs_clt_mp_time(struct rtrs_clt_req *req);
void rtrs_clt_mp_timed(struct rtrs_clt_req *req, bool answered);

static inline bool rtrs_clt_mp_usable(const struct rtrs_clt_paths *paths, unsigned int i,
				      const unsigned long *tried)
{
	return !test_bit(i, tried) &&
	       rtrs_clt_path_state(paths->path[i]) == RTRS_CLT_PATH_CONNECTED;
}

/**
 * rtrs_clt_mp_next() - choose a connected path
 * @sess: the session
 * @paths: its paths
 * @con: the connection that is to be used
 * @tried: bit i is set: path i was tried for this request already; the chosen one is added
 *
 * Context: RCU read section.
 * Return: a path that was connected a moment ago, or NULL.
 */
static inline struct rtrs_clt_path *rtrs_clt_mp_next(struct rtrs_clt_sess *sess,
						     const struct rtrs_clt_paths *paths, u16 con,
						     unsigned long *tried)
{
	int i;

	if (paths->nr == 1)
		i = rtrs_clt_mp_usable(paths, 0, tried) ? 0 : -1;
	else
		i = rtrs_clt_mp_choose(sess, paths, con, tried);
	if (i < 0)
		return NULL;
	__set_bit(i, tried);
	return paths->path[i];
}

/**
 * rtrs_clt_mp_sent() - take the time of a request, if the policy wants it
 * @req: the request, about to be posted
 *
 * Context: any; its submitter.
 */
static inline void rtrs_clt_mp_sent(struct rtrs_clt_req *req)
{
	req->sent_ns = 0;
	if (unlikely(READ_ONCE(req->path->sess->policy) == RTRS_MP_SERVICE_TIME))
		rtrs_clt_mp_time(req);
}

/**
 * rtrs_clt_mp_answered() - the end of rtrs_clt_mp_sent(), if the time was taken
 * @req: the request
 * @answered: it was answered on its path, without error
 *
 * Context: any; whoever owns the request.
 */
static inline void rtrs_clt_mp_answered(struct rtrs_clt_req *req, bool answered)
{
	if (unlikely(req->sent_ns))
		rtrs_clt_mp_timed(req, answered);
}

/* link.c */
int rtrs_clt_link_create(struct rtrs_clt_path *path);
void rtrs_clt_link_release(struct rtrs_clt_path *path);
int rtrs_clt_mrs_alloc_array(struct rtrs_clt_mrs *mrs, u32 nr);
int rtrs_clt_mrs_add(struct rtrs_clt_mrs *mrs, struct ib_pd *pd, u32 nr, u32 max_pages);
int rtrs_clt_mrs_alloc(struct rtrs_clt_mrs *mrs, struct ib_pd *pd, u32 nr, u32 max_pages);
void rtrs_clt_mrs_free(struct rtrs_clt_mrs *mrs);
int rtrs_clt_link_init(void);
void rtrs_clt_link_exit(void);

/* fence.c */
void rtrs_clt_fence_up(struct rtrs_clt_sess *sess, u32 id);
bool rtrs_clt_fence(struct rtrs_clt_path *path);
void rtrs_clt_fence_tell(struct rtrs_clt_path *path);
int rtrs_clt_fence_create(struct rtrs_clt_path *path);
void rtrs_clt_fence_destroy(struct rtrs_clt_path *path);
int rtrs_clt_fence_established(struct rtrs_clt_path *path);
void rtrs_clt_fence_drop_all(struct rtrs_clt_sess *sess);

static inline enum dma_data_direction rtrs_clt_dma_dir(const struct rtrs_clt_req *req)
{
	return req->dir == WRITE ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

/* Does the send read the data pages themselves? */
static inline bool rtrs_clt_req_sends_pages(const struct rtrs_clt_req *req)
{
	return req->dir == WRITE && req->nents;
}

/* done.c */
void rtrs_clt_send_done(struct ib_cq *cq, struct ib_wc *wc);
int rtrs_clt_req_short(const struct rtrs_clt_req *req, enum rtrs_failure what, int error);
void rtrs_clt_req_step(struct rtrs_clt_req *req, int step);
void rtrs_clt_req_responded(struct rtrs_clt_req *req, int state);
void rtrs_clt_req_sent(struct ib_cq *cq, struct ib_wc *wc);
void rtrs_clt_inv_done(struct ib_cq *cq, struct ib_wc *wc);
void rtrs_clt_req_unmap(struct rtrs_clt_req *req);
void rtrs_clt_count_done(struct rtrs_clt_req *req, bool answered);
void rtrs_clt_req_finish(struct rtrs_clt_req *req, int error);

/* post.c */
int rtrs_clt_post_request(struct rtrs_clt_req *req);
size_t rtrs_clt_put_read(const struct rtrs_clt_req *req);

/* batch.c */
u16 rtrs_clt_batch_features_off(void);
bool rtrs_clt_batch_takes(const struct rtrs_clt_req *req);
int rtrs_clt_batch_add(struct rtrs_clt_batch *batch, struct rtrs_clt_req *req);
void rtrs_clt_batch_post(struct rtrs_clt_batch *batch);

/* io.c */
bool rtrs_clt_detach(struct rtrs_clt_path *path);
void rtrs_clt_fail_over(struct rtrs_clt_path *path, bool owed);
void rtrs_clt_resend_init(struct rtrs_clt_path *path);

/* overdue.c */
int rtrs_clt_state_told(struct rtrs_clt_conn *cc, u32 imm);
int rtrs_clt_state_watch(struct rtrs_clt_path *path);

/* recv.c */
u32 rtrs_clt_recv_wrs(const struct rtrs_clt_path *path, bool service);
u32 rtrs_clt_msg_recvs(const struct rtrs_clt_path *path, bool service);
int rtrs_clt_post_receives(struct rtrs_clt_conn *cc, u32 nr);
void rtrs_clt_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void rtrs_clt_rsp_done(struct ib_cq *cq, struct ib_wc *wc);

/* cm.c */
int rtrs_clt_conn_start(struct rtrs_clt_path *path, u16 cid);

/* connect.c */
void rtrs_clt_path_set_hb(struct rtrs_clt_path *path);
bool rtrs_clt_path_has_carrier(const struct rtrs_clt_path *path);
void rtrs_clt_path_work(struct work_struct *work);

/* sess.c */
struct rtrs_clt_sess *rtrs_clt_sess_alloc(const char *name, size_t pdu_sz, u32 nr_poll_queues);
void rtrs_clt_sess_free(struct rtrs_clt_sess *sess);
int rtrs_clt_sess_alloc_permits(struct rtrs_clt_sess *sess);
void rtrs_clt_sess_wait_permits(struct rtrs_clt_sess *sess);
bool rtrs_clt_sess_is_open(struct rtrs_clt_sess *sess);
int rtrs_clt_sess_add_path(struct rtrs_clt_sess *sess, struct rtrs_clt_path *path);
void rtrs_clt_sess_del_path(struct rtrs_clt_path *path);
void rtrs_clt_path_start(struct rtrs_clt_path *path);
int rtrs_clt_path_wait_first(struct rtrs_clt_path *path);
int rtrs_clt_path_reconnect(struct rtrs_clt_path *path);
void rtrs_clt_path_close(struct rtrs_clt_path *path);
int rtrs_clt_path_disconnect(struct rtrs_clt_path *path);

/* stats.c */
extern const struct attribute_group rtrs_clt_path_stats_group;
extern const struct attribute_group rtrs_clt_sess_stats_group;
int rtrs_clt_want_one(const char *name, struct kobject *kobj, const char *buf);
ssize_t rtrs_clt_show_usage(const char *name, char *buf);

/* sysfs.c */
struct rtrs_clt_path *rtrs_clt_path_create(struct rtrs_clt_sess *sess, const struct rtrs_addr *addr,
					   struct rtrs_report *report);
struct rtrs_clt_path *rtrs_clt_add_path(struct rtrs_clt_sess *sess, const char *text,
					struct rtrs_report *report);
int rtrs_clt_path_publish(struct rtrs_clt_path *path);
void rtrs_clt_path_destroy(struct rtrs_clt_path *path);
void rtrs_clt_sess_init_dev(struct rtrs_clt_sess *sess);
int rtrs_clt_sess_publish(struct rtrs_clt_sess *sess);
void rtrs_clt_sess_announce(struct rtrs_clt_sess *sess);
void rtrs_clt_sess_destroy(struct rtrs_clt_sess *sess);
int rtrs_clt_sysfs_init(void);
void rtrs_clt_sysfs_exit(void);

/* open.c */
struct rtrs_clt_sess *rtrs_clt_sess_get_nth(unsigned int nr);
struct rtrs_clt_sess *rtrs_clt_sess_get_open(const char *name);
void rtrs_clt_each_path(void (*fn)(struct rtrs_clt_path *path, const void *arg), const void *arg);

/* nl.c */
void rtrs_clt_nl_init(void);
void rtrs_clt_nl_exit(void);

/* debugfs.c */
void rtrs_clt_debugfs_init(void);
void rtrs_clt_debugfs_exit(void);

/* carrier.c */
int rtrs_clt_carrier_init(void);
void rtrs_clt_carrier_exit(void);

#endif /* _RTRS_CLT_H */
