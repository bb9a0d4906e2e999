/* SPDX-License-Identifier: GPL-2.0-only */
/* Files in debugfs. */
#ifndef _RTRS_PERF_CTL_H
#define _RTRS_PERF_CTL_H

void rtrs_perf_ctl_create(void);
void rtrs_perf_ctl_remove(void);

#endif /* _RTRS_PERF_CTL_H */
