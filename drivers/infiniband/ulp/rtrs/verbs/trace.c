// SPDX-License-Identifier: GPL-2.0-only
/* The one place that creates the tracepoints. */
#include <linux/export.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_path_step);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_fence);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_chunks);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_chunks);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_failover);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_resend);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_req_send);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_req_recv);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_req_submit);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_req_done);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_req_answer);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_req_answered);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_req_done);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_mr_register);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_mr_invalidate);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_mr_register);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_srv_mr_invalidate);
