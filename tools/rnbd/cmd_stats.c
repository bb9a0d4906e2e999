// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures of sessions and paths: since they were reset, or per interval. The keys of the columns are
 * names in JSON, which programs rely on: add, but do not change.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mem.h"
#include "metrics.h"
#include "out.h"
#include "sample.h"
#include "value.h"

#define MAX_INTERVAL	86400
#define MAX_COUNT	2147483647

#define WHO							\
	{ "session", "SESSION", COL_TEXT },			\
	{ "role", "ROLE", COL_TEXT },				\
	{ "path", "PATH", COL_TEXT },				\
	{ "state", "STATE", COL_TEXT },				\
	{ "paths_connected", "UP", COL_NUMBER },		\
	{ "paths", "PATHS", COL_NUMBER }

#define REST							\
	{ "p50_ns", "P50", COL_NS },				\
	{ "p99_ns", "P99", COL_NS },				\
	{ "p999_ns", "P999", COL_NS },				\
	{ "inflight", "INFLIGHT", COL_NUMBER },			\
	{ "failovers", "FAILOVERS", COL_NUMBER },		\
	{ "reconnects", "RECONNECTS", COL_NUMBER },		\
	{ "losses", "LOSSES", COL_NUMBER },			\
	{ "io_errors", "ERRORS", COL_NUMBER },			\
	{ "slow_s", "SLOW", COL_SECONDS },			\
	{ "failed_reconnects", NULL, COL_NUMBER },		\
	{ "timeouts", NULL, COL_NUMBER },			\
	{ "fences", NULL, COL_NUMBER },				\
	{ "fences_unanswered", NULL, COL_NUMBER },		\
	{ "losses_by_cause", NULL, COL_JSON },			\
	{ "io_errors_by_cause", NULL, COL_JSON },		\
	{ "latency", NULL, COL_JSON }

static const struct column total_columns[] = {
	WHO,
	{ "reads", "READS", COL_NUMBER },
	{ "read_bytes", "READ", COL_BYTES },
	{ "writes", "WRITES", COL_NUMBER },
	{ "write_bytes", "WRITTEN", COL_BYTES },
	REST
};

static const struct column rate_columns[] = {
	WHO,
	{ "interval_ns", NULL, COL_NUMBER },
	{ "iops", "IOPS", COL_MILLI },
	{ "read_iops", "READS/S", COL_MILLI },
	{ "read_bytes_per_second", "READ/S", COL_BYTES },
	{ "write_iops", "WRITES/S", COL_MILLI },
	{ "write_bytes_per_second", "WRITTEN/S", COL_BYTES },
	REST
};

/* What of a sample is asked for: a session by name, or a path; all if there is neither. */
struct chosen {
	const char *session, *path;
	bool client;
};

static const char *causes_json(const struct causes *causes)
{
	const char *text = "{";
	size_t i;

	if (!causes->there)
		return "null";
	for (i = 0; i < causes->nr; i++)
		text = mem_printf("%s%s %s: %lld", text, i ? "," : "", json_quoted(causes->cause[i].name),
				  causes->cause[i].times);
	return mem_printf("%s }", text);
}

static const char *hist_json(const struct hist *hist)
{
	const char *text = "";
	size_t i;

	for (i = 0; i < NR_BUCKETS; i++)
		text = mem_printf("%s%s%llu", text, i ? ", " : "", hist->bucket[i]);
	return mem_printf("{ \"requests\": %llu, \"sum_us\": %llu, \"buckets\": [%s] }", hist->requests,
			  hist->sum_us, text);
}

/* Those that there are: { "read": { "total": ... }, "write": ... } */
static const char *latency_json(const struct figures *figures)
{
	const char *text = "", *parts;
	enum operation op;
	enum part part;

	for (op = 0; op < NR_OPERATIONS; op++) {
		parts = "";
		for (part = 0; part < NR_PARTS; part++)
			if (figures->latency[op][part].there)
				parts = mem_printf("%s%s\"%s\": %s", parts, *parts ? ", " : "", part_names[part],
						   hist_json(&figures->latency[op][part]));
		if (*parts)
			text = mem_printf("%s%s \"%s\": { %s }", text, *text ? "," : "", operation_names[op],
					  parts);
	}
	return *text ? mem_printf("{%s }", text) : "null";
}

