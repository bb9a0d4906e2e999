/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs (job.c), as far as only rtrs-core needs it. */
#ifndef _RTRS_JOB_H
#define _RTRS_JOB_H

void rtrs_jobs_exit(void);

#endif /* _RTRS_JOB_H */
