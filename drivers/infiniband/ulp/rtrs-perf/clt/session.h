/* SPDX-License-Identifier: GPL-2.0-only */
/* The session that is measured, and the run on it. */
#ifndef _RTRS_PERF_SESSION_H
#define _RTRS_PERF_SESSION_H

#include "run.h"

/**
 * struct rtrs_perf_session_info - what an open session can do
 * @name: its name
 * @attrs: as the transport has them
 */
struct rtrs_perf_session_info {
	char name[RTRS_PERF_MAX_NAME + 1];
	struct rtrs_attrs attrs;
};

int rtrs_perf_session_open(char *text);
int rtrs_perf_session_close(void);
int rtrs_perf_session_info(struct rtrs_perf_session_info *info);
int rtrs_perf_session_start(char *text);
int rtrs_perf_session_stop(void);
struct rtrs_perf_run *rtrs_perf_session_run(void);
u32 rtrs_perf_session_lost(void);

#endif /* _RTRS_PERF_SESSION_H */
