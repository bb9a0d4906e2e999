// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io.h"
#include "mem.h"
#include "sample.h"

const char *const operation_names[NR_OPERATIONS] = { "read", "write" };
const char *const part_names[NR_PARTS] = { "total", "client", "wire", "server", "device" };

/* Counters that one file has, and that are reset together. */
static const struct { enum counter first, last; } together[] = {
	{ COUNT_READS, COUNT_TAKEN_OVER },
	{ COUNT_RECONNECTS, COUNT_FAILED_RECONNECTS },
	{ COUNT_TIMEOUTS, COUNT_TIMEOUTS },
	{ COUNT_FENCES, COUNT_UNFENCED },
	{ COUNT_FAILOVERS, COUNT_FAILOVERS },
};

long long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

double per_second(long long number, long long ns)
{
	return ns > 0 ? number * 1e9 / ns : 0;
}

/* -1 if they are not counted. */
long long causes_sum(const struct causes *causes)
{
	long long sum = 0;
	size_t i;

	for (i = 0; i < causes->nr; i++)
		sum += causes->cause[i].times;
	return causes->there ? sum : -1;
}

static long long sum_of(long long a, long long b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a + b;
}

long long figures_requests(const struct figures *figures)
{
	return sum_of(figures->counter[COUNT_READS], figures->counter[COUNT_WRITES]);
}

long long figures_bytes(const struct figures *figures)
{
	return sum_of(figures->counter[COUNT_READ_BYTES], figures->counter[COUNT_WRITE_BYTES]);
}

/* Of reads and writes. */
struct hist figures_latency(const struct figures *figures, enum part part)
{
	struct hist sum = figures->latency[OP_READ][part];

	hist_add(&sum, &figures->latency[OP_WRITE][part]);
	return sum;
}

static void counters_take(long long *counter, const struct path_stats *stats)
{
	counter[COUNT_READS] = stats->reads;
	counter[COUNT_READ_BYTES] = stats->read_bytes;
	counter[COUNT_WRITES] = stats->writes;
	counter[COUNT_WRITE_BYTES] = stats->write_bytes;
	counter[COUNT_TAKEN_OVER] = stats->failovers;
	counter[COUNT_RECONNECTS] = stats->reconnects;
	counter[COUNT_FAILED_RECONNECTS] = stats->failed_reconnects;
	counter[COUNT_TIMEOUTS] = stats->timeouts;
	counter[COUNT_FENCES] = stats->fences;
	counter[COUNT_UNFENCED] = stats->fences_unanswered;
	counter[COUNT_FAILOVERS] = stats->gaps;
}

/* The lines of a file; each ends in its newline no more. */
static struct words lines_of(const char *file)
{
	struct words lines = { 0 };
	char *text = io_read("%s", file), *line, *rest;

	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		words_add(&lines, line);
	return lines;
}

/* Lines "<part> <numbers>", of parts that this side knows. */
static void latency_take(struct hist *latency, const char *dir, enum operation op)
{
	struct words lines = lines_of(mem_printf("%s/stats/latency_%s", dir, operation_names[op]));
	enum part part;
	size_t i, len;

	for (i = 0; i < lines.nr; i++) {
		len = strcspn(lines.word[i], " ");
		for (part = 0; part < NR_PARTS; part++)
			if (strlen(part_names[part]) == len && !memcmp(part_names[part], lines.word[i], len))
				hist_parse(&latency[part], lines.word[i] + len);
	}
}

/* Lines "<cause> <times>". */
static void causes_take(struct causes *causes, const char *file)
{
	struct words lines = lines_of(file);
	struct cause cause;
	const char *blank;
	size_t i;

	causes->there = lines.nr;
	for (i = 0; i < lines.nr; i++) {
		blank = strchr(lines.word[i], ' ');
		if (!blank)
			continue;
		cause.name = mem_copy(lines.word[i], blank - lines.word[i]);
		cause.times = strtoll(blank, NULL, 10);
		*MEM_ADD(causes->cause, causes->nr) = cause;
	}
}

static void item_take(struct sample *sample, const struct session *sess, const struct path *path)
{
	const char *dir = path ? path->dir : sess->dir;
	struct sampled *item = MEM_ADD(sample->item, sample->nr);
	enum operation op;

	item->sess = sess;
	item->path = path;
	item->inflight = path ? path->stats.inflight : -1;
	item->slow_s = path ? -1 : session_slow(sess, &sample->devices, &sample->exports);
	counters_take(item->figures.counter, path ? &path->stats : &sess->stats);
	for (op = 0; op < NR_OPERATIONS; op++)
		latency_take(item->figures.latency[op], dir, op);
	causes_take(&item->figures.losses, mem_printf("%s/stats/losses", dir));
	causes_take(&item->figures.io_errors, mem_printf("%s/stats/io_errors", dir));
}

/* What there is now, of both sides. */
void sample_take(struct sample *sample)
{
	const struct session *sess;
	size_t i, j;

	*sample = (struct sample){ .time_ns = clock_ns() };
	sessions_load(&sample->sessions, false);
	sessions_load(&sample->sessions, true);
	sample->devices = mapped_load();
	sample->exports = exports_load();
	for (i = 0; i < sample->sessions.nr; i++) {
		sess = &sample->sessions.sess[i];
		item_take(sample, sess, NULL);
		for (j = 0; j < sess->nr_paths; j++)
			item_take(sample, sess, &sess->path[j]);
	}
}

