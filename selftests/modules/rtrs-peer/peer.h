/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rtrs-peer: a puppet on the RDMA connection manager and verbs, for tests.
 *
 * It knows nothing of RTRS: a test says which bytes go where, and is told which came.  README beside
 * this has the commands.
 *
 * Locks: peer_mutex is held by a command from start to end, waits included, so there is one command at a
 * time and lists of connections, buffers and domains need no other lock.  Handlers of the connection
 * manager never take it, as commands wait for them to return; they use peer_con.lock and the lock of the
 * queue of requests, which are innermost.
 */
#ifndef _RTRS_PEER_H
#define _RTRS_PEER_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* A name and its NUL. */
#define PEER_NAME_LEN		32

/* Bytes of an answer: hexadecimal digits of the largest INFO_RSP and more. */
#define PEER_ANSWER_BYTES	(64 * 1024)

/* Bytes of one buffer, one receive, one inline send. */
#define PEER_MAX_BYTES		(1024 * 1024)

/* Work requests of a connection that may be posted at a time, each direction, at most and if not said otherwise. */
#define PEER_QUEUE_DEPTH	512

/* Connections and buffers there may be at a time; events of a connection nobody waited for. */
#define PEER_MAX_CONS		1024
#define PEER_MAX_BUFS		256
#define PEER_MAX_EVENTS		4096

/* Bytes of a template; numbers of keys. */
#define PEER_TEMPLATE_BYTES	8192
#define PEER_MAX_KEYS		64

/* Longest wait a command may ask for. */
#define PEER_MAX_WAIT_MS	120000

/* Longest wait of commands that take no time: each step of connecting, local work requests. */
#define PEER_STEP_MS		15000

/* Private data of the connection manager: the most any of its messages brings. */
#define PEER_CM_DATA_BYTES	255

/**
 * struct peer_cmd - a command while it runs
 * @argc: number of words
 * @argv: the words; the first one is the name of the command
 * @answer: text of the answer, room for PEER_ANSWER_BYTES
 * @len: bytes of it so far
 */
struct peer_cmd {
	int argc;
	char **argv;
	char *answer;
	size_t len;
};

/**
 * struct peer_domain - protection domain of a device, shared by all that is made on it
 * @entry: in the list of domains
 * @pd: the domain
 * @users: connections and buffers on it
 */
struct peer_domain {
	struct list_head entry;
	struct ib_pd *pd;
	unsigned int users;
};

/**
 * struct peer_buf - memory that the other side may write
 * @entry: in the list of buffers
 * @name: its name
 * @domain: where it is registered
 * @mem: the memory
 * @bytes: its size
 * @dma: mapped address
 * @sg: the same, as the registration wants it
 * @mr: registration
 */
struct peer_buf {
	struct list_head entry;
	char name[PEER_NAME_LEN];
	struct peer_domain *domain;
	void *mem;
	size_t bytes;
	u64 dma;
	struct scatterlist sg;
	struct ib_mr *mr;
};

/**
 * struct peer_event - something a connection saw, for the command "wait"
 * @entry: in the list of events
 * @text: what it was, NUL terminated
 */
struct peer_event {
	struct list_head entry;
	char text[];
};

/**
 * struct peer_cm_result - what the connection manager said while connecting
 * @event: the event
 * @status: its status, the reason of a reject
 * @data: private data that came with it
 * @len: bytes of it
 */
struct peer_cm_result {
	enum rdma_cm_event_type event;
	int status;
	u8 data[PEER_CM_DATA_BYTES];
	u8 len;
};

