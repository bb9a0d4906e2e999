/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PERF_H
#define PERF_H

#include "rnbd.h"

#define PERF_DIR	"/sys/kernel/debug/rtrs-perf-client"
#define PERF_MODULE	"rtrs-perf-client"

#define PERF_MIN_SWEEP		512
#define PERF_MAX_ITERATIONS	1000000000

/* What a command line says. */
struct perf_args {
	bool write, latency, all, json, noheaders, stop;
	struct args family;		/* -4, -6 */
	const char *server, *session, *policy, *port, *cpus;
	const char *iterations, *depth, *size;
	unsigned long long bytes;	/* of size */
	struct words paths;
};

/* The session, as it was opened. */
struct perf_session {
	const char *name, *policy, *cpus;
	struct words paths;
	long long max_io_size, queue_depth, depth, iterations;
	bool open;
};

/* The outcome of one run. Times are in nanoseconds. */
struct perf_result {
	long long size, iterations, done, error, failovers, lost, elapsed;
	const char *state;
	double min, max, avg, stdev, p50, p99, p999;
};

enum status perf_parse(int argc, char **argv, struct perf_args *args);
void perf_help(void);
void perf_complete(char *const *argv);

enum status perf_open(const struct perf_args *args, struct perf_session *sess);
enum status perf_run(const struct perf_args *args, const struct perf_session *sess, long long size,
		     struct perf_result *result);
enum status perf_close(void);
extern volatile int perf_interrupted;

bool perf_stats(const char *text, const char *histogram, struct perf_result *result);

void report_head(const struct perf_args *args, const struct perf_session *sess);
void report_row(const struct perf_args *args, const struct perf_result *result, bool first);
void report_end(const struct perf_args *args);

#endif
