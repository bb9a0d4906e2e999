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

#endif /* _RTRS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
