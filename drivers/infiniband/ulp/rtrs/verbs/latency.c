// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms of times: sums over CPUs, and how sysfs and debugfs show them.
 *
 * Nobody but the CPU that counts writes to a histogram, not even to reset it: to reset means to remember what
 * there is now, and to show the rest.  So nothing that is counted meanwhile is lost.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/sysfs.h>

#include "latency.h"

/**
 * rtrs_lat_sum() - add up the histograms of all CPUs
 * @sum: what is added to
 * @hist: the histograms
 *
 * Context: any.  Counting goes on meanwhile; the sum is not a snapshot of one moment.
 */
void rtrs_lat_sum(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist __percpu *hist)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct rtrs_lat_hist *h = per_cpu_ptr(hist, cpu);

		sum->sum_ns += READ_ONCE(h->sum_ns);
		for (i = 0; i < RTRS_LAT_BUCKETS; i++)
			sum->nr[i] += READ_ONCE(h->nr[i]);
	}
}
EXPORT_SYMBOL_GPL(rtrs_lat_sum);

/**
 * rtrs_lat_plus() - add a histogram
 * @sum: what is added to
 * @hist: the histogram
 *
 * Context: any.
 */
void rtrs_lat_plus(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist *hist)
{
	int i;

	sum->sum_ns += hist->sum_ns;
	for (i = 0; i < RTRS_LAT_BUCKETS; i++)
		sum->nr[i] += hist->nr[i];
}
EXPORT_SYMBOL_GPL(rtrs_lat_plus);

/**
 * rtrs_lat_minus() - take a histogram away
 * @sum: what it is taken from
 * @hist: what @sum was earlier
 *
 * Context: any.
 */
void rtrs_lat_minus(struct rtrs_lat_hist *sum, const struct rtrs_lat_hist *hist)
{
	int i;

	sum->sum_ns -= hist->sum_ns;
	for (i = 0; i < RTRS_LAT_BUCKETS; i++)
		sum->nr[i] -= hist->nr[i];
}
EXPORT_SYMBOL_GPL(rtrs_lat_minus);

static const char *rtrs_lat_name(enum rtrs_lat_part part)
{
	static const char * const names[] = {
		[RTRS_LAT_TOTAL] = "total",
		[RTRS_LAT_CLIENT] = "client",
		[RTRS_LAT_WIRE] = "wire",
		[RTRS_LAT_SERVER] = "server",
		[RTRS_LAT_DEVICE] = "device",
	};

	return names[part];
}

static u64 rtrs_lat_nr(const struct rtrs_lat_hist *hist)
{
	u64 nr = 0;
	int i;

	for (i = 0; i < RTRS_LAT_BUCKETS; i++)
		nr += hist->nr[i];
	return nr;
}

/**
 * rtrs_lat_emit() - one line of a file in sysfs
 * @buf: buffer of the file
 * @len: what is in it already
 * @part: what the line is of
 * @hist: the histogram
 *
 * Context: any.
 * Return: length of the line: its name, number of requests, their sum in microseconds, the buckets.
 */
ssize_t rtrs_lat_emit(char *buf, ssize_t len, enum rtrs_lat_part part,
		      const struct rtrs_lat_hist *hist)
{
	ssize_t start = len;
	int i;

	len += sysfs_emit_at(buf, len, "%s %llu %llu", rtrs_lat_name(part), rtrs_lat_nr(hist),
			     div_u64(hist->sum_ns, NSEC_PER_USEC));
	for (i = 0; i < RTRS_LAT_BUCKETS; i++)
		len += sysfs_emit_at(buf, len, " %llu", hist->nr[i]);
	return len - start + sysfs_emit_at(buf, len, "\n");
}
EXPORT_SYMBOL_GPL(rtrs_lat_emit);

/**
 * rtrs_lat_show_head() - the head of a table in debugfs
 * @seq: the file
 *
 * Context: process.
 */
void rtrs_lat_show_head(struct seq_file *seq)
{
	seq_puts(seq, "          part       requests    mean us  50% below  99% below  99.9% below\n");
}
EXPORT_SYMBOL_GPL(rtrs_lat_show_head);

static void rtrs_lat_show_below(struct seq_file *seq, int width, const struct rtrs_lat_hist *hist,
				unsigned int per_mille)
{
	u64 us = rtrs_lat_below_us(hist->nr, per_mille);

	if (us == ~0ULL)
		seq_printf(seq, " %*s", width, "more");
	else
		seq_printf(seq, " %*llu", width, us);
}

/**
 * rtrs_lat_show() - one line of a table in debugfs
 * @seq: the file
 * @dir: READ or WRITE
 * @part: what the line is of
 * @hist: the histogram
 *
 * Context: process.
 */
void rtrs_lat_show(struct seq_file *seq, int dir, enum rtrs_lat_part part,
		   const struct rtrs_lat_hist *hist)
{
	u64 nr = rtrs_lat_nr(hist);

	seq_printf(seq, "  %-7s %-7s %11llu", dir == READ ? "read" : "write", rtrs_lat_name(part), nr);
	if (!nr) {
		seq_puts(seq, "          -          -          -            -\n");
		return;
	}
	seq_printf(seq, " %10llu", div64_u64(div_u64(hist->sum_ns, NSEC_PER_USEC), nr));
	rtrs_lat_show_below(seq, 10, hist, 500);
	rtrs_lat_show_below(seq, 10, hist, 990);
	rtrs_lat_show_below(seq, 12, hist, 999);
	seq_putc(seq, '\n');
}
EXPORT_SYMBOL_GPL(rtrs_lat_show);
