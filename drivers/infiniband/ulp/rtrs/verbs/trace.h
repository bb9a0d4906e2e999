/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints shared by client and server. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrs

#if !defined(_RTRS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RTRS_TRACE_H

#include <linux/tracepoint.h>

/* A path made a step of its state table. */
TRACE_EVENT(rtrs_path_step,
	TP_PROTO(const char *side, const char *path, const char *from, const char *event,
		 const char *to),
	TP_ARGS(side, path, from, event, to),
	TP_STRUCT__entry(
		__array(char, side, 8)
		__array(char, path, 128)
		__array(char, from, 16)
		__array(char, event, 16)
		__array(char, to, 16)
	),
	TP_fast_assign(
		strscpy(__entry->side, side, sizeof(__entry->side));
		strscpy(__entry->path, path, sizeof(__entry->path));
		strscpy(__entry->from, from, sizeof(__entry->from));
		strscpy(__entry->event, event, sizeof(__entry->event));
		strscpy(__entry->to, to, sizeof(__entry->to));
	),
	TP_printk("%s path %s: %s, %s -> %s", __entry->side, __entry->path, __entry->event,
		  __entry->from, __entry->to)
);

/* The client asks the server to close its end of a path, is answered, or leaves the question behind. */
TRACE_EVENT(rtrs_clt_fence,
	TP_PROTO(const char *path, u32 id, const char *step),
	TP_ARGS(path, id, step),
	TP_STRUCT__entry(
		__array(char, path, 128)
		__field(u32, id)
		__array(char, step, 16)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->id = id;
		strscpy(__entry->step, step, sizeof(__entry->step));
	),
	TP_printk("path %s: fence of number %u %s", __entry->path, __entry->id, __entry->step)
);

DECLARE_EVENT_CLASS(rtrs_chunks,
	TP_PROTO(const char *path, u32 was, u32 now, u32 wanted),
	TP_ARGS(path, was, now, wanted),
	TP_STRUCT__entry(
		__array(char, path, 128)
		__field(u32, was)
		__field(u32, now)
		__field(u32, wanted)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->was = was;
		__entry->now = now;
		__entry->wanted = wanted;
	),
	TP_printk("path %s: %u chunks, before %u, wanted %u", __entry->path, __entry->now, __entry->was,
		  __entry->wanted)
);

/* The server has made chunks, or taken some back. */
DEFINE_EVENT(rtrs_chunks, rtrs_srv_chunks,
	TP_PROTO(const char *path, u32 was, u32 now, u32 wanted),
	TP_ARGS(path, was, now, wanted)
);

/* The client has heard of it. */
DEFINE_EVENT(rtrs_chunks, rtrs_clt_chunks,
	TP_PROTO(const char *path, u32 was, u32 now, u32 wanted),
	TP_ARGS(path, was, now, wanted)
);

/* What a lost path owed was sent again, or failed; the gap is that of the oldest sent again. */
TRACE_EVENT(rtrs_clt_failover,
	TP_PROTO(const char *path, unsigned int moved, unsigned int failed, unsigned int gap_ms),
	TP_ARGS(path, moved, failed, gap_ms),
	TP_STRUCT__entry(
		__array(char, path, 128)
		__field(unsigned int, moved)
		__field(unsigned int, failed)
		__field(unsigned int, gap_ms)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->moved = moved;
		__entry->failed = failed;
		__entry->gap_ms = gap_ms;
	),
	TP_printk("path %s: %u requests moved, %u failed, gap %u ms", __entry->path,
		  __entry->moved, __entry->failed, __entry->gap_ms)
);

/* A request is sent again, over this path. */
TRACE_EVENT(rtrs_clt_resend,
	TP_PROTO(const char *path, u32 slot, u32 seq, bool write, size_t bytes,
		 unsigned int age_ms),
	TP_ARGS(path, slot, seq, write, bytes, age_ms),
	TP_STRUCT__entry(
		__array(char, path, 128)
		__field(u32, slot)
		__field(u32, seq)
		__field(bool, write)
		__field(size_t, bytes)
		__field(unsigned int, age_ms)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->slot = slot;
		__entry->seq = seq;
		__entry->write = write;
		__entry->bytes = bytes;
		__entry->age_ms = age_ms;
	),
	TP_printk("path %s: slot %u, seq %u, %s of %zu bytes, submitted %u ms ago", __entry->path,
		  __entry->slot, __entry->seq, __entry->write ? "write" : "read", __entry->bytes,
		  __entry->age_ms)
);

/*
 * Requests.  Session, path, connection, slot and number are the same on both sides: each counts the requests of
 * a slot since the path was connected.
 */
#define RTRS_TRACE_SESS_LEN	32
#define RTRS_TRACE_REQ_PROTO	const char *sess, const char *path, u32 con, u32 slot, u32 seq

