/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of rtrs-server.
 *
 * A context (one ULP on one port) has sessions, a session has paths and slots, a path has
 * connections and one request per slot.
 */
#ifndef _RTRS_SRV_H
#define _RTRS_SRV_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/rdma_cm.h>
#include <rdma/rtrs.h>
#include <rtrs/rtrs_format.h>

#include "../proto/addr.h"
#include "../proto/path_fsm.h"
#include "../proto/wire.h"
#include "../verbs/conn.h"
#include "../verbs/device.h"
#include "../verbs/heartbeat.h"
#include "../verbs/mr.h"
#include "../verbs/stats.h"
#include "buffers.h"
#include "latency.h"
#include "limits.h"

struct device;
struct rtrs_srv_conn;
struct rtrs_srv_path;

/* User messages up to this length are copied into the request itself, longer ones into its page. */
#define RTRS_SRV_USR_SMALL_BYTES	64

/*
 * Payload of a WRITE up to this length is copied instead of invalidating the chunk's key; on a device
 * in software, up to that.
 */
#define RTRS_SRV_COPY_BYTES		32768
#define RTRS_SRV_COPY_SOFT_BYTES	131072

/**
 * enum rtrs_srv_req_state - where a request is
 * @RTRS_SRV_REQ_IDLE: the client owns the slot
 * @RTRS_SRV_REQ_CLAIMED: a request came; header is being checked, the chunk's key is being invalidated
 * @RTRS_SRV_REQ_QUEUED: may run as soon as those of the slot that were ready before are finished
 * @RTRS_SRV_REQ_STARTING: it is its turn, its start_work hands it to the ULP
 * @RTRS_SRV_REQ_RUNNING: handed to the ULP, or about to be
 * @RTRS_SRV_REQ_ANSWERED: the ULP is done with it, the response is being posted
 */
enum rtrs_srv_req_state {
	RTRS_SRV_REQ_IDLE,
	RTRS_SRV_REQ_CLAIMED,
	RTRS_SRV_REQ_QUEUED,
	RTRS_SRV_REQ_STARTING,
	RTRS_SRV_REQ_RUNNING,
	RTRS_SRV_REQ_ANSWERED,
};

/**
 * enum rtrs_srv_call - the call of rdma_ev for a request
 * @RTRS_SRV_CALL_OVER: who answers posts the response
 * @RTRS_SRV_CALL_ON: the ULP has been called and has not returned
 * @RTRS_SRV_CALL_ANSWERED: it answered before it returned; who called it posts the response
 */
enum rtrs_srv_call {
	RTRS_SRV_CALL_OVER,
	RTRS_SRV_CALL_ON,
	RTRS_SRV_CALL_ANSWERED,
};

/**
 * struct rtrs_srv_req - the request in a slot of a path
 *
 * I: fixed while the path serves.  L: lock of the slot; the step to ANSWERED is its owner's and a
 * cmpxchg where a ULP makes it.  O: the owner: from CLAIMED on the handler, the ULP, the responder,
 * one after the other.  W: @wait_lock of the connection.
 *
 * @op: what the ULP gets of it; I. its slot, O. the direction
 * @rereg: O. the response registers the chunk again
 * @state: L. enum rtrs_srv_req_state
 * @call: enum rtrs_srv_call, a cmpxchg where both the ULP and who called it may make the step
 * @err: O. answer of the ULP
 * @seq: O. requests of the slot on the path, this one included
 * @time_imm: O. immediate that goes before the answer and tells where the time went, 0 if nobody wants to know
 * @arrived_ns: O. when it arrived, rtrs_lat_now(); 0 unless it is timed
 * @submitted_ns: O. when the ULP was given it, if it is timed
 * @submitted: O. jiffies when it began to run
 * @path: I. the path
 * @conn: O. connection the request came on and the response leaves on
 * @hdr: O. private copy of the header, checked
 * @data: O. what the ULP gets as data: @chunk or @copy
 * @copy: O. private memory for a WRITE's data, NULL until first needed
 * @copy_size: O. its bytes
 * @chunk: L to change it, which only the chunks work does, of an idle slot. the slot's memory, NULL if it has none
 * @chunk_dma: as @chunk. its DMA address
 * @mr: as @chunk. memory region of the chunk alone, NULL if keys stay
 * @rsp: I. message that carries the key, NULL if keys stay
 * @rsp_dma: I. its DMA address
 * @usr: O. private copy of the user message, @usr_small or @usr_page
 * @usr_page: O. room for the longest user message, NULL until first needed
 * @slot_entry: L. in the slot's list; alone if it is orphaned
 * @wait_entry: W. in the connection's list of requests that wait for room in the send queue; before that,
 *	in the connection's batch
 * @start_work: hands the request to the ULP where the completion handler must not do it
 * @inv_cqe: I. completion of LOCAL_INV
 * @usr_small: O. room for a short user message
 */
