/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RTRS, the RDMA transport: the interface for upper layer protocols (ULPs).
 *
 * A client session reaches one server over several paths.  It owns queue_depth slots; a permit is the
 * right to use one of them.  A request pushes a user message and data into the slot's chunk on the
 * server; the answer is an errno, and for READ the data in the pages given.
 */
#ifndef _RDMA_RTRS_H
#define _RDMA_RTRS_H

#include <linux/scatterlist.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <rtrs/rtrs_timing.h>

struct rtrs_clt_req;
struct rtrs_clt_sess;
struct rtrs_srv_ctx;
struct rtrs_srv_sess;
struct kvec;

/**
 * enum rtrs_clt_link_ev - what happened to a client session as a whole
 * @RTRS_CLT_LINK_EV_RECONNECTED: the first path is back after all were lost
 * @RTRS_CLT_LINK_EV_DISCONNECTED: the last path was lost, its requests are completed
 */
enum rtrs_clt_link_ev {
	RTRS_CLT_LINK_EV_RECONNECTED,
	RTRS_CLT_LINK_EV_DISCONNECTED,
};

/**
 * struct rtrs_addr - one path: where from and where to
 * @src: source address, or NULL to let routing choose
 * @dst: destination address and port
 */
struct rtrs_addr {
	struct sockaddr_storage *src;
	struct sockaddr_storage *dst;
};

/**
 * struct rtrs_clt_ops - callbacks of a client session
 * @priv: passed to @link_ev
 * @link_ev: session lost or back.  Process context with a mutex of the session held: it must not open
 *	     or close a session and must not wait for a request.
 */
struct rtrs_clt_ops {
	void *priv;
	void (*link_ev)(void *priv, enum rtrs_clt_link_ev ev);
};

/**
 * enum wait_type - may rtrs_clt_get_permit() sleep
 * @RTRS_PERMIT_NOWAIT: return NULL if no slot is free
 * @RTRS_PERMIT_WAIT: sleep until one is
 */
enum wait_type {
	RTRS_PERMIT_NOWAIT = 0,
	RTRS_PERMIT_WAIT   = 1,
};

/**
 * enum rtrs_clt_con_type - which connection of a path a permit's request uses
 * @RTRS_ADMIN_CON: the service connection, for rare control messages
 * @RTRS_IO_CON: the connection of the current CPU
 */
enum rtrs_clt_con_type {
	RTRS_ADMIN_CON,
	RTRS_IO_CON,
};

/**
 * struct rtrs_permit - right to use one slot
 * @slot: the slot, constant; less than the queue depth of the session.  A ULP may keep something for each slot
 * @con: connection its requests use: 0 service, else I/O; the transport's
 * @aborted: @priv of the request that rtrs_clt_request_abort() was called for; NULL again with the next permit
 *
 * Its members are not part of mainline's interface.
 */
struct rtrs_permit {
	u16 slot;
	u16 con;
	void *aborted;
};

/**
 * struct rtrs_clt_req_ops - completion of a request
 * @priv: passed to @conf_fn
 * @conf_fn: called exactly once with 0 or a negative errno; must not sleep
 */
struct rtrs_clt_req_ops {
	void *priv;
	void (*conf_fn)(void *priv, int errno);
};

#define RTRS_CLT_BATCH_MAX	16

/**
 * struct rtrs_clt_batch - requests that are sent together
 * @sess: their session
 * @req: those that are not sent yet
 * @msg_len: bytes of each one's message
 * @nr: how many
 * @msgs_len: bytes of all their messages
 *
 * The transport's.  Not part of mainline's interface.
 */
struct rtrs_clt_batch {
	struct rtrs_clt_sess *sess;
	struct rtrs_clt_req *req[RTRS_CLT_BATCH_MAX];
	u16 msg_len[RTRS_CLT_BATCH_MAX];
	u32 nr;
	u32 msgs_len;
};

/**
 * struct rtrs_attrs - what an open session can do
 * @queue_depth: number of slots
 * @max_io_size: bytes of data per request
 * @max_segments: entries of the sg list per request, each at most 4 KiB unless physically contiguous
 * @identity: the server's ULP can tell which disk it opens (extension IDENTITY).  Not part of mainline's interface.
 * @nr_io_conns: I/O connections of each path that are not polled; CPU n uses that of number n modulo @nr_io_conns.  Not part
 *	of mainline's interface
 */
struct rtrs_attrs {
	u32 queue_depth;
	u32 max_io_size;
	u32 max_segments;
	u32 nr_io_conns;
	bool identity;
};

