// SPDX-License-Identifier: GPL-2.0-only
/* The one place that creates the tracepoints. */
#include <linux/export.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_path_step);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_fence);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_failover);
EXPORT_TRACEPOINT_SYMBOL_GPL(rtrs_clt_resend);