struct rtrs_srv_req {
	struct rtrs_srv_op op;
	bool rereg;
	u32 state;
	u32 call;
	int err;
	u32 seq;
	u32 time_imm;
	u64 arrived_ns;
	u64 submitted_ns;
	unsigned long submitted;
	struct rtrs_srv_path *path;
	struct rtrs_srv_conn *conn;
	struct rtrs_io_hdr hdr;
	void *data;
	void *copy;
	u32 copy_size;
	void *chunk;
	u64 chunk_dma;
	struct rtrs_mr *mr;
	struct rtrs_msg_rkey_rsp *rsp;
	u64 rsp_dma;
	void *usr;
	void *usr_page;
	struct list_head slot_entry;
	struct list_head wait_entry;
	struct work_struct start_work;
	struct ib_cqe inv_cqe;
	u8 usr_small[RTRS_SRV_USR_SMALL_BYTES];
};

/**
 * struct rtrs_srv_slot - a slot of a session: requests of all paths in order of arrival
 *
 * At most one of the list is STARTING or RUNNING, and none behind it runs.  A cache line each: different CPUs
 * serve different slots.
 *
 * @lock: guards @reqs and the state of the requests in it
 * @reqs: struct rtrs_srv_req by @slot_entry
 */
struct rtrs_srv_slot {
	spinlock_t lock;
	struct list_head reqs;
} ____cacheline_aligned_in_smp;

/**
 * struct rtrs_srv_conn - a connection of a path
 * @conn: the connection
 * @path: the path
 * @wait_lock: guards @wait_list and @waiting; taken before the lock of a slot
 * @wait_list: requests that wait for room in the send queue
 * @waiting: there are some, or one is tried just now; read without lock
 * @batch: requests without error that were answered since the round of the completion handler began;
 *	that handler's alone
 * @until_timed: requests until the next one that is timed, of a client that does not say which; likewise
 * @list: private copy of a list of requests, RTRS_REQ_LIST_MAX_BYTES; likewise; with extension REQ_LIST only
 */
struct rtrs_srv_conn {
	struct rtrs_conn conn;
	struct rtrs_srv_path *path;
	spinlock_t wait_lock;
	struct list_head wait_list;
	bool waiting;
	struct list_head batch;
	u32 until_timed;
	u8 list[];
};

/**
 * struct rtrs_srv_info - the info exchange of a path (protocol section 4)
 *
 * Written by the connect handler before the first connection is accepted, then by @dwork and the
 * completions it waits for, last by the close work.
 *
 * @dwork: handles INFO_REQ
 * @req: received message
 * @req_dma: its DMA address
 * @req_len: bytes received
 * @rsp: message to send, NULL if not there yet
 * @rsp_dma: its DMA address
 * @rsp_len: its bytes
 * @req_cqe: completion of the receive
 * @rsp_cqe: completion of the send
 * @probe_dma: DMA address of the message that follows, 0 without extension PROBE
 * @probe_cqe: completion of its send
 */
struct rtrs_srv_info {
	struct delayed_work dwork;
	struct rtrs_msg_info_req *req;
	u64 req_dma;
	u32 req_len;
	struct rtrs_msg_info_rsp *rsp;
	u64 rsp_dma;
	u32 rsp_len;
	struct ib_cqe req_cqe;
	struct ib_cqe rsp_cqe;
	u64 probe_dma;
	struct ib_cqe probe_cqe;
};

