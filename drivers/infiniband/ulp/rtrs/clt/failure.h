/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a path is lost or does not connect: the last reason, and which of many are logged. */
#ifndef _RTRS_CLT_FAILURE_H
#define _RTRS_CLT_FAILURE_H

#include <linux/compiler_attributes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "../proto/quiet.h"

struct rtrs_clt_path;
struct rtrs_report;

/* Longer texts are cut. */
#define RTRS_CLT_FAILURE_BYTES	192

/**
 * struct rtrs_clt_failure - failures of a path
 * @lock: guards the others; innermost
 * @quiet: the failures since the path was last useful
 * @text: why the path was lost or did not connect the last time; empty if that never happened
 * @is_cause: @text is of the failure that is being handled; what comes later is a consequence
 * @was_given: @text was given where the fault was found, else it only puts the error number in words
 * @up_unlogged: the path has connected since the last line in the log
 */
struct rtrs_clt_failure {
	spinlock_t lock;
	struct rtrs_quiet quiet;
	char text[RTRS_CLT_FAILURE_BYTES];
	bool is_cause;
	bool was_given;
	bool up_unlogged;
};

void rtrs_clt_failure_init(struct rtrs_clt_failure *failure);
bool rtrs_clt_failure_is_new(struct rtrs_clt_path *path, const char *fmt);
__printf(2, 3)
void rtrs_clt_failure_note(struct rtrs_clt_path *path, const char *fmt, ...);
void rtrs_clt_failure_begin(struct rtrs_clt_path *path);
void rtrs_clt_failure_lost(struct rtrs_clt_path *path, int error, const char *reason);
void rtrs_clt_failure_attempt(struct rtrs_clt_path *path, int error, const char *reason);
bool rtrs_clt_failure_connected(struct rtrs_clt_path *path);
void rtrs_clt_failure_over(struct rtrs_clt_path *path);
void rtrs_clt_failure_forget(struct rtrs_clt_path *path);
void rtrs_clt_failure_get(struct rtrs_clt_path *path, char *text, size_t size);
void rtrs_clt_failure_report(struct rtrs_clt_path *path, struct rtrs_report *report);

#endif /* _RTRS_CLT_FAILURE_H */
