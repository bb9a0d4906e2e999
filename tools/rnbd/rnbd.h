/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RNBD_H
#define RNBD_H

#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* In front of what is complained about; each program has its own, in main.c. */
extern const char program_name[];

/* Exit status; rnbd(8) has the same list. */
enum status {
	ST_OK,
	ST_REFUSED,		/* by the kernel or the server */
	ST_USAGE,		/* wrong command line */
	ST_NOT_READY,		/* this machine lacks a module, an RDMA device, a right ... */
	ST_NOT_FOUND,		/* no such device, session or path */
	ST_BUSY,		/* in use, or there already */
	ST_UNREACHABLE,		/* the server does not answer, or nobody listens */
};

/* A list of words. */
struct words {
	const char **word;
	size_t nr;
};

void words_add(struct words *words, const char *word);
bool words_have(const struct words *words, const char *word);
const char *words_join(const struct words *words, const char *between);

/* What a command line says. */
struct args {
	bool json, noheaders, dry_run, force, all, server, ipv4, ipv6, help;
	bool openmetrics, prometheus;
	const char *units, *session, *access, *port, *poll_queues, *no_path_timeout, *wait;
	const char *request_timeout;
	const char *watch, *count, *output;
	const char *timing[NR_TIMINGS];
	struct words paths;
	struct words words;
};

/*
 * A command. Its options are letters of the table in args.c; complete says what its words are:
 * d a mapped device, s a session of the client, S a session or a device of either side, T a mapped device, a session of
 * either side or a path, p a path of the session before it, e an exported device, x a session that has it open, r client or
 * server, c exports or map, m a map of the files if that was map; the last one may repeat.
 */
struct command {
	const char *name;
	const char *words;
	const char *options;
	const char *complete;
	const char *brief;
	const char *about;
	unsigned int min, max;
	enum status (*run)(const struct args *args);
};

#define ANY_NUMBER	~0u

extern const struct command commands[];
extern const size_t nr_commands;

enum status cmd_map(const struct args *args);
enum status cmd_unmap(const struct args *args);
enum status cmd_remap(const struct args *args);
enum status cmd_resize(const struct args *args);
enum status cmd_list(const struct args *args);
enum status cmd_show(const struct args *args);
enum status cmd_sessions(const struct args *args);
enum status cmd_path_add(const struct args *args);
enum status cmd_path_del(const struct args *args);
enum status cmd_path_list(const struct args *args);
enum status cmd_reconnect(const struct args *args);
enum status cmd_disconnect(const struct args *args);
enum status cmd_exports(const struct args *args);
enum status cmd_close(const struct args *args);
enum status cmd_stats(const struct args *args);
enum status cmd_events(const struct args *args);
enum status cmd_top(const struct args *args);
enum status cmd_check(const struct args *args);
enum status cmd_config_check(const struct args *args);
enum status cmd_config_apply(const struct args *args);
enum status cmd_config_remove(const struct args *args);

#endif
