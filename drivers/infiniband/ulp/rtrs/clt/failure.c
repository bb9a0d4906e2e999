// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a path is lost or does not connect: the text that sysfs and netlink show, and the lines in the kernel log.
 *
 * Operation: whoever finds a fault notes the cause, before it reports the error to the path.  The first cause of a
 * failure is kept, later ones are its consequences.  The path worker counts the failure.  A series of failures begins
 * with the first one and ends when the path was useful for some time; in a series each cause is logged once, and after
 * that a line a minute with the number of failures (proto/quiet.c).
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/ktime.h>
#include <linux/string.h>

#include "clt.h"

/* What is logged once in a series, beside the formats of messages: losses, failed attempts, a connect. */
#define RTRS_CLT_FAILURE_LOST		0x10000U
#define RTRS_CLT_FAILURE_ATTEMPT	0x20000U
#define RTRS_CLT_FAILURE_UP		0x30000U

static u64 rtrs_clt_failure_now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

/**
 * rtrs_clt_failure_init() - no failure yet
 * @failure: failures of a new path, all zeros
 *
 * Context: any.
 */
void rtrs_clt_failure_init(struct rtrs_clt_failure *failure)
{
	spin_lock_init(&failure->lock);
}

/**
 * rtrs_clt_failure_is_new() - may a message be logged
 * @path: the path
 * @fmt: its format, which stands for the reason
 *
 * Context: any.
 * Return: true if it was not logged since the path was last useful, and not too many others were.
 */
bool rtrs_clt_failure_is_new(struct rtrs_clt_path *path, const char *fmt)
{
	struct rtrs_clt_failure *failure = &path->failure;
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&failure->lock, flags);
	ret = rtrs_quiet_is_new(&failure->quiet, lower_32_bits((uintptr_t)fmt));
	spin_unlock_irqrestore(&failure->lock, flags);
	return ret;
}

/**
 * rtrs_clt_failure_note() - keep the cause of a failure
 * @path: the path
 * @fmt: format as of printk(); a newline at its end is dropped
 *
 * Nothing happens if there is a cause already.
 *
 * Context: any.
 */
void rtrs_clt_failure_note(struct rtrs_clt_path *path, const char *fmt, ...)
{
	struct rtrs_clt_failure *failure = &path->failure;
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&failure->lock, flags);
	if (!failure->is_cause) {
		va_start(args, fmt);
		vscnprintf(failure->text, sizeof(failure->text), fmt, args);
		va_end(args);
		strreplace(failure->text, '\n', '\0');
		failure->is_cause = true;
		failure->was_given = true;
	}
	spin_unlock_irqrestore(&failure->lock, flags);
}

/**
 * rtrs_clt_failure_begin() - from now on a cause is that of the next failure
 * @path: the path, about to try to connect, or just connected
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_failure_begin(struct rtrs_clt_path *path)
{
	spin_lock_irq(&path->failure.lock);
	path->failure.is_cause = false;
	spin_unlock_irq(&path->failure.lock);
}

/* Count a failure. Return: what to log; for a summary @nr and @secs are set: failures, and since when. */
static enum rtrs_quiet_verdict rtrs_clt_failure_count(struct rtrs_clt_path *path, u32 kind, int error,
						      const char *reason, u32 *nr, u32 *secs)
{
	struct rtrs_clt_failure *failure = &path->failure;
	u64 now_ms = rtrs_clt_failure_now_ms();
	enum rtrs_quiet_verdict verdict;

	spin_lock_irq(&failure->lock);
	if (!failure->is_cause) {
		strscpy(failure->text, reason, sizeof(failure->text));
		failure->is_cause = true;
		failure->was_given = false;
	}
	verdict = rtrs_quiet_failed(&failure->quiet, kind | (u32)-error, now_ms);
	*nr = failure->quiet.failures;
	*secs = div_u64(now_ms - failure->quiet.began_ms, MSEC_PER_SEC);
	if (verdict != RTRS_QUIET_SILENT)
		failure->up_unlogged = false;
	spin_unlock_irq(&failure->lock);
	return verdict;
}

static void rtrs_clt_failure_log_summary(struct rtrs_clt_path *path, u32 nr, u32 secs, int error)
{
	char text[RTRS_CLT_FAILURE_BYTES];

	rtrs_clt_failure_get(path, text, sizeof(text));
	rtrs_clt_path_err(path, "%u failures in %u s, the last one: %s, error %d\n", nr, secs, text, error);
}

