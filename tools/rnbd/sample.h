/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sessions and paths have counted by now, and since an earlier sample. Of what the modules at
 * hand do not count there is -1, or nothing.
 */
#ifndef RNBD_SAMPLE_H
#define RNBD_SAMPLE_H

#include "hist.h"
#include "model.h"

enum operation {
	OP_READ,
	OP_WRITE,
	NR_OPERATIONS
};

/* Where the time of a request goes. */
enum part {
	PART_TOTAL,
	PART_CLIENT,
	PART_WIRE,
	PART_SERVER,
	PART_DEVICE,
	NR_PARTS
};

extern const char *const operation_names[NR_OPERATIONS];
extern const char *const part_names[NR_PARTS];

/* Those of one file of the kernel's are next to each other. */
enum counter {
	COUNT_READS,
	COUNT_READ_BYTES,
	COUNT_WRITES,
	COUNT_WRITE_BYTES,
	COUNT_TAKEN_OVER,		/* requests, from other paths */
	COUNT_RECONNECTS,
	COUNT_FAILED_RECONNECTS,
	COUNT_TIMEOUTS,
	COUNT_FENCES,
	COUNT_UNFENCED,
	COUNT_FAILOVERS,		/* of the path's requests to others */
	NR_COUNTERS
};

/* How often something happened for a reason. */
struct cause {
	const char *name;
	long long times;
};

struct causes {
	bool there;
	struct cause *cause;
	size_t nr;
};

struct figures {
	long long counter[NR_COUNTERS];
	struct hist latency[NR_OPERATIONS][NR_PARTS];
	struct causes losses, io_errors;
};

/* Figures of a path, or of a session as a whole: then there is no path. */
struct sampled {
	const struct session *sess;
	const struct path *path;
	struct figures figures;
	long long inflight;		/* just now */
	long long slow_s;		/* of a session: of the slowest of its disks, just now */
};

/* A session comes before its paths. */
struct sample {
	long long time_ns;
	long long since_ns;		/* how long it covers; 0: since the counters were reset */
	struct session_list sessions;
	struct mapped_list devices;
	struct export_list exports;
	struct sampled *item;
	size_t nr;
};

void sample_take(struct sample *sample);
struct sample sample_since(const struct sample *now, const struct sample *before);
long long causes_sum(const struct causes *causes);
long long figures_requests(const struct figures *figures);
long long figures_bytes(const struct figures *figures);
struct hist figures_latency(const struct figures *figures, enum part part);
double per_second(long long number, long long ns);
long long clock_ns(void);

#endif