/**
 * struct peer_con - a connection
 * @entry: in the list of connections, or in the queue of requests
 * @name: its name; none while it is in the queue
 * @id: id of the connection manager
 * @depth: work requests that may be posted at a time, each direction
 * @rnr_timer: after how long who finds no receive tries again, enum ib_rnr_timeout
 * @domain: protection domain, NULL before there is a queue pair
 * @cq: completion queue of both directions, NULL before there is a queue pair
 * @lock: guards @events, @nr_events, @sends, @sends_ok, @send_status and @over
 * @wait: woken up for each event and each send that completes
 * @events: struct peer_event, oldest first
 * @nr_events: how many
 * @sends: posted by the command "post" and not completed yet
 * @sends_ok: how many of those ever posted the other side's adapter has taken
 * @send_status: the first failure among those since the command "sent" told it, IB_WC_SUCCESS if none
 * @cm: written by the handler before it completes @cm_done, read after that
 * @param: what the other side's request or accept asked for; as @cm
 * @cm_done: a step of connecting is over, or the send queue is drained
 * @established: events go to "wait" from now on; written by the handler only
 * @over: a send failed or the other side disconnected, so that nothing more will arrive
 */
struct peer_con {
	struct list_head entry;
	char name[PEER_NAME_LEN];
	struct rdma_cm_id *id;
	u32 depth;
	u32 rnr_timer;
	struct peer_domain *domain;
	struct ib_cq *cq;
	spinlock_t lock;
	wait_queue_head_t wait;
	struct list_head events;
	unsigned int nr_events;
	unsigned int sends;
	u32 sends_ok;
	enum ib_wc_status send_status;
	struct peer_cm_result cm;
	struct rdma_conn_param param;
	struct completion cm_done;
	bool established;
	bool over;
};

/**
 * struct peer_post - a send or a write, as the command "post" has it
 * @op: opcode
 * @data: bytes to send, NULL if there are none; freed by who has asked for them
 * @data_len: how many
 * @buf: buffer to send from, NULL if none
 * @off: where in it
 * @len: bytes of it
 * @nr: how many times
 * @raddr: remote address
 * @rkey: remote key
 * @imm: immediate, CPU order
 * @step: the immediate grows by this each time
 * @inv: key that SEND with invalidate carries
 */
struct peer_post {
	enum ib_wr_opcode op;
	u8 *data;
	size_t data_len;
	struct peer_buf *buf;
	u32 off;
	u32 len;
	u32 nr;
	u64 raddr;
	u32 rkey;
	u32 imm;
	u32 step;
	u32 inv;
};

/**
 * struct peer_key - a place in the other side's memory
 * @addr: address
 * @rkey: key that opens it
 * @busy: written through, and nothing named it since
 */
struct peer_key {
	u64 addr;
	u32 rkey;
	bool busy;
};

/**
 * struct peer_template - something valid
 * @entry: in the list of templates
 * @set: name of its set
 * @post: the work request; raddr is relative to the key's address
 * @weight: how often it is drawn, compared to others of the set
 * @key: key that it writes through, -1 if it writes nowhere
 * @inv_key: key that it invalidates, -1 for post.inv
 * @desc_key: key whose address and rkey are part of the data, -1 for none
 * @desc_off: where in the data
 * @tame_from: first byte that tame changes touch
 * @tame_to: byte after the last one
 * @tame_imm: bits of the immediate that they touch
 */
struct peer_template {
	struct list_head entry;
	char set[PEER_NAME_LEN];
	struct peer_post post;
	u32 weight;
	int key;
	int inv_key;
	int desc_key;
	u32 desc_off;
	u32 tame_from;
	u32 tame_to;
	u32 tame_imm;
};

/**
 * struct peer_sync - a work request somebody waits for
 * @cqe: handler
 * @done: it completed
 * @status: how
 */