static void add_who(struct table *table, const struct sampled *item)
{
	table_text(table, item->sess->name);
	table_text(table, item->sess->server ? "server" : "client");
	table_text(table, item->path ? item->path->name : NULL);
	table_text(table, item->path ? item->path->state : NULL);
	table_count(table, item->path ? -1 : (long long)item->sess->nr_connected);
	table_count(table, item->path ? -1 : (long long)item->sess->nr_paths);
}

static void add_milli(struct table *table, long long number, long long ns)
{
	table_count(table, number < 0 ? -1 : (long long)(per_second(number, ns) * 1000 + 0.5));
}

static void add_per_second(struct table *table, long long number, long long ns)
{
	table_count(table, number < 0 ? -1 : (long long)(per_second(number, ns) + 0.5));
}

static void add_totals(struct table *table, const struct figures *figures)
{
	table_count(table, figures->counter[COUNT_READS]);
	table_count(table, figures->counter[COUNT_READ_BYTES]);
	table_count(table, figures->counter[COUNT_WRITES]);
	table_count(table, figures->counter[COUNT_WRITE_BYTES]);
}

static void add_rates(struct table *table, const struct figures *figures, long long ns)
{
	table_number(table, ns);
	add_milli(table, figures_requests(figures), ns);
	add_milli(table, figures->counter[COUNT_READS], ns);
	add_per_second(table, figures->counter[COUNT_READ_BYTES], ns);
	add_milli(table, figures->counter[COUNT_WRITES], ns);
	add_per_second(table, figures->counter[COUNT_WRITE_BYTES], ns);
}

static void add_rest(struct table *table, const struct sampled *item)
{
	const struct figures *figures = &item->figures;
	struct hist latency = figures_latency(figures, PART_TOTAL);

	table_count(table, hist_percentile_ns(&latency, 500));
	table_count(table, hist_percentile_ns(&latency, 990));
	table_count(table, hist_percentile_ns(&latency, 999));
	table_count(table, item->inflight);
	table_count(table, figures->counter[COUNT_TAKEN_OVER]);
	table_count(table, figures->counter[COUNT_RECONNECTS]);
	table_count(table, causes_sum(&figures->losses));
	table_count(table, causes_sum(&figures->io_errors));
	table_count(table, item->slow_s);
	table_count(table, figures->counter[COUNT_FAILED_RECONNECTS]);
	table_count(table, figures->counter[COUNT_TIMEOUTS]);
	table_count(table, figures->counter[COUNT_FENCES]);
	table_count(table, figures->counter[COUNT_UNFENCED]);
	table_text(table, causes_json(&figures->losses));
	table_text(table, causes_json(&figures->io_errors));
	table_text(table, latency_json(figures));
}

static bool is_chosen(const struct chosen *chosen, const struct sampled *item)
{
	if (chosen->session)
		return !strcmp(item->sess->name, chosen->session) && !(chosen->client && item->sess->server);
	if (chosen->path)
		return item->path && (!strcmp(item->path->name, chosen->path) ||
				      path_is(item->path, chosen->path));
	return true;
}

static void print_sample(const struct sample *since, const struct chosen *chosen, const struct args *args)
{
	struct table table = since->since_ns ? TABLE(rate_columns) : TABLE(total_columns);
	const struct sampled *item;

	for (item = since->item; item < since->item + since->nr; item++) {
		if (!is_chosen(chosen, item))
			continue;
		add_who(&table, item);
		if (since->since_ns)
			add_rates(&table, &item->figures, since->since_ns);
		else
			add_totals(&table, &item->figures);
		add_rest(&table, item);
	}
	table_print(&table, args);
}

static bool any_chosen(const struct chosen *chosen, const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->nr; i++)
		if (is_chosen(chosen, &sample->item[i]))
			return true;
	return false;
}

