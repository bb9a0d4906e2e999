// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtrs-perf - measure RTRS without a block device.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "perf.h"

#ifndef RNBD_VERSION
#define RNBD_VERSION "unknown"
#endif

#define DEFAULT_BYTES	4096

const char program_name[] = "rtrs-perf";

static void interrupt(int sig)
{
	(void)sig;
	perf_interrupted = 1;
}

/* The session is closed whatever signal ends the program, as far as signals can be caught. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

static long long first_size(const struct perf_args *args, const struct perf_session *sess)
{
	long long size = args->all ? PERF_MIN_SWEEP : args->size ? (long long)args->bytes : DEFAULT_BYTES;

	return size < sess->max_io_size ? size : sess->max_io_size;
}

/* Powers of two, and the most that there is at the end; 0: that was it. */
static long long next_size(const struct perf_args *args, const struct perf_session *sess, long long size)
{
	if (!args->all || size == sess->max_io_size)
		return 0;
	return 2 * size < sess->max_io_size ? 2 * size : sess->max_io_size;
}

static enum status measure(const struct perf_args *args, const struct perf_session *sess)
{
	long long size = first_size(args, sess);
	enum status status = ST_OK;
	bool first = true;

	for (; size && status == ST_OK; size = next_size(args, sess, size)) {
		struct perf_result result = { 0 };

		status = perf_run(args, sess, size, &result);
		if (status == ST_OK && first)
			report_head(args, sess);
		if (status == ST_OK)
			report_row(args, &result, first);
		first = first && status != ST_OK;
		if (status == ST_OK && perf_interrupted && next_size(args, sess, size))
			status = fail(ST_REFUSED, "interrupted after %lld bytes", size);
	}
	if (!first)
		report_end(args);
	return status;
}

static enum status run(int argc, char **argv)
{
	struct perf_session sess = { 0 };
	struct perf_args args = { 0 };
	enum status status, closed = ST_OK;

	status = perf_parse(argc, argv, &args);
	if (status != ST_OK)
		return status;
	if (args.stop)
		return perf_close();
	catch_signals();
	status = perf_open(&args, &sess);
	if (status == ST_OK)
		status = measure(&args, &sess);
	if (sess.open)
		closed = perf_close();
	return status == ST_OK ? closed : status;
}

static bool asked_for(int argc, char **argv, const char *name, const char *letter)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], name) || !strcmp(argv[i], letter))
			return true;
	return false;
}

static enum status dispatch(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "complete")) {
		perf_complete(argv + 2);
		return ST_OK;
	}
	if (asked_for(argc, argv, "--help", "-h")) {
		perf_help();
		return ST_OK;
	}
	if (asked_for(argc, argv, "--version", "-V")) {
		puts("rtrs-perf " RNBD_VERSION);
		return ST_OK;
	}
	return run(argc, argv);
}

int main(int argc, char **argv)
{
	enum status status = dispatch(argc, argv);

	if (fflush(stdout) || ferror(stdout))
		return fail(ST_NOT_READY, "cannot write the output: %s", strerror(errno));
	return status;
}
