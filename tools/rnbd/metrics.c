// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of metrics are as good as an interface: add, but do not change. Documentation/admin-guide/metrics.rst
 * explains them, packaging/grafana/rnbd.json uses them.
 *
 * In both formats a family is a few lines of comment and then its samples. They differ in the name of
 * a counter's family, which has no _total in OpenMetrics, and in what Prometheus' text does not know,
 * units and a mark at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "metrics.h"
#include "out.h"

enum type {
	GAUGE,
	COUNTER,
	HISTOGRAM,
};

struct family;

/* What the families are of. */
struct scope {
	FILE *file;
	bool prometheus;
	const struct family *begun;		/* the one whose comments are printed */
	struct mapped_list devices;
	struct export_list exports;
};

struct family {
	const char *name;
	enum type type;
	const char *unit;
	const char *help;
	/* The samples of one session or path. */
	void (*samples)(struct scope *scope, const struct family *family, const struct sampled *item,
			const char *labels);
	/* One counter, or two that a label tells apart. */
	enum counter counter[2];
	const char *label, *value[2];
};

static const char *const type_names[] = { "gauge", "counter", "histogram" };

/* A label's value as it is written. Bytes that are not UTF-8 become octal, as in tables: two names stay two. */
static const char *escaped(const char *text)
{
	char *copy = mem_alloc(strlen("\\\\377") * strlen(text) + 1), *to = copy;
	size_t len;

	for (; *text; text += len ? len : 1) {
		len = utf8_len(text);
		if (!len) {
			to += sprintf(to, "\\\\%03o", (unsigned char)*text);
		} else if (strchr("\\\"\n", *text)) {
			*to++ = '\\';
			*to++ = *text == '\n' ? 'n' : *text;
		} else {
			to = (char *)memcpy(to, text, len) + len;
		}
	}
	return copy;
}

static const char *label(const char *labels, const char *name, const char *value)
{
	return mem_printf("%s%s%s=\"%s\"", labels, *labels ? "," : "", name, escaped(value));
}

/* The comments before a family's first sample: one that has none is not mentioned. */
static void family_begin(struct scope *scope, const struct family *family)
{
	const char *total = family->type == COUNTER && scope->prometheus ? "_total" : "";

	if (scope->begun == family)
		return;
	scope->begun = family;
	fprintf(scope->file, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, total, family->help, family->name,
		total, type_names[family->type]);
	if (family->unit && !scope->prometheus)
		fprintf(scope->file, "# UNIT %s %s\n", family->name, family->unit);
}

static void sample_print(struct scope *scope, const struct family *family, const char *labels,
			 const char *value)
{
	family_begin(scope, family);
	fprintf(scope->file, "%s%s{%s} %s\n", family->name, family->type == COUNTER ? "_total" : "", labels,
		value);
}

static void number_print(struct scope *scope, const struct family *family, const char *labels,
			 long long number)
{
	if (number >= 0)
		sample_print(scope, family, labels, mem_printf("%lld", number));
}

static void counters(struct scope *scope, const struct family *family, const struct sampled *item,
		     const char *labels)
{
	const long long *counter = item->figures.counter;
	size_t i;

	if (!family->label)
		number_print(scope, family, labels, counter[family->counter[0]]);
	for (i = 0; i < 2 && family->label; i++)
		number_print(scope, family, label(labels, family->label, family->value[i]),
			     counter[family->counter[i]]);
}

static void causes_print(struct scope *scope, const struct family *family, const struct causes *causes,
			 const char *labels)
{
	size_t i;

	for (i = 0; i < causes->nr; i++)
		number_print(scope, family, label(labels, "cause", causes->cause[i].name),
			     causes->cause[i].times);
}

static void losses(struct scope *scope, const struct family *family, const struct sampled *item,
		   const char *labels)
{
	causes_print(scope, family, &item->figures.losses, labels);
}

static void io_errors(struct scope *scope, const struct family *family, const struct sampled *item,
		      const char *labels)
{
	causes_print(scope, family, &item->figures.io_errors, labels);
}

/* Whole microseconds are less than a bound if they are at most it: no request is in the wrong bucket. */
static void histogram(struct scope *scope, const struct family *family, const struct hist *hist,
		      const char *labels)
{
	unsigned long long below = 0;
	size_t i;

	if (!hist->there)
		return;
	family_begin(scope, family);
	for (i = 0; i < NR_BUCKETS - 1; i++) {
		below += hist->bucket[i];
		fprintf(scope->file, "%s_bucket{%s,le=\"%.9g\"} %llu\n", family->name, labels,
			hist_bound_us(i) / 1e6, below);
	}
	below += hist->bucket[i];
	fprintf(scope->file, "%s_bucket{%s,le=\"+Inf\"} %llu\n", family->name, labels, below);
	fprintf(scope->file, "%s_sum{%s} %.6f\n", family->name, labels, hist->sum_us / 1e6);
	fprintf(scope->file, "%s_count{%s} %llu\n", family->name, labels, below);
}