/**
 * enum rtrs_srv_chunks_stage - what the chunks work does
 * @RTRS_SRV_CHUNKS_STEADY: nothing; the client may want another number
 * @RTRS_SRV_CHUNKS_REGISTERING: regions of new chunks are being registered
 * @RTRS_SRV_CHUNKS_FLUSHING: chunks are closed, all that was posted before is being acknowledged
 * @RTRS_SRV_CHUNKS_ANSWERING: the client is to be told how many there are
 */
enum rtrs_srv_chunks_stage {
	RTRS_SRV_CHUNKS_STEADY,
	RTRS_SRV_CHUNKS_REGISTERING,
	RTRS_SRV_CHUNKS_FLUSHING,
	RTRS_SRV_CHUNKS_ANSWERING,
};

/**
 * struct rtrs_srv_chunks - how many chunks a path has (chunks.c)
 *
 * C: set by the connect handler, then by the info work, then by the chunks work, last by the close work, which wait for
 * each other.
 *
 * @per_mr: fixed from the path's creation. chunks that share a region
 * @charged: C. chunks that the client is charged with
 * @open: C, read by anybody. chunks that requests may use
 * @wanted: A. how many the client wants
 * @asked: A. @wanted is news
 * @dwork: makes them, or takes them back, and answers, a step at a time; queued only while the path is CONNECTED
 * @stage: C, read by handlers. which step comes next
 * @goal: C. how many the path is to have at the end
 * @was: C. how many it had at the beginning
 * @first: C. regions it had at the beginning
 * @left: C. how many are not closed
 * @next: C. region to be registered, or connection to be flushed, next
 * @pending: A. what was posted and has no completion yet
 * @table: C. descriptors on their way, NULL without extension CREDITS
 * @table_dma: C. its DMA address
 * @table_addr: C. address of the client's table, as the client says
 * @table_rkey: C. its key, likewise
 * @reg_cqe: completion of registrations
 * @flush_cqe: completion of what is posted behind all else
 * @posted: completed for each of them that the info work waits for, for good if one failed
 * @failed: one of them failed
 */
struct rtrs_srv_chunks {
	u32 per_mr;
	u32 charged;
	u32 open;
	u32 wanted;
	u32 asked;
	struct delayed_work dwork;
	enum rtrs_srv_chunks_stage stage;
	u32 goal;
	u32 was;
	u32 first;
	u32 left;
	u32 next;
	atomic_t pending;
	struct rtrs_sg_desc *table;
	u64 table_dma;
	u64 table_addr;
	u32 table_rkey;
	struct ib_cqe reg_cqe;
	struct ib_cqe flush_cqe;
	struct completion posted;
	bool failed;
};

/**
 * struct rtrs_srv_fence - paths that the client wants closed, told over this one
 * @lock: guards @ids and @nr
 * @ids: their numbers
 * @nr: how many have no answer yet
 * @dwork: has them closed, and answers; queued only while the path is CONNECTED
 */
struct rtrs_srv_fence {
	spinlock_t lock;
	u32 ids[RTRS_MAX_PATHS];
	u32 nr;
	struct delayed_work dwork;
};