struct peer_sync {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

extern struct mutex peer_mutex;

/* text.c */
__printf(2, 3) void peer_say(struct peer_cmd *cmd, const char *fmt, ...);
void peer_say_hex(struct peer_cmd *cmd, const void *data, size_t len);
__printf(3, 4) int peer_error(struct peer_cmd *cmd, int error, const char *fmt, ...);
int peer_get_u64(struct peer_cmd *cmd, const char *what, const char *word, u64 max, u64 *val);
int peer_get_u32(struct peer_cmd *cmd, const char *what, const char *word, u32 max, u32 *val);
int peer_get_hex(struct peer_cmd *cmd, const char *what, const char *word, u8 **data, size_t *len);
int peer_get_name(struct peer_cmd *cmd, const char *what, const char *word);

/* memory.c */
struct peer_domain *peer_domain_get(struct ib_device *dev);
void peer_domain_put(struct peer_domain *domain);
struct peer_buf *peer_buf_find(struct peer_cmd *cmd, const char *name);
int peer_buf_range(struct peer_cmd *cmd, const struct peer_buf *buf, u32 off, u32 len);
int peer_buf_alloc(struct peer_cmd *cmd, const char *name, struct peer_domain *domain, u32 bytes,
		   struct peer_buf **bufp);
void peer_buf_free(struct peer_buf *buf);
void peer_bufs_free(const struct ib_device *dev);
int peer_cmd_put(struct peer_cmd *cmd);
int peer_cmd_fill(struct peer_cmd *cmd);
int peer_cmd_get(struct peer_cmd *cmd);
int peer_cmd_free(struct peer_cmd *cmd);

/* con.c */
struct peer_con *peer_con_alloc(struct rdma_cm_id *id);
int peer_con_create_qp(struct peer_con *con);
void peer_con_destroy(struct peer_con *con);
int peer_con_publish(struct peer_cmd *cmd, struct peer_con *con, const char *name);
int peer_con_check_new(struct peer_cmd *cmd, const char *name);
struct peer_con *peer_con_find(struct peer_cmd *cmd, const char *name);
void peer_cons_destroy(const struct ib_device *dev);
void peer_con_event(struct peer_con *con, struct peer_event *ev);
__printf(2, 3) void peer_con_tell(struct peer_con *con, const char *fmt, ...);
void peer_con_over(struct peer_con *con);
int peer_cmd_wait(struct peer_cmd *cmd);
int peer_cmd_sent(struct peer_cmd *cmd);

/* verbs.c */
struct peer_con *peer_verbs_con(struct peer_cmd *cmd, const char *name);
const char *peer_op_name(enum ib_wr_opcode op);
int peer_get_op(struct peer_cmd *cmd, const char *word, enum ib_wr_opcode *op);
int peer_post_one(struct peer_con *con, const struct peer_post *post);
int peer_cmd_recv(struct peer_cmd *cmd);
int peer_cmd_post(struct peer_cmd *cmd);
int peer_cmd_buf(struct peer_cmd *cmd);
int peer_cmd_rereg(struct peer_cmd *cmd);
int peer_cmd_inv(struct peer_cmd *cmd);

/* template.c */
u32 peer_template_weight(const char *set);
const struct peer_template *peer_template_at(const char *set, u32 at);
void peer_templates_free(const char *set);
struct peer_key peer_key_get(int key);
void peer_key_set_busy(int key, bool busy);
void peer_key_heard(u32 index, const u8 *rkey);
int peer_cmd_template(struct peer_cmd *cmd);
int peer_cmd_forget(struct peer_cmd *cmd);
int peer_cmd_key(struct peer_cmd *cmd);

/* mutate.c */
int peer_cmd_mutate(struct peer_cmd *cmd);
int peer_cmd_mutant(struct peer_cmd *cmd);

/* cm.c */
int peer_cmd_listen(struct peer_cmd *cmd);
int peer_cmd_unlisten(struct peer_cmd *cmd);
int peer_cmd_request(struct peer_cmd *cmd);
int peer_cmd_accept(struct peer_cmd *cmd);
int peer_cmd_reject(struct peer_cmd *cmd);
int peer_cmd_connect(struct peer_cmd *cmd);
int peer_cmd_params(struct peer_cmd *cmd);
int peer_cmd_disconnect(struct peer_cmd *cmd);
void peer_cm_unlisten(void);
void peer_cm_drop_requests(const struct ib_device *dev);

#endif /* _RTRS_PEER_H */
