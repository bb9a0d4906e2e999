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

/* Work requests of a connection that may be posted at a time, each direction. */
#define PEER_QUEUE_DEPTH	512

/* Connections and buffers there may be at a time; events of a connection nobody waited for. */
#define PEER_MAX_CONS		512
#define PEER_MAX_BUFS		256
#define PEER_MAX_EVENTS		4096

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
 * @domain: protection domain, NULL before there is a queue pair
 * @cq: completion queue of both directions, NULL before there is a queue pair
 * @lock: guards @events, @nr_events, @sends and @send_status
 * @wait: woken up for each event and each send that completes
 * @events: struct peer_event, oldest first
 * @nr_events: how many
 * @sends: posted by the command "post" and not completed yet
 * @send_status: the first failure among those since the command "sent" told it, IB_WC_SUCCESS if none
 * @cm: written by the handler before it completes @cm_done, read after that
 * @param: what the other side's request or accept asked for; as @cm
 * @cm_done: a step of connecting is over, or the send queue is drained
 * @established: events go to "wait" from now on; written by the handler only
 */
struct peer_con {
	struct list_head entry;
	char name[PEER_NAME_LEN];
	struct rdma_cm_id *id;
	struct peer_domain *domain;
	struct ib_cq *cq;
	spinlock_t lock;
	wait_queue_head_t wait;
	struct list_head events;
	unsigned int nr_events;
	unsigned int sends;
	enum ib_wc_status send_status;
	struct peer_cm_result cm;
	struct rdma_conn_param param;
	struct completion cm_done;
	bool established;
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
int peer_cmd_wait(struct peer_cmd *cmd);
int peer_cmd_sent(struct peer_cmd *cmd);

/* verbs.c */
int peer_cmd_recv(struct peer_cmd *cmd);
int peer_cmd_post(struct peer_cmd *cmd);
int peer_cmd_buf(struct peer_cmd *cmd);
int peer_cmd_rereg(struct peer_cmd *cmd);
int peer_cmd_inv(struct peer_cmd *cmd);

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
