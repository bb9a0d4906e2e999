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
	const struct sample *sample;
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

	for (i = 0; i < scope->sample->devices.nr && !item->sess->server; i++)
		nr += !strcmp(scope->sample->devices.dev[i].session, item->sess->name);
	for (i = 0; i < scope->sample->exports.nr && item->sess->server; i++)
		nr += export_is_of(&scope->sample->exports.export[i], item->sess);
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

static long long device_size(const struct mapped *dev)
{
	return dev->bytes;
}

static long long device_open(const struct mapped *dev)
{
	return dev->state ? !strcmp(dev->state, "open") : -1;
}

static long long device_slow(const struct mapped *dev)
{
	return dev->slow.seconds;
}

static long long device_overdue(const struct mapped *dev)
{
	return dev->slow.times;
}

#define FAMILY(its_name, its_type, its_unit, its_help) \
	.family = { .name = its_name, .type = its_type, .unit = its_unit, .help = its_help }

static const struct {
	struct family family;
	long long (*of)(const struct mapped *dev);
} device_families[] = {
	{ FAMILY("rnbd_device_size_bytes", GAUGE, "bytes", "Size of a mapped device."), device_size },
	{ FAMILY("rnbd_device_open", GAUGE, NULL, "Whether the server has the mapped device open."), device_open },
	{ FAMILY("rnbd_device_slow_seconds", GAUGE, "seconds",
		 "For how long the oldest request of a mapped device has been waiting that takes longer than its io_timeout."),
	  device_slow },
	{ FAMILY("rnbd_device_overdue_requests", COUNTER, NULL,
		 "Requests of a mapped device that took longer than its io_timeout."), device_overdue },
};

static long long export_slow(const struct export *export)
{
	return export->slow.seconds;
}

static long long export_slow_times(const struct export *export)
{
	return export->slow.times;
}

static long long export_orphans(const struct export *export)
{
	return export->orphans;
}

/* Those of a client that has a device open, or of the device, whoever has it. */
static const struct {
	struct family family;
	long long (*of)(const struct export *export);
	bool of_device;
} export_families[] = {
	{ FAMILY("rnbd_export_slow_seconds", GAUGE, "seconds",
		 "For how long the disk of an open device has had a request that its client has asked for."),
	  export_slow, false },
	{ FAMILY("rnbd_export_slow_periods", COUNTER, NULL,
		 "How often the disk of an open device began to have such a request."), export_slow_times, false },
	{ FAMILY("rnbd_export_orphaned_requests", GAUGE, NULL,
		 "Requests that a disk has not ended although the path that they came on is gone."), export_orphans, true },
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

static void devices_print(struct scope *scope)
{
	const struct mapped_list *list = &scope->sample->devices;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(device_families); i++)
		for (j = 0; j < list->nr; j++)
			number_print(scope, &device_families[i].family, device_labels(&list->dev[j]),
				     device_families[i].of(&list->dev[j]));
}

static const char *export_labels(const struct export *export, bool of_device)
{
	const char *labels = label("", "device", export->device);

	if (of_device)
		return labels;
	/* What tells two names of the device in one session apart is not the session's. */
	labels = label(labels, "session", mem_copy(export->session, strcspn(export->session, ".")));
	return label(labels, "device_path", export->device_path);
}

/* Exports of one device are next to each other. */
static void exports_print(struct scope *scope)
{
	const struct export_list *list = &scope->sample->exports;
	const struct export *export;
	size_t i, j;
	bool same;

	for (i = 0; i < ARRAY_SIZE(export_families); i++) {
		for (j = 0; j < list->nr; j++) {
			export = &list->export[j];
			same = j && !strcmp(export->device, list->export[j - 1].device);
			/* One that goes meanwhile has lost its files. */
			if (export->device_path && !(export_families[i].of_device && same))
				number_print(scope, &export_families[i].family,
					     export_labels(export, export_families[i].of_device),
					     export_families[i].of(export));
		}
	}
}

static void metrics_print(struct scope *scope)
{
	families_print(scope, session_families, ARRAY_SIZE(session_families), scope->sample, false);
	families_print(scope, path_families, ARRAY_SIZE(path_families), scope->sample, true);
	devices_print(scope);
	exports_print(scope);
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
static enum status output_write(struct scope *scope, const char *file)
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
	metrics_print(scope);
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
	struct scope scope = { .file = stdout, .prometheus = args->prometheus, .sample = sample };

	if (args->output)
		return output_write(&scope, args->output);
	metrics_print(&scope);
	return ST_OK;
}