/**
 * rtrs_clt_failure_lost() - a connected path is lost
 * @path: the path
 * @error: negative errno
 * @reason: what it means, for want of a cause that was noted
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_failure_lost(struct rtrs_clt_path *path, int error, const char *reason)
{
	u32 nr, secs;

	switch (rtrs_clt_failure_count(path, RTRS_CLT_FAILURE_LOST, error, reason, &nr, &secs)) {
	case RTRS_QUIET_DETAIL:
		rtrs_clt_path_info(path, "disconnected: %s, error %d\n", reason, error);
		break;
	case RTRS_QUIET_SUMMARY:
		rtrs_clt_failure_log_summary(path, nr, secs, error);
		break;
	case RTRS_QUIET_SILENT:
		break;
	}
}

/**
 * rtrs_clt_failure_attempt() - an attempt to connect has failed
 * @path: the path, the attempt counted in @failures
 * @error: negative errno
 * @reason: what it means, for want of a cause that was noted
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_failure_attempt(struct rtrs_clt_path *path, int error, const char *reason)
{
	u32 nr, secs;

	switch (rtrs_clt_failure_count(path, RTRS_CLT_FAILURE_ATTEMPT, error, reason, &nr, &secs)) {
	case RTRS_QUIET_DETAIL:
		rtrs_clt_path_info(path, "attempt %u failed: error %d\n", path->failures, error);
		break;
	case RTRS_QUIET_SUMMARY:
		rtrs_clt_failure_log_summary(path, nr, secs, error);
		break;
	case RTRS_QUIET_SILENT:
		break;
	}
}

/**
 * rtrs_clt_failure_connected() - the path has connected
 * @path: the path
 *
 * Context: process, path mutex held.
 * Return: true if that is to be logged now; false: it has come and gone before, see rtrs_clt_failure_over().
 */
bool rtrs_clt_failure_connected(struct rtrs_clt_path *path)
{
	struct rtrs_clt_failure *failure = &path->failure;
	bool ret;

	spin_lock_irq(&failure->lock);
	ret = !failure->quiet.failures || rtrs_quiet_is_new(&failure->quiet, RTRS_CLT_FAILURE_UP);
	failure->up_unlogged = !ret;
	failure->is_cause = false;
	spin_unlock_irq(&failure->lock);
	return ret;
}

/**
 * rtrs_clt_failure_over() - the path is useful, the series of failures has ended
 * @path: the path
 *
 * Context: process.
 */
void rtrs_clt_failure_over(struct rtrs_clt_path *path)
{
	struct rtrs_clt_failure *failure = &path->failure;
	bool log;
	u32 nr;

	spin_lock_irq(&failure->lock);
	nr = failure->quiet.failures;
	log = failure->up_unlogged;
	failure->up_unlogged = false;
	memset(&failure->quiet, 0, sizeof(failure->quiet));
	spin_unlock_irq(&failure->lock);
	if (log)
		rtrs_clt_path_info(path, "connected and of use again, after %u failures\n", nr);
}

/**
 * rtrs_clt_failure_forget() - the next failure is the first one of a series again
 * @path: the path
 *
 * Context: process.
 */
void rtrs_clt_failure_forget(struct rtrs_clt_path *path)
{
	spin_lock_irq(&path->failure.lock);
	memset(&path->failure.quiet, 0, sizeof(path->failure.quiet));
	spin_unlock_irq(&path->failure.lock);
}

/**
 * rtrs_clt_failure_get() - why the path was lost or did not connect the last time
 * @path: the path
 * @text: where to; empty if it never happened
 * @size: room there
 *
 * Context: any.
 */
void rtrs_clt_failure_get(struct rtrs_clt_path *path, char *text, size_t size)
{
	unsigned long flags;

	spin_lock_irqsave(&path->failure.lock, flags);
	strscpy(text, path->failure.text, size);
	spin_unlock_irqrestore(&path->failure.lock, flags);
}

/**
 * rtrs_clt_failure_report() - tell who asked for the path why it does not connect
 * @path: the path
 * @report: where to, NULL: nobody wants to know
 *
 * Nothing is told if there is only an error number.
 *
 * Context: any.
 */
void rtrs_clt_failure_report(struct rtrs_clt_path *path, struct rtrs_report *report)
{
	struct rtrs_clt_failure *failure = &path->failure;
	char text[RTRS_CLT_FAILURE_BYTES];
	bool was_given;

	spin_lock_irq(&failure->lock);
	was_given = failure->was_given;
	strscpy(text, failure->text, sizeof(text));
	spin_unlock_irq(&failure->lock);
	if (was_given)
		rtrs_report_set(report, "session %s, path %s: %s", path->sess->name, path->name, text);
}