static void latency(struct scope *scope, const struct family *family, const struct sampled *item,
		    const char *labels)
{
	enum operation op;

	for (op = 0; op < NR_OPERATIONS; op++)
		histogram(scope, family, &item->figures.latency[op][PART_TOTAL],
			  label(labels, "operation", operation_names[op]));
}

static void latency_parts(struct scope *scope, const struct family *family, const struct sampled *item,
			  const char *labels)
{
	enum operation op;
	enum part part;

	for (op = 0; op < NR_OPERATIONS; op++)
		for (part = PART_TOTAL + 1; part < NR_PARTS; part++)
			histogram(scope, family, &item->figures.latency[op][part],
				  label(label(labels, "operation", operation_names[op]), "part",
					part_names[part]));
}

static void session_paths(struct scope *scope, const struct family *family, const struct sampled *item,
			  const char *labels)
{
	number_print(scope, family, labels, item->sess->nr_paths);
}

static void session_connected(struct scope *scope, const struct family *family,
			      const struct sampled *item, const char *labels)
{
	number_print(scope, family, labels, item->sess->nr_connected);
}

static void session_devices_nr(struct scope *scope, const struct family *family,
			       const struct sampled *item, const char *labels)
{
	size_t i, nr = 0;

	for (i = 0; i < scope->devices.nr && !item->sess->server; i++)
		nr += !strcmp(scope->devices.dev[i].session, item->sess->name);
	for (i = 0; i < scope->exports.nr && item->sess->server; i++)
		nr += !strcmp(scope->exports.export[i].session, item->sess->name);
	number_print(scope, family, labels, nr);
}

static void longest_gap(struct scope *scope, const struct family *family, const struct sampled *item,
			const char *labels)
{
	long long gap_ns = item->sess->stats.longest_gap_ns;

	if (gap_ns >= 0)
		sample_print(scope, family, labels, mem_printf("%.3f", gap_ns / 1e9));
}

static void path_connected(struct scope *scope, const struct family *family, const struct sampled *item,
			   const char *labels)
{
	if (item->path->state)
		number_print(scope, family, labels, !strcmp(item->path->state, "connected"));
}

static void path_inflight(struct scope *scope, const struct family *family, const struct sampled *item,
			  const char *labels)
{
	number_print(scope, family, labels, item->inflight);
}

/* 0: none was answered yet. */
static void path_heartbeat(struct scope *scope, const struct family *family, const struct sampled *item,
			   const char *labels)
{
	if (item->path->stats.latency_ns > 0)
		sample_print(scope, family, labels,
			     mem_printf("%.9f", item->path->stats.latency_ns / 1e9));
}

#define ONE(which)	.samples = counters, .counter = { which }
#define TWO(first, second, name, one, other) \
	.samples = counters, .counter = { first, second }, .label = name, .value = { one, other }

static const struct family session_families[] = {
	{ "rnbd_session_paths", GAUGE, NULL, "Paths of the session.", .samples = session_paths },
	{ "rnbd_session_paths_connected", GAUGE, NULL, "Paths that are connected.", .samples = session_connected },
	{ "rnbd_session_devices", GAUGE, NULL, "Devices that are mapped, or open, over the session.",
	  .samples = session_devices_nr },
	{ "rnbd_session_failovers", COUNTER, NULL,
	  "Losses of a path whose requests other paths took over.", ONE(COUNT_FAILOVERS) },
	{ "rnbd_session_failover_gap_longest_seconds", GAUGE, "seconds",
	  "Longest time until all requests of a lost path were sent again.", .samples = longest_gap },
	{ "rnbd_session_reconnects", COUNTER, NULL, "Attempts to connect a path again.",
	  TWO(COUNT_RECONNECTS, COUNT_FAILED_RECONNECTS, "result", "connected", "failed") },
	{ "rnbd_session_losses", COUNTER, NULL, "Losses of a path, by cause.", .samples = losses },
	{ "rnbd_session_io_errors", COUNTER, NULL, "Requests that ended with an error, by cause.",
	  .samples = io_errors },
	{ "rnbd_session_timeouts", COUNTER, NULL,
	  "Losses of a path because a request had no answer in time.", ONE(COUNT_TIMEOUTS) },
	{ "rnbd_session_fences", COUNTER, NULL,
	  "Losses of a path after which the server was asked to close its end.",
	  TWO(COUNT_FENCES, COUNT_UNFENCED, "result", "answered", "unanswered") },
};

