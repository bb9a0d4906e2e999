// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints of the server. */
#define CREATE_TRACE_POINTS
#include "trace.h"
