/* SPDX-License-Identifier: GPL-2.0-only */
/* Text written to the client's files session and run: split, check, and say precisely what is wrong. */
#ifndef _RTRS_PERF_OPTIONS_H
#define _RTRS_PERF_OPTIONS_H

#include "msg.h"

/* Paths that a session can begin with; more can be added in sysfs. */
#define RTRS_PERF_MAX_PATHS		6

/* Longest name of a session, and longest list of CPUs, without NUL. */
#define RTRS_PERF_MAX_NAME		255

/* Requests of one run. */
#define RTRS_PERF_MAX_ITERATIONS	1000000000

/**
 * struct rtrs_perf_session_opts - which session to open
 * @sessname: its name
 * @paths: addresses as written, not yet looked at
 * @nr_paths: how many of @paths are set
 * @dest_port: destination port of every path
 *
 * The strings point into the text that was parsed.
 */
struct rtrs_perf_session_opts {
	const char *sessname;
	const char *paths[RTRS_PERF_MAX_PATHS];
	unsigned int nr_paths;
	u16 dest_port;
};

/**
 * enum rtrs_perf_op - what the requests of a run do
 * @RTRS_PERF_NONE: not told
 * @RTRS_PERF_READ: have the server send data
 * @RTRS_PERF_WRITE: send data to the server
 */
enum rtrs_perf_op {
	RTRS_PERF_NONE,
	RTRS_PERF_READ,
	RTRS_PERF_WRITE,
};

/**
 * struct rtrs_perf_run_opts - what to measure
 * @op: what the requests do
 * @size: bytes of data of each
 * @iterations: how many of them, all CPUs together
 * @depth: how many are in flight at a time, for each CPU
 * @cpus: CPUs that send them, a list as written
 *
 * The string points into the text that was parsed.
 */
struct rtrs_perf_run_opts {
	enum rtrs_perf_op op;
	u32 size;
	u32 iterations;
	u32 depth;
	const char *cpus;
};

/**
 * struct rtrs_perf_limits - what the session allows
 * @size: most bytes of data
 * @depth: most requests in flight
 */
struct rtrs_perf_limits {
	u32 size;
	u32 depth;
};

/**
 * struct rtrs_perf_error - why a text was refused
 * @key: the key in question, or the whole word if it has no known key
 * @value: its value, NULL if there is none
 * @expected: what is allowed, as the rest of the sentence "expected ..."
 *
 * The pointers are into the text that was parsed, or to constants.
 */
struct rtrs_perf_error {
	const char *key;
	const char *value;
	char expected[96];
};

int rtrs_perf_session_parse(char *text, struct rtrs_perf_session_opts *opts,
			    struct rtrs_perf_error *error);
int rtrs_perf_run_parse(char *text, const struct rtrs_perf_limits *limits,
			struct rtrs_perf_run_opts *opts, struct rtrs_perf_error *error);

#endif /* _RTRS_PERF_OPTIONS_H */