/**
 * enum rtrs_clt_where - where a request is that was not answered for long
 * @RTRS_CLT_WHERE_NO_PATH: on no path: it waits for one to fail over to, or is answered just now
 * @RTRS_CLT_WHERE_NOT_TOLD: with a server that cannot be asked (mainline's)
 * @RTRS_CLT_WHERE_ASKED: the server has not answered yet
 * @RTRS_CLT_WHERE_SERVER: with the server, which has not given it to its ULP yet, or is answering
 * @RTRS_CLT_WHERE_ULP: with the server's ULP
 */
enum rtrs_clt_where {
	RTRS_CLT_WHERE_NO_PATH,
	RTRS_CLT_WHERE_NOT_TOLD,
	RTRS_CLT_WHERE_ASKED,
	RTRS_CLT_WHERE_SERVER,
	RTRS_CLT_WHERE_ULP,
};

/* Longest words of a report, with NUL. */
#define RTRS_REPORT_LEN	1024

/**
 * struct rtrs_report - why something was refused or failed, for the one who asked for it
 * @text: what was said first, as in the kernel log; empty: nothing
 * @key: option that this is about, by its name in sysfs; NULL: none
 * @nr: which one, if it came several times; counted from 0
 *
 * Zero at first.  Not part of mainline's interface.
 */
struct rtrs_report {
	char text[RTRS_REPORT_LEN];
	const char *key;
	unsigned int nr;
};

/**
 * enum rtrs_srv_link_ev - what happened to a server session
 * @RTRS_SRV_LINK_EV_CONNECTED: first path up
 * @RTRS_SRV_LINK_EV_DISCONNECTED: last path down; all operations are finished, unless the ULP has
 *	struct rtrs_srv_ops.orphaned: then orphaned ones may still be with it
 */
enum rtrs_srv_link_ev {
	RTRS_SRV_LINK_EV_CONNECTED,
	RTRS_SRV_LINK_EV_DISCONNECTED,
};

/**
 * struct rtrs_srv_op - a request on the server, as the ULP sees it
 * @dir: READ if the chunk is room for a result, WRITE if it holds a payload.  A ULP that looks at its
 *	 own message only can be made to take what is left in the chunk for the data of a WRITE.
 * @slot: less than rtrs_srv_get_queue_depth(); no other request of the session that is not answered
 *	  has the same, on whichever path it came, but for orphaned ones
 * @pdu: struct rtrs_srv_ops.pdu_size bytes for the ULP, zero when the path connects; NULL without.
 *	 Not part of mainline's interface
 *
 * The transport's; valid from rdma_ev until rtrs_srv_resp_rdma().
 */
struct rtrs_srv_op {
	u8 dir;
	u16 slot;
	void *pdu;
};

/**
 * struct rtrs_srv_ops - callbacks of a server context
 * @rdma_ev: a request came.  @data is the chunk (payload of a WRITE, room for the result of a
 *	     READ) of @datalen bytes, @usr the user message.  Process context, may sleep, but must
 *	     not wait for what a disk or a peer can withhold: other connections and sessions need
 *	     the worker.  0: the ULP owns @id and answers with rtrs_srv_resp_rdma(); else RTRS
 *	     answers with that errno.
 * @link_ev: session up or down.  Process context, serialised per session.  A non-zero result of
 *	     CONNECTED refuses the path.
 * @orphaned: the path on which @id came is gone, nothing of it can arrive any more.  The ULP keeps @id, its data
 *	     and its message until it answers as always, and the answer goes nowhere.  True: the ULP has not begun
 *	     with @id and does not answer it.  From the return on the session's next request with the same slot
 *	     may run beside @id, so the ULP itself has to keep what conflicts with @id from running.  Any context,
 *	     with a spinlock held and interrupts off; @id may be answered at the same moment.  NULL: a slot's next
 *	     request, and DISCONNECTED, wait until orphaned requests are answered.  Not part of mainline's interface
 * @pdu_size: bytes of struct rtrs_srv_op.pdu.  Not part of mainline's interface
 * @overdue: the client waits for a request that the ULP has had for @secs seconds.  NULL: the ULP does not want to
 *	     know.  Not part of mainline's interface.  Any context, interrupts off, must not sleep or answer; @id is
 *	     not answered completely before it returns.
 */
struct rtrs_srv_ops {
	int (*rdma_ev)(void *priv, struct rtrs_srv_op *id,
		       void *data, size_t datalen, const void *usr, size_t usrlen);
	int (*link_ev)(struct rtrs_srv_sess *sess, enum rtrs_srv_link_ev ev, void *priv);
	bool (*orphaned)(struct rtrs_srv_op *id);
	size_t pdu_size;
	void (*overdue)(void *priv, struct rtrs_srv_op *id, unsigned int secs);
};

