// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "hist.h"

/* All that is in a bucket took less than this; the last one has no such bound. */
unsigned long long hist_bound_us(size_t bucket)
{
	return 1ULL << bucket;
}

static bool number_next(const char **text, unsigned long long *number)
{
	char *end;

	errno = 0;
	*number = strtoull(*text, &end, 10);
	if (end == *text || errno)
		return false;
	*text = end;
	return true;
}

/* "<requests> <sum> <buckets>"; false leaves it absent. */
bool hist_parse(struct hist *hist, const char *numbers)
{
	struct hist read = { .there = true };
	size_t i;

	if (!number_next(&numbers, &read.requests) || !number_next(&numbers, &read.sum_us))
		return false;
	for (i = 0; i < NR_BUCKETS; i++)
		if (!number_next(&numbers, &read.bucket[i]))
			return false;
	*hist = read;
	return true;
}

void hist_add(struct hist *to, const struct hist *hist)
{
	size_t i;

	to->there |= hist->there;
	to->requests += hist->requests;
	to->sum_us += hist->sum_us;
	for (i = 0; i < NR_BUCKETS; i++)
		to->bucket[i] += hist->bucket[i];
}

bool hist_was_reset(const struct hist *now, const struct hist *before)
{
	size_t i;

	if (now->requests < before->requests || now->sum_us < before->sum_us)
		return true;
	for (i = 0; i < NR_BUCKETS; i++)
		if (now->bucket[i] < before->bucket[i])
			return true;
	return false;
}

/* What has come since; only of one that was not reset. */
void hist_since(struct hist *hist, const struct hist *before)
{
	size_t i;

	hist->requests -= before->requests;
	hist->sum_us -= before->sum_us;
	for (i = 0; i < NR_BUCKETS; i++)
		hist->bucket[i] -= before->bucket[i];
}

/* Requests in the buckets. The kernel's own count is read apart from them, and may be ahead. */
unsigned long long hist_counted(const struct hist *hist)
{
	unsigned long long nr = 0;
	size_t i;

	for (i = 0; i < NR_BUCKETS; i++)
		nr += hist->bucket[i];
	return nr;
}

/*
 * The time that so many of a thousand requests did not take longer than; -1 if there were none. In
 * a bucket they count as spread evenly, so that it is off by less than a factor of two.
 */
long long hist_percentile_ns(const struct hist *hist, unsigned int per_mille)
{
	double low, high, rank = hist_counted(hist) * (per_mille / 1000.0), below = 0;
	size_t i;

	if (!hist_counted(hist))
		return -1;
	for (i = 0; i < NR_BUCKETS - 1; i++) {
		if (hist->bucket[i] && below + hist->bucket[i] >= rank)
			break;
		below += hist->bucket[i];
	}
	low = i ? hist_bound_us(i - 1) : 0;
	high = hist_bound_us(i);
	/* Of the last one nothing is known but where it begins. */
	if (i == NR_BUCKETS - 1)
		return low * 1000;
	return (low + (high - low) * (rank - below) / hist->bucket[i]) * 1000;
}

/* -1 if there were none. */
long long hist_average_ns(const struct hist *hist)
{
	return hist->requests ? (long long)(hist->sum_us * 1000.0 / hist->requests) : -1;
}