/* A session if there is one of the name, else a path, else a mapped device. */
static enum status choose(const char *name, const struct sample *sample, struct chosen *chosen)
{
	struct mapped_list list;
	enum status status = ST_OK;
	struct words names = { 0 };
	const struct mapped *dev;
	size_t i;

	*chosen = (struct chosen){ .session = name };
	if (any_chosen(chosen, sample))
		return ST_OK;
	*chosen = (struct chosen){ .path = name };
	if (any_chosen(chosen, sample))
		return ST_OK;
	list = mapped_load();
	dev = mapped_find(&list, name, &status);
	if (dev) {
		*chosen = (struct chosen){ .session = dev->session, .client = true };
		return ST_OK;
	}
	for (i = 0; i < sample->sessions.nr; i++)
		if (!words_have(&names, sample->sessions.sess[i].name))
			words_add(&names, sample->sessions.sess[i].name);
	if (names.nr)
		detail("next", "sessions are %s", words_join(&names, ", "));
	return status;
}

static void sleep_until(long long ns)
{
	const struct timespec until = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Two samples at a time, each in memory of its own, which the one after the next takes again. */
static enum status watch(const struct args *args, const struct sample *first, const struct chosen *chosen)
{
	long seconds = strtol(args->watch, NULL, 10), count = args->count ? strtol(args->count, NULL, 10) : 0, nr;
	struct mem_pool pool[2] = { 0 };
	struct sample sample[2] = { *first }, since;
	long long next = first->time_ns;
	enum status status = ST_OK;
	int now = 0;

	for (nr = 0; (!count || nr < count) && status == ST_OK; nr++) {
		now = !now;
		mem_empty(&pool[now]);
		mem_use(&pool[now]);
		next += seconds * 1000000000LL;
		sleep_until(next);
		sample_take(&sample[now]);
		since = sample_since(&sample[now], &sample[!now]);
		if (nr && !args->json && !args->noheaders)
			putchar('\n');
		print_sample(&since, chosen, args);
		if (fflush(stdout))
			status = fail(ST_NOT_READY, "cannot write the output: %s", strerror(errno));
	}
	mem_use(NULL);
	mem_empty(&pool[0]);
	mem_empty(&pool[1]);
	return status;
}

static enum status number_check(const char *option, const char *text, long max)
{
	const char *wrong = text ? value_number(text, 1, max) : NULL;

	return wrong ? fail(ST_USAGE, "--%s=%s: %s", option, text, wrong) : ST_OK;
}

static enum status together_check(const struct args *args)
{
	bool metrics = args->openmetrics || args->prometheus;

	if (args->count && !args->watch)
		return fail(ST_USAGE, "--count is of the intervals of --watch, which is not given");
	if (metrics && (args->watch || args->json || args->words.nr))
		return fail(ST_USAGE, "--openmetrics and --prometheus print all there is, once: without --watch, --json or a name");
	if (args->openmetrics && args->prometheus)
		return fail(ST_USAGE, "--openmetrics and --prometheus are two formats; give one");
	if (args->output && !metrics)
		return fail(ST_USAGE, "--output needs --openmetrics or --prometheus");
	return ST_OK;
}

enum status cmd_stats(const struct args *args)
{
	struct chosen chosen = { 0 };
	struct sample sample, since;
	enum status status;

	status = together_check(args);
	if (status == ST_OK)
		status = number_check("watch", args->watch, MAX_INTERVAL);
	if (status == ST_OK)
		status = number_check("count", args->count, MAX_COUNT);
	if (status != ST_OK)
		return status;
	sample_take(&sample);
	if (args->openmetrics || args->prometheus)
		return metrics_write(&sample, args);
	if (args->words.nr)
		status = choose(args->words.word[0], &sample, &chosen);
	if (status != ST_OK)
		return status;
	if (args->watch)
		return watch(args, &sample, &chosen);
	since = sample_since(&sample, NULL);
	print_sample(&since, &chosen, args);
	return ST_OK;
}