static bool same(const struct sampled *a, const struct sampled *b)
{
	return a->sess->server == b->sess->server && !strcmp(a->sess->name, b->sess->name) &&
	       !a->path == !b->path && (!a->path || !strcmp(a->path->name, b->path->name));
}

static const struct figures *figures_before(const struct sample *before, const struct sampled *item)
{
	size_t i;

	for (i = 0; before && i < before->nr; i++)
		if (same(&before->item[i], item))
			return &before->item[i].figures;
	return NULL;
}

/* One that is less than it was has been reset, with its neighbours: what they have is new. */
static void counters_since(long long *now, const long long *before, enum counter first, enum counter last)
{
	enum counter nr;

	for (nr = first; nr <= last; nr++)
		if (now[nr] < before[nr])
			return;
	for (nr = first; nr <= last; nr++)
		if (before[nr] > 0)
			now[nr] -= before[nr];
}

static void latency_since(struct hist *now, const struct hist *before)
{
	enum part part;

	for (part = 0; part < NR_PARTS; part++)
		if (hist_was_reset(&now[part], &before[part]))
			return;
	for (part = 0; part < NR_PARTS; part++)
		hist_since(&now[part], &before[part]);
}

static long long times_of(const struct causes *causes, const char *name)
{
	size_t i;

	for (i = 0; i < causes->nr; i++)
		if (!strcmp(causes->cause[i].name, name))
			return causes->cause[i].times;
	return 0;
}

/* A copy, as the sample that it comes from is that of the next interval's beginning. */
static struct causes causes_since(const struct causes *now, const struct causes *before)
{
	struct causes since = { .there = now->there };
	struct cause *cause;
	bool reset = false;
	size_t i;

	for (i = 0; i < now->nr; i++)
		reset |= now->cause[i].times < times_of(before, now->cause[i].name);
	for (i = 0; i < now->nr; i++) {
		cause = MEM_ADD(since.cause, since.nr);
		*cause = now->cause[i];
		if (!reset)
			cause->times -= times_of(before, cause->name);
	}
	return since;
}

static void figures_since(struct figures *now, const struct figures *before)
{
	enum operation op;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(together); i++)
		counters_since(now->counter, before->counter, together[i].first, together[i].last);
	for (op = 0; op < NR_OPERATIONS; op++)
		latency_since(now->latency[op], before->latency[op]);
	now->losses = causes_since(&now->losses, &before->losses);
	now->io_errors = causes_since(&now->io_errors, &before->io_errors);
}

static void causes_add(struct causes *to, const struct causes *causes)
{
	size_t i, j;

	to->there |= causes->there;
	for (i = 0; i < causes->nr; i++) {
		for (j = 0; j < to->nr && strcmp(to->cause[j].name, causes->cause[i].name); j++)
			;
		if (j < to->nr)
			to->cause[j].times += causes->cause[i].times;
		else
			*MEM_ADD(to->cause, to->nr) = causes->cause[i];
	}
}

static bool latency_there(const struct hist *latency)
{
	enum part part;

	for (part = 0; part < NR_PARTS; part++)
		if (latency[part].there)
			return true;
	return false;
}

/* What the session does not count itself it has from its paths. */
static void session_fill(struct sampled *sess, const struct sampled *path, size_t nr)
{
	struct figures *to = &sess->figures, own = sess->figures;
	enum operation op;
	enum counter count;
	enum part part;
	size_t i;

	for (i = 0; i < nr; i++) {
		sess->inflight = sum_of(sess->inflight, path[i].inflight);
		for (count = 0; count < NR_COUNTERS; count++)
			if (own.counter[count] < 0)
				to->counter[count] = sum_of(to->counter[count],
							    path[i].figures.counter[count]);
		for (op = 0; op < NR_OPERATIONS; op++)
			for (part = 0; part < NR_PARTS && !latency_there(own.latency[op]); part++)
				hist_add(&to->latency[op][part], &path[i].figures.latency[op][part]);
		if (!own.losses.there)
			causes_add(&to->losses, &path[i].figures.losses);
		if (!own.io_errors.there)
			causes_add(&to->io_errors, &path[i].figures.io_errors);
	}
}

/*
 * What was counted from one sample to the next, or with no earlier one ever. A path that was not
 * there before has counted all it has since; one that has gone is left out.
 */
struct sample sample_since(const struct sample *now, const struct sample *before)
{
	struct sample since = {
		.time_ns = now->time_ns,
		.since_ns = before ? now->time_ns - before->time_ns : 0,
		.sessions = now->sessions,
		.devices = now->devices,
		.exports = now->exports,
	};
	const struct figures *earlier;
	struct sampled *item;
	size_t i;

	for (i = 0; i < now->nr; i++) {
		item = MEM_ADD(since.item, since.nr);
		*item = now->item[i];
		earlier = figures_before(before, item);
		if (earlier)
			figures_since(&item->figures, earlier);
	}
	for (i = 0; i < since.nr; i++)
		if (!since.item[i].path)
			session_fill(&since.item[i], &since.item[i + 1], since.item[i].sess->nr_paths);
	return since;
}