/**
 * struct rtrs_srv_path - a path of a session
 *
 * I: fixed from creation.  S: @lock for writers.  M: mutex of the context.  N: set by the info
 * work, cleared by the close work, which waits for the info work first.
 *
 * @kobj: reference count of the object and its directory in sysfs
 * @entry: M. in the session's list of paths, from the tear-down on in that of orphaned ones
 * @sess: I. the session
 * @ctx: I. the context
 * @geo: I. sizes, those of the context
 * @uuid: I. identity
 * @name: I. "client@server" as in sysfs
 * @clt_addr: I. address of the client
 * @srv_addr: I. address of the server
 * @dev: I. device, with a reference; not to be looked at any more once the tear-down is over
 * @port_num: I. port of the device
 * @recon_cnt: I. number of the client's attempt
 * @features: I. extensions taken up
 * @one_message: I. a READ's data and its answer are one message where nothing has to stand between
 * @id: I. its number, 28 bits, unique in the context
 * @pd: I. protection domain, of this path alone
 * @peer: I. who its memory and connections are charged to
 * @lock: guards @_state; innermost
 * @_state: S. read by rtrs_srv_path_state() only
 * @cid_num: I. connections the client makes
 * @nr_conns: M. connections accepted so far
 * @conns: M. the connections by number; not changed any more once the path is not CONNECTING
 * @ops_ref: one reference per request that is not idle, and one of the tear-down; the last one queues @end_work
 * @bufs: chunks and memory regions; as C of struct rtrs_srv_chunks
 * @chunks: how many there are
 * @copy_bytes: N. a WRITE with no more data than this is copied instead of invalidating the chunk's key
 * @reqs: N. requests, one per slot
 * @pdus: N. the ULP's part of the requests
 * @orphans: M. requests that the ULP had when the path was torn down
 * @orphaned_at: M. jiffies of that
 * @rsps: N. the requests' messages that carry a key
 * @rsps_dma: N. their DMA address
 * @info: info exchange
 * @hb: heartbeat
 * @fence: fences asked for over this path
 * @drained: M. nothing of the path is under way any more
 * @stats: I. per-CPU counters
 * @lat: where the time of its requests went
 * @session: A. @session_name once INFO_REQ has brought it, before that NULL
 * @session_name: I once @session is set. name of the session, for as long as the path is there
 * @named: N. counts as user of the session's name
 * @up: N. counts as up in the session
 * @in_sysfs: N. @kobj is added
 * @created_ms: I. ktime_get() when it was created
 * @handshake_dwork: closes the path if INFO_REQ does not come
 * @close_work: tears the path down; queued once, by the step to CLOSING
 * @end_work: frees the path when it is torn down and the ULP has none of its requests any more
 */
struct rtrs_srv_path {
	struct kobject kobj;
	struct list_head entry;
	struct rtrs_srv_sess *sess;
	struct rtrs_srv_ctx *ctx;
	const struct rtrs_srv_geo *geo;
	u8 uuid[RTRS_UUID_LEN];
	char name[RTRS_ADDR_PAIR_STR_LEN];
	struct sockaddr_storage clt_addr;
	struct sockaddr_storage srv_addr;
	struct ib_device *dev;
	u32 port_num;
	u16 recon_cnt;
	u16 features;
	bool one_message;
	u32 id;
	struct ib_pd *pd;
	struct rtrs_srv_peer *peer;

	spinlock_t lock;
	enum rtrs_srv_path_state _state;

	u32 cid_num;
	u32 nr_conns;
	struct rtrs_srv_conn **conns;

	struct percpu_ref ops_ref;
	struct rtrs_srv_bufs bufs;
	struct rtrs_srv_chunks chunks;
	u32 copy_bytes;
	struct rtrs_srv_req *reqs;
	void *pdus;
	u32 orphans;
	unsigned long orphaned_at;
	struct rtrs_msg_rkey_rsp *rsps;
	u64 rsps_dma;

	struct rtrs_srv_info info;
	struct rtrs_hb hb;
	struct rtrs_srv_fence fence;
	bool drained;
	struct rtrs_io_stats __percpu *stats;
	struct rtrs_srv_lat lat;

	const char *session;
	char session_name[RTRS_NAME_LEN];
	bool named;
	bool up;
	bool in_sysfs;
	u64 created_ms;
	struct delayed_work handshake_dwork;
	struct work_struct close_work;
	struct work_struct end_work;
};

/**
 * struct rtrs_srv_sess - a session: all paths of one client to one context
 *
 * I: fixed from creation.  M: mutex of the context.  E: @ev_mutex.  G: the lock of names in sess.c.
 * Lives as long as it has paths, those with orphaned requests too: the order of its slots is one.
 *
 * @entry: M. in the context's list
 * @ctx: I. the context
 * @uuid: I. identity
 * @peer: I. who it is charged to
 * @paths: M. the paths
 * @nr_paths: M. their number, those that are still being torn down too
 * @orphaned: M. paths that are torn down and whose memory waits for the ULP
 * @nr_refs: M. paths whose memory is not freed; without one the session is
 * @name: G. session name, fixed while @nr_named is not 0
 * @name_entry: G. in the list of names
 * @nr_named: G. paths whose INFO_REQ carried the name
 * @ev_mutex: serialises the ULP's link_ev
 * @paths_up: E. paths that count as up
 * @number: E. extension SESSION: what tells it from other sessions that the client had, not 0 while @paths_up
 *	is not 0; at random, for the server that ran before had numbers too
 * @quiet: E. its last connections did not last; set when the first path is up
 * @priv: E for writers. what the ULP set
 * @dev: E. /sys/class/rtrs-server/<name>, there while @paths_up is not 0
 * @paths_kobj: E. its directory paths
 * @slots: I. the slots
 */
