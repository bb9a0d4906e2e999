/* SPDX-License-Identifier: GPL-2.0-only */
/* What is asked for of the client's map_device: split, check, and say precisely what is wrong. */
#ifndef _RNBD_OPTIONS_H
#define _RNBD_OPTIONS_H

#include "proto_env.h"
#include <rnbd/rnbd_format.h>
#include <rtrs/rtrs_timing.h>

/* Paths one write may name (sysfs specification section 3). */
#define RNBD_OPT_MAX_PATHS	6

/* Seconds that requests may wait for a path: by default, and at most; -1 is for ever. */
#define RNBD_OPT_NO_PATH_TIMEOUT	30
#define RNBD_OPT_MAX_NO_PATH_TIMEOUT	86400

/* Seconds that a request may take in all, at most; 0, the default, is any time. */
#define RNBD_OPT_MAX_REQUEST_TIMEOUT	86400

/* Longest session name or device path, without NUL. */
#define RNBD_OPT_MAX_NAME	255

/**
 * struct rnbd_options - what to map and how to get there
 * @sessname: name of the session
 * @device_path: name of the device on the server
 * @paths: addresses as written, not yet looked at
 * @nr_paths: how many of @paths are set
 * @dest_port: destination port of every path
 * @access_mode: how to open the device
 * @nr_poll_queues: hardware queues for polled I/O
 * @no_path_timeout: seconds that requests wait for a path; 0: they fail at once; -1: for ever
 * @request_timeout: seconds that a request may take in all; 0: any time
 * @timing: how soon a lost path is noticed
 * @timing_given: which of its values the text has, a bit for each by enum rtrs_clt_timing_index; the
 *	others are the defaults
 *
 * The strings point into the text that was parsed, or are those that were set.
 */
struct rnbd_options {
	const char *sessname;
	const char *device_path;
	const char *paths[RNBD_OPT_MAX_PATHS];
	unsigned int nr_paths;
	u16 dest_port;
	enum rnbd_access_mode access_mode;
	u32 nr_poll_queues;
	int no_path_timeout;
	int request_timeout;
	struct rtrs_clt_timing timing;
	u32 timing_given;
};

/**
 * struct rnbd_options_error - why a text was refused
 * @key: the key in question, or the whole word if it has no known key
 * @value: its value, NULL if there is none
 * @expected: what is allowed, as the rest of the sentence "expected ..."
 *
 * The pointers are into the text that was parsed, or to what was set, or to constants.
 */
struct rnbd_options_error {
	const char *key;
	const char *value;
	char expected[256];
};

/**
 * struct rnbd_options_run - one run of the parser, from rnbd_options_begin() to rnbd_options_end()
 * @opts: result
 * @error: filled when something is wrong
 * @max_poll_queues: largest number of poll queues
 * @seen: bit mask of the keys that came, by index into the table of keys
 */
struct rnbd_options_run {
	struct rnbd_options *opts;
	struct rnbd_options_error *error;
	unsigned int max_poll_queues;
	unsigned long seen;
};

void rnbd_options_begin(struct rnbd_options_run *run, unsigned int max_poll_queues,
			struct rnbd_options *opts, struct rnbd_options_error *error);
int rnbd_options_set(struct rnbd_options_run *run, const char *key, const char *value);
int rnbd_options_end(struct rnbd_options_run *run);
int rnbd_options_parse(char *text, unsigned int max_poll_queues, struct rnbd_options *opts,
		       struct rnbd_options_error *error);

#endif /* _RNBD_OPTIONS_H */