static const struct family path_families[] = {
	{ "rnbd_path_connected", GAUGE, NULL, "Whether the path is connected.", .samples = path_connected },
	{ "rnbd_path_inflight_requests", GAUGE, NULL, "Requests without an answer yet.", .samples = path_inflight },
	{ "rnbd_path_requests", COUNTER, NULL, "Requests.",
	  TWO(COUNT_READS, COUNT_WRITES, "operation", "read", "write") },
	{ "rnbd_path_transferred_bytes", COUNTER, "bytes", "Bytes of these requests.",
	  TWO(COUNT_READ_BYTES, COUNT_WRITE_BYTES, "operation", "read", "write") },
	{ "rnbd_path_taken_over_requests", COUNTER, NULL, "Requests that the path took over from lost ones.",
	  ONE(COUNT_TAKEN_OVER) },
	{ "rnbd_path_failovers", COUNTER, NULL, "Losses of the path with requests that others took over.",
	  ONE(COUNT_FAILOVERS) },
	{ "rnbd_path_reconnects", COUNTER, NULL, "Attempts to connect the path again.",
	  TWO(COUNT_RECONNECTS, COUNT_FAILED_RECONNECTS, "result", "connected", "failed") },
	{ "rnbd_path_losses", COUNTER, NULL, "Losses of the path, by cause.", .samples = losses },
	{ "rnbd_path_io_errors", COUNTER, NULL, "Requests that ended with an error, by cause.",
	  .samples = io_errors },
	{ "rnbd_path_timeouts", COUNTER, NULL,
	  "Losses of the path because a request had no answer in time.", ONE(COUNT_TIMEOUTS) },
	{ "rnbd_path_fences", COUNTER, NULL,
	  "Losses of the path after which the server was asked to close its end.",
	  TWO(COUNT_FENCES, COUNT_UNFENCED, "result", "answered", "unanswered") },
	{ "rnbd_path_heartbeat_seconds", GAUGE, "seconds", "Round trip of the last answered heartbeat.",
	  .samples = path_heartbeat },
	{ "rnbd_path_latency_seconds", HISTOGRAM, "seconds",
	  "Time of a request, from its submission to its end.", .samples = latency },
	{ "rnbd_path_latency_part_seconds", HISTOGRAM, "seconds",
	  "Parts of that time, of the requests that are timed: client, wire, server, device.",
	  .samples = latency_parts },
};

static const struct family device_size = {
	.name = "rnbd_device_size_bytes",
	.type = GAUGE,
	.unit = "bytes",
	.help = "Size of a mapped device.",
};

static const struct family device_open = {
	.name = "rnbd_device_open",
	.type = GAUGE,
	.help = "Whether the server has the mapped device open.",
};

static const char *item_labels(const struct sampled *item)
{
	const char *labels = label(label("", "role", item->sess->server ? "server" : "client"), "session",
				   item->sess->name);

	return item->path ? label(labels, "path", item->path->name) : labels;
}

static void families_print(struct scope *scope, const struct family *families, size_t nr,
			   const struct sample *sample, bool paths)
{
	const struct sampled *item;
	size_t i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < sample->nr; j++) {
			item = &sample->item[j];
			if (!item->path == !paths)
				families[i].samples(scope, &families[i], item, item_labels(item));
		}
	}
}

/* The name is that of node_exporter's metrics of disks. */
static const char *device_labels(const struct mapped *dev)
{
	return label(label(label("", "device", dev->disk), "session", dev->session), "device_path",
		     dev->device_path);
}

static void metrics_print(struct scope *scope, const struct sample *sample)
{
	const struct mapped *dev;

	scope->devices = mapped_load();
	scope->exports = exports_load();
	families_print(scope, session_families, ARRAY_SIZE(session_families), sample, false);
	families_print(scope, path_families, ARRAY_SIZE(path_families), sample, true);
	for (dev = scope->devices.dev; dev < scope->devices.dev + scope->devices.nr; dev++)
		number_print(scope, &device_size, device_labels(dev), dev->bytes);
	for (dev = scope->devices.dev; dev < scope->devices.dev + scope->devices.nr; dev++)
		if (dev->state)
			number_print(scope, &device_open, device_labels(dev), !strcmp(dev->state, "open"));
	if (!scope->prometheus)
		fputs("# EOF\n", scope->file);
}

static enum status output_fail(const char *file)
{
	return fail(ST_NOT_READY, "%s: %s", file, strerror(errno));
}

/*
 * Who reads the file sees the old one or the new one. Until it is complete it has another name, which
 * ends as no file that node_exporter reads.
 */
static enum status output_write(struct scope *scope, const struct sample *sample, const char *file)
{
	const char *unfinished = mem_printf("%s.tmp", file);
	enum status status = ST_OK;
	bool written;
	int fd;

	unlink(unfinished);
	fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	scope->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!scope->file)
		return output_fail(unfinished);
	metrics_print(scope, sample);
	/* Whatever the umask: node_exporter is another user. */
	written = !fflush(scope->file) && !ferror(scope->file) && !fchmod(fd, 0644);
	if (!written)
		status = output_fail(unfinished);
	fclose(scope->file);
	if (written && rename(unfinished, file))
		status = output_fail(file);
	if (status != ST_OK)
		unlink(unfinished);
	return status;
}

enum status metrics_write(const struct sample *sample, const struct args *args)
{
	struct scope scope = { .file = stdout, .prometheus = args->prometheus };

	if (args->output)
		return output_write(&scope, sample, args->output);
	metrics_print(&scope, sample);
	return ST_OK;
}
