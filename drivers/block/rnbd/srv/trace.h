/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the server.  Session name, device id and the number of the I/O join the events
 * of one request.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rnbd_srv

#if !defined(_RNBD_SRV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RNBD_SRV_TRACE_H

#include <linux/tracepoint.h>

#include "srv.h"

#define RNBD_SRV_TRACE_NAME_LEN	32

TRACE_EVENT(rnbd_srv_io_start,
	TP_PROTO(const struct rnbd_srv_dev *dev, u16 slot, const struct rnbd_srv_io_req *req),
	TP_ARGS(dev, slot, req),
	TP_STRUCT__entry(
		__array(char, sess, RNBD_SRV_TRACE_NAME_LEN)
		__field(u64, sector)
		__field(u32, device_id)
		__field(u16, slot)
		__field(u32, bytes)
		__field(u16, prio)
		__field(u8, op)
		__field(bool, sync)
		__field(bool, fua)
		__field(bool, preflush)
		__field(bool, nounmap)
	),
	TP_fast_assign(
		strscpy(__entry->sess, dev->sess->name, RNBD_SRV_TRACE_NAME_LEN);
		__entry->sector = req->sector;
		__entry->device_id = dev->id;
		__entry->slot = slot;
		__entry->bytes = req->bytes;
		__entry->prio = req->prio;
		__entry->op = req->op;
		__entry->sync = req->sync;
		__entry->fua = req->fua;
		__entry->preflush = req->preflush;
		__entry->nounmap = req->nounmap;
	),
	TP_printk("sess=%s dev=%u slot=%u op=%u%s%s%s%s sector=%llu bytes=%u prio=%#x",
		  __entry->sess, __entry->device_id, __entry->slot, __entry->op,
		  __entry->sync ? "|sync" : "", __entry->fua ? "|fua" : "",
		  __entry->preflush ? "|preflush" : "", __entry->nounmap ? "|nounmap" : "",
		  __entry->sector, __entry->bytes, __entry->prio)
);

TRACE_EVENT(rnbd_srv_io_done,
	TP_PROTO(const struct rnbd_srv_dev *dev, u16 slot, int error),
	TP_ARGS(dev, slot, error),
	TP_STRUCT__entry(
		__array(char, sess, RNBD_SRV_TRACE_NAME_LEN)
		__field(u32, device_id)
		__field(u16, slot)
		__field(int, error)
	),
	TP_fast_assign(
		strscpy(__entry->sess, dev->sess->name, RNBD_SRV_TRACE_NAME_LEN);
		__entry->device_id = dev->id;
		__entry->slot = slot;
		__entry->error = error;
	),
	TP_printk("sess=%s dev=%u slot=%u error=%d",
		  __entry->sess, __entry->device_id, __entry->slot, __entry->error)
);

TRACE_EVENT(rnbd_srv_refuse,
	TP_PROTO(const struct rnbd_srv_sess *sess, int type, unsigned int verdict, int error),
	TP_ARGS(sess, type, verdict, error),
	TP_STRUCT__entry(
		__array(char, sess, RNBD_SRV_TRACE_NAME_LEN)
		__field(int, type)
		__field(u32, verdict)
		__field(int, error)
	),
	TP_fast_assign(
		strscpy(__entry->sess, sess->name, RNBD_SRV_TRACE_NAME_LEN);
		__entry->type = type;
		__entry->verdict = verdict;
		__entry->error = error;
	),
	TP_printk("sess=%s type=%d verdict=%u error=%d",
		  __entry->sess, __entry->type, __entry->verdict, __entry->error)
);

DECLARE_EVENT_CLASS(rnbd_srv_dev,
	TP_PROTO(const struct rnbd_srv_dev *dev),
	TP_ARGS(dev),
	TP_STRUCT__entry(
		__array(char, sess, RNBD_SRV_TRACE_NAME_LEN)
		__array(char, name, RNBD_NAME_LEN)
		__field(u32, device_id)
		__field(u8, access_mode)
	),
	TP_fast_assign(
		strscpy(__entry->sess, dev->sess->name, RNBD_SRV_TRACE_NAME_LEN);
		strscpy(__entry->name, dev->name, RNBD_NAME_LEN);
		__entry->device_id = dev->id;
		__entry->access_mode = dev->access_mode;
	),
	TP_printk("sess=%s dev=%u name=%s access_mode=%u",
		  __entry->sess, __entry->device_id, __entry->name, __entry->access_mode)
);

DEFINE_EVENT(rnbd_srv_dev, rnbd_srv_dev_open,
	TP_PROTO(const struct rnbd_srv_dev *dev),
	TP_ARGS(dev));

DEFINE_EVENT(rnbd_srv_dev, rnbd_srv_dev_close,
	TP_PROTO(const struct rnbd_srv_dev *dev),
	TP_ARGS(dev));

#endif /* _RNBD_SRV_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