DECLARE_EVENT_CLASS(rtrs_req,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, bool write, size_t bytes),
	TP_ARGS(sess, path, con, slot, seq, write, bytes),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_TRACE_SESS_LEN)
		__array(char, path, 128)
		__field(u32, con)
		__field(u32, slot)
		__field(u32, seq)
		__field(bool, write)
		__field(size_t, bytes)
	),
	TP_fast_assign(
		strscpy(__entry->sess, sess, sizeof(__entry->sess));
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->con = con;
		__entry->slot = slot;
		__entry->seq = seq;
		__entry->write = write;
		__entry->bytes = bytes;
	),
	TP_printk("session %s, path %s, con %u, slot %u, seq %u: %s of %zu bytes", __entry->sess,
		  __entry->path, __entry->con, __entry->slot, __entry->seq,
		  __entry->write ? "write" : "read", __entry->bytes)
);

/* The client is about to post it. */
DEFINE_EVENT(rtrs_req, rtrs_clt_req_send,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, bool write, size_t bytes),
	TP_ARGS(sess, path, con, slot, seq, write, bytes)
);

/* It arrived at the server. */
DEFINE_EVENT(rtrs_req, rtrs_srv_req_recv,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, bool write, size_t bytes),
	TP_ARGS(sess, path, con, slot, seq, write, bytes)
);

/* The server hands it to its ULP. */
DEFINE_EVENT(rtrs_req, rtrs_srv_req_submit,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, bool write, size_t bytes),
	TP_ARGS(sess, path, con, slot, seq, write, bytes)
);

DECLARE_EVENT_CLASS(rtrs_req_end,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, int error),
	TP_ARGS(sess, path, con, slot, seq, error),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_TRACE_SESS_LEN)
		__array(char, path, 128)
		__field(u32, con)
		__field(u32, slot)
		__field(u32, seq)
		__field(int, error)
	),
	TP_fast_assign(
		strscpy(__entry->sess, sess, sizeof(__entry->sess));
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->con = con;
		__entry->slot = slot;
		__entry->seq = seq;
		__entry->error = error;
	),
	TP_printk("session %s, path %s, con %u, slot %u, seq %u: error %d", __entry->sess,
		  __entry->path, __entry->con, __entry->slot, __entry->seq, __entry->error)
);

/* The server's ULP has answered it. */
DEFINE_EVENT(rtrs_req_end, rtrs_srv_req_done,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, int error),
	TP_ARGS(sess, path, con, slot, seq, error)
);

/* The server is about to post the answer, or has it wait for others. */
DEFINE_EVENT(rtrs_req_end, rtrs_srv_req_answer,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, int error),
	TP_ARGS(sess, path, con, slot, seq, error)
);

/* The answer came to the client. */
DEFINE_EVENT(rtrs_req_end, rtrs_clt_req_answered,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, int error),
	TP_ARGS(sess, path, con, slot, seq, error)
);

/* The client's ULP is told. */
DEFINE_EVENT(rtrs_req_end, rtrs_clt_req_done,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, int error),
	TP_ARGS(sess, path, con, slot, seq, error)
);

/* A region of memory for a request. */
DECLARE_EVENT_CLASS(rtrs_mr,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, u32 rkey),
	TP_ARGS(sess, path, con, slot, seq, rkey),
	TP_STRUCT__entry(
		__array(char, sess, RTRS_TRACE_SESS_LEN)
		__array(char, path, 128)
		__field(u32, con)
		__field(u32, slot)
		__field(u32, seq)
		__field(u32, rkey)
	),
	TP_fast_assign(
		strscpy(__entry->sess, sess, sizeof(__entry->sess));
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->con = con;
		__entry->slot = slot;
		__entry->seq = seq;
		__entry->rkey = rkey;
	),
	TP_printk("session %s, path %s, con %u, slot %u, seq %u: rkey %#x", __entry->sess,
		  __entry->path, __entry->con, __entry->slot, __entry->seq, __entry->rkey)
);

/* The client registers pages. */
DEFINE_EVENT(rtrs_mr, rtrs_clt_mr_register,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, u32 rkey),
	TP_ARGS(sess, path, con, slot, seq, rkey)
);

/* The client invalidates them; what the server invalidates is not told. */
DEFINE_EVENT(rtrs_mr, rtrs_clt_mr_invalidate,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, u32 rkey),
	TP_ARGS(sess, path, con, slot, seq, rkey)
);

/* The server registers a chunk again. */
DEFINE_EVENT(rtrs_mr, rtrs_srv_mr_register,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, u32 rkey),
	TP_ARGS(sess, path, con, slot, seq, rkey)
);

/* The server invalidates a chunk. */
DEFINE_EVENT(rtrs_mr, rtrs_srv_mr_invalidate,
	TP_PROTO(RTRS_TRACE_REQ_PROTO, u32 rkey),
	TP_ARGS(sess, path, con, slot, seq, rkey)
);

#endif /* _RTRS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
