/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What there is in sysfs: mapped devices, sessions and their paths, exported devices. Attributes
 * that the modules at hand lack are NULL, or -1.
 */
#ifndef RNBD_MODEL_H
#define RNBD_MODEL_H

#include "rnbd.h"

#define CLT_CTL		"/sys/class/rnbd-client/ctl"
#define SRV_CTL		"/sys/class/rnbd-server/ctl"
#define SRV_PARAM	"/sys/module/rnbd_server/parameters"
#define CLT_CLASS	"/sys/class/rtrs-client"
#define SRV_CLASS	"/sys/class/rtrs-server"

/*
 * A disk that does not answer in time: for how long the oldest of its requests has been waiting, 0 if none does, and how often
 * that was so.
 */
struct slow {
	long long seconds, times;
};

/* A mapped device. */
struct mapped {
	const char *disk;		/* rnbd0 */
	const char *dir;		/* its files, /sys/block/rnbd0/rnbd */
	const char *state, *session, *device_path, *access_mode;
	const char *no_path_timeout, *request_timeout, *poll_queues, *identity;
	struct slow slow;
	long long bytes;
};

struct mapped_list {
	struct mapped *dev;
	size_t nr;
};

/* Counters of a path, or those that its session has too; -1 where there are none. */
struct path_stats {
	long long reads, read_bytes, writes, write_bytes, inflight, failovers;
	long long reconnects, failed_reconnects, timeouts, latency_ns;
	long long fences, fences_unanswered, gaps, last_gap_ns, longest_gap_ns;
};

struct path {
	const char *name;		/* ip:10.1.0.1@ip:10.1.0.2 */
	const char *dir;
	const char *src, *dst, *state, *hca_name, *hca_port, *last_failure;
	struct path_stats stats;
};

struct session {
	const char *name;
	const char *dir;
	bool server;
	const char *policy, *max_reconnects;
	const char *timing[NR_TIMINGS];
	struct path_stats stats;
	struct path *path;
	size_t nr_paths, nr_connected;
};

struct session_list {
	struct session *sess;
	size_t nr;
};

/* A client's hold on an exported device. */
struct export {
	const char *device;		/* sda1 */
	const char *dir;		/* of the session below it */
	const char *session, *access_mode, *device_path;
	struct slow slow;
	long long orphans;		/* of the device, whoever sent them */
};

struct export_list {
	struct export *export;
	size_t nr;
};

/* An export that was declared by name; clients: with commas, empty for all; identity: empty for none. */
struct declared {
	const char *name, *device, *access_mode, *clients, *identity;
};

struct declared_list {
	struct declared *declared;
	size_t nr;
};

struct mapped_list mapped_load(void);
bool mapped_any(const struct mapped_list *list, const char *name);
const struct mapped *mapped_find(const struct mapped_list *list, const char *name,
				 enum status *status);
void sessions_load(struct session_list *list, bool server);
const struct session *session_find(const struct session_list *list, const char *name);
enum status session_get(struct session_list *list, bool server, const char *name,
			const struct session **sess);
size_t session_devices(const struct session *sess);
bool path_is(const struct path *path, const char *name);
enum status path_get(const struct session *sess, const char *name, const struct path **path);
struct export_list exports_load(void);
bool export_is_of(const struct export *export, const struct session *sess);
long long session_slow(const struct session *sess, const struct mapped_list *devices,
		       const struct export_list *exports);
struct declared_list declared_load(void);
bool module_loaded(const char *name);

#endif