struct rtrs_srv_sess {
	struct list_head entry;
	struct rtrs_srv_ctx *ctx;
	u8 uuid[RTRS_UUID_LEN];
	struct rtrs_srv_peer *peer;
	struct list_head paths;
	u32 nr_paths;
	struct list_head orphaned;
	u32 nr_refs;

	char name[RTRS_NAME_LEN];
	struct list_head name_entry;
	u32 nr_named;

	struct mutex ev_mutex;
	u32 paths_up;
	u32 number;
	bool quiet;
	void *priv;
	struct device *dev;
	struct kobject *paths_kobj;

	struct rtrs_srv_slot *slots;
};

/**
 * struct rtrs_srv_ctx - a ULP that listens on a port
 *
 * I: fixed from rtrs_srv_open() on.  M: @mutex.
 *
 * @ops: I. callbacks
 * @port: I. port number
 * @geo: I. sizes
 * @wq: I. runs info exchange, heartbeats and fences
 * @close_wq: I. runs tear-down, and takes chunks back, which waits for the ULP: any number of paths that do so keep no
 *	other from connecting
 * @listen_ip: I. listens on IPv6 any, IPv4 included
 * @listen_ib: I. listens on AF_IB any, NULL if that is not possible here
 * @mutex: sessions, paths and connections come and go under it; inside the handler lock of a CM id
 * @sessions: M. the sessions
 * @last_path_id: M. number of the path that was created last
 * @nl_entry: in the list of all contexts, under its mutex (nl.c)
 * @users: one for the context and one per path
 * @gone: @users became 0
 */
struct rtrs_srv_ctx {
	struct rtrs_srv_ops ops;
	u16 port;
	struct rtrs_srv_geo geo;
	struct workqueue_struct *wq;
	struct workqueue_struct *close_wq;
	struct rdma_cm_id *listen_ip;
	struct rdma_cm_id *listen_ib;
	struct mutex mutex;
	struct list_head sessions;
	u32 last_path_id;
	struct list_head nl_entry;
	refcount_t users;
	struct completion gone;
};

/**
 * rtrs_srv_ctx_put() - drop a use of a context
 * @ctx: the context; not to be touched after
 *
 * Context: any.
 */
static inline void rtrs_srv_ctx_put(struct rtrs_srv_ctx *ctx)
{
	if (refcount_dec_and_test(&ctx->users))
		complete(&ctx->gone);
}

/**
 * rtrs_srv_path_state() - state of a path at this moment
 * @path: the path
 *
 * Pairs with the release in rtrs_srv_path_event().
 *
 * Return: the state; it may have changed meanwhile unless a lock says otherwise.
 */
static inline enum rtrs_srv_path_state rtrs_srv_path_state(const struct rtrs_srv_path *path)
{
	return smp_load_acquire(&path->_state);
}

/**
 * rtrs_srv_path_serves() - does a path take and answer requests at this moment
 * @path: the path
 *
 * Return: true if it is CONNECTED.
 */
static inline bool rtrs_srv_path_serves(const struct rtrs_srv_path *path)
{
	return rtrs_srv_path_state(path) == RTRS_SRV_PATH_CONNECTED;
}

/**
 * rtrs_srv_req_slot() - the slot of a request
 * @req: the request
 *
 * Return: the session's slot, shared with the requests of other paths.
 */
static inline struct rtrs_srv_slot *rtrs_srv_req_slot(const struct rtrs_srv_req *req)
{
	return &req->path->sess->slots[req->op.slot];
}

/* What joins the tracepoints of a request; the same as on the client's side. */
#define RTRS_SRV_REQ_IDS(req)	(req)->path->session_name, (req)->path->name, (req)->conn->conn.cid, \
				(req)->op.slot, (req)->seq

/**
 * rtrs_srv_path_fail() - close a path because something went wrong, and say what
 * @path: the path
 * @fmt: what went wrong, format and arguments
 *
 * Silent if the path is being closed already.  Context: any.
 */
