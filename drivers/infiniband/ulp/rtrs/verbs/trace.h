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
	TP_PROTO(const char *path, u16 slot, bool write, size_t bytes, unsigned int age_ms),
	TP_ARGS(path, slot, write, bytes, age_ms),
	TP_STRUCT__entry(
		__array(char, path, 128)
		__field(u16, slot)
		__field(bool, write)
		__field(size_t, bytes)
		__field(unsigned int, age_ms)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, sizeof(__entry->path));
		__entry->slot = slot;
		__entry->write = write;
		__entry->bytes = bytes;
		__entry->age_ms = age_ms;
	),
	TP_printk("path %s: slot %u, %s of %zu bytes, submitted %u ms ago", __entry->path,
		  __entry->slot, __entry->write ? "write" : "read", __entry->bytes,
		  __entry->age_ms)
);

#endif /* _RTRS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
