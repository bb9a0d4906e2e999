// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures of a run, from what the kernel has counted: its files result and histogram.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "perf.h"

struct bucket {
	double from, to;
	unsigned long long nr;
};

struct buckets {
	struct bucket *bucket;
	size_t nr;
};

/* The value of a line "key=value" */
static const char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, len) && text[len] == '=')
			return mem_copy(text + len + 1, strcspn(text + len + 1, "\n"));
	}
	return NULL;
}

static long long number_of(const char *text, const char *key, bool *complete)
{
	const char *value = value_of(text, key);

	if (!value)
		*complete = false;
	return value ? strtoll(value, NULL, 10) : 0;
}

static struct buckets buckets_of(const char *text)
{
	struct buckets buckets = { 0 };
	struct bucket bucket;

	for (; text && *text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (sscanf(text, "%lf %lf %llu", &bucket.from, &bucket.to, &bucket.nr) == 3)
			*MEM_ADD(buckets.bucket, buckets.nr) = bucket;
	}
	return buckets;
}

/* What stands for all in a bucket; one nanosecond wide it is exact. */
static double middle(const struct bucket *bucket, const struct perf_result *result)
{
	double ns = (bucket->from + bucket->to - 1) / 2;

	return ns < result->min ? result->min : ns > result->max ? result->max : ns;
}

/* The latency that so many of a thousand do not exceed. */
static double permille(const struct buckets *buckets, const struct perf_result *result, unsigned int part)
{
	unsigned long long rank = (result->done * part + 999) / 1000, seen = 0;
	size_t i;

	for (i = 0; i < buckets->nr; i++) {
		seen += buckets->bucket[i].nr;
		if (seen >= rank)
			return middle(&buckets->bucket[i], result);
	}
	return result->max;
}

static double deviation(const struct buckets *buckets, const struct perf_result *result)
{
	double sum = 0, off;
	size_t i;

	for (i = 0; i < buckets->nr; i++) {
		off = middle(&buckets->bucket[i], result) - result->avg;
		sum += off * off * buckets->bucket[i].nr;
	}
	return sqrt(sum / result->done);
}

/* Least, most and average are exact, the others to less than 1 %. False if something is missing. */
bool perf_stats(const char *text, const char *histogram, struct perf_result *result)
{
	struct buckets buckets = buckets_of(histogram);
	bool complete = true;

	result->size = number_of(text, "size", &complete);
	result->iterations = number_of(text, "iterations", &complete);
	result->done = number_of(text, "done", &complete);
	result->error = number_of(text, "error", &complete);
	result->lost = number_of(text, "lost", &complete);
	result->elapsed = number_of(text, "elapsed_ns", &complete);
	result->min = number_of(text, "min_ns", &complete);
	result->max = number_of(text, "max_ns", &complete);
	result->avg = number_of(text, "sum_ns", &complete);
	result->state = value_of(text, "state");
	if (!complete || !result->state)
		return false;
	if (!result->done)
		return true;
	result->avg /= result->done;
	result->stdev = deviation(&buckets, result);
	result->p50 = permille(&buckets, result, 500);
	result->p99 = permille(&buckets, result, 990);
	result->p999 = permille(&buckets, result, 999);
	return true;
}