#define rtrs_srv_path_fail(path, fmt, ...)						\
do {											\
	if (rtrs_srv_path_event_why(path, RTRS_SRV_EV_CLOSE, fmt, ##__VA_ARGS__) &&		\
	    rtrs_srv_log_closed(path))							\
		pr_warn_ratelimited("path %s closed: " fmt "\n", (path)->name, ##__VA_ARGS__); \
} while (0)

/* log.c: fewer lines about paths that do not last */
bool rtrs_srv_log_wanted(const struct rtrs_srv_path *path);
bool rtrs_srv_log_closed(const struct rtrs_srv_path *path);

/* path.c: the object and its state */
u32 rtrs_srv_path_chunks(const struct rtrs_srv_path *path, u32 nr);
int rtrs_srv_path_charge(struct rtrs_srv_path *path, u32 nr);
void rtrs_srv_path_uncharge(struct rtrs_srv_path *path, u32 nr);
struct rtrs_srv_path *rtrs_srv_path_create(struct rtrs_srv_sess *sess, struct rdma_cm_id *cm_id,
					   const struct rtrs_conn_req *req);
bool rtrs_srv_path_event(struct rtrs_srv_path *path, enum rtrs_srv_path_event event);
__printf(3, 4)
bool rtrs_srv_path_event_why(struct rtrs_srv_path *path, enum rtrs_srv_path_event event,
			     const char *fmt, ...);
void rtrs_srv_path_queue(struct rtrs_srv_path *path, enum rtrs_srv_path_state state, struct workqueue_struct *wq,
			 struct delayed_work *dwork, unsigned long delay);
void rtrs_srv_path_wc_failed(struct rtrs_srv_path *path, const char *what,
			     const struct ib_wc *wc);

/* sysfs.c: directories of sessions and paths */
int rtrs_srv_sysfs_init(void);
void rtrs_srv_sysfs_exit(void);
int rtrs_srv_sysfs_add_sess(struct rtrs_srv_sess *sess);
void rtrs_srv_sysfs_del_sess(struct rtrs_srv_sess *sess);
int rtrs_srv_sysfs_add_path(struct rtrs_srv_path *path);
void rtrs_srv_sysfs_del_path(struct rtrs_srv_path *path);

/* sess.c: sessions, their names, what the ULP is told */
struct rtrs_srv_sess *rtrs_srv_sess_find(struct rtrs_srv_ctx *ctx, const u8 *uuid);
struct rtrs_srv_sess *rtrs_srv_sess_create(struct rtrs_srv_ctx *ctx, const u8 *uuid,
					   const struct sockaddr_storage *addr);
void rtrs_srv_sess_free_if_empty(struct rtrs_srv_sess *sess);
int rtrs_srv_sess_claim_name(struct rtrs_srv_path *path, const char *name);
void rtrs_srv_sess_release_name(struct rtrs_srv_path *path);
int rtrs_srv_sess_path_up(struct rtrs_srv_path *path);
void rtrs_srv_sess_path_down(struct rtrs_srv_path *path);

/* fence.c: closing a path on the client's word */
void rtrs_srv_fence_init(struct rtrs_srv_path *path);
void rtrs_srv_fence_request(struct rtrs_srv_path *path, u32 id);
void rtrs_srv_fence_stop(struct rtrs_srv_path *path);
void rtrs_srv_fence_up(struct rtrs_srv_path *path);

/* slots.c: order of the requests of a slot */
int rtrs_srv_req_claim(struct rtrs_srv_req *req);
void rtrs_srv_req_open(struct rtrs_srv_req *req, void *chunk, u64 dma, struct rtrs_mr *mr);
bool rtrs_srv_req_close(struct rtrs_srv_req *req);
int rtrs_srv_req_queue(struct rtrs_srv_req *req, bool start);
void rtrs_srv_req_start(struct rtrs_srv_req *req);
bool rtrs_srv_req_may_run(struct rtrs_srv_req *req);
bool rtrs_srv_req_orphan(struct rtrs_srv_req *req);
bool rtrs_srv_req_is_idle(struct rtrs_srv_req *req);
struct rtrs_srv_req *rtrs_srv_req_release(struct rtrs_srv_req *req, struct rtrs_srv_slot *slot);
void rtrs_srv_req_finish(struct rtrs_srv_path *path, struct rtrs_srv_req *next);
void rtrs_srv_req_drop(struct rtrs_srv_req *req);
void rtrs_srv_req_drop_queued(struct rtrs_srv_req *req);
struct rtrs_srv_req *rtrs_srv_slot_running(const struct rtrs_srv_slot *slot);
void rtrs_srv_slot_start_next(struct rtrs_srv_slot *slot);
int rtrs_srv_slots_init(void);
void rtrs_srv_slots_exit(void);

/* private.c: what a slot keeps out of the client's reach */
bool rtrs_srv_req_grow_copy(struct rtrs_srv_req *req, u32 len);
void *rtrs_srv_req_get_usr_page(struct rtrs_srv_req *req);
void rtrs_srv_req_free_private(struct rtrs_srv_req *req);

/* state.c: where a request is */
void rtrs_srv_state_request(struct rtrs_srv_conn *conn, u32 imm);

/* chunks.c: chunks that come and go */
void rtrs_srv_chunks_init(struct rtrs_srv_path *path);
int rtrs_srv_chunks_create(struct rtrs_srv_path *path);
int rtrs_srv_chunks_register(struct rtrs_srv_path *path);
void rtrs_srv_chunks_open(struct rtrs_srv_path *path, u32 first);
void rtrs_srv_chunks_want(struct rtrs_srv_path *path, u32 nr);
void rtrs_srv_chunks_stop(struct rtrs_srv_path *path);
u32 rtrs_srv_chunks_detach(struct rtrs_srv_path *path);
void rtrs_srv_chunks_exit(struct rtrs_srv_path *path);

/* io.c: requests and responses */
int rtrs_srv_io_create_reqs(struct rtrs_srv_path *path);
void rtrs_srv_io_detach(struct rtrs_srv_path *path);
void rtrs_srv_io_destroy_reqs(struct rtrs_srv_path *path);
void rtrs_srv_io_stop(struct rtrs_srv_path *path);
u32 rtrs_srv_io_orphan(struct rtrs_srv_path *path);
void rtrs_srv_io_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void rtrs_srv_io_send_done(struct ib_cq *cq, struct ib_wc *wc);

/* rsp.c: responses, and what waits for room in the send queue */
void rtrs_srv_io_kick(struct rtrs_srv_conn *conn);
int rtrs_srv_req_post_inv(struct rtrs_srv_req *req);
void rtrs_srv_req_wait(struct rtrs_srv_req *req);
bool rtrs_srv_req_send_rsp(struct rtrs_srv_req *req);
bool rtrs_srv_req_answer(struct rtrs_srv_req *req, bool batch);
bool rtrs_srv_req_respond(struct rtrs_srv_req *req, bool batch);

/* batch.c: one message for several responses */
void rtrs_srv_batch_end(void *arg);

/* info.c: info exchange */
int rtrs_srv_info_init(struct rtrs_srv_path *path);
int rtrs_srv_info_post_recv(struct rtrs_srv_path *path, struct rtrs_conn *conn);
void rtrs_srv_info_exit(struct rtrs_srv_path *path);

/* close.c: tear-down of a path */
void rtrs_srv_close_work(struct work_struct *work);
void rtrs_srv_close_end_work(struct work_struct *work);

/* cm.c: listening and connection requests */
int rtrs_srv_cm_listen(struct rtrs_srv_ctx *ctx);
void rtrs_srv_cm_unlisten(struct rtrs_srv_ctx *ctx);

/* nl.c: what netlink shows */
void rtrs_srv_nl_add(struct rtrs_srv_ctx *ctx);
void rtrs_srv_nl_del(struct rtrs_srv_ctx *ctx);
void rtrs_srv_nl_init(void);
void rtrs_srv_nl_exit(void);
void rtrs_srv_each_sess(void (*fn)(struct rtrs_srv_sess *sess, void *arg), void *arg);

/* debugfs.c: tables for humans, and fault points */
void rtrs_srv_debugfs_init(void);
void rtrs_srv_debugfs_exit(void);

#endif /* _RTRS_SRV_H */
