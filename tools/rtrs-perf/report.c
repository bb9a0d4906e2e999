// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: a table for people, with the columns of perftest; JSON for programs.
 */
#include <stdio.h>

#include "mem.h"
#include "out.h"
#include "perf.h"

/* Bits in a nanosecond. */
static double gbps(const struct perf_result *result)
{
	return result->elapsed ? result->size * 8.0 * result->done / result->elapsed : 0;
}

/* Millions in a second. */
static double mpps(const struct perf_result *result)
{
	return result->elapsed ? result->done * 1e3 / result->elapsed : 0;
}

static void json_head(const struct perf_args *args, const struct perf_session *sess)
{
	size_t i;

	printf("{\n  \"op\": \"%s\",\n  \"mode\": \"%s\",\n  \"session\": ", args->write ? "write" : "read",
	       args->latency ? "lat" : "bw");
	fputs(json_quoted(sess->name), stdout);
	fputs(",\n  \"paths\": [", stdout);
	for (i = 0; i < sess->paths.nr; i++) {
		fputs(i ? ", " : "", stdout);
		fputs(json_quoted(sess->paths.word[i]), stdout);
	}
	fputs("],\n  \"policy\": ", stdout);
	fputs(json_quoted(sess->policy), stdout);
	fputs(",\n  \"cpus\": ", stdout);
	fputs(json_quoted(sess->cpus), stdout);
	printf(",\n  \"depth\": %lld,\n  \"max_io_size\": %lld,\n  \"queue_depth\": %lld,\n  \"results\": [",
	       sess->depth, sess->max_io_size, sess->queue_depth);
}

/* Before the first result. */
void report_head(const struct perf_args *args, const struct perf_session *sess)
{
	if (args->json)
		json_head(args, sess);
	else if (!args->noheaders && args->latency)
		printf("%9s %11s %12s %12s %12s %14s %12s %12s %12s\n", "#bytes", "#iterations",
		       "t_min[usec]", "t_max[usec]", "t_avg[usec]", "t_stdev[usec]", "50%[usec]",
		       "99%[usec]", "99.9%[usec]");
	else if (!args->noheaders)
		printf("%9s %11s %20s %15s\n", "#bytes", "#iterations", "BW average[Gb/sec]",
		       "MsgRate[Mpps]");
	fflush(stdout);
}

static void json_row(const struct perf_result *result, bool first)
{
	printf("%s\n    {\"size\": %lld, \"iterations\": %lld, \"elapsed_ns\": %lld, \"bw_gbps\": %.9f, \"msg_rate_mpps\": %.9f,\n"
	       "     \"min_us\": %.3f, \"max_us\": %.3f, \"avg_us\": %.3f, \"stdev_us\": %.3f, \"p50_us\": %.3f, \"p99_us\": %.3f, \"p999_us\": %.3f,\n"
	       "     \"failovers\": %lld}",
	       first ? "" : ",", result->size, result->done, result->elapsed, gbps(result), mpps(result),
	       result->min / 1e3, result->max / 1e3, result->avg / 1e3, result->stdev / 1e3,
	       result->p50 / 1e3, result->p99 / 1e3, result->p999 / 1e3, result->failovers);
}

/* One result, as soon as it is there. */
void report_row(const struct perf_args *args, const struct perf_result *result, bool first)
{
	if (args->json)
		json_row(result, first);
	else if (args->latency)
		printf("%9lld %11lld %12.2f %12.2f %12.2f %14.2f %12.2f %12.2f %12.2f\n", result->size,
		       result->done, result->min / 1e3, result->max / 1e3, result->avg / 1e3,
		       result->stdev / 1e3, result->p50 / 1e3, result->p99 / 1e3, result->p999 / 1e3);
	else
		printf("%9lld %11lld %20.4f %15.6f\n", result->size, result->done, gbps(result), mpps(result));
	fflush(stdout);
	if (result->failovers)
		warn("%lld bytes: %lld requests had to take another path; that is in the figures",
		     result->size, result->failovers);
}

/* After the last one. */
void report_end(const struct perf_args *args)
{
	if (args->json)
		puts("\n  ]\n}");
}
