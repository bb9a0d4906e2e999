/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of latency as the modules have them: bucket 0 is of less than 1 us, bucket n of less
 * than 2^n us and not in the one before, the last one of all that took longer.
 */
#ifndef RNBD_HIST_H
#define RNBD_HIST_H

#include <stdbool.h>
#include <stddef.h>

#define NR_BUCKETS	28

struct hist {
	bool there;
	unsigned long long requests, sum_us;
	unsigned long long bucket[NR_BUCKETS];
};

bool hist_parse(struct hist *hist, const char *numbers);
void hist_add(struct hist *to, const struct hist *hist);
bool hist_was_reset(const struct hist *now, const struct hist *before);
void hist_since(struct hist *hist, const struct hist *before);
unsigned long long hist_counted(const struct hist *hist);
long long hist_percentile_ns(const struct hist *hist, unsigned int per_mille);
long long hist_average_ns(const struct hist *hist);
unsigned long long hist_bound_us(size_t bucket);

#endif
