/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of many failures in a row are written to the kernel log. */
#ifndef _RTRS_QUIET_H
#define _RTRS_QUIET_H

#include "proto_env.h"

/* A failure that is like an earlier one of the series is logged at most once in this time, with the number of all. */
#define RTRS_QUIET_MS		60000
/* Each of so many reasons is logged at once when it is new in a series; others wait their turn. */
#define RTRS_QUIET_REASONS	8

/**
 * struct rtrs_quiet - a series of failures; all zeros: none yet
 * @began_ms: time of the first failure, valid if there is one
 * @logged_ms: time of the last line in the log
 * @failures: how many failures there were
 * @nr_reasons: entries of @reason
 * @reason: reasons that were logged
 */
struct rtrs_quiet {
	u64 began_ms;
	u64 logged_ms;
	u32 failures;
	u32 nr_reasons;
	u32 reason[RTRS_QUIET_REASONS];
};

/**
 * enum rtrs_quiet_verdict - what to log about a failure
 * @RTRS_QUIET_SILENT: nothing
 * @RTRS_QUIET_DETAIL: this failure
 * @RTRS_QUIET_SUMMARY: how many there were since when, and this one as the last
 */
enum rtrs_quiet_verdict {
	RTRS_QUIET_SILENT,
	RTRS_QUIET_DETAIL,
	RTRS_QUIET_SUMMARY,
};

bool rtrs_quiet_is_new(struct rtrs_quiet *quiet, u32 reason);
enum rtrs_quiet_verdict rtrs_quiet_failed(struct rtrs_quiet *quiet, u32 reason, u64 now_ms);

#endif /* _RTRS_QUIET_H */