/* Client, rtrs-client.ko */
struct rtrs_clt_sess *rtrs_clt_open(struct rtrs_clt_ops *ops, const char *pathname,
				    const struct rtrs_addr *paths, size_t path_cnt,
				    u16 port, size_t pdu_sz, u8 reconnect_delay_sec,
				    s16 max_reconnect_attempts, u32 nr_poll_queues);
struct rtrs_clt_sess *rtrs_clt_open_timed(struct rtrs_clt_ops *ops, const char *pathname,
					  const struct rtrs_addr *paths, size_t path_cnt,
					  u16 port, size_t pdu_sz, u8 reconnect_delay_sec,
					  s16 max_reconnect_attempts, u32 nr_poll_queues,
					  const struct rtrs_clt_timing *timing,
					  struct rtrs_report *report);
void rtrs_clt_get_timing(const struct rtrs_clt_sess *sess, struct rtrs_clt_timing *timing);
void rtrs_clt_close(struct rtrs_clt_sess *sess);
struct rtrs_permit *rtrs_clt_get_permit(struct rtrs_clt_sess *sess,
					enum rtrs_clt_con_type con_type, enum wait_type wait);
struct rtrs_permit *rtrs_clt_get_permit_share(struct rtrs_clt_sess *sess, u32 held, u32 users);
void rtrs_clt_put_permit(struct rtrs_clt_sess *sess, struct rtrs_permit *permit);
void rtrs_clt_permit_set_queue(struct rtrs_clt_sess *sess, struct rtrs_permit *permit,
			       unsigned int index);
int rtrs_clt_request(int dir, struct rtrs_clt_req_ops *ops, struct rtrs_clt_sess *sess,
		     struct rtrs_permit *permit, const struct kvec *vec, size_t nr, size_t len,
		     struct scatterlist *sg, unsigned int sg_cnt);
void rtrs_clt_batch_begin(struct rtrs_clt_batch *batch, struct rtrs_clt_sess *sess);
int rtrs_clt_batch_request(int dir, struct rtrs_clt_req_ops *ops, struct rtrs_clt_batch *batch,
			   struct rtrs_permit *permit, const struct kvec *vec, size_t nr, size_t len,
			   struct scatterlist *sg, unsigned int sg_cnt);
void rtrs_clt_batch_end(struct rtrs_clt_batch *batch);
bool rtrs_clt_is_unsteady(const struct rtrs_clt_sess *sess);
void rtrs_clt_request_overdue(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv,
			      unsigned long timeout);
bool rtrs_clt_request_abort(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv,
			    bool last_path);
void rtrs_clt_request_expire(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv);
enum rtrs_clt_where rtrs_clt_request_where(struct rtrs_clt_sess *sess, struct rtrs_permit *permit, void *priv);
int rtrs_clt_rdma_cq_direct(struct rtrs_clt_sess *sess, unsigned int index);
int rtrs_clt_query(struct rtrs_clt_sess *sess, struct rtrs_attrs *attr);

/* Server, rtrs-server.ko */
struct rtrs_srv_ctx *rtrs_srv_open(struct rtrs_srv_ops *ops, u16 port);
void rtrs_srv_close(struct rtrs_srv_ctx *ctx);
bool rtrs_srv_resp_rdma(struct rtrs_srv_op *id, int errno);
void rtrs_srv_set_sess_priv(struct rtrs_srv_sess *sess, void *priv);
int rtrs_srv_get_path_name(struct rtrs_srv_sess *sess, char *pathname, size_t len);
int rtrs_srv_get_queue_depth(struct rtrs_srv_sess *sess);
/* Not part of mainline's interface. */
bool rtrs_srv_comes_from(struct rtrs_srv_sess *sess, const struct sockaddr_storage *addrs, size_t nr,
			 struct sockaddr_storage *other);
bool rtrs_srv_is_quiet(const struct rtrs_srv_sess *sess);

/* Addresses, rtrs-core.ko */
int rtrs_addr_to_sockaddr(const char *str, size_t len, u16 port, struct rtrs_addr *addr);
int sockaddr_to_str(const struct sockaddr *addr, char *buf, size_t len);
int rtrs_addr_to_str(const struct rtrs_addr *addr, char *buf, size_t len);

/* Words for who asked, rtrs-core.ko; not part of mainline's interface. */
__printf(2, 3)
void rtrs_report_set(struct rtrs_report *report, const char *fmt, ...);
void rtrs_report_blame(struct rtrs_report *report, const char *key, unsigned int nr);

#endif /* _RDMA_RTRS_H */
